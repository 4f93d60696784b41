#pragma once

namespace lib { namespace detail {
constexpr int kThreads = 128;
inline int blocks(int n) { return (n + kThreads - 1) / kThreads; }

template <typename T> __global__ void fill(T *data, int n, T value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = value;
}
template <typename T, typename F> __global__ void apply(T *data, int n, F f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = f(data[i]);
}
template <typename T> __global__ void sum(const T *data, int n, T *result) {
    extern __shared__ unsigned char bytes[];
    T *s = reinterpret_cast<T *>(bytes), mine = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) mine += data[i];
    s[threadIdx.x] = mine;
    __syncthreads();
    for (int d = blockDim.x / 2; d; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) *result = s[0];
}
}} // namespace lib::detail
