// The rules: which accesses are mistakes.
//
//   an access --> aligned? --> in an array of the launch? --> for each four bytes: has a value? ordered after the
//                                                             accesses that conflict with it?
//
// What orders two accesses: a barrier of the block, __syncwarp, the barrier of a cooperative grid (one stamp each),
// and what one thread has released and the other acquired: by fences and atomic operations, mbarriers, and barriers
// of some threads (knowledge.c). As in CUDA's memory model, an atomic operation alone orders nothing; a fence before
// it releases and one after it acquires. Here a barrier after it does, too, because many correct programs rely on it.
#include <string.h>

#include "checker.h"

#define FOR_ALL UINT64_MAX
enum { MOST_OF_STRUCT = 64 }; // bytes that may be a struct

// --- What a thread knows -------------------------------------------------------------------------------------------

static const knowledge *acquired(const block_state *block, int thread) {
    return knowledge_join(block->acquired, block->thread[thread].acquired);
}

// The accesses so far of the thread itself, and those that its warp and its block know.
static const knowledge *own_accesses(const block_state *block, int thread) {
    const uint64_t keys[] = {knowledge_key(OF_THREAD, block->first + (uint32_t)thread),
                             knowledge_key_of_warp(block->number, (unsigned)thread),
                             knowledge_key(OF_BLOCK, block->number)};
    const uint32_t stamps[] = {quick_stamp(), block->warps[thread / 32], block->known};
    return knowledge_new(3, keys, stamps);
}

static const knowledge *snapshot(const block_state *block, int thread) {
    return knowledge_join(acquired(block, thread), own_accesses(block, thread));
}

static void acquire_pending(block_state *block, thread_state *thread, unsigned scope) {
    for (int i = 0; i < thread->pending_count; ++i) {
        release *const of = thread->pending[i];
        if (of->block == FOR_ALL ? scope != EMU_OF_BLOCK : of->block == block->number)
            thread->acquired = knowledge_join(thread->acquired, release_known(of));
    }
    thread->pending_count = 0;
}

void rules_fence(block_state *block, int id, unsigned scope) {
    thread_state *const thread = &block->thread[id];
    acquire_pending(block, thread, scope);
    thread->in_block = snapshot(block, id);
    block->has_fences = 1;
    if (scope != EMU_OF_BLOCK) thread->fenced = thread->in_block;
}

void rules_release(block_state *block, int thread, uint64_t key, uint64_t for_block) {
    release *const at = release_at(key, for_block, 1);
    release_add(at, own_accesses(block, thread));
    release_add(at, acquired(block, thread));
}

void rules_acquire(block_state *block, int id, uint64_t key, uint64_t for_block) {
    release *const at = release_at(key, for_block, 0);
    thread_state *const thread = &block->thread[id];
    if (at) thread->acquired = knowledge_join(thread->acquired, release_known(at));
}

void rules_learn(block_state *block, int first, int count, uint32_t who) {
    const uint64_t key = knowledge_key(OF_THREAD, who);
    const uint32_t stamp = quick_stamp();
    const knowledge *const new = knowledge_new(1, &key, &stamp);
    for (thread_state *thread = block->thread + first; thread < block->thread + first + count; ++thread)
        thread->acquired = knowledge_join(thread->acquired, new);
}

// All of these threads learn what each has acquired.
static const knowledge *together(block_state *block, int first, uint32_t lanes) {
    const knowledge *all = NULL;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        thread_state *const thread = &block->thread[first + __builtin_ctz(rest)];
        acquire_pending(block, thread, 0);
        all = knowledge_join(all, thread->acquired);
    }
    return all;
}

void rules_block_barrier(block_state *block) {
    block->known = quick_stamp();
    quick_barrier(block);
    for (int first = 0; first < block->threads; first += 32) {
        const int count = block->threads - first;
        const uint32_t lanes = count >= 32 ? UINT32_MAX : (1u << count) - 1;
        block->acquired = knowledge_join(block->acquired, together(block, first, lanes));
    }
    for (int id = 0; id < block->threads; ++id) block->thread[id].acquired = NULL;
    // A fence of each thread, a barrier, an atomic operation of one: many programs publish their results so.
    for (int id = 0; block->has_fences && id < block->threads; ++id) {
        block->fenced = knowledge_join(block->fenced, block->thread[id].fenced);
        block->in_block = knowledge_join(block->in_block, block->thread[id].in_block);
    }
    block->has_fences = 0;
}

