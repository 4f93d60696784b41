// Below the seam, GPU side: what CUDA C has no name for. The emulator has a file of the same name; the include path
// chooses, so kernels hold no `asm` and no `#ifdef`.
#ifndef CK_DEVICE_EXTRAS_CUH
#define CK_DEVICE_EXTRAS_CUH

#include <cuda_runtime.h>

// Declares `T *name`, the block's dynamic shared memory. An `extern __shared__ T name[]` in a template would declare
// one symbol with several types, so the bytes have one name and the macro casts. Aligned for 16-byte accesses.
#define DYNAMIC_SHARED(T, name)                                                                                      \
    extern __shared__ __align__(16) unsigned char dynamic_shared_bytes[];                                            \
    T *const name = reinterpret_cast<T *>(dynamic_shared_bytes)

// Nanoseconds on a timer common to all multiprocessors (clock64 counts on each by itself). It may advance in steps
// of some tens of nanoseconds up to a microsecond, depending on the chip.
__device__ __forceinline__ unsigned long long global_timer_ns() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

#endif
