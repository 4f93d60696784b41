// Slabs of 16-bit elements: copied from global to shared memory with cp.async, and read from there with ldmatrix.
//
// A slab is DEPTH columns of A (or rows of B) by EXTENT rows of A (or columns of B). Its lines are contiguous in
// global memory, and stay so in shared memory: lines along k (DEPTH elements each), or along the extent. They consist
// of chunks of eight elements, 16 bytes, which is what one copy moves, and what ldmatrix reads as a row. Where the
// fragment of an operand needs the other direction, ldmatrix transposes.
//
// ldmatrix reads eight chunks of eight neighboring lines at a time. If each were stored at its own index in its line,
// they would be in the same banks. So chunk c of a line is stored at c ^ (a number that differs among eight
// neighboring lines):
//
//     line 0   0 1 2 3 4 5 6 7
//     line 1   1 0 3 2 5 4 7 6          lines of eight chunks or more: c ^ (line % 8)
//     line 2   2 3 0 1 6 7 4 5          lines of four: two lines fill all banks, so c ^ (line / 2 % 4)
#ifndef CK_MATMUL_HALF_SLABS_CUH
#define CK_MATMUL_HALF_SLABS_CUH

#include <stdint.h>

#include "async_copy.cuh"
#include "tensor_core.cuh"

namespace matmul {

template <int EXTENT_, int DEPTH_, bool ALONG_K_> struct half_slab {
    enum { EXTENT = EXTENT_, DEPTH = DEPTH_, ALONG_K = ALONG_K_ };
    enum { LINES = ALONG_K ? EXTENT : DEPTH, CHUNKS = (ALONG_K ? DEPTH : EXTENT) / 8 }; // chunks per line
    enum { BYTES = LINES * CHUNKS * 16 };
    static_assert(CHUNKS == 4 || CHUNKS % 8 == 0, "whole rows of banks");

    // Where a chunk is stored: in bytes from the slab's start.
    static __device__ __forceinline__ int offset(int line, int chunk) {
        return (line * CHUNKS + (chunk ^ (CHUNKS == 4 ? line / 2 % 4 : line % 8))) * 16;
    }
};

// A thread's copies of one operand's slabs.
template <typename Slab, int THREADS> struct half_slab_copies {
    using slab_type = Slab;
    enum { COUNT = Slab::LINES * Slab::CHUNKS / THREADS, LINE_STEP = THREADS / Slab::CHUNKS };
    static_assert(COUNT > 0 && THREADS % Slab::CHUNKS == 0, "a thread copies the same chunk of several lines");

    const unsigned short *from; // this thread's chunk of its first line in the next slab
    int64_t line_stride, advance;
    int line, chunk;
    // ALONG_K: lines from this thread's first one on that are inside the matrix; else bytes of its chunk that are
    int inside;

    // `start`: the first element of the operand's first slab. extent: rows of A (columns of B) from there on. k: all.
    __device__ __forceinline__ half_slab_copies(const void *start, int64_t extent_stride, int64_t k_stride,
                                                int64_t extent, int64_t) {
        line = threadIdx.x / Slab::CHUNKS, chunk = threadIdx.x % Slab::CHUNKS;
        line_stride = Slab::ALONG_K ? extent_stride : k_stride;
        advance = Slab::DEPTH * k_stride;
        from = static_cast<const unsigned short *>(start) + line * line_stride + chunk * 8;
        const int64_t left = Slab::ALONG_K ? extent - line : bytes_of_chunk(extent);
        constexpr int64_t most = Slab::EXTENT;
        inside = static_cast<int>(left < most ? left : most);
    }

    // Bytes of this thread's chunk in a line of which `elements` are inside the matrix.
    __device__ __forceinline__ int64_t bytes_of_chunk(int64_t elements) const {
        const int64_t bytes = (elements - chunk * 8) * 2;
        return bytes < 0 ? 0 : bytes > 16 ? 16 : bytes;
    }

    // Begins the copies of the next slab. left: what is left of k.
    __device__ __forceinline__ void begin(unsigned char *slab, int64_t left) {
        const unsigned short *source = from;
        const int whole = Slab::ALONG_K ? static_cast<int>(bytes_of_chunk(left)) : inside;
        const int64_t lines = Slab::ALONG_K ? inside : left - line;
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            cp_async<16>(slab + Slab::offset(line + i * LINE_STEP, chunk), source, i * LINE_STEP < lines ? whole : 0);
            source += LINE_STEP * line_stride;
        }
        from += advance;
    }
    __device__ __forceinline__ void finish(unsigned char *) {} // cp.async needs no other step
};