// As at a barrier of the block: one of these lanes may publish what each has done before its fence.
static void share_fences(block_state *block, int first, uint32_t lanes) {
    const knowledge *fenced = NULL, *in_block = NULL;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const thread_state *const thread = &block->thread[first + __builtin_ctz(rest)];
        fenced = knowledge_join(fenced, thread->fenced);
        in_block = knowledge_join(in_block, thread->in_block);
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        thread_state *const thread = &block->thread[first + __builtin_ctz(rest)];
        thread->fenced = fenced;
        thread->in_block = in_block;
    }
}

void rules_warp_barrier(block_state *block, int warp, uint32_t lanes) {
    const int first = warp * 32;
    if (block->has_fences) share_fences(block, first, lanes);
    const knowledge *all = together(block, first, lanes);
    const int whole = !(block->live[warp] & ~lanes);
    if (whole) {
        block->warps[warp] = quick_stamp();
    } else {
        for (uint32_t rest = lanes; rest; rest &= rest - 1)
            all = knowledge_join(all, snapshot(block, first + __builtin_ctz(rest)));
    }
    if (!all) return;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        thread_state *const thread = &block->thread[first + __builtin_ctz(rest)];
        thread->acquired = knowledge_join(thread->acquired, all);
    }
}

// --- Atomic operations as messages ---------------------------------------------------------------------------------

static void note(thread_state *thread, release *at) {
    if (!at || !at->known) return;
    for (int i = 0; i < thread->pending_count; ++i)
        if (thread->pending[i] == at) return;
    if (thread->pending_count == CHECKER_PENDING) {
        thread->acquired = knowledge_join(thread->acquired, release_known(thread->pending[0]));
        thread->pending[0] = at;
    } else {
        thread->pending[thread->pending_count++] = at;
    }
}

static void exchange(block_state *block, thread_state *thread, uint64_t key, unsigned kind) {
    if (kind & EMU_READS) {
        note(thread, release_at(key, FOR_ALL, 0));
        note(thread, release_at(key, block->number, 0));
    }
    if (!(kind & EMU_WRITES)) return;
    void (*const leave)(release *, const knowledge *) = kind & EMU_READS ? release_add : release_set;
    const knowledge *const fenced = knowledge_join(thread->fenced, block->fenced);
    const knowledge *const in_block = knowledge_join(thread->in_block, block->in_block);
    release *const all = release_at(key, FOR_ALL, fenced != NULL);
    release *const own = release_at(key, block->number, in_block != NULL);
    if (all) leave(all, fenced);
    if (own) leave(own, in_block);
}

// --- Four bytes ----------------------------------------------------------------------------------------------------

typedef struct accessing { // an access, as the rules see it
    block_state *block;
    const emu_access_event *event;
    unsigned thread, site, kind;
    uint32_t who;
} accessing;

static int is_atomic(unsigned kind) {
    return (kind & (EMU_ATOMIC | EMU_VOLATILE)) != 0;
}

// Whether an atomic operation of the thread has read what this one, which another thread made before, has left.
static int has_observed(const cell *in, uint32_t who, uint32_t stamp) {
    for (int r = WRITE; r < RECORDS; ++r) {
        const unsigned kind = site_of(in->site[r])->kind;
        if (in->stamp[r] >= stamp && in->who[r] == who && is_atomic(kind) && (kind & EMU_READS)) return 1;
    }
    return 0;
}

// A loop of atomicCAS may begin with a plain read, whose value the operation checks: `old = *x; do { ... old =
// atomicCAS(x, seen, ...) } while (old != seen);`. So such a read is a mistake only if no atomicCAS follows.
static void release_held(block_state *block, int id) {
    thread_state *const thread = &block->thread[id];
    if (!thread->held.is_held) return;
    thread->held.is_held = 0;
    findings_add(CHECKER_RACE, block, id, thread->held.site, &thread->held.event, thread->held.other_who,
                 thread->held.other_site, NULL);
}

