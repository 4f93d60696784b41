// Regions: the memory behind a device allocation, in a mapping of its own, away from the process's heap.
//
//   low                      data                  data + bytes           end
//   [canaries, 256 to 1024]  [the allocation ....] [slack: canaries]  [guard page: any access is a fault]
//                            multiple of 256        less than 256
//
// Guard pages split mappings, of which a process may have 65,530 by default. Beyond a quarter of them, a region ends
// in 256 more bytes of canaries instead.
//
// A freed region is kept as a spare for the next allocation of a similar size, because new pages cost more than a
// kernel on small arrays. Its first PROTECTED bytes become 0xFF, so that its old values are not read by mistake. If
// it is still free when the host has waited and then a kernel begins, they become inaccessible. (A program that
// allocates and frees for each of its kernels needs no system calls, and one that frees many regions at once only a
// few.)
//
//   spares:  oldest ... | the last AT_ONCE are protected | settled_count: freed before the last wait ... |
//   spare_count
//
// A canary's value depends on its address, so that it changes even if it is overwritten by another one, and most
// canaries change in arithmetic: three of four floats, and every other double, are signaling NaN, and the rest NaN or
// 1e305.
#define _GNU_SOURCE
#include "region.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host.h"

#define UNCHECKED __attribute__((no_sanitize("address"))) // for functions that access canaries

enum { GRAIN = EMU_GRAIN, SPARES = 1024, PROTECTED = 64 << 10, AT_ONCE = 32, FRONT = 1024 };
enum { CLOSED = 1 << 20 }; // bytes that emu_region_close() concerns
static const size_t SPARE_TOTAL = (size_t)128 << 20;

static pthread_mutex_t lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static struct {
    emu_region region;
    int is_protected;
} spares[SPARES]; // oldest first
static size_t spare_count, spare_bytes, settled_count;
static atomic_int to_settle;  // spares were freed since the last wait
static atomic_int to_protect; // there are settled spares that were not considered yet
static int guards;
enum { FIRST_PLACE_BITS = 45 }; // no system puts mappings there by itself; where there is no such place: anywhere
static uintptr_t next_place;    // where the next region is mapped; 0: anywhere

void emu_region_fork(emu_fork stage) {
    emu_fork_lock(stage, &lock);
}

// A program that AddressSanitizer has instrumented stops at canaries, too. NULL: there is no such program.
void __asan_poison_memory_region(const volatile void *, size_t) __attribute__((weak));
void __asan_unpoison_memory_region(const volatile void *, size_t) __attribute__((weak));

static void poison(const char *from, const char *to) {
    if (__asan_poison_memory_region && to > from) __asan_poison_memory_region(from, (size_t)(to - from));
}
static void unpoison(const char *from, const char *to) {
    if (__asan_unpoison_memory_region) __asan_unpoison_memory_region(from, (size_t)(to - from));
}

// --- Canaries
// --------------------------------------------------------------------------------------------------------

typedef struct pair { // the canaries of 16 bytes
    uint64_t word[2];
} pair;

static inline pair canaries(uintptr_t address) {
    const uint32_t number = (uint32_t)(address >> 4) * 0x9e3779b1u; // its last bits depend on few bits of the address
    const uint64_t low = 0x7fa00000 | number >> 11 | (number & 1 << 10) << 21;
    const uint64_t high = number >> 14 | (number & 1 << 9) << 22;
    return (pair){{(high | 0x7fa00000) << 32 | low, (high | 0x7ff40000) << 32 | low}};
}

static inline char canary(const char *at) {
    const uintptr_t address = (uintptr_t)at;
    return (char)(canaries(address).word[address / 8 % 2] >> (8 * (address % 8)));
}

UNCHECKED void emu_canaries_write(char *from, char *to) {
    for (; from < to && (uintptr_t)from % 16; ++from) *from = canary(from);
    for (; from < to; from += 16) {
        const pair now = canaries((uintptr_t)from);
        ((uint64_t *)from)[0] = now.word[0];
        ((uint64_t *)from)[1] = now.word[1];
    }
}

