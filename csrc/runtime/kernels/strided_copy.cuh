// The kernels behind strided_copy.h. They move words between any two strides, convert numbers, and fill an array with
// one value.
//
// Map     The loops number the elements in the order of `axes`, whose last axis is the one along which `to` is
//         densest, so neighboring threads write neighboring words. If `from` is densest along another axis (a
//         transpose), a tile in shared memory lets the threads read neighboring words as well.
// Words   A copy within one type moves bytes without interpreting them. The host chooses the widest word that the
// strides
//         and addresses allow. The bytes of a misaligned or swapped element are one more axis.
// Types   A number is converted through the widest type of its kind (`int64_t`, `uint64_t`, `double`, complex
//         double), which holds it exactly. This takes four kernels instead of one for each of 15 x 15 pairs.
#ifndef CK_STRIDED_COPY_CUH
#define CK_STRIDED_COPY_CUH

#include <string.h>

#include "../../kernels/types.cuh"

namespace strided {

enum {
    MAX_AXES = CK_MAX_DIMS + 2, // two more: the parts of a complex number, and the bytes of a part
    THREADS = 256,
    TILE = 32,
    TILE_ROWS = THREADS / TILE,
    PATTERN_BYTES = 16 // a multiple of every element's size
};

struct offsets {
    int64_t to, from;
};

// Lengths, and strides in bytes. The last axis varies fastest.
struct axes {
    int count;
    int64_t length[MAX_AXES], to[MAX_AXES], from[MAX_AXES];

