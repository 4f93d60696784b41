// Slabs of float32 that "split_inside" splits on their way from global memory: rows of A to registers, columns of B
// to shared memory.
//
// wgmma takes 16 elements along k at once, and four threads hold them for a row of A: thread q has those at places 2
// q, 2 q + 1, 2 q + 8 and 2 q + 9. In which order the elements of k come does not matter, as long as it is the same
// in A and B. Here, thread q has elements 4 q to 4 q + 3, which it can load at once if they are contiguous.
#ifndef CK_MATMUL_SPLIT_INSIDE_COPIES_CUH
#define CK_MATMUL_SPLIT_INSIDE_COPIES_CUH

#include "device_extras.cuh"
#include "operands.cuh"
#include "slabs.cuh"
#include "split_elements.cuh"

namespace matmul {

enum { SPLIT_STEPS = SLAB_DEPTH / 16 }; // of wgmma in a slab

// The slabs of a thread that multiplies: elements of two neighboring rows of the sixteen that its warp has. Rows
// outside the matrix are its last row again: their results are not stored. Elements outside along k are zeros.
template <bool ALONG_K> struct split_rows {
    const float *from; // the first element of the next slab
    int64_t pitch; // from row to row if elements are contiguous along k, or from k to k if they are along the rows
    int next;      // the distance of the second row: 1, or 0 if the first one is the last of the matrix
    int left, k;   // elements along k from the slab's first one on; the thread's first element of a slab
    bool aligned;  // four neighbors along k, or the elements of both rows, may be loaded at once
    using slab = float[SPLIT_STEPS][2][4];

    __device__ __forceinline__ split_rows(const input_matrix<float, false> &a, int64_t row, int64_t m,
                                          int64_t depth) {
        const int64_t first = row < m ? row : m - 1;
        pitch = ALONG_K ? a.row_stride : a.column_stride, next = first + 1 < m ? 1 : 0;
        left = static_cast<int>(depth), k = static_cast<int>(threadIdx.x) % 4 * 4;
        from = a.data + (ALONG_K ? first * pitch + k : first + k * pitch);
        aligned = pitch % (ALONG_K ? 4 : 2) == 0 && reinterpret_cast<uintptr_t>(from) % (ALONG_K ? 16 : 8) == 0 &&
                  (ALONG_K || next == 1);
    }

    // Begins the loads of the next slab.
    __device__ __forceinline__ void load(slab &x) {
        recompute_from(pitch); // the distances of all loads would take too many registers
        if (left < SLAB_DEPTH)
            load_checked<true>(x);
        else if (aligned)
            load_aligned(x);
        else
            load_checked<false>(x);
        from += SLAB_DEPTH * (ALONG_K ? 1 : pitch), left -= SLAB_DEPTH;
    }
    template <bool CHECK_K> __device__ __forceinline__ void load_checked(slab &x) const {
#pragma unroll
        for (int step = 0; step < SPLIT_STEPS; ++step)
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const bool inside = !CHECK_K || step * 16 + k + j < left;
                const float *const at = from + (step * 16 + j) * (ALONG_K ? 1 : pitch);
                x[step][0][j] = inside ? __ldg(at) : 0;
                x[step][1][j] = inside ? __ldg(at + next * (ALONG_K ? pitch : 1)) : 0;
            }
    }
    __device__ __forceinline__ void load_aligned(slab &x) const {
        const float *at = from;
#pragma unroll
        for (int step = 0; step < SPLIT_STEPS; ++step) {
            if constexpr (ALONG_K) {
#pragma unroll
                for (int row = 0; row < 2; ++row) {
                    const float4 four =
                        __ldg(reinterpret_cast<const float4 *>(from + row * next * pitch + step * 16));
                    x[step][row][0] = four.x, x[step][row][1] = four.y, x[step][row][2] = four.z,
                    x[step][row][3] = four.w;
                }
            } else {
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    const float2 two = __ldg(reinterpret_cast<const float2 *>(at));
                    x[step][0][j] = two.x, x[step][1][j] = two.y;
                    at += j < 3 ? pitch : 13 * pitch;
                }
            }
        }
    }

    // The pieces of a slab, as wgmma takes them: the first row's elements at places 2 q and 2 q + 1, the second
    // row's, and the same at places 2 q + 8 and 2 q + 9.
    static __device__ __forceinline__ void split(const slab &x, split_elements &elements,
                                                 unsigned (&pieces)[3][SPLIT_STEPS][4]) {
#pragma unroll
        for (int step = 0; step < SPLIT_STEPS; ++step)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const float *const two = &x[step][i % 2][i / 2 * 2];
                unsigned words[3];
                elements.split(two[0], two[1], words);
#pragma unroll
                for (int piece = 0; piece < 3; ++piece) pieces[piece][step][i] = words[piece];
            }
    }
};

