// Shows: text that looks like launches or qualifiers but is in strings, raw strings, characters and comments.
#include <cstdio>
#include <cstring>

/* __global__ void old(int *x) { *x = 1; }
   old<<<1, 1>>>(x); */
// __shared__ int unused[32]; kernel<<<1, 1>>>();
__global__ void count(const char *text, int n, int *out) {
    int i = threadIdx.x; // "an open quote
    __shared__ int found; /* and ' another */
    if (i == 0) found = 0;
    __syncthreads();
    for (; i < n; i += blockDim.x)
        if (text[i] == '<' || text[i] == '"' || text[i] == '\'') atomicAdd(&found, 1);
    __syncthreads();
    if (threadIdx.x == 0) *out = found;
}

#define QUOTE(...) #__VA_ARGS__

int main() {
    const char *texts[] = {
        "k<<<1, 1>>>(x); // \"quoted\" \\",
        R"(__global__ void k() { asm("<<<"); })",
        R"x(a raw )" string <<<1, 2>>>('x'))x",
        "/* " "no comment <<< */", QUOTE(kernel<<<1, 2>>>(1, '"')),
        u8"\u00e9 <<<\x3c",
    };
    char *text;
    int *out, million = 1'000'000, quote = '"';
    cudaMallocManaged(&text, 200);
    cudaMallocManaged(&out, sizeof *out);
    for (const char *t : texts) {
        int n = (int)strlen(t);
        memcpy(text, t, n);
        count<<<1, 64>>>(text, n, out);
        cudaDeviceSynchronize();
        int expected = 0;
        for (int i = 0; i < n; i++) expected += t[i] == '<' || t[i] == quote || t[i] == '\'';
        printf("%d %d: %s\n", *out, expected, t);
    }
    printf("%d // <<<the end>>>\n", million);
    cudaFree(text);
    cudaFree(out);
}
