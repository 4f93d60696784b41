// Shows: all shortest paths by Floyd and Warshall, one launch per intermediate vertex.
#include <iostream>
#include <vector>
#include <climits>
using std::vector;

constexpr int INF = INT_MAX / 2;

__global__ void relax(int *dist, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j >= n) return;
    int through = dist[i * n + k] + dist[k * n + j];
    if (through < dist[i * n + j]) dist[i * n + j] = through;
}

int main() {
    const int n = 60;
    vector<int> dist(n * n, INF);
    for (int i = 0; i < n; ++i) {
        dist[i * n + i] = 0;
        for (int e = 1; e <= 3; ++e) dist[i * n + (i * 7 + e * e * 5) % n] = 1 + (i * e) % 10;
        dist[i * n + i] = 0;
    }
    vector<int> host = dist;
    for (int k = 0; k < n; ++k)
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) host[i * n + j] = std::min(host[i * n + j], host[i * n + k] + host[k * n + j]);

    int *d;
    cudaMalloc(&d, dist.size() * sizeof(int));
    cudaMemcpy(d, dist.data(), dist.size() * sizeof(int), cudaMemcpyHostToDevice);
    for (int k = 0; k < n; ++k)
        relax<<<dim3((n + 31) / 32, n), 32>>>(d, n, k);
    cudaMemcpy(dist.data(), d, dist.size() * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(d);
    long long sum = 0;
    for (int v : dist) sum += v < INF ? v : 0;
    std::cout << sum << (dist == host ? " equal" : " different") << "\n";
    return dist != host;
}
