// cuBLASLt on the emulator: products of matrices with a bias, ReLU or GELU, by way of cublasGemmStridedBatchedEx.
//
// An algorithm is a word without a meaning, and no workspace is needed. What follows the product is applied to the
// elements of D as they are stored, so results of 16 bits may differ from cuBLASLt's in the last digit.
#ifndef CUBLASLT_H_
#define CUBLASLT_H_

#include "cublas_v2.h"

typedef struct cublasLtContext *cublasLtHandle_t; // a cublasHandle_t, as in cuBLAS

typedef enum { CUBLASLT_ORDER_COL = 0, CUBLASLT_ORDER_ROW = 1 } cublasLtOrder_t;
typedef enum {
    CUBLASLT_POINTER_MODE_HOST = CUBLAS_POINTER_MODE_HOST,
    CUBLASLT_POINTER_MODE_DEVICE = CUBLAS_POINTER_MODE_DEVICE
} cublasLtPointerMode_t;
typedef enum {
    CUBLASLT_EPILOGUE_DEFAULT = 1,
    CUBLASLT_EPILOGUE_RELU = 2,
    CUBLASLT_EPILOGUE_BIAS = 4,
    CUBLASLT_EPILOGUE_RELU_BIAS = 6,
    CUBLASLT_EPILOGUE_GELU = 32,
    CUBLASLT_EPILOGUE_GELU_BIAS = 36,
    CUBLASLT_EPILOGUE_RELU_AUX = 130, // from here on, cublasLtMatmul does not support them
    CUBLASLT_EPILOGUE_RELU_AUX_BIAS = 134,
    CUBLASLT_EPILOGUE_DRELU = 136,
    CUBLASLT_EPILOGUE_DRELU_BGRAD = 152,
    CUBLASLT_EPILOGUE_GELU_AUX = 160,
    CUBLASLT_EPILOGUE_GELU_AUX_BIAS = 164,
    CUBLASLT_EPILOGUE_DGELU = 192,
    CUBLASLT_EPILOGUE_DGELU_BGRAD = 208,
    CUBLASLT_EPILOGUE_BGRADA = 256,
    CUBLASLT_EPILOGUE_BGRADB = 512
} cublasLtEpilogue_t;

// Each attribute: its number, and its member of the description.
#define EMU_LT_MATMUL(X)                                                                                             \
    X(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, 0, compute)                                                                 \
    X(CUBLASLT_MATMUL_DESC_SCALE_TYPE, 1, scale)                                                                     \
    X(CUBLASLT_MATMUL_DESC_POINTER_MODE, 2, pointers)                                                                \
    X(CUBLASLT_MATMUL_DESC_TRANSA, 3, a)                                                                             \
    X(CUBLASLT_MATMUL_DESC_TRANSB, 4, b)                                                                             \
    X(CUBLASLT_MATMUL_DESC_TRANSC, 5, c)                                                                             \
    X(CUBLASLT_MATMUL_DESC_EPILOGUE, 7, epilogue)                                                                    \
    X(CUBLASLT_MATMUL_DESC_BIAS_POINTER, 8, bias)                                                                    \
    X(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, 10, bias_stride)                                                       \
    X(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, 11, auxiliary)                                                      \
    X(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, 12, auxiliary_ld)                                                        \
    X(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, 15, multiprocessors)                                                     \
    X(CUBLASLT_MATMUL_DESC_FAST_ACCUM, 25, fast)                                                                     \
    X(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, 26, bias_type)
#define EMU_LT_LAYOUT(X)                                                                                             \
    X(CUBLASLT_MATRIX_LAYOUT_TYPE, 0, type)                                                                          \
    X(CUBLASLT_MATRIX_LAYOUT_ORDER, 1, order)                                                                        \
    X(CUBLASLT_MATRIX_LAYOUT_ROWS, 2, rows)                                                                          \
    X(CUBLASLT_MATRIX_LAYOUT_COLS, 3, columns)                                                                       \
    X(CUBLASLT_MATRIX_LAYOUT_LD, 4, ld)                                                                              \
    X(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 5, count)                                                                  \
    X(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 6, stride)
