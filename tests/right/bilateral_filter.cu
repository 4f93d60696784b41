// A bilateral filter: weights of distance in constant memory, weights of difference by __expf; colors of four bytes.
//> a = ck.asarray(ints(4 * 400).reshape(20, 20, 4).astype("u1")); b = ck.empty((20, 20, 4), "u1")
//> kernel[(3, 3), (8, 8)](a, b, 20)
//= h = a.get(); c = b.get()[..., :3]; assert h[..., :3].min() <= c.min() and c.max() <= h[..., :3].max()
//= assert c.std() < h[..., :3].std() and (b.get()[..., 3] == 255).all()
__constant__ float near_by[3] = {1.0f, 0.6f, 0.2f};

__device__ float difference(uchar4 p, uchar4 q) {
    float x = p.x - q.x, y = p.y - q.y, z = p.z - q.z;
    return x * x + y * y + z * z;
}

__global__ void right(const unsigned char *a, unsigned char *b, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    const uchar4 *from = reinterpret_cast<const uchar4 *>(a);
    uchar4 center = from[y * n + x];
    float weights = 0;
    float3 sum = {0, 0, 0};
    for (int j = max(y - 2, 0); j <= min(y + 2, n - 1); ++j)
        for (int i = max(x - 2, 0); i <= min(x + 2, n - 1); ++i) {
            uchar4 color = from[j * n + i];
            float weight = near_by[abs(i - x)] * near_by[abs(j - y)] * __expf(-difference(color, center) / 5000);
            sum = make_float3(sum.x + weight * color.x, sum.y + weight * color.y, sum.z + weight * color.z);
            weights += weight;
        }
    uchar4 result = make_uchar4(sum.x / weights, sum.y / weights, sum.z / weights, 255);
    reinterpret_cast<uchar4 *>(b)[y * n + x] = result;
}
