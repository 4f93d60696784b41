// A trace: the accesses, barriers and __syncwarps of a launch as a list, from which pictures are drawn.
//
//   what the core reports, in its order --> records, up to a limit --> trace_records()
//
// It is a tool of its own, which subscribes in place of the checker: the same launch gives the same events again.
#include <pthread.h>
#include <stdlib.h>

#include "checker.h"

enum trace_what { TRACE_ACCESS, TRACE_BARRIER, TRACE_WARP };

typedef struct trace_record {
    uint64_t address, code; // code: for emu_source_lines(), if the file is unknown
    const char *file;
    uint64_t launch, block;   // their numbers
    unsigned index[3], at[3]; // of the block and of the thread
    int line, thread;         // the thread's number in its block
    unsigned what, kind, bytes, space;
} trace_record;

enum { MOST_RECORDS = 1 << 17 };
static trace_record *records;
static size_t count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(const emu_where *where, enum trace_what what, unsigned kind, const emu_access_event *access) {
    const emu_block_event *const block = where->block;
    const emu_dim3 shape = block->launch->block;
    const unsigned thread = where->thread < 0 ? 0 : (unsigned)where->thread;
    pthread_mutex_lock(&lock);
    if (count < MOST_RECORDS) {
        records[count++] =
            (trace_record){.address = access ? access->address : 0,
                           .code = where->code,
                           .file = where->file,
                           .launch = block->launch->number,
                           .block = block->number,
                           .index = {block->index.x, block->index.y, block->index.z},
                           .at = {thread % shape.x, thread / shape.x % shape.y, thread / shape.x / shape.y},
                           .line = where->line,
                           .thread = where->thread,
                           .what = what,
                           .kind = kind,
                           .bytes = access ? (unsigned)access->bytes : 0,
                           .space = access ? access->space : 0};
    }
    pthread_mutex_unlock(&lock);
}

static void on_access(void *tool, const emu_where *at, const emu_access_event *event) {
    (void)tool;
    if (event->space != EMU_SPACE_LOCAL && event->by == EMU_BY_THREAD &&
        !(event->kind & (EMU_MISALIGNED | EMU_CACHED)))
        add(at, TRACE_ACCESS, event->kind, event);
}

static void on_barrier(void *tool, const emu_where *at, const emu_barrier_event *event) {
    (void)tool;
    const int of_block = event->kind <= EMU_SYNC_GRID || event->kind == EMU_SYNC_CLUSTER;
    if (of_block && event->stage == EMU_BARRIER_OPENS) add(at, TRACE_BARRIER, event->kind, NULL);
}

static void on_warp(void *tool, const emu_where *at, const emu_warp_event *event) {
    (void)tool;
    if (event->kind == EMU_SYNCWARP) add(at, TRACE_WARP, event->kind, NULL);
}

// A cudaError_t. From now on, launches are recorded, one block after another.
CHECKER_API int trace_begin(void) {
    static const emu_events TABLE = {
        .size = sizeof(emu_events), .access = on_access, .barrier = on_barrier, .warp = on_warp, .one_at_a_time = 1};
    if (!records) records = malloc(MOST_RECORDS * sizeof *records);
    if (!records) abort();
    const int code = emu_subscribe(&TABLE, &records);
    if (!code) count = 0;
    return code;
}

CHECKER_API int trace_end(void) {
    return emu_unsubscribe(&records);
}

CHECKER_API size_t trace_records(const trace_record **all) {
    *all = records;
    return count;
}
