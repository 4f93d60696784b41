// Shows: kernel templates whose arguments the call deduces.
#include <cstdio>
#include <vector>

template <typename T>
__global__ void axpy(int n, T a, const T *x, T *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

template <class T, size_t N> struct Row { T value[N]; };

template <class T, size_t N>
__global__ void sum_row(Row<T, N> row, T *result) {
    T sum = 0;
    for (auto v : row.value) sum += v;
    *result = sum;
}

template <typename T>
T last_axpy(int n, T a)
{
    std::vector<T> x(n), y(n);
    for (int i = 0; i < n; ++i) { x[i] = T(i); y[i] = T(2 * i); }
    T *dx, *dy;
    cudaMalloc(&dx, n * sizeof(T));
    cudaMalloc(&dy, n * sizeof(T));
    cudaMemcpy(dx, x.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    cudaMemcpy(dy, y.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    axpy<<<(n + 127) / 128, 128>>>(n, a, dx, dy);
    cudaMemcpy(y.data(), dy, n * sizeof(T), cudaMemcpyDeviceToHost);
    cudaFree(dx);
    cudaFree(dy);
    return y.back();
}

int main()
{
    printf("int %d, float %g, double %g, ", last_axpy(1000, 3), last_axpy(1000, 0.5f), last_axpy(1000, 0.25));
    printf("unsigned char %d\n", last_axpy<unsigned char>(100, 2));
    int *result, h;
    cudaMalloc(&result, sizeof h);
    sum_row<<<1, 1>>>(Row<int, 5>{{1, 2, 3, 4, 5}}, result);
    cudaMemcpy(&h, result, sizeof h, cudaMemcpyDeviceToHost);
    printf("row %d\n", h);
    cudaFree(result);
}
