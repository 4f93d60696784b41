// exclusive_scan, inclusive_scan "block_chunks": comes after "serial".
//
// Change  Each thread of a block scans a chunk of its own, from nothing. One thread then scans the chunks' sums, and
//         each adds to its chunk what came before it.
// Why     Chunks do not wait for each other: 256 loads are under way where there was one.
// Claim   additions one after the other: n / threads + threads + 1 (before: n)
// Price   the result is written, read and written again: three more words an element
// Edges   the last chunks are shorter or empty; their sums are then nothing
// Map     thread t: elements t * chunk to (t + 1) * chunk
// Limit   lanes lie a chunk apart, so that every load of a warp is 32 of them, and one multiprocessor works: "blocks"
//
// The document's kernel starts each chunk from the last count of its neighbour's, which the sum of that neighbour
// brings in as well. A chunk starts from nothing.
#ifndef CK_SCAN_BLOCK_CHUNKS_CUH
#define CK_SCAN_BLOCK_CHUNKS_CUH

#include "scan.cuh"

namespace scan {

enum { MOST_THREADS = 1024 };

template <typename In, typename Acc, bool EXCLUSIVE>
__global__ void __launch_bounds__(1024) block_chunks(const In *__restrict__ x, Acc *__restrict__ result, int64_t n) {
    __shared__ Acc before_chunk[MOST_THREADS];
    const int tid = threadIdx.x, threads = blockDim.x;
    const int64_t chunk = n / threads + (n % threads != 0);
    const int64_t first = tid * chunk < n ? tid * chunk : n, end = chunk < n - first ? first + chunk : n;

    Acc sum = nothing<Acc, EXCLUSIVE>();
    for (int64_t i = first; i < end; ++i) {
        const Acc with = sum + static_cast<Acc>(x[i]);
        result[i] = EXCLUSIVE ? sum : with;
        sum = with;
    }
    before_chunk[tid] = sum;
    __syncthreads();
    if (tid == 0) {
        Acc before = nothing<Acc, EXCLUSIVE>();
        for (int t = 0; t < threads; ++t) {
            const Acc of_chunk = before_chunk[t];
            before_chunk[t] = before;
            before += of_chunk;
        }
    }
    __syncthreads();
    const Acc before = before_chunk[tid];
    for (int64_t i = first; i < end; ++i) result[i] = before + result[i];
}

} // namespace scan

#endif
