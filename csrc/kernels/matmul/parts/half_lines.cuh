// Slabs of 16-bit elements whose lines have any alignment: copied to shared memory with cp.async as they lie in
// global memory, and read from there as pairs of elements.
//
// A slab is DEPTH columns of A (or rows of B) by EXTENT rows of A (or columns of B). Its lines are contiguous in
// global memory: along k (DEPTH elements each), or along the extent. cp.async copies 16 bytes from addresses that are
// multiples of 16, so a line comes with up to seven elements before it, its `shift`, and takes one piece of 16 bytes
// more than it has elements for:
//
//     piece  |       0       |       1       | ... |       8       |     a line of 64 elements, shift 5
//            |- - - - - 0 1 2|3 4 5 6 7 8 9 .| ... |. . 60 ... 63 -|
//
// Lines that are a multiple of eight apart begin at addresses that differ by a multiple of 16 bytes, so they have the
// same shift, whatever their stride. Where a thread reads or copies such lines, it needs a single address. The odd
// piece leaves eight lines in different banks, or two of four.
//
// What comes before the first line of a matrix is read, too. It belongs to the same allocation: those begin at
// multiples of 256 bytes.
#ifndef CK_MATMUL_HALF_LINES_CUH
#define CK_MATMUL_HALF_LINES_CUH

#include <stdint.h>

#include "async_copy.cuh"

namespace matmul {

template <int EXTENT_, int DEPTH_, bool ALONG_K_> struct half_lines {
    enum { EXTENT = EXTENT_, DEPTH = DEPTH_, ALONG_K = ALONG_K_ };
    enum { LINES = ALONG_K ? EXTENT : DEPTH, LENGTH = ALONG_K ? DEPTH : EXTENT };
    enum { PIECES = LENGTH / 8, PITCH = (PIECES + 1) * 16, BYTES = LINES * PITCH }; // PIECES: without the odd one
};

// A thread's copies of one operand's slabs: the same piece of every STEP-th line, and the odd piece of one of them.
template <typename Lines, int THREADS> struct half_line_copies {
    enum { STEP = THREADS / Lines::PIECES, COUNT = Lines::LINES / STEP };
    static_assert(STEP % 8 == 0, "a thread's lines have the same shift");
    static_assert(COUNT > 0 && COUNT <= +Lines::PIECES, "a thread for the odd piece of each line");

    const unsigned char *from;    // this thread's piece of its first line in the next slab
    int64_t step, advance;        // bytes from one of its lines to the next, and to the next slab
    int line, piece, shift, rest; // rest: lines from `line` on (not ALONG_K: elements of a line) inside the matrix

    // `start`: the first element of the operand's first slab. inside: rows of A (columns of B) from there on.
    __device__ __forceinline__ half_line_copies(const void *start, int64_t extent_stride, int64_t k_stride,
                                                int64_t inside) {
        const int thread = static_cast<int>(threadIdx.x);
        line = thread / Lines::PIECES, piece = thread % Lines::PIECES;
        const int64_t stride = (Lines::ALONG_K ? extent_stride : k_stride) * 2;
        const uintptr_t first = reinterpret_cast<uintptr_t>(start) + line * stride;
        shift = static_cast<int>(first % 16);
        from = reinterpret_cast<const unsigned char *>(first - shift) + piece * 16;
        step = STEP * stride, advance = Lines::ALONG_K ? Lines::DEPTH * 2 : Lines::DEPTH * stride;
        constexpr int64_t most = Lines::EXTENT;
        rest = static_cast<int>(inside < most ? inside : most) - (Lines::ALONG_K ? line : 0);
    }

    // Begins the copies of the next slab, of which `depth` elements along k are inside the matrix.
    __device__ __forceinline__ void begin(unsigned char *slab, int depth) {
        const int lines = Lines::ALONG_K ? rest : depth - line;
        const int bytes = (Lines::ALONG_K ? depth : rest) * 2 + shift; // of a line, with what comes before it
        const auto part = [&](int i) { return bytes < i * 16 ? 0 : bytes < i * 16 + 16 ? bytes - i * 16 : 16; };
        unsigned char *const to = slab + line * Lines::PITCH;
        const int own = part(piece);
        const unsigned char *source = from;
#pragma unroll
        for (int i = 0; i < COUNT; ++i, source += step)
            cp_async<16>(to + i * STEP * Lines::PITCH + piece * 16, source, i * STEP < lines ? own : 0);
        if (piece < COUNT)
            cp_async<16>(to + piece * STEP * Lines::PITCH + Lines::PIECES * 16,
                         from + piece * (step - 16) + Lines::PIECES * 16,
                         piece * STEP < lines ? part(Lines::PIECES) : 0);
        from += advance;
    }
};

// Where a lane finds the pairs that mma.sync takes, in the first slab: g = lane / 4 rows of A (columns of B) from the
// warp's first one on, and k = 2 t and 2 t + 1 with t = lane % 4.
template <typename Lines> struct half_line_pairs {
    int low, high; // bytes

    __device__ __forceinline__ half_line_pairs(const void *start, int64_t extent_stride, int64_t k_stride,
                                               int warp_extent) {
        const int g = threadIdx.x % 32 / 4, k = threadIdx.x % 4 * 2;
        const auto place = [&](int line, int64_t stride, int element) {
            const unsigned first =
                static_cast<unsigned>(reinterpret_cast<uintptr_t>(start)) + static_cast<unsigned>(line * stride * 2);
            return line * Lines::PITCH + static_cast<int>(first % 16) + element * 2;
        };
        if (Lines::ALONG_K)
            low = place(warp_extent + g, extent_stride, k), high = low + 2;
        else
            low = place(k, k_stride, warp_extent + g), high = place(k + 1, k_stride, warp_extent + g);
    }

    // The pair `extent` rows (columns) and k further, multiples of eight.
    __device__ __forceinline__ unsigned load(const unsigned char *slab, int extent, int k) const {
        const unsigned char *const at =
            slab + (Lines::ALONG_K ? extent * Lines::PITCH + k * 2 : k * Lines::PITCH + extent * 2);
        const auto element = [&](int offset) -> unsigned {
            return *reinterpret_cast<const unsigned short *>(at + offset);
        };
        return element(low) | element(high) << 16;
    }
};

} // namespace matmul

#endif
