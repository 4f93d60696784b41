"""Arrays on the device as the C modules have them, below cudakern.DeviceArray: there, back, and what they leave."""

import ctypes
import gc
import sys

import numpy as np

from cases import native


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


def settled(name):
    """Bytes in use on the device when nothing runs there and no garbage is left."""
    gc.collect()
    native(name).synchronize(0)
    return native(name).pool_used(0)


class Malloc(ctypes.Structure):
    """What libc says of its own memory (mallinfo2)."""

    _fields_ = [(field, ctypes.c_size_t) for field in ["a", "b", "c", "d", "mapped", "e", "f", "in_use", "g", "h"]]


def malloced():
    """Bytes that C has: Python's small objects are not among them. 0 under a sanitizer, which counts by itself."""
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = Malloc
    told = libc.mallinfo2()
    return told.in_use + told.mapped


def leaves_nothing(name, call, rounds=400):
    """Calls it many times: neither Python's blocks nor C's memory nor the device's nor page-locked memory may grow."""
    counts = []
    for turn in range(4):
        used = settled(name)
        counts.append((used, native(name).pinned_used(), sys.getallocatedblocks(), malloced()))
        for i in range(20 if turn == 0 else rounds if turn < 3 else 0):  # caches fill first, the pool grows to its size
            call()
            if i % 8 == 0:
                native(name).synchronize(0)  # a backlog has memory too
    _, first, before, after = counts
    assert after[:2] == first[:2]
    assert after[2] - before[2] < rounds / 10, counts
    assert after[3] - before[3] < 16 * rounds, counts