static void hold(const accessing *by, uint32_t other_who, unsigned other_site) {
    thread_state *const thread = &by->block->thread[by->thread];
    if (thread->held.is_held && thread->held.event.address == by->event->address) return;
    release_held(by->block, (int)by->thread);
    thread->held.event = *by->event;
    thread->held.site = by->site;
    thread->held.other_who = other_who;
    thread->held.other_site = other_site;
    thread->held.is_held = 1;
}

static void judge_held(block_state *block, int id, const emu_access_event *event) {
    thread_state *const thread = &block->thread[id];
    if (!thread->held.is_held || thread->held.event.address != event->address) return;
    if (event->kind & EMU_COMPARES)
        thread->held.is_held = 0;
    else if (event->kind & EMU_WRITES)
        release_held(block, id);
}

void rules_thread_ends(block_state *block, int id) {
    release_held(block, id);
}

// The record is of an earlier launch, or of a copy.
static void compare_with_stream(const accessing *by, const cell *with, int record) {
    const stream_work *const before = streams_unordered(with->stamp[record]);
    if (!before || (is_atomic(by->kind) && is_atomic(site_of(with->site[record])->kind))) return;
    const unsigned other = with->site[record];
    checker_finding *const found =
        findings_add(CHECKER_STREAMS, by->block, (int)by->thread, by->site, by->event, -1, other, NULL);
    if (!found) return;
    findings_set_works(found, before);
    found->other.kind = site_of(other)->kind;
    found->other.bytes = site_of(other)->bytes;
}

static void compare(const accessing *by, const cell *with, int record) {
    const uint32_t who = with->who[record], stamp = with->stamp[record];
    if (!stamp) return;
    const unsigned other = site_of(with->site[record])->kind;
    if (!((by->kind | other) & EMU_WRITES)) return;
    if (stamp < checker_launch.begin) {
        compare_with_stream(by, with, record);
        return;
    }
    if (who == by->who) return;
    checker_kind kind = CHECKER_RACE;
    if (is_atomic(by->kind) && is_atomic(other)) {
        const uint32_t other_block = who / checker_launch.threads;
        const int same_block = !(who & IS_ASYNC) && other_block == (uint32_t)by->block->number;
        // The lanes of a warp do not run in step: volatile variables between them need __syncwarp.
        const int in_warp = same_block && by->event->space == EMU_SPACE_SHARED && (by->kind & other & EMU_VOLATILE) &&
                            who % checker_launch.threads / 32 == by->thread / 32;
        const int too_small = !same_block && ((by->kind | other) & EMU_OF_BLOCK);
        if (!in_warp && !too_small) return;
        if (too_small) kind = CHECKER_SCOPE;
    }
    if (block_knows(by->block, by->thread, who, stamp)) return;
    if (kind == CHECKER_RACE && is_atomic(other) && !is_atomic(by->kind) && !(by->kind & EMU_WRITES)) {
        hold(by, who, with->site[record]);
        return;
    }
    if (is_atomic(other) && !is_atomic(by->kind) && (by->kind & EMU_WRITES) && has_observed(with, by->who, stamp))
        return;
    findings_add(kind, by->block, (int)by->thread, by->site, by->event, who, with->site[record], NULL);
}

static void put(cell *in, int record, uint32_t who, uint32_t stamp, unsigned site, unsigned mask) {
    const int same = stamp && in->who[record] == who && in->stamp[record] == stamp;
    if (!same) in->masks &= (uint16_t) ~(ALL_BYTES << 4 * record);
    in->who[record] = who;
    in->stamp[record] = stamp;
    in->site[record] = (uint16_t)site;
    in->masks |= (uint16_t)(mask << 4 * record);
}

static void set_unused(cell *in) {
    for (int r = WRITE; r < RECORDS; ++r)
        if (!in->stamp[r]) in->masks |= ALL_BYTES << 4 * r;
}