// Where the rows of a tile come from memory rather than from the L2 cache: slabs on their way into that cache, two
// ahead of the one that is split. (More would delay the next one.) A thread has 128 bytes of each slab.
template <int ROWS, bool ALONG_K> struct prefetched_rows {
    enum { LINES = ALONG_K ? ROWS : SLAB_DEPTH, EACH = 256 / LINES }; // EACH: 128 bytes for each line
    const float *from;
    int64_t step;
    bool inside;

    // `thread` of 256; the rows of the tile begin at `row`.
    __device__ __forceinline__ prefetched_rows(const input_matrix<float, false> &a, int64_t row, int64_t m,
                                               int thread) {
        const int line = thread / EACH, chunk = thread % EACH * 32;
        from = a.data + (ALONG_K ? (row + line) * a.row_stride + chunk : row + chunk + line * a.column_stride);
        step = SLAB_DEPTH * (ALONG_K ? 1 : a.column_stride), from += step; // the first slab is loaded at once
        inside = row + (ALONG_K ? line : chunk) < m;
    }

    // The next slab, whose end is inside the matrix.
    __device__ __forceinline__ void load() {
        if (inside) prefetch_l2(from);
        from += step;
    }
};

// The slabs of a thread that splits for others: EXTENT columns of 64 elements along k for a warpgroup. In shared
// memory, a piece of a slab has a row of 128 bytes for each column, swizzled as TMA would do it. Word 8 s + 4 h + q
// of it holds elements 16 s + 4 q + 2 h and the next one.
//
//     along k:             columns 2 w + lane / 16, 8 further, ... of warp w; four elements along k
//     along the columns:   columns lane, lane + 32, ...; k = 16 w to 16 w + 15
template <int EXTENT, bool ALONG_K> struct split_columns {
    // EACH elements of COUNT columns.
    enum { EACH = ALONG_K ? 4 : 16, APART = ALONG_K ? 8 : 32, COUNT = EXTENT / APART };
    const float *from; // this thread's first element of the next slab
    int64_t pitch;     // from column to column if elements are contiguous along k, or from k to k
    int columns;       // inside the matrix, from the thread's first one on
    int left, k;       // as in split_rows
    bool aligned, all_columns;
    using slab = float[COUNT][EACH];

    __device__ __forceinline__ split_columns(const input_matrix<float, false> &b, int64_t column, int64_t n,
                                             int64_t depth) {
        const int warp = static_cast<int>(threadIdx.x) % 128 / 32, lane = static_cast<int>(threadIdx.x) % 32;
        const int first = ALONG_K ? warp * 2 + lane / 16 : lane;
        pitch = ALONG_K ? b.column_stride : b.row_stride;
        left = static_cast<int>(depth), k = ALONG_K ? lane % 16 * 4 : warp * 16;
        from = b.data + (ALONG_K ? (column + first) * pitch + k : column + first + k * pitch);
        all_columns = column + EXTENT <= n;
        columns = all_columns ? EXTENT : static_cast<int>(n - column) - first;
        aligned = ALONG_K && pitch % 4 == 0 && reinterpret_cast<uintptr_t>(from) % 16 == 0;
    }

    // Begins the loads of the next slab. Columns outside the matrix are its last one again.
    __device__ __forceinline__ void load(slab &x) {
        recompute_from(pitch); // as in split_rows
        if (left < SLAB_DEPTH)
            load_checked<true, true>(x);
        else if (!all_columns)
            load_checked<true, false>(x);
        else if (aligned)
            load_fours(x);
        else
            load_checked<false, false>(x);
        from += SLAB_DEPTH * (ALONG_K ? 1 : pitch), left -= SLAB_DEPTH;
    }
    template <bool CHECK_COLUMNS, bool CHECK_K> __device__ __forceinline__ void load_checked(slab &x) const {
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            const int column = CHECK_COLUMNS && i * APART >= columns ? columns - 1 : i * APART;
#pragma unroll
            for (int j = 0; j < EACH; ++j)
                x[i][j] =
                    !CHECK_K || k + j < left ? __ldg(from + (ALONG_K ? column * pitch + j : column + j * pitch)) : 0;
        }
    }
    __device__ __forceinline__ void load_fours(slab &x) const {
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            const float4 four = __ldg(reinterpret_cast<const float4 *>(from + i * APART * pitch));
            x[i][0] = four.x, x[i][1] = four.y, x[i][2] = four.z, x[i][3] = four.w;
        }
    }

    // Splits the elements into `pieces`, which are BYTES apart.
    template <int BYTES>
    static __device__ __forceinline__ void store(const slab &x, split_elements &elements, unsigned char *pieces) {
        const int warp = static_cast<int>(threadIdx.x) % 128 / 32, lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            const int column = (ALONG_K ? warp * 2 + lane / 16 : lane) + i * APART;
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int chunk = ((ALONG_K ? lane % 16 / 4 : warp) * 2 + half) ^ column % 8;
                unsigned char *const to = pieces + column * SLAB_BYTES + chunk * 16 + (ALONG_K ? lane % 4 * 4 : 0);
                unsigned words[EACH / 4][3];
#pragma unroll
                for (int q = 0; q < EACH / 4; ++q)
                    elements.split(x[i][q * 4 + half * 2], x[i][q * 4 + half * 2 + 1], words[q]);
#pragma unroll
                for (int piece = 0; piece < 3; ++piece)
                    if constexpr (ALONG_K)
                        *reinterpret_cast<unsigned *>(to + piece * BYTES) = words[0][piece];
                    else
                        *reinterpret_cast<uint4 *>(to + piece * BYTES) =
                            make_uint4(words[0][piece], words[1][piece], words[2][piece], words[3][piece]);
            }
        }
    }
};

} // namespace matmul

#endif
