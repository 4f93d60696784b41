// Shows: launches in function templates and class templates, with dependent names.
#include <cstdio>

template <typename T> __global__ void add(T *x, T v) { x[threadIdx.x] += v; }
template <typename T, int N> __global__ void multiply(T *x) { x[threadIdx.x] *= N; }

template <typename T> struct Operations {
    using value_type = T;
    static void add_one(T *x, int n) { ::add<<<1, n>>>(x, T(1)); }
    template <int N> void multiply(T *x, int n) const { ::multiply<T, N><<<1, n>>>(x); }
};

template <typename Ops> struct Array {
    typename Ops::value_type *data;
    int n;
    Ops ops;
    explicit Array(int n) : n(n) {
        cudaMallocManaged(&data, n * sizeof *data);
        for (int i = 0; i < n; i++) data[i] = i;
    }
    ~Array() { cudaFree(data); }
    template <int N> Array &times() {
        ops.template multiply<N>(data, n);
        return *this;
    }
    Array &plus_one() { return Ops::add_one(data, n), *this; }
    void show() {
        cudaDeviceSynchronize();
        printf("%g %g\n", double(data[0]), double(data[n - 1]));
    }
};

template <int N, int... Rest, typename T> void apply_all(T *x, int n) {
    multiply<T, N><<<1, n>>>(x);
    if constexpr (sizeof...(Rest) > 0) apply_all<Rest...>(x, n);
}

int main() {
    Array<Operations<float>> f(32);
    f.plus_one().times<3>().plus_one().show();
    Array<Operations<long long>> l(10);
    l.times<1000000>().times<1000>().show();
    apply_all<2, 3, 5>(f.data, f.n);
    f.show();
}
