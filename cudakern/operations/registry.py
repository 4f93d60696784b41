"""What Python adds to the variants of an operation: NumPy's rules, inputs for measurements, a reference.

The modules of this folder register their functions. Most have one operation; experiments.py has those that only
``cudakern.lab`` calls.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from .._errors import unknown
from ..arrays.dtypes import kind_of
from ..arrays.transfer import Array
from ..calls import table
from ..calls.rule import KEYWORDS

F = TypeVar("F", bound=Callable[..., Any])
# Types in the signatures of public functions, from which .ci/stub.py writes the stub for type checkers.
ArrayLike: TypeAlias = Any  #: array_like or DeviceArray; the result is in the same place
ArrayOrNumber: TypeAlias = Any  #: an operand that may be a host number where the others are on the device
#: An operand of matmul; if a checker cannot tell that both are on the device, the result is Any.
ArrayStack: TypeAlias = Any
Number: TypeAlias = Any  #: a float, or an array of one element on the device
Out: TypeAlias = Any  #: an array in the same place as the operands
NumpyOut: TypeAlias = Any  #: the same, in every form that numpy.matmul takes
Result: TypeAlias = Any  #: a DeviceArray, or NumPy's result for host arrays

FOR_EXPERIMENTS = 200  #: the position of operations that only `lab` or other operations call
Make: TypeAlias = Callable[[tuple[int, ...], np.dtype[Any], int], tuple[Array, ...]]


def random_array(random: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Random floats, uniform in [0, 1), or random integers from 0 to 9."""
    if dtype.kind == "c":
        return (random.random(shape) + 1j * random.random(shape)).astype(dtype)
    if kind_of(dtype) == "f":
        return random.random(shape).astype(dtype)
    return random.integers(0, 2 if dtype.kind == "b" else 10, shape).astype(dtype)


def random_arrays(dtype: np.dtype[Any], seed: int, *shapes: tuple[int, ...]) -> tuple[Array, ...]:
    random = np.random.default_rng(seed)
    return tuple(random_array(random, shape, dtype) for shape in shapes)


