// The host part of strided_copy.h: it finds the fewest axes and the widest word, and chooses a kernel.
#include <utility>

#include "strided_copy.cuh"

#include "../../kernels/launch.cuh"
#include "../../kernels/sizes.h"
#include "strided_copy.h"

namespace strided {
namespace {

enum { MOST_BLOCKS = 4096, WIDEST_WORD = 16, WORTH_A_TILE = TILE / 2, WORTH_A_BLOCK = 2 * THREADS };

int64_t size_of(int64_t stride) {
    return stride < 0 ? -stride : stride;
}

// A copy or a fill, which moves `word` bytes at a time.
struct movement {
    char *to;
    const char *from;
    axes shape;
    int64_t word;
};

void append(axes *shape, int64_t length, int64_t to, int64_t from) {
    if (length == 1) return;
    shape->length[shape->count] = length;
    shape->to[shape->count] = to;
    shape->from[shape->count++] = from;
}

axes without(const axes &shape, int first, int second) {
    axes rest = {};
    for (int d = 0; d < shape.count; ++d)
        if (d != first && d != second) append(&rest, shape.length[d], shape.to[d], shape.from[d]);
    return rest;
}

int64_t elements(const axes &shape) {
    int64_t count = 1;
    for (int d = 0; d < shape.count; ++d) count = product(count, shape.length[d]);
    return count;
}

// Makes all strides of `to` positive.
void turn_forwards(movement *movement) {
    for (int d = 0; d < movement->shape.count; ++d) {
        if (movement->shape.to[d] >= 0) continue;
        const int64_t last = movement->shape.length[d] - 1;
        movement->to += last * movement->shape.to[d];
        movement->from += last * movement->shape.from[d];
        movement->shape.to[d] = -movement->shape.to[d];
        movement->shape.from[d] = -movement->shape.from[d];
    }
}

// Sorts the axes, so that the axis along which `to` is densest is the last one.
void sort(axes *shape) {
    for (int end = 1; end < shape->count; ++end)
        for (int d = end; d > 0 && shape->to[d - 1] < shape->to[d]; --d) {
            std::swap(shape->length[d - 1], shape->length[d]);
            std::swap(shape->to[d - 1], shape->to[d]);
            std::swap(shape->from[d - 1], shape->from[d]);
        }
}

// Merges an axis with the next one if it continues where the next one ends.
void merge(axes *shape) {
    axes merged = {};
    for (int d = 0; d < shape->count; ++d) {
        const int last = merged.count - 1;
        const int64_t length = shape->length[d], to = shape->to[d], from = shape->from[d];
        if (last >= 0 && merged.to[last] == length * to && merged.from[last] == length * from) {
            merged.length[last] *= length;
            merged.to[last] = to;
            merged.from[last] = from;
        } else {
            append(&merged, length, to, from);
        }
    }
    *shape = merged;
}

bool all_divide(const movement &movement, int64_t by) {
    if (reinterpret_cast<uintptr_t>(movement.to) % by != 0 || reinterpret_cast<uintptr_t>(movement.from) % by != 0)
        return false;
    for (int d = 0; d < movement.shape.count - 1; ++d)
        if (movement.shape.to[d] % by != 0 || movement.shape.from[d] % by != 0) return false;
    return true;
}

// Replaces bytes with the widest words that divide the last axis and are aligned.
void widen(movement *movement) {
    axes &shape = movement->shape;
    const int last = shape.count - 1;
    if (last < 0) return;
    while (movement->word < WIDEST_WORD && shape.to[last] == movement->word && shape.from[last] == movement->word &&
           shape.length[last] % 2 == 0 && all_divide(*movement, 2 * movement->word)) {
        movement->word *= 2;
        shape.length[last] /= 2;
        shape.to[last] = shape.from[last] = movement->word;
    }
    if (shape.length[last] == 1) --shape.count;
}

// The number of bytes that are swapped together. A complex number has two parts.
int64_t part_of(int dtype) {
    const int64_t size = static_cast<int64_t>(ck_dtype_size(dtype));
    return dtype == CK_COMPLEX64 || dtype == CK_COMPLEX128 ? size / 2 : size;
}

// The axes of the views. If `bytes` is true, the bytes of an element are axes too; `swap` reverses the last one.
movement movement_of(const ck_view *to, const ck_view *from, bool bytes, bool swap) {
    movement movement = {static_cast<char *>(to->data), static_cast<const char *>(from->data), {}, 1};
    for (int d = 0; d < to->ndim; ++d) append(&movement.shape, to->shape[d], to->strides[d], from->strides[d]);
    if (bytes) {
        const int64_t size = static_cast<int64_t>(ck_dtype_size(to->dtype)), part = part_of(to->dtype);
        append(&movement.shape, size / part, part, part);
        append(&movement.shape, part, 1, swap ? -1 : 1);
        if (swap) movement.from += part - 1;
    }
    if (elements(movement.shape) == 0) return movement;
    turn_forwards(&movement);
    sort(&movement.shape);
    merge(&movement.shape);
    if (bytes) widen(&movement);
    return movement;
}

dim3 blocks_for(int64_t count, int64_t each) {
    return dim3(static_cast<unsigned>(smaller(divide_up(count, each), MOST_BLOCKS)));
}

template <typename Visit> int with_word(int64_t bytes, Visit visit) {
    switch (bytes) {
    case 1: return visit(uint8_t{});
    case 2: return visit(uint16_t{});
    case 4: return visit(uint32_t{});
    case 8: return visit(uint64_t{});
    default: return visit(uint4{});
    }
}

// The axis along which `from` is densest, if a transpose through a tile is worthwhile; otherwise -1.
int axis_to_transpose(const axes &shape) {
    int best = -1;
    const int last = shape.count - 1;
    for (int d = 0; d < last; ++d)
        if (shape.from[d] != 0 && shape.length[d] >= WORTH_A_TILE &&
            (best < 0 || size_of(shape.from[d]) < size_of(shape.from[best])))
            best = d;
    const bool worth =
        best >= 0 && shape.length[last] >= WORTH_A_TILE && size_of(shape.from[best]) < size_of(shape.from[last]);
    return worth ? best : -1;
}

int move(const movement &movement, const ck_context *context, ck_error *error) {
    const int64_t count = elements(movement.shape);
    const int last = movement.shape.count - 1, row = axis_to_transpose(movement.shape);
    return with_word(movement.word, [&](auto kind) {
        using Word = decltype(kind);
        const axes &shape = movement.shape;
        if (row < 0 && last > 0 && shape.to[last] == sizeof(Word) && shape.from[last] == sizeof(Word) &&
            shape.length[last] >= WORTH_A_BLOCK) {
            const axes lines = without(shape, last, last);
            const int64_t length = shape.length[last];
            return ck_launch(context, error, "strided_lines", strided_lines<Word>, blocks_for(count / length, 1),
                             dim3(THREADS), 0, movement.to, movement.from, lines, count / length, length);
        }
        if (row < 0)
            return ck_launch(context, error, "strided_copy", strided_copy<Word>, blocks_for(count, THREADS),
                             dim3(THREADS), 0, movement.to, movement.from, movement.shape, count);
        axes matrix = {};
        for (const int d : {row, last})
            append(&matrix, movement.shape.length[d], movement.shape.to[d], movement.shape.from[d]);
        const axes others = without(movement.shape, row, last);
        const int64_t tiles =
            divide_up(matrix.length[0], TILE) * divide_up(matrix.length[1], TILE) * elements(others);
        return ck_launch(context, error, "strided_transpose", strided_transpose<Word>, blocks_for(tiles, 1),
                         dim3(THREADS), 0, movement.to, movement.from, matrix, others, tiles);
    });
}

// --- conversions

element element_of(const ck_view *view) {
    return {view->dtype, static_cast<int>(ck_dtype_size(view->dtype))};
}

// Every type is aligned to its size.
bool is_aligned(const char *start, const int64_t *strides, int count, int size) {
    bool aligned = reinterpret_cast<uintptr_t>(start) % static_cast<uintptr_t>(size) == 0;
    for (int d = 0; d < count; ++d) aligned = aligned && strides[d] % size == 0;
    return aligned;
}

template <typename Wide>
int convert_from(const ck_view *to, const ck_view *from, const movement &movement, const ck_context *context,
                 ck_error *error) {
    const axes &shape = movement.shape;
    const int64_t count = elements(shape);
    const element to_is = element_of(to), from_is = element_of(from);
    const bool aligned = is_aligned(movement.to, shape.to, shape.count, to_is.size) &&
                         is_aligned(movement.from, shape.from, shape.count, from_is.size);
    return ck_launch(context, error, "strided_convert",
                     aligned ? strided_convert<Wide, true> : strided_convert<Wide, false>, blocks_for(count, THREADS),
                     dim3(THREADS), 0, movement.to, to_is, movement.from, from_is, shape, count);
}

int convert(const ck_view *to, const ck_view *from, const movement &movement, const ck_context *context,
            ck_error *error) {
    if (to->swapped || from->swapped)
        return ck_fail(
            error, CK_NOT_SUPPORTED,
            "%s in swapped byte order cannot be converted to %s: copy it to this machine's byte order first",
            ck_dtype_name(from->dtype), ck_dtype_name(to->dtype));
#define CASE(code, element)                                                                                          \
    case CK_##code: return convert_from<widest<element>>(to, from, movement, context, error);
    switch (from->dtype) { CK_ELEMENTS(CASE) }
#undef CASE
    return no_kernel_for(from->dtype, error);
}

// --- one value

template <typename Word> pattern<Word> repeated(const char *value, int64_t size) {
    char bytes[PATTERN_BYTES];
    for (int64_t b = 0; b < PATTERN_BYTES; ++b) bytes[b] = value[b % size];
    pattern<Word> pattern;
    memcpy(&pattern, bytes, sizeof bytes);
    return pattern;
}

int fill(const ck_view *to, const char *value, const movement &movement, const ck_context *context, ck_error *error) {
    const int64_t size = static_cast<int64_t>(ck_dtype_size(to->dtype)), count = elements(movement.shape);
    return with_word(movement.word, [&](auto kind) {
        using Word = decltype(kind);
        return ck_launch(context, error, "strided_fill", strided_fill<Word>, blocks_for(count, THREADS),
                         dim3(THREADS), 0, movement.to, repeated<Word>(value, size), movement.shape, count);
    });
}

} // namespace
} // namespace strided

extern "C" int ck_strided_copy(const ck_view *to, const ck_view *from, const ck_context *context, ck_error *error) {
    using namespace strided;
    const bool same = to->dtype == from->dtype;
    const movement movement = movement_of(to, from, same, to->swapped != from->swapped);
    if (elements(movement.shape) == 0) return CK_OK;
    return same ? move(movement, context, error) : convert(to, from, movement, context, error);
}

extern "C" int ck_strided_fill(const ck_view *to, const void *value, const ck_context *context, ck_error *error) {
    using namespace strided;
    if (to->swapped) return ck_fail(error, CK_NOT_SUPPORTED, "an array in swapped byte order cannot be filled");
    const movement movement = movement_of(to, to, true, false); // `to` twice, since no other array limits the word
    if (elements(movement.shape) == 0) return CK_OK;
    return fill(to, static_cast<const char *>(value), movement, context, error);
}
