// Barriers for parts of a block: mbarriers, which also count the bytes of copies, and numbered barriers of some
// warps.
//
//   tensor_load --> [delivery][delivery] ...        bytes that are to come
//                        |
//   mbarrier_wait: the thread waits ... no thread can go on --> land --> the phase is complete: all its threads are
//   ready mbarrier_arrive ----------------------------------------------------^
//
// An mbarrier's 64 bits hold its state. A copy lands as late as the rules allow: when no other thread of the block
// can go on, a thread waits for the phase, and all arrivals of the phase are there.
//
// Invariants: a thread in the state EMU_AT_MBARRIER waits for the phase in which its mbarrier is. Deliveries are in
// the order in which they were begun.
#include "block.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = (1 << 20) - 1, MARK = 2, PARTS = 16 };

typedef struct mbarrier_state {
    uint64_t pending : 20, arrivals : 20; // in this phase: arrivals that are to come; per phase
    int64_t bytes : 21;                   // that are to come in this phase
    uint64_t parity : 1, mark : 2;        // mark: MARK
} mbarrier_state;

typedef struct part { // a numbered barrier
    int threads, arrived;
    const char *file; // where one of them came: if any arrived without waiting, the last of those
    int line;
    uint16_t arrivals[EMU_MAX_WARPS]; // in each warp, of threads that do not wait
} part;

typedef struct waits { // of one block
    uint64_t run;      // the block's number among the blocks of this OS thread
    void **barriers;   // initialized mbarriers
    int count, capacity;
    int waiting; // threads at mbarriers
    emu_delivery *first, **end;
    part parts[PARTS];
} waits;

static void drop_deliveries(waits *own) {
    while (own->first) {
        emu_delivery *delivery = own->first;
        own->first = delivery->next;
        free(delivery);
    }
    own->end = &own->first;
}
static void free_waits(void *pointer) {
    waits *own = pointer;
    drop_deliveries(own);
    free(own->barriers);
    free(own);
}
static _Noreturn void no_memory(void) {
    emu_block_fail(NULL, 0, "this computer has no memory left for mbarriers");
}

static int deliver(emu_block *block);
static void report(emu_block *block);
static const emu_hooks hooks = {.deliver = deliver, .report = report};

// The block's. What a block that ran before has left is dropped.
static waits *own_waits(emu_block *block) {
    waits *own = emu_block_service(block, EMU_WAITS, sizeof *own, free_waits);
    if (!own->end) own->end = &own->first;
    if (own->run != block->runs) {
        own->run = block->runs;
        own->count = own->waiting = 0;
        drop_deliveries(own);
        memset(own->parts, 0, sizeof own->parts);
        block->hooks[EMU_WAITS] = &hooks;
    }
    return own;
}

// --- Mbarriers ----------------------------------------------------------------------------------------------------

// A barrier is named by its address in its own block.
static mbarrier_state load(const emu_block *block, const void *barrier) {
    mbarrier_state state;
    memcpy(&state, emu_cluster_address(block, barrier), sizeof state);
    return state;
}
static void store(const emu_block *block, const void *barrier, mbarrier_state state) {
    memcpy(emu_cluster_address(block, barrier), &state, sizeof state);
}

// Reports an operation of the current thread on an mbarrier of `of`, which may be another block of the cluster.
static __attribute__((noinline)) void tell(const emu_block *of, const void *barrier, emu_barrier_event event,
                                           unsigned access, const char *file, int line) {
    emu_where at = emu_tool_where(emu_current, file, line, NULL);
    const void *name = emu_tool_name(of, barrier);
    event.kind = EMU_SYNC_MBARRIER;
    event.object = (uintptr_t)name;
    emu_tool_access(&at, name, 8, access, EMU_BY_MBARRIER, 0);
    emu_tool_barrier(&at, event);
}

static int is_initialized(const waits *own, const void *barrier) {
    for (int i = 0; i < own->count; ++i)
        if (own->barriers[i] == barrier) return 1;
    return 0;
}

static void check_aligned(const void *barrier, const char *file, int line) {
    if ((uintptr_t)barrier % 8)
        emu_block_fail(file, line, "an mbarrier must be at an address that is a multiple of 8, not at %p", barrier);
}

