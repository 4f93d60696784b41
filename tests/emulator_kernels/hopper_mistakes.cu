// Mistakes with Hopper's instructions that the emulator reveals. test_hopper.py has what it says, or what arrays
// show.
#include "hopper.h"

// `out` holds 64 x 64 numbers; as an array of 64 x 64 floats it is what maps describe.
#define BROKEN(name)                                                                                                 \
    ENTRY run_##name(const Shape *shape, float *out) {                                                               \
        tensor_map map;                                                                                              \
        const int code = shape_of(&map, out, 4, 64, 64, 32, 32, 128);                                                \
        return code ? code : launch(shape, name, map, out);                                                          \
    }

__global__ void never_initialized(const __grid_constant__ tensor_map, float *) {
    __shared__ mbarrier barrier;
    mbarrier_arrive(&barrier); // HERE: never_initialized
}
BROKEN(never_initialized)

__global__ void no_arrivals(const __grid_constant__ tensor_map, float *) {
    __shared__ mbarrier barrier;
    mbarrier_init(&barrier, 0); // HERE: no_arrivals
}
BROKEN(no_arrivals)

__global__ void overwritten_barrier(const __grid_constant__ tensor_map, float *) {
    __shared__ mbarrier barrier;
    mbarrier_init(&barrier, 1);
    barrier = 0;
    mbarrier_wait(&barrier, 0); // HERE: overwritten_barrier
}
BROKEN(overwritten_barrier)

__global__ void too_many_arrivals(const __grid_constant__ tensor_map, float *) {
    __shared__ mbarrier barrier;
    mbarrier_init(&barrier, 2);
    mbarrier_expect(&barrier, 64);
    mbarrier_arrive(&barrier);
    mbarrier_arrive(&barrier); // HERE: too_many_arrivals
}
BROKEN(too_many_arrivals)

__global__ void misaligned_barrier(const __grid_constant__ tensor_map, float *) {
    __shared__ __align__(16) char memory[32];
    mbarrier_init(reinterpret_cast<mbarrier *>(memory + 4), 1); // HERE: misaligned_barrier
}
BROKEN(misaligned_barrier)

__global__ void lacks_an_arrival(const __grid_constant__ tensor_map, float *) {
    __shared__ mbarrier barrier;
    if (threadIdx.x == 0) mbarrier_init(&barrier, static_cast<int>(blockDim.x) + 1);
    __syncthreads();
    mbarrier_arrive(&barrier);
    mbarrier_wait(&barrier, 0); // HERE: lacks_an_arrival
}
BROKEN(lacks_an_arrival)

__global__ void lacks_bytes(const __grid_constant__ tensor_map map, float *) {
    char *box = boxes();
    __shared__ mbarrier barrier;
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        mbarrier_expect(&barrier, 4096 + 512);
        tensor_load(box, &map, &barrier, {0, 0});
        mbarrier_wait(&barrier, 0); // HERE: lacks_bytes
    }
    __syncthreads();
}
BROKEN(lacks_bytes)

__global__ void too_many_bytes(const __grid_constant__ tensor_map map, float *) {
    char *box = boxes();
    __shared__ mbarrier barrier;
    mbarrier_init(&barrier, 1);
    mbarrier_expect(&barrier, 512);
    tensor_load(box, &map, &barrier, {0, 0});
    mbarrier_wait(&barrier, 0); // HERE: too_many_bytes
}
BROKEN(too_many_bytes)

__global__ void half_at_the_barrier(const __grid_constant__ tensor_map, float *) {
    __shared__ mbarrier barrier;
    if (threadIdx.x == 0) mbarrier_init(&barrier, static_cast<int>(blockDim.x));
    __syncthreads();
    if (threadIdx.x < 32) {
        mbarrier_arrive(&barrier);
        mbarrier_wait(&barrier, 0); // HERE: half_at_the_barrier
    } else {
        __syncthreads();
    }
}
BROKEN(half_at_the_barrier)

