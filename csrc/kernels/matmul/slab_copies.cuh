// Copies of slabs from global to shared memory with cp.async. A slab is DEPTH columns of A (or rows of B) by EXTENT rows of A (or
// columns of B), and lies in shared memory as slab[depth][extent]: what a thread needs at a step along k are neighbors.
//
//     slab_copies<float, 128, 8, 256, true> copies(a.data + first_row * a.row_stride, a.row_stride, a.column_stride, m - first_row);
//     copies.begin<false>(shared, k);        // the next slab, all of it inside the matrix along k
//
// A copy has one element, float or double, so that any alignment and any strides are possible, and A can be transposed on the way. That costs little:
// 8 copies for 512 multiply-adds of a thread. ALONG_K chooses which elements neighboring threads copy: neighbors along k, or along
// the extent. It should be the direction in which memory is contiguous.
#ifndef CK_MATMUL_SLAB_COPIES_CUH
#define CK_MATMUL_SLAB_COPIES_CUH

#include <stdint.h>

#include "async_copy.cuh"

namespace matmul {

template <typename T, int EXTENT_, int DEPTH_, int THREADS, bool ALONG_K> struct slab_copies {
    // Rows of the slab are 4 elements longer than EXTENT. Threads that copy neighbors along k then write to different banks.
    enum { EXTENT = EXTENT_, DEPTH = DEPTH_, PITCH = EXTENT + 4, WORDS = DEPTH * PITCH };
    enum { COUNT = EXTENT * DEPTH / THREADS }; // copies per thread
    static_assert(ALONG_K ? THREADS % DEPTH == 0 : THREADS % EXTENT == 0, "a thread's copies lie on one line");

    const T *from;         // this thread's first element of the next slab
    int64_t step, advance; // elements between its copies, and between slabs
    unsigned inside;       // bit i: copy i is inside the extent
    int to;                // its first element in a slab
    int depth;             // its first k in a slab

    __device__ __forceinline__ slab_copies(const T *data, int64_t extent_stride, int64_t k_stride, int64_t extent) {
        const int t = threadIdx.x;
        const int place = ALONG_K ? t / DEPTH : t % EXTENT;
        depth = ALONG_K ? t % DEPTH : t / EXTENT;
        from = data + place * extent_stride + depth * k_stride;
        step = ALONG_K ? THREADS / DEPTH * extent_stride : THREADS / EXTENT * k_stride;
        advance = DEPTH * k_stride;
        to = depth * PITCH + place;
        inside = 0;
#pragma unroll
        for (int i = 0; i < COUNT; ++i)
            inside |= static_cast<unsigned>(place + (ALONG_K ? i * (THREADS / DEPTH) : 0) < extent) << i;
    }

    // Begins the copies of the next slab. `left`: what is left of k; LAST: it may be less than DEPTH.
    template <bool LAST> __device__ __forceinline__ void begin(T *slab, int64_t left) {
        const T *source = from;
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            const int deeper = ALONG_K ? 0 : i * (THREADS / EXTENT);
            const bool take = (inside >> i & 1) && (!LAST || depth + deeper < left);
            cp_async<sizeof(T)>(slab + to + (ALONG_K ? i * (THREADS / DEPTH) : deeper * PITCH), source,
                                take ? static_cast<int>(sizeof(T)) : 0);
            source += step;
        }
        from += advance;
    }
};

} // namespace matmul

#endif