    // The offsets of element i.
    __device__ __forceinline__ offsets at(int64_t i) const {
        offsets sum = {0, 0};
        uint64_t rest = static_cast<uint64_t>(i); // unsigned division is faster
        for (int d = count - 1; d > 0; --d) {
            const uint64_t size = static_cast<uint64_t>(length[d]), quotient = rest / size;
            const int64_t index = static_cast<int64_t>(rest - quotient * size);
            sum.to += index * to[d];
            sum.from += index * from[d];
            rest = quotient;
        }
        if (count > 0) {
            sum.to += static_cast<int64_t>(rest) * to[0];
            sum.from += static_cast<int64_t>(rest) * from[0];
        }
        return sum;
    }
};

__device__ __forceinline__ int64_t first() {
    return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ int64_t step() {
    return static_cast<int64_t>(gridDim.x) * blockDim.x;
}

template <typename Word>
__global__ void __launch_bounds__(THREADS)
    strided_copy(char *__restrict__ to, const char *__restrict__ from, const axes shape, int64_t count) {
    for (int64_t i = first(); i < count; i += step()) {
        const offsets at = shape.at(i);
        *reinterpret_cast<Word *>(to + at.to) = *reinterpret_cast<const Word *>(from + at.from);
    }
}

// Lines of contiguous words: `lines` are the axes but the last one, along which both arrays are contiguous. A block
// copies one line after another, so that the position in the arrays is computed once per line, and a thread has
// several loads in flight.
template <typename Word>
__global__ void __launch_bounds__(THREADS) strided_lines(char *__restrict__ to, const char *__restrict__ from,
                                                         const axes lines, int64_t count, int64_t length) {
    constexpr int AT_ONCE = 8;
    for (int64_t line = blockIdx.x; line < count; line += gridDim.x) {
        const offsets at = lines.at(line);
        Word *const target = reinterpret_cast<Word *>(to + at.to);
        const Word *const source = reinterpret_cast<const Word *>(from + at.from);
        int64_t i = threadIdx.x;
        for (; i + (AT_ONCE - 1) * THREADS < length; i += AT_ONCE * THREADS) {
            Word words[AT_ONCE];
#pragma unroll
            for (int j = 0; j < AT_ONCE; ++j) words[j] = source[i + j * THREADS];
#pragma unroll
            for (int j = 0; j < AT_ONCE; ++j) target[i + j * THREADS] = words[j];
        }
        for (; i < length; i += THREADS) target[i] = source[i];
    }
}

// `to` is dense along axis 1 of `matrix`, its columns, and `from` along axis 0, its rows; `others` are the remaining
// axes. A block processes one tile of TILE x TILE words after another.
template <typename Word>
__global__ void __launch_bounds__(THREADS) strided_transpose(char *__restrict__ to, const char *__restrict__ from,
                                                             const axes matrix, const axes others, int64_t tiles) {
    __shared__ Word tile[TILE][TILE + 1]; // + 1: the words of a column are in 32 banks
    const int x = static_cast<int>(threadIdx.x) % TILE, y = static_cast<int>(threadIdx.x) / TILE;
    const int64_t rows = matrix.length[0], columns = matrix.length[1];
    const int64_t across = (columns + TILE - 1) / TILE, down = (rows + TILE - 1) / TILE;
    for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const int64_t column = t % across * TILE, row = t / across % down * TILE;
        const offsets at = others.at(t / across / down);
        for (int j = y; j < TILE; j += TILE_ROWS)
            if (row + x < rows && column + j < columns)
                tile[j][x] = *reinterpret_cast<const Word *>(from + at.from + (row + x) * matrix.from[0] +
                                                             (column + j) * matrix.from[1]);
        __syncthreads();
        for (int j = y; j < TILE; j += TILE_ROWS)
            if (row + j < rows && column + x < columns)
                *reinterpret_cast<Word *>(to + at.to + (row + j) * matrix.to[0] + (column + x) * matrix.to[1]) =
                    tile[x][j];
        __syncthreads(); // the next tile overwrites this one
    }
}

// The element, repeated, so that a wide word can contain several copies.
template <typename Word> struct pattern {
    enum { WORDS = PATTERN_BYTES / sizeof(Word) };
    Word words[WORDS];
};

// The last axis starts with the first byte of an element and consists of whole elements.
template <typename Word>
__global__ void __launch_bounds__(THREADS)
    strided_fill(char *__restrict__ to, const pattern<Word> value, const axes shape, int64_t count) {
    for (int64_t i = first(); i < count; i += step())
        *reinterpret_cast<Word *>(to + shape.at(i).to) = value.words[i % pattern<Word>::WORDS];
}

// --- conversions

// The widest type of the same kind as T.
template <typename T> constexpr auto widest_of() {
    if constexpr (is_complex<T>::value)
        return complex<double>();
    else if constexpr (std::is_same_v<T, bool8> || std::is_unsigned_v<T>)
        return uint64_t();
    else if constexpr (std::is_integral_v<T>)
        return int64_t();
    else
        return double();
}
template <typename T> using widest = decltype(widest_of<T>());

template <typename Visit> __device__ __forceinline__ void with_type(int dtype, Visit visit) {
#define CASE(code, element)                                                                                          \
    case CK_##code: return visit(element{});
    switch (dtype) { CK_ELEMENTS(CASE) }
#undef CASE
}

template <typename T, bool ALIGNED> __device__ __forceinline__ T read(const char *address) {
    if constexpr (ALIGNED) {
        return *reinterpret_cast<const T *>(address);
    } else {
        char bytes[sizeof(T)];
        for (int b = 0; b < static_cast<int>(sizeof(T)); ++b) bytes[b] = address[b];
        T value;
        memcpy(&value, bytes, sizeof(T));
        return value;
    }
}

// The bytes of an element that must be stored one by one. All types share this store: when it was next to the
// conversion to a half, ptxas 13.0 replaced the store of the lower byte with a conversion to uint8.
struct image {
    uint64_t words[2];
};

template <typename T> __device__ __forceinline__ image image_of(T value) {
    image bytes = {};
    memcpy(&bytes, &value, sizeof(T));
    return bytes;
}

__device__ __forceinline__ void write_bytes(char *address, int size, const image &bytes) {
    for (int b = 0; b < size; ++b) address[b] = static_cast<char>(bytes.words[b / 8] >> b % 8 * 8);
}

struct element {
    int dtype, size;
};

// Wide: the widest type of the same kind as `from_is`. ALIGNED: both arrays are aligned to the sizes of their
// elements.
template <typename Wide, bool ALIGNED>
__global__ void __launch_bounds__(THREADS)
    strided_convert(char *__restrict__ to, element to_is, const char *__restrict__ from, element from_is,
                    const axes shape, int64_t count) {
    constexpr int AT_ONCE = ALIGNED ? 4 : 1; // several loads in flight, to use the memory's bandwidth
    for (int64_t i = first(); i < count; i += AT_ONCE * step()) {
        const auto is_there = [&](int j) { return i + j * step() < count; };
        offsets at[AT_ONCE] = {};
        Wide values[AT_ONCE] = {};
        for (int j = 0; j < AT_ONCE; ++j)
            if (is_there(j)) at[j] = shape.at(i + j * step());
        with_type(from_is.dtype, [&](auto kind) {
            using T = decltype(kind);
            if constexpr (std::is_same_v<widest<T>, Wide>)
                for (int j = 0; j < AT_ONCE; ++j)
                    if (is_there(j)) values[j] = number_cast<Wide>(read<T, ALIGNED>(from + at[j].from));
        });
        image bytes = {};
        with_type(to_is.dtype, [&](auto kind) {
            using T = decltype(kind);
            if constexpr (!ALIGNED) {
                bytes = image_of(number_cast<T>(values[0]));
            } else {
                for (int j = 0; j < AT_ONCE; ++j)
                    if (is_there(j)) *reinterpret_cast<T *>(to + at[j].to) = number_cast<T>(values[j]);
            }
        });
        if (!ALIGNED) write_bytes(to + at[0].to, to_is.size, bytes);
    }
}

} // namespace strided

#endif
