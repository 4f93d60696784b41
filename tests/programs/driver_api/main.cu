// Shows: the driver's interface for the device, a context and memory, next to a kernel of the runtime.
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

#define CU(x) do { CUresult r = (x); if (r != CUDA_SUCCESS) { const char *s; cuGetErrorName(r, &s); printf("%s: %s\n", #x, s); return 1; } } while (0)

__global__ void square(int *x, int n) { int i = threadIdx.x; if (i < n) x[i] *= x[i]; }

int main() {
    CU(cuInit(0));
    int count, warp, version;
    CUdevice device;
    CUcontext context;
    CU(cuDeviceGetCount(&count));
    CU(cuDeviceGet(&device, 0));
    CU(cuDeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
    CU(cuDriverGetVersion(&version));
    printf("%s, warp %d, %s\n", count > 0 ? "a device" : "none", warp, version >= 12000 ? "12 or later" : "old");
    CU(cuDevicePrimaryCtxRetain(&context, device));
    CU(cuCtxSetCurrent(context));
    int h[32];
    for (int i = 0; i < 32; i++) h[i] = i;
    CUdeviceptr memory;
    CU(cuMemAlloc(&memory, sizeof h));
    CU(cuMemcpyHtoD(memory, h, sizeof h));
    square<<<1, 32>>>(reinterpret_cast<int *>(memory), 32);
    CU(cuMemsetD32(memory + 4 * sizeof(int), 77, 2));
    CU(cuCtxSynchronize());
    CU(cuMemcpyDtoH(h, memory, sizeof h));
    printf("%d %d %d %d\n", h[3], h[4], h[5], h[31]);
    CU(cuMemFree(memory));
    CU(cuDevicePrimaryCtxRelease(device));
    return 0;
}
