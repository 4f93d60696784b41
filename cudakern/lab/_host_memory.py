"""host_memory: pageable, page-locked and mapped host memory, to the device and back, over sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _display
from .._backend import backend
from .._creation import asarray, empty, empty_pinned
from .._operations._experiments import hello as add_numbers
from .._profile import Profile
from ._experiment import Column, Experiment, documents, named
from ._mapped import mapped
from ._measuring import measure
from ._sizes import numbers

if TYPE_CHECKING:
    from .._plots import Picture

NAME = "host_memory"
SIZES_EMULATED, SIZES_GPU = (1 << 12, 1 << 16, 1 << 20), tuple(1 << k for k in (12, 16, 20, 24, 26))
MOST = 1 << 32  #: bytes of one array
COLORS = {"pageable": "#4c78a8", "pinned": "#f28e2b", "mapped": "#59a14f"}
DIRECTIONS = ("to device", "to host")

DOCUMENTS = (
    "T6: PCI Express x16 moves 4 GB/s each way in its first version and 8 in its second, and memory that is not "
    "page-locked is first copied to a buffer that is"
)
ON_AN_H200 = (
    "Copies of 67.1 MB from pageable memory run at 7.33 GB/s to the device and 13.4 GB/s back. From page-locked "
    "memory they run at 54.8 GB/s and 54.9 GB/s, which is 7.48 and 4.11 times as fast and far more than T6's 8 "
    "GB/s. A kernel reads mapped memory at 51 GB/s and writes it at 52.3 GB/s."
)
TABLE = (
    Column("memory", "memory"),
    Column("direction", "direction"),
    Column("size", "bytes", _display.size),
    Column("time", "ns", _display.duration, timed=True),
    Column("GB/s", "gb_per_s", timed=True),
)


@documents
def host_memory(sizes: int | Sequence[int] | None = None, *, repeat: int | None = None) -> Experiment:
    """How fast host memory and device exchange data: by copies from ordinary and page-locked memory, and without any.

    Parameters
    ----------
    sizes : int or sequence of int, optional
        Bytes, each from 4 to 4 GiB. Without it: some for this side.
    <repeat>

    Returns
    -------
    Experiment
        A row a size, direction and memory: ``pageable`` (NumPy's own) and ``pinned`` (``cudakern.empty_pinned``) are
        copied, timed by events around the copies; ``mapped`` is page-locked memory where it lies: its time is that of
        a kernel that reads it and writes device memory, or the other way round.

    <raises>
    RuntimeError
        Data arrived wrong.

    Examples
    --------
    >>> from cudakern import lab
    >>> result = lab.host_memory(sizes=[4096], repeat=1)
    >>> [(row["memory"], row["direction"]) for row in result.rows][:3]
    [('pageable', 'to device'), ('pageable', 'to host'), ('pinned', 'to device')]
    """
    here = backend()
    default = SIZES_EMULATED if here.emulated else SIZES_GPU
    byte_counts = default if sizes is None else numbers(NAME, "sizes", sizes)
    if not byte_counts or min(byte_counts) < 4 or max(byte_counts) > MOST:
        raise ValueError(f"{NAME}: sizes={list(byte_counts)}: it takes one or more, each from 4 bytes to 4 GiB")
    rows = tuple(row for size in byte_counts for row in _rows(size // 4, repeat))
    return Experiment(NAME, "Host memory and the device", here, TABLE, rows, DOCUMENTS, ON_AN_H200, draw=_draw)


def _rows(n: int, repeat: int | None) -> list[dict[str, Any]]:
    pageable = np.random.default_rng(0).integers(0, 1000, n, dtype=np.int32)
    expected = pageable + np.arange(n, dtype=np.int32)
    pinned, back = empty_pinned(n, "int32"), empty_pinned(n, "int32")
    pinned[:] = pageable

    def move(memory: str, x: Any, out: Any) -> Profile:
        out[...] = 0
        keywords = {"variant": "greeting", "threads": 256, "out": out}
        profile, _ = measure(add_numbers, (x,), keywords, repeat)
        if not np.array_equal(out if isinstance(out, np.ndarray) else out.get(), expected):
            raise RuntimeError(f"{NAME}: what came through {memory} memory is not what was sent")
        return profile

    copied = move("pageable", pageable, np.empty_like(pageable))
    locked = move("pinned", pinned, back)
    reads = move("mapped", mapped(pinned), empty(n, "int32"))
    writes = move("mapped", asarray(pageable), mapped(back))
    times = {
        "pageable": (copied.to_device_ns, copied.to_host_ns),
        "pinned": (locked.to_device_ns, locked.to_host_ns),
        "mapped": (reads.kernel_ns, writes.kernel_ns),
    }
    return [
        {
            "memory": memory,
            "direction": direction,
            "label": f"{memory}, {direction}",
            "bytes": 4 * n,
            "ns": ns,
            "gb_per_s": 4 * n / max(ns, 1),
            "clock": reads.clock,
        }
        for memory, both in times.items()
        for direction, ns in zip(DIRECTIONS, both, strict=True)
    ]


def _draw(result: Experiment, picture: Picture) -> None:
    """A colour a memory; there on a broad pale line, back on a thin dashed one, which may lie on it.

    Rates are orders of magnitude apart, so their axis is logarithmic.
    """
    axes = picture.subplots()
    looks: tuple[dict[str, Any], ...] = ({"lw": 5, "alpha": 0.4}, {"lw": 1.2, "ls": "--", "marker": "v", "ms": 4})
    for memory, color in COLORS.items():
        for direction, look in zip(DIRECTIONS, looks, strict=True):
            points = [row for row in result.rows if (row["memory"], row["direction"]) == (memory, direction)]
            sizes, rates = [row["bytes"] for row in points], [row["gb_per_s"] for row in points]
            axes.plot(sizes, rates, color=color, label=f"{memory}, {direction}", **look)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    named(axes, "bytes", "GB/s" + (" (emulated)" if result.backend.emulated else ""))
