"""Arrays on the device as the C modules have them, below cudakern.DeviceArray: there, back, and what they leave."""

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


def leaves_nothing(name, call, rounds=400):
    """Calls it many times: neither Python's blocks nor the device's nor page-locked memory may grow."""
    for _ in range(20):  # caches fill, the pool grows to its size
        call()
    counts = []
    for turn in range(3):
        used = settled(name)
        counts.append((used, native(name).pinned_used(), sys.getallocatedblocks()))
        for _ in range(rounds if turn < 2 else 0):
            call()
    assert counts[2][:2] == counts[0][:2]
    assert counts[2][2] - counts[1][2] < rounds / 10, counts
