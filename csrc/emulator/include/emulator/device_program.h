// What translated sources call: launches as `kernel<<<grid, block>>>(arguments)` makes them.
//
//     k<<<g, b, bytes, stream>>>(x, n)      (emu::configure(g, b, bytes, stream), k(x, n))
//     __global__ void k(float *x, int n) {  void k(float *x, int n) { if (emu_launching) return emu::launch<k>(x, n);
//
// So the C++ compiler finds the kernel and converts the arguments. (../../core/program.c has the other half.)
#ifndef EMULATOR_DEVICE_PROGRAM_H
#define EMULATOR_DEVICE_PROGRAM_H

#include <limits.h> // as nvcc does

#include "device_dynamic.h"
#include "device_launch.h"

// Whether the kernel that is called is to be launched. Where a tool could hear of its being read, it is constant as
// far as a kernel can see.
#ifdef EMULATOR_REPORTS
extern __thread const int emu_launching __attribute__((tls_model("initial-exec"), visibility("default")));
#else
extern __thread int emu_launching __attribute__((tls_model("initial-exec"), visibility("default")));
#endif

namespace emu {

// The type of a parameter in that of its function: g++ keeps __restrict__ where a type depends on a template's.
template <typename T> struct unrestricted { using type = T; };
template <typename T> struct unrestricted<T *__restrict__> { using type = T *; };
template <typename T> using declared = typename unrestricted<std::remove_cv_t<T>>::type;

__forceinline__ void configure(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr) {
    const emu_configuration launch = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, stream};
    emu_launch_next(&launch);
}

#ifdef EMULATOR_PROGRAM
static const int errors_stay = (emu_errors_stay(), 0);
#ifndef EMULATOR_REPORTS
// Programs from elsewhere often rely on what they see on a GPU whose memory is new: zeros. (--check tells of it.)
static const int new_memory = (emu_new_memory(0), 0);
#endif
#endif

#ifdef EMULATOR_PROGRAM
// A variable of the device, for cudaDeviceReset.
struct variable {
    emu_initial known;
    template <typename T>
    variable(T &of)
        : known{const_cast<void *>(static_cast<const volatile void *>(__builtin_addressof(of))), sizeof of, nullptr,
                nullptr} {
        emu_announce_initial(&known, 1);
    }
    variable(const variable &) = delete;
    ~variable() { emu_announce_initial(&known, 0); }
};
#endif

#ifdef EMULATOR_PROGRAM
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start; // of the program or library
#ifdef EMULATOR_REPORTS
static const int kept_out = (emu_keep_host_out(nullptr), 0);
#else
static const int kept_out = (emu_keep_host_out(&__ehdr_start), 0);
#endif
#endif

// Kernels by what their threads may do (waits.py).
enum threads {
    THEY_WAIT,
    THEY_NEVER_WAIT, // a block is a loop over its threads
    THEY_DO_LITTLE,  // and this contains the kernel's code, because a call would take longer
};

template <auto KERNEL, threads THREADS> struct in_loop;
template <typename... P, void (*KERNEL)(P...), threads THREADS> struct in_loop<KERNEL, THREADS> {
    static constexpr bool possible = THREADS != THEY_WAIT && !(by_address<P> || ...);
    static void run(const void *function, const void *with) {
        if (emu_block_alone())
            emu::run<P...>(reinterpret_cast<const void *>(THREADS == THEY_DO_LITTLE ? &little : &all), with);
        else
            emu::run<P...>(function, with);
    }
    static __forceinline__ void each(P... arguments) {
#if defined EMULATOR_PROGRAM && !defined EMULATOR_REPORTS
        const dim3 block = blockDim;
        for (unsigned z = 0; z < block.z; ++z)
            for (unsigned y = 0; y < block.y; ++y)
                for (unsigned x = 0; x < block.x; ++x) {
                    threadIdx = {x, y, z};
                    KERNEL(arguments...);
                }
#endif
    }
    static void all(P... arguments) {
        each(arguments...);
    }
    __attribute__((flatten)) static void little(P... arguments) {
        each(arguments...);
    }
    static constexpr emu_signature signature = {
        EMU_INTERFACE_VERSION,  sizeof...(P),        run,         parameters<P...>.bytes,
        parameters<P...>.align, parameters<P...>.at, own_variable};
};

template <auto KERNEL, threads THREADS, unsigned... BOUNDS> struct of_program { static registered kernel; };
template <auto KERNEL, threads THREADS, unsigned... BOUNDS>
registered of_program<KERNEL, THREADS, BOUNDS...>::kernel = [] {
    if constexpr (in_loop<KERNEL, THREADS>::possible)
        return registered(KERNEL, emu_bounds{BOUNDS...}, &in_loop<KERNEL, THREADS>::signature);
    else
        return registered(KERNEL, emu_bounds{BOUNDS...});
}();

// The arguments are the kernel's own parameters. That each kernel calls this registers all of them, for launches by
// their address. BOUNDS: none, or the three numbers of __cluster_dims__ and the first of __launch_bounds__.
template <auto KERNEL, threads THREADS = THEY_WAIT, unsigned... BOUNDS, typename... Arguments>
__attribute__((noinline, cold)) static void launch(Arguments &...arguments) {
    const emu_configuration now = emu_launch_taken();
    (void)&of_program<KERNEL, THREADS, BOUNDS...>::kernel;
    given given(KERNEL, {(void *)&arguments..., nullptr}); // for clang, no other cast removes __restrict__
    const dim3 grid(now.grid.x, now.grid.y, now.grid.z), block(now.block.x, now.block.y, now.block.z);
    cudaLaunchKernel(known(KERNEL), grid, block, given.pointers, now.shared, static_cast<cudaStream_t>(now.stream));
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
