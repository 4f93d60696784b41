// Shows: a breadth-first search, one level per launch, until no vertex is added.
#include <cstdio>
#include <queue>
#include <vector>

__global__ void expand(const int *offsets, const int *edges, int *level, int n, int depth, int *added)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || level[v] != depth)
        return;
    for (int e = offsets[v]; e < offsets[v + 1]; e++) {
        int w = edges[e];
        if (atomicCAS(&level[w], -1, depth + 1) == -1)
            atomicAdd(added, 1);
    }
}

int main()
{
    const int n = 2000;
    std::vector<int> offsets(1, 0), edges, expected(n, -1), level(n, -1);
    for (int v = 0; v < n; v++) {
        for (int w : {v + 1, v * 2 % n, v + 37}) if (w < n - 5) edges.push_back(w);
        offsets.push_back(edges.size());
    }
    std::queue<int> queue;
    expected[1] = level[1] = 0;
    for (queue.push(1); !queue.empty(); queue.pop())
        for (int v = queue.front(), e = offsets[v]; e < offsets[v + 1]; e++)
            if (expected[edges[e]] < 0) { expected[edges[e]] = expected[v] + 1; queue.push(edges[e]); }

    int *d_offsets, *d_edges, *d_level, *d_added, depth = 0, added;
    cudaMalloc(&d_offsets, offsets.size() * sizeof(int));
    cudaMalloc(&d_edges, edges.size() * sizeof(int));
    cudaMalloc(&d_level, n * sizeof(int));
    cudaMalloc(&d_added, sizeof(int));
    cudaMemcpy(d_offsets, offsets.data(), offsets.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_edges, edges.data(), edges.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_level, level.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    do {
        cudaMemset(d_added, 0, sizeof(int));
        expand<<<(n + 255) / 256, 256>>>(d_offsets, d_edges, d_level, n, depth++, d_added);
        cudaMemcpy(&added, d_added, sizeof(int), cudaMemcpyDeviceToHost);
        printf("%d:%d ", depth, added);
    } while (added);
    cudaMemcpy(level.data(), d_level, n * sizeof(int), cudaMemcpyDeviceToHost);
    printf("\n%s\n", level == expected ? "equal" : "different");
    cudaFree(d_offsets), cudaFree(d_edges), cudaFree(d_level), cudaFree(d_added);
}
