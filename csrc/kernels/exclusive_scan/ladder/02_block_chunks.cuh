// exclusive_scan, inclusive_scan "block_chunks": comes after "serial".
//
// Change  Each thread of a block scans a chunk, starting from 0. One thread then scans the sums of the chunks, and
//         each thread adds to its chunk the sum of all earlier chunks.
// Why     Chunks do not wait for each other: 256 loads are in flight instead of one.
// Claim   additions one after another: n / threads + threads + 1 (before: n)
// Price   The result is written, read and written again: three more words per element.
// Edges   The last chunks are shorter or empty; the sum of an empty chunk is 0.
// Map     thread t: elements t * chunk to (t + 1) * chunk
// Limit   Lanes are a chunk apart, so every load of a warp is 32 transactions, and only one multiprocessor works: see
//         "blocks".
#ifndef CK_EXCLUSIVE_SCAN_BLOCK_CHUNKS_CUH
#define CK_EXCLUSIVE_SCAN_BLOCK_CHUNKS_CUH

#include "../parts/scan.cuh"

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
