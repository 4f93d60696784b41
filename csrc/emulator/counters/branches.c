// Branches: which blocks of code the lanes of a warp execute together, and where they part.
//
//   noted of each lane    lane 0:  A a B D d    replayed as a GPU would:  A, its access a of lanes 0, 1; they part
//   while it runs         lane 1:  A a C c D d                           B of lane 0; C of lane 1; D of both
//
// Lanes run one after another. The blocks of code that they enter, and their accesses there, are replayed when all
// have come to a barrier, or when a lane has noted too much. Those that are furthest behind go first: the ones in the
// deepest call, and of these, those at the lowest address. Code lies in the order of its source, so lanes that have
// parted meet again behind the branch, or behind the loop.
//
// A block is replayed once it is known where its lanes go from there. So the last one of each path waits; at a
// barrier, only its accesses are made.
#include <stdlib.h>
#include <string.h>

#include "counters.h"

enum { MOST_BLOCKS = 1 << 14, MOST_THREADS = 1024, MOST_DEPTH = 64, WAYS = 2 };
enum { SPARE = 32, ROOM = 1 << 11, MORE_ROOM = EMU_NOTES - 2 * SPARE }; // of a path; SPARE: for the core's notes
enum { FEW = 8 };               // notes that are compared without a call of memcmp
enum { YIELDS = 4 };            // to lanes that are behind, and do not come nearer
#define END          UINT64_MAX // of a thread's path
#define STACK        ((uintptr_t)1 << 19)
#define CODE_OF(key) ((key) & (((uint64_t)1 << EMU_CODE_BITS) - 1))
#define FIRST_BLOCK  ((uint64_t)1 << (EMU_CODE_BITS + 8)) // smaller: an access
#define CALL_OF(key) ((key) >> EMU_CODE_BITS)             // smaller in a deeper call

static code_block blocks[MOST_BLOCKS]; // the first one stands for those that have no room
static unsigned block_count;
static struct {
    uintptr_t code; // 0: none
    unsigned number;
} next_blocks[MOST_BLOCKS][WAYS];              // the first ones that lanes have gone to from a block
static unsigned short places[2 * MOST_BLOCKS]; // of the blocks, by their code; 0: none

typedef struct caller { // the block that each call was made from, as far as the warp is in it
    uint64_t call;
    unsigned block;
} caller;
struct branches { // of a block of threads
    unsigned threads;
    size_t room;
    uint64_t executed[MOST_THREADS / LANES]; // notes
    emu_path paths[MOST_THREADS];
    caller callers[MOST_THREADS / LANES][MOST_DEPTH]; // the last one: the block of code that has been executed last
    unsigned depth[MOST_THREADS / LANES];
    uint64_t noted[]; // of each thread: EMU_NOTES, and as many addresses
};
static branches *now;

static uint64_t *noted_of(unsigned thread) {
    return now->noted + thread * (size_t)(2 * EMU_NOTES);
}

// --- Blocks --------------------------------------------------------------------------------------------------------

static unsigned block_number(uint64_t key) {
    const uintptr_t code = CODE_OF(key);
    size_t i = code * 0x9e3779b97f4a7c15u >> 49;
    for (; places[i]; i = (i + 1) % (2 * MOST_BLOCKS))
        if (blocks[places[i]].code == code) return places[i];
    if (block_count == MOST_BLOCKS) return 0;
    places[i] = (unsigned short)block_count;
    blocks[block_count] = (code_block){.code = code};
    return block_count++;
}

static inline void enter(unsigned warp, uint64_t key, unsigned number, unsigned threads) {
    caller *const of = now->callers[warp];
    unsigned count = now->depth[warp];
    while (count && of[count - 1].call <= CALL_OF(key)) --count;
    if (count < MOST_DEPTH) of[count++] = (caller){CALL_OF(key), number};
    now->depth[warp] = count;
    blocks[number].threads += threads;
    ++blocks[number].warps;
}

