// What the core reports, sorted to the rules; and the functions for the host.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "checker.h"

// Held while a launch runs, and by whoever changes the shadow otherwise.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
enum { PATIENCE = 100, LONG = 100000, FOR_EVER = 1 << 25, MOST_WATCHED = 4 };

// --- Launches and blocks -------------------------------------------------------------------------------------------

static uint64_t last_launch;             // its number
static __thread uint64_t last_of_thread; // of a stream

static void launch_begin(void *tool, emu_launch_event *event) {
    (void)tool;
    pthread_mutex_lock(&lock);
    last_launch = last_of_thread = event->number;
    launch_start(event);
    streams_begin(event->order, event->number, event->kernel);
    shadow_new_launch();
    quick_new_launch();
    if (checker_launch.reports) return;
    for (size_t i = 0; i < checker_launch.memory_count; ++i) { // it may have written all of them
        const interval *const of = &checker_launch.memory[i];
        if (of->parameter >= 0) shadow_set(of->begin, of->end - of->begin, 1);
    }
}

static void launch_end(void *tool, emu_launch_event *event, int code) {
    (void)tool, (void)code;
    streams_end(event->order);
    knowledge_clear();
    operations_clear();
    pthread_mutex_unlock(&lock);
}

static int block_begin(void *tool, emu_block_event *event) {
    (void)tool;
    if (!checker_launch.reports) return 0;
    block_state *const block = block_new(event);
    shadow_new_launch(); // shared variables are not touched yet
    quick_stamp();
    const emu_dim3 cluster = event->launch->cluster;
    block->touched_all = cluster.x * cluster.y * cluster.z > 1;
    if (block->touched_all && event->shared_bytes) shadow_set((uintptr_t)event->shared, event->shared_bytes, 0);
    if (block->touched_all && event->static_bytes) shadow_set((uintptr_t)event->statics, event->static_bytes, 0);
    quick_begin(block);
    return 1;
}

static void block_continue(void *tool, emu_block_event *event) {
    (void)tool;
    if (event->own) quick_begin(event->own);
}

static void block_end(void *tool, emu_block_event *event, int complete) {
    (void)tool, (void)complete;
    block_state *const block = event->own;
    quick_end();
    if (!block) return;
    block_free(block);
    event->own = NULL;
}

// What threads wait for, if they do (give_way): the variables of volatile reads and atomic operations.
static struct {
    struct {
        uintptr_t address;
        size_t bytes;
        uint64_t value;
    } of[MOST_WATCHED];
    unsigned places, count, same; // same: how often all values were as before
} waiting;

static atomic_int may_wait_for_host; // a thread has waited LONG: the check must not hold up the host

static void nobody_waits(void) {
    waiting.places = waiting.count = waiting.same = 0;
    atomic_store_explicit(&may_wait_for_host, 0, memory_order_relaxed);
}

static void thread_begin(void *tool, const emu_where *at) {
    (void)tool;
    block_state *const block = at->block->own;
    block->live[at->thread / 32] |= 1u << at->thread % 32;
}
static void thread_end(void *tool, const emu_where *at) {
    (void)tool;
    block_state *const block = at->block->own;
    block->live[at->thread / 32] &= ~(1u << at->thread % 32);
    nobody_waits();
    rules_thread_ends(block, at->thread);
}

// --- Accesses and synchronization ----------------------------------------------------------------------------------

// Reads the variables again; whether one has changed.
static int has_news(void) {
    int is_new = 0;
    for (unsigned i = 0; i < waiting.places; ++i) {
        uint64_t value = 0;
        memcpy(&value, (const void *)waiting.of[i].address, waiting.of[i].bytes);
        is_new |= value != waiting.of[i].value;
        waiting.of[i].value = value;
    }
    return is_new;
}

// EMU_MEMORY_KINDS: the address is in no allocation, so the memory is the host's own.
static emu_memory_kind kind_of(const void *address) {
    emu_memory_event memory;
    return emu_memory_at(address, &memory) ? memory.kind : EMU_MEMORY_KINDS;
}

static int is_pinned(emu_memory_kind kind) {
    return kind == EMU_MEMORY_PINNED || kind == EMU_MEMORY_REGISTERED;
}

static const char FOR_A_THREAD[] =
    "a thread waits for ever for another value here. The blocks of a launch run in any "
    "order, not at the same time, unless it is a cooperative one";
