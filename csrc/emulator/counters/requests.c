// Requests: the accesses that the lanes of a warp make together.
//
//   accesses at a site, by      lane 0:  #0 #1 #2 ...
//   number since the lanes      lane 1:  #0 #1 ...
//   converged                            those of one number are one request
//
// A request ends when all lanes of the warp have come, or when those that have not cannot come any more: the warp has
// converged, at a barrier or its end. Until then it waits in the row of its site and warp.
//
// Lanes mostly keep their distances from one request of a row to the next one:
//
//   row   shape: 0 4 8 12 ...  (lane's address - base)
//         open requests:  #5 base, lanes that have come | #6 base, lanes | ...    one that does not fit has its own
//                                                                                 addresses, in `apart`
// Invariant: of the open requests of a row, only the first one may change the shape, by a lane that has no part in
// the others yet. So a request takes 16 bytes, and what a shape costs at a place is worked out once.
#include <stdlib.h>
#include <string.h>

#include "counters.h"

enum { MOST_OPEN = 1 << 14, YIELDS = 4, RECENT = 8, GROUPS = 8, COSTS = 1 << 12 };
enum { WIDEST = 16 };                     // bytes of a load or store
enum { PERIOD = LINE, KNOWN_LINES = 32 }; // what a shape costs depends on its base modulo this

typedef struct open_request {
    uintptr_t base;
    uint32_t lanes;
    uint32_t apart : 31; // place of its addresses, if they differ from base + shape; 0: none
    uint32_t breaks : 1; // it cannot be joined with the one before
} open_request;

typedef struct group { // requests that are joined
    open_request first;
    unsigned count;
} group;

typedef struct row { // of a site and a warp
    uintptr_t shape[LANES];
    uint32_t done[LANES]; // accesses of each lane since the lanes converged
    uint32_t ended, open; // requests that have ended since then, and those that have begun
    open_request *of;     // number n is of[n & last]
    uint32_t last;
    uint32_t present; // lanes that the warp has
    uint64_t hash;    // of the shape; 0: unknown
    unsigned site, warp;
    int is_listed; // in `listed`: it has begun requests since the lanes converged
    group *held;   // [GROUPS]
    unsigned held_count;
    unsigned unaligned; // bits of the shape's addresses
    uint32_t others;    // of `begun`, when the last request began: those that prevent joining
    char unused[60];    // 512 bytes: rows are found for each access
} row;

static site sites[MOST_SITES];
static row *rows[MOST_SITES]; // of each warp
static unsigned site_count;
static struct {
    uintptr_t key;
    unsigned number;
} places[2 * MOST_SITES]; // of the sites, by their code
static unsigned block_threads;
static struct {
    row **of;
    unsigned count, room;
} listed[MOST_WARPS];
static uint32_t begun[MOST_WARPS][2]; // requests of shared memory that read, and that write
static struct {
    uintptr_t (*of)[LANES]; // of[n]: addresses of a request; of[n][0] of one that is free: the next free one
    uint32_t count, room, free;
} apart;

// --- Sites ---------------------------------------------------------------------------------------------------------

static unsigned site_number(const emu_where *at, const void *after, unsigned kind, unsigned bytes, emu_space space) {
    const uintptr_t code = after ? (uintptr_t)after - 1 : at->code;
    const uintptr_t key = code ^ (uintptr_t)at->file ^ ((uintptr_t)at->line << 20) ^ (uintptr_t)kind << 56 ^
                          (uintptr_t)bytes << 48 ^ (uintptr_t)space << 44;
    size_t i = key * 0x9e3779b97f4a7c15u >> 51;
    for (;; i = (i + 1) % (2 * MOST_SITES)) {
        if (places[i].key == key) return places[i].number;
        if (!places[i].key) break;
    }
    if (site_count == MOST_SITES) return 0;
    places[i].key = key;
    places[i].number = site_count;
    sites[site_count] = (site){.code = code,
                               .file = after ? NULL : at->file,
                               .line = after ? 0 : at->line,
                               .kind = kind,
                               .bytes = bytes,
                               .space = space};
    if (!rows[site_count]) {
        rows[site_count] = calloc(MOST_WARPS, sizeof **rows);
        if (!rows[site_count]) abort();
    }
    for (unsigned warp = 0; warp * LANES < block_threads; ++warp) {
        const unsigned rest = block_threads - warp * LANES;
        rows[site_count][warp].site = site_count;
        rows[site_count][warp].warp = warp;
        rows[site_count][warp].present = rest >= LANES ? UINT32_MAX : (1u << rest) - 1;
    }
    return site_count++;
}

