// Shows: the kernels of a language model's softmax in three versions, chosen by number, over several block sizes.
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <float.h>
#include <assert.h>
#include "common.h"
#include "kernels.cuh"

void softmax_forward_cpu(float* out, const float* inp, int N, int C) {
    for (int i = 0; i < N; i++) {
        const float* inp_row = inp + i * C;
        float maxval = -INFINITY;
        for (int j = 0; j < C; j++) if (inp_row[j] > maxval) maxval = inp_row[j];
        double sum = 0.0;
        for (int j = 0; j < C; j++) sum += out[i * C + j] = expf(inp_row[j] - maxval);
        for (int j = 0; j < C; j++) out[i * C + j] *= 1.f / (float)sum;
    }
}

void softmax_forward(int kernel_num, float* out, const float* inp, int N, int C, const int block_size) {
    switch (kernel_num) {
        case 1: softmax_forward_kernel1<<<ceil_div(N, block_size), block_size>>>(out, inp, N, C); break;
        case 2: softmax_forward_kernel2<<<N, block_size, 2 * block_size / 32 * sizeof(float)>>>(out, inp, N, C); break;
        case 3: softmax_forward_kernel3<<<ceil_div(N * 32, block_size), block_size>>>(out, inp, N, C); break;
        default: printf("Invalid kernel number\n"); exit(1);
    }
    cudaCheck(cudaGetLastError());
}

int main(int argc, char **argv) {
    srand(0);
    int N = 64, C = 300, block_sizes[] = {32, 64, 128, 256};
    float *inp = make_random_float(N * C), *out = (float*)malloc(N * C * sizeof(float)), *d_out, *d_inp;
    cudaCheck(cudaMalloc(&d_out, N * C * sizeof(float)));
    cudaCheck(cudaMalloc(&d_inp, N * C * sizeof(float)));
    cudaCheck(cudaMemcpy(d_inp, inp, N * C * sizeof(float), cudaMemcpyHostToDevice));
    softmax_forward_cpu(out, inp, N, C);
    for (int kernel_num = 1; kernel_num <= 3; kernel_num++)
        for (int j = 0; j < (int)(sizeof(block_sizes) / sizeof(int)); j++) {
            cudaCheck(cudaMemset(d_out, 0, N * C * sizeof(float)));
            softmax_forward(kernel_num, d_out, d_inp, N, C, block_sizes[j]);
            printf("kernel %d, block size %d: %s\n", kernel_num, block_sizes[j], validate_result(d_out, out, N * C) ? "match" : "mismatch");
        }
    free(out), free(inp), cudaFree(d_out), cudaFree(d_inp);
    return argc < 0;
}
