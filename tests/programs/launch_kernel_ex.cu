// Shows: cudaLaunchKernelEx: typed arguments, attributes, and clusters of blocks that read each other's memory.
#include <cstdio>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void axpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

__global__ void from_neighbour(int *out) {
    __shared__ int mine;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) mine = 100 + blockIdx.x;
    cluster.sync();
    int *other = cluster.map_shared_rank(&mine, (cluster.block_rank() + 1) % cluster.num_blocks());
    if (threadIdx.x == 0) out[blockIdx.x] = *other;
    cluster.sync();
}

int main() {
    const int n = 1000;
    float *x, *y;
    int *out;
    cudaMallocManaged(&x, n * sizeof(float));
    cudaMallocManaged(&y, n * sizeof(float));
    cudaMallocManaged(&out, 8 * sizeof(int));
    for (int i = 0; i < n; i++) x[i] = i, y[i] = 1;
    cudaStream_t stream;
    cudaStreamCreate(&stream);

    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((n + 255) / 256);
    config.blockDim = 256;
    config.stream = stream;
    cudaError_t e = cudaLaunchKernelEx(&config, axpy, n, 2, (const float *)x, y);
    printf("%s\n", cudaGetErrorString(e));

    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = 4;
    attribute[0].val.clusterDim.y = attribute[0].val.clusterDim.z = 1;
    config.gridDim = 8;
    config.blockDim = 32;
    config.attrs = attribute;
    config.numAttrs = 1;
    printf("%s\n", cudaGetErrorString(cudaLaunchKernelEx(&config, from_neighbour, out)));
    cudaStreamSynchronize(stream);
    printf("%g %g\n", y[0], y[n - 1]);
    for (int i = 0; i < 8; i++) printf("%d ", out[i]);
    printf("\n");
    cudaStreamDestroy(stream);
    cudaFree(x), cudaFree(y), cudaFree(out);
}
