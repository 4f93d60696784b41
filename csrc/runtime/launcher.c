// The launcher that runs kernels. No other file of the package launches a kernel on a device.
//
// The message of a failure contains the kernel with its grid, block and shared memory:
// `tiled<<<(63,63,1),(16,16,1),0>>>`. A successful launch is recorded in the log of the stream, because the failure
// of the kernel itself may appear much later; its message then lists the outstanding launches.
#include <stdio.h>

#include "launcher.h"

int ck_allow_shared(const ck_launch_plan *launch, ck_error *error) {
    if (launch->shared_bytes > CK_SHARED_WITHOUT_ASKING)
        CK_CUDA(error, cudaFuncSetAttribute((const void *)launch->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            (int)launch->shared_bytes));
    return CK_OK;
}

static cudaError_t launch_kernel(const ck_launch_plan *launch, cudaStream_t stream) {
    cudaLaunchAttribute attributes[3];
    unsigned count = 0;
    if (launch->cooperative)
        attributes[count++] = (cudaLaunchAttribute){.id = cudaLaunchAttributeCooperative, .val = {.cooperative = 1}};
    if (launch->cluster)
        attributes[count++] = (cudaLaunchAttribute){.id = cudaLaunchAttributeClusterDimension,
                                                    .val = {.clusterDim = {(unsigned)launch->cluster, 1, 1}}};
    if (launch->early)
        attributes[count++] = (cudaLaunchAttribute){.id = cudaLaunchAttributeProgrammaticStreamSerialization,
                                                    .val = {.programmaticStreamSerializationAllowed = 1}};
    const cudaLaunchConfig_t config = {.gridDim = {launch->grid[0], launch->grid[1], launch->grid[2]},
                                       .blockDim = {launch->block[0], launch->block[1], launch->block[2]},
                                       .dynamicSmemBytes = launch->shared_bytes,
                                       .stream = stream,
                                       .attrs = attributes,
                                       .numAttrs = count};
    return cudaLaunchKernelExC(&config, (const void *)launch->kernel, launch->arguments);
}

static int fail(const ck_launch_plan *launch, cudaError_t code, ck_error *error) {
    char call[96];
    const unsigned *grid = launch->grid, *block = launch->block;
    if (launch->library != NULL) return ck_fail_cuda(error, code, launch->name);
    snprintf(call, sizeof call, "%s<<<(%u,%u,%u),(%u,%u,%u),%zu>>>", launch->name, grid[0], grid[1], grid[2],
             block[0], block[1], block[2], launch->shared_bytes);
    return ck_fail_cuda(error, code, call);
}

int ck_run_launch(ck_launcher *launcher, const ck_launch_plan *launch, cudaStream_t stream, ck_error *error) {
    CK_TRY(ck_allow_shared(launch, error));
    cudaError_t code = ck_injected_fault(launch->name);
    if (code == cudaSuccess)
        code = launch->library != NULL ? (cudaError_t)launch->library(launch->closure, stream)
                                       : launch_kernel(launch, stream);
    if (code != cudaSuccess) return fail(launch, code, error);
    ck_runner *runner = (ck_runner *)launcher;
    ck_launches_note(runner->log, launch);
    runner->count++;
    return CK_OK;
}
