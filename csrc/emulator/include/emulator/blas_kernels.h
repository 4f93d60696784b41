// The kernels of cuBLAS's functions. A block has one thread and computes a piece of the result, so that the blocks'
// worker threads share the work and the compiler vectorizes the loops. (A kernel is any function that is exported;
// the translator of programs needs the word __global__ for itself.)
#ifndef EMULATOR_BLAS_KERNELS_H
#define EMULATOR_BLAS_KERNELS_H

#include <cmath>
#include <complex>
#include <type_traits>

#include "device_index.h"
#include "device_qualifiers.h"

// Programs are often compiled without optimization, which would make a product ten times as slow.
#if defined(__clang__)
#define EMU_FAST
#else
#define EMU_FAST __attribute__((optimize("O3")))
#endif

namespace emu_blas {

template <typename T> T conjugate(T x) {
    return x;
}
template <typename T> std::complex<T> conjugate(std::complex<T> x) {
    return std::conj(x);
}
template <typename T> double size_of(T x) {
    return std::fabs(static_cast<double>(x));
} // as asum and iamax count it
template <typename T> double size_of(std::complex<T> x) {
    return size_of(x.real()) + size_of(x.imag());
}
template <typename T> double square_of(T x) {
    return static_cast<double>(x) * static_cast<double>(x);
}
template <typename T> double square_of(std::complex<T> x) {
    return square_of(x.real()) + square_of(x.imag());
}

// Conversions by way of float, for 16-bit numbers.
template <typename To, typename From> To to(From x) {
    if constexpr (std::is_constructible<To, From>::value && !std::is_class<To>::value && !std::is_class<From>::value)
        return static_cast<To>(x);
    else if constexpr (std::is_same<To, From>::value)
        return x;
    else if constexpr (std::is_class<From>::value)
        return static_cast<To>(static_cast<float>(x));
    else
        return To(static_cast<float>(x));
}

// A number that the caller passes: by value, or at a device address that is read when the kernel runs.
template <typename T> struct scalar {
    T value;
    const T *at; // NULL: `value`
    T get() const { return at ? *at : value; }
};

// A matrix or its transpose. Batches: of matrices at a distance, or of pointers to them.
template <typename T> struct matrix {
    const T *data;
    const T *const *each;
    long long ld, stride;
    int operation; // cublasOperation_t
    const T *of(int batch) const { return each ? each[batch] : data + batch * stride; }
};

// C = alpha * op(A) * op(B) + beta * C: one block for 64 x 16 elements of one product of the batch.
enum { TILE_ROWS = 64, TILE_COLUMNS = 16, TILE_DEPTH = 64 };
template <typename In, typename Out, typename Sum> struct product {
    int m, n, k;
    scalar<Sum> alpha, beta;
    matrix<In> a, b;
    matrix<Out> c;
    int triangle; // 0: all of C; 1, 2: only its lower or upper triangle is written
};

template <typename In, typename Out, typename Sum> EMU_FAST EMU_VISIBLE void gemm(product<In, Out, Sum> p) {
    const int i0 = static_cast<int>(blockIdx.x) * TILE_ROWS, j0 = static_cast<int>(blockIdx.y) * TILE_COLUMNS;
    const int rows = p.m - i0 < TILE_ROWS ? p.m - i0 : TILE_ROWS;
    const int columns = p.n - j0 < TILE_COLUMNS ? p.n - j0 : TILE_COLUMNS, batch = static_cast<int>(blockIdx.z);
    const Sum alpha = p.alpha.get(), beta = p.beta.get();
    const In *const a = p.a.of(batch), *const b = p.b.of(batch);
    Out *const c = const_cast<Out *>(p.c.of(batch));
    Sum sums[TILE_COLUMNS][TILE_ROWS] = {}, slab[TILE_DEPTH][TILE_ROWS] = {};
    for (int k0 = 0; k0 < p.k && alpha != Sum(0); k0 += TILE_DEPTH) {
        const int depth = p.k - k0 < TILE_DEPTH ? p.k - k0 : TILE_DEPTH;
        for (int l = 0; l < depth; ++l)
            for (int i = 0; i < rows; ++i) {
                const long long row = i0 + i, column = k0 + l;
                const Sum x = to<Sum>(p.a.operation ? a[column + row * p.a.ld] : a[row + column * p.a.ld]);
                slab[l][i] = p.a.operation == 2 ? conjugate(x) : x;
            }
        for (int j = 0; j < columns; ++j)
            for (int l = 0; l < depth; l += 4) {
                Sum x[4] = {};
                for (int q = 0; q < 4 && l + q < depth; ++q) {
                    const long long row = k0 + l + q, column = j0 + j;
                    x[q] = to<Sum>(p.b.operation ? b[column + row * p.b.ld] : b[row + column * p.b.ld]);
                    if (p.b.operation == 2) x[q] = conjugate(x[q]);
                }
                if (l + 4 <= depth)
                    for (int i = 0; i < TILE_ROWS; ++i)
                        sums[j][i] +=
                            x[0] * slab[l][i] + x[1] * slab[l + 1][i] + x[2] * slab[l + 2][i] + x[3] * slab[l + 3][i];
                else
                    for (int q = 0; l + q < depth; ++q)
                        for (int i = 0; i < TILE_ROWS; ++i) sums[j][i] += x[q] * slab[l + q][i];
            }
    }
    for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i) {
            if ((p.triangle == 1 && i0 + i < j0 + j) || (p.triangle == 2 && i0 + i > j0 + j)) continue;
            Out &place = c[i0 + i + (j0 + j) * p.c.ld];
            place = to<Out>(beta == Sum(0) ? alpha * sums[j][i] : alpha * sums[j][i] + beta * to<Sum>(place));
        }
}

