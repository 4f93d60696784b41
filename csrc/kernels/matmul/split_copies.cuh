// Slabs of float32 that are split into three pieces of bfloat16 on their way from global to shared memory, for
// "split_inside".
//
// A piece is what is left of a float32, cut off after eight significant bits: that is the upper half of its word. Three
// pieces hold all 24 bits, so that their sum is the element, unless the last one is smaller than any bfloat16.
#ifndef CK_MATMUL_SPLIT_COPIES_CUH
#define CK_MATMUL_SPLIT_COPIES_CUH

#include "box_slabs.cuh"

namespace matmul {

// A thread's elements of one operand's slabs: EXTENT lines of 64 elements along k. Elements are contiguous along k or
// along the lines, and so are the loads of a warp. In shared memory, each piece of a slab has a row of 128
// bytes for each line, swizzled as TMA would do it. Elements k and k + 32 are neighbors there. (Their order does not
// matter as long as A and B have the same one, and so a thread that has both can store them together.)
//
//     along k:           lines w, w + 8, ... of warp w; k = lane, lane + 32
//     along the lines:   lines = lane, lane + 32, ...; k = 4 w to 4 w + 3, and 32 further: a chunk of 16 bytes
template <int EXTENT, bool ALONG_K> struct split_copies {
    enum { WARPS = 8, COUNT = EXTENT / 4 };                               // COUNT: a thread's elements
    enum { OUTER = ALONG_K ? EXTENT / WARPS : 8, INNER = COUNT / OUTER }; // INNER of them are 32 elements apart
    const float *from; // this thread's first element of the next slab
    int64_t pitch;     // from line to line along k, or from k to k along the lines
    int lines, left;   // inside the matrix, from this thread's first element on: lines, and elements along k
    int slab_left;     // the same for the whole slab
    bool all_lines;    // the tile is inside the matrix
    float x[COUNT];
    float largest = 0; // magnitude of the elements so far
    unsigned lost = 0; // bits of elements that no piece holds, in the lower half

    __device__ __forceinline__ split_copies(const float *data, int64_t line_stride, int64_t k_stride, int64_t extent,
                                            int64_t depth) {
        const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
        pitch = ALONG_K ? line_stride : k_stride;
        from = data + (ALONG_K ? warp : warp * 4) * pitch + lane;
        all_lines = extent >= EXTENT;
        lines = static_cast<int>(all_lines ? EXTENT : extent) - (ALONG_K ? warp : lane);
        slab_left = static_cast<int>(depth), left = slab_left - (ALONG_K ? lane : warp * 4);
    }

    // Begins the loads of the next slab. For lines outside the matrix, it loads the last line again: their results are
    // not stored. Elements outside along k are zeros.
    __device__ __forceinline__ void load() {
        if (slab_left < SLAB_DEPTH)
            load_checked<true, true>();
        else if (!all_lines)
            load_checked<true, false>();
        else
            load_checked<false, false>();
        from += SLAB_DEPTH * (ALONG_K ? 1 : pitch), left -= SLAB_DEPTH, slab_left -= SLAB_DEPTH;
    }
    template <bool CHECK_LINES, bool CHECK_K> __device__ __forceinline__ void load_checked() {
        const auto line = [&](int i) { return CHECK_LINES && i >= lines ? lines - 1 : i; };
#pragma unroll
        for (int outer = 0; outer < OUTER; ++outer) {
            const int k_along = outer % 4 + outer / 4 * 32;
            const float *const next = from + (ALONG_K ? line(outer * WARPS) : k_along) * pitch;
#pragma unroll
            for (int inner = 0; inner < INNER; ++inner) {
                const bool inside = !CHECK_K || (ALONG_K ? inner * 32 : k_along) < left;
                x[ALONG_K ? outer * INNER + inner : inner * OUTER + outer] =
                    inside ? next[ALONG_K ? inner * 32 : line(inner * 32)] : 0;
            }
        }
    }

    // Splits the elements into `pieces`, which are BYTES apart.
    template <int BYTES> __device__ __forceinline__ void store(unsigned char *pieces) {
        const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
        constexpr int WORDS = ALONG_K ? 1 : 4; // that a thread stores at once
#pragma unroll
        for (int i = 0; i < COUNT; i += 2 * WORDS) {
            const int line = ALONG_K ? warp + i / 2 * WARPS : lane + i / 8 * 32;
            const int chunk = (ALONG_K ? lane / 4 : warp) ^ line % 8;
            unsigned words[3][WORDS];
#pragma unroll
            for (int j = 0; j < WORDS; ++j) {
                float first = x[i + j], second = x[i + j + WORDS];
                largest = fmaxf(largest, fmaxf(fabsf(first), fabsf(second)));
#pragma unroll
                for (int piece = 0; piece < 3; ++piece) {
                    const unsigned a = __float_as_uint(first), b = __float_as_uint(second);
                    words[piece][j] = __byte_perm(a, b, 0x7632);
                    first -= __uint_as_float(a & 0xffff0000u), second -= __uint_as_float(b & 0xffff0000u);
                    if (piece == 2) lost |= a | b;
                }
            }
            unsigned char *const to = pieces + line * SLAB_BYTES + chunk * 16 + (ALONG_K ? lane % 4 * 4 : 0);
#pragma unroll
            for (int piece = 0; piece < 3; ++piece)
                if constexpr (ALONG_K)
                    *reinterpret_cast<unsigned *>(to + piece * BYTES) = words[piece][0];
                else
                    *reinterpret_cast<uint4 *>(to + piece * BYTES) =
                        make_uint4(words[piece][0], words[piece][1], words[piece][2], words[piece][3]);
        }
    }
};

} // namespace matmul

#endif