static mbarrier_state state_of(const emu_block *block, const waits *own, const void *barrier, const char *call,
                               const char *file, int line) {
    check_aligned(barrier, file, line);
    if (!is_initialized(own, barrier))
        emu_block_fail(
            file, line,
            "%s: the mbarrier at %p is not initialized; one thread of the block must call mbarrier_init, and "
            "then the block __syncthreads()",
            call, barrier);
    const mbarrier_state state = load(block, barrier);
    if (state.mark != MARK || !state.arrivals || state.pending > state.arrivals)
        emu_block_fail(file, line, "%s: the mbarrier at %p has been overwritten since mbarrier_init", call, barrier);
    return state;
}

void emu_mbarrier_init(void *barrier, int arrivals, const char *file, int line) {
    emu_block *block = emu_current;
    waits *own = own_waits(block);
    check_aligned(barrier, file, line);
    if (arrivals < 1 || arrivals > MOST)
        emu_block_fail(file, line, "an mbarrier's phase has 1 to %d arrivals, not %d", MOST, arrivals);
    if (!is_initialized(own, barrier)) {
        if (own->count == own->capacity) {
            const int capacity = own->capacity ? 2 * own->capacity : 16;
            void **barriers = realloc(own->barriers, (size_t)capacity * sizeof *barriers);
            if (!barriers) no_memory();
            own->barriers = barriers;
            own->capacity = capacity;
        }
        own->barriers[own->count++] = barrier;
    }
    store(block, barrier,
          (mbarrier_state){.pending = (unsigned)arrivals, .arrivals = (unsigned)arrivals, .bytes = 0, .mark = MARK});
    if (EMU_UNLIKELY(block->tool != NULL))
        tell(block, barrier, (emu_barrier_event){.stage = EMU_BARRIER_STARTS, .count = arrivals}, EMU_WRITES, file,
             line);
}

static int is_live(const emu_block *block, unsigned slot) {
    return block->live_slots[slot >> 6] >> (slot & 63) & 1;
}

// If nothing is missing, the next phase begins, and threads that wait for this one continue.
static int complete(emu_block *block, waits *own, void *barrier, mbarrier_state state) {
    const int is_complete = !state.pending && !state.bytes;
    if (is_complete) {
        state.pending = state.arrivals;
        state.parity ^= 1;
    }
    store(block, barrier, state);
    if (EMU_UNLIKELY(is_complete && block->tool)) {
        emu_where at = emu_tool_where(block, NULL, 0, NULL);
        at.thread = -1;
        emu_tool_barrier(&at, (emu_barrier_event){.kind = EMU_SYNC_MBARRIER,
                                                  .stage = EMU_BARRIER_OPENS,
                                                  .object = (uintptr_t)emu_tool_name(block, barrier)});
    }
    if (!is_complete || !own->waiting) return 0;
    int count = 0;
    for (unsigned slot = 0; slot < (unsigned)block->thread_count; ++slot) {
        if (!is_live(block, slot)) continue;
        emu_thread *thread = block->order[slot];
        if (thread->state != EMU_AT_MBARRIER || thread->at != barrier) continue;
        emu_block_make_ready(block, thread);
        ++count;
    }
    own->waiting -= count;
    return count;
}

// So many arrivals; and bytes that the phase waits for or, if negative, that have come. Returns the phase's parity.
static unsigned change(emu_block *block, void *barrier, int arrivals, int bytes, int drops, const char *call,
                       const char *file, int line) {
    waits *own = own_waits(block);
    mbarrier_state state = state_of(block, own, barrier, call, file, line);
    const unsigned parity = state.parity;
    if ((unsigned)arrivals > state.pending)
        emu_block_fail(
            file, line,
            "more arrivals than the mbarrier's phase has: all %d have arrived, and the phase still lacks %d "
            "bytes; raise the number in mbarrier_init, or wait for the phase before the next arrival",
            (int)state.arrivals, (int)state.bytes);
    if (bytes > MOST || bytes < -MOST || state.bytes + bytes > MOST || state.bytes + bytes < -MOST)
        emu_block_fail(file, line, "an mbarrier's phase can wait for at most %d bytes, not %lld", MOST,
                       (long long)state.bytes + bytes);
    state.pending -= (unsigned)arrivals;
    if (drops) state.arrivals -= (unsigned)arrivals;
    state.bytes += bytes;
    if (EMU_UNLIKELY(emu_current->tool != NULL))
        tell(block, barrier, (emu_barrier_event){.stage = EMU_BARRIER_ARRIVES, .bytes = bytes > 0 ? bytes : 0},
             EMU_READS | EMU_WRITES | EMU_ATOMIC, file, line);
    complete(block, own, barrier, state);
    return parity;
}

