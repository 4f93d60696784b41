// Shows: symbols of which only the address is given, as a const void *, before anything names them.
#include <cstdio>
#include <cuda_runtime.h>

struct Pair {
    int a;
    float b;
};

__constant__ Pair pair;
__constant__ int table[4];
static __device__ double numbers[3];
namespace {
__device__ long long hidden;
}

__global__ void show() {
    printf("%d %g, %d %d, %g, %lld\n", pair.a, pair.b, table[0], table[3], numbers[2], hidden);
    numbers[0] = 0.25;
}

int main() {
    const Pair p = {3, 0.5f};
    const int four[4] = {1, 2, 3, 4};
    const double three[3] = {1, 2, 4};
    const long long one = 7;
    const void *symbol = &table;
    int codes[6], n = 0;
    codes[n++] = cudaMemcpyToSymbol(static_cast<const void *>(&pair), &p, sizeof p);
    codes[n++] = cudaMemcpyToSymbol(symbol, four + 1, 12, 4);
    codes[n++] = cudaMemcpyToSymbol(symbol, four, sizeof four, 4);
    codes[n++] = cudaMemcpyToSymbolAsync(static_cast<const void *>(numbers), three, sizeof three, 0,
                                         cudaMemcpyHostToDevice, 0);
    void *address;
    size_t size;
    codes[n++] = cudaGetSymbolAddress(&address, static_cast<const void *>(&hidden));
    codes[n++] = cudaGetSymbolSize(&size, static_cast<const void *>(&hidden));
    cudaMemcpy(address, &one, sizeof one, cudaMemcpyHostToDevice);
    for (int i = 0; i < n; i++) printf("%s\n", cudaGetErrorName(static_cast<cudaError_t>(codes[i])));
    printf("%zu\n", size);
    show<<<1, 1>>>();
    double back[3];
    cudaMemcpyFromSymbol(back, static_cast<const void *>(numbers), sizeof back);
    printf("%g %g %g\n", back[0], back[1], back[2]);
    int again[4]; // by its name, now
    printf("%s\n", cudaGetErrorName(cudaMemcpyFromSymbol(again, table, sizeof again)));
    printf("%d %d %d %d\n", again[0], again[1], again[2], again[3]);
    return 0;
}
