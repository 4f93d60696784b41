// Stream-ordered device memory, from one pool per device.
//
// The pool belongs to this runtime, so that it does not change how other libraries' memory behaves. It keeps freed
// memory, so a call that is repeated with the same sizes allocates nothing on the device. ck_runtime_trim returns
// this memory to the device. An allocation that does not find enough memory does the same, after `reclaim` has
// returned memory that is kept outside the pool. On devices without pools (some virtual GPUs), cudaMalloc is used,
// which is slower.
//
//   freed in the default stream's order, small --> kept here --> the next allocation of as many bytes in that order
//                                                    '-- one too many: the oldest --> CUDA's pool
//
// CUDA's calls for one block take 1.4 us (measured on an H200), nearly half as long as a launch. On the emulator, no
// blocks are kept by default, so that it can detect uses of freed memory; CUDAKERN_KEEP_FREED changes this.
//
// A kept block may be clear: its kernels have left it zero, and it goes only to a call that needs such a block. A
// failure of a kernel anywhere makes all of them unclear, since it may have stopped the kernel that would have
// cleaned up.
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "state.h"

// --- small blocks that are kept ------------------------------------------------------------------------------------
enum { KEPT = 32, LARGEST_KEPT = 1 << 20 };

struct ck_kept {
    pthread_mutex_t lock;
    int count;
    ck_block blocks[KEPT]; // the oldest first
};

static int create_kept(ck_device *device, ck_error *error) {
    const char *setting = getenv("CUDAKERN_KEEP_FREED");
    if (setting == NULL || *setting == '\0') setting = backend_finds_freed_memory() ? "0" : "1";
    if (strcmp(setting, "0") == 0) return CK_OK;
    if (strcmp(setting, "1") != 0)
        return ck_fail(error, CK_BAD_VALUE,
                       "the environment variable CUDAKERN_KEEP_FREED must be 0 or 1, not \"%.60s\"", setting);
    device->kept = calloc(1, sizeof *device->kept);
    if (device->kept != NULL && pthread_mutex_init(&device->kept->lock, NULL) == 0) return CK_OK;
    free(device->kept);
    device->kept = NULL;
    return ck_fail(error, CK_NO_HOST_MEMORY, "not enough host memory for the list of a device's free blocks");
}

static ck_block remove_block(struct ck_kept *kept, int i) { // lock held
    const ck_block block = kept->blocks[i];
    memmove(&kept->blocks[i], &kept->blocks[i + 1], sizeof block * (size_t)(--kept->count - i));
    return block;
}

static void *take_kept(ck_device *device, size_t bytes, unsigned clear, cudaStream_t stream) {
    struct ck_kept *kept = device->kept;
    void *data = NULL;
    if (kept == NULL || stream != NULL || bytes > LARGEST_KEPT) return NULL;
    pthread_mutex_lock(&kept->lock);
    for (int i = kept->count; data == NULL && i-- > 0;)
        if (kept->blocks[i].bytes == bytes && kept->blocks[i].clear == clear) data = remove_block(kept, i).data;
    pthread_mutex_unlock(&kept->lock);
    return data;
}

// Keeps a block. Returns the block that must be freed instead: the block itself, the oldest one, or none.
static ck_block keep(ck_device *device, ck_block block, cudaStream_t stream) {
    struct ck_kept *kept = device->kept;
    ck_block out = {0};
    if (kept == NULL || stream != NULL || block.bytes > LARGEST_KEPT) return block;
    pthread_mutex_lock(&kept->lock);
    if (kept->count == KEPT) out = remove_block(kept, 0);
    kept->blocks[kept->count++] = block;
    pthread_mutex_unlock(&kept->lock);
    return out;
}

static cudaError_t free_kept(ck_device *device) {
    struct ck_kept *kept = device->kept;
    ck_error error = {0};
    if (kept == NULL) return cudaSuccess;
    pthread_mutex_lock(&kept->lock);
    while (kept->count > 0) CK_RELEASE(&error, cudaFreeAsync(kept->blocks[--kept->count].data, NULL));
    pthread_mutex_unlock(&kept->lock);
    return (cudaError_t)error.code;
}

// --- the pool ------------------------------------------------------------------------------------------------------
int ck_pool_create(ck_device *device, ck_error *error) {
    int supported = 0;
    CK_CUDA(error, cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device->index));
    if (!supported) return CK_OK;
    struct cudaMemPoolProps properties;
    memset(&properties, 0, sizeof properties);
    properties.allocType = cudaMemAllocationTypePinned; // CUDA's name for ordinary device memory
    properties.handleTypes = cudaMemHandleTypeNone;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device->index;
    CK_CUDA(error, cudaMemPoolCreate(&device->pool, &properties));
    uint64_t all = UINT64_MAX;
    cudaError_t code;
    if (CK_CUDA_CODE(code, cudaMemPoolSetAttribute(device->pool, cudaMemPoolAttrReleaseThreshold, &all)) !=
        cudaSuccess)
        ck_fail_cuda(error, code, "cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all)");
    else
        create_kept(device, error);
    if (error->code != CK_OK) ck_pool_destroy(device);
    return error->code;
}

