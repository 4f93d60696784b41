// Shows: cuRAND: generators of the host and of kernels; their integers and uniform numbers are the same everywhere.
#include <cmath>
#include <cstdio>
#include <curand.h>
#include <curand_kernel.h>

template <typename State> __global__ void draw(unsigned long long seed, unsigned *integers, double *uniform) {
    State state;
    curand_init(seed, threadIdx.x, 3 * threadIdx.x, &state);
    for (int i = 0; i < 4; ++i) integers[4 * threadIdx.x + i] = curand(&state);
    uniform[2 * threadIdx.x] = curand_uniform(&state);
    uniform[2 * threadIdx.x + 1] = curand_uniform_double(&state);
}

template <typename State> void show(const char *name) {
    unsigned *integers;
    double *uniform;
    cudaMallocManaged(&integers, 16 * sizeof(unsigned)), cudaMallocManaged(&uniform, 8 * sizeof(double));
    draw<State><<<1, 4>>>(2026, integers, uniform);
    cudaDeviceSynchronize();
    printf("%s in a kernel:", name);
    for (int i = 0; i < 16; ++i) printf(" %u", integers[i]);
    printf("\n");
    for (int i = 0; i < 8; ++i) printf("%.9f ", uniform[i]);
    printf("\n");
    cudaFree(integers), cudaFree(uniform);
}

void show(const char *name, curandRngType_t type) {
    const int n = 100000;
    unsigned *integers;
    float *numbers;
    cudaMallocManaged(&integers, n * sizeof(unsigned)), cudaMallocManaged(&numbers, n * sizeof(float));
    curandGenerator_t generator;
    curandCreateGenerator(&generator, type);
    curandSetPseudoRandomGeneratorSeed(generator, 1234ull);
    curandGenerate(generator, integers, n);
    curandGenerateUniform(generator, numbers, n);
    cudaDeviceSynchronize();
    printf("%s of the host: %u %u %u, then %.7f %.7f\n", name, integers[0], integers[5000], integers[n - 1],
           numbers[0], numbers[n - 1]);
    curandGenerateNormal(generator, numbers, n, 10, 2);
    cudaDeviceSynchronize();
    double sum = 0, squares = 0;
    for (int i = 0; i < n; ++i) sum += numbers[i], squares += (numbers[i] - 10.) * (numbers[i] - 10.);
    printf("normal: mean %.1f, deviation %.1f\n", sum / n, std::sqrt(squares / n));
    curandDestroyGenerator(generator);
    cudaFree(integers), cudaFree(numbers);
}

int main() {
    show<curandStateXORWOW_t>("XORWOW"), show<curandStatePhilox4_32_10_t>("Philox");
    show("XORWOW", CURAND_RNG_PSEUDO_XORWOW), show("Philox", CURAND_RNG_PSEUDO_PHILOX4_32_10);
    return 0;
}
