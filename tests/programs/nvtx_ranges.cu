// Shows: NVTX ranges around launches, which tools show and which change nothing else.
#include <cstdio>
#include <nvtx3/nvToolsExt.h>

struct Range {
    explicit Range(const char *name) { nvtxRangePushA(name); }
    ~Range() { nvtxRangePop(); }
};

__global__ void increment(int *x) { atomicAdd(x, 1); }

int main() {
    int *x, h = -1;
    {
        Range range("set up");
        cudaMalloc(&x, sizeof h);
        cudaMemset(x, 0, sizeof h);
    }
    for (int i = 0; i < 3; i++) {
        nvtxRangePush("step");
        increment<<<2, 32>>>(x);
        nvtxRangePop();
    }
    nvtxMark("done");
    cudaMemcpy(&h, x, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d\n", h);
    cudaFree(x);
}