UNCHECKED const char *emu_canaries_check(const char *from, const char *to, size_t *count) {
    const char *first = NULL, *last = NULL;
    while (from < to) {
        const char *end = from + 1;
        if ((uintptr_t)from % 16 == 0) {
            const pair now = canaries((uintptr_t)from);
            const uint64_t *there = (const uint64_t *)from;
            end = from + 16;
            if (__builtin_expect(there[0] == now.word[0] && there[1] == now.word[1], 1)) from = end;
        }
        for (; from < end; ++from)
            if (*from != canary(from)) first = first ? first : from, last = from;
    }
    *count = first ? (size_t)(last - first) + 1 : 0;
    return first;
}

// --- Regions
// ---------------------------------------------------------------------------------------------------------

static size_t page(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}
static size_t up_to(size_t bytes, size_t multiple) {
    return (bytes + multiple - 1) / multiple * multiple;
}

static char *end_of(const emu_region *region) { // of the mapping
    return region->low + region->room + (region->guarded ? page() : 0);
}

static char *front(const emu_region *region) { // where the canaries before the allocation begin
    return region->data - region->low < FRONT ? region->low : region->data - FRONT;
}

static void place(emu_region *region, size_t bytes) { // the allocation in the region
    const size_t behind = up_to(bytes, GRAIN) + (region->guarded ? 0 : GRAIN);
    char *data = region->low + region->room - behind;
    if (data == region->data && bytes == region->bytes) return; // the canaries are there
    region->data = data;
    region->bytes = bytes;
    emu_canaries_write(front(region), data);
    emu_canaries_write(data + bytes, region->low + region->room);
}

static void unmap(const emu_region *region) { // lock held
    unpoison(region->low, end_of(region));
    munmap(region->low, (size_t)(end_of(region) - region->low));
    guards -= region->guarded;
}

static emu_region remove_spare(size_t i) { // lock held
    const emu_region region = spares[i].region;
    spare_bytes -= region.room;
    memmove(&spares[i], &spares[i + 1], (--spare_count - i) * sizeof *spares);
    settled_count -= i < settled_count;
    return region;
}

static int protect(const emu_region *region, size_t most, int how) {
    const size_t bytes = up_to((size_t)(region->data - region->low) + most, page());
    return mprotect(region->low, region->room < bytes ? region->room : bytes, how);
}

int emu_region_close(const emu_region *region, int closed) {
    return protect(region, CLOSED, closed ? PROT_NONE : PROT_READ | PROT_WRITE);
}

void emu_region_set_apart(void) {
    pthread_mutex_lock(&lock);
    next_place = (uintptr_t)1 << FIRST_PLACE_BITS;
    pthread_mutex_unlock(&lock);
}

const char *emu_region_explain(const void *outside) {
    pthread_mutex_lock(&lock);
    const uintptr_t end = next_place, at = (uintptr_t)outside;
    pthread_mutex_unlock(&lock);
    return !end                                                 ? "was never allocated or has been freed"
           : at >= (uintptr_t)1 << FIRST_PLACE_BITS && at < end ? "has been freed"
                                                                : "is memory of the host";
}

void emu_region_settle_spares(void) {
    if (!to_settle) return;
    pthread_mutex_lock(&lock);
    settled_count = spare_count;
    to_settle = 0;
    to_protect = 1;
    pthread_mutex_unlock(&lock);
}

void emu_region_protect_spares(void) {
    if (!to_protect) return;
    pthread_mutex_lock(&lock);
    for (size_t i = settled_count; i-- > 0 && settled_count - i <= AT_ONCE;)
        if (!spares[i].is_protected) spares[i].is_protected = !protect(&spares[i].region, PROTECTED, PROT_NONE);
    to_protect = 0;
    pthread_mutex_unlock(&lock);
}

