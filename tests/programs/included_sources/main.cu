// Shows: a program whose kernels are in a .cu file that is included, as older benchmark suites have it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <sys/time.h>
#include "./util/settings.h"
#include "pathfinder_kernel.cu"

void run(int argc, char **argv);
int rows, cols, pyramid_height;
int *data, **wall, *result;

double gettime() {
  struct timeval t;
  gettimeofday(&t, NULL);
  return t.tv_sec + t.tv_usec * 1e-6;
}

void init(int argc, char **argv) {
  cols = argc > 1 ? atoi(argv[1]) : DEFAULT_COLS;
  rows = argc > 2 ? atoi(argv[2]) : DEFAULT_ROWS;
  data = new int[rows * cols];
  wall = new int *[rows];
  for (int n = 0; n < rows; n++) wall[n] = data + cols * n;
  result = new int[cols];
  srand(M_SEED);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) wall[i][j] = rand() % 10;
}

int main(int argc, char **argv) {
  run(argc, argv);
  return EXIT_SUCCESS;
}

void run(int argc, char **argv) {
  init(argc, argv);
  int *gpuWall, *gpuResult[2], src = 1, dst = 0, size = rows * cols;
  cudaMalloc((void **)&gpuResult[0], sizeof(int) * cols);
  cudaMalloc((void **)&gpuResult[1], sizeof(int) * cols);
  cudaMemcpy(gpuResult[0], data, sizeof(int) * cols, cudaMemcpyHostToDevice);
  cudaMalloc((void **)&gpuWall, sizeof(int) * (size - cols));
  cudaMemcpy(gpuWall, data + cols, sizeof(int) * (size - cols), cudaMemcpyHostToDevice);
  double start = gettime();
  for (int t = 0; t < rows - 1; t++) {
    int temp = src;
    src = dst;
    dst = temp;
    dynproc_kernel<<<(cols + BLOCK_SIZE - 1) / BLOCK_SIZE, BLOCK_SIZE>>>(gpuWall + t * cols, gpuResult[src], gpuResult[dst], cols);
  }
  cudaMemcpy(result, gpuResult[dst], sizeof(int) * cols, cudaMemcpyDeviceToHost);
  if (gettime() < start) printf("time goes back\n");
  int *now = new int[cols], *next = new int[cols], wrong = 0;
  memcpy(now, data, cols * sizeof(int));
  for (int t = 1; t < rows; t++) {
    for (int j = 0; j < cols; j++) {
      int best = now[j];
      if (j > 0) best = MIN(best, now[j - 1]);
      if (j < cols - 1) best = MIN(best, now[j + 1]);
      next[j] = wall[t][j] + best;
    }
    int *s = now; now = next; next = s;
  }
  for (int j = 0; j < cols; j++) wrong += now[j] != result[j];
  printf("%d columns, %d rows: %s\n", cols, rows, wrong ? "FAIL" : "PASS");
  cudaFree(gpuWall); cudaFree(gpuResult[0]); cudaFree(gpuResult[1]);
  delete[] data; delete[] wall; delete[] result; delete[] now; delete[] next;
}
