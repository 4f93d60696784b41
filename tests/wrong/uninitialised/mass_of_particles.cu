// The kernel that makes the particles sets their positions; w, the mass, is left as it was. The next one reads it.
//> masses = ck.asarray(floats(100)); p = ck.empty((100, 4), "f4"); moment = ck.zeros(1, "f4")
//> program.place[1, 128](p, 100)
//> kernel[1, 128](p, masses, moment, 100)
//= np.testing.assert_allclose(moment.get(), (masses.get() * np.arange(100)).sum(), rtol=1e-4)
__global__ void place(float4 *p, int n) {
    int i = threadIdx.x;
    if (i < n) p[i].x = i, p[i].y = 2 * i, p[i].z = 0;
}

__global__ void wrong(const float4 *p, const float *masses, float *moment, int n) {
    int i = threadIdx.x;
    if (i < n) atomicAdd(moment, p[i].w * p[i].x); //! uninitialised p[0].w
}

__global__ void right(const float4 *p, const float *masses, float *moment, int n) {
    int i = threadIdx.x;
    if (i < n) atomicAdd(moment, masses[i] * p[i].x);
}
