// Copies that a thread begins and waits for later (cp.async).
//
//   cp_async --.           .-> [copy][copy] group 0 --.
//   cp_async --+-> commit -+                          +-> cp_async_wait<1>: group 0 is copied, group 1 may not be
//   cp_async --'           '-> [copy]       group 1 --'
//
// A copy is carried out in the wait that it must be finished by, as late as the rules allow. Until then its
// destination contains NaN bytes. Copies that no wait covers are dropped when their block ends.
//
// Invariant: a thread's copies are in the order in which they began, so those of the earliest groups come first.
#include "block.h"

#include <stdlib.h>
#include <string.h>

typedef struct emu_async_copy {
    void *shared;
    const void *global;
    unsigned bytes, read, group; // bytes to write; those of them to read, the rest is zero
    unsigned operation;          // for tools.c; 0: nobody watches
} emu_async_copy;

typedef struct emu_async_copies { // of one thread
    emu_async_copy *list;
    int first, count, capacity; // list[first...count-1] are unfinished
    unsigned commits;
    uint64_t run; // of the block that they belong to
} emu_async_copies;

static void free_copies(void *pointer) {
    emu_async_copies *copies = pointer;
    for (int id = 0; id < EMU_MAX_THREADS; ++id) free(copies[id].list);
    free(copies);
}

static _Noreturn void no_memory(void) {
    emu_block_fail(NULL, 0, "this computer has no memory left for asynchronous copies");
}

// The calling thread's. Those of a block that ran before are dropped.
static emu_async_copies *own_copies(void) {
    emu_block *block = emu_current;
    emu_async_copies *all = emu_block_service(block, EMU_COPIES, EMU_MAX_THREADS * sizeof *all, free_copies);
    emu_async_copies *own = &all[block->current->id];
    if (own->run != block->runs) {
        own->run = block->runs;
        own->first = own->count = 0;
        own->commits = 0;
    }
    return own;
}

static void tell_accesses(const emu_where *at, const emu_async_copy *copy, uint64_t operation, unsigned pending) {
    emu_tool_access(at, copy->global, copy->read, EMU_READS | pending, EMU_BY_COPY, operation);
    emu_tool_access(at, copy->shared, copy->bytes, EMU_WRITES | pending, EMU_BY_COPY, operation);
}

static __attribute__((noinline)) void tell_begin(emu_async_copy *copy, const char *file, int line) {
    emu_block *block = emu_current;
    const emu_where at = emu_tool_where(block, file, line, NULL);
    const uint64_t operation = emu_tool_new_operation(block);
    copy->operation = block->operations;
    emu_tool_begin(&at, EMU_BY_COPY, operation, NULL);
    tell_accesses(&at, copy, operation, EMU_PENDING);
}

static __attribute__((noinline)) void tell_end(const emu_where *at, const emu_async_copy *copy) {
    const uint64_t operation = emu_tool_operation(emu_current, copy->operation);
    tell_accesses(at, copy, operation, 0);
    emu_tool_end(at, EMU_BY_COPY, operation);
}

static void tell_misaligned(const void *shared, const void *global, unsigned bytes, const char *file, int line) {
    if (!emu_current->tool) return;
    const emu_where at = emu_tool_where(emu_current, file, line, NULL);
    if ((uintptr_t)global % bytes) emu_tool_access(&at, global, bytes, EMU_READS | EMU_MISALIGNED, EMU_BY_THREAD, 0);
    if ((uintptr_t)shared % bytes) emu_tool_access(&at, shared, bytes, EMU_WRITES | EMU_MISALIGNED, EMU_BY_THREAD, 0);
}

void emu_copy_async(void *shared, const void *global, int bytes, int read, const char *file, int line) {
    emu_async_copies *copies = own_copies();
    if (read < 0 || read > bytes)
        emu_block_fail(file, line, "cp.async of %d bytes can read 0 to %d bytes, not %d", bytes, bytes, read);
    if ((uintptr_t)shared % (unsigned)bytes || (uintptr_t)global % (unsigned)bytes) {
        tell_misaligned(shared, global, (unsigned)bytes, file, line);
        emu_block_fail_as(cudaErrorMisalignedAddress, file, line,
                          "cp.async of %d bytes requires addresses that are multiples of %d; shared %p, global %p",
                          bytes, bytes, shared, global);
    }
    if (copies->count == copies->capacity) {
        const int capacity = copies->capacity ? 2 * copies->capacity : 32;
        emu_async_copy *list = realloc(copies->list, (size_t)capacity * sizeof *list);
        if (!list) no_memory();
        copies->list = list;
        copies->capacity = capacity;
    }
    copies->list[copies->count++] = (emu_async_copy){.shared = shared,
                                                     .global = global,
                                                     .bytes = (unsigned)bytes,
                                                     .read = (unsigned)read,
                                                     .group = copies->commits};
    if (EMU_UNLIKELY(emu_current->tool != NULL)) tell_begin(&copies->list[copies->count - 1], file, line);
    memset(shared, 0xff, (size_t)bytes);
}

void emu_copy_async_commit(void) {
    ++own_copies()->commits;
    if (EMU_UNLIKELY(emu_current->tool != NULL)) {
        const emu_where at = emu_tool_where(emu_current, NULL, 0, __builtin_return_address(0));
        emu_tool_async(&at, (emu_async_event){.stage = EMU_ASYNC_COMMITS, .by = EMU_BY_COPY});
    }
}

void emu_copy_async_wait(int groups) {
    emu_async_copies *copies = own_copies();
    const int is_watched = emu_current->tool != NULL;
    emu_where at;
    if (EMU_UNLIKELY(is_watched)) {
        at = emu_tool_where(emu_current, NULL, 0, __builtin_return_address(0));
        emu_tool_async(&at, (emu_async_event){.stage = EMU_ASYNC_WAITS, .by = EMU_BY_COPY, .groups = groups});
    }
    while (copies->first < copies->count) {
        const emu_async_copy *copy = &copies->list[copies->first];
        if (copy->group + (unsigned)groups >= copies->commits) return;
        if (copy->read) memcpy(copy->shared, copy->global, copy->read);
        memset((char *)copy->shared + copy->read, 0, copy->bytes - copy->read);
        if (EMU_UNLIKELY(is_watched)) tell_end(&at, copy);
        ++copies->first;
    }
    copies->first = copies->count = 0;
}
