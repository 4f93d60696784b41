// Shows: CUB's device-wide sum, scan, sort and histogram, each called twice: for its size, and to work.
#include <cstdio>
#include <algorithm>
#include <numeric>
#include <vector>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_histogram.cuh>

template <typename F> bool with_storage(F call) {
    void *storage = nullptr;
    size_t bytes = 0;
    if (call(storage, bytes) != cudaSuccess) return false;
    cudaMalloc(&storage, bytes);
    bool ok = call(storage, bytes) == cudaSuccess;
    cudaFree(storage);
    return ok;
}

int main() {
    const int n = 20000;
    unsigned *in, *out;
    int *bins;
    cudaMallocManaged(&in, n * sizeof *in);
    cudaMallocManaged(&out, (n + 1) * sizeof *out);
    cudaMallocManaged(&bins, 4 * sizeof *bins);
    for (int i = 0; i < n; i++) in[i] = (unsigned)(i * 48271ll % 65537);
    bool ok = with_storage([&](void *s, size_t &b) { return cub::DeviceReduce::Sum(s, b, in, out + n, n); });
    cudaDeviceSynchronize();
    printf("%d %u %u\n", ok, out[n], std::accumulate(in, in + n, 0u));
    ok = with_storage([&](void *s, size_t &b) { return cub::DeviceScan::InclusiveSum(s, b, in, out, n); });
    cudaDeviceSynchronize();
    std::vector<unsigned> expected(n);
    std::partial_sum(in, in + n, expected.begin());
    printf("%d %s\n", ok, std::equal(out, out + n, expected.begin()) ? "equal" : "different");
    ok = with_storage([&](void *s, size_t &b) { return cub::DeviceRadixSort::SortKeys(s, b, in, out, n); });
    cudaDeviceSynchronize();
    printf("%d %s\n", ok, std::is_sorted(out, out + n) ? "sorted" : "not sorted");
    ok = with_storage([&](void *s, size_t &b) { return cub::DeviceHistogram::HistogramEven(s, b, in, bins, 5, 0u, 80000u, n); });
    cudaDeviceSynchronize();
    printf("%d %d %d %d %d\n", ok, bins[0], bins[1], bins[2], bins[3]);
    cudaFree(in), cudaFree(out), cudaFree(bins);
}
