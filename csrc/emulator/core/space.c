// To which memory an address belongs; accesses that a library reports; 32-bit addresses of shared memory, as in PTX.
//
//   0 ... STATIC      static shared variables, which are thread-local ones of the kernel's library
//   STATIC ...        the block's dynamic shared memory
#include "block.h"

enum { STATIC = 1 << 26, ALIGNED = 127 };

typedef struct area {
    uintptr_t begin;
    size_t bytes;
} area;

static area statics(void) {
    area of = {0, 0};
    of.begin = (uintptr_t)emu_statics_of(emu_current, &of.bytes);
    return of;
}
static int contains(area of, const void *address) {
    return (uintptr_t)address - of.begin < of.bytes;
}
static area dynamic(void) {
    return (area){(uintptr_t)emu_current->shared.begin, emu_current->grid->launch->dynamic_shared};
}

int emu_is_shared(const void *address) {
    return contains(dynamic(), address) || contains(statics(), address);
}

uintptr_t emu_local(size_t *bytes) {
    const emu_fiber *fiber = emu_current->current->fiber;
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0), far = 128 << 10;
    *bytes = fiber ? fiber->size : 2 * far;
    return fiber ? (uintptr_t)fiber->low : here - far;
}

int emu_is_local(const void *address) {
    size_t bytes;
    const uintptr_t begin = emu_local(&bytes);
    return (uintptr_t)address - begin < bytes;
}

unsigned emu_shared_offset(const void *address) {
    if (contains(dynamic(), address)) return STATIC + (unsigned)((uintptr_t)address - dynamic().begin);
    return (unsigned)((uintptr_t)address - (statics().begin & ~(uintptr_t)ALIGNED));
}

void *emu_shared_address(size_t offset) {
    const uintptr_t low = offset < STATIC ? statics().begin & ~(uintptr_t)ALIGNED : dynamic().begin - STATIC;
    return (void *)(low + offset);
}

static int is_watched(const emu_block *block) {
    return block && block->tool && block->inside && !block->current->quiet;
}

void emu_access(const void *address, size_t bytes, unsigned kind, const void *after) {
    emu_block *block = emu_current;
    if (!block) emu_host_access(address, bytes, kind, after);
    if (!is_watched(block)) return;
    const emu_where at = emu_tool_where(block, NULL, 0, after);
    emu_tool_access(&at, address, bytes, kind, EMU_BY_THREAD, 0);
}

void emu_atomic_here(const void *address, size_t bytes, unsigned kind) {
    emu_access(address, bytes, kind, __builtin_return_address(0));
}

void emu_index_fails(int64_t index, const char *type, const char *file, int line) {
    emu_block *block = emu_current;
    if (!block || !block->inside) return;
    if (is_watched(block)) {
        const emu_where at = emu_tool_where(block, file, line, NULL);
        emu_tool_index(&at, index, type);
    }
    emu_block_fail_as(cudaErrorIllegalAddress, file, line, "the index %lld is outside of an array of the type %s",
                      (long long)index, type);
}

void emu_fence_here(unsigned scope) {
    emu_block *block = emu_current;
    if (!is_watched(block)) return;
    const emu_where at = emu_tool_where(block, NULL, 0, __builtin_return_address(0));
    emu_tool_fence(&at, scope);
}
