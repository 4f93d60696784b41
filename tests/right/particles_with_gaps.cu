// Large structs with unused bytes between their members are filled member by member, and copied as a whole.
//> x = ck.asarray(floats(64)); y = ck.empty(64, "f4"); kernel[2, 32](x, y)
//= np.testing.assert_allclose(y.get().reshape(2, 32), 3 * x.get().reshape(2, 32)[:, ::-1], rtol=1e-6)
struct particle {
    double position[3], velocity[3];
    int species;
    double mass;
    char is_fixed;
};

__global__ void right(const float *x, float *y) {
    __shared__ particle all[32], sorted[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    for (int axis = 0; axis < 3; ++axis) {
        all[t].position[axis] = x[i];
        all[t].velocity[axis] = 0;
    }
    all[t].species = t % 2;
    all[t].mass = 1;
    all[t].is_fixed = 'n';
    __syncthreads();
    sorted[t] = all[31 - t];
    __syncthreads();
    particle own = sorted[t];
    if (own.species < 2 && own.is_fixed == 'n') y[i] = static_cast<float>(own.position[0] * own.mass) * 3;
}
