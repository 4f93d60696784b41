"""What the public functions share: paragraphs of their docstrings, and names for the types in their signatures, from
which .ci/stub.py writes the stub for type checkers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

ArrayLike: TypeAlias = Any  #: array_like or DeviceArray; the result is in the same place
ArrayOrNumber: TypeAlias = Any  #: an operand that may be a host number where the others are on the device
ArrayStack: TypeAlias = (
    Any  #: an operand of matmul; if a checker cannot tell that both are on the device, the result is Any
)
Number: TypeAlias = Any  #: a float, or an array of one element on the device
Out: TypeAlias = Any  #: an array in the same place as the operands
NumpyOut: TypeAlias = Any  #: the same, in every form that numpy.matmul takes
Result: TypeAlias = Any  #: a DeviceArray, or NumPy's result for host arrays

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
    function.__doc__ = filled(doc, **SHARED, name=function.__name__, **words)
