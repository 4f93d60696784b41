// Shows: Jacobi's iteration on a plate, until the largest change, which the device finds, is small.
#include <stdio.h>
#include <stdlib.h>
#define IDX(r, c) ((r) * cols + (c))

__device__ unsigned largest;

__global__ void jacobi(const double *now, double *next, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r == 0 || c == 0 || r >= rows - 1 || c >= cols - 1) return;
    double v = 0.25 * (now[IDX(r - 1, c)] + now[IDX(r + 1, c)] + now[IDX(r, c - 1)] + now[IDX(r, c + 1)]);
    next[IDX(r, c)] = v;
    atomicMax(&largest, (unsigned)(fabs(v - now[IDX(r, c)]) * 1e6)); // in millionths
}

int main() {
    int rows = 24, cols = 32, sweeps = 0;
    size_t bytes = rows * cols * sizeof(double);
    double *h = (double *)calloc(rows * cols, sizeof(double)), *a, *b;
    for (int c = 0; c < cols; c++) h[IDX(0, c)] = 100;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMemcpy(a, h, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(b, h, bytes, cudaMemcpyHostToDevice);
    unsigned change;
    do {
        change = 0;
        cudaMemcpyToSymbol(largest, &change, sizeof change);
        jacobi<<<dim3((cols + 15) / 16, (rows + 7) / 8), dim3(16, 8)>>>(a, b, rows, cols);
        cudaMemcpyFromSymbol(&change, largest, sizeof change);
        double *t = a; a = b; b = t;
    } while (change > 10000 && ++sweeps < 10000);
    cudaMemcpy(h, a, bytes, cudaMemcpyDeviceToHost);
    printf("converged after %s sweeps\n", sweeps > 100 && sweeps < 1000 ? "some hundred" : "an unexpected number of");
    printf("%.2f %.2f %.2f\n", h[IDX(1, cols / 2)], h[IDX(rows / 2, cols / 2)], h[IDX(rows - 2, 1)]);
    double worst = 0;
    for (int r = 1; r < rows - 1; r++)
        for (int c = 1; c < cols / 2; c++) worst = fmax(worst, fabs(h[IDX(r, c)] - h[IDX(r, cols - 1 - c)]));
    printf("symmetric: %s\n", worst < 1e-9 ? "yes" : "no");
    cudaFree(a), cudaFree(b), free(h);
    return 0;
}
