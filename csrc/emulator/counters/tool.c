// What the core reports, passed on; and the functions for the host.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"

extern __thread emu_dim3 emu_blockDim __attribute__((tls_model("initial-exec")));
extern __thread emu_dim3 emu_gridDim __attribute__((tls_model("initial-exec")));

typedef struct counted_launch { // what the host gets: a launch, and its sites among all
    uint64_t number;
    char kernel[256];
    unsigned grid[3], block[3];
    uint64_t first_site, sites;
    uint64_t barriers, warp_operations; // of warps: each counts once per warp
    int complete;
} counted_launch;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // held while a launch runs
static counted_launch *launches;
static size_t launch_count;
static site *all_sites;
static size_t all_count;

static struct {
    uintptr_t shared, statics, arguments;
    size_t shared_bytes, static_bytes, argument_bytes;
    unsigned warps;
} now;

// blockDim and gridDim are memory here, and so are the kernel's parameters; on a GPU they are constants.
static int is_constant(uintptr_t address) {
    return address - (uintptr_t)&emu_blockDim < sizeof emu_blockDim ||
           address - (uintptr_t)&emu_gridDim < sizeof emu_gridDim || address - now.arguments < now.argument_bytes;
}

static void count(unsigned thread, const emu_where *at, const void *after, uintptr_t address, size_t bytes,
                  unsigned kind, emu_space space) {
    kind &= EMU_READS | EMU_WRITES | EMU_ATOMIC | EMU_RANGE;
    for (; kind & EMU_RANGE && bytes > WORD; address += WORD, bytes -= WORD) // a struct is copied word by word
        requests_access(thread, at, after, address, WORD, kind & ~EMU_RANGE, space);
    requests_access(thread, at, after, address, (unsigned)bytes, kind & ~EMU_RANGE, space);
}

static void quick_access(const void *pointer, size_t bytes, unsigned kind, const void *after) {
    static const emu_where nowhere;
    const uintptr_t address = (uintptr_t)pointer;
    const int shared = address - now.shared < now.shared_bytes || address - now.statics < now.static_bytes;
    if (!shared && (emu_is_local(pointer) || is_constant(address))) return;
    count(emu_threadIdx.thread, &nowhere, after, address, bytes, kind, shared ? EMU_SPACE_SHARED : EMU_SPACE_GLOBAL);
}

static const emu_page no_pages[EMU_PAGES];
static const emu_direct direct = {.access = quick_access, .pages = no_pages};

static void on_access(void *tool, const emu_where *at, const emu_access_event *event) {
    (void)tool;
    const unsigned thread = (unsigned)at->thread;
    if (event->by == EMU_BY_COPY && event->kind & EMU_PENDING) // cp.async: when it begins
        requests_access(thread, at, NULL, event->address, (unsigned)event->bytes, event->kind, event->space);
    if (event->by == EMU_BY_MATRIX)
        requests_access(thread, at, NULL, event->address, (unsigned)event->bytes, event->kind | OF_MATRIX,
                        event->space);
    if (event->by != EMU_BY_THREAD || event->space == EMU_SPACE_LOCAL) return;
    if (event->kind & (EMU_MISALIGNED | EMU_CACHED)) return; // these announce an access
    if (is_constant(event->address)) return;
    count(thread, at, NULL, event->address, event->bytes, event->kind, event->space);
}

static void on_launch_begin(void *tool, emu_launch_event *event) {
    (void)tool;
    pthread_mutex_lock(&lock);
    launches = realloc(launches, (launch_count + 1) * sizeof *launches);
    if (!launches) abort();
    counted_launch *const to = &launches[launch_count++];
    *to = (counted_launch){.number = event->number, .first_site = all_count};
    strncpy(to->kernel, event->kernel, sizeof to->kernel - 1);
    memcpy(to->grid, &event->grid, sizeof to->grid);
    memcpy(to->block, &event->block, sizeof to->block);
    const unsigned threads = event->block.x * event->block.y * event->block.z;
    now.warps = (threads + LANES - 1) / LANES;
    now.arguments = (uintptr_t)event->arguments;
    now.argument_bytes = 0;
    for (unsigned i = 0; i < event->parameter_count; ++i) {
        const size_t end = event->parameters[i].offset + event->parameters[i].size;
        if (end > now.argument_bytes) now.argument_bytes = end;
    }
    requests_start(threads);
}

static void on_launch_end(void *tool, emu_launch_event *event, int code) {
    (void)tool, (void)event;
    const site *of;
    const size_t sites = requests_sites(&of);
    all_sites = realloc(all_sites, (all_count + sites + 1) * sizeof *all_sites);
    if (!all_sites) abort();
    memcpy(all_sites + all_count, of, sites * sizeof *of);
    all_count += sites;
    launches[launch_count - 1].sites = sites;
    launches[launch_count - 1].complete = !code;
    pthread_mutex_unlock(&lock);
}

static int on_block_begin(void *tool, emu_block_event *event) {
    (void)tool;
    const emu_dim3 cluster = event->launch->cluster;
    now.shared = (uintptr_t)event->shared;
    now.shared_bytes = event->shared_bytes;
    now.statics = (uintptr_t)event->statics;
    now.static_bytes = event->static_bytes;
    if (cluster.x * cluster.y * cluster.z <= 1 && !event->launch->cooperative) emu_threadIdx.direct = &direct;
    return 1;
}

static void on_block_end(void *tool, emu_block_event *event, int complete) {
    (void)tool, (void)event, (void)complete;
    emu_threadIdx.direct = NULL;
    requests_converge_all();
    requests_end_steps();
}

static void on_barrier(void *tool, const emu_where *at, const emu_barrier_event *event) {
    (void)tool, (void)at;
    if (event->stage != EMU_BARRIER_OPENS || event->kind > EMU_SYNC_GRID) return;
    launches[launch_count - 1].barriers += now.warps;
    requests_converge_all();
}

static void on_warp(void *tool, const emu_where *at, const emu_warp_event *event) {
    (void)tool;
    ++launches[launch_count - 1].warp_operations;
    if (event->mask == UINT32_MAX) requests_converge((unsigned)at->thread / LANES);
}

// --- For the host --------------------------------------------------------------------------------------------------

COUNTERS_API int counters_begin(void) {
    static const emu_events TABLE = {.size = sizeof(emu_events),
                                     .launch_begin = on_launch_begin,
                                     .launch_end = on_launch_end,
                                     .block_begin = on_block_begin,
                                     .block_end = on_block_end,
                                     .access = on_access,
                                     .barrier = on_barrier,
                                     .warp = on_warp,
                                     .one_at_a_time = 1};
    const int code = emu_subscribe(&TABLE, &launches);
    if (!code) launch_count = all_count = 0;
    return code;
}

COUNTERS_API int counters_end(void) {
    const int code = emu_unsubscribe(&launches);
    if (!code) requests_clear();
    return code;
}

COUNTERS_API size_t counters_launches(const counted_launch **all) {
    *all = launches;
    return launch_count;
}

COUNTERS_API const site *counters_sites(void) {
    return all_sites;
}
