// cuBLAS before its version 2: letters for operations, numbers by value, results returned, one handle for all.
#ifndef CUBLAS_H_
#define CUBLAS_H_

#include "cublas_api.h"

typedef cublasStatus_t cublasStatus;

namespace emu_blas {
struct global {
    cublasHandle_t handle = nullptr;
    cublasStatus_t last = CUBLAS_STATUS_SUCCESS;
};
inline global &now() {
    static global only;
    return only;
}
inline void note(cublasStatus_t code) {
    if (code != CUBLAS_STATUS_SUCCESS) now().last = code;
}
inline cublasOperation_t operation(char letter) {
    return letter == 'T' || letter == 't' ? CUBLAS_OP_T : letter == 'C' || letter == 'c' ? CUBLAS_OP_C : CUBLAS_OP_N;
}
inline cublasFillMode_t fill(char letter) {
    return letter == 'U' || letter == 'u' ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}
inline cublasSideMode_t side(char letter) {
    return letter == 'R' || letter == 'r' ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;
}
inline cublasDiagType_t diagonal(char letter) {
    return letter == 'U' || letter == 'u' ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
}
} // namespace emu_blas

inline cublasStatus_t cublasInit() {
    return emu_blas::now().handle ? CUBLAS_STATUS_SUCCESS : cublasCreate(&emu_blas::now().handle);
}
inline cublasStatus_t cublasShutdown() {
    const cublasStatus_t code = cublasDestroy(emu_blas::now().handle);
    emu_blas::now().handle = nullptr;
    return code;
}
inline cublasStatus_t cublasGetError() {
    const cublasStatus_t code = emu_blas::now().last;
    emu_blas::now().last = CUBLAS_STATUS_SUCCESS;
    return code;
}
inline cublasStatus_t cublasAlloc(int count, int size, void **pointer) {
    const size_t bytes = static_cast<size_t>(count) * static_cast<size_t>(size);
    return cudaMalloc(pointer, bytes) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}
inline cublasStatus_t cublasFree(void *pointer) {
    return cudaFree(pointer) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INTERNAL_ERROR;
}
inline cublasStatus_t cublasSetKernelStream(cudaStream_t stream) {
    return cublasSetStream(emu_blas::now().handle, stream);
}

#define EMU_BLAS(name, parameters, ...)                                                                              \
    inline void name parameters {                                                                                    \
        emu_blas::note(name(emu_blas::now().handle, __VA_ARGS__));                                                   \
    }
#define EMU_BLAS_RESULT(T, name, parameters, ...)                                                                    \
    inline T name parameters {                                                                                       \
        T result = T();                                                                                              \
        emu_blas::note(name(emu_blas::now().handle, __VA_ARGS__, &result));                                          \
        return result;                                                                                               \
    }
#define EMU_BLAS_TYPE(S, lower, T)                                                                                   \
    EMU_BLAS_RESULT(int, cublasI##lower##amax, (int n, const T *x, int by), n, x, by)                                \
    EMU_BLAS_RESULT(int, cublasI##lower##amin, (int n, const T *x, int by), n, x, by)                                \
    EMU_BLAS(cublas##S##axpy, (int n, T a, const T *x, int by, T *y, int y_by), n, &a, x, by, y, y_by)               \
    EMU_BLAS(cublas##S##copy, (int n, const T *x, int by, T *y, int y_by), n, x, by, y, y_by)                        \
    EMU_BLAS(cublas##S##scal, (int n, T a, T *x, int by), n, &a, x, by)                                              \
    EMU_BLAS(cublas##S##swap, (int n, T *x, int by, T *y, int y_by), n, x, by, y, y_by)                              \
    EMU_BLAS(cublas##S##gemv,                                                                                        \
             (char t, int m, int n, T alpha, const T *a, int lda, const T *x, int by, T beta, T *y, int y_by),       \
             emu_blas::operation(t), m, n, &alpha, a, lda, x, by, &beta, y, y_by)                                    \
    EMU_BLAS(cublas##S##gemm,                                                                                        \
             (char ta, char tb, int m, int n, int k, T alpha, const T *a, int lda, const T *b, int ldb, T beta,      \
              T *c, int ldc),                                                                                        \
             emu_blas::operation(ta), emu_blas::operation(tb), m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc)       \
    EMU_BLAS(cublas##S##trsm,                                                                                        \
             (char s, char u, char t, char d, int m, int n, T alpha, const T *a, int lda, T *b, int ldb),            \
             emu_blas::side(s), emu_blas::fill(u), emu_blas::operation(t), emu_blas::diagonal(d), m, n, &alpha, a,   \
             lda, b, ldb)
#define EMU_BLAS_REAL_TYPE(S, T)                                                                                     \
    EMU_BLAS_RESULT(T, cublas##S##asum, (int n, const T *x, int by), n, x, by)                                       \
    EMU_BLAS_RESULT(T, cublas##S##nrm2, (int n, const T *x, int by), n, x, by)                                       \
    EMU_BLAS_RESULT(T, cublas##S##dot, (int n, const T *x, int by, const T *y, int y_by), n, x, by, y, y_by)         \
    EMU_BLAS(cublas##S##rot, (int n, T *x, int by, T *y, int y_by, T c, T s), n, x, by, y, y_by, &c, &s)             \
    EMU_BLAS(cublas##S##ger, (int m, int n, T alpha, const T *x, int by, const T *y, int y_by, T *a, int lda), m, n, \
             &alpha, x, by, y, y_by, a, lda)
EMU_BLAS_TYPE(S, s, float)
EMU_BLAS_TYPE(D, d, double)
EMU_BLAS_TYPE(C, c, cuComplex)
EMU_BLAS_TYPE(Z, z, cuDoubleComplex)
EMU_BLAS_REAL_TYPE(S, float)
EMU_BLAS_REAL_TYPE(D, double)
#undef EMU_BLAS
#undef EMU_BLAS_RESULT
#undef EMU_BLAS_TYPE
#undef EMU_BLAS_REAL_TYPE

#endif
