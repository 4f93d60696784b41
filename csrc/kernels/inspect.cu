// What the driver knows of a kernel: registers, shared and local memory, how many of its blocks fit.
//
// It is asked here, where a launch would be, because only the kernel's own launch names the kernel's address.
#include <cuda_runtime.h>

#include "variant.h"

static int fill(ck_kernel *found, const ck_inspection *asked, const void *kernel, ck_error *error) {
    cudaFuncAttributes of = {};
    int threads = 1;
    for (const unsigned size : found->block) threads *= static_cast<int>(size);
    CK_CUDA(error, cudaFuncGetAttributes(&of, kernel));
    CK_CUDA(error, cudaFuncGetName(&found->symbol, kernel));
    CK_CUDA(error, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found->active_blocks, kernel, threads,
                                                                 found->dynamic_shared));
    CK_CUDA(error, cudaOccupancyMaxPotentialBlockSize(&found->potential_grid, &found->potential_block, kernel,
                                                      found->dynamic_shared));
    for (int i = 0; i < asked->sweep; i++)
        CK_CUDA(error, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found->swept[i], kernel,
                                                                     static_cast<int>(asked->threads[i]),
                                                                     static_cast<size_t>(asked->shared[i])));
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

extern "C" int ck_inspect_launch(ck_inspection *inspection, const char *name, const void *kernel,
                                 const unsigned grid[3], const unsigned block[3], size_t shared_bytes,
                                 int cooperative, ck_error *error) {
    if (inspection->count++ >= CK_MAX_INSPECTED) return CK_OK;
    ck_kernel *found = &inspection->kernels[inspection->count - 1];
    *found = {};
    found->name = name;
    for (int i = 0; i < 3; i++) {
        found->grid[i] = grid[i];
        found->block[i] = block[i];
    }
    found->dynamic_shared = shared_bytes;
    found->cooperative = cooperative;
    return fill(found, inspection, kernel, error);
}
