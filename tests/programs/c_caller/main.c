// Shows: a C program that calls a launcher, which has C linkage, in a CUDA file.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "launch.h"

int main(void)
{
    int n = 500, i, wrong = 0, status;
    float *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out);
    for (i = 0; i < n; i++) in[i] = i * 0.5f;
    status = vector_square(in, out, n);
    for (i = 0; i < n; i++)
        if (fabs(sqrt(out[i]) - in[i]) > 1e-6) wrong++;
    printf("%s, %g, %d wrong\n", vector_error(status), out[n - 1], wrong);
    printf("%s\n", vector_error(vector_square(in, out, -1)));
    free(in);
    free(out);
    return wrong;
}
