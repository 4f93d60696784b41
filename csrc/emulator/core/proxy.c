// What asynchronous operations (TMA and wgmma) see of a block's dynamic shared memory.
//
//   a thread writes ----> shared memory - - fence_async_proxy - -> view ----.
//   a tensor_load lands --> both     '--------------------------------------+--> tensor_store, wgmma: NaN where they
//                                                                                differ
//
// On a GPU, what threads have written is visible to asynchronous operations only after a fence.proxy.async, and
// nobody may overwrite what an operation still reads. Here there is a copy, the view, which is brought up to date
// when the first operation begins after a fence. 16 bytes that differ in the two have been written without a fence,
// or since the operation began, and it sees NaN (0xff) in their place. A fence by any thread of the cluster counts
// for all, whenever: one that only some of the writers call, or too early, is not noticed.
//
// Invariant: where a view exists, bytes that loads have brought are equal in both.
#include "block.h"

#include <stdlib.h>
#include <string.h>

typedef struct view {
    uint64_t run; // the block's number among the blocks of this OS thread
    int fenced;   // since the view was brought up to date
    char *bytes;  // NULL: no asynchronous operation yet
    size_t capacity;
} view;

static void free_view(void *pointer) {
    free(((view *)pointer)->bytes);
}

static view *own_view(emu_block *block) {
    view *own = emu_block_service(block, EMU_VIEW, sizeof *own, free_view);
    if (own->run == block->runs) return own;
    own->run = block->runs;
    own->fenced = 0;
    const size_t bytes = block->grid->launch->dynamic_shared;
    if (own->capacity < bytes) {
        free(own->bytes);
        own->capacity = 0;
        own->bytes =
            aligned_alloc(EMU_SHARED_GRAIN, emu_shared_room(&block->shared)); // swizzles depend on the address
        if (!own->bytes) emu_block_fail(NULL, 0, "this computer has no memory left for asynchronous copies");
        own->capacity = emu_shared_room(&block->shared);
    }
    if (bytes) memset(own->bytes, 0xff, bytes);
    return own;
}

static int is_dynamic(const emu_block *block, const void *address) {
    return (uintptr_t)address - (uintptr_t)block->shared.begin < block->grid->launch->dynamic_shared;
}

void emu_proxy_fence(void) {
    emu_block *block = emu_current;
    for (int rank = 0; rank < emu_cluster_size(); ++rank) own_view(emu_cluster_member(block, rank))->fenced = 1;
    if (EMU_UNLIKELY(block->tool != NULL)) {
        const emu_where at = emu_tool_where(block, NULL, 0, __builtin_return_address(0));
        emu_tool_async(&at, (emu_async_event){.stage = EMU_ASYNC_FENCES, .by = EMU_BY_TENSOR_STORE});
    }
}

void emu_proxy_landed(emu_block *block, const void *address, size_t bytes) {
    if (!is_dynamic(block, address)) return;
    view *own = own_view(block);
    memcpy(own->bytes + ((uintptr_t)address - (uintptr_t)block->shared.begin), address, bytes);
}

void emu_proxy_begin(emu_block *block) {
    view *own = own_view(block);
    const size_t bytes = block->grid->launch->dynamic_shared;
    if (own->fenced && bytes) memcpy(own->bytes, block->shared.begin, bytes);
    own->fenced = 0;
}

const void *emu_proxy_view(const void *address) {
    emu_block *block = emu_current;
    if (!is_dynamic(block, address)) return address;
    return own_view(block)->bytes + ((uintptr_t)address - (uintptr_t)block->shared.begin);
}

void emu_proxy_read(void *to, const void *address) {
    memcpy(to, emu_proxy_view(address), 16);
    if (memcmp(to, address, 16)) memset(to, 0xff, 16);
}
