// Kernels by their type: their parameters, and launches with arguments of any type that converts to these.
//
//   cudaLaunchKernelEx(config, kernel, 1, x) --> cudaGetKernel(&handle, kernel): signature<int, float *> to the core
//                                            --> cudaLaunchKernelExC(config, handle, {&int, &float *}): bytes, queued
//   a stream's thread, for each thread of the grid:  run<int, float *>(kernel, bytes)  ->  kernel(*(int *)bytes, ...)
//
// What depends on a kernel's type is static, because libraries in one process may have different types of the same
// name.
#ifndef EMULATOR_DEVICE_LAUNCH_H
#define EMULATOR_DEVICE_LAUNCH_H

#include <stddef.h>
#include <string.h>

#include <type_traits>
#include <utility>

#include "../cuda_runtime_api.h"
#include "device_core.h"

namespace emu {

// How a kernel takes a parameter, as the functions of C++ that call it do: a class with a copy constructor or a
// destructor of its own is passed by its address (Itanium C++ ABI, 3.1.2.3). So a thread can be passed a copy of the
// bytes, as on a GPU, where only the host constructs and destroys the parameter.
template <typename P>
static constexpr bool
    by_address = (std::is_copy_constructible<P>::value && !std::is_trivially_copy_constructible<P>::value) ||
                 (std::is_move_constructible<P>::value && !std::is_trivially_move_constructible<P>::value) ||
                 !std::is_trivially_destructible<P>::value;
template <typename P> struct passed {
    using type = P;
    const P &value;
    explicit passed(const void *bytes) : value(*static_cast<const P *>(bytes)) {}
};
template <typename P> struct passed<P &> {
    using type = P &;
    P &value;
    explicit passed(const void *bytes) : value(**static_cast<P *const *>(bytes)) {}
};
template <typename P> struct copied {
    using type = P &;
    alignas(P) char copy[sizeof(P)];
    P &value = reinterpret_cast<P &>(copy);
    explicit copied(const void *bytes) { memcpy(copy, bytes, sizeof copy); }
};
template <typename P>
using argument = std::conditional_t<by_address<P> && !std::is_reference<P>::value, copied<P>, passed<P>>;

// A reference is stored as a pointer.
template <typename P> using stored = std::conditional_t<std::is_reference<P>::value, std::remove_reference_t<P> *, P>;

template <size_t Count> struct layout {
    emu_parameter at[Count + 1]; // one more than there are parameters, because no array may be empty
    size_t bytes, align;
};
template <typename... P> constexpr layout<sizeof...(P)> lay_out() {
    const size_t sizes[] = {sizeof(stored<P>)..., 0}, aligns[] = {alignof(stored<P>)..., 1};
    layout<sizeof...(P)> result = {};
    result.align = 1;
    for (size_t i = 0; i < sizeof...(P); ++i) {
        result.at[i] = {(result.bytes + aligns[i] - 1) / aligns[i] * aligns[i], sizes[i]};
        result.bytes = result.at[i].offset + sizes[i];
        if (aligns[i] > result.align) result.align = aligns[i];
    }
    return result;
}
template <typename... P> static constexpr layout<sizeof...(P)> parameters = lay_out<P...>();

template <typename... P, size_t... I>
static __forceinline__ void call(void (*kernel)(P...), const void *with, std::index_sequence<I...>) {
    (void)with;
    const auto as_passed = reinterpret_cast<void (*)(typename argument<P>::type...)>(kernel);
    as_passed(argument<P>(static_cast<const char *>(with) + parameters<P...>.at[I].offset).value...);
}

// What the C functions take: the address of each argument, of which those that are references are pointers.
template <typename... P> struct given {
    void *addresses[sizeof...(P) + 1], *pointers[sizeof...(P) + 1];
    given(void (*)(P...), void *const (&arguments)[sizeof...(P) + 1]) {
        const bool is_reference[] = {std::is_reference<P>::value..., false};
        for (size_t i = 0; i <= sizeof...(P); ++i) {
            addresses[i] = arguments[i];
            pointers[i] = is_reference[i] ? &addresses[i] : arguments[i];
        }
    }
};

struct thread_exit {}; // thrown by PTX's `exit`

template <typename... P> static void run(const void *function, const void *with) {
    const auto kernel = reinterpret_cast<void (*)(P...)>(reinterpret_cast<uintptr_t>(function));
#if __cpp_exceptions
    // A GPU has no exceptions. emu_fail does not return, so it is called outside of the handler, which must end.
    try {
        call(kernel, with, std::index_sequence_for<P...>());
        return;
    } catch (const thread_exit &) {
        return;
    } catch (...) {}
    emu_fail("a C++ exception left the kernel; device code cannot throw", nullptr, 0);
#else
    call(kernel, with, std::index_sequence_for<P...>());
#endif
}

// (It has no bytes, or others that are written beyond an array could remain unnoticed.)
__attribute__((visibility("hidden"))) inline void *own_variable() {
    __extension__ static __thread char variable[0];
    return &variable;
}

template <typename... P>
static constexpr emu_signature signature = {
    EMU_INTERFACE_VERSION,  sizeof...(P),        run<P...>,   parameters<P...>.bytes,
    parameters<P...>.align, parameters<P...>.at, own_variable};

} // namespace emu

