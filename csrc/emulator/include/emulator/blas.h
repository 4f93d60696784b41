// cuBLAS's functions: checks of their parameters, and launches of the kernels in blas_kernels.h.
//
// EMU_BLAS_REAL(S, float, ...) and so on define a function for each type under cuBLAS's names: cublasSaxpy, ...
#ifndef EMULATOR_BLAS_H
#define EMULATOR_BLAS_H

#include "blas_kernels.h"
#include "device_launch.h"

struct cublasContext {
    cudaStream_t stream = nullptr;
    cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
    cublasMath_t math = CUBLAS_DEFAULT_MATH;
    cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
    void *result = nullptr; // page-locked: where kernels leave a number for the host
};
typedef cublasContext *cublasHandle_t;

namespace emu_blas {

// cuBLAS's types as those in which the kernels compute.
template <typename T> struct number { using type = T; };
template <> struct number<cuComplex> { using type = std::complex<float>; };
template <> struct number<cuDoubleComplex> { using type = std::complex<double>; };
template <typename T> using num = typename number<T>::type;
template <typename T> const num<T> *in(const T *x) {
    return reinterpret_cast<const num<T> *>(x);
}
template <typename T> num<T> *out(T *x) {
    return reinterpret_cast<num<T> *>(x);
}

inline cublasStatus_t status(cudaError_t code) {
    return code == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
template <typename... P, typename... A>
cublasStatus_t start(cublasHandle_t handle, dim3 grid, void (*kernel)(P...), A... arguments) {
    if (!grid.x || !grid.y || !grid.z) return CUBLAS_STATUS_SUCCESS;
    const cudaLaunchConfig_t config = {grid, dim3(1), 0, handle->stream, nullptr, 0};
    return status(cudaLaunchKernelEx(&config, kernel, arguments...));
}
inline unsigned pieces(long long n, int piece) {
    return n > 0 ? static_cast<unsigned>((n + piece - 1) / piece) : 0;
}
template <typename T> scalar<num<T>> given(cublasHandle_t handle, const T *x) {
    if (handle->pointers == CUBLAS_POINTER_MODE_DEVICE) return {num<T>(0), in(x)};
    return {*in(x), nullptr};
}
// Runs a kernel of one block that leaves a number at `result`, by way of the handle's own memory if it is the host's.
template <typename T, typename... P, typename... A>
cublasStatus_t reduce(cublasHandle_t handle, T *result, void (*kernel)(P...), A... arguments) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!result) return CUBLAS_STATUS_INVALID_VALUE;
    if (handle->pointers == CUBLAS_POINTER_MODE_DEVICE) return start(handle, dim3(1), kernel, arguments..., result);
    T *const place = static_cast<T *>(handle->result);
    cublasStatus_t code = start(handle, dim3(1), kernel, arguments..., place);
    if (code == CUBLAS_STATUS_SUCCESS) code = status(cudaStreamSynchronize(handle->stream));
    if (code == CUBLAS_STATUS_SUCCESS) *result = *place;
    return code;
}

