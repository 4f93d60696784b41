// Clusters: blocks that can access each other's shared memory.
//
//   the OS thread's own stack:   choose a block --> enter it ........................ --> choose the next one
//   a fiber of block 0:                             its threads run ... none is ready -^      (or: all have ended)
//   a fiber of block 1:                                                                  its threads run ...
//
// The blocks of a cluster take turns on one OS thread: one runs until none of its threads can continue. So no lock is
// needed, and a deadlock is found as within a block. Dynamic shared memory is each block's own. Static shared
// variables are thread-local, i.e. the OS thread has them once: those of the block that runs are there, and those of
// the others are copies.
//
// Copies that report to an mbarrier land when no thread of the whole cluster can continue, as late as the rules
// allow.
//
// Invariants: `here` is the block whose static variables are in place. The cluster's barrier opens when as many
// threads have arrived as are live, which is checked when a thread arrives and when one exits.
#include "block.h"

#include <stdlib.h>
#include <string.h>

typedef struct emu_cluster {
    int count, last; // blocks; the one that ran last
    emu_block *blocks[EMU_MAX_CLUSTER];
    emu_block *more[EMU_MAX_CLUSTER]; // memory for all blocks but the OS thread's own one
    emu_block *here;
    char *statics;
    size_t static_bytes;
    int arrived, stuck;
    unsigned phase;
} emu_cluster;

// --- Which block runs
// -----------------------------------------------------------------------------------------------

static int has_ready(const emu_block *block) {
    for (int w = 0; w < block->words; ++w)
        if (block->ready[w]) return 1;
    return 0;
}

static void put_in_place(emu_cluster *cluster, emu_block *block) {
    if (cluster->here != block && cluster->static_bytes) {
        memcpy(cluster->here->static_copy, cluster->statics, cluster->static_bytes);
        memcpy(cluster->statics, block->static_copy, cluster->static_bytes);
    }
    cluster->here = emu_current = block;
}

// The next block that can run. The order of ranks follows the setting, as that of threads does.
static emu_block *choose(const emu_cluster *cluster) {
    for (int i = 1; i <= cluster->count; ++i) {
        const int step = cluster->blocks[0]->grid->order == EMU_ORDER_REVERSED ? cluster->count - i : i;
        emu_block *block = cluster->blocks[(cluster->last + step) % cluster->count];
        if (block->live && has_ready(block)) return block;
    }
    return NULL;
}

// Finishes copies that threads wait for, or lets a late thread continue; whether any thread became ready.
static int settle(const emu_cluster *cluster) {
    for (int i = 0; i < cluster->count; ++i)
        if (cluster->blocks[i]->live && emu_block_deliver(cluster->blocks[i])) return 1;
    for (int i = 0; i < cluster->count; ++i)
        if (cluster->blocks[i]->live && emu_block_let_late(cluster->blocks[i])) return 1;
    return 0;
}

// Reports that threads of the block wait at the cluster's barrier, if any do.
static void report(emu_block *block) {
    const emu_cluster *cluster = block->cluster;
    int live = 0, id = 0;
    for (int i = 0; i < cluster->count; ++i) live += cluster->blocks[i]->live;
    while (id < block->thread_count && block->threads[id].state != EMU_AT_CLUSTER) ++id;
    if (id == block->thread_count) return;
    block->current = &block->threads[id];
    emu_block_fail(
        block->current->file, block->current->line,
        "no thread of the cluster can continue: cluster_wait waits forever, because %d of the %d threads in the "
        "cluster's %d blocks have arrived. Let every thread of every block call cluster_arrive, or exit",
        cluster->arrived, live, cluster->count);
}

static const emu_hooks hooks = {.report = report};

// Called on a fiber of the block, none of whose threads can continue (or whose thread lets others run).
static void leave(emu_block *block, emu_fiber *fiber) {
    emu_cluster *cluster = block->cluster;
    block->parked = fiber;
    emu_fiber_go(fiber, &block->main, 0, 0);
    if (cluster->stuck) emu_block_deadlock(block);
    emu_block_show(block->current);
}

static int waits_at_cluster(const emu_block *block) {
    for (int id = 0; id < block->thread_count; ++id)
        if (block->threads[id].state == EMU_AT_CLUSTER) return 1;
    return 0;
}

// No block can continue: the one that reports it. A block that waits for something of its own explains more than one
// that only waits for the other blocks.
static emu_block *to_report(const emu_cluster *cluster) {
    emu_block *some = NULL;
    for (int i = 0; i < cluster->count; ++i) {
        emu_block *block = cluster->blocks[i];
        if (!block->live) continue;
        if (!waits_at_cluster(block)) return block;
        some = block;
    }
    return some;
}

// settle(), where a copy may fault. The block that ran last then fails.
static int settle_safely(const emu_cluster *cluster) {
    emu_block *block = cluster->here;
    sigjmp_buf fault;
    int became_ready = 0;
    if (sigsetjmp(fault, 0)) {
        block->abandoned = 1;
    } else {
        block->recover = &fault;
        became_ready = settle(cluster);
    }
    block->recover = NULL;
    return became_ready;
}

