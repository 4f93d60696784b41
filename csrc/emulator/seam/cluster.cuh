// Clusters of blocks that can access each other's shared memory: here the emulator's; csrc/gpu has a file of the same
// name and meaning, which explains the functions.
//
// The blocks of a cluster take turns on one OS thread (core/cluster.c). If no thread of any of them can go on, an
// error names a wait and what it lacks. An access to the memory of a block that has ended is an error where it goes
// through map_shared, mbarrier_arrive_at or tensor_load_multicast.
#ifndef EMULATOR_CLUSTER_CUH
#define EMULATOR_CLUSTER_CUH

#include "cuda_runtime.h"

__device__ __forceinline__ int cluster_rank() {
    return emu_cluster_rank();
}
__device__ __forceinline__ int cluster_size() {
    return emu_cluster_size();
}

__device__ __forceinline__ void cluster_arrive(EMU_SITE) {
    emu_cluster_arrive(file, line);
}
__device__ __forceinline__ void cluster_wait(EMU_SITE) {
    emu_cluster_wait(file, line);
}
__device__ __forceinline__ void cluster_sync(EMU_SITE) {
    emu_cluster_arrive(file, line);
    emu_cluster_wait(file, line);
}

__device__ __forceinline__ void cluster_end(EMU_SITE) {
    cluster_sync(file, line);
}

template <typename T> __device__ __forceinline__ T *map_shared(T *pointer, int rank, EMU_SITE) {
    return static_cast<T *>(emu_cluster_map(pointer, rank, file, line));
}

#endif
