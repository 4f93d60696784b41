// Branches: which blocks of code the lanes of a warp execute together, and where they part.
//
//   noted of each lane          lane 0:  A B D      replayed as a GPU would:   A of lanes 0, 1; they part
//   while it runs               lane 1:  A C D                                 B of lane 0; C of lane 1; D of both
//
// Lanes run one after another. What they have entered is replayed when all have come to a barrier, or when a lane has
// noted too much. Those that are furthest behind go first: the ones in the deepest call, and of these, those at the
// lowest address. Code lies in the order of its source, so lanes that have parted meet again behind the branch, or
// behind the loop.
//
// A block is replayed once it is known where its lanes go from there. So the last one of each path waits.
#include <string.h>

#include "counters.h"

enum { MOST_BLOCKS = 1 << 14, MOST_THREADS = 1024, MOST_DEPTH = 64, PATH = 1 << 11, GAP = 8 };
#define END          UINT64_MAX // of a thread's path
#define STACK        ((uintptr_t)1 << 19)
#define CODE_OF(key) ((key) & (((uint64_t)1 << EMU_CODE_BITS) - 1))
#define CALL_OF(key) ((key) >> EMU_CODE_BITS) // smaller in a deeper call

static code_block blocks[MOST_BLOCKS]; // the first one stands for those that have no room
static unsigned block_count;
static unsigned short places[2 * MOST_BLOCKS]; // of the blocks, by their code; 0: none

static emu_path paths[MOST_THREADS];
static uint64_t noted[MOST_THREADS][PATH + GAP]; // GAP: or else all of them would want the same part of a cache
static unsigned thread_count;

typedef struct caller { // the block that each call was made from, as far as the warp is in it
    uint64_t call;
    unsigned block;
} caller;
static caller callers[MOST_THREADS / LANES][MOST_DEPTH];
static unsigned depth[MOST_THREADS / LANES];

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

// The lanes have entered this block. Which one have they last executed at each depth?
static void enter(unsigned warp, uint64_t key, unsigned block) {
    caller *const of = callers[warp];
    unsigned *const count = &depth[warp];
    while (*count && of[*count - 1].call <= CALL_OF(key)) --*count;
    if (*count < MOST_DEPTH) of[(*count)++] = (caller){CALL_OF(key), block};
}

// The block whose branch leads to that one: it has the branch behind its call, if this is a return from it.
static code_block *branch_to(unsigned warp, uint64_t key) {
    unsigned i = depth[warp];
    while (i > 1 && callers[warp][i - 1].call < CALL_OF(key)) --i;
    return &blocks[i ? callers[warp][i - 1].block : 0];
}

// Lanes go from the block that they have last executed to this one.
static code_block *go_to(unsigned warp, uint64_t key) {
    if (CALL_OF(key) >= callers[warp][0].call && depth[warp]) { // back in the function that has called the kernel
        code_block *const last = &blocks[callers[warp][depth[warp] - 1].block];
        last->ends = 1;
        return last;
    }
    code_block *const from = branch_to(warp, key);
    int i = 0;
    while (i < SUCCESSORS && from->successors[i] && from->successors[i] != CODE_OF(key)) ++i;
    if (i < SUCCESSORS) from->successors[i] = CODE_OF(key);
    return from;
}

typedef struct lanes { // of a warp, which is replayed
    unsigned warp, count;
    uint64_t *at[LANES];   // the next block of each
    size_t left[LANES];    // blocks from there on, of which the next one is known
    uint64_t first[LANES]; // *at, or less if it is not known
} lanes;

static void open_lanes(lanes *of, unsigned warp) {
    const unsigned rest = thread_count - warp * LANES;
    *of = (lanes){.warp = warp, .count = rest < LANES ? rest : LANES};
    for (unsigned lane = 0; lane < of->count; ++lane) {
        const unsigned thread = warp * LANES + lane;
        const size_t count = (size_t)(paths[thread].next - noted[thread]);
        of->at[lane] = noted[thread];
        of->left[lane] = count ? count - 1 : 0;
        of->first[lane] = count ? noted[thread][0] : 0; // it has not begun
    }
}

static void close_lanes(const lanes *of) {
    for (unsigned lane = 0; lane < of->count; ++lane) {
        const unsigned thread = of->warp * LANES + lane;
        const size_t left = (size_t)(paths[thread].next - of->at[lane]);
        if (of->at[lane] != noted[thread]) memmove(noted[thread], of->at[lane], left * sizeof(uint64_t));
        paths[thread].next = noted[thread] + left;
    }
}

