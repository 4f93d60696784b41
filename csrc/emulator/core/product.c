// Products of a warpgroup that are computed later (wgmma).
//
//   wgmma --.                       .-> [product][product] group 0 --> wgmma_wait<1>: computed, one after another
//   wgmma --+-> wgmma_commit -------+
//   wgmma --'                       '-> [product]          group 1     may be unfinished
//                                          |
//                                          '-> [sums]: their values, aside; the lanes' registers contain NaN (or -1)
//
// Each warp has its own 16 rows and its own list. A product reads shared memory in the wait that it must be finished
// by, as late as the rules allow: when no other thread can continue. Sums return to the lanes' registers when no
// product of theirs is left. Products that no wait covers are dropped when their block ends. Registers become sums
// only after a fence.
//
// Invariants: a warp's products are in the order in which they began. A `sums` in use belongs to a product in the
// list.
#include "block.h"

#include <stdlib.h>
#include <string.h>

typedef struct sums { // of one warp, each of 32 bits: floats or integers
    char *lanes[EMU_WARP];
    uint32_t *values; // 16 rows
    int columns, capacity;
    int products; // those that are unfinished; 0: not in use
} sums;

typedef struct later {
    emu_product product;
    int sums;
    unsigned group;
    uint64_t operation; // for tools.c
} later;

typedef struct warp_products {
    later *list;
    sums *sums;
    int first, count, capacity; // list[first...count-1] are unfinished
    int sums_count;
    int fenced; // since registers were last returned
    unsigned commits;
    uint64_t run; // of the block that they belong to
} warp_products;

typedef struct products { // of one block
    warp_products warps[EMU_MAX_WARPS];
    _Alignas(64) char scratch[EMU_PRODUCT_SCRATCH];
} products;

static void free_products(void *pointer) {
    products *all = pointer;
    for (int w = 0; w < EMU_MAX_WARPS; ++w) {
        warp_products *own = &all->warps[w];
        for (int i = 0; i < own->sums_count; ++i) free(own->sums[i].values);
        free(own->sums);
        free(own->list);
    }
    free(all);
}
static _Noreturn void no_memory(void) {
    emu_block_fail(NULL, 0, "this computer has no memory left for products of warpgroups");
}

static products *all_products(void) {
    return emu_block_service(emu_current, EMU_PRODUCTS, sizeof(products), free_products);
}

// The calling warp's. Those of a block that ran before are dropped.
static warp_products *own_products(products *all) {
    const emu_block *block = emu_current;
    warp_products *own = &all->warps[block->current->id / EMU_WARP];
    if (own->run != block->runs) {
        own->run = block->runs;
        own->first = own->count = 0;
        own->commits = 0;
        own->fenced = 0;
        for (int i = 0; i < own->sums_count; ++i) own->sums[i].products = 0;
    }
    return own;
}

// --- Sums ---------------------------------------------------------------------------------------------------------

// Element j of lane (g, t)'s registers is in row g + j % 4 / 2 * 8, column j / 4 * 8 + 2 t + j % 2.
#define FOR_SUMS(one, lane, j, place)                                                                                \
    for (int lane = 0; lane < EMU_WARP; ++lane)                                                                      \
        for (int j = 0, place;                                                                                       \
             j < (one)->columns / 2 &&                                                                               \
             (place = (lane / 4 + j % 4 / 2 * 8) * (one)->columns + j / 4 * 8 + lane % 4 * 2 + j % 2, 1);            \
             ++j)

static int find_sums(warp_products *own, void *const lanes[EMU_WARP], int columns, const char *file, int line) {
    int idle = -1;
    for (int i = 0; i < own->sums_count; ++i) {
        const sums *one = &own->sums[i];
        if (one->products && one->lanes[0] == lanes[0] && one->columns == columns) return i;
        if (!one->products) idle = i;
    }
    if (!own->fenced)
        emu_block_fail(file, line,
                       "wgmma: registers become sums only after wgmma_fence; call it before the first product with "
                       "these sums, and again after each wgmma_wait");
    if (idle < 0) {
        sums *more = realloc(own->sums, (size_t)(own->sums_count + 1) * sizeof *more);
        if (!more) no_memory();
        own->sums = more;
        idle = own->sums_count++;
        own->sums[idle] = (sums){.values = NULL};
    }
    sums *one = &own->sums[idle];
    if (one->capacity < columns) {
        free(one->values);
        one->capacity = 0;
        one->values = malloc(16 * (size_t)columns * sizeof *one->values);
        if (!one->values) no_memory();
        one->capacity = columns;
    }
    one->columns = columns;
    memcpy(one->lanes, lanes, sizeof one->lanes);
    FOR_SUMS(one, lane, j, place) memcpy(&one->values[place], one->lanes[lane] + 4 * j, 4);
    for (int lane = 0; lane < EMU_WARP; ++lane) memset(lanes[lane], 0xff, (size_t)columns / 2 * 4); // NaN, or -1
    return idle;
}

// --- Events -------------------------------------------------------------------------------------------------------

// Reports a read of neighboring bytes of an operand, whose place a swizzle of 128 bytes exchanges in pieces of 16:
// within a line they stay together if their number is a power of two and divides their address.
static void tell_line(const emu_where *at, uintptr_t address, unsigned bytes, unsigned kind, uint64_t operation) {
    const unsigned piece = (bytes & (bytes - 1)) || address % bytes ? 16 : bytes;
    for (unsigned i = 0; i < bytes; i += piece) {
        const uintptr_t there = ((address + i) ^ ((address + i) >> 7 & 7) << 4) & ~(uintptr_t)(piece - 1);
        emu_tool_access(at, (const void *)there, piece, kind, EMU_BY_PRODUCT, operation);
    }
}

