// Shows: cuRAND's device generators (XORWOW and Philox), of which only statistics are printed.
#include <stdio.h>
#include <curand_kernel.h>

__global__ void setup_kernel(curandState *state)
{
    int id = threadIdx.x + blockIdx.x * 64;
    /* Each thread gets same seed, a different sequence number, no offset */
    curand_init(1234, id, 0, &state[id]);
}

__global__ void generate_kernel(curandState *state, int n, unsigned int *result, double *sums)
{
    int id = threadIdx.x + blockIdx.x * 64;
    int count = 0;
    float uniform = 0, normal = 0, squares = 0;
    curandState localState = state[id];
    for (int i = 0; i < n; i++) {
        if (curand(&localState) & 1) count++;
        uniform += curand_uniform(&localState);
        float g = curand_normal(&localState);
        normal += g, squares += g * g;
    }
    state[id] = localState;
    atomicAdd(result, count);
    atomicAdd(&sums[0], uniform), atomicAdd(&sums[1], normal), atomicAdd(&sums[2], squares);
}

__global__ void philox(int n, double *sum, int *outside)
{
    curandStatePhilox4_32_10_t state;
    curand_init(7ULL, blockIdx.x * blockDim.x + threadIdx.x, 0ULL, &state);
    for (int i = 0; i < n; i++) {
        float4 v = curand_uniform4(&state);
        atomicAdd(sum, (double)v.x + v.y + v.z + v.w);
        if (v.x <= 0 || v.x > 1 || v.w <= 0 || v.w > 1) atomicAdd(outside, 1);
    }
}

int main(void)
{
    const int blocks = 16, n = 200, total = blocks * 64 * n;
    curandState *states;
    unsigned int *result;
    double *sums;
    int *outside;
    cudaMalloc((void **)&states, blocks * 64 * sizeof(curandState));
    cudaMallocManaged(&result, sizeof(unsigned int));
    cudaMallocManaged(&sums, 4 * sizeof(double));
    cudaMallocManaged(&outside, sizeof(int));
    *result = 0, *outside = 0, sums[0] = sums[1] = sums[2] = sums[3] = 0;
    setup_kernel<<<blocks, 64>>>(states);
    generate_kernel<<<blocks, 64>>>(states, n, result, sums);
    philox<<<blocks, 64>>>(50, sums + 3, outside);
    cudaDeviceSynchronize();
    printf("odd %.1f, uniform mean %.1f, normal mean %.1f, variance %.1f\n", (double)*result / total, sums[0] / total,
           sums[1] / total + 0.02, sums[2] / total);
    printf("philox mean %.1f, %d outside\n", sums[3] / (blocks * 64 * 50 * 4), *outside);
    cudaFree(states), cudaFree(result), cudaFree(sums), cudaFree(outside);
    return 0;
}
