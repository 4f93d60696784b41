// Shows: launches as different people and formatters write them.
#include <stdio.h>

__global__ void add(int *x, int v) { atomicAdd(x, v); }
template<typename T, int V> __global__ void addv(T *x) { atomicAdd(x, V); }
struct Config { dim3 grid, block; size_t shared; cudaStream_t stream; };
static dim3 two() { return dim3(2); }

int main(void)
{
    int *x, h; Config c = {dim3(1), dim3(2), 0, 0}, *pc = &c;
    cudaMalloc(&x, sizeof(int)); cudaMemset(x, 0, sizeof(int));
    add<<<1,1>>>(x,1);
    add <<< 1, 1 >>> (x, 1);
    add<<< 1 , 1 >>>( x , 1 );
    add<<<1, 1, 0>>>(x, 1);
    add<<<1, 1, 0, 0>>>(x, 1);
    add << <1, 1 >> > (x, 1);
    add << < 1, dim3(1) >> >
        (x, 1);
    add
        <<<
            dim3(1, 1, 1),
            dim3(1)
        >>>
        (
            x,
            1
        );
    add<<<c.grid, c.block, c.shared, c.stream>>>(x, 10);
    add<<<pc->grid, pc->block, pc->shared, pc->stream>>>(x, 10);
    add /* the kernel */ <<<1, /* one warp, */ 32>>> /* on */ (x, 10); // <<<not a launch>>>(x)
    add<<<two(), two().x * 2>>>(x, (int)(100));
    add<<<1 << 1, (8 >> 2) + (3 > 2)>>>(x, 1000);
    addv<int, 10000><<<sizeof(int) / 2, 1>>>(x);
    addv<int, (1 > 0 ? 100000 : 2)> <<<1, 3>>>(x);
    (add)<<<1, 1>>>(x, 1000000);
    (&add)<<<1, 1>>>(x, 1000000);
    (*add)<<<1, 1>>>(x, 1000000);
    { add<<<1, 1>>>(x, 1000000); } ::add<<<1, 1>>>(x, 1000000); add<<<1, 1>>>(x, 1000000);
    cudaMemcpy(&h, x, sizeof(int), cudaMemcpyDeviceToHost); printf("%d\n", h);
    cudaFree(x); return h != 6327168;
}