// The blocks that all these lanes enter one after another, up to one that others wait in front of.
static size_t common(const lanes *of, uint32_t together, uint64_t limit, int *part) {
    const uint64_t *const path = of->at[__builtin_ctz(together)];
    size_t count = PATH;
    for (uint32_t rest = together; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        if (of->left[lane] < count) count = of->left[lane];
    }
    for (size_t i = 1; limit != END && i < count; ++i)
        if (path[i] >= limit) count = i;
    size_t equal = count + 1; // with the next one of the last
    for (uint32_t rest = together & (together - 1); rest; rest &= rest - 1) {
        const uint64_t *const other = of->at[__builtin_ctz(rest)];
        if (!memcmp(path, other, equal * sizeof *path)) continue;
        equal = 1;
        while (path[equal] == other[equal]) ++equal;
    }
    *part = equal <= count;
    return *part ? equal : count;
}

// Some lanes execute `count` blocks together, and part at the end of the last one if `part`.
static void execute(lanes *of, uint32_t together, size_t count, int part) {
    const unsigned first = (unsigned)__builtin_ctz(together), threads = (unsigned)__builtin_popcount(together);
    const uint64_t *const path = of->at[first];
    for (size_t i = 0; i < count; ++i) {
        const unsigned number = block_number(path[i]);
        blocks[number].threads += threads;
        ++blocks[number].warps;
        enter(of->warp, path[i], number);
        if (i + 1 < count || !part) go_to(of->warp, path[i + 1]);
    }
    uint64_t ways[LANES]; // different ones
    unsigned way_count = 0;
    for (uint32_t rest = together; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        unsigned i = 0;
        of->at[lane] += count;
        of->left[lane] -= count;
        of->first[lane] = *of->at[lane];
        while (i < way_count && ways[i] != of->first[lane]) ++i;
        if (i == way_count) ways[way_count++] = of->first[lane];
    }
    for (unsigned i = 0; part && i < way_count; ++i) go_to(of->warp, ways[i])->divergent += i > 0;
}

// Replays what is known. If a lane is in front of which nothing is known, others behind it wait for it, unless they
// are `forced` to go on.
static void replay(unsigned warp, int forced) {
    lanes of;
    open_lanes(&of, warp);
    for (;;) {
        uint64_t least = END, limit = END;
        uint32_t together = 0;
        for (unsigned lane = 0; lane < of.count; ++lane) {
            if (of.first[lane] > least || of.first[lane] == END || (forced && !of.left[lane])) continue;
            if (of.first[lane] < least) together = 0;
            least = of.first[lane];
            together |= 1u << lane;
        }
        int waits = !together;
        for (unsigned lane = 0; lane < of.count; ++lane) {
            if (together >> lane & 1)
                waits |= !of.left[lane];
            else if (of.first[lane] < limit && !(forced && !of.left[lane]))
                limit = of.first[lane];
        }
        if (waits) break;
        int part;
        const size_t count = common(&of, together, limit, &part);
        execute(&of, together, count, part);
    }
    close_lanes(&of);
}

void branches_full(void) {
    const unsigned thread = emu_threadIdx.thread, warp = thread / LANES;
    const emu_path *const path = &paths[thread];
    replay(warp, 0);
    if (path->next != path->end) return;
    emu_yield(); // the others come nearer
    replay(warp, 0);
    if (path->next == path->end) replay(warp, 1);
}

void branches_begin(unsigned thread) {
    paths[thread].next = noted[thread];
    paths[thread].base = (uintptr_t)__builtin_frame_address(0) / 16 * 16 - STACK;
}

void branches_end(unsigned thread) {
    *paths[thread].next++ = END;
}

void branches_converge(unsigned warp) {
    replay(warp, 1);
}

void branches_converge_all(void) {
    for (unsigned warp = 0; warp * LANES < thread_count; ++warp) branches_converge(warp);
}

void branches_clear(void) {
    memset(depth, 0, sizeof depth);
    for (unsigned thread = 0; thread < thread_count; ++thread)
        paths[thread] = (emu_path){noted[thread], noted[thread] + PATH, 0};
}

emu_path *branches_start(unsigned threads) {
    block_count = 1;
    blocks[0] = (code_block){0};
    memset(places, 0, sizeof places);
    thread_count = threads;
    branches_clear();
    return paths;
}

size_t branches_blocks(const code_block **all) {
    *all = blocks;
    return block_count;
}