static void run_blocks(emu_cluster *cluster) {
    for (;;) {
        emu_block *next = choose(cluster);
        if (!next && settle_safely(cluster)) continue;
        if (cluster->here->abandoned) return;
        if (!next) {
            next = to_report(cluster);
            if (!next) return; // all have ended
            cluster->stuck = 1;
        }
        put_in_place(cluster, next);
        if (next->tool) emu_tool_block_continue(next);
        cluster->last = next->rank;
        emu_block_enter(next);
        if (next->abandoned) return;
        if (!next->live && next->grid->tool) emu_tool_block_end(next, 1);
        if (has_ready(next)) settle_safely(cluster); // a thread waits by attempts
    }
}

// --- The barrier
// ----------------------------------------------------------------------------------------------------

static __attribute__((noinline)) void tell(emu_block *block, emu_barrier_stage stage, const char *file, int line) {
    emu_where at = emu_tool_where(block, file, line, NULL);
    if (stage == EMU_BARRIER_OPENS) at.thread = -1;
    emu_tool_barrier(&at, (emu_barrier_event){.kind = EMU_SYNC_CLUSTER, .stage = stage});
}

static void open_if_complete(emu_cluster *cluster) {
    int live = 0;
    for (int i = 0; i < cluster->count; ++i) live += cluster->blocks[i]->live;
    if (cluster->arrived < live || !live) return;
    cluster->arrived = 0;
    ++cluster->phase;
    if (EMU_UNLIKELY(cluster->here->tool != NULL)) tell(cluster->here, EMU_BARRIER_OPENS, NULL, 0);
    for (int i = 0; i < cluster->count; ++i) {
        emu_block *block = cluster->blocks[i];
        for (int id = 0; id < block->thread_count; ++id)
            if (block->threads[id].state == EMU_AT_CLUSTER) emu_block_make_ready(block, &block->threads[id]);
    }
}

static void thread_exits(emu_block *block, const emu_thread *thread) {
    emu_cluster *cluster = block->cluster;
    if (thread->arrived && thread->phase == cluster->phase) --cluster->arrived;
    open_if_complete(cluster);
}

static void free_cluster(emu_cluster *cluster) {
    for (int i = 0; i < EMU_MAX_CLUSTER; ++i)
        if (cluster->more[i]) emu_block_free(cluster->more[i]);
    free(cluster);
}

static emu_cluster *own_cluster(emu_block *block) {
    if (!block->own_cluster) block->own_cluster = calloc(1, sizeof *block->own_cluster);
    if (block->own_cluster) block->free_cluster = free_cluster;
    return block->own_cluster;
}

// The block's cluster: outside of one, a cluster of this block alone.
static emu_cluster *cluster_of(emu_block *block) {
    if (block->cluster) return block->cluster;
    emu_cluster *cluster = own_cluster(block);
    if (!cluster) emu_block_fail(NULL, 0, "this computer has no memory left for a cluster");
    cluster->count = 1;
    cluster->arrived = cluster->stuck = 0;
    cluster->phase = 0;
    cluster->blocks[0] = cluster->here = block->mate = block;
    cluster->static_bytes = 0;
    for (int id = 0; id < block->thread_count; ++id) block->threads[id].arrived = 0;
    block->cluster = cluster;
    block->rank = 0;
    block->exits = thread_exits;
    block->hooks[EMU_CLUSTER] = &hooks;
    return cluster;
}

void emu_cluster_arrive(const char *file, int line) {
    emu_block *block = emu_current;
    emu_cluster *cluster = cluster_of(block);
    emu_thread *self = block->current;
    if (self->arrived)
        emu_block_fail(file, line,
                       "the thread calls cluster_arrive for the second time without cluster_wait between the two");
    self->arrived = 1;
    self->phase = cluster->phase;
    ++cluster->arrived;
    if (EMU_UNLIKELY(block->tool != NULL)) tell(block, EMU_BARRIER_ARRIVES, file, line);
    open_if_complete(cluster);
}

void emu_cluster_wait(const char *file, int line) {
    emu_block *block = emu_current;
    const emu_cluster *cluster = cluster_of(block);
    emu_thread *self = block->current;
    if (!self->arrived) emu_block_fail(file, line, "the thread calls cluster_wait without cluster_arrive before it");
    self->arrived = 0;
    if (emu_block_stopped(block)) emu_block_abandon(block);
    if (cluster->phase == self->phase) {
        self->file = file;
        self->line = line;
        self->state = EMU_AT_CLUSTER;
        emu_block_switch(block, block->slot + 1);
    }
    if (EMU_UNLIKELY(block->tool != NULL)) tell(block, EMU_BARRIER_LEAVES, file, line);
}

// --- Shared memory of other blocks
// ----------------------------------------------------------------------------------

int emu_cluster_rank(void) {
    return emu_current->cluster ? emu_current->rank : 0;
}
int emu_cluster_size(void) {
    return emu_current->cluster ? emu_current->cluster->count : 1;
}
emu_dim3 emu_cluster_shape(void) {
    return emu_current->cluster ? emu_current->grid->launch->cluster : (emu_dim3){1, 1, 1};
}

