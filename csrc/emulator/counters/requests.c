// Requests: the accesses that the lanes of a warp make together, as branches.c finds them out.
//
//   instruction, lanes, addresses --> site: of an instruction and a kind of memory --> row: of a site and a warp
//
// Lanes mostly keep their distances from one request of a row to the next one. The row remembers them as its shape
// (address - base), and what a shape costs at a place is worked out once.
#include <stdlib.h>
#include <string.h>

#include "counters.h"

enum { RECENT = 8, GROUPS = 8, NEIGHBORS = 8, COSTS = 1 << 12 };
enum { WIDEST = 16 };                     // bytes of a load or store
enum { PERIOD = LINE, KNOWN_LINES = 32 }; // what a shape costs depends on its base modulo this

typedef struct placed { // a request: of each lane, base + shape
    uintptr_t base;
    uint32_t lanes;
} placed;

typedef struct group { // requests that are joined: elements of an aligned chunk in each lane
    placed chunk;
    unsigned elements;                   // bits: accessed
    unsigned short sites[WIDEST / WORD]; // that access them
    int of_several;                      // sites
} group;

typedef struct row { // of a site and a warp
    uintptr_t shape[LANES];
    uint64_t hash;         // of the shape; 0: unknown
    uintptr_t least, most; // of the shape, as signed numbers
    unsigned site, warp;
    group *held; // [GROUPS]
    unsigned held_count, is_listed;
    unsigned unaligned; // bits of the shape's addresses
    uint32_t others;    // of `made`, at the last request: those that prevent joining
} row;

static site sites[MOST_SITES];
static unsigned char alignment[MOST_SITES];     // of the objects that a site accesses members of; 0: unknown
static unsigned char is_of_member[MOST_SITES];  // an access to a member of a struct
static struct joined {                          // of a site's requests, those that are joined with others' ones
    unsigned char phase;                        // 1 + place of the first lane in a pair of elements; 0: unknown
    unsigned short with;                        // site, or itself
    int64_t requests, lanes, wavefronts, ideal; // how much more they were without being joined
} joined[MOST_SITES];
static row *rows[MOST_SITES]; // of each warp
static unsigned site_count;
static struct {
    uintptr_t key;
    unsigned number;
} places[2 * MOST_SITES]; // of the sites, by their code
static struct {           // rows that hold requests
    row **of;
    unsigned count, room;
} listed[MOST_WARPS];
static uint32_t made[MOST_WARPS][2]; // requests of shared memory that read, and that write

// --- Sites ---------------------------------------------------------------------------------------------------------

unsigned requests_site(const emu_where *at, size_t bytes, unsigned kind, emu_space space) {
    const uintptr_t key = at->code ^ (uintptr_t)at->file ^ ((uintptr_t)at->line << 20) ^ (uintptr_t)kind << 56 ^
                          (uintptr_t)bytes << 48 ^ (uintptr_t)space << 44;
    size_t i = key * 0x9e3779b97f4a7c15u >> 51;
    for (;; i = (i + 1) % (2 * MOST_SITES)) {
        if (places[i].key == key) return places[i].number;
        if (!places[i].key) break;
    }
    if (site_count == MOST_SITES) return 0;
    places[i].key = key;
    places[i].number = site_count;
    sites[site_count] = (site){
        .code = at->code, .file = at->file, .line = at->line, .kind = kind, .bytes = (unsigned)bytes, .space = space};
    alignment[site_count] = 0;
    joined[site_count] = (struct joined){.with = (unsigned short)site_count};
    if (!rows[site_count]) {
        rows[site_count] = calloc(MOST_WARPS, sizeof **rows);
        if (!rows[site_count]) abort();
    }
    for (unsigned warp = 0; warp < MOST_WARPS; ++warp) {
        rows[site_count][warp].site = site_count;
        rows[site_count][warp].warp = warp;
    }
    return site_count++;
}

static unsigned last_operation; // a site

unsigned requests_name(const emu_where *at, const char *name) {
    const unsigned number = requests_site(at, 0, (unsigned)(uintptr_t)name, EMU_SPACES);
    sites[number].name = name;
    return number;
}

