// Launching a kernel: its arguments, converted to its own parameter types, travel as bytes to each emulated thread.
//
//   cudaLaunchKernelEx(config, kernel, 1, x)  ->  bytes {int, float *}  ->  emu_launch_kernel (core, queues them)
//   a stream's thread, for each thread of the grid:  run<int, float *>(kernel, bytes)  ->  kernel(bytes.int, ...)
#ifndef EMULATOR_DEVICE_LAUNCH_H
#define EMULATOR_DEVICE_LAUNCH_H

#include <stddef.h>
#include <string.h>

#include <type_traits>
#include <utility>

#include "cuda_runtime_api.h"
#include "device_core.h"

namespace emu {

// std::tuple need not be trivially copyable, so this small one.
template <typename... T> struct arguments {};
template <typename First, typename... Rest> struct arguments<First, Rest...> {
    static_assert(std::is_trivially_copyable<First>::value, "a kernel's arguments are copied as bytes");
    First first;
    arguments<Rest...> rest;
};
template <typename... T> arguments<T...> pack(T... values);
template <typename First, typename... Rest> arguments<First, Rest...> pack_first(First first, Rest... rest) {
    return {first, pack<Rest...>(rest...)};
}
template <typename... T> arguments<T...> pack(T... values) {
    if constexpr (sizeof...(T) == 0)
        return {};
    else
        return pack_first<T...>(values...);
}
template <size_t I, typename First, typename... Rest>
__forceinline__ const auto &get(const arguments<First, Rest...> &from) {
    if constexpr (I == 0)
        return from.first;
    else
        return get<I - 1>(from.rest);
}

template <typename... P, size_t... I>
__forceinline__ void call(void (*kernel)(P...), const arguments<P...> &with, std::index_sequence<I...>) {
    (void)with;
    kernel(get<I>(with)...);
}

template <typename... P> void run(const void *function, const void *with) {
    const auto kernel = reinterpret_cast<void (*)(P...)>(reinterpret_cast<uintptr_t>(function));
    const auto &all = *static_cast<const arguments<P...> *>(with);
#if __cpp_exceptions
    // A GPU has no exceptions. The error is raised outside of the handler, which would else never end.
    try {
        call(kernel, all, std::index_sequence_for<P...>());
        return;
    } catch (...) {}
    emu_fail("a C++ exception left the kernel; device code cannot throw", nullptr, 0);
#else
    call(kernel, all, std::index_sequence_for<P...>());
#endif
}

template <typename... P>
cudaError_t launch(const cudaLaunchConfig_t &config, void (*kernel)(P...), const arguments<P...> &with) {
    emu_launch launch = {};
    launch.interface_version = EMU_INTERFACE_VERSION;
    launch.trampoline = run<P...>;
    launch.function = reinterpret_cast<const void *>(kernel);
    launch.arguments = &with;
    launch.argument_bytes = sizeof with;
    launch.argument_align = alignof(arguments<P...>);
    launch.grid = {config.gridDim.x, config.gridDim.y, config.gridDim.z};
    launch.block = {config.blockDim.x, config.blockDim.y, config.blockDim.z};
    launch.dynamic_shared = config.dynamicSmemBytes;
    launch.stream = config.stream;
    for (unsigned i = 0; i < config.numAttrs; ++i) {
        const cudaLaunchAttribute &attribute = config.attrs[i];
        if (attribute.id == cudaLaunchAttributeCooperative) launch.cooperative = attribute.val.cooperative != 0;
        if (attribute.id == cudaLaunchAttributeClusterDimension &&
            attribute.val.clusterDim.x * attribute.val.clusterDim.y * attribute.val.clusterDim.z > 1)
            return static_cast<cudaError_t>(
                emu_note_error(cudaErrorNotSupported, "the emulator has no clusters of more than one block"));
    }
    return static_cast<cudaError_t>(emu_launch_kernel(&launch));
}

template <typename... P, size_t... I>
arguments<P...> pack_pointers(void **from, void (*)(P...), std::index_sequence<I...>) {
    (void)from;
    return pack<P...>(*static_cast<std::remove_reference_t<P> *>(from[I])...);
}

} // namespace emu

template <typename... Parameters, typename... Arguments>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                                      Arguments &&...arguments) {
    static_assert(sizeof...(Parameters) == sizeof...(Arguments), "as many arguments as the kernel has parameters");
    return emu::launch(*config, kernel, emu::pack<Parameters...>(std::forward<Arguments>(arguments)...));
}

// The older ways, with arguments by pointer.
template <typename... P>
inline cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **arguments, size_t shared = 0,
                                    cudaStream_t stream = nullptr) {
    const cudaLaunchConfig_t config = {grid, block, shared, stream, nullptr, 0};
    return emu::launch(config, kernel, emu::pack_pointers(arguments, kernel, std::index_sequence_for<P...>()));
}
template <typename... P>
inline cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **arguments,
                                               size_t shared = 0, cudaStream_t stream = nullptr) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    const cudaLaunchConfig_t config = {grid, block, shared, stream, &attribute, 1};
    return emu::launch(config, kernel, emu::pack_pointers(arguments, kernel, std::index_sequence_for<P...>()));
}

// The C functions on kernels, for kernels of any type.
template <typename... P>
inline cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), enum cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel), attribute, value);
}
template <typename... P>
inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, void (*kernel)(P...)) {
    return cudaFuncGetAttributes(attributes, reinterpret_cast<const void *>(kernel));
}
template <typename... P> inline cudaError_t cudaFuncGetName(const char **name, void (*kernel)(P...)) {
    return cudaFuncGetName(name, reinterpret_cast<const void *>(kernel));
}
template <typename... P>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void (*kernel)(P...), int block_size,
                                                                 size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, reinterpret_cast<const void *>(kernel), block_size,
                                                         shared);
}
template <typename... P>
inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, void (*kernel)(P...), int blocks,
                                                             int block_size) {
    return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, reinterpret_cast<const void *>(kernel), blocks,
                                                     block_size);
}
template <typename Function>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, Function function, size_t shared = 0,
                                                      int limit = 0) {
    return static_cast<cudaError_t>(
        emu_occupancy_block(grid, block, reinterpret_cast<const void *>(function), shared, limit));
}
template <typename T> inline cudaError_t cudaMalloc(T **pointer, size_t bytes) {
    return cudaMalloc(reinterpret_cast<void **>(pointer), bytes);
}
template <typename T> inline cudaError_t cudaMallocHost(T **pointer, size_t bytes) {
    return cudaMallocHost(reinterpret_cast<void **>(pointer), bytes);
}
template <typename T> inline cudaError_t cudaMallocAsync(T **pointer, size_t bytes, cudaStream_t stream) {
    return cudaMallocAsync(reinterpret_cast<void **>(pointer), bytes, stream);
}
template <typename T> inline cudaError_t cudaMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height) {
    return cudaMallocPitch(reinterpret_cast<void **>(pointer), pitch, width, height);
}

#endif