__global__ void misaligned_box(const __grid_constant__ tensor_map map, float *) {
    char *box = boxes();
    __shared__ mbarrier barrier;
    mbarrier_init(&barrier, 1);
    mbarrier_expect(&barrier, 4096);
    tensor_load(box + 128, &map, &barrier, {0, 0}); // HERE: misaligned_box
    mbarrier_wait(&barrier, 0);
}
BROKEN(misaligned_box)

__global__ void box_beyond_the_end(const __grid_constant__ tensor_map map, float *) {
    tensor_store(&map, boxes() + 14 * 1024, {0, 0}); // HERE: box_beyond_the_end
}
BROKEN(box_beyond_the_end)

__global__ void misaligned_store(const __grid_constant__ tensor_map map, float *) {
    tensor_store(&map, boxes() + 512, {0, 0}); // HERE: misaligned_store
    tensor_store_commit();
    tensor_store_wait<0, false>();
}
BROKEN(misaligned_store)

__global__ void misaligned_coordinate(const __grid_constant__ tensor_map map, float *) {
    __shared__ mbarrier barrier;
    mbarrier_init(&barrier, 1);
    tensor_load(boxes(), &map, &barrier, {2, 0}); // HERE: misaligned_coordinate
}
BROKEN(misaligned_coordinate)

__global__ void store_before_the_array(const __grid_constant__ tensor_map map, float *) {
    tensor_store(&map, boxes(), {0, -1}); // HERE: store_before_the_array
}
BROKEN(store_before_the_array)

__global__ void other_axes(const __grid_constant__ tensor_map map, float *) {
    tensor_store(&map, boxes(), {0, 0, 0}); // HERE: other_axes
}
BROKEN(other_axes)

__global__ void half_a_warp(const __grid_constant__ tensor_map, float *) {
    char *a = boxes();
    float sum[32] = {};
    fill<64>(a, __float2half(1.0f));
    const uint64_t left = wgmma_descriptor(a, 8192);
    if (threadIdx.x % 32 < 16) wgmma<__half, 64, false, false>(sum, left, left, true); // HERE: half_a_warp
}
BROKEN(half_a_warp)

__global__ void other_operands(const __grid_constant__ tensor_map, float *) {
    float sum[32] = {};
    const uint64_t left = wgmma_descriptor(boxes() + threadIdx.x % 2 * 32, 8192);
    wgmma<__half, 64, false, false>(sum, left, left, true); // HERE: other_operands
}
BROKEN(other_operands)

__global__ void misaligned_operand(const __grid_constant__ tensor_map, float *out) {
    *out = static_cast<float>(wgmma_descriptor(boxes() + 8, 8192)); // HERE: misaligned_operand
}
BROKEN(misaligned_operand)

__global__ void misaligned_next_operand(const __grid_constant__ tensor_map, float *out) {
    *out = static_cast<float>(
        wgmma_descriptor_after(wgmma_descriptor(boxes(), 8192), 40)); // HERE: misaligned_next_operand
}
BROKEN(misaligned_next_operand)

__global__ void incomplete_warpgroup(const __grid_constant__ tensor_map, float *) {
    float sum[32] = {};
    const uint64_t left = wgmma_descriptor(boxes(), 8192);
    wgmma<__half, 64, false, false>(sum, left, left, true); // HERE: incomplete_warpgroup
}
BROKEN(incomplete_warpgroup)

__global__ void part_of_other_size(const __grid_constant__ tensor_map, float *) {
    if (threadIdx.x < 32)
        sync_threads_of(2, 64); // HERE: part_of_other_size
    else
        sync_threads_of(2, 96); // HERE: part_of_other_size
}
BROKEN(part_of_other_size)

__global__ void part_that_never_comes(const __grid_constant__ tensor_map, float *) {
    if (threadIdx.x < 32)
        sync_threads_of(5, 64); // HERE: part_that_never_comes
    else
        sync_threads_of(6, 128); // HERE: part_that_never_comes
}
BROKEN(part_that_never_comes)

__global__ void arrivals_that_are_too_few(const __grid_constant__ tensor_map, float *) {
    if (threadIdx.x < 32)
        sync_threads_of(5, 96); // HERE: arrivals_that_are_too_few
    else if (threadIdx.x < 64)
        arrive_threads_of(5, 96);
}
BROKEN(arrivals_that_are_too_few)

