// Tools that watch: who has subscribed, and how events reach them. include/emulator/events.h explains the events.
//
//   emu_subscribe --> emu_tool_now --acquired by--> a grid, while it runs --> its blocks: block->tool
//                                  '-------------> a copy, an allocation: for the time of the callback
//
// A block without a tool (there is none, or block_begin has returned 0) tests nothing where it is quick:
// emu_sync_block is slow where there is a tool because block->slow is set, and threads are reported by another
// trampoline.
//
// Invariant: `users` counts the acquisitions of the subscriber, which is not replaced before they have been released.
#include "tools.h"

#include <stdio.h>
#include <string.h>

#include "block.h"
#include "host.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t unused = PTHREAD_COND_INITIALIZER;
static emu_subscriber subscriber;
static int taken; // until emu_unsubscribe() returns
static size_t users;
_Atomic(const emu_subscriber *) emu_tool_now;
EMU_API __thread emu_here emu_threadIdx STATIC_TLS;

#define WANTS(of, event) ((of)->tool->events.event) // of: a grid or block
#define TELL(of, event, ...)                                                                                         \
    do {                                                                                                             \
        if (WANTS(of, event)) WANTS(of, event)((of)->tool->tool, __VA_ARGS__);                                       \
    } while (0)

// --- Subscribing ---------------------------------------------------------------------------------------------------

