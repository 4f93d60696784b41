// Shows: a symbol's address and size, used for copies, memset and as a kernel's argument.
#include <cstdio>
#define CK(x) if (cudaError_t e = (x)) { printf("line %d: %s\n", __LINE__, cudaGetErrorString(e)); return 1; }

__device__ int grid[6][5];
__constant__ double factors[3];

__global__ void fill(int *p, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) p[i] = i * int(factors[2]); }
__global__ void change(const int row) { grid[row][threadIdx.x] += 1000; }

int main() {
    void *address;
    size_t size, constant_size;
    CK(cudaGetSymbolAddress(&address, grid));
    CK(cudaGetSymbolSize(&size, grid));
    CK(cudaGetSymbolSize(&constant_size, factors));
    printf("%zu %zu\n", size, constant_size);
    double *constant, three = 3;
    CK(cudaGetSymbolAddress((void **)&constant, factors));
    CK(cudaMemcpy(constant + 2, &three, sizeof three, cudaMemcpyHostToDevice));
    CK(cudaMemset(address, 0xff, size));
    int *flat = static_cast<int *>(address);
    fill<<<1, 32>>>(flat, 25);
    change<<<1, 5>>>(2);
    int h[6][5];
    CK(cudaMemcpyFromSymbol(h, grid, sizeof h));
    for (auto &row : h) printf("%d %d %d %d %d\n", row[0], row[1], row[2], row[3], row[4]);
    cudaPointerAttributes attributes;
    CK(cudaPointerGetAttributes(&attributes, address));
    printf("%s\n", attributes.type == cudaMemoryTypeDevice ? "device" : "other");
    return 0;
}
