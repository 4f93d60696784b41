// Shows: sums, scans and votes of whole and partial warps, by shuffles that all lanes of a block reach.
#include <cstdio>
#define ALL 0xffffffff

__global__ void sums(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int v = i < n ? x[i] : 0, w = v;
    for (int by = 16; by > 0; by /= 2) v += __shfl_down_sync(ALL, v, by);
    v = __shfl_sync(ALL, v, 0);
    for (int by = 1; by < 32; by *= 2) {
        int before = __shfl_up_sync(ALL, w, by);
        if (lane >= by) w += before;
    }
    y[i] = v * 10000 + w;
}

__global__ void mixed(double *y, int n) {
    int t = threadIdx.x;
    double d = t * 0.5;
    d += __shfl_xor_sync(ALL, d, 3) * 100;
    d += __shfl_sync(ALL, t, (t + 5) % 8, 8);
    __syncwarp();
    unsigned odd = __ballot_sync(ALL, t & 1);
    bool any = __any_sync(ALL, t == n), all = __all_sync(ALL, t < n), most = __all_sync(ALL, t < n + 1);
    y[t] = d + (odd == 0xaaaaaaaa) * 1e6 + any * 2e6 + all * 4e6 + most * 8e6;
}

__global__ void some(int *y) { // the last warp has 8 lanes
    int t = threadIdx.x, v = t + 1;
    v += __shfl_xor_sync(ALL, v, 4);
    v += __shfl_down_sync(ALL, v, 2, 4);
    y[t] = v + 1000 * __all_sync(ALL, t < 40) + 10000 * __popc(__ballot_sync(ALL, 1));
}

int main() {
    int *x; double *y;
    cudaMallocManaged(&x, 8000), cudaMallocManaged(&y, 1000);
    for (int i = 0; i < 500; ++i) x[i] = i % 11;
    sums<<<4, 128>>>(x, x + 500, 490);
    mixed<<<1, 64>>>(y, 40);
    some<<<1, 40>>>(x + 1100);
    cudaDeviceSynchronize();
    for (int i = 0; i < 64; i += 7) printf("%d %d %.1f\n", x[500 + i], x[800 + i], y[i]);
    for (int i = 0; i < 40; i += 3) printf("%d ", x[1100 + i]);
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