static void count_operation(site *to, unsigned lanes) {
    const unsigned pairs = lanes | lanes >> 1, quads = (pairs | pairs >> 2) & 0x11111111;
    ++to->requests;
    to->lanes += (unsigned)__builtin_popcount(lanes);
    to->quads += (unsigned)__builtin_popcount(quads);
}

void requests_operation(const emu_where *at, const char *name, unsigned lanes) {
    last_operation = requests_name(at, name);
    if (lanes) count_operation(&sites[last_operation], lanes);
}

void requests_row(unsigned warp, uintptr_t address, size_t bytes, int is_store) {
    site *const to = &sites[last_operation];
    const uintptr_t end = address + bytes;
    to->used += bytes;
    for (uintptr_t line = address / LINE; line <= (end - 1) / LINE; ++line) {
        touched it = {.count = 1, .of = {{.line = line}}};
        for (unsigned i = 0; i < LINE / SECTOR; ++i) {
            const uintptr_t sector = line * LINE + i * SECTOR;
            if (sector >= end || sector + SECTOR <= address) continue;
            ++to->sectors;
            it.of[0].sectors |= (unsigned char)(1u << i);
            it.of[0].whole |= (unsigned char)((sector >= address && sector + SECTOR <= end) << i);
        }
        caches_add(warp, last_operation, is_store ? CACHE_STORE_PAST : CACHE_BYPASS, &it);
    }
}

void requests_shared_row(size_t bytes, unsigned edges) {
    sites[last_operation].shared_bytes += bytes;
    sites[last_operation].edges += edges;
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
    in->least = in->most = in->shape[0];
    for (unsigned lane = 0; lane < LANES; ++lane) {
        hash = (hash ^ in->shape[lane]) * 0x9e3779b97f4a7c15u ^ hash >> 29;
        in->unaligned |= (unsigned)in->shape[lane] % WIDEST;
        if ((intptr_t)in->shape[lane] < (intptr_t)in->least) in->least = in->shape[lane];
        if ((intptr_t)in->shape[lane] > (intptr_t)in->most) in->most = in->shape[lane];
    }
    in->hash = hash ? hash : 1;
}

