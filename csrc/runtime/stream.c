// A free list of streams: as many as calls ran at once. Each call has one to itself, so that Python threads do not
// wait for one another. The lock covers the list only, never a call of CUDA.
#include <stdlib.h>

#include "runtime.h"

static int create(ck_stream *stream, ck_error *error) {
    CK_CUDA(error, cudaStreamCreateWithFlags(&stream->stream, cudaStreamNonBlocking));
    for (int i = 0; i < CK_EVENTS; i++) CK_CUDA(error, cudaEventCreate(&stream->events[i]));
    return CK_OK;
}

int ck_stream_acquire(ck_runtime *runtime, ck_device *device, ck_stream **acquired, ck_error *error) {
    pthread_mutex_lock(&runtime->lock);
    ck_stream *stream = device->idle;
    if (stream != NULL) device->idle = stream->next;
    pthread_mutex_unlock(&runtime->lock);
    if (stream == NULL) {
        stream = calloc(1, sizeof *stream);
        if (stream == NULL) return ck_fail(error, CK_NO_HOST_MEMORY, "calloc", "no memory for a stream's record");
        int status = create(stream, error);
        if (status != CK_OK) {
            ck_stream_destroy(stream);
            return status;
        }
    }
    *acquired = stream;
    return CK_OK;
}

void ck_stream_release(ck_runtime *runtime, ck_device *device, ck_stream *stream, int healthy) {
    if (!healthy) {
        ck_stream_destroy(stream);
        return;
    }
    pthread_mutex_lock(&runtime->lock);
    stream->next = device->idle;
    device->idle = stream;
    pthread_mutex_unlock(&runtime->lock);
}

void ck_stream_destroy(ck_stream *stream) {
    ck_error ignored = {0}; // after a fault of the device these fail too; there is nothing left to do about it
    for (int i = 0; i < CK_EVENTS; i++)
        if (stream->events[i] != NULL) CK_RELEASE(&ignored, cudaEventDestroy(stream->events[i]));
    if (stream->stream != NULL) CK_RELEASE(&ignored, cudaStreamDestroy(stream->stream));
    free(stream);
}
