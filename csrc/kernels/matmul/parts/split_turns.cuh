// The turns of the two warpgroups of a block in "split_fp16" and "split_bf16".
//
// One begins its products when the other one has begun its own. So while one promotes its sums, the tensor cores have
// products of the other one. (Otherwise both wait for their products at the same time, and then the tensor cores wait
// for both.) Each waits at a barrier of its own, where the other one arrives. ("split_inside" has turns at mbarriers,
// which is 1 to 4 % faster there.)
//
//     warpgroup 0    | products | promotes |  waits   | products | ...
//     warpgroup 1    |  waits   | products | promotes |  waits   | ...
#ifndef CK_MATMUL_SPLIT_TURNS_CUH
#define CK_MATMUL_SPLIT_TURNS_CUH

#include "wgmma.cuh"

namespace matmul {

struct split_turns {
    enum { FIRST = 2 };         // warpgroup 0 waits at this barrier, warpgroup 1 at the next one
    enum { THREADS = 2 * 128 }; // one warpgroup that waits, and one that arrives
    const int warpgroup;

    // A third warpgroup calls this once: warpgroup 0 may begin. (Nobody waits for the last pass().)
    static __device__ __forceinline__ void begin() { arrive_threads_of(FIRST, THREADS); }
    __device__ __forceinline__ void wait() const { sync_threads_of(FIRST + warpgroup, THREADS); }
    __device__ __forceinline__ void pass() const { arrive_threads_of(FIRST + 1 - warpgroup, THREADS); }
};

} // namespace matmul

#endif
