// Shows: functions of the host that a stream calls in order: cudaLaunchHostFunc and cudaStreamAddCallback.
#include <cstdio>

__global__ void set(int *x, int value) {
    *x = value;
}

static int seen[4], calls;

static void CUDART_CB host_function(void *argument) {
    seen[calls++] = *(int *)argument;
}
static void CUDART_CB callback(cudaStream_t, cudaError_t status, void *argument) {
    seen[calls++] = status == cudaSuccess ? 10 * *(int *)argument : -1;
}

int main() {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    int *device, *host;
    cudaMalloc(&device, sizeof *device);
    cudaMallocHost(&host, 2 * sizeof *host);
    set<<<1, 1, 0, stream>>>(device, 4);
    cudaMemcpyAsync(host, device, sizeof *host, cudaMemcpyDeviceToHost, stream);
    cudaLaunchHostFunc(stream, host_function, host);
    set<<<1, 1, 0, stream>>>(device, 7);
    cudaMemcpyAsync(host + 1, device, sizeof *host, cudaMemcpyDeviceToHost, stream);
    cudaStreamAddCallback(stream, callback, host + 1, 0);
    cudaStreamSynchronize(stream);
    printf("%d calls: %d %d\n", calls, seen[0], seen[1]);
    printf("no function: %s\n", cudaGetErrorName(cudaLaunchHostFunc(stream, nullptr, nullptr)));
    printf("flags: %s\n", cudaGetErrorName(cudaStreamAddCallback(stream, callback, host, 1)));
    cudaFreeHost(host), cudaFree(device), cudaStreamDestroy(stream);
    return 0;
}
