// Copies of boxes between arrays in global memory and shared memory (TMA).
//
//   tensor_load ---> NaN bytes in the box ... mbarrier.c: a thread waits for the bytes, and nothing else can go on
//   --> data tensor_store --> [store][store] commit ... the wait until it is read (when no other thread can
//   continue): reads the box
//                                      '------ the other wait, or the block ends: writes the array
//
// Invariant: stores are in the order in which they began, so those of a thread's earliest groups come first.
#include "block.h"

#include <stdlib.h>
#include <string.h>

#include "tensor_map.h"

typedef struct box {
    tensor_map map;
    char *shared;
    int at[5];
} box;

typedef struct load {
    emu_delivery delivery;
    box box;
    const char *file;
    int line;
    uint64_t operation; // for tools.c
} load;

typedef struct store {
    struct store *next;
    box box;
    int thread, line;
    const char *file;
    unsigned group;
    char *data;         // what has been read of shared memory; NULL: nothing yet
    uint64_t operation; // for tools.c
} store;

typedef struct stores { // of one block
    uint64_t run;       // the block's number among the blocks of this OS thread
    store *first, **end;
    unsigned commits[EMU_MAX_THREADS];
} stores;

// --- A box --------------------------------------------------------------------------------------------------------

static size_t row_bytes(const box *b) {
    return (size_t)b->map.shape.box[0] * (size_t)b->map.shape.element_bytes;
}
static size_t rows_of(const box *b) {
    size_t rows = 1;
    for (int i = 1; i < b->map.shape.axes; ++i) rows *= b->map.shape.box[i];
    return rows;
}

// Where the byte of a swizzled box is: bits of the address from 4 on are XORed with as many bits from 7 on.
static char *swizzle_of(char *address, int swizzle) {
    const uintptr_t bits = (uintptr_t)swizzle / 16 - 1;
    return (char *)((uintptr_t)address ^ ((uintptr_t)address >> 7 & bits) << 4);
}

// The bytes [begin, end) of each row of the box that are inside of the array; 0: none.
static int part_inside(const box *b, size_t *begin, size_t *end) {
    const tensor_map_shape *shape = &b->map.shape;
    const size_t element = (size_t)shape->element_bytes;
    const int64_t first = b->at[0], length = (int64_t)shape->lengths[0];
    const int64_t from = first < 0 ? -first : 0;
    const int64_t until = length - first < shape->box[0] ? length - first : shape->box[0];
    *begin = (size_t)from * element;
    *end = (size_t)until * element;
    return until > from;
}

// Where the box's row begins in the array; 0: outside of it.
static uintptr_t row_of(const box *b, const uint32_t index[5]) {
    const tensor_map_shape *shape = &b->map.shape;
    uintptr_t global = (uintptr_t)b->map.address + (uintptr_t)((int64_t)b->at[0] * shape->element_bytes);
    for (int i = 1; i < shape->axes; ++i) {
        const int64_t at = b->at[i] + (int64_t)index[i];
        if (at < 0 || at >= (int64_t)shape->lengths[i]) return 0;
        global += (uintptr_t)at * shape->strides[i];
    }
    return global;
}

static void next_row(const box *b, uint32_t index[5]) {
    const tensor_map_shape *shape = &b->map.shape;
    for (int i = 1; i < shape->axes && ++index[i] == shape->box[i]; ++i) index[i] = 0;
}

// Moves what is inside of the array: from `data`, the box's bytes row after row without swizzle; NULL: to shared
// memory.
static void move_box(const box *b, const char *data) {
    const tensor_map_shape *shape = &b->map.shape;
    const size_t width = row_bytes(b), rows = rows_of(b);
    const size_t piece = shape->swizzle && !data ? 16 : width;
    size_t begin, end;
    uint32_t index[5] = {0};
    if (!part_inside(b, &begin, &end)) return;
    for (size_t row = 0; row < rows; ++row, next_row(b, index)) {
        const uintptr_t global = row_of(b, index);
        for (size_t x = 0; global && x < width; x += piece) {
            const size_t low = begin > x ? begin : x, high = end < x + piece ? end : x + piece;
            if (low >= high) continue;
            char *place = b->shared + row * width + x;
            if (shape->swizzle) place = swizzle_of(place, shape->swizzle);
            if (data)
                memcpy((char *)global + low, data + row * width + low, high - low);
            else
                memcpy(place + (low - x), (const char *)global + low, high - low);
        }
    }
}

