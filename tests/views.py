"""Arrays on the device as the C modules have them, below cudakern.DeviceArray: there, back, and what they leave."""

import numpy as np

from cases import native, numbers
from growth import grows_by_less, settled

TYPES = (
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
SHAPES = [(), (1,), (7,), (0,), (3, 4), (3, 0), (0, 3), (2, 1, 5), (1,) * 16, (2, 0, 3)]


def up(name, x, stream=0, device=0):
    """A View of a new array with these values."""
    x = np.ascontiguousarray(x).reshape(np.shape(x))
    view = native(name).empty(x.shape, x.dtype.newbyteorder("=").name, device, stream)
    native(name).upload(view, x, stream)
    return view


def down(name, view, stream=0):
    """The values of a View."""
    out = np.empty(view.shape, view.dtype)
    native(name).download(out, view, stream)
    return out


def like(name, base, whole, part):
    """What `part` is of the NumPy array `whole`, as a View of `base`, which has whole's values."""
    offset = part.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return native(name).view(base, offset, part.shape, part.strides, base.dtype)


def leaves_nothing(name, call, rounds=400):
    """Calls it many times: neither Python's blocks nor C's memory nor the device's nor page-locked memory may grow."""
    for _ in range(20):  # caches fill, the pool grows to its size
        call()
    kept = settled(name), native(name).pinned_used()
    grows_by_less(name, call, rounds, blocks=rounds / 10, in_c=16 * rounds)
    assert (settled(name), native(name).pinned_used()) == kept


def values(shape, dtype, seed=0):
    if np.dtype(dtype).kind == "c":
        return (numbers(shape, "float32", seed) + 1j * numbers(shape, "float32", seed + 1)).astype(dtype)
    return np.asarray(numbers(shape, dtype, seed))