// From the block that has been executed last. The branch is in that block, or behind the call that ends with it.
static inline unsigned go_to(unsigned warp, uint64_t key, code_block **branch) {
    unsigned i = now->depth[warp] - 1;
    *branch = &blocks[now->callers[warp][i].block];
    if (CALL_OF(key) >= now->callers[warp][0].call) { // back in the function that has called the kernel
        (*branch)->ends = 1;
        return key == END ? 0 : block_number(key);
    }
    while (now->callers[warp][i].call < CALL_OF(key)) --i;
    const unsigned from = now->callers[warp][i].block;
    *branch = &blocks[from];
    for (int way = 0; way < WAYS; ++way) {
        if (next_blocks[from][way].code == CODE_OF(key)) return next_blocks[from][way].number;
        if (next_blocks[from][way].code) continue;
        next_blocks[from][way].code = CODE_OF(key);
        return next_blocks[from][way].number = block_number(key);
    }
    return block_number(key);
}

// --- The lanes of a warp -------------------------------------------------------------------------------------------

typedef struct group { // lanes that are in front of the same block
    uint64_t key;
    uint32_t lanes;
    unsigned number; // of the block
    size_t known;    // of each of their paths, at least so many blocks can be executed
} group;

typedef struct lanes {
    unsigned warp, count, groups;
    uint64_t *at[LANES];   // where they are in their paths
    uint64_t *end[LANES];  // the last block, of which it is not known where it leads
    uint64_t *next[LANES]; // behind its accesses
    group group[LANES];    // those furthest behind come last
} lanes;

static void add(lanes *to, group one) {
    unsigned i = to->groups;
    while (i && to->group[i - 1].key < one.key) --i;
    if (i && to->group[i - 1].key == one.key) {
        group *const other = &to->group[i - 1];
        other->lanes |= one.lanes;
        if (one.known < other->known) other->known = one.known;
        return;
    }
    for (unsigned j = to->groups++; j > i; --j) to->group[j] = to->group[j - 1];
    to->group[i] = one;
}

static size_t known_of(const lanes *of, uint32_t some) {
    size_t known = EMU_NOTES;
    for (; some; some &= some - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(some);
        const size_t left = (size_t)(of->end[lane] - of->at[lane]);
        if (left < known) known = left;
    }
    return known;
}

static void open_lanes(lanes *of, unsigned warp) {
    const unsigned rest = now->threads - warp * LANES;
    of->warp = warp;
    of->count = rest < LANES ? rest : LANES;
    of->groups = 0;
    for (unsigned lane = 0; lane < of->count; ++lane) {
        const unsigned thread = warp * LANES + lane;
        const int has_begun = now->paths[thread].next != noted_of(thread);
        of->at[lane] = noted_of(thread);
        of->next[lane] = now->paths[thread].next;
        of->end[lane] = of->next[lane] - has_begun;
        while (of->end[lane] != of->at[lane] && *of->end[lane] < FIRST_BLOCK) --of->end[lane];
        const uint64_t key = has_begun ? *noted_of(thread) : 0;
        if (key != END) add(of, (group){key, 1u << lane, key ? block_number(key) : 0, 0});
    }
}

static void close_lanes(const lanes *of) {
    for (unsigned lane = 0; lane < of->count; ++lane) {
        const unsigned thread = of->warp * LANES + lane;
        const size_t left = (size_t)(of->next[lane] - of->at[lane]);
        if (of->at[lane] == noted_of(thread)) continue;
        now->paths[thread].next = noted_of(thread) + left;
        *noted_of(thread) = *of->at[lane]; // mostly, this block is all that is left
        if (left == 1) continue;
        memmove(noted_of(thread), of->at[lane], left * sizeof(uint64_t));
        memmove(noted_of(thread) + EMU_NOTES, of->at[lane] + EMU_NOTES, left * sizeof(uint64_t));
    }
}

