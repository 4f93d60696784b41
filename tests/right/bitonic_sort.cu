// Bitonic sort in shared memory: in each step, one thread of each pair exchanges both elements.
//> x = ck.asarray(ints(256)); kernel[1, 256](x)
//= assert (np.diff(x.get()) >= 0).all()
__global__ void right(int *x) {
    __shared__ int keys[256];
    unsigned t = threadIdx.x;
    keys[t] = x[t];
    __syncthreads();
    for (unsigned k = 2; k <= blockDim.x; k *= 2)
        for (unsigned j = k / 2; j > 0; j /= 2) {
            unsigned other = t ^ j;
            if (other > t && (keys[t] > keys[other]) == ((t & k) == 0)) {
                int kept = keys[t];
                keys[t] = keys[other];
                keys[other] = kept;
            }
            __syncthreads();
        }
    x[t] = keys[t];
}
