// A grid: distributes its blocks over OS threads.
//
//   stream's thread --- emu_grid_run --- runs blocks itself -------------------------.
//                          |                                                         |
//                        tasks: grid, grid, ...  <--- pool threads help, block by block --> waits for its helpers
//
// OS threads draw a grid's blocks (or clusters, cluster.c) from one counter, in the order set by the configuration.
// Several streams may run grids at once; the pool's threads help all of them. All blocks of a cooperative grid must
// be resident, so each block has an OS thread of its own. Blocks of other grids may wait for each other, too, as far
// as a GPU has room for them: when all that have begun only wait, one more OS thread begins the next block.
//
// Invariants (under pool.lock): idle >= the number of helpers that cooperative grids still lack, because that many
// threads are started when the grid is queued, and no thread takes another task while a cooperative grid lacks
// helpers. A task is in the list while its caller runs blocks; helpers are active in it until their last block ends.
#include "block.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct task {
    emu_grid *grid;
    int places, active; // helpers that may still join; helpers at work
    pthread_cond_t done;
    struct task *next;
} task;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work;
    task *tasks;
    int threads, idle, keep; // threads beyond `keep` (started for cooperative grids) end after IDLE_SECONDS
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER};

enum { IDLE_SECONDS = 2, MOST_THREADS = 512 };

// The OS threads that run blocks, each with its own block.
static struct {
    pthread_mutex_t lock;
    emu_block *first;
} runners = {.lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP};

static void begin_to_run(emu_block *block) {
    pthread_mutex_lock(&runners.lock);
    block->thread = pthread_self();
    block->next_runner = runners.first;
    runners.first = block;
    pthread_mutex_unlock(&runners.lock);
}

static void end_to_run(emu_block *block) {
    pthread_mutex_lock(&runners.lock);
    emu_block **at = &runners.first;
    while (*at != block) at = &(*at)->next_runner;
    *at = block->next_runner;
    pthread_mutex_unlock(&runners.lock);
}

int emu_grid_interrupt(const atomic_int *cancel) {
    int count = 0;
    pthread_mutex_lock(&runners.lock);
    for (emu_block *b = runners.first; b; b = b->next_runner)
        if (b->grid->cancel == cancel) ++count, emu_fault_interrupt(b->thread);
    pthread_mutex_unlock(&runners.lock);
    return count;
}

static int cores(void) {
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set) && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

// --- The order of blocks ------------------------------------------------------------------------------------------

