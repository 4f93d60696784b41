// Shows: nvcuda::wmma: products of halves, bfloat16, tf32, bytes and doubles, in several shapes and layouts.
#include <cmath>
#include <cstdio>
#include <mma.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

using namespace nvcuda;

// C = 2 * A * B + C by one warp, where A is M x K by rows and B is K x N by columns.
template <int M, int N, int K, typename T, typename Memory, typename Sum>
__global__ void multiply(const Memory *a, const Memory *b, Sum *c) {
    wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> sum, old;
    wmma::load_matrix_sync(left, a, K);
    wmma::load_matrix_sync(right, b, K);
    wmma::load_matrix_sync(old, c, N, wmma::mem_row_major);
    wmma::fill_fragment(sum, Sum(0));
    wmma::mma_sync(sum, left, right, sum);
    for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = sum.x[i] * Sum(2) + old.x[i];
    wmma::store_matrix_sync(c, sum, M, wmma::mem_col_major);
}

template <int M, int N, int K, typename T, typename Memory, typename Sum> void test(const char *name) {
    Memory *a, *b;
    Sum *c;
    cudaMallocManaged(&a, M * K * sizeof(Memory)), cudaMallocManaged(&b, K * N * sizeof(Memory));
    cudaMallocManaged(&c, M * N * sizeof(Sum));
    for (int i = 0; i < M * K; ++i) a[i] = Memory(float(i % 7));
    for (int i = 0; i < K * N; ++i) b[i] = Memory(float(i % 5));
    for (int i = 0; i < M * N; ++i) c[i] = Sum(float(i % 3));
    multiply<M, N, K, T><<<1, 32>>>(a, b, c);
    cudaDeviceSynchronize();
    int wrong = 0;
    double total = 0;
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j) {
            int sum = 0;
            for (int k = 0; k < K; ++k) sum += (i * K + k) % 7 * ((j * K + k) % 5);
            wrong += float(c[i + j * M]) != float(2 * sum + (i * N + j) % 3), total += float(c[i + j * M]);
        }
    printf("%s: %d wrong, total %g, %s\n", name, wrong, total, cudaGetErrorName(cudaGetLastError()));
    cudaFree(a), cudaFree(b), cudaFree(c);
}

int main() {
    test<16, 16, 16, half, half, float>("half, sums of float");
    test<32, 8, 16, half, half, half>("half, sums of half");
    test<8, 32, 16, __nv_bfloat16, __nv_bfloat16, float>("bfloat16");
    test<16, 16, 8, wmma::precision::tf32, float, float>("tf32");
    test<16, 16, 16, signed char, signed char, int>("signed bytes");
    test<8, 32, 16, unsigned char, unsigned char, int>("unsigned bytes");
    test<8, 8, 4, double, double, double>("double");
    return 0;
}
