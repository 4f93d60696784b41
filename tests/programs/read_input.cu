// Shows: a program that reads numbers from its standard input.
// Input: 5 3 1 4 1 5
#include <iostream>
#include <vector>

__global__ void rank_of(const int *v, int *rank, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    int r = 0;
    for (int j = 0; j < n; ++j) r += v[j] < v[i] || (v[j] == v[i] && j < i);
    rank[i] = r;
}

int main() {
    int n;
    if (!(std::cin >> n)) return 1;
    std::vector<int> v(n), rank(n);
    for (auto &x : v) std::cin >> x;
    int *dv, *dr;
    cudaMalloc(&dv, n * sizeof(int));
    cudaMalloc(&dr, n * sizeof(int));
    cudaMemcpy(dv, v.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    rank_of<<<1, 32>>>(dv, dr, n);
    cudaMemcpy(rank.data(), dr, n * sizeof(int), cudaMemcpyDeviceToHost);
    std::vector<int> sorted(n);
    for (int i = 0; i < n; ++i) sorted[rank[i]] = v[i];
    for (int x : sorted) std::cout << x << ' ';
    std::cout << std::endl;
    cudaFree(dv);
    cudaFree(dr);
}