void emu_mbarrier_arrive(void *barrier, int bytes, const char *file, int line) {
    change(emu_current, barrier, 1, bytes < 0 ? 0 : bytes, 0, bytes < 0 ? "mbarrier_arrive" : "mbarrier_expect", file,
           line);
}
void emu_mbarrier_arrive_at(void *barrier, int rank, const char *file, int line) {
    const char *call = "mbarrier_arrive_at";
    emu_block *block = emu_cluster_block(rank, call, file, line);
    change(block, emu_cluster_peer(block, barrier), 1, 0, 0, call, file, line);
}
unsigned emu_mbarrier_change(void *barrier, int arrivals, int bytes, int drops, const char *file, int line) {
    return change(emu_current, barrier, arrivals, bytes, drops, "mbarrier", file, line);
}

void emu_mbarrier_wait(void *barrier, int parity, const char *file, int line) {
    emu_block *block = emu_current;
    waits *own = own_waits(block);
    emu_thread *self = block->current;
    if (parity != 0 && parity != 1)
        emu_block_fail(file, line, "mbarrier_wait: the parity of a phase is 0 or 1, not %d", parity);
    if (EMU_UNLIKELY(emu_block_stopped(block))) emu_block_abandon(block);
    // Another phase may have been completed before this thread runs again; the hardware would wait on, and so does
    // this.
    while (state_of(block, own, barrier, "mbarrier_wait", file, line).parity == (unsigned)parity) {
        self->file = file;
        self->line = line;
        self->at = barrier;
        self->mask = (unsigned)parity;
        self->state = EMU_AT_MBARRIER;
        ++own->waiting;
        emu_block_switch(block, block->slot + 1);
    }
    if (EMU_UNLIKELY(block->tool != NULL))
        tell(block, barrier, (emu_barrier_event){.stage = EMU_BARRIER_LEAVES, .number = parity},
             EMU_READS | EMU_ATOMIC, file, line);
}

// --- Copies -------------------------------------------------------------------------------------------------------

void emu_mbarrier_promise(emu_delivery *delivery, const char *file, int line) {
    waits *own = own_waits(delivery->block);
    state_of(delivery->block, own, delivery->mbarrier, "tensor_load", file, line);
    delivery->next = NULL;
    *own->end = delivery;
    own->end = &delivery->next;
}

// Carries out the copies that the mbarrier's phase waits for; whether threads became ready.
static int deliver_to(emu_block *block, waits *own, void *barrier) {
    mbarrier_state state = load(block, barrier);
    if (state.pending || state.bytes <= 0) return 0;
    for (emu_delivery **link = &own->first; *link && state.bytes > 0;) {
        emu_delivery *delivery = *link;
        if (delivery->mbarrier != barrier) {
            link = &delivery->next;
            continue;
        }
        delivery->land(delivery);
        state.bytes -= delivery->bytes;
        *link = delivery->next;
        if (!*link) own->end = link;
        free(delivery);
    }
    return complete(block, own, barrier, state);
}

// One attempt: whether the phase of that parity is complete.
int emu_mbarrier_test(void *barrier, int parity, const char *file, int line) {
    emu_block *block = emu_current;
    if (state_of(block, own_waits(block), barrier, "mbarrier.test_wait", file, line).parity != (unsigned)parity)
        return 1;
    emu_yield();
    deliver_to(block, own_waits(block), barrier); // a copy may land late, but must not wait for a thread that waits
    return load(block, barrier).parity != (unsigned)parity;
}

typedef struct bulk_copy {
    emu_delivery delivery;
    void *shared;
    const void *global;
    const char *file;
    int line;
    uint64_t operation; // for tools.c
} bulk_copy;

static void tell_bulk(const emu_where *at, const bulk_copy *copy, unsigned pending) {
    const emu_block *block = copy->delivery.block;
    const size_t bytes = (size_t)copy->delivery.bytes;
    emu_tool_access(at, copy->global, bytes, EMU_READS | pending, EMU_BY_TENSOR_LOAD, copy->operation);
    emu_tool_access(at, emu_tool_name(block, copy->shared), bytes, EMU_WRITES | pending, EMU_BY_TENSOR_LOAD,
                    copy->operation);
}

