// Shows: a graph made of nodes: copies, fills, kernels, host functions, a child graph; changes of what can be launched.
#include <cstdio>

__global__ void scale(int *x, int factor) {
    x[threadIdx.x] *= factor;
}
static int sum;
static void CUDART_CB add_up(void *values) {
    for (int i = 0; i < 4; ++i) sum += static_cast<int *>(values)[i];
}

int main() {
    int *x, *host, factor = 10;
    cudaMalloc(&x, 16);
    cudaMallocHost(&host, 16);
    cudaGraph_t graph, child;
    cudaGraphCreate(&graph, 0), cudaGraphCreate(&child, 0);
    cudaGraphNode_t fill, kernel, inside, copy, call, empty, nodes[8];
    cudaMemsetParams fill_with = {};
    fill_with.dst = x, fill_with.value = 5, fill_with.elementSize = 4, fill_with.width = 4, fill_with.height = 1;
    printf("%d", cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &fill_with));
    void *arguments[] = {&x, &factor};
    cudaKernelNodeParams launch = {};
    launch.func = (void *)scale, launch.gridDim = 1, launch.blockDim = 4, launch.kernelParams = arguments;
    printf(" %d", cudaGraphAddKernelNode(&inside, child, nullptr, 0, &launch));
    printf(" %d", cudaGraphAddChildGraphNode(&kernel, graph, &fill, 1, child));
    printf(" %d", cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, host, x, 16, cudaMemcpyDeviceToHost));
    cudaHostNodeParams calls = {add_up, host};
    printf(" %d", cudaGraphAddHostNode(&call, graph, nullptr, 0, &calls));
    printf(" %d", cudaGraphAddDependencies(graph, &copy, &call, nullptr, 1));
    printf(" %d\n", cudaGraphAddEmptyNode(&empty, graph, &call, 1));
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, 0);
    factor = 99; // the arguments were copied
    cudaGraphLaunch(exec, 0), cudaGraphLaunch(exec, 0), cudaDeviceSynchronize();
    printf("sum %d\n", sum);

    fill_with.value = 7;
    printf("set %d\n", cudaGraphExecMemsetNodeSetParams(exec, fill, &fill_with));
    cudaGraphLaunch(exec, 0), cudaDeviceSynchronize();
    printf("sum %d\n", sum);
    size_t count = 8;
    cudaGraphGetNodes(graph, nodes, &count);
    printf("%zu nodes\n", count);
    cudaGraph_t clone;
    cudaGraphNode_t twin;
    printf("clone %d", cudaGraphClone(&clone, graph));
    printf(" find %d\n", cudaGraphNodeFindInClone(&twin, fill, clone));
    fill_with.value = 1;
    cudaGraphMemsetNodeSetParams(twin, &fill_with);
    cudaGraphExecUpdateResultInfo result;
    printf("update %d", cudaGraphExecUpdate(exec, clone, &result));
    printf(" %d\n", result.result);
    cudaGraphLaunch(exec, 0), cudaDeviceSynchronize();
    printf("sum %d\n", sum);
    cudaGraphDestroyNode(empty);
    printf("update: %s", cudaGetErrorName(cudaGraphExecUpdate(exec, graph, &result)));
    printf(" %d\n", result.result);
    return cudaGraphExecDestroy(exec) + cudaGraphDestroy(graph) + cudaGraphDestroy(clone) + cudaGraphDestroy(child);
}
