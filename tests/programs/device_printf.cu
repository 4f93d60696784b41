// Shows: printf in kernels, by one thread, with most formats.
#include <stdio.h>

struct Point { float x, y; };
__device__ const char *const names[] = {"zero", "one", "two"};

__global__ void helloFromGPU()
{
    printf("Hello World from GPU thread %d!\n", threadIdx.x);
}

__global__ void formats(Point p, const char *text)
{
    if (threadIdx.x != 17) return;
    printf("%d %5d|%-5d|%05d %+d\n", 42, 42, 42, 42, 42);
    printf("%u %x %X %#o %c%c %%\n", 3000000000u, 255, 255, 8, 'o', 'k');
    printf("%lld %llu %ld %hd\n", -5000000000ll, 18446744073709551615ull, 7l, (short)-1);
    printf("%f %.2f %8.3f|%e %g %G\n", p.x, p.y, 3.14159, 12345.678, 0.0001, 1e20);
    printf("%s, %10s, %-6s|, %s\n", "text", "right", "left", names[2]);
    int written = printf("no end of line");
    printf(" [%d]\n", written);
    printf("%s\n", text == nullptr ? "null" : "set");
}

int main(void)
{
    printf("Hello World from CPU!\n");
    helloFromGPU<<<1, 1>>>();
    formats<<<1, 32>>>({1.5f, 2.25f}, nullptr);
    cudaDeviceSynchronize();
    printf("the end\n");
    cudaDeviceReset();
    return 0;
}
