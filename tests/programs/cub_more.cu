// Shows: more of CUB: an operator of one's own, selection, double buffers, pairs, a block's histogram, a warp's scan.
#include <cstdio>
#include <cub/cub.cuh>

struct Smaller { template <typename T> __host__ __device__ T operator()(const T &a, const T &b) const { return b < a ? b : a; } };
struct Even { __host__ __device__ bool operator()(int x) const { return x % 2 == 0; } };

template <int THREADS> __global__ void histogram(const unsigned char *in, unsigned *out) {
    using Histogram = cub::BlockHistogram<unsigned char, THREADS, 4, 256>;
    __shared__ typename Histogram::TempStorage storage;
    __shared__ unsigned bins[256];
    unsigned char items[4];
    for (int i = 0; i < 4; i++) items[i] = in[threadIdx.x * 4 + i];
    Histogram(storage).Histogram(items, bins);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += THREADS) out[i] = bins[i];
}

__global__ void warp_scan(int *out) {
    using Scan = cub::WarpScan<int>;
    __shared__ typename Scan::TempStorage storage;
    int value = threadIdx.x, before;
    Scan(storage).ExclusiveSum(value, before);
    out[threadIdx.x] = before;
}

template <typename Call> void call_twice(Call call) {
    void *storage = nullptr;
    size_t bytes = 0;
    call(storage, bytes);
    cudaMalloc(&storage, bytes);
    cudaError_t e = call(storage, bytes);
    if (e == cudaSuccess) e = cudaDeviceSynchronize();
    if (e != cudaSuccess) printf("%s\n", cudaGetErrorString(e));
    cudaFree(storage);
}

int main() {
    const int n = 5000;
    int *in, *out, *keys, *count, evens = 0, wrong = 0;
    cudaMallocManaged(&in, n * sizeof(int)), cudaMallocManaged(&out, n * sizeof(int));
    cudaMallocManaged(&keys, n * sizeof(int)), cudaMallocManaged(&count, sizeof(int));
    for (int i = 0; i < n; i++) evens += (keys[i] = in[i] = i * 7919 % 4999 + 3) % 2 == 0;
    call_twice([&](void *s, size_t &b) { return cub::DeviceReduce::Reduce(s, b, in, out, n, Smaller(), 1 << 30); });
    printf("%d\n", out[0]);
    call_twice([&](void *s, size_t &b) { return cub::DeviceSelect::If(s, b, in, out, count, n, Even()); });
    printf("%d, %d\n", *count == evens, out[0]);
    cub::DoubleBuffer<int> buffers(in, out);
    call_twice([&](void *s, size_t &b) { return cub::DeviceRadixSort::SortKeysDescending(s, b, buffers, n); });
    for (int i = 1; i < n; i++) wrong += buffers.Current()[i - 1] < buffers.Current()[i];
    printf("%d %d, %d wrong\n", buffers.Current()[0], buffers.Current()[n - 1], wrong);
    warp_scan<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    printf("%d %d\n", out[0], out[31]);
    unsigned char *bytes = (unsigned char *)keys;
    for (int i = 0; i < 512; i++) bytes[i] = i * 3;
    histogram<128><<<1, 128>>>(bytes, (unsigned *)out);
    cudaDeviceSynchronize();
    printf("%d %d %s\n", out[0], out[5], cudaGetErrorName(cudaGetLastError()));
    cudaFree(in), cudaFree(out), cudaFree(keys), cudaFree(count);
}
