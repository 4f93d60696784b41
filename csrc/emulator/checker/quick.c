// Nearly all accesses are no mistakes: these are recognized here, without the events of the core.
//
//   callbacks.cpp: a load or store --> of the thread's stack, or in a line with the right tag? (yes: not heard of)
//        access() --> in a page that is known, of bytes that the launch may access?
//                     do its cells have values, and did those who accessed them last come before?
//                             |                                        |
//                            yes: recorded                            no, or a rare case: emu_access(), rules.c
//
// Both record the same, so findings are those of rules.c alone. A part of a cell that concerns four bytes, or a cell
// that was written atomically, is a rare case. Of several readers since the last barrier, two remain, as far from
// each other as possible (rules.c). When these are there, further reads change nothing: the line gets a tag.
//
// Invariant: a line has a tag of now (direct.for_launch, for_block and following) only while no read by those whom
// it concerns would change its cells. A write changes a cell with two such reads only by way of rules.c, which clears
// the tag; whatever else concerns tags begins new ones: quick_forget(), quick_new_launch().
#include <string.h>

#include "checker.h"

enum { SITES = 1 << 12 };

static struct {
    uint32_t first, threads, known, begin; // of the block; stamps before `begin` are known to all blocks
    struct {
        uintptr_t begin;
        size_t bytes;
    } arguments, core; // of the launch; variables of the emulator
    int alone;         // no other block has begun that has not ended
    const block_state *block;
} now;
int quick_is_wanted = 1;
static emu_direct direct = {.pages = shadow_pages};

static struct {
    const void *after;
    uint16_t kind, bytes;
    unsigned number;
} sites[SITES];

static inline unsigned site_at(const void *after, unsigned kind, size_t bytes) {
    const size_t i = ((uintptr_t)after ^ (uintptr_t)after >> 12) % SITES;
    if (sites[i].after != after || sites[i].kind != kind || sites[i].bytes != bytes) {
        const emu_where at = {.code = (uintptr_t)after - 1};
        sites[i].after = after, sites[i].kind = (uint16_t)kind, sites[i].bytes = (uint16_t)bytes;
        sites[i].number = site_number(&at, kind, bytes);
    }
    return sites[i].number;
}

// Whether the access of a record came before: of an earlier launch, of this thread, of the block before its barrier,
// or of others of which the thread has learned.
static inline int is_before(const cell *in, int record, uint32_t me) {
    const uint32_t who = in->who[record], stamp = in->stamp[record];
    if (stamp < now.begin || who == me || (who - now.first < now.threads && stamp < now.known)) return 1;
    const unsigned thread = me - now.first, other = who - now.first;
    if (other < now.threads && other / 32 == thread / 32 && stamp < now.block->warps[thread / 32]) return 1;
    return (now.block->acquired || now.block->thread[thread].acquired) && block_knows(now.block, thread, who, stamp);
}

static inline void put(cell *in, int record, uint32_t me, const void *after, unsigned kind, size_t bytes) {
    in->who[record] = me;
    in->stamp[record] = checker_stamp;
    in->site[record] = (uint16_t)site_at(after, kind, bytes);
}

// Whether the thread takes the place of the other reader, because it is farther away from the first one (rules.c).
static inline int is_farther(const cell *in, uint32_t me) {
    const uint32_t one = in->who[READ] - now.first, other = in->who[OTHER_READ] - now.first;
    if (one >= now.threads) return quick_distance(in->who[READ], in->who[OTHER_READ]) < 2;
    return other < now.threads && one / 32 == other / 32 && (me - now.first) / 32 != one / 32;
}

// Whether this was all: RECORDED, or there was nothing to record; else nothing has changed. `masks`: of the cell.
enum { RECORDED = 1, NOTHING_NEW };
static inline int reads(cell *in, unsigned masks, uint32_t me, const void *after, size_t bytes) {
    if (in->masks != masks || in->site[WRITE] >= ATOMIC_SITES || !is_before(in, WRITE, me)) return 0;
    for (int r = READ; r <= OTHER_READ; ++r)
        if (is_before(in, r, me)) {
            if (in->who[r] == me && in->stamp[r] == checker_stamp && in->site[r] < ATOMIC_SITES) return RECORDED;
            put(in, r, me, after, EMU_READS, bytes);
            return RECORDED;
        }
    if (!is_farther(in, me)) return NOTHING_NEW;
    put(in, OTHER_READ, me, after, EMU_READS, bytes);
    return RECORDED;
}

