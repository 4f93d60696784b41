// Shows: managed memory and __managed__ variables, which host and kernels use in turn; advice and prefetches.
#include <cstdio>

__device__ __managed__ int total = 5;

struct Node {
    int value;
    Node *next;
};

__global__ void visit(Node *list) {
    for (; list; list = list->next) {
        list->value *= 10;
        total += list->value;
    }
}

int main() {
    int device = -1, managed = 0, concurrent = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&managed, cudaDevAttrManagedMemory, device);
    cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device);
    printf("managed %d, concurrent %d\n", managed, concurrent);

    Node *nodes;
    cudaMallocManaged(&nodes, 4 * sizeof(Node));
    for (int i = 0; i < 4; ++i) nodes[i] = {i + 1, i < 3 ? &nodes[i + 1] : nullptr};
    cudaMemLocation here = {cudaMemLocationTypeDevice, device}, host = {cudaMemLocationTypeHost, 0};
    printf("advise %d", cudaMemAdvise(nodes, 4 * sizeof(Node), cudaMemAdviseSetReadMostly, here));
    printf(" prefetch %d\n", cudaMemPrefetchAsync(nodes, 4 * sizeof(Node), here, 0));
    int mostly = -1, last = -1;
    cudaMemRangeGetAttribute(&mostly, sizeof mostly, cudaMemRangeAttributeReadMostly, nodes, 4 * sizeof(Node));
    cudaMemRangeGetAttribute(&last, sizeof last, cudaMemRangeAttributeLastPrefetchLocation, nodes, 4 * sizeof(Node));
    printf("read mostly %d, last prefetch %d\n", mostly, last);
    visit<<<1, 1>>>(nodes);
    cudaMemPrefetchAsync(nodes, 4 * sizeof(Node), host, 0);
    cudaDeviceSynchronize();
    printf("%d %d %d %d, total %d\n", nodes[0].value, nodes[1].value, nodes[2].value, nodes[3].value, total);

    cudaPointerAttributes attributes;
    cudaPointerGetAttributes(&attributes, nodes);
    printf("type %d, host pointer %d\n", attributes.type, attributes.hostPointer == nodes);
    int *device_only;
    cudaMalloc(&device_only, 4);
    printf("prefetch of cudaMalloc: %s\n", cudaGetErrorName(cudaMemPrefetchAsync(device_only, 4, here, 0)));
    printf("flags: %s\n", cudaGetErrorName(cudaMallocManaged(&device_only, 4, 7)));
    cudaGetLastError();
    printf("attach %d\n", cudaStreamAttachMemAsync(0, nodes, 0, cudaMemAttachGlobal));
    printf("free %d %d\n", cudaFree(nodes), cudaFree(nullptr));
    return 0;
}
