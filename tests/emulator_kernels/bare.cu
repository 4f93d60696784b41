// What a launch costs the host by itself: the time that the package's own calls are held to.
#include "kernels.h"

#include <time.h>

__global__ void nothing(const float *, const float *, float *, long long) {}

static long long now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

// Nanoseconds of `count` launches by handle, each followed by an event's record, without the wait for them.
ENTRY time_launches(int count, long long *launches, long long *with_events) {
    cudaKernel_t kernel;
    cudaEvent_t event;
    const float *in = nullptr;
    float *out = nullptr;
    long long n = 0;
    void *arguments[] = {&in, &in, &out, &n};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(4);
    config.blockDim = dim3(256);
    int code = cudaGetKernel(&kernel, nothing);
    if (code == cudaSuccess) code = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (code != cudaSuccess) return code;
    for (long long *result : {launches, with_events}) {
        cudaDeviceSynchronize();
        const long long start = now();
        for (int i = 0; i < count && code == cudaSuccess; ++i) {
            code = cudaLaunchKernelExC(&config, (const void *)kernel, arguments);
            if (result == with_events && code == cudaSuccess) code = cudaEventRecord(event, nullptr);
        }
        *result = now() - start;
    }
    cudaDeviceSynchronize();
    cudaEventDestroy(event);
    return code;
}