static const char FOR_THE_HOST[] =
    "a thread waits here for another value, which the host may write, but it has not "
    "in the meantime. Checked kernels run one at a time: if the host waits for another "
    "stream first, the program cannot be checked";

// A thread waits for another one, perhaps of another block, if it reads a few volatile variables again and again, or
// attempts atomic operations. If the values remain, it waits for ever.
static void give_way(const emu_where *at, const emu_access_event *event) {
    unsigned i = 0;
    while (i < waiting.places && waiting.of[i].address != event->address) ++i;
    if (!(event->kind & EMU_READS) || i == MOST_WATCHED || event->bytes > sizeof waiting.of[i].value) {
        nobody_waits();
        return;
    }
    if (i == waiting.places) {
        waiting.of[i].address = event->address;
        waiting.of[i].bytes = event->bytes;
        waiting.places = i + 1;
        waiting.same = 0;
    }
    if (++waiting.count % PATIENCE) return;
    waiting.same = has_news() ? 0 : waiting.same + 1;
    atomic_store_explicit(&may_wait_for_host, waiting.same > LONG / PATIENCE, memory_order_relaxed);
    if (waiting.same >= FOR_EVER / PATIENCE) {
        const emu_memory_kind kind = kind_of((const void *)event->address);
        const int for_host = is_pinned(kind) || kind == EMU_MEMORY_MANAGED; // it has more time
        if (!for_host || waiting.same >= 4 * FOR_EVER / PATIENCE) {
            emu_line line = {0};
            nobody_waits();
            emu_source_lines(&at->code, 1, &line);
            emu_fail(for_host ? FOR_THE_HOST : FOR_A_THREAD, line.line ? line.file : NULL, line.line);
        }
    }
    if (event->kind & EMU_VOLATILE) emu_yield();
}

static void on_access(void *tool, const emu_where *at, const emu_access_event *event) {
    (void)tool;
    block_state *const block = at->block->own;
    if (!block) return;
    if (event->by == EMU_BY_THREAD && event->space == EMU_SPACE_LOCAL) {
        async_local(block, at, event);
        return;
    }
    const interval core = interval_core();
    if (event->address - core.begin < core.end - core.begin) return;
    if (event->kind & (EMU_VOLATILE | EMU_ATOMIC)) give_way(at, event);
    if (event->space == EMU_SPACE_SHARED && interval_is_guard(block->event, event->address)) return;
    if (event->operation && event->by != EMU_BY_TEXTURE)
        async_access(block, at, event);
    else if (event->by == EMU_BY_THREAD || event->by == EMU_BY_MATRIX)
        rules_access(block, at, event);
}

static int notes; // what need not be a mistake is reported, too

// The first thread of the block that has ended; -1: there is none.
static int first_ended(const block_state *block) {
    for (int id = 0; id < block->threads; ++id)
        if (!(block->live[id / 32] >> id % 32 & 1)) return id;
    return -1;
}

static void note_ended(const block_state *block, const emu_where *at) {
    const int ended = first_ended(block);
    const emu_access_event none = {.bytes = 1};
    const interval nothing = {.parameter = -1};
    if (ended >= 0) findings_add(CHECKER_ENDED, block, ended, site_number(at, EMU_READS, 1), &none, -1, 0, &nothing);
}

static void on_barrier(void *tool, const emu_where *at, const emu_barrier_event *event) {
    (void)tool;
    block_state *const block = at->block->own;
    if (!block) return;
    nobody_waits();
    const int arrives = event->stage == EMU_BARRIER_ARRIVES, leaves = event->stage == EMU_BARRIER_LEAVES;
    const uint64_t all = UINT64_MAX, part = 1ull << 62 | block->number << 8 | (unsigned)event->number;
    const uint64_t cluster = 1ull << 63 | (block->number - (uint64_t)block->event->rank);
    switch (event->kind) {
    case EMU_SYNC_GRID:
        if (event->stage == EMU_BARRIER_OPENS && ++block->generation > checker_launch.generation) {
            checker_launch.generation = block->generation;
            checker_launch.grid_known = quick_stamp();
        } // fallthrough
    case EMU_SYNC:
    case EMU_SYNC_COUNT:
    case EMU_SYNC_AND:
    case EMU_SYNC_OR:
        if (event->stage == EMU_BARRIER_OPENS && notes) note_ended(block, at);
        if (event->stage == EMU_BARRIER_OPENS) rules_block_barrier(block);
        break;
    case EMU_SYNC_PART:
        if (arrives) rules_release(block, at->thread, part, block->number);
        if (leaves) rules_acquire(block, at->thread, part, block->number);
        break;
    case EMU_SYNC_CLUSTER:
        if (arrives) rules_release(block, at->thread, cluster, all);
        if (leaves) rules_acquire(block, at->thread, cluster, all);
        break;
    case EMU_SYNC_MBARRIER:
        if (event->stage == EMU_BARRIER_STARTS) release_set(release_at(event->object, all, 1), NULL);
        if (arrives) rules_release(block, at->thread, event->object, all);
        if (leaves) rules_acquire(block, at->thread, event->object, all);
        break;
    default: break;
    }
}