// Reports accesses to the rows of a box, 0: to none. Its address in shared memory is as `of`, whose memory it is,
// sees it. (A swizzle moves bytes within a row.)
static __attribute__((noinline)) void tell_rows(const emu_where *at, const emu_block *of, const box *b,
                                                unsigned of_array, unsigned of_shared, emu_agent by,
                                                uint64_t operation) {
    const size_t width = row_bytes(b), rows = rows_of(b);
    size_t begin, end;
    uint32_t index[5] = {0};
    const int is_inside = part_inside(b, &begin, &end);
    for (size_t row = 0; row < rows; ++row, next_row(b, index)) {
        const uintptr_t global = is_inside ? row_of(b, index) : 0;
        if (of_array && global)
            emu_tool_access(at, (const char *)global + begin, end - begin, of_array, by, operation);
        if (of_shared)
            emu_tool_access(at, emu_tool_name(of, b->shared + row * width), width, of_shared, by, operation);
    }
}

// Reads the box in shared memory, row after row without swizzle.
static void read_box(const box *b, char *data) {
    const size_t bytes = row_bytes(b) * rows_of(b);
    for (size_t i = 0; i < bytes; i += 16)
        emu_proxy_read(data + i,
                       b->map.shape.swizzle ? swizzle_of(b->shared + i, b->map.shape.swizzle) : b->shared + i);
}

// On 64-bit Arm, a kernel's copy of a parameter is aligned to 16 bytes only, whatever its type requires.
#ifdef __aarch64__
enum { MAP_ALIGNMENT = 16 };
#else
enum { MAP_ALIGNMENT = 64 };
#endif

static void check_map(const char *call, const tensor_map *map, const char *file, int line) {
    if (!map || (uintptr_t)map % MAP_ALIGNMENT)
        emu_block_fail(file, line, "%s: the tensor_map must be at an address that is a multiple of %d, not at %p",
                       call, MAP_ALIGNMENT, (const void *)map);
    if (map->mark != EMU_TENSOR_MAP)
        emu_block_fail(file, line, "%s: the tensor_map is not one that tensor_map_make has filled in", call);
}

void emu_tensor_prefetch(const void *map, const char *file, int line) {
    check_map("tensor_prefetch", map, file, line);
}

static box box_of(const char *call, const tensor_map *map, const void *shared, int axes, const int *at,
                  const char *file, int line) {
    check_map(call, map, file, line);
    const tensor_map_shape *shape = &map->shape;
    if (shape->axes != axes)
        emu_block_fail(file, line, "%s: %d coordinates for an array of %d axes; pass one coordinate per axis", call,
                       axes, shape->axes);
    if ((int64_t)at[0] * shape->element_bytes % 16 != 0)
        emu_block_fail(file, line,
                       "%s: the coordinate along axis 0 must be a multiple of 16 bytes; %d elements are %lld bytes",
                       call, at[0], (long long)at[0] * shape->element_bytes);
    const unsigned multiple = shape->swizzle == 128 ? 1024 : 128;
    if ((uintptr_t)shared % multiple)
        emu_block_fail(
            file, line,
            "%s: a box with a swizzle of %d bytes must start at a multiple of %u bytes in shared memory, not at "
            "%p, which is %u bytes past one",
            call, shape->swizzle, multiple, shared, (unsigned)((uintptr_t)shared % multiple));
    box result = {.map = *map, .shared = (char *)(uintptr_t)shared};
    memcpy(result.at, at, (size_t)axes * sizeof *at);
    if (shape->swizzle && row_bytes(&result) != (size_t)shape->swizzle)
        emu_block_fail(
            file, line,
            "%s: the emulator supports a swizzle of %d bytes only for boxes with %d bytes along axis 0, not %zu",
            call, shape->swizzle, shape->swizzle, row_bytes(&result));
    const emu_block *block = emu_current;
    const size_t first = (uintptr_t)shared - (uintptr_t)block->shared.begin,
                 has = block->grid->launch->dynamic_shared;
    const size_t bytes = row_bytes(&result) * rows_of(&result);
    if (first < has && bytes > has - first)
        emu_block_fail(file, line,
                       "%s: the box of %zu bytes begins at byte %zu of dynamic shared memory and ends beyond its %zu "
                       "bytes; launch the kernel with more, or make the box smaller",
                       call, bytes, first, has);
    return result;
}

