// Asynchronous operations: cp.async, TMA and wgmma.
//
//   begins: its accesses conflict with every later one, also of its own thread ---> ends: they are those of
//                                                                                       cp.async, a store: its thread
//                                                                                       a load: its mbarrier
//                                                                                       wgmma: its warpgroup
//
// An operation ends in the wait that covers it, or, a load, when its mbarrier completes a phase. Others learn of it
// as they learn of ordinary accesses: those who have waited for the mbarrier, or who meet the waiting thread at a
// barrier.
#include <stdlib.h>

#include "checker.h"

static uint32_t warpgroup_of(const block_state *block, int thread) {
    return IS_ASYNC | (((block->first + (uint32_t)thread) / 128) & (OF_MBARRIER - 1));
}
static uint32_t mbarrier_of(uintptr_t mbarrier) {
    return IS_ASYNC | OF_MBARRIER | ((uint32_t)(mbarrier >> 3) & (OF_MBARRIER - 1));
}

static void end(block_state *block, const emu_where *at, const emu_async_event *event) {
    const uint32_t pending = operation_find(block, event->operation);
    if (!pending) return;
    const operation *const one = operation_of(pending);
    if (event->by == EMU_BY_TENSOR_LOAD) {
        const uint64_t key = knowledge_key(OF_THREAD, mbarrier_of(one->mbarrier));
        const uint32_t stamp = quick_stamp();
        release_add(release_at(one->mbarrier, UINT64_MAX, 1), knowledge_new(1, &key, &stamp));
    } else if (event->by == EMU_BY_PRODUCT) {
        rules_learn(block, at->thread / 32 * 32, 32,
                    warpgroup_of(block, at->thread)); // (a warpgroup's warps are whole)
    }
    operation_end(block, event->operation);
}

void async_event(block_state *block, const emu_where *at, const emu_async_event *event) {
    if (event->stage == EMU_ASYNC_BEGINS) operation_begin(block, at->thread, event);
    if (event->stage == EMU_ASYNC_ENDS) end(block, at, event);
    if (event->stage == EMU_ASYNC_FENCES && event->by == EMU_BY_TENSOR_STORE)
        block->thread[at->thread].shown = quick_stamp();
}

// The sums of a product, in the memory of a thread.
static void local(thread_state *of, const emu_where *at, const emu_access_event *event, uint32_t pending) {
    if (!(event->kind & EMU_PENDING)) {
        for (int i = of->sums_count; i-- > 0;)
            if (of->sums[i].pending == pending) of->sums[i] = of->sums[--of->sums_count];
        return;
    }
    if (of->sums_count == CHECKER_SUMS) return;
    if (!of->sums) of->sums = malloc(CHECKER_SUMS * sizeof *of->sums);
    if (!of->sums) abort();
    quick_forget();
    of->sums[of->sums_count++] = (pending_sums){event->address, event->address + event->bytes, pending,
                                                site_number(at, event->kind, event->bytes)};
}

void async_access(block_state *block, const emu_where *at, const emu_access_event *event) {
    const uint32_t pending = operation_find(block, event->operation);
    if (!pending) return;
    if (event->space == EMU_SPACE_LOCAL) {
        local(&block->thread[at->thread], at, event, pending);
        return;
    }
    if (event->kind & EMU_PENDING) {
        rules_begin(block, at, event, pending);
        return;
    }
    const uint32_t who = event->by == EMU_BY_TENSOR_LOAD ? mbarrier_of(operation_of(pending)->mbarrier)
                         : event->by == EMU_BY_PRODUCT   ? warpgroup_of(block, at->thread)
                                                         : operation_of(pending)->thread;
    rules_end(event, pending, who);
}

void async_local(block_state *block, const emu_where *at, const emu_access_event *event) {
    const thread_state *const of = &block->thread[at->thread];
    for (int i = 0; i < of->sums_count; ++i) {
        const pending_sums *const one = &of->sums[i];
        if (event->address >= one->end || event->address + event->bytes <= one->begin) continue;
        findings_add(CHECKER_RACE, block, at->thread, site_number(at, event->kind, event->bytes), event, one->pending,
                     one->site, NULL);
        return;
    }
}