static request whole(const row *in, const placed *of) {
    request result = {.lanes = of->lanes};
    for (unsigned lane = 0; lane < LANES; ++lane) result.address[lane] = of->base + in->shape[lane];
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

static cost known_cost(const site *at, row *in, const placed *of, unsigned bytes, touched *to) {
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

static void count_request(row *in, const placed *of, unsigned bytes) {
    site *const to = &sites[in->site];
    touched lines;
    const cost its = known_cost(to, in, of, bytes, &lines);
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
        note_static(of->base + in->shape[__builtin_ctz(of->lanes)]);
        note_static(of->base + in->shape[LANES - 1 - __builtin_clz(of->lanes)]);
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
}

// --- Neighbors that are joined -------------------------------------------------------------------------------------
//
//   for (k = 0; k < 16; ++k) sum += tile[y][k] * ...;   nvcc unrolls the loop, and loads tile[y][k] to [k + 3]
//   s[4 * t] + s[4 * t + 1]                             nvcc loads both
//
// It does so wherever it knows that they are aligned, unless there is a store between them or in the loop. It aligns
// shared arrays itself. (So it does not know of an array that begins within another one at a place that only the
// launch tells.) The first of such requests is held until the others have come, of the same instruction or of others.
enum { VARIES = UINT8_MAX }; // a phase: then nvcc does not know, either, what is aligned

static void add_joined(unsigned site_number, const row *in, const placed *of, unsigned bytes, int sign) {
    struct joined *const to = &joined[site_number];
    touched lines;
    row shape = *in;
    const cost its = known_cost(&sites[site_number], &shape, of, bytes, &lines);
    to->requests += sign;
    to->lanes += sign * __builtin_popcount(of->lanes);
    to->wavefronts += sign * (int)its.wavefronts;
    to->ideal += sign * (int)its.ideal;
}

// Of a load, a missing element is loaded with the three others.
static void count_group(row *in, group of) {
    const unsigned bytes = sites[in->site].bytes, all = (1u << WIDEST / bytes) - 1;
    for (unsigned i = 0; of.of_several && of.elements >> i; ++i)
        if (of.elements >> i & 1)
            add_joined(of.sites[i], in, &(placed){of.chunk.base + i * bytes, of.chunk.lanes}, bytes, 1);
    if (of.of_several && !(sites[in->site].kind & EMU_WRITES) && __builtin_popcount(of.elements) == 3)
        of.elements = all;
    for (unsigned first = 0, some; of.elements >> first; first += some) {
        some = 1;
        if (!(of.elements >> first & 1)) continue;
        for (unsigned more;
             more = (1u << 2 * some) - 1, first % (2 * some) == 0 && (of.elements >> first & more) == more;)
            some *= 2;
        const placed it = {of.chunk.base + first * bytes, of.chunk.lanes};
        count_request(in, &it, some * bytes);
        if (of.of_several) add_joined(in->site, in, &it, some * bytes, -1);
    }
}

// The launch has shown of which sites nvcc cannot know that they are neighbors: s[i] + s[i + d], and d was 1 at
// first.
static void part_joined(void) {
    for (int goes_on = 1; goes_on;) {
        goes_on = 0;
        for (unsigned i = 0; i < site_count; ++i) {
            unsigned char *const its = &joined[i].phase, *const of_other = &joined[joined[i].with].phase;
            if ((*its == VARIES) == (*of_other == VARIES)) continue;
            *its = *of_other = VARIES;
            goes_on = 1;
        }
    }
    for (unsigned i = 0; i < site_count; ++i) {
        if (joined[i].phase != VARIES) continue;
        sites[i].requests += (uint64_t)joined[i].requests;
        sites[i].lanes += (uint64_t)joined[i].lanes;
        sites[i].wavefronts += (uint64_t)joined[i].wavefronts;
        sites[i].ideal += (uint64_t)joined[i].ideal;
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

static void list(row *in) {
    if (listed[in->warp].count == listed[in->warp].room) {
        listed[in->warp].room = listed[in->warp].room ? 2 * listed[in->warp].room : 64;
        listed[in->warp].of = realloc(listed[in->warp].of, listed[in->warp].room * sizeof *listed[in->warp].of);
        if (!listed[in->warp].of) abort();
    }
    listed[in->warp].of[listed[in->warp].count++] = in;
    in->is_listed = 1;
}

// Is the element of `site` one of a chunk that `in` holds?
static int add_element(row *in, const placed *chunk, unsigned size, unsigned element, unsigned site_number) {
    for (unsigned i = 0; i < in->held_count; ++i) {
        group *const to = &in->held[i];
        if (chunk->lanes != to->chunk.lanes || chunk->base != to->chunk.base || to->elements >> element & 1) continue;
        to->elements |= 1u << element;
        to->sites[element] = (unsigned short)site_number;
        to->of_several |= site_number != in->site;
        if (to->elements == (1u << size) - 1) end_group(in, i);
        return 1;
    }
    return 0;
}

static int add_to_neighbor(const row *in, const placed *chunk, unsigned size, unsigned element) {
    const site *const at = &sites[in->site];
    const unsigned count = listed[in->warp].count;
    for (unsigned i = count > NEIGHBORS ? count - NEIGHBORS : 0; i < count; ++i) {
        row *const other = listed[in->warp].of[i];
        const site *const its = &sites[other->site];
        if (other == in || other->hash != in->hash || other->others != in->others || its->bytes != at->bytes ||
            its->kind != at->kind || joined[other->site].phase == VARIES)
            continue;
        if (!add_element(other, chunk, size, element, in->site)) continue;
        joined[in->site].with = (unsigned short)other->site;
        return 1;
    }
    return 0;
}

static void hold(row *in, const placed *of) {
    const unsigned bytes = sites[in->site].bytes;
    const uint32_t others = made[in->warp][sites[in->site].kind & EMU_WRITES ? 0 : 1];
    if (in->others != others) count_held(in);
    in->others = others;
    if (!in->hash) look_at_shape(in);
    unsigned char *const phase = &joined[in->site].phase;
    const unsigned char its_phase = (unsigned char)(1 + of->base % (2 * bytes));
    *phase = *phase && *phase != its_phase ? VARIES : its_phase;
    const unsigned width = in->unaligned % WIDEST ? 2 * bytes : WIDEST;
    if (in->unaligned % width) {
        count_request(in, of, bytes);
        return;
    }
    const placed chunk = {of->base - of->base % width, of->lanes};
    const unsigned size = width / bytes, element = (unsigned)(of->base - chunk.base) / bytes;
    if (add_element(in, &chunk, size, element, in->site)) return;
    if (*phase != VARIES && add_to_neighbor(in, &chunk, size, element)) return;
    if (!in->held) in->held = malloc(GROUPS * sizeof *in->held);
    if (!in->held) abort();
    if (in->held_count == GROUPS) end_group(in, 0);
    if (!in->is_listed) list(in);
    group *const new = &in->held[in->held_count++];
    *new = (group){.chunk = chunk, .elements = 1u << element};
    new->sites[element] = (unsigned short)in->site;
}

static void forget_stored(unsigned warp);

void requests_converge(unsigned warp) {
    forget_stored(warp);
    for (unsigned i = 0; i < listed[warp].count; ++i) {
        count_held(listed[warp].of[i]);
        listed[warp].of[i]->is_listed = 0;
    }
    listed[warp].count = 0;
}

// --- Members that are joined ---------------------------------------------------------------------------------------
//
//   p[i].x + p[i].y   nvcc loads both at once if the type of p[i] tells that they are aligned
//
// as far as they are in one block of code, and nothing is stored between that could be one of them. The kernel's code
// tells of which types it takes members: it checks pointers' alignment (-fsanitize=alignment) in front of the access:
//
//   74 <distance to A> ... 48 8d 3d <of what follows: type> e8 <handler>    A: <first argument> e8 <callback>
enum { MOST_VECTORS = 8 };

static unsigned alignment_at(uintptr_t after, int *is_member) {
#ifdef __x86_64__
    enum { CALL = 5, ARGUMENT = 24, LEAST = 12, MOST = 40 };
    const unsigned char *const call = (const unsigned char *)after - CALL;
    for (const unsigned char *at = call; at > call - ARGUMENT; --at) {
        if (at[-5] != 0xe8 || memcmp(at - 12, "\x48\x8d\x3d", 3)) continue;
        for (unsigned distance = LEAST; distance < MOST; ++distance) {
            const unsigned to = at[-(int)distance - 1] - distance; // A is here, or behind padding
            if (at[-(int)distance - 2] != 0x74 || to >= WIDEST) continue;
            int32_t offset;
            memcpy(&offset, at - 9, sizeof offset);
            const struct { // as checker/callbacks.cpp has it
                const char *file;
                unsigned line, column;
                const void *type;
                unsigned char log_alignment, kind;
            } *const of = (const void *)(at - 5 + offset);
            enum { MEMBER = 3 };
            *is_member = of->kind == MEMBER;
            return 1u << (of->log_alignment & 7);
        }
    }
#endif
    (void)after, (void)is_member;
    return 0;
}

// A struct that is copied as a whole: nvcc makes as many accesses as the alignment of its type asks for.
static void count_whole(row *in, const placed *of) {
    const unsigned bytes = sites[in->site].bytes, align = alignment[in->site];
    const unsigned part = sites[in->site].space == EMU_SPACE_GLOBAL && align && align < bytes ? align : bytes;
    if (part < bytes) sites[in->site].part = part;
    for (unsigned i = 0; i < bytes; i += part) count_request(in, &(placed){of->base + i, of->lanes}, part);
}

unsigned requests_word(const emu_where *at) {
    int is_member;
    const unsigned align = at->code ? alignment_at(at->code + 1, &is_member) : 0;
    return align > WIDEST ? WIDEST : align ? align : WORD;
}

typedef struct vector { // members of one aligned object in each lane
    row *of;            // of the first of them
    request its;        // the objects
    unsigned is_store, unit, align;
    uint32_t members, barred; // bits: bytes; barred: may have been stored since
} vector;
static vector vectors[MOST_VECTORS];
static unsigned vector_count;

static void count_members(const vector *of, unsigned begin, unsigned bytes) {
    const unsigned first = (unsigned)__builtin_ctz(of->its.lanes);
    const uintptr_t object = of->its.address[first] - of->of->shape[first];
    count_request(of->of, &(placed){object + begin, of->its.lanes}, bytes);
}

// Two, or four, aligned members. Of a load, a missing one is filled in if there are the first one and two others.
static void end_vector(unsigned number) {
    vector it = vectors[number];
    vectors[number] = vectors[--vector_count];
    const uint32_t one = (1u << it.unit) - 1, all = (1u << it.align) - 1;
    const unsigned members = (unsigned)__builtin_popcount(it.members) / it.unit;
    const int is_half = (it.members & all >> it.align / 2) == it.members;
    if (!it.is_store && it.align == 4 * it.unit && it.members & one && !is_half &&
        members >= (it.unit < WORD ? 2 : 3))
        it.members = all;
    for (unsigned begin = 0, size; begin < it.align; begin += size) {
        size = it.unit;
        if (!(it.members >> begin & one)) continue;
        while (2 * size <= it.align && begin % (2 * size) == 0 &&
               (it.members >> begin & ((1u << 2 * size) - 1)) == (1u << 2 * size) - 1)
            size *= 2;
        count_members(&it, begin, size);
    }
}

void requests_separate(void) {
    while (vector_count) end_vector(0);
}

static int are_members_of(const vector *in, const request *of, unsigned offset) {
    if (in->its.lanes != of->lanes) return 0;
    for (uint32_t rest = of->lanes; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        if (of->address[lane] - in->its.address[lane] != offset) return 0;
    }
    return 1;
}

static void add_member(row *in, const request *of) {
    const site *const at = &sites[in->site];
    const uintptr_t address = of->address[__builtin_ctz(of->lanes)];
    const unsigned is_store = at->kind & EMU_WRITES, bytes = at->bytes;
    const unsigned align = alignment[in->site] > WIDEST ? WIDEST : alignment[in->site];
    const unsigned offset = address % (align ? align : 1);
    const uint32_t members = ((1u << bytes) - 1) << offset;
    for (unsigned i = vector_count; i--;) {
        vector *const other = &vectors[i];
        const int is_near = address - offset == other->its.address[__builtin_ctz(of->lanes)];
        if (other->is_store == is_store && other->align == align && other->unit == bytes && is_near &&
            are_members_of(other, of, offset) && !((is_store ? other->members : other->barred) & members)) {
            other->members |= members; // also if it is loaded again
            return;
        }
        if (!other->is_store && !is_store) continue;
        if (align != other->align || (other->is_store && other->members & members))
            end_vector(i);
        else
            other->barred |= members;
    }
    if (align <= bytes) {
        count_whole(in, &(placed){address - in->shape[__builtin_ctz(of->lanes)], of->lanes});
        return;
    }
    if (vector_count == MOST_VECTORS) end_vector(0);
    vector *const to = &vectors[vector_count++];
    *to = (vector){.of = in, .its = *of, .is_store = is_store, .unit = bytes, .align = align, .members = members};
    for (unsigned lane = 0; lane < LANES; ++lane) to->its.address[lane] -= offset;
}

// --- What a warp has just stored -----------------------------------------------------------------------------------
//
//   y[i] = 0; for (...) y[i] += x[k];   nvcc keeps y[i] in a register, and only stores it
//
// as long as nothing else is stored that could be y[i]: only other members of its struct.
enum { MOST_STORED = 8, NEAR = 64 };
static struct {
    unsigned count;
    struct {
        request at;
        unsigned bytes;
    } of[MOST_STORED];
} stored[MOST_WARPS];

static int is_at_distance(const request *from, const request *of, intptr_t distance) {
    for (uint32_t rest = of->lanes; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        if ((intptr_t)(of->address[lane] - from->address[lane]) != distance) return 0;
    }
    return 1;
}

static int is_stored(unsigned warp, const request *of, unsigned bytes) {
    for (unsigned i = 0; i < stored[warp].count; ++i)
        if (stored[warp].of[i].bytes == bytes && !(of->lanes & ~stored[warp].of[i].at.lanes) &&
            is_at_distance(&stored[warp].of[i].at, of, 0))
            return 1;
    return 0;
}

static void forget_stored(unsigned warp) {
    stored[warp].count = 0;
}

static void note_stored(unsigned warp, const request *of, unsigned bytes, int is_member) {
    const unsigned first = (unsigned)__builtin_ctz(of->lanes), count = stored[warp].count;
    unsigned left = 0;
    for (unsigned i = count == MOST_STORED; i < count; ++i) {
        const request *const other = &stored[warp].of[i].at;
        const intptr_t distance = (intptr_t)(of->address[first] - other->address[first]);
        const intptr_t apart = distance < 0 ? bytes : stored[warp].of[i].bytes;
        const intptr_t size = distance < 0 ? -distance : distance;
        if (is_member && other->lanes == of->lanes && size >= apart && size < NEAR &&
            is_at_distance(other, of, distance))
            stored[warp].of[left++] = stored[warp].of[i];
    }
    stored[warp].of[left].at = *of;
    stored[warp].of[left].bytes = bytes;
    stored[warp].count = left + 1;
}

// --- Requests ------------------------------------------------------------------------------------------------------

static struct { // of an instruction, if it accesses the same memory as before
    uint64_t note;
    range in;
    row *of; // [MOST_WARPS]; NULL: what is there does not count
} known[MOST_SITES];
static range recent[RECENT];
static unsigned next_recent;
static range (*find)(uintptr_t address); // requests_start

static void add_fitting(row *in, const request *of, uintptr_t base) {
    const site *const at = &sites[in->site];
    const placed it = {base, of->lanes};
    const int is_plain = at->kind == EMU_READS || at->kind == EMU_WRITES;
    if (at->space == EMU_SPACE_GLOBAL) {
        if (at->kind == EMU_READS && is_stored(in->warp, of, at->bytes)) return;
        if (!is_plain) forget_stored(in->warp);
        if (at->kind == EMU_WRITES) note_stored(in->warp, of, at->bytes, is_of_member[in->site]);
    }
    if (at->kind & IS_JOINED)
        hold(in, &it);
    else if (at->space == EMU_SPACE_GLOBAL && is_plain && (vector_count || alignment[in->site] > at->bytes))
        add_member(in, of);
    else
        count_whole(in, &it);
    if (at->space != EMU_SPACE_SHARED) return;
    if (at->kind & EMU_READS) ++made[in->warp][0];
    if (at->kind & EMU_WRITES) ++made[in->warp][1];
}

static int fits(const row *in, const request *of, uintptr_t base) {
    uintptr_t differs = 0;
    if (of->lanes == UINT32_MAX)
        for (unsigned lane = 0; lane < LANES; ++lane) differs |= (of->address[lane] - in->shape[lane]) ^ base;
    else
        for (uint32_t rest = of->lanes; rest; rest &= rest - 1) {
            const unsigned lane = (unsigned)__builtin_ctz(rest);
            differs |= (of->address[lane] - in->shape[lane]) ^ base;
        }
    return !differs;
}

static void add(row *in, const request *of) {
    if (sites[in->site].name) {
        count_operation(&sites[in->site], of->lanes);
        return;
    }
    const unsigned first = (unsigned)__builtin_ctz(of->lanes);
    const uintptr_t base = of->address[first] - in->shape[first];
    if (!fits(in, of, base)) {
        count_held(in); // which has the shape, too
        in->hash = 0;
        for (uint32_t rest = of->lanes; rest; rest &= rest - 1) {
            const unsigned lane = (unsigned)__builtin_ctz(rest);
            in->shape[lane] = of->address[lane] - base;
        }
    }
    add_fitting(in, of, base);
}

static range find_range(uintptr_t address) {
    for (unsigned i = 0; i < RECENT; ++i)
        if (address - recent[i].begin < recent[i].bytes) return recent[i];
    return recent[next_recent++ % RECENT] = find(address);
}

// Its lanes may access different kinds of memory.
static __attribute__((noinline)) void make_slowly(unsigned warp, uint64_t note, const request *of, size_t place) {
    const unsigned what = (unsigned)(note >> EMU_CODE_BITS), kind = what & EMU_NOTED_KINDS;
    const size_t bytes = (size_t)1 << what / (EMU_NOTED_KINDS + 1);
    const emu_where at = {.code = (uintptr_t)(note << (64 - EMU_CODE_BITS) >> (64 - EMU_CODE_BITS)) - 1};
    request part[EMU_SPACES + 1]; // the last one does not count
    for (int space = 0; space <= EMU_SPACES; ++space) part[space].lanes = 0;
    known[place].note = note;
    known[place].of = NULL;
    for (uint32_t rest = of->lanes; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        known[place].in = find_range(of->address[lane]);
        request *const to = &part[known[place].in.space];
        to->lanes |= rest & -rest;
        to->address[lane] = of->address[lane];
    }
    for (int space = 0; space < EMU_SPACES; ++space) {
        if (!part[space].lanes) continue;
        const int may_join = space == EMU_SPACE_SHARED && !(kind & EMU_VOLATILE) && (bytes == 4 || bytes == 8);
        row *const to = rows[requests_site(&at, bytes, kind | (may_join ? IS_JOINED : 0), (emu_space)space)];
        if (space == known[place].in.space) known[place].of = to;
        int is_member = 0;
        alignment[to->site] = (unsigned char)alignment_at(at.code + 1, &is_member);
        is_of_member[to->site] = (unsigned char)is_member;
        add(&to[warp], &part[space]);
    }
}

void requests_make(unsigned warp, uint64_t note, const request *of) {
    if (note < MOST_SITES) {
        add(&rows[note][warp], of);
        return;
    }
    const size_t i = (note ^ note >> 12) % MOST_SITES;
    const range *const of_all = &known[i].in;
    uint32_t outside = known[i].note != note;
    if (!outside && known[i].of) {
        row *const in = &known[i].of[warp];
        const unsigned first = (unsigned)__builtin_ctz(of->lanes);
        const uintptr_t base = of->address[first] - in->shape[first], begin = base - of_all->begin;
        if (in->hash && begin + in->least < of_all->bytes && begin + in->most < of_all->bytes && fits(in, of, base)) {
            add_fitting(in, of, base);
            return;
        }
    }
    for (uint32_t rest = of->lanes; rest; rest &= rest - 1)
        outside |= of->address[__builtin_ctz(rest)] - of_all->begin >= of_all->bytes;
    if (outside)
        make_slowly(warp, note, of, i);
    else if (known[i].of)
        add(&known[i].of[warp], of);
}

void requests_forget_memory(void) {
    memset(known, 0, sizeof known);
    memset(recent, 0, sizeof recent);
}

// --- When ----------------------------------------------------------------------------------------------------------

void requests_start(unsigned threads, size_t dynamic_shared, range (*find_memory)(uintptr_t address)) {
    caches_start(threads, dynamic_shared);
    statics.least = SIZE_MAX, statics.most = 0;
    site_count = 0;
    find = find_memory;
    memset(places, 0, sizeof places);
    requests_forget_memory();
}

void requests_block_begin(uint64_t number, uintptr_t begin, size_t static_bytes) {
    caches_block_begin(number);
    statics.begin = begin, statics.bytes = static_bytes;
}

void requests_block_end(void) {
    caches_converge();
    caches_block_end();
    for (unsigned i = 0; i < site_count; ++i) sites[i].step_warp = MOST_WARPS; // other blocks add no steps
}

cache_figures requests_end(void) {
    const cache_figures result = caches_end(statics.most ? statics.most - statics.least : 0);
    for (unsigned i = 0; i < site_count; ++i) sites[i].hits = caches_hits(i);
    part_joined();
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
        for (unsigned warp = 0; warp < MOST_WARPS; ++warp) free(rows[i][warp].held);
        free(rows[i]);
        rows[i] = NULL;
    }
    for (unsigned warp = 0; warp < MOST_WARPS; ++warp) {
        free(listed[warp].of);
        memset(&listed[warp], 0, sizeof listed[warp]);
    }
    caches_clear();
    site_count = 0;
}