// Whether an access before an atomic operation cannot conflict with a later access unless the operation does, too.
// What the operation's thread knows, whoever acquires from it knows. But another atomic operation acquires nothing
// and does not conflict with this one, though perhaps with a plain access before.
static int is_over(const accessing *by, const cell *in, int record) {
    const uint32_t who = in->who[record], stamp = in->stamp[record];
    const unsigned kind = site_of(in->site[record])->kind;
    if (who == by->who && (is_atomic(kind) || (by->kind & EMU_COMPARES && !(kind & EMU_WRITES))))
        return 1; // its own, as before a loop of atomicCAS
    if (is_atomic(kind)) return block_knows(by->block, by->thread, who, stamp);
    const int is_of_block = by->event->space == EMU_SPACE_SHARED && !by->block->touched_all;
    const int same_block = who / checker_launch.threads == (uint32_t)by->block->number && !(who & IS_ASYNC);
    return stamp < checker_launch.begin || stamp < checker_launch.grid_known ||
           (is_of_block && same_block && stamp < by->block->known);
}

// Remembers an access that does not end the time of those before it. Of readers that do not know each other, two that
// are as far from each other as possible: a write that comes later knows at most one of them by accident.
static void remember(const accessing *by, cell *in, uint32_t who, uint32_t stamp, unsigned site, unsigned mask) {
    for (int r = READ; r <= OTHER_READ; ++r) {
        const int same = stamp && in->who[r] == who && in->stamp[r] == stamp;
        if (same && site < ATOMIC_SITES && in->site[r] < ATOMIC_SITES) site = in->site[r]; // the first one's
        if (streams_unordered(in->stamp[r])) continue;
        const unsigned kind = site_of(in->site[r])->kind;
        const int is_plain_write = kind & EMU_WRITES && !is_atomic(kind);
        if (!in->stamp[r] ||
            (is_atomic(by->kind) && is_plain_write
                 ? is_over(by, in, r)
                 : in->who[r] == who || block_knows(by->block, by->thread, in->who[r], in->stamp[r])))
            return put(in, r, who, stamp, site, mask);
    }
    const int now = quick_distance(in->who[READ], in->who[OTHER_READ]);
    const int then = quick_distance(in->who[READ], who);
    if (then > now) put(in, OTHER_READ, who, stamp, site, mask);
}

// A struct may have bytes between its members, which nobody writes: it has no value if none of its bytes has one. Of
// more bytes, which may be several structs or an array, those without values that follow a value up to the next
// multiple of 16, as the alignment of a member may need.
static int has_no_value(const accessing *by, const cell *in, uintptr_t address, unsigned mask) {
    if ((~in->masks >> VALUE_SHIFT & mask) != mask) return 0;
    if (by->event->bytes <= MOST_OF_STRUCT) return !shadow_has_value(by->event->address, by->event->bytes);
    const uintptr_t aligned = address & ~(uintptr_t)15, begin = by->event->address;
    const uintptr_t from = aligned < begin ? begin : aligned;
    return !shadow_has_value(from, address - from);
}

// (What is read as a part of a struct, without a finding, still has no value for who reads it by itself.)
static void judge_value(const accessing *by, cell *in, uintptr_t address, unsigned mask) {
    if (!(~in->masks >> VALUE_SHIFT & mask) || !has_no_value(by, in, address, mask)) return;
    findings_add(CHECKER_UNINITIALISED, by->block, (int)by->thread, by->site, by->event, -1, 0, NULL);
    in->masks |= (uint16_t)(mask << VALUE_SHIFT); // one finding is enough
    if (by->event->bytes <= MOST_OF_STRUCT) shadow_value(by->event->address, by->event->bytes);
}

static void judge(const accessing *by, cell *in, uintptr_t address, unsigned mask) {
    const int reads = by->kind & EMU_READS, writes = by->kind & EMU_WRITES;
    if (in->who[WRITE] == by->who && in->stamp[WRITE] == checker_stamp && in->site[WRITE] == by->site &&
        !in->stamp[READ] && (in->masks & mask) == mask)
        return; // in a loop, say
    if (reads) judge_value(by, in, address, mask);
    compare(by, in, WRITE);
    const int atomic = is_atomic(by->kind);
    if (writes || atomic)
        for (int r = READ; r <= OTHER_READ; ++r) compare(by, in, r);
    else
        for (int r = READ; r <= OTHER_READ; ++r)
            if (in->stamp[r] && (site_of(in->site[r])->kind & EMU_WRITES)) compare(by, in, r);
    if (!writes) {
        remember(by, in, by->who, checker_stamp, by->site, mask);
        set_unused(in);
        return;
    }
    if (atomic) { // others' operations remain that it does not know, or that the next atomic operation may not know
        for (int r = READ; r <= OTHER_READ; ++r)
            if (in->stamp[r] && is_over(by, in, r)) in->stamp[r] = 0;
        if (in->stamp[WRITE] && !is_over(by, in, WRITE))
            remember(by, in, in->who[WRITE], in->stamp[WRITE], in->site[WRITE], mask);
    } else {
        in->stamp[READ] = in->stamp[OTHER_READ] = 0;
    }
    put(in, WRITE, by->who, checker_stamp, by->site, mask);
    in->masks |= (uint16_t)(mask << VALUE_SHIFT);
    set_unused(in);
}