template <typename... P> static inline cudaError_t cudaGetKernel(cudaKernel_t *handle, void (*kernel)(P...)) {
    return static_cast<cudaError_t>(emu_get_kernel(reinterpret_cast<void **>(handle),
                                                   reinterpret_cast<const void *>(kernel), &emu::signature<P...>));
}

namespace emu {
// A kernel as the C functions take it, registered in the core with its parameters. (If that fails, so does the call
// that uses the result.)
template <typename... P> static const void *known(void (*kernel)(P...)) {
    cudaKernel_t handle;
    return cudaGetKernel(&handle, kernel) == cudaSuccess ? handle : reinterpret_cast<const void *>(kernel);
}
inline const void *known(const void *kernel) {
    return kernel;
}
} // namespace emu

namespace emu {
// As a static object: a kernel that can be launched by its address alone, without its type.
struct registered {
    emu_announced kernel;
    template <typename... P>
    explicit registered(void (*function)(P...), emu_bounds bounds = {}, const emu_signature *of = &signature<P...>)
        : kernel{reinterpret_cast<const void *>(function), of, bounds, nullptr} {
        emu_announce(&kernel, 1);
    }
    registered(const registered &) = delete;
    ~registered() { emu_announce(&kernel, 0); } // before its library is unloaded
};
} // namespace emu

template <typename... Parameters, typename... Arguments>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                                             Arguments &&...arguments) {
    static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                  "the launch must have as many arguments as the kernel has parameters");
    return [&](Parameters... converted) {
        emu::given given(kernel, {const_cast<void *>(static_cast<const volatile void *>(&converted))..., nullptr});
        return cudaLaunchKernelExC(config, emu::known(kernel), given.pointers);
    }(std::forward<Arguments>(arguments)...);
}
// Launches a kernel by its handle, which has no type: the arguments must have exactly the types of the parameters.
template <typename... Arguments>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, cudaKernel_t kernel,
                                             Arguments &&...arguments) {
    void *pointers[] = {const_cast<void *>(static_cast<const volatile void *>(&arguments))..., nullptr};
    return cudaLaunchKernelExC(config, kernel, pointers);
}
template <typename... P>
static inline cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **arguments,
                                           size_t shared = 0, cudaStream_t stream = nullptr) {
    return cudaLaunchKernel(emu::known(kernel), grid, block, arguments, shared, stream);
}
template <typename... P>
static inline cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **arguments,
                                                      size_t shared = 0, cudaStream_t stream = nullptr) {
    return cudaLaunchCooperativeKernel(emu::known(kernel), grid, block, arguments, shared, stream);
}