int emu_subscribe(const emu_events *events, void *tool) {
    const size_t least = offsetof(emu_events, launch_end);
    if (!events || events->size < least || events->size > sizeof *events || events->size % sizeof(void *))
        return emu_error(cudaErrorInvalidValue,
                         "emu_subscribe: a table of %zu bytes; this core's has %zu, and its first member is its size",
                         events ? events->size : 0, sizeof *events);
    pthread_mutex_lock(&lock);
    const int is_free = !taken;
    if (is_free) {
        taken = 1;
        memset(&subscriber, 0, sizeof subscriber);
        memcpy(&subscriber.events, events, events->size);
        subscriber.tool = tool;
        atomic_store_explicit(&emu_tool_now, &subscriber, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lock);
    if (is_free) return cudaSuccess;
    return emu_error(cudaErrorNotPermitted,
                     "emu_subscribe: another tool has subscribed; it must call emu_unsubscribe first");
}

int emu_unsubscribe(void *tool) {
    pthread_mutex_lock(&lock);
    const int known = atomic_load_explicit(&emu_tool_now, memory_order_relaxed) && subscriber.tool == tool;
    if (known) {
        atomic_store_explicit(&emu_tool_now, NULL, memory_order_relaxed);
        while (users) pthread_cond_wait(&unused, &lock);
        taken = 0;
    }
    pthread_mutex_unlock(&lock);
    if (known) return cudaSuccess;
    return emu_error(cudaErrorInvalidValue, "emu_unsubscribe: the tool %p has not subscribed", tool);
}

const emu_subscriber *emu_tool_acquire_slowly(void) {
    pthread_mutex_lock(&lock);
    const emu_subscriber *now = atomic_load_explicit(&emu_tool_now, memory_order_relaxed);
    if (now) ++users;
    pthread_mutex_unlock(&lock);
    return now;
}

void emu_tool_release(void) {
    pthread_mutex_lock(&lock);
    if (!--users) pthread_cond_broadcast(&unused);
    pthread_mutex_unlock(&lock);
}

void emu_tool_fork(emu_fork stage) {
    if (stage == EMU_FORK_CHILD) { // without the threads that have acquired it, or wait in emu_unsubscribe
        users = 0;
        taken = atomic_load_explicit(&emu_tool_now, memory_order_relaxed) != NULL;
        unused = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    }
    emu_fork_lock(stage, &lock);
}

// --- Copies, allocations, and the order of the host ----------------------------------------------------------------

void emu_tool_copy(const emu_copy_event *copy) {
    const emu_subscriber *to = emu_tool_acquire();
    if (!to) return;
    if (to->events.copy) to->events.copy(to->tool, copy);
    emu_tool_release();
}

static __thread uint64_t running_order;
void emu_tool_runs(uint64_t order) {
    running_order = order;
}
uint64_t emu_tool_running(void) {
    return running_order;
}

void emu_tool_order(const emu_order_event *order) {
    const emu_subscriber *to = emu_tool_acquire();
    if (!to) return;
    if (to->events.order) to->events.order(to->tool, order);
    emu_tool_release();
}

int emu_tool_takes_failures(void) {
    const emu_subscriber *to = emu_tool_acquire();
    const int takes = to && to->events.failure;
    if (to) emu_tool_release();
    return takes;
}

// Whether to print it. A failed assert has been printed, in CUDA's words. A program may go on and on: what fails
// there again and again is said once, and of calls only the first few.
static int is_news(const emu_failure_event *failure) {
    enum { MOST = 8 };
    static uintptr_t said[EMU_FAILURE_KINDS][MOST];
    static int counts[EMU_FAILURE_KINDS];
    if (failure->kind == EMU_FAILURE_KERNEL) return failure->code != cudaErrorAssert;
    uintptr_t *const calls = said[failure->kind];
    int *const count = &counts[failure->kind], i = 0;
    pthread_mutex_lock(&lock);
    const int known = *count;
    while (i < known && calls[i] != failure->call) ++i;
    const int is_new = i == known && known < MOST;
    if (is_new) calls[(*count)++] = failure->call;
    pthread_mutex_unlock(&lock);
    return is_new;
}

void emu_tell_failure(const emu_failure_event *failure) {
    const emu_subscriber *to = emu_tool_acquire();
    const int is_told = to && to->events.failure;
    if (is_told) to->events.failure(to->tool, failure);
    if (to) emu_tool_release();
    if (is_told || emu_current_config()->silent || !is_news(failure)) return;
    emu_line line = {.line = 0};
    if (failure->call) emu_source_lines(&failure->call, 1, &line);
    if (line.line)
        fprintf(stderr, "cudakern: %s:%d: %s\n", emu_as_given(line.file), line.line, failure->message);
    else
        fprintf(stderr, "cudakern: %s\n", failure->message);
}

void emu_tool_allocate(const emu_memory_event *memory) {
    const emu_subscriber *to = emu_tool_acquire();
    if (!to) return;
    if (to->events.allocate) to->events.allocate(to->tool, memory);
    emu_tool_release();
}

void emu_tool_release_memory(const emu_memory_event *memory) {
    const emu_subscriber *to = emu_tool_acquire();
    if (!to) return;
    if (to->events.release) to->events.release(to->tool, memory);
    emu_tool_release();
}

int emu_tool_host(const emu_host_event *access) {
    const emu_subscriber *to = emu_tool_acquire();
    if (!to) return 0;
    const int wants = to->events.host != NULL;
    if (wants) to->events.host(to->tool, access);
    emu_tool_release();
    return wants;
}

// --- Launches, blocks and threads ----------------------------------------------------------------------------------

void emu_tool_launch_begin(emu_grid *grid, emu_watched_launch *to, emu_trampoline trampoline) {
    static atomic_ullong count;
    const emu_grid_launch *launch = grid->launch;
    emu_kernel_name(launch->function, to->name, sizeof to->name);
    to->event = (emu_launch_event){.number = atomic_fetch_add(&count, 1) + 1,
                                   .kernel = to->name,
                                   .function = launch->function,
                                   .arguments = launch->arguments,
                                   .parameters = launch->parameters,
                                   .parameter_count = launch->parameter_count,
                                   .grid = launch->grid,
                                   .block = launch->block,
                                   .cluster = launch->cluster,
                                   .dynamic_shared = launch->dynamic_shared,
                                   .cooperative = launch->cooperative,
                                   .device = launch->device,
                                   .stream = launch->stream,
                                   .order = emu_tool_running()};
    to->launch = *launch;
    to->launch.trampoline = trampoline;
    grid->trampoline = launch->trampoline;
    grid->launch = &to->launch;
    grid->event = &to->event;
    TELL(grid, launch_begin, &to->event);
}

void emu_tool_launch_end(const emu_grid *grid, int code) {
    TELL(grid, launch_end, grid->event, code);
    emu_tool_release();
}

void emu_tool_block_begin(emu_block *block) {
    const emu_dim3 grid = block->grid->launch->grid, index = block->index;
    emu_block_event *event = &block->event;
    block->statics_at = emu_statics_of(block, &event->static_bytes);
    event->launch = block->grid->event;
    event->number = index.x + grid.x * (index.y + (uint64_t)grid.y * index.z);
    event->index = index;
    event->rank = block->cluster ? block->rank : 0;
    event->shared = block->shared.begin;
    event->shared_bytes = block->grid->launch->dynamic_shared;
    event->statics = block->cluster ? block->static_copy : block->statics_at;
    event->own = NULL;
    block->operations = 0;
    block->tool = block->grid->tool;
    if (WANTS(block, block_begin) && !WANTS(block, block_begin)(block->tool->tool, event)) block->tool = NULL;
}

void emu_tool_block_continue(emu_block *block) {
    TELL(block, block_continue, &block->event);
}

void emu_tool_block_end(emu_block *block, int complete) {
    TELL(block->grid, block_end, &block->event, complete);
    block->tool = NULL;
}

void emu_tool_thread(emu_block *block, int begins) {
    const emu_where at = emu_tool_where(block, NULL, 0, NULL);
    if (begins)
        TELL(block, thread_begin, &at);
    else
        TELL(block, thread_end, &at);
}

emu_where emu_tool_where(emu_block *block, const char *file, int line, const void *after) {
    return (emu_where){.block = &block->event,
                       .thread = block->current ? block->current->id : -1,
                       .line = file ? line : 0,
                       .file = file,
                       .code = file || !after ? 0 : (uintptr_t)after - 1};
}

emu_where emu_tool_at(emu_block *block, const emu_thread *thread) {
    return (emu_where){.block = &block->event, .thread = thread->id, .line = thread->line, .file = thread->file};
}

// --- What threads do -----------------------------------------------------------------------------------------------

static emu_block *block_of(const emu_where *at) {
    return (emu_block *)((char *)at->block - offsetof(emu_block, event));
}
static int is_in(const void *address, const char *begin, size_t bytes) {
    return (uintptr_t)address - (uintptr_t)begin < bytes;
}

void emu_tool_quiet(emu_block *block, int begins) {
    static __thread emu_direct quiet STATIC_TLS;
    static __thread const emu_direct *before STATIC_TLS;
    if (begins) before = emu_threadIdx.direct;
    if (begins && before) {
        quiet = *before;
        quiet.unheard = (emu_unheard){0, SIZE_MAX, block->current->id};
        quiet.paths = NULL;
    }
    emu_threadIdx.direct = begins && before ? &quiet : before;
    block->current->quiet = (uint8_t)begins;
}

const void *emu_tool_name(const emu_block *block, const void *address) {
    const size_t offset = (uintptr_t)address - (uintptr_t)block->statics_at;
    return offset < block->event.static_bytes ? block->event.statics + offset : address;
}

// `address`: as emu_tool_name gives it.
static int is_shared(const emu_block_event *block, const void *address) {
    return is_in(address, block->shared, block->shared_bytes) || is_in(address, block->statics, block->static_bytes);
}
static emu_space space_of(emu_block *block, int thread, const void *address) {
    if (is_shared(&block->event, address)) return EMU_SPACE_SHARED;
    const emu_fiber *fiber = thread < 0 ? NULL : block->threads[thread].fiber;
    if (fiber && is_in(address, fiber->low, fiber->size)) return EMU_SPACE_LOCAL;
    for (const emu_block *mate = block->cluster ? block->mate : block; mate != block; mate = mate->mate)
        if (is_shared(&mate->event, address)) return EMU_SPACE_SHARED;
    return EMU_SPACE_GLOBAL;
}

void emu_tool_access(const emu_where *at, const void *address, size_t bytes, unsigned kind, emu_agent by,
                     uint64_t operation) {
    emu_block *block = block_of(at);
    if (!WANTS(block, access) || !bytes) return;
    const void *name = emu_tool_name(block, address);
    const emu_access_event event = {.address = (uintptr_t)name,
                                    .bytes = bytes,
                                    .kind = kind,
                                    .space = space_of(block, at->thread, name),
                                    .by = by,
                                    .operation = operation};
    WANTS(block, access)(block->tool->tool, at, &event);
}

void emu_tool_barrier(const emu_where *at, emu_barrier_event barrier) {
    const emu_block *block = block_of(at);
    TELL(block, barrier, at, &barrier);
}

void emu_tool_warp(const emu_where *at, emu_warp_event warp) {
    const emu_block *block = block_of(at);
    TELL(block, warp, at, &warp);
}

void emu_tool_async(const emu_where *at, emu_async_event async) {
    const emu_block *block = block_of(at);
    TELL(block, async, at, &async);
}

void emu_tool_fence(const emu_where *at, unsigned scope) {
    const emu_block *block = block_of(at);
    TELL(block, fence, at, scope);
}

void emu_tool_index(const emu_where *at, int64_t index, const char *type) {
    const emu_block *block = block_of(at);
    TELL(block, index, at, index, type);
}

void emu_tool_begin(const emu_where *at, emu_agent by, uint64_t operation, const void *mbarrier) {
    emu_tool_async(at,
                   (emu_async_event){
                       .stage = EMU_ASYNC_BEGINS, .by = by, .operation = operation, .mbarrier = (uintptr_t)mbarrier});
}
void emu_tool_end(const emu_where *at, emu_agent by, uint64_t operation) {
    emu_tool_async(at, (emu_async_event){.stage = EMU_ASYNC_ENDS, .by = by, .operation = operation});
}

uint64_t emu_tool_operation(const emu_block *block, unsigned count) {
    return block->event.number << 32 | count;
}
uint64_t emu_tool_new_operation(emu_block *block) {
    return emu_tool_operation(block, ++block->operations);
}
