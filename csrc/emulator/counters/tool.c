// What the core reports, passed on; and the functions for the host.
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../checker/symbols.h"
#include "counters.h"

extern __thread emu_dim3 emu_blockDim __attribute__((tls_model("initial-exec")));
extern __thread emu_dim3 emu_gridDim __attribute__((tls_model("initial-exec")));

typedef struct counted_launch { // what the host gets: a launch, and its sites among all
    uint64_t number;
    char kernel[256];
    unsigned grid[3], block[3];
    uint64_t first_site, sites, first_block, blocks; // sites of accesses, blocks of code
    uint64_t barriers;                               // of warps: each counts once per warp
    cache_figures caches;
    int complete;
    uint64_t all, counted; // blocks
    double error;          // of the figures as a part of them, if they are scaled from those blocks to all
} counted_launch;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // held while a launch runs
static counted_launch *launches;
static size_t launch_count;
static site *all_sites;
static size_t all_count;
static code_block *all_blocks;
static size_t all_block_count;

static struct {
    uintptr_t shared, statics, arguments;
    size_t shared_bytes, static_bytes, argument_bytes;
    unsigned threads, warps;
} now;

// Memory that is not in an array. blockDim, gridDim and the kernel's parameters are memory here, constants on a GPU.
static range find_own(uintptr_t address) {
    const range own[] = {{now.shared, now.shared_bytes, EMU_SPACE_SHARED},
                         {now.statics, now.static_bytes, EMU_SPACE_SHARED},
                         {(uintptr_t)&emu_blockDim, sizeof emu_blockDim, NOT_COUNTED},
                         {(uintptr_t)&emu_gridDim, sizeof emu_gridDim, NOT_COUNTED},
                         {now.arguments, now.argument_bytes, NOT_COUNTED}};
    for (unsigned i = 0; i < sizeof own / sizeof *own; ++i)
        if (address - own[i].begin < own[i].bytes) return own[i];
    return (range){0};
}

static range find_memory(uintptr_t address) {
    const range own = find_own(address);
    emu_memory_event memory;
    if (own.bytes) return own;
    if (!emu_memory_at((const void *)address, &memory)) return (range){address, 1, EMU_SPACE_GLOBAL};
    return (range){memory.address, memory.bytes, EMU_SPACE_GLOBAL};
}

static emu_direct direct;
static branches *alone; // of blocks that run one after another

static void count_access(const emu_where *at, uintptr_t address, size_t bytes, unsigned kind, emu_space space) {
    const unsigned word = kind & EMU_RANGE ? requests_word(at) : 0;
    for (; kind & EMU_RANGE && bytes > word; address += word, bytes -= word) // a struct
        count_access(at, address, word, kind & ~EMU_RANGE, space);
    branches_note((unsigned)at->thread, requests_site(at, bytes, kind & ~EMU_RANGE, space), address);
}

// cp.async, when it begins: an event for what it reads, unless it only writes zeros, and one for what it writes.
static void count_copy(const emu_where *at, const emu_access_event *event) {
    static uintptr_t from;
    if (event->kind & EMU_READS) {
        from = event->address;
        return;
    }
    const uintptr_t to = copy_address(event->address, (const void *)from);
    count_access(at, from, event->bytes, EMU_READS | EMU_PENDING, EMU_SPACE_GLOBAL);
    count_access(at, to, event->bytes, EMU_WRITES | EMU_PENDING, EMU_SPACE_SHARED);
    from = 0;
}

// What copies by TMA and wgmma access, when they begin: just after on_async(), or on_warp().
static int repeats;      // the copy, for another block of its cluster
static size_t in_tensor; // bytes in the array of the row that comes to shared memory next

// A row of a box that the array's edge cuts is a sector more for Nsight Compute; six if two blocks get it. (Measured
// on an H200, where no row had more than one sector in the array.)
enum { CUT_ROW = 1, CUT_ROW_REPEATED = 5 };