emu_block *emu_cluster_member(emu_block *block, int rank) {
    return block->cluster ? block->cluster->blocks[rank] : block;
}

emu_block *emu_cluster_block(int rank, const char *call, const char *file, int line) {
    emu_block *block = emu_current;
    const int count = emu_cluster_size();
    if (rank < 0 || rank >= count)
        emu_block_fail(file, line, "%s: the rank of a block in this cluster of %d is 0 to %d, not %d", call, count,
                       count - 1, rank);
    if (!block->cluster) return block;
    emu_block *other = block->cluster->blocks[rank];
    if (!other->live)
        emu_block_fail(
            file, line,
            "%s: block %d of the cluster has ended, and its shared memory no longer exists; let all blocks meet at "
            "cluster_sync() before the first one ends",
            call, rank);
    return other;
}

void *emu_cluster_peer(const emu_block *block, const void *address) {
    const emu_block *self = emu_current;
    const size_t offset = (uintptr_t)address - (uintptr_t)self->shared.begin;
    return offset < emu_shared_room(&self->shared) ? block->shared.begin + offset : (void *)(uintptr_t)address;
}

void *emu_cluster_address(const emu_block *block, const void *address) {
    const emu_cluster *cluster = block->cluster;
    if (!cluster || block == cluster->here || !cluster->static_bytes) return (void *)(uintptr_t)address;
    const size_t offset = (uintptr_t)address - (uintptr_t)cluster->statics;
    return offset < cluster->static_bytes ? block->static_copy + offset : (void *)(uintptr_t)address;
}

void *emu_cluster_map(const void *address, int rank, const char *file, int line) {
    const emu_block *self = emu_current, *block = emu_cluster_block(rank, "map_shared", file, line);
    const emu_cluster *cluster = self->cluster;
    const int is_dynamic = (uintptr_t)address - (uintptr_t)self->shared.begin < emu_shared_room(&self->shared);
    const int is_static = cluster && (uintptr_t)address - (uintptr_t)cluster->statics < cluster->static_bytes;
    if (cluster && cluster->count > 1 && !is_dynamic && !is_static)
        emu_block_fail(file, line, "map_shared: %p is not an address in the block's shared memory", address);
    return emu_cluster_address(block, emu_cluster_peer(block, address));
}

// --- Running
// --------------------------------------------------------------------------------------------------------

// Memory for the static variables of a block.
static int reserve_statics(emu_block *block, const emu_cluster *cluster) {
    free(block->static_copy);
    block->static_copy = NULL;
    if (!cluster->static_bytes) return 0;
    block->static_copy = malloc(cluster->static_bytes);
    if (!block->static_copy) return -1;
    memcpy(block->static_copy, cluster->statics, cluster->static_bytes);
    return 0;
}

static int prepare(emu_cluster *cluster, emu_block *own, uint64_t number, emu_dim3 first) {
    emu_grid *grid = own->grid;
    const emu_dim3 size = grid->launch->cluster;
    cluster->count = (int)(size.x * size.y * size.z);
    cluster->last = cluster->count - 1;
    cluster->arrived = cluster->stuck = 0;
    cluster->phase = 0;
    cluster->here = own;
    cluster->statics = emu_statics_of(own, &cluster->static_bytes);
    for (int rank = 0; rank < cluster->count; ++rank) {
        emu_block **place = &cluster->more[rank];
        if (rank && !*place) *place = emu_block_new();
        emu_block *block = rank ? *place : own;
        if (!block || (rank && emu_block_attach(block, grid)) || reserve_statics(block, cluster)) return -1;
        const emu_dim3 index = {first.x + (unsigned)rank % size.x, first.y + (unsigned)rank / size.x % size.y,
                                first.z + (unsigned)rank / size.x / size.y};
        emu_block_prepare(block, number * (unsigned)cluster->count + (unsigned)rank, index);
        for (int id = 0; id < block->thread_count; ++id) block->threads[id].arrived = 0;
        block->cluster = cluster;
        block->leave = leave;
        block->exits = thread_exits;
        block->hooks[EMU_CLUSTER] = &hooks;
        block->rank = rank;
        block->statics = own->statics;
        cluster->blocks[rank] = block;
    }
    for (int rank = 0; rank < cluster->count; ++rank)
        cluster->blocks[rank]->mate = cluster->blocks[(rank + 1) % cluster->count];
    return 0;
}

void emu_cluster_run(emu_block *block, uint64_t number, emu_dim3 first) {
    emu_cluster *cluster = own_cluster(block);
    if (!cluster || prepare(cluster, block, number, first)) {
        emu_grid_fail(block->grid, cudaErrorMemoryAllocation,
                      "out of host memory for the blocks of an emulated cluster", 0);
        return;
    }
    for (int rank = 0; block->grid->tool && rank < cluster->count; ++rank)
        emu_tool_block_begin(cluster->blocks[rank]);
    run_blocks(cluster);
    for (int rank = 0; rank < cluster->count; ++rank)
        if (cluster->blocks[rank]->live || cluster->blocks[rank]->abandoned) emu_block_discard(cluster->blocks[rank]);
    emu_current = block;
    block->cluster = NULL;
}
