// What the seam promises on both sides: device functions, limits, the names beyond CUDA's own.
#include "kernels.h"

// Integer and floating device functions, a column each; see test_seam.py for the meaning.
enum { BIT_COLUMNS = 7, FLOAT_COLUMNS = 6 };
__global__ void bits(const unsigned *in, const unsigned long long *wide, long long *out) {
    int t = threadIdx.x;
    long long *mine = out + BIT_COLUMNS * t;
    mine[0] = __popc(in[t]);
    mine[1] = __ffs((int)in[t]);
    mine[2] = __clz((int)in[t]);
    mine[3] = __brev(in[t]);
    mine[4] = __popcll(wide[t]);
    mine[5] = __ffsll((long long)wide[t]);
    mine[6] = __clzll((long long)wide[t]);
}
ENTRY run_bits(const Shape *shape, const unsigned *in, const unsigned long long *wide, long long *out) {
    return launch(shape, bits, in, wide, out);
}

__global__ void floats(const float *a, const float *b, const float *c, float *out) {
    int t = threadIdx.x;
    float *mine = out + FLOAT_COLUMNS * t;
    mine[0] = fmaf(a[t], b[t], c[t]);
    mine[1] = __fmaf_rn(a[t], b[t], c[t]);
    mine[2] = __fadd_rn(__fmul_rn(a[t], b[t]), c[t]); // never fused
    mine[3] = __ldg(a + t);
    mine[4] = min(a[t], b[t]);
    mine[5] = max(a[t], b[t]);
}
ENTRY run_floats(const Shape *shape, const float *a, const float *b, const float *c, float *out) {
    return launch(shape, floats, a, b, c, out);
}

__global__ void doubles(const double *a, const double *b, const double *c, double *out) {
    out[threadIdx.x] = fma(a[threadIdx.x], b[threadIdx.x], c[threadIdx.x]);
}
ENTRY run_doubles(const Shape *shape, const double *a, const double *b, const double *c, double *out) {
    return launch(shape, doubles, a, b, c, out);
}

// Vector types: sizes, alignments, and a 16-byte load.
__global__ void vectors(const float4 *in, float4 *out, int *sizes) {
    float4 value = in[threadIdx.x];
    out[threadIdx.x] = make_float4(value.w, value.z, value.y, value.x);
    if (threadIdx.x == 0) {
        sizes[0] = sizeof(int2), sizes[1] = alignof(int2);
        sizes[2] = sizeof(float3), sizes[3] = alignof(float3);
        sizes[4] = sizeof(float4), sizes[5] = alignof(float4);
        sizes[6] = sizeof(double2), sizes[7] = alignof(double2);
        sizes[8] = sizeof(longlong2), sizes[9] = alignof(longlong2);
        sizes[10] = sizeof(uint3), sizes[11] = alignof(uint3);
    }
}
ENTRY run_vectors(const Shape *shape, const float4 *in, float4 *out, int *sizes) {
    return launch(shape, vectors, in, out, sizes);
}

// Dynamic shared memory: its alignment, and that all of it is there.
__global__ void shared_bytes(int bytes, int *out) {
    DYNAMIC_SHARED(double, area);
    unsigned char *raw = (unsigned char *)area;
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) raw[i] = (unsigned char)(7 * i);
    __syncthreads();
    if (threadIdx.x == 0) {
        int right = 0;
        for (int i = 0; i < bytes; ++i) right += raw[i] == (unsigned char)(7 * i);
        out[0] = right;
        out[1] = (int)((size_t)raw % 16);
    }
}
ENTRY run_shared_bytes(const Shape *shape, int bytes, int *out) {
    return launch(shape, shared_bytes, bytes, out);
}
ENTRY allow_shared_bytes(int bytes) {
    return cudaFuncSetAttribute(shared_bytes, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}
ENTRY shared_bytes_occupancy(int *blocks, int threads, size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, shared_bytes, threads, shared);
}

ENTRY shared_bytes_potential(int *sizes, size_t shared, int limit) {
    return cudaOccupancyMaxPotentialBlockSize(&sizes[0], &sizes[1], shared_bytes, shared, limit);
}
ENTRY shared_bytes_available(size_t *bytes, int blocks, int threads) {
    return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, shared_bytes, blocks, threads);
}