// --- What requests cost --------------------------------------------------------------------------------------------

static struct {
    uint64_t shape;        // its hash
    uint32_t lanes, place; // place: the base's remainder, the site's kind
    cost its;
    uint32_t count; // of its lines; more than KNOWN_LINES: they are worked out again
    struct {
        int32_t line; // from the base's
        uint8_t sectors, whole;
    } of[KNOWN_LINES];
} costs[COSTS];
static struct { // static shared variables that a launch has accessed
    uintptr_t begin;
    size_t bytes, least, most;
} statics;

static void look_at_shape(row *in) {
    uint64_t hash = 1;
    in->unaligned = 0;
    for (unsigned lane = 0; lane < LANES; ++lane) {
        hash = (hash ^ in->shape[lane]) * 0x9e3779b97f4a7c15u ^ hash >> 29;
        in->unaligned |= (unsigned)in->shape[lane] % WIDEST;
    }
    in->hash = hash ? hash : 1;
}

static uintptr_t address_of(const row *in, const open_request *of, unsigned lane) {
    return of->apart ? apart.of[of->apart][lane] : of->base + in->shape[lane];
}

static request whole(const row *in, const open_request *of) {
    request result = {.lanes = of->lanes};
    for (unsigned lane = 0; lane < LANES; ++lane) result.address[lane] = address_of(in, of, lane);
    return result;
}

static int only_reads(const site *at) {
    return (at->kind & ~(unsigned)(EMU_VOLATILE | IS_JOINED)) == EMU_READS;
}

static cost cost_of(const site *at, const request *of, unsigned bytes, touched *to) {
    to->count = 0;
    if (at->space == EMU_SPACE_SHARED)
        return at->kind & EMU_PENDING ? cost_of_copy(of, bytes) : cost_of_shared(of, bytes, only_reads(at));
    return at->kind & EMU_ATOMIC ? cost_of_atomics(of, bytes, to) : cost_of_global(of, bytes, to);
}

static cost known_cost(const site *at, row *in, const open_request *of, unsigned bytes, touched *to) {
    if (!in->hash) look_at_shape(in);
    const uint32_t place = (uint32_t)(of->base % PERIOD) | bytes << 8 | (at->space == EMU_SPACE_SHARED) << 16 |
                           only_reads(at) << 17 | !!(at->kind & EMU_ATOMIC) << 18 | !!(at->kind & EMU_PENDING) << 19;
    const uint64_t shape = in->hash ^ of->base >> 56; // (copy_address)
    const uint64_t mixed = (shape ^ of->lanes ^ (uint64_t)place << 32) * 0x9e3779b97f4a7c15u;
    const size_t n = mixed >> 32 & (COSTS - 1);
    const uintptr_t first = of->base / LINE;
    if (costs[n].shape == shape && costs[n].lanes == of->lanes && costs[n].place == place &&
        costs[n].count <= KNOWN_LINES) {
        to->count = costs[n].count;
        for (unsigned i = 0; i < to->count; ++i) {
            to->of[i].line = first + (uintptr_t)(intptr_t)costs[n].of[i].line;
            to->of[i].sectors = costs[n].of[i].sectors;
            to->of[i].whole = costs[n].of[i].whole;
        }
        return costs[n].its;
    }
    const request all = whole(in, of);
    costs[n].its = cost_of(at, &all, bytes, to);
    costs[n].shape = shape, costs[n].lanes = of->lanes, costs[n].place = place;
    costs[n].count = to->count;
    for (unsigned i = 0; i < to->count && i < KNOWN_LINES; ++i) {
        const uintptr_t from = to->of[i].line - first;
        if (from + INT32_MAX > 2u * INT32_MAX) costs[n].count = UINT32_MAX;
        costs[n].of[i].line = (int32_t)from;
        costs[n].of[i].sectors = to->of[i].sectors;
        costs[n].of[i].whole = to->of[i].whole;
    }
    return costs[n].its;
}

