__global__ void histogram(const unsigned char *text, int n, unsigned int *bins)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(bins + text[i], 1u);
}

extern "C" const void *histogram_function;
const void *histogram_function = (const void *)histogram;

extern "C" void launch_histogram(const unsigned char *text, int n, unsigned int *bins, cudaStream_t stream)
{
    histogram<<<2, 32, 0, stream>>>(text, n, bins);
}