inline cublasStatus_t check(cublasHandle_t handle, bool right) {
    return !handle ? CUBLAS_STATUS_NOT_INITIALIZED : right ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
inline bool fits(int ld, int rows) {
    return ld >= (rows > 1 ? rows : 1);
}
#define EMU_CHECK(right)                                                                                             \
    if (const cublasStatus_t bad_ = emu_blas::check(handle, right)) return bad_

template <typename Sum, typename In, typename Out>
cublasStatus_t multiply(cublasHandle_t handle, int ta, int tb, int m, int n, int k, scalar<Sum> alpha,
                        const matrix<In> &a, const matrix<In> &b, scalar<Sum> beta, const matrix<Out> &c, int count,
                        int triangle = 0) {
    EMU_CHECK(m >= 0 && n >= 0 && k >= 0 && count >= 0 && ta >= 0 && ta <= 2 && tb >= 0 && tb <= 2 &&
              fits(static_cast<int>(a.ld), ta ? k : m) && fits(static_cast<int>(b.ld), tb ? n : k) &&
              fits(static_cast<int>(c.ld), m));
    const dim3 grid(pieces(m, TILE_ROWS), pieces(n, TILE_COLUMNS), static_cast<unsigned>(count));
    return start(handle, grid, gemm<In, Out, Sum>, product<In, Out, Sum>{m, n, k, alpha, beta, a, b, c, triangle});
}
template <typename T> matrix<num<T>> single(const T *data, int ld, int operation = 0, long long stride = 0) {
    return {in(data), nullptr, ld, stride, operation};
}
template <typename T> matrix<num<T>> batch(const T *const each[], int ld, int operation = 0) {
    return {nullptr, reinterpret_cast<const num<T> *const *>(each), ld, 0, operation};
}

// Products of elements whose types are given at run time. `each`: the addresses are those of pointers to matrices.
template <typename T> matrix<num<T>> untyped(const void *data, int ld, int operation, long long stride, bool each) {
    return each ? batch(static_cast<const T *const *>(data), ld, operation)
                : single(static_cast<const T *>(data), ld, operation, stride);
}
template <typename Sum, typename Out, typename In>
cublasStatus_t multiply_ex(cublasHandle_t handle, int ta, int tb, int m, int n, int k, const void *alpha,
                           const void *a, int lda, long long stride_a, const void *b, int ldb, long long stride_b,
                           const void *beta, const void *c, int ldc, long long stride_c, int count, bool each) {
    const auto first = given(handle, static_cast<const Sum *>(alpha));
    const auto second = given(handle, static_cast<const Sum *>(beta));
    return multiply(handle, ta, tb, m, n, k, first, untyped<In>(a, lda, ta, stride_a, each),
                    untyped<In>(b, ldb, tb, stride_b, each), second, untyped<Out>(c, ldc, 0, stride_c, each), count);
}
} // namespace emu_blas

// --- the handle ---------------------------------------------------------------------------------------------------
inline cublasStatus_t cublasCreate(cublasHandle_t *handle) {
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = new cublasContext;
    if (cudaMallocHost(&(*handle)->result, 16) == cudaSuccess) return CUBLAS_STATUS_SUCCESS;
    delete *handle;
    *handle = nullptr;
    return CUBLAS_STATUS_NOT_INITIALIZED;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t handle) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    cudaFreeHost(handle->result);
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}
#define EMU_BLAS_SETTING(Name, T, member)                                                                            \
    inline cublasStatus_t cublasSet##Name(cublasHandle_t handle, T value) {                                          \
        EMU_CHECK(true);                                                                                             \
        handle->member = value;                                                                                      \
        return CUBLAS_STATUS_SUCCESS;                                                                                \
    }                                                                                                                \
    inline cublasStatus_t cublasGet##Name(cublasHandle_t handle, T *value) {                                         \
        EMU_CHECK(value != nullptr);                                                                                 \
        *value = handle->member;                                                                                     \
        return CUBLAS_STATUS_SUCCESS;                                                                                \
    }
EMU_BLAS_SETTING(Stream, cudaStream_t, stream)
EMU_BLAS_SETTING(PointerMode, cublasPointerMode_t, pointers)
EMU_BLAS_SETTING(MathMode, cublasMath_t, math)
EMU_BLAS_SETTING(AtomicsMode, cublasAtomicsMode_t, atomics)
#undef EMU_BLAS_SETTING
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *, size_t) {
    return emu_blas::check(handle, true);
}
inline cublasStatus_t cublasGetVersion(cublasHandle_t, int *version) {
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}
inline const char *cublasGetStatusName(cublasStatus_t status) {
    switch (status) {
#define EMU_STATUS_NAME(name, number)                                                                                \
    case name: return #name;
        EMU_CUBLAS_STATUS(EMU_STATUS_NAME)
#undef EMU_STATUS_NAME
    }
    return "unknown status";
}
inline const char *cublasGetStatusString(cublasStatus_t status) {
    return cublasGetStatusName(status);
}

// --- copies between host and device --------------------------------------------------------------------------------
inline cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int size, const void *a, int lda, void *b, int ldb,
                                           cudaStream_t stream) {
    if (rows < 0 || columns < 0 || size <= 0 || lda < 1 || ldb < 1) return CUBLAS_STATUS_INVALID_VALUE;
    const size_t bytes = static_cast<size_t>(size);
    const cudaError_t code =
        cudaMemcpy2DAsync(b, static_cast<size_t>(ldb) * bytes, a, static_cast<size_t>(lda) * bytes,
                          static_cast<size_t>(rows) * bytes, static_cast<size_t>(columns), cudaMemcpyDefault, stream);
    return code == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}