__global__ void arrivals_of_half_warps(const __grid_constant__ tensor_map, float *) {
    if (threadIdx.x < 32)
        sync_threads_of(5, 64);
    else if (threadIdx.x % 32 < 16)
        arrive_threads_of(5, 64); // HERE: arrivals_of_half_warps
}
BROKEN(arrivals_of_half_warps)

__global__ void arrivals_of_half_a_warp(const __grid_constant__ tensor_map, float *) {
    if (threadIdx.x < 32)
        sync_threads_of(5, 64);
    else if (threadIdx.x < 48)
        arrive_threads_of(5, 64); // HERE: arrivals_of_half_a_warp
}
BROKEN(arrivals_of_half_a_warp)

__global__ void arrival_of_other_size(const __grid_constant__ tensor_map, float *) {
    if (threadIdx.x < 32)
        arrive_threads_of(5, 64); // HERE: arrival_of_other_size
    else
        arrive_threads_of(5, 96); // HERE: arrival_of_other_size
}
BROKEN(arrival_of_other_size)

__global__ void part_with_wrong_number(const __grid_constant__ tensor_map, float *) {
    sync_threads_of(16, 64); // HERE: part_with_wrong_number
}
BROKEN(part_with_wrong_number)

__global__ void part_of_a_warp(const __grid_constant__ tensor_map, float *) {
    sync_threads_of(1, 48); // HERE: part_of_a_warp
}
BROKEN(part_of_a_warp)

__global__ void part_of_half_warps(const __grid_constant__ tensor_map, float *) {
    if (threadIdx.x % 32 < 16) sync_threads_of(1, 32); // HERE: part_of_half_warps
}
BROKEN(part_of_half_warps)

// What an array of NaN or wrong numbers reveals: `out` contains 64 x 64 ones, and becomes what threads saw.

// Thread 0 waits for the box, the others read it without a wait.
__global__ void load_without_wait(const __grid_constant__ tensor_map map, float *out) {
    float *box = reinterpret_cast<float *>(boxes());
    __shared__ mbarrier barrier;
    if (threadIdx.x == 0) {
        mbarrier_init(&barrier, 1);
        mbarrier_expect(&barrier, 4096);
        tensor_load(box, &map, &barrier, {0, 0});
    }
    __syncthreads();
    if (threadIdx.x == 0) mbarrier_wait(&barrier, 0);
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) out[2048 + i] = box[i];
}
BROKEN(load_without_wait)

__global__ void product_without_wait(const __grid_constant__ tensor_map, float *out) {
    char *a = boxes();
    float sum[32] = {};
    fill<64>(a, __float2half(1.0f));
    wgmma_fence();
    multiply_64<64>(sum, a, false);
    wgmma_commit();
    for (int i = 0; i < 32; ++i) out[i * 128 + threadIdx.x] = sum[i];
}
BROKEN(product_without_wait)

__global__ void product_without_commit(const __grid_constant__ tensor_map, float *out) {
    char *a = boxes();
    float sum[32] = {};
    fill<64>(a, __float2half(1.0f));
    wgmma_fence();
    multiply_64<64>(sum, a, false);
    wgmma_wait<0>();
    for (int i = 0; i < 32; ++i) out[i * 128 + threadIdx.x] = sum[i];
}
BROKEN(product_without_commit)

// The operands are overwritten before the wait.
__global__ void operands_replaced(const __grid_constant__ tensor_map, float *out) {
    char *a = boxes();
    float sum[32] = {};
    fill<64>(a, __float2half(1.0f));
    wgmma_fence();
    multiply_64<64>(sum, a, false);
    wgmma_commit();
    __syncthreads();
    fill<64>(a, __float2half(2.0f));
    wgmma_wait<0>();
    for (int i = 0; i < 32; ++i) out[i * 128 + threadIdx.x] = sum[i];
}
BROKEN(operands_replaced)

