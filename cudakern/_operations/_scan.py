"""What exclusive_scan and inclusive_scan share: the rule and the inputs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _dispatch
from .._layout import Shape
from .._transfer import Array
from . import random_array

PREFERRED = ("lookback", "blocks")
RAGGED: tuple[Shape, ...] = ((0,), (1,), (31,), (33,), (257,), (1009,), (13, 77), (65537,))
LARGE: tuple[Shape, ...] = (((1 << 22) + 3,), (10_000_019,))


def flat(x: Shape) -> Shape:
    """One row of all elements, as numpy.cumsum(x) gives it."""
    return (math.prod(x),)


def refuse_numpys(name: str, parameters: dict[str, Any]) -> None:
    """TypeError for what numpy.cumsum takes and kernels of one row do not."""
    _dispatch.refuse_keywords(name, "numpy.cumsum's", ("axis", "dtype"), parameters)


def exclusive(x: Array) -> Array:
    """The reference: NumPy's cumulative sum, one place later."""
    summed = np.cumsum(x)
    result = np.zeros_like(summed)
    result[1:] = summed[:-1]
    return result


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """One array of that shape."""
    return (random_array(np.random.default_rng(seed), shape, dtype),)
