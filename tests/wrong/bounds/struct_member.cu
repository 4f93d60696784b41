// Particles have three coordinates. The loop runs to a fourth one, which is the member behind the array.
//> h = floats(100 * 8); particles = ck.asarray(h); kernel[1, 128](particles, 100, 3, 0.5)
//= h = h.reshape(100, 8); h[:, :3] += np.float32(0.5) * h[:, 4:7]
//= np.testing.assert_array_equal(particles.get(), h.ravel())
struct Particle {
    float position[3];
    float charge;
    float velocity[3];
    float mass;
};

__global__ void wrong(Particle *particles, int n, int axes, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Particle &p = particles[i];
    for (int a = 0; a <= axes; ++a) p.position[a] += dt * p.velocity[a]; //! bounds position[3]
}

__global__ void right(Particle *particles, int n, int axes, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Particle &p = particles[i];
    for (int a = 0; a < axes; ++a) p.position[a] += dt * p.velocity[a];
}