#define EMU_LT_NUMBER(name, number, member) name = number,
typedef enum { EMU_LT_MATMUL(EMU_LT_NUMBER) } cublasLtMatmulDescAttributes_t;
typedef enum { EMU_LT_LAYOUT(EMU_LT_NUMBER) } cublasLtMatrixLayoutAttribute_t;
#undef EMU_LT_NUMBER
typedef enum {
    CUBLASLT_MATMUL_PREF_SEARCH_MODE = 0,
    CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
    CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK = 3
} cublasLtMatmulPreferenceAttributes_t;

typedef struct {
    cublasComputeType_t compute;
    cudaDataType_t scale;
    int32_t pointers, a, b, c;
    uint32_t epilogue;
    const void *bias;
    int64_t bias_stride;
    void *auxiliary;
    int64_t auxiliary_ld;
    int32_t multiprocessors;
    int8_t fast;
    int32_t bias_type; // -1: D's
} cublasLtMatmulDescOpaque_t;
typedef struct {
    uint32_t type;
    int32_t order;
    uint64_t rows, columns;
    int64_t ld;
    int32_t count;
    int64_t stride;
} cublasLtMatrixLayoutOpaque_t;
typedef struct {
    size_t workspace;
} cublasLtMatmulPreferenceOpaque_t;
typedef cublasLtMatmulDescOpaque_t *cublasLtMatmulDesc_t;
typedef cublasLtMatrixLayoutOpaque_t *cublasLtMatrixLayout_t;
typedef cublasLtMatmulPreferenceOpaque_t *cublasLtMatmulPreference_t;
typedef struct {
    uint64_t data[8];
} cublasLtMatmulAlgo_t;
typedef struct {
    cublasLtMatmulAlgo_t algo;
    size_t workspaceSize;
    cublasStatus_t state;
    float wavesCount;
    int reserved[4];
} cublasLtMatmulHeuristicResult_t;

// --- descriptions -------------------------------------------------------------------------------------------------
inline cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
    return cublasCreate(reinterpret_cast<cublasHandle_t *>(handle));
}
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
    return cublasDestroy(reinterpret_cast<cublasHandle_t>(handle));
}
inline size_t cublasLtGetVersion() {
    return CUBLAS_VERSION;
}
inline cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t desc, cublasComputeType_t compute,
                                             cudaDataType_t scale) {
    *desc = {};
    desc->compute = compute;
    desc->scale = scale;
    desc->epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    desc->bias_type = -1;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute,
                                               cudaDataType_t scale) {
    return cublasLtMatmulDescInit(*desc = new cublasLtMatmulDescOpaque_t, compute, scale);
}
inline cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t layout, cudaDataType type, uint64_t rows,
                                               uint64_t columns, int64_t ld) {
    *layout = {static_cast<uint32_t>(type), CUBLASLT_ORDER_COL, rows, columns, ld, 1, 0};
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type, uint64_t rows,
                                                 uint64_t columns, int64_t ld) {
    return cublasLtMatrixLayoutInit(*layout = new cublasLtMatrixLayoutOpaque_t, type, rows, columns, ld);
}
inline cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
    *preference = new cublasLtMatmulPreferenceOpaque_t();
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
    delete desc;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
    delete layout;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
    delete preference;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                           cublasLtMatmulPreferenceAttributes_t, const void *,
                                                           size_t) {
    return CUBLAS_STATUS_SUCCESS;
}
#define EMU_LT_SET(name, number, member)                                                                             \
    case name:                                                                                                       \
        if (bytes != sizeof described->member) return CUBLAS_STATUS_INVALID_VALUE;                                   \
        memcpy(&described->member, value, bytes);                                                                    \
        return CUBLAS_STATUS_SUCCESS;
#define EMU_LT_GET(name, number, member)                                                                             \
    case name:                                                                                                       \
        if (written) *written = sizeof described->member;                                                            \
        if (value && bytes != sizeof described->member) return CUBLAS_STATUS_INVALID_VALUE;                          \
        if (value) memcpy(value, &described->member, bytes);                                                         \
        return CUBLAS_STATUS_SUCCESS;
