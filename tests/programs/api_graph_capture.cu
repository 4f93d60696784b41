// Shows: two streams captured into a graph, launched again and again; what a capture refuses.
#include <cstdio>

__global__ void add(int *x, int value) {
    x[threadIdx.x] += value;
}
__global__ void join(const int *a, const int *b, int *sum) {
    sum[threadIdx.x] += a[threadIdx.x] * 100 + b[threadIdx.x];
}

int main() {
    int *a, *b, *sum, *host;
    cudaMalloc(&a, 16), cudaMalloc(&b, 16), cudaMalloc(&sum, 16);
    cudaMallocHost(&host, 16);
    cudaMemset(sum, 0, 16);
    cudaStream_t first, second;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEvent_t fork, done;
    cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);

    cudaGraph_t graph;
    cudaStreamCaptureStatus status;
    cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
    cudaMemsetAsync(a, 0, 16, first);
    cudaEventRecord(fork, first);
    cudaStreamWaitEvent(second, fork, 0);
    cudaMemsetAsync(b, 0, 16, second);
    add<<<1, 4, 0, second>>>(b, 7);
    cudaEventRecord(done, second);
    add<<<1, 4, 0, first>>>(a, 3);
    cudaStreamIsCapturing(second, &status);
    printf("second stream: %d\n", status);
    cudaStreamWaitEvent(first, done, 0);
    join<<<1, 4, 0, first>>>(a, b, sum);
    cudaMemcpyAsync(host, sum, 16, cudaMemcpyDeviceToHost, first);
    printf("end %d\n", cudaStreamEndCapture(first, &graph));
    size_t nodes = 0, edges = 0, roots = 0;
    cudaGraphGetNodes(graph, nullptr, &nodes);
    cudaGraphGetRootNodes(graph, nullptr, &roots);
    cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges);
    printf("%zu nodes, %zu roots, %zu edges\n", nodes, roots, edges);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    for (int i = 0; i < 3; ++i) cudaGraphLaunch(exec, first);
    cudaStreamSynchronize(first);
    printf("%d %d\n", host[0], host[3]);

    cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
    printf("synchronize: %s\n", cudaGetErrorName(cudaStreamSynchronize(first)));
    printf("launch: %s\n", cudaGetErrorName(cudaMemsetAsync(a, 0, 16, first)));
    printf("end: %s\n", cudaGetErrorName(cudaStreamEndCapture(first, &graph)));
    printf("not begun: %s\n", cudaGetErrorName(cudaStreamEndCapture(first, &graph)));
    printf("graph %d\n", graph != nullptr);
    return 0;
}
