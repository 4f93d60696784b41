// A place in a list: the thread reads the counter and then increments it, instead of taking the value that atomicAdd
// returns. Two threads can read the same place.
//> x = ck.asarray(ints(512)); out = ck.asarray(np.full(512, -1, "i4")); taken = ck.asarray(np.zeros(1, "i4"))
//> kernel[4, 128](x, out, taken)
//= np.testing.assert_array_equal(np.sort(out.get()[:int(taken.get()[0])]), np.sort(x.get()[x.get() % 2 == 0]))
__global__ void wrong(const int *x, int *out, int *taken) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] % 2 == 0) {
        int at = *taken;     //! race
        atomicAdd(taken, 1); //! race
        out[at] = x[i];      //! race
    }
}

__global__ void right(const int *x, int *out, int *taken) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] % 2 == 0) out[atomicAdd(taken, 1)] = x[i];
}
