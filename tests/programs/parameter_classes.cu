// Shows: parameters that are references, and classes with a copy constructor and a destructor
#include <cstdio>

struct Counted {
    int *shared, value;
    explicit Counted(int first) : value(first) { cudaMallocManaged(&shared, sizeof *shared), *shared = 1; }
    Counted(const Counted &other) : shared(other.shared), value(other.value) { ++copies; }
    ~Counted() { ++destroyed; }
    static int copies, destroyed;
};
int Counted::copies = 0;
int Counted::destroyed = 0;

struct Pair {
    int first, second;
};

__global__ void by_value(Counted counted, int more) {
    counted.value += threadIdx.x + more; // each thread has its own
    atomicAdd(counted.shared, counted.value);
}
__global__ void by_reference(Pair &pair, const int &step) { atomicAdd(&pair.second, pair.first * step); }
__global__ void waits(Counted counted, int *out) {
    __shared__ int sums[64];
    sums[threadIdx.x] = ++counted.value;
    __syncthreads();
    out[threadIdx.x] = sums[63 - threadIdx.x];
}

int main() {
    {
        Counted counted(10);
        by_value<<<1, 64>>>(counted, 3);
        cudaDeviceSynchronize();
        printf("sum %d, value %d, %d\n", *counted.shared, counted.value, Counted::copies == Counted::destroyed);
        int *out;
        cudaMallocManaged(&out, 64 * sizeof *out);
        waits<<<1, 64>>>(counted, out);
        cudaDeviceSynchronize();
        printf("%d %d, %d\n", out[0], out[63], Counted::copies == Counted::destroyed);
        cudaFree(out);
        cudaFree(counted.shared);
    }
    Pair *pair;
    int *step;
    cudaMallocManaged(&pair, sizeof *pair);
    cudaMallocManaged(&step, sizeof *step);
    *pair = {5, 1}, *step = 2;
    by_reference<<<2, 32>>>(*pair, *step);
    cudaDeviceSynchronize();
    printf("%d %d\n", pair->first, pair->second);
    cudaFree(pair);
    cudaFree(step);
    return 0;
}
