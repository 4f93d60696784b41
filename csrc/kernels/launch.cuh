// The one way to launch a kernel, and the one place where a launch is checked.
//
//     CK_TRY(ck_launch(context, error, "tiled", tiled<float, 16>, grid, block, shared_bytes, a, lda, ...));
//
// Arguments are converted to the kernel's own parameter types, as a call would. A failure names the kernel with its
// grid, block and shared memory: `tiled<<<(63,63,1),(16,16,1),0>>>`. A launch that went well is noted by its name,
// which must be of static storage: a failure may show much later, and is then told with what was outstanding.
#ifndef CK_LAUNCH_CUH
#define CK_LAUNCH_CUH

#include <stdio.h>
#include <utility>

#include <cuda_runtime.h>

#include "variant.h"

enum { CK_SHARED_WITHOUT_ASKING = 48 * 1024 }; // dynamic shared memory beyond this must be asked for

// Apart, so that a launch which goes well carries none of it.
inline int ck_launch_failed(ck_error *error, cudaError_t code, const char *name, dim3 grid, dim3 block,
                            size_t shared_bytes) {
    char call[sizeof error->call];
    snprintf(call, sizeof call, "%s<<<(%u,%u,%u),(%u,%u,%u),%zu>>>", name, grid.x, grid.y, grid.z, block.x, block.y,
             block.z, shared_bytes);
    return ck_fail_cuda(error, code, call);
}

template <typename... Expected, typename... Actual>
int ck_launch_with(bool cooperative, const ck_context *context, ck_error *error, const char *name,
                   void (*kernel)(Expected...), dim3 grid, dim3 block, size_t shared_bytes, Actual &&...arguments) {
    if (shared_bytes > CK_SHARED_WITHOUT_ASKING)
        CK_CUDA(error,
                cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)));
    const unsigned blocks[3] = {grid.x, grid.y, grid.z}, threads[3] = {block.x, block.y, block.z};
    if (context->inspection != NULL) {
        ck_inspect_launch(context->inspection, name, reinterpret_cast<const void *>(kernel), blocks, threads,
                          shared_bytes, cooperative);
        return CK_OK;
    }
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = context->stream;
    config.attrs = &attribute;
    config.numAttrs = cooperative ? 1 : 0;

    cudaError_t code = ck_injected_fault(name);
    if (code == cudaSuccess) code = cudaLaunchKernelEx(&config, kernel, std::forward<Actual>(arguments)...);
    if (code != cudaSuccess) return ck_launch_failed(error, code, name, grid, block, shared_bytes);
    ck_launches_note(context->launches, name, blocks, threads, shared_bytes);
    return context->timeline == NULL ? static_cast<int>(CK_OK)
                                     : ck_timeline_note(context->timeline, name, context->stream, error);
}

template <typename... Expected, typename... Actual>
int ck_launch(const ck_context *context, ck_error *error, const char *name, void (*kernel)(Expected...), dim3 grid,
              dim3 block, size_t shared_bytes, Actual &&...arguments) {
    return ck_launch_with(false, context, error, name, kernel, grid, block, shared_bytes,
                          std::forward<Actual>(arguments)...);
}

// All blocks resident at once, so that they may wait for each other (grid-wide sync).
template <typename... Expected, typename... Actual>
int ck_launch_cooperative(const ck_context *context, ck_error *error, const char *name, void (*kernel)(Expected...),
                          dim3 grid, dim3 block, size_t shared_bytes, Actual &&...arguments) {
    return ck_launch_with(true, context, error, name, kernel, grid, block, shared_bytes,
                          std::forward<Actual>(arguments)...);
}

// A row's __constant__ variable, for ck_plan.symbols: a function that finds its address and size.
#define CK_SYMBOL(variable)                                                                                          \
    [](void **address, size_t *bytes) -> int {                                                                       \
        const cudaError_t code = cudaGetSymbolAddress(address, variable);                                            \
        return static_cast<int>(code == cudaSuccess ? cudaGetSymbolSize(bytes, variable) : code);                    \
    }

inline dim3 ck_dim3(const unsigned sizes[3]) {
    return dim3(sizes[0], sizes[1], sizes[2]);
}

#endif
