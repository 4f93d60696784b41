// Shows: a failing assert on the device, which stops the kernel and gives an error of its own.
// Exit code: 1
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

__global__ void testKernel(int N)
{
    int gtid = blockIdx.x * blockDim.x + threadIdx.x;
    assert(gtid < N);
}

int main(int argc, char **argv)
{
    printf("%s starting...\n", argc > 0 && argv[0] ? "program" : "nothing");
    dim3 dimGrid(2), dimBlock(32);
    printf("-- Begin assert output\n");
    fflush(stdout);
    testKernel<<<dimGrid, dimBlock>>>(60);
    cudaError_t error = cudaDeviceSynchronize();
    printf("-- End assert output\n");
    if (error == cudaErrorAssert) {
        printf("Device assert failed as expected, CUDA error message is: %s\n", cudaGetErrorString(error));
        exit(EXIT_FAILURE);
    }
    return EXIT_SUCCESS;
}
