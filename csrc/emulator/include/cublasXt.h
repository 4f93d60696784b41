// cuBLASXt on the emulator: products of matrices in host or device memory, on one device.
#ifndef CUBLAS_XT_H_
#define CUBLAS_XT_H_

#include "cublas_v2.h"

struct cublasXtContext {
    cublasHandle_t handle = nullptr;
    int tile = 2048;
};
typedef struct cublasXtContext *cublasXtHandle_t;
typedef enum { CUBLASXT_PINNING_DISABLED = 0, CUBLASXT_PINNING_ENABLED = 1 } cublasXtPinnedMemMode_t;

inline cublasStatus_t cublasXtCreate(cublasXtHandle_t *handle) {
    return cublasCreate(&(*handle = new cublasXtContext)->handle);
}
inline cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    const cublasStatus_t code = cublasDestroy(handle->handle);
    delete handle;
    return code;
}
inline cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int count, int devices[]) {
    return !handle                 ? CUBLAS_STATUS_NOT_INITIALIZED
           : count < 1 || !devices ? CUBLAS_STATUS_INVALID_VALUE
                                   : CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int size) {
    if (size < 1) return CUBLAS_STATUS_INVALID_VALUE;
    handle->tile = size;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasXtGetBlockDim(cublasXtHandle_t handle, int *size) {
    *size = handle->tile;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasXtSetPinningMemMode(cublasXtHandle_t, cublasXtPinnedMemMode_t) {
    return CUBLAS_STATUS_SUCCESS;
}

namespace emu_blas {
// A matrix of the caller's as one in device memory.
template <typename T> struct on_device {
    T *data = nullptr;
    size_t bytes;
    on_device(const T *matrix, size_t ld, size_t rows, size_t columns)
        : bytes(columns ? (ld * (columns - 1) + rows) * sizeof(T) : 0) {
        if (cudaMalloc(reinterpret_cast<void **>(&data), bytes) == cudaSuccess)
            cudaMemcpy(data, matrix, bytes, cudaMemcpyDefault);
    }
    on_device(const on_device &) = delete;
    ~on_device() { cudaFree(data); }
};
} // namespace emu_blas

#define EMU_XT_GEMM(name, with, T)                                                                                   \
    inline cublasStatus_t name(cublasXtHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, size_t m,        \
                               size_t n, size_t k, const T *alpha, const T *a, size_t lda, const T *b, size_t ldb,   \
                               const T *beta, T *c, size_t ldc) {                                                    \
        if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                           \
        const emu_blas::on_device<T> first(a, lda, ta ? k : m, ta ? m : k);                                          \
        const emu_blas::on_device<T> second(b, ldb, tb ? n : k, tb ? k : n), third(c, ldc, m, n);                    \
        const cublasStatus_t code = with(handle->handle, ta, tb, static_cast<int>(m), static_cast<int>(n),           \
                                         static_cast<int>(k), alpha, first.data, static_cast<int>(lda), second.data, \
                                         static_cast<int>(ldb), beta, third.data, static_cast<int>(ldc));            \
        if (code != CUBLAS_STATUS_SUCCESS) return code;                                                              \
        return emu_blas::status(cudaMemcpy(c, third.data, third.bytes, cudaMemcpyDefault));                          \
    }
EMU_XT_GEMM(cublasXtSgemm, cublasSgemm, float)
EMU_XT_GEMM(cublasXtDgemm, cublasDgemm, double)
EMU_XT_GEMM(cublasXtCgemm, cublasCgemm, cuComplex)
EMU_XT_GEMM(cublasXtZgemm, cublasZgemm, cuDoubleComplex)
#undef EMU_XT_GEMM

#endif
