// Copies of boxes between arrays in global memory and shared memory (PTX: cp.async.bulk.tensor): here the emulator's;
// csrc/gpu has a file of the same name and meaning, which explains the functions.
//
// A load overwrites its box with NaN bytes (0xff), and brings the data as late as the rules allow: when a thread
// waits at the mbarrier and no other thread can go on. A store reads the box in a wait, also when no other thread can
// go on, and writes the array in a wait for that, or when the block ends. So a missing fence_async_proxy, or a box
// that is overwritten too early, gives a wrong result (NaN), and a store that no wait covers is an error.
#ifndef EMULATOR_TENSOR_COPY_CUH
#define EMULATOR_TENSOR_COPY_CUH

#include "cuda_runtime.h"

#include "mbarrier.cuh"
#include "tensor_map.h"

__device__ __forceinline__ void tensor_prefetch(const tensor_map *map, EMU_SITE) {
    emu_tensor_prefetch(map, file, line);
}

template <int AXES>
__device__ __forceinline__ void tensor_load(void *shared, const tensor_map *map, mbarrier *barrier,
                                            const int (&at)[AXES], EMU_SITE) {
    static_assert(AXES >= 2 && AXES <= 5, "2 to 5 axes");
    emu_tensor_load(shared, map, barrier, AXES, at, file, line);
}

template <int AXES>
__device__ __forceinline__ void tensor_load_once(void *shared, const tensor_map *map, mbarrier *barrier,
                                                 const int (&at)[AXES], EMU_SITE) {
    static_assert(AXES == 3, "3 axes");
    emu_tensor_load(shared, map, barrier, AXES, at, file, line);
}

template <int AXES>
__device__ __forceinline__ void tensor_load_multicast(void *shared, const tensor_map *map, mbarrier *barrier,
                                                      const int (&at)[AXES], unsigned mask, EMU_SITE) {
    static_assert(AXES == 3, "3 axes");
    emu_tensor_load_multicast(shared, map, barrier, AXES, at, mask, file, line);
}

template <int AXES>
__device__ __forceinline__ void tensor_store(const tensor_map *map, const void *shared, const int (&at)[AXES],
                                             EMU_SITE) {
    static_assert(AXES >= 2 && AXES <= 5, "2 to 5 axes");
    emu_tensor_store(map, shared, AXES, at, file, line);
}

__device__ __forceinline__ void tensor_store_commit() {
    emu_tensor_store_commit();
}

template <int GROUPS, bool READ> __device__ __forceinline__ void tensor_store_wait() {
    emu_tensor_store_wait(GROUPS, READ);
}

__device__ __forceinline__ void fence_async_proxy() {
    emu_proxy_fence();
}

#endif
