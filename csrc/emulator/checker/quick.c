// Nearly all accesses are no mistakes: these are recognized here, without the events of the core.
//
//   a load or store --> in a page that is known, of bytes that the launch may access? (else: on the thread's stack?)
//                       do its four bytes have values, and did those who accessed them last come before a barrier?
//                             |                                        |
//                            yes: recorded                            no, or a rare case: emu_access(), rules.c
//
// Both record the same. A cell of single bytes, or one that was written atomically, is a rare case. Of several
// readers since the last barrier, two remain, of two warps if there are such (rules.c says why), or one that is of
// another block.
#include <string.h>

#include "checker.h"

extern __thread emu_dim3 emu_threadIdx __attribute__((tls_model("initial-exec")));

enum { SITES = 1 << 12 };

static struct {
    uint32_t first, threads, known, begin; // of the block; stamps before `begin` are of earlier launches
    unsigned width, height;
    const block_state *block;
} now;

static struct {
    const void *after;
    unsigned kind, bytes, number;
} sites[SITES];

static inline unsigned site_at(const void *after, unsigned kind, size_t bytes) {
    const size_t i = ((uintptr_t)after ^ (uintptr_t)after >> 12) % SITES;
    if (sites[i].after != after || sites[i].kind != kind || sites[i].bytes != bytes) {
        const emu_where at = {.code = (uintptr_t)after - 1};
        sites[i].after = after, sites[i].kind = kind, sites[i].bytes = (unsigned)bytes;
        sites[i].number = site_number(&at, kind, bytes);
    }
    return sites[i].number;
}

// Whether the access of a record came before: of an earlier launch, of this thread, of the block before its barrier.
static inline int is_before(const cell *in, int record, uint32_t me) {
    const uint32_t who = in->who[record], stamp = in->stamp[record];
    return stamp < now.begin || who == me || (who - now.first < now.threads && stamp < now.known);
}

static inline void put(cell *in, int record, uint32_t me, const void *after, unsigned kind, size_t bytes) {
    in->who[record] = me;
    in->stamp[record] = checker_stamp;
    in->site[record] = (uint16_t)site_at(after, kind, bytes);
}

// Whether two readers that remain are of one warp of the block, and the thread is of another one.
static inline int is_farther(const cell *in, uint32_t me) {
    const uint32_t one = in->who[READ] - now.first, other = in->who[OTHER_READ] - now.first;
    return one < now.threads && other < now.threads && one / 32 == other / 32 && (me - now.first) / 32 != one / 32;
}

// Whether this was all; else nothing has changed.
static inline int reads(cell *in, uint32_t me, const void *after, size_t bytes) {
    if (in->masks != ALL_MASKS || in->site[WRITE] >= ATOMIC_SITES || !is_before(in, WRITE, me)) return 0;
    for (int r = READ; r <= OTHER_READ; ++r)
        if (is_before(in, r, me)) {
            if (in->who[r] != me || in->stamp[r] != checker_stamp) put(in, r, me, after, EMU_READS, bytes);
            return 1;
        }
    if (is_farther(in, me)) put(in, OTHER_READ, me, after, EMU_READS, bytes);
    return 1;
}

static inline int may_write(const cell *in, uint32_t me) {
    return (in->masks & NO_VALUE) == NO_VALUE && in->site[WRITE] < ATOMIC_SITES && is_before(in, WRITE, me) &&
           is_before(in, READ, me) && is_before(in, OTHER_READ, me);
}

static inline uint32_t current_thread(void) {
    return emu_threadIdx.x + now.width * (emu_threadIdx.y + now.height * emu_threadIdx.z);
}

static inline int is_there(const cached_page *page, uintptr_t address, size_t bytes) {
    return page->number == address >> PAGE_SHIFT && page->launch == shadow_launch && page->cells &&
           address >= page->may.begin && address + bytes <= page->may.end && !(address & (bytes - 1));
}

static __attribute__((noinline)) void any_access(const void *pointer, size_t bytes, unsigned kind,
                                                 const void *after) {
    const uintptr_t address = (uintptr_t)pointer;
    const uint32_t thread = current_thread();
    const cached_page *const page = &shadow_cached[(address >> PAGE_SHIFT) % CACHED_PAGES];
    const uint32_t me = now.first + thread;
    const size_t count = bytes / GRAIN;
    int quick = is_there(page, address, bytes) && count * GRAIN == bytes;
    if (!quick && emu_is_local(pointer) && !now.block->thread[thread].sums_count) return;
    if (quick) {
        cell *const cells = &page->cells[address % PAGE_BYTES / GRAIN];
        if (kind == EMU_READS) {
            for (size_t i = 0; i < count && quick; ++i) quick = reads(&cells[i], me, after, bytes);
        } else if (kind == EMU_WRITES) {
            for (size_t i = 0; i < count; ++i) quick &= may_write(&cells[i], me);
            for (size_t i = 0; i < count && quick; ++i) {
                put(&cells[i], WRITE, me, after, EMU_WRITES, bytes);
                cells[i].stamp[READ] = cells[i].stamp[OTHER_READ] = 0;
                cells[i].masks = ALL_MASKS;
            }
        } else {
            quick = 0;
        }
    }
    if (!quick) emu_access(pointer, bytes, kind, after);
}

// The most frequent access, a load of four bytes of which nothing new is to be recorded, without saving registers.
static void access(const void *pointer, size_t bytes, unsigned kind, const void *after) {
    const uintptr_t address = (uintptr_t)pointer;
    const cached_page *const page = &shadow_cached[(address >> PAGE_SHIFT) % CACHED_PAGES];
    if (bytes == GRAIN && kind == EMU_READS && is_there(page, address, GRAIN)) {
        const cell *const in = &page->cells[address % PAGE_BYTES / GRAIN];
        const uint32_t me = now.first + current_thread();
        if (in->masks == ALL_MASKS && in->site[WRITE] < ATOMIC_SITES && is_before(in, WRITE, me)) {
            const int before = is_before(in, READ, me), other_before = is_before(in, OTHER_READ, me);
            if (before && in->who[READ] == me && in->stamp[READ] == checker_stamp) return;
            if (!before && !other_before && !is_farther(in, me)) return;
        }
    }
    any_access(pointer, bytes, kind, after);
}

void quick_begin(const block_state *block) {
    const emu_dim3 shape = block->event->launch->block;
    now.first = block->first;
    now.threads = checker_launch.threads;
    now.known = block->known;
    now.begin = checker_launch.begin;
    now.width = shape.x;
    now.height = shape.y;
    now.block = block;
    emu_direct = access;
}

void quick_end(void) {
    emu_direct = NULL;
}

void quick_clear(void) {
    memset(sites, 0, sizeof sites);
}

void quick_known(uint32_t known) {
    now.known = known;
}