static void on_warp(void *tool, const emu_where *at, const emu_warp_event *event) {
    (void)tool;
    block_state *const block = at->block->own;
    nobody_waits();
    if (block && event->kind == EMU_SYNCWARP) rules_warp_barrier(block, at->thread / 32, event->lanes);
}

static void on_async(void *tool, const emu_where *at, const emu_async_event *event) {
    (void)tool;
    block_state *const block = at->block->own;
    if (block) async_event(block, at, event);
}

static void on_fence(void *tool, const emu_where *at, unsigned scope) {
    (void)tool;
    block_state *const block = at->block->own;
    if (block) rules_fence(block, at->thread, scope);
}

static void on_order(void *tool, const emu_order_event *event) {
    (void)tool;
    streams_order(event);
}

static void on_index(void *tool, const emu_where *at, int64_t index, const char *type) {
    (void)tool;
    const block_state *const block = at->block->own;
    if (block) findings_add_index(block, at, index, type);
}

// --- Memory --------------------------------------------------------------------------------------------------------

// What comes to the host counts as written, because the host may write all of it before it copies it back.
static void on_copy(void *tool, const emu_copy_event *event) {
    (void)tool;
    const emu_memory_kind to_kind = kind_of(event->to);
    const int has_values = !event->from || to_kind == EMU_MEMORY_KINDS || is_pinned(to_kind);
    pthread_mutex_lock(&lock);
    for (size_t row = 0; row < event->height; ++row) {
        const uintptr_t to = (uintptr_t)event->to + row * event->to_pitch;
        if (has_values)
            shadow_value(to, event->width);
        else
            shadow_copy(to, (uintptr_t)event->from + row * event->from_pitch, event->width);
    }
    rules_copy(event);
    pthread_mutex_unlock(&lock);
}

// malloc in a kernel, whose launch holds the lock.
static void allocate_block(const emu_memory_event *event) {
    shadow_set(event->address, event->bytes, 0);
    interval_forget_blocks(event->address, event->address + event->bytes);
    interval *const added = interval_add(event->address, event->address + event->bytes, -1, IN_HEAP);
    shadow_new_launch();
    quick_new_launch();
    const block_state *const block = event->at->block->own;
    const emu_access_event access = {.address = event->address, .bytes = event->bytes, .kind = EMU_WRITES};
    if (block) added->leak = findings_malloc(block, event->at, &access);
}

// A kernel frees a block, which remains in the list until malloc returns its memory again.
static void free_block(const emu_memory_event *event) {
    launch_state *const launch = &checker_launch;
    block_state *const block = event->at->block->own;
    for (size_t i = 0; i < launch->memory_count; ++i) {
        interval *const of = &launch->memory[i];
        if (of->begin != event->address || of->variable != IN_HEAP) continue;
        const emu_access_event all = {.address = of->begin, .bytes = of->end - of->begin, .kind = EMU_WRITES};
        if (block) rules_free(block, event->at, &all);
        of->variable = FREED;
        findings_freed(of->leak);
        shadow_new_launch();
        quick_new_launch();
        return;
    }
    const emu_access_event access = {.address = event->address, .bytes = 1, .kind = EMU_WRITES};
    const unsigned site = site_number(event->at, EMU_WRITES, 1);
    if (block) findings_add(CHECKER_DOUBLE_FREE, block, event->at->thread, site, &access, -1, 0, NULL);
}

static void on_allocate(void *tool, const emu_memory_event *event) {
    (void)tool;
    if (event->kind == EMU_MEMORY_HEAP) {
        allocate_block(event);
        return;
    }
    pthread_mutex_lock(&lock);
    if (event->kind != EMU_MEMORY_SYMBOL) allocations_add(event);
    if (event->kind == EMU_MEMORY_DEVICE) shadow_set(event->address, event->bytes, 0);
    interval_forget_freed(event->address, event->address + event->bytes);
    pthread_mutex_unlock(&lock);
}

