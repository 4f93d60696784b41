"""Settings of the emulated devices."""

from __future__ import annotations

import contextlib
import os
from typing import Any

from ._backend import emulator as _native
from ._installed import HEADERS, LIBRARY

__all__ = ["compile_flags", "configure"]

#: The settings where neither the environment nor configure() has set anything.
_DEFAULTS = {"devices": "1", "memory": "0", "chip": "H200", "order": "fixed", "workers": "0", "stack": "0"}
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
    fail_allocation: int | None = None,
) -> None:
    """Change the emulator's settings. A parameter that is not passed keeps its value; an error changes nothing.

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
    fail_allocation : int
        The number of the allocation, counted from now, that fails; 0 for none.

    Raises
    ------
    ValueError
        A value that the setting does not allow.

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
        raise ValueError("devices=0: it must be at least 1 (use_backend and CUDAKERN_BACKEND choose another backend)")
    settings: dict[str, Any] = {"devices": devices, "memory": memory, "chip": chip, "workers": workers, "stack": stack}
    settings["order"] = f"seed:{order}" if isinstance(order, int) else order
    settings["fail_allocation"] = fail_allocation  # last, because it cannot be undone
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

    Parameters
    ----------
    compiler : str, optional
        The compiler that gets them, e.g. "clang++": clang rejects ``-fno-gnu-unique``, which g++ needs. Default: the
        environment's CXX, else g++.

    Returns
    -------
    list of str
        Language, header folder, library: use as ``g++ -x c++ kernel.cu -o kernel.so FLAGS``.

    Raises
    ------
    TypeError
        ``compiler`` is not a string.

    Examples
    --------
    >>> import cudakern
    >>> [flag for flag in cudakern.emulator.compile_flags() if flag.startswith("-l")]
    ['-lcudakern_emulator']
    >>> "-fno-gnu-unique" in cudakern.emulator.compile_flags("clang++-14")
    False
    """
    compiler = compiler or os.environ.get("CXX") or "g++"
    language = ["-std=c++17", "-x", "c++", "-O2", "-shared", "-fPIC"]
    # Without it, kernel libraries built by g++ would share the __shared__ variables of equal templates.
    unique = [] if "clang" in compiler else ["-fno-gnu-unique"]
    as_the_package = [*unique, "-ffp-contract=off", "-Wno-unknown-pragmas"]
    # The compilers of some systems would drop a library that stands before the file that needs it.
    core = ["-Wl,--no-as-needed", f"-L{LIBRARY}", "-lcudakern_emulator", f"-Wl,-rpath,{LIBRARY}"]
    return [*language, *as_the_package, f"-I{HEADERS}", *core]
