// Shows: modern C++ around CUDA: owning buffers, unique pointers with deleters, exceptions and std::vector.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpu {
struct Error : std::runtime_error { using std::runtime_error::runtime_error; };
inline void check(cudaError_t e, const char *what) { if (e != cudaSuccess) throw Error(std::string(what) + ": " + cudaGetErrorName(e)); }
#define GPU_CHECK(...) ::gpu::check((__VA_ARGS__), #__VA_ARGS__)

template <typename T> class Buffer {
    struct Deleter { void operator()(T *p) const noexcept { cudaFree(p); } };
    static T *allocate(std::size_t n) { void *p = nullptr; GPU_CHECK(cudaMalloc(&p, n * sizeof(T))); return static_cast<T *>(p); }
    std::unique_ptr<T[], Deleter> data_;
    std::size_t size_;
public:
    explicit Buffer(std::size_t n) : data_(allocate(n)), size_(n) {}
    explicit Buffer(const std::vector<T> &v) : Buffer(v.size()) {
        GPU_CHECK(cudaMemcpy(get(), v.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    [[nodiscard]] T *get() const noexcept { return data_.get(); }
    [[nodiscard]] std::vector<T> host() const {
        std::vector<T> v(size_);
        GPU_CHECK(cudaMemcpy(v.data(), get(), size_ * sizeof(T), cudaMemcpyDeviceToHost));
        return v;
    }
};
using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, decltype(&cudaStreamDestroy)>;
Stream make_stream() { cudaStream_t s; GPU_CHECK(cudaStreamCreate(&s)); return {s, cudaStreamDestroy}; }
}

template <typename T> __global__ void square(T *x, unsigned n) {
    if (auto i = blockIdx.x * blockDim.x + threadIdx.x; i < n) x[i] *= x[i];
}

int main() try {
    std::vector<long> v(1000);
    std::iota(v.begin(), v.end(), -500L);
    gpu::Buffer<long> buffer(v);
    auto stream = gpu::make_stream();
    square<<<4, 256, 0, stream.get()>>>(buffer.get(), unsigned(v.size()));
    GPU_CHECK(cudaGetLastError());
    GPU_CHECK(cudaStreamSynchronize(stream.get()));
    const auto result = buffer.host();
    std::printf("%ld %ld\n", result.front(), std::accumulate(result.begin(), result.end(), 0L));
    square<<<1, 5000, 0, stream.get()>>>(buffer.get(), 1u);
    GPU_CHECK(cudaGetLastError());
} catch (const gpu::Error &e) {
    std::printf("caught %s\n", e.what());
}
