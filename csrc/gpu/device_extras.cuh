// Functions that CUDA C lacks, for a GPU. The emulator has a file of the same name with the same functions; the
// include path selects one of the files, so kernels contain neither `asm` nor `#ifdef`.
#ifndef CK_DEVICE_EXTRAS_CUH
#define CK_DEVICE_EXTRAS_CUH

#include <cuda_runtime.h>

// Declares `T *name`, the block's dynamic shared memory. An `extern __shared__ T name[]` in a template would declare
// one symbol with several types, so the bytes have one name and the macro casts. Aligned for 16-byte accesses.
#define DYNAMIC_SHARED(T, name)                                                                                      \
    extern __shared__ __align__(16) unsigned char dynamic_shared_bytes[];                                            \
    T *const name = reinterpret_cast<T *>(dynamic_shared_bytes)

// Nanoseconds on a timer that all multiprocessors share (each has its own clock64). Depending on the chip, it
// advances in steps from tens of nanoseconds to a microsecond.
__device__ __forceinline__ unsigned long long global_timer_ns() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

// In a kernel that is launched early (ck_launch_early of launch.cuh): waits until all launches before it have ended,
// and their memory is visible. In others it returns at once. From compute capability 9.0 on.
__device__ __forceinline__ void wait_for_grid_before() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
// When all blocks have called it or ended, a next launch that is early may begin.
__device__ __forceinline__ void let_next_grid_begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// True for one lane of those in the mask, which must all call it: the same lane each time. From compute capability
// 9.0 on.
__device__ __forceinline__ bool elect_one(unsigned mask = 0xffffffff) {
    unsigned elected = 0;
#if __CUDA_ARCH__ >= 900
    asm volatile("{ .reg .pred p; elect.sync _|p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(elected) : "r"(mask));
#endif
    return elected != 0;
}

// Begins to load the 128 bytes around that address of global memory into the L2 cache.
__device__ __forceinline__ void prefetch_l2(const void *address) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(address)));
}

// The compiler takes x for a new value from here on: it computes what depends on x again, where it would otherwise
// keep that in registers from one round of a loop to the next.
template <typename T> __device__ __forceinline__ void recompute_from(T &x) {
    if constexpr (sizeof(T) == 8)
        asm volatile("" : "+l"(x));
    else
        asm volatile("" : "+r"(x));
}

#endif
