"""Errors of the CUDA runtime as Python exceptions, and the message for an unknown name.

The C modules import the classes from here, so that ``except cudakern.CudaError`` catches either backend's.
"""

from __future__ import annotations

from collections.abc import Iterable


class CudaError(RuntimeError):
    """A call of the CUDA runtime, or a kernel, failed.

    ``name`` is CUDA's name of the error (``"cudaErrorInvalidValue"``), ``code`` its number. The emulator has the same.
    """

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


def _likeness(name: str, known: str) -> float:
    from difflib import SequenceMatcher  # for errors only: the import need not wait for it

    return SequenceMatcher(None, name.lower(), known.lower()).ratio()


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """The known names, the most similar to ``name`` first."""
    return sorted(known, key=lambda k: -_likeness(name, k))


def _is_near(name: str, known: str) -> bool:
    """True if one may be meant by the other: a slip of the keyboard, or a part of the name."""
    name, known = name.lower(), known.lower()
    return _likeness(name, known) >= 0.6 or (len(name) > 2 and name in known)


def unknown(what: str, name: object, known: Iterable[str], of: str = "") -> str:
    """One line for a name that does not exist: the name, the one that may be meant, if any, and all known names."""
    names = list(known)
    words = f"known: {', '.join(names)}" if names else "none are known"
    if names and _is_near(str(name), first := nearest(str(name), names)[0]):
        words = f"the nearest is {first!r}; {words}"
    return f"unknown {what} {name!r}{of and ' of '}{of}: {words}"
