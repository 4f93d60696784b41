// Warps: 32 threads of consecutive linear ids, and the operations that their lanes execute together.
//
//   lane 0  shfl(mask 0xff) --.
//   lane 1  shfl(mask 0xff) --+--> meeting {mask 0xff, shfl}: complete when all lanes of the mask have arrived or
//   ...                       |    exited; the last to arrive computes all results, then all lanes continue
//   lane 7  shfl(mask 0xff) --'
//
// Invariants: a lane waits in at most one meeting, and every meeting has a waiting lane, so 32 meetings suffice. The
// masks of two meetings may share lanes ({0,5} before {0,6}). The results of all lanes are written before any lane
// continues, because a lane may overwrite its operand when it does. Lanes that a short last warp lacks count as
// exited.
#include "block.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const emu_warp_names[EMU_WARP_KINDS] = {
    "__syncwarp",        "__shfl_sync",       "__shfl_up_sync",    "__shfl_down_sync",
    "__shfl_xor_sync",   "__all_sync",        "__any_sync",        "__ballot_sync",
    "__match_any_sync",  "__match_all_sync",  "__reduce_add_sync", "__reduce_min_sync",
    "__reduce_max_sync", "__reduce_min_sync", "__reduce_max_sync", "__reduce_and_sync",
    "__reduce_or_sync",  "__reduce_xor_sync", "__activemask",      "a matrix operation of the warp",
    "elect_one"};

#define FOR_LANES(lane, lanes)                                                                                       \
    for (unsigned left_ = (lanes), lane; left_ && (lane = (unsigned)__builtin_ctz(left_), 1); left_ &= left_ - 1)

static emu_thread *thread_of(emu_block *block, const emu_warp_state *warp, unsigned lane) {
    return &block->threads[(warp - block->warps) * EMU_WARP + lane];
}

// --- The operations: compute each lane's result from value[] and argument[] of all lanes --------------------------

// The lane that `lane` reads from. If that would be outside the segment of `width` lanes, the lane reads its own
// value, except that xor may reach back into an earlier segment. Only the low five bits of the argument count. The
// hardware behaves in the same way.
static unsigned shuffle_source(emu_warp_kind kind, unsigned lane, unsigned argument, unsigned width) {
    unsigned first = lane & ~(width - 1), last = first | (width - 1), by = argument & 31;
    switch (kind) {
    case EMU_SHFL: return first | (by & (width - 1));
    case EMU_SHFL_UP: return lane >= first + by ? lane - by : lane;
    case EMU_SHFL_DOWN: return lane + by <= last ? lane + by : lane;
    default: return (lane ^ by) <= last ? lane ^ by : lane;
    }
}

static int exists(const emu_block *block, const emu_warp_state *warp, unsigned lane) {
    return (warp - block->warps) * EMU_WARP + lane < block->thread_count;
}

static void shuffle(emu_block *block, emu_warp_state *warp, const emu_meeting *meeting) {
    unsigned arrived = meeting->arrived;
    FOR_LANES(lane, arrived) {
        unsigned source = shuffle_source(meeting->kind, lane, (unsigned)warp->argument[lane], warp->width[lane]);
        if (EMU_UNLIKELY(!(arrived >> source & 1))) {
            emu_thread *thread = thread_of(block, warp, lane);
            block->current = thread; // report this lane, not the one that arrived last
            emu_block_fail(
                thread->file, thread->line,
                "a shuffle may only read from lanes that take part; %s with mask 0x%08x: lane %u reads from "
                "lane %u, which %s, or reduce the width or the offset",
                emu_warp_names[meeting->kind], meeting->mask, lane, source,
                !(meeting->mask >> source & 1) ? "is not in the mask. Add it to the mask"
                : exists(block, warp, source)  ? "has ended without calling it. Let it take part"
                                               : "does not exist. Launch blocks of whole warps");
        }
        thread_of(block, warp, lane)->result = warp->value[source];
    }
}

static uint64_t reduce(const emu_warp_state *warp, emu_warp_kind kind, unsigned lanes) {
    unsigned result = (unsigned)warp->value[__builtin_ctz(lanes)];
    FOR_LANES(lane, lanes & (lanes - 1)) {
        unsigned value = (unsigned)warp->value[lane];
        switch (kind) {
        case EMU_REDUCE_ADD: result += value; break;
        case EMU_REDUCE_MIN: result = value < result ? value : result; break;
        case EMU_REDUCE_MAX: result = value > result ? value : result; break;
        case EMU_REDUCE_MIN_SIGNED: result = (int)value < (int)result ? value : result; break;
        case EMU_REDUCE_MAX_SIGNED: result = (int)value > (int)result ? value : result; break;
        case EMU_REDUCE_AND: result &= value; break;
        case EMU_REDUCE_OR: result |= value; break;
        default: result ^= value; break;
        }
    }
    return result;
}

