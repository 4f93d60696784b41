"""Integers as kernels add and multiply them: modulo the type's size, signed ones too."""

from __future__ import annotations

import numpy as np

from .._transfer import Array


def unsigned(x: Array, operation: str) -> Array:
    """The same bits without a sign, in C order; TypeError for what is no integer."""
    if x.dtype.kind not in "iu":
        raise TypeError(f"{operation} takes integers, not {x.dtype}")
    return np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}").reshape(x.shape)
