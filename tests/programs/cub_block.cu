// Shows: CUB's parts for blocks and warps: load, reduce, scan, sort.
#include <cstdio>
#include <cub/cub.cuh>

template <int THREADS, int ITEMS>
__global__ void block_work(const int *in, int *sorted, int *scanned, int *sum)
{
    typedef cub::BlockLoad<int, THREADS, ITEMS, cub::BLOCK_LOAD_WARP_TRANSPOSE> BlockLoad;
    typedef cub::BlockReduce<int, THREADS> BlockReduce;
    typedef cub::BlockScan<int, THREADS> BlockScan;
    typedef cub::BlockRadixSort<int, THREADS, ITEMS> BlockRadixSort;
    __shared__ union {
        typename BlockLoad::TempStorage load;
        typename BlockReduce::TempStorage reduce;
        typename BlockScan::TempStorage scan;
        typename BlockRadixSort::TempStorage sort;
    } temp;
    int items[ITEMS], scan[ITEMS];
    BlockLoad(temp.load).Load(in, items);
    __syncthreads();
    int total = BlockReduce(temp.reduce).Sum(items);
    if (threadIdx.x == 0) *sum = total;
    __syncthreads();
    BlockScan(temp.scan).ExclusiveSum(items, scan);
    __syncthreads();
    BlockRadixSort(temp.sort).Sort(items);
    for (int i = 0; i < ITEMS; i++) {
        sorted[threadIdx.x * ITEMS + i] = items[i];
        scanned[threadIdx.x * ITEMS + i] = scan[i];
    }
}

__global__ void warp_sum(const int *in, int *out)
{
    using WarpReduce = cub::WarpReduce<int>;
    __shared__ WarpReduce::TempStorage temp[4];
    int warp = threadIdx.x / 32, total = WarpReduce(temp[warp]).Sum(in[threadIdx.x]);
    if (threadIdx.x % 32 == 0) out[warp] = total;
}

int main()
{
    const int n = 128 * 4;
    int *data;
    cudaMallocManaged(&data, (3 * n + 8) * sizeof(int));
    int *sorted = data + n, *scanned = data + 2 * n, *results = data + 3 * n, wrong = 0, sum = 0;
    for (int i = 0; i < n; i++) data[i] = i * 7919 % 1009 - 300;
    block_work<128, 4><<<1, 128>>>(data, sorted, scanned, results);
    warp_sum<<<1, 128>>>(data, results + 1);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++) {
        wrong += scanned[i] != sum || (i && sorted[i - 1] > sorted[i]);
        sum += data[i];
    }
    printf("%d %d, %d wrong\n", results[0], sum, wrong);
    for (int w = 1; w <= 4; w++) printf("%d ", results[w]);
    printf("\n");
    cudaFree(data);
}