// The same for operands with any alignment. A thread copies the same chunk of several lines only where chunks are
// aligned and whole; otherwise, the same pair of elements, by cp.async of 4 bytes, or, if pairs are not, through
// registers.
template <typename Slab, int THREADS> struct any_half_slab_copies {
    using slab_type = Slab;
    enum {
        STEP = THREADS / 32,
        COUNT = Slab::LINES / STEP
    }; // of pairs: lines between two of a thread, and their number
    static_assert(Slab::CHUNKS == 8, "a line has a pair for each lane of a warp");

    const unsigned short *from; // this thread's first elements in the next slab
    int64_t line_stride;
    int lines, elements;                    // inside the matrix, from there on (the one along k: not used)
    int width, line, at;                    // elements of a copy; this thread's first line, and its elements there
    unsigned short low[COUNT], high[COUNT]; // pairs on their way

    __device__ __forceinline__ any_half_slab_copies(const void *start, int64_t extent_stride, int64_t k_stride,
                                                    int64_t extent, int64_t k) {
        line_stride = Slab::ALONG_K ? extent_stride : k_stride;
        const uint64_t bits = reinterpret_cast<uintptr_t>(start) | static_cast<uint64_t>(line_stride * 2) |
                              static_cast<uint64_t>((Slab::ALONG_K ? k : extent) * 2);
        width = bits % 16 == 0 ? 8 : bits % 4 == 0 ? 2 : 1;
        const int threads = width == 8 ? 8 : 32; // of a line
        line = threadIdx.x / threads, at = threadIdx.x % threads * (64 / threads);
        from = static_cast<const unsigned short *>(start) + line * line_stride + at;
        constexpr int64_t most = Slab::EXTENT;
        const int inside = static_cast<int>(extent < most ? extent : most);
        lines = inside - line, elements = inside - at;
    }

    // Begins the copies of the next slab. left: what is left of k.
    __device__ __forceinline__ void begin(unsigned char *slab, int64_t left) {
        constexpr int64_t most = Slab::DEPTH;
        const int depth = static_cast<int>(left < most ? left : most);
        const int own_lines = Slab::ALONG_K ? lines : depth - line, own = Slab::ALONG_K ? depth - at : elements;
        if (width == 8)
            begin_copies<8>(slab, own_lines, own);
        else if (width == 2)
            begin_copies<2>(slab, own_lines, own);
        else
            load_pairs(own_lines, own);
        from += Slab::DEPTH * (Slab::ALONG_K ? 1 : line_stride);
    }

    // Where this thread's elements of a line go.
    __device__ __forceinline__ unsigned char *place(unsigned char *slab, int further) const {
        return slab + Slab::offset(line + further, at / 8) + at % 8 * 2;
    }

    template <int WIDTH> __device__ __forceinline__ void begin_copies(unsigned char *slab, int own_lines, int own) {
        constexpr int LINES = THREADS / (64 / WIDTH); // at the same time
        const int bytes = own < 0 ? 0 : own < WIDTH ? own * 2 : WIDTH * 2;
        const unsigned short *source = from;
#pragma unroll
        for (int i = 0; i < Slab::LINES; i += LINES, source += LINES * line_stride)
            cp_async<WIDTH * 2>(place(slab, i), source, i < own_lines ? bytes : 0);
    }

    __device__ __forceinline__ void load_pairs(int own_lines, int own) {
        const unsigned short *source = from;
#pragma unroll
        for (int i = 0; i < COUNT; ++i, source += STEP * line_stride) {
            const bool inside = i * STEP < own_lines;
            low[i] = inside && own > 0 ? source[0] : 0, high[i] = inside && own > 1 ? source[1] : 0;
        }
    }

    // What has passed through registers goes to the slab.
    __device__ __forceinline__ void finish(unsigned char *slab) {
        if (width != 1) return;
#pragma unroll
        for (int i = 0; i < COUNT; ++i)
            *reinterpret_cast<unsigned *>(place(slab, i * STEP)) = low[i] | static_cast<unsigned>(high[i]) << 16;
    }
};

// Four matrices of 8 x 8 elements of a slab: extents first_extent + 0...15 by k = first_k + 0...15, in the order in
// which mma.sync takes them. A: (extents 0-7, k 0-7), (8-15, 0-7), (0-7, 8-15), (8-15, 8-15). B: (0-7, 0-7), (0-7,
// 8-15), (8-15, 0-7), (8-15, 8-15).
template <typename Slab, bool OF_B>
__device__ __forceinline__ void load_fragment(unsigned (&to)[4], const unsigned char *slab, int first_extent,
                                              int first_k) {
    const int lane = threadIdx.x % 32, matrix = lane / 8, row = lane % 8;
    const int extent_half = OF_B ? matrix / 2 : matrix % 2, k_half = OF_B ? matrix % 2 : matrix / 2;
    const int extent = first_extent + extent_half * 8, k = first_k + k_half * 8;
    const int offset = Slab::ALONG_K ? Slab::offset(extent + row, k / 8) : Slab::offset(k + row, extent / 8);
    ldmatrix<4, !Slab::ALONG_K>(to, slab + offset);
}

} // namespace matmul

#endif