__global__ void __launch_bounds__(256) static_tile(int *out) {
    __shared__ int tile[1000];
    tile[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[(threadIdx.x + 1) % blockDim.x];
}
ENTRY run_static_tile(const Shape *shape, int *out) {
    return launch(shape, static_tile, out);
}
ENTRY static_tile_attributes(size_t *shared, int *threads, int *registers) {
    cudaFuncAttributes attributes;
    int code = cudaFuncGetAttributes(&attributes, static_tile);
    if (code != cudaSuccess) return code;
    *shared = attributes.sharedSizeBytes, *threads = attributes.maxThreadsPerBlock, *registers = attributes.numRegs;
    return code;
}
ENTRY static_tile_name(const char **name) {
    return cudaFuncGetName(name, static_tile);
}

// Arguments of several sizes arrive as they were given.
struct Packed {
    char small;
    double wide;
    short array[5];
};
__global__ void arguments(signed char a, double b, Packed c, const int *d, unsigned long long e, double *out) {
    out[0] = a, out[1] = b, out[2] = c.small, out[3] = c.wide, out[4] = c.array[4], out[5] = *d, out[6] = (double)e;
}
ENTRY run_arguments(const Shape *shape, const int *d, double *out) {
    Packed packed = {7, 2.5, {1, 2, 3, 4, 5}};
    return launch(shape, arguments, (signed char)-3, 0.125, packed, d, 1ull << 40, out);
}

ENTRY properties(int device, int *numbers, size_t *bytes) {
    cudaDeviceProp value;
    int code = cudaGetDeviceProperties(&value, device);
    if (code != cudaSuccess) return code;
    numbers[0] = value.major, numbers[1] = value.minor, numbers[2] = value.multiProcessorCount;
    numbers[3] = value.warpSize, numbers[4] = value.maxThreadsPerBlock,
    numbers[5] = value.maxThreadsPerMultiProcessor;
    for (int i = 0; i < 3; ++i) numbers[6 + i] = value.maxThreadsDim[i], numbers[9 + i] = value.maxGridSize[i];
    bytes[0] = value.totalGlobalMem, bytes[1] = value.sharedMemPerBlock, bytes[2] = value.sharedMemPerBlockOptin;
    return code;
}

ENTRY texture_properties(int device, int *numbers) {
    cudaDeviceProp value;
    int code = cudaGetDeviceProperties(&value, device);
    if (code != cudaSuccess) return code;
    *numbers++ = value.maxTexture1D;
    for (int size : value.maxTexture2D) *numbers++ = size;
    for (int size : value.maxTexture3D) *numbers++ = size;
    for (int size : value.maxTexture1DLayered) *numbers++ = size;
    for (int size : value.maxTexture2DLayered) *numbers++ = size;
    *numbers++ = (int)value.textureAlignment;
    *numbers++ = (int)value.texturePitchAlignment;
    *numbers++ = (int)value.surfaceAlignment;
    *numbers++ = (int)value.memPitch;
    *numbers++ = (int)value.reservedSharedMemPerBlock;
    *numbers++ = value.canMapHostMemory;
    *numbers++ = value.computePreemptionSupported;
    *numbers++ = value.tccDriver;
    return code;
}

ENTRY pool_round(size_t bytes, cudaStream_t stream) {
    cudaMemPool_t pool;
    void *first, *second;
    int code = cudaDeviceGetDefaultMemPool(&pool, 0);
    if (code == cudaSuccess) code = cudaMallocFromPoolAsync(&first, bytes, pool, stream);
    if (code == cudaSuccess) code = cudaMemsetAsync(first, 1, bytes, stream);
    if (code == cudaSuccess) code = cudaMallocFromPoolAsync(&second, bytes, pool, stream);
    if (code == cudaSuccess && first == second) return -1;
    if (code == cudaSuccess) code = cudaFreeAsync(first, stream);
    if (code == cudaSuccess) code = cudaFreeAsync(second, stream);
    if (code == cudaSuccess) code = cudaStreamSynchronize(stream);
    if (code == cudaSuccess) code = cudaMemPoolTrimTo(pool, 0);
    return code;
}