// The same without a fence: bytes that a pending product reads are overwritten.
__global__ void operands_replaced_without_fence(const __grid_constant__ tensor_map, float *out) {
    char *a = boxes();
    float sum[32] = {};
    fill<64>(a, __float2half(1.0f));
    wgmma_fence();
    multiply_64<64>(sum, a, false);
    wgmma_commit();
    __syncthreads();
    for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x) reinterpret_cast<__half *>(a)[i] = __float2half(2.0f);
    wgmma_wait<0>();
    for (int i = 0; i < 32; ++i) out[i * 128 + threadIdx.x] = sum[i];
}
BROKEN(operands_replaced_without_fence)

// A warpgroup tells another one that its operands are free before its products are done, and a load replaces them.
__global__ void freed_too_early(const __grid_constant__ tensor_map map, float *out) {
    char *a = boxes();
    __shared__ mbarrier full, empty;
    if (threadIdx.x == 0) mbarrier_init(&full, 1), mbarrier_init(&empty, 1), mbarrier_init_fence();
    fill<64>(a, __float2half(1.0f));
    if (threadIdx.x < 128) {
        float sum[32] = {};
        wgmma_fence();
        multiply_64<64>(sum, a, false);
        wgmma_commit();
        if (threadIdx.x == 127) mbarrier_arrive(&empty);
        wgmma_wait<0>();
        for (int i = 0; i < 32; ++i) out[i * 128 + threadIdx.x] = sum[i];
    } else if (threadIdx.x == 128) {
        mbarrier_wait(&empty, 0);
        mbarrier_expect(&full, 4096);
        tensor_load(a, &map, &full, {0, 0});
        tensor_load(a + 4096, &map, &full, {0, 0});
    }
}
BROKEN(freed_too_early)

// A product of the group that may be unfinished is read; that of the group before is there.
__global__ void later_group(const __grid_constant__ tensor_map, float *out) {
    char *a = boxes();
    float sum[2][32] = {};
    fill<64>(a, __float2half(1.0f));
    wgmma_fence();
    for (int i = 0; i < 2; ++i) multiply_64<64>(sum[i], a, false), wgmma_commit();
    wgmma_wait<1>();
    for (int i = 0; i < 32; ++i) out[i * 128 + threadIdx.x] = sum[i / 16][i];
}
BROKEN(later_group)

// Two boxes with the number 2, and their stores, each a group of its own, of the left and the right upper quarter of
// `out`.
__device__ __forceinline__ float *store_two(const tensor_map *map) {
    float *box = reinterpret_cast<float *>(boxes());
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) box[i] = 2;
    fence_async_proxy();
    __syncthreads();
    for (int i = 0; i < 2 && threadIdx.x == 0; ++i) {
        tensor_store(map, box + i * 1024, {i * 32, 0}); // HERE: one_store_without_wait
        tensor_store_commit();
    }
    return box;
}

__global__ void store_without_wait(const __grid_constant__ tensor_map map, float *) {
    if (threadIdx.x == 0) tensor_store(&map, boxes(), {0, 0}); // HERE: store_without_wait
}
BROKEN(store_without_wait)

__global__ void one_store_without_wait(const __grid_constant__ tensor_map map, float *) {
    store_two(&map);
    if (threadIdx.x == 0) tensor_store_wait<1, true>();
}
BROKEN(one_store_without_wait)

// Both boxes are overwritten, when the first one has been read.
__global__ void store_replaced(const __grid_constant__ tensor_map map, float *) {
    float *box = store_two(&map);
    if (threadIdx.x == 0) tensor_store_wait<1, true>();
    __syncthreads();
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) box[i] = 3;
    __syncthreads();
    if (threadIdx.x == 0) tensor_store_wait<0, false>();
}
BROKEN(store_replaced)

// One thread waits until the boxes have been read, and the others, which overwrite them, do not wait for this one.
__global__ void store_replaced_by_others(const __grid_constant__ tensor_map map, float *) {
    float *box = store_two(&map);
    if (threadIdx.x == 0) tensor_store_wait<0, true>();
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) box[i] = 3;
}
BROKEN(store_replaced_by_others)

