// Shows: a program that reads its command line's arguments.
// Arguments: 1000 4 --name test
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void multiples(int *out, int n, int factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i * factor;
}

int main(int argc, char *argv[])
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s n factor [--name text]\n", argv[0]);
        return 2;
    }
    int n = atoi(argv[1]), factor = (int)strtol(argv[2], NULL, 10);
    const char *name = "none";
    for (int i = 3; i + 1 < argc; i++)
        if (!strcmp(argv[i], "--name")) name = argv[i + 1];
    int *d, last;
    cudaMalloc((void **)&d, n * sizeof(int));
    multiples <<<(n + 255) / 256, 256>>> (d, n, factor);
    cudaMemcpy(&last, d + n - 1, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d arguments, %s: %d\n", argc - 1, name, last);
    cudaFree(d);
    return argv[argc] != NULL;
}
