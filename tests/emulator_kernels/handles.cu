// Kernels that other libraries launch by their handles, and a __constant__ variable that they fill.
//
// test_handles.py loads this file many times over, side by side: of all templates and variables none is shared.
#include "kernels.h"

#include <cooperative_groups.h>

// A handle, and the address of the host function.
#define HANDLE(name, ...)                                                                                            \
    ENTRY handle_##name(cudaKernel_t *handle, const void **address) {                                                \
        *address = (const void *)__VA_ARGS__;                                                                        \
        return cudaGetKernel(handle, __VA_ARGS__);                                                                   \
    }

// Parameters that leave gaps between them, and one of an odd size.
struct Odd {
    signed char bytes[5];
};
__global__ void mixed(signed char a, double b, Odd c, const int *d, float3 e, short f, double *out) {
    out[0] = a, out[1] = b, out[2] = c.bytes[0], out[3] = c.bytes[4], out[4] = *d;
    out[5] = e.x, out[6] = e.y, out[7] = e.z, out[8] = f;
}
HANDLE(mixed, mixed)

__constant__ int table[4];
template <int Factor> __global__ void scaled(int *out) {
    __shared__ int tile[32];
    tile[threadIdx.x] = Factor * table[threadIdx.x % 4];
    __syncthreads();
    out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
HANDLE(scaled_2, scaled<2>)
HANDLE(scaled_3, scaled<3>)
ENTRY run_scaled_2(const Shape *shape, int *out) {
    return launch(shape, scaled<2>, out);
}
ENTRY table_address(void **address) {
    return cudaGetSymbolAddress(address, table);
}

__global__ void store(int *out, int at, int value) {
    out[at] = value;
}
HANDLE(store, store)

// The last of `bytes` bytes of dynamic shared memory.
__global__ void last_byte(int bytes, int *out) {
    DYNAMIC_SHARED(unsigned char, area);
    area[bytes - 1] = 77;
    out[0] = area[bytes - 1];
}
HANDLE(last_byte, last_byte)
ENTRY run_last_byte(const Shape *shape, int bytes, int *out) {
    return launch(shape, last_byte, bytes, out);
}
ENTRY allow_last_byte(int bytes) {
    return cudaFuncSetAttribute(last_byte, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}
ENTRY last_byte_allowed(int *bytes) {
    cudaFuncAttributes attributes;
    int code = cudaFuncGetAttributes(&attributes, last_byte);
    if (code == cudaSuccess) *bytes = attributes.maxDynamicSharedSizeBytes;
    return code;
}
ENTRY last_byte_name(const char **name) {
    return cudaFuncGetName(name, last_byte);
}

// Each block adds what all have written: only right if all wait for each other.
__global__ void grid_sums(int *given, int *out) {
    given[blockIdx.x] = (int)blockIdx.x + 1;
    cooperative_groups::this_grid().sync();
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += given[i];
    out[blockIdx.x] = sum;
}
HANDLE(grid_sums, grid_sums)

__global__ void nothing() {}
HANDLE(nothing, nothing)

// The host names this kernel by its address before any call shows its type.
__global__ void named_by_address(int *out) {
    out[0] = 5;
}
ENTRY address_of_named_by_address(const void **address) {
    *address = (const void *)named_by_address;
    return cudaSuccess;
}
HANDLE(named_by_address, named_by_address)

// The other ways to launch, by the kernel's type, by its handle, and with arguments that convert.
ENTRY all_ways_to_store(int *out) {
    cudaKernel_t handle;
    int code = cudaGetKernel(&handle, store);
    int at[] = {0, 1, 2, 3, 4}, value = 10;
    const short narrow = 10;
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = dim3(1);
    void *first[] = {&out, &at[0], &value}, *second[] = {&out, &at[1], &value}, *third[] = {&out, &at[2], &value};
    if (code == cudaSuccess) code = cudaLaunchKernel(store, dim3(1), dim3(1), first);
    if (code == cudaSuccess) code = cudaLaunchCooperativeKernel(store, dim3(1), dim3(1), second);
    if (code == cudaSuccess) code = cudaLaunchKernel((const void *)handle, dim3(1), dim3(1), third, 0, nullptr);
    if (code == cudaSuccess) code = cudaLaunchKernelEx(&config, store, out, narrow - 7, narrow);
    if (code == cudaSuccess) code = cudaLaunchKernelEx(&config, handle, out, at[4], value);
    return code;
}

ENTRY launch_without_configuration(const void *kernel) {
    return cudaLaunchKernelExC(nullptr, kernel, nullptr);
}
