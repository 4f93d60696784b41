// Shows: cuBLASXt: a product of matrices in the host's memory.
#include <cstdio>
#include <vector>
#include <cublasXt.h>

int main() {
    const int m = 70, n = 33, k = 40;
    std::vector<double> a(m * k), b(n * k), c(m * n), right(m * n);
    for (int i = 0; i < m * k; i++) a[i] = i % 11 - 5;
    for (int i = 0; i < n * k; i++) b[i] = i % 13 - 6;
    for (int i = 0; i < m * n; i++) c[i] = i % 5;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = 0;
            for (int l = 0; l < k; l++) sum += a[i + l * m] * b[j + l * n];
            right[i + j * m] = 2 * sum + 3 * c[i + j * m];
        }
    cublasXtHandle_t handle;
    int device[1] = {0}, wrong = 0;
    double alpha = 2, beta = 3;
    printf("%d", cublasXtCreate(&handle));
    printf(" %d", cublasXtDeviceSelect(handle, 1, device));
    printf(" %d\n", cublasXtDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, m, n, k, &alpha, a.data(), m, b.data(), n, &beta, c.data(), m));
    for (int i = 0; i < m * n; i++) wrong += c[i] != right[i];
    printf("%d wrong, %g\n", wrong, c[100]);
    cublasXtDestroy(handle);
    return wrong;
}
