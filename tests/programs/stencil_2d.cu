// Shows: a two-dimensional stencil with a halo of tiles, clamped at the borders.
#include <cstdio>
#include <vector>
#include <algorithm>

template <int TILE, int R>
__global__ void box(const int *__restrict__ in, int *__restrict__ out, int w, int h)
{
    __shared__ int tile[TILE + 2 * R][TILE + 2 * R];
    const int x0 = blockIdx.x * TILE - R, y0 = blockIdx.y * TILE - R;
    for (int y = threadIdx.y; y < TILE + 2 * R; y += TILE)
        for (int x = threadIdx.x; x < TILE + 2 * R; x += TILE)
            tile[y][x] = in[min(max(y0 + y, 0), h - 1) * w + min(max(x0 + x, 0), w - 1)];
    __syncthreads();
    const int x = x0 + R + threadIdx.x, y = y0 + R + threadIdx.y;
    if (x >= w || y >= h) return;
    int sum = 0;
#pragma unroll
    for (int dy = -R; dy <= R; ++dy)
#pragma unroll
        for (int dx = -R; dx <= R; ++dx) sum += tile[threadIdx.y + R + dy][threadIdx.x + R + dx];
    out[y * w + x] = sum;
}

template <int R> int host(const std::vector<int> &in, int w, int h, int x, int y)
{
    int sum = 0;
    for (int dy = -R; dy <= R; dy++)
        for (int dx = -R; dx <= R; dx++)
            sum += in[std::clamp(y + dy, 0, h - 1) * w + std::clamp(x + dx, 0, w - 1)];
    return sum;
}

int main()
{
    constexpr int w = 83, h = 41, R = 2;
    std::vector<int> in(w * h), out(w * h);
    for (int i = 0; i < w * h; i++) in[i] = i * i % 251;
    int *d_in, *d_out;
    cudaMalloc(&d_in, in.size() * sizeof(int));
    cudaMalloc(&d_out, in.size() * sizeof(int));
    cudaMemcpy(d_in, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice);
    box<16, R><<<{(w + 15) / 16, (h + 15) / 16}, {16, 16}>>>(d_in, d_out, w, h);
    cudaMemcpy(out.data(), d_out, out.size() * sizeof(int), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) wrong += out[y * w + x] != host<R>(in, w, h, x, y);
    printf("%d %d %d, %d wrong\n", out[0], out[w * h / 2], out[w * h - 1], wrong);
    cudaFree(d_in);
    cudaFree(d_out);
    return wrong > 0;
}
