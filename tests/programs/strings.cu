// Shows: kernels on texts: upper case, a Caesar cipher, a count of words, and a search.
#include <stdio.h>
#include <string.h>
#include <ctype.h>

__device__ bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

__global__ void upper(char *s, int n) {
    int i = threadIdx.x;
    if (i < n && s[i] >= 'a' && s[i] <= 'z') s[i] = (char)(s[i] - 32);
}
__global__ void caesar(char *s, int n, int key) {
    int i = threadIdx.x;
    if (i >= n || !is_letter(s[i])) return;
    char base = s[i] >= 'a' ? 'a' : 'A';
    s[i] = base + (s[i] - base + key + 26) % 26;
}
__global__ void words(const char *s, int n, int *count) {
    int i = threadIdx.x;
    if (i < n && is_letter(s[i]) && (i == 0 || !is_letter(s[i - 1]))) atomicAdd(count, 1);
}
__global__ void find(const char *s, int n, const char *what, int *first) {
    int i = threadIdx.x, k = 0;
    while (what[k] && i + k < n && s[i + k] == what[k]) ++k;
    if (i < n && !what[k]) atomicMin(first, i);
}

int main(void) {
    char text[] = "Many hands make light work; too many cooks spoil the broth.", *s, *what;
    const int n = (int)strlen(text);
    int *result, h[2] = {0, 1000};
    cudaMalloc((void **)&s, sizeof text);
    cudaMalloc((void **)&what, 16);
    cudaMalloc((void **)&result, sizeof h);
    cudaMemcpy(s, text, sizeof text, cudaMemcpyHostToDevice);
    cudaMemcpy(what, "cooks", 6, cudaMemcpyHostToDevice);
    cudaMemcpy(result, h, sizeof h, cudaMemcpyHostToDevice);
    words<<<1, 64>>>(s, n, &result[0]);
    find<<<1, 64>>>(s, n, what, result + 1);
    caesar<<<1, 64>>>(s, n, 3);
    cudaMemcpy(text, s, sizeof text, cudaMemcpyDeviceToHost);
    puts(text);
    caesar<<<1, 64>>>(s, n, -3);
    upper<<<1, 64>>>(s, n);
    cudaMemcpy(text, s, sizeof text, cudaMemcpyDeviceToHost);
    cudaMemcpy(h, result, sizeof h, cudaMemcpyDeviceToHost);
    printf("%s\n%d words, found at %d\n", text, h[0], h[1]);
    cudaFree(s); cudaFree(what); cudaFree(result);
    return 0;
}
