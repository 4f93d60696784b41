// Shows: static kernels, and the words of a declaration in unusual orders.
#include <stdio.h>

static __global__ void first(int *x) { x[0] = 1; }
__global__ static void second(int *x) { x[1] = 2; }
extern __global__ void third(int *x) { x[2] = 3; }
void __global__ fourth(int *x) { x[3] = 4; }
static void __global__ fifth(int *x)
{ x[4] = 5; }
__global__ void
sixth(int *x)
{
	x[5] = 6;
}
[[maybe_unused]] static __global__ void seventh(int *x) { x[6] = 7; }
__attribute__((global)) void eighth(int *x) { x[7] = 8; }

int main(void)
{
	int *d, h[8];
	cudaMalloc(&d, sizeof h);
	first<<<1, 1>>>(d);
	second<<<1, 1>>>(d);
	third<<<1, 1>>>(d);
	fourth<<<1, 1>>>(d);
	fifth<<<1, 1>>>(d);
	sixth<<<1, 1>>>(d);
	seventh<<<1, 1>>>(d);
	eighth<<<1, 1>>>(d);
	cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
	for (int i = 0; i < 8; i++)
		printf("%d%s", h[i], i < 7 ? " " : "\n");
	cudaFree(d);
	return 0;
}
