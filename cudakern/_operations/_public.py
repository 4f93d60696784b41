"""What the public functions share: the paragraphs of their docstrings, and names for the types in their signatures, of
which .ci/stub.py makes what a type checker sees."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

Operand: TypeAlias = Any  #: array_like or DeviceArray; the result is where it is
Beside: TypeAlias = Any  #: an operand that a checker lets be of the host where others are not, since a number may be
Stack: TypeAlias = Any  #: of matmul; where a checker cannot tell that both are on the device, the result is Any
Number: TypeAlias = Any  #: a float, on the device also an array of one
Out: TypeAlias = Any  #: an array where the operands are
NumpyOut: TypeAlias = Any  #: the same in all ways in which numpy.matmul takes it
Result: TypeAlias = Any  #: a DeviceArray, or what NumPy makes of host arrays

SHARED = {
    "out": """\
out : ndarray or DeviceArray, optional
    Where the result goes: of its shape, and a type that takes it ("same_kind").""",
    "variant": """\
variant : str
    "auto", which is the fastest correct way here (for host arrays without a GPU: NumPy), or a name from
    ``variants("<name>")``, which always runs that kernel.""",
    "stream": """\
stream : optional
    For arrays on the device: where the work is enqueued, as None (the default stream), a handle, or an object with
    ``__cuda_stream__``. A call with host arrays is complete on return.""",
    "parameters": """\
**parameters : int
    The variant's parameters: ``threads=`` per block.""",
    "call": "<variant>\n<stream>\n<parameters>",
    "type_error": """\
TypeError
    A type or a parameter that the variant does not have; two types with a named variant; arrays in two places.""",
    "failed": """\
CudaError
    The GPU or the emulator failed (``OutOfMemoryError``: the device has no room).""",
}


def documented(text: str | None = None, **words: str) -> Callable[[F], F]:
    """Fills in a docstring, or ``text``: <word> stands for a paragraph of SHARED, or for one of ``words``."""

    def of(function: F) -> F:
        said = inspect.cleandoc(text or function.__doc__ or "")
        known = SHARED | {"name": function.__name__} | words
        for _ in range(3):  # what was filled in may have words in it
            said = re.sub(r"<(\w+)>", lambda found: known[found[1]], said)
        function.__doc__ = said
        return function

    return of