static void note_static(uintptr_t address) {
    const size_t offset = (address & ~(UINT64_C(0xff) << 56)) - statics.begin; // (copy_address)
    if (offset >= statics.bytes) return;
    if (offset < statics.least) statics.least = offset;
    if (offset + WORD > statics.most) statics.most = offset + WORD;
}

static void count_request(row *in, const open_request *of, unsigned bytes) {
    if (!of->lanes) return;
    site *const to = &sites[in->site];
    touched lines;
    cost its;
    if (of->apart) {
        const request all = whole(in, of);
        its = cost_of(to, &all, bytes, &lines);
    } else {
        its = known_cost(to, in, of, bytes, &lines);
    }
    ++to->requests;
    to->lanes += (unsigned)__builtin_popcount(of->lanes);
    to->sectors += its.sectors;
    to->used += its.used;
    to->wavefronts += its.wavefronts;
    to->ideal += its.ideal;
    to->serial += its.serial;
    if (to->step_count < MOST_STEPS && (!to->step_count || to->step_warp == in->warp)) {
        to->step_warp = in->warp;
        to->steps[to->step_count++] = whole(in, of);
    }
    uint64_t size = its.sectors;
    if (to->space == EMU_SPACE_SHARED) {
        size = its.wavefronts;
        note_static(address_of(in, of, (unsigned)__builtin_ctz(of->lanes)));
        note_static(address_of(in, of, LANES - 1 - (unsigned)__builtin_clz(of->lanes)));
    } else {
        caches_add(in->warp, in->site,
                   to->kind & EMU_ATOMIC     ? CACHE_ATOMIC
                   : to->kind & EMU_WRITES   ? CACHE_STORE
                   : to->kind & EMU_VOLATILE ? CACHE_BYPASS
                                             : CACHE_LOAD,
                   &lines);
    }
    if (size > to->most) {
        to->most = size;
        to->worst = whole(in, of);
    }
    if (of->apart) {
        apart.of[of->apart][0] = apart.free;
        apart.free = of->apart;
    }
}

// --- Neighbors that are joined -------------------------------------------------------------------------------------
//
//   for (k = 0; k < 16; ++k) sum += tile[y][k] * ...;   nvcc unrolls the loop, and loads tile[y][k] to [k + 3]
//
// It does so wherever it knows that they are aligned, unless there is a store in the loop, too. It aligns shared
// arrays itself. (So it does not know of an array that begins within another one at a place that only the launch
// tells.) The first of such requests is held until the others have come.

static void count_group(row *in, group of) {
    const unsigned bytes = sites[in->site].bytes;
    for (unsigned left = of.count, some; left; left -= some) {
        some = left >= 4 ? 4 : left >= 2 ? 2 : 1;
        count_request(in, &of.first, some * bytes);
        of.first.base += some * bytes;
    }
}

static void count_held(row *in) {
    for (unsigned i = 0; i < in->held_count; ++i) count_group(in, in->held[i]);
    in->held_count = 0;
}

static void end_group(row *in, unsigned number) {
    count_group(in, in->held[number]);
    memmove(in->held + number, in->held + number + 1, (--in->held_count - number) * sizeof *in->held);
}

