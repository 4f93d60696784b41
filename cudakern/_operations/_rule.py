"""The Rule of an operation, which describes its calls. _call.py makes the call, in the same way for all operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._dtypes import BFLOAT16, type_name
from .._layout import MAX_DIMS, Shape, broadcast, broadcast_shapes
from .._native import Native, View
from .._table import type_in_words
from .._transfer import Array

#: Python's own numbers take the arrays' type where they can, as in NumPy. (Not isinstance: NumPy's float64 is a float.)
WEAK = (int, float, complex, bool)

#: Before NumPy 2 a number's value has a say in the type, not its kind alone.
VALUES_COUNT = np.lib.NumpyVersion(np.__version__) < "2.0.0"

CONVERT = ".astype() converts"

HostArrays = tuple[tuple[Array, ...], Array]
Views = tuple[tuple[View, ...], View]
Inputs = tuple[Any, ...]
Named = Mapping[str, Any]
Given = tuple[tuple[Any, ...], Mapping[str, Any]]  #: inputs, and the public function's own keywords


def same_shape(*shapes: Shape, **own: Any) -> Shape:
    """The result has the shape of the first input."""
    return shapes[0]


def broadcast_shape(name: str, x: Shape, y: Shape) -> Shape:
    """The result has the shape to which the two broadcast."""
    if x == y:
        return x
    try:
        return broadcast_shapes(x, y)
    except ValueError:
        raise ValueError(
            f"{name}: x is {x} and y is {y}, which do not broadcast: counted from the right, two lengths must be "
            "equal or one of them 1"
        ) from None


def type_of(ufunc: np.ufunc, *operands: Any) -> np.dtype[Any]:
    """The type in which NumPy's function computes, from types and Python numbers."""
    if all(type(x) in WEAK or type_name(x) != BFLOAT16 for x in operands):
        return np.dtype(np.result_type(*operands))
    # ml_dtypes tells NumPy's functions what bfloat16 and int32 make, but not numpy.result_type.
    kinds = [x if type(x) not in WEAK else np.dtype(bool) if type(x) is bool else type(x) for x in operands]
    return ufunc.resolve_dtypes((*kinds, None))[-1]


def floating(*given: Any, of: str, hint: str = "") -> np.dtype[Any]:
    """The arrays' floating type; float64 for integers, as NumPy has it. ``hint`` is for complex numbers."""
    dtype = np.dtype(np.result_type(*given))
    if dtype.kind in "f":
        return dtype
    if dtype.kind not in "biu":
        raise TypeError(f"{of} is for real numbers, not {type_in_words(dtype)}{hint if dtype.kind == 'c' else ''}")
    return np.dtype(np.float64)


class AsTheyAre:
    """How inputs and result are handed to a kernel: as they are."""

    def is_plain(self, shapes: tuple[Shape, ...], contiguous: bool) -> bool:
        """True if a kernel takes inputs of those shapes without another view; contiguous: in C order, without gaps."""
        return True

    def on_host(self, inputs: tuple[Array, ...], result: Array) -> HostArrays:
        """Host arrays as the kernel takes them."""
        return few_axes(inputs, result)

    def on_device(self, native: Native, inputs: tuple[View, ...], result: View) -> Views:
        """The same for arrays on a device."""
        return inputs, result


@dataclass(frozen=True)
class Spread(AsTheyAre):
    """Inputs are broadcast to the result's shape, but for those that are numbers."""

    arrays: tuple[int, ...]  #: which are none

    def on_host(self, inputs: tuple[Array, ...], result: Array) -> HostArrays:
        shape = result.shape
        spread = tuple(
            np.broadcast_to(x, shape) if i in self.arrays and x.shape != shape else x for i, x in enumerate(inputs)
        )
        return few_axes(spread, result)

    def on_device(self, native: Native, inputs: tuple[View, ...], result: View) -> Views:
        return tuple(spread(native, x, result.shape) if i in self.arrays else x for i, x in enumerate(inputs)), result


