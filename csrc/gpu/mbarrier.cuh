// Below the seam, GPU side: barriers in shared memory that count arrivals and bytes (PTX: mbarrier), from compute
// capability 9.0 on. The emulator has a file of the same name and meaning.
//
//     __shared__ mbarrier full;
//     if (threadIdx.x == 0) mbarrier_init(&full, 1), mbarrier_init_fence();
//     __syncthreads();
//     if (threadIdx.x == 0) {
//         mbarrier_expect(&full, bytes);                  // one arrival, and so many bytes to come
//         tensor_load(tile, map, &full, {x, y});          // they come by tensor_copy.cuh
//     }
//     mbarrier_wait(&full, 0);                            // everyone: until phase 0 is complete
//
// A barrier is in a phase, 0 at first. A phase is complete when as many threads have arrived as mbarrier_init says
// and all expected bytes have come; then the next phase begins. A wait names the parity of a phase (0 or 1), and
// returns when that phase is complete, i.e. the barrier is in a phase of the other parity. So a wait for parity 1 of
// a new barrier returns at once.
#ifndef CK_MBARRIER_CUH
#define CK_MBARRIER_CUH

#include <stdint.h>

#include <cuda_runtime.h>

using mbarrier = unsigned long long;

__device__ __forceinline__ void mbarrier_init(mbarrier *barrier, int arrivals) {
#if __CUDA_ARCH__ >= 900
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address), "r"(arrivals) : "memory");
#endif
}

// By the thread that called mbarrier_init, after the last one: copies may then use the barriers.
__device__ __forceinline__ void mbarrier_init_fence() {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

__device__ __forceinline__ void mbarrier_arrive(mbarrier *barrier) {
#if __CUDA_ARCH__ >= 900
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address) : "memory");
#endif
}

// An arrival at the same barrier of another block of the cluster (cluster.cuh). The calling thread's reads of shared
// memory come before it, and no more than that: it does not publish writes.
__device__ __forceinline__ void mbarrier_arrive_at(mbarrier *barrier, int rank) {
#if __CUDA_ARCH__ >= 900
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
    asm volatile("{\n"
                 ".reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
                 "}" ::"r"(address),
                 "r"(rank)
                 : "memory");
#endif
}

// One arrival, and the phase also waits for so many bytes.
__device__ __forceinline__ void mbarrier_expect(mbarrier *barrier, int bytes) {
#if __CUDA_ARCH__ >= 900
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes) : "memory");
#endif
}

__device__ __forceinline__ void mbarrier_wait(mbarrier *barrier, int parity) {
#if __CUDA_ARCH__ >= 900
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
    asm volatile("{\n"
                 ".reg .pred complete;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;\n"
                 "@complete bra done;\n"
                 "bra again;\n"
                 "done:\n"
                 "}" ::"r"(address),
                 "r"(parity)
                 : "memory");
#endif
}

#endif
