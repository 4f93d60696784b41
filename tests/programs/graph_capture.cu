// Shows: a graph that is captured from two streams and launched several times.
#include <cstdio>
#define CHECK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { printf("%d: %s\n", __LINE__, cudaGetErrorString(e_)); return 1; } } while (0)

__global__ void scale(int *x, int n, int a) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= a; }
__global__ void add(int *x, const int *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += y[i]; }

int main() {
    const int n = 1000;
    int *x, *y, *h;
    cudaStream_t stream, side;
    cudaEvent_t fork, join;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&side));
    CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    CHECK(cudaMalloc(&x, n * sizeof(int)));
    CHECK(cudaMalloc(&y, n * sizeof(int)));
    CHECK(cudaMallocHost(&h, n * sizeof(int)));
    for (int i = 0; i < n; i++) h[i] = i;
    CHECK(cudaMemcpy(x, h, n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(y, h, n * sizeof(int), cudaMemcpyHostToDevice));

    cudaGraph_t graph;
    cudaGraphExec_t instance;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(side, fork, 0));
    scale<<<4, 256, 0, stream>>>(x, n, 2);
    scale<<<4, 256, 0, side>>>(y, n, 3);
    CHECK(cudaEventRecord(join, side));
    CHECK(cudaStreamWaitEvent(stream, join, 0));
    add<<<4, 256, 0, stream>>>(x, y, n);
    CHECK(cudaMemcpyAsync(h, x, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(cudaGraphInstantiate(&instance, graph, 0));
    printf("%zu nodes, h[10] is still %d\n", nodes, h[10]);
    for (int i = 0; i < 3; i++) {
        CHECK(cudaGraphLaunch(instance, stream));
        CHECK(cudaStreamSynchronize(stream));
        printf("%d %d\n", h[1], h[n - 1]);
    }
    CHECK(cudaGraphExecDestroy(instance));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaStreamDestroy(side));
    CHECK(cudaEventDestroy(fork));
    CHECK(cudaEventDestroy(join));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    CHECK(cudaFreeHost(h));
}
