// Connected components: roots are hooked by atomicCAS, parents are read as volatile, and a second kernel flattens.
//> a = ck.asarray(ints(80)); b = ck.asarray(ints(80)); parent = ck.asarray(np.arange(100, dtype="i4"))
//> kernel[2, 40](a, b, parent); program.flatten[1, 100](parent)
//= e = np.arange(100)
//= for _ in range(100):
//=     for i, j in zip(a.get(), b.get()): e[i] = e[j] = min(e[i], e[j])
//= np.testing.assert_array_equal(parent.get(), e)
__device__ int root(const volatile int *parent, int i) {
    while (true) {
        int up = parent[i];
        if (up == i) return i;
        i = up;
    }
}

__global__ void flatten(int *parent) {
    int r = root(parent, threadIdx.x);
    __syncthreads();
    parent[threadIdx.x] = r;
}

__global__ void right(const int *a, const int *b, int *parent) {
    int edge = blockIdx.x * blockDim.x + threadIdx.x, i = a[edge], j = b[edge];
    while (true) {
        i = root(parent, i);
        j = root(parent, j);
        if (i == j) return;
        if (i < j) {
            int kept = i;
            i = j;
            j = kept;
        }
        if (atomicCAS(&parent[i], i, j) == i) return;
    }
}
