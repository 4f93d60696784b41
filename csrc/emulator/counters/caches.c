// Caches: which of the sectors that a launch accesses L1 and L2 have. A stated model of an H200 (docs/counters.md).
//
//   block b --> multiprocessor b % 132:  L1, 256 KB less shared memory
//                      |  misses, all stores and atomic operations
//                      v
//   L2's partition of the multiprocessor, 30 MB --- the line's home is the other one ---> the other partition, 30 MB
//                      '--------------------------------- misses at home ---------------------------------> DRAM
//
// A block runs here to its end, and a warp to its barrier, before the next one. On a chip, all warps of the blocks
// that are resident take turns, on which hit rates depend. So what they access is stored first, warp by warp, and
// replayed in turns: a request of each warp of a multiprocessor, then the next multiprocessor. When MOST_STORED lines
// are stored, the blocks so far are replayed without the later ones.
#include <stdlib.h>
#include <string.h>

#include "counters.h"

enum { MULTIPROCESSORS = 132, MOST_THREADS = 2048, MOST_BLOCKS = 32, MOST_STORED = 1 << 23 };
enum { KB = 1 << 10, L1_BYTES = 256 * KB, SHARED_BYTES = 228 * KB, RESERVED = KB, L2_BYTES = 30 << 20 };
enum { WAYS = 8, GROUP_BITS = 5, ALL = 15, PAIR = 3, LAST = 128, PLACE_LINES = (2 << 20) / LINE, SITE_BITS = 12 };
static const uint16_t CARVEOUTS[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228}; // KB of L1 that shared memory takes

// --- A cache -------------------------------------------------------------------------------------------------------

typedef uint32_t vector __attribute__((vector_size(16)));
typedef struct set { // 64 bytes
    union {
        uint32_t line[WAYS]; // + 1; 0: none
        vector lines[WAYS / 4];
    };
    uint8_t whole[WAYS];  // bits of sectors: all bytes are there ...
    uint8_t partly[WAYS]; // ... or some, which have been written
    uint8_t used;         // bits: ways, since the hand has passed
    uint8_t hand;
} set;
typedef struct cache {
    set *sets;
    uint32_t bits, groups; // groups of 2 ** bits sets
} cache;
typedef struct way { // a line in a cache
    uint8_t *whole, *partly;
} way;

static int set_up(cache *it, size_t bytes, uint32_t bits) {
    it->bits = bits;
    it->groups = (uint32_t)(bytes / LINE / WAYS >> bits);
    it->sets = calloc(it->groups, sizeof *it->sets << bits);
    return it->sets != NULL;
}

static unsigned take_place(set *in, uint32_t line) { // of one that has not been used for a round of the hand
    while (in->used >> in->hand & 1) {
        in->used &= (uint8_t) ~(1u << in->hand);
        in->hand = (in->hand + 1) % WAYS;
    }
    const unsigned i = in->hand;
    in->hand = (in->hand + 1) % WAYS;
    in->line[i] = line + 1;
    in->whole[i] = in->partly[i] = 0;
    return i;
}

// Neighboring lines lie in a group of sets, so that few pages of this process's memory are touched.
static inline way look_up(const cache *in, uint32_t line) {
    const uint64_t hash = (line >> in->bits) * 0x9e3779b97f4a7c15u;
    const uint64_t group = (hash >> 32) * in->groups >> 32;
    set *const of = &in->sets[(group << in->bits) + ((line ^ hash >> 16) & ((1u << in->bits) - 1))];
    const vector wanted = (vector){0} + (line + 1);
    vector found = (vector)(of->lines[0] == wanted) & (vector){1, 2, 3, 4};
    found |= (vector)(of->lines[1] == wanted) & (vector){5, 6, 7, 8};
    unsigned i = found[0] | found[1] | found[2] | found[3];
    i = i ? i - 1 : take_place(of, line);
    of->used |= (uint8_t)(1u << i);
    return (way){&of->whole[i], &of->partly[i]};
}