// The lanes' operands are in their registers, but for rows of 16 bytes in memory: see emu_warp_rows.
static __attribute__((noinline)) void operate_and_tell(emu_block *block, emu_warp_state *warp,
                                                       emu_together *const lanes[EMU_WARP]) {
    for (unsigned lane = 0; lane < EMU_WARP; ++lane) {
        const unsigned rows = (unsigned)warp->argument[lane]; // as emu_warp_rows has passed it; 0: none
        if (lane >= rows >> 8) break;
        const emu_where at = emu_tool_at(block, thread_of(block, warp, lane));
        emu_tool_access(&at, ((const emu_together_row *)lanes[lane])->row, 16, rows & 255, EMU_BY_MATRIX, 0);
    }
    emu_tool_quiet(block, 1);
    lanes[0]->operate(lanes);
    emu_tool_quiet(block, 0);
}

// All 32 lanes must have come to the same operation.
static void together(emu_block *block, emu_warp_state *warp, const emu_meeting *meeting) {
    emu_together *lanes[EMU_WARP];
    const unsigned first = (unsigned)__builtin_ctz(meeting->arrived);
    for (unsigned lane = 0; lane < EMU_WARP; ++lane) {
        lanes[lane] = (emu_together *)(uintptr_t)warp->value[lane];
        const int absent = !(meeting->arrived >> lane & 1);
        if (EMU_LIKELY(!absent && lanes[lane]->operate == lanes[first]->operate)) continue;
        emu_thread *thread = thread_of(block, warp, absent ? first : lane);
        block->current = thread;
        if (absent)
            emu_block_fail(thread->file, thread->line, "all 32 lanes of a warp must take part in %s; lane %u %s",
                           lanes[first]->name, lane,
                           exists(block, warp, lane) ? "has ended without calling it" : "does not exist");
        emu_block_fail(thread->file, thread->line,
                       "all 32 lanes of a warp must call the same operation; lane %u calls %s, lane %u calls %s",
                       lane, lanes[lane]->name, first, lanes[first]->name);
    }
    if (EMU_LIKELY(block->tool == NULL))
        lanes[0]->operate(lanes);
    else
        operate_and_tell(block, warp, lanes);
}

static void operate(emu_block *block, emu_warp_state *warp, const emu_meeting *meeting) {
    unsigned lanes = meeting->arrived, yes = 0;
    uint64_t common = 0;
    switch (meeting->kind) {
    case EMU_SYNCWARP: return;
    case EMU_SHFL:
    case EMU_SHFL_UP:
    case EMU_SHFL_DOWN:
    case EMU_SHFL_XOR: shuffle(block, warp, meeting); return;
    case EMU_TOGETHER: together(block, warp, meeting); return;
    case EMU_ELECT:
        FOR_LANES(lane, lanes) thread_of(block, warp, lane)->result = lane == (unsigned)__builtin_ctz(lanes);
        return;
    case EMU_MATCH_ANY:
        FOR_LANES(lane, lanes) {
            unsigned same = 0;
            FOR_LANES(other, lanes) same |= (unsigned)(warp->value[other] == warp->value[lane]) << other;
            thread_of(block, warp, lane)->result = same;
        }
        return;
    case EMU_MATCH_ALL:
        common = lanes;
        FOR_LANES(lane, lanes) if (warp->value[lane] != warp->value[__builtin_ctz(lanes)]) common = 0;
        break;
    case EMU_ALL:
    case EMU_ANY:
    case EMU_BALLOT:
        FOR_LANES(lane, lanes) yes |= (unsigned)(warp->value[lane] != 0) << lane;
        common = meeting->kind == EMU_BALLOT ? yes : meeting->kind == EMU_ANY ? yes != 0 : yes == lanes;
        break;
    default: common = reduce(warp, meeting->kind, lanes);
    }
    FOR_LANES(lane, lanes) thread_of(block, warp, lane)->result = common;
}

// --- Meeting ------------------------------------------------------------------------------------------------------

static __attribute__((noinline)) void tell(emu_block *block, emu_warp_kind kind, unsigned mask, unsigned lanes,
                                           emu_warp_state *warp) {
    const unsigned first = (unsigned)__builtin_ctz(lanes);
    const emu_where at = emu_tool_at(block, thread_of(block, warp, first));
    const char *name =
        kind == EMU_TOGETHER ? ((const emu_together *)(uintptr_t)warp->value[first])->name : emu_warp_names[kind];
    emu_tool_warp(&at, (emu_warp_event){.kind = kind, .name = name, .mask = mask, .lanes = lanes});
}

