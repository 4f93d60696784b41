// Copies of slabs from global to shared memory with cp.async. A slab is DEPTH columns of A (or rows of B) by EXTENT
// rows of A (or columns of B), and lies in shared memory as slab[depth][extent]: what a thread needs at a step along
// k are neighbors.
//
//     slab_copies<float, 128, 8, 256, true> copies(a.data + first_row * a.row_stride, a.row_stride, m - first_row);
//     copies.begin<false>(shared, k);        // the next slab, all of it inside the matrix along k
//
// A copy has one element, so that any alignment is possible (but see whole_slab_copies), and A can
// be transposed on the way. That costs little: 8 copies for 512 multiply-adds of a thread. Lines are contiguous in
// global memory: ALONG_K, a line is a row of A (a column of B); otherwise it is a column of A (a row of B).
// Neighboring threads copy neighbors of a line.
#ifndef CK_MATMUL_SLAB_COPIES_CUH
#define CK_MATMUL_SLAB_COPIES_CUH

#include <stdint.h>

#include "async_copy.cuh"

namespace matmul {

template <typename T, int EXTENT_, int DEPTH_, int THREADS, bool ALONG_K> struct slab_copies {
    // Rows of the slab are 4 elements longer than EXTENT. Threads that copy neighbors along k then write to different
    // banks.
    enum { EXTENT = EXTENT_, DEPTH = DEPTH_, PITCH = EXTENT + 4, WORDS = DEPTH * PITCH };
    enum { COUNT = EXTENT * DEPTH / THREADS }; // copies per thread
    static_assert(ALONG_K ? THREADS % DEPTH == 0 : THREADS % EXTENT == 0, "a thread's copies lie on one line");

    const T *from;   // this thread's first element of the next slab
    int64_t step;    // elements between its copies
    unsigned inside; // ALONG_K: bit i is 1 if copy i is inside the extent; else all copies are, or none
    int to;          // its first element in a slab
    int depth;       // its first k in a slab

    // stride: elements from line to line. extent: elements of the operand from `data` on.
    __device__ __forceinline__ slab_copies(const T *data, int64_t stride, int64_t extent) {
        const int t = threadIdx.x;
        const int place = ALONG_K ? t / DEPTH : t % EXTENT;
        depth = ALONG_K ? t % DEPTH : t / EXTENT;
        from = data + (ALONG_K ? place * stride + depth : depth * stride + place);
        step = (ALONG_K ? THREADS / DEPTH : THREADS / EXTENT) * stride;
        to = depth * PITCH + place;
        inside = !ALONG_K && place < extent;
#pragma unroll
        for (int i = 0; ALONG_K && i < COUNT; ++i)
            inside |= static_cast<unsigned>(place + i * (THREADS / DEPTH) < extent) << i;
    }

    // Begins the copies of the next slab. `left`: what is left of k; LAST: it may be less than DEPTH.
    template <bool LAST> __device__ __forceinline__ void begin(T *slab, int64_t left) {
        const T *source = from;
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            const int deeper = ALONG_K ? 0 : i * (THREADS / EXTENT);
            const bool take = (ALONG_K ? inside >> i & 1 : inside) && (!LAST || depth + deeper < left);
            cp_async<sizeof(T)>(slab + to + (ALONG_K ? i * (THREADS / DEPTH) : deeper * PITCH), source,
                                take ? static_cast<int>(sizeof(T)) : 0);
            source += step;
        }
        from = ALONG_K ? from + DEPTH : source;
    }
};

// The same for a slab that is all inside the extent: only the end of k needs checks, and lines along the extent,
// which must be aligned, are copied 16 bytes at a time. (A copy that may be of nothing takes more instructions.)
template <typename T, int EXTENT, int DEPTH, int THREADS, bool ALONG_K> struct whole_slab_copies {
    enum { PITCH = EXTENT + 4, WORDS = DEPTH * PITCH, WIDE = 16 / sizeof(T) };
    enum { WIDTH = ALONG_K ? 1 : WIDE, BYTES = WIDTH * sizeof(T) };               // of a copy
    enum { ACROSS = ALONG_K ? DEPTH : EXTENT / WIDTH, LINES = THREADS / ACROSS }; // threads on a line, lines at once
    enum { COUNT = (ALONG_K ? EXTENT : DEPTH) / LINES };                          // copies per thread

    const T *from;
    int64_t step;
    int to, depth;

    static __device__ __forceinline__ bool can(const T *data, int64_t stride, int64_t extent) {
        return extent >= EXTENT && (ALONG_K || (stride % WIDE == 0 && reinterpret_cast<uintptr_t>(data) % 16 == 0));
    }
    __device__ __forceinline__ whole_slab_copies(const T *data, int64_t stride, int64_t /*extent*/) {
        const int t = threadIdx.x, place = ALONG_K ? t / ACROSS : t % ACROSS * WIDTH;
        depth = ALONG_K ? t % ACROSS : t / ACROSS;
        from = data + (ALONG_K ? place * stride + depth : depth * stride + place);
        step = LINES * stride, to = depth * PITCH + place;
    }

    template <bool LAST> __device__ __forceinline__ void begin(T *slab, int64_t left) {
        const T *source = from;
#pragma unroll
        for (int i = 0; i < COUNT; ++i, source += step) {
            T *const own = slab + to + i * LINES * (ALONG_K ? 1 : PITCH);
            if (!LAST)
                cp_async<BYTES>(own, source);
            else
                cp_async<BYTES>(own, source, depth + (ALONG_K ? 0 : i * LINES) < left ? static_cast<int>(BYTES) : 0);
        }
        from = ALONG_K ? from + DEPTH : source;
    }
};

} // namespace matmul

#endif
