// Shows: cuRAND's quasirandom numbers: pi from two dimensions of Sobol's sequence, in kernels and by the host's generator.
#include <cstdio>
#include <curand.h>
#include <curand_kernel.h>

const int N = 20000;

__global__ void draw(curandDirectionVectors32_t *vectors, unsigned *first, double *second) {
    curandStateSobol32_t x, y;
    curand_init(vectors[0], 4 * threadIdx.x, &x);
    curand_init(vectors[1], 4 * threadIdx.x, &y);
    for (int i = 0; i < 4; ++i) {
        first[4 * threadIdx.x + i] = curand(&x);
        second[4 * threadIdx.x + i] = curand_uniform(&y);
    }
}
__global__ void count(const float *points, int *inside) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float x = points[i], y = points[N + i];
    if (x * x + y * y < 1) atomicAdd(inside, 1);
}

int main() {
    curandDirectionVectors32_t *host, *vectors;
    unsigned *first;
    double *second;
    float *points;
    int *inside;
    cudaMallocManaged(&first, 16 * sizeof *first), cudaMallocManaged(&second, 16 * sizeof *second);
    cudaMallocManaged(&points, 2 * N * sizeof *points), cudaMallocManaged(&inside, sizeof *inside);
    cudaMalloc(&vectors, 2 * sizeof *vectors);
    printf("vectors %d\n", curandGetDirectionVectors32(&host, CURAND_DIRECTION_VECTORS_32_JOEKUO6));
    cudaMemcpy(vectors, host, 2 * sizeof *vectors, cudaMemcpyHostToDevice);
    draw<<<1, 4>>>(vectors, first, second);
    cudaDeviceSynchronize();
    for (int i = 0; i < 16; ++i) printf("%u %.8f%s", first[i], second[i], i % 4 == 3 ? "\n" : ", ");

    curandGenerator_t generator;
    printf("create %d", curandCreateGenerator(&generator, CURAND_RNG_QUASI_SOBOL32));
    printf(", dimensions %d", curandSetQuasiRandomGeneratorDimensions(generator, 2));
    printf(", generate %d\n", curandGenerateUniform(generator, points, 2 * N));
    *inside = 0;
    count<<<(N + 255) / 256, 256>>>(points, inside);
    cudaDeviceSynchronize();
    printf("%.8f %.8f, %.8f %.8f\n", points[1], points[N + 1], points[N - 1], points[2 * N - 1]);
    printf("inside %d, pi %.4f\n", *inside, 4.0 * *inside / N);
    printf("odd length: %d\n", curandGenerateUniform(generator, points, 3));
    return curandDestroyGenerator(generator);
}
