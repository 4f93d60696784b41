// Copies of slabs of doubles from global to shared memory with cp.async.
//
//     double_slab_copies<64, 16, 128, true, true> copies(a.data + first_row * a.row_stride, a.row_stride,
//                                                        m - first_row);
//     copies.begin(shared, k); // the next slab: DEPTH columns of A (or rows of B), of which k are left
//     shared[copies.at(row, i)]
//
// A line is contiguous in global memory: ALONG_K, it is a row of A (a column of B), and otherwise a column of A (a
// row of B). It stays a line in shared memory, so that two neighbors can be copied at once. PAIRS: they are, and
// lines begin at multiples of 16 bytes.
#ifndef CK_MATMUL_DOUBLE_SLABS_CUH
#define CK_MATMUL_DOUBLE_SLABS_CUH

#include <stdint.h>

#include "async_copy.cuh"

namespace matmul {

template <int EXTENT, int DEPTH, int THREADS, bool ALONG_K, bool PAIRS> struct double_slab_copies {
    // Lines are four doubles longer than their content: lanes that read four neighbors of each of four lines then
    // read from different banks.
    enum { LINE = ALONG_K ? DEPTH : EXTENT, LINES = ALONG_K ? EXTENT : DEPTH, PITCH = LINE + 4 };
    enum { WORDS = LINES * PITCH, WIDTH = PAIRS ? 2 : 1 };                               // of a copy
    enum { ACROSS = LINE / WIDTH, AT_ONCE = THREADS / ACROSS, COUNT = LINES / AT_ONCE }; // copies per thread
    static_assert(LINE % 16 == 0 && THREADS % ACROSS == 0 && LINES % AT_ONCE == 0, "each thread makes COUNT copies");

    const double *from; // what this thread copies first of the next slab
    int64_t step, next; // elements between its copies, and from slab to slab
    int line, place;    // of its first copy
    unsigned inside;    // ALONG_K: bit i is 1 if copy i is inside the extent; else the doubles inside, of each copy

    // stride: elements from line to line. extent: elements of the operand from `data` on.
    __device__ __forceinline__ double_slab_copies(const double *data, int64_t stride, int64_t extent)
        : step(AT_ONCE * stride), next(ALONG_K ? DEPTH : DEPTH * stride), inside(0) {
        line = static_cast<int>(threadIdx.x) / ACROSS, place = static_cast<int>(threadIdx.x) % ACROSS * WIDTH;
        from = data + line * stride + place;
        if (!ALONG_K) inside = static_cast<unsigned>(of_copy(extent));
#pragma unroll
        for (int i = 0; ALONG_K && i < COUNT; ++i) inside |= static_cast<unsigned>(line + i * AT_ONCE < extent) << i;
    }

    // Begins the copies of the next slab, and writes zeros for elements outside. left: what is left of k.
    __device__ __forceinline__ void begin(double *slab, int64_t left) {
        const double *source = from;
#pragma unroll
        for (int i = 0; i < COUNT; ++i, source += step) {
            const bool take = ALONG_K ? inside >> i & 1 : line + i * AT_ONCE < left;
            const int count = take ? (ALONG_K ? of_copy(left) : static_cast<int>(inside)) : 0;
            cp_async<WIDTH * 8>(slab + (line + i * AT_ONCE) * PITCH + place, source, count * 8);
        }
        from += next;
    }

    // The doubles of a copy that are inside a line of that length.
    __device__ __forceinline__ int of_copy(int64_t length) const {
        return length >= place + WIDTH ? +WIDTH : length > place ? 1 : 0;
    }

    // Where an element is in a slab.
    static __device__ __forceinline__ constexpr int at(int extent, int k) {
        return ALONG_K ? extent * PITCH + k : k * PITCH + extent;
    }
};

} // namespace matmul

#endif
