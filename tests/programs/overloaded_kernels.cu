// Shows: overloaded kernels, from which the arguments choose.
#include <iostream>

__global__ void scale(int *x, int a) { x[threadIdx.x] *= a; }
__global__ void scale(float *x, float a) { x[threadIdx.x] *= a; }
__global__ void scale(int *x, int a, int b) { x[threadIdx.x] = a * x[threadIdx.x] + b; }
template <class T> __global__ void scale(T *x) { x[threadIdx.x] *= 2; }

template <class T> struct Managed {
    T *data;
    Managed() { cudaMallocManaged(&data, 32 * sizeof(T)); for (int i = 0; i < 32; i++) data[i] = T(i); }
    ~Managed() { cudaFree(data); }
    void show() { cudaDeviceSynchronize(); std::cout << data[1] << " " << data[31] << "\n"; }
};

int main() {
    Managed<int> i;
    Managed<float> f;
    scale<<<1, 32>>>(i.data, 3);
    i.show();
    scale<<<1, 32>>>(f.data, 1.5f);
    f.show();
    scale<<<1, 32>>>(i.data, 10, 1);
    i.show();
    scale<<<1, 32>>>(f.data);
    f.show();
    scale<int><<<1, 32>>>(i.data);
    i.show();
    void (*chosen)(int *, int) = scale;
    chosen<<<1, 32>>>(i.data, -1);
    i.show();
}
