// Below the seam, GPU side: clusters, i.e. up to eight blocks that run at the same time and can access each other's
// shared memory, from compute capability 9.0 on. The emulator has a file of the same name and meaning.
//
//     cluster_sync();                                     // every block of the cluster has begun
//     int *theirs = map_shared(&count, 1);                // `count` of block 1
//     atomicAdd(theirs, 1);
//     cluster_end();                                      // no block may end while others access its memory
//
// mbarrier.cuh has arrivals at barriers of another block, and tensor_copy.cuh copies to several blocks at once.
#ifndef CK_CLUSTER_CUH
#define CK_CLUSTER_CUH

#include <stdint.h>

#include <cuda_runtime.h>

// The rank of this block in its cluster (x runs fastest), and the number of blocks.
__device__ __forceinline__ int cluster_rank() {
    unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
    return static_cast<int>(rank);
}
__device__ __forceinline__ int cluster_size() {
    unsigned size = 1;
#if __CUDA_ARCH__ >= 900
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
#endif
    return static_cast<int>(size);
}

// The barrier of all threads of the cluster, in two halves: what a thread wrote before it arrived is visible to all
// after their wait. A thread that has ended counts as arrived.
__device__ __forceinline__ void cluster_arrive() {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
#endif
}
__device__ __forceinline__ void cluster_wait() {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#endif
}
__device__ __forceinline__ void cluster_sync() {
    cluster_arrive();
    cluster_wait();
}
// The same barrier for the end of blocks that have only read each other's memory, and have used what they read: it
// does not wait until what was written is visible, in global memory or elsewhere.
__device__ __forceinline__ void cluster_end() {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
#endif
    cluster_wait();
}

// The same variable in the shared memory of the block with that rank. `pointer` is in the calling block's own shared
// memory.
template <typename T> __device__ __forceinline__ T *map_shared(T *pointer, int rank) {
    uint64_t there = reinterpret_cast<uint64_t>(pointer);
#if __CUDA_ARCH__ >= 900
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(pointer), "r"(rank));
#endif
    return reinterpret_cast<T *>(there);
}

#endif
