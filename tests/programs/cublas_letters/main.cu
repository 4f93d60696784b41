// Shows: cuBLAS's functions from before version 2: letters for operations, and one handle that nobody sees.
#include <cstdio>
#include <cublas.h>

int main() {
    const float h[6] = {1, 2, 3, 4, 5, 6};
    const double u[4] = {2, 0, 1, 4};
    float c[4], *a, *p;
    double w[2] = {4, 8}, *t, *b;
    cublasStatus status = cublasInit();
    printf("%d\n", status);
    cublasAlloc(6, sizeof(float), (void **)&a);
    cublasAlloc(4, sizeof(float), (void **)&p);
    cublasAlloc(4, sizeof(double), (void **)&t);
    cublasAlloc(2, sizeof(double), (void **)&b);
    cublasSetVector(6, sizeof(float), h, 1, a, 1);
    cublasSgemm('n', 'T', 2, 2, 3, 1.0f, a, 2, a, 2, 0.0f, p, 2);
    cublasSscal(4, 2.0f, p, 1);
    cublasSaxpy(4, 1.0f, a, 1, p, 1);
    cublasGetMatrix(2, 2, sizeof(float), p, 2, c, 2);
    printf("%g %g %g %g\n", c[0], c[1], c[2], c[3]);
    printf("%g %g %d\n", cublasSdot(6, a, 1, a, 1), cublasSasum(3, a, 2), cublasIsamax(6, a, 1));

    cublasSetMatrix(2, 2, sizeof(double), u, 2, t, 2);
    cublasSetVector(2, sizeof(double), w, 1, b, 1);
    cublasDtrsm('L', 'U', 'N', 'N', 2, 1, 1.0, t, 2, b, 2);
    cublasGetVector(2, sizeof(double), b, 1, w, 1);
    printf("%g %g, %d\n", w[0], w[1], cublasGetError());
    cublasFree(a);
    cublasFree(p);
    cublasFree(t);
    cublasFree(b);
    return cublasShutdown();
}
