// cuBLASLt, which the emulator does not have: handles can be made, because programs make them in a header of their
// own and never use them. A call of another function is refused where it is.
#ifndef CUBLASLT_H_
#define CUBLASLT_H_

#include "cublas_v2.h"

typedef struct cublasLtContext *cublasLtHandle_t;
typedef struct cublasLtMatmulDescOpaque *cublasLtMatmulDesc_t;
typedef struct cublasLtMatrixLayoutOpaque *cublasLtMatrixLayout_t;
typedef struct cublasLtMatmulPreferenceOpaque *cublasLtMatmulPreference_t;

inline cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
    return cublasCreate(reinterpret_cast<cublasHandle_t *>(handle));
}
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
    return cublasDestroy(reinterpret_cast<cublasHandle_t>(handle));
}
#define EMU_NO_LT(name)                                                                                              \
    template <typename... Arguments>                                                                                 \
    __attribute__((error("the emulator has no cuBLASLt (" #name "): use cuBLAS, or run this program on a GPU")))     \
    cublasStatus_t                                                                                                   \
    name(Arguments &&...);
EMU_NO_LT(cublasLtMatmul)
EMU_NO_LT(cublasLtMatmulDescCreate)
EMU_NO_LT(cublasLtMatmulDescDestroy)
EMU_NO_LT(cublasLtMatmulDescSetAttribute)
EMU_NO_LT(cublasLtMatrixLayoutCreate)
EMU_NO_LT(cublasLtMatrixLayoutDestroy)
EMU_NO_LT(cublasLtMatrixLayoutSetAttribute)
EMU_NO_LT(cublasLtMatmulPreferenceCreate)
EMU_NO_LT(cublasLtMatmulPreferenceDestroy)
EMU_NO_LT(cublasLtMatmulPreferenceSetAttribute)
EMU_NO_LT(cublasLtMatmulAlgoGetHeuristic)
#undef EMU_NO_LT

#endif
