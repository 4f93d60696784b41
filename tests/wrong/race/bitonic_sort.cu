// Pairs are compared and exchanged step by step. A barrier is only between the phases, not between the steps of one.
//> x = ck.asarray(ints(128)); h = x.get(); kernel[1, 64](x)
//= np.testing.assert_array_equal(x.get(), np.sort(h))
__device__ void exchange(int *keys, int size, int step) {
    int low = 2 * threadIdx.x - threadIdx.x % step, high = low + step;
    bool ascending = (low & size) == 0;
    int a = keys[low], b = keys[high];
    if ((a > b) == ascending) keys[low] = b, keys[high] = a;
}

__global__ void wrong(int *x) {
    __shared__ int keys[128];
    for (int i = threadIdx.x; i < 128; i += 64) keys[i] = x[i];
    __syncthreads();
    for (int size = 2; size <= 128; size *= 2) {
        for (int step = size / 2; step > 0; step /= 2) {
            int low = 2 * threadIdx.x - threadIdx.x % step, high = low + step;
            bool ascending = (low & size) == 0;
            int a = keys[low], b = keys[high];                       //! race
            if ((a > b) == ascending) keys[low] = b, keys[high] = a; //! race
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < 128; i += 64) x[i] = keys[i];
}

__global__ void right(int *x) {
    __shared__ int keys[128];
    for (int i = threadIdx.x; i < 128; i += 64) keys[i] = x[i];
    __syncthreads();
    for (int size = 2; size <= 128; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            exchange(keys, size, step);
            __syncthreads();
        }
    for (int i = threadIdx.x; i < 128; i += 64) x[i] = keys[i];
}
