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
    enum { COUNT = Slab::LINES * Slab::CHUNKS / THREADS, LINE_STEP = THREADS / Slab::CHUNKS };
    static_assert(COUNT > 0 && THREADS % Slab::CHUNKS == 0, "a thread copies the same chunk of several lines");

    const unsigned short *from; // this thread's chunk of its first line in the next slab
    int64_t line_stride, advance;
    int line, chunk;
    // ALONG_K: lines from this thread's first one on that are inside the matrix; else bytes of its chunk that are
    int inside;

    // `start`: the first element of the operand's first slab. extent: rows of A (columns of B) from there on.
    __device__ __forceinline__ half_slab_copies(const void *start, int64_t extent_stride, int64_t k_stride,
                                                int64_t extent) {
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