#define EMU_LT_ATTRIBUTES(Name, Described, Attribute, MEMBERS)                                                       \
    inline cublasStatus_t Name##SetAttribute(Described described, Attribute attribute, const void *value,            \
                                             size_t bytes) {                                                         \
        if (!described || !value) return CUBLAS_STATUS_INVALID_VALUE;                                                \
        switch (attribute) { MEMBERS(EMU_LT_SET) }                                                                   \
        return CUBLAS_STATUS_NOT_SUPPORTED;                                                                          \
    }                                                                                                                \
    inline cublasStatus_t Name##GetAttribute(Described described, Attribute attribute, void *value, size_t bytes,    \
                                             size_t *written) {                                                      \
        if (!described) return CUBLAS_STATUS_INVALID_VALUE;                                                          \
        switch (attribute) { MEMBERS(EMU_LT_GET) }                                                                   \
        return CUBLAS_STATUS_NOT_SUPPORTED;                                                                          \
    }
EMU_LT_ATTRIBUTES(cublasLtMatmulDesc, cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, EMU_LT_MATMUL)
EMU_LT_ATTRIBUTES(cublasLtMatrixLayout, cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t, EMU_LT_LAYOUT)
#undef EMU_LT_MATMUL
#undef EMU_LT_LAYOUT
#undef EMU_LT_SET
#undef EMU_LT_GET
#undef EMU_LT_ATTRIBUTES

// --- the product --------------------------------------------------------------------------------------------------
namespace emu_blas {
// D, stored in columns, or in rows if `in_rows`; row i of D has bias[i].
template <typename T, typename Bias> struct finishing {
    T *d;
    int rows, in_rows;
    long long ld, stride;
    uint32_t epilogue;
    const Bias *bias;
    long long bias_stride;
};
template <typename T, typename Bias> EMU_FAST EMU_VISIBLE void finish(finishing<T, Bias> p) {
    const long long j = blockIdx.x, batch = blockIdx.y;
    using number = std::conditional_t<std::is_same<T, double>::value, double, float>;
    for (int i = 0; i < p.rows; ++i) {
        T &place = p.d[batch * p.stride + (p.in_rows ? i * p.ld + j : i + j * p.ld)];
        number x = to<number>(place);
        if (p.bias) x += to<number>(p.bias[batch * p.bias_stride + i]);
        if (p.epilogue & CUBLASLT_EPILOGUE_RELU && x < 0) x = 0;
        if (p.epilogue & CUBLASLT_EPILOGUE_GELU)
            x = x / 2 * (1 + std::tanh(number(0.7978845608028654) * (x + number(0.044715) * x * x * x)));
        place = to<T>(x);
    }
}
template <typename T, typename Bias>
cublasStatus_t finish_with(cublasHandle_t handle, const cublasLtMatmulDescOpaque_t &desc, void *d,
                           const cublasLtMatrixLayoutOpaque_t &layout) {
    const finishing<T, Bias> work = {static_cast<T *>(d),
                                     static_cast<int>(layout.rows),
                                     layout.order,
                                     layout.ld,
                                     layout.stride,
                                     desc.epilogue,
                                     desc.epilogue & CUBLASLT_EPILOGUE_BIAS ? static_cast<const Bias *>(desc.bias)
                                                                            : nullptr,
                                     desc.bias_stride};
    const dim3 grid(static_cast<unsigned>(layout.columns), static_cast<unsigned>(layout.count));
    return start(handle, grid, finish<T, Bias>, work);
}
template <typename T>
cublasStatus_t finish(cublasHandle_t handle, const cublasLtMatmulDescOpaque_t &desc, void *d,
                      const cublasLtMatrixLayoutOpaque_t &layout) {
    if (desc.bias_type == CUDA_R_32F && layout.type != CUDA_R_32F)
        return finish_with<T, float>(handle, desc, d, layout);
    return desc.bias_type < 0 || static_cast<uint32_t>(desc.bias_type) == layout.type
               ? finish_with<T, T>(handle, desc, d, layout)
               : CUBLAS_STATUS_NOT_SUPPORTED;
}
inline size_t bytes_of(uint32_t type) {
    return type == CUDA_R_64F ? 8 : type == CUDA_R_32F || type == CUDA_R_32I ? 4 : 2;
}
// How a matrix that is stored in rows or columns must be transposed where it is taken for one in columns.
inline cublasOperation_t taken(int operation, int transposed) {
    return (operation != CUBLAS_OP_N) != (transposed != 0) ? CUBLAS_OP_T : CUBLAS_OP_N;
}
} // namespace emu_blas