def few_axes(inputs: tuple[Array, ...], result: Array) -> HostArrays:
    """The same with no more axes than the C modules take: one where there are more, in C order."""
    first, *others = (x.reshape(-1) if x.ndim > MAX_DIMS else x for x in (result, *inputs))
    return tuple(others), first


def spread(native: Native, x: View, shape: Shape) -> View:
    """A view of that shape, in which axes of one element are repeated."""
    if x.shape == shape:
        return x
    return native.view(x, 0, shape, broadcast(x.shape, x.strides, shape), x.dtype)


@dataclass(frozen=True)
class Rule:
    """What is special about the calls of one operation."""

    name: str
    operands: tuple[str, ...]  #: the inputs' names, for errors
    by_numpy: Callable[..., Any]  #: (inputs..., own keywords) -> the result, by NumPy or on the host
    #: What "auto" takes, the first that lists the type and runs here. On the host, where there is no GPU: by_numpy.
    preferred: tuple[str, ...]
    on_device: tuple[str, ...] = ()  #: the same for arrays on a device, where that is another choice
    #: (shapes of the inputs..., own keywords) -> the result's; ValueError where they do not fit.
    shape: Callable[..., Shape] = same_shape
    fixed: Shape | None = None  #: the result's shape, where it does not depend on the inputs' shapes
    broadcasts: bool = False  #: inputs are brought to the result's shape
    one_shape: tuple[str, ...] = ()  #: operands that must have one shape, where they are not broadcast
    arrangement: AsTheyAre | None = None  #: another way of handing arrays to the kernel
    #: (operation, out's shape, the result's, the inputs') -> ValueError where the result does not fill such an out.
    check_out: Callable[..., None] | None = None
    numbers: tuple[str, ...] = ()  #: operands that are one number, in host memory also where the others are not
    #: The type that "auto" brings the inputs to, from the types and numbers given; TypeError for what NumPy refuses.
    common: Callable[..., np.dtype[Any]] = np.result_type
    counted: Callable[..., tuple[Shape, ...]] = lambda *shapes: shapes  #: shapes that the work is counted from
    only: tuple[str, ...] = ()  #: the types that it is for, where "auto" takes no others either
    instead: str = CONVERT  #: what to do with others
    #: NumPy's letters for the kinds of types that are no numbers and that "auto" leaves to by_numpy, on the host.
    others: str = ""
    #: The same from the names of two types on a device, where NumPy's types do not say it.
    common_on_device: Callable[..., str] | None = None
    real: bool = False  #: it is for real numbers
    #: (inputs, out) -> True where "auto" has to leave host arrays, as they came, to NumPy: it then takes out= too.
    numpys_own: Callable[[tuple[Any, ...], Any], bool] | None = None
    #: (inputs, own keywords, parameters, variant) -> inputs and own keywords as the rule takes them, for calls that C
    #: did not take as they came; its errors are the first to be told.
    ready: Callable[..., Given] | None = None

    # Worked out once, since calls are short:
    key: str = field(init=False, default="")  #: of the rule, in the memo of calls
    first: int = field(init=False, default=0)  #: the first operand that is an array
    places: tuple[int, ...] = field(init=False, default=())  #: of ``numbers`` among the operands
    alike: tuple[int, ...] = field(init=False, default=())  #: inputs of which a kernel wants one shape
    arranged: AsTheyAre = field(init=False, default_factory=AsTheyAre)  #: how arrays are handed to the kernel

    def __post_init__(self) -> None:
        places = tuple(i for i, name in enumerate(self.operands) if name in self.numbers)
        arrays = tuple(i for i in range(len(self.operands)) if i not in places)
        alike = arrays if self.broadcasts else tuple(map(self.operands.index, self.one_shape))
        arranged = self.arrangement or (Spread(arrays) if self.broadcasts else AsTheyAre())
        key = " ".join((self.name, *self.preferred, str(self.fixed or "")))
        if self.fixed is not None:
            object.__setattr__(self, "shape", lambda *shapes, **own: self.fixed)
        fields = {"key": key, "first": arrays[0], "places": places, "alike": alike, "arranged": arranged}
        for name, value in fields.items():
            object.__setattr__(self, name, value)
