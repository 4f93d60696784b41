// Local alignment along diagonals: three of them in shared memory, a barrier per diagonal, the best score at the end.
//> a = ck.asarray((ints(40) % 4).astype("u1")); b = ck.asarray((ints(50) % 4).astype("u1")); best = ck.zeros(1, "i4")
//> kernel[1, 64](a, b, best, 40, 50)
//= h = np.zeros((41, 51), int); p, q = a.get(), b.get()
//= for i in range(40):
//=     for j in range(50):
//=         same = h[i, j] + (2 if p[i] == q[j] else -1)
//=         h[i + 1, j + 1] = max(0, same, h[i, j + 1] - 2, h[i + 1, j] - 2)
//= assert best[0].get() == h.max()
__global__ void right(const unsigned char *a, const unsigned char *b, int *best, int m, int n) {
    __shared__ int diagonals[3][65];
    int i = threadIdx.x, own = 0;
    for (auto &diagonal : diagonals) {
        diagonal[i + 1] = 0;
        if (i == 0) diagonal[0] = 0;
    }
    __syncthreads();
    for (int d = 0; d < m + n - 1; ++d) {
        int *now = diagonals[d % 3], *last = diagonals[(d + 2) % 3], *before = diagonals[(d + 1) % 3], j = d - i;
        if (i < m && j >= 0 && j < n) {
            int score = max(0, before[i] + (a[i] == b[j] ? 2 : -1));
            score = max(score, max(last[i] - 2, last[i + 1] - 2));
            now[i + 1] = score;
            own = max(own, score);
        }
        __syncthreads();
    }
    atomicMax(best, own);
}
