// Shows: a warp's threads that exchange values through shared memory, ordered by __syncwarp.
#include <cstdio>

template <int WARPS>
__global__ void rotate_in_warp(int *data, int rounds)
{
    __shared__ volatile int tile[WARPS][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, v = data[threadIdx.x];
    for (int r = 0; r < rounds; r++) {
        tile[warp][lane] = v;
        __syncwarp();
        v = tile[warp][(lane + 1) & 31];
        __syncwarp();
    }
    if (lane < 8) {
        tile[warp][lane] = v;
        __syncwarp(0xff);
        if (lane == 0)
            for (int i = 1; i < 8; i++) v += tile[warp][i];
    }
    data[threadIdx.x] = v;
}

int main()
{
    int *data;
    cudaMallocManaged(&data, 96 * sizeof(int));
    for (int i = 0; i < 96; i++) data[i] = i;
    rotate_in_warp<3><<<1, 96>>>(data, 5);
    cudaDeviceSynchronize();
    for (int w = 0; w < 3; w++) printf("%d %d %d\n", data[32 * w], data[32 * w + 1], data[32 * w + 31]);
    cudaFree(data);
}
