// Shows: __ldg, __restrict__, cached loads and stores, __grid_constant__, unions and bit fields.
#include <cstdio>
#include <cstdint>

struct Options { int factor; unsigned flag : 1, mode : 3; int table[4]; };
union Word { uint32_t whole; uint8_t bytes[4]; struct { uint16_t low, high; } halves; };

__device__ __noinline__ int scaled(const Options &o, int v) { return v * o.factor + o.table[o.mode] + o.flag; }

__global__ void loads(const int *__restrict__ in, int *__restrict__ out, int n, const __grid_constant__ Options options)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    int v = __ldg(&in[i]) + __ldcg(in + i) + __ldca(in + i) + __ldcs(&in[i]);
    int4 q = __ldg(reinterpret_cast<const int4 *>(in) + i / 4);
    v += q.x + q.w;
    Word w;
    w.whole = 0x01020304u * (i & 7);
    v += w.bytes[3] + w.halves.low;
    __stcs(&out[i], scaled(options, v));
}

int main()
{
    const int n = 64;
    int h[n], r[n], *in, *out, wrong = 0;
    for (int i = 0; i < n; i++) h[i] = i * 3 - 50;
    cudaMalloc((void **)&in, sizeof(h));
    cudaMalloc((void **)&out, sizeof(h));
    cudaMemcpy(in, h, sizeof(h), cudaMemcpyHostToDevice);
    loads<<<2, n / 2>>>(in, out, n, Options{3, 1, 2, {10, 20, 30, 40}});
    cudaMemcpy(r, out, sizeof(r), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) {
        int v = 4 * h[i] + h[i / 4 * 4] + h[i / 4 * 4 + 3] + (i & 7) + 0x304 * (i & 7);
        wrong += r[i] != 3 * v + 31;
    }
    printf("%d %d, %d wrong\n", r[0], r[n - 1], wrong);
    cudaFree(in), cudaFree(out);
    return wrong;
}