// A bijection of [0, total) that depends on the seed: a Feistel network over the next power of four, repeated while
// the result is not below `total`. It needs no memory, even for a grid of 2^60 blocks.
static uint64_t permuted(uint64_t position, uint64_t total, uint64_t seed) {
    unsigned half = 1;
    while (half < 32 && (uint64_t)1 << (2 * half) < total) ++half;
    uint64_t low = ((uint64_t)1 << half) - 1;
    do {
        uint64_t left = position >> half, right = position & low;
        for (unsigned round = 0; round < 4; ++round) {
            uint64_t f = (right + seed + round * 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
            f = (f ^ (f >> 29)) * 0x94d049bb133111eb;
            uint64_t next = left ^ ((f >> 32) & low);
            left = right;
            right = next;
        }
        position = left << half | right;
    } while (position >= total);
    return position;
}

// The next block; 0: there is none. Of a grid in clusters, the next cluster, with its index among these.
static int draw(emu_block *block, uint64_t *number, emu_dim3 *index) {
    emu_grid *grid = block->grid;
    const emu_dim3 all = grid->launch->grid, of = grid->launch->cluster;
    const emu_dim3 shape = {all.x / of.x, all.y / of.y, all.z / of.z};
    const uint64_t position = atomic_fetch_add_explicit(&grid->next, 1, memory_order_relaxed);
    if (position >= grid->total || emu_block_stopped(block)) return 0;
    *number = grid->order == EMU_ORDER_REVERSED ? grid->total - 1 - position
              : grid->order == EMU_ORDER_SEEDED ? permuted(position, grid->total, grid->seed)
                                                : position;
    *index = (emu_dim3){(unsigned)(*number % shape.x), (unsigned)(*number / shape.x % shape.y),
                        (unsigned)(*number / shape.x / shape.y)};
    block->position = position;
    return 1;
}

static void run_each(emu_block *block, emu_grid *grid) {
    const emu_dim3 cluster = grid->launch->cluster;
    const int clusters = cluster.x * cluster.y * cluster.z > 1;
    void (*const run)(emu_block *, uint64_t, emu_dim3) = grid->tool ? emu_block_run_watched : emu_block_run;
    uint64_t number;
    emu_dim3 index;
    while (draw(block, &number, &index)) {
        if (clusters) {
            const emu_dim3 first = {index.x * cluster.x, index.y * cluster.y, index.z * cluster.z};
            emu_cluster_run(block, number, first);
            continue;
        }
        if (!grid->launch->cooperative) {
            run(block, number, index);
            continue;
        }
        if (grid->can_run) {
            pthread_mutex_lock(&grid->lock);
            emu_turn_take(block);
            pthread_mutex_unlock(&grid->lock);
        }
        run(block, number, index);
        pthread_mutex_lock(&grid->lock);
        emu_turn_give(block, 0);
        ++grid->finished;
        pthread_cond_broadcast(&grid->all_here); // a block that waits at the grid barrier then reports the error
        pthread_mutex_unlock(&grid->lock);
    }
}

static void check_before_shared(const emu_block *block) {
    char text[200], name[256], message[EMU_MESSAGE];
    if (!emu_shared_damage(block, 0, text, sizeof text)) return;
    emu_kernel_name(block->grid->launch->function, name, sizeof name);
    snprintf(message, sizeof message, "kernel %s: a thread %s", name, text);
    emu_grid_fail(block->grid, cudaErrorIllegalAddress, message, 0);
}

static void run_blocks(emu_grid *grid) {
    emu_block *block = emu_block_here();
    if (!block || emu_block_attach(block, grid) || emu_shared_enter(block)) {
        emu_grid_fail(grid, cudaErrorMemoryAllocation, "out of host memory for an emulated block", 0);
        return;
    }
    emu_fault_prepare_thread();
    begin_to_run(block);
    run_each(block, grid);
    end_to_run(block);
    check_before_shared(block);
    emu_shared_leave(block);
    // Other blocks may wait in a loop for the one that has failed.
    while (atomic_load(&grid->stop) && emu_grid_interrupt(grid->cancel)) usleep(1000);
}

// --- The pool -----------------------------------------------------------------------------------------------------

static int lacking(void) { // the number of helpers that cooperative grids still lack
    int sum = 0;
    for (task *t = pool.tasks; t; t = t->next)
        if (t->grid->launch->cooperative) sum += t->places;
    return sum;
}

static task *choose_task(void) {
    int only_cooperative = lacking() > 0;
    for (task *t = pool.tasks; t; t = t->next) {
        if (t->places <= 0 || (only_cooperative && !t->grid->launch->cooperative)) continue;
        if (t->grid->launch->cooperative || atomic_load(&t->grid->next) < t->grid->total) return t;
    }
    return NULL;
}

static void *pool_main(void *unused) {
    (void)unused;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        task *t = choose_task();
        if (!t) {
            struct timespec until;
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_sec += IDLE_SECONDS;
            int late = pool.threads > pool.keep ? pthread_cond_timedwait(&pool.work, &pool.lock, &until) == ETIMEDOUT
                                                : (pthread_cond_wait(&pool.work, &pool.lock), 0);
            if (late && !choose_task() && pool.threads > pool.keep) break;
            continue;
        }
        --t->places;
        ++t->active;
        --pool.idle;
        pthread_mutex_unlock(&pool.lock);
        run_blocks(t->grid);
        pthread_mutex_lock(&pool.lock);
        ++pool.idle;
        if (--t->active == 0) pthread_cond_signal(&t->done);
    }
    --pool.idle;
    --pool.threads;
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

static int start_thread(void) {
    if (emu_start_thread(pool_main, NULL)) return -1;
    ++pool.threads;
    ++pool.idle;
    return 0;
}

// Adds the task to the list and starts helpers; -1 if a cooperative grid cannot have all the helpers that it needs.
static int queue_task(task *t, int workers) {
    const emu_grid *grid = t->grid;
    int failed = 0, cooperative = grid->launch->cooperative;
    int most = cooperative ? (int)grid->total : workers;
    t->places = (uint64_t)most < grid->total ? most - 1 : (int)grid->total - 1;
    pthread_mutex_lock(&pool.lock);
    pool.keep = workers - 1;
    t->next = pool.tasks;
    pool.tasks = t;
    if (cooperative)
        while (!failed && pool.idle < lacking()) failed = start_thread();
    else
        while (pool.threads < workers - 1 && pool.idle < t->places && !start_thread()) {}
    if (failed)
        pool.tasks = t->next;
    else if (cooperative)
        pthread_cond_broadcast(&pool.work);
    else
        for (int i = 0; i < t->places && i < pool.idle; ++i) pthread_cond_signal(&pool.work);
    pthread_mutex_unlock(&pool.lock);
    return failed;
}

static void begin_another(const emu_grid *grid) {
    pthread_mutex_lock(&pool.lock);
    task *t = pool.tasks;
    while (t && t->grid != grid) t = t->next;
    if (t && !t->places && atomic_load(&grid->next) < grid->total && pool.threads < MOST_THREADS &&
        (pool.idle > lacking() || !start_thread())) {
        t->places = 1;
        pthread_cond_signal(&pool.work);
    }
    pthread_mutex_unlock(&pool.lock);
}

static int run_grid(emu_grid *grid, int workers) {
    const emu_grid_launch *launch = grid->launch;
    task t = {.grid = grid, .done = PTHREAD_COND_INITIALIZER};
    int shared_work = grid->total > 1 && (workers > 1 || launch->cooperative);
    grid->begin_another = shared_work ? begin_another : NULL;
    if (shared_work && queue_task(&t, workers)) {
        snprintf(grid->error->message, sizeof grid->error->message,
                 "cannot start %llu OS threads, one per block of a cooperative launch: the computer's memory or the "
                 "process's limit of memory (ulimit -v) or threads (ulimit -u) is used up",
                 (unsigned long long)grid->total);
        return cudaErrorMemoryAllocation;
    }
    run_blocks(grid);
    if (shared_work) {
        pthread_mutex_lock(&pool.lock);
        task **at = &pool.tasks;
        while (*at != &t) at = &(*at)->next;
        *at = t.next;
        while (t.active) pthread_cond_wait(&t.done, &pool.lock);
        pthread_mutex_unlock(&pool.lock);
        pthread_cond_destroy(&t.done);
    }
    if (grid->code) return grid->code;
    if (grid->cancel && atomic_load(grid->cancel)) {
        snprintf(grid->error->message, sizeof grid->error->message, "canceled");
        return EMU_CANCELLED;
    }
    return 0;
}

int emu_grid_run(const emu_grid_launch *launch, const atomic_int *cancel, double clock_ghz, emu_grid_error *error) {
    const emu_config *config = emu_current_config();
    emu_grid grid = {
        .launch = launch,
        .cancel = cancel,
        .clock_ghz = clock_ghz,
        .order = config->order,
        .seed = config->seed,
        .stack_bytes = config->stack_bytes ? config->stack_bytes : 128 * 1024,
        .total = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z /
                 (launch->cluster.x * launch->cluster.y * launch->cluster.z),
        .draw = launch->cooperative || launch->cluster.x * launch->cluster.y * launch->cluster.z > 1 ? NULL : draw,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .all_here = PTHREAD_COND_INITIALIZER,
        .error = error,
        .tool = emu_tool_acquire(),
    };
    emu_watched_launch watched;
    *error = (emu_grid_error){.message = ""};
    emu_fault_catch();
    if (EMU_UNLIKELY(grid.tool != NULL)) emu_tool_launch_begin(&grid, &watched, emu_block_watch_thread);
    const int one = grid.tool && grid.tool->events.one_at_a_time;
    if (one && launch->cooperative && (grid.can_run = malloc(grid.total))) memset(grid.can_run, 1, grid.total);
    const int code = run_grid(&grid, one ? 1 : config->workers > 0 ? config->workers : cores());
    free(grid.can_run);
    if (EMU_UNLIKELY(grid.tool != NULL)) emu_tool_launch_end(&grid, code);
    pthread_cond_destroy(&grid.all_here);
    pthread_mutex_destroy(&grid.lock);
    return code;
}

void emu_grid_after_fork(void) {
    emu_fault_fork();
    emu_source_lines_fork();
    pool.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pool.work = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pool.tasks = NULL;
    pool.threads = pool.idle = pool.keep = 0;
    runners.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    runners.first = NULL;
}
