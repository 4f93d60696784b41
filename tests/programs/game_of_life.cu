// Shows: the game of life on a torus, a glider that is printed after some generations.
#include <iostream>
#include <string>
#include <utility>

const int W = 16, H = 10;

__global__ void life(const bool *now, bool *next) {
    const auto x = threadIdx.x, y = threadIdx.y;
    int neighbours = 0;
    for (int dy : {H - 1, 0, 1})
        for (int dx : {W - 1, 0, 1})
            if (dx != 0 || dy != 0) neighbours += now[(y + dy) % H * W + (x + dx) % W];
    next[y * W + x] = neighbours == 3 || (neighbours == 2 && now[y * W + x]);
}

int main() {
    bool world[W * H] = {};
    for (auto [x, y] : {std::pair{1, 0}, {2, 1}, {0, 2}, {1, 2}, {2, 2}}) world[y * W + x] = true;
    bool *a, *b;
    cudaMalloc(&a, sizeof world), cudaMalloc(&b, sizeof world);
    cudaMemcpy(a, world, sizeof world, cudaMemcpyHostToDevice);
    for (int generation = 0; generation < 30; ++generation) {
        life<<<1, dim3(W, H)>>>(a, b);
        std::swap(a, b);
    }
    cudaMemcpy(world, a, sizeof world, cudaMemcpyDeviceToHost);
    for (int y = 0; y < H; ++y) {
        std::string line;
        for (int x = 0; x < W; ++x) line += world[y * W + x] ? '#' : '.';
        std::cout << line << '\n';
    }
    cudaFree(a), cudaFree(b);
}
