// The kernels of cuBLAS's functions for matrices of which a part is stored: symmetric, Hermitian, triangular, band
// and packed ones; and of the factorizations of batches. As in blas_kernels.h, a block has one thread.
#ifndef EMULATOR_BLAS_STORED_KERNELS_H
#define EMULATOR_BLAS_STORED_KERNELS_H

#include "blas_kernels.h"

namespace emu_blas {

template <typename T> T without_imaginary(T x) {
    return x;
}
template <typename T> std::complex<T> without_imaginary(std::complex<T> x) {
    return std::complex<T>(x.real(), 0);
}

enum meaning { WHOLE, SYMMETRIC, HERMITIAN, TRIANGULAR };
enum layout { COLUMNS, BANDS, PACKED };
template <typename T> struct stored {
    const T *data;
    long long ld, n;
    meaning kind;
    layout order;
    int operation, upper, unit;
    long long below, above; // how many diagonals on either side of the main one have elements
    long long place(long long i, long long j) const {
        if (order == COLUMNS) return i + j * ld;
        if (order == BANDS) return above + i - j + j * ld;
        return upper ? i + j * (j + 1) / 2 : i + j * (2 * n - j - 1) / 2;
    }
    T at(long long row, long long column) const {
        long long i = operation ? column : row, j = operation ? row : column;
        bool conjugated = operation == 2;
        if (kind != WHOLE && (upper ? i > j : i < j)) {
            if (kind == TRIANGULAR) return T(0);
            const long long other = i;
            i = j, j = other;
            conjugated = conjugated != (kind == HERMITIAN);
        }
        if (unit && i == j) return T(1);
        if (i - j > below || j - i > above) return T(0);
        const T x = data[place(i, j)];
        if (kind == HERMITIAN && i == j) return without_imaginary(x);
        return conjugated ? conjugate(x) : x;
    }
    bool is_upper() const { return (upper != 0) != (operation != 0); }
};

// y = alpha * op(A) * x + beta * y: one block for 64 elements of y.
template <typename T>
EMU_VISIBLE void stored_mv(long long rows, long long terms, scalar<T> alpha, stored<T> a, strided<const T> x,
                           scalar<T> beta, strided<T> y) {
    const T factor = alpha.get(), old = beta.get();
    for (long long i = blockIdx.x * 64ll, end = i + 64; i < end && i < rows; ++i) {
        T sum = T(0);
        for (long long l = 0; l < terms; ++l) sum += a.at(i, l) * *x.at(l, terms);
        T *const place = y.at(i, rows);
        *place = old == T(0) ? factor * sum : factor * sum + old * *place;
    }
}

// x = op(A) * x, or the x for which op(A) * x is what was there, for a triangular A: one block.
template <typename T> EMU_VISIBLE void stored_triangle(stored<T> a, strided<T> x, int solve) {
    const bool upper = a.is_upper(), ascending = upper != (solve != 0);
    for (long long t = 0; t < a.n; ++t) {
        const long long i = ascending ? t : a.n - 1 - t;
        T *const place = x.at(i, a.n);
        T sum = solve ? *place : a.at(i, i) * *place;
        for (long long j = upper ? i + 1 : 0, end = upper ? a.n : i; j < end; ++j) {
            const T term = a.at(i, j) * *x.at(j, a.n);
            sum = solve ? sum - term : sum + term;
        }
        *place = solve && !a.unit ? sum / a.at(i, i) : sum;
    }
}

// A += alpha * x * y' and, if it is an update of rank two, the transposed product: one block for one column of A.
template <typename T, typename Factor>
EMU_VISIBLE void stored_update(stored<T> a, scalar<Factor> alpha, strided<const T> x, strided<const T> y, int two) {
    const long long j = blockIdx.x;
    const bool hermitian = a.kind == HERMITIAN;
    const T factor = T(alpha.get()), xj = *x.at(j, a.n), yj = *y.at(j, a.n);
    for (long long i = a.upper ? 0 : j, end = a.upper ? j + 1 : a.n; i < end; ++i) {
        T sum = factor * *x.at(i, a.n) * (hermitian ? conjugate(yj) : yj);
        if (two) sum += (hermitian ? conjugate(factor) : factor) * *y.at(i, a.n) * (hermitian ? conjugate(xj) : xj);
        T &place = const_cast<T *>(a.data)[a.place(i, j)];
        place = hermitian && i == j ? without_imaginary(place + sum) : place + sum;
    }
}

// C = alpha * A * B + beta * C or alpha * B * A + beta * C, for a symmetric or Hermitian A: a block for a column.
template <typename T>
EMU_VISIBLE void stored_mm(long long m, scalar<T> alpha, stored<T> a, matrix<T> b, scalar<T> beta, T *c, long long ld,
                           int from_right) {
    const long long j = blockIdx.x;
    const T factor = alpha.get(), old = beta.get();
    for (long long i = 0; i < m; ++i) {
        T sum = T(0);
        for (long long l = 0; l < a.n; ++l)
            sum += from_right ? b.data[i + l * b.ld] * a.at(l, j) : a.at(i, l) * b.data[l + j * b.ld];
        T &place = c[i + j * ld];
        place = old == T(0) ? factor * sum : factor * sum + old * place;
    }
}

// A triangle of C = alpha * op(A) * op(B)' + beta * C and, for an update of rank 2k, the transposed one: likewise.
template <typename T, typename Alpha, typename Beta>
EMU_VISIBLE void rank_k(long long n, long long k, scalar<Alpha> alpha, matrix<T> a, matrix<T> b, scalar<Beta> beta,
                        T *c, long long ld, int upper, int hermitian, int two) {
    const long long j = blockIdx.x;
    const T factor = T(alpha.get()), old = T(beta.get());
    const auto element = [](const matrix<T> &of, long long i, long long l) {
        const T x = of.operation ? of.data[l + i * of.ld] : of.data[i + l * of.ld];
        return of.operation == 2 ? conjugate(x) : x;
    };
    for (long long i = upper ? 0 : j, end = upper ? j + 1 : n; i < end; ++i) {
        T sum = T(0), transposed = T(0);
        for (long long l = 0; l < k; ++l) {
            const T bj = element(b, j, l), aj = element(a, j, l);
            sum += element(a, i, l) * (hermitian ? conjugate(bj) : bj);
            if (two) transposed += element(b, i, l) * (hermitian ? conjugate(aj) : aj);
        }
        sum = factor * sum + (hermitian ? conjugate(factor) : factor) * transposed;
        T &place = c[i + j * ld];
        if (old != T(0)) sum += old * place;
        place = hermitian && i == j ? without_imaginary(sum) : sum;
    }
}

// From packed triangles to those of whole matrices: one block for one column.
template <typename T> EMU_VISIBLE void repack(stored<T> from, stored<T> to) {
    const long long j = blockIdx.x;
    for (long long i = from.upper ? 0 : j, end = from.upper ? j + 1 : from.n; i < end; ++i)
        const_cast<T *>(to.data)[to.place(i, j)] = from.data[from.place(i, j)];
}

// Products and solutions of batches: one block for one matrix.
template <typename T>
EMU_VISIBLE void gemv_batch(long long m, long long n, scalar<T> alpha, matrix<T> a, matrix<T> x, long long step_x,
                            scalar<T> beta, matrix<T> y, long long step_y) {
    const int batch = static_cast<int>(blockIdx.x);
    const long long rows = a.operation ? n : m, terms = a.operation ? m : n;
    const stored<T> of = {a.of(batch), a.ld, m, WHOLE, COLUMNS, a.operation, 0, 0, 1ll << 40, 1ll << 40};
    const strided<const T> from = {x.of(batch), step_x};
    const strided<T> into = {const_cast<T *>(y.of(batch)), step_y};
    const T factor = alpha.get(), old = beta.get();
    for (long long i = 0; i < rows; ++i) {
        T sum = T(0);
        for (long long l = 0; l < terms; ++l) sum += of.at(i, l) * *from.at(l, terms);
        T *const place = into.at(i, rows);
        *place = old == T(0) ? factor * sum : factor * sum + old * *place;
    }
}
template <typename T>
EMU_VISIBLE void trsm_batch(matrix<T> a, triangle<T> of, scalar<T> alpha, matrix<T> b, long long count,
                            int from_right) {
    of.data = a.of(static_cast<int>(blockIdx.x));
    T *const data = const_cast<T *>(b.of(static_cast<int>(blockIdx.x)));
    const bool backwards = from_right ? !of.is_upper() : of.is_upper();
    for (long long column = 0; column < count; ++column) {
        T *const x = data + column * (from_right ? 1 : b.ld);
        const long long step = from_right ? b.ld : 1;
        for (long long t = 0; t < of.n; ++t) {
            const long long i = backwards ? of.n - 1 - t : t;
            T sum = alpha.get() * x[i * step];
            for (long long u = 0; u < t; ++u) {
                const long long j = backwards ? of.n - 1 - u : u;
                sum -= (from_right ? of.at(j, i) : of.at(i, j)) * x[j * step];
            }
            x[i * step] = of.unit ? sum : sum / of.at(i, i);
        }
    }
}

// A = P * L * U in place; `pivots` (counted from 1) may be NULL, and then rows are not exchanged. Returns what LAPACK
// does: 0, or the first column, counted from 1, whose pivot is zero.
template <typename T> int factorize(T *a, long long ld, int n, int *pivots) {
    int singular = 0;
    for (int k = 0; k < n; ++k) {
        int best = k;
        if (pivots) {
            for (int i = k + 1; i < n; ++i)
                if (size_of(a[i + k * ld]) > size_of(a[best + k * ld])) best = i;
            pivots[k] = best + 1;
            for (int j = 0; best != k && j < n; ++j) {
                const T other = a[k + j * ld];
                a[k + j * ld] = a[best + j * ld], a[best + j * ld] = other;
            }
        }
        if (a[k + k * ld] == T(0)) {
            if (!singular) singular = k + 1;
            continue;
        }
        for (int i = k + 1; i < n; ++i) a[i + k * ld] /= a[k + k * ld];
        for (int j = k + 1; j < n; ++j)
            for (int i = k + 1; i < n; ++i) a[i + j * ld] -= a[i + k * ld] * a[k + j * ld];
    }
    return singular;
}
// x is replaced by the solution of op(A) * y = x.
template <typename T> void solve(const T *a, long long ld, int n, const int *pivots, int operation, T *x) {
    stored<T> lower = {a, ld, n, TRIANGULAR, COLUMNS, operation, 0, 1, n, n};
    stored<T> upper = {a, ld, n, TRIANGULAR, COLUMNS, operation, 1, 0, n, n};
    const auto exchange = [&](int k) {
        const T other = x[k];
        x[k] = x[pivots[k] - 1], x[pivots[k] - 1] = other;
    };
    for (int k = 0; pivots && !operation && k < n; ++k) exchange(k);
    stored_triangle(operation ? upper : lower, strided<T>{x, 1}, 1);
    stored_triangle(operation ? lower : upper, strided<T>{x, 1}, 1);
    for (int k = n - 1; pivots && operation && k >= 0; --k) exchange(k);
}
template <typename T> EMU_VISIBLE void getrf(int n, matrix<T> a, int *pivots, int *info) {
    const int batch = static_cast<int>(blockIdx.x);
    info[batch] = factorize(const_cast<T *>(a.of(batch)), a.ld, n, pivots ? pivots + batch * n : nullptr);
}
template <typename T>
EMU_VISIBLE void getrs(int n, int columns, matrix<T> a, const int *pivots, int operation, matrix<T> b) {
    const int batch = static_cast<int>(blockIdx.x);
    for (int j = 0; j < columns; ++j)
        solve(a.of(batch), a.ld, n, pivots ? pivots + batch * n : nullptr, operation,
              const_cast<T *>(b.of(batch)) + j * b.ld);
}
template <typename T> void invert(const T *a, long long ld, int n, const int *pivots, T *c, long long c_ld) {
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) c[i + j * c_ld] = T(i == j);
        solve(a, ld, n, pivots, 0, c + j * c_ld);
    }
}
template <typename T> int singular_column(const T *a, long long ld, int n) {
    for (int k = 0; k < n; ++k)
        if (a[k + k * ld] == T(0)) return k + 1;
    return 0;
}
template <typename T> EMU_VISIBLE void getri(int n, matrix<T> a, const int *pivots, matrix<T> c, int *info) {
    const int batch = static_cast<int>(blockIdx.x);
    info[batch] = singular_column(a.of(batch), a.ld, n);
    if (!info[batch])
        invert(a.of(batch), a.ld, n, pivots ? pivots + batch * n : nullptr, const_cast<T *>(c.of(batch)), c.ld);
}
enum { MOST_TO_INVERT = 32 };
template <typename T> EMU_VISIBLE void matinv(int n, matrix<T> a, matrix<T> c, int *info) {
    const int batch = static_cast<int>(blockIdx.x);
    T copy[MOST_TO_INVERT * MOST_TO_INVERT];
    int pivots[MOST_TO_INVERT];
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) copy[i + j * n] = a.of(batch)[i + j * a.ld];
    info[batch] = factorize(copy, n, n, pivots);
    if (!info[batch]) invert(copy, n, n, pivots, const_cast<T *>(c.of(batch)), c.ld);
}

