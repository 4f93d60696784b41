// How events reach the tool that has subscribed: include/emulator/events.h explains them, tools.c implements this.
//
// Whoever reports an event tests first whether there is a tool: a block's `tool`, or emu_tool_acquire(). The
// functions here test only whether the tool wants this kind of event.
#ifndef EMULATOR_TOOLS_H
#define EMULATOR_TOOLS_H

#include <stdatomic.h>

#include "core.h"
#include "emulator/events.h"

typedef struct emu_subscriber {
    emu_events events;
    void *tool;
} emu_subscriber;

// The subscriber, which stays one until the release. NULL: there is none.
extern _Atomic(const emu_subscriber *) emu_tool_now;
const emu_subscriber *emu_tool_acquire_slowly(void);
static inline int emu_tool_is_there(void) {
    return atomic_load_explicit(&emu_tool_now, memory_order_relaxed) != NULL;
}
static inline const emu_subscriber *emu_tool_acquire(void) {
    return emu_tool_is_there() ? emu_tool_acquire_slowly() : NULL;
}
void emu_tool_release(void);

// Events that are no launch's; also if there is no tool.
void emu_tool_copy(const emu_copy_event *copy);
void emu_tool_order(const emu_order_event *order);
int emu_tool_takes_failures(void);
void emu_tell_failure(const emu_failure_event *failure); // without such a tool, on standard error
void emu_tool_runs(uint64_t order);                      // this thread now carries out the work of that order
uint64_t emu_tool_running(void);                         // which one it does
void emu_tool_allocate(const emu_memory_event *memory);
void emu_tool_release_memory(const emu_memory_event *memory);
int emu_tool_host(const emu_host_event *access); // whether there is a tool that wants it

// Events of a grid whose `tool` is not NULL. It runs the copy of its launch that is in `to`, with this trampoline.
struct emu_grid;
struct emu_block;
struct emu_thread;
typedef struct emu_watched_launch {
    emu_grid_launch launch;
    emu_launch_event event;
    char name[256];
} emu_watched_launch;
void emu_tool_launch_begin(struct emu_grid *grid, emu_watched_launch *to, emu_trampoline trampoline);
void emu_tool_launch_end(const struct emu_grid *grid, int code); // and the release
void emu_tool_block_begin(struct emu_block *block);              // sets the block's `tool`
void emu_tool_block_continue(struct emu_block *block);           // it takes its turn
void emu_tool_block_end(struct emu_block *block, int complete);

// Events of a block whose `tool` is not NULL.
void emu_tool_thread(struct emu_block *block, int begins); // the current thread begins or ends
// The current thread, or no thread in particular if there is none. Of `file` and `after` (a return address) one may
// be NULL.
emu_where emu_tool_where(struct emu_block *block, const char *file, int line, const void *after);
emu_where emu_tool_at(struct emu_block *block,
                      const struct emu_thread *thread); // a thread, at the call where it waits
void emu_tool_access(const emu_where *at, const void *address, size_t bytes, unsigned kind, emu_agent by,
                     uint64_t operation);
void emu_tool_barrier(const emu_where *at, emu_barrier_event barrier);
void emu_tool_warp(const emu_where *at, emu_warp_event warp);
void emu_tool_async(const emu_where *at, emu_async_event async);
void emu_tool_fence(const emu_where *at, unsigned scope);
void emu_tool_index(const emu_where *at, int64_t index, const char *type);
void emu_tool_begin(const emu_where *at, emu_agent by, uint64_t operation, const void *mbarrier); // an operation
void emu_tool_end(const emu_where *at, emu_agent by, uint64_t operation);
// The number of the block's asynchronous operation that began as the `count`th, and the number of a new one.
uint64_t emu_tool_operation(const struct emu_block *block, unsigned count);
uint64_t emu_tool_new_operation(struct emu_block *block);
// From now on the core reports what the current thread accesses, its library must not; or no longer.
void emu_tool_quiet(struct emu_block *block, int begins);
// How an address of the block, which may not run now, is named in events.
const void *emu_tool_name(const struct emu_block *block, const void *address);

#endif