static int take_spare(emu_region *region, size_t bytes) { // lock held
    for (size_t i = spare_count; i-- > 0;) {
        if (!spares[i].region.guarded && guards < emu_guard_pages()) continue; // a new region gets a guard page
        const size_t behind = up_to(bytes, GRAIN) + (spares[i].region.guarded ? 0 : GRAIN);
        if (spares[i].region.room != up_to(behind + GRAIN, page())) continue;
        const int is_protected = spares[i].is_protected;
        *region = remove_spare(i);
        if (!is_protected || !protect(region, PROTECTED, PROT_READ | PROT_WRITE)) return 1;
        unmap(region);
    }
    return 0;
}

static int map(emu_region *region, size_t bytes) {       // lock held
    while (guards >= emu_guard_pages() && spare_count) { // allocations need the guard pages more than spares do
        const emu_region oldest = remove_spare(0);
        unmap(&oldest);
    }
    for (int guarded = guards < emu_guard_pages(); guarded >= 0; --guarded) {
        const size_t room = up_to(up_to(bytes, GRAIN) + GRAIN + (guarded ? 0 : GRAIN), page());
        *region = (emu_region){.room = room, .guarded = guarded};
        const size_t all = room + (guarded ? page() : 0);
        void *const place = (void *)next_place;
        region->low = mmap(place, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (region->low == MAP_FAILED) return -1;
        if (place) next_place += all;
        guards += guarded;
        if (guarded && mprotect(region->low + room, page(), PROT_NONE)) {
            unmap(region); // too many mappings: try again without a guard page
            continue;
        }
        // Otherwise the guard page would be merged with a protected spare and be split off again, which takes three
        // times as long as changing the protection alone.
        if (guarded) madvise(region->low + room, page(), MADV_DONTDUMP);
        return 0;
    }
    return -1;
}

int emu_region_create(emu_region *region, size_t bytes) {
    if (bytes > SIZE_MAX / 2) return -1;
    pthread_mutex_lock(&lock);
    const int failed = !take_spare(region, bytes) && map(region, bytes);
    pthread_mutex_unlock(&lock);
    if (failed) return -1;
    unpoison(region->low, end_of(region));
    place(region, bytes);
    poison(region->low, region->data);
    poison(region->data + bytes, end_of(region));
    return 0;
}

void emu_region_destroy(const emu_region *region) {
    memset(region->data, 0xFF, region->bytes < PROTECTED ? region->bytes : PROTECTED);
    poison(region->low, end_of(region));
    pthread_mutex_lock(&lock);
    if (region->room > SPARE_TOTAL / 2) {
        unmap(region);
    } else {
        while (spare_count == SPARES || spare_bytes + region->room > SPARE_TOTAL) {
            const emu_region oldest = remove_spare(0);
            unmap(&oldest);
        }
        spares[spare_count].is_protected = 0;
        spares[spare_count++].region = *region;
        spare_bytes += region->room;
        to_settle = 1;
    }
    pthread_mutex_unlock(&lock);
}

void emu_region_drop_spares(void) {
    pthread_mutex_lock(&lock);
    while (spare_count) {
        const emu_region region = remove_spare(spare_count - 1);
        unmap(&region);
    }
    pthread_mutex_unlock(&lock);
}

size_t emu_region_was_freed(uintptr_t address) {
    size_t bytes = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < spare_count; ++i)
        if (address - (uintptr_t)spares[i].region.data < spares[i].region.bytes) bytes = spares[i].region.bytes;
    pthread_mutex_unlock(&lock);
    return bytes;
}

int emu_region_damage(const emu_region *region, ptrdiff_t *offset, size_t *count) {
    char *end = region->low + region->room, *behind = region->data + region->bytes;
    const char *first = emu_canaries_check(behind, end, count);
    if (!first) first = emu_canaries_check(front(region), region->data, count);
    if (!first) return 0;
    *offset = first - region->data;
    emu_canaries_write(front(region), region->data);
    emu_canaries_write(behind, end);
    return 1;
}
