// Shows: cuBLASLt: products with a bias, ReLU or GELU, of matrices in columns or rows, and batches of them.
#include <cstdio>
#include <cmath>
#include <cublasLt.h>

cublasLtHandle_t lt;
const float one = 1, zero = 0, two = 2;

cublasLtMatrixLayout_t layout(int rows, int columns, bool in_rows = false, int batches = 1) {
    cublasLtMatrixLayout_t made;
    cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, rows, columns, in_rows ? columns : rows);
    cublasLtOrder_t order = in_rows ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
    int64_t stride = rows * columns;
    cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order);
    cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batches, sizeof batches);
    cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride);
    return made;
}

float rounded(float x) { return roundf(100 * x) / 100 + 0.0f; }

// 4 x 4 matrices A (transposed or not), B, C and D; prints D's first row, and its last element.
void multiply(const char *name, bool transposed, bool in_rows, cublasLtEpilogue_t epilogue, const float *beta, int batches, float *x) {
    cublasLtMatmulDesc_t desc;
    cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasOperation_t operation = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const float *bias = x + 96;
    cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &operation, sizeof operation);
    cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    if (epilogue & CUBLASLT_EPILOGUE_BIAS)
        cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
    cublasLtMatrixLayout_t all = layout(4, 4, in_rows, batches);
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t result;
    int count = 0;
    cublasLtMatmulPreferenceCreate(&preference);
    cublasLtMatmulAlgoGetHeuristic(lt, desc, all, all, all, all, preference, 1, &result, &count);
    cublasStatus_t status = cublasLtMatmul(lt, desc, &one, x, all, x + 32, all, beta, x + 64, all, x + 128, all, &result.algo, NULL, 0, 0);
    cudaDeviceSynchronize();
    const float *d = x + 128;
    int by = in_rows ? 1 : 4;
    printf("%-12s %d %d: %g %g %g %g, %g\n", name, status, count, rounded(d[0]), rounded(d[by]), rounded(d[2 * by]),
           rounded(d[3 * by]), rounded(d[16 * batches - 1]));
    cublasLtMatmulPreferenceDestroy(preference);
    cublasLtMatrixLayoutDestroy(all);
    cublasLtMatmulDescDestroy(desc);
}

int main() {
    float *x;
    cudaMallocManaged(&x, 160 * sizeof(float));
    for (int i = 0; i < 160; i++) x[i] = i < 96 ? i % 7 - 3 : 5 * (i % 3) - 4; // A, B, C: 2 each; the bias; D
    cublasLtCreate(&lt);
    multiply("plain", false, false, CUBLASLT_EPILOGUE_DEFAULT, &zero, 1, x);
    multiply("transposed", true, false, CUBLASLT_EPILOGUE_DEFAULT, &two, 1, x);
    multiply("in rows", false, true, CUBLASLT_EPILOGUE_DEFAULT, &one, 1, x);
    multiply("bias", false, false, CUBLASLT_EPILOGUE_BIAS, &zero, 1, x);
    multiply("bias, ReLU", true, false, CUBLASLT_EPILOGUE_RELU_BIAS, &zero, 1, x);
    multiply("batch", false, false, CUBLASLT_EPILOGUE_DEFAULT, &one, 2, x);
    multiply("GELU", false, false, CUBLASLT_EPILOGUE_GELU, &zero, 1, x);
    cublasLtDestroy(lt);
    cudaFree(x);
    return 0;
}
