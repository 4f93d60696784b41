// Shows: streams that wait for each other's events, queries, and a stream that does not block the default one.
#include <cstdio>
#define CHECK(x) do { cudaError_t e = x; if (e != cudaSuccess) { printf("%s: %s\n", #x, cudaGetErrorName(e)); return 1; } } while (false)

__global__ void multiply_add(int *x, int a, int b) { *x = *x * a + b; }

int main() {
    int *x, h = -1;
    cudaStream_t first, second;
    cudaEvent_t done, end;
    CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    CHECK(cudaStreamCreate(&second));
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaMalloc(&x, sizeof *x));
    CHECK(cudaMemsetAsync(x, 0, sizeof *x, first));
    for (int i = 1; i <= 4; i++) {
        multiply_add<<<1, 1, 0, first>>>(x, 10, i);
        CHECK(cudaEventRecord(done, first));
        CHECK(cudaStreamWaitEvent(second, done, 0));
        multiply_add<<<1, 1, 0, second>>>(x, 10, 9 - i);
        CHECK(cudaEventRecord(done, second));
        CHECK(cudaStreamWaitEvent(first, done));
    }
    CHECK(cudaMemcpyAsync(&h, x, sizeof h, cudaMemcpyDeviceToHost, first));
    CHECK(cudaEventRecord(end, first));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventQuery(end));
    CHECK(cudaStreamQuery(first));
    printf("%d\n", h);
    unsigned flags;
    CHECK(cudaStreamGetFlags(first, &flags));
    printf("%s\n", flags == cudaStreamNonBlocking ? "does not block" : "blocks");
    CHECK(cudaEventDestroy(done));
    CHECK(cudaEventDestroy(end));
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    CHECK(cudaFree(x));
    return 0;
}
