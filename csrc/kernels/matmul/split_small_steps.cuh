// What "split_small" loads and splits: steps of 32 elements along k of 64 rows of A, or 64 columns of B.
#ifndef CK_MATMUL_SPLIT_SMALL_STEPS_CUH
#define CK_MATMUL_SPLIT_SMALL_STEPS_CUH

#include "split_copies.cuh"

namespace matmul {

struct split_small_size {
    enum { SIDE = 64, STEP = 32, THREADS = 128, BLOCKS = 4, PIECES = 3, FOURS = SIDE * STEP / 4 / THREADS };
    enum { SUMS = SIDE / 2 };
};
using split_small_pieces = unsigned char[split_small_size::PIECES][BOX_BYTES]; // two steps

// What a thread has of a step of one operand: four neighbors each of FOURS lines, which are contiguous in global memory: along k, or
// else along the rows of A (columns of B).
template <bool ALONG_K> struct split_small_step {
    using size = split_small_size;
    enum { LINES = ALONG_K ? size::SIDE : size::STEP, LENGTH = ALONG_K ? size::STEP : size::SIDE };
    enum { APART = LINES / size::FOURS }; // lines

    const float *from; // the thread's first element of the next step
    int64_t pitch;     // from line to line
    int extent;        // elements inside the matrix, in the direction of the tile
    int line, place;   // of the thread's first four
    bool aligned;      // all lines begin at multiples of 16 bytes
    float4 x[size::FOURS];

    __device__ __forceinline__ split_small_step(const float *data, int64_t pitch_, int64_t left)
        : pitch(pitch_), extent(left < size::SIDE ? static_cast<int>(left) : size::SIDE),
          aligned(reinterpret_cast<uintptr_t>(data) % 16 == 0 && pitch_ % 4 == 0) {
        const unsigned t = threadIdx.x, of_line = LENGTH / 4;
        // Along k, a warp has lines 0, 4, 1 and 5 of eight, or 2, 6, 3 and 7, whose pieces are in different banks.
        line = static_cast<int>(ALONG_K ? t / 64 * 8 + t / 32 % 2 * 2 + t / 16 % 2 + t / 8 % 2 * 4 : t / of_line);
        place = static_cast<int>(t % of_line * 4);
        from = data + line * pitch + place;
    }

    // Begins the loads of the next step, `depth` of whose elements along k are inside the matrix.
    template <bool WHOLE> __device__ __forceinline__ void load(int depth) {
        const int lines = ALONG_K ? extent : depth, length = ALONG_K ? depth : extent;
        if (WHOLE || (aligned && lines >= LINES && length >= LENGTH)) {
#pragma unroll
            for (int i = 0; i < size::FOURS; ++i)
                x[i] = __ldg(reinterpret_cast<const float4 *>(from + i * APART * pitch));
        } else {
#pragma unroll
            for (int i = 0; i < size::FOURS; ++i) {
                const float *const own = from + i * APART * pitch;
                const int inside = line + i * APART < lines ? length - place : 0; // of the four, if it is less
                x[i] = make_float4(0, 0, 0, 0);
                if (aligned && inside >= 4) {
                    x[i] = __ldg(reinterpret_cast<const float4 *>(own));
                } else if (inside > 0) {
                    x[i].x = __ldg(own);
                    if (inside > 1) x[i].y = __ldg(own + 1);
                    if (inside > 2) x[i].z = __ldg(own + 2);
                    if (inside > 3) x[i].w = __ldg(own + 3);
                }
            }
        }
        from += size::STEP * (ALONG_K ? 1 : pitch);
    }

    // Splits them into one half of `pieces`, which are as wgmma reads them: lines of 128 bytes, swizzled as TMA would do it.
    __device__ __forceinline__ void split(split_elements &found, split_small_pieces &pieces, int half) const {
        const int chunk = place / 8 + (ALONG_K ? half * 4 : 0), first = line + (ALONG_K ? 0 : half * size::STEP);
        unsigned char *const to = pieces[0] + first * SLAB_BYTES + (chunk ^ line % 8) * 16 + place % 8 * 2;
        static_assert(APART % 8 == 0, "all lines of a thread have the same swizzle");
#pragma unroll
        for (int i = 0; i < size::FOURS; ++i) {
            unsigned left[size::PIECES], right[size::PIECES];
            found.split(x[i].x, x[i].y, left), found.split(x[i].z, x[i].w, right);
#pragma unroll
            for (int piece = 0; piece < size::PIECES; ++piece)
                *reinterpret_cast<uint2 *>(to + piece * BOX_BYTES + i * APART * SLAB_BYTES) =
                    make_uint2(left[piece], right[piece]);
        }
    }

    // Where 16 elements along k of a piece begin.
    static __device__ __forceinline__ uint64_t descriptor(const unsigned char (&piece)[BOX_BYTES], int sixteen) {
        return wgmma_descriptor(piece + sixteen * 16 * (ALONG_K ? 2 : SLAB_BYTES), 0);
    }
};

} // namespace matmul

#endif
