"""For the tests of `compile`: a kernel, arrays for it, and the GPU's compiler without a GPU."""

import numpy as np
import pytest

from cudakern.own import compilers, cuda_source, nvrtc

ADD_ONE = r"""
__global__ void add_one(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1;
}
"""


def floats(n=1000):
    return np.random.default_rng().random(n, np.float32)


class Loaded:
    """Keeps what would be loaded on a GPU."""

    def load_program(self, path, image, kernels, variables, device):
        self.image, self.names = image, dict(kernels + variables)
        return self

    def backend_name(self):
        return f"none {id(self)}"


def by_nvrtc(text, wanted=(), arch=900, flags=(), folder=None):
    """What NVRTC makes of a source, which needs no GPU."""
    try:
        nvrtc.version()
    except ImportError as reason:
        pytest.skip(str(reason))
    kernels, variables, _ = cuda_source.contents(text)
    found = tuple(kernel.name for kernel in kernels if not kernel.is_template)
    names = compilers.Names(tuple(wanted), found, variables)
    unit = compilers.Unit(text, "kernels.cu", folder, tuple(flags), arch, 900)
    return compilers.for_gpu(Loaded(), unit, names, 0)