static void hold(row *in, const open_request *of) {
    const unsigned bytes = sites[in->site].bytes;
    if (of->breaks || of->apart) count_held(in);
    if (!in->hash) look_at_shape(in);
    for (unsigned i = 0; i < in->held_count; ++i) {
        group *const to = &in->held[i];
        if (of->apart || of->lanes != to->first.lanes || of->base != to->first.base + to->count * bytes) continue;
        const unsigned most = (to->first.base | in->unaligned) % WIDEST ? 2 * bytes : WIDEST;
        if (++to->count * bytes == most) end_group(in, i);
        return;
    }
    if (of->apart || (of->base | in->unaligned) % (2 * bytes)) {
        count_request(in, of, bytes);
        return;
    }
    if (!in->held) in->held = malloc(GROUPS * sizeof *in->held);
    if (!in->held) abort();
    if (in->held_count == GROUPS) end_group(in, 0);
    in->held[in->held_count++] = (group){*of, 1};
}

// --- Rows ----------------------------------------------------------------------------------------------------------

static inline open_request *place_of(const row *in, uint32_t number) {
    return &in->of[number & in->last];
}

static __attribute__((noinline)) void end_first(row *in) {
    if (sites[in->site].kind & IS_JOINED)
        hold(in, place_of(in, in->ended));
    else
        count_request(in, place_of(in, in->ended), sites[in->site].bytes);
    ++in->ended;
    --in->open;
}

static void finish(row *in) {
    while (in->open) end_first(in);
    count_held(in);
    in->ended = 0;
    in->is_listed = 0;
    memset(in->done, 0, sizeof in->done);
}

static void list(row *in, unsigned warp) {
    if (listed[warp].count == listed[warp].room) {
        listed[warp].room = listed[warp].room ? 2 * listed[warp].room : 64;
        listed[warp].of = realloc(listed[warp].of, listed[warp].room * sizeof *listed[warp].of);
        if (!listed[warp].of) abort();
    }
    listed[warp].of[listed[warp].count++] = in;
    in->is_listed = 1;
}

static void begin(row *in, uintptr_t base) { // the next request
    if (!in->of || in->open > in->last) {
        const row before = *in;
        in->last = in->of ? 2 * in->last + 1 : 15;
        in->of = malloc((in->last + 1) * sizeof *in->of);
        if (!in->of) abort();
        for (uint32_t i = in->ended; i != in->ended + in->open; ++i) *place_of(in, i) = *place_of(&before, i);
        free(before.of);
    }
    const site *const at = &sites[in->site];
    uint32_t *const of_warp = begun[in->warp];
    const uint32_t others = of_warp[at->kind & EMU_WRITES ? 0 : 1];
    *place_of(in, in->ended + in->open++) = (open_request){.base = base, .breaks = in->others != others};
    in->others = others;
    if (at->space == EMU_SPACE_SHARED && at->kind & EMU_READS) ++of_warp[0];
    if (at->space == EMU_SPACE_SHARED && at->kind & EMU_WRITES) ++of_warp[1];
}

static void set_apart(const row *in, open_request *of) {
    const request all = whole(in, of);
    if (!apart.free) {
        const uint32_t before = apart.room ? apart.room : 1;
        apart.room = 2 * before;
        apart.of = realloc(apart.of, apart.room * sizeof *apart.of);
        if (!apart.of) abort();
        for (uint32_t i = before; i < apart.room; ++i) {
            apart.of[i][0] = apart.free;
            apart.free = i;
        }
    }
    of->apart = apart.free;
    apart.free = (uint32_t)apart.of[of->apart][0];
    memcpy(apart.of[of->apart], all.address, sizeof all.address);
}

static inline void join(row *in, open_request *of, unsigned lane, uint32_t number) {
    of->lanes |= 1u << lane;
    if (of->lanes == in->present && number == in->ended) end_first(in);
}

