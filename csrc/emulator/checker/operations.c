// The table of the asynchronous operations that have not ended.
//
//   block, number in the block --> block->operations[number] --> list[place]: its thread, its mbarrier
//                                                 place 0: it has not begun, or has ended; its place is free again
//
// In the records of the shadow, IS_ASYNC | IS_PENDING | place stands for the operation, like a thread of its own.
#include <stdlib.h>
#include <string.h>

#include "checker.h"

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

uint32_t operation_find(block_state *block, uint64_t number) {
    const uint32_t place = *place_of(block, number);
    return place ? IS_ASYNC | IS_PENDING | place : 0;
}

operation *operation_of(uint32_t pending) {
    return &list[pending & ~(IS_ASYNC | IS_PENDING)];
}

uint32_t operation_thread(uint32_t who) {
    if (!(who & IS_ASYNC)) return who;
    if (who & IS_PENDING) return operation_of(who)->thread;
    if (who & OF_MBARRIER) return 0;
    return (who & ~IS_ASYNC) * 128;
}

void operation_begin(block_state *block, int thread, const emu_async_event *event) {
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
    list[place] = (operation){.thread = block->first + (uint32_t)thread, .mbarrier = event->mbarrier};
    *place_of(block, event->operation) = place;
}

void operation_end(block_state *block, uint64_t number) {
    uint32_t *const place = place_of(block, number);
    list[*place].next = next_free;
    next_free = *place;
    *place = 0;
}

void operations_clear(void) {
    count = 1;
    next_free = 0;
}
