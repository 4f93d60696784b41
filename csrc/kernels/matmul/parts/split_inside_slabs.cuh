// The sizes of tiles in "split_inside", and the products of the pieces in one slab.
#ifndef CK_MATMUL_SPLIT_INSIDE_SLABS_CUH
#define CK_MATMUL_SPLIT_INSIDE_SLABS_CUH

#include "split_copies.cuh"
#include "wgmma.cuh"

namespace matmul {

// SPLITTERS: threads; a warpgroup of them splits SPLIT_WIDTH columns. WIDTH: the columns of an instruction of wgmma.
// A slab has TIMES sums of products: those of STEPS steps of 16 elements along k and of one of PARTS parts of the
// columns.
template <int COLUMNS_, int STAGES_> struct [[gnu::visibility("default")]] split_inside_size {
    enum { PIECES = 3, ROWS = 128, COLUMNS = COLUMNS_, STAGES = STAGES_, CONSUMERS = ROWS / 64 };
    enum { WIDTH = COLUMNS < 64 ? COLUMNS : 64, PARTS = COLUMNS / WIDTH };
    enum { SPLIT_WIDTH = COLUMNS == 128 ? 64 : 32, SPLITTERS = COLUMNS / SPLIT_WIDTH * 128 };
    enum { SPLITTER_REGISTERS = 64, CONSUMER_REGISTERS = 192, TWO_SUMS = PARTS == 1 };
    enum { STEPS = TWO_SUMS ? +SPLIT_STEPS : SPLIT_STEPS / 2, TIMES = PARTS * SPLIT_STEPS / STEPS };
    enum { THREADS = SPLITTERS + CONSUMERS * 128 };
    static_assert(SPLITTERS * SPLITTER_REGISTERS + CONSUMERS * 128 * CONSUMER_REGISTERS <=
                      65536 / THREADS / 8 * 8 * THREADS,
                  "no more than the block has: otherwise it waits for ever");
    enum { PREFETCH = COLUMNS <= 64 };       // with few columns, rows come from memory
    enum { B_BYTES = COLUMNS * SLAB_BYTES }; // of one piece
    enum { STAGE_BYTES = PIECES * B_BYTES, SUMS_BYTES = ROWS * COLUMNS * 4 };
    enum { SHARED_BYTES = 1024 + STAGES * STAGE_BYTES + SUMS_BYTES };
    static_assert(ROWS * COLUMNS * 4 <= STAGES * STAGE_BYTES, "the sums take the place of the pieces");
};
using split_inside_128 = split_inside_size<128, 3>;
using split_inside_64 = split_inside_size<64, 4>;
using split_inside_32 = split_inside_size<32, 6>;

// Begins the six products of 64 rows, whose pieces are in registers, and WIDTH columns: of STEPS steps of 16 elements
// along k from `first` on, the smallest products first. `last` gets the last half along k of high * high: the tensor
// cores would cut off most where it was added to the rest. (Without TWO_SUMS, for which there are not always enough
// registers, STEPS is half a slab.)
template <typename size>
__device__ __forceinline__ void multiply_split(float (&sum)[size::WIDTH / 2], float (&last)[size::WIDTH / 2],
                                               const unsigned (&a)[3][SPLIT_STEPS][4], const unsigned char *b,
                                               int first) {
    bool add = false;
    wgmma_fence();
#pragma unroll
    for (int order = size::PIECES - 1; order >= 0; --order) // piece i by piece j, i + j = order
#pragma unroll
        for (int i = 0; i <= order; ++i)
#pragma unroll
            for (int step = first; step < first + size::STEPS; ++step) {
                const bool to_last = size::TWO_SUMS && order == 0 && step >= SPLIT_STEPS / 2;
                if (to_last && step == SPLIT_STEPS / 2) add = false;
                wgmma<__nv_bfloat16, size::WIDTH, false>(
                    to_last ? last : sum, a[i][step],
                    wgmma_descriptor(b + (order - i) * size::B_BYTES + step * 32, 0), add);
                add = true;
            }
    wgmma_commit();
}

} // namespace matmul

#endif
