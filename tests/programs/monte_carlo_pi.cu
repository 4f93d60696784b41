// Shows: a Monte Carlo estimate of pi from a generator of one's own, counted exactly.
#include <iostream>
#include <iomanip>
#include <cstdint>

class Lcg {
    uint64_t state;
public:
    __host__ __device__ explicit Lcg(uint64_t seed) : state(seed * 2862933555777941757ULL + 3037000493ULL) { next(); }
    __host__ __device__ uint32_t next() {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return uint32_t(state >> 33);
    }
};

__host__ __device__ unsigned hits(unsigned thread, int samples) {
    Lcg random(thread + 1);
    unsigned count = 0;
    for (int i = 0; i < samples; ++i) {
        uint64_t x = random.next(), y = random.next(); // 31 bits each
        count += x * x + y * y < (uint64_t{1} << 62);
    }
    return count;
}

__global__ void estimate(unsigned long long *total, int samples) {
    unsigned count = hits(blockIdx.x * blockDim.x + threadIdx.x, samples);
    count += __shfl_xor_sync(0xffffffffu, count, 16);
    count += __shfl_xor_sync(0xffffffffu, count, 8);
    count += __shfl_xor_sync(0xffffffffu, count, 4);
    count += __shfl_xor_sync(0xffffffffu, count, 2);
    count += __shfl_xor_sync(0xffffffffu, count, 1);
    if (threadIdx.x % 32 == 0) atomicAdd(total, count);
}

int main() {
    constexpr int blocks = 16, threads = 128, samples = 500;
    unsigned long long *d_total, total = 0, expected = 0;
    cudaMalloc(&d_total, sizeof total);
    cudaMemset(d_total, 0, sizeof total);
    estimate<<<blocks, threads>>>(d_total, samples);
    cudaMemcpy(&total, d_total, sizeof total, cudaMemcpyDeviceToHost);
    for (unsigned t = 0; t < blocks * threads; ++t) expected += hits(t, samples);
    std::cout << total << (total == expected ? " = " : " != ") << expected << ", pi is about " << std::fixed
              << std::setprecision(4) << 4.0 * total / (double(blocks) * threads * samples) << std::endl;
    cudaFree(d_total);
    return total != expected;
}