// Of the operand that the descriptor names (wgmma.cuh): `count` rows of A, or columns of B, from `first` on.
static void tell_operand(const emu_where *at, uint64_t descriptor, unsigned first, unsigned count,
                         const emu_product *product, int is_transposed, unsigned kind, uint64_t operation) {
    const uintptr_t start = (descriptor & 0xfffffffffff) << 4, box = (descriptor >> 44 & 0x3fff) << 4;
    const unsigned depth = 32 / product->element; // along k
    for (unsigned i = first; !is_transposed && i < first + count; ++i)
        tell_line(at, start + i * 128, 32, kind, operation);
    for (unsigned k = 0; is_transposed && k < depth; ++k)
        for (unsigned i = first, step; i < first + count; i += step) {
            step = first + count - i < 64 - i % 64 ? first + count - i : 64 - i % 64;
            tell_line(at, start + i / 64 * box + k * 128 + i % 64 * 2, step * 2, kind, operation);
        }
}

static void tell_operands(const emu_where *at, const emu_product *product, unsigned pending, uint64_t operation) {
    const unsigned part = (unsigned)at->thread / EMU_WARP % 4, kind = EMU_READS | pending;
    if (product->a) tell_operand(at, product->a, 16 * part, 16, product, product->a_transposed, kind, operation);
    tell_operand(at, product->b, 0, (unsigned)product->columns, product, product->b_transposed, kind, operation);
}

static void tell_sums(emu_where at, const sums *of, unsigned kind, uint64_t operation) {
    const int first = at.thread / EMU_WARP * EMU_WARP;
    for (int lane = 0; lane < EMU_WARP; ++lane) {
        at.thread = first + lane;
        emu_tool_access(&at, of->lanes[lane], (size_t)of->columns / 2 * 4, kind, EMU_BY_PRODUCT, operation);
    }
}

static __attribute__((noinline)) void tell_begin(later *one, const sums *of, const char *file, int line) {
    const emu_where at = emu_tool_where(emu_current, file, line, NULL);
    one->operation = emu_tool_new_operation(emu_current);
    emu_tool_begin(&at, EMU_BY_PRODUCT, one->operation, NULL);
    tell_operands(&at, &one->product, EMU_PENDING, one->operation);
    tell_sums(at, of, (one->product.add ? EMU_READS : 0) | EMU_WRITES | EMU_PENDING, one->operation);
}

static __attribute__((noinline)) void tell(emu_async_event event) { // the lane's call
    const emu_where at = emu_tool_at(emu_current, emu_current->current);
    event.by = EMU_BY_PRODUCT;
    emu_tool_async(&at, event);
}

static __attribute__((noinline)) void tell_end(const later *one, const sums *of) {
    const emu_where at = emu_tool_at(emu_current, emu_current->current);
    tell_operands(&at, &one->product, 0, one->operation);
    tell_sums(at, of, (one->product.add ? EMU_READS : 0) | EMU_WRITES, one->operation);
    emu_tool_end(&at, EMU_BY_PRODUCT, one->operation);
}

// --- Products -----------------------------------------------------------------------------------------------------

void emu_product_begin(const emu_product *product, void *const lanes[EMU_WARP], const char *file, int line) {
    emu_block *block = emu_current;
    warp_products *own = own_products(all_products());
    if ((block->current->id / 128 + 1) * 128 > block->thread_count)
        emu_block_fail(
            file, line,
            "wgmma requires whole warpgroups of 128 threads; the block's %d threads leave this one incomplete",
            block->thread_count);
    if (own->count == own->capacity) {
        const int capacity = own->capacity ? 2 * own->capacity : 16;
        later *list = realloc(own->list, (size_t)capacity * sizeof *list);
        if (!list) no_memory();
        own->list = list;
        own->capacity = capacity;
    }
    const int index = find_sums(own, lanes, product->columns, file, line);
    ++own->sums[index].products;
    emu_proxy_begin(block);
    own->list[own->count++] = (later){.product = *product, .sums = index, .group = own->commits};
    if (EMU_UNLIKELY(block->tool != NULL)) tell_begin(&own->list[own->count - 1], &own->sums[index], file, line);
}

void emu_product_fence(void) {
    own_products(all_products())->fenced = 1;
    if (EMU_UNLIKELY(emu_current->tool != NULL)) tell((emu_async_event){.stage = EMU_ASYNC_FENCES});
}

void emu_product_commit(void) {
    ++own_products(all_products())->commits;
    if (EMU_UNLIKELY(emu_current->tool != NULL)) tell((emu_async_event){.stage = EMU_ASYNC_COMMITS});
}

void emu_product_wait(int groups) {
    products *all = all_products();
    warp_products *own = own_products(all);
    const int part = emu_current->current->id / EMU_WARP % 4;
    if (EMU_UNLIKELY(emu_current->tool != NULL)) tell((emu_async_event){.stage = EMU_ASYNC_WAITS, .groups = groups});
    if (own->first < own->count && own->list[own->first].group + (unsigned)groups < own->commits)
        emu_block_be_late(emu_current);
    for (; own->first < own->count; ++own->first) {
        const later *one = &own->list[own->first];
        if (one->group + (unsigned)groups >= own->commits) return;
        sums *to = &own->sums[one->sums];
        one->product.multiply(&one->product, to->values, part, all->scratch);
        if (EMU_UNLIKELY(emu_current->tool != NULL)) tell_end(one, to);
        if (--to->products) continue;
        own->fenced = 0;
        FOR_SUMS(to, lane, j, place) memcpy(to->lanes[lane] + 4 * j, &to->values[place], 4);
    }
    own->first = own->count = 0;
}