// The array is read when the boxes have been read, but perhaps not written.
__global__ void array_read_too_early(const __grid_constant__ tensor_map map, float *out) {
    store_two(&map);
    if (threadIdx.x != 0) return;
    tensor_store_wait<0, true>();
    out[4094] = 10 * out[0];
    tensor_store_wait<1, false>();
    out[4093] = 10 * out[0], out[4094] += out[32];
    tensor_store_wait<0, false>();
    out[4095] = 10 * out[32];
}
BROKEN(array_read_too_early)

__global__ void product_without_wgmma_fence(const __grid_constant__ tensor_map, float *) {
    char *a = boxes();
    float sum[32] = {};
    fill<64>(a, __float2half(1.0f));
    wgmma_fence();
    multiply_64<64>(sum, a, false);
    wgmma_commit();
    wgmma_wait<0>();
    for (int i = 0; i < 32; ++i) sum[i] *= 2;
    const uint64_t left = wgmma_descriptor(a, 8192);
    wgmma<__half, 64, false, false>(sum, left, left, true); // HERE: product_without_wgmma_fence
}
BROKEN(product_without_wgmma_fence)

__global__ void prefetch_of_no_map(const __grid_constant__ tensor_map, float *out) {
    tensor_prefetch(reinterpret_cast<const tensor_map *>(out)); // HERE: prefetch_of_no_map
}
BROKEN(prefetch_of_no_map)

// 168 registers per thread at the launch.
__global__ void __launch_bounds__(384, 1) registers_that_never_come(const __grid_constant__ tensor_map, float *) {
    if (threadIdx.x < 128)
        give_up_registers<48>();
    else
        get_registers<232>(); // HERE: registers_that_never_come
}
BROKEN(registers_that_never_come)

__global__ void __launch_bounds__(384, 1) registers_of_three_warps(const __grid_constant__ tensor_map, float *) {
    if (threadIdx.x < 96) give_up_registers<40>(); // HERE: registers_of_three_warps
}
BROKEN(registers_of_three_warps)

__global__ void __launch_bounds__(384, 1) other_registers(const __grid_constant__ tensor_map, float *) {
    if (threadIdx.x < 32)
        give_up_registers<40>(); // HERE: other_registers
    else if (threadIdx.x < 128)
        give_up_registers<24>(); // HERE: other_registers
}
BROKEN(other_registers)

__global__ void __launch_bounds__(384, 1) gives_up_more_than_it_has(const __grid_constant__ tensor_map, float *) {
    give_up_registers<40>();
    __syncthreads();
    give_up_registers<48>(); // HERE: gives_up_more_than_it_has
}
BROKEN(gives_up_more_than_it_has)

__global__ void __launch_bounds__(128, 1) registers_of_half_warps(const __grid_constant__ tensor_map, float *) {
    if (threadIdx.x % 2)
        give_up_registers<40>(); // HERE: registers_of_half_warps
    else
        get_registers<232>(); // HERE: registers_of_half_warps
}
BROKEN(registers_of_half_warps)

// What threads have written reaches asynchronous operations only after a fence.
__global__ void store_without_fence(const __grid_constant__ tensor_map map, float *) {
    float *box = reinterpret_cast<float *>(boxes());
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) box[i] = 2;
    __syncthreads();
    if (threadIdx.x != 0) return;
    tensor_store(&map, box, {0, 0});
    tensor_store_commit();
    tensor_store_wait<0, false>();
}
BROKEN(store_without_fence)

__global__ void product_without_fence(const __grid_constant__ tensor_map, float *out) {
    char *a = boxes();
    float sum[32] = {};
    __half *elements = reinterpret_cast<__half *>(a);
    for (int i = threadIdx.x; i < 128 * 64; i += blockDim.x) elements[i] = __float2half(1.0f);
    __syncthreads();
    wgmma_fence();
    multiply_64<64>(sum, a, false);
    wgmma_commit();
    wgmma_wait<0>();
    for (int i = 0; i < 32; ++i) out[i * 128 + threadIdx.x] = sum[i];
}
BROKEN(product_without_fence)