void ck_pool_destroy(ck_device *device) {
    ck_error ignored = {0};
    if (device->kept != NULL) {
        (void)free_kept(device);
        pthread_mutex_destroy(&device->kept->lock);
        free(device->kept);
        device->kept = NULL;
    }
    if (device->pool != NULL) CK_RELEASE(&ignored, cudaMemPoolDestroy(device->pool));
    device->pool = NULL;
}

static cudaError_t take(ck_device *device, size_t bytes, cudaStream_t stream, void **data) {
    return device->pool ? cudaMallocFromPoolAsync(data, bytes, device->pool, stream) : cudaMalloc(data, bytes);
}

cudaError_t ck_pool_give_back(ck_device *device) {
    device->reclaim(device);
    cudaError_t code = free_kept(device);
    if (code == cudaSuccess)
        code = (cudaError_t)backend_settle(); // leaves errors of kernels to the callers that wait for them
    if (code == cudaSuccess && device->pool != NULL) code = cudaMemPoolTrimTo(device->pool, 0);
    return code;
}

// Called after the device has reported that it is out of memory. Freed blocks of other sizes in the pool, and memory
// that the failed attempt gathered, may be enough: they are returned to the device, and if that made room, the
// allocation is tried once more. Returns cudaSuccess and sets `data`; otherwise `room` is the free memory.
static cudaError_t take_again(ck_device *device, size_t bytes, cudaStream_t stream, void **data, size_t *room) {
    size_t total = 0;
    *room = 0;
    cudaError_t code = cudaMemGetInfo(room, &total);
    if (code == cudaSuccess && *room >= bytes)
        code = cudaErrorMemoryAllocation; // a failure that a test requested
    else if (code == cudaSuccess && (code = ck_pool_give_back(device)) == cudaSuccess) {
        code = cudaMemGetInfo(room, &total);
        if (code == cudaSuccess) code = *room < bytes ? cudaErrorMemoryAllocation : take(device, bytes, stream, data);
        if (code != cudaSuccess) (void)ck_pool_give_back(device);
    }
    (void)cudaGetLastError();
    return code;
}

int ck_pool_allocate(ck_device *device, size_t bytes, cudaStream_t stream, ck_block *block, ck_error *error) {
    const size_t size = bytes > 0 ? bytes : 1;
    void *data = take_kept(device, size, 0, stream);
    cudaError_t code;
    if (data == NULL && CK_CUDA_CODE(code, take(device, size, stream, &data)) != cudaSuccess) {
        ck_fail_cuda(error, code,
                     device->pool ? "cudaMallocFromPoolAsync(&data, bytes, pool, stream)"
                                  : "cudaMalloc(&data, bytes)");
        if (code != cudaErrorMemoryAllocation) return error->code;
        error->bytes = size;
        if (take_again(device, size, stream, &data, &error->bytes_free) != cudaSuccess) return error->code;
        memset(error, 0, sizeof *error);
    }
    *block = (ck_block){data, size, 0};
    atomic_fetch_add(&device->live, size);
    return CK_OK;
}

int ck_pool_allocate_clear(ck_device *device, size_t bytes, cudaStream_t stream, ck_block *block, ck_error *error) {
    const unsigned clear = ck_failures() + 1;
    void *const data = take_kept(device, bytes, clear, stream);
    if (data != NULL) {
        *block = (ck_block){data, bytes, clear};
        atomic_fetch_add(&device->live, bytes);
        return CK_OK;
    }
    CK_TRY(ck_pool_allocate(device, bytes, stream, block, error));
    CK_CUDA(error, cudaMemsetAsync(block->data, 0, block->bytes, stream));
    block->clear = clear;
    return CK_OK;
}

void ck_pool_free(ck_device *device, ck_block *block, cudaStream_t stream, ck_error *error) {
    if (block->data == NULL) return;
    atomic_fetch_sub(&device->live, block->bytes);
    const ck_block out = keep(device, *block, stream);
    if (out.data != NULL && device->pool != NULL)
        CK_RELEASE(error, cudaFreeAsync(out.data, stream));
    else if (out.data != NULL)
        CK_RELEASE(error, cudaFree(out.data));
    *block = (ck_block){0};
}

size_t ck_pool_used(ck_runtime *runtime, int index) {
    ck_device *device = ck_runtime_find(runtime, index);
    return device ? atomic_load(&device->live) : 0;
}