// An asynchronous operation begins: the thread must know of the accesses before. Until it ends, nobody knows of its
// own.
static void judge_begin(const accessing *by, cell *in, uintptr_t address, unsigned mask, uint32_t pending) {
    const int reads = by->kind & EMU_READS, writes = by->kind & EMU_WRITES;
    if (reads) judge_value(by, in, address, mask);
    compare(by, in, WRITE);
    const uint32_t writer = in->who[WRITE], stamp = in->stamp[WRITE];
    if (reads && by->event->by != EMU_BY_COPY && by->event->space == EMU_SPACE_SHARED && !(writer & IS_ASYNC) &&
        stamp >= checker_launch.begin && writer / checker_launch.threads == (uint32_t)by->block->number &&
        stamp >= by->block->thread[writer % checker_launch.threads].shown &&
        stamp >= by->block->thread[by->thread].shown)
        findings_add(CHECKER_PROXY, by->block, (int)by->thread, by->site, by->event, writer, in->site[WRITE], NULL);
    if (!writes) {
        remember(by, in, pending, checker_stamp, by->site, mask);
        return;
    }
    in->masks |= (uint16_t)(mask << VALUE_SHIFT);
    for (int r = READ; r <= OTHER_READ; ++r) compare(by, in, r);
    in->stamp[READ] = in->stamp[OTHER_READ] = 0;
    put(in, WRITE, pending, checker_stamp, by->site, mask);
}

// Whether each record concerns just these bytes, or can be extended to them.
static int fits(const cell *in, unsigned mask, uint32_t who) {
    for (int r = WRITE; r < RECORDS; ++r) {
        const unsigned of = in->masks >> 4 * r & ALL_BYTES;
        if (in->stamp[r] && of != mask && !(in->who[r] == who && in->stamp[r] == checker_stamp)) return 0;
    }
    return 1;
}

// `pending`: of the asynchronous operation that begins; 0: a thread accesses the bytes itself.
static void judge_bytes(const accessing *by, uintptr_t address, size_t bytes, uint32_t pending) {
    const uintptr_t end = address + bytes;
    while (address < end) {
        const unsigned first = address % GRAIN, most = GRAIN - first;
        const unsigned count = end - address < most ? (unsigned)(end - address) : most;
        const unsigned mask = ((1u << count) - 1) << first;
        cell *const in = shadow_cell(address);
        *shadow_tag(address) = 0;
        cell *single = shadow_bytes(in);
        if (!single && !fits(in, mask, by->who)) single = shadow_split(in);
        for (unsigned i = first; single && i < first + count; ++i) {
            const uintptr_t at = address - first + i;
            pending ? judge_begin(by, &single[i], at, 1u << i, pending) : judge(by, &single[i], at, 1u << i);
        }
        if (!single) pending ? judge_begin(by, in, address, mask, pending) : judge(by, in, address, mask);
        address += count;
    }
}

// --- Where it may access -------------------------------------------------------------------------------------------

// Memory that is no argument's: a constant of the compiler, or an array that a pointer in memory points to. An
// address that is near an argument's array is meant for this one.
static int is_known_memory(uintptr_t address, const interval *near) {
    const launch_state *const launch = &checker_launch;
    if (address - launch->image < launch->image_end - launch->image) return !near || near->begin > address;
    emu_memory_event memory;
    if (!emu_memory_at((const void *)address, &memory)) return 0;
    const uintptr_t end = memory.address + memory.bytes;
    return !near || near->begin < memory.address || near->end > end; // (else the array is a part of that memory)
}

