// Below the seam, GPU side: copies of boxes between arrays in global memory and shared memory, by the chip's tensor
// memory accelerator (TMA; PTX: cp.async.bulk.tensor), from compute capability 9.0 on. The emulator has a file of the
// same name and meaning.
//
// A tensor_map (tensor_map.h) describes the array and the box. One thread begins a copy. `at` is the box's first
// element in the array, innermost axis first; along that axis it is a multiple of 16 bytes, and for a store no
// coordinate is negative (measured on an H200: otherwise an illegal instruction). A load writes zeros for what is
// outside the array, and reports its bytes (always those of the whole box) to an mbarrier. A store leaves out what is
// outside. Boxes in shared memory start at multiples of 128 bytes (1024 with a swizzle of 128).
//
// With a swizzle of 128 bytes, rows of the box have 128 bytes, and chunk c of 16 bytes in row r is stored at c ^ (r %
// 8). (r counts from a multiple of 1024 bytes.)
#ifndef CK_TENSOR_COPY_CUH
#define CK_TENSOR_COPY_CUH

#include <cuda_runtime.h>

#include "mbarrier.cuh"
#include "tensor_map.h"

// Brings the map itself into the cache, which the first copy would otherwise wait for.
__device__ __forceinline__ void tensor_prefetch(const tensor_map *map) {
#if __CUDA_ARCH__ >= 900
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
#endif
}

template <int AXES>
__device__ __forceinline__ void tensor_load(void *shared, const tensor_map *map, mbarrier *barrier,
                                            const int (&at)[AXES]) {
    static_assert(AXES >= 2 && AXES <= 5, "2 to 5 axes");
#if __CUDA_ARCH__ >= 900
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    const unsigned report = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
    if constexpr (AXES == 2)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, "
                     "%4}], [%2];" ::"r"(to),
                     "l"(map), "r"(report), "r"(at[0]), "r"(at[1])
                     : "memory");
    else if constexpr (AXES == 3)
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, "
                     "%4, %5}], [%2];" ::"r"(to),
                     "l"(map), "r"(report), "r"(at[0]), "r"(at[1]), "r"(at[2])
                     : "memory");
    else if constexpr (AXES == 4)
        asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, "
                     "%4, %5, %6}], [%2];" ::"r"(to),
                     "l"(map), "r"(report), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3])
                     : "memory");
    else
        asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, "
                     "%4, %5, %6, %7}], [%2];" ::"r"(to),
                     "l"(map), "r"(report), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4])
                     : "memory");
#endif
}

// The same for data that is read once: in the L2 cache, other data soon replaces it.
template <int AXES>
__device__ __forceinline__ void tensor_load_once(void *shared, const tensor_map *map, mbarrier *barrier,
                                                 const int (&at)[AXES]) {
    static_assert(AXES == 3, "3 axes");
#if __CUDA_ARCH__ >= 900
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    const unsigned report = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
    asm volatile(
        "{\n.reg .b64 policy;\ncreatepolicy.fractional.L2::evict_first.b64 policy, 1.0;\n"
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, "
        "{%3, %4, %5}], [%2], policy;\n}" ::"r"(to),
        "l"(map), "r"(report), "r"(at[0]), "r"(at[1]), "r"(at[2])
        : "memory");
#endif
}

// A load for several blocks of a cluster at once: the box goes to the same place in the shared memory of each block
// whose bit is set in `mask` (bit r: rank r), and its bytes are reported to the same mbarrier there.
template <int AXES>
__device__ __forceinline__ void tensor_load_multicast(void *shared, const tensor_map *map, mbarrier *barrier,
                                                      const int (&at)[AXES], unsigned mask) {
    static_assert(AXES == 3, "3 axes");
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) // ptxas refuses it for the portable code of 9.0
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    const unsigned report = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
        "[%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
        "l"(map), "r"(report), "r"(at[0]), "r"(at[1]), "r"(at[2]), "h"(static_cast<unsigned short>(mask))
        : "memory");
#endif
}

// The threads that wrote the box call fence_async_proxy() and meet at a barrier before one of them begins the store.
template <int AXES>
__device__ __forceinline__ void tensor_store(const tensor_map *map, const void *shared, const int (&at)[AXES]) {
    static_assert(AXES >= 2 && AXES <= 5, "2 to 5 axes");
#if __CUDA_ARCH__ >= 900
    const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    if constexpr (AXES == 2)
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
                     "r"(from), "r"(at[0]), "r"(at[1])
                     : "memory");
    else if constexpr (AXES == 3)
        asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map),
                     "r"(from), "r"(at[0]), "r"(at[1]), "r"(at[2])
                     : "memory");
    else if constexpr (AXES == 4)
        asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(map),
                     "r"(from), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3])
                     : "memory");
    else
        asm volatile(
            "cp.async.bulk.tensor.5d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map),
            "r"(from), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4])
            : "memory");
#endif
}

// The stores that this thread has begun since the last commit become a group.
__device__ __forceinline__ void tensor_store_commit() {
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}

// Waits until at most GROUPS of the latest groups are unfinished. READ: until they have read shared memory, which may
// then be written again; otherwise until global memory has the data.
template <int GROUPS, bool READ> __device__ __forceinline__ void tensor_store_wait() {
#if __CUDA_ARCH__ >= 900
    if constexpr (READ)
        asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(GROUPS) : "memory");
    else
        asm volatile("cp.async.bulk.wait_group %0;" ::"n"(GROUPS) : "memory");
#endif
}

// What this thread has written to shared memory becomes visible to later tensor_store and wgmma.
__device__ __forceinline__ void fence_async_proxy() {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

#endif
