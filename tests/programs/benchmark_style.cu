// Shows: a benchmark as collections have it: arguments, std::chrono, repeats, a reference and PASS or FAIL.
// Arguments: 4096 5
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#define GPU_CHECK(x)                                                                          \
  {                                                                                           \
    auto error = x;                                                                           \
    if (error != cudaSuccess) {                                                               \
      std::printf("%s(%d): %s\n", __FILE__, __LINE__, cudaGetErrorString(error));             \
      std::exit(EXIT_FAILURE);                                                                \
    }                                                                                         \
  }

static void reference(const std::vector<double> &x, std::vector<double> &y, int repeat) {
  const size_t n = x.size();
  for (int r = 0; r < repeat; r++)
    for (size_t i = 0; i < n; i++) y[i] = 0.5 * y[i] + x[i] * std::exp(-x[(i + 1) % n]);
}

__global__ void __launch_bounds__(256)
step(const double *__restrict__ x, double *__restrict__ y, const int n)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0.5 * y[i] + x[i] * exp(-x[(i + 1) % n]);
}

int main(int argc, char* argv[])
{
  if (argc != 3) {
    printf("Usage: %s <number of elements> <repeat>\n", argv[0]);
    return 1;
  }
  const int n = atoi(argv[1]), repeat = atoi(argv[2]);
  std::vector<double> x(n), y(n, 1), y_ref(n, 1);
  std::mt19937 gen(19937);
  for (auto &v : x) v = gen() / 4294967296.0;

  double *d_x, *d_y;
  GPU_CHECK(cudaMalloc((void**)&d_x, n * sizeof(double)));
  GPU_CHECK(cudaMalloc((void**)&d_y, n * sizeof(double)));
  GPU_CHECK(cudaMemcpy(d_x, x.data(), n * sizeof(double), cudaMemcpyHostToDevice));
  GPU_CHECK(cudaMemcpy(d_y, y.data(), n * sizeof(double), cudaMemcpyHostToDevice));
  GPU_CHECK(cudaDeviceSynchronize());
  auto start = std::chrono::steady_clock::now();
  for (int r = 0; r < repeat; r++)
    step <<< dim3((n + 255) / 256), dim3(256) >>> (d_x, d_y, n);
  GPU_CHECK(cudaDeviceSynchronize());
  auto end = std::chrono::steady_clock::now();
  auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count();
  fprintf(stderr, "Average kernel execution time: %f (us)\n", (time * 1e-3f) / repeat);
  GPU_CHECK(cudaMemcpy(y.data(), d_y, n * sizeof(double), cudaMemcpyDeviceToHost));
  reference(x, y_ref, repeat);
  bool ok = true;
  for (int i = 0; i < n; i++) ok = ok && std::fabs(y[i] - y_ref[i]) < 1e-12;
  printf("%s\n", ok ? "PASS" : "FAIL");
  GPU_CHECK(cudaFree(d_x));
  GPU_CHECK(cudaFree(d_y));
  return 0;
}
