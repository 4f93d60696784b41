// matmul "small_tiles": comes after "warp_tiles".
//
// Change  Tiles of 32 x 32, whose four warps divide k: each has the whole tile, and a quarter of every slab. Copies
//         have 16 bytes where the operands are aligned, and the first two slabs, 128 elements along k, are under way
//         at once.
// Why     A product of 64 x 64 has one tile of "warp_tiles", on one multiprocessor, and so short a k that the time is
//         that of the copies and of one step after another. Four times as many blocks, whose warps take a quarter of
//         the steps, are done earlier.
// Claim   steps along k of a warp for k = 64: 16 (before: 64)
// Gain    on an H200, 64 x 64 x 64: 5.0 us ("warp_tiles": 7.0; cuBLAS 7.0); 64 products of this size: 6.8 us (8.1;
//         8.5); 128 x 128 x 128: 6.1 us (9.3; 9.8)
// Price   Operands are read twice as often as with tiles of 64 x 64, and the warps add their sums through shared
//         memory. With more than about two tiles for a multiprocessor, "warp_tiles" is faster, or on Hopper
//         "split_small".
// Edges   cp.async writes zeros for elements outside the matrices; stores check each element, or four at once
// Map     block: the tile of block_tile.cuh; warp w: the w-th quarter of each slab; a lane has eight rows and four
//         columns, small_slab::place()
// Limit   the latency of memory, and of the launch
#ifndef CK_MATMUL_SMALL_TILES_CUH
#define CK_MATMUL_SMALL_TILES_CUH

#include "async_copy.cuh"
#include "../parts/block_tile.cuh"
#include "device_extras.cuh"
#include "../parts/register_sums.cuh"

