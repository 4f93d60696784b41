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

// What a thread has of a step of one operand: four elements each of FOURS lines, which are contiguous in global memory: along k, or
// else along the rows of A (columns of B).
//
// The four are neighbors, loaded at once, if lines begin at multiples of 16 bytes. Otherwise each is loaded on its own, and then
// neighboring threads should load neighbors: the four are QUARTER apart. Their pieces are neighbors in any case. So the tile has
// the elements of each GROUP in another order, that of element_at(): C gets its rows or columns, and along k, both operands must
// have it. (There a group is what wgmma multiplies at once, in any order: the result has the same bits.)
template <bool ALONG_K> struct split_small_step {
    using size = split_small_size;
    enum { LINES = ALONG_K ? size::SIDE : size::STEP, LENGTH = ALONG_K ? size::STEP : size::SIDE };
    enum { APART = LINES / size::FOURS, GROUP = ALONG_K ? 16 : LENGTH, QUARTER = GROUP / 4 };

    const float *from; // the next step
    int64_t pitch;     // from line to line
    int extent;        // elements inside the matrix, in the direction of the tile
    int line, place;   // of the thread's first four, in `pieces`
    bool fours;        // neighbors are loaded at once
    bool mixed_lines;  // along k, in the order of element_at()
    // What the thread loads: its first line, and elements of a line.
    int first_line, first, next;

    float4 x[size::FOURS];

    __device__ __forceinline__ split_small_step(const float *data, int64_t pitch_, int64_t left, int64_t k)
        : from(data), pitch(pitch_), extent(left < size::SIDE ? static_cast<int>(left) : size::SIDE),
          fours(reinterpret_cast<uintptr_t>(data) % 16 == 0 && pitch_ % 4 == 0 && (ALONG_K ? k : extent) % 4 == 0) {
        const unsigned t = threadIdx.x, of_line = LENGTH / 4;
        // Along k, a warp has lines 0, 4, 1 and 5 of eight, or 2, 6, 3 and 7, whose pieces are in different banks.
        line = static_cast<int>(ALONG_K ? t / 64 * 8 + t / 32 % 2 * 2 + t / 16 % 2 + t / 8 % 2 * 4 : t / of_line);
        place = static_cast<int>(t % of_line * 4);
    }

    // The element of a line at each place of `pieces`, unless neighbors are loaded at once, and the place of each element.
    static __device__ __forceinline__ int element_at(int i) {
        return i / GROUP * GROUP + i % GROUP / 4 + i % 4 * QUARTER;
    }
    static __device__ __forceinline__ int place_of(int i) {
        return i / GROUP * GROUP + i % QUARTER * 4 + i % GROUP / QUARTER;
    }

    // MIXED: the elements along k are in the order of element_at().
    template <bool WHOLE> __device__ __forceinline__ void begin(bool mixed) {
        fours = WHOLE || (ALONG_K ? !mixed : fours);
        first = fours ? place : element_at(place), next = fours ? 1 : QUARTER;
        mixed_lines = !WHOLE && !ALONG_K && mixed;
        first_line = mixed_lines ? split_small_step<true>::element_at(line) : line;
    }
    __device__ __forceinline__ int line_of(int i) const {
        return first_line + (mixed_lines ? split_small_step<true>::element_at(i * APART) : i * APART);
    }

    // Begins the loads of the next step, `depth` of whose elements along k are inside the matrix. Instead of an element outside, the
    // nearest one inside is loaded, which takes fewer instructions than a branch: so C gets rows and columns that are not stored.
    template <bool WHOLE> __device__ __forceinline__ void load(int depth) {
        const int lines = ALONG_K ? extent : depth, length = ALONG_K ? depth : extent;
        const auto at_most = [](int i, int most) { return WHOLE || i < most ? i : most; };
        const float *own[size::FOURS];
#pragma unroll
        for (int i = 0; i < size::FOURS; ++i) own[i] = from + at_most(line_of(i), lines - 1) * pitch;
        if (fours) {
            const int at = at_most(first, length - 4);
#pragma unroll
            for (int i = 0; i < size::FOURS; ++i) x[i] = __ldg(reinterpret_cast<const float4 *>(own[i] + at));
        } else {
            int at[4];
#pragma unroll
            for (int j = 0; j < 4; ++j) at[j] = at_most(first + j * next, length - 1);
#pragma unroll
            for (int i = 0; i < size::FOURS; ++i)
                x[i] = make_float4(__ldg(own[i] + at[0]), __ldg(own[i] + at[1]), __ldg(own[i] + at[2]),
                                   __ldg(own[i] + at[3]));
        }
        from += size::STEP * (ALONG_K ? 1 : pitch);
    }

    // Clears the elements from `depth` on along k.
    __device__ __forceinline__ void clear(int depth) {
#pragma unroll
        for (int i = 0; i < size::FOURS; ++i) {
            const auto keep = [&](float value, int j) {
                return (ALONG_K ? first + j * next : line_of(i)) < depth ? value : 0.0f;
            };
            x[i] = make_float4(keep(x[i].x, 0), keep(x[i].y, 1), keep(x[i].z, 2), keep(x[i].w, 3));
        }
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
