// Shows: recursive device functions: Fibonacci, Ackermann, a tree's depth and mutual recursion.
#include <cstdio>

__device__ unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}
__device__ bool odd(int n);
__device__ bool even(int n) { return n == 0 || odd(n - 1); }
__device__ bool odd(int n) { return n != 0 && even(n - 1); }

struct Node { int left, right; };
__device__ int depth(const Node *tree, int at) {
    if (at < 0) return 0;
    int l = depth(tree, tree[at].left), r = depth(tree, tree[at].right);
    return 1 + (l > r ? l : r);
}
template <int N> struct Factorial { static __device__ long long of() { return N * Factorial<N - 1>::of(); } };
template <> struct Factorial<0> { static __device__ long long of() { return 1; } };

__global__ void work(const Node *tree, long long *out) {
    switch (threadIdx.x) {
    case 0: out[0] = fibonacci(15); break;
    case 1: out[1] = ackermann(2, 3); break;
    case 2: out[2] = even(20) + 2 * odd(20); break;
    case 3: out[3] = depth(tree, 0); break;
    case 4: out[4] = Factorial<15>::of();
    }
}

int main() {
    Node h[6] = {{1, 2}, {3, -1}, {-1, -1}, {-1, 4}, {5, -1}, {-1, -1}}, *tree;
    long long *out, r[5];
    cudaDeviceSetLimit(cudaLimitStackSize, 8192);
    cudaMalloc(&tree, sizeof h), cudaMalloc(&out, sizeof r);
    cudaMemcpy(tree, h, sizeof h, cudaMemcpyHostToDevice);
    work<<<1, 32>>>(tree, out);
    cudaMemcpy(r, out, sizeof r, cudaMemcpyDeviceToHost);
    for (long long v : r) printf("%lld ", v);
    printf("\n");
    cudaFree(tree), cudaFree(out);
}