static void on_release(void *tool, const emu_memory_event *event) {
    (void)tool;
    if (event->kind == EMU_MEMORY_HEAP) {
        free_block(event);
        return;
    }
    pthread_mutex_lock(&lock);
    allocations_remove(event->address);
    if ((event->kind == EMU_MEMORY_DEVICE || event->kind == EMU_MEMORY_MANAGED) && event->bytes) {
        shadow_set(event->address, event->bytes, 1);
        interval_add_freed(event->address, event->address + event->bytes);
    }
    pthread_mutex_unlock(&lock);
}

// Of a whole program: the host touches memory that it must not touch, or not yet.
enum { MOST_TOUCHES = 64, LONGEST_WAIT = 20000 };
typedef struct checker_touch {
    emu_host_event event;
    emu_line other; // memory of both: what the kernel does that the host has not waited for
    unsigned other_kind;
    char kernel[128]; // "": a copy
    emu_line copy;    // by which the host has queued it
    uintptr_t call;   // of a library's function, around the access; 0: there is none
} checker_touch;
static checker_touch touches[MOST_TOUCHES];
static size_t touch_count; // under touch_lock
static pthread_mutex_t touch_lock = PTHREAD_MUTEX_INITIALIZER;

static int is_known_touch(const emu_host_event *event) {
    size_t i = 0;
    pthread_mutex_lock(&touch_lock);
    while (i < touch_count && touches[i].event.code != event->code) ++i;
    const int is_known = i < touch_count || i == MOST_TOUCHES;
    pthread_mutex_unlock(&touch_lock);
    return is_known;
}

static void add_touch(const checker_touch *touch) {
    if (is_known_touch(&touch->event)) return;
    pthread_mutex_lock(&touch_lock);
    if (touch_count < MOST_TOUCHES) touches[touch_count++] = *touch;
    pthread_mutex_unlock(&touch_lock);
}

// What the host has read in flags says which work has been done. A read is reported before it is done, perhaps just
// before the kernel sets the flag: so the flags are looked at again when the host uses what they stand for.
enum { MOST_FLAGS = 16 };
static __thread emu_host_event flags[MOST_FLAGS]; // the flags that the host read last, each once
static __thread size_t flag_count;

static void remember_flag(const emu_host_event *event) {
    for (size_t i = 0; i < MOST_FLAGS; ++i)
        if (flags[i].address == event->address) return;
    flags[flag_count++ % MOST_FLAGS] = *event;
}

// Of an access in a header of a library, the innermost call around it that is in none: std::accumulate(h, h + n, 0).
static uintptr_t call_around(uintptr_t code) {
    enum { DEEPEST = 16 };
    uintptr_t calls[DEEPEST];
    emu_line lines[DEEPEST];
    const size_t count = emu_calls_of_program(calls, DEEPEST);
    size_t i = 0;
    while (i < count && calls[i] != code) ++i;
    emu_source_lines(calls + i, count - i, lines);
    for (size_t at = i; at < count; ++at)
        if (lines[at - i].line) return at == i ? 0 : calls[at];
    return 0;
}

