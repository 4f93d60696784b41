// Asynchronous operations: cp.async, TMA and wgmma.
//
//   begins: its accesses conflict with every later one, also of its own thread ---> ends: they are those of
//                                                                                       cp.async, a store: its thread
//                                                                                       a load: its mbarrier
//                                                                                       wgmma: its warpgroup
//
// An operation ends in the wait that covers it, or, a load, when its mbarrier completes a phase. Others learn of it as
// they learn of ordinary accesses: those who have waited for the mbarrier, or who meet the waiting thread at a barrier.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "checker.h"

typedef struct operation {
    uint32_t thread; // that began it
    uint32_t next;   // in the list of free places, where 0 is the end
    uintptr_t mbarrier;
} operation;
static operation *list; // of the launch; the first place is not used
static uint32_t count = 1, room, next_free;

// The place of an operation of the block, by the number of those that began before it in the block.
static uint32_t *place_of(block_state *block, uint64_t number) {
    const uint32_t in_block = (uint32_t)number;
    if (block->number != number >> 32) block = block_running(number >> 32); // of the same cluster
    if (in_block >= block->operations_room) {
        const uint32_t more = in_block < 128 ? 256 : 2 * in_block;
        block->operations = realloc(block->operations, more * sizeof *block->operations);
        if (!block->operations) abort();
        memset(block->operations + block->operations_room, 0,
               (more - block->operations_room) * sizeof *block->operations);
        block->operations_room = more;
    }
    return &block->operations[in_block];
}

static uint32_t find(block_state *block, uint64_t number) { // 0: it has not begun, or has ended
    const uint32_t place = *place_of(block, number);
    return place ? IS_ASYNC | IS_PENDING | place : 0;
}

static operation *operation_of(uint32_t pending) {
    return &list[pending & ~(IS_ASYNC | IS_PENDING)];
}

uint32_t async_thread(uint32_t who) {
    if (!(who & IS_ASYNC)) return who;
    if (who & IS_PENDING) return operation_of(who)->thread;
    if (who & OF_MBARRIER) return 0;
    return (who & ~IS_ASYNC) * 128;
}

static uint32_t warpgroup_of(const block_state *block, int thread) {
    return IS_ASYNC | (((block->first + (uint32_t)thread) / 128) & (OF_MBARRIER - 1));
}
static uint32_t mbarrier_of(uintptr_t mbarrier) {
    return IS_ASYNC | OF_MBARRIER | ((uint32_t)(mbarrier >> 3) & (OF_MBARRIER - 1));
}

static void begin(block_state *block, const emu_where *at, const emu_async_event *event) {
    uint32_t place = next_free;
    if (place) {
        next_free = list[place].next;
    } else {
        place = count++;
        if (count > room) {
            room = room ? 2 * room : 256;
            list = realloc(list, room * sizeof *list);
            if (!list) abort();
        }
    }
    list[place] = (operation){.thread = block->first + (uint32_t)at->thread, .mbarrier = event->mbarrier};
    *place_of(block, event->operation) = place;
}

static void end(block_state *block, const emu_where *at, const emu_async_event *event) {
    const uint32_t pending = find(block, event->operation);
    if (!pending) return;
    operation *const one = operation_of(pending);
    if (event->by == EMU_BY_TENSOR_LOAD) {
        const uint64_t key = knowledge_key(OF_THREAD, mbarrier_of(one->mbarrier));
        const uint32_t stamp = ++checker_stamp;
        release *const to = release_at(one->mbarrier, UINT64_MAX, 1);
        to->known = knowledge_join(to->known, knowledge_new(1, &key, &stamp));
    } else if (event->by == EMU_BY_PRODUCT) {
        const int first = at->thread / 32 * 32;
        for (int id = first; id < first + 32 && id < block->threads; ++id)
            rules_learn(block, id, warpgroup_of(block, id));
    }
    *place_of(block, event->operation) = 0;
    one->next = next_free;
    next_free = pending & ~(IS_ASYNC | IS_PENDING);
}

void async_event(block_state *block, const emu_where *at, const emu_async_event *event) {
    if (event->stage == EMU_ASYNC_BEGINS) begin(block, at, event);
    if (event->stage == EMU_ASYNC_ENDS) end(block, at, event);
    if (event->stage == EMU_ASYNC_FENCES && event->by == EMU_BY_TENSOR_STORE)
        block->thread[at->thread].shown = ++checker_stamp;
}

// The sums of a product, in the memory of a thread.
static void local(thread_state *of, const emu_where *at, const emu_access_event *event, uint32_t pending) {
    if (!(event->kind & EMU_PENDING)) {
        for (int i = of->sums_count; i-- > 0;)
            if (of->sums[i].pending == pending) of->sums[i] = of->sums[--of->sums_count];
        return;
    }
    if (of->sums_count == CHECKER_SUMS) return;
    of->sums[of->sums_count++] = (pending_sums){event->address, event->address + event->bytes, pending,
                                                site_number(at, event->kind, event->bytes)};
}

void async_access(block_state *block, const emu_where *at, const emu_access_event *event) {
    const uint32_t pending = find(block, event->operation);
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
    rules_end(block, event, pending, who);
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

void async_clear(void) {
    count = 1;
    next_free = 0;
}
