// Shows: Thrust's transforms with functors, iterators, scans, and a kernel on a vector's raw pointer.
#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/inner_product.h>
#include <thrust/scan.h>
#include <thrust/count.h>
#include <thrust/fill.h>
#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>

struct saxpy_functor {
    const float a;
    saxpy_functor(float _a) : a(_a) {}
    __host__ __device__ float operator()(const float &x, const float &y) const { return a * x + y; }
};
struct square { __host__ __device__ float operator()(float x) const { return x * x; } };
struct is_odd { __host__ __device__ bool operator()(int x) const { return x % 2 != 0; } };

__global__ void add_index(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += i;
}

int main() {
    const int n = 1000;
    thrust::device_vector<float> x(n), y(n);
    thrust::fill(x.begin(), x.end(), 2.0f);
    thrust::transform(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(n), y.begin(), thrust::negate<float>());
    thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), saxpy_functor(10));
    add_index<<<(n + 255) / 256, 256>>>(thrust::raw_pointer_cast(y.data()), n);
    printf("%g %g\n", float(y[0]), float(y[n - 1]));
    float norm2 = thrust::transform_reduce(x.begin(), x.end(), square(), 0.0f, thrust::plus<float>());
    float dot = thrust::inner_product(x.begin(), x.end(), y.begin(), 0.0f);
    printf("%g %g\n", norm2, dot);
    thrust::device_vector<int> s(10, 1), t(10);
    thrust::inclusive_scan(s.begin(), s.end(), s.begin());
    thrust::exclusive_scan(s.begin(), s.end(), t.begin(), 100);
    printf("%d %d, %d odd\n", int(s[9]), int(t[9]), int(thrust::count_if(s.begin(), s.end(), is_odd())));
}