static void fill(way it, unsigned sectors) {
    *it.whole |= sectors & ALL;
    *it.partly &= ~sectors & ALL;
}

static void write(way it, unsigned sectors, unsigned whole) {
    *it.partly |= sectors & ~whole & ~*it.whole & ALL;
    fill(it, whole);
}

// --- What is stored ------------------------------------------------------------------------------------------------

typedef struct access { // to a line
    uint32_t line;
    uint16_t site;
    uint8_t sectors, whole; // bits; no sectors: a barrier. LAST: of the request
} access;
typedef struct list {
    access *of;
    size_t count, room;
} list;
typedef struct block {  // stored, or the part of one that has run
    struct block *next; // of the multiprocessor
    uint32_t at[MOST_WARPS], end[MOST_WARPS];
    uint32_t left, waits; // bits: warps that have not ended, and those at a barrier
    access of[];
} block;
enum { BLOCK_COUNTS = sizeof(block) / sizeof(access) };

// Which sets and partitions lines lie in must not depend on the addresses of this run: allocations are placed one
// after another, in the order in which the launch accesses them.
typedef struct place {
    uint64_t begin, count, to; // lines
} place;
static struct {
    place *of;
    size_t count, room, last;
    uint64_t next;
} places;

static list warps[MOST_WARPS]; // of the block that runs
static unsigned warp_count;
static uint64_t block_number;
static int accessed;                // since its warps converged
static size_t stored, shared_bytes; // shared_bytes: per block
static uint64_t hits[MOST_SITES];
static struct {
    cache l1;
    block *first, *last;
} multiprocessors[MULTIPROCESSORS];
static cache l2[2];
static size_t l1_bytes;
static unsigned resident; // blocks per multiprocessor
static cache_figures figures;

static access *new_ones(unsigned warp, unsigned count) {
    list *const to = &warps[warp];
    if (to->count + count > to->room) {
        to->room = 2 * to->room + 256;
        to->of = realloc(to->of, to->room * sizeof *to->of);
        if (!to->of) abort();
    }
    to->count += count;
    stored += count;
    return to->of + to->count - count;
}

static const place *place_of(uint64_t line) {
    if (places.last < places.count && line - places.of[places.last].begin < places.of[places.last].count)
        return &places.of[places.last];
    for (places.last = 0; places.last < places.count; ++places.last)
        if (line - places.of[places.last].begin < places.of[places.last].count) return &places.of[places.last];
    if (places.count == places.room) {
        places.room = places.room ? 2 * places.room : 16;
        places.of = realloc(places.of, places.room * sizeof *places.of);
        if (!places.of) abort();
    }
    place it = {.begin = line & ~(uint64_t)(PLACE_LINES - 1), .count = PLACE_LINES, .to = places.next};
    emu_memory_event memory;
    if (emu_memory_at((const void *)(uintptr_t)(line * LINE), &memory)) {
        it.begin = memory.address / LINE;
        it.count = (memory.address + memory.bytes - 1) / LINE - it.begin + 1;
    }
    places.next += (it.count + PLACE_LINES - 1) & ~(uint64_t)(PLACE_LINES - 1);
    places.of[places.count++] = it;
    return &places.of[places.last];
}

void caches_add(unsigned warp, unsigned site, unsigned kind, const touched *lines) {
    if (stored > MOST_STORED) caches_block_end();
    access *const to = new_ones(warp, lines->count);
    accessed = 1;
    for (unsigned i = 0; i < lines->count; ++i) {
        const uint64_t line = lines->of[i].line;
        const place *const in = place_of(line);
        to[i].line = (uint32_t)(in->to + line - in->begin);
        to[i].site = (uint16_t)(site | kind << SITE_BITS);
        to[i].sectors = lines->of[i].sectors;
        to[i].whole = lines->of[i].whole;
    }
    to[lines->count - 1].sectors |= LAST;
}