// All lanes have arrived: computes the results and makes all lanes ready, except `self` (-1: none), which is running.
static void complete(emu_block *block, emu_warp_state *warp, emu_meeting *meeting, int self) {
    if (emu_block_stopped(block)) emu_block_abandon(block);
    if (EMU_UNLIKELY(block->tool != NULL)) tell(block, meeting->kind, meeting->mask, meeting->arrived, warp);
    operate(block, warp, meeting);
    unsigned others = meeting->arrived & ~(self >= 0 ? 1u << self : 0);
    *meeting = warp->meeting[--warp->meetings];
    FOR_LANES(lane, others) emu_block_make_ready(block, thread_of(block, warp, lane));
}

// The slot from which to search for the next thread after a wait in a warp operation. A ready lane of the same warp
// is preferred: the others wait for it, and its data is in the cache. (The slots of a warp are adjacent, unless the
// order is seeded.)
static inline unsigned where_next(const emu_block *block) {
    unsigned slot = block->slot;
    uint64_t ready = block->ready[slot >> 6];
    if (ready >> (slot & 63) & 2 || !(uint32_t)(ready >> (slot & 32))) return slot + 1;
    return slot & ~31u;
}

static __attribute__((noinline)) void check_call(emu_warp_kind kind, unsigned mask, unsigned lane, int width,
                                                 const char *file, int line) {
    if (!(mask >> lane & 1))
        emu_block_fail(file, line, "the mask must contain the calling lane; lane %u called %s with mask 0x%08x", lane,
                       emu_warp_names[kind], mask);
    emu_block_fail(file, line, "the width of a shuffle must be 1, 2, 4, 8, 16 or 32; %s was called with %d",
                   emu_warp_names[kind], width);
}

uint64_t emu_warp(emu_warp_kind kind, unsigned mask, uint64_t value, int argument, int width, const char *file,
                  int line) {
    emu_block *block = emu_current;
    emu_thread *self = block->current;
    emu_warp_state *warp = &block->warps[self->id / EMU_WARP];
    unsigned lane = self->id % EMU_WARP;
    if (EMU_UNLIKELY(!(mask >> lane & 1) || width < 1 || width > EMU_WARP || (width & (width - 1))))
        check_call(kind, mask, lane, width, file, line);
    if (EMU_UNLIKELY(block->alone)) emu_block_refuse(file, line);
    self->file = file;
    self->line = line;
    warp->value[lane] = value;
    warp->argument[lane] = argument;
    warp->width[lane] = (uint8_t)width;

    emu_meeting *meeting = warp->meeting, *end = meeting + warp->meetings;
    while (meeting < end && (meeting->mask != mask || meeting->kind != kind)) ++meeting;
    if (meeting == end) {
        *meeting = (emu_meeting){.mask = mask, .arrived = 0, .kind = kind};
        ++warp->meetings;
    }
    meeting->arrived |= 1u << lane;
    if (!(mask & ~(meeting->arrived | warp->exited))) {
        complete(block, warp, meeting, (int)lane);
        return self->result;
    }
    self->state = EMU_AT_WARP;
    self->kind = (uint8_t)kind;
    self->mask = mask;
    return emu_block_switch(block, where_next(block)); // must be the last call: see emu_fiber_switch
}

void emu_warp_together(emu_together *own, const char *file, int line) {
    emu_warp(EMU_TOGETHER, 0xffffffffu, (uintptr_t)own, 0, EMU_WARP, file, line);
}

void emu_warp_rows(emu_together_row *own, emu_access_kind kind, int lanes, const char *file, int line) {
    emu_warp(EMU_TOGETHER, 0xffffffffu, (uintptr_t)own, lanes << 8 | (int)kind, EMU_WARP, file, line);
}

void emu_warp_lane_exits(emu_block *block, emu_thread *thread) {
    emu_warp_state *warp = &block->warps[thread->id / EMU_WARP];
    for (int i = warp->meetings; i-- > 0;) // backwards, because completing a meeting moves the last one to its index
        if (!(warp->meeting[i].mask & ~(warp->meeting[i].arrived | warp->exited)))
            complete(block, warp, &warp->meeting[i], -1);
}

