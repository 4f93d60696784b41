// The other operand of "split_inside": slabs of columns of B that are split on their way to shared memory. What they
// have in common with the rows of A is in split_copies.cuh.
#ifndef CK_MATMUL_SPLIT_COLUMNS_CUH
#define CK_MATMUL_SPLIT_COLUMNS_CUH

#include "split_copies.cuh"

namespace matmul {

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
