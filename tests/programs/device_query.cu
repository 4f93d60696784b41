// Shows: device properties and attributes, of which those are printed that every H200 has.
#include <iostream>
#include <cuda_runtime.h>

int main() {
    int count = 0, device = -1;
    cudaGetDeviceCount(&count);
    if (count == 0) {
        std::cerr << "no device" << std::endl;
        return 1;
    }
    cudaSetDevice(0);
    cudaGetDevice(&device);
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, device);
    std::cout << "device " << device << ", capability " << p.major << "." << p.minor << "\n"
              << "multiprocessors " << p.multiProcessorCount << ", warp " << p.warpSize << "\n"
              << "threads per block " << p.maxThreadsPerBlock << ", per multiprocessor " << p.maxThreadsPerMultiProcessor << "\n"
              << "block " << p.maxThreadsDim[0] << " " << p.maxThreadsDim[1] << " " << p.maxThreadsDim[2] << "\n"
              << "grid " << p.maxGridSize[0] << " " << p.maxGridSize[1] << " " << p.maxGridSize[2] << "\n"
              << "shared memory per block " << p.sharedMemPerBlock << ", at most " << p.sharedMemPerBlockOptin << "\n"
              << "registers per block " << p.regsPerBlock << ", constant memory " << p.totalConstMem << "\n"
              << "bus " << p.memoryBusWidth << " bits, cooperative " << p.cooperativeLaunch << ", managed "
              << p.managedMemory << ", unified " << p.unifiedAddressing << "\n";
    int warp, threads, sms;
    cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device);
    cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, device);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    size_t free, total;
    cudaMemGetInfo(&free, &total);
    int driver, runtime;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    bool same = warp == p.warpSize && threads == p.maxThreadsPerBlock && sms == p.multiProcessorCount;
    std::cout << (same ? "attributes agree" : "attributes differ") << ", "
              << (free <= total && driver >= 12000 && runtime >= 12000 ? "good" : "bad") << std::endl;
    return 0;
}
