// Shows: __device__ variables: scalars, arrays of structs, pointers, static and initialised ones.
#include <cstdio>

struct Cell { int count; float weight[2]; };
__device__ int counter;
__device__ float values[4] = {1.5f, 2.5f};
static __device__ Cell cells[3] = {{1, {2, 3}}, {4}};
__device__ int *indirect;
volatile __device__ int seen = 5;
namespace state { __device__ unsigned long long total = 1ull << 40; }
template <typename T> __device__ T zero = T(11);

__global__ void update() {
    atomicAdd(&counter, 1);
    if (blockIdx.x || threadIdx.x) return;
    for (float &v : values) v += 1;
    cells[2] = {cells[0].count + cells[1].count, {cells[0].weight[1], 9}};
    *indirect = seen + zero<int>;
    state::total += 1;
    seen = 6;
}

int main() {
    int h, *place;
    float f[4];
    Cell c[3];
    unsigned long long total;
    cudaMalloc(&place, sizeof(int));
    cudaMemcpyToSymbol(indirect, &place, sizeof(place));
    h = 100;
    cudaMemcpyToSymbol(counter, &h, sizeof h);
    update<<<4, 50>>>();
    cudaMemcpyFromSymbol(&h, counter, sizeof h);
    cudaMemcpyFromSymbol(f, values, sizeof f);
    cudaMemcpyFromSymbol(c, cells, sizeof c);
    cudaMemcpyFromSymbol(&total, state::total, sizeof total);
    printf("%d; %g %g %g %g\n", h, f[0], f[1], f[2], f[3]);
    printf("%d %g %g; %llu\n", c[2].count, c[2].weight[0], c[2].weight[1], total);
    cudaMemcpy(&h, place, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d\n", h);
    cudaFree(place);
}
