"""What exclusive_scan and inclusive_scan share: the rule, the inputs, and all of their OPERATION but the reference."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._layout import Shape
from .._transfer import Array
from . import Operation, random_array
from ._checks import refuse_keywords
from ._rule import Given, Rule

PREFERRED = ("lookback", "blocks")
RAGGED: tuple[Shape, ...] = ((0,), (1,), (31,), (33,), (257,), (1009,), (13, 77), (65537,))
LARGE: tuple[Shape, ...] = (((1 << 22) + 3,), (10_000_019,))


def flat(x: Shape) -> Shape:
    """One row of all elements, as numpy.cumsum(x) gives it."""
    return (math.prod(x),)


def ready(name: str, inputs: tuple[Any, ...], own: Any, parameters: dict[str, Any], variant: Any) -> Given:
    """TypeError for what numpy.cumsum takes and kernels of one row do not."""
    refuse_keywords(name, "numpy.cumsum's", ("axis", "dtype"), parameters)
    return inputs, own


def exclusive(x: Array) -> Array:
    """The reference: NumPy's cumulative sum, one place later."""
    summed = np.cumsum(x)
    result = np.zeros_like(summed)
    result[1:] = summed[:-1]
    return result


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """One array of that shape."""
    return (random_array(np.random.default_rng(seed), shape, dtype),)


def rule(name: str, by_numpy: Callable[..., Any], ready: Callable[..., Any] = ready) -> Rule:
    """The rule of a scan."""
    first = functools.partial(ready, name)
    return Rule(name, ("x",), by_numpy, preferred=PREFERRED, shape=flat, others="Om", ready=first)


def operation(name: str, position: int, call: Callable[..., Any], reference: Callable[..., Any]) -> Operation:
    """The scan's OPERATION; ``reference`` is what NumPy computes."""
    return Operation(
        name=name,
        position=position,
        call=call,
        rate="GB/s",
        default_dtype="float32",
        default_shape=(1 << 20,),
        shape_help="the array's",
        fixed_rank=False,
        make=make,
        reference=reference,
        magnitude=lambda x: reference(np.abs(x)),
        square=lambda n: (n,),
        ragged=RAGGED,
        large=LARGE,
    )
