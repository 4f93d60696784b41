"""host_memory: transfers of pageable, pinned and mapped memory; mapped: a device array in pinned memory."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _display, _dtypes
from .._array import DeviceArray
from .._backend import backend, current
from .._creation import asarray, empty, empty_pinned
from .._operations._experiments import hello as add_numbers
from .._profile import Profile
from .._transfer import Array
from ._experiment import Column, Experiment, experiment, label_axes, logarithmic, measure, numbers, report

if TYPE_CHECKING:
    from .._plots import Picture

NAME = "host_memory"
COLORS = {"pageable": "#4c78a8", "pinned": "#f28e2b", "mapped": "#59a14f"}
MOVES = tuple(itertools.product(COLORS, ("to device", "to host")))


@experiment(
    Column("memory", "memory"),
    Column("direction", "direction"),
    Column("size", "bytes", _display.size),
    Column("time", "ns", _display.duration, timed=True),
    Column("GB/s", "gb_per_s", timed=True),
    claim="T6: PCI Express x16 moves 4 GB/s in each direction in version 1 and 8 GB/s in version 2, and memory that "
    "is not pinned is first copied to a pinned buffer",
    on_an_h200="Copies of 67.1 MB from pageable memory run at 7.33 GB/s to the device and 13.4 GB/s back. From pinned "
    "memory they run at 54.8 GB/s and 54.9 GB/s, which is 7.48 and 4.11 times as fast, and far more than the 8 GB/s "
    "of the claim. A kernel reads mapped memory at 51 GB/s and writes it at 52.3 GB/s.",
)
def host_memory(sizes: int | Sequence[int] | None = None, *, repeat: int | None = None) -> Experiment:
    """Transfer rates between host and device: copies of ordinary and pinned memory, and kernels on mapped memory.

    Parameters
    ----------
    sizes : int or sequence of int, optional
        Sizes in bytes, each from 4 bytes to 4 GiB. Default: up to 64 MiB on a GPU, up to 1 MiB on the emulator.
    <repeat>

    <returns>
        One row per size, direction and kind of memory. ``pageable`` (NumPy's) and ``pinned``
        (``cudakern.empty_pinned``) memory is copied, timed by events around the copies. ``mapped`` memory is
        pinned and not copied: the time is that of a kernel that reads it and writes device memory, or vice versa.

    <raises>

    The kernels on mapped memory follow M.

    Examples
    --------
    >>> from cudakern import lab
    >>> result = lab.host_memory(sizes=[4096], repeat=1)
    >>> [(row["memory"], row["direction"]) for row in result.rows][:3]
    [('pageable', 'to device'), ('pageable', 'to host'), ('pinned', 'to device')]
    """
    if sizes is None:
        sizes = [1 << k for k in ((12, 16, 20) if backend().emulated else (12, 16, 20, 24, 26))]
    byte_counts = numbers(NAME, "sizes", sizes, 4, 1 << 32)
    rows = tuple(row for size in byte_counts for row in _rows(size // 4, repeat))
    title = "Transfers between host memory and the device"
    return report(NAME, title, rows, draw=_draw)


def _rows(n: int, repeat: int | None) -> Iterator[dict[str, Any]]:
    pageable = np.random.default_rng(0).integers(0, 1000, n, dtype=np.int32)
    expected = pageable + np.arange(n, dtype=np.int32)
    pinned, back = empty_pinned(n, "int32"), empty_pinned(n, "int32")
    pinned[:] = pageable

    def move(memory: str, x: Any, out: Any) -> Profile:
        out[...] = 0
        profile, _ = measure(add_numbers, (x,), {"variant": "greeting", "threads": 256, "out": out}, repeat)
        if not np.array_equal(out if isinstance(out, np.ndarray) else out.get(), expected):
            raise RuntimeError(f"{NAME}: the data that arrived through {memory} memory differs from the data sent")
        return profile

    copies = [move("pageable", pageable, np.empty_like(pageable)), move("pinned", pinned, back)]
    reads = move("mapped", mapped(pinned), empty(n, "int32"))
    writes = move("mapped", asarray(pageable), mapped(back))
    times = [ns for profile in copies for ns in (profile.to_device_ns, profile.to_host_ns)]
    for (memory, direction), ns in zip(MOVES, (*times, reads.kernel_ns, writes.kernel_ns), strict=True):
        row = {"memory": memory, "direction": direction, "label": f"{memory}, {direction}", "bytes": 4 * n}
        yield row | {"ns": ns, "gb_per_s": 4 * n / max(ns, 1), "clock": reads.clock}


def _draw(result: Experiment, picture: Picture) -> None:
    """One color per kind of memory; to the device as a broad pale line, back as a thin dashed one, which may cover it.

    Rates differ by orders of magnitude, so their axis is logarithmic.
    """
    axes = picture.subplots()
    looks: tuple[dict[str, Any], ...] = ({"lw": 5, "alpha": 0.4}, {"lw": 1.2, "ls": "--", "marker": "v", "ms": 4})
    for (memory, direction), look in zip(MOVES, itertools.cycle(looks), strict=False):
        points = [row for row in result.rows if (row["memory"], row["direction"]) == (memory, direction)]
        sizes, rates = [row["bytes"] for row in points], [row["gb_per_s"] for row in points]
        axes.plot(sizes, rates, color=COLORS[memory], label=f"{memory}, {direction}", **look)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    logarithmic(axes.xaxis, _display.size, at=result["bytes"])
    logarithmic(axes.yaxis)
    label_axes(axes, "size", "GB/s" + (" (emulated)" if result.backend.emulated else ""))


def mapped(array: Array) -> DeviceArray:
    """A device array in pinned host memory, which kernels read and write in place, over the link.

    Parameters
    ----------
    array : ndarray
        Created by ``cudakern.empty_pinned``, or a view of such an array.

    Returns
    -------
    DeviceArray
        The same elements; it keeps the memory alive. A kernel sees what the host wrote before the launch, and the host
        sees a kernel's writes once the kernel has finished: call ``cudakern.synchronize()`` before it uses them.

    Raises
    ------
    TypeError, ValueError
        The argument is not a NumPy array, its dtype is not supported on the device, or its memory is not pinned.

    Examples
    --------
    >>> import cudakern
    >>> from cudakern import lab
    >>> x = cudakern.empty_pinned(3, "float32")
    >>> x[:] = 1, 2, 3
    >>> cudakern.vector_add(lab.mapped(x), lab.mapped(x)).get().tolist()
    [2.0, 4.0, 6.0]
    """
    if not isinstance(array, np.ndarray):
        kind = type(array).__name__
        raise TypeError(f"mapped: array must be a NumPy array created by cudakern.empty_pinned(), not {kind}")
    name = _dtypes.name_of(array.dtype)
    native, device, _ = current()
    if array.size == 0:
        return DeviceArray(native.empty(array.shape, name, device, 0), native)
    pointer = native.pinned_on_device(array.ctypes.data, device)
    readonly = not array.flags.writeable
    return DeviceArray(native.adopt(array, pointer, array.shape, array.strides, name, device, readonly), native)
