// The operands of a product in shared memory are overwritten before the product has been awaited.
//> a, b = (ck.asarray((ints(4096) % 8).astype("f2").reshape(64, 64)) for _ in "ab"); c = ck.empty((64, 64), "f4")
//> kernel[1, 128, 17 * 1024](a, b, c)
//= np.testing.assert_array_equal(c.get(), a.get().astype("f4") @ b.get().astype("f4").T)
#include "tensor_copy.cuh"
#include "wgmma.cuh"

extern __shared__ unsigned char memory[];

// Both matrices in shared memory, where wgmma expects them: rows of 128 bytes, with swizzled chunks of 16 bytes.
__device__ __half *load(const __half *a, const __half *b) {
    size_t start = reinterpret_cast<size_t>(memory), at = (start + 1023) / 1024 * 1024;
    __half *tiles = reinterpret_cast<__half *>(memory + (at - start));
    for (int i = threadIdx.x; i < 2 * 4096; i += blockDim.x) {
        int row = i / 64, k = i % 64;
        tiles[64 * row + ((k / 8 ^ row % 8) * 8) + k % 8] = i < 4096 ? a[i] : b[i - 4096];
    }
    fence_async_proxy();
    __syncthreads();
    return tiles;
}

__device__ __forceinline__ uint64_t tile(const __half *first) {
    return wgmma_descriptor(first, 8192);
}

__device__ __forceinline__ void multiply(float (&sum)[32], const __half *tiles) {
    for (int k = 0; k < 64; k += 16) {
        wgmma<__half, 64, false, false>(sum, tile(tiles + k), tile(tiles + 4096 + k), k > 0); //! asynchronous
    }
}

__device__ __forceinline__ int place(int i) { // in the result, of sum[i]
    int t = threadIdx.x, row = t / 32 * 16 + t % 32 / 4 + i % 4 / 2 * 8;
    return 64 * row + i / 4 * 8 + t % 4 * 2 + i % 2;
}

__global__ void wrong(const __half *a, const __half *b, float *c) {
    __half *tiles = load(a, b);
    float sum[32] = {};
    wgmma_fence();
    multiply(sum, tiles); //! asynchronous
    wgmma_commit();
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) tiles[i] = __float2half(0); //! asynchronous
    wgmma_wait<0>();
    for (int i = 0; i < 32; ++i) c[place(i)] = sum[i];
}

__global__ void right(const __half *a, const __half *b, float *c) {
    __half *tiles = load(a, b);
    float sum[32] = {};
    wgmma_fence();
    multiply(sum, tiles);
    wgmma_commit();
    wgmma_wait<0>();
    __syncthreads();
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) tiles[i] = __float2half(0);
    for (int i = 0; i < 32; ++i) c[place(i)] = sum[i];
}
