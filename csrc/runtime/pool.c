// Device memory, one pool a device, in the stream's order.
//
// The pool is our own, so that nothing of ours changes how another library's memory behaves, and it gives nothing
// back by itself: a call repeated with the same sizes makes no device allocation. ck_pool_trim gives it back. Where
// a device has no pools (some virtual GPUs), cudaMalloc serves, slower.
#include <string.h>

#include "backend.h"
#include "runtime.h"

int ck_pool_create(ck_device *device, ck_error *error) {
    int supported = 0;
    CK_CUDA(error, cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device->index));
    if (!supported) return CK_OK;
    struct cudaMemPoolProps properties;
    memset(&properties, 0, sizeof properties);
    properties.allocType = cudaMemAllocationTypePinned; // CUDA's word for plain device memory
    properties.handleTypes = cudaMemHandleTypeNone;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device->index;
    CK_CUDA(error, cudaMemPoolCreate(&device->pool, &properties));
    uint64_t keep = UINT64_MAX;
    cudaError_t code;
    if (CK_CUDA_CODE(code, cudaMemPoolSetAttribute(device->pool, cudaMemPoolAttrReleaseThreshold, &keep)) !=
        cudaSuccess) {
        ck_fail_cuda(error, code, "cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep)");
        ck_pool_destroy(device);
        return error->code;
    }
    return CK_OK;
}

void ck_pool_destroy(ck_device *device) {
    ck_error ignored = {0};
    if (device->pool != NULL) CK_RELEASE(&ignored, cudaMemPoolDestroy(device->pool));
    device->pool = NULL;
}

static cudaError_t take(ck_device *device, size_t bytes, cudaStream_t stream, void **data) {
    return device->pool ? cudaMallocFromPoolAsync(data, bytes, device->pool, stream) : cudaMalloc(data, bytes);
}

cudaError_t ck_pool_give_back(ck_device *device) {
    cudaError_t code = (cudaError_t)backend_settle(); // errors of kernels are for those who wait for them
    if (code == cudaSuccess && device->pool != NULL) code = cudaMemPoolTrimTo(device->pool, 0);
    return code;
}

static cudaError_t give_all_back(ck_device *device) {
    ck_textures_trim(device);
    return ck_pool_give_back(device);
}

// The device said that it is short of memory. If that is true, what freed blocks of other sizes occupy in the pool
// may do, and a failed attempt leaves there what it had gathered, all the same: give it back, and try once more if
// that made room. Returns cudaSuccess with `data`, else `room` is what is free.
static cudaError_t take_again(ck_device *device, size_t bytes, cudaStream_t stream, void **data, size_t *room) {
    size_t total = 0;
    *room = 0;
    cudaError_t code = cudaMemGetInfo(room, &total);
    if (code == cudaSuccess && *room >= bytes)
        code = cudaErrorMemoryAllocation; // a fault on request
    else if (code == cudaSuccess && (code = give_all_back(device)) == cudaSuccess) {
        code = cudaMemGetInfo(room, &total);
        if (code == cudaSuccess) code = *room < bytes ? cudaErrorMemoryAllocation : take(device, bytes, stream, data);
        if (code != cudaSuccess) (void)ck_pool_give_back(device);
    }
    (void)cudaGetLastError();
    return code;
}

int ck_pool_allocate(ck_device *device, size_t bytes, cudaStream_t stream, ck_block *block, ck_error *error) {
    const size_t asked = bytes > 0 ? bytes : 1;
    void *data = NULL;
    cudaError_t code;
    if (CK_CUDA_CODE(code, take(device, asked, stream, &data)) != cudaSuccess) {
        ck_fail_cuda(error, code,
                     device->pool ? "cudaMallocFromPoolAsync(&data, bytes, pool, stream)"
                                  : "cudaMalloc(&data, bytes)");
        if (code != cudaErrorMemoryAllocation) return error->code;
        error->bytes = asked;
        if (take_again(device, asked, stream, &data, &error->bytes_free) != cudaSuccess) return error->code;
        memset(error, 0, sizeof *error);
    }
    block->data = data;
    block->bytes = asked;
    atomic_fetch_add(&device->live, asked);
    return CK_OK;
}

void ck_pool_free(ck_device *device, ck_block *block, cudaStream_t stream, ck_error *error) {
    if (block->data == NULL) return;
    if (device->pool != NULL)
        CK_RELEASE(error, cudaFreeAsync(block->data, stream));
    else
        CK_RELEASE(error, cudaFree(block->data));
    atomic_fetch_sub(&device->live, block->bytes);
    *block = (ck_block){0};
}

size_t ck_pool_used(ck_runtime *runtime, int index) {
    ck_device *device = ck_runtime_find(runtime, index);
    return device ? atomic_load(&device->live) : 0;
}

int ck_pool_trim(ck_runtime *runtime, int index, ck_error *error) {
    ck_device *device = ck_runtime_find(runtime, index);
    if (device == NULL) return CK_OK;
    int previous = index;
    ck_memory_sweep(runtime);
    CK_TRY(ck_device_enter(index, &previous, error));
    cudaError_t code;
    if (CK_CUDA_CODE(code, give_all_back(device)) != cudaSuccess)
        ck_fail_cuda(error, code, "cudaMemPoolTrimTo(pool, 0)");
    ck_device_leave(index, previous, error);
    return error->code;
}
