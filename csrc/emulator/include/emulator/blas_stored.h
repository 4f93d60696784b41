// cuBLAS's functions for matrices of which a part is stored, for batches of systems, and for rotations; and those
// that take the types of their operands at run time. Part of blas.h.
#ifndef EMULATOR_BLAS_STORED_H
#define EMULATOR_BLAS_STORED_H

#include "blas_stored_kernels.h"

namespace emu_blas {

template <typename T>
stored<num<T>> part(meaning kind, layout order, const T *a, int ld, int n, int fill, int operation = 0, int unit = 0,
                    int width = -1) {
    const bool upper = fill == CUBLAS_FILL_MODE_UPPER;
    const bool band = order == BANDS;
    return {in(a),
            ld,
            n,
            kind,
            order,
            operation,
            upper,
            unit,
            band && upper ? 0
            : band        ? width
                          : n,
            band && !upper ? 0
            : band         ? width
                           : n};
}
template <typename T> strided<const num<T>> from(const T *x, int step) {
    return {in(x), step};
}
template <typename T> strided<num<T>> into(T *x, int step) {
    return {out(x), step};
}
inline dim3 blocks(int n) {
    return dim3(static_cast<unsigned>(n));
}
template <typename T>
cublasStatus_t times_vector(cublasHandle_t handle, bool right, const stored<num<T>> &a, int rows, int terms,
                            const T *alpha, const T *x, int step_x, const T *beta, T *y, int step_y) {
    EMU_CHECK(right && rows >= 0 && terms >= 0 && alpha && beta && step_x && step_y);
    return start(handle, dim3(pieces(rows, 64)), stored_mv<num<T>>, rows, terms, given(handle, alpha), a,
                 from(x, step_x), given(handle, beta), into(y, step_y));
}
template <typename T>
cublasStatus_t with_triangle(cublasHandle_t handle, bool right, const stored<num<T>> &a, T *x, int step, int solve) {
    EMU_CHECK(right && a.n >= 0 && step);
    return start(handle, dim3(1), stored_triangle<num<T>>, a, into(x, step), solve);
}
template <typename T, typename Factor>
cublasStatus_t update(cublasHandle_t handle, bool right, const stored<num<T>> &a, const Factor *alpha, const T *x,
                      int step_x, const T *y, int step_y, int two) {
    EMU_CHECK(right && a.n >= 0 && alpha && step_x && step_y);
    return start(handle, blocks(static_cast<int>(a.n)), stored_update<num<T>, num<Factor>>, a, given(handle, alpha),
                 from(x, step_x), from(y, step_y), two);
}
template <typename T>
cublasStatus_t times_matrix(cublasHandle_t handle, meaning kind, int side, int fill, int m, int n, const T *alpha,
                            const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc) {
    const bool right = side == CUBLAS_SIDE_RIGHT;
    EMU_CHECK(m >= 0 && n >= 0 && alpha && beta && fits(lda, right ? n : m) && fits(ldb, m) && fits(ldc, m));
    return start(handle, blocks(n), stored_mm<num<T>>, m, given(handle, alpha),
                 part(kind, COLUMNS, a, lda, right ? n : m, fill), single(b, ldb), given(handle, beta), out(c), ldc,
                 right);
}
template <typename T, typename Alpha, typename Beta>
cublasStatus_t rank(cublasHandle_t handle, int fill, int operation, int n, int k, const Alpha *alpha, const T *a,
                    int lda, const T *b, int ldb, const Beta *beta, T *c, int ldc, int hermitian, int two) {
    EMU_CHECK(n >= 0 && k >= 0 && alpha && beta && fits(lda, operation ? k : n) && fits(ldb, operation ? k : n) &&
              fits(ldc, n) && (hermitian ? operation != CUBLAS_OP_T : true));
    return start(handle, blocks(n), rank_k<num<T>, num<Alpha>, num<Beta>>, n, k, given(handle, alpha),
                 single(a, lda, operation), single(b, ldb, operation), given(handle, beta), out(c), ldc,
                 fill == CUBLAS_FILL_MODE_UPPER, hermitian, two);
}
template <typename T>
cublasStatus_t products(cublasHandle_t handle, int operation, int m, int n, const T *alpha, const matrix<num<T>> &a,
                        const matrix<num<T>> &x, int step_x, const T *beta, const matrix<num<T>> &y, int step_y,
                        int count) {
    EMU_CHECK(m >= 0 && n >= 0 && count >= 0 && alpha && beta && step_x && step_y && operation <= CUBLAS_OP_C);
    return start(handle, blocks(count), gemv_batch<num<T>>, m, n, given(handle, alpha), a, x, step_x,
                 given(handle, beta), y, step_y);
}

// On the host or, where the numbers are on the device, there.
template <typename... P>
cublasStatus_t here_or_there(cublasHandle_t handle, void (*here)(P...), void (*there)(P...), P... arguments) {
    EMU_CHECK(true);
    if (handle->pointers == CUBLAS_POINTER_MODE_DEVICE) return start(handle, dim3(1), there, arguments...);
    here(arguments...);
    return CUBLAS_STATUS_SUCCESS;
}
} // namespace emu_blas

