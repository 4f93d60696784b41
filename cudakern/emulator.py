"""Settings of the emulated devices."""

from __future__ import annotations

from ._backend import emulator as _native

__all__ = ["configure"]


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
    """Change what the emulator answers as. What is not given stays as it is.

    Parameters
    ----------
    devices : int
        How many GPUs there are.
    memory : int
        Bytes of memory of each.
    chip : str
        The chip it answers as, e.g. "H200" (the default).
    order : str or int
        The order in which blocks and threads run: "fixed" (the default), "reversed", or a seed (an int, or
        "seed:7") that draws one. A missing barrier that hides in one order shows in another.
    workers : int
        How many CPU threads run blocks.
    stack : int
        Bytes of stack of each emulated thread.
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
    settings = {
        "devices": devices,
        "memory": memory,
        "chip": chip,
        "workers": workers,
        "stack": stack,
        "order": f"seed:{order}" if isinstance(order, int) else order,
        "fail_allocation": fail_allocation,
    }
    for key, value in settings.items():
        if value is not None:
            _native().configure(key, str(value))
