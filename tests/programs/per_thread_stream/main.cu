// Shows: a default stream per thread (--default-stream per-thread), used by several threads at once.
#include <pthread.h>
#include <stdio.h>

const int N = 1 << 12;

__global__ void kernel(float *x, int n)
{
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    for (int i = tid; i < n; i += blockDim.x * gridDim.x) x[i] = sqrtf(powf(3.0f, (float)(i % 5)));
}

void *launch_kernel(void *result)
{
    float *data, last;
    cudaMalloc(&data, N * sizeof(float));
    kernel<<<1, 64>>>(data, N);
    cudaStreamSynchronize(0);
    cudaMemcpy(&last, data + N - 2, sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(data);
    *(float *)result = last;
    return NULL;
}

int main()
{
    const int num_threads = 8;
    pthread_t threads[num_threads];
    float results[num_threads];
    for (int i = 0; i < num_threads; i++)
        if (pthread_create(&threads[i], NULL, launch_kernel, &results[i])) { fprintf(stderr, "Error creating thread\n"); return 1; }
    for (int i = 0; i < num_threads; i++)
        if (pthread_join(threads[i], NULL)) { fprintf(stderr, "Error joining thread\n"); return 2; }
    int good = 0;
    for (float r : results) good += r > 8.999f && r < 9.001f;
    printf("%d of %d, %s\n", good, num_threads, cudaGetErrorName(cudaDeviceSynchronize()));
    cudaDeviceReset();
    return good != num_threads;
}