// The C functions for kernels, overloaded for kernels of any type.
template <typename... P>
static inline cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), enum cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute(emu::known(kernel), attribute, value);
}
template <typename... P>
static inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, void (*kernel)(P...)) {
    return cudaFuncGetAttributes(attributes, emu::known(kernel));
}
template <typename... P> static inline cudaError_t cudaFuncGetName(const char **name, void (*kernel)(P...)) {
    return cudaFuncGetName(name, emu::known(kernel));
}
template <typename... P>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void (*kernel)(P...),
                                                                        int block_size, size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, emu::known(kernel), block_size, shared);
}
template <typename... P>
static inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, void (*kernel)(P...), int blocks,
                                                                    int block_size) {
    return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, emu::known(kernel), blocks, block_size);
}
template <typename Function>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, Function function,
                                                             size_t shared = 0, int limit = 0) {
    return static_cast<cudaError_t>(emu_occupancy_block(grid, block, emu::known(function), shared, limit));
}
// The same with a function of the block's size for its dynamic shared memory.
template <typename Function, typename SharedOf>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, Function function,
                                                                  SharedOf shared_of, int limit = 0) {
    cudaDeviceProp properties;
    int device, best = 0;
    cudaError_t code = cudaGetDevice(&device);
    if (code == cudaSuccess) code = cudaGetDeviceProperties(&properties, device);
    if (code != cudaSuccess) return code;
    if (!grid || !block)
        return static_cast<cudaError_t>(
            emu_note_error(cudaErrorInvalidValue,
                           "cudaOccupancyMaxPotentialBlockSizeVariableSMem: a pointer for the results is NULL"));
    *grid = *block = 0;
    if (limit < 1 || limit > properties.maxThreadsPerBlock) limit = properties.maxThreadsPerBlock;
    for (int aligned = (limit + 31) / 32 * 32; aligned > 0; aligned -= 32) {
        const int threads = aligned < limit ? aligned : limit;
        int blocks;
        code = static_cast<cudaError_t>(emu_occupancy(&blocks, emu::known(function), threads, shared_of(threads)));
        if (code != cudaSuccess) return code;
        if (blocks * threads <= best) continue;
        best = blocks * threads;
        *block = threads;
        *grid = blocks * properties.multiProcessorCount;
    }
    return cudaSuccess;
}
template <typename Function, typename SharedOf>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *grid, int *block, Function function,
                                                                           SharedOf shared_of, int limit = 0,
                                                                           unsigned = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, function, shared_of, limit);
}
template <typename Function>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, Function function,
                                                                      size_t shared = 0, int limit = 0,
                                                                      unsigned = 0) {
    return cudaOccupancyMaxPotentialBlockSize(grid, block, function, shared, limit);
}
template <typename... P>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, void (*kernel)(P...),
                                                                                 int block_size, size_t shared,
                                                                                 unsigned) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, block_size, shared);
}
template <typename... P>
static inline cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, void (*kernel)(P...),
                                                         const cudaLaunchConfig_t *config) {
    return cudaOccupancyMaxActiveClusters(clusters, emu::known(kernel), config);
}
template <typename... P>
static inline cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, void (*kernel)(P...),
                                                               const cudaLaunchConfig_t *config) {
    return cudaOccupancyMaxPotentialClusterSize(size, emu::known(kernel), config);
}
template <typename... P>
static inline cudaError_t cudaFuncSetCacheConfig(void (*kernel)(P...), enum cudaFuncCache config) {
    return cudaFuncSetCacheConfig(emu::known(kernel), config);
}
template <typename... P>
static inline cudaError_t cudaFuncSetSharedMemConfig(void (*kernel)(P...), enum cudaSharedMemConfig config) {
    return cudaFuncSetSharedMemConfig(emu::known(kernel), config);
}
template <typename... P>
static inline cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, void (*kernel)(P...)) {
    return cudaGetFuncBySymbol(function, emu::known(kernel));
}

#endif