// A kernel that the host has not waited for may begin later. So the check waits for it: not for ever, because kernels
// may wait for the host.
static void on_shared(const emu_host_event *event) {
    static atomic_int left = LONGEST_WAIT; // in steps of 100 us
    if (streams_of_host() == STREAMS_AWAITED || is_known_touch(event)) return;
    const int is_flag = (event->kind & (EMU_ATOMIC | EMU_VOLATILE)) != 0;
    if (is_flag && (event->kind & EMU_READS)) remember_flag(event);
    while (!is_flag && streams_of_host() == STREAMS_RUN && !atomic_load(&may_wait_for_host) &&
           atomic_load(&left) > 0) {
        atomic_fetch_sub(&left, 1);
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    stream_work work;
    unsigned site;
    int is_busy = pthread_mutex_trylock(&lock);
    for (int i = 0; is_busy && streams_of_host() != STREAMS_RUN && i < 1000; ++i) { // a kernel is about to end
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        is_busy = pthread_mutex_trylock(&lock);
    }
    if (is_busy) return; // a kernel runs
    for (size_t i = 0; !is_flag && i < MOST_FLAGS; ++i) rules_host(&flags[i], &work, &site);
    const int conflicts = rules_host(event, &work, &site);
    pthread_mutex_unlock(&lock);
    if (!conflicts) return;
    checker_touch touch = {.event = *event, .other_kind = site_of(site)->kind};
    memcpy(touch.kernel, work.kernel, sizeof touch.kernel);
    touch.call = call_around(event->code);
    if (!*work.kernel) {
        touch.copy = findings_line(work.calls);
    } else if (site_of(site)->file) {
        touch.other.line = site_of(site)->line;
        strncpy(touch.other.file, site_of(site)->file, sizeof touch.other.file - 1);
    } else if (site_of(site)->code) {
        emu_user_lines(&site_of(site)->code, 1, &touch.other);
    }
    add_touch(&touch);
}

static void on_host(void *tool, const emu_host_event *event) {
    (void)tool;
    const emu_memory_kind kind = event->memory.kind;
    if (kind != EMU_MEMORY_DEVICE && kind != EMU_MEMORY_SYMBOL)
        on_shared(event);
    else if (!event->stands_in)
        add_touch(&(checker_touch){.event = *event});
    if (!event->stands_in || !(event->kind & EMU_WRITES)) return;
    pthread_mutex_lock(&lock);
    shadow_value(event->address, event->bytes);
    pthread_mutex_unlock(&lock);
}

CHECKER_API size_t checker_touches(const checker_touch **all) {
    *all = touches;
    return touch_count;
}

static void on_failure(void *tool, const emu_failure_event *event) {
    (void)tool;
    failures_add(event, event->kind == EMU_FAILURE_KERNEL && last_of_thread ? last_of_thread : last_launch);
}

// --- For the host --------------------------------------------------------------------------------------------------

static const emu_events TABLE = {.size = sizeof(emu_events),
                                 .launch_begin = launch_begin,
                                 .launch_end = launch_end,
                                 .block_begin = block_begin,
                                 .block_end = block_end,
                                 .thread_begin = thread_begin,
                                 .thread_end = thread_end,
                                 .access = on_access,
                                 .barrier = on_barrier,
                                 .warp = on_warp,
                                 .async = on_async,
                                 .copy = on_copy,
                                 .allocate = on_allocate,
                                 .release = on_release,
                                 .fence = on_fence,
                                 .index = on_index,
                                 .one_at_a_time = 1,
                                 .order = on_order,
                                 .block_continue = block_continue,
                                 .failure = on_failure,
                                 .host = on_host};

CHECKER_API void checker_notes(int wanted) {
    notes = wanted;
}

CHECKER_API uint64_t checker_last_launch(void) {
    return last_launch;
}

CHECKER_API void checker_quick(int wanted) {
    quick_is_wanted = wanted;
}

CHECKER_API int checker_begin(void) {
    pthread_mutex_lock(&lock); // other threads may launch kernels as soon as the tool has subscribed
    const int code = emu_subscribe(&TABLE, &lock);
    if (!code) {
        findings_clear();
        failures_clear();
        quick_clear();
        last_launch = 0;
        size_t bytes;
        for (uintptr_t at = 0; (at = emu_heap_block_after(at, &bytes));) // from earlier launches
            interval_add(at, at + bytes, -1, IN_HEAP);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

CHECKER_API int checker_end(void) {
    const int code = emu_unsubscribe(&lock);
    if (code) return code;
    shadow_clear();
    rules_clear();
    streams_clear();
    allocations_clear();
    intervals_clear();
    return code;
}

// The arrays that the next launches may access, where their arguments point into one; others by their allocations.
CHECKER_API void checker_arrays(size_t count, const uintptr_t *begins, const size_t *bytes) {
    pthread_mutex_lock(&lock);
    intervals_announce(count, begins, bytes);
    pthread_mutex_unlock(&lock);
}

// How many of these bytes have no value.
CHECKER_API size_t checker_unwritten(uintptr_t address, size_t bytes, size_t *first) {
    size_t count = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < bytes; ++i) {
        if (shadow_has_value(address + i, 1)) continue;
        if (!count++) *first = i;
    }
    pthread_mutex_unlock(&lock);
    return count;
}

// The bytes of memory about accesses, and those of the pages that have been accessed.
CHECKER_API size_t checker_shadow(size_t *accessed) {
    pthread_mutex_lock(&lock);
    const size_t bytes = shadow_size(accessed);
    pthread_mutex_unlock(&lock);
    return bytes;
}