// The lane is so far ahead that the others run first. Those that cannot come, because they wait for it or have ended,
// have no part in the older requests.
static int core_reports; // an access that must not let other threads run
static void wait_for_others(row *in) {
    const uint32_t before = in->ended;
    for (int i = 0; i < YIELDS && !core_reports && in->ended == before; ++i) emu_yield();
    if (in->ended == before)
        while (in->open > MOST_OPEN / 2) end_first(in);
}

// A request that begins, or an address that does not fit.
static __attribute__((noinline)) void add_slowly(row *in, unsigned thread, uint32_t number, uintptr_t address) {
    const unsigned lane = thread % LANES;
    if (in->open >= MOST_OPEN && number - in->ended == in->open) wait_for_others(in);
    if (number - in->ended == in->open) {
        if (!in->is_listed) list(in, thread / LANES);
        begin(in, address - in->shape[lane]);
    }
    if (number - in->ended >= in->open) return; // it has ended already
    open_request *const of = place_of(in, number);
    if (!of->apart && address - of->base != in->shape[lane]) {
        if (number == in->ended) {
            count_held(in); // which has the shape, too
            in->shape[lane] = address - of->base;
            in->hash = 0;
        } else {
            set_apart(in, of);
        }
    }
    if (of->apart) apart.of[of->apart][lane] = address;
    join(in, of, lane, number);
}

static inline void add(row *in, unsigned thread, uintptr_t address) {
    const unsigned lane = thread % LANES;
    const uint32_t number = in->done[lane]++;
    open_request *const of = place_of(in, number);
    if (number - in->ended >= in->open || of->apart || address - of->base != in->shape[lane])
        add_slowly(in, thread, number, address);
    else
        join(in, of, lane, number);
}

// The rows of the site, or of the last word of a range.
static row *add_at(unsigned thread, const emu_where *at, const void *after, uintptr_t address, size_t bytes,
                   unsigned kind, emu_space space) {
    for (; kind & EMU_RANGE && bytes > WORD; address += WORD, bytes -= WORD) // a struct is copied word by word
        add_at(thread, at, after, address, WORD, kind & ~EMU_RANGE, space);
    row *const of = rows[site_number(at, after, kind & ~EMU_RANGE, (unsigned)bytes, space)];
    add(&of[thread / LANES], thread, address);
    return of;
}

void requests_access(unsigned thread, const emu_where *at, uintptr_t address, size_t bytes, unsigned kind,
                     emu_space space) {
    core_reports = 1;
    add_at(thread, at, NULL, address, bytes, kind, space);
    core_reports = 0;
}

void requests_skip(unsigned thread, const emu_where *at, size_t bytes, unsigned kind, emu_space space) {
    row *const in = &rows[site_number(at, NULL, kind, (unsigned)bytes, space)][thread / LANES];
    const uint32_t number = in->done[thread % LANES]++;
    if (!in->is_listed) list(in, thread / LANES);
    if (number - in->ended == in->open) begin(in, 0);
}

// --- The accesses of the kernel's code -----------------------------------------------------------------------------

// Which rows an instruction has, if it accesses the same memory as before. (The instruction is a call of a function
// for accesses of that kind and size.)
static struct {
    const void *after;
    uintptr_t begin;
    size_t bytes;
    row *of; // NULL: what is there does not count
} known[MOST_SITES];
static range recent[RECENT];
static unsigned next_recent;
static int (*find)(uintptr_t address, range *in); // requests_start

static int find_range(uintptr_t address, range *in) {
    for (unsigned i = 0; i < RECENT; ++i)
        if (address - recent[i].begin < recent[i].bytes) {
            *in = recent[i];
            return 1;
        }
    if (!find(address, in)) return 0;
    recent[next_recent++ % RECENT] = *in;
    return 1;
}

static inline size_t known_place(const void *after) {
    return ((uintptr_t)after ^ (uintptr_t)after >> 12) % MOST_SITES;
}

