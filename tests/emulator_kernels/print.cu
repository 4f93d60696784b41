// printf in kernels: formats, what it returns, when its text appears.
#include <stdio.h>

#include "kernels.h"

// A line each of what C's printf knows and CUDA's documents list; test_print.py has the same in Python. Flags, widths
// and precisions, `*` among them, and sizes h, l, ll.
__global__ void formats(int i, unsigned u, long long l, unsigned long long w, double d, const char *text) {
    printf("a|%d|%i|%5d|%-5d|%05d|%+d|% d|%.3d\n", i, i, i, i, i, i, i, i);
    printf("b|%u|%x|%X|%o|%#x|%#o|%8u\n", u, u, u, u, u, u, u);
    printf("c|%lld|%llu|%llx|%ld|%hd\n", l, w, w, (long)l, (short)i);
    printf("d|%f|%.2f|%8.3f|%-10.1f|%+f|%e|%E|%g|%G|%.0f\n", d, d, d, d, d, d, d, d, d, d);
    printf("e|%c|%s|%10s|%-6s|%%\n", 'x', text, text, "ab");
    printf("f|%*d|%.2f\n", 7, i, d); // (a chip knows no ".*": an H200 prints it as it stands)
    printf("g|%a\n", d);
}
ENTRY run_formats(const Shape *shape, int i, unsigned u, long long l, unsigned long long w, double d,
                  const char *text) {
    return launch(shape, formats, i, u, l, w, d, text);
}

__global__ void pointers(const void *pointer) {
    printf("%p\n", pointer);
}
ENTRY run_pointers(const Shape *shape, const void *pointer) {
    return launch(shape, pointers, pointer);
}

__global__ void special(double infinite, double not_a_number) {
    printf("%f %f %f\n", infinite, -infinite, not_a_number);
}
ENTRY run_special(const Shape *shape, double infinite, double not_a_number) {
    return launch(shape, special, infinite, not_a_number);
}

// CUDA's result is the number of arguments, -1 without a format.
__global__ void results(const char *none, int *out) {
    out[0] = printf("no arguments\n");
    out[1] = printf("%d\n", 1);
    out[2] = printf("%d %d %s\n", 1, 2, "three");
    out[3] = none ? 0 : printf(none, 1);
}
ENTRY run_results(const Shape *shape, const char *none, int *out) {
    return launch(shape, results, none, out);
}

// 32 arguments are the most.
__global__ void many(int x) {
    printf("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n", x,
           x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7, x + 8, x + 9, x + 10, x + 11, x + 12, x + 13, x + 14,
           x + 15, x + 16, x + 17, x + 18, x + 19, x + 20, x + 21, x + 22, x + 23, x + 24, x + 25, x + 26, x + 27,
           x + 28, x + 29, x + 30, x + 31);
}
ENTRY run_many(const Shape *shape, int x) {
    return launch(shape, many, x);
}

// Who is who: a line a thread, in `rounds` rounds.
__global__ void who(int tag, int rounds) {
    for (int round = 0; round < rounds; ++round)
        printf("%d %d %u %u %u %u %u %u\n", tag, round, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y,
               threadIdx.z);
}
ENTRY run_who(const Shape *shape, int tag, int rounds) {
    return launch(shape, who, tag, rounds);
}

// In divergent branches, and between barriers.
__global__ void branches() {
    if (threadIdx.x % 2 == 0)
        printf("even %u\n", threadIdx.x);
    else
        printf("odd %u\n", threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) printf("after\n");
}
ENTRY run_branches(const Shape *shape) {
    return launch(shape, branches);
}

// The same file's host code has the C library's printf, which counts characters.
ENTRY print_on_host(int i) {
    return printf("host %d\n", i);
}
