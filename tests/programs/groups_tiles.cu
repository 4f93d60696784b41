// Shows: tiles of a warp: their shuffles, votes, reductions and scans, of several sizes.
#include <cstdio>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
using namespace cooperative_groups;

template <int N> __global__ void tiles(const int *in, int *out)
{
    auto tile = tiled_partition<N>(this_thread_block());
    int v = in[threadIdx.x], sum = v;
    for (int d = tile.size() / 2; d > 0; d /= 2) sum += tile.shfl_down(sum, d);
    sum = tile.shfl(sum, 0);
    int by_library = reduce(tile, v, plus<int>()), top = reduce(tile, v, greater<int>());
    int before = exclusive_scan(tile, v), with = inclusive_scan(tile, v, plus<int>());
    unsigned odd = tile.ballot(v & 1);
    bool some = tile.any(v > 50), each = tile.all(v >= 0);
    int other = tile.shfl_xor(v, 1) + tile.shfl_up(v, 1);
    int *r = out + threadIdx.x * 8;
    r[0] = sum, r[1] = by_library, r[2] = top, r[3] = before, r[4] = with, r[5] = odd, r[6] = 2 * some + each, r[7] = other;
}

template <int N> bool run(const int *in, int *out)
{
    tiles<N><<<1, 64>>>(in, out);
    if (cudaDeviceSynchronize() != cudaSuccess) return false;
    for (int first = 0; first < 64; first += N) {
        int sum = 0, top = 0, sofar = 0;
        unsigned odd = 0, some = 0;
        for (int i = 0; i < N; i++) {
            int v = in[first + i];
            sum += v, top = v > top ? v : top, odd |= unsigned(v & 1) << i, some |= v > 50;
        }
        for (int i = 0; i < N; i++) {
            const int *r = out + (first + i) * 8, v = in[first + i];
            int other = in[first + (i ^ 1)] + in[first + (i ? i - 1 : 0)];
            if (r[0] != sum || r[1] != sum || r[2] != top || r[3] != sofar || r[4] != sofar + v) return false;
            if ((unsigned)r[5] != odd || r[6] != int(2 * some + 1) || r[7] != other) return false;
            sofar += v;
        }
    }
    return true;
}

int main()
{
    int *in, *out;
    cudaMallocManaged(&in, 64 * sizeof(int));
    cudaMallocManaged(&out, 64 * 8 * sizeof(int));
    for (int i = 0; i < 64; i++) in[i] = i * 29 % 53;
    printf("32: %d, 16: %d, 8: %d, 4: %d, 2: %d\n", run<32>(in, out), run<16>(in, out), run<8>(in, out), run<4>(in, out),
           run<2>(in, out));
    cudaFree(in), cudaFree(out);
}