void caches_converge(void) {
    if (!accessed || warp_count == 1) return; // nothing has to be kept in order
    accessed = 0;
    for (unsigned warp = 0; warp < warp_count; ++warp) *new_ones(warp, 1) = (access){0};
}

// --- The replay ----------------------------------------------------------------------------------------------------

static unsigned count_of(unsigned sectors) {
    static const unsigned char COUNTS[ALL + 1] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    return COUNTS[sectors & ALL];
}

static unsigned home_of(uint32_t line) { // partition; lines of 4 KB together
    return (line >> GROUP_BITS) * 0x9e3779b97f4a7c15u >> 63;
}

// Sectors that are not there at home come from DRAM, by pairs.
static void read_home(way at, unsigned sectors) {
    unsigned missing = sectors & ~*at.whole;
    figures.hits += count_of(sectors & *at.whole);
    if (!missing) return;
    for (unsigned pair = PAIR; pair < ALL; pair <<= 2)
        if (missing & pair) missing |= pair & ~*at.whole;
    figures.dram_sectors += count_of(missing);
    fill(at, missing);
}

static void read_l2(unsigned partition, uint32_t line, unsigned sectors, uint64_t *count) {
    const way near = look_up(&l2[partition], line);
    *count += count_of(sectors);
    if (home_of(line) == partition) {
        read_home(near, sectors);
        return;
    }
    const unsigned missing = sectors & ~*near.whole;
    figures.hits += count_of(sectors & *near.whole);
    if (!missing) return;
    *count += count_of(missing);
    read_home(look_up(&l2[!partition], line), missing);
    fill(near, missing);
}

static void write_l2(unsigned partition, uint32_t line, unsigned sectors, unsigned whole) {
    const unsigned home = home_of(line), times = home == partition ? 1 : 2;
    figures.writes += times * count_of(sectors);
    figures.hits += times * count_of(sectors);
    write(look_up(&l2[home], line), sectors, whole);
}

static void carry_out(unsigned number, access it) {
    const unsigned partition = number % 2, site = it.site & (MOST_SITES - 1), kind = it.site >> SITE_BITS;
    const unsigned sectors = it.sectors & ALL;
    if (kind == CACHE_STORE_PAST) {
        write_l2(partition, it.line, sectors, it.whole);
        return;
    }
    const way at = look_up(&multiprocessors[number].l1, it.line);
    if (kind == CACHE_LOAD) {
        const unsigned missing = sectors & ~*at.whole;
        hits[site] += count_of(sectors & *at.whole);
        if (!missing) return;
        read_l2(partition, it.line, missing, &figures.reads);
        fill(at, missing);
    } else if (kind == CACHE_STORE) {
        hits[site] += count_of(sectors & (*at.whole | *at.partly));
        write(at, sectors, it.whole);
        write_l2(partition, it.line, sectors, it.whole);
    } else { // L1 does not keep it
        *at.whole &= ~sectors & ALL;
        *at.partly &= ~sectors & ALL;
        read_l2(partition, it.line, sectors, kind == CACHE_ATOMIC ? &figures.atomics : &figures.reads);
    }
}

static void move_on(block *of, unsigned warp) {
    if (++of->at[warp] == of->end[warp]) of->left &= ~(1u << warp);
}

// A request of each warp of the block that does not wait. 0: it has ended.
static int take_turns(unsigned number, block *of) {
    for (uint32_t ready = of->left & ~of->waits; ready; ready &= ready - 1) {
        const unsigned warp = (unsigned)__builtin_ctz(ready);
        for (;;) {
            const access it = of->of[of->at[warp]];
            if (!it.sectors) {
                of->waits |= 1u << warp;
                break;
            }
            carry_out(number, it);
            move_on(of, warp);
            if (it.sectors & LAST) break;
        }
    }
    if (!(of->left & ~of->waits)) { // all are at the barrier
        for (uint32_t left = of->left; left; left &= left - 1) move_on(of, (unsigned)__builtin_ctz(left));
        of->waits = 0;
    }
    return of->left != 0;
}

