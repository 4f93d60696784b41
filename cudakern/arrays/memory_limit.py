"""The limit of device memory for calls on host arrays: the setting, and which calls may exceed it."""

from __future__ import annotations

import contextlib
import operator
import os
import re

from .. import _display
from .._backend import _Setting, _settings
from .._native import Native

ENVIRONMENT = "CUDAKERN_MEMORY_LIMIT"
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

LEAST = 1 << 20  #: no tiles are small enough for less
#: Without a limit: calls of less than this part of the device's memory fit, and this part of it is left free.
SMALL, RESERVE = 1 / 32, 1 / 32
#: The memory that a call takes is at most a few times that of its arrays.
MOST_TIMES = 16
SMALL_CALL = LEAST // MOST_TIMES  #: bytes of arrays for which no limit is too small


def read_bytes(value: int | str, name: str) -> int:
    """A number of bytes, which may be text with a unit, such as "256M"."""
    if isinstance(value, str):
        match = re.fullmatch(r"(\d+)([KMG]?)", value.strip().upper())
        if match is None:
            raise ValueError(f"{name} must be a whole number of bytes, K, M or G, such as '256M', not {value!r}")
        return int(match[1]) * UNITS[match[2]]
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise TypeError(f"{name} must be a whole number of bytes, such as 8 << 30 or '8G', not {value!r}")
    return operator.index(value)


def _checked(value: int | str, name: str) -> int:
    limit = read_bytes(value, name)
    if limit < LEAST:
        raise ValueError(f"{name} must be at least {LEAST:,} bytes ('1M'), not {value!r}")
    return limit


def memory_limit(
    limit: int | str | None = None, *, progress: bool = False
) -> contextlib.AbstractContextManager[int | None]:
    """A context manager in which calls with host arrays take at most that much device memory.

    ``matmul`` and ``sum_of_squares`` of NumPy arrays that would take more are computed in tiles: parts of the arrays
    are copied to the device and back while a kernel works on others. All other calls run as usual. The limit holds for
    each call by itself, in this context (thread or task): for its copies of the operands and of the result, and for the
    workspace of its kernels.

    Parameters
    ----------
    limit : int or str, optional
        Bytes, at least 1 MiB, or text with a unit: "8G", "512M". By default the value of the environment variable
        CUDAKERN_MEMORY_LIMIT, and without it the memory that is free on the device at the time of the call. If less is
        free than the limit, a call takes no more than that.
    progress : bool
        Whether calls that are computed in tiles display a progress bar.

    Returns
    -------
    context manager
        ``with`` gives the limit in bytes; None: the device's free memory. It can be entered repeatedly, and nested.

    Raises
    ------
    TypeError, ValueError
        ``limit`` is not a number of bytes, or less than 1 MiB.

    Examples
    --------
    >>> import numpy as np, cudakern
    >>> a = np.ones((500, 500), np.float32)
    >>> with cudakern.memory_limit("2M"):
    ...     product = cudakern.matmul(a, a, variant="tiled")
    >>> float(product[0, 0])
    500.0
    """
    chosen = None if limit is None else _checked(limit, "limit")
    call = f"cudakern.memory_limit({'' if limit is None else repr(limit)}{', progress=True' * bool(progress)})"
    return _Setting("memory", (chosen, bool(progress)), current, call)


def _setting() -> tuple[int | None, bool]:
    """The limit that memory_limit() set in this context, and whether a progress bar is displayed."""
    return _settings.get().get("memory") or (None, False)


def current() -> int | None:
    """The limit in this context in bytes; None if there is none but the device's memory."""
    limit, _ = _setting()
    if limit is None and (text := os.environ.get(ENVIRONMENT)):
        limit = _checked(text, ENVIRONMENT)
    return limit


def shows_progress() -> bool:
    return _setting()[1]


def may_exceed(native: Native, device: int, nbytes: int) -> bool:
    """False if a call whose arrays have that many bytes certainly takes less memory than the limit."""
    if nbytes < SMALL_CALL:
        return False
    limit = current()
    return nbytes > _total(native, device) * SMALL or (limit is not None and nbytes * MOST_TIMES > limit)


def _total(native: Native, device: int) -> int:
    key = ("memory_bytes", device)
    if key not in native.memo:
        native.memo[key] = native.device_properties(device)["memory_bytes"]
    return int(native.memo[key])


def exceeded(native: Native, device: int, needed: int) -> int | None:
    """The limit if a call that needs that many bytes exceeds it, else None. Less than the limit may be free."""
    limit, free = current(), _free(native, device)
    if needed > free:
        native.trim(device)  # memory that is kept for new arrays is not free for the device, but it is for us
        free = _free(native, device)
    least = free if limit is None else min(limit, free)
    return least if needed > least else None


def _free(native: Native, device: int) -> int:
    properties = native.device_properties(device)
    return int(properties["memory_free"] - properties["memory_bytes"] * RESERVE)


def refuse(operation: str, limit: int, needed: int) -> ValueError:
    """An error for a limit that is too small for any tile."""
    tiles = f"whose smallest tiles need {needed:,} bytes ({_display.size(needed)})"
    advice = f"raise it by cudakern.memory_limit() or {ENVIRONMENT}"
    return ValueError(f"{operation}: the memory limit of {limit:,} bytes is too small for this call, {tiles}: {advice}")
