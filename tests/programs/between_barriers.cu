// Shows: what threads keep from one barrier to the next: parameters, arrays, structs, addresses; threads that end before.
#include <cstdio>

const int threads = 128;

__global__ void dot(const float *a, const float *b, float *c, int n) {
    __shared__ float cache[threads];
    int i = threadIdx.x + blockIdx.x * blockDim.x, at = threadIdx.x;
    float sum = 0;
    while (i < n) { sum += a[i] * b[i]; i += blockDim.x * gridDim.x; }
    cache[at] = sum;
    __syncthreads();
    int half = blockDim.x / 2;
    while (half != 0) {
        if (at < half) cache[at] += cache[at + half];
        __syncthreads();
        half /= 2;
    }
    if (at == 0) c[blockIdx.x] = cache[0];
}

struct pair { float a, b; };

template <typename T, unsigned size> __global__ void keep(const T *x, pair *y, int n) {
    extern __shared__ float raw[];
    T *s = raw;
    const unsigned t = threadIdx.x;
    T both[2] = {0, 1};
    pair mine = {float(t), T(n)};
    x += t, n *= 2;
    s[t] = *x;
    __syncthreads();
    if (size >= 64) { if (t < 32) s[t] += s[t + 32]; __syncthreads(); }
    both[0] += s[t ^ 1], mine.a += n;
    T *last = &both[1];
    *last += s[0];
    __syncthreads();
    mine.b += both[0] * 1000 + both[1];
    y[t] = mine;
}

__global__ void shift(int *x, int n) {
    const int t = threadIdx.x;
    if (t >= n) return;
    __shared__ int s[2][64];
    s[0][t] = x[t];
    int k = 0;
    for (; k < 3; ++k) {
        __syncthreads();
        s[(k + 1) % 2][(t + 1) % n] = s[k % 2][t] + k;
    }
    do { __syncthreads(); } while (false);
    if (t == 0) { x[0] = -s[1][0]; return; }
    __syncthreads();
    x[t] = s[1][t];
}

int main() {
    float *a, *b; int *x; pair *p;
    cudaMallocManaged(&a, 4000), cudaMallocManaged(&b, 4000), cudaMallocManaged(&x, 400), cudaMallocManaged(&p, 1000);
    for (int i = 0; i < 1000; ++i) a[i] = i % 7, b[i] = i % 3;
    for (int i = 0; i < 100; ++i) x[i] = i;
    dot<<<4, threads>>>(a, b, b + 990, 990);
    keep<float, 64><<<1, 64, 256>>>(a, p, 5);
    shift<<<1, 64>>>(x, 40);
    cudaDeviceSynchronize();
    printf("%g %g %g %g\n", b[990], b[991], b[992], b[993]);
    for (int i = 0; i < 64; i += 9) printf("%g %g %d\n", p[i].a, p[i].b, x[i]);
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
