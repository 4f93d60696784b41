// Shows: a program whose C++ files use the runtime's functions but no CUDA words, with wrappers in one CUDA file.
#include "filters.hpp"
#include "image.hpp"
#include <cuda_runtime_api.h>
#include <iostream>

int main() {
    Image image(40, 30);
    unsigned char *in = nullptr, *out = nullptr;
    if (cudaMalloc(reinterpret_cast<void **>(&in), image.size()) != cudaSuccess) return 1;
    if (cudaMalloc(reinterpret_cast<void **>(&out), image.size()) != cudaSuccess) return 1;
    cudaMemcpy(in, image.data(), image.size(), cudaMemcpyHostToDevice);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    filters::threshold(in, out, image.width(), image.height(), 100, stream);
    filters::erode(out, in, image.width(), image.height(), stream);
    cudaStreamSynchronize(stream);
    cudaMemcpy(image.data(), in, image.size(), cudaMemcpyDeviceToHost);
    std::cout << image.count(255) << " white, " << image.count(0) << " black of " << image.size() << std::endl;
    cudaStreamDestroy(stream);
    cudaFree(in);
    cudaFree(out);
}
