"""intrinsics: a function of each element, by C's library and by CUDA's fast intrinsics. An experiment's kernels:
``cudakern.lab.intrinsics`` measures their speed and their errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._layout import Shape
from .._transfer import Array
from . import Operation, random_array
from ._call import call
from ._rule import Rule

NAME = "intrinsics"


def _product(x: Any, y: Any) -> Any:
    """Of the whole parts, modulo 2^32, as a signed number."""
    whole = [np.trunc(np.nan_to_num(v, posinf=2**31 - 1, neginf=-(2**31))).astype(np.int64) for v in (x, y)]
    return ((whole[0] * whole[1] + 2**31) % 2**32 - 2**31).astype(x.dtype)


#: Each by NumPy, in the arguments' own precision; in the order of the kernels' words.
EXACT: dict[str, Callable[[Any, Any], Any]] = {
    "divide": lambda x, y: x / y,
    "exp": lambda x, y: np.exp(x),
    "exp10": lambda x, y: x.dtype.type(10) ** x,
    "log": lambda x, y: np.log(x),
    "log2": lambda x, y: np.log2(x),
    "log10": lambda x, y: np.log10(x),
    "sin": lambda x, y: np.sin(x),
    "cos": lambda x, y: np.cos(x),
    "tan": lambda x, y: np.tan(x),
    "power": lambda x, y: x**y,
    "reciprocal_root": lambda x, y: 1 / np.sqrt(x),
    "multiply24": _product,
}


def _reference(x: Any, y: Any, function: str = "divide", repeats: int = 1) -> Array:
    """The same in at least double precision."""
    x, y = (np.asarray(v).astype(np.result_type(v, np.float64)) for v in (x, y))
    with np.errstate(all="ignore"):
        return np.asarray(EXACT[function](x, y))


def _by_numpy(x: Array, y: Array, function: str = "divide", repeats: int = 1) -> Array:
    if x.dtype != np.float32:
        raise TypeError(f"{NAME} takes two arrays of float32, not {x.dtype.name}; .astype(numpy.float32) converts")
    if function not in EXACT:
        raise ValueError(f"{NAME}: function={function!r}: it is one of {', '.join(EXACT)}")
    with np.errstate(all="ignore"):
        return _reference(x, y, function).astype(np.float32)


def _shape(x: Shape, y: Shape, function: str = "divide", repeats: int = 1) -> Shape:
    if x != y:
        raise ValueError(f"{NAME}: x is {x} and y is {y}: they must have one shape")
    return x


RULE = Rule(NAME, ("x", "y"), _by_numpy, preferred=("full",), shape=_shape)


def intrinsics(
    x: Any,
    y: Any,
    /,
    out: Any = None,
    *,
    function: str = "divide",
    repeats: int = 1,
    variant: str = "auto",
    stream: Any = None,
    **parameters: int,
) -> Any:
    """A function of each element, or pair: "full" is C's in float, "fast" CUDA's intrinsic.

    Parameters
    ----------
    x, y : array_like or DeviceArray
        float32, of one shape. Functions of one argument pass y over.
    out : ndarray or DeviceArray, optional
        Where the result goes.
    function : str
        "divide", "exp", "exp10", "log", "log2", "log10", "sin", "cos", "tan", "power" (x to the y), "reciprocal_root",
        or "multiply24": the whole parts' product modulo 2^32, which "fast" takes from the low 24 bits of each.
    repeats : int
        How often each element's function is computed, for measurements; the result is that of one time.
    variant, stream
        As in every operation.
    **parameters : int
        The row's: ``threads=`` per block.

    Returns
    -------
    ndarray, NumPy scalar or DeviceArray
        float32, in x's shape.

    Raises
    ------
    TypeError
        A type that is not float32.
    ValueError
        Two shapes; a function that there is not; ``repeats`` below 1.

    Notes
    -----
    T6 on fast arithmetic; errors as in the tables of CUDA's programming guide.

    Examples
    --------
    >>> import numpy as np
    >>> from cudakern._operations.intrinsics import intrinsics
    >>> x, y = np.float32([1, 10]), np.float32([4, 5])
    >>> intrinsics(x, y, variant="full").tolist()
    [0.25, 2.0]
    """
    own = {"function": function, "repeats": repeats}
    return call(RULE, (x, y), out, variant, stream, parameters, own)


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """Two arrays of numbers from 1/4 to 1, for which all functions have results of the order of 1; of another type:
    whole numbers, and powers of two to divide them by."""
    random = np.random.default_rng(seed)
    if dtype.kind == "f":
        return tuple(random.uniform(0.25, 1, shape).astype(dtype) for _ in range(2))
    return random_array(random, shape, dtype), (2 ** random.integers(0, 4, shape)).astype(dtype)


OPERATION = Operation(
    name=NAME,
    position=202,
    call=intrinsics,
    rate="GFLOP/s",
    default_dtype="float32",
    default_shape=(1 << 20,),
    shape_help="both arrays'",
    fixed_rank=False,
    make=make,
    reference=_reference,
    magnitude=lambda x, y: np.full(np.shape(x), 16.0),
    square=lambda n: (n,),
    ragged=((0,), (1,), (31,), (33,), (257,), (13, 77)),
    large=(((1 << 22) + 3,),),
    own=("function", "repeats"),
    any_value=(0,),
)
