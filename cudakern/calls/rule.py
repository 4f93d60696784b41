"""The Rule of an operation, which describes its calls. call.py makes the call, in the same way for all operations."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays.dtypes import BFLOAT16, kind_of, type_name
from ..arrays.layout import Shape, broadcast, broadcast_shapes
from .table import type_in_words

#: Python's own numbers take the arrays' type where they can, as in NumPy. (Not isinstance: NumPy's float64 is a float.)
WEAK = (int, float, complex, bool)

#: Before NumPy 2 a number's value has a say in the type, not its kind alone.
VALUES_COUNT = np.lib.NumpyVersion(np.__version__) < "2.0.0"

CONVERT = "convert it with .astype()"
HALVES = dict.fromkeys(("float16", "bfloat16"), "float32")

#: How a kernel takes an array: as it is (None), or with this shape, each of whose axes is an axis of the array, counted
#: from 1, or is repeated (0).
Layout = tuple[Shape, tuple[int, ...]] | None
Layouts = tuple[Layout, ...]
Inputs = tuple[Any, ...]
Named = Mapping[str, Any]


def same_shape(*shapes: Shape, **own: Any) -> Shape:
    """The result has the shape of the first input."""
    return shapes[0]


def broadcast_shape(name: str, first: Shape, *others: Shape, operands: Sequence[str] = "xy") -> Shape:
    """The result has the shape to which these broadcast."""
    if others.count(first) == len(others):
        return first
    try:
        return broadcast_shapes(first, *others)
    except ValueError:
        shapes = " and ".join(f"{x} has shape {shape}" for x, shape in zip(operands, (first, *others), strict=True))
        must = "from the right, two lengths must be equal or one of them 1"
        raise ValueError(f"{name}: {shapes}, which do not broadcast: {must}") from None


def type_of(ufunc: np.ufunc, *operands: Any) -> np.dtype[Any]:
    """The type in which NumPy's function computes, from types and Python numbers."""
    if all(type(x) in WEAK or type_name(x) != BFLOAT16 for x in operands):
        return np.dtype(np.result_type(*operands))
    # ml_dtypes tells NumPy's functions what bfloat16 and int32 make, but not numpy.result_type.
    kinds: list[Any] = [x if type(x) not in WEAK else np.dtype(bool) if type(x) is bool else type(x) for x in operands]
    return functools.reduce(lambda x, y: ufunc.resolve_dtypes((x, y, None))[-1], kinds)


def floating(*types: Any, of: str, hint: str = "") -> np.dtype[Any]:
    """The arrays' floating type; float64 for integers, as in NumPy. ``hint`` is for complex numbers."""
    dtype = type_of(np.add, *types)
    if kind_of(dtype) == "f":
        return dtype
    if dtype.kind not in "biu":
        raise TypeError(f"{of} is for real numbers, not {type_in_words(dtype)}{hint if dtype.kind == 'c' else ''}")
    return np.dtype(np.float64)


#: The parameters of each operation's function; `registered` fills it in.
KEYWORDS: dict[str, list[str]] = {}


def spread(shape: Shape, to: Shape) -> Layout:
    """The layout in which axes of one element, and those that are missing in front, are repeated."""
    return None if shape == to else (to, broadcast(shape, tuple(range(1, len(shape) + 1)), to))


def laid_out(shape: Shape, axes: Shape, strides: Shape) -> tuple[Shape, Shape]:
    """Shape and strides of an array in that layout."""
    return shape, tuple(strides[axis - 1] if axis else 0 for axis in axes)


@dataclass(eq=False)
class Rule:
    """What is special about the calls of one operation."""

    name: str
    operands: tuple[str, ...]  #: the inputs' names, for errors
    by_numpy: Callable[..., Any]  #: (inputs..., own keywords) -> the result, by NumPy or on the host
    #: The variants for "auto": the first that lists the type and runs here. For host arrays without a GPU: by_numpy.
    preferred: tuple[str, ...]
    #: (shapes of the inputs..., own keywords) -> the result's; ValueError where they do not fit.
    shape: Callable[..., Shape] = same_shape
    fixed: Shape | None = None  #: the result's shape, where it does not depend on the inputs' shapes
    broadcasts: tuple[str, ...] = ()  #: operands that are brought to the result's shape
    #: (shapes of the inputs...) -> how a kernel takes the inputs and the result, where it is not by ``broadcasts``.
    arrange: Callable[..., Layouts] | None = None
    core: int = 0  #: an operand's last axes that stay, where there are more axes than the C modules take
    #: (operation, out's shape, the result's, the inputs') raises a ValueError if the result does not fill such an out.
    check_out: Callable[..., None] | None = None
    numbers: tuple[str, ...] = ()  #: operands that are one number, which may be in host memory if the others are not
    #: (types and Python numbers) -> the type that "auto" brings the inputs to; TypeError for what NumPy refuses.
    common: Callable[..., np.dtype[Any]] = np.result_type
    counted: Callable[..., tuple[Shape, ...]] = lambda *shapes: shapes  #: shapes that the work is counted from
    only: tuple[str, ...] = ()  #: the types that the operation takes, "auto" included, where not all
    instead: str = CONVERT  #: how to convert others
    others: str = ""  #: NumPy's letters for the kinds of types other than numbers that "auto" leaves to by_numpy
    #: The same from the names of two types on a device, where NumPy's types do not say it.
    common_on_device: Callable[..., str] | None = None
    #: On a device, "auto" computes these types in another, which holds all their values, and converts the result back.
    through: Mapping[str, str] = field(default_factory=dict)
    real: bool = False  #: it takes real numbers only
    #: (inputs, out) -> True where "auto" has to leave host arrays to NumPy unchanged: NumPy then takes out= too.
    numpys_own: Callable[[tuple[Any, ...], Any], bool] | None = None
    #: (type, the inputs' shapes) -> True where NumPy has the result of host arrays before a GPU would have it: "auto"
    #: then takes NumPy.
    small: Callable[..., bool] | None = None
    #: (Tiled, the host arrays as a kernel takes them) computes a call that does not fit into the memory limit.
    tiles: Callable[..., None] | None = None
    refuse: Callable[[Inputs], None] | None = None  #: raises errors that come before all others

    # Worked out once, since calls are short:
    key: str = field(init=False)  #: of the rule, in the memo of calls
    first: int = field(init=False)  #: the first operand that is an array
    alike: tuple[bool, ...] = field(init=False)  #: for each input, whether it is among ``broadcasts``

    def __post_init__(self) -> None:
        if (fixed := self.fixed) is not None:
            self.shape = lambda *shapes, **own: fixed
        self.key = " ".join((self.name, *self.preferred, str(self.fixed or "")))
        self.first = next(i for i, name in enumerate(self.operands) if name not in self.numbers)
        self.alike = tuple(name in self.broadcasts for name in self.operands)

    def layouts(self, *shapes: Shape, **own: Any) -> tuple[Shape, Layouts]:
        """The result's shape, and how a kernel takes the inputs and the result; ValueError where they do not fit."""
        result = self.shape(*shapes, **own)
        if self.arrange is not None:
            return result, self.arrange(*shapes)
        alike = zip(shapes, self.alike, strict=True)
        return result, (*(spread(shape, result) if is_alike else None for shape, is_alike in alike), None)
