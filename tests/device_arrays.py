"""What the tests of DeviceArray share: types, values, and comparisons bit by bit."""

import importlib.util

import numpy as np

from cudakern.arrays import dtypes

HAS_BFLOAT16 = importlib.util.find_spec("ml_dtypes") is not None
DTYPES = [name for name in dtypes.NAMES if name != "bfloat16" or HAS_BFLOAT16]
NUMPY_DTYPES = [name for name in DTYPES if name != "bfloat16"]


def kind(name):
    return dtypes.from_name(name)


def values(shape, dtype="float64", seed=0):
    """Small whole numbers, which every type has; some negative where the type has those."""
    low = 0 if np.dtype("uint8" if dtype == "bfloat16" else dtype).kind in "bu" else -50
    return np.random.default_rng(seed).integers(low, 100, shape).astype(kind(dtype))


def same(x, expected):
    """The device array has that shape, type and those values, bit for bit."""
    got = x.get()
    assert isinstance(got, np.ndarray)
    assert x.shape == got.shape == expected.shape
    assert x.dtype == got.dtype == expected.dtype.newbyteorder("=")
    assert got.flags.c_contiguous
    assert got.flags.writeable
    assert got.tobytes() == np.asarray(expected, expected.dtype.newbyteorder("=")).tobytes()


def same_view(x, a):
    """Also of the same memory: the strides of all axes that have any."""
    same(x, a)
    if a.size:
        assert [s for s, n in zip(x.strides, a.shape, strict=True) if n > 1] == [
            s for s, n in zip(a.strides, a.shape, strict=True) if n > 1
        ]
