// Shows: Thrust's sorts and reductions by key, unique, remove_if, zipped iterators and raw pointers with a policy.
#include <cstdio>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/sort.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>

struct Negative { __host__ __device__ bool operator()(int v) const { return v < 0; } };
struct First { template <class T, class U> __host__ __device__ bool operator()(const T &a, const U &b) const {
    return thrust::get<0>(a) < thrust::get<0>(b) || (thrust::get<0>(a) == thrust::get<0>(b) && thrust::get<1>(a) < thrust::get<1>(b)); } };

int main() {
    const int n = 12;
    int keys[n] = {3, 1, 2, 3, 1, 2, 3, 3, 1, 2, 1, 5}, values[n] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    thrust::device_vector<int> k(keys, keys + n), v(values, values + n), unique_keys(n), sums(n);
    thrust::stable_sort_by_key(k.begin(), k.end(), v.begin());
    auto ends = thrust::reduce_by_key(k.begin(), k.end(), v.begin(), unique_keys.begin(), sums.begin());
    int groups = int(ends.first - unique_keys.begin());
    for (int i = 0; i < groups; i++) printf("%d:%d ", int(unique_keys[i]), int(sums[i]));
    printf("\n");
    auto zipped = thrust::make_zip_iterator(thrust::make_tuple(v.begin(), k.begin()));
    thrust::sort(zipped, zipped + n, First());
    for (int i = 0; i < n; i++) printf("%d ", int(k[i]));
    printf("\n");

    int *raw;
    cudaMalloc(&raw, n * sizeof(int));
    int data[n] = {4, -1, 4, 4, 9, -2, 9, 7, 7, -3, 7, 4};
    cudaMemcpy(raw, data, sizeof data, cudaMemcpyHostToDevice);
    int *end = thrust::remove_if(thrust::device, raw, raw + n, Negative());
    end = thrust::unique(thrust::device, raw, end);
    thrust::sort(thrust::device, raw, end, thrust::greater<int>());
    thrust::device_ptr<int> p(raw);
    for (int i = 0; i < end - raw; i++) printf("%d ", int(p[i]));
    printf("| %d\n", int(*thrust::min_element(p, p + (end - raw))));
    cudaFree(raw);
}