inline cublasStatus_t cublasSetMatrix(int rows, int columns, int size, const void *a, int lda, void *b, int ldb) {
    const cublasStatus_t code = cublasSetMatrixAsync(rows, columns, size, a, lda, b, ldb, nullptr);
    return code == CUBLAS_STATUS_SUCCESS ? emu_blas::status(cudaStreamSynchronize(nullptr)) : code;
}
inline cublasStatus_t cublasSetVector(int n, int size, const void *x, int step_x, void *y, int step_y) {
    return cublasSetMatrix(1, n, size, x, step_x, y, step_y);
}
inline cublasStatus_t cublasSetVectorAsync(int n, int size, const void *x, int step_x, void *y, int step_y,
                                           cudaStream_t stream) {
    return cublasSetMatrixAsync(1, n, size, x, step_x, y, step_y, stream);
}
#define cublasGetMatrix      cublasSetMatrix // (the addresses say which is where)
#define cublasGetMatrixAsync cublasSetMatrixAsync
#define cublasGetVector      cublasSetVector
#define cublasGetVectorAsync cublasSetVectorAsync

// --- functions of every type ---------------------------------------------------------------------------------------
#define EMU_BLAS(X, small, T)                                                                                        \
    inline cublasStatus_t cublas##X##axpy(cublasHandle_t handle, int n, const T *alpha, const T *x, int step_x,      \
                                          T *y, int step_y) {                                                        \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(alpha != nullptr);                                                                                 \
        return start(handle, dim3(pieces(n, PIECE)), axpy<num<T>>, n, given(handle, alpha),                          \
                     strided<const num<T>>{in(x), step_x}, strided<num<T>>{out(y), step_y});                         \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##scal(cublasHandle_t handle, int n, const T *alpha, T *x, int step_x) {          \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(alpha != nullptr);                                                                                 \
        if (step_x <= 0) return CUBLAS_STATUS_SUCCESS;                                                               \
        return start(handle, dim3(pieces(n, PIECE)), scal<num<T>, num<T>>, n, given(handle, alpha),                  \
                     strided<num<T>>{out(x), step_x});                                                               \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##copy(cublasHandle_t handle, int n, const T *x, int step_x, T *y, int step_y) {  \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(true);                                                                                             \
        return start(handle, dim3(pieces(n, PIECE)), copy<num<T>>, n, strided<const num<T>>{in(x), step_x},          \
                     strided<num<T>>{out(y), step_y});                                                               \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##swap(cublasHandle_t handle, int n, T *x, int step_x, T *y, int step_y) {        \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(true);                                                                                             \
        return start(handle, dim3(pieces(n, PIECE)), emu_blas::swap<num<T>>, n, strided<num<T>>{out(x), step_x},     \
                     strided<num<T>>{out(y), step_y});                                                               \
    }                                                                                                                \
    inline cublasStatus_t cublasI##small##amax(cublasHandle_t handle, int n, const T *x, int step_x, int *result) {  \
        using namespace emu_blas;                                                                                    \
        return reduce(handle, result, extreme<num<T>>, step_x > 0 ? n : 0, strided<const num<T>>{in(x), step_x}, 0); \
    }                                                                                                                \
    inline cublasStatus_t cublasI##small##amin(cublasHandle_t handle, int n, const T *x, int step_x, int *result) {  \
        using namespace emu_blas;                                                                                    \
        return reduce(handle, result, extreme<num<T>>, step_x > 0 ? n : 0, strided<const num<T>>{in(x), step_x}, 1); \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##gemv(cublasHandle_t handle, cublasOperation_t operation, int m, int n,          \
                                          const T *alpha, const T *a, int lda, const T *x, int step_x,               \
                                          const T *beta, T *y, int step_y) {                                         \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(m >= 0 && n >= 0 && fits(lda, m) && step_x && step_y && operation <= CUBLAS_OP_C);                 \
        return start(handle, dim3(pieces(operation ? n : m, 64)), gemv<num<T>>, m, n, given(handle, alpha),          \
                     single(a, lda, operation), strided<const num<T>>{in(x), step_x}, given(handle, beta),           \
                     strided<num<T>>{out(y), step_y});                                                               \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##gemm(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m,  \
                                          int n, int k, const T *alpha, const T *a, int lda, const T *b, int ldb,    \
                                          const T *beta, T *c, int ldc) {                                            \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(alpha &&beta);                                                                                     \
        return multiply(handle, ta, tb, m, n, k, given(handle, alpha), single(a, lda, ta), single(b, ldb, tb),       \
                        given(handle, beta), single<T>(c, ldc), 1);                                                  \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##gemmStridedBatched(                                                             \
        cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const T *alpha,      \
        const T *a, int lda, long long stride_a, const T *b, int ldb, long long stride_b, const T *beta, T *c,       \
        int ldc, long long stride_c, int count) {                                                                    \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(alpha &&beta);                                                                                     \
        return multiply(handle, ta, tb, m, n, k, given(handle, alpha), single(a, lda, ta, stride_a),                 \
                        single(b, ldb, tb, stride_b), given(handle, beta), single<T>(c, ldc, 0, stride_c), count);   \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##gemmBatched(                                                                    \
        cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const T *alpha,      \
        const T *const a[], int lda, const T *const b[], int ldb, const T *beta, T *const c[], int ldc, int count) { \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(alpha &&beta);                                                                                     \
        return multiply(handle, ta, tb, m, n, k, given(handle, alpha), batch(a, lda, ta), batch(b, ldb, tb),         \
                        given(handle, beta), batch<T>(c, ldc), count);                                               \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##syrk(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t operation, \
                                          int n, int k, const T *alpha, const T *a, int lda, const T *beta, T *c,    \
                                          int ldc) {                                                                 \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(alpha &&beta);                                                                                     \
        const int other = operation ? CUBLAS_OP_N : CUBLAS_OP_T;                                                     \
        return multiply(handle, operation, other, n, n, k, given(handle, alpha), single(a, lda, operation),          \
                        single(a, lda, other), given(handle, beta), single<T>(c, ldc), 1,                            \
                        fill == CUBLAS_FILL_MODE_LOWER ? 1 : 2);                                                     \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##trsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,       \
                                          cublasOperation_t operation, cublasDiagType_t diagonal, int m, int n,      \
                                          const T *alpha, const T *a, int lda, T *b, int ldb) {                      \
        using namespace emu_blas;                                                                                    \
        const bool right = side == CUBLAS_SIDE_RIGHT;                                                                \
        EMU_CHECK(m >= 0 && n >= 0 && fits(lda, right ? n : m) && fits(ldb, m) && alpha);                            \
        const triangle<num<T>> of = {                                                                                \
            in(a), lda, right ? n : m, operation, fill == CUBLAS_FILL_MODE_UPPER, diagonal};                         \
        return start(handle, dim3(static_cast<unsigned>(right ? m : n)), trsm<num<T>>, of, given(handle, alpha),     \
                     out(b), right ? ldb : 1, right ? 1 : ldb, right);                                               \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##trmm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,       \
                                          cublasOperation_t operation, cublasDiagType_t diagonal, int m, int n,      \
                                          const T *alpha, const T *a, int lda, const T *b, int ldb, T *c, int ldc) { \
        using namespace emu_blas;                                                                                    \
        const bool right = side == CUBLAS_SIDE_RIGHT;                                                                \
        EMU_CHECK(m >= 0 && n >= 0 && fits(lda, right ? n : m) && fits(ldb, m) && fits(ldc, m) && alpha);            \
        const triangle<num<T>> of = {                                                                                \
            in(a), lda, right ? n : m, operation, fill == CUBLAS_FILL_MODE_UPPER, diagonal};                         \
        return start(handle, dim3(static_cast<unsigned>(right ? m : n)), trmm<num<T>>, of, given(handle, alpha),     \
                     in(b), right ? ldb : 1, right ? 1 : ldb, out(c), right ? ldc : 1, right ? 1 : ldc, right);      \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##trsv(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t operation, \
                                          cublasDiagType_t diagonal, int n, const T *a, int lda, T *x, int step_x) { \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(n >= 0 && fits(lda, n) && step_x > 0);                                                             \
        const triangle<num<T>> of = {in(a), lda, n, operation, fill == CUBLAS_FILL_MODE_UPPER, diagonal};            \
        return start(handle, dim3(1), trsm<num<T>>, of, scalar<num<T>>{num<T>(1), nullptr}, out(x), step_x, 0, 0);   \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##geam(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m,  \
                                          int n, const T *alpha, const T *a, int lda, const T *beta, const T *b,     \
                                          int ldb, T *c, int ldc) {                                                  \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(m >= 0 && n >= 0 && alpha && beta && fits(ldc, m));                                                \
        return start(handle, dim3(static_cast<unsigned>(n)), geam<num<T>>, m, given(handle, alpha),                  \
                     single(a, lda, ta), given(handle, beta), single(b, ldb, tb), out(c), ldc);                      \
    }                                                                                                                \
    inline cublasStatus_t cublas##X##dgmm(cublasHandle_t handle, cublasSideMode_t side, int m, int n, const T *a,    \
                                          int lda, const T *x, int step_x, T *c, int ldc) {                          \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(m >= 0 && n >= 0 && fits(lda, m) && fits(ldc, m));                                                 \
        return start(handle, dim3(static_cast<unsigned>(n)), dgmm<num<T>>, m, n, side == CUBLAS_SIDE_LEFT,           \
                     single(a, lda), strided<const num<T>>{in(x), step_x}, out(c), ldc);                             \
    }

