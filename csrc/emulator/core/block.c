// One block: its threads take turns on one OS thread.
//
//   fiber A:  thread 0 runs ... barrier --.                         .-> thread 0 continues ... exits; A is idle
//   fiber B:                              '-> thread 1 ... barrier -|
//   fiber C:                                  thread 2 exits, so C runs thread 3 as a plain call ... barrier
//
// A fiber runs threads one after another, as calls, until one of them must wait. Then the next ready thread continues
// where it waited, or begins on an idle fiber. A kernel that never waits therefore never switches. When the last live
// thread arrives at a barrier, all threads are ready again, in order.
//
// Invariants: the barrier opens when arrived == live, which is checked when a thread arrives and when one exits. A
// live thread that is neither running nor ready nor in a warp operation nor at an mbarrier waits at the barrier. All
// of them wait at the same one (site_file, site_line).
#include "block.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_LOCAL = 1 << 10, MOST_LOCALS = 1 << 28 }; // bytes

EMU_API __thread emu_dim3 emu_blockIdx STATIC_TLS, emu_blockDim STATIC_TLS = {1, 1, 1},
                                                                emu_gridDim STATIC_TLS = {1, 1, 1};
EMU_API __thread void *emu_dynamic_begin STATIC_TLS; // see device_dynamic.h
__thread emu_block *emu_current;

const char *const emu_barrier_names[] = {"__syncthreads()", "__syncthreads_count()", "__syncthreads_and()",
                                         "__syncthreads_or()",
                                         "the grid's sync()"}; // the kinds of emu_sync_block_with

// --- Which thread runs next ---------------------------------------------------------------------------------------

emu_thread *emu_block_search(emu_block *block, unsigned from) {
    unsigned w = from >> 6, words = (unsigned)block->words;
    uint64_t word = block->ready[w] & (~(uint64_t)0 << (from & 63));
    for (unsigned i = 0; !word; ++i) {
        if (i > words) return NULL;
        w = w + 1 < words ? w + 1 : 0;
        word = block->ready[w];
    }
    block->ready[w] &= ~(word & -word);
    block->slot = w * 64 + (unsigned)__builtin_ctzll(word);
    return block->order[block->slot];
}

static void fiber_main(void);

static emu_fiber *idle_fiber(emu_block *block) {
    if (!block->idle_count) {
        int first = block->stacks.count;
        if (first == EMU_MAX_FIBERS || emu_stacks_grow(&block->stacks, block->grid->stack_bytes, fiber_main))
            return NULL;
        for (int i = block->stacks.count; i-- > first;) block->idle[block->idle_count++] = &block->stacks.fibers[i];
    }
    return block->idle[--block->idle_count];
}

static const char NO_STACKS[] = "out of host memory for the stacks of a block's threads";

emu_fiber *emu_block_first_fiber(emu_block *block, emu_thread *thread) {
    thread->fiber = idle_fiber(block);
    if (!thread->fiber) {
        emu_grid_fail(block->grid, cudaErrorMemoryAllocation, NO_STACKS, 0);
        emu_block_abandon(block);
    }
    return thread->fiber;
}

// No thread is ready. If lanes wait at __activemask, all of them have arrived by now, so they get their result. If
// threads wait for copies, these are carried out now. Otherwise the block is deadlocked.
emu_thread *emu_block_nothing_ready(emu_block *block, emu_fiber *fiber, unsigned from) {
    if (block->asking && emu_warp_answer_asking(block)) return emu_block_take(block, from);
    if (block->leave)
        block->leave(block, fiber);
    else if (!emu_block_deliver(block) && !emu_block_let_late(block))
        emu_block_deadlock(block);
    return emu_block_take(block, from);
}

void emu_block_deadlock(emu_block *block) {
    for (int i = 0; i < EMU_SERVICES; ++i)
        if (block->hooks[i] && block->hooks[i]->report) block->hooks[i]->report(block);
    emu_warp_report_deadlock(block);
}

int emu_block_deliver(emu_block *block) {
    for (int i = 0; i < EMU_SERVICES; ++i)
        if (block->hooks[i] && block->hooks[i]->deliver && block->hooks[i]->deliver(block)) return 1;
    return 0;
}