static void count_rows(const emu_where *at, const emu_access_event *event) {
    const int is_copy = event->by == EMU_BY_TENSOR_LOAD || event->by == EMU_BY_TENSOR_STORE;
    if (!(event->kind & EMU_PENDING) || (!is_copy && event->by != EMU_BY_PRODUCT)) return;
    if (event->space == EMU_SPACE_SHARED) {
        const int is_cut = in_tensor && in_tensor < event->bytes;
        requests_shared_row(event->bytes, !is_cut ? 0 : repeats ? CUT_ROW_REPEATED : CUT_ROW);
    } else if (is_copy && !repeats)
        requests_row((unsigned)at->thread / LANES, event->address, event->bytes, !!(event->kind & EMU_WRITES));
    in_tensor = event->by == EMU_BY_TENSOR_LOAD && event->space == EMU_SPACE_GLOBAL ? event->bytes : 0;
}

static int is_of_other_block(const emu_where *at, const emu_access_event *event) {
    const emu_block_event *const own = at->block;
    return event->space == EMU_SPACE_SHARED && event->address - (uintptr_t)own->shared >= own->shared_bytes &&
           event->address - (uintptr_t)own->statics >= own->static_bytes;
}

static void on_access(void *tool, const emu_where *at, const emu_access_event *event) {
    (void)tool;
    const unsigned kinds = EMU_READS | EMU_WRITES | EMU_ATOMIC | EMU_OF_INTEGERS | EMU_RANGE | EMU_VOLATILE;
    if (event->by == EMU_BY_COPY && event->kind & EMU_PENDING) count_copy(at, event);
    if (event->by == EMU_BY_MATRIX)
        count_access(at, event->address, event->bytes, (event->kind & ~EMU_RANGE) | OF_MATRIX, event->space);
    if (event->by == EMU_BY_TEXTURE && !event->operation) // its first element
        branches_note((unsigned)at->thread, requests_name(at, "texture read"), event->address);
    count_rows(at, event);
    if (event->by != EMU_BY_THREAD || event->space == EMU_SPACE_LOCAL) return;
    if (event->kind & (EMU_MISALIGNED | EMU_CACHED)) return; // these announce an access
    if (find_own(event->address).space == NOT_COUNTED) return;
    unsigned kind = event->kind & kinds;
    // What only loads, or only stores, is no atomic operation on a GPU, but LDG or STG that L1 does not answer.
    if (kind & EMU_ATOMIC && (kind & (EMU_READS | EMU_WRITES)) != (EMU_READS | EMU_WRITES))
        kind = (kind & ~(unsigned)EMU_ATOMIC) | EMU_VOLATILE;
    if (is_of_other_block(at, event)) { // Nsight Compute does not count it with those of shared memory, either
        const char *const name = kind & EMU_ATOMIC   ? "cluster atomic"
                                 : kind & EMU_WRITES ? "cluster store"
                                                     : "cluster load";
        branches_note((unsigned)at->thread, requests_name(at, name), event->address);
        return;
    }
    count_access(at, event->address, event->bytes, kind, event->space);
}

// --- Samples -------------------------------------------------------------------------------------------------------
//
// Of a large grid, runs of neighboring blocks are counted, as they would share caches on the chip:
//
//   blocks   |####............|####............|####............|     `length` of each `period`
//
// The runs' costs differ by what the sample may be wrong by.
enum { RUNS = 8 };
static struct {
    uint64_t more_than, threads; // larger launches are sampled, by blocks of so many threads together; 0: none is
    uint64_t blocks;             // or all launches, by so many blocks; 0: see above
    uint64_t period, length;     // of this launch; period 0: all blocks are counted
    uint64_t run, costs[RUNS], before;
    int leaves_out;                      // the block that runs now
    volatile uint64_t launch, all, done; // the number of this launch; its blocks, and those that have ended
} sample;

static void sample_start(const emu_launch_event *launch, counted_launch *to, unsigned threads) {
    const emu_dim3 cluster = launch->cluster;
    const uint64_t blocks = sample.blocks ? sample.blocks : sample.threads / threads;
    to->all = (uint64_t)to->grid[0] * to->grid[1] * to->grid[2];
    sample.period = to->all / RUNS;
    sample.length = blocks > RUNS ? blocks / RUNS : 1;
    if ((!sample.blocks && (!sample.more_than || to->all * threads <= sample.more_than)) ||
        sample.length >= sample.period || launch->cooperative || cluster.x * cluster.y * cluster.z > 1)
        sample.period = 0;
    sample.run = sample.before = sample.done = 0;
    sample.all = to->all;
    sample.launch = launch->number;
    memset(sample.costs, 0, sizeof sample.costs);
}

