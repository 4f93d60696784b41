// What the driver knows of a kernel: registers, shared and local memory, how many of its blocks fit.
//
// A kernel's address is known only where it is launched: ck_launch notes it here, at its first launch, and the driver is
// asked afterwards.
#include <cuda_runtime.h>

#include "variant.h"

extern "C" void ck_inspect_launch(ck_inspection *inspection, const char *name, const void *function,
                                  const unsigned grid[3], const unsigned block[3], size_t shared_bytes,
                                  int cooperative) {
    for (int i = 0; i < inspection->count; i++)
        if (inspection->kernels[i].function == function) return;
    if (inspection->count == CK_MAX_INSPECTED) return;
    ck_kernel *found = &inspection->kernels[inspection->count++];
    *found = {};
    found->function = function;
    found->name = name;
    for (int i = 0; i < 3; i++) {
        found->grid[i] = grid[i];
        found->block[i] = block[i];
    }
    found->dynamic_shared = shared_bytes;
    found->cooperative = cooperative;
}

extern "C" int ck_inspect_kernel(ck_inspection *inspection, int which, ck_error *error) {
    ck_kernel *found = &inspection->kernels[which];
    const void *const function = found->function;
    cudaFuncAttributes of = {};
    int threads = 1;
    for (const unsigned size : found->block) threads *= static_cast<int>(size);
    CK_CUDA(error, cudaFuncGetAttributes(&of, function));
    CK_CUDA(error, cudaFuncGetName(&found->symbol, function));
    CK_CUDA(error, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found->active_blocks, function, threads,
                                                                 found->dynamic_shared));
    CK_CUDA(error, cudaOccupancyMaxPotentialBlockSize(&found->potential_grid, &found->potential_block, function,
                                                      found->dynamic_shared));
    for (int i = 0; i < inspection->sweep; i++)
        CK_CUDA(error, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found->swept[i], function,
                                                                     static_cast<int>(inspection->threads[i]),
                                                                     static_cast<size_t>(inspection->shared[i])));
    found->registers = of.numRegs;
    found->max_threads = of.maxThreadsPerBlock;
    found->binary_version = of.binaryVersion;
    found->ptx_version = of.ptxVersion;
    found->static_shared = of.sharedSizeBytes;
    found->local_bytes = of.localSizeBytes;
    found->constant_bytes = of.constSizeBytes;
    found->max_dynamic_shared = static_cast<size_t>(of.maxDynamicSharedSizeBytes);
    return CK_OK;
}