// --- functions of every type ---------------------------------------------------------------------------------------
#define EMU_FILL     cublasHandle_t handle, cublasFillMode_t fill
#define EMU_TRIANGLE EMU_FILL, cublasOperation_t operation, cublasDiagType_t diagonal, int n
#define EMU_TRIANGULAR(name, T, list, right, order, a, ld, width, solve)                                             \
    inline cublasStatus_t name list {                                                                                \
        using namespace emu_blas;                                                                                    \
        return with_triangle(handle, right, part(TRIANGULAR, order, a, ld, n, fill, operation, diagonal, width), x,  \
                             step_x, solve);                                                                         \
    }
#define EMU_STORED(X, T)                                                                                             \
    EMU_TRIANGULAR(cublas##X##trmv, T, (EMU_TRIANGLE, const T *a, int lda, T *x, int step_x), fits(lda, n), COLUMNS, \
                   a, lda, n, 0)                                                                                     \
    EMU_TRIANGULAR(cublas##X##tbmv, T, (EMU_TRIANGLE, int k, const T *a, int lda, T *x, int step_x),                 \
                   k >= 0 && lda > k, BANDS, a, lda, k, 0)                                                           \
    EMU_TRIANGULAR(cublas##X##tbsv, T, (EMU_TRIANGLE, int k, const T *a, int lda, T *x, int step_x),                 \
                   k >= 0 && lda > k, BANDS, a, lda, k, 1)                                                           \
    EMU_TRIANGULAR(cublas##X##tpmv, T, (EMU_TRIANGLE, const T *a, T *x, int step_x), true, PACKED, a, 0, n, 0)       \
    EMU_TRIANGULAR(cublas##X##tpsv, T, (EMU_TRIANGLE, const T *a, T *x, int step_x), true, PACKED, a, 0, n, 1)       \
    inline cublasStatus_t cublas##X##gbmv(cublasHandle_t handle, cublasOperation_t operation, int m, int n, int kl,  \
                                          int ku, const T *alpha, const T *a, int lda, const T *x, int step_x,       \
                                          const T *beta, T *y, int step_y) {                                         \
        using namespace emu_blas;                                                                                    \
        const stored<num<T>> of = {in(a), lda, n, WHOLE, BANDS, operation, 0, 0, kl, ku};                            \
        return times_vector(handle, kl >= 0 && ku >= 0 && lda > kl + ku, of, operation ? n : m, operation ? m : n,   \
                            alpha, x, step_x, beta, y, step_y);                                                      \
    }                                                                                                                \
    EMU_SYMMETRIC_MV(cublas##X##symv, T, SYMMETRIC)                                                                  \
    EMU_UPDATES(cublas##X##syr, cublas##X##syr2, T, T, SYMMETRIC, EMU_WHOLE, a, lda)                                 \
    EMU_MM(cublas##X##symm, T, SYMMETRIC)                                                                            \
    EMU_RANK(cublas##X##syr2k, T, T, 0, 1)                                                                           \
    EMU_RANK(cublas##X##syrkx, T, T, 0, 0)                                                                           \
    inline cublasStatus_t cublas##X##tpttr(EMU_FILL, int n, const T *packed, T *a, int lda) {                        \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(n >= 0 && fits(lda, n));                                                                           \
        return start(handle, blocks(n), repack<num<T>>, part(TRIANGULAR, PACKED, packed, 0, n, fill),                \
                     part<T>(TRIANGULAR, COLUMNS, a, lda, n, fill));                                                 \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##trttp(EMU_FILL, int n, const T *a, int lda, T *packed) {                        \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(n >= 0 && fits(lda, n));                                                                           \
        return start(handle, blocks(n), repack<num<T>>, part(TRIANGULAR, COLUMNS, a, lda, n, fill),                  \
                     part<T>(TRIANGULAR, PACKED, packed, 0, n, fill));                                               \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##gemvBatched(cublasHandle_t handle, cublasOperation_t operation, int m, int n,   \
                                                 const T *alpha, const T *const a[], int lda, const T *const x[],    \
                                                 int step_x, const T *beta, T *const y[], int step_y, int count) {   \
        using namespace emu_blas;                                                                                    \
        return products(handle, operation, m, n, alpha, batch(a, lda, operation), batch(x, 0), step_x, beta,         \
                        batch<T>(y, 0), step_y, count);                                                              \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##gemvStridedBatched(                                                             \
        cublasHandle_t handle, cublasOperation_t operation, int m, int n, const T *alpha, const T *a, int lda,       \
        long long stride_a, const T *x, int step_x, long long stride_x, const T *beta, T *y, int step_y,             \
        long long stride_y, int count) {                                                                             \
        using namespace emu_blas;                                                                                    \
        return products(handle, operation, m, n, alpha, single(a, lda, operation, stride_a),                         \
                        single(x, 0, 0, stride_x), step_x, beta, single<T>(y, 0, 0, stride_y), step_y, count);       \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##trsmBatched(cublasHandle_t handle, cublasSideMode_t side,                       \
                                                 cublasFillMode_t fill, cublasOperation_t operation,                 \
                                                 cublasDiagType_t diagonal, int m, int n, const T *alpha,            \
                                                 const T *const a[], int lda, T *const b[], int ldb, int count) {    \
        using namespace emu_blas;                                                                                    \
        const bool right = side == CUBLAS_SIDE_RIGHT;                                                                \
        EMU_CHECK(m >= 0 && n >= 0 && count >= 0 && alpha && fits(lda, right ? n : m) && fits(ldb, m));              \
        const triangle<num<T>> of = {nullptr, lda, right ? n : m, operation, fill == CUBLAS_FILL_MODE_UPPER,         \
                                     diagonal};                                                                      \
        return start(handle, blocks(count), trsm_batch<num<T>>, batch(a, lda), of, given(handle, alpha),             \
                     batch<T>(b, ldb), right ? m : n, right);                                                        \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##getrfBatched(cublasHandle_t handle, int n, T *const a[], int lda, int *pivots,  \
                                                  int *info, int count) {                                            \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(n >= 0 && count >= 0 && fits(lda, n));                                                             \
        return start(handle, blocks(count), getrf<num<T>>, n, batch<T>(a, lda), pivots, info);                       \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##getrsBatched(cublasHandle_t handle, cublasOperation_t operation, int n,         \
                                                  int columns, const T *const a[], int lda, const int *pivots,       \
                                                  T *const b[], int ldb, int *info, int count) {                     \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(n >= 0 && columns >= 0 && count >= 0 && fits(lda, n) && fits(ldb, n) && info);                     \
        *info = 0; /* (of the parameters, and on the host) */                                                        \
        return start(handle, blocks(count), getrs<num<T>>, n, columns, batch(a, lda), pivots, int(operation),        \
                     batch<T>(b, ldb));                                                                              \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##getriBatched(cublasHandle_t handle, int n, const T *const a[], int lda,         \
                                                  const int *pivots, T *const c[], int ldc, int *info, int count) {  \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(n >= 0 && count >= 0 && fits(lda, n) && fits(ldc, n));                                             \
        return start(handle, blocks(count), getri<num<T>>, n, batch(a, lda), pivots, batch<T>(c, ldc), info);        \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##matinvBatched(cublasHandle_t handle, int n, const T *const a[], int lda,        \
                                                   T *const c[], int ldc, int *info, int count) {                    \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(n >= 0 && n <= MOST_TO_INVERT && count >= 0 && fits(lda, n) && fits(ldc, n));                      \
        return start(handle, blocks(count), matinv<num<T>>, n, batch(a, lda), batch<T>(c, ldc), info);               \
    }

// Symmetric and Hermitian ones: of these, real numbers have the first and complex ones both.
#define EMU_SYMMETRIC_MV(name, T, kind)                                                                              \
    inline cublasStatus_t name(EMU_FILL, int n, const T *alpha, const T *a, int lda, const T *x, int step_x,         \
                               const T *beta, T *y, int step_y) {                                                    \
        using namespace emu_blas;                                                                                    \
        return times_vector(handle, fits(lda, n), part(kind, COLUMNS, a, lda, n, fill), n, n, alpha, x, step_x,      \
                            beta, y, step_y);                                                                        \
    }
#define EMU_WHOLE(T)        T *a, int lda
#define EMU_PACKED_WHOLE(T) T *a
#define EMU_UPDATES(name, name2, T, Real, kind, target, a, ld)                                                       \
    inline cublasStatus_t name(EMU_FILL, int n, const Real *alpha, const T *x, int step_x, target(T)) {              \
        using namespace emu_blas;                                                                                    \
        return update(handle, true, part<T>(kind, (ld) ? COLUMNS : PACKED, a, ld, n, fill), alpha, x, step_x, x,     \
                      step_x, 0);                                                                                    \
    }                                                                                                                \
    inline cublasStatus_t name2(EMU_FILL, int n, const T *alpha, const T *x, int step_x, const T *y, int step_y,     \
                                target(T)) {                                                                         \
        using namespace emu_blas;                                                                                    \
        return update(handle, true, part<T>(kind, (ld) ? COLUMNS : PACKED, a, ld, n, fill), alpha, x, step_x, y,     \
                      step_y, 1);                                                                                    \
    }
#define EMU_MM(name, T, kind)                                                                                        \
    inline cublasStatus_t name(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, int m, int n,    \
                               const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c,        \
                               int ldc) {                                                                            \
        using namespace emu_blas;                                                                                    \
        return times_matrix(handle, kind, side, fill, m, n, alpha, a, lda, b, ldb, beta, c, ldc);                    \
    }
#define EMU_RANK(name, T, Beta, hermitian, two)                                                                      \
    inline cublasStatus_t name(EMU_FILL, cublasOperation_t operation, int n, int k, const T *alpha, const T *a,      \
                               int lda, const T *b, int ldb, const Beta *beta, T *c, int ldc) {                      \
        return emu_blas::rank(handle, fill, operation, n, k, alpha, a, lda, b, ldb, beta, c, ldc, hermitian, two);   \
    }
#define EMU_PARTS(X, b_name, p_name, pr_name, pr2_name, T, Real, kind)                                               \
    inline cublasStatus_t b_name(EMU_FILL, int n, int k, const T *alpha, const T *a, int lda, const T *x,            \
                                 int step_x, const T *beta, T *y, int step_y) {                                      \
        using namespace emu_blas;                                                                                    \
        return times_vector(handle, k >= 0 && lda > k, part(kind, BANDS, a, lda, n, fill, 0, 0, k), n, n, alpha, x,  \
                            step_x, beta, y, step_y);                                                                \
    }                                                                                                                \
    inline cublasStatus_t p_name(EMU_FILL, int n, const T *alpha, const T *a, const T *x, int step_x, const T *beta, \
                                 T *y, int step_y) {                                                                 \
        using namespace emu_blas;                                                                                    \
        return times_vector(handle, true, part(kind, PACKED, a, 0, n, fill), n, n, alpha, x, step_x, beta, y,        \
                            step_y);                                                                                 \
    }                                                                                                                \
    EMU_UPDATES(pr_name, pr2_name, T, Real, kind, EMU_PACKED_WHOLE, a, 0)
#define EMU_HERMITIAN(X, T, Real)                                                                                    \
    EMU_PARTS(X, cublas##X##hbmv, cublas##X##hpmv, cublas##X##hpr, cublas##X##hpr2, T, Real, HERMITIAN)              \
    EMU_SYMMETRIC_MV(cublas##X##hemv, T, HERMITIAN)                                                                  \
    EMU_UPDATES(cublas##X##her, cublas##X##her2, T, Real, HERMITIAN, EMU_WHOLE, a, lda)                              \
    EMU_MM(cublas##X##hemm, T, HERMITIAN)                                                                            \
    EMU_RANK(cublas##X##her2k, T, Real, 1, 1)                                                                        \
    EMU_RANK(cublas##X##herkx, T, Real, 1, 0)                                                                        \
    inline cublasStatus_t cublas##X##herk(EMU_FILL, cublasOperation_t operation, int n, int k, const Real *alpha,    \
                                          const T *a, int lda, const Real *beta, T *c, int ldc) {                    \
        return emu_blas::rank(handle, fill, operation, n, k, alpha, a, lda, a, lda, beta, c, ldc, 1, 0);             \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##gemm3m(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,       \
                                            int m, int n, int k, const T *alpha, const T *a, int lda, const T *b,    \
                                            int ldb, const T *beta, T *c, int ldc) {                                 \
        return cublas##X##gemm(handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                        \
    }
EMU_STORED(S, float)
EMU_STORED(D, double)
EMU_STORED(C, cuComplex)
EMU_STORED(Z, cuDoubleComplex)
EMU_PARTS(S, cublasSsbmv, cublasSspmv, cublasSspr, cublasSspr2, float, float, SYMMETRIC)
EMU_PARTS(D, cublasDsbmv, cublasDspmv, cublasDspr, cublasDspr2, double, double, SYMMETRIC)
EMU_HERMITIAN(C, cuComplex, float)
EMU_HERMITIAN(Z, cuDoubleComplex, double)
#undef EMU_FILL
#undef EMU_TRIANGLE
#undef EMU_TRIANGULAR
#undef EMU_STORED
#undef EMU_SYMMETRIC_MV
#undef EMU_WHOLE
#undef EMU_PACKED_WHOLE
#undef EMU_UPDATES
#undef EMU_MM
#undef EMU_RANK
#undef EMU_PARTS
#undef EMU_HERMITIAN

// --- rotations, and products with real numbers ---------------------------------------------------------------------
#define EMU_ROTATION(rotg_name, T, Real)                                                                             \
    inline cublasStatus_t rotg_name(cublasHandle_t handle, T *a, T *b, Real *c, T *s) {                              \
        using namespace emu_blas;                                                                                    \
        return here_or_there(handle, rotg<num<T>, Real>, rotg_there<num<T>, Real>, out(a), out(b), c, out(s));       \
    }
EMU_ROTATION(cublasSrotg, float, float)
EMU_ROTATION(cublasDrotg, double, double)
EMU_ROTATION(cublasCrotg, cuComplex, float)
EMU_ROTATION(cublasZrotg, cuDoubleComplex, double)
#undef EMU_ROTATION
#define EMU_ROTATE(name, T, Real, Sine)                                                                              \
    inline cublasStatus_t name(cublasHandle_t handle, int n, T *x, int step_x, T *y, int step_y, const Real *c,      \
                               const Sine *s) {                                                                      \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(c &&s);                                                                                            \
        return start(handle, dim3(pieces(n, PIECE)), rot_by<num<T>, Real, num<Sine>>, n, into(x, step_x),            \
                     into(y, step_y), given(handle, c), given(handle, s));                                           \
    }
EMU_ROTATE(cublasCrot, cuComplex, float, cuComplex)
EMU_ROTATE(cublasZrot, cuDoubleComplex, double, cuDoubleComplex)
EMU_ROTATE(cublasCsrot, cuComplex, float, float)
EMU_ROTATE(cublasZdrot, cuDoubleComplex, double, double)
#undef EMU_ROTATE
#define EMU_MODIFIED(X, T)                                                                                           \
    inline cublasStatus_t cublas##X##rotm(cublasHandle_t handle, int n, T *x, int step_x, T *y, int step_y,          \
                                          const T *h) {                                                              \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(h != nullptr);                                                                                     \
        modified<T> rotation = {{}, h};                                                                              \
        if (handle->pointers == CUBLAS_POINTER_MODE_HOST) rotation = {{h[0], h[1], h[2], h[3], h[4]}, nullptr};      \
        return start(handle, dim3(n > 0), rotm<T>, n, into(x, step_x), into(y, step_y), rotation);                   \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##rotmg(cublasHandle_t handle, T *d1, T *d2, T *x1, const T *y1, T *h) {          \
        using namespace emu_blas;                                                                                    \
        return here_or_there(handle, rotmg<T>, rotmg_there<T>, d1, d2, x1, y1, h);                                   \
    }
EMU_MODIFIED(S, float)
EMU_MODIFIED(D, double)
#undef EMU_MODIFIED
#define EMU_REAL_SCAL(name, T, Real)                                                                                 \
    inline cublasStatus_t name(cublasHandle_t handle, int n, const Real *alpha, T *x, int step_x) {                  \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(alpha != nullptr);                                                                                 \
        if (step_x <= 0) return CUBLAS_STATUS_SUCCESS;                                                               \
        return start(handle, dim3(pieces(n, PIECE)), scal<num<T>, Real>, n, given(handle, alpha), into(x, step_x));  \
    }
EMU_REAL_SCAL(cublasCsscal, cuComplex, float)
EMU_REAL_SCAL(cublasZdscal, cuDoubleComplex, double)
#undef EMU_REAL_SCAL

// --- types given at run time: all the same one ---------------------------------------------------------------------
#define EMU_OF_TYPE(type, call)                                                                                      \
    switch (type) {                                                                                                  \
    case CUDA_R_32F: return call(S, float);                                                                          \
    case CUDA_R_64F: return call(D, double);                                                                         \
    case CUDA_C_32F: return call(C, cuComplex);                                                                      \
    case CUDA_C_64F: return call(Z, cuDoubleComplex);                                                                \
    default: return CUBLAS_STATUS_NOT_SUPPORTED;                                                                     \
    }
#define EMU_AT(T, x)    static_cast<T *>(x)
#define EMU_CONST(T, x) static_cast<const T *>(x)
inline cublasStatus_t cublasAxpyEx(cublasHandle_t handle, int n, const void *alpha, cudaDataType alpha_type,
                                   const void *x, cudaDataType x_type, int step_x, void *y, cudaDataType y_type,
                                   int step_y, cudaDataType) {
    if (alpha_type != x_type || x_type != y_type) return CUBLAS_STATUS_NOT_SUPPORTED;
#define EMU_CALL(X, T) cublas##X##axpy(handle, n, EMU_CONST(T, alpha), EMU_CONST(T, x), step_x, EMU_AT(T, y), step_y)
    EMU_OF_TYPE(x_type, EMU_CALL)
#undef EMU_CALL
}
inline cublasStatus_t cublasScalEx(cublasHandle_t handle, int n, const void *alpha, cudaDataType alpha_type, void *x,
                                   cudaDataType x_type, int step_x, cudaDataType) {
    if (alpha_type != x_type) return CUBLAS_STATUS_NOT_SUPPORTED;
#define EMU_CALL(X, T) cublas##X##scal(handle, n, EMU_CONST(T, alpha), EMU_AT(T, x), step_x)
    EMU_OF_TYPE(x_type, EMU_CALL)
#undef EMU_CALL
}
#define EMU_DOT_EX(name, conjugate)                                                                                  \
    inline cublasStatus_t name(cublasHandle_t handle, int n, const void *x, cudaDataType x_type, int step_x,         \
                               const void *y, cudaDataType y_type, int step_y, void *result,                         \
                               cudaDataType result_type, cudaDataType) {                                             \
        if (x_type != y_type || y_type != result_type) return CUBLAS_STATUS_NOT_SUPPORTED;                           \
        EMU_OF_TYPE(x_type, conjugate)                                                                               \
    }
#define EMU_DOT_OF(name, T)                                                                                          \
    cublas##name(handle, n, EMU_CONST(T, x), step_x, EMU_CONST(T, y), step_y, EMU_AT(T, result))
#define EMU_DOTU(X, T) EMU_DOTU_##X(T)
#define EMU_DOTU_S(T)  EMU_DOT_OF(Sdot, T)
#define EMU_DOTU_D(T)  EMU_DOT_OF(Ddot, T)
#define EMU_DOTU_C(T)  EMU_DOT_OF(Cdotu, T)
#define EMU_DOTU_Z(T)  EMU_DOT_OF(Zdotu, T)
#define EMU_DOTC(X, T) EMU_DOTC_##X(T)
#define EMU_DOTC_S(T)  EMU_DOT_OF(Sdot, T)
#define EMU_DOTC_D(T)  EMU_DOT_OF(Ddot, T)
#define EMU_DOTC_C(T)  EMU_DOT_OF(Cdotc, T)
#define EMU_DOTC_Z(T)  EMU_DOT_OF(Zdotc, T)
EMU_DOT_EX(cublasDotEx, EMU_DOTU)
EMU_DOT_EX(cublasDotcEx, EMU_DOTC)
inline cublasStatus_t cublasNrm2Ex(cublasHandle_t handle, int n, const void *x, cudaDataType x_type, int step_x,
                                   void *result, cudaDataType result_type, cudaDataType) {
    const bool in_double = x_type == CUDA_R_64F || x_type == CUDA_C_64F;
    if (result_type != (in_double ? CUDA_R_64F : CUDA_R_32F)) return CUBLAS_STATUS_NOT_SUPPORTED;
    switch (x_type) {
    case CUDA_R_32F: return cublasSnrm2(handle, n, EMU_CONST(float, x), step_x, EMU_AT(float, result));
    case CUDA_R_64F: return cublasDnrm2(handle, n, EMU_CONST(double, x), step_x, EMU_AT(double, result));
    case CUDA_C_32F: return cublasScnrm2(handle, n, EMU_CONST(cuComplex, x), step_x, EMU_AT(float, result));
    case CUDA_C_64F: return cublasDznrm2(handle, n, EMU_CONST(cuDoubleComplex, x), step_x, EMU_AT(double, result));
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}
inline cublasStatus_t cublasRotEx(cublasHandle_t handle, int n, void *x, cudaDataType x_type, int step_x, void *y,
                                  cudaDataType y_type, int step_y, const void *c, const void *s, cudaDataType type,
                                  cudaDataType) {
    if (x_type != y_type) return CUBLAS_STATUS_NOT_SUPPORTED;
#define EMU_CALL(of, types, name, T, Real)                                                                           \
    if (x_type == of && type == types)                                                                               \
        return name(handle, n, EMU_AT(T, x), step_x, EMU_AT(T, y), step_y, EMU_CONST(Real, c), EMU_CONST(Real, s));
    EMU_CALL(CUDA_R_32F, CUDA_R_32F, cublasSrot, float, float)
    EMU_CALL(CUDA_R_64F, CUDA_R_64F, cublasDrot, double, double)
    EMU_CALL(CUDA_C_32F, CUDA_R_32F, cublasCsrot, cuComplex, float)
    EMU_CALL(CUDA_C_64F, CUDA_R_64F, cublasZdrot, cuDoubleComplex, double)
#undef EMU_CALL
    return CUBLAS_STATUS_NOT_SUPPORTED;
}
#define EMU_RANK_EX(name, function, Real)                                                                            \
    inline cublasStatus_t name(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t operation, int n,     \
                               int k, const Real *alpha, const void *a, cudaDataType a_type, int lda,                \
                               const Real *beta, void *c, cudaDataType c_type, int ldc) {                            \
        if (a_type != CUDA_C_32F || c_type != CUDA_C_32F) return CUBLAS_STATUS_NOT_SUPPORTED;                        \
        return function(handle, fill, operation, n, k, alpha, EMU_CONST(cuComplex, a), lda, beta,                    \
                        EMU_AT(cuComplex, c), ldc);                                                                  \
    }
EMU_RANK_EX(cublasCherkEx, cublasCherk, float)
EMU_RANK_EX(cublasCherk3mEx, cublasCherk, float)
EMU_RANK_EX(cublasCsyrkEx, cublasCsyrk, cuComplex)
EMU_RANK_EX(cublasCsyrk3mEx, cublasCsyrk, cuComplex)
#undef EMU_RANK_EX
#undef EMU_OF_TYPE
#undef EMU_AT
#undef EMU_CONST
#undef EMU_DOT_EX
#undef EMU_DOT_OF
#undef EMU_DOTU
#undef EMU_DOTU_S
#undef EMU_DOTU_D
#undef EMU_DOTU_C
#undef EMU_DOTU_Z
#undef EMU_DOTC
#undef EMU_DOTC_S
#undef EMU_DOTC_D
#undef EMU_DOTC_C
#undef EMU_DOTC_Z

// Groups of batches; the pointers to the matrices are on the device, the rest is on the host.
#define EMU_GROUPED(X, T)                                                                                            \
    inline cublasStatus_t cublas##X##gemmGroupedBatched(                                                             \
        cublasHandle_t handle, const cublasOperation_t ta[], const cublasOperation_t tb[], const int m[],            \
        const int n[], const int k[], const T alpha[], const T *const a[], const int lda[], const T *const b[],      \
        const int ldb[], const T beta[], T *const c[], const int ldc[], int groups, const int sizes[]) {             \
        for (int i = 0, done = 0; i < groups; done += sizes[i++])                                                    \
            if (const cublasStatus_t code =                                                                          \
                    cublas##X##gemmBatched(handle, ta[i], tb[i], m[i], n[i], k[i], alpha + i, a + done, lda[i],      \
                                           b + done, ldb[i], beta + i, c + done, ldc[i], sizes[i]))                  \
                return code;                                                                                         \
        return CUBLAS_STATUS_SUCCESS;                                                                                \
    }
EMU_GROUPED(S, float)
EMU_GROUPED(D, double)
#undef EMU_GROUPED

inline cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value) {
    if (!value || type < MAJOR_VERSION || type > PATCH_LEVEL) return CUBLAS_STATUS_INVALID_VALUE;
    const int parts[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};
    *value = parts[type];
    return CUBLAS_STATUS_SUCCESS;
}

#endif