// Sums of sizes, which are real: `Names` are cublasScasum and so on.
#define EMU_BLAS_SIZES(asum_name, nrm2_name, T, Real)                                                                \
    inline cublasStatus_t asum_name(cublasHandle_t handle, int n, const T *x, int step_x, Real *result) {            \
        using namespace emu_blas;                                                                                    \
        const strided<const num<T>> of = {in(x), step_x};                                                            \
        return reduce(handle, result, size_sum<num<T>, Real>, step_x > 0 ? n : 0, of, 0);                            \
    }                                                                                                                \
    inline cublasStatus_t nrm2_name(cublasHandle_t handle, int n, const T *x, int step_x, Real *result) {            \
        using namespace emu_blas;                                                                                    \
        const strided<const num<T>> of = {in(x), step_x};                                                            \
        return reduce(handle, result, size_sum<num<T>, Real>, step_x > 0 ? n : 0, of, 1);                            \
    }
// Functions whose names say whether the first operand is conjugated.
#define EMU_BLAS_DOT(dot_name, ger_name, T, conjugated)                                                              \
    inline cublasStatus_t dot_name(cublasHandle_t handle, int n, const T *x, int step_x, const T *y, int step_y,     \
                                   T *result) {                                                                      \
        using namespace emu_blas;                                                                                    \
        return reduce(handle, out(result), dot<num<T>>, n, strided<const num<T>>{in(x), step_x},                     \
                      strided<const num<T>>{in(y), step_y}, conjugated);                                             \
    }                                                                                                                \
    inline cublasStatus_t ger_name(cublasHandle_t handle, int m, int n, const T *alpha, const T *x, int step_x,      \
                                   const T *y, int step_y, T *a, int lda) {                                          \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(m >= 0 && n >= 0 && fits(lda, m) && alpha && step_x && step_y);                                    \
        return start(handle, dim3(static_cast<unsigned>(n)), ger<num<T>>, m, given(handle, alpha),                   \
                     strided<const num<T>>{in(x), step_x}, strided<const num<T>>{in(y), step_y}, n, out(a), lda,     \
                     conjugated);                                                                                    \
    }
