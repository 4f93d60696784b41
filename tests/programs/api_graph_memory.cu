// Shows: memory that a graph allocates and frees, as nodes and as calls of a captured stream.
#include <cstdio>

__global__ void fill(int *x, int value) {
    x[threadIdx.x] = value + threadIdx.x;
}
__global__ void add(const int *x, int *sum) {
    atomicAdd(sum, x[threadIdx.x]);
}

int main() {
    int *sum, value = 10;
    cudaMallocManaged(&sum, sizeof *sum);
    *sum = 0;
    cudaGraph_t graph;
    cudaGraphNode_t alloc, first, second, release;
    cudaGraphCreate(&graph, 0);
    cudaMemAllocNodeParams memory = {};
    memory.bytesize = 64 * sizeof(int);
    memory.poolProps.allocType = cudaMemAllocationTypePinned;
    memory.poolProps.location.type = cudaMemLocationTypeDevice;
    printf("alloc %d", cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &memory));
    printf(", pointer %d\n", memory.dptr != nullptr);
    void *fill_with[] = {&memory.dptr, &value}, *add_to[] = {&memory.dptr, &sum};
    cudaKernelNodeParams launch = {};
    launch.func = (void *)fill, launch.gridDim = 1, launch.blockDim = 64, launch.kernelParams = fill_with;
    cudaGraphAddKernelNode(&first, graph, &alloc, 1, &launch);
    launch.func = (void *)add, launch.kernelParams = add_to;
    cudaGraphAddKernelNode(&second, graph, &first, 1, &launch);
    printf("free %d\n", cudaGraphAddMemFreeNode(&release, graph, &second, 1, memory.dptr));
    cudaGraphExec_t exec;
    printf("instantiate %d\n", cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; ++i) cudaGraphLaunch(exec, 0);
    cudaDeviceSynchronize();
    printf("sum %d\n", *sum);
    cudaGraphExecDestroy(exec), cudaGraphDestroy(graph);

    cudaStream_t stream;
    int *x;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    cudaMallocAsync((void **)&x, 32 * sizeof(int), stream);
    fill<<<1, 32, 0, stream>>>(x, 1);
    add<<<1, 32, 0, stream>>>(x, sum);
    cudaFreeAsync(x, stream);
    cudaStreamEndCapture(stream, &graph);
    size_t nodes = 0;
    cudaGraphGetNodes(graph, nullptr, &nodes);
    printf("%zu nodes, instantiate %d\n", nodes, cudaGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 3; ++i) cudaGraphLaunch(exec, stream);
    printf("%s\n", cudaGetErrorName(cudaStreamSynchronize(stream)));
    printf("sum %d\n", *sum);
    return cudaGraphExecDestroy(exec) + cudaGraphDestroy(graph) + cudaFree(sum);
}
