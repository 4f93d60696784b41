// Barriers of a block, and of a cooperative grid: __syncthreads and its relatives.
//
//   thread 0 arrives --.
//   thread 1 arrives --+--> arrived == live: the barrier opens, and all threads are ready again, in their order
//   thread 2 exits   --'
//
// A missing barrier is found here if threads wait at different ones: check_site(). If some threads wait here and
// others elsewhere, no thread is ready: emu_block_nothing_ready() in block.c.
//
// Invariants: the barrier opens when arrived == live, which is checked when a thread arrives and when one exits
// (block.c). All threads that wait here wait at the same barrier (site_file, site_line).
#include "block.h"

#include <string.h>

// Called by the last of a block's threads to arrive, on behalf of all of them.
static int grid_barrier(emu_block *block) {
    emu_grid *grid = block->grid;
    int stuck = 0, waiting;
    pthread_mutex_lock(&grid->lock);
    unsigned generation = grid->generation;
    if ((uint64_t)++grid->waiting == grid->total) {
        grid->waiting = 0;
        ++grid->generation;
        pthread_cond_broadcast(&grid->all_here);
        emu_turn_all_ready(grid);
    } else {
        emu_turn_give(block, 0);
    }
    while (generation == grid->generation && !emu_block_stopped(block)) {
        if (grid->finished) {
            stuck = 1;
            break;
        }
        emu_grid_wait(grid);
    }
    waiting = grid->waiting;
    int finished = grid->finished;
    if (!stuck) emu_turn_take(block);
    pthread_mutex_unlock(&grid->lock);
    if (stuck)
        emu_block_fail(
            block->site_file, block->site_line,
            "all blocks of a grid must reach the grid's sync(); %d of %llu blocks wait there, but %d ended "
            "without calling it",
            waiting, (unsigned long long)grid->total, finished);
    return emu_block_stopped(block);
}

// --- Barriers -----------------------------------------------------------------------------------------------------

static __attribute__((noinline)) void tell(emu_block *block, emu_barrier_stage stage) {
    emu_where at = emu_tool_where(block, block->site_file, block->site_line, NULL);
    if (stage == EMU_BARRIER_OPENS) at.thread = -1;
    emu_tool_barrier(&at, (emu_barrier_event){.kind = block->barrier, .stage = stage});
}

static void open_barrier(emu_block *block) {
    if (block->barrier == EMU_SYNC_GRID && grid_barrier(block)) emu_block_abandon(block);
    if (emu_block_stopped(block)) emu_block_abandon(block);
    if (block->barrier != EMU_SYNC)
        block->result = block->barrier == EMU_SYNC_COUNT ? block->sum_not_zero
                        : block->barrier == EMU_SYNC_AND ? block->sum_not_zero == block->sum
                                                         : block->sum_not_zero != 0;
    block->arrived = block->sum = block->sum_not_zero = 0;
    ++block->phase;
    if (EMU_UNLIKELY(block->tool != NULL)) tell(block, EMU_BARRIER_OPENS);
    if (block->grid->order == EMU_ORDER_SEEDED) emu_block_shuffle(block);
    for (int w = 0; w < block->words; ++w) block->ready[w] = block->live_slots[w];
}

static __attribute__((noinline)) void check_site(emu_block *block, emu_barrier kind, const char *file, int line) {
    if (kind == block->barrier && line == block->site_line && !strcmp(file, block->site_file)) return;
    emu_block_fail(
        file, line,
        "all threads of a block must wait at the same barrier; this thread reached %s, while %d of %d threads "
        "wait at %s, %s:%d. Move the barrier out of the branch or loop that not all threads take",
        emu_barrier_names[kind], block->arrived, block->live, emu_barrier_names[block->barrier], block->site_file,
        block->site_line);
}

static void wait_and_tell(emu_block *block, unsigned from) {
    const emu_where at = emu_tool_where(block, block->site_file, block->site_line, NULL);
    const emu_barrier kind = block->barrier;
    emu_block_switch(block, from);
    emu_tool_barrier(&at, (emu_barrier_event){.kind = kind, .stage = EMU_BARRIER_LEAVES});
}

static __attribute__((noinline)) void wait_at_barrier(emu_block *block, emu_barrier kind, const char *file,
                                                      int line) {
    emu_block_refuse(file, line);
    if (block->arrived == 0) {
        block->site_file = file, block->site_line = line, block->barrier = kind;
        block->slow = kind != EMU_SYNC || block->tool;
        block->open = open_barrier;
    } else {
        check_site(block, kind, file, line);
    }
    unsigned from = block->slot + 1;
    if (EMU_UNLIKELY(block->tool != NULL)) tell(block, EMU_BARRIER_ARRIVES);
    if (++block->arrived == block->live) {
        open_barrier(block);
        from = 0;
    }
    if (EMU_UNLIKELY(block->tool != NULL))
        wait_and_tell(block, from);
    else
        emu_block_switch(block, from);
}

// The usual case, which takes most of the emulator's time: the thread is neither the first nor the last to arrive,
// and the thread in the next slot can continue. Nothing remains to be done after the switch, so the compiler turns it
// into a jump and this function saves no registers.
void emu_sync_block(const char *file, int line) {
    emu_block *block = emu_current;
    int arrived = block->arrived + 1;
    unsigned slot = block->slot + 1;
    uint64_t *word = &block->ready[slot >> 6], bit = (uint64_t)1 << (slot & 63);
    if (EMU_LIKELY(arrived > 1 && arrived < block->live && line == block->site_line && file == block->site_file &&
                   !block->slow && (*word & bit))) {
        emu_thread *next = block->order[slot];
        emu_fiber *from = block->current->fiber, *to = next->fiber;
        if (EMU_LIKELY(to != NULL)) {
            block->arrived = arrived;
            block->slot = slot;
            *word &= ~bit;
            block->current = next;
            emu_block_show(next);
            emu_fiber_go(from, to, next->result, 0);
            return;
        }
    }
    wait_at_barrier(block, EMU_SYNC, file, line);
}

int emu_sync_block_with(emu_barrier kind, int predicate, const char *file, int line) {
    emu_block *block = emu_current;
    if (kind == EMU_SYNC_GRID && !block->grid->launch->cooperative)
        emu_block_fail(file, line,
                       "only a cooperative launch can wait for the whole grid; launch this kernel with "
                       "cudaLaunchAttributeCooperative (from Python: cooperative=True)");
    ++block->sum;
    block->sum_not_zero += predicate != 0;
    wait_at_barrier(block, kind, file, line);
    return block->result;
}
