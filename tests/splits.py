"""What the tests of float32 products through pieces of half precision share."""

import numpy as np

import cudakern

SPLITS = ("split_fp16", "split_bf16")
INSIDE = "split_inside"  # without scales: it has no statistics, and hence no check
SMALL = "split_small"  # likewise, and without parts of k
ALL = (*SPLITS, INSIDE, SMALL)
WAYS = (*ALL, "auto", "strict")
FP16, BF16, PLAIN = "fp16", "bf16", "plain"  # what split_fp16 may take: three products, six, or float32 itself
LONG = 65_600  # from here on, split_bf16 computes the six products; for a shorter k and a small C, split_inside


def product(a, b, how, **parameters):
    how = {"accuracy": "strict"} if how == "strict" else {"variant": how}
    return cudakern.matmul(cudakern.asarray(a), cudakern.asarray(b), **how, **parameters).get()


def exact(a, b):
    """The product in double, and that of the magnitudes."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    return a @ b, np.abs(a) @ np.abs(b)


def bits(x):
    return np.ascontiguousarray(x).view(np.uint32).tobytes()


def six_products(a, b):
    """What split_fp16 computes where its check fails."""
    return product(a, b, "split_bf16") if a.shape[-1] >= LONG else product(a, b, INSIDE, groups=1)


def path(a, b):
    """What split_fp16 takes for these operands: the other paths have other bits, unless all results are exact."""
    result = bits(product(a, b, "split_fp16"))
    if a.shape[-1] >= LONG and bits(product(a, b, "warp_tiles")) == result:
        return PLAIN
    return BF16 if bits(six_products(a, b)) == result else FP16
