// Shows: device functions, device variables and a kernel of other files, linked on the device (-rdc=true).
#include <cstdio>
#include "physics.cuh"

extern __device__ int calls;
extern __constant__ float gravity;
extern __device__ float table[4];

__global__ void simulate(Body *bodies, int n, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bodies[i].step(dt);
    bodies[i].v += gravity * dt + lookup(table, i);
    count_call();
}

int main()
{
    const int n = 100;
    Body *bodies;
    cudaMallocManaged(&bodies, n * sizeof(Body));
    for (int i = 0; i < n; i++) bodies[i] = {float(i), 1.0f};
    float g = -8;
    cudaMemcpyToSymbol(gravity, &g, sizeof g);
    for (int s = 0; s < 4; s++) simulate<<<2, 64>>>(bodies, n, 0.5f);
    reset_velocity<<<1, 10>>>(bodies);
    int h;
    cudaMemcpyFromSymbol(&h, calls, sizeof h);
    cudaDeviceSynchronize();
    printf("%d calls, body 5: %g %g, body 99: %g %g\n", h, bodies[5].x, bodies[5].v, bodies[99].x, bodies[99].v);
    printf("%d launches by the other file\n", launched());
    cudaFree(bodies);
    return 0;
}
