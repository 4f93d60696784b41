// Shows: dynamic shared memory in kernel templates: by a cast, and by a struct with specialisations.
#include <cstdio>

template <class T> struct SharedMemory {
    __device__ inline operator T *() {
        extern __shared__ int __smem[];
        return (T *)__smem;
    }
};
template <> struct SharedMemory<double> {
    __device__ inline operator double *() {
        extern __shared__ double __smem_d[];
        return (double *)__smem_d;
    }
};

template <class T> __global__ void sum_by_struct(const T *in, T *out) {
    T *s = SharedMemory<T>();
    unsigned t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    if (!t) *out = s[0];
}

template <class T> __global__ void last_by_cast(const T *in, T *out) {
    extern __shared__ __align__(sizeof(double)) unsigned char raw[];
    T *s = reinterpret_cast<T *>(raw);
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) *out = s[blockDim.x - 1];
}

template <class T> void show(const char *name) {
    const int n = 128;
    T *in, *out;
    cudaMallocManaged(&in, n * sizeof(T));
    cudaMallocManaged(&out, 2 * sizeof(T));
    for (int i = 0; i < n; i++) in[i] = T(i) / 2;
    sum_by_struct<T><<<1, n, n * sizeof(T)>>>(in, out);
    last_by_cast<T><<<1, n, n * sizeof(T)>>>(in, out + 1);
    cudaDeviceSynchronize();
    printf("%s: %g %g\n", name, double(out[0]), double(out[1]));
    cudaFree(in);
    cudaFree(out);
}

int main() {
    show<int>("int");
    show<float>("float");
    show<double>("double");
    show<long long>("long long");
}
