// Shows: several host threads, each with its own stream and memory.
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

__global__ void powers(unsigned *out, int n, unsigned base) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    unsigned r = 1;
    for (int k = 0; k < i; k++) r *= base;
    out[i] = r;
}

std::mutex mutex;
int failures;

void worker(unsigned base, unsigned &sum) {
    const int n = 300;
    std::vector<unsigned> h(n);
    unsigned *d;
    cudaStream_t stream;
    cudaError_t e = cudaSetDevice(0);
    if (!e) e = cudaStreamCreate(&stream);
    if (!e) e = cudaMalloc(&d, n * sizeof *d);
    if (!e) powers<<<3, 100, 0, stream>>>(d, n, base);
    if (!e) e = cudaMemcpyAsync(h.data(), d, n * sizeof *d, cudaMemcpyDeviceToHost, stream);
    if (!e) e = cudaStreamSynchronize(stream);
    for (unsigned v : h) sum += v;
    if (!e) e = cudaFree(d);
    if (!e) e = cudaStreamDestroy(stream);
    std::lock_guard<std::mutex> lock(mutex);
    failures += e != cudaSuccess;
}

int main() {
    unsigned sums[6] = {}, expected[6] = {};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 6; t++) threads.emplace_back(worker, t + 2, std::ref(sums[t]));
    for (auto &t : threads) t.join();
    for (unsigned t = 0; t < 6; t++) {
        unsigned r = 1;
        for (int i = 0; i < 300; i++, r *= t + 2) expected[t] += r;
        printf("%u %s\n", sums[t], sums[t] == expected[t] ? "equal" : "different");
    }
    printf("%d failures\n", failures);
}
