// Shows: launches through pointers to kernels: variables, arrays, members, typedefs and a chosen one.
#include <cstdio>
#include <map>
#include <string>

__global__ void add(int *x, int v) { *x += v; }
__global__ void sub(int *x, int v) { *x -= v; }
__global__ void mul(int *x, int v) { *x *= v; }
template <int K> __global__ void add_k(int *x, int v) { *x += K * v; }

typedef void (*Kernel)(int *, int);
struct Step { Kernel kernel; int value; };

void launch(Kernel k, int *x, int v) { k<<<1, 1>>>(x, v); }
template <void (*K)(int *, int)> void launch_constant(int *x, int v) { K<<<1, 1>>>(x, v); }
Kernel choose(char c) { return c == '+' ? add : c == '-' ? sub : mul; }

int main(int argc, char **) {
    int *x, h = 0;
    cudaMalloc(&x, sizeof h);
    cudaMemset(x, 0, sizeof h);
    Kernel table[] = {add, &mul, add_k<10>};
    for (int i = 0; i < 3; i++) table[i]<<<1, 1>>>(x, i + 2);          // 2, 6, 46
    Step steps[] = {{mul, 2}, {sub, 3}}, *step = steps;
    for (auto &s : steps) s.kernel<<<1, 1>>>(x, s.value);               // 92, 89
    step->kernel<<<1, 1>>>(x, 2);                                       // 178
    auto chosen = argc < 100 ? add : sub;
    chosen<<<1, 1>>>(x, 2);                                             // 180
    launch(mul, x, 10);                                                 // 1800
    launch(add_k<-1>, x, 1);                                            // 1799
    launch_constant<sub>(x, 99);                                        // 1700
    choose('-')<<<1, 1>>>(x, 600);                                      // 1100
    (argc < 100 ? mul : add)<<<1, 1>>>(x, 3);                           // 3300
    std::map<std::string, Kernel> named = {{"add", add}, {"sub", sub}};
    named["add"]<<<1, 1>>>(x, 33);                                      // 3333
    cudaMemcpy(&h, x, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d\n", h);
    cudaFree(x);
    return h != 3333;
}