static __attribute__((noinline)) void access_slowly(uintptr_t address, size_t bytes, unsigned kind,
                                                    const void *after) {
    static const emu_where nowhere;
    const size_t i = known_place(after);
    const unsigned plain = kind & (EMU_READS | EMU_WRITES | EMU_ATOMIC | EMU_RANGE | EMU_VOLATILE);
    range in;
    row *of = NULL;
    if (!find_range(address, &in)) return;
    const int may_join =
        in.space == EMU_SPACE_SHARED && (plain == EMU_READS || plain == EMU_WRITES) && (bytes == 4 || bytes == 8);
    if (in.space != NOT_COUNTED)
        of = add_at(emu_threadIdx.thread, &nowhere, after, address, bytes, plain | (may_join ? IS_JOINED : 0),
                    (emu_space)in.space);
    if (kind & EMU_RANGE) return;
    known[i].after = after;
    known[i].begin = in.begin, known[i].bytes = in.bytes;
    known[i].of = of;
}

void requests_direct(const void *pointer, size_t bytes, unsigned kind, const void *after) {
    const uintptr_t address = (uintptr_t)pointer;
    const size_t i = known_place(after);
    if (known[i].after != after || address - known[i].begin >= known[i].bytes)
        access_slowly(address, bytes, kind, after);
    else if (known[i].of)
        add(&known[i].of[emu_threadIdx.thread / LANES], emu_threadIdx.thread, address);
}

void requests_forget_memory(void) {
    memset(known, 0, sizeof known);
    memset(recent, 0, sizeof recent);
}

// --- When ----------------------------------------------------------------------------------------------------------

void requests_converge(unsigned warp) {
    for (unsigned i = 0; i < listed[warp].count; ++i) finish(listed[warp].of[i]);
    listed[warp].count = 0;
}

void requests_converge_all(void) {
    for (unsigned warp = 0; warp * LANES < block_threads; ++warp) requests_converge(warp);
    caches_converge();
}

void requests_start(unsigned threads, size_t dynamic_shared, int (*find_memory)(uintptr_t address, range *in)) {
    caches_start(threads, dynamic_shared);
    statics.least = SIZE_MAX, statics.most = 0;
    site_count = 0;
    find = find_memory;
    memset(places, 0, sizeof places);
    requests_forget_memory();
    block_threads = threads;
}

void requests_block_begin(uint64_t number, uintptr_t begin, size_t static_bytes) {
    caches_block_begin(number);
    statics.begin = begin, statics.bytes = static_bytes;
}

void requests_block_end(void) {
    requests_converge_all();
    caches_block_end();
    for (unsigned i = 0; i < site_count; ++i) sites[i].step_warp = MOST_WARPS; // other blocks add no steps
}

cache_figures requests_end(void) {
    const cache_figures result = caches_end(statics.most ? statics.most - statics.least : 0);
    for (unsigned i = 0; i < site_count; ++i) sites[i].hits = caches_hits(i);
    return result;
}

uint64_t requests_costs(void) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < site_count; ++i) sum += sites[i].sectors + sites[i].wavefronts;
    return sum;
}

size_t requests_sites(const site **all) {
    *all = sites;
    return site_count;
}

void requests_clear(void) {
    for (unsigned i = 0; i < MOST_SITES && rows[i]; ++i) {
        for (unsigned warp = 0; warp < MOST_WARPS; ++warp) {
            free(rows[i][warp].of);
            free(rows[i][warp].held);
        }
        free(rows[i]);
        rows[i] = NULL;
    }
    for (unsigned warp = 0; warp < MOST_WARPS; ++warp) {
        free(listed[warp].of);
        memset(&listed[warp], 0, sizeof listed[warp]);
    }
    caches_clear();
    free(apart.of);
    memset(&apart, 0, sizeof apart);
    site_count = 0;
}