inline cublasStatus_t cublasLtMatmul(cublasLtHandle_t light, cublasLtMatmulDesc_t desc, const void *alpha,
                                     const void *a, cublasLtMatrixLayout_t a_layout, const void *b,
                                     cublasLtMatrixLayout_t b_layout, const void *beta, const void *c,
                                     cublasLtMatrixLayout_t c_layout, void *d, cublasLtMatrixLayout_t d_layout,
                                     const cublasLtMatmulAlgo_t *, void *, size_t, cudaStream_t stream) {
    if (!light) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!desc || !a_layout || !b_layout || !c_layout || !d_layout) return CUBLAS_STATUS_INVALID_VALUE;
    const uint64_t m = d_layout->rows, n = d_layout->columns, k = desc->a ? a_layout->rows : a_layout->columns;
    if ((desc->a ? a_layout->columns : a_layout->rows) != m || (desc->b ? b_layout->columns : b_layout->rows) != k ||
        (desc->b ? b_layout->rows : b_layout->columns) != n || c_layout->rows != m || c_layout->columns != n ||
        !(desc->epilogue & CUBLASLT_EPILOGUE_BIAS) != !desc->bias)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (desc->c || desc->pointers > CUBLASLT_POINTER_MODE_DEVICE || c_layout->order != d_layout->order ||
        c_layout->type != d_layout->type || a_layout->order > 1 || b_layout->order > 1 || d_layout->order > 1 ||
        desc->epilogue > CUBLASLT_EPILOGUE_GELU_BIAS || desc->auxiliary)
        return CUBLAS_STATUS_NOT_SUPPORTED;

    cublasContext context = *reinterpret_cast<cublasHandle_t>(light);
    context.stream = stream;
    context.pointers = static_cast<cublasPointerMode_t>(desc->pointers);
    const int in_rows = d_layout->order;
    const auto lines = in_rows ? m : n, length = in_rows ? n : m; // of D as it is stored
    const size_t bytes = emu_blas::bytes_of(d_layout->type);
    for (int i = 0; i < d_layout->count && c && c != d; ++i) {
        const char *const from = static_cast<const char *>(c) + i * c_layout->stride * static_cast<int64_t>(bytes);
        char *const into = static_cast<char *>(d) + i * d_layout->stride * static_cast<int64_t>(bytes);
        const cudaError_t code = cudaMemcpy2DAsync(into, static_cast<size_t>(d_layout->ld) * bytes, from,
                                                   static_cast<size_t>(c_layout->ld) * bytes, length * bytes, lines,
                                                   cudaMemcpyDefault, stream);
        if (code != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    // In rows, D is taken for the product of the transposed B and A.
    const cublasLtMatrixLayout_t first = in_rows ? b_layout : a_layout, second = in_rows ? a_layout : b_layout;
    const cublasStatus_t code = cublasGemmStridedBatchedEx(
        &context, emu_blas::taken(in_rows ? desc->b : desc->a, first->order != in_rows),
        emu_blas::taken(in_rows ? desc->a : desc->b, second->order != in_rows), static_cast<int>(length),
        static_cast<int>(lines), static_cast<int>(k), alpha, in_rows ? b : a, static_cast<cudaDataType>(first->type),
        static_cast<int>(first->ld), first->stride, in_rows ? a : b, static_cast<cudaDataType>(second->type),
        static_cast<int>(second->ld), second->stride, beta, d, static_cast<cudaDataType>(d_layout->type),
        static_cast<int>(d_layout->ld), d_layout->stride, d_layout->count, desc->compute, CUBLAS_GEMM_DEFAULT);
    if (code != CUBLAS_STATUS_SUCCESS || desc->epilogue == CUBLASLT_EPILOGUE_DEFAULT) return code;
    switch (d_layout->type) {
    case CUDA_R_32F: return emu_blas::finish<float>(&context, *desc, d, *d_layout);
    case CUDA_R_64F: return emu_blas::finish<double>(&context, *desc, d, *d_layout);
    case CUDA_R_16F: return emu_blas::finish<__half>(&context, *desc, d, *d_layout);
    case CUDA_R_16BF: return emu_blas::finish<__nv_bfloat16>(&context, *desc, d, *d_layout);
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}
inline cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int wanted,
                                                     cublasLtMatmulHeuristicResult_t results[], int *count) {
    *count = wanted > 0;
    if (wanted > 0) results[0] = {};
    return wanted > 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

#endif
