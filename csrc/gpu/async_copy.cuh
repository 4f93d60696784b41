// Below the seam, GPU side: asynchronous copies from global to shared memory (PTX: cp.async), from compute capability
// 8.0 on. The emulator has a file of the same name and meaning (csrc/emulator/seam/async_copy.cuh).
//
//     cp_async<16>(&tile[i], &matrix[j], bytes_left);   // begins a copy; past the end it writes zeros
//     cp_async_commit();                                // the copies since the last commit become a group
//     cp_async_wait<1>();                               // returns when at most one group is unfinished
//     __syncthreads();                                  // the copies of the other threads of the block
//
// The data does not pass through registers, so a thread can begin many copies and compute while they are under way. A
// wait is for the calling thread's own copies. Until then, nobody may read or write the destination.
#ifndef CK_ASYNC_COPY_CUH
#define CK_ASYNC_COPY_CUH

#include <cuda_runtime.h>

// Writes BYTES (4, 8 or 16; both addresses are multiples of it, also where nothing is read): the first `read` of them
// from global memory, then zeros. A copy of 16 bytes bypasses the L1 cache.
template <int BYTES> __device__ __forceinline__ void cp_async(void *shared, const void *global, int read = BYTES) {
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "cp.async copies 4, 8 or 16 bytes");
#if __CUDA_ARCH__ >= 800
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    if constexpr (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(read) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(global), "n"(BYTES), "r"(read)
                     : "memory");
#else // a variant that uses it is refused on this chip: it needs compute capability 8.0
    __trap();
#endif
}

__device__ __forceinline__ void cp_async_commit() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until at most GROUPS of the latest groups are unfinished.
template <int GROUPS> __device__ __forceinline__ void cp_async_wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(GROUPS) : "memory");
#endif
}

#endif