// Remembers that the launch may access these bytes, for the page of the address.
static void permit(uintptr_t begin, uintptr_t end, uintptr_t address, int of_launch) {
    shadow_page(address)->may = (permission){begin, end, of_launch};
}

// Shared memory has no values when a block begins, nor accesses.
static void touch(block_state *block, const interval *of) {
    if (block->touched_all) return;
    for (int i = 0; i < block->touched_count; ++i)
        if (block->touched[i] == of->begin) return;
    if (block->touched_count == CHECKER_TOUCHED) return; // (more variables than that keep what the block before left)
    block->touched[block->touched_count++] = of->begin;
    shadow_set(of->begin, of->end - of->begin, 0);
}

static int is_permitted(const emu_access_event *event) {
    const permission may = shadow_page(event->address)->may;
    return event->address >= may.begin && event->address + event->bytes <= may.end;
}

static int is_own_shared(const block_state *block, uintptr_t address) {
    const emu_block_event *const event = block->event;
    return address - (uintptr_t)event->shared < event->shared_bytes ||
           address - (uintptr_t)event->statics < event->static_bytes;
}

// Whether an address outside all arrays is the process's own, rather than just outside an array.
static int is_of_process(uintptr_t address, const interval *near) {
    enum { NEAR = 1 << 16 };
    emu_memory_event memory;
    const uintptr_t distance = !near ? NEAR : address < near->begin ? near->begin - address : address - near->end;
    return distance >= NEAR && !emu_memory_at((const void *)address, &memory);
}

// Whether the access stays within an array.
static int is_inside(const accessing *by, int thread) {
    const emu_access_event *const event = by->event;
    int contains;
    const interval *const near = interval_near(event->address, &contains);
    const int is_array = contains && event->space == EMU_SPACE_GLOBAL;
    if (is_array && near->variable != FREED && event->address + event->bytes <= near->end) {
        permit(near->begin, near->end, event->address, 1);
        return 1;
    }
    if (!contains && event->space == EMU_SPACE_GLOBAL && is_known_memory(event->address, near)) return 1;
    interval of;
    const int is_shared = !is_array && interval_shared(by->block, event->address, event->space, &of);
    if (is_shared && event->address >= of.begin && event->address + event->bytes <= of.end) {
        touch(by->block, &of);
        permit(of.begin, of.end, event->address, 0);
        return 1;
    }
    if (event->space == EMU_SPACE_SHARED && !is_own_shared(by->block, event->address)) return 1; // of its cluster
    if (is_shared) {
        findings_add(CHECKER_BOUNDS, by->block, thread, by->site, event, -1, 0, &of);
        return 0;
    }
    if (contains && near->variable == FREED) {
        findings_add(CHECKER_FREED, by->block, thread, by->site, event, -1, 0, near);
        return 0;
    }
    const interval *const gone = contains ? NULL : interval_freed(event->address);
    if (gone) {
        findings_add(CHECKER_FREED, by->block, thread, by->site, event, -1, 0, gone);
        return 0;
    }
    findings_add(CHECKER_BOUNDS, by->block, thread, by->site, event, -1, 0, near);
    if (event->kind & EMU_WRITES && event->space == EMU_SPACE_GLOBAL && is_of_process(event->address, near))
        emu_fail_at_address("the thread wrote to an address that is no memory of the device");
    return 0;
}

static accessing access_of(block_state *block, const emu_where *at, const emu_access_event *event) {
    return (accessing){.block = block,
                       .event = event,
                       .thread = (unsigned)at->thread,
                       .site = site_number(at, event->kind, event->bytes),
                       .kind = event->kind,
                       .who = block->first + (uint32_t)at->thread};
}

