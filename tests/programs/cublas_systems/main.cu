// Shows: cuBLAS's batches of systems and inverses, rotations, and functions that take types at run time.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>
#include "cublas_v2.h"

#define OK(x) check(x, __LINE__)

static void check(cublasStatus_t status, int line) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    printf("line %d: %d\n", line, (int)status);
    exit(1);
}
static void show(const char *name, const float *x, int count) {
    cudaDeviceSynchronize();
    printf("%s:", name);
    for (int i = 0; i < count; i++) printf(" %.3f", fabsf(x[i]) < 0.0005f ? 0 : x[i]);
    printf("\n");
}

const int N = 3, COUNT = 2;

int main(void) {
    cublasHandle_t h;
    OK(cublasCreate(&h));
    float *data[4], **at[4];
    int *pivots, *info, host;
    for (int k = 0; k < 4; k++) {
        cudaMallocManaged(&data[k], COUNT * N * N * sizeof(float));
        cudaMallocManaged(&at[k], COUNT * sizeof(float *));
        for (int i = 0; i < COUNT; i++) at[k][i] = data[k] + i * N * N;
    }
    cudaMallocManaged(&pivots, COUNT * N * sizeof(int));
    cudaMallocManaged(&info, COUNT * sizeof(int));
    float *a = data[0], *b = data[1], *c = data[2], *d = data[3], one = 1, two = 2, zero = 0;

    // The first of the matrices needs its rows exchanged.
    const float matrices[COUNT * N * N] = {0, 2, 4, 1, 1, 0, 2, 5, 1, 4, 2, 1, 1, 3, 1, 0, 1, 5};
    for (int i = 0; i < COUNT * N * N; i++) a[i] = c[i] = matrices[i], b[i] = (float)(i % 4), d[i] = 0;
    OK(cublasSmatinvBatched(h, N, at[0], N, at[3], N, info, COUNT));
    show("inverses", d, COUNT * N * N);
    printf("info: %d %d\n", info[0], info[1]);
    OK(cublasSgetrfBatched(h, N, at[0], N, pivots, info, COUNT));
    show("factors", a, COUNT * N * N);
    for (int i = 0; i < COUNT * N; i++) printf("%d ", pivots[i]);
    printf("info: %d %d\n", info[0], info[1]);
    OK(cublasSgetrsBatched(h, CUBLAS_OP_N, N, 2, at[0], N, pivots, at[1], N, &host, COUNT));
    show("solutions", b, COUNT * N * N);
    OK(cublasSgetrsBatched(h, CUBLAS_OP_T, N, 1, at[0], N, pivots, at[1], N, &host, COUNT));
    show("transposed", b, COUNT * N * N);
    OK(cublasSgetriBatched(h, N, at[0], N, pivots, at[3], N, info, COUNT));
    show("inverses", d, COUNT * N * N);
    OK(cublasSgemmBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, at[2], N, at[3], N, &zero, at[1], N, COUNT));
    cudaDeviceSynchronize();
    double worst = 0;
    for (int i = 0; i < COUNT * N * N; i++) worst = fmax(worst, fabs(b[i] - (i % (N * N) % (N + 1) == 0)));
    printf("identity: %s\n", worst < 1e-5 ? "yes" : "no");

    for (int i = 0; i < COUNT * N * N; i++) b[i] = (float)(i % 4);
    OK(cublasStrsmBatched(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, N, 2, &two,
                          at[2], N, at[1], N, COUNT));
    show("trsm", b, COUNT * N * N);
    OK(cublasSgemvBatched(h, CUBLAS_OP_T, N, N, &two, at[2], N, at[1], 1, &zero, at[3], 1, COUNT));
    show("gemv", d, N), show("gemv", d + N * N, N);
    OK(cublasSgemvStridedBatched(h, CUBLAS_OP_N, N, N, &one, c, N, N * N, b, 1, N, &two, d, 1, N, COUNT));
    show("gemv", d, 2 * N);
    float *e = d + N * N;
    OK(cublasGemmBatchedEx(h, CUBLAS_OP_N, CUBLAS_OP_T, N, N, 2, &one, (const void **)at[2], CUDA_R_32F, N,
                           (const void **)at[1], CUDA_R_32F, N, &zero, (void **)at[3], CUDA_R_32F, N, COUNT,
                           CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    show("gemm", d, N), show("gemm", e, N);
    for (int i = 0; i < N; i++) a[i] = 0; // a singular matrix
    OK(cublasSgetrfBatched(h, N, at[0], N, pivots, info, 1));
    cudaDeviceSynchronize();
    printf("info: %d\n", info[0]);

    float p = 3, q = 4, cosine, sine;
    OK(cublasSrotg(h, &p, &q, &cosine, &sine));
    printf("rotg: %.3f %.3f %.3f %.3f\n", p, q, cosine, sine);
    cuComplex u = {3, 4}, v = {0, 12}, w;
    OK(cublasCrotg(h, &u, &v, &cosine, &w));
    printf("rotg: %.3f %.3f %.3f %.3f %.3f\n", u.x, u.y, cosine, w.x, w.y);
    float d1 = 1, d2 = 5, x1 = 2.1f, y1 = 1.2f, param[5] = {};
    OK(cublasSrotmg(h, &d1, &d2, &x1, &y1, param));
    printf("rotmg: %.3f %.3f %.3f, %g %.3f %.3f\n", d1, d2, x1, param[0], param[1], param[4]);
    for (int i = 0; i < 4; i++) b[i] = (float)(i + 1), c[i] = (float)(5 - 2 * i);
    OK(cublasSrotm(h, 4, b, 1, c, 1, param));
    show("rotm", b, 4), show("rotm", c, 4);

    for (int i = 0; i < 4; i++) b[i] = (float)(i + 1), c[i] = (float)(i + 5);
    float result;
    OK(cublasDotEx(h, 4, b, CUDA_R_32F, 1, c, CUDA_R_32F, 1, &result, CUDA_R_32F, CUDA_R_32F));
    printf("dot: %.3f\n", result);
    OK(cublasNrm2Ex(h, 4, b, CUDA_R_32F, 1, &result, CUDA_R_32F, CUDA_R_32F));
    printf("nrm2: %.3f\n", result);
    OK(cublasAxpyEx(h, 4, &two, CUDA_R_32F, b, CUDA_R_32F, 1, c, CUDA_R_32F, 1, CUDA_R_32F));
    OK(cublasScalEx(h, 4, &two, CUDA_R_32F, b, CUDA_R_32F, 1, CUDA_R_32F));
    show("scal", b, 4), show("axpy", c, 4);
    cosine = 0.5f, sine = 2;
    OK(cublasRotEx(h, 4, b, CUDA_R_32F, 1, c, CUDA_R_32F, 1, &cosine, &sine, CUDA_R_32F, CUDA_R_32F));
    show("rot", b, 4), show("rot", c, 4);
    OK(cublasDestroy(h));
    for (int k = 0; k < 4; k++) cudaFree(data[k]), cudaFree(at[k]);
    cudaFree(pivots), cudaFree(info);
    return 0;
}
