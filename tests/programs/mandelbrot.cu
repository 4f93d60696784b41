// Shows: the Mandelbrot set in fixed-point arithmetic, so that every device draws the same picture.
#include <stdio.h>

#define W 64
#define H 22
#define ONE (1 << 24)

__device__ __host__ int iterations(long long cx, long long cy, int limit)
{
    long long x = 0, y = 0;
    int n = 0;
    while (n < limit) {
        long long xx = x * x / ONE, yy = y * y / ONE;
        if (xx + yy > 4ll * ONE) break;
        y = 2 * x * y / ONE + cy;
        x = xx - yy + cx;
        n++;
    }
    return n;
}

__device__ __host__ int pixel(int px, int py)
{
    return iterations(-2ll * ONE + (long long)px * 3 * ONE / W, -ONE + (long long)py * 2 * ONE / H, 200);
}

__global__ void mandelbrot(int *image)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px < W && py < H) image[py * W + px] = pixel(px, py);
}

int main(void)
{
    static int image[H][W];
    int *d, wrong = 0;
    cudaMalloc(&d, sizeof(image));
    dim3 threads(16, 16), blocks(W / 16, (H + 15) / 16);
    mandelbrot <<<blocks, threads>>>(d);
    cudaMemcpy(image, d, sizeof(image), cudaMemcpyDeviceToHost);
    for (int y = 0; y < H; y++) {
        for (int x = 0; x < W; x++) {
            int n = image[y][x];
            wrong += n != pixel(x, y);
            putchar(n >= 200 ? '@' : n > 20 ? '+' : n > 8 ? ':' : n > 4 ? '.' : ' ');
        }
        putchar('\n');
    }
    printf("%d wrong\n", wrong);
    cudaFree(d);
    return wrong != 0;
}
