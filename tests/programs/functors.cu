// Shows: functors as template arguments and as arguments of kernels.
#include <cstdio>
#include <cuda_runtime.h>

struct Square { __host__ __device__ float operator()(float x) const { return x * x; } };
struct Affine {
    float a, b;
    __host__ __device__ float operator()(float x) const { return a * x + b; }
};
template <class F, class G> struct Composed {
    F f; G g;
    __host__ __device__ float operator()(float x) const { return f(g(x)); }
};
template <class F, class G> Composed<F, G> compose(F f, G g) { return {f, g}; }

template <typename F>
__global__ void transform(const float *in, float *out, int n, F f)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = f(in[i]);
}

template <template <class> class Op, class T>
__global__ void fold(const T *in, T *out, int n) {
    T result = in[0];
    for (int i = 1; i < n; i++) result = Op<T>()(result, in[i]);
    *out = result;
}
template <class T> struct Max { __device__ T operator()(T a, T b) { return a > b ? a : b; } };
template <class T> struct Plus { __device__ T operator()(T a, T b) { return a + b; } };

int main()
{
    const int n = 100;
    float *in, *out;
    cudaMallocManaged(&in, n * sizeof(float));
    cudaMallocManaged(&out, n * sizeof(float));
    for (int i = 0; i < n; i++) in[i] = float(i % 10);
    transform<<<2, 32>>>(in, out, n, Square{});
    cudaDeviceSynchronize();
    printf("%g ", out[n - 1]);
    transform<<<2, 32>>>(in, out, n, Affine{2, -1});
    cudaDeviceSynchronize();
    printf("%g ", out[n - 1]);
    transform<<<2, 32>>>(in, out, n, compose(Affine{2, -1}, Square()));
    cudaDeviceSynchronize();
    printf("%g %g\n", out[n - 1], compose(Affine{2, -1}, Square())(9));
    fold<Max><<<1, 1>>>(in, out, n);
    fold<Plus, float><<<1, 1>>>(in, out + 1, n);
    cudaDeviceSynchronize();
    printf("%g %g\n", out[0], out[1]);
    cudaFree(in);
    cudaFree(out);
}