static inline int may_write(const cell *in, unsigned masks, uint32_t me) {
    return ((in->masks ^ masks) & NO_VALUE) == 0 && in->site[WRITE] < ATOMIC_SITES && is_before(in, WRITE, me) &&
           is_before(in, READ, me) && is_before(in, OTHER_READ, me);
}

static inline void writes(cell *in, unsigned masks, uint32_t me, const void *after, size_t bytes) {
    put(in, WRITE, me, after, EMU_WRITES, bytes);
    in->stamp[READ] = in->stamp[OTHER_READ] = 0;
    in->masks = (uint16_t)masks;
}

// Whether the warp, the whole block, or all blocks of the launch may read the cell with nothing new to be recorded:
// the write came before, and two reads remain, which no thread of these replaces by its own.
enum { FOR_NONE, FOR_WARP, FOR_BLOCK, FOR_LAUNCH };
static inline int settled(const cell *in, uint32_t me) {
    const uint32_t one = in->who[READ] - now.first, other = in->who[OTHER_READ] - now.first;
    if (in->masks != ALL_MASKS || one == other) return FOR_NONE;
    for (int r = WRITE; r < RECORDS; ++r) {
        const uint32_t stamp = in->stamp[r];
        if (in->site[r] >= ATOMIC_SITES) return FOR_NONE;
        const int in_block = in->who[r] - now.first < now.threads;
        const int is_old = stamp < now.begin || (in_block && stamp < now.known);
        if (r == WRITE ? !is_old : is_old || (in_block && stamp != checker_stamp)) return FOR_NONE;
    }
    if (one < now.threads && other < now.threads && one / 32 == other / 32)
        return one / 32 == (me - now.first) / 32 ? FOR_WARP : FOR_NONE;
    if (one < now.threads || other < now.threads) return FOR_BLOCK;
    if (quick_distance(in->who[READ], in->who[OTHER_READ]) < 2) return FOR_NONE;
    return now.alone && in->stamp[WRITE] < now.begin ? FOR_LAUNCH : FOR_BLOCK;
}

// Sets the tag of a line of which a cell has been read.
static __attribute__((noinline)) void set_tag(const cached_page *page, uintptr_t address, uint32_t me) {
    int by = settled(&page->cells[address % PAGE_BYTES / GRAIN], me);
    const uintptr_t begin = address & ~(uintptr_t)(EMU_LINE - 1);
    if (by == FOR_NONE || begin < page->may.begin || begin + EMU_LINE > page->may.end) return;
    if (by == FOR_LAUNCH && !page->may.of_launch) by = FOR_BLOCK;
    const cell *const cells = &page->cells[begin % PAGE_BYTES / GRAIN];
    for (int i = EMU_LINE / GRAIN; by != FOR_NONE && i-- > 0;) {
        const int here = settled(&cells[i], me);
        if (here < by) by = here;
    }
    if (by == FOR_NONE) return;
    *shadow_tag(address) = by == FOR_LAUNCH  ? direct.for_launch
                           : by == FOR_BLOCK ? direct.for_block
                                             : direct.for_block + 1 + (me - now.first) / 32;
}

static inline int is_there(const cached_page *page, uintptr_t address, size_t bytes) {
    return page->number == address >> PAGE_SHIFT && page->launch == shadow_launch && page->cells &&
           address >= page->may.begin && address + bytes <= page->may.end && !(address & (bytes - 1));
}

// An access of the cells of words, or of single bytes.
typedef struct span {
    cell *of[16];
    unsigned masks[16];
    int count;
} span;

// 0: a part of a cell that concerns four bytes.
static inline int find_cells(span *to, const cached_page *page, uintptr_t address, size_t bytes) {
    to->count = 0;
    for (const uintptr_t end = address + bytes; address < end;) {
        cell *const in = &page->cells[address % PAGE_BYTES / GRAIN];
        if (in->site[WRITE] != IN_BYTES) {
            if (address % GRAIN || end - address < GRAIN) return 0;
            to->of[to->count] = in;
            to->masks[to->count++] = ALL_MASKS;
            address += GRAIN;
            continue;
        }
        cell *const single = shadow_bytes(in);
        for (unsigned i = address % GRAIN; i < GRAIN && address < end; ++i, ++address) {
            to->of[to->count] = &single[i];
            to->masks[to->count++] = ALL_MASKS & 0x1111u << i;
        }
    }
    return 1;
}

static int read_all(const span *all, uint32_t me, const void *after, size_t bytes) {
    int last = NOTHING_NEW;
    for (int i = 0; i < all->count; ++i) {
        last = reads(all->of[i], all->masks[i], me, after, bytes);
        if (!last) break;
    }
    return last;
}

