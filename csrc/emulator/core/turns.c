// Turns: for a tool that wants one block at a time (`one_at_a_time`), the blocks of a cooperative grid take turns.
//
//   block 0 runs --- at the grid's barrier, in emu_yield, at its end: emu_turn_give ---> block 1 runs ---> ...
//        ^                                                                                              |
//        '--- the grid's barrier opens: emu_turn_all_ready, and each waits for its turn: emu_turn_take --'
//
// Each of these blocks has an OS thread of its own, because all of them must be resident. Other grids need no turns:
// one OS thread runs their blocks, and grid->can_run is NULL.
//
// Invariant (under grid->lock): only the block grid->turn runs the kernel's code, until the grid fails or is
// canceled. can_run[i] is 0 while block i waits at the grid's barrier, and when it has ended.
#include "block.h"

#include <string.h>
#include <time.h>

void emu_turn_give(emu_block *block, int can_run) {
    emu_grid *grid = block->grid;
    if (!grid->can_run) return;
    grid->can_run[block->position] = (unsigned char)can_run;
    for (uint64_t i = 1; i <= grid->total; ++i) {
        const uint64_t next = (block->position + i) % grid->total;
        if (!grid->can_run[next]) continue;
        grid->turn = next;
        break;
    }
    pthread_cond_broadcast(&grid->all_here);
}

void emu_turn_all_ready(emu_grid *grid) {
    if (!grid->can_run) return;
    memset(grid->can_run, 1, grid->total); // no block has ended, or the barrier would not open
    grid->turn = 0;
}

void emu_grid_wait(emu_grid *grid) {
    struct timespec until; // wait in short intervals, because canceling does not signal the condition
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 20000000;
    if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, ++until.tv_sec;
    pthread_cond_timedwait(&grid->all_here, &grid->lock, &until);
}

void emu_turn_take(emu_block *block) {
    emu_grid *grid = block->grid;
    while (grid->can_run && grid->turn != block->position && !emu_block_stopped(block)) emu_grid_wait(grid);
    if (grid->can_run && grid->turn == block->position && block->tool) emu_tool_block_continue(block);
}