void emu_block_wait(emu_block *block) {
    const int quiet = block->current->quiet; // others are not
    if (quiet) emu_tool_quiet(block, 0);
    emu_block_switch(block, block->slot + 1);
    if (quiet) emu_tool_quiet(block, 1);
}

void emu_block_be_late(emu_block *block) {
    if (EMU_UNLIKELY(emu_block_stopped(block))) emu_block_abandon(block);
    ++block->late;
    block->current->state = EMU_LATE;
    emu_block_wait(block);
}

// They continue in turn. The first one often leads the others, so what it does too early happens before they have
// continued.
int emu_block_let_late(emu_block *block) {
    const int count = block->thread_count, seeded = block->grid->order == EMU_ORDER_SEEDED;
    for (int i = 0; block->late && i < count; ++i) {
        const int at = (block->next_late + i) % count;
        emu_thread *thread = seeded ? block->order[at] : &block->threads[at];
        if (thread->state != EMU_LATE) continue;
        --block->late;
        block->next_late = at + 1;
        emu_block_make_ready(block, thread);
        return 1;
    }
    return 0;
}

// --- The order of threads -----------------------------------------------------------------------------------------

static inline uint64_t mix(uint64_t x) { // splitmix64: every bit of the input affects every bit of the output
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static void fill_slots(emu_block *block, int count) {
    for (int w = 0; w < block->words; ++w) {
        int left = count - w * 64;
        block->live_slots[w] = left >= 64 ? ~(uint64_t)0 : left > 0 ? ((uint64_t)1 << left) - 1 : 0;
    }
}

static void put(emu_block *block, int slot, emu_thread *thread) {
    block->order[slot] = thread;
    thread->slot = (uint16_t)slot;
}

// Permutes the live threads anew. The same seed, block and phase give the same permutation.
void emu_block_shuffle(emu_block *block) {
    int count = 0;
    for (int id = 0; id < block->thread_count; ++id)
        if (block->threads[id].state != EMU_EXITED) block->order[count++] = &block->threads[id];
    uint64_t random = mix(block->grid->seed ^ mix(block->number ^ mix(block->phase)));
    for (int i = count - 1; i > 0; --i) {
        random = mix(random);
        int j = (int)(random % (unsigned)(i + 1));
        emu_thread *thread = block->order[i];
        block->order[i] = block->order[j], block->order[j] = thread;
    }
    for (int i = 0; i < count; ++i) put(block, i, block->order[i]);
    fill_slots(block, count);
}

// --- The grid's first error ---------------------------------------------------------------------------------------

void emu_grid_fail(emu_grid *grid, int code, const char *message, uintptr_t address) {
    pthread_mutex_lock(&grid->lock);
    if (!grid->code) {
        grid->code = code;
        snprintf(grid->error->message, EMU_MESSAGE, "%s", message);
        grid->error->address = address;
    }
    atomic_store(&grid->stop, 1);
    pthread_cond_broadcast(&grid->all_here);
    pthread_mutex_unlock(&grid->lock);
}

static void check_shared(const emu_block *block) {
    char text[200];
    if (EMU_UNLIKELY(emu_shared_damage(block, 1, text, sizeof text)))
        emu_block_fail_as(cudaErrorIllegalAddress, NULL, 0, "a thread of this block %s", text);
}

// --- Running ------------------------------------------------------------------------------------------------------

void emu_block_watch_thread(const void *function, const void *arguments) {
    emu_block *block = emu_current;
    const int is_watched = block->tool != NULL;
    if (is_watched) {
        block->current->quiet = 0;
        emu_tool_thread(block, 1);
    }
    block->grid->trampoline(function, arguments);
    if (is_watched) emu_tool_thread(block, 0);
}

// A thread that stands for all of its block does so for further blocks, without a switch of stacks.
static int next_block(emu_block *block) {
    if (!block->alone || !block->grid->draw) return 0;
    for (int i = 0; i < EMU_SERVICES; ++i)
        if (block->hooks[i]) return 0;
    check_shared(block);
    if (!block->grid->draw(block, &block->number, &block->index)) return 0;
    ++block->runs;
    block->locals_used = FIRST_LOCAL;
    emu_blockIdx = block->index;
    emu_block_show(block->current);
    return 1;
}

// The endless loop of every fiber: run the current thread, then a thread that has not begun, or switch to another
// fiber.
static void fiber_main(void) {
    emu_fiber_begun();
    emu_block *block = emu_current;
    // The loop begins a cache line: without this, the time of an empty thread depends by 30% on the code before this
    // function.
    __asm__ volatile(".p2align 6");
    for (;;) {
        emu_thread *self = block->current;
        emu_fiber *fiber = self->fiber;
        if (EMU_UNLIKELY(emu_block_stopped(block))) emu_block_abandon(block);
        self->state = EMU_LIVE;
        const emu_grid_launch *launch = block->grid->launch;
        launch->trampoline(launch->function, launch->arguments);

        if (EMU_UNLIKELY(!fiber->guarded && emu_fiber_overflowed(fiber)))
            emu_block_fail_as(cudaErrorHardwareStackError, NULL, 0, EMU_STACK_OVERFLOW, fiber->size);
        if (next_block(block)) continue;
        self->state = EMU_EXITED;
        self->fiber = NULL;
        --block->live;
        block->live_slots[self->slot >> 6] &= ~((uint64_t)1 << (self->slot & 63));
        emu_warp_state *warp = &block->warps[self->id / EMU_WARP];
        warp->exited |= 1u << (self->id % EMU_WARP);
        if (warp->meetings) emu_warp_lane_exits(block, self);
        if (block->exits) block->exits(block, self);
        unsigned from = self->slot + 1u;
        if (block->arrived && block->arrived == block->live) { // the others were waiting only for this thread
            block->open(block);
            from = 0;
        }
        emu_thread *next = emu_block_take(block, from);
        if (EMU_UNLIKELY(!next)) {
            if (!block->live) {
                check_shared(block);
                for (int i = 0; i < EMU_SERVICES; ++i)
                    if (block->hooks[i] && block->hooks[i]->end) block->hooks[i]->end(block);
                block->idle[block->idle_count++] = fiber;
                emu_fiber_go(fiber, &block->main, 0, 0);
                continue; // reached when the next block uses this fiber
            }
            next = emu_block_nothing_ready(block, fiber, from);
        }
        if (!next->fiber) {
            next->fiber = fiber;
            block->current = next;
            emu_block_show(next);
        } else {
            block->idle[block->idle_count++] = fiber;
            block->idle_mixed = 1;
            emu_block_resume(block, fiber, next);
        }
    }
}

// Sorts idle fibers by address, so that thread i of every block uses the same stack.
static void sort_idle(emu_block *block) {
    block->idle_count = block->stacks.count;
    for (int i = 0; i < block->idle_count; ++i) block->idle[i] = &block->stacks.fibers[block->idle_count - 1 - i];
    block->idle_mixed = 0;
}

static void fill_in_threads(emu_block *block, emu_dim3 shape) {
    emu_dim3 index = {0, 0, 0};
    block->thread_count = (int)(shape.x * shape.y * shape.z);
    block->warp_count = (block->thread_count + EMU_WARP - 1) / EMU_WARP;
    block->words = (block->thread_count + 63) / 64;
    block->shape = shape;
    for (int id = 0; id < block->thread_count; ++id) {
        block->threads[id] = (emu_thread){.index = index, .id = (uint16_t)id, .state = EMU_EXITED};
        if (++index.x == shape.x) {
            index.x = 0;
            if (++index.y == shape.y) index.y = 0, ++index.z;
        }
    }
}

int emu_block_attach(emu_block *block, emu_grid *grid) {
    const emu_grid_launch *launch = grid->launch;
    block->grid = grid;
    block->tool = NULL;
    emu_blockDim = launch->block;
    emu_gridDim = launch->grid;
    if (memcmp(&block->shape, &launch->block, sizeof block->shape)) fill_in_threads(block, launch->block);
    for (int id = 0; id < block->thread_count; ++id)
        put(block, grid->order == EMU_ORDER_REVERSED ? block->thread_count - 1 - id : id, &block->threads[id]);
    if (block->stacks.count && block->stacks.stack_bytes < grid->stack_bytes) { // the setting was raised
        emu_stacks_free(&block->stacks);
        block->idle_count = 0;
    }
    return emu_shared_place(&block->shared, launch->dynamic_shared, EMU_SHARED_GRAIN, 0);
}

void emu_block_prepare(emu_block *block, uint64_t number, emu_dim3 index) {
    const emu_grid *grid = block->grid;
    block->number = number;
    block->index = index;
    block->phase = 0;
    block->live = block->thread_count;
    block->alone = block->silent = 0;
    block->locals_used = FIRST_LOCAL;
    block->arrived = block->sum = block->sum_not_zero = block->asking = 0;
    block->late = block->next_late = 0;
    ++block->runs;
    memset(block->hooks, 0, sizeof block->hooks);
    block->cluster = NULL;
    block->leave = NULL;
    block->exits = NULL;
    block->parked = NULL;
    for (int w = 0; w < block->warp_count; ++w) {
        int lanes = block->thread_count - w * EMU_WARP;
        block->warps[w].exited = lanes >= EMU_WARP ? 0 : ~0u << lanes;
        block->warps[w].meetings = 0;
        block->warps[w].asking = 0;
    }
    if (grid->order != EMU_ORDER_FIXED && grid->launch->dynamic_shared)
        memset(block->shared.begin, 0xff,
               grid->launch->dynamic_shared); // NaN or -1 reveals reads of unwritten memory
    if (grid->order == EMU_ORDER_SEEDED) {
        for (int id = 0; id < block->thread_count; ++id) block->threads[id].state = EMU_LIVE;
        emu_block_shuffle(block);
    } else {
        fill_slots(block, block->thread_count);
    }
    for (int w = 0; w < block->words; ++w) block->ready[w] = block->live_slots[w];
    if (block->idle_mixed) sort_idle(block);
}

void emu_block_enter(emu_block *block) {
    emu_blockIdx = block->index;
    emu_dynamic_begin = emu_dynamic_shared();
    if (block->parked) {
        block->inside = 1;
        emu_fiber_go(&block->main, block->parked, 0, 0);
    } else {
        emu_thread *first = emu_block_take(block, 0);
        first->fiber = idle_fiber(block);
        if (!first->fiber) {
            emu_grid_fail(block->grid, cudaErrorMemoryAllocation, NO_STACKS, 0);
            block->abandoned = 1;
            return;
        }
        block->current = first;
        emu_block_show(first);
        block->inside = 1;
        emu_fiber_go(&block->main, first->fiber, 0, 0);
    }
    block->inside = 0;
    if (!block->live) block->current = NULL;
}

// Makes an abandoned block ready for the next one.
static void clear(emu_block *block) {
    for (int i = 0; i < block->stacks.count; ++i) emu_fiber_prepare(&block->stacks.fibers[i], i, fiber_main);
    sort_idle(block);
    for (int id = 0; id < block->thread_count; ++id)
        block->threads[id].fiber = NULL, block->threads[id].state = EMU_EXITED;
    memset(block->ready, 0, sizeof block->ready);
    block->abandoned = 0;
}

// Which thread has failed is not known if one has run all of them in silence: the block runs once more, each thread
// by itself. (If none fails this time, because another block has changed the memory meanwhile, the error stays.)
static void find_thread(emu_block *block, uint64_t number, emu_dim3 index) {
    clear(block);
    block->one_by_one = 1;
    emu_block_prepare(block, number, index);
    emu_block_enter(block);
    block->one_by_one = 0;
    block->failed = 1;
}

void emu_block_run(emu_block *block, uint64_t number, emu_dim3 index) {
    emu_block_prepare(block, number, index);
    emu_block_enter(block);
    if (EMU_LIKELY(!block->abandoned)) return;
    if (block->silent && block->failed) find_thread(block, block->number, block->index);
    emu_block_discard(block);
}

void emu_block_run_watched(emu_block *block, uint64_t number, emu_dim3 index) {
    emu_block_prepare(block, number, index);
    emu_tool_block_begin(block);
    emu_block_enter(block);
    if (block->abandoned)
        emu_block_discard(block);
    else
        emu_tool_block_end(block, 1);
}

void emu_block_discard(emu_block *block) {
    block->current = NULL;
    if (block->grid->tool) emu_tool_block_end(block, 0);
    clear(block);
    if (!block->failed) return;
    block->failed = 0;
    emu_grid *grid = block->grid;
    const emu_dim3 index = block->index;
    char name[256], place[300] = "", message[EMU_MESSAGE];
    emu_line line;
    if (block->fail_code_at) {
        emu_source_lines(&block->fail_code_at, 1, &line);
        block->fail_line = line.line;
        block->fail_file = line.line ? emu_as_given(line.file) : NULL;
    }
    emu_kernel_name(grid->launch->function, name, sizeof name);
    if (block->fail_file) snprintf(place, sizeof place, "%s:%d, ", block->fail_file, block->fail_line);
    emu_dim3 thread = block->fail_thread;
    snprintf(message, sizeof message, "kernel %s, %sblock (%u,%u,%u), thread (%u,%u,%u): %s", name, place, index.x,
             index.y, index.z, thread.x, thread.y, thread.z, block->fail_text);
    emu_grid_fail(grid, block->fail_code, message, block->fail_address);
}

void emu_block_abandon(emu_block *block) {
    block->abandoned = 1;
    emu_fiber_go(&block->nowhere, &block->main, 0, 1);
    abort(); // unreachable: an abandoned thread is never resumed
}

static _Noreturn void fail(int code, const char *file, int line, const char *format, va_list arguments) {
    emu_block *block = emu_current;
    vsnprintf(block->fail_text, sizeof block->fail_text, format, arguments);
    block->fail_code = code;
    block->fail_file = file;
    block->fail_line = line;
    // (One thread may stand for all: emu_block_alone. Of several, the one to blame need not be the one that runs.)
    block->fail_thread = block->live == 1 ? emu_threadIdx.index : block->current->index;
    block->fail_code_at = block->fail_address = 0;
    block->failed = 1;
    emu_block_abandon(block);
}

void emu_block_fail(const char *file, int line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail(cudaErrorLaunchFailure, file, line, format, arguments);
}

void emu_block_fail_as(int code, const char *file, int line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail(code, file, line, format, arguments);
}

void emu_fail(const char *what, const char *file, int line) {
    emu_block_fail(file, line, "%s", what);
}

void emu_fail_at_address(const char *what) {
    emu_block_fail_as(cudaErrorIllegalAddress, NULL, 0, "%s", what);
}

// --- Small services for device code -------------------------------------------------------------------------------

// A thread may wait for another one by repeated attempts (at a lock, a flag). If the other thread is in the same
// block, it needs the same OS thread, so a failed attempt must let it run. Every 16th attempt is enough, since most
// failed attempts are due to other blocks. (A program's host calls it, too, in functions for both.)
void emu_spin(void) {
    if (emu_current && ++emu_current->spins % 16 == 0) emu_yield();
}

// All of the block's threads have let others run: perhaps they wait for another block, which may not have begun.
static void others_run(emu_block *block) {
    enum { PATIENCE = 1000 };
    if (!block->grid->can_run) {
        const int is_due = ++block->waits % PATIENCE == 0, has_others = block->grid->begin_another != NULL;
        if (is_due && has_others) block->grid->begin_another(block->grid);
        if (is_due || has_others) sched_yield(); // on a busy machine, one may take a millisecond
        return;
    }
    pthread_mutex_lock(&block->grid->lock);
    emu_turn_give(block, 1);
    emu_turn_take(block);
    pthread_mutex_unlock(&block->grid->lock);
}

void emu_yield(void) {
    emu_block *block = emu_current;
    emu_thread *self = block->current;
    if (emu_block_stopped(block)) emu_block_abandon(block);
    const int all_tried = ++block->tries > block->live;
    if (all_tried) { // lanes at __activemask wait for those that can continue, and by now all others only try
        block->tries = 0;
        if (block->asking) emu_warp_answer_asking(block);
    }
    if (!emu_block_deliver(block)) emu_block_let_late(block);
    emu_block_make_ready(block, self);
    if (block->leave) block->leave(block, self->fiber);
    emu_thread *next = emu_block_take(block, self->slot + 1u);
    if (next == self || (block->grid->can_run ? self->slot > next->slot : all_tried)) others_run(block);
    if (next != self) emu_block_resume(block, self->fiber, next);
}

int emu_block_alone(int shows) {
    emu_block *block = emu_current;
    if (block->alone) return 1; // for this block, too
    if (block->tool || block->cluster || block->one_by_one || block->grid->order != EMU_ORDER_FIXED ||
        block->live != block->thread_count)
        return 0;
    block->alone = 1;
    block->silent = !shows;
    block->live = 1; // the thread that is in the kernel stands for all
    memset(block->ready, 0, sizeof block->ready);
    memset(block->live_slots, 0, sizeof block->live_slots);
    block->live_slots[block->slot >> 6] = (uint64_t)1 << (block->slot & 63);
    return 1;
}

// Most blocks need a few kilobytes; pages that are never used take no memory. (A little before and behind an array
// can be read: see emu::exchange.)
void *emu_locals(size_t bytes) {
    emu_block *block = emu_current;
    if (EMU_UNLIKELY(!block->locals)) {
        void *map =
            mmap(NULL, MOST_LOCALS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        block->locals = map == MAP_FAILED ? NULL : map;
    }
    const size_t first = (block->locals_used + 63) / 64 * 64;
    if (EMU_UNLIKELY(!block->locals || bytes > MOST_LOCALS - FIRST_LOCAL - first))
        emu_block_fail_as(cudaErrorMemoryAllocation, NULL, 0,
                          "out of host memory for the variables of a block's threads");
    block->locals_used = first + bytes;
    return block->locals + first;
}

void emu_locals_end(const void *first) {
    emu_block *block = emu_current;
    block->locals_used = (size_t)((const char *)first - block->locals);
}

void emu_one_by_one(void) {
    emu_block *block = emu_current;
    block->silent = 1;
    emu_block_fail(NULL, 0, "a lane of a warp does not take part in its operation");
}

void emu_block_refuse(const char *file, int line) {
    if (emu_current->alone)
        emu_block_fail(file, line,
                       "a thread waits in a function that the kernel does not call by its name, so the kernel was "
                       "compiled as one whose threads never wait; call the function by its name");
}

int emu_is_cooperative(void) {
    return emu_current->grid->launch->cooperative != 0;
}
void *emu_dynamic_shared(void) {
    return emu_current->shared.begin;
}
size_t emu_dynamic_shared_bytes(void) {
    return emu_current->grid->launch->dynamic_shared;
}

unsigned long long emu_global_timer_ns(void) {
    return emu_now_ns();
}
long long emu_clock64(void) {
    return (long long)((double)emu_now_ns() * emu_current->grid->clock_ghz);
}

long emu_clock(void) {
    return emu_current && emu_current->current ? (long)emu_clock64() : (long)clock();
}

// --- An OS thread's block -----------------------------------------------------------------------------------------

static pthread_key_t block_key;
static pthread_once_t block_once = PTHREAD_ONCE_INIT;

void emu_block_free(emu_block *block) {
    for (int i = 0; i < EMU_SERVICES; ++i)
        if (block->services[i].state) block->services[i].release(block->services[i].state);
    emu_stacks_free(&block->stacks);
    emu_shared_free(&block->shared);
    if (block->locals) munmap(block->locals, MOST_LOCALS);
    for (size_t i = 0; i < sizeof block->own_statics / sizeof *block->own_statics; ++i)
        emu_shared_free(&block->own_statics[i].shared);
    free(block->static_copy);
    free(block);
}
static void free_own(void *pointer) {
    emu_block *block = pointer;
    if (block->free_cluster) block->free_cluster(block->own_cluster);
    emu_block_free(block);
    emu_current = NULL;
}
static void make_key(void) {
    pthread_key_create(&block_key, free_own);
}

emu_block *emu_block_new(void) {
    emu_block *block = aligned_alloc(64, (sizeof *block + 63) / 64 * 64);
    if (!block) return NULL;
    memset(block, 0, sizeof *block);
    emu_fiber_adopt(&block->main);
    return block;
}

emu_block *emu_block_here(void) {
    if (emu_current) return emu_current;
    pthread_once(&block_once, make_key);
    emu_block *block = emu_block_new();
    if (!block) return NULL;
    if (pthread_setspecific(block_key, block)) {
        emu_block_free(block);
        return NULL;
    }
    return emu_current = block;
}

void *emu_block_service(emu_block *block, enum emu_service service, size_t bytes, void (*release)(void *)) {
    emu_service_state *one = &block->services[service];
    if (one->state) return one->state;
    one->state = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!one->state)
        emu_block_fail(NULL, 0, "this computer has no memory left for the copies and products of a block");
    memset(one->state, 0, bytes);
    one->release = release;
    return one->state;
}