// How many blocks these lanes execute together: until they part, or come to one that others wait in front of.
static size_t common(const lanes *of, const group *these, uint64_t limit) {
    const uint64_t *const path = of->at[__builtin_ctz(these->lanes)];
    size_t count = 1;
    while (count < these->known && path[count] < limit) ++count;
    for (uint32_t rest = these->lanes & (these->lanes - 1); rest && count > 1; rest &= rest - 1) {
        const uint64_t *const other = of->at[__builtin_ctz(rest)];
        size_t equal = 1;
        if (count > FEW && !memcmp(path + 1, other + 1, (count - 1) * sizeof *path)) continue;
        while (equal < count && path[equal] == other[equal]) ++equal;
        count = equal;
    }
    return count;
}

// The accesses that come next in the paths of some lanes, up to their next blocks. Mostly, there are none.
static int access_rest(lanes *of, uint32_t some) {
    int count = 0;
    while (some) {
        const unsigned first = (unsigned)__builtin_ctz(some);
        const uint64_t note = *of->at[first];
        if (of->at[first] == of->next[first] || note >= FIRST_BLOCK) {
            some &= some - 1;
            continue;
        }
        request it = {0};
        for (uint32_t rest = some; rest; rest &= rest - 1) {
            const unsigned lane = (unsigned)__builtin_ctz(rest);
            if (of->at[lane] == of->next[lane] || *of->at[lane] != note) continue;
            it.address[lane] = of->at[lane]++[EMU_NOTES];
            it.lanes |= (uint32_t)(it.address[lane] != 0) << lane;
        }
        if (it.lanes) requests_make(of->warp, note, &it);
        ++count;
    }
    requests_separate();
    return count;
}

static void access_together(const lanes *of, uint32_t some, size_t i) {
    const uint64_t note = of->at[__builtin_ctz(some)][i];
    request it;
    it.lanes = some;
    if (some == UINT32_MAX)
        for (unsigned lane = 0; lane < LANES; ++lane) it.address[lane] = of->at[lane][EMU_NOTES + i];
    else
        for (uint32_t rest = some; rest; rest &= rest - 1) {
            const unsigned lane = (unsigned)__builtin_ctz(rest);
            it.address[lane] = of->at[lane][EMU_NOTES + i];
        }
    for (uint32_t rest = note < MOST_SITES ? some : 0; rest; rest &= rest - 1)
        if (!it.address[__builtin_ctz(rest)]) it.lanes &= ~(rest & -rest);
    if (it.lanes) requests_make(of->warp, note, &it);
}

static void execute(lanes *of, const group *these, size_t count) {
    const uint64_t *const path = of->at[__builtin_ctz(these->lanes)];
    const unsigned threads = (unsigned)__builtin_popcount(these->lanes);
    code_block *branch;
    enter(of->warp, *path, these->number, threads);
    for (size_t i = 1; i < count; ++i) {
        if (path[i] < FIRST_BLOCK) {
            access_together(of, these->lanes, i);
            continue;
        }
        requests_separate();
        enter(of->warp, path[i], go_to(of->warp, path[i], &branch), threads);
    }
    for (uint32_t rest = these->lanes; rest; rest &= rest - 1) of->at[__builtin_ctz(rest)] += count;
    const size_t known = access_rest(of, these->lanes) ? 0 : these->known - count; // 0: it is found out again
    for (uint32_t rest = these->lanes, ways = 0; rest; ++ways) {                   // each way that they go on
        const uint64_t key = *of->at[__builtin_ctz(rest)];
        group one = {key, 0, go_to(of->warp, key, &branch), known};
        for (uint32_t left = rest; left; left &= left - 1)
            if (*of->at[__builtin_ctz(left)] == key) one.lanes |= left & -left;
        rest &= ~one.lanes;
        branch->divergent += ways > 0;
        if (key != END) add(of, one);
    }
    now->executed[of->warp] += count;
}

// The accesses of the last blocks.
static void access_last(lanes *of, uint32_t some) {
    uint64_t block[LANES];
    for (uint32_t rest = some; rest; rest &= rest - 1) block[__builtin_ctz(rest)] = *of->at[__builtin_ctz(rest)]++;
    access_rest(of, some);
    for (uint32_t rest = some; rest; rest &= rest - 1) *--of->at[__builtin_ctz(rest)] = block[__builtin_ctz(rest)];
}

