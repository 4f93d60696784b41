"""textures: precision of the hardware's filter, reads beyond a table's edges, and the speed of orders of reads."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays.transfer import Array
from ..operations.experiments import rgba_to_float
from ..operations.lookup import MODES, interp, lookup_2d
from ._experiment import Experiment, bars, experiment, kernel_times, label_axes, measure, ratio, report, size

if TYPE_CHECKING:
    from ..measure.plots import Picture

NAME = "textures"
WEIGHTS = 256  #: steps of the hardware's interpolation weights
ORDERS = ("row-wise", "column-wise", "16 x 16 tiles", "random")
STORAGES = ("global_memory", "texture")
STEPS = 16 * 4 + 1  #: reads in the plot of the filter: four of its steps


@experiment
def textures(n: int | None = None, *, repeat: int | None = None) -> Experiment:
    """Texture units: the precision of their filter, their four modes at the edges, and the speed of orders of reads.

    *Precision*: a table of 0 and 1 is read between its two elements; a texture gives multiples of 1/256. *Edges*: the
    table 1, 2, 3, 4 is read at -2, -0.5 and 0, and at 3, 3.5 and 5. *RGBA*: bytes are converted to floats from 0 to 1,
    by division and by the texture unit. *Locality*: all elements of a table of n x n are read in four orders, from
    global memory and through a texture.

    Parameters
    ----------
    n : int, optional
        Rows and columns of the table for *locality*, at most 65,536. Default: 2048 on a GPU, 48 on the emulator.
    <repeat>

    <returns>
        One row per case: values and errors for the first two parts, errors and kernel times for the others.

    Examples
    --------
    >>> from cudakern import lab
    >>> result = lab.textures(8, repeat=1)
    >>> [row["values"] for row in result.rows if row["what"] == "wrap" and row["variant"] == "texture"]
    ['3 2.5 1 | 4 2.5 2']
    """
    n = size(NAME, n, chip=2048, emulator=48, most=65536)
    rows = [*_precision(), *_edges(), *_speed(n, repeat)]
    row_wise = {row["variant"]: row for row in rows if row["what"] == ORDERS[0]}
    for row in rows:
        if row["part"] == "locality":
            row["times"] = ratio(row, row_wise[row["variant"]])
    return report(NAME, f"Textures: filter, edges, and {n} x {n} reads in four orders", rows, _draw)


def _row(part: str, what: str, variant: str, difference: Array, **more: Any) -> dict[str, Any]:
    return {"part": part, "what": what, "variant": variant, "error": float(np.max(np.abs(difference))), **more}


def _precision() -> Iterator[dict[str, Any]]:
    """Between the elements 0 and 1, the value equals the weight."""
    x = np.linspace(0, 1, 16 * WEIGHTS + 1, dtype=np.float32)
    table = np.array([0, 1], np.float32)
    nearest = (np.floor(x * WEIGHTS + 0.5) / WEIGHTS).astype(np.float32)  # halves round up, as on the chip
    for variant in STORAGES:
        result = interp(x, table, table, variant=variant)
        row = _row("precision", "between 0 and 1", variant, result - x, values=f"{np.unique(result).size} different")
        row["whole"] = np.array_equal(result * WEIGHTS, np.rint(result * WEIGHTS))
        row["nearest"] = np.array_equal(result, nearest)
        yield row | {"curve": (x[:STEPS].tolist(), result[:STEPS].tolist())}


def _edges() -> Iterator[dict[str, Any]]:
    table = np.array([[1, 2, 3, 4]], np.float32)
    x = np.array([-2, -0.5, 0, 3, 3.5, 5], np.float32)
    along = np.linspace(-3, 6, 73, dtype=np.float32)  # for the plot
    for mode, variant in itertools.product(MODES, STORAGES):
        exact = lookup_2d(table, 0, x, mode, variant="global_memory")
        result = lookup_2d(table, 0, x, mode, variant=variant)
        values = [f"{value:.3g}" for value in result.tolist()]
        text = f"{' '.join(values[:3])} | {' '.join(values[3:])}"
        curve = along.tolist(), lookup_2d(table, 0, along, mode, variant=variant).tolist()
        yield _row("edges", mode, variant, result - exact, values=text, curve=curve)


def _speed(n: int, repeat: int | None) -> Iterator[dict[str, Any]]:
    """Bytes converted to floats by the kernel and by the texture unit, and the orders of reads."""
    image = np.random.default_rng(2).integers(0, 256, (n, n, 4), dtype=np.uint8)
    image[0, 0] = 0, 1, 254, 255
    for variant in ("bytes", "packed", "texture"):
        profile, result = measure(rgba_to_float, (image,), {"variant": variant}, repeat)
        times = {"ps": profile.kernel_ns * 1e3 / (n * n), **kernel_times(profile)}
        yield _row("RGBA", "bytes to floats", variant, result - image / 255, label=f"RGBA, {variant}", **times)

    table = np.random.default_rng(1).random((n, n), dtype=np.float32)
    for order, variant in itertools.product(ORDERS, STORAGES):
        y, x = _coordinates(order, n)
        profile, result = measure(lookup_2d, (table, y, x), {"filter": "nearest", "variant": variant}, repeat)
        difference = result - table[y.astype(int), x.astype(int)]
        if difference.any():
            raise RuntimeError(f"{NAME}: {variant}, {order}: a value differs from the table's")
        times = {"ps": profile.kernel_ns * 1e3 / (n * n), **kernel_times(profile)}
        yield _row("locality", order, variant, difference, label=f"{order}, {variant}", **times)


def _coordinates(order: str, n: int) -> tuple[Array, Array]:
    """(y, x) of all n * n elements in that order."""
    index = np.arange(n * n)
    if order == "random":
        index = np.random.default_rng(0).permutation(index)
    elif order == "column-wise":
        index = index.reshape(n, n).T.ravel()
    elif order == "16 x 16 tiles":
        y, x = index // n, index % n
        tile = y // 16 * -(-n // 16) + x // 16
        index = np.argsort(tile, kind="stable")  # within a tile row by row
    return (index // n).astype(np.float32), (index % n).astype(np.float32)


def _draw(result: Experiment, picture: Picture) -> None:
    """The filter's steps, the four modes at the edges, and on a GPU the times (an emulated texture has no cache)."""
    timed = not result.backend.emulated
    steps, edges, *times = picture.subplots(1, 2 + timed, width_ratios=(1, 1, 1.6)[: 2 + timed])
    for row in result.rows:
        if row["part"] == "precision":
            style = "-" if row["variant"] == "texture" else ":"
            steps.plot(*row["curve"], style, label=row["variant"].replace("_", " "))
        elif row["part"] == "edges" and row["variant"] == "texture":
            edges.plot(*row["curve"], label=row["what"])
    ticks = {i / WEIGHTS: f"{i}/{WEIGHTS}" for i in range(5)}
    steps.set_xticks([*ticks], ticks.values())
    steps.set_yticks([*ticks], ticks.values())
    steps.set_title("the filter between 0 and 1", fontsize=9)
    edges.axvspan(0, 3, color="#eeeeee", zorder=0)  # the table itself
    edges.set_ylim(top=5)
    edges.set_title("a texture beyond the edges of the table 1, 2, 3, 4", fontsize=9)
    for axes, columns in ((steps, 1), (edges, 4)):
        label_axes(axes, "coordinate", "value")
        axes.tick_params(labelsize=7)
        axes.legend(fontsize=7, ncols=columns, loc="upper left")
    if timed:
        bars(result, picture, "label", "kernel_ns", times[0])
