// Which tile of C a block computes, for kernels with a one-dimensional grid.
//
// Blocks start in the order of blockIdx.x. In plain row order, the blocks that run at the same time would cover a few
// rows of tiles and all columns: together they would read all of B. Bands of eight rows of tiles make them cover a
// region that is nearly square, which reads less, so more of it comes from the L2 cache:
//
//     0  2  4  6        a band of 2 rows of tiles: blocks 0 ... 7
//     1  3  5  7
//     8 10 12 14        the next band
//     9 11 13 15
#ifndef CK_MATMUL_BLOCK_TILE_CUH
#define CK_MATMUL_BLOCK_TILE_CUH

#include <stdint.h>

#include <cuda_runtime.h>

namespace matmul {

struct tile_origin {
    int64_t row, column;
};

template <int ROWS, int COLUMNS>
__device__ __forceinline__ tile_origin tile_of_block(int64_t m, int64_t n, unsigned block = blockIdx.x) {
    const unsigned across = static_cast<unsigned>((n + COLUMNS - 1) / COLUMNS);
    const unsigned down = static_cast<unsigned>((m + ROWS - 1) / ROWS);
    const unsigned most = down < 8 ? down : 8; // rows of tiles in a band; the last band may have fewer
    const unsigned band = block / (most * across), within = block % (most * across);
    const unsigned height = (band + 1) * most <= down ? most : down - band * most;
    return {static_cast<int64_t>(band * most + within % height) * ROWS,
            static_cast<int64_t>(within / height) * COLUMNS};
}

} // namespace matmul

#endif