static int sample_takes(uint64_t block) {
    sample.leaves_out = 0;
    if (!sample.period) return 1;
    sample.run = block / sample.period;
    sample.leaves_out = sample.run >= RUNS || block % sample.period >= sample.length; // (first: what is left over)
    return !sample.leaves_out;
}

static void sample_block_ends(counted_launch *in) {
    ++in->counted;
    if (!sample.period) return;
    const uint64_t now_all = requests_costs();
    sample.costs[sample.run] += now_all - sample.before;
    sample.before = now_all;
}

// The standard error of the mean of the runs.
static void sample_end(counted_launch *of) {
    double sum = 0, squares = 0;
    if (!sample.period) return;
    for (int i = 0; i < RUNS; ++i) sum += (double)sample.costs[i];
    for (int i = 0; i < RUNS; ++i) {
        const double from_mean = (double)sample.costs[i] - sum / RUNS;
        squares += from_mean * from_mean;
    }
    if (sum > 0) of->error = sqrt(squares / (RUNS - 1) / RUNS) / (sum / RUNS);
}

COUNTERS_API void counters_sample(uint64_t more_than, uint64_t threads, uint64_t blocks) {
    sample.more_than = more_than;
    sample.threads = threads;
    sample.blocks = blocks;
}

// How many blocks of the launch that runs now, or has run last, have ended, of how many; its number.
COUNTERS_API uint64_t counters_done(uint64_t *all, uint64_t *launch) {
    *all = sample.all;
    *launch = sample.launch;
    return sample.done;
}

// --- Launches and blocks -------------------------------------------------------------------------------------------

static void on_launch_begin(void *tool, emu_launch_event *event) {
    (void)tool;
    pthread_mutex_lock(&lock);
    launches = realloc(launches, (launch_count + 1) * sizeof *launches);
    if (!launches) abort();
    counted_launch *const to = &launches[launch_count++];
    *to = (counted_launch){.number = event->number, .first_site = all_count, .first_block = all_block_count};
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
    sample_start(event, to, threads);
    requests_start(threads, event->dynamic_shared, find_memory);
    branches_start();
    if (threads != now.threads) {
        free(alone);
        alone = branches_new(threads, 1);
        now.threads = threads;
    }
}

static void on_launch_end(void *tool, emu_launch_event *event, int code) {
    (void)tool, (void)event;
    const site *of;
    launches[launch_count - 1].caches = requests_end();
    const size_t sites = requests_sites(&of);
    all_sites = realloc(all_sites, (all_count + sites + 1) * sizeof *all_sites);
    if (!all_sites) abort();
    memcpy(all_sites + all_count, of, sites * sizeof *of);
    all_count += sites;
    launches[launch_count - 1].sites = sites;
    const code_block *entered;
    const size_t blocks = branches_blocks(&entered);
    all_blocks = realloc(all_blocks, (all_block_count + blocks) * sizeof *all_blocks);
    if (!all_blocks) abort();
    memcpy(all_blocks + all_block_count, entered, blocks * sizeof *entered);
    all_block_count += blocks;
    launches[launch_count - 1].blocks = blocks;
    launches[launch_count - 1].complete = !code;
    sample_end(&launches[launch_count - 1]);
    pthread_mutex_unlock(&lock);
}

// Of blocks that take turns. The core finds out where their addresses lie.
static void on_block_continue(void *tool, emu_block_event *event) {
    (void)tool;
    if (!event->own) return;
    for (unsigned warp = 0; warp < now.warps; ++warp) requests_converge(warp); // of the block that ran
    direct = (emu_direct){.access = emu_access, .paths = branches_use(event->own), .full = branches_full};
    emu_threadIdx.direct = &direct;
}