// y = alpha * op(A) * x + beta * y: one block for 64 elements of y.
template <typename T> struct strided {
    T *data;
    long long step;
    T *at(long long i, long long n) const { return data + (step < 0 ? (i - n + 1) * step : i * step); }
};
template <typename T>
EMU_FAST EMU_VISIBLE void gemv(int m, int n, scalar<T> alpha, matrix<T> a, strided<const T> x, scalar<T> beta,
                               strided<T> y) {
    const int length = a.operation ? n : m, terms = a.operation ? m : n;
    const T factor = alpha.get(), old = beta.get();
    for (int i = static_cast<int>(blockIdx.x) * 64, end = i + 64; i < end && i < length; ++i) {
        T sum = T(0);
        for (long long l = 0; l < terms; ++l) {
            const T element = a.operation ? a.data[l + i * a.ld] : a.data[i + l * a.ld];
            sum += (a.operation == 2 ? conjugate(element) : element) * *x.at(l, terms);
        }
        T *place = y.at(i, length);
        *place = old == T(0) ? factor * sum : factor * sum + old * *place;
    }
}

template <typename T>
EMU_VISIBLE void ger(int m, scalar<T> alpha, strided<const T> x, strided<const T> y, int n, T *a, long long ld,
                     int conjugated) {
    const long long j = blockIdx.x;
    const T other = conjugated ? conjugate(*y.at(j, n)) : *y.at(j, n), factor = alpha.get() * other;
    for (long long i = 0; i < m; ++i) a[i + j * ld] += factor * *x.at(i, m);
}

// op(A) * X = alpha * B or X * op(A) = alpha * B, for a triangular A: one block for one column, or row, of B.
template <typename T> struct triangle {
    const T *data;
    long long ld, n;
    int operation, upper, unit;
    T at(long long i, long long j) const {
        const T x = operation ? data[j + i * ld] : data[i + j * ld];
        return operation == 2 ? conjugate(x) : x;
    }
    bool is_upper() const { return (upper != 0) != (operation != 0); }
};
template <typename T>
EMU_VISIBLE void trsm(triangle<T> a, scalar<T> alpha, T *b, long long step, long long next, int from_right) {
    T *const x = b + blockIdx.x * next;
    // From the right, it is the transposed system.
    const bool backwards = from_right ? !a.is_upper() : a.is_upper();
    for (long long t = 0; t < a.n; ++t) {
        const long long i = backwards ? a.n - 1 - t : t;
        T sum = alpha.get() * x[i * step];
        for (long long u = 0; u < t; ++u) {
            const long long j = backwards ? a.n - 1 - u : u;
            sum -= (from_right ? a.at(j, i) : a.at(i, j)) * x[j * step];
        }
        x[i * step] = a.unit ? sum : sum / a.at(i, i);
    }
}
// B = alpha * op(A) * B or alpha * B * op(A), likewise. `c` gets the result.
template <typename T>
EMU_VISIBLE void trmm(triangle<T> a, scalar<T> alpha, const T *b, long long step, long long next, T *c,
                      long long c_step, long long c_next, int from_right) {
    const T *const x = b + blockIdx.x * next;
    T *const y = c + blockIdx.x * c_next;
    const bool upper = from_right ? !a.is_upper() : a.is_upper();
    for (long long t = 0; t < a.n; ++t) { // in an order in which B may be C
        const long long i = upper ? t : a.n - 1 - t;
        T sum = a.unit ? x[i * step] : a.at(i, i) * x[i * step];
        for (long long j = upper ? i + 1 : 0, end = upper ? a.n : i; j < end; ++j)
            sum += (from_right ? a.at(j, i) : a.at(i, j)) * x[j * step];
        y[i * c_step] = alpha.get() * sum;
    }
}

