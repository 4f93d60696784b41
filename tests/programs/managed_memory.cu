// Shows: managed memory, with a linked structure, advice and prefetches.
#include <cstdio>
#include <cstring>
#include <new>

class Managed {
public:
    void *operator new(size_t bytes) { void *p; cudaMallocManaged(&p, bytes); cudaDeviceSynchronize(); return p; }
    void operator delete(void *p) { cudaDeviceSynchronize(); cudaFree(p); }
};
struct Node : Managed { int value; Node *next; };

__global__ void add_to_all(Node *head, int v) { for (Node *n = head; n; n = n->next) n->value += v; }
__global__ void add(int n, float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + y[i];
}

int main() {
    int N = 1 << 16;
    float *x, *y;
    cudaMallocManaged(&x, N * sizeof(float));
    cudaMallocManaged(&y, N * sizeof(float), cudaMemAttachGlobal);
    for (int i = 0; i < N; i++) { x[i] = 1.0f; y[i] = 2.0f; }
#if CUDART_VERSION >= 13000
    cudaMemLocation device = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0};
    cudaMemAdvise(x, N * sizeof(float), cudaMemAdviseSetReadMostly, device);
    cudaMemPrefetchAsync(x, N * sizeof(float), device, 0);
#endif
    add<<<(N + 255) / 256, 256>>>(N, x, y);
#if CUDART_VERSION >= 13000
    cudaMemPrefetchAsync(y, N * sizeof(float), host, 0, 0);
#endif
    cudaDeviceSynchronize();
    float maxError = 0.0f;
    for (int i = 0; i < N; i++) maxError = y[i] - 3.0f > maxError ? y[i] - 3.0f : maxError;
    printf("Max error: %g\n", maxError);
    cudaFree(x);
    cudaFree(y);

    Node *head = nullptr;
    for (int i = 0; i < 5; i++) { Node *n = new Node; n->value = i; n->next = head; head = n; }
    add_to_all<<<1, 1>>>(head, 10);
    cudaDeviceSynchronize();
    while (head) { printf("%d ", head->value); Node *n = head; head = head->next; delete n; }
    printf("\n");
    return 0;
}
