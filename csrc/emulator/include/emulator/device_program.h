// What translated sources call: launches as `kernel<<<grid, block>>>(arguments)` makes them.
//
//     k<<<g, b, bytes, stream>>>(x, n)         (emu::configure(g, b, bytes, stream), k(x, n))
//     __global__ void k(float *x, int n) {     void k(float *x, int n) { if (emu_pending) return emu::launch<k>(x, n);
//
// So the C++ compiler finds the kernel and converts the arguments. The configurations of launches whose arguments are
// still being computed form a stack, because these may call functions that launch kernels, too.
#ifndef EMULATOR_DEVICE_PROGRAM_H
#define EMULATOR_DEVICE_PROGRAM_H

#include "device_dynamic.h"
#include "device_launch.h"

// The last configuration of the thread whose kernel has not been called yet.
extern __thread struct emu_configuration *emu_pending
    __attribute__((tls_model("initial-exec"), visibility("default")));

struct emu_configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    emu_configuration *before;
};

namespace emu {

inline void configure(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr) {
    emu_pending = new emu_configuration{grid, block, shared, stream, emu_pending};
}

template <auto KERNEL> struct of_program { static registered kernel; };
template <auto KERNEL> registered of_program<KERNEL>::kernel{KERNEL};

// The arguments are the kernel's own parameters. That each kernel calls this registers all of them, for launches by
// their address.
template <auto KERNEL, typename... Arguments> static void launch(Arguments &...arguments) {
    const emu_configuration now = *emu_pending;
    delete emu_pending;
    emu_pending = now.before;
    (void)&of_program<KERNEL>::kernel;
    void *pointers[] = {const_cast<void *>(static_cast<const volatile void *>(&arguments))..., nullptr};
    (void)cudaLaunchKernel(known(KERNEL), now.grid, now.block, pointers, now.shared, now.stream);
}

// The lanes of a warp that run together wait for each other: see translate.py.
__forceinline__ void in_step(EMU_SITE) {
    if (emu_in_kernel()) (void)emu_activemask(file, line);
}
template <typename T> __forceinline__ T in_step(T value, EMU_SITE) {
    in_step(file, line);
    return value;
}
__forceinline__ void let_others_run() {
    if (emu_in_kernel()) emu_spin();
}

} // namespace emu

#endif
