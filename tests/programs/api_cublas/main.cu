// Shows: cuBLAS: vectors, matrix times vector, products of matrices, a triangular system, results on host and device.
#include <cstdio>
#include <cublas_v2.h>

#define CHECK(call)                                                                                                  \
    do {                                                                                                             \
        cublasStatus_t status_ = (call);                                                                             \
        if (status_ != CUBLAS_STATUS_SUCCESS) printf("%s: status %d\n", #call, (int)status_);                        \
    } while (0)

template <typename T> void show(const char *what, const T *device, int n) {
    T host[16];
    cublasGetVector(n, sizeof(T), device, 1, host, 1);
    printf("%s:", what);
    for (int i = 0; i < n; ++i) printf(" %g", (double)host[i]);
    printf("\n");
}

int main() {
    cublasHandle_t handle;
    cudaStream_t stream;
    CHECK(cublasCreate(&handle));
    cudaStreamCreate(&stream);
    CHECK(cublasSetStream(handle, stream));
    float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, -1, 2, 0, 3, -8}, one = 1, two = 2, zero = 0; // column-major
    float *A, *B, *C, *norm, sum, dot, size;
    int largest;
    cudaMalloc(&A, sizeof a), cudaMalloc(&B, sizeof b), cudaMalloc(&C, 9 * sizeof(float)), cudaMalloc(&norm, 4);
    CHECK(cublasSetMatrix(2, 3, sizeof(float), a, 2, A, 2));
    CHECK(cublasSetVector(6, sizeof(float), b, 1, B, 1));
    CHECK(cublasSdot(handle, 6, A, 1, B, 1, &dot));
    CHECK(cublasSasum(handle, 6, B, 1, &sum));
    CHECK(cublasSnrm2(handle, 2, A + 2, 1, &size));
    CHECK(cublasIsamax(handle, 6, B, 1, &largest));
    printf("dot %g, asum %g, nrm2 %g, iamax %d\n", dot, sum, size, largest);
    CHECK(cublasSaxpy(handle, 6, &two, A, 1, B, 1));
    show("axpy", B, 6);
    CHECK(cublasSscal(handle, 3, &two, B, 2));
    show("scal", B, 6);
    CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, 2, 2, 3, &one, A, 2, B, 2, &zero, C, 2));
    show("A * B^T", C, 4);
    CHECK(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, 3, 3, 2, &two, A, 2, B, 2, &zero, C, 3));
    show("2 * A^T * B", C, 9);
    CHECK(cublasSgemv(handle, CUBLAS_OP_N, 2, 3, &one, A, 2, B, 2, &zero, C, 1));
    show("A * x", C, 2);
    CHECK(cublasStrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, 2, 1, &two,
                      A, 2, C, 2));
    show("solved", C, 2);
    CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    CHECK(cublasSnrm2(handle, 2, A + 2, 1, norm));
    CHECK(cublasSscal(handle, 2, norm, A, 1));
    show("scaled by a norm", A, 2);
    CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    CHECK(cublasDestroy(handle));
    return 0;
}
