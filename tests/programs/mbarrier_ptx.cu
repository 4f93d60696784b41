// Shows: mbarriers and bulk copies of Hopper in inline PTX: a ring of tiles that one thread fetches.
#include <cstdint>
#include <cstdio>

constexpr int TILE = 256, STAGES = 2;

__device__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void init(uint64_t *bar, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count) : "memory");
}
__device__ void arrive(uint64_t *bar) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(bar)) : "memory");
}
__device__ void wait(uint64_t *bar, int parity) {
    asm volatile("{\n.reg .pred P1;\nLAB_WAIT:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
                 "@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}" ::"r"(shared_address(bar)), "r"(parity) : "memory");
}
__device__ void fetch(int *tile, const int *from, uint64_t *bar) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(TILE * 4) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(shared_address(tile)), "l"(from), "r"(TILE * 4), "r"(shared_address(bar)) : "memory");
}

__global__ void doubled(const int *in, int *out, int tiles) {
    __shared__ alignas(128) int tile[STAGES][TILE];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) init(&full[s], 1), init(&empty[s], blockDim.x - 32);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x < 32) { // a warp of which one thread fetches
        for (int t = 0; threadIdx.x == 0 && t < tiles; t++) {
            wait(&empty[t % STAGES], t / STAGES % 2 ^ 1);
            fetch(tile[t % STAGES], in + t * TILE, &full[t % STAGES]);
        }
        return;
    }
    for (int t = 0; t < tiles; t++) {
        wait(&full[t % STAGES], t / STAGES % 2);
        for (int i = threadIdx.x - 32; i < TILE; i += blockDim.x - 32) out[t * TILE + i] = 2 * tile[t % STAGES][i];
        arrive(&empty[t % STAGES]);
    }
}

int main() {
    const int tiles = 7, n = tiles * TILE;
    int *in, *out, wrong = 0;
    cudaMallocManaged(&in, n * sizeof(int));
    cudaMallocManaged(&out, n * sizeof(int));
    for (int i = 0; i < n; i++) in[i] = i * 5 + 1;
    doubled<<<1, 160>>>(in, out, tiles);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    for (int i = 0; i < n; i++) wrong += out[i] != 2 * in[i];
    printf("%d %d, %d wrong\n", out[0], out[n - 1], wrong);
    cudaFree(in), cudaFree(out);
}
