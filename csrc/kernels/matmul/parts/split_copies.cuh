// Slabs of float32 that are split into three pieces of bfloat16 on their way from global memory, for "split_inside":
// rows of A to registers, columns of B to shared memory.
//
// A piece is what is left of a float32, rounded to the eight significant bits of a bfloat16. Three pieces hold all 24
// bits, so that their sum is the element, unless the last one is smaller than any bfloat16. (Cutting them off would
// be exact, too. But then all pieces had the same sign, and so had the products that are left out.)
//
// wgmma takes 16 elements along k at once, and four threads hold them for a row of A: thread q has those at places 2
// q, 2 q + 1, 2 q + 8 and 2 q + 9. In which order the elements of k come does not matter, as long as it is the same
// in A and B. Here, thread q has elements 4 q to 4 q + 3, which it can load at once if they are contiguous.
#ifndef CK_MATMUL_SPLIT_COPIES_CUH
#define CK_MATMUL_SPLIT_COPIES_CUH

#include "box_slabs.cuh"
#include "device_extras.cuh"

namespace matmul {

enum { SPLIT_STEPS = SLAB_DEPTH / 16 }; // of wgmma in a slab

// Splits elements, and keeps what a thread has found in them. (Additions and multiplications have other units than
// logical instructions, which would be the bottleneck: so a sum of magnitudes stands for the largest one.)
struct split_elements {
    float magnitudes = 0; // the sum of all
    unsigned lost = 0;    // bits of elements that no piece holds, in the lower half

    // Word i holds piece i of both elements.
    __device__ __forceinline__ void split(float first, float second, unsigned (&words)[3]) {
        magnitudes += fabsf(first), magnitudes += fabsf(second);
#pragma unroll
        for (int piece = 0; piece < 3; ++piece) {
            words[piece] = pair_of<__nv_bfloat16>(first, second);
            if (piece == 2) lost |= __float_as_uint(first) | __float_as_uint(second);
            first -= __uint_as_float(words[piece] << 16), second -= __uint_as_float(words[piece] & 0xffff0000u);
        }
    }
};

// The slabs of a thread that multiplies: elements of two neighboring rows of the sixteen that its warp has. Rows
// outside the matrix are its last row again: their results are not stored. Elements outside along k are zeros.
template <bool ALONG_K> struct split_rows {
    const float *from; // the first element of the next slab
    int64_t pitch; // from row to row if elements are contiguous along k, or from k to k if they are along the rows
    int next;      // the distance of the second row: 1, or 0 if the first one is the last of the matrix
    int left, k;   // elements along k from the slab's first one on; the thread's first element of a slab
    bool aligned;  // four neighbors along k, or the elements of both rows, may be loaded at once
    using slab = float[SPLIT_STEPS][2][4];

    __device__ __forceinline__ split_rows(const input_matrix<float, false> &a, int64_t row, int64_t m,
                                          int64_t depth) {
        const int64_t first = row < m ? row : m - 1;
        pitch = ALONG_K ? a.row_stride : a.column_stride, next = first + 1 < m ? 1 : 0;
        left = static_cast<int>(depth), k = static_cast<int>(threadIdx.x) % 4 * 4;
        from = a.data + (ALONG_K ? first * pitch + k : first + k * pitch);
        aligned = pitch % (ALONG_K ? 4 : 2) == 0 && reinterpret_cast<uintptr_t>(from) % (ALONG_K ? 16 : 8) == 0 &&
                  (ALONG_K || next == 1);
    }

    // Begins the loads of the next slab.
    __device__ __forceinline__ void load(slab &x) {
        recompute_from(pitch); // the distances of all loads would take too many registers
        if (left < SLAB_DEPTH)
            load_checked<true>(x);
        else if (aligned)
            load_aligned(x);
        else
            load_checked<false>(x);
        from += SLAB_DEPTH * (ALONG_K ? 1 : pitch), left -= SLAB_DEPTH;
    }
    template <bool CHECK_K> __device__ __forceinline__ void load_checked(slab &x) const {
#pragma unroll
        for (int step = 0; step < SPLIT_STEPS; ++step)
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const bool inside = !CHECK_K || step * 16 + k + j < left;
                const float *const at = from + (step * 16 + j) * (ALONG_K ? 1 : pitch);
                x[step][0][j] = inside ? __ldg(at) : 0;
                x[step][1][j] = inside ? __ldg(at + next * (ALONG_K ? pitch : 1)) : 0;
            }
    }
    __device__ __forceinline__ void load_aligned(slab &x) const {
        const float *at = from;
#pragma unroll
        for (int step = 0; step < SPLIT_STEPS; ++step) {
            if constexpr (ALONG_K) {
#pragma unroll
                for (int row = 0; row < 2; ++row) {
                    const float4 four =
                        __ldg(reinterpret_cast<const float4 *>(from + row * next * pitch + step * 16));
                    x[step][row][0] = four.x, x[step][row][1] = four.y, x[step][row][2] = four.z,
                    x[step][row][3] = four.w;
                }
            } else {
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    const float2 two = __ldg(reinterpret_cast<const float2 *>(at));
                    x[step][0][j] = two.x, x[step][1][j] = two.y;
                    at += j < 3 ? pitch : 13 * pitch;
                }
            }
        }
    }

    // The pieces of a slab, as wgmma takes them: the first row's elements at places 2 q and 2 q + 1, the second
    // row's, and the same at places 2 q + 8 and 2 q + 9.
    static __device__ __forceinline__ void split(const slab &x, split_elements &elements,
                                                 unsigned (&pieces)[3][SPLIT_STEPS][4]) {
#pragma unroll
        for (int step = 0; step < SPLIT_STEPS; ++step)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const float *const two = &x[step][i % 2][i / 2 * 2];
                unsigned words[3];
                elements.split(two[0], two[1], words);
#pragma unroll
                for (int piece = 0; piece < 3; ++piece) pieces[piece][step][i] = words[piece];
            }
    }
};

// Where the rows of a tile come from memory rather than from the L2 cache: slabs on their way into that cache, two
// ahead of the one that is split. (More would delay the next one.) A thread has 128 bytes of each slab.
template <int ROWS, bool ALONG_K> struct prefetched_rows {
    enum { LINES = ALONG_K ? ROWS : SLAB_DEPTH, EACH = 256 / LINES }; // EACH: 128 bytes for each line
    const float *from;
    int64_t step;
    bool inside;

    // `thread` of 256; the rows of the tile begin at `row`.
    __device__ __forceinline__ prefetched_rows(const input_matrix<float, false> &a, int64_t row, int64_t m,
                                               int thread) {
        const int line = thread / EACH, chunk = thread % EACH * 32;
        from = a.data + (ALONG_K ? (row + line) * a.row_stride + chunk : row + chunk + line * a.column_stride);
        step = SLAB_DEPTH * (ALONG_K ? 1 : a.column_stride), from += step; // the first slab is loaded at once
        inside = row + (ALONG_K ? line : chunk) < m;
    }

    // The next slab, whose end is inside the matrix.
    __device__ __forceinline__ void load() {
        if (inside) prefetch_l2(from);
        from += step;
    }
};

} // namespace matmul

#endif