static void land_bulk(const emu_delivery *delivery) {
    const bulk_copy *copy = (const bulk_copy *)(const void *)delivery;
    memcpy(emu_cluster_address(delivery->block, copy->shared), copy->global, (size_t)delivery->bytes);
    if (EMU_LIKELY(!delivery->block->tool || !copy->operation)) return;
    emu_where at = emu_tool_where(delivery->block, copy->file, copy->line, NULL);
    at.thread = -1;
    tell_bulk(&at, copy, 0);
    emu_tool_end(&at, EMU_BY_TENSOR_LOAD, copy->operation);
}

void emu_bulk_load(void *shared, const void *global, int bytes, void *barrier, const char *file, int line) {
    if (bytes % 16 || (uintptr_t)shared % 16 || (uintptr_t)global % 16)
        emu_block_fail_as(
            cudaErrorMisalignedAddress, file, line,
            "cp.async.bulk requires addresses and a size that are multiples of 16; shared %p, global %p, "
            "%d bytes",
            shared, global, bytes);
    bulk_copy *copy = malloc(sizeof *copy);
    if (!copy) no_memory();
    *copy = (bulk_copy){.delivery = {.mbarrier = barrier, .block = emu_current, .bytes = bytes, .land = land_bulk},
                        .shared = shared,
                        .global = global,
                        .file = file,
                        .line = line};
    emu_mbarrier_promise(&copy->delivery, file, line);
    if (EMU_UNLIKELY(emu_current->tool != NULL)) {
        const emu_where at = emu_tool_where(emu_current, file, line, NULL);
        copy->operation = emu_tool_new_operation(emu_current);
        emu_tool_begin(&at, EMU_BY_TENSOR_LOAD, copy->operation, emu_tool_name(emu_current, barrier));
        tell_bulk(&at, copy, EMU_PENDING);
    }
    memset(shared, 0xff, (size_t)bytes);
}

static int deliver(emu_block *block) {
    waits *own = own_waits(block);
    if (!own->waiting || !own->first) return 0;
    for (unsigned slot = 0; slot < (unsigned)block->thread_count; ++slot) {
        if (!is_live(block, slot)) continue;
        const emu_thread *thread = block->order[slot];
        if (thread->state == EMU_AT_MBARRIER && deliver_to(block, own, (void *)(uintptr_t)thread->at)) return 1;
    }
    return 0;
}

// --- Barriers of a part of the block's warps ----------------------------------------------------------------------

static __attribute__((noinline)) void tell_part(emu_block *block, emu_barrier_stage stage, int number, int threads,
                                                const char *file, int line) {
    emu_where at = emu_tool_where(block, file, line, NULL);
    if (stage == EMU_BARRIER_OPENS) at.thread = -1;
    emu_tool_barrier(&at,
                     (emu_barrier_event){.kind = EMU_SYNC_PART, .stage = stage, .number = number, .count = threads});
}

// Fails if only some lanes of a warp have arrived.
static void check_arrivals(const emu_block *block, const part *meeting, unsigned number) {
    for (int warp = 0; warp * EMU_WARP < block->thread_count; ++warp)
        if (meeting->arrivals[warp] % EMU_WARP)
            emu_block_fail(meeting->file, meeting->line,
                           "all lanes of a warp must call arrive_threads_of(%u, %d); %d lanes of warp %d did", number,
                           meeting->threads, meeting->arrivals[warp] % EMU_WARP, warp);
}

// All threads have come: they must be whole warps.
static void open_part(emu_block *block, part *meeting, unsigned number) {
    for (int id = 0; id < block->thread_count; id += EMU_WARP) {
        int absent = -1, present = -1;
        for (int lane = id; lane < id + EMU_WARP && lane < block->thread_count; ++lane) {
            const emu_thread *thread = &block->threads[lane];
            if (thread->state == EMU_AT_PART && thread->mask == number)
                present = lane;
            else
                absent = lane;
        }
        if (present >= 0 && absent >= 0)
            emu_block_fail(
                block->threads[present].file, block->threads[present].line,
                "all lanes of a warp must meet at sync_threads_of(%u, %d); lane %d of warp %d came, lane %d did not",
                number, meeting->threads, present % EMU_WARP, present / EMU_WARP, absent % EMU_WARP);
    }
    check_arrivals(block, meeting, number);
    if (EMU_UNLIKELY(block->tool != NULL))
        tell_part(block, EMU_BARRIER_OPENS, (int)number, meeting->threads, meeting->file, meeting->line);
    block->current->state = EMU_LIVE;
    for (int id = 0; id < block->thread_count; ++id) {
        emu_thread *thread = &block->threads[id];
        if (thread->state == EMU_AT_PART && thread->mask == number) emu_block_make_ready(block, thread);
    }
    meeting->arrived = 0;
}

