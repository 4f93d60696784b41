// One step of bodies that attract each other: tiles of bodies in shared memory, vectors of four floats.
//> p = ck.asarray(floats(4 * 96).reshape(96, 4)); a = ck.empty((96, 4), "f4"); kernel[3, 32](p, a, 96)
//= h = p.get().astype("f8"); d = h[None, :, :3] - h[:, None, :3]; r = (d * d).sum(2) + 0.01
//= np.testing.assert_allclose(a.get()[:, :3], (d * (h[None, :, 3] / r**1.5)[..., None]).sum(1), rtol=1e-3, atol=1e-3)
__global__ void right(const float *p, float *a, int n) {
    __shared__ float4 tile[32];
    const float4 *bodies = reinterpret_cast<const float4 *>(p);
    float4 own = bodies[blockIdx.x * blockDim.x + threadIdx.x];
    float3 sum = {};
    for (int start = 0; start < n; start += blockDim.x) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 32; ++j) {
            float3 d = {tile[j].x - own.x, tile[j].y - own.y, tile[j].z - own.z};
            float inverse = rsqrtf(d.x * d.x + d.y * d.y + d.z * d.z + 0.01f);
            float s = tile[j].w * inverse * inverse * inverse;
            sum.x += d.x * s;
            sum.y += d.y * s;
            sum.z += d.z * s;
        }
        __syncthreads();
    }
    reinterpret_cast<float4 *>(a)[blockIdx.x * blockDim.x + threadIdx.x] = make_float4(sum.x, sum.y, sum.z, 0);
}
