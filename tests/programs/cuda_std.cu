// Shows: the standard library for device code: arrays, tuples, optional, spans, limits, algorithms and complex.
#include <cstdio>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

namespace cs = cuda::std;

__host__ __device__ cs::optional<int> half_of(int v) {
    if (v % 2) return cs::nullopt;
    return v / 2;
}
template <class T> __host__ __device__ cs::tuple<T, T> both(cs::span<const T> s) {
    T low = cs::numeric_limits<T>::max(), high = cs::numeric_limits<T>::lowest();
    for (T v : s) low = v < low ? v : low, high = v > high ? v : high;
    return {low, high};
}
struct Result { int low, high, halves, bits; float re, im; cs::array<int, 4> array; };

__host__ __device__ Result work() {
    Result r{};
    cs::array<int, 5> a{7, -3, 12, 8, 4};
    auto [low, high] = both(cs::span<const int>(a.data(), a.size()));
    r.low = low, r.high = high;
    for (int v : a) r.halves += half_of(v).value_or(1000);
    r.bits = cs::popcount(0xf0f0u) + cs::countl_zero(1u);
    cs::complex<float> z(1, 2);
    z = z * z + cs::complex<float>(0, 1);
    r.re = z.real(), r.im = z.imag();
    r.array.fill(3);
    cs::swap(r.array[0], a[2]);
    static_assert(cs::is_same_v<cs::decay_t<const int &>, int>);
    return r;
}

__global__ void kernel(Result *out) { *out = work(); }

int main() {
    Result *d, r, h = work();
    cudaMalloc(&d, sizeof r);
    kernel<<<1, 1>>>(d);
    cudaMemcpy(&r, d, sizeof r, cudaMemcpyDeviceToHost);
    for (const Result &x : {r, h})
        printf("%d %d %d %d %g%+gi %d %d\n", x.low, x.high, x.halves, x.bits, x.re, x.im, x.array[0], x.array[3]);
    cudaFree(d);
}
