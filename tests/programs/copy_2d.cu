// Shows: two-dimensional copies: a tile out of a matrix, between pitches, and from device to device.
#include <cstdio>

__global__ void negate(int *p, int pitch, int rows, int columns) {
    for (int r = threadIdx.y; r < rows; r += blockDim.y)
        for (int c = threadIdx.x; c < columns; c += blockDim.x) p[r * pitch + c] *= -1;
}

int main() {
    int h[6][8], tile[3][4], *a, *b;
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < 8; c++) h[r][c] = 10 * r + c;
    cudaMalloc(&a, sizeof h);
    cudaMalloc(&b, 3 * 5 * sizeof(int));
    cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
    // rows 2..4 and columns 3..6 go to rows of five words
    cudaMemcpy2D(b, 5 * sizeof(int), a + 2 * 8 + 3, 8 * sizeof(int), 4 * sizeof(int), 3, cudaMemcpyDeviceToDevice);
    negate<<<1, dim3(4, 2)>>>(b, 5, 3, 4);
    cudaMemcpy2DAsync(tile, sizeof tile[0], b, 5 * sizeof(int), sizeof tile[0], 3, cudaMemcpyDeviceToHost, 0);
    cudaMemcpy2D(a, 8 * sizeof(int), b, 5 * sizeof(int), 2 * sizeof(int), 2, cudaMemcpyDefault);
    cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
    for (auto &row : tile) printf("%d %d %d %d\n", row[0], row[1], row[2], row[3]);
    for (int r = 0; r < 3; r++) printf("%d %d %d\n", h[r][0], h[r][1], h[r][2]);
    int status = cudaMemcpy2D(b, 3, a, 32, 4, 2, cudaMemcpyDeviceToDevice);
    printf("%s\n", cudaGetErrorName(cudaError_t(status)));
    cudaFree(a);
    cudaFree(b);
    return 0;
}
