#include "physics.cuh"

__constant__ float gravity = -1;
__device__ float table[4] = {0, 0.25f, 0.5f, 0.75f};

__host__ __device__ void Body::step(float dt) { x += v * dt; }
__device__ float lookup(const float *values, int i) { return values[i % 4]; }
__global__ void reset_velocity(Body *bodies)
{
    bodies[threadIdx.x].v = 0;
    count_call();
}