static _Noreturn void no_memory(void) {
    emu_block_fail(NULL, 0, "this computer has no memory left for tensor copies");
}

// --- Loads --------------------------------------------------------------------------------------------------------

static void land(const emu_delivery *delivery) {
    const load *copy = (const load *)(const void *)delivery;
    box there = copy->box;
    there.shared = emu_cluster_address(delivery->block, copy->box.shared);
    memset(there.shared, 0, row_bytes(&there) * rows_of(&there));
    move_box(&there, NULL);
    emu_proxy_landed(delivery->block, there.shared, row_bytes(&there) * rows_of(&there));
    if (EMU_UNLIKELY(delivery->block->tool && copy->operation)) {
        emu_where at = emu_tool_where(delivery->block, copy->file, copy->line, NULL);
        at.thread = -1;
        tell_rows(&at, delivery->block, &copy->box, EMU_READS, EMU_WRITES, EMU_BY_TENSOR_LOAD, copy->operation);
        emu_tool_end(&at, EMU_BY_TENSOR_LOAD, copy->operation);
    }
}

static void load_to(emu_block *block, const box *where, void *barrier, int repeats, const char *file, int line) {
    load *copy = aligned_alloc(64, (sizeof *copy + 63) / 64 * 64);
    if (!copy) no_memory();
    const size_t bytes = row_bytes(where) * rows_of(where);
    copy->delivery = (emu_delivery){
        .mbarrier = emu_cluster_peer(block, barrier), .block = block, .bytes = (int)bytes, .land = land};
    copy->box = *where;
    copy->box.shared = emu_cluster_peer(block, where->shared);
    copy->file = file;
    copy->line = line;
    copy->operation = 0;
    emu_mbarrier_promise(&copy->delivery, file, line);
    if (EMU_UNLIKELY(emu_current->tool != NULL)) {
        const emu_where at = emu_tool_where(emu_current, file, line, NULL);
        copy->operation = emu_tool_new_operation(emu_current);
        emu_tool_async(&at, (emu_async_event){.stage = EMU_ASYNC_BEGINS,
                                              .by = EMU_BY_TENSOR_LOAD,
                                              .operation = copy->operation,
                                              .mbarrier = (uintptr_t)emu_tool_name(block, copy->delivery.mbarrier),
                                              .repeats = repeats});
        tell_rows(&at, block, &copy->box, EMU_READS | EMU_PENDING, EMU_WRITES | EMU_PENDING, EMU_BY_TENSOR_LOAD,
                  copy->operation);
    }
    char *const shared = emu_cluster_address(block, copy->box.shared);
    memset(shared, 0xff, bytes);
    emu_proxy_landed(block, shared, bytes); // so that a product that still reads the bytes before shows the mistake
}

void emu_tensor_load(void *shared, const void *map, void *barrier, int axes, const int *at, const char *file,
                     int line) {
    const box where = box_of("tensor_load", map, shared, axes, at, file, line);
    load_to(emu_current, &where, barrier, 0, file, line);
}

void emu_tensor_load_multicast(void *shared, const void *map, void *barrier, int axes, const int *at, unsigned mask,
                               const char *file, int line) {
    const char *call = "tensor_load_multicast";
    const box where = box_of(call, map, shared, axes, at, file, line);
    if (!mask || mask >> emu_cluster_size())
        emu_block_fail(file, line, "%s: the mask must name blocks of this cluster of %d, but is 0x%x", call,
                       emu_cluster_size(), mask);
    for (int rank = 0, repeats = 0; mask >> rank; ++rank) {
        if (!(mask >> rank & 1)) continue;
        load_to(emu_cluster_block(rank, call, file, line), &where, barrier, repeats, file, line);
        repeats = 1;
    }
}

// --- Stores -------------------------------------------------------------------------------------------------------

