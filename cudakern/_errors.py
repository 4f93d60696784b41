"""Errors of the CUDA runtime as Python exceptions, and the message for an unknown name.

The C modules import the classes from here, so that ``except cudakern.CudaError`` catches either backend's.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

from ._imports import IMPORTING

P = ParamSpec("P")
R = TypeVar("R")


class CudaError(RuntimeError):
    """A call of the CUDA runtime, or a kernel, failed: CUDA's ``name`` of the error ("cudaErrorInvalidValue") and
    ``code``."""

    name: str
    code: int

    def __init__(self, message: str = "", name: str = "", code: int = 0) -> None:
        super().__init__(message)
        self.name = name
        self.code = code


class OutOfMemoryError(CudaError, MemoryError):
    """Not enough device memory: ``bytes`` were requested, ``bytes_free`` were free."""

    bytes: int
    bytes_free: int

    def __init__(
        self,
        message: str = "",
        name: str = "cudaErrorMemoryAllocation",
        code: int = 2,
        bytes: int = 0,
        bytes_free: int = 0,
    ) -> None:
        super().__init__(message, name, code)
        self.bytes = bytes
        self.bytes_free = bytes_free


class CompileError(RuntimeError):
    """A source of kernels could not be compiled; ``log`` is the compiler's whole output."""

    def __init__(self, message: str = "", log: str = "") -> None:
        super().__init__(message)
        self.log = log

    def _render_traceback_(self) -> list[str]:
        """In notebooks, the message is the whole display: the error is in the kernel, not in Python."""
        return [f"{type(self).__name__}: {self}"]


def in_ipython() -> bool:
    """Whether IPython, as in a notebook, shows the errors of this process."""
    return hasattr(builtins, "__IPYTHON__")


def short_in_notebooks(function: Callable[P, R]) -> Callable[P, R]:
    """In IPython, the errors of a function are displayed without the lines of this package that led to them. Elsewhere,
    this is so of a source that does not compile."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except (AttributeError, CompileError, CudaError, OSError, OverflowError, TypeError, ValueError) as error:
            if not in_ipython() and not isinstance(error, CompileError):
                raise
            raise error.with_traceback(None) from None

    return call


def _similarity(name: str, known: str) -> float:
    with IMPORTING:
        from difflib import SequenceMatcher  # imported late, because only errors need it

    return SequenceMatcher(None, name.lower(), known.lower()).ratio()


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """The known names, the most similar to ``name`` first."""
    return sorted(known, key=lambda candidate: -_similarity(name, candidate))


def unknown(what: str, name: object, known: Iterable[str], of: str = "") -> str:
    """The message for an unknown name, with all known names and the nearest, if it is a part or a typing error away."""
    text, names = str(name), list(known)
    words, first = f"known: {', '.join(names)}" if names else "none are known", next(iter(nearest(text, names)), "")
    if first and (_similarity(text, first) >= 0.6 or (len(text) > 2 and text.lower() in first.lower())):
        words = f"the nearest is {first!r}; {words}"
    return f"unknown {what} {name!r}{of and ' of '}{of}: {words}"
