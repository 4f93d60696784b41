// Shows: a histogram with one copy per block in shared memory, added to the global one at the end.
#include <iostream>
#include <vector>
#define HIST_SIZE 256
#define HANDLE_ERROR(err) (HandleError(err, __FILE__, __LINE__))
static void HandleError(cudaError_t err, const char *file, int line) {
    if (err != cudaSuccess) {
        printf("%s in %s at line %d\n", cudaGetErrorString(err), file, line);
        exit(EXIT_FAILURE);
    }
}

__global__ void histo_kernel(unsigned char *buffer, long size, unsigned int *histo) {
    __shared__ unsigned int temp[HIST_SIZE];
    temp[threadIdx.x] = 0;
    __syncthreads();
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int stride = blockDim.x * gridDim.x;
    while (i < size) {
        atomicAdd(&temp[buffer[i]], 1);
        i += stride;
    }
    __syncthreads();
    atomicAdd(&(histo[threadIdx.x]), temp[threadIdx.x]);
}

int main(void) {
    const long SIZE = 200000;
    std::vector<unsigned char> buffer(SIZE);
    unsigned seed = 1;
    for (auto &b : buffer) { seed = seed * 1103515245u + 12345u; b = (seed >> 16) & (seed >> 24) & 255; }

    unsigned char *dev_buffer;
    unsigned int *dev_histo, histo[HIST_SIZE];
    HANDLE_ERROR( cudaMalloc( (void**)&dev_buffer, SIZE ) );
    HANDLE_ERROR( cudaMemcpy( dev_buffer, buffer.data(), SIZE, cudaMemcpyHostToDevice ) );
    HANDLE_ERROR( cudaMalloc( (void**)&dev_histo, HIST_SIZE * sizeof( int ) ) );
    HANDLE_ERROR( cudaMemset( dev_histo, 0, HIST_SIZE * sizeof( int ) ) );
    cudaDeviceProp prop;
    HANDLE_ERROR( cudaGetDeviceProperties( &prop, 0 ) );
    int blocks = prop.multiProcessorCount;
    histo_kernel<<<blocks*2,256>>>( dev_buffer, SIZE, dev_histo );
    HANDLE_ERROR( cudaMemcpy( histo, dev_histo, sizeof( histo ), cudaMemcpyDeviceToHost ) );

    long total = 0;
    for (int i = 0; i < HIST_SIZE; i++) total += histo[i];
    std::cout << "Histogram Sum:  " << total << "\n" << histo[0] << " " << histo[170] << " " << histo[255] << "\n";
    for (auto b : buffer) histo[b]--;
    for (int i = 0; i < HIST_SIZE; i++)
        if (histo[i] != 0) std::cout << "Failure at " << i << "!\n";
    HANDLE_ERROR( cudaFree( dev_histo ) );
    HANDLE_ERROR( cudaFree( dev_buffer ) );
    return 0;
}