// If it is not known where a lane goes from its block, the others wait for it before they pass it, unless they are
// `forced` to go on.
static void replay(unsigned warp, int forced) {
    lanes of;
    uint32_t last_blocks = 0; // lanes that are in them
    for (open_lanes(&of, warp); of.groups;) {
        group *const last = &of.group[of.groups - 1];
        if (!last->known) {
            uint32_t stuck = 0;
            for (uint32_t rest = last->lanes; rest; rest &= rest - 1) {
                const unsigned lane = (unsigned)__builtin_ctz(rest);
                if (of.at[lane] == of.end[lane]) stuck |= rest & -rest;
            }
            if (stuck && !forced) break;
            last_blocks |= stuck;
            last->lanes &= ~stuck;
            last->known = known_of(&of, last->lanes);
        }
        const group these = *last;
        --of.groups;
        if (!these.lanes) continue;
        const size_t count = common(&of, &these, of.groups ? of.group[of.groups - 1].key : END);
        execute(&of, &these, count);
    }
    for (uint32_t rest = last_blocks; rest; rest &= rest - 1)
        if (of.at[__builtin_ctz(rest)] == of.next[__builtin_ctz(rest)]) last_blocks &= ~(rest & -rest); // not begun
    access_last(&of, last_blocks);
    close_lanes(&of);
}

void branches_full(void) {
    const unsigned thread = emu_threadIdx.thread, warp = thread / LANES;
    const emu_path *const path = &now->paths[thread];
    for (int yields = 0; yields < YIELDS; ++yields) {
        const uint64_t before = now->executed[warp];
        replay(warp, 0);
        if (path->next < path->end) return;
        if (now->executed[warp] != before) yields = 0;
        if (now->room == MORE_ROOM) break; // (of blocks that take turns: another one would come in between)
        emu_yield();
    }
    replay(warp, 1);
}

void branches_note(unsigned thread, uint64_t note, uintptr_t address) {
    emu_path *const path = &now->paths[thread];
    if (path->next == path->end + SPARE) replay(thread / LANES, 1); // (other threads cannot run now)
    path->next[EMU_NOTES] = address;
    *path->next++ = note;
}

void branches_begin(unsigned thread) {
    emu_path *const path = &now->paths[thread];
    path->next = noted_of(thread);
    path->base = (uintptr_t)__builtin_frame_address(0) / 16 * 16 - STACK;
    path->local = emu_local(&path->local_bytes);
    if (now->room == MORE_ROOM) path->local = 0, path->local_bytes = SIZE_MAX; // the core must find addresses
}

void branches_end(unsigned thread) {
    *now->paths[thread].next++ = END;
}

void branches_converge(unsigned warp) {
    replay(warp, 1);
    requests_converge(warp);
}

void branches_converge_all(void) {
    for (unsigned warp = 0; warp * LANES < now->threads; ++warp) branches_converge(warp);
}

branches *branches_new(unsigned threads, int is_alone) {
    const size_t room = is_alone ? ROOM : MORE_ROOM;
    branches *of = malloc(sizeof *of + threads * 2 * sizeof *of->noted * EMU_NOTES);
    if (!of) abort();
    of->threads = threads;
    of->room = room;
    branches_use(of);
    branches_clear();
    return of;
}

void branches_clear(void) {
    memset(now->depth, 0, sizeof now->depth);
    memset(now->executed, 0, sizeof now->executed);
    for (unsigned thread = 0; thread < now->threads; ++thread)
        now->paths[thread] = (emu_path){.next = noted_of(thread), .end = noted_of(thread) + now->room};
}

emu_path *branches_use(branches *of) {
    now = of;
    return of->paths;
}

void branches_start(void) {
    memset(next_blocks, 0, block_count * sizeof *next_blocks);
    memset(places, 0, sizeof places);
    blocks[0] = (code_block){0};
    block_count = 1;
}

size_t branches_blocks(const code_block **all) {
    *all = blocks;
    return block_count;
}
