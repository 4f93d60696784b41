#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <float.h>

// kernel 1: one thread per row
__global__ void softmax_forward_kernel1(float* out, const float* inp, int N, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        float maxval = -INFINITY, sum = 0;
        for (int j = 0; j < C; j++) maxval = fmaxf(maxval, inp[i * C + j]);
        for (int j = 0; j < C; j++) sum += out[i * C + j] = expf(inp[i * C + j] - maxval);
        for (int j = 0; j < C; j++) out[i * C + j] /= sum;
    }
}

// kernel 2: one block per row, values reduced within each warp and then across warps
__device__ float warpReduceMax(float val) {
    for (int offset = 16; offset > 0; offset /= 2) val = fmaxf(val, __shfl_down_sync(0xFFFFFFFF, val, offset));
    return val;
}
__global__ void softmax_forward_kernel2(float* out, const float* inp, int N, int C) {
    extern __shared__ float shared[];
    int idx = blockIdx.x, tid = threadIdx.x, warpId = threadIdx.x / 32, laneId = threadIdx.x % 32, warps = blockDim.x / 32;
    float* maxvals = shared;
    float* sumvals = &shared[warps];
    const float* x = inp + idx * C;
    float maxval = -INFINITY, sumval = 0;
    for (int i = tid; i < C; i += blockDim.x) maxval = fmaxf(maxval, x[i]);
    maxval = warpReduceMax(maxval);
    if (laneId == 0) maxvals[warpId] = maxval;
    __syncthreads();
    if (tid == 0) for (int i = 1; i < warps; i++) maxvals[0] = fmaxf(maxvals[0], maxvals[i]);
    __syncthreads();
    for (int i = tid; i < C; i += blockDim.x) sumval += out[idx * C + i] = __expf(x[i] - maxvals[0]);
    for (int offset = 16; offset > 0; offset /= 2) sumval += __shfl_down_sync(0xFFFFFFFF, sumval, offset);
    if (laneId == 0) sumvals[warpId] = sumval;
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < warps; i++) sum += sumvals[i];
    for (int i = tid; i < C; i += blockDim.x) __stcs(out + idx * C + i, out[idx * C + i] / sum);
}

// kernel 3: one warp per row, online softmax
struct __align__(8) SumMax { float maxval, sum; };
__device__ __forceinline__ SumMax reduce_sum_max_op(SumMax a, SumMax b) {
    bool a_bigger = a.maxval > b.maxval;
    SumMax bigger = a_bigger ? a : b, smaller = a_bigger ? b : a, res;
    res.maxval = bigger.maxval;
    res.sum = bigger.sum + smaller.sum * expf(smaller.maxval - bigger.maxval);
    return res;
}
__global__ void softmax_forward_kernel3(float* out, const float* inp, int N, int C) {
    namespace cg = cooperative_groups;
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int idx = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (idx >= N) return;
    SumMax sm_partial = {-FLT_MAX, 0.0f};
    for (int i = warp.thread_rank(); i < C; i += warp.size()) sm_partial = reduce_sum_max_op(sm_partial, {inp[idx * C + i], 1.0f});
    SumMax sm_total = cg::reduce(warp, sm_partial, reduce_sum_max_op);
    for (int i = warp.thread_rank(); i < C; i += warp.size()) __stcs(out + idx * C + i, expf(inp[idx * C + i] - sm_total.maxval) / sm_total.sum);
}