// CUDA does not define which lanes run together. Here they are the lanes that wait at the same __activemask when no
// other thread of the block can continue, so lanes that took the same branch are in one mask. "The same" means the
// same instruction and not the same line: two branches may be on one line, and the lanes in a mask must take part in
// the operations that follow.
unsigned emu_activemask(const char *file, int line) {
    emu_block *block = emu_current;
    emu_thread *self = block->current;
    emu_warp_state *warp = &block->warps[self->id / EMU_WARP];
    unsigned lane = self->id % EMU_WARP;
    self->file = file;
    self->line = line;
    self->state = EMU_AT_WARP;
    self->kind = EMU_ACTIVEMASK;
    self->at = __builtin_return_address(0);
    warp->asking |= 1u << lane;
    ++block->asking;
    return (unsigned)emu_block_switch(block, where_next(block));
}

int emu_warp_answer_asking(emu_block *block) {
    int answered = block->asking;
    for (int w = 0; w < block->warp_count; ++w) {
        emu_warp_state *warp = &block->warps[w];
        FOR_LANES(lane, warp->asking) {
            emu_thread *thread = thread_of(block, warp, lane);
            unsigned together = 0;
            FOR_LANES(other, warp->asking) {
                together |= (unsigned)(thread_of(block, warp, other)->at == thread->at) << other;
            }
            thread->result = together;
            if (block->tool && lane == (unsigned)__builtin_ctz(together))
                tell(block, EMU_ACTIVEMASK, together, together, warp);
            emu_block_make_ready(block, thread);
        }
        warp->asking = 0;
    }
    block->asking = 0;
    return answered;
}

// --- Deadlocks: when no thread of a block can continue ------------------------------------------------------------

typedef struct text {
    char buffer[EMU_MESSAGE / 2];
    size_t length;
} text;

static __attribute__((format(printf, 2, 3))) void add(text *to, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof to->buffer - to->length;
    int wrote = vsnprintf(to->buffer + to->length, room, format, arguments);
    va_end(arguments);
    if (wrote > 0) to->length += (size_t)wrote < room ? (size_t)wrote : room - 1;
}

static void add_lanes(text *to, unsigned lanes) { // "lanes 3, 5-7"
    add(to, lanes & (lanes - 1) ? "lanes " : "lane ");
    for (unsigned lane = 0; lane < EMU_WARP; ++lane) {
        unsigned end = lane;
        if (!(lanes >> lane & 1)) continue;
        while (end + 1 < EMU_WARP && lanes >> (end + 1) & 1) ++end;
        add(to, lanes & ((1u << lane) - 1) ? ", %u" : "%u", lane);
        if (end > lane) add(to, "-%u", end);
        lane = end;
    }
}

static int same_site(const emu_thread *a, const emu_thread *b) {
    return a->state == b->state && (a->state != EMU_AT_WARP || (a->kind == b->kind && a->mask == b->mask &&
                                                                a->line == b->line && !strcmp(a->file, b->file)));
}

// All live threads wait, and the barrier cannot open, so at least one warp operation lacks lanes.
void emu_warp_report_deadlock(emu_block *block) {
    for (int w = 0; w < block->warp_count; ++w) {
        emu_warp_state *warp = &block->warps[w];
        if (!warp->meetings) continue;
        const emu_meeting *meeting = &warp->meeting[0];
        emu_thread *waiting = thread_of(block, warp, (unsigned)__builtin_ctz(meeting->arrived));
        unsigned missing = meeting->mask & ~(meeting->arrived | warp->exited);
        text to = {.length = 0};
        add(&to, "all lanes in the mask must call the operation; %s with mask 0x%08x waits forever: ",
            emu_warp_names[meeting->kind], meeting->mask);
        while (missing) {
            emu_thread *one = thread_of(block, warp, (unsigned)__builtin_ctz(missing));
            unsigned together = 0;
            FOR_LANES(lane, missing) together |= (unsigned)same_site(one, thread_of(block, warp, lane)) << lane;
            add_lanes(&to, together);
            add(&to, together & (together - 1) ? " wait at " : " waits at ");
            if (one->state == EMU_AT_WARP)
                add(&to, "%s with mask 0x%08x, %s:%d; ", emu_warp_names[one->kind], one->mask, one->file, one->line);
            else
                add(&to, "%s, %s:%d; ", emu_barrier_names[block->barrier], block->site_file, block->site_line);
            missing &= ~together;
        }
        add(&to, "put only lanes that call it into the mask, or let all lanes call it");
        block->current = waiting;
        emu_block_fail(waiting->file, waiting->line, "%s", to.buffer);
    }
    emu_block_fail(NULL, 0, "no thread of the block can continue"); // unreachable; an error is better than a hang
}