namespace matmul {

struct small_tiles_size {
    enum { ROWS = 32, COLUMNS = 32, DEPTH = 64, STAGES = 2, WARPS = 4, THREADS = WARPS * 32, BLOCKS = 5 };
    enum { WARP_DEPTH = DEPTH / WARPS, LANE_ROWS = 8, LANE_COLUMNS = 4, STEP = 4 }; // STEP: along k
    enum { SUMS_PITCH = COLUMNS + 4 };
};

// The lines of a slab, which are contiguous in global memory: along k (rows of A, columns of B), or else along the
// other axis. Element i of line l is at slab[l * PITCH + i], so that copies and loads of 16 bytes are aligned.
template <bool ALONG_K> struct small_slab {
    using size = small_tiles_size;
    enum { LINES = ALONG_K ? size::ROWS : size::DEPTH, LENGTH = ALONG_K ? size::DEPTH : size::ROWS };
    enum { PITCH = LENGTH + 4, WORDS = LINES * PITCH };

    const float *from; // the first element of the next slab
    int64_t pitch;     // from line to line
    int extent;        // elements inside the matrix, in the direction of the tile
    bool aligned;      // all lines begin at multiples of 16 bytes

    __device__ __forceinline__ small_slab(const float *data, int64_t pitch_, int64_t left)
        : from(data), pitch(pitch_), extent(left < size::ROWS ? static_cast<int>(left) : size::ROWS),
          aligned(reinterpret_cast<uintptr_t>(data) % 16 == 0 && pitch % 4 == 0) {}

    // Begins the copies of the next slab, `depth` of whose elements along k are inside the matrix, and `needed` are
    // read.
    __device__ __forceinline__ void begin(float *slab, int depth, int needed) {
        const int lines = ALONG_K ? extent : depth, length = ALONG_K ? depth : extent;
        // A thread copies four neighbors of every APART-th line.
        constexpr int APART = size::THREADS / (LENGTH / 4), FOURS = LINES / APART;
        const int first = static_cast<int>(threadIdx.x) / (LENGTH / 4);
        const int at = static_cast<int>(threadIdx.x) % (LENGTH / 4) * 4;
        float *const to = slab + first * PITCH + at;
        const float *const source = from + first * pitch + at;
        if (aligned && lines == LINES && length == LENGTH) {
#pragma unroll
            for (int i = 0; i < FOURS; ++i) cp_async<16>(to + i * APART * PITCH, source + i * APART * pitch);
        } else {
#pragma unroll
            for (int i = 0; i < FOURS; ++i) {
                const int line = first + i * APART;
                if ((ALONG_K ? at : line) >= needed) break;
                const int inside = line < lines ? length - at : 0; // of the four elements, if it is less
                const float *const own = inside > 0 ? source + i * APART * pitch : from;
                float *const own_to = to + i * APART * PITCH;
                if (aligned) {
                    cp_async<16>(own_to, own, inside >= 4 ? 16 : inside > 0 ? inside * 4 : 0);
                } else {
#pragma unroll
                    for (int j = 0; j < 4; ++j)
                        cp_async<4>(own_to + j, j < inside ? own + j : own, j < inside ? 4 : 0);
                }
            }
        }
        from += size::DEPTH * (ALONG_K ? 1 : pitch);
    }

    // The line of the tile that is number i of the COUNT lines of a lane; `lane` counts the lanes with different
    // lines. A load takes four elements along the lines, from different banks in all lanes.
    template <int COUNT> static __device__ __forceinline__ int place(int i, int lane) {
        constexpr int LANES = size::ROWS / COUNT;
        return ALONG_K ? i * LANES + lane : i / 4 * LANES * 4 + lane * 4 + i % 4;
    }

    // x[j][i]: number i of them, at k + j.
    template <int COUNT>
    static __device__ __forceinline__ void load(float (&x)[size::STEP][COUNT], const float *slab, int k, int lane) {
        if constexpr (ALONG_K) {
#pragma unroll
            for (int i = 0; i < COUNT; ++i) {
                const float4 four = *reinterpret_cast<const float4 *>(slab + place<COUNT>(i, lane) * PITCH + k);
                x[0][i] = four.x, x[1][i] = four.y, x[2][i] = four.z, x[3][i] = four.w;
            }
        } else {
#pragma unroll
            for (int j = 0; j < size::STEP; ++j)
#pragma unroll
                for (int i = 0; i < COUNT; i += 4) {
                    const float *const at = slab + (k + j) * PITCH + place<COUNT>(i, lane);
                    const float4 four = *reinterpret_cast<const float4 *>(at);
                    x[j][i] = four.x, x[j][i + 1] = four.y, x[j][i + 2] = four.z, x[j][i + 3] = four.w;
                }
        }
    }
};

template <bool A_ALONG_K, bool B_ALONG_K>
__global__ void __launch_bounds__(small_tiles_size::THREADS, small_tiles_size::BLOCKS)
    small_tiles(const operand_stack<float, false> stack) {
    using size = small_tiles_size;
    using a_slab = small_slab<A_ALONG_K>;
    using b_slab = small_slab<B_ALONG_K>;
    __shared__ __align__(16) float shared[size::STAGES][a_slab::WORDS + b_slab::WORDS];
    const operands<float, false> op = stack.of_block();
    const tile_origin first = tile_of_block<size::ROWS, size::COLUMNS>(op.m, op.n);
    a_slab from_a(op.a.data + first.row * op.a.row_stride, A_ALONG_K ? op.a.row_stride : op.a.column_stride,
                  op.m - first.row);
    b_slab from_b(op.b.data + first.column * op.b.column_stride, B_ALONG_K ? op.b.column_stride : op.b.row_stride,
                  op.n - first.column);
    // What a warp takes of a slab of which `left` elements along k are left.
    const auto warp_depth = [](int64_t left) {
        return left <= size::DEPTH / 2 ? size::WARP_DEPTH / 2 : size::WARP_DEPTH;
    };
    int64_t left = op.k; // for the next slab
    const auto begin_slab = [&](int stage) {
        if (left > 0) {
            const int depth = left < size::DEPTH ? static_cast<int>(left) : size::DEPTH;
            const int needed = warp_depth(left) * size::WARPS;
            from_a.begin(shared[stage], depth, needed);
            from_b.begin(shared[stage] + a_slab::WORDS, depth, needed);
        }
        cp_async_commit(); // also an empty group: the waits count groups
        left -= size::DEPTH;
    };
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane_y = thread % 32 / 8,
              lane_x = thread % 8;
    float sum[size::LANE_ROWS][size::LANE_COLUMNS] = {};
#pragma unroll 1 // (much of the time of a short kernel is that of loading its instructions)
    for (int stage = 0; stage < size::STAGES; ++stage) begin_slab(stage);
    int stage = 0;
#pragma unroll 1
    for (int64_t start = 0; start < op.k; start += size::DEPTH, stage ^= 1) {
        cp_async_wait<size::STAGES - 1>();
        __syncthreads();
        const float *const a_words = shared[stage], *const b_words = a_words + a_slab::WORDS;
        const int depth = warp_depth(op.k - start), begin = warp * depth;
#pragma unroll 1
        for (int half = begin; half < begin + depth; half += size::WARP_DEPTH / 2)
#pragma unroll
            for (int i = half; i < half + size::WARP_DEPTH / 2; i += size::STEP) {
                float x[size::STEP][size::LANE_ROWS], y[size::STEP][size::LANE_COLUMNS];
                a_slab::load(x, a_words, i, lane_y), b_slab::load(y, b_words, i, lane_x);
#pragma unroll
                for (int j = 0; j < size::STEP; ++j)
#pragma unroll
                    for (int row = 0; row < size::LANE_ROWS; ++row)
#pragma unroll
                        for (int column = 0; column < size::LANE_COLUMNS; ++column)
                            sum[row][column] += x[j][row] * y[j][column];
            }
        __syncthreads(); // all threads have left the slab
        begin_slab(stage);
    }

    // The sums of the warps, one tile after another, in the place of the slabs.
    float *const sums = shared[0];
    static_assert(size::WARPS * size::ROWS * size::SUMS_PITCH <= sizeof shared / sizeof(float),
                  "there is room for them");
#pragma unroll
    for (int row = 0; row < size::LANE_ROWS; ++row)
#pragma unroll
        for (int column = 0; column < size::LANE_COLUMNS; ++column)
            sums[(warp * size::ROWS + a_slab::template place<size::LANE_ROWS>(row, lane_y)) * size::SUMS_PITCH +
                 b_slab::template place<size::LANE_COLUMNS>(column, lane_x)] = sum[row][column];
    __syncthreads();
    const int column = lane_x * 4;
#pragma unroll
    for (int row = thread / 8; row < size::ROWS; row += size::THREADS / 8) {
        float total[1][4] = {};
#pragma unroll
        for (int other = 0; other < size::WARPS; ++other) {
            const float *const at = sums + (other * size::ROWS + row) * size::SUMS_PITCH + column;
            const float4 four = *reinterpret_cast<const float4 *>(at);
            total[0][0] += four.x, total[0][1] += four.y, total[0][2] += four.z, total[0][3] += four.w;
        }
        store_tile<true>(op.c, first.row + row, 0, first.column + column, 0, op.m, op.n, total);
    }
}

} // namespace matmul

#endif
