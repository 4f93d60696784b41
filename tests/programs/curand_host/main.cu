// Shows: cuRAND's generators of the host's interface, of which only statistics are printed.
#include <stdio.h>
#include <stdlib.h>
#include <curand.h>

#define CURAND_CALL(x) do { if ((x) != CURAND_STATUS_SUCCESS) { printf("Error at %s:%d\n", __FILE__, __LINE__); return EXIT_FAILURE; } } while (0)

__global__ void statistics(const float *x, int n, double *out)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        atomicAdd(&out[0], x[i]);
        atomicAdd(&out[1], (double)x[i] * x[i]);
    }
}

int main()
{
    const int n = 100000;
    float *devData;
    double *out, h[2];
    curandGenerator_t gen;
    cudaMalloc((void **)&devData, n * sizeof(float));
    cudaMalloc((void **)&out, sizeof(h));
    for (int kind = 0; kind < 3; kind++) {
        CURAND_CALL(curandCreateGenerator(&gen, kind == 1 ? CURAND_RNG_PSEUDO_PHILOX4_32_10 : CURAND_RNG_PSEUDO_DEFAULT));
        CURAND_CALL(curandSetPseudoRandomGeneratorSeed(gen, 1234ULL));
        if (kind < 2) CURAND_CALL(curandGenerateUniform(gen, devData, n));
        else CURAND_CALL(curandGenerateNormal(gen, devData, n, 5.0f, 2.0f));
        cudaMemset(out, 0, sizeof(h));
        statistics<<<8, 128>>>(devData, n, out);
        cudaMemcpy(h, out, sizeof(h), cudaMemcpyDeviceToHost);
        double mean = h[0] / n;
        printf("mean %.1f, variance %.1f\n", mean, h[1] / n - mean * mean);
        CURAND_CALL(curandDestroyGenerator(gen));
    }
    cudaFree(devData), cudaFree(out);
    return EXIT_SUCCESS;
}
