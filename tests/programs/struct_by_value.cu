// Shows: structs, arrays in structs, vectors and enums as kernel arguments by value.
#include <cstdio>

struct __align__(16) Particle { float3 position; float mass; };
struct Parameters {
    int n;
    float scale[4];
    struct { char tag; double bias; } inner;
    Particle *particles;
};
enum class Mode : unsigned char { Shift, Weigh = 200 };

__global__ void move(Parameters p, const float3 by, Mode mode, bool flip, char c, double d)
{
    int i = threadIdx.x;
    if (i >= p.n) return;
    Particle &q = p.particles[i];
    if (mode == Mode::Weigh) q.mass = p.scale[i] * (flip ? -1 : 1) + p.inner.bias + p.inner.tag + c + d;
    else q.position = make_float3(q.position.x + by.x, q.position.y + by.y, q.position.z + by.z);
}

int main()
{
    Particle h[4] = {};
    Parameters p = {4, {1, 2, 3, 4}, {'A', 0.5}, nullptr};
    cudaMalloc(&p.particles, sizeof h);
    cudaMemcpy(p.particles, h, sizeof h, cudaMemcpyHostToDevice);
    move<<<1, 32>>>(p, make_float3(1, 2, 3), Mode::Shift, false, 0, 0);
    p.n = 3;
    move<<<1, 32>>>(p, {}, Mode::Weigh, true, 'B', 0.25);
    p.n = -1;
    cudaMemcpy(h, p.particles, sizeof h, cudaMemcpyDeviceToHost);
    for (auto &q : h) printf("%g %g %g, %g\n", q.position.x, q.position.y, q.position.z, q.mass);
    cudaFree(p.particles);
}
