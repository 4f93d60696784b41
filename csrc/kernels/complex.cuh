// Complex numbers in NumPy's layout: the real part, then the imaginary part, read and written as one word.
//
// Products use the plain formula, as NumPy does: an infinity times a complex number can have a NaN part. The default
// constructor does nothing, so that shared memory can hold complex numbers.
#ifndef CK_COMPLEX_CUH
#define CK_COMPLEX_CUH

#include <cuda_runtime.h>

// Default visibility, like that of kernels: a kernel whose type is hidden is hidden too, and cannot be found by name.
template <typename T> struct alignas(2 * sizeof(T)) [[gnu::visibility("default")]] complex {
    T re, im;

    complex() = default;
    __host__ __device__ constexpr complex(T re, T im = 0) : re(re), im(im) {}

    __device__ __forceinline__ friend complex operator+(complex a, complex b) {
        return {a.re + b.re, a.im + b.im};
    }
    __device__ __forceinline__ friend complex operator-(complex a, complex b) {
        return {a.re - b.re, a.im - b.im};
    }
    __device__ __forceinline__ friend complex operator*(complex a, complex b) {
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
    __device__ __forceinline__ friend bool operator==(complex a, complex b) {
        return a.re == b.re && a.im == b.im;
    }
    __device__ __forceinline__ complex &operator+=(complex b) {
        return *this = *this + b;
    }
    __device__ __forceinline__ complex &operator-=(complex b) {
        return *this = *this - b;
    }
};

#endif
