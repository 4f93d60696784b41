// matmul "tensor_cores_split_k": comes after "tensor_cores".
//
// Change  The blocks of a cluster compute one tile of 64 x 64 together, as in "warp_tiles_split_k": each takes a part
//         of k, and they add their sums through distributed shared memory. Where k is very long, several clusters
//         (groups) share a tile. Operands may have any alignment: where chunks of 16 bytes are not aligned, lanes
//         copy pairs of elements.
// Why     Where C is small, there are fewer tiles than multiprocessors. And to copy an operand first, so that its
//         rows are aligned, takes a launch, which is as long as a small product.
// Claim   launches for m = 77, n = 263, k = 73 in C order: 1 (before: 3)
// Gain    on an H100, in float16: 430 x 444 x 106: 9.9 us ("wgmma_persistent": 13); 229 x 65 x 489: 10 us (15)
// Price   Pairs that are not aligned pass through registers, with two loads for each. The sums of a tile go through
//         shared memory once, and the cluster waits for its slowest block. Groups cost a second launch.
// Edges   Elements outside the matrices are zeros in shared memory. A block whose part of k is empty adds zeros.
// Map     cluster c: group c % groups of tile c / groups; block r of it: part group * parts + r of k, and then some
//         rows of the tile. blockIdx.z: the product. Warps as in "tensor_cores"
// Limit   the start of a kernel, where C is small; the loads of single elements, where nothing is aligned
#ifndef CK_MATMUL_TENSOR_CORES_SPLIT_K_CUH
#define CK_MATMUL_TENSOR_CORES_SPLIT_K_CUH

#include "../parts/group_sums.cuh"
#include "20_tensor_cores.cuh"

namespace matmul {

template <typename T, bool A_ALONG_K, bool B_ALONG_K>
__global__ void __launch_bounds__(tensor_cores_small::THREADS, 3)
    tensor_cores_split_k(const operand_stack<T, false> stack, const group_sums sums_of_groups) {
    using size = tensor_cores_small;
    using a_copies = any_half_slab_copies<half_slab<size::ROWS, size::DEPTH, A_ALONG_K>, size::THREADS>;
    using b_copies = any_half_slab_copies<half_slab<size::COLUMNS, size::DEPTH, B_ALONG_K>, size::THREADS>;
    static_assert(size::ROWS * size::COLUMNS * 4 <= size::SHARED_BYTES, "the sums take the place of the slabs");
    DYNAMIC_SHARED(unsigned char, slabs);
    operands<T, false> op = stack.of_block();
    let_next_grid_begin(); // add_groups, which waits
    const cluster_part part(sums_of_groups.groups);
    const tile_origin first = tile_of_block<size::ROWS, size::COLUMNS>(op.m, op.n, part.tile);
    const fragment_place<size> place;
    part.take(op, size::DEPTH);
    float sum[size::WARP_ROWS / 16][size::WARP_COLUMNS / 8][4] = {};
    add_fragments<T, size, a_copies, b_copies>(sum, slabs, op, first, place);

    cp_async_wait<0>();
    __syncthreads();                                      // all warps have read the slabs, and no copy is under way
    float *const sums = reinterpret_cast<float *>(slabs); // a row of the tile after another
#pragma unroll
    for (int y = 0; y < size::WARP_ROWS / 16; ++y)
#pragma unroll
        for (int x = 0; x < size::WARP_COLUMNS / 8; ++x)
#pragma unroll
            for (int half = 0; half < 2; ++half)
                *reinterpret_cast<float2 *>(sums + (place.row + y * 16 + half * 8) * size::COLUMNS + place.column +
                                            x * 8) = make_float2(sum[y][x][half * 2], sum[y][x][half * 2 + 1]);
    const int thread = static_cast<int>(threadIdx.x);
    const auto add_parts = [&](const auto &c) {
        add_parts_of_cluster<size::ROWS, size::COLUMNS, size::THREADS>(sums, part.rank, part.count, thread, c, first,
                                                                       op.m, op.n);
    };
    const bool pairs = (reinterpret_cast<uintptr_t>(op.c.data) | static_cast<uint64_t>(op.c.row_stride * 2)) % 4 == 0;
    if (part.groups > 1) {
        add_parts(sums_of_groups.matrix(static_cast<int>(op.m), static_cast<int>(op.n), part.group,
                                        static_cast<int>(gridDim.z), static_cast<int>(blockIdx.z)));
    } else if (part.count > 1 || pairs) {
        add_parts(op.c);
    } else { // single elements: those of a warp are neighbors, so that they are written together
        __syncthreads();
        for (int i = thread; i < size::ROWS * size::COLUMNS; i += size::THREADS) {
            const int64_t row = first.row + i / size::COLUMNS, column = first.column + i % size::COLUMNS;
            if (row < op.m && column < op.n) op.c.store(row, column, sums[i]);
        }
    }
}

} // namespace matmul

#endif
