// Shows: a program that ends by exit() with a code of its own, after static objects were destroyed.
// Exit code: 3
#include <cstdio>
#include <cstdlib>

struct Farewell { ~Farewell() { std::puts("farewell"); } } farewell;

__global__ void three(int *x) { *x = 3; }

static void finish() { puts("at exit"); }

[[noreturn]] void leave() {
    int *x, code;
    cudaMalloc(&x, sizeof *x);
    three<<<1, 1>>>(x);
    cudaMemcpy(&code, x, sizeof code, cudaMemcpyDeviceToHost);
    printf("leaving with %d\n", code);
    exit(code);
}

int main() {
    atexit(finish);
    leave();
}
