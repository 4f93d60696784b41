// Shows: warp matrix multiply-accumulate, 16 x 16 x 16 tiles of halves with float and int8 with int sums.
#include <cstdio>
#include <vector>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

const int WMMA_M = 16, WMMA_N = 16, WMMA_K = 16;

__global__ void wmma_example(const half *a, const half *b, float *c, int M, int N, int K, float alpha) {
    int warpM = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, warpN = blockIdx.y * blockDim.y + threadIdx.y;
    if (warpM * WMMA_M >= M || warpN * WMMA_N >= N) return;
    wmma::fragment<wmma::matrix_a, WMMA_M, WMMA_N, WMMA_K, half, wmma::row_major> a_frag;
    wmma::fragment<wmma::matrix_b, WMMA_M, WMMA_N, WMMA_K, half, wmma::col_major> b_frag;
    wmma::fragment<wmma::accumulator, WMMA_M, WMMA_N, WMMA_K, float> acc_frag;
    wmma::fill_fragment(acc_frag, 0.0f);
    for (int k = 0; k < K; k += WMMA_K) {
        wmma::load_matrix_sync(a_frag, a + warpM * WMMA_M * K + k, K);
        wmma::load_matrix_sync(b_frag, b + warpN * WMMA_N * K + k, K);
        wmma::mma_sync(acc_frag, a_frag, b_frag, acc_frag);
    }
    for (int i = 0; i < acc_frag.num_elements; i++) acc_frag.x[i] *= alpha;
    wmma::store_matrix_sync(c + warpM * WMMA_M * N + warpN * WMMA_N, acc_frag, N, wmma::mem_row_major);
}

__global__ void bytes(const signed char *a, const signed char *b, int *c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::fill_fragment(fc, 1000);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

int main() {
    const int M = 64, N = 32, K = 48;
    half *a, *b;
    float *c;
    cudaMallocManaged(&a, M * K * sizeof(half)), cudaMallocManaged(&b, N * K * sizeof(half));
    cudaMallocManaged(&c, M * N * sizeof(float));
    for (int i = 0; i < M * K; i++) a[i] = __float2half(float(i % 7 - 3));
    for (int i = 0; i < N * K; i++) b[i] = __float2half(float(i % 5 - 2) / 2);
    wmma_example<<<dim3(1, 1), dim3(128, 2)>>>(a, b, c, M, N, K, 2.0f);
    signed char *bytes_a = reinterpret_cast<signed char *>(a), *bytes_b = reinterpret_cast<signed char *>(b);
    cudaError_t e = cudaDeviceSynchronize();
    int wrong = 0;
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            int s = 0;
            for (int k = 0; k < K; k++) s += ((m * K + k) % 7 - 3) * ((n * K + k) % 5 - 2);
            wrong += c[m * N + n] != float(s);
        }
    printf("%s, %g %g, %d wrong\n", cudaGetErrorName(e), c[0], c[M * N - 1], wrong);
    for (int i = 0; i < 256; i++) bytes_a[i] = i % 11 - 5, bytes_b[i] = i % 13 - 6;
    int *ci = reinterpret_cast<int *>(c);
    bytes<<<1, 32>>>(bytes_a, bytes_b, ci);
    cudaDeviceSynchronize();
    for (int i = wrong = 0; i < 256; i++) {
        int s = 1000;
        for (int k = 0; k < 16; k++) s += bytes_a[i / 16 * 16 + k] * bytes_b[k * 16 + i % 16];
        wrong += ci[i] != s;
    }
    printf("%d %d, %d wrong\n", ci[0], ci[255], wrong);
    cudaFree(a), cudaFree(b), cudaFree(c);
}
