// Shows: settings and hints that programs give a device, its streams and kernels, and what they read back.
#include <cstdio>
#include <cuda_profiler_api.h>

__global__ void touch(int *x) {
    *x = 1;
}

#define SHOW(call) printf("%s: %s\n", #call, cudaGetErrorName(call))

int main() {
    unsigned flags = 0;
    SHOW(cudaSetDeviceFlags(cudaDeviceScheduleYield));
    SHOW(cudaGetDeviceFlags(&flags));
    printf("schedule %u\n", flags & cudaDeviceScheduleMask);
    SHOW(cudaSetDeviceFlags(cudaDeviceScheduleYield | cudaDeviceScheduleSpin));
    SHOW(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    SHOW(cudaFuncSetCacheConfig(touch, cudaFuncCachePreferShared));
    SHOW(cudaFuncSetAttribute((const void *)touch, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    int least = 9, greatest = 9, priority = 9;
    SHOW(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    printf("priorities %d to %d\n", least, greatest);
    cudaStream_t stream;
    SHOW(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest - 10));
    SHOW(cudaStreamGetPriority(stream, &priority));
    printf("priority %d\n", priority);
    cudaStreamAttrValue value = {};
    value.accessPolicyWindow.num_bytes = 0;
    SHOW(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value));
    SHOW(cudaCtxResetPersistingL2Cache());
    char bus[20];
    int device = -1;
    SHOW(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    SHOW(cudaDeviceGetByPCIBusId(&device, bus));
    printf("device %d\n", device);
    cudaDeviceProp wanted = {};
    SHOW(cudaChooseDevice(&device, &wanted));
    cudaMemPool_t pool, in_use;
    SHOW(cudaDeviceGetDefaultMemPool(&pool, 0));
    SHOW(cudaDeviceGetMemPool(&in_use, 0));
    printf("the default pool is in use: %d\n", pool == in_use);
    cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
    SHOW(cudaMemPoolSetAccess(pool, &access, 1));
    SHOW(cudaProfilerStart());
    SHOW(cudaProfilerStop());
    int *host;
    SHOW(cudaHostAlloc(&host, 4, cudaHostAllocMapped));
    SHOW(cudaHostGetFlags(&flags, host));
    printf("mapped %d\n", (flags & cudaHostAllocMapped) != 0);
    SHOW(cudaGetDevice(&device));
    SHOW(cudaFreeHost(host));
    SHOW(cudaStreamDestroy(stream));
    return 0;
}
