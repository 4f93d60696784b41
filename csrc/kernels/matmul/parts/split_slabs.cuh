// The sizes of tiles in "split_fp16" and "split_bf16", and the products of the pieces in one slab.
#ifndef CK_MATMUL_SPLIT_SLABS_CUH
#define CK_MATMUL_SPLIT_SLABS_CUH

#include "split_pieces.cuh"
#include "split_shares.cuh"
#include "split_turns.cuh"
#include "../ladder/24_wgmma_persistent.cuh"

namespace matmul {

template <typename T_, int COLUMNS_, int STAGES_> struct [[gnu::visibility("default")]] split_size {
    using T = T_;
    enum { PIECES = split_kind<T>::PIECES, ROWS = SPLIT_ROWS, COLUMNS = COLUMNS_, STAGES = STAGES_ };
    enum { CONSUMERS = ROWS / 64, CONSUMER_WARPS = 4 * CONSUMERS, THREADS = (1 + CONSUMERS) * 128 };
    enum { SECOND = COLUMNS_ <= +SECOND_SUM_COLUMNS }; // in registers (carried_sums.cuh)
    enum { TURNS = COLUMNS > 64 }; // (in narrower tiles, products take so little time that turns cost 1 to 3 %)
    static __device__ __forceinline__ int group_slabs(int slabs) {
        return SECOND ? +CARRY_SLABS : carry_wide_slabs(slabs);
    }
    // Sums leave the tensor cores after so many steps of 16 elements along k, if k is SPLIT_LONG or more (otherwise
    // after 2).
    enum { LONG_STEPS = SECOND ? 2 : 4 };
    enum { PRODUCER_REGISTERS = COLUMNS > 160 ? 24 : 40, CONSUMER_REGISTERS = COLUMNS > 160 ? 240 : 232 };
    static_assert(PRODUCER_REGISTERS + CONSUMERS * CONSUMER_REGISTERS <= 65536 / THREADS / 8 * 8 * (1 + CONSUMERS),
                  "no more than the block has: otherwise it waits for ever");
    enum { A_BYTES = ROWS * SLAB_BYTES, B_BYTES = COLUMNS * SLAB_BYTES }; // of one piece
    enum { STAGE_BYTES = PIECES * (A_BYTES + B_BYTES), SHARED_BYTES = 1024 + STAGES * STAGE_BYTES };
};
using split_fp16_208 = split_size<__half, 208, 2>;
using split_fp16_128 = split_size<__half, 128, 3>;
using split_fp16_64 = split_size<__half, 64, 4>;

// Computes the products of the pieces in one stage: of STEPS steps of 16 elements along k at a time, and of these the
// smallest ones first, because the tensor cores cut off more bits of a larger sum. promote() takes each sum before
// the next one begins; the caller takes the last one.
template <typename size, int STEPS, typename Promote>
__device__ __forceinline__ void multiply_pieces(float (&sum)[size::COLUMNS / 2], const unsigned char *a,
                                                const unsigned char *b, const split_turns &turns, Promote promote) {
    const auto multiply = [&](int i, int j, int step, bool add) { // piece i by piece j
        wgmma<typename size::T, size::COLUMNS, false, false>(
            sum, wgmma_descriptor(a + i * size::A_BYTES + step * 32, 0),
            wgmma_descriptor(b + j * size::B_BYTES + step * 32, 0), add);
    };
#pragma unroll
    for (int first = 0; first < 4; first += STEPS) {
        if (first > 0) promote();
        if (size::TURNS) turns.wait();
        wgmma_fence();
#pragma unroll
        for (int order = size::PIECES - 1; order >= 0; --order) // i + j
#pragma unroll
            for (int i = 0; i <= order; ++i)
#pragma unroll
                for (int step = first; step < first + STEPS; ++step)
                    multiply(i, order - i, step, order < size::PIECES - 1 || i > 0 || step > first);
        wgmma_commit();
        if (size::TURNS) turns.pass();
        wgmma_wait<0>();
    }
}

} // namespace matmul

#endif
