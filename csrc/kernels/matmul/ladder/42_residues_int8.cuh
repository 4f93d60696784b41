// matmul "residues_int8": comes after "tensor_cores_double".
//
// Change  Lines of doubles are scaled and rounded to integers of some 52 bits. The integers are multiplied exactly,
//         by their residues modulo 15 numbers up to 256: one product of int8 on the tensor cores for each modulus,
//         all in one launch. Then the Chinese remainder theorem gives the integers of C.
// Why     An H200's tensor cores multiply int8 at thirty times the rate of float64 (1979 TOP/s and 67 TFLOP/s). So
//         fifteen products of int8 may take half the time of one product of float64.
// Claim   multiply-adds of a call: 15 m n k of int8 (before: m n k of float64); error: at most (1 + 1.6 sqrt(k)) /
//         2^53 of the sum of magnitudes (before: k / 2^53)
// Gain    on an H200, m = n = k = 4096: 74 TFLOP/s in float64 (before: 53; cuBLAS 57); docs/speed.md
// Price   15 bytes of workspace for each element of A, B and C; two passes over A and B, and one over C. Where the
//         first proof of residue_findings.cuh fails, one more pass over A and B, and one more product. The cost does
//         not depend on how many digits the data has.
// Edges   The planes are padded to whole slabs and whole groups of 32 columns. Where a line of A or B has elements of
//         very different magnitudes, infinities or NaN, "tensor_cores_double" computes the product
//         (residue_findings.cuh).
// Map     as in "wgmma_multicast", with one product for each modulus
// Limit   the tensor cores' rate for int8, and the chip's power limit; for small products, the passes
#ifndef CK_MATMUL_RESIDUES_INT8_CUH
#define CK_MATMUL_RESIDUES_INT8_CUH

#include "25_wgmma_multicast.cuh" // the work of a block
#include "../parts/residue_planes.cuh"

namespace matmul {

// C's planes: rows with `pitch` bytes. Reduces a warpgroup's sums modulo p, and stores them: eight of a thread at a
// time, in the order of column_of_place.
template <int COUNT>
__device__ __forceinline__ void store_residues(const box_operands<int8_t> &operands, int number, int row, int column,
                                               const int (&sum)[COUNT]) {
    const residue_modulus modulus(number);
    const int t = static_cast<int>(threadIdx.x) % 128, pitch = static_cast<int>(operands.c.row_stride);
    row += t / 32 * 16 + t % 32 / 4, column += t % 4 * 8;
    int8_t *const plane = operands.c.data + number * operands.axis[0].c;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        if (row + half * 8 >= operands.m) break;
        int8_t *const line = plane + static_cast<int64_t>(row + half * 8) * pitch;
#pragma unroll
        for (int i = 0; i < COUNT / 16; ++i) { // 32 columns
            if (column + i * 32 >= pitch) break;
            unsigned words[2] = {};
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                const int residue = modulus.residue(sum[(i * 4 + j / 2) * 4 + half * 2 + j % 2]);
                words[j / 4] |= static_cast<unsigned>(residue & 0xff) << j % 4 * 8;
            }
            *reinterpret_cast<uint2 *>(line + column + i * 32) = make_uint2(words[0], words[1]);
        }
    }
}

// The least element of the product of magnitudes.
template <typename size>
__global__ void __launch_bounds__(size::THREADS, 1)
    residues_compare(const __grid_constant__ tensor_map a_map, const __grid_constant__ tensor_map b_map,
                     const __grid_constant__ box_operands<int8_t> operands, residue_findings *findings) {
    if (!CK_HAS_WGMMA) return;
    let_next_grid_begin();
    wait_for_grid_before();
    if (!findings->are_compared()) return;
    int least = INT_MAX;
    compute_pairs<int8_t, size, true, true>(
        a_map, b_map, operands, whole_pairs::of<size>(operands, SLAB_BYTES),
        [&](unsigned char *, const whole_pairs &, int, int row, int column, const auto &sum) {
            const int t = static_cast<int>(threadIdx.x) % 128;
            row += t / 32 * 16 + t % 32 / 4, column += t % 4 * 2;
#pragma unroll
            for (int i = 0; i < size::COLUMNS / 2; ++i) // (wgmma.cuh)
                if (row + i / 2 % 2 * 8 < operands.m && column + i / 4 * 8 + i % 2 < operands.n)
                    least = min(least, sum[i]);
        });
    atomicMin(&findings->least, least);
}

template <typename size>
__global__ void __launch_bounds__(size::THREADS, 1)
    residues_product(const __grid_constant__ tensor_map a_map, const __grid_constant__ tensor_map b_map,
                     const __grid_constant__ box_operands<int8_t> operands, const residue_findings *findings) {
    if (!CK_HAS_WGMMA) return;
    let_next_grid_begin();
    wait_for_grid_before();
    if (!findings->are_good()) return;
    compute_pairs<int8_t, size, true, true>(
        a_map, b_map, operands, whole_pairs::of<size>(operands, SLAB_BYTES),
        [&](unsigned char *, const whole_pairs &, int number, int row, int column, const auto &sum) {
            store_residues(operands, number, row, column, sum);
        });
}

} // namespace matmul

#endif
