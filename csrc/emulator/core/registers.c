// Registers that a block's warps give up and get (setmaxnreg).
//
//   launch: each thread has 65536 / threads of the block --> give_up_registers<40> --> left --> get_registers<232>:
//   waits for enough
//
// The number at the launch is what a compiler assigns under __launch_bounds__(threads, 1): the host compiler does not
// say how many a kernel would have on a GPU. All numbers are per thread, and those of a warp's threads are equal.
//
// Invariant: every waiting warp lacks more than is left.
#include "block.h"

#include <stdlib.h>

enum { PER_BLOCK = 65536, MOST = 256, GROUP = 4 }; // GROUP: warps of a warpgroup

typedef struct warp_registers {
    int has, wants, calls; // wants: 0 if it does not wait
    emu_thread *waiting;
    const char *file; // of the last call
    int line;
} warp_registers;

typedef struct registers { // of one block
    uint64_t run;          // the block's number among the blocks of this OS thread
    int launch, left;
    warp_registers warps[EMU_MAX_WARPS];
} registers;

static void end(emu_block *block) {
    const registers *own = block->services[EMU_REGISTERS].state;
    for (int w = 0; w < block->warp_count; ++w) {
        const int next = w / GROUP * GROUP + (w + 1) % GROUP;
        const warp_registers *warp = &own->warps[w];
        if (warp->calls <= own->warps[next].calls) continue;
        block->current = &block->threads[w * EMU_WARP];
        emu_block_fail(warp->file, warp->line,
                       "all four warps of a warpgroup must call give_up_registers or get_registers equally often; "
                       "warp %d did so %d times, warp %d %d times",
                       w, warp->calls, next, own->warps[next].calls);
    }
}

static void report(emu_block *block) {
    const registers *own = block->services[EMU_REGISTERS].state;
    for (int w = 0; w < block->warp_count; ++w) {
        const warp_registers *warp = &own->warps[w];
        if (!warp->wants) continue;
        block->current = warp->waiting;
        emu_block_fail(warp->file, warp->line,
                       "no thread of the block can continue: get_registers<%d> waits forever, because the threads of "
                       "this warp have %d registers, and of those that others have given up only %d are left (at the "
                       "launch, each has %d). Get fewer, or let other warpgroups give up more",
                       warp->wants, warp->has, own->left, own->launch);
    }
}
static const emu_hooks hooks = {.report = report, .end = end};

static registers *own_registers(emu_block *block) {
    registers *own = emu_block_service(block, EMU_REGISTERS, sizeof *own, free);
    if (own->run == block->runs) return own;
    block->hooks[EMU_REGISTERS] = &hooks;
    const int each = PER_BLOCK / (block->warp_count * EMU_WARP) / 8 * 8;
    *own = (registers){.run = block->runs, .launch = each < MOST ? each : MOST};
    for (int w = 0; w < block->warp_count; ++w) own->warps[w].has = own->launch;
    return own;
}

// Warps that wait get what is left.
static void share(emu_block *block, registers *own) {
    for (int w = 0; w < block->warp_count; ++w) {
        warp_registers *warp = &own->warps[w];
        if (!warp->wants || warp->wants - warp->has > own->left) continue;
        own->left -= warp->wants - warp->has;
        warp->has = warp->wants;
        warp->wants = 0;
        emu_block_make_ready(block, warp->waiting);
    }
}

void emu_registers(int count, int more, const char *file, int line) {
    emu_block *block = emu_current;
    registers *own = own_registers(block);
    emu_thread *self = block->current;
    const char *call = more ? "get_registers" : "give_up_registers";
    const int number = self->id / EMU_WARP, first = number / GROUP * GROUP;
    warp_registers *warp = &own->warps[number];
    if ((first + GROUP) * EMU_WARP > block->thread_count)
        emu_block_fail(
            file, line,
            "%s requires whole warpgroups of 128 threads; the block's %d threads leave this one incomplete", call,
            block->thread_count);
    if (more ? count < warp->has : count > warp->has)
        emu_block_fail(file, line, "%s<%d>: the threads of this warp have %s registers, %d (%d at the launch)", call,
                       count, more ? "more" : "fewer", warp->has, own->launch);
    ++warp->calls;
    warp->file = file;
    warp->line = line;
    for (int w = first; w < first + GROUP; ++w) {
        const warp_registers *other = &own->warps[w];
        const int has = other->wants ? other->wants : other->has;
        if (w != number && other->calls == warp->calls && has != count)
            emu_block_fail(
                file, line,
                "all warps of a warpgroup must pass the same number of registers; warp %d calls %s<%d>, and warp %d "
                "passed %d",
                number, call, count, w, has);
    }
    if (more) {
        warp->wants = count;
        warp->waiting = self;
        self->state = EMU_AT_REGISTERS;
    } else {
        own->left += warp->has - count;
        warp->has = count;
    }
    share(block, own);
    if (more) emu_block_wait(block);
}
