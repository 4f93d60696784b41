"""How a device array shows itself: its values, of a large one only those at the ends of its axes, and its place."""

from __future__ import annotations

import html
import math

import numpy as np

from . import _display, _dtypes, _layout, _transfer
from ._native import Native, View
from ._transfer import Array

NAME = "DeviceArray"


def text(view: View, native: Native) -> str:
    """For a terminal, as NumPy prints an array."""
    shape = ", ".join(map(str, view.shape)) + ("," if len(view.shape) == 1 else "")
    place = f"dtype={view.dtype}, shape=({shape}), on {native.backend_name()}:{view.device})"
    values = _values(view, native, f"{NAME}(")
    last = values.rsplit("\n", 1)[-1]
    first = len(NAME) + 1 if last is values else 0
    room = np.get_printoptions()["linewidth"]
    gap = " " if first + len(last) + 2 + len(place) <= room else "\n" + " " * (len(NAME) + 1)
    return f"{NAME}({values},{gap}{place}"


def markup(view: View, native: Native) -> str:
    """For a notebook."""
    rows = [
        ["shape", " x ".join(f"{n:,}" for n in view.shape) or "one element"],
        ["dtype", view.dtype],
        ["on", f"{native.backend_name()}:{view.device}, {native.device_properties(view.device)['name']}"],
        ["memory", _display.size(view.nbytes) + _remarks(view)],
    ]
    table = _display.Table("", ["", " "], rows).html()
    return f"<div><pre>{html.escape(_values(view, native, ''))}</pre>{table}</div>"


def _remarks(view: View) -> str:
    remarks = [] if view.contiguous else [f"strides {view.strides}"]
    remarks += ["another library's"] if view.foreign else []
    remarks += ["read-only"] if view.read_only else []
    return "".join(f", {remark}" for remark in remarks)


def _values(view: View, native: Native, prefix: str) -> str:
    options = np.get_printoptions()
    if math.prod(view.shape) <= options["threshold"]:
        return np.array2string(_fetch(view, native), separator=", ", prefix=prefix)
    edge = max(options["edgeitems"], 1)
    with np.printoptions(threshold=0, edgeitems=edge):
        return np.array2string(_corners(view, native, edge), separator=", ", prefix=prefix)


def _corners(view: View, native: Native, edge: int) -> Array:
    """What NumPy shows of a large array: ``edge`` elements at each end of each long axis, and one more between them
    that stands for the rest and is not looked at."""
    shape: list[int] = []
    strides: list[int] = []
    for n, stride in zip(view.shape, view.strides, strict=True):
        if n > 2 * edge + 1:  # both ends of the axis, as two axes
            shape += [2, edge]
            strides += [(n - edge) * stride, stride]
        else:
            shape += [n]
            strides += [stride]
    if len(shape) > _layout.MAX_DIMS:  # one axis at a time, then
        offsets = [i * view.strides[0] for i in range(view.shape[0])]
        offsets = offsets if len(offsets) <= 2 * edge + 1 else offsets[: edge + 1] + offsets[-edge:]
        parts = [native.view(view, i, view.shape[1:], view.strides[1:], view.dtype) for i in offsets]
        return np.stack([_corners(part, native, edge) for part in parts])
    ends = _fetch(native.view(view, 0, tuple(shape), tuple(strides), view.dtype), native)
    shown = np.zeros([min(n, 2 * edge + 1) for n in view.shape], ends.dtype)
    kept = [[*range(edge), *range(edge + 1, 2 * edge + 1)] if n > 2 * edge + 1 else range(n) for n in view.shape]
    shown[np.ix_(*kept)] = ends.reshape([len(indices) for indices in kept])
    return shown


def _fetch(view: View, native: Native) -> Array:
    """The values; bfloat16 as float32, so that it can be shown without ml_dtypes too."""
    if view.dtype == _dtypes.BFLOAT16:
        view = _transfer.duplicate(native, view, "float32", view.device, 0)
    return _transfer.to_host(native, view, 0)
