// Shows: a merge of two sorted arrays in which each thread finds its part by a search along a diagonal.
#include <cstdio>
#include <vector>
#include <algorithm>

template <typename T>
__device__ int merge_path(const T *a, int na, const T *b, int nb, int diagonal)
{
    int low = max(0, diagonal - nb), high = min(diagonal, na);
    while (low < high) {
        int middle = (low + high) / 2;
        if (a[middle] <= b[diagonal - 1 - middle]) low = middle + 1;
        else high = middle;
    }
    return low;
}

template <typename T, int ITEMS>
__global__ void merge(const T *a, int na, const T *b, int nb, T *out)
{
    int begin = (blockIdx.x * blockDim.x + threadIdx.x) * ITEMS;
    if (begin >= na + nb) return;
    int i = merge_path(a, na, b, nb, begin), j = begin - i;
    for (int k = 0; k < ITEMS && begin + k < na + nb; k++) {
        bool from_a = j >= nb || (i < na && a[i] <= b[j]);
        out[begin + k] = from_a ? a[i++] : b[j++];
    }
}

int main()
{
    const int na = 1234, nb = 777;
    std::vector<int> a(na), b(nb), out(na + nb), expected(na + nb);
    for (int i = 0; i < na; i++) a[i] = i * 3 - (i % 4);
    for (int i = 0; i < nb; i++) b[i] = i * 5 - (i % 3) * 2;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    std::merge(a.begin(), a.end(), b.begin(), b.end(), expected.begin());
    int *d;
    cudaMalloc(&d, 2 * (na + nb) * sizeof(int));
    cudaMemcpy(d, a.data(), na * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d + na, b.data(), nb * sizeof(int), cudaMemcpyHostToDevice);
    constexpr int items = 7, threads = 64, blocks = (na + nb + items * threads - 1) / (items * threads);
    merge<int, items><<<blocks, threads>>>(d, na, d + na, nb, d + na + nb);
    cudaMemcpy(out.data(), d + na + nb, out.size() * sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d blocks, %d .. %d: %s\n", blocks, out.front(), out.back(), out == expected ? "equal" : "different");
    cudaFree(d);
    return out != expected;
}
