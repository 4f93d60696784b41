// What pipelines of slabs have in common: how long a slab is, which stage of shared memory is next, and in which
// order the blocks of a persistent grid visit the tiles.
#ifndef CK_MATMUL_SLABS_CUH
#define CK_MATMUL_SLABS_CUH

#include <stdint.h>

#include <cuda_runtime.h>

namespace matmul {

enum { SLAB_BYTES = 128, SLAB_DEPTH = SLAB_BYTES / 2, BOX_BYTES = 64 * 64 * 2 }; // DEPTH: of 16-bit elements

// TMA and wgmma exchange the bytes of 1024 by their addresses (wgmma.cuh), so that slabs begin at multiples of 1024.
__device__ __forceinline__ unsigned char *first_slab_in(unsigned char *shared) {
    return shared + (1024 - reinterpret_cast<uintptr_t>(shared) % 1024) % 1024;
}

// The stages of a pipeline, which take turns.
template <int STAGES> struct stage_turns {
    int stage = 0, round = 0; // a stage's number, and the parity of its use

    __device__ __forceinline__ void next() {
        if (++stage == STAGES) stage = 0, round ^= 1;
    }
};

// The tiles of a product, in bands of BAND rows of tiles (see block_tile.cuh).
template <int ROWS, int COLUMNS, int BAND = 16> struct tile_order {
    int down, across;

    __device__ __forceinline__ tile_order(int m, int n)
        : down((m + ROWS - 1) / ROWS), across((n + COLUMNS - 1) / COLUMNS) {}
    __device__ __forceinline__ void place(int tile, int &row, int &column) const {
        const int most = down < BAND ? down : BAND, band = tile / (most * across), within = tile % (most * across);
        const int height = (band + 1) * most <= down ? most : down - band * most;
        row = (band * most + within % height) * ROWS;
        column = within / height * COLUMNS;
    }
};

} // namespace matmul

#endif
