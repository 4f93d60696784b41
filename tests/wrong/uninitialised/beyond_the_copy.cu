// The buffer has room for 1000 numbers, but only 900 were copied to it. The kernel reads all of its capacity.
//> buffer = ck.empty(1000, "f4"); buffer[:900] = floats(900); largest = ck.zeros(1, "i4")
//> kernel[4, 256](buffer, largest, 900, 1000)
//= assert largest[0].get() == int(1e6 * buffer[:900].get().max())
__global__ void wrong(const float *buffer, int *largest, int used, int capacity) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < capacity) atomicMax(largest, static_cast<int>(1e6f * buffer[i])); //! uninitialised buffer[900]
}

__global__ void right(const float *buffer, int *largest, int used, int capacity) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < used) atomicMax(largest, static_cast<int>(1e6f * buffer[i]));
}