// Rotations. `c` is real.
template <typename T, typename Real> void rotg(T *a, T *b, Real *c, T *s) {
    using std::abs;
    if constexpr (std::is_same<T, Real>::value) {
        const T larger = abs(*a) > abs(*b) ? *a : *b, r = std::copysign(std::hypot(*a, *b), larger);
        *c = r != 0 ? *a / r : T(1);
        *s = r != 0 ? *b / r : T(0);
        const T z = abs(*a) > abs(*b) ? *s : *c != 0 ? 1 / *c : T(1);
        *a = r, *b = r != 0 ? z : T(0);
    } else if (abs(*a) == 0) {
        *c = 0, *s = T(1), *a = *b;
    } else {
        const Real length = std::hypot(abs(*a), abs(*b));
        const T direction = *a / abs(*a);
        *c = abs(*a) / length;
        *s = direction * conjugate(*b) / length;
        *a = direction * length;
    }
}
template <typename T, typename Real> EMU_VISIBLE void rotg_there(T *a, T *b, Real *c, T *s) {
    rotg(a, b, c, s);
}
template <typename T, typename Real, typename Sine>
EMU_VISIBLE void rot_by(long long n, strided<T> x, strided<T> y, scalar<Real> c, scalar<Sine> s) {
    for (long long i = blockIdx.x * static_cast<long long>(PIECE), end = i + PIECE < n ? i + PIECE : n; i < end;
         ++i) {
        const T a = *x.at(i, n), b = *y.at(i, n);
        *x.at(i, n) = c.get() * a + s.get() * b;
        *y.at(i, n) = c.get() * b - conjugate(s.get()) * a;
    }
}