static int write_all(const span *all, uint32_t me, const void *after, size_t bytes) {
    for (int i = 0; i < all->count; ++i)
        if (!may_write(all->of[i], all->masks[i], me)) return 0;
    for (int i = 0; i < all->count; ++i) writes(all->of[i], all->masks[i], me, after, bytes);
    return 1;
}

// Whether it is in the thread's local memory, of which nothing more is to be heard then.
static int is_local(uintptr_t address) {
    const unsigned thread = emu_threadIdx.thread;
    size_t size;
    const uintptr_t begin = emu_local(&size);
    if (address - begin >= size || now.block->thread[thread].sums_count) return 0;
    direct.unheard = (emu_unheard){begin, size, thread};
    return 1;
}

static inline int is_emulators(uintptr_t address) {
    return address - now.arguments.begin < now.arguments.bytes || address - now.core.begin < now.core.bytes;
}

// An access that is not of a word, or is a rare case.
static __attribute__((noinline)) void any_access(const void *pointer, size_t bytes, unsigned kind,
                                                 const void *after) {
    const uintptr_t address = (uintptr_t)pointer;
    const cached_page *const page = &shadow_cached[(address >> PAGE_SHIFT) % CACHED_PAGES];
    const uint32_t me = now.first + emu_threadIdx.thread;
    span all;
    if (!is_there(page, address, bytes)) {
        if (is_emulators(address) || is_local(address)) return;
    } else if (kind == EMU_READS && find_cells(&all, page, address, bytes)) {
        const int has_read = read_all(&all, me, after, bytes);
        if (has_read == NOTHING_NEW) set_tag(page, address, me);
        if (has_read) return;
    } else if (kind == EMU_WRITES && find_cells(&all, page, address, bytes)) {
        if (write_all(&all, me, after, bytes)) return;
    }
    emu_access(pointer, bytes, kind, after);
}

// The most frequent one: of a word.
static void access(const void *pointer, size_t bytes, unsigned kind, const void *after) {
    const uintptr_t address = (uintptr_t)pointer;
    const cached_page *const page = &shadow_cached[(address >> PAGE_SHIFT) % CACHED_PAGES];
    if (bytes != GRAIN || !is_there(page, address, GRAIN)) {
        any_access(pointer, bytes, kind, after);
        return;
    }
    const uint32_t me = now.first + emu_threadIdx.thread;
    cell *const in = &page->cells[address % PAGE_BYTES / GRAIN];
    if (kind == EMU_READS) {
        const int has_read = reads(in, ALL_MASKS, me, after, GRAIN);
        if (has_read == NOTHING_NEW) set_tag(page, address, me);
        if (has_read) return;
    } else if (kind == EMU_WRITES && may_write(in, ALL_MASKS, me)) {
        writes(in, ALL_MASKS, me, after, GRAIN);
        return;
    }
    any_access(pointer, bytes, kind, after);
}

// The next tags, which no line has.
static uint32_t next_tags(unsigned count) {
    static uint32_t next = 1;
    if (next > UINT32_MAX - count) {
        shadow_forget_tags();
        direct.for_launch = 1;
        next = 2;
    }
    return (next += count) - count;
}

void quick_forget(void) {
    direct.unheard.bytes = 0;
    direct.for_block = next_tags(now.threads / 32 + 2);
}

void quick_new_launch(void) {
    direct.for_launch = next_tags(1);
    quick_forget();
}

uint32_t quick_stamp(void) {
    quick_forget();
    return ++checker_stamp;
}

void quick_begin(const block_state *block) {
    now.first = block->first;
    now.threads = checker_launch.threads;
    now.known = block->known;
    now.begin = checker_launch.grid_known;
    now.block = block;
    const emu_dim3 cluster = block->event->launch->cluster;
    now.alone = !block->event->launch->cooperative && cluster.x * cluster.y * cluster.z <= 1;
    const interval core = interval_core();
    now.core.begin = core.begin, now.core.bytes = core.end - core.begin;
    now.arguments.begin = (uintptr_t)block->event->launch->arguments,
    now.arguments.bytes = checker_launch.argument_bytes;
    direct.access = access;
    quick_forget();
    emu_threadIdx.direct = quick_is_wanted && !streams_matter() ? &direct : NULL;
}

void quick_barrier(const block_state *block) {
    now.known = block->known;
    now.begin = checker_launch.grid_known;
    quick_forget();
}

void quick_end(void) {
    emu_threadIdx.direct = NULL;
}

void quick_clear(void) {
    memset(sites, 0, sizeof sites);
}
