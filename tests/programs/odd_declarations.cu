// Shows: kernels whose declarations and launches are broken by comments, continued lines and attributes.
#include <cstdio>

__global__ /* a kernel, not "a function" */ void /* that returns nothing */
  with_comments // of both kinds <<<
  ( int * x /* where */ , int v = 1 // how much
  ) { /* { */ *x += v; /* } */ }

__global__ \
void continued(int *x, \
               int v) { *x \
    += v; }

__global__ auto trailing(int *x) -> void { *x += 100; }
[[gnu::unused]] __global__ void attribute(int *x) { *x += 1000; }
__attribute__((used)) __global__ void __attribute__((used)) gnu(int *x) { *x += 10000; }
template
<
  typename T ,
  int N /* > */ = ( 3 > 2 ? 5 : 6 )
>
__global__
void
spread
(
  T *x
)
{
  *x += N * 100000;
}
__global__ void one(int *x) {} __global__ void two(int *x) { if (*x) { *x += 1000000; } else {} }
class Holder { friend __global__ void friendly(int *x, Holder h); int v = 7; };
__global__ void friendly(int *x, Holder h) { *x += h.v * 10000000; }
#define EMPTY
#define IDENTITY(...) __VA_ARGS__
IDENTITY(__global__ void in_macro(int *x EMPTY) EMPTY { *x += 2; })

int main() {
    int *x, h;
    cudaMalloc(&x, 4), cudaMemset(x, 0, 4);
    with_comments<<<1, 1>>>(x);
    continued<<<1, \
        1>>>(x, \
             10);
    trailing<<<1 /* "one" <<< */, 1>>>(x);
    attribute<<<1, // block >>>
                1>>>(x); gnu<<<1, 1>>>(x);
    spread<int><<<1, 1>>>(x);
    one<<<1, 1>>>(x); two<<<1, 1>>>(x);
    friendly<<<1, 1>>>(x, Holder());
    IDENTITY(in_macro<<<1, 1>>>(x);)
    cudaMemcpy(&h, x, 4, cudaMemcpyDeviceToHost);
    printf("%d\n", h);
    cudaFree(x);
}
