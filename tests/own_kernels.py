"""For the tests of `compile`: a kernel, and arrays for it."""

import numpy as np

ADD_ONE = r"""
__global__ void add_one(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1;
}
"""


def floats(n=1000):
    return np.random.default_rng().random(n, np.float32)
