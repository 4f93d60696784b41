// Shows: the driver API: devices, contexts, memory as numbers, copies, fills, streams, events, a launch.
#include <cstdio>
#include <cuda.h>

__global__ void add(unsigned *x, unsigned value) {
    x[threadIdx.x] += value;
}

#define CHECK(call)                                                                                                  \
    do {                                                                                                             \
        CUresult code_ = call;                                                                                       \
        const char *name_ = "";                                                                                      \
        cuGetErrorName(code_, &name_);                                                                               \
        if (code_ != CUDA_SUCCESS) printf("%s: %s\n", #call, name_);                                                 \
    } while (0)

int main() {
    CUdevice device;
    CUcontext context, current = nullptr;
    char name[100] = "";
    int warp = 0, count = 0;
    CHECK(cuInit(0));
    CHECK(cuDeviceGetCount(&count));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetName(name, sizeof name, device));
    CHECK(cuDeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
    printf("devices %d, name %d, warp %d\n", count > 0, name[0] != 0, warp);
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuCtxGetCurrent(&current));
    printf("current %d\n", current == context);

    unsigned host[8] = {}, value = 5;
    CUdeviceptr memory, begin;
    size_t bytes = 0;
    CUstream stream;
    CUevent event;
    CUfunction function;
    CHECK(cuMemAlloc(&memory, sizeof host));
    CHECK(cuMemGetAddressRange(&begin, &bytes, memory + 4));
    printf("begin %d, %zu bytes\n", begin == memory, bytes);
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&event, CU_EVENT_DEFAULT));
    CHECK(cuMemsetD32Async(memory, 0x01020304, 8, stream));
    CHECK(cuMemsetD16Async(memory, 7, 3, stream));
    printf("function %d\n", cudaGetFuncBySymbol(&function, (const void *)add));
    void *arguments[] = {&memory, &value};
    CHECK(cuLaunchKernel(function, 1, 1, 1, 8, 1, 1, 0, stream, arguments, nullptr));
    CHECK(cuEventRecord(event, stream));
    CHECK(cuEventSynchronize(event));
    CHECK(cuMemcpyDtoH(host, memory, sizeof host));
    for (unsigned each : host) printf("%x ", each);
    printf("\n");
    CHECK(cuMemFree(memory));
    CHECK(cuMemFree(memory + 1));
    CHECK(cuDeviceGet(&device, 999));
    return 0;
}
