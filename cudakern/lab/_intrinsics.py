"""intrinsics: how much faster and how much less precise the fast functions are, over ranges of arguments."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .. import asarray, backend
from ..operations.experiments import EXACT
from ..operations.experiments import intrinsics as evaluate
from ._experiment import Experiment, bars, experiment, measure, report, size


class Pair(NamedTuple):
    """A function, a range of arguments, and the fast version's error there by CUDA's programming guide."""

    function: str
    full: str
    fast: str
    x: tuple[float, float]
    y: tuple[float, float] = (1.0, 1.0)
    documented: str = ""
    spread: bool = False  #: the ranges are exponents of two

    @property
    def range(self) -> str:
        """The range of the argument that matters, as text."""
        name, (low, high) = ("x", self.x) if self.y == (1.0, 1.0) else ("y", self.y)
        if self.spread:
            return f"{name} 2^{low:g} to 2^{high:g}"
        return f"{name} -pi to pi" if high == math.pi else f"{name} {low:g} to {high:g}"


PAIRS = (
    Pair("divide", "x / y", "__fdividef", (0, 3), (-100, 100), "2 ulp", spread=True),
    Pair("divide", "x / y", "__fdividef", (0, 3), (126.01, 127.99), "gives 0", spread=True),
    Pair("exp", "expf", "__expf", (-1, 1), documented="2 to 3 ulp"),
    Pair("exp", "expf", "__expf", (-80, 80), documented="2 + |1.173 x| ulp"),
    Pair("exp10", "exp10f", "__exp10f", (-35, 35), documented="2 + |2.97 x| ulp"),
    Pair("log", "logf", "__logf", (0.5, 2), documented="2^-21.41 absolute"),
    Pair("log", "logf", "__logf", (2, 1e6), documented="3 ulp"),
    Pair("log2", "log2f", "__log2f", (0.5, 2), documented="2^-22 absolute"),
    Pair("log10", "log10f", "__log10f", (0.5, 2), documented="2^-24 absolute"),
    Pair("sin", "sinf", "__sinf", (-math.pi, math.pi), documented="2^-21.41 absolute"),
    Pair("sin", "sinf", "__sinf", (-1000, 1000), documented="larger"),
    Pair("cos", "cosf", "__cosf", (-math.pi, math.pi), documented="2^-21.19 absolute"),
    Pair("tan", "tanf", "__tanf", (-1.5, 1.5), documented="of __sinf / __cosf"),
    Pair("power", "powf", "__powf", (0.1, 10), (-10, 10), "of exp2f(y * __log2f(x))"),
    Pair("reciprocal_root", "1 / sqrtf", "rsqrtf", (-100, 100), documented="2 ulp", spread=True),
    Pair("multiply24", "x * y", "__mul24", (-4000, 4000), (-4000, 4000), "exact to 24 bits"),
)


@experiment
def intrinsics(n: int | None = None, *, repeat: int | None = None) -> Experiment:
    """Fast intrinsics compared with C's functions: the time per evaluation, and the largest error relative to float64.

    Parameters
    ----------
    n : int, optional
        Random arguments from each range. <size>
    <repeat>

    <returns>
        One row per function and range: the largest error of both versions in units in the last place (ulp: the distance
        between neighboring float32 numbers at the exact result), the fast version's absolute error, the error that CUDA
        documents, the time per evaluation in picoseconds (for the whole chip), and the speed-up. On a GPU each
        evaluation is repeated 64 times, so that arithmetic is timed rather than memory.

    Examples
    --------
    >>> from cudakern import lab
    >>> result = lab.intrinsics(200, repeat=1)
    >>> worst = {row["range"]: row["fast_ulp"] for row in result.rows if row["fast"] == "__expf"}
    >>> worst["x -1 to 1"] < worst["x -80 to 80"]
    True
    """
    n = size("intrinsics", n, chip=1 << 20, emulator=1 << 11)
    repeats = 1 if backend().emulated else 64
    rows = []
    for pair in PAIRS:
        random = np.random.default_rng(1)
        operands = [random.uniform(*ends, n) for ends in (pair.x, pair.y)]
        x, y = ((np.exp2(values) if pair.spread else values).astype(np.float32) for values in operands)
        exact = EXACT[pair.function](x.astype(np.float64), y.astype(np.float64))
        unit = np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
        row = {key: getattr(pair, key) for key in ("function", "full", "fast", "range", "documented")}
        row["label"] = f"{pair.fast}, {pair.range}"
        on_device = asarray(x), asarray(y)  # copied once
        for variant in ("full", "fast"):
            keywords = {"variant": variant, "function": pair.function, "repeats": repeats}
            profile, result = measure(evaluate, on_device, keywords, repeat)
            error = np.abs(result.get().astype(np.float64) - exact)
            row[f"{variant}_ulp"] = float(np.max(error / unit))
            row[f"{variant}_absolute"] = float(np.max(error))
            row[f"{variant}_ps"] = profile.kernel_ns * 1e3 / (n * repeats)
            row["clock"] = profile.clock
        row["gain"] = None if row["clock"] == "emulated" else row["full_ps"] / max(row["fast_ps"], 1e-9)
        rows.append(row)
    title = f"Fast intrinsics compared with C's functions, {n:,} arguments each"
    return report("intrinsics", title, rows, bars, label="label", value="fast_ulp")