static void drop(stores *own, store **link) {
    store *one = *link;
    *link = one->next;
    if (!*link) own->end = link;
    free(one->data);
    free(one);
}
static void free_stores(void *pointer) {
    stores *own = pointer;
    while (own->first) drop(own, &own->first);
    free(own);
}
static emu_where where(const store *one) {
    return (emu_where){.block = &emu_current->event, .thread = one->thread, .line = one->line, .file = one->file};
}
static void read_shared(store *one) {
    if (one->data) return;
    one->data = malloc(row_bytes(&one->box) * rows_of(&one->box));
    if (!one->data) no_memory();
    read_box(&one->box, one->data);
    if (EMU_LIKELY(emu_current->tool == NULL)) return;
    const emu_where at = where(one);
    tell_rows(&at, emu_current, &one->box, 0, EMU_READS, EMU_BY_TENSOR_STORE, one->operation);
}
static void write_array(const store *one) {
    move_box(&one->box, one->data);
    if (EMU_LIKELY(emu_current->tool == NULL)) return;
    const emu_where at = where(one);
    tell_rows(&at, emu_current, &one->box, EMU_WRITES, 0, EMU_BY_TENSOR_STORE, one->operation);
    emu_tool_end(&at, EMU_BY_TENSOR_STORE, one->operation);
}
static __attribute__((noinline)) void tell(emu_async_event event, const void *after) {
    const emu_where at = emu_tool_where(emu_current, NULL, 0, after);
    event.by = EMU_BY_TENSOR_STORE;
    emu_tool_async(&at, event);
}

static void end(emu_block *block) {
    stores *own = block->services[EMU_STORES].state;
    while (own->first) {
        const store *one = own->first;
        if (!one->data) {
            block->current = &block->threads[one->thread];
            emu_block_fail(
                one->file, one->line,
                "the block ends before this tensor_store has read its shared memory; let the same thread call "
                "tensor_store_commit and then tensor_store_wait");
        }
        write_array(one);
        drop(own, &own->first);
    }
}
static const emu_hooks hooks = {.end = end};

// The block's. Those of a block that failed before are dropped.
static stores *own_stores(emu_block *block) {
    stores *own = emu_block_service(block, EMU_STORES, sizeof *own, free_stores);
    if (!own->end) own->end = &own->first;
    if (own->run != block->runs) {
        own->run = block->runs;
        while (own->first) drop(own, &own->first);
        memset(own->commits, 0, sizeof own->commits);
        block->hooks[EMU_STORES] = &hooks;
    }
    return own;
}

void emu_tensor_store(const void *map, const void *shared, int axes, const int *at, const char *file, int line) {
    emu_block *block = emu_current;
    stores *own = own_stores(block);
    const box where = box_of("tensor_store", map, shared, axes, at, file, line);
    for (int i = 0; i < axes; ++i)
        if (at[i] < 0)
            emu_block_fail(file, line, "tensor_store: the coordinate along axis %d must not be negative, but is %d",
                           i, at[i]);
    store *one = aligned_alloc(64, (sizeof *one + 63) / 64 * 64);
    if (!one) no_memory();
    const int id = block->current->id;
    *one = (store){.box = where, .thread = id, .file = file, .line = line, .group = own->commits[id]};
    *own->end = one;
    own->end = &one->next;
    if (EMU_UNLIKELY(block->tool != NULL)) {
        const emu_where from = emu_tool_where(block, file, line, NULL);
        one->operation = emu_tool_new_operation(block);
        emu_tool_begin(&from, EMU_BY_TENSOR_STORE, one->operation, NULL);
        tell_rows(&from, block, &one->box, EMU_WRITES | EMU_PENDING, EMU_READS | EMU_PENDING, EMU_BY_TENSOR_STORE,
                  one->operation);
    }
    emu_proxy_begin(block);
}

void emu_tensor_store_commit(void) {
    emu_block *block = emu_current;
    ++own_stores(block)->commits[block->current->id];
    if (EMU_UNLIKELY(block->tool != NULL))
        tell((emu_async_event){.stage = EMU_ASYNC_COMMITS}, __builtin_return_address(0));
}

// The first store from `link` on, of those that the calling thread waits for, that has not been read, or only not
// been written.
static store **awaited(store **link, const stores *own, int groups, int read) {
    const int id = emu_current->current->id;
    for (; *link; link = &(*link)->next) {
        const store *one = *link;
        if (one->thread == id && one->group + (unsigned)groups < own->commits[id] && !(read && one->data)) break;
    }
    return link;
}

void emu_tensor_store_wait(int groups, int read) {
    stores *own = own_stores(emu_current);
    if (EMU_UNLIKELY(emu_current->tool != NULL))
        tell((emu_async_event){.stage = EMU_ASYNC_WAITS, .groups = groups, .reads_only = read},
             __builtin_return_address(0));
    if (*awaited(&own->first, own, groups, read)) emu_block_be_late(emu_current);
    for (store **link = &own->first; *(link = awaited(link, own, groups, read));) {
        read_shared(*link);
        if (read) continue;
        write_array(*link);
        drop(own, link);
    }
}
