// Shows: Gaussian elimination with partial pivoting, several kernels per column and a pivot kept on the device.
#include <cstdio>
#include <cmath>
#include <vector>

__global__ void find_pivot(const double *a, int n, int k, int *pivot) {
    if (threadIdx.x) return;
    int best = k;
    for (int r = k + 1; r < n; r++)
        if (fabs(a[r * (n + 1) + k]) > fabs(a[best * (n + 1) + k])) best = r;
    *pivot = best;
}
__global__ void swap_rows(double *a, int n, int k, const int *pivot) {
    int c = threadIdx.x, p = *pivot;
    if (c > n || p == k) return;
    double t = a[k * (n + 1) + c];
    a[k * (n + 1) + c] = a[p * (n + 1) + c];
    a[p * (n + 1) + c] = t;
}
__global__ void factors(const double *a, double *f, int n, int k) {
    int r = k + 1 + threadIdx.x;
    if (r < n) f[r] = a[r * (n + 1) + k] / a[k * (n + 1) + k];
}
__global__ void eliminate(double *a, const double *f, int n, int k) {
    int c = k + threadIdx.x, r = k + 1 + blockIdx.x;
    if (c <= n && r < n) a[r * (n + 1) + c] -= f[r] * a[k * (n + 1) + c];
}

int main() {
    const int n = 40;
    std::vector<double> h(n * (n + 1));
    for (int r = 0; r < n; r++) {
        double b = 0;
        for (int c = 0; c < n; c++) {
            h[r * (n + 1) + c] = ((r * 17 + c * 29 + r * r * c) % 41) - 20.0;
            b += h[r * (n + 1) + c] * (c + 1); // the solution is 1, 2, 3, ...
        }
        h[r * (n + 1) + n] = b;
    }
    double *a, *f;
    int *pivot;
    cudaMalloc(&a, h.size() * sizeof(double)), cudaMalloc(&f, n * sizeof(double)), cudaMalloc(&pivot, sizeof(int));
    cudaMemcpy(a, h.data(), h.size() * sizeof(double), cudaMemcpyHostToDevice);
    for (int k = 0; k < n - 1; k++) {
        find_pivot<<<1, 32>>>(a, n, k, pivot);
        swap_rows<<<1, 64>>>(a, n, k, pivot);
        factors<<<1, 64>>>(a, f, n, k);
        eliminate<<<n - 1 - k, 64>>>(a, f, n, k);
    }
    cudaMemcpy(h.data(), a, h.size() * sizeof(double), cudaMemcpyDeviceToHost);
    std::vector<double> x(n);
    double worst = 0;
    for (int r = n - 1; r >= 0; r--) {
        double s = h[r * (n + 1) + n];
        for (int c = r + 1; c < n; c++) s -= h[r * (n + 1) + c] * x[c];
        x[r] = s / h[r * (n + 1) + r];
        worst = fmax(worst, fabs(x[r] - (r + 1)));
    }
    printf("%.3f %.3f %.3f, %s\n", x[0], x[1], x[n - 1], worst < 1e-6 ? "solved" : "not solved");
    cudaFree(a), cudaFree(f), cudaFree(pivot);
}
