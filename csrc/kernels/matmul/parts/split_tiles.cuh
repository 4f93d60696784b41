// Tiles of "split_fp16" and "split_bf16": their sizes, their slabs in shared memory, and how they are stored.
#ifndef CK_MATMUL_SPLIT_TILES_CUH
#define CK_MATMUL_SPLIT_TILES_CUH

#include "mbarrier.cuh"
#include "slabs.cuh"
#include "split_operands.cuh"
#include "split_sums.cuh"

namespace matmul {

struct split_product_operands {
    float *c;
    int64_t row_stride, column_stride; // of C
    int m, n, k, products;
    split_pairs all;
    const unsigned *findings;           // as in split_operands
    unsigned *arrivals;                 // of clusters_in_step; and behind that, of warps that have parts of a tile
    const float *a_factors, *b_factors; // as in split_operands
    float *sums;                        // of split_parts
    split_stack stack;
};

// For a shorter k, sums leave the tensor cores twice in a slab in tiles of 208 columns, too.
enum { SPLIT_LONG = 1728 };

template <typename T_, int COLUMNS_, int STAGES_> struct [[gnu::visibility("default")]] split_size {
    using T = T_;
    enum { PIECES = split_kind<T>::PIECES, ROWS = SPLIT_ROWS, COLUMNS = COLUMNS_, STAGES = STAGES_ };
    enum { CONSUMERS = ROWS / 64, CONSUMER_WARPS = 4 * CONSUMERS, THREADS = (1 + CONSUMERS) * 128 };
    enum { SECOND_SUM = COLUMNS_ <= +SECOND_SUM_COLUMNS }; // in registers
    // The slabs of a group. Whether the sum of the groups before, in registers, carries on what it rounds off.
    static __device__ __forceinline__ int group_slabs(int slabs) {
        return SECOND_SUM ? +GROUP_SLABS : wide_group_slabs(slabs);
    }
    static __device__ __forceinline__ bool carries(int slabs) {
        return PIECES == 3 || slabs > MOST_ADDED;
    }
    // Sums leave the tensor cores after so many steps of 16 elements along k, if k is SPLIT_LONG or more (otherwise
    // after 2).
    enum { LONG_STEPS = SECOND_SUM ? 2 : 4 };
    enum { PRODUCER_REGISTERS = COLUMNS > 160 ? 24 : 40, CONSUMER_REGISTERS = COLUMNS > 160 ? 240 : 232 };
    static_assert(PRODUCER_REGISTERS + CONSUMERS * CONSUMER_REGISTERS <= 65536 / THREADS / 8 * 8 * (1 + CONSUMERS),
                  "no more than the block has: otherwise it waits for ever");
    enum { A_BYTES = ROWS * SLAB_BYTES, B_BYTES = COLUMNS * SLAB_BYTES }; // of one piece
    enum { STAGE_BYTES = PIECES * (A_BYTES + B_BYTES), SHARED_BYTES = 1024 + STAGES * STAGE_BYTES };
};
using split_fp16_208 = split_size<__half, 208, 2>;
using split_fp16_128 = split_size<__half, 128, 3>;
using split_fp16_64 = split_size<__half, 64, 4>;

// The stages of a block: each has all pieces of a slab of A, and behind them those of B.
template <typename size> struct split_stages {
    unsigned char *const first;
    mbarrier *const full, *const empty; // of each stage
    stage_turns<size::STAGES> own = {};

    __device__ __forceinline__ void begin() const { // for one thread
        for (int i = 0; i < size::STAGES; ++i)
            mbarrier_init(&full[i], 1), mbarrier_init(&empty[i], SPLIT_PAIR * size::CONSUMER_WARPS);
        mbarrier_init_fence();
    }
    __device__ __forceinline__ unsigned char *a() const { return first + own.stage * size::STAGE_BYTES; }
    __device__ __forceinline__ unsigned char *b() const { return a() + size::PIECES * size::A_BYTES; }

    __device__ __forceinline__ void wait_until_empty() const { // in both blocks
        mbarrier_wait(&empty[own.stage], own.round ^ 1);
    }
    __device__ __forceinline__ void wait_until_full() const { mbarrier_wait(&full[own.stage], own.round); }
    // A warp needs the stage no longer: both blocks of the cluster may copy to it.
    __device__ __forceinline__ void release() const {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        if (lane < SPLIT_PAIR) mbarrier_arrive_at(&empty[own.stage], lane);
    }
};

// A warp's 16 rows of a tile, on their way to C. Of every 16 columns, a thread has four neighbors (split_place), and
// three other threads of its warp have the others.
template <int COLUMNS> struct split_rows_of_c {
    float *const to; // the first of the thread's two rows, which are 8 apart; at the first column of the tile
    const int64_t row_stride, column_stride;
    const int rows, columns; // inside C and the tile, from there on
    const float (&sum)[COLUMNS / 2];
    const int own = static_cast<int>(threadIdx.x) % 4;

    // One of the thread's four sums in 16 columns of a row.
    __device__ __forceinline__ float own_sum(int half, int first, int i) const {
        return sum[first / 2 + half * 2 + i / 2 * 4 + i % 2];
    }
    __device__ __forceinline__ void store_four(int half, int at, const float (&x)[4]) const {
        float *const line = to + half * 8 * row_stride;
        if (half * 8 >= rows) return;
        if (at + 3 < columns)
            *reinterpret_cast<float4 *>(line + at) = make_float4(x[0], x[1], x[2], x[3]);
        else
#pragma unroll
            for (int i = 0; i < 4; ++i)
                if (at + i < columns) line[at + i] = x[i];
    }

    __device__ __forceinline__ void store_aligned() const {
#pragma unroll
        for (int i = 0; i < COLUMNS / 8; ++i) {
            const int half = i % 2, first = i / 2 * 16;
            store_four(
                half, first + own * 4,
                {own_sum(half, first, 0), own_sum(half, first, 1), own_sum(half, first, 2), own_sum(half, first, 3)});
        }
    }

    // Where columns of C are apart.
    __device__ __forceinline__ void store_apart() const {
#pragma unroll
        for (int i = 0; i < COLUMNS / 2; ++i) {
            const int half = i / 4 % 2, first = i / 8 * 16, at = first + own * 4 + i % 4;
            if (half * 8 < rows && at < columns)
                to[half * 8 * row_stride + at * column_stride] = own_sum(half, first, i % 4);
        }
    }

    // Where rows of C do not begin at multiples of 16 bytes, but `lead` elements before one. Four stores of single
    // elements would write each 32 bytes of the L2 cache four times, which may take half as long as the rest of a
    // short product. So threads pass elements to their neighbors, and then each has four at an aligned address:
    //
    //     column     0 1 2 3 4 5 6 7 8 9 ...
    //     has        0 0 0 0 1 1 1 1 2 2 ...
    //     stores     0 0 0 0 0 0 1 1 1 1 ...  (lead = 2; the first two: one by one)
    __device__ __forceinline__ void store_shifted(int lead) const {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            if (own == 0 && half * 8 < rows)
#pragma unroll
                for (int i = 0; i < 3; ++i)
                    if (i < lead && i < columns) to[half * 8 * row_stride + i] = own_sum(half, 0, i);
#pragma unroll
            for (int first = 0; first < COLUMNS; first += 16) {
                const int next = first + 16 < COLUMNS ? first + 16 : first;
                const int neighbor = static_cast<int>(threadIdx.x) % 32 / 4 * 4 + (own + 1) % 4;
                float y[7]; // the thread's four, and three of the next thread, which may be the first one again
#pragma unroll
                for (int i = 0; i < 4; ++i) y[i] = own_sum(half, first, i);
#pragma unroll
                for (int i = 0; i < 3; ++i)
                    y[4 + i] = __shfl_sync(0xffffffffu, own == 0 ? own_sum(half, next, i) : y[i], neighbor);
                if (lead & 1)
#pragma unroll
                    for (int i = 0; i < 6; ++i) y[i] = y[i + 1];
                if (lead & 2)
#pragma unroll
                    for (int i = 0; i < 4; ++i) y[i] = y[i + 2];
                store_four(half, first + own * 4 + lead, {y[0], y[1], y[2], y[3]});
            }
        }
    }

    __device__ __forceinline__ void store() const {
        const int lead = static_cast<int>(-(reinterpret_cast<uintptr_t>(to) / sizeof(float)) % 4); // of both rows
        if (__builtin_expect(column_stride == 1 && __all_sync(0xffffffffu, lead == 0), 1))
            store_aligned();
        else if (column_stride != 1)
            store_apart();
        else
            store_shifted(lead);
    }
};

} // namespace matmul

#endif
