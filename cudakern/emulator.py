"""Settings of the emulated devices."""

from __future__ import annotations

import contextlib
import os
from typing import Any

from ._backend import emulator as _native
from ._installed import HEADERS, LIBRARY

__all__ = ["compile_flags", "configure"]

#: What holds where neither the environment nor configure() said anything.
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
    """Change what the emulator answers as. What is not given stays as it is; after an error all does.

    Parameters
    ----------
    devices, workers : int
        How many GPUs there are; how many CPU threads run blocks.
    memory, stack : int
        Bytes of memory of each GPU; bytes of stack of each emulated thread.
    chip : str
        The chip it answers as, e.g. "H200" (the default).
    order : str or int
        The order in which blocks and threads run: "fixed" (the default), "reversed", or a seed (an int, or
        "seed:7") that draws one. A missing barrier that hides in one order shows in another.
    fail_allocation : int
        The allocation, counted from now, that fails; 0 for none.

    Raises
    ------
    ValueError
        A value that the setting does not take.

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
        raise ValueError("devices=0: there is at least one (use_backend and CUDAKERN_BACKEND choose another backend)")
    settings: dict[str, Any] = {"devices": devices, "memory": memory, "chip": chip, "workers": workers, "stack": stack}
    settings["order"] = f"seed:{order}" if isinstance(order, int) else order
    settings["fail_allocation"] = fail_allocation  # the last: a count that has begun cannot be taken back
    new = {key: str(value) for key, value in settings.items() if value is not None}
    with contextlib.ExitStack() as undo:
        for key, value in new.items():
            _native().configure(key, value)
            undo.callback(_reset, key)
        undo.pop_all()
    _configured.update(new)


def _reset(key: str) -> None:
    before = _configured.get(key) or os.environ.get(f"CUDAKERN_EMULATOR_{key.upper()}") or _DEFAULTS[key]
    with contextlib.suppress(ValueError):  # the environment's may be malformed
        _native().configure(key, before)


def compile_flags() -> list[str]:
    """What a C++ compiler needs, besides the file and ``-o``, to build kernels of yours for the emulator.

    Returns
    -------
    list of str
        Language, the headers' folder, the core's library: for ``g++ FLAGS kernel.cu -o kernel.so``.

    Examples
    --------
    >>> import cudakern
    >>> [flag for flag in cudakern.emulator.compile_flags() if flag.startswith("-l")]
    ['-lcudakern_emulator']
    """
    language = ["-std=c++17", "-x", "c++", "-O2", "-shared", "-fPIC"]
    as_the_package = ["-fno-gnu-unique", "-ffp-contract=off", "-Wno-unknown-pragmas"]
    core = [f"-L{LIBRARY}", "-lcudakern_emulator", f"-Wl,-rpath,{LIBRARY}"]
    return [*language, *as_the_package, f"-I{HEADERS}", *core]