static void set_up_caches(void) {
    const size_t shared = shared_bytes + RESERVED;
    resident = MOST_THREADS / (warp_count * LANES);
    if (resident > MOST_BLOCKS) resident = MOST_BLOCKS;
    if (resident > SHARED_BYTES / shared) resident = (unsigned)(SHARED_BYTES / shared);
    if (!resident) resident = 1;
    l1_bytes = L1_BYTES - SHARED_BYTES;
    for (unsigned i = sizeof CARVEOUTS / sizeof *CARVEOUTS; i-- && CARVEOUTS[i] * (size_t)KB >= resident * shared;)
        l1_bytes = L1_BYTES - CARVEOUTS[i] * (size_t)KB;
    if (!set_up(&l2[0], L2_BYTES, GROUP_BITS) || !set_up(&l2[1], L2_BYTES, GROUP_BITS)) abort();
}

static void replay_stored(void) {
    if (!l2[0].sets) set_up_caches();
    for (int left = 1; left;) {
        left = 0;
        for (unsigned number = 0; number < MULTIPROCESSORS; ++number) {
            block **of = &multiprocessors[number].first;
            if (!*of) continue;
            if (!multiprocessors[number].l1.sets && !set_up(&multiprocessors[number].l1, l1_bytes, 0)) abort();
            for (unsigned i = 0; i < resident && *of; ++i) {
                left = 1;
                if (take_turns(number, *of)) {
                    of = &(*of)->next;
                    continue;
                }
                block *const ended = *of;
                *of = ended->next;
                free(ended);
            }
        }
    }
    stored = 0;
}

// --- When ----------------------------------------------------------------------------------------------------------

void caches_start(unsigned threads, size_t dynamic_shared) {
    warp_count = (threads + LANES - 1) / LANES;
    shared_bytes = dynamic_shared;
    memset(hits, 0, sizeof hits);
    places.count = places.last = places.next = 0;
    figures = (cache_figures){0};
}

void caches_block_begin(uint64_t number) {
    block_number = number;
}

void caches_block_end(void) {
    uint32_t count = 0;
    for (unsigned warp = 0; warp < warp_count; ++warp) count += (uint32_t)warps[warp].count;
    block *const it = malloc(sizeof *it + count * sizeof *it->of);
    if (!it) abort();
    it->next = NULL;
    it->left = it->waits = count = 0;
    for (unsigned warp = 0; warp < warp_count; ++warp) {
        if (warps[warp].count) memcpy(it->of + count, warps[warp].of, warps[warp].count * sizeof *it->of);
        it->at[warp] = count;
        it->end[warp] = count += (uint32_t)warps[warp].count;
        it->left |= (uint32_t)(warps[warp].count != 0) << warp;
        warps[warp].count = 0;
    }
    block **const first = &multiprocessors[block_number % MULTIPROCESSORS].first;
    block **const last = &multiprocessors[block_number % MULTIPROCESSORS].last;
    *(*first ? &(*last)->next : first) = it;
    *last = it;
    stored += BLOCK_COUNTS;
    if (stored > MOST_STORED) replay_stored();
}

cache_figures caches_end(size_t static_shared) {
    shared_bytes += static_shared;
    replay_stored();
    for (unsigned i = 0; i < MULTIPROCESSORS; ++i) free(multiprocessors[i].l1.sets);
    memset(multiprocessors, 0, sizeof multiprocessors);
    for (int i = 0; i < 2; ++i) free(l2[i].sets);
    memset(l2, 0, sizeof l2);
    return figures;
}

uint64_t caches_hits(unsigned site) {
    return hits[site];
}

void caches_clear(void) {
    for (unsigned warp = 0; warp < MOST_WARPS; ++warp) {
        free(warps[warp].of);
        warps[warp] = (list){0};
    }
    free(places.of);
    memset(&places, 0, sizeof places);
}
