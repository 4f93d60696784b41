// Shows: cuda::pipeline with two stages that copy the next tile while the block works on this one.
#include <cstdio>
#include <cuda/pipeline>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
#pragma nv_diag_suppress static_var_with_dynamic_init

constexpr int kBlock = 128;

template <int STAGES>
__global__ void with_staging(const int *in, int *out, int batches) {
    __shared__ int shared[STAGES][kBlock];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    for (int compute = 0, fetch = 0; compute < batches; ++compute) {
        for (; fetch < batches && fetch < compute + STAGES; ++fetch) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, shared[fetch % STAGES], in + fetch * kBlock, sizeof(int) * kBlock, pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        int t = block.thread_rank();
        out[compute * kBlock + t] = shared[compute % STAGES][t] + shared[compute % STAGES][(t + 1) % kBlock];
        pipeline.consumer_release();
    }
}

__global__ void by_group(const int *in, int *out) {
    extern __shared__ int tile[];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, tile, in, sizeof(int) * block.size());
    cg::wait(block);
    out[threadIdx.x] = tile[block.size() - 1 - threadIdx.x];
}

int main() {
    const int batches = 9, n = batches * kBlock;
    int *in, *out;
    cudaMallocManaged(&in, n * sizeof(int));
    cudaMallocManaged(&out, n * sizeof(int));
    for (int i = 0; i < n; i++) in[i] = i * i % 1000;
    for (int stages = 1; stages <= 3; stages++) {
        if (stages == 1) with_staging<1><<<1, kBlock>>>(in, out, batches);
        else if (stages == 2) with_staging<2><<<1, kBlock>>>(in, out, batches);
        else with_staging<3><<<1, kBlock>>>(in, out, batches);
        cudaDeviceSynchronize();
        int wrong = 0;
        for (int i = 0; i < n; i++) wrong += out[i] != in[i] + in[i / kBlock * kBlock + (i + 1) % kBlock];
        printf("%d stages: %d wrong\n", stages, wrong);
    }
    by_group<<<1, 64, 64 * sizeof(int)>>>(in, out);
    cudaDeviceSynchronize();
    printf("%d %d\n", out[0], out[63]);
    cudaFree(in), cudaFree(out);
}
