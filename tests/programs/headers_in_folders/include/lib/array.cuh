#pragma once
#include "detail/kernels.h"

namespace lib {
struct Scale {
    float by;
    __host__ __device__ float operator()(float v) const { return v * by; }
};

template <typename T> class Array {
    T *data_;
    int n_;

public:
    explicit Array(int n) : n_(n) { cudaMalloc(&data_, n * sizeof(T)); }
    Array(const Array &) = delete;
    ~Array() { cudaFree(data_); }
    Array &fill(T value) {
        detail::fill<<<detail::blocks(n_), detail::kThreads>>>(data_, n_, value);
        return *this;
    }
    template <typename F> Array &apply(F f) {
        detail::apply<T, F><<<detail::blocks(n_), detail::kThreads>>>(data_, n_, f);
        return *this;
    }
    T at(int i) const {
        T value;
        cudaMemcpy(&value, data_ + i, sizeof value, cudaMemcpyDeviceToHost);
        return value;
    }
    T sum() const {
        T *result, value;
        cudaMalloc(&result, sizeof(T));
        detail::sum<T> <<<1, detail::kThreads, detail::kThreads * sizeof(T)>>> (data_, n_, result);
        cudaMemcpy(&value, result, sizeof value, cudaMemcpyDeviceToHost);
        cudaFree(result);
        return value;
    }
};
} // namespace lib
