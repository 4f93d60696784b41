// Shows: host functions and callbacks that run in a stream's order.
#include <cstdio>
#include <vector>

struct Record { std::vector<int> seen; int *host; };

__global__ void step(int *x) { *x = *x * 3 + 1; }

void CUDART_CB note(void *data) {
    Record *r = static_cast<Record *>(data);
    r->seen.push_back(*r->host);
}
void CUDART_CB old_style(cudaStream_t, cudaError_t status, void *data) {
    static_cast<Record *>(data)->seen.push_back(status == cudaSuccess ? -1 : -2);
}

int main() {
    Record record;
    int *x;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMalloc(&x, sizeof(int));
    cudaMallocHost(&record.host, sizeof(int));
    cudaMemsetAsync(x, 0, sizeof(int), stream);
    for (int i = 0; i < 4; i++) {
        step<<<1, 1, 0, stream>>>(x);
        cudaMemcpyAsync(record.host, x, sizeof(int), cudaMemcpyDeviceToHost, stream);
        cudaLaunchHostFunc(stream, note, &record);
        if (i % 2) cudaStreamAddCallback(stream, old_style, &record, 0);
    }
    cudaStreamSynchronize(stream);
    for (int v : record.seen) printf("%d ", v);
    printf("\n");
    cudaFree(x);
    cudaFreeHost(record.host);
    cudaStreamDestroy(stream);
}