// A cache that nobody updates gives the values: those of earlier launches, or perhaps newer ones.
static void judge_cached(const accessing *by) {
    const uintptr_t begin = by->event->address, end = begin + by->event->bytes;
    for (uintptr_t at = begin; at < end; ++at) {
        const cell *const whole = shadow_cell(at), *const bytes = shadow_bytes(shadow_cell(at));
        const cell *const in = bytes ? &bytes[at % GRAIN] : whole;
        if (in->stamp[WRITE] < checker_launch.begin || !(in->masks >> at % GRAIN & 1)) continue;
        findings_add(CHECKER_RACE, by->block, (int)by->thread, by->site, by->event, in->who[WRITE], in->site[WRITE],
                     NULL);
        return;
    }
}

void rules_access(block_state *block, const emu_where *at, const emu_access_event *event) {
    const size_t bytes = event->bytes;
    const accessing by = access_of(block, at, event);
    if (event->kind & EMU_MISALIGNED) {
        findings_add(CHECKER_MISALIGNED, block, at->thread, by.site, event, -1, 0, NULL);
        return;
    }
    if (event->kind & EMU_CACHED) {
        judge_cached(&by);
        return;
    }
    if (!(event->kind & EMU_RANGE) && (bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16) &&
        event->address % bytes)
        findings_add(CHECKER_MISALIGNED, block, at->thread, by.site, event, -1, 0, NULL);
    if (!is_permitted(event) && !is_inside(&by, at->thread)) return;
    judge_held(block, at->thread, event);
    judge_bytes(&by, event->address, bytes, 0);
    if (is_atomic(event->kind)) exchange(block, &block->thread[at->thread], event->address / GRAIN, event->kind);
}

// A block of memory ends: no other thread may still access it, nor have accessed it without this one's knowledge.
void rules_free(block_state *block, const emu_where *at, const emu_access_event *event) {
    const accessing by = access_of(block, at, event);
    for (uintptr_t address = event->address; address < event->address + event->bytes; address += GRAIN) {
        const cell *const whole = shadow_cell(address), *const bytes = shadow_bytes(shadow_cell(address));
        for (int i = 0; i < (bytes ? GRAIN : 1); ++i) {
            const cell *const in = bytes ? &bytes[i] : whole;
            for (int r = WRITE; r < RECORDS; ++r) {
                if (!in->stamp[r] || in->who[r] == by.who || block_knows(block, by.thread, in->who[r], in->stamp[r]))
                    continue;
                findings_add(CHECKER_FREED, block, at->thread, by.site, event, in->who[r], in->site[r], NULL);
                return;
            }
        }
    }
}

// --- Copies by the host --------------------------------------------------------------------------------------------

static const emu_where NOWHERE;
typedef struct copying {
    uint64_t number;
    unsigned kind, site;
    size_t bytes;
    int remembers; // what comes later must be ordered after it
} copying;

static void copy_cell(const copying *by, cell *in, unsigned mask, uintptr_t address) {
    for (int r = WRITE; r < RECORDS; ++r) {
        if (!in->stamp[r] || !((by->kind | site_of(in->site[r])->kind) & EMU_WRITES)) continue;
        const stream_work *const before = streams_unordered(in->stamp[r]);
        if (before) findings_add_copy(by->number, by->site, address, by->bytes, before, in->site[r]);
    }
    if (!by->remembers) return;
    const int writes = by->kind & EMU_WRITES;
    if (writes) in->stamp[READ] = in->stamp[OTHER_READ] = 0;
    put(in, writes ? WRITE : in->stamp[READ] ? OTHER_READ : READ, 0, checker_stamp, by->site, mask);
    set_unused(in);
}

static void copy_bytes(const copying *by, uintptr_t address) {
    emu_memory_event memory;
    if (!emu_memory_at((const void *)address, &memory)) return; // no kernel accesses it
    for (uintptr_t at = address, next; at < address + by->bytes; at = next) {
        next = (at / GRAIN + 1) * GRAIN;
        cell *const in = by->remembers ? shadow_cell(at) : shadow_if(at);
        if (!in) {
            next = (at / PAGE_BYTES + 1) * PAGE_BYTES;
            continue;
        }
        cell *const single = shadow_bytes(in);
        for (unsigned i = 0; single && i < GRAIN; ++i) copy_cell(by, &single[i], 1u << i, at);
        if (!single) copy_cell(by, in, ALL_BYTES, at);
    }
}

