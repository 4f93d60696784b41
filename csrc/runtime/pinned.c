// Page-locked host memory, which the device copies from and to at the full speed of the link. The blocks are listed,
// so that leaks are visible, and so that the child of a fork does not free blocks of its parent.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../size_in_words.h"
#include "state.h"

struct ck_pinned {
    void *data;
    size_t bytes;
    struct ck_pinned *next;
};

int ck_pinned_allocate(ck_runtime *runtime, size_t bytes, void **data, ck_error *error) {
    struct ck_pinned *block = calloc(1, sizeof *block);
    if (block == NULL) return ck_fail(error, CK_NO_HOST_MEMORY, "not enough host memory for the record of a block");
    block->bytes = bytes > 0 ? bytes : 1;
    cudaError_t code;
    if (CK_CUDA_CODE(code, cudaHostAlloc(&block->data, block->bytes, cudaHostAllocPortable)) != cudaSuccess) {
        ck_fail_cuda(error, code, "cudaHostAlloc(&data, bytes, cudaHostAllocPortable)");
        const size_t used = strlen(error->message);
        snprintf(error->message + used, sizeof error->message - used,
                 ". %s of page-locked host memory were requested: ordinary arrays also work, with slower copies",
                 ck_size_in_words(block->bytes).text);
        free(block);
        return error->code;
    }
    ck_lock(runtime);
    block->next = runtime->pinned;
    runtime->pinned = block;
    ck_unlock(runtime);
    *data = block->data;
    return CK_OK;
}

void ck_pinned_free(ck_runtime *runtime, void *data) {
    ck_error ignored = {0};
    ck_lock(runtime);
    struct ck_pinned **at = &runtime->pinned;
    while (*at != NULL && (*at)->data != data) at = &(*at)->next;
    struct ck_pinned *block = *at;
    if (block != NULL) *at = block->next;
    ck_unlock(runtime);
    if (block == NULL) return; // allocated by the parent process
    CK_RELEASE(&ignored, cudaFreeHost(data));
    free(block);
}

int ck_pinned_on_device(void *data, void **on_device, ck_error *error) {
    cudaError_t code;
    if (CK_CUDA_CODE(code, cudaHostGetDevicePointer(on_device, data, 0)) == cudaSuccess) return CK_OK;
    if (code != cudaErrorInvalidValue)
        return ck_fail_cuda(error, code, "cudaHostGetDevicePointer(&pointer, data, 0)");
    (void)cudaGetLastError();
    return ck_fail(error, CK_BAD_VALUE, "%p is not page-locked memory: use an array from cudakern.empty_pinned()",
                   data);
}

size_t ck_pinned_used(ck_runtime *runtime) {
    size_t bytes = 0;
    ck_lock(runtime);
    for (const struct ck_pinned *block = runtime->pinned; block != NULL; block = block->next) bytes += block->bytes;
    ck_unlock(runtime);
    return bytes;
}
