// cuBLAS on the emulator: the functions that programs use most, as kernels of the emulator. C++ only.
//
// As in cuBLAS, matrices are column-major, operations run in the handle's stream, and numbers that a function returns
// are at a host address (then it waits) or, with CUBLAS_POINTER_MODE_DEVICE, at a device address. Sums are formed in
// an order of their own, so results may differ from cuBLAS's in the last digits.
#ifndef CUBLAS_API_H_
#define CUBLAS_API_H_

#include "cuComplex.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"
#include "library_types.h"

#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 0
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VERSION   130000

#define EMU_CUBLAS_STATUS(X)                                                                                         \
    X(CUBLAS_STATUS_SUCCESS, 0)                                                                                      \
    X(CUBLAS_STATUS_NOT_INITIALIZED, 1)                                                                              \
    X(CUBLAS_STATUS_ALLOC_FAILED, 3)                                                                                 \
    X(CUBLAS_STATUS_INVALID_VALUE, 7)                                                                                \
    X(CUBLAS_STATUS_ARCH_MISMATCH, 8)                                                                                \
    X(CUBLAS_STATUS_MAPPING_ERROR, 11)                                                                               \
    X(CUBLAS_STATUS_EXECUTION_FAILED, 13)                                                                            \
    X(CUBLAS_STATUS_INTERNAL_ERROR, 14)                                                                              \
    X(CUBLAS_STATUS_NOT_SUPPORTED, 15)                                                                               \
    X(CUBLAS_STATUS_LICENSE_ERROR, 16)
#define EMU_STATUS_ENUM(name, number) name = number,
typedef enum { EMU_CUBLAS_STATUS(EMU_STATUS_ENUM) } cublasStatus_t;
#undef EMU_STATUS_ENUM

typedef enum { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_FULL } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT } cublasSideMode_t;
typedef enum { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C, CUBLAS_OP_HERMITAN = 2, CUBLAS_OP_CONJG } cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED, CUBLAS_ATOMICS_ALLOWED } cublasAtomicsMode_t;
typedef enum { // hints, all of them
    CUBLAS_GEMM_DFALT = -1,
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_ALGO0 = 0,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
    CUBLAS_GEMM_DFALT_TENSOR_OP = 99
} cublasGemmAlgo_t;
typedef enum { // hints, too: the emulator computes in the type of the elements, or in float
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3
} cublasMath_t;
typedef enum {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef cudaDataType cublasDataType_t;

#ifdef __cplusplus
#include "emulator/blas.h"
#else
#error the emulator has cuBLAS for C++ only: compile this file as C++
#endif

#endif
