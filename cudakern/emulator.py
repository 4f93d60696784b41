"""Settings of the emulated devices."""

from __future__ import annotations

import contextlib
import os
from typing import NoReturn

from ._backend import emulator as _native
from ._errors import in_ipython, unknown
from ._imports import IMPORTING
from ._installed import LIBRARY, SOURCES

__all__ = ["compile_flags", "configure"]

#: The settings without the environment and configure().
_DEFAULTS = {
    "devices": "1", "memory": "0", "chip": "H200", "order": "fixed", "workers": "0", "stack": "0",
    "print": "0" if in_ipython() else "1",
}  # fmt: skip
_configured: dict[str, str] = {}


def __dir__() -> list[str]:
    return __all__


def configure(
    *,
    devices: int | None = None,
    memory: int | None = None,
    chip: str | None = None,
    order: str | int | None = None,
    workers: int | None = None,
    stack: int | None = None,
    print: bool | None = None,
    fail_allocation: int | None = None,
    **others: NoReturn,
) -> None:
    """Change the emulator's settings. A parameter that is not passed keeps its value.

    A ValueError, or the TypeError for ``others``, which do not exist, changes nothing.

    Parameters
    ----------
    devices, workers : int
        Number of GPUs; number of CPU threads that run blocks.
    memory, stack : int
        Bytes of memory of each GPU; bytes of stack of each emulated thread.
    chip : str
        The chip to emulate, e.g. "H200" (the default).
    order : str or int
        The order in which blocks and threads run: "fixed" (the default), "reversed", or a seed (an int, or
        "seed:7") for a random one. A missing barrier that one order hides may show in another.
    print : bool
        Whether the error of a kernel is also printed to standard error. Default: True; False in IPython and
        notebooks, which show the exception.
    fail_allocation : int
        The number of the allocation, counted from now, that fails; 0 for none.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.emulator.configure(order="reversed")
    >>> with cudakern.use_backend("emulator"):
    ...     int(cudakern.sum_of_squares([1, 2, 3], variant="tree_sequential"))
    14
    >>> cudakern.emulator.configure(order="fixed")
    """
    if devices == 0:
        raise ValueError("devices must be at least 1, not 0 (use_backend and CUDAKERN_BACKEND choose another backend)")
    order = f"seed:{order}" if isinstance(order, int) else order
    settings = {"devices": devices, "memory": memory, "chip": chip, "workers": workers, "stack": stack, "order": order}
    settings["print"] = None if print is None else int(print)
    settings["fail_allocation"] = fail_allocation  # last, because nothing can reset it
    for name in others:
        raise TypeError(unknown("setting", name, settings, of="emulator.configure"))
    new = {key: str(value) for key, value in settings.items() if value is not None}
    with contextlib.ExitStack() as undo:
        for key, value in new.items():
            _native().configure(key, value)
            undo.callback(_reset, key)
        undo.pop_all()
    _configured.update(new)


def _reset(key: str) -> None:
    before = _configured.get(key) or os.environ.get(f"CUDAKERN_EMULATOR_{key.upper()}") or _DEFAULTS[key]
    with contextlib.suppress(ValueError):  # the environment's value may be malformed
        _native().configure(key, before)


def compile_flags(compiler: str | None = None) -> list[str]:
    """The options with which a C++ compiler builds your own kernels for the emulator.

    Use them as ``g++ -x c++ kernel.cu -o kernel.so FLAGS``. ``compiler`` is the compiler that gets them (default: the
    environment's CXX, else g++), because clang rejects ``-fno-gnu-unique``, which g++ needs. TypeError if it is not a
    string.

    Examples
    --------
    >>> import cudakern
    >>> [flag for flag in cudakern.emulator.compile_flags() if flag.startswith("-l")]
    ['-lcudakern_emulator']
    >>> "-fno-gnu-unique" in cudakern.emulator.compile_flags("clang++-14")
    False
    """
    compiler = compiler or os.environ.get("CXX") or "g++"
    if not isinstance(compiler, str):
        raise TypeError(f"compile_flags: compiler must be a str, not {type(compiler).__name__}")
    with IMPORTING:
        from . import _driver  # imported late, because only this needs it

    return _driver.users_options(compiler, SOURCES, LIBRARY)