// A modified rotation: h[0] says which of h[1..4] are meant.
template <typename T> struct modified {
    T h[5];
    const T *at; // NULL: `h`
};
template <typename T> EMU_VISIBLE void rotm(long long n, strided<T> x, strided<T> y, modified<T> rotation) {
    const T *const h = rotation.at ? rotation.at : rotation.h;
    if (h[0] == T(-2)) return;
    const T h11 = h[0] == T(0) ? T(1) : h[1], h21 = h[0] == T(1) ? T(-1) : h[2];
    const T h12 = h[0] == T(1) ? T(1) : h[3], h22 = h[0] == T(0) ? T(1) : h[4];
    for (long long i = 0; i < n; ++i) {
        const T a = *x.at(i, n), b = *y.at(i, n);
        *x.at(i, n) = h11 * a + h12 * b;
        *y.at(i, n) = h21 * a + h22 * b;
    }
}
template <typename T> void rotmg(T *d1, T *d2, T *x1, const T *y1, T *h) {
    const T big = 4096;
    T flag = -1, h11 = 0, h12 = 0, h21 = 0, h22 = 0;
    const T p1 = *d1 * *x1, p2 = *d2 * *y1, q1 = p1 * *x1, q2 = p2 * *y1;
    if (*d1 < 0 || (p2 != 0 && std::fabs(q1) <= std::fabs(q2) && q2 < 0)) {
        *d1 = *d2 = *x1 = 0;
    } else if (p2 == 0) {
        h[0] = -2;
        return;
    } else {
        if (std::fabs(q1) > std::fabs(q2)) {
            flag = 0, h11 = h22 = 1, h21 = -*y1 / *x1, h12 = p2 / p1;
            const T u = 1 - h12 * h21;
            *d1 /= u, *d2 /= u, *x1 *= u;
        } else {
            flag = 1, h12 = 1, h21 = -1, h11 = p1 / p2, h22 = *x1 / *y1;
            const T u = 1 + h11 * h22, d = *d2 / u;
            *d2 = *d1 / u, *d1 = d, *x1 = *y1 * u;
        }
        // The weights are kept within bounds; then all four elements count.
        while (*d1 != 0 && (*d1 <= 1 / (big * big) || *d1 >= big * big)) {
            const T f = *d1 <= 1 / (big * big) ? big : 1 / big;
            flag = -1, *d1 *= f * f, *x1 /= f, h11 /= f, h12 /= f;
        }
        while (*d2 != 0 && (std::fabs(*d2) <= 1 / (big * big) || std::fabs(*d2) >= big * big)) {
            const T f = std::fabs(*d2) <= 1 / (big * big) ? big : 1 / big;
            flag = -1, *d2 *= f * f, h21 /= f, h22 /= f;
        }
    }
    h[0] = flag;
    if (flag != 0) h[1] = h11, h[4] = h22;
    if (flag != 1) h[2] = h21, h[3] = h12;
}
template <typename T> EMU_VISIBLE void rotmg_there(T *d1, T *d2, T *x1, const T *y1, T *h) {
    rotmg(d1, d2, x1, y1, h);
}

} // namespace emu_blas

#endif
