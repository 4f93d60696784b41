// malloc, free, new and delete in kernels: a heap of fixed size, which all emulated devices share.
//
//   memory   | guard page | block | block | free block | block | guard page |
//   size[]   of the block that begins at a unit, negative if it is free; 0 where no block begins
//   first[]  where the block begins that ends at a unit
//
// A unit is 16 bytes. The tables are beside the memory, so a kernel that writes beyond a block cannot break them.
// Invariants: blocks cover the whole heap, no two free blocks are adjacent, and free blocks form a ring, which begins
// and ends at `units`.
#define _GNU_SOURCE
#include "block.h"
#include "host.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { UNIT = 16, GUARD = 1 << 16 }; // GUARD: a multiple of every system's page

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t limit = 8 << 20; // bytes
static struct {
    char *memory; // NULL: no kernel has called malloc yet
    uint32_t units, search;
    int32_t *size;
    uint32_t *first, *next, *before;
} heap;

static void *reserve(size_t bytes) {
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

static void set_block(uint32_t at, uint32_t units, int is_free) {
    heap.size[at] = is_free ? -(int32_t)units : (int32_t)units;
    heap.first[at + units - 1] = at;
}
static void link_block(uint32_t at) {
    const uint32_t next = heap.next[heap.units];
    heap.next[at] = next, heap.before[at] = heap.units;
    heap.next[heap.units] = heap.before[next] = at;
}
static void unlink_block(uint32_t at) {
    if (heap.search == at) heap.search = heap.next[at];
    heap.next[heap.before[at]] = heap.next[at];
    heap.before[heap.next[at]] = heap.before[at];
}

static int begin(void) { // lock held; 0 if there is no memory for the heap
    const size_t units = limit / UNIT, entries = units + 1;
    char *memory = reserve(limit + 2 * GUARD);
    uint32_t *tables = reserve(4 * entries * sizeof(uint32_t));
    if (!memory || !tables) {
        if (memory) munmap(memory, limit + 2 * GUARD);
        if (tables) munmap(tables, 4 * entries * sizeof(uint32_t));
        return 0;
    }
    mprotect(memory, GUARD, PROT_NONE);
    mprotect(memory + GUARD + limit, GUARD, PROT_NONE);
    heap.memory = memory + GUARD;
    heap.units = heap.search = (uint32_t)units;
    heap.size = (int32_t *)tables;
    heap.first = tables + entries, heap.next = tables + 2 * entries, heap.before = tables + 3 * entries;
    heap.next[units] = heap.before[units] = (uint32_t)units;
    set_block(0, (uint32_t)units, 1);
    link_block(0);
    return 1;
}

// The block is cut from the end of the first free block, after the one of the last search, that is large enough.
static void *allocate(size_t bytes) { // lock held
    if (bytes > limit || (!heap.memory && !begin())) return NULL;
    const uint32_t units = bytes ? (uint32_t)((bytes + UNIT - 1) / UNIT) : 1;
    uint32_t at = heap.search;
    while (at == heap.units || (uint32_t)-heap.size[at] < units) {
        at = heap.next[at];
        if (at == heap.search) return NULL;
    }
    const uint32_t rest = (uint32_t)-heap.size[at] - units;
    heap.search = at;
    if (rest)
        set_block(at, rest, 1);
    else
        unlink_block(at);
    set_block(at + rest, units, 0);
    return heap.memory + (size_t)(at + rest) * UNIT;
}

static int release(const void *pointer) { // lock held; 0 if malloc has not returned that address
    const size_t offset = (size_t)((const char *)pointer - heap.memory);
    uint32_t at = (uint32_t)(offset / UNIT);
    if (offset % UNIT || heap.size[at] <= 0) return 0;
    uint32_t units = (uint32_t)heap.size[at], after = at + units;
    heap.size[at] = 0;
    if (after < heap.units && heap.size[after] < 0) {
        unlink_block(after);
        units += (uint32_t)-heap.size[after];
        heap.size[after] = 0;
    }
    const uint32_t left = at ? heap.first[at - 1] : 0;
    if (at && heap.size[left] < 0) {
        unlink_block(left);
        units += at - left;
        at = left;
    }
    set_block(at, units, 1);
    link_block(at);
    return 1;
}

int emu_in_kernel(void) {
    return emu_current && emu_current->current;
}

const emu_grid_launch *emu_grid_running(void) {
    return emu_in_kernel() ? emu_current->grid->launch : NULL;
}

static int contains(const void *pointer) {
    return heap.memory && (uintptr_t)pointer - (uintptr_t)heap.memory < limit;
}

uintptr_t emu_heap_block_after(uintptr_t address, size_t *bytes) {
    uintptr_t found = 0;
    pthread_mutex_lock(&lock);
    for (uint32_t at = 0; heap.memory && at < heap.units && !found;) {
        const int32_t units = heap.size[at];
        const uintptr_t begin = (uintptr_t)heap.memory + (size_t)at * UNIT;
        if (units > 0 && begin > address) {
            found = begin;
            *bytes = (size_t)units * UNIT;
        }
        at += (uint32_t)(units < 0 ? -units : units);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

// Reports that the current thread has allocated the block, or frees it.
static void tell(const void *block, size_t bytes, int is_new, const void *after) {
    if (!emu_current->tool) return;
    const emu_where at = emu_tool_where(emu_current, NULL, 0, after);
    const emu_memory_event event = {
        .address = (uintptr_t)block, .bytes = bytes, .kind = EMU_MEMORY_HEAP, .device = -1, .at = &at};
    (is_new ? emu_tool_allocate : emu_tool_release_memory)(&event);
}

void *emu_heap_malloc(size_t bytes) {
    return emu_heap_malloc_at(bytes, __builtin_return_address(0));
}

void *emu_heap_malloc_at(size_t bytes, const void *after) {
    pthread_mutex_lock(&lock);
    void *block = allocate(bytes);
    pthread_mutex_unlock(&lock);
    if (block) memset(block, 0xff, bytes); // NaN or -1 reveals reads of unwritten memory
    if (block) tell(block, bytes, 1, after);
    return block;
}

void emu_heap_free(void *pointer) {
    emu_heap_free_at(pointer, __builtin_return_address(0));
}

void emu_heap_free_at(void *pointer, const void *after) {
    if (!pointer) return;
    tell(pointer, 0, 0, after);
    pthread_mutex_lock(&lock);
    const int released = contains(pointer) && release(pointer);
    pthread_mutex_unlock(&lock);
    if (released) return;
    emu_block_fail(
        NULL, 0,
        "free and delete take an address that malloc or new has returned in a kernel, and only once; this one "
        "was called with %p, which %s",
        pointer,
        contains(pointer) ? "is not the start of a block, or has been freed before"
                          : "is not in the heap of kernels");
}

void emu_heap_fork(emu_fork stage) {
    emu_fork_lock(stage, &lock);
}

void emu_heap_drop(void) {
    pthread_mutex_lock(&lock);
    if (heap.memory) {
        munmap(heap.memory - GUARD, limit + 2 * GUARD);
        munmap(heap.size, 4 * ((size_t)heap.units + 1) * sizeof(uint32_t));
        memset(&heap, 0, sizeof heap);
    }
    pthread_mutex_unlock(&lock);
}

size_t emu_heap_limit(void) {
    return limit;
}

int emu_heap_set_limit(size_t bytes) {
    if (bytes > (size_t)16 << 30)
        return emu_error(cudaErrorInvalidValue,
                         "cudaDeviceSetLimit: the heap of kernels has at most 16 GiB, not %zu bytes", bytes);
    pthread_mutex_lock(&lock);
    const int begun = heap.memory != NULL;
    if (!begun) limit = bytes < GUARD ? GUARD : (bytes + GUARD - 1) / GUARD * GUARD;
    pthread_mutex_unlock(&lock);
    if (!begun) return cudaSuccess;
    return emu_error(
        cudaErrorInvalidValue,
        "cudaDeviceSetLimit: the size of the heap of kernels can be set only before a kernel first calls "
        "malloc or new");
}
