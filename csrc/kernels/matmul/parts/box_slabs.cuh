// Slabs that TMA copies to shared memory and wgmma reads there, and which product of a stack a block computes.
//
// A slab is 128 bytes of a row of A (or a column of B), 64 elements of 16 bits, by EXTENT rows of A (or columns of
// B). Operands that are contiguous along k come as one box; others, which must have 16-bit elements, as boxes of 64
// along the extent by 64 along k. In both, a row of a box has 128 bytes, which TMA stores with a swizzle that wgmma
// undoes when it reads them (wgmma.cuh).
#ifndef CK_MATMUL_BOX_SLABS_CUH
#define CK_MATMUL_BOX_SLABS_CUH

#include <string.h>

#include "operands.cuh"
#include "slabs.cuh"
#include "tensor_core.cuh"
#include "tensor_copy.cuh"
#include "wgmma.cuh"

namespace matmul {

template <int EXTENT_, bool ALONG_K_> struct box_slab {
    enum { EXTENT = EXTENT_, ALONG_K = ALONG_K_, BYTES = EXTENT * SLAB_BYTES };

    // Begins the copy of one slab, for the calling thread alone. Outside the matrix, TMA writes zeros. ONCE: no other
    // block reads it.
    template <bool ONCE = false>
    static __device__ __forceinline__ void load(unsigned char *slab, const tensor_map *map, mbarrier *full,
                                                int extent, int k, int matrix) {
        const auto load_box = [&](unsigned char *to, const int(&at)[3]) {
            if constexpr (ONCE)
                tensor_load_once<3>(to, map, full, at);
            else
                tensor_load<3>(to, map, full, at);
        };
        if (ALONG_K) {
            load_box(slab, {k, extent, matrix});
        } else {
#pragma unroll
            for (int i = 0; i < EXTENT / 64; ++i) load_box(slab + i * BOX_BYTES, {extent + i * 64, k, matrix});
        }
    }

    // The same for one of PARTS blocks of a cluster: it copies its part of the slab, for all of them: a part of the
    // extent or, where that would be no whole number of boxes, the same part along k of each box.
    template <int PARTS>
    static __device__ __forceinline__ void load_part(unsigned char *slab, const tensor_map *map, mbarrier *full,
                                                     int extent, int k, int matrix, int part) {
        constexpr int SIZE = EXTENT / PARTS, EVERY_BLOCK = (1 << PARTS) - 1;
        if constexpr (!ALONG_K && SIZE % 64 != 0) { // no whole number of boxes: a part along k of each
            constexpr int DEPTH = SLAB_DEPTH / PARTS;
            slab += part * DEPTH * SLAB_BYTES, k += part * DEPTH;
#pragma unroll
            for (int i = 0; i < EXTENT / 64; ++i)
                tensor_load_multicast<3>(slab + i * BOX_BYTES, map, full, {extent + i * 64, k, matrix}, EVERY_BLOCK);
            return;
        }
        slab += part * SIZE * 128, extent += part * SIZE;
        if (ALONG_K) {
            tensor_load_multicast<3>(slab, map, full, {k, extent, matrix}, EVERY_BLOCK);
        } else {
#pragma unroll
            for (int i = 0; i < SIZE / 64; ++i)
                tensor_load_multicast<3>(slab + i * BOX_BYTES, map, full, {extent + i * 64, k, matrix}, EVERY_BLOCK);
        }
    }

    // A quarter of the slab (0 to 3), 32 bytes along k, for the extents from `extent` on (a multiple of 64).
    static __device__ __forceinline__ uint64_t descriptor(const unsigned char *slab, int extent, int quarter) {
        return ALONG_K ? wgmma_descriptor(slab + extent * 128 + quarter * 32, 0)
                       : wgmma_descriptor(slab + extent / 64 * BOX_BYTES + quarter * 16 * 128, BOX_BYTES);
    }
};

// Begins the products of one slab: 64 rows of C, from `row` of the tile on, by all columns. The sums may be read
// after a wait.
template <typename T, typename A, typename B>
__device__ __forceinline__ void multiply_slab(wgmma_total<T> (&sum)[B::EXTENT / 2], const unsigned char *a,
                                              const unsigned char *b, int row) {
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < 4; ++i)
        wgmma<T, B::EXTENT, !A::ALONG_K, !B::ALONG_K>(sum, A::descriptor(a, row, i), B::descriptor(b, 0, i), true);
    wgmma_commit();
}

// The sizes of C's matrices, of T, and where the products of a stack are: axes from the inside to the outside.
template <typename T> struct [[gnu::visibility("default")]] box_operands {
    output_matrix<T, false> c;
    int m, n, k;
    int first, products, axes; // the number of the first product of this launch; products in all
    int store_boxes;           // TMA stores the results, by the map of C
    stack_axis axis[STACK_AXES];

    // C^T = B^T A^T.
    __host__ box_operands transposed() const {
        box_operands other = *this;
        other.c.row_stride = c.column_stride, other.c.column_stride = c.row_stride, other.m = n, other.n = m;
        for (stack_axis &each : other.axis) each = each.transposed();
        return other;
    }
};

