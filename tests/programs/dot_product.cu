// Shows: a dot product as the introductory book writes it, with a lock between blocks made of atomics.
#include <cstdio>
#include <cstdlib>

#define imin(a,b) (a<b?a:b)
#define sum_squares(x) (x*(x+1)*(2*x+1)/6)
const int N = 33 * 1024;
const int threadsPerBlock = 256;
const int blocksPerGrid = imin( 32, (N+threadsPerBlock-1) / threadsPerBlock );

struct Lock {
    int *mutex;
    Lock( void ) {
        cudaMalloc( (void**)&mutex, sizeof(int) );
        cudaMemset( mutex, 0, sizeof(int) );
    }
    void release( void ) { cudaFree( mutex ); }
    __device__ void lock( void ) {
        while( atomicCAS( mutex, 0, 1 ) != 0 );
        __threadfence();
    }
    __device__ void unlock( void ) {
        __threadfence();
        atomicExch( mutex, 0 );
    }
};

__global__ void dot( Lock lock, float *a, float *b, volatile double *c ) {
    __shared__ double cache[threadsPerBlock];
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    int cacheIndex = threadIdx.x;
    double temp = 0;
    while (tid < N) {
        temp += (double)a[tid] * b[tid];
        tid += blockDim.x * gridDim.x;
    }
    cache[cacheIndex] = temp;
    __syncthreads();
    int i = blockDim.x/2;
    while (i != 0) {
        if (cacheIndex < i)
            cache[cacheIndex] += cache[cacheIndex + i];
        __syncthreads();
        i /= 2;
    }
    if (cacheIndex == 0) {
        lock.lock();
        *c += cache[0];
        lock.unlock();
    }
}

int main( void ) {
    float *a = new float[N], *b = new float[N], *dev_a, *dev_b;
    double c = 0, *dev_c;
    for (int i=0; i<N; i++) { a[i] = i; b[i] = i*2; }
    cudaMalloc( (void**)&dev_a, N*sizeof(float) );
    cudaMalloc( (void**)&dev_b, N*sizeof(float) );
    cudaMalloc( (void**)&dev_c, sizeof(double) );
    cudaMemcpy( dev_a, a, N*sizeof(float), cudaMemcpyHostToDevice );
    cudaMemcpy( dev_b, b, N*sizeof(float), cudaMemcpyHostToDevice );
    cudaMemcpy( dev_c, &c, sizeof(double), cudaMemcpyHostToDevice );
    Lock lock;
    dot<<<blocksPerGrid,threadsPerBlock>>>( lock, dev_a, dev_b, dev_c );
    cudaMemcpy( &c, dev_c, sizeof(double), cudaMemcpyDeviceToHost );
    printf( "Does GPU value %.6g = %.6g?\n", c, 2 * sum_squares( (double)(N - 1) ) );
    lock.release();
    cudaFree( dev_a ); cudaFree( dev_b ); cudaFree( dev_c );
    delete [] a; delete [] b;
}
