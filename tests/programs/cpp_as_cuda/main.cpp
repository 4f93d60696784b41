// Shows: a kernel and a launch in a file named .cpp, compiled with -x cu.
#include <iostream>

__global__ void triangle(int *out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = i * (i + 1) / 2;
}

int main() {
    int *out;
    cudaMallocManaged(&out, 50 * sizeof(int));
    triangle<<<1, 64>>>(out, 50);
    cudaDeviceSynchronize();
    std::cout << out[10] << " " << out[49] << std::endl;
    cudaFree(out);
}
