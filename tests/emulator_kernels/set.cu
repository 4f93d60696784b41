// A set of single kernels: what csrc/runtime loads beside the package's own, and launches by name.
#include "device_extras.cuh"
#include "kernels/complex.cuh"
#include "kernels/set.cuh"

#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void add_one(const float *x, float *y, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) y[i] = x[i] + 1;
}

template <typename T> __global__ void scale(T *x, T by, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) x[i] = x[i] * by;
}

// A value of every type that arrays have, each as a double (and the halves of complex numbers).
__global__ void all_values(double *out, bool a, signed char b, unsigned char c, short d, unsigned short e, int f,
                           unsigned g, long h, unsigned long i, long long j, unsigned long long k, __half l,
                           __nv_bfloat16 m, float n, double o, complex<float> p, complex<double> q) {
    const double values[] = {static_cast<double>(a),
                             static_cast<double>(b),
                             static_cast<double>(c),
                             static_cast<double>(d),
                             static_cast<double>(e),
                             static_cast<double>(f),
                             static_cast<double>(g),
                             static_cast<double>(h),
                             static_cast<double>(i),
                             static_cast<double>(j),
                             static_cast<double>(k),
                             static_cast<double>(__half2float(l)),
                             static_cast<double>(__bfloat162float(m)),
                             static_cast<double>(n),
                             o,
                             static_cast<double>(p.re),
                             static_cast<double>(p.im),
                             q.re,
                             q.im};
    for (int at = 0; at < 19; ++at) out[at] = values[at];
}

struct Point {
    float x;
    int n;
    double y;
};
__global__ void of_a_struct(Point point, const Point *points, double *out) {
    out[0] = point.x, out[1] = point.n, out[2] = point.y;
    out[3] = points[1].x, out[4] = points[1].n, out[5] = points[1].y;
}

// Each block turns its part round, by way of dynamic shared memory.
__global__ void reversed(int *x) {
    DYNAMIC_SHARED(int, part);
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = x[i];
    __syncthreads();
    x[i] = part[blockDim.x - 1 - threadIdx.x];
}

// Each block adds what all have written: only right if all wait for each other.
__global__ void grid_sums(int *given, int *out) {
    given[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
    cooperative_groups::this_grid().sync();
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += given[i];
    out[blockIdx.x] = sum;
}

// What a set keeps to itself: a variable, and static shared memory.
__device__ int calls;
__global__ void count_calls(int *out) {
    __shared__ int seen;
    seen = calls;
    calls = seen + 1;
    out[0] = seen;
}

__global__ void of_nothing() {}

__global__ void any_pointers(const void *from, void *to, const volatile short *more) {
    static_cast<char *>(to)[0] = static_cast<const char *>(from)[0];
    static_cast<char *>(to)[1] = static_cast<char>(more[0]);
}

CK_SET(CK_KERNEL(add_one), CK_KERNEL(scale<float>), CK_KERNEL(scale<long long>), CK_KERNEL(all_values),
       CK_KERNEL(of_a_struct), CK_KERNEL(reversed), CK_KERNEL(grid_sums), CK_KERNEL(count_calls),
       CK_KERNEL(of_nothing), CK_KERNEL(any_pointers))