def random_bytes(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """An array of random integers from 0 to 255."""
    return (np.random.default_rng(seed).integers(0, 256, shape).astype(dtype),)


@dataclass(frozen=True)
class Operation:
    """An operation's public function, and what ladder, profile and verify need to run it."""

    call: Callable[..., Any]
    position: int  #: in listings: the lowest first; from FOR_EXPERIMENTS on, it is not a function of cudakern
    _: KW_ONLY
    reference: Callable[..., Any]  #: inputs -> the result by NumPy, exact to the inputs' type: see `widened`
    #: the same arguments -> sum of magnitudes, which error bounds are relative to
    magnitude: Callable[..., Any] = lambda *inputs, **own: np.abs(inputs[0])
    rate: str = "GB/s"  #: the figure that counts, or "GFLOP/s"
    default_dtype: str = "float32"
    default_shape: tuple[int, ...] = (1 << 20,)
    shape_on: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  #: backends with another default shape
    shape_help: str = "the array's"
    make: Make = lambda shape, dtype, seed: random_arrays(dtype, seed, shape)  #: (shape, dtype, seed) -> inputs
    sides: int = 1  #: how many lengths of a shape n= sets, the first ones
    #: shapes that verify tries, also of other ranks if the operation takes these
    ragged: tuple[tuple[int, ...], ...] = ((0,), (1,), (31,), (33,), (257,), (1009,), (13, 77), (65537,))
    headline: bool = False  #: one of the two that are shown by default
    own: tuple[str, ...] = ()  #: parameters that change the result, which `reference` and `magnitude` take too
    cancels: bool = False  #: results may be near 0 where their terms are not: ladders take errors by `magnitude`

    @property
    def name(self) -> str:
        """The function's, which is that of the kernels' folder."""
        return self.call.__name__

    @property
    def fixed_rank(self) -> bool:
        """True if all shapes have as many lengths as the default one."""
        return all(len(shape) == len(self.default_shape) for shape in self.ragged)

    def call_of(self, variant: table.Variant, inputs: tuple[Any, ...], **parameters: Any) -> Callable[[], Any]:
        """A call of the variant, with an out= if it needs one."""
        if out_type := variant.out_type(inputs[0].dtype):
            result = self.reference(*(np.zeros(x.shape) for x in inputs))
            parameters["out"] = np.empty(result.shape, out_type)
        return functools.partial(self.call, *inputs, variant=variant.name, **parameters)

    def sizes(self, caller: str, shape: Any) -> tuple[int, ...]:
        """A shape that a caller was passed; TypeError or ValueError if it is none of this operation's."""
        example = self.default_shape
        try:
            sizes = tuple(map(operator.index, shape))
            if len(sizes) == 1 and sizes[0] >= 0 and self.fixed_rank:
                example = self.square(sizes[0])
            if min(sizes, default=0) >= 0 and (len(sizes) == len(self.default_shape) or not self.fixed_rank):
                return sizes
            error: type[Exception] = ValueError
        except TypeError:
            error = TypeError
        meaning = self.shape_help if self.shape_help.startswith("(") else f"({self.shape_help})"
        rule = f"{meaning} must be integers, 0 or more, such as {example}"
        raise error(f"{caller}: shape= {rule}, not {shape!r:.60}")

    def square(self, n: int) -> tuple[int, ...]:
        """The shape for n=."""
        return (n,) * self.sides + (self.default_shape[self.sides :] if self.fixed_rank else ())


# --- docstrings of public functions ----------------------------------------------------------------------------------
SHARED = {
    "out": """\
out : ndarray or DeviceArray, optional
    Array for the result, of the result's shape and of a type it can be cast to ("same_kind").""",
    "call": """\
variant : str
    "auto" chooses a fast and accurate variant (NumPy, for host arrays without a GPU). A name from
    ``variants("<name>")`` always runs that variant.
stream : optional
    Stream in which the work is enqueued, for device arrays: None (the default stream), a handle, or an object with
    ``__cuda_stream__``. A call with host arrays is complete when it returns.
**parameters : int or str
    Parameters of the variant, such as ``threads=`` per block; ``variants("<name>")`` lists them.""",
    "raises": """\
Raises
------
TypeError
    The operation or the variant does not take this type, keyword or parameter; a named variant was given arrays of two
    types; some arrays are in host memory and others on the device; ``out`` cannot hold the result's type.
NotImplementedError
    The variant needs another device.
ValueError
    The shape or the values of an input are not as described; ``out`` has another shape or is read-only; the variant
    is unknown; a parameter has a wrong value; the arrays are on two devices.
CudaError
    The GPU or the emulator failed (``OutOfMemoryError``: not enough device memory).""",
}


#: The docstrings of the operations as they are written, by name.
TEMPLATES: dict[str, str] = {}


def filled(doc: str, **words: str) -> str:
    """A docstring in which each <word> is replaced by one of ``words``."""
    for _ in range(2):  # paragraphs may contain words
        doc = re.sub(r"<(\w+)>", lambda match: words[match[1]], doc)
    return doc


def document(function: Callable[..., Any], like: str, words: Mapping[str, str]) -> None:
    """Completes the docstring of an operation, which goes on like that of the operation ``like``: <call> ends its
    Parameters, <raises> comes before its Notes, and <word> is replaced by a paragraph of SHARED or one of ``words``."""
    doc = inspect.cleandoc(function.__doc__ or "")
    if like:
        doc += "\n\n" + TEMPLATES[like].partition("\n\n")[2]
    TEMPLATES[function.__name__] = doc
    for paragraph, heading in (("\n<call>", "\n\nReturns\n"), ("\n\n<raises>", "\n\nNotes\n")):
        if paragraph not in doc:
            doc = doc.replace(heading, paragraph + heading)
    summary, heading, rest = filled(doc, **SHARED, name=function.__name__, **words).partition("\n\nParameters\n")
    rest, example, lines = rest.rpartition("\n\nExamples\n")
    function.__doc__ = summary + example + lines + heading + rest  # the example is what help() shows first


# --- operations by name ----------------------------------------------------------------------------------------------
OPERATIONS: list[Operation] = []  #: of all modules that have been imported
NO_FUNCTION = "it has kernels but no function in cudakern/operations"


def registered(
    position: int, *, like: str = "", words: Mapping[str, str] | None = None, **facts: Any
) -> Callable[[F], F]:
    """Makes a function an operation: ``facts`` are fields of Operation. The docstring of a public one is
    completed with ``words``, and goes on like that of the operation ``like``."""

    def of(function: F) -> F:
        OPERATIONS.append(Operation(function, position, **facts))
        *KEYWORDS[function.__name__], _ = inspect.signature(function).parameters  # the last: **parameters
        if position < FOR_EXPERIMENTS:
            document(function, like, words or {})
        return function

    return of


def widened(inputs: tuple[Any, ...], least: npt.DTypeLike) -> tuple[Any, ...]:
    """Floats in that type or a wider one, for references that are more exact than results; integers as they are."""
    return tuple(x.astype(np.result_type(x, least)) if kind_of(x.dtype) in "fc" else x for x in inputs)


@functools.cache
def registry() -> dict[str, Operation]:
    """The operations that have both kernels and a module here, in order of position."""
    for path in Path(__file__).parent.glob("[!_]*.py"):
        importlib.import_module(f".{path.stem}", __package__)
    listed = sorted(OPERATIONS, key=lambda what: (what.position, what.name))
    return {what.name: what for what in listed if what.name in table.operations()}


def names() -> tuple[str, ...]:
    return tuple(registry())


def public() -> tuple[str, ...]:
    """The operations that are functions of cudakern; the others are for experiments."""
    return tuple(name for name, what in registry().items() if what.position < FOR_EXPERIMENTS)


def headlines() -> tuple[str, ...]:
    return tuple(name for name, what in registry().items() if what.headline)


def note_on_skipped() -> str:
    """A sentence on what was left out because nothing in Python calls it; "" if nothing was."""
    return "; ".join(f"{name} is left out, since {NO_FUNCTION}" for name in table.operations() if name not in names())


def operation(name: str) -> Operation:
    """The operation of that name; ValueError lists the known ones, the nearest first."""
    known = registry()
    if name in known:
        return known[name]
    if name in table.operations():
        raise ValueError(f"operation {name!r} cannot be called, since {NO_FUNCTION}")
    raise ValueError(unknown("operation", name, public()))