// The current thread comes to a barrier, and if others are still to come, it waits for them or goes on.
static void come_to_part(const char *call, int number, int threads, int waits_there, const char *file, int line) {
    emu_block *block = emu_current;
    emu_thread *self = block->current;
    if (number < 1 || number >= PARTS)
        emu_block_fail(file, line, "%s: the number of a barrier is 1 to %d, not %d", call, PARTS - 1, number);
    if (threads < EMU_WARP || threads % EMU_WARP || threads > block->thread_count)
        emu_block_fail(file, line,
                       "%s(%d, %d): the threads must be whole warps of the block, a multiple of %d up to "
                       "its %d threads",
                       call, number, threads, EMU_WARP, block->thread_count);
    if (EMU_UNLIKELY(emu_block_stopped(block))) emu_block_abandon(block);
    part *meeting = &own_waits(block)->parts[number];
    if (!meeting->arrived)
        *meeting = (part){.threads = threads, .file = file, .line = line};
    else if (meeting->threads != threads)
        emu_block_fail(file, line,
                       "all calls for a barrier must name the same number of threads; %s(%d, %d), while %d threads "
                       "have come to barrier %d of %d threads, one of them in %s:%d",
                       call, number, threads, meeting->arrived, number, meeting->threads, meeting->file,
                       meeting->line);
    self->file = file;
    self->line = line;
    if (EMU_UNLIKELY(block->tool != NULL)) tell_part(block, EMU_BARRIER_ARRIVES, number, threads, file, line);
    if (waits_there) {
        self->mask = (unsigned)number;
        self->state = EMU_AT_PART;
    } else {
        ++meeting->arrivals[(self - block->threads) / EMU_WARP];
        meeting->file = file;
        meeting->line = line;
    }
    if (++meeting->arrived == threads)
        open_part(block, meeting, (unsigned)number);
    else if (waits_there)
        emu_block_switch(block, block->slot + 1);
    if (EMU_UNLIKELY(waits_there && block->tool)) tell_part(block, EMU_BARRIER_LEAVES, number, threads, file, line);
}

void emu_sync_part(int number, int threads, const char *file, int line) {
    come_to_part("sync_threads_of", number, threads, 1, file, line);
}

void emu_arrive_part(int number, int threads, const char *file, int line) {
    come_to_part("arrive_threads_of", number, threads, 0, file, line);
}

// --- Deadlocks ----------------------------------------------------------------------------------------------------

// No thread of the block can continue, and no copy could change that.
static void report(emu_block *block) {
    const waits *own = own_waits(block);
    const emu_state kind = own->waiting ? EMU_AT_MBARRIER : EMU_AT_PART;
    int id = 0;
    while (id < block->thread_count && block->threads[id].state != kind) ++id;
    if (id == block->thread_count) return;
    emu_thread *waiting = &block->threads[id];
    block->current = waiting;
    char others[400] = "";
    if (block->arrived)
        snprintf(others, sizeof others, "; %d of %d threads wait at %s, %s:%d", block->arrived, block->live,
                 emu_barrier_names[block->barrier], block->site_file, block->site_line);
    if (waiting->state == EMU_AT_PART) {
        const part *meeting = &own->parts[waiting->mask];
        check_arrivals(block, meeting, waiting->mask);
        emu_block_fail(waiting->file, waiting->line,
                       "no thread of the block can continue: sync_threads_of(%u, %d) waits forever, because %d of %d "
                       "threads came%s. Let all warps that it counts call it or arrive_threads_of",
                       waiting->mask, meeting->threads, meeting->arrived, meeting->threads, others);
    }
    const mbarrier_state state = load(block, waiting->at);
    const int missing = (int)state.bytes;
    emu_block_fail(
        waiting->file, waiting->line,
        "no thread of the block can continue: mbarrier_wait for parity %u waits forever, because the phase "
        "lacks %d of %d arrivals and %d bytes%s%s. Let all threads that mbarrier_init counts arrive, and "
        "begin copies of exactly the bytes that mbarrier_expect counts",
        waiting->mask, (int)state.pending, (int)state.arrivals, missing < 0 ? 0 : missing,
        missing < 0 ? " (its copies brought more bytes than expected)" : "", others);
}
