// The first occurrence of a pattern: atomicMin on the place, which is also read as volatile to stop early.
//> text = ck.asarray((ints(500) % 3 + 97).astype("u1")); pattern = ck.asarray(text.get()[311:316])
//> place = ck.asarray(np.array([500], "i4")); kernel[4, 64](text, pattern, place, 500, 5)
//= assert place[0].get() == text.get().tobytes().find(pattern.get().tobytes())
__global__ void right(const char *text, const char *pattern, int *place, int n, int m) {
    __shared__ char sought[16];
    if (threadIdx.x < m) sought[threadIdx.x] = pattern[threadIdx.x];
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i + m <= n; i += gridDim.x * blockDim.x) {
        if (*static_cast<volatile int *>(place) < i) return;
        int same = 0;
        while (same < m && text[i + same] == sought[same]) ++same;
        if (same == m) atomicMin(place, i);
    }
}