EMU_BLAS(S, s, float)
EMU_BLAS(D, d, double)
EMU_BLAS(C, c, cuComplex)
EMU_BLAS(Z, z, cuDoubleComplex)
EMU_BLAS_SIZES(cublasSasum, cublasSnrm2, float, float)
EMU_BLAS_SIZES(cublasDasum, cublasDnrm2, double, double)
EMU_BLAS_SIZES(cublasScasum, cublasScnrm2, cuComplex, float)
EMU_BLAS_SIZES(cublasDzasum, cublasDznrm2, cuDoubleComplex, double)
EMU_BLAS_DOT(cublasSdot, cublasSger, float, 0)
EMU_BLAS_DOT(cublasDdot, cublasDger, double, 0)
EMU_BLAS_DOT(cublasCdotu, cublasCgeru, cuComplex, 0)
EMU_BLAS_DOT(cublasCdotc, cublasCgerc, cuComplex, 1)
EMU_BLAS_DOT(cublasZdotu, cublasZgeru, cuDoubleComplex, 0)
EMU_BLAS_DOT(cublasZdotc, cublasZgerc, cuDoubleComplex, 1)
#undef EMU_BLAS
#undef EMU_BLAS_SIZES
#undef EMU_BLAS_DOT
#define EMU_BLAS_ROT(name, T)                                                                                        \
    inline cublasStatus_t name(cublasHandle_t handle, int n, T *x, int step_x, T *y, int step_y, const T *c,         \
                               const T *s) {                                                                         \
        using namespace emu_blas;                                                                                    \
        EMU_CHECK(c &&s);                                                                                            \
        return start(handle, dim3(pieces(n, PIECE)), rot<T>, n, strided<T>{x, step_x}, strided<T>{y, step_y},        \
                     given(handle, c), given(handle, s));                                                            \
    }
