// Overloads that C++ programs expect: pointers of any type, channels by a type, and the parameters of CUDA 12.
#ifndef EMULATOR_API_TYPED_H
#define EMULATOR_API_TYPED_H

#include "../cuda_runtime_api.h"
#if __cplusplus >= 201402L
#include "device_symbols.h"
#include "device_texture.h"
#endif

#define EMU_TYPED(name, parameters, ...)                                                                             \
    template <typename T> inline cudaError_t name parameters {                                                       \
        return name(static_cast<void **>(static_cast<void *>(pointer)), __VA_ARGS__);                                \
    }
EMU_TYPED(cudaMalloc, (T * *pointer, size_t bytes), bytes)
EMU_TYPED(cudaMallocManaged, (T * *pointer, size_t bytes, unsigned flags = cudaMemAttachGlobal), bytes, flags)
EMU_TYPED(cudaHostAlloc, (T * *pointer, size_t bytes, unsigned flags), bytes, flags)
EMU_TYPED(cudaHostGetDevicePointer, (T * *pointer, void *host, unsigned flags), host, flags)
EMU_TYPED(cudaMallocAsync, (T * *pointer, size_t bytes, cudaStream_t stream), bytes, stream)
EMU_TYPED(cudaMallocFromPoolAsync, (T * *pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream), bytes, pool,
          stream)
EMU_TYPED(cudaMallocPitch, (T * *pointer, size_t *pitch, size_t width, size_t height), pitch, width, height)
#undef EMU_TYPED
template <typename T>
inline cudaError_t cudaMallocHost(T **pointer, size_t bytes, unsigned flags = cudaHostAllocDefault) {
    return cudaHostAlloc(pointer, bytes, flags);
}
inline cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    return cudaMallocFromPoolAsync(pointer, bytes, pool, stream);
}
template <typename T>
inline cudaError_t cudaMallocAsync(T **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
    return cudaMallocFromPoolAsync(pointer, bytes, pool, stream);
}
inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned flags) {
    return cudaEventCreateWithFlags(event, flags);
}

// CUDA 12 had a device's number (or cudaCpuDeviceId) where CUDA 13 has a location.
namespace emu {
inline cudaMemLocation location(int device) {
    return {device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device};
}
} // namespace emu
inline cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, cudaMemoryAdvise advice, int device) {
    return cudaMemAdvise(pointer, bytes, advice, emu::location(device));
}
inline cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device,
                                        cudaStream_t stream = nullptr) {
    return cudaMemPrefetchAsync(pointer, bytes, emu::location(device), 0, stream);
}
template <typename T>
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T *pointer, size_t bytes = 0,
                                            unsigned flags = cudaMemAttachSingle) {
    return cudaStreamAttachMemAsync(stream, const_cast<void *>(static_cast<const volatile void *>(pointer)), bytes,
                                    flags);
}

inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *, char *log,
                                        size_t bytes) {
    if (log && bytes) *log = 0;
    return cudaGraphInstantiate(exec, graph, 0);
}
inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *node,
                                       cudaGraphExecUpdateResult *result) {
    cudaGraphExecUpdateResultInfo information = {};
    const cudaError_t code = cudaGraphExecUpdate(exec, graph, &information);
    if (node) *node = information.errorNode;
    if (result) *result = information.result;
    return code;
}
inline cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                    size_t count, cudaGraphNodeParams *what) {
    return cudaGraphAddNode(node, graph, before, nullptr, count, what);
}
inline cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count) {
    return cudaGraphGetEdges(graph, from, to, nullptr, count);
}
inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count) {
    return cudaGraphNodeGetDependencies(node, nodes, nullptr, count);
}
inline cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count) {
    return cudaGraphNodeGetDependentNodes(node, nodes, nullptr, count);
}
inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                            size_t count) {
    return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
inline cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                               const cudaGraphNode_t *to, size_t count) {
    return cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}
inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status,
                                            unsigned long long *id, cudaGraph_t *graph,
                                            const cudaGraphNode_t **before, size_t *count) {
    return cudaStreamGetCaptureInfo(stream, status, id, graph, before, nullptr, count);
}
inline cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *before, size_t count,
                                                       unsigned flags = 0) {
    return cudaStreamUpdateCaptureDependencies(stream, before, nullptr, count, flags);
}
#define cudaStreamGetCaptureInfo_v2 cudaStreamGetCaptureInfo

// Nodes that copy to and from symbols.
template <typename T>
inline cudaError_t
cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
                               const T &symbol, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
    void *address;
    const cudaError_t code = cudaGetSymbolAddress(&address, symbol);
    if (code != cudaSuccess) return code;
    return cudaGraphAddMemcpyNode1D(node, graph, before, count, static_cast<char *>(address) + offset, from, bytes,
                                    kind);
}
template <typename T>
inline cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                    const cudaGraphNode_t *before, size_t count, void *to,
                                                    const T &symbol, size_t bytes, size_t offset,
                                                    cudaMemcpyKind kind) {
    void *address;
    const cudaError_t code = cudaGetSymbolAddress(&address, symbol);
    if (code != cudaSuccess) return code;
    return cudaGraphAddMemcpyNode1D(node, graph, before, count, to, static_cast<char *>(address) + offset, bytes,
                                    kind);
}

#if __cplusplus >= 201402L
// The channels of a type: float4, uchar2, short, ...
template <typename T> inline cudaChannelFormatDesc cudaCreateChannelDesc() {
    using element = typename emu::texel<T>::element;
    constexpr int channels = emu::texel<T>::channels, bits = 8 * sizeof(element);
    static_assert(std::is_arithmetic<element>::value, "textures do not support elements of this type");
    return cudaCreateChannelDesc(bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0,
                                 std::is_floating_point<element>::value ? cudaChannelFormatKindFloat
                                 : std::is_signed<element>::value       ? cudaChannelFormatKindSigned
                                                                        : cudaChannelFormatKindUnsigned);
}
#endif
inline cudaChannelFormatDesc cudaCreateChannelDescHalf() {
    return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}
inline cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc &channels, size_t width,
                                   size_t height = 0, unsigned flags = 0) {
    return cudaMallocArray(array, &channels, width, height, flags);
}

#endif
