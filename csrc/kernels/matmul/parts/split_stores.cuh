// How the threads of "split_fp16" and "split_bf16" store their sums.
//
// Of every 16 columns of a tile, a thread has four neighbors (split_place), and three other threads of its warp have
// the others. Where rows of C do not begin at multiples of 16 bytes, one store of four neighbors is not possible.
// Four stores of single elements write each 32 bytes of the L2 cache four times, which may take half as long as the
// rest of a short product. So threads pass elements to their neighbors, and then each has four at an aligned address.
// With two elements before the first such address:
//
//     column     0 1 2 3 4 5 6 7 8 9 ...
//     has        0 0 0 0 1 1 1 1 2 2 ...
//     stores     0 0 0 0 0 0 1 1 1 1 ...  (the first two: one by one)
#ifndef CK_MATMUL_SPLIT_STORES_CUH
#define CK_MATMUL_SPLIT_STORES_CUH

#include "operands.cuh"

namespace matmul {

// Stores a warp's 16 rows of a tile. `row`: the first of the thread's two, which are 8 apart; `column`: the first one
// of the tile.
template <int COLUMNS>
__device__ __forceinline__ void store_split_rows(const output_matrix<float, false> &c, int row, int column, int m,
                                                 int n, const float (&sum)[COLUMNS / 2]) {
    const int lane = static_cast<int>(threadIdx.x) % 32, own = lane % 4;
    float *const to = c.data + row * c.row_stride + column * c.column_stride;
    const int lead = static_cast<int>(-(reinterpret_cast<uintptr_t>(to) / sizeof(float)) % 4); // of both rows
    const int end = n - column < COLUMNS ? n - column : COLUMNS;
    // One of the thread's four sums in 16 columns of a row.
    const auto own_sum = [&](int half, int first, int i) { return sum[first / 2 + half * 2 + i / 2 * 4 + i % 2]; };
    const auto store = [&](int half, int at, const float(&x)[4]) {
        float *const line = to + half * 8 * c.row_stride;
        if (row + half * 8 >= m) return;
        if (at + 3 < end)
            *reinterpret_cast<float4 *>(line + at) = make_float4(x[0], x[1], x[2], x[3]);
        else
#pragma unroll
            for (int i = 0; i < 4; ++i)
                if (at + i < end) line[at + i] = x[i];
    };
    if (__builtin_expect(c.column_stride == 1 && __all_sync(0xffffffffu, lead == 0), 1)) {
#pragma unroll
        for (int i = 0; i < COLUMNS / 8; ++i) {
            const int half = i % 2, first = i / 2 * 16;
            store(
                half, first + own * 4,
                {own_sum(half, first, 0), own_sum(half, first, 1), own_sum(half, first, 2), own_sum(half, first, 3)});
        }
        return;
    }
    if (c.column_stride != 1) {
#pragma unroll
        for (int i = 0; i < COLUMNS / 4; ++i) {
            const int half = i / 2 % 2, first = i / 4 * 16, pair = i % 2 * 2;
            store_pair(c, row + half * 8, column + first + own * 4 + pair, m, n, own_sum(half, first, pair),
                       own_sum(half, first, pair + 1));
        }
        return;
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        if (own == 0 && row + half * 8 < m)
#pragma unroll
            for (int i = 0; i < 3; ++i)
                if (i < lead && i < end) to[half * 8 * c.row_stride + i] = own_sum(half, 0, i);
#pragma unroll
        for (int first = 0; first < COLUMNS; first += 16) {
            float y[7]; // the thread's four, and three of the next thread, which may be the first one again
#pragma unroll
            for (int i = 0; i < 4; ++i) y[i] = own_sum(half, first, i);
            const int next = first + 16 < COLUMNS ? first + 16 : first;
#pragma unroll
            for (int i = 0; i < 3; ++i)
                y[4 + i] =
                    __shfl_sync(0xffffffffu, own == 0 ? own_sum(half, next, i) : y[i], lane / 4 * 4 + (own + 1) % 4);
            if (lead & 1)
#pragma unroll
                for (int i = 0; i < 6; ++i) y[i] = y[i + 1];
            if (lead & 2)
#pragma unroll
                for (int i = 0; i < 4; ++i) y[i] = y[i + 2];
            store(half, first + own * 4 + lead, {y[0], y[1], y[2], y[3]});
        }
    }
}

} // namespace matmul

#endif