// What the host can access while the copy runs.
static void remember_of_host(const emu_copy_event *event) {
    emu_memory_event memory;
    if (event->host_waits) return;
    if (emu_memory_at(event->to, &memory) && memory.kind != EMU_MEMORY_DEVICE)
        streams_copies(EMU_WRITES, (uintptr_t)event->to, event->to_pitch, event->width, event->height);
    if (event->from && emu_memory_at(event->from, &memory) && memory.kind != EMU_MEMORY_DEVICE)
        streams_copies(EMU_READS, (uintptr_t)event->from, event->from_pitch, event->width, event->height);
}

void rules_copy(const emu_copy_event *event) {
    ++checker_stamp;
    copying by = {.number = CHECKER_COPY | event->order, .bytes = event->width};
    streams_begin(event->order, by.number, "");
    remember_of_host(event);
    by.remembers = !event->host_waits && streams_are_several();
    for (size_t row = 0; row < event->height && (by.remembers || streams_matter()); ++row) {
        by.kind = EMU_READS;
        by.site = site_number(&NOWHERE, EMU_READS, 1);
        if (event->from) copy_bytes(&by, (uintptr_t)event->from + row * event->from_pitch);
        by.kind = EMU_WRITES;
        by.site = site_number(&NOWHERE, EMU_WRITES, 1);
        copy_bytes(&by, (uintptr_t)event->to + row * event->to_pitch);
    }
    streams_end(event->order);
}

// --- Accesses by the host ------------------------------------------------------------------------------------------

// (What the host reads in a flag, by an atomic or volatile access, says that the kernel has done what comes before.)
static int host_conflicts(const emu_host_event *event, const cell *in, stream_work *work, unsigned *with) {
    for (int r = WRITE; r < RECORDS; ++r) {
        const unsigned kind = in->stamp[r] ? site_of(in->site[r])->kind : 0;
        if (!((event->kind | kind) & EMU_WRITES) || !kind) continue;
        const int is_flag = is_atomic(event->kind) || (kind & EMU_VOLATILE && !(kind & EMU_WRITES));
        *with = in->site[r];
        if (streams_not_awaited(in->stamp[r], is_flag && (event->kind & EMU_READS), work) && !is_flag) return 1;
    }
    return 0;
}

int rules_host(const emu_host_event *event, stream_work *work, unsigned *with) {
    const uintptr_t begin = event->address, end = begin + event->bytes;
    const int is_flag = is_atomic(event->kind);
    const unsigned copied = streams_copied(event, is_flag && (event->kind & EMU_READS), work);
    if (copied && !is_flag) {
        *with = site_number(&NOWHERE, copied, 1);
        return 1;
    }
    for (uintptr_t at = begin & ~(uintptr_t)(GRAIN - 1); at < end; at += GRAIN) {
        cell *const in = shadow_if(at), *const single = in ? shadow_bytes(in) : NULL;
        for (uintptr_t i = at < begin ? begin : at; single && i < at + GRAIN && i < end; ++i)
            if (host_conflicts(event, &single[i - at], work, with)) return 1;
        if (in && !single && host_conflicts(event, in, work, with)) return 1;
    }
    return 0;
}

// --- Asynchronous operations ---------------------------------------------------------------------------------------

void rules_begin(block_state *block, const emu_where *at, const emu_access_event *event, uint32_t pending) {
    const accessing by = access_of(block, at, event);
    if (is_inside(&by, at->thread)) judge_bytes(&by, event->address, event->bytes, pending);
}

static void end(cell *in, uint32_t pending, uint32_t who) {
    for (int r = WRITE; r < RECORDS; ++r)
        if (in->stamp[r] && in->who[r] == pending) in->who[r] = who, in->stamp[r] = checker_stamp;
}

void rules_end(const emu_access_event *event, uint32_t pending, uint32_t who) {
    for (uintptr_t at = event->address & ~(uintptr_t)(GRAIN - 1); at < event->address + event->bytes; at += GRAIN) {
        cell *const in = shadow_cell(at), *const single = shadow_bytes(in);
        *shadow_tag(at) = 0;
        for (int i = 0; single && i < GRAIN; ++i) end(&single[i], pending, who);
        if (!single) end(in, pending, who);
    }
}

void rules_clear(void) {
    checker_stamp = 0;
    knowledge_clear();
}
