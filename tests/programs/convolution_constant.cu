// Shows: a convolution with its mask in constant memory, and a tile with ghost cells.
#include <stdio.h>
#include <stdlib.h>
#define MASK_WIDTH 5
#define TILE_SIZE 64
__constant__ int M[MASK_WIDTH];

__global__ void convolution_1D(const int *N, int *P, int Width)
{
	__shared__ int N_ds[TILE_SIZE + MASK_WIDTH - 1];
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	int n = MASK_WIDTH / 2;
	int halo_index_left = ((int)blockIdx.x - 1) * (int)blockDim.x + (int)threadIdx.x;
	if (threadIdx.x >= blockDim.x - n)
		N_ds[threadIdx.x - (blockDim.x - n)] = halo_index_left < 0 ? 0 : N[halo_index_left];
	N_ds[n + threadIdx.x] = i < Width ? N[i] : 0;
	int halo_index_right = (blockIdx.x + 1) * blockDim.x + threadIdx.x;
	if ((int)threadIdx.x < n)
		N_ds[n + blockDim.x + threadIdx.x] = halo_index_right >= Width ? 0 : N[halo_index_right];
	__syncthreads();
	int Pvalue = 0;
	for (int j = 0; j < MASK_WIDTH; j++)
		Pvalue += N_ds[threadIdx.x + j] * M[j];
	if (i < Width)
		P[i] = Pvalue;
}

int main()
{
	const int Width = 1000;
	int h_M[MASK_WIDTH] = {3, 4, 5, 4, 3}, h_N[Width], h_P[Width], *d_N, *d_P, errors = 0;
	for (int i = 0; i < Width; i++) h_N[i] = rand() % 1000 - 500;
	cudaMalloc((void **)&d_N, sizeof(h_N));
	cudaMalloc((void **)&d_P, sizeof(h_P));
	cudaMemcpyToSymbol(M, h_M, MASK_WIDTH * sizeof(int));
	cudaMemcpy(d_N, h_N, sizeof(h_N), cudaMemcpyHostToDevice);
	convolution_1D<<<(Width + TILE_SIZE - 1) / TILE_SIZE, TILE_SIZE>>>(d_N, d_P, Width);
	cudaMemcpy(h_P, d_P, sizeof(h_P), cudaMemcpyDeviceToHost);
	for (int i = 0; i < Width; i++) {
		int sum = 0;
		for (int j = 0; j < MASK_WIDTH; j++) {
			int k = i - MASK_WIDTH / 2 + j;
			if (k >= 0 && k < Width) sum += h_N[k] * h_M[j];
		}
		errors += sum != h_P[i];
	}
	printf("%s (%d errors)\n", errors ? "FAILED" : "PASSED", errors);
	cudaFree(d_N);
	cudaFree(d_P);
	return errors;
}
