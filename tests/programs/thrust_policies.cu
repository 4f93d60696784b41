// Shows: Thrust with policies: on a stream, with device lambdas, in a kernel, and with memory by device_malloc.
#include <algorithm>
#include <cstdio>
#include <new>
#include <thrust/binary_search.h>
#include <thrust/device_free.h>
#include <thrust/device_malloc.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/host_vector.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/tabulate.h>
#include <thrust/universal_vector.h>

struct Particle { float x, y; int id; };
struct ByX { __host__ __device__ bool operator()(const Particle &a, const Particle &b) const { return a.x < b.x; } };
struct Scrambled { __host__ __device__ int operator()(int i) const { return i * 37 % 100; } };
struct Twice { __host__ __device__ void operator()(int &x) const { x *= 2; } };

__global__ void sort_parts(int *v, int n) {
    if (threadIdx.x == 0) thrust::sort(thrust::seq, v + blockIdx.x * n, v + (blockIdx.x + 1) * n);
}

int main() {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    thrust::device_vector<int> v(1000);
    thrust::sequence(thrust::cuda::par.on(stream), v.begin(), v.end(), 1000, -1);
    thrust::sort(thrust::cuda::par.on(stream), v.begin(), v.end());
    thrust::for_each(thrust::device, v.begin(), v.end(), Twice());
    auto ends = thrust::minmax_element(v.begin(), v.end());
    printf("%d %d, %d\n", int(*ends.first), int(*ends.second), int(thrust::lower_bound(v.begin(), v.end(), 500) - v.begin()));

    thrust::device_vector<Particle> p(3);
    for (int i = 0; i < 3; i++) p[i] = Particle{float((i + 2) % 3), 1, i};
    thrust::sort(p.begin(), p.end(), ByX());
    for (int i = 0; i < 3; i++) printf("%d ", static_cast<Particle>(p[i]).id);
    printf("\n");

    thrust::device_vector<int> parts(100);
    thrust::tabulate(parts.begin(), parts.end(), Scrambled());
    sort_parts<<<4, 32>>>(thrust::raw_pointer_cast(parts.data()), 25);
    thrust::host_vector<int> h = parts;
    for (int b = 0; b < 4; b++) printf("%d", std::is_sorted(h.begin() + 25 * b, h.begin() + 25 * b + 25));
    printf(" %d\n", std::is_sorted(h.begin(), h.end()));

    thrust::universal_vector<int> u(4, 1);
    u[2] = 5;
    sort_parts<<<1, 1>>>(thrust::raw_pointer_cast(u.data()), 4);
    cudaDeviceSynchronize();
    printf("%d %d\n", int(u[2]), int(u[3]));

    thrust::device_ptr<int> d = thrust::device_malloc<int>(10);
    thrust::fill(d, d + 10, 7);
    int last = 0;
    cudaMemcpy(&last, thrust::raw_pointer_cast(d) + 9, sizeof last, cudaMemcpyDeviceToHost);
    thrust::device_free(d);
    cudaPointerAttributes attributes;
    cudaPointerGetAttributes(&attributes, thrust::raw_pointer_cast(v.data()));
    printf("%d %s\n", last, attributes.type == cudaMemoryTypeDevice ? "device" : "host");
    cudaStreamDestroy(stream);
}
