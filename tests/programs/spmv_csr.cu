// Shows: a sparse matrix (CSR) times a vector, with one thread and with one warp per row.
#include <cstdio>
#include <vector>

struct Csr {
    int rows;
    const int *offsets, *columns;
    const float *values;
};

__global__ void spmv_scalar(Csr a, const float *x, float *y) {
    int row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row < a.rows) {
        float dot = 0;
        for (int j = a.offsets[row]; j < a.offsets[row + 1]; j++) dot += a.values[j] * x[a.columns[j]];
        y[row] = dot;
    }
}

__global__ void spmv_vector(Csr a, const float *x, float *y) {
    int row = (blockDim.x * blockIdx.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (row >= a.rows) return;
    float sum = 0;
    for (int j = a.offsets[row] + lane; j < a.offsets[row + 1]; j += 32) sum += a.values[j] * x[a.columns[j]];
    for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0) y[row] = sum;
}

template <class T> T *upload(const std::vector<T> &v) {
    T *p;
    cudaMalloc(&p, v.size() * sizeof(T));
    cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
    return p;
}

int main() {
    const int n = 300;
    std::vector<int> offsets{0}, columns;
    std::vector<float> values, x(n), expected(n), y(n);
    for (int r = 0; r < n; r++) {
        x[r] = float(r % 8);
        for (int c = r % 3; c < n; c += 1 + r * 7 % 40) columns.push_back(c), values.push_back(float((r + c) % 5 - 2));
        offsets.push_back((int)columns.size());
    }
    for (int r = 0; r < n; r++)
        for (int j = offsets[r]; j < offsets[r + 1]; j++) expected[r] += values[j] * x[columns[j]];
    int *d_offsets = upload(offsets), *d_columns = upload(columns);
    float *d_values = upload(values), *d_x = upload(x), *d_y = upload(y);
    Csr a{n, d_offsets, d_columns, d_values};
    for (int warps = 0; warps < 2; warps++) {
        if (warps) spmv_vector<<<(n * 32 + 127) / 128, 128>>>(a, d_x, d_y);
        else spmv_scalar<<<(n + 127) / 128, 128>>>(a, d_x, d_y);
        cudaMemcpy(y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost);
        printf("%zu entries, y[7] = %g: %s\n", values.size(), y[7], y == expected ? "equal" : "different");
    }
    for (void *p : {(void *)d_offsets, (void *)d_columns, (void *)d_values, (void *)d_x, (void *)d_y}) cudaFree(p);
}
