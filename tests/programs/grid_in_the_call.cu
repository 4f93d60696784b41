// Shows: dim3 values that are made inside the launch's brackets.
#include <cstdio>
#include <vector>

__global__ void coordinates(int *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    out[y * width + x] = 1000 * y + x;
}

int main()
{
    const int width = 70, height = 45;
    int *d;
    cudaMalloc(&d, width * height * sizeof *d);
    coordinates<<<dim3((width + 15) / 16, (height + 7) / 8), dim3(16, 8)>>>(d, width, height);

    std::vector<int> h(width * height);
    cudaMemcpy(h.data(), d, h.size() * sizeof(int), cudaMemcpyDefault);
    int wrong = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) wrong += h[y * width + x] != 1000 * y + x;
    printf("first %d, last %d, wrong %d\n", h.front(), h.back(), wrong);

    coordinates<<<dim3{5u, 6u, 1u}, {16, 8, 1}>>>(d, width, height);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaFree(d);
}