static int on_block_begin(void *tool, emu_block_event *event) {
    (void)tool;
    const emu_dim3 cluster = event->launch->cluster;
    if (!sample_takes(event->number)) return 0;
    const uintptr_t shared = (uintptr_t)event->shared, statics = (uintptr_t)event->statics;
    if (now.shared != shared || now.statics != statics || now.shared_bytes != event->shared_bytes ||
        now.static_bytes != event->static_bytes)
        requests_forget_memory();
    now.shared = shared, now.shared_bytes = event->shared_bytes;
    now.statics = statics, now.static_bytes = event->static_bytes;
    requests_block_begin(event->number, statics, event->static_bytes);
    direct = (emu_direct){.paths = branches_use(alone), .full = branches_full};
    if (cluster.x * cluster.y * cluster.z > 1 || event->launch->cooperative) {
        const emu_dim3 block = event->launch->block;
        event->own = branches_new(block.x * block.y * block.z, 0);
        on_block_continue(tool, event);
    }
    emu_threadIdx.direct = &direct;
    return 1;
}

static void on_block_end(void *tool, emu_block_event *event, int complete) {
    (void)tool, (void)complete;
    ++sample.done;
    emu_threadIdx.direct = NULL;
    if (sample.leaves_out) return;
    if (event->own) branches_use(event->own);
    branches_converge_all();
    requests_block_end();
    branches_clear();
    branches_use(alone);
    free(event->own);
    event->own = NULL;
    sample_block_ends(&launches[launch_count - 1]);
}

static void on_thread_begin(void *tool, const emu_where *at) {
    (void)tool;
    branches_begin((unsigned)at->thread);
}

static void on_thread_end(void *tool, const emu_where *at) {
    (void)tool;
    branches_end((unsigned)at->thread);
}

static void on_barrier(void *tool, const emu_where *at, const emu_barrier_event *event) {
    (void)tool, (void)at;
    if (event->stage != EMU_BARRIER_OPENS || event->kind > EMU_SYNC_GRID) return;
    launches[launch_count - 1].barriers += now.warps;
    branches_converge_all();
    caches_converge();
}

static void on_warp(void *tool, const emu_where *at, const emu_warp_event *event) {
    (void)tool;
    requests_operation(at, event->name, event->lanes);
    if (event->mask != UINT32_MAX) return;
    branches_converge((unsigned)at->thread / LANES);
}

static void on_async(void *tool, const emu_where *at, const emu_async_event *event) {
    (void)tool;
    if (event->stage != EMU_ASYNC_BEGINS) return;
    repeats = event->repeats;
    if (event->by == EMU_BY_TENSOR_LOAD) requests_operation(at, "TMA load", !repeats);
    if (event->by == EMU_BY_TENSOR_STORE) requests_operation(at, "TMA store", 1);
}

// --- For the host --------------------------------------------------------------------------------------------------

COUNTERS_API int counters_begin(void) {
    static const emu_events TABLE = {.size = sizeof(emu_events),
                                     .launch_begin = on_launch_begin,
                                     .launch_end = on_launch_end,
                                     .block_begin = on_block_begin,
                                     .block_end = on_block_end,
                                     .block_continue = on_block_continue,
                                     .thread_begin = on_thread_begin,
                                     .thread_end = on_thread_end,
                                     .access = on_access,
                                     .barrier = on_barrier,
                                     .warp = on_warp,
                                     .async = on_async,
                                     .one_at_a_time = 1};
    const int code = emu_subscribe(&TABLE, &launches);
    if (!code) launch_count = all_count = all_block_count = 0;
    return code;
}

COUNTERS_API int counters_end(void) {
    const int code = emu_unsubscribe(&launches);
    if (code) return code;
    requests_clear();
    free(alone);
    alone = NULL;
    now.threads = 0;
    return code;
}

COUNTERS_API size_t counters_launches(const counted_launch **all) {
    *all = launches;
    return launch_count;
}

COUNTERS_API const site *counters_sites(void) {
    return all_sites;
}

// The __device__ or __constant__ variable that has the address; NULL: none.
COUNTERS_API const char *counters_variable(uintptr_t address) {
    const library *const of = library_of(address);
    const variable *const near = of ? variable_near(&of->others, address - of->base) : NULL;
    return near && address - of->base >= near->begin && address - of->base < near->end ? near->name : NULL;
}

COUNTERS_API const code_block *counters_blocks(void) {
    return all_blocks;
}
