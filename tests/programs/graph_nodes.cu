// Shows: a graph built node by node (copies, memset, kernel, host function), and new arguments for its kernel.
#include <cstdio>
#include <cuda_runtime.h>

#define checkCudaErrors(call)                                              \
    do {                                                                   \
        cudaError_t e = (call);                                            \
        if (e != cudaSuccess) {                                            \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(e));      \
            return 1;                                                      \
        }                                                                  \
    } while (0)

__global__ void add(int *sum, const int *x, int n, int factor) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(sum, x[i] * factor);
}
void CUDART_CB note(void *data) { ++*static_cast<int *>(data); }

int main() {
    const int n = 100;
    int h[n], *x, *sum, result = 0, notes = 0, count = n, factor = 2;
    for (int i = 0; i < n; i++) h[i] = i;
    checkCudaErrors(cudaMalloc(&x, sizeof h));
    checkCudaErrors(cudaMalloc(&sum, sizeof(int)));
    cudaGraph_t graph;
    cudaGraphNode_t up, clear, kernel, down, host;
    checkCudaErrors(cudaGraphCreate(&graph, 0));
    checkCudaErrors(cudaGraphAddMemcpyNode1D(&up, graph, nullptr, 0, x, h, sizeof h, cudaMemcpyHostToDevice));
    cudaMemsetParams zero = {};
    zero.dst = sum, zero.elementSize = 4, zero.width = 1, zero.height = 1;
    checkCudaErrors(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &zero));
    void *args[] = {&sum, &x, &count, &factor};
    cudaKernelNodeParams params = {};
    params.func = (void *)add;
    params.gridDim = dim3(1), params.blockDim = dim3(64);
    params.kernelParams = args;
    cudaGraphNode_t both[] = {up, clear};
    checkCudaErrors(cudaGraphAddKernelNode(&kernel, graph, both, 2, &params));
    checkCudaErrors(cudaGraphAddMemcpyNode1D(&down, graph, &kernel, 1, &result, sum, sizeof result, cudaMemcpyDeviceToHost));
    cudaHostNodeParams function = {note, &notes};
    checkCudaErrors(cudaGraphAddHostNode(&host, graph, &down, 1, &function));
    cudaGraphExec_t exec;
    checkCudaErrors(cudaGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < 3; round++) {
        h[0] = round * 1000;
        if (round == 2) {
            factor = -1;
            checkCudaErrors(cudaGraphExecKernelNodeSetParams(exec, kernel, &params));
        }
        checkCudaErrors(cudaGraphLaunch(exec, 0));
        checkCudaErrors(cudaDeviceSynchronize());
        printf("%d after %d\n", result, notes);
    }
    size_t nodes, roots;
    checkCudaErrors(cudaGraphGetNodes(graph, nullptr, &nodes));
    checkCudaErrors(cudaGraphGetRootNodes(graph, nullptr, &roots));
    printf("%zu nodes, %zu roots\n", nodes, roots);
    cudaGraphExecDestroy(exec), cudaGraphDestroy(graph), cudaFree(x), cudaFree(sum);
}