// C = alpha * op(A) + beta * op(B); C = A * diag(x) or diag(x) * A: one block for one column.
template <typename T>
EMU_VISIBLE void geam(int m, scalar<T> alpha, matrix<T> a, scalar<T> beta, matrix<T> b, T *c, long long ld) {
    const long long j = blockIdx.x;
    const T first = alpha.get(), second = beta.get();
    for (long long i = 0; i < m; ++i) {
        T sum = T(0);
        if (first != T(0)) sum += first * (a.operation ? a.data[j + i * a.ld] : a.data[i + j * a.ld]);
        if (second != T(0)) sum += second * (b.operation ? b.data[j + i * b.ld] : b.data[i + j * b.ld]);
        c[i + j * ld] = sum;
    }
}
template <typename T>
EMU_VISIBLE void dgmm(int m, int n, int from_left, matrix<T> a, strided<const T> x, T *c, long long ld) {
    const long long j = blockIdx.x;
    for (long long i = 0; i < m; ++i) c[i + j * ld] = a.data[i + j * a.ld] * *(from_left ? x.at(i, m) : x.at(j, n));
}

// Operations on vectors: one block for PIECE elements; sums are formed by one block.
enum { PIECE = 1 << 14 };
#define EMU_PIECE(i)                                                                                                 \
    for (long long i = blockIdx.x * static_cast<long long>(PIECE), end = i + PIECE < n ? i + PIECE : n; i < end; ++i)
template <typename T> EMU_FAST EMU_VISIBLE void axpy(long long n, scalar<T> alpha, strided<const T> x, strided<T> y) {
    const T factor = alpha.get();
    EMU_PIECE(i) * y.at(i, n) += factor * *x.at(i, n);
}
template <typename T, typename Factor>
EMU_FAST EMU_VISIBLE void scal(long long n, scalar<Factor> alpha, strided<T> x) {
    const Factor factor = alpha.get();
    EMU_PIECE(i) * x.at(i, n) *= factor;
}
template <typename T> EMU_VISIBLE void copy(long long n, strided<const T> x, strided<T> y) {
    EMU_PIECE(i) * y.at(i, n) = *x.at(i, n);
}
template <typename T> EMU_VISIBLE void swap(long long n, strided<T> x, strided<T> y) {
    EMU_PIECE(i) {
        const T old = *x.at(i, n);
        *x.at(i, n) = *y.at(i, n);
        *y.at(i, n) = old;
    }
}
template <typename T> EMU_VISIBLE void rot(long long n, strided<T> x, strided<T> y, scalar<T> c, scalar<T> s) {
    EMU_PIECE(i) {
        const T a = *x.at(i, n), b = *y.at(i, n);
        *x.at(i, n) = c.get() * a + s.get() * b;
        *y.at(i, n) = c.get() * b - s.get() * a;
    }
}
#undef EMU_PIECE

template <typename T> struct wide { using type = double; };
template <typename T> struct wide<std::complex<T>> { using type = std::complex<double>; };
template <typename T>
EMU_VISIBLE void dot(long long n, strided<const T> x, strided<const T> y, int conjugated, T *result) {
    typename wide<T>::type sum = 0;
    for (long long i = 0; i < n; ++i) {
        const T left = conjugated ? conjugate(*x.at(i, n)) : *x.at(i, n);
        sum += static_cast<typename wide<T>::type>(left) * static_cast<typename wide<T>::type>(*y.at(i, n));
    }
    *result = static_cast<T>(sum);
}
template <typename T, typename Real>
EMU_VISIBLE void size_sum(long long n, strided<const T> x, int euclidean, Real *result) {
    double sum = 0;
    for (long long i = 0; i < n; ++i) sum += euclidean ? square_of(*x.at(i, n)) : size_of(*x.at(i, n));
    *result = static_cast<Real>(euclidean ? std::sqrt(sum) : sum);
}
template <typename T> EMU_VISIBLE void extreme(long long n, strided<const T> x, int smallest, int *result) {
    int best = 0; // counted from 1; 0: there is no element
    for (long long i = 0; i < n; ++i) {
        const double size = size_of(*x.at(i, n)), kept = best ? size_of(*x.at(best - 1, n)) : 0;
        if (!best || (smallest ? size < kept : size > kept)) best = static_cast<int>(i) + 1;
    }
    *result = best;
}

} // namespace emu_blas

#endif
