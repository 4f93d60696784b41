#pragma once

namespace vectorize {
template <int BM, int BN, int BK>
__global__ void sgemm(int M, int N, int K, float alpha, float *A, float *B, float beta, float *C) {
  __shared__ float As[BK][BM];
  __shared__ float Bs[BK][BN];
  const int tid = threadIdx.x, ty = tid / 16, tx = tid % 16;
  A += blockIdx.y * BM * K, B += blockIdx.x * BN, C += blockIdx.y * BM * N + blockIdx.x * BN;
  float4 sum[4] = {};
  for (int k = 0; k < K; k += BK) {
    const int row = tid / (BK / 4), col = tid % (BK / 4);
    float4 tmp = reinterpret_cast<float4 *>(&A[row * K + k + col * 4])[0];
    // transpose A during the transfer from global to shared memory
    As[col * 4 + 0][row] = tmp.x, As[col * 4 + 1][row] = tmp.y, As[col * 4 + 2][row] = tmp.z, As[col * 4 + 3][row] = tmp.w;
    reinterpret_cast<float4 *>(&Bs[tid / 16][tid % 16 * 4])[0] = reinterpret_cast<float4 *>(&B[(k + tid / 16) * N + tid % 16 * 4])[0];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < BK; i++) {
      const float4 b = *reinterpret_cast<const float4 *>(&Bs[i][tx * 4]);
      for (int r = 0; r < 4; r++) {
        const float a = As[i][ty * 4 + r];
        sum[r].x += a * b.x, sum[r].y += a * b.y, sum[r].z += a * b.z, sum[r].w += a * b.w;
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; r++) {
    float4 &c = *reinterpret_cast<float4 *>(&C[(ty * 4 + r) * N + tx * 4]);
    c = make_float4(alpha * sum[r].x + beta * c.x, alpha * sum[r].y + beta * c.y, alpha * sum[r].z + beta * c.z,
                    alpha * sum[r].w + beta * c.w);
  }
}
} // namespace vectorize
