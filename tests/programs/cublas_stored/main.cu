// Shows: cuBLAS for matrices of which a part is stored: symmetric, Hermitian, triangular, band and packed ones.
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

typedef cuDoubleComplex Z;
const int N = 4;

static void show(const char *name, const double *x, int count) {
    cudaDeviceSynchronize();
    printf("%s:", name);
    for (int i = 0; i < count; i++) printf(" %g", x[i] + 0.0);
    printf("\n");
}
static void show(const char *name, const Z *x, int count) {
    cudaDeviceSynchronize();
    printf("%s:", name);
    for (int i = 0; i < count; i++) printf(" %g%+gi", x[i].x + 0.0, x[i].y + 0.0);
    printf("\n");
}
static void fill(double *x, int count) {
    cudaDeviceSynchronize();
    for (int i = 0; i < count; i++) x[i] = i % 5 + i % 3 + 1;
}
static void fill(Z *x, int count) {
    cudaDeviceSynchronize();
    for (int i = 0; i < count; i++) x[i] = make_cuDoubleComplex(i % 5 + 1, i % 3 - 1);
}

int main(void) {
    cublasHandle_t h;
    OK(cublasCreate(&h));
    double *a, *b, *c, *x, *y, two = 2, three = 3;
    Z *za, *zb, *zc, *zx, *zy, zt = {2, 1}, zs = {0, 3};
    for (double **p : {&a, &b, &c, &x, &y}) cudaMallocManaged(p, N * N * sizeof(double));
    for (Z **p : {&za, &zb, &zc, &zx, &zy}) cudaMallocManaged(p, N * N * sizeof(Z));
#define FILL fill(a, N * N), fill(b, N * N), fill(c, N * N), fill(x, N * N), fill(y, N * N)
#define ZFILL fill(za, N * N), fill(zb, N * N), fill(zc, N * N), fill(zx, N * N), fill(zy, N * N)
    for (cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
        FILL;
        OK(cublasDgbmv(h, op, N, 3, 1, 2, &two, a, N, x, 1, &three, y, 2));
        show("gbmv", y, 8);
    }
    for (cublasFillMode_t part : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
        printf("%s\n", part == CUBLAS_FILL_MODE_LOWER ? "lower" : "upper");
        FILL;
        OK(cublasDsymv(h, part, N, &two, a, N, x, 1, &three, y, 1)), show("symv", y, N);
        OK(cublasDsbmv(h, part, N, 2, &two, a, N, x, 1, &three, y, -2)), show("sbmv", y, 8);
        OK(cublasDspmv(h, part, N, &two, a, x, 2, &three, y, 1)), show("spmv", y, N);
        OK(cublasDsyr(h, part, N, &two, x, 1, b, N)), show("syr", b, N * N);
        OK(cublasDsyr2(h, part, N, &two, x, 1, c, 2, b, N)), show("syr2", b, N * N);
        OK(cublasDspr(h, part, N, &two, x, 1, b)), show("spr", b, 11);
        OK(cublasDspr2(h, part, N, &two, x, 1, c, 1, b)), show("spr2", b, 11);
        OK(cublasDtpttr(h, part, N, b, c, N)), show("tpttr", c, N * N);
        OK(cublasDtrttp(h, part, N, a, N, c)), show("trttp", c, 11);
        for (cublasSideMode_t side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT}) {
            FILL;
            OK(cublasDsymm(h, side, part, N, 3, &two, a, N, b, N, &three, c, N)), show("symm", c, N * N);
        }
        for (cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
            for (cublasDiagType_t unit : {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT}) {
                FILL;
                OK(cublasDtrmv(h, part, op, unit, N, a, N, x, 1)), show("trmv", x, N);
                OK(cublasDtrsv(h, part, op, unit, N, a, N, x, 1)), show("trsv", x, N);
                OK(cublasDtbmv(h, part, op, unit, N, 2, a, N, x, 2)), show("tbmv", x, 8);
                OK(cublasDtbsv(h, part, op, unit, N, 2, a, N, x, 2)), show("tbsv", x, 8);
                OK(cublasDtpmv(h, part, op, unit, N, a, x, -1)), show("tpmv", x, N);
                OK(cublasDtpsv(h, part, op, unit, N, a, x, -1)), show("tpsv", x, N);
            }
            FILL;
            OK(cublasDsyr2k(h, part, op, N, 2, &two, a, N, b, N, &three, c, N)), show("syr2k", c, N * N);
            OK(cublasDsyrkx(h, part, op, N, 2, &two, a, N, c, N, &three, b, N)), show("syrkx", b, N * N);
        }
        ZFILL;
        OK(cublasZhemv(h, part, N, &zt, za, N, zx, 1, &zs, zy, 1)), show("hemv", zy, N);
        OK(cublasZhbmv(h, part, N, 1, &zt, za, N, zx, 1, &zs, zy, 1)), show("hbmv", zy, N);
        OK(cublasZhpmv(h, part, N, &zt, za, zx, 1, &zs, zy, 1)), show("hpmv", zy, N);
        OK(cublasZsymv(h, part, N, &zt, za, N, zx, 1, &zs, zy, 1)), show("symv", zy, N);
        OK(cublasZher(h, part, N, &two, zx, 1, zb, N)), show("her", zb, N * N);
        OK(cublasZher2(h, part, N, &zt, zx, 1, zc, 1, zb, N)), show("her2", zb, N * N);
        OK(cublasZhpr(h, part, N, &two, zx, 1, zb)), show("hpr", zb, 11);
        OK(cublasZhpr2(h, part, N, &zt, zx, 1, zc, 1, zb)), show("hpr2", zb, 11);
        for (cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_C}) {
            ZFILL;
            OK(cublasZhemm(h, op ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT, part, N, N, &zt, za, N, zb, N, &zs, zc, N));
            show("hemm", zc, N * N);
            ZFILL;
            OK(cublasZherk(h, part, op, N, 2, &two, za, N, &three, zc, N)), show("herk", zc, N * N);
            OK(cublasZher2k(h, part, op, N, 2, &zt, za, N, zb, N, &three, zc, N)), show("her2k", zc, N * N);
            OK(cublasZtrmv(h, part, op, CUBLAS_DIAG_NON_UNIT, N, za, N, zx, 1)), show("trmv", zx, N);
        }
    }
    OK(cublasDestroy(h));
    for (double *p : {a, b, c, x, y}) cudaFree(p);
    for (Z *p : {za, zb, zc, zx, zy}) cudaFree(p);
    return 0;
}
