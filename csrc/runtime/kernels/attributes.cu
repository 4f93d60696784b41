// The driver's information about a kernel: registers, shared and local memory, and the number of blocks that fit.
// (This is C++ because CUDA defines cudaOccupancyMaxPotentialBlockSize only as a template.)
#include <cuda_runtime.h>

#include "attributes.h"

extern "C" int ck_kernel_attributes(ck_listed_kernel *kernel, const ck_sweep *sweep, ck_error *error) {
    const void *const handle = reinterpret_cast<const void *>(kernel->kernel);
    cudaFuncAttributes of = {};
    int threads = 1;
    for (const unsigned size : kernel->block) threads *= static_cast<int>(size);
    CK_CUDA(error, cudaFuncGetAttributes(&of, handle));
    CK_CUDA(error, cudaFuncGetName(&kernel->symbol, handle));
    CK_CUDA(error, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&kernel->active_blocks, handle, threads,
                                                                 kernel->dynamic_shared));
    CK_CUDA(error, cudaOccupancyMaxPotentialBlockSize(&kernel->potential_grid, &kernel->potential_block, handle,
                                                      kernel->dynamic_shared));
    for (int i = 0; i < sweep->count; i++)
        CK_CUDA(error, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&kernel->swept[i], handle,
                                                                     static_cast<int>(sweep->threads[i]),
                                                                     static_cast<size_t>(sweep->shared[i])));
    kernel->registers = of.numRegs;
    kernel->max_threads = of.maxThreadsPerBlock;
    kernel->binary_version = of.binaryVersion;
    kernel->ptx_version = of.ptxVersion;
    kernel->static_shared = of.sharedSizeBytes;
    kernel->local_bytes = of.localSizeBytes;
    kernel->constant_bytes = of.constSizeBytes;
    kernel->max_dynamic_shared = static_cast<size_t>(of.maxDynamicSharedSizeBytes);
    return CK_OK;
}
