// Shows: an n-body simulation with tiles in shared memory and float4, compared with the host's within a bound.
#include <cstdio>
#include <cmath>
#include <vector>
#define EPS2 0.01f

__host__ __device__ inline float3 bodyBodyInteraction(float4 bi, float4 bj, float3 ai)
{
    float3 r = {bj.x - bi.x, bj.y - bi.y, bj.z - bi.z};
    float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + EPS2;
    float distSixth = distSqr * distSqr * distSqr;
    float invDistCube = 1.0f / sqrtf(distSixth);
    float s = bj.w * invDistCube;
    ai.x += r.x * s;
    ai.y += r.y * s;
    ai.z += r.z * s;
    return ai;
}

__global__ void calculate_forces(const float4 *X, float4 *A, int N)
{
    extern __shared__ float4 shPosition[];
    int gtid = blockIdx.x * blockDim.x + threadIdx.x;
    float4 myPosition = X[gtid];
    float3 acc = {0.0f, 0.0f, 0.0f};
    for (int i = 0, tile = 0; i < N; i += blockDim.x, tile++) {
        int idx = tile * blockDim.x + threadIdx.x;
        shPosition[threadIdx.x] = X[idx];
        __syncthreads();
        for (unsigned j = 0; j < blockDim.x; j++) acc = bodyBodyInteraction(myPosition, shPosition[j], acc);
        __syncthreads();
    }
    A[gtid] = make_float4(acc.x, acc.y, acc.z, 0.0f);
}

int main()
{
    const int N = 512, p = 128;
    std::vector<float4> x(N), a(N);
    for (int i = 0; i < N; i++)
        x[i] = {(i * 37 % 101) / 10.f, (i * 53 % 97) / 10.f, (i * 71 % 89) / 10.f, 1.0f + i % 3};
    float4 *dX, *dA;
    cudaMalloc(&dX, N * sizeof(float4));
    cudaMalloc(&dA, N * sizeof(float4));
    cudaMemcpy(dX, x.data(), N * sizeof(float4), cudaMemcpyHostToDevice);
    calculate_forces<<<N / p, p, p * sizeof(float4)>>>(dX, dA, N);
    cudaMemcpy(a.data(), dA, N * sizeof(float4), cudaMemcpyDeviceToHost);
    double worst = 0;
    for (int i = 0; i < N; i++) {
        float3 acc = {0, 0, 0};
        for (int j = 0; j < N; j++) acc = bodyBodyInteraction(x[i], x[j], acc);
        double size = 1 + std::fabs(acc.x) + std::fabs(acc.y) + std::fabs(acc.z);
        worst = std::fmax(worst, (std::fabs(acc.x - a[i].x) + std::fabs(acc.y - a[i].y) + std::fabs(acc.z - a[i].z)) / size);
    }
    printf("%d bodies: %s\n", N, worst < 1e-4 ? "agree" : "differ");
    cudaFree(dX);
    cudaFree(dA);
    return worst >= 1e-4;
}