// One product of the stack: the numbers of its matrices in the maps of A and B, which leave out axes of stride 0, and
// of C.
template <typename T> struct product_index {
    int a = 0, b = 0;
    output_matrix<T, false> c;

    __device__ __forceinline__ product_index(const box_operands<T> &operands, int number) : c(operands.c) {
        int a_matrices = 1, b_matrices = 1;
#pragma unroll 1 // rarely entered
        for (int i = 0; i < operands.axes; ++i) {
            const stack_axis &axis = operands.axis[i];
            const int length = static_cast<int>(axis.length), place = number % length;
            number /= length;
            if (axis.a != 0) a += place * a_matrices, a_matrices *= length;
            if (axis.b != 0) b += place * b_matrices, b_matrices *= length;
            c.data += place * axis.c;
        }
    }
};

// Two results in one register.
template <typename T> __device__ __forceinline__ unsigned pair_of(float low, float high) {
    struct alignas(4) {
        T low, high;
    } pair = {static_cast<T>(low), static_cast<T>(high)};
    unsigned bits;
    memcpy(&bits, &pair, sizeof bits);
    return bits;
}

// Writes a warpgroup's sums: 64 rows from `row` on, and the columns from `column` on.
template <typename T, typename Sum, int COUNT>
__device__ __forceinline__ void store_sums(const output_matrix<T, false> &c, int row, int column, int m, int n,
                                           const Sum (&sum)[COUNT]) {
    const int t = threadIdx.x % 128, first_row = row + t / 32 * 16 + t % 32 / 4, first_column = column + t % 4 * 2;
#pragma unroll
    for (int i = 0; i < COUNT / 4; ++i) {
        store_pair(c, first_row, first_column + i * 8, m, n, sum[i * 4], sum[i * 4 + 1]);
        store_pair(c, first_row + 8, first_column + i * 8, m, n, sum[i * 4 + 2], sum[i * 4 + 3]);
    }
}

// A warpgroup's results in shared memory: boxes of 64 rows x 64 columns, swizzled as TMA expects.
template <typename T, int COUNT>
__device__ __forceinline__ void write_results(unsigned char *results, const float (&sum)[COUNT]) {
    const int t = threadIdx.x % 128, row = t / 32 * 16 + t % 16, right = t % 32 / 16; // the row that this lane passes
#pragma unroll
    for (int i = 0; i < COUNT / 8; ++i) { // 16 columns each: two chunks of eight
        const int chunk = i * 2 + right;
        const unsigned four[4] = {pair_of<T>(sum[i * 8], sum[i * 8 + 1]), pair_of<T>(sum[i * 8 + 2], sum[i * 8 + 3]),
                                  pair_of<T>(sum[i * 8 + 4], sum[i * 8 + 5]),
                                  pair_of<T>(sum[i * 8 + 6], sum[i * 8 + 7])};
        stmatrix(results + chunk / 8 * BOX_BYTES + row * 128 + (chunk % 8 ^ row % 8) * 16, four);
    }
}

// Stores those results where TMA cannot, because rows of C start at any element: each warp its own 16 rows, one after
// another, in pairs that are aligned in global memory, so that the stores of a warp are next to each other.
template <typename T, int COLUMNS>
__device__ __forceinline__ void store_rows(const output_matrix<T, false> &c, int row, int column, int m, int n,
                                           const unsigned char *results) {
    const int lane = threadIdx.x % 32, first = threadIdx.x % 128 / 32 * 16, width = n - column;
    const auto result = [&](int line, int at) { // an element's bits
        const unsigned char *box = results + at / 64 * BOX_BYTES + line * 128;
        return *reinterpret_cast<const unsigned short *>(box + (at / 8 % 8 ^ line % 8) * 16 + at % 8 * 2);
    };
#pragma unroll 1
    for (int line = first; line < first + 16 && row + line < m; ++line) {
        auto *const to = reinterpret_cast<unsigned short *>(c.data + (row + line) * c.row_stride + column);
        const int head = reinterpret_cast<uintptr_t>(to) / 2 % 2; // elements before the first pair
        if (lane < head && lane < width) to[lane] = result(line, lane);
#pragma unroll
        for (int i = 0; i < COLUMNS; i += 64) {
            const int at = head + i + lane * 2;
            if (at + 1 < COLUMNS && at + 1 < width)
                *reinterpret_cast<unsigned *>(to + at) =
                    result(line, at) | static_cast<unsigned>(result(line, at + 1)) << 16;
            else if (at < COLUMNS && at < width)
                to[at] = result(line, at);
        }
    }
}

} // namespace matmul

#endif
