// Requests: the accesses that the lanes of a warp make together.
//
//   accesses at a site, by      lane 0:  #0 #1 #2 ...
//   number since the lanes      lane 1:  #0 #1 ...
//   converged                            those of one number are one request
//
// A request ends when all lanes of the warp have come, or when those that have not cannot come any more: the warp has
// converged, at a barrier or its end. Its addresses wait in a row per site and warp, of which those in front have
// ended.
#include <stdlib.h>
#include <string.h>

#include "counters.h"

enum { MOST_SITES = 1 << 12, MOST_WARPS = 32, MOST_OPEN = 1 << 18 };

typedef struct row { // of a site and a warp
    request *of;
    uint32_t room, begin, end; // places of the requests that are open; those from `end` on have not begun
    uint32_t ended;            // requests that have ended since the lanes converged
    uint32_t done[LANES];      // accesses of each lane since then
} row;

static site sites[MOST_SITES];
static row rows[MOST_SITES][MOST_WARPS];
static unsigned site_count;
static struct {
    uintptr_t key;
    unsigned number;
} places[2 * MOST_SITES]; // of the sites, by their code
static unsigned warps;
static uint32_t present[MOST_WARPS]; // lanes that the warp has

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
    return site_count++;
}

static void count_request(site *to, const request *of, unsigned warp) {
    const cost its = to->space == EMU_SPACE_SHARED ? cost_of_shared(of, to->bytes, to->kind == EMU_READS)
                     : to->kind & EMU_ATOMIC       ? cost_of_atomics(of, to->bytes)
                                                   : cost_of_global(of, to->bytes);
    ++to->requests;
    to->lanes += (unsigned)__builtin_popcount(of->lanes);
    to->sectors += its.sectors;
    to->used += its.used;
    to->wavefronts += its.wavefronts;
    to->ideal += its.ideal;
    if (to->step_count < MOST_STEPS && (!to->step_count || to->step_warp == warp)) {
        to->step_warp = warp;
        to->steps[to->step_count++] = *of;
    }
    const uint64_t size = to->space == EMU_SPACE_SHARED ? its.wavefronts : its.sectors;
    if (size <= to->most) return;
    to->most = size;
    to->worst = *of;
}

static request *place_for(row *in, uint32_t number) { // NULL: it has ended already
    if (number < in->ended) return NULL;
    const uint32_t at = in->begin + (number - in->ended);
    if (at >= in->room) {
        if (in->begin) memmove(in->of, in->of + in->begin, (in->end - in->begin) * sizeof *in->of);
        in->end -= in->begin;
        in->begin = 0;
        if (number - in->ended >= in->room) {
            in->room = in->room ? 2 * in->room : 16;
            in->of = realloc(in->of, in->room * sizeof *in->of);
            if (!in->of) abort();
        }
        return place_for(in, number);
    }
    while (in->end <= at) in->of[in->end++].lanes = 0;
    return &in->of[at];
}

static void finish(unsigned number, row *in) {
    for (uint32_t i = in->begin; i < in->end; ++i)
        if (in->of[i].lanes) count_request(&sites[number], &in->of[i], (unsigned)(in - rows[number]));
    in->begin = in->end = in->ended = 0;
    memset(in->done, 0, sizeof in->done);
}

void requests_access(unsigned thread, const emu_where *at, const void *after, uintptr_t address, unsigned bytes,
                     unsigned kind, emu_space space) {
    const unsigned number = site_number(at, after, kind, bytes, space), warp = thread / LANES, lane = thread % LANES;
    row *const in = &rows[number][warp];
    if (in->end - in->begin >= MOST_OPEN) { // the lane is too far ahead: those before it have been counted without it
        count_request(&sites[number], &in->of[in->begin++], warp);
        ++in->ended;
    }
    request *const of = place_for(in, in->done[lane]++);
    if (!of) return;
    of->lanes |= 1u << lane;
    of->address[lane] = address;
    if (of->lanes != present[warp] || of != &in->of[in->begin]) return;
    count_request(&sites[number], of, warp);
    ++in->begin;
    ++in->ended;
}

void requests_converge(unsigned warp) {
    for (unsigned i = 0; i < site_count; ++i) finish(i, &rows[i][warp]);
}

void requests_converge_all(void) {
    for (unsigned warp = 0; warp < warps; ++warp) requests_converge(warp);
}

void requests_end_steps(void) {
    for (unsigned i = 0; i < site_count; ++i) sites[i].step_warp = MOST_WARPS;
}

void requests_start(unsigned threads) {
    site_count = 0;
    memset(places, 0, sizeof places);
    warps = (threads + LANES - 1) / LANES;
    for (unsigned warp = 0; warp < warps; ++warp) {
        const unsigned rest = threads - warp * LANES;
        present[warp] = rest >= LANES ? UINT32_MAX : (1u << rest) - 1;
    }
}

size_t requests_sites(const site **all) {
    *all = sites;
    return site_count;
}

void requests_clear(void) {
    for (unsigned i = 0; i < MOST_SITES; ++i)
        for (unsigned warp = 0; warp < MOST_WARPS; ++warp) free(rows[i][warp].of);
    memset(rows, 0, sizeof rows);
    site_count = 0;
}