EMU_BLAS_ROT(cublasSrot, float)
EMU_BLAS_ROT(cublasDrot, double)
#undef EMU_BLAS_ROT

#include "blas_stored.h"

// --- products of 16-bit numbers, and of types given at run time ----------------------------------------------------
namespace emu_blas {
inline cublasStatus_t gemm_ex(cublasHandle_t handle, int ta, int tb, int m, int n, int k, const void *alpha,
                              const void *a, cudaDataType a_type, int lda, long long stride_a, const void *b,
                              cudaDataType b_type, int ldb, long long stride_b, const void *beta, const void *c,
                              cudaDataType c_type, int ldc, long long stride_c, int count,
                              cublasComputeType_t compute, bool each) {
    EMU_CHECK(alpha && beta);
#define EMU_EX(of, to, computes, Sum, Out, In)                                                                       \
    if (a_type == of && c_type == to && computes)                                                                    \
        return emu_blas::multiply_ex<Sum, Out, In>(handle, ta, tb, m, n, k, alpha, a, lda, stride_a, b, ldb,         \
                                                   stride_b, beta, c, ldc, stride_c, count, each);
    const bool in_float = compute == CUBLAS_COMPUTE_32F || compute == CUBLAS_COMPUTE_32F_PEDANTIC ||
                          compute >= CUBLAS_COMPUTE_32F_FAST_16F;
    const bool in_double = compute == CUBLAS_COMPUTE_64F || compute == CUBLAS_COMPUTE_64F_PEDANTIC;
    if (a_type != b_type) return CUBLAS_STATUS_NOT_SUPPORTED;
    EMU_EX(CUDA_R_32F, CUDA_R_32F, in_float, float, float, float)
    EMU_EX(CUDA_R_64F, CUDA_R_64F, in_double, double, double, double)
    EMU_EX(CUDA_C_32F, CUDA_C_32F, in_float, cuComplex, cuComplex, cuComplex)
    EMU_EX(CUDA_C_64F, CUDA_C_64F, in_double, cuDoubleComplex, cuDoubleComplex, cuDoubleComplex)
    EMU_EX(CUDA_R_16F, CUDA_R_16F, in_float, float, __half, __half)
    EMU_EX(CUDA_R_16F, CUDA_R_32F, in_float, float, float, __half)
    EMU_EX(CUDA_R_16BF, CUDA_R_16BF, in_float, float, __nv_bfloat16, __nv_bfloat16)
    EMU_EX(CUDA_R_16BF, CUDA_R_32F, in_float, float, float, __nv_bfloat16)
    EMU_EX(CUDA_R_8I, CUDA_R_32I, compute == CUBLAS_COMPUTE_32I, int, int, signed char)
    EMU_EX(CUDA_R_8I, CUDA_R_32F, in_float, float, float, signed char)
#undef EMU_EX
    if (a_type != CUDA_R_16F || c_type != CUDA_R_16F || compute > CUBLAS_COMPUTE_16F_PEDANTIC)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    // In half precision, alpha and beta are halves. The sums are floats here.
    if (handle->pointers == CUBLAS_POINTER_MODE_DEVICE) return CUBLAS_STATUS_NOT_SUPPORTED;
    const float first = __half2float(*static_cast<const __half *>(alpha));
    const float second = __half2float(*static_cast<const __half *>(beta));
    return emu_blas::multiply_ex<float, __half, __half>(handle, ta, tb, m, n, k, &first, a, lda, stride_a, b, ldb,
                                                        stride_b, &second, c, ldc, stride_c, count, each);
}
} // namespace emu_blas
inline cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,
                                                 int m, int n, int k, const void *alpha, const void *a,
                                                 cudaDataType a_type, int lda, long long stride_a, const void *b,
                                                 cudaDataType b_type, int ldb, long long stride_b, const void *beta,
                                                 void *c, cudaDataType c_type, int ldc, long long stride_c, int count,
                                                 cublasComputeType_t compute, cublasGemmAlgo_t) {
    return emu_blas::gemm_ex(handle, ta, tb, m, n, k, alpha, a, a_type, lda, stride_a, b, b_type, ldb, stride_b, beta,
                             c, c_type, ldc, stride_c, count, compute, false);
}
inline cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m,
                                          int n, int k, const void *alpha, const void *const a[], cudaDataType a_type,
                                          int lda, const void *const b[], cudaDataType b_type, int ldb,
                                          const void *beta, void *const c[], cudaDataType c_type, int ldc, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t) {
    return emu_blas::gemm_ex(handle, ta, tb, m, n, k, alpha, a, a_type, lda, 0, b, b_type, ldb, 0, beta, c, c_type,
                             ldc, 0, count, compute, true);
}
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                                   int k, const void *alpha, const void *a, cudaDataType a_type, int lda,
                                   const void *b, cudaDataType b_type, int ldb, const void *beta, void *c,
                                   cudaDataType c_type, int ldc, cublasComputeType_t compute,
                                   cublasGemmAlgo_t algorithm) {
    return cublasGemmStridedBatchedEx(handle, ta, tb, m, n, k, alpha, a, a_type, lda, 0, b, b_type, ldb, 0, beta, c,
                                      c_type, ldc, 0, 1, compute, algorithm);
}
// Until CUDA 10 the type in which to compute was that of the elements.
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                                   int k, const void *alpha, const void *a, cudaDataType a_type, int lda,
                                   const void *b, cudaDataType b_type, int ldb, const void *beta, void *c,
                                   cudaDataType c_type, int ldc, cudaDataType compute, cublasGemmAlgo_t algorithm) {
    const cublasComputeType_t type = compute == CUDA_R_64F   ? CUBLAS_COMPUTE_64F
                                     : compute == CUDA_R_16F ? CUBLAS_COMPUTE_16F
                                     : compute == CUDA_R_32I ? CUBLAS_COMPUTE_32I
                                                             : CUBLAS_COMPUTE_32F;
    return cublasGemmEx(handle, ta, tb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, type,
                        algorithm);
}
inline cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                                    int k, const float *alpha, const void *a, cudaDataType a_type, int lda,
                                    const void *b, cudaDataType b_type, int ldb, const float *beta, void *c,
                                    cudaDataType c_type, int ldc) {
    return cublasGemmEx(handle, ta, tb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc,
                        CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}
inline cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n,
                                  int k, const __half *alpha, const __half *a, int lda, const __half *b, int ldb,
                                  const __half *beta, __half *c, int ldc) {
    return cublasGemmEx(handle, ta, tb, m, n, k, alpha, a, CUDA_R_16F, lda, b, CUDA_R_16F, ldb, beta, c, CUDA_R_16F,
                        ldc, CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT);
}
inline cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb,
                                                int m, int n, int k, const __half *alpha, const __half *a, int lda,
                                                long long stride_a, const __half *b, int ldb, long long stride_b,
                                                const __half *beta, __half *c, int ldc, long long stride_c,
                                                int count) {
    return cublasGemmStridedBatchedEx(handle, ta, tb, m, n, k, alpha, a, CUDA_R_16F, lda, stride_a, b, CUDA_R_16F,
                                      ldb, stride_b, beta, c, CUDA_R_16F, ldc, stride_c, count, CUBLAS_COMPUTE_16F,
                                      CUBLAS_GEMM_DEFAULT);
}
inline cublasStatus_t cublasHgemmBatched(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m,
                                         int n, int k, const __half *alpha, const __half *const a[], int lda,
                                         const __half *const b[], int ldb, const __half *beta, __half *const c[],
                                         int ldc, int count) {
    return emu_blas::gemm_ex(handle, ta, tb, m, n, k, alpha, a, CUDA_R_16F, lda, 0, b, CUDA_R_16F, ldb, 0, beta, c,
                             CUDA_R_16F, ldc, 0, count, CUBLAS_COMPUTE_16F, true);
}
#undef EMU_CHECK

// The names with the suffix that cuBLAS's header gives them.
#define cublasCreate_v2    cublasCreate
#define cublasDestroy_v2   cublasDestroy
#define cublasSetStream_v2 cublasSetStream
#define cublasSgemm_v2     cublasSgemm
#define cublasDgemm_v2     cublasDgemm

#endif
