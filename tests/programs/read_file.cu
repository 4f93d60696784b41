// Shows: a program that writes a temporary file, reads it and works on its bytes.
#include <cstdio>
#include <cctype>
#include <string>

__global__ void count_letters(const char *text, int n, unsigned *counts) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        char c = text[i];
        if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
        if (c >= 'a' && c <= 'z') atomicAdd(&counts[c - 'a'], 1);
    }
}

int main() {
    FILE *file = tmpfile();
    if (!file) return 1;
    for (int i = 0; i < 200; i++) fprintf(file, "Line %d: the quick brown fox jumps over the lazy dog.\n", i);
    rewind(file);
    std::string text;
    char buffer[256];
    while (fgets(buffer, sizeof buffer, file)) text += buffer;
    fclose(file);

    char *d;
    unsigned *counts, h[26], expected[26] = {};
    cudaMalloc(&d, text.size());
    cudaMalloc(&counts, sizeof h);
    cudaMemset(counts, 0, sizeof h);
    cudaMemcpy(d, text.c_str(), text.size(), cudaMemcpyHostToDevice);
    count_letters<<<8, 64>>>(d, (int)text.size(), counts);
    cudaMemcpy(h, counts, sizeof h, cudaMemcpyDeviceToHost);
    for (unsigned char c : text) if (isalpha(c)) expected[tolower(c) - 'a']++;
    bool equal = true;
    for (int i = 0; i < 26; i++) equal = equal && h[i] == expected[i];
    printf("%zu bytes, e %u, o %u, z %u: %s\n", text.size(), h['e' - 'a'], h['o' - 'a'], h['z' - 'a'], equal ? "equal" : "different");
    cudaFree(d);
    cudaFree(counts);
    return !equal;
}
