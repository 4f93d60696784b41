"""bench: variants compared with PyTorch, CuPy and the chip's measured limits, on the same data in the same run; also
from NumPy arrays to NumPy arrays, copies included."""

from __future__ import annotations

import contextlib
import functools
import json
import operator
import platform
import random
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

import cudakern

from .. import _display
from .._backend import Backend, backend, emulator, use_backend
from .._errors import unknown
from .._installed import PACKAGE
from ..arrays.dtypes import kind_of, numpy_dtype
from ..calls import table
from ..calls.checks import integer
from ..calls.observer import unobserved
from ..calls.table import AUTO
from ..operations.registry import Operation, operation, widened
from ..operations.variants import NameOrFunction, operation_name
from .compare import compare
from .peers import LIBRARIES, PEERS, Calls, errors_of, library_calls
from .profile import profile
from .recorded import sizes
from .resources import launches_of
from .rounds import HOST_TIMING, TIMING, Limits, host_clock, limits_of, normal, quantiles, timed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHECKED = 1 << 33  #: multiply-adds: a product that has more is checked in some of its rows
EMULATED = "emulated: the time that this CPU needed to emulate the call; it says nothing about a GPU."
#: m, n and k by which `auto` is judged on a chip: squares, few rows, short and long sums, odd lengths.
TUNING = (
    *((n, n, n) for n in (64, 128, 256, 384, 512, 768, 1000, 1024, 1536, 2048, 3072, 4096, 8192)),
    *((m, 4096, 4096) for m in (1, 16, 32, 64, 128, 256)),
    *((4096, 4096, k) for k in (16, 64, 256, 1024)),
    *((n, n, k) for n, k in ((64, 65536), (128, 16384), (512, 8192), (512, 65536), (1024, 8192))),
    *((1023, 1025, 999), (2047, 2049, 2051), (4095, 4097, 4093)),
)
CHOOSER = "fastest"  #: the variant of matmul that runs one of the others
TUNED_FROM = "register_tile"  #: the first step of the ladder that can be the fastest


class Line(NamedTuple):
    """A variant or a call of another library with one input. Times are in nanoseconds; without any, it did not run."""

    shape: tuple[int, ...]  #: of the input, for matmul m, n and k
    who: str  #: "cudakern: tiled", "torch: a @ b"
    variant: str  #: of cudakern: the one that ran, also for "auto"
    note: str  #: why it did not run
    quantiles: dict[str, float]  #: of the time, by QUANTILES
    measurements: int = 0
    kernel_ns: float | None = None  #: the median
    flops: float = 0.0
    bytes: float = 0.0  #: the fewest that must be moved: operands once, result once
    rate: float | None = None  #: in the benchmark's unit
    error: float | None = None  #: relative, compared with float64: the largest; of a product, that of its rows' norm
    ratio: float | None = None  #: time of the fastest other library / this time; None on the emulator
    share: float | None = None  #: of what the chip's limits allow; None on the emulator


@dataclass(frozen=True, repr=False)
class Bench(_display.Shown):
    """The lines of a benchmark with what is needed to read them; displays as a table."""

    operation: str
    dtype: str
    backend: Backend
    lines: tuple[Line, ...]
    limits: Limits | None  #: None on the emulator
    rounds: int
    seed: int
    versions: dict[str, str]
    commit: str | None
    date: str
    host: bool = False  #: from NumPy arrays to NumPy arrays

    @property
    def unit(self) -> str:
        """The unit of the rates."""
        return "TFLOP/s" if self.operation == "matmul" else "GB/s"

    @property
    def title(self) -> str:
        """Operation, type and device."""
        return f"{self.operation}, {self.dtype}{' NumPy arrays' * self.host}; {self.backend.device_name}"

    def table(self) -> _display.Table:
        """One row per variant and library. On the emulator without rates and shares."""
        mark = "emulated\n" if self.limits is None else ""
        rates = [self.unit, "of best\nother", "of\nlimit"] if self.limits else []
        rows = []
        for line in self.lines:
            auto = f" ({line.variant})" if line.who.endswith(AUTO) and line.variant else ""
            cells = [_display.duration(line.quantiles.get(q)) for q in ("0.1", "0.5", "0.9")]
            if rates:
                shares = ("-" if value is None else f"{value:.0%}" for value in (line.ratio, line.share))
                cells += [_display.figure(line.rate), *shares]
            error = "-" if line.error is None else "exact" if line.error == 0 else f"{line.error:.1e}"
            rows.append([sizes((line.shape,)), line.who.removeprefix("cudakern: ") + auto, *cells, error])
        size = "m x n x k" if self.operation == "matmul" else "elements"
        figures = [f"{mark}{name}" for name in ("10%", "median", "90%")] + [*rates, "error"]
        return _display.Table(self.title, [size, "variant", *figures], rows, self._note(), [size, *figures])

    def _note(self) -> str:
        notes = dict.fromkeys(f"{line.who}: {line.note}." for line in self.lines if line.note)
        limits = f"of best other: the fastest other library's median / this one's. Limits: {self.limits}."
        errors = f"Rounds: {self.rounds}. Errors are relative, compared with float64."
        return " ".join([*notes, errors, limits if self.limits else EMULATED])

    def choices(self) -> _display.Table:
        """What "auto" took for each input, and the fastest of all that was measured, "auto" included. Variants that cut
        their inputs or have results of another type do not count."""
        rows, losses = [], list[float]()
        measured = [line for line in self.lines if line.kernel_ns and line.variant and self._may_be_auto(line.variant)]
        for auto in (line for line in measured if line.who == f"cudakern: {AUTO}"):
            ours = [line for line in measured if line.shape == auto.shape]
            if len(ours) < 2:
                continue
            best = min(ours, key=lambda line: line.kernel_ns or 0)
            losses.append((auto.kernel_ns or 0) / (best.kernel_ns or 1))
            cells = (text for line in (auto, best) for text in (line.variant, _display.duration(line.kernel_ns)))
            rows.append([sizes((auto.shape,)), *cells, f"{losses[-1]:.2f}"])
        note = "No input was measured with auto and with another variant."
        if losses:
            mean = np.exp(np.mean(np.log(losses)))
            note = f"auto / fastest: {mean:.2f} as a geometric mean, at most {max(losses):.2f}."
        if self.limits is None:
            note = f"{note} {EMULATED}"
        columns = ["input", "auto takes", "its time", "fastest", "time", "auto / fastest"]
        return _display.Table(f"auto of {self.title}", columns, rows, note, [*columns[2::2], columns[-1]])

    def _may_be_auto(self, variant: str) -> bool:
        """Whether "auto" may take a variant: with all bits of the inputs, and a result of the usual type."""
        entry = table.find(self.operation, variant)
        return not (entry.cuts_inputs or entry.out_type(self.dtype))

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        timing = {"unit": self.unit, "timing": HOST_TIMING if self.host else TIMING}
        limits = self.limits and self.limits._asdict()
        lines = [line._asdict() for line in self.lines]
        return vars(self) | timing | {"backend": self.backend.to_dict(), "limits": limits, "lines": lines}

    def json(self) -> str:
        """Chip, versions, commit (if known), sizes, seed, limits and all figures as JSON."""
        return json.dumps(self.to_dict(), indent=1, default=str)

    def save(self, path: str) -> None:
        """Writes the JSON to the file ``path``."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.json() + "\n")

    def plot(self, path: str | None = None) -> Figure:
        """The roofline: the rate of each line by its FLOPs per byte (of a sort, by its bytes), and the chip's limits.
        ``path`` also saves it. Needs matplotlib (``pip install cudakern[plot]``)."""
        from matplotlib import colormaps

        from .plots import LIMIT, Picture

        lines = [line for line in self.lines if line.kernel_ns]
        if self.limits is None or not lines:
            raise ValueError("nothing to plot: a roofline shows a GPU's rates, but these are the emulator's times")
        flops = all(line.flops for line in lines)
        slope, top = (self.limits.memory, self.limits.arithmetic or np.inf) if flops else (np.inf, self.limits.memory)
        unit, one, moved = ("TFLOP/s", 1e3, "FLOPs per byte") if flops else ("GB/s", 1.0, "bytes")
        picture = Picture(figsize=(10, 5), layout="constrained")
        axes = picture.subplots()
        axes.set_prop_cycle(color=colormaps["tab20"](range(20)))
        for who in dict.fromkeys(line.who for line in lines):
            own = [line for line in lines if line.who == who]
            x = [line.flops / line.bytes if flops else line.bytes for line in own]
            y = [(line.flops if flops else line.bytes) / (line.kernel_ns or 1) / one for line in own]
            axes.plot(x, y, "o" if who.startswith("cudakern") else "s", label=who)
        ends = [x for x in (*axes.dataLim.intervalx, top / slope) if 0 < x < np.inf]
        roof = np.geomspace(min(ends) / 3, max(ends) * 3, 200)
        axes.plot(roof, np.minimum(slope * roof, top) / one, color=LIMIT, linewidth=1.2, label="limit")
        amount = f"{moved} that must be {'copied' if self.host else 'moved'}"
        axes.set(xscale="log", yscale="log", ylabel=unit, xlabel=f"{amount}\nlimit: {self.limits}")
        axes.set_title(self.title, fontsize=10)
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
        return picture.saved(path)


def bench(
    op: NameOrFunction,
    shapes: Sequence[int | Sequence[int]] | None = None,
    dtype: npt.DTypeLike = "float32",
    *,
    variants: Sequence[str] | None = None,
    peers: bool | Mapping[str, Callable[..., Any]] = True,
    rounds: int = 15,
    seed: int | None = None,
    host: bool = False,
    tune: bool = False,
    emulated: bool = False,
    progress: bool | None = None,
) -> Bench:
    """Compare variants with PyTorch, CuPy and the chip's measured limits, on the same data in the same run.

    Parameters
    ----------
    op : str or function
        "matmul", "sum_of_squares", "inclusive_scan", "sort", "vector_add" or "saxpy", or the function.
    shapes : sequence, optional
        For matmul a list of (m, n, k), the product of an (m, k) and a (k, n) matrix; else a list of lengths.
    dtype : optional
        The type of the random input: normal numbers for matmul, else as :func:`ladder` takes them.
    variants : sequence of str, optional
        The variants to run, also in one text: "auto,tiled". Default: "auto" and every kernel that supports the type on
        this device; of NumPy arrays "auto" alone.
    peers : bool or mapping, optional
        Whether to measure PyTorch and CuPy, where installed; or your own calls by name: functions of the device arrays.
    rounds, seed : int, optional
        The number of measurements (of calls of more than 0.2 s: one); the seed, by default a new one in each run.
    host : bool, optional
        Measure calls from NumPy arrays to NumPy arrays, copies included, by the host's clock; the other libraries copy
        too, and NumPy itself is one of them. Your own calls in ``peers`` are functions of the NumPy arrays.
    tune : bool, optional
        For matmul: by default shapes of every kind, the variants that can be the fastest, and no other libraries, to
        see with ``choices()`` whether "auto" takes the fastest on this chip. Its estimates were fitted to an H200.
    emulated : bool, optional
        Run on the emulator, by default small inputs. Its times say nothing about a GPU.
    progress : bool, optional
        As in :func:`ladder`.

    Returns
    -------
    Bench
        Displays as a table; ``plot()`` draws a roofline, ``choices()`` shows what "auto" took, ``json()`` and
        ``save(path)`` give everything.

    Raises
    ------
    NotImplementedError
        There is no GPU, and ``emulated`` is False.
    TypeError, ValueError, ImportError
        An unknown operation or variant; an invalid shape, type or number of rounds; bfloat16 without ml_dtypes.

    Examples
    --------
    >>> import cudakern
    >>> result = cudakern.bench("matmul", [(8, 9, 10)], variants=["tiled"], emulated=True)
    >>> [line.who for line in result.lines], result.lines[0].error < 1e-6
    (['cudakern: tiled'], True)
    """
    name = operation_name(op)
    what = operation(name)
    if name not in PEERS:
        raise ValueError(unknown("operation", name, PEERS, of="bench"))
    for who, call in peers.items() if isinstance(peers, Mapping) else ():
        if not callable(call):
            raise TypeError(f"bench: peers[{who!r}] must be a function of the inputs, not {call!r:.60}")
    kind = numpy_dtype(dtype)
    integer("rounds", rounds, 1)
    for key, value in (("host", host), ("tune", tune)):
        if not isinstance(value, bool | np.bool_):
            raise TypeError(f"bench: {key} must be True or False, not {value!r}")
    if host and tune:
        raise ValueError("bench: tune=True compares kernels, which host=True does not measure alone: pass one of them")
    if tune and name != "matmul":
        raise ValueError(f"bench: tune=True is for matmul, whose auto takes different variants, not for {name}")
    seed = integer("seed", random.getrandbits(32) if seed is None else seed, 0)
    with unobserved(), use_backend("emulator") if emulated else contextlib.nullcontext():
        here = backend().as_it_is()
        if here.emulated and not emulated:
            instead = f"`cudakern ladder {name}` shows times recorded on an H200; emulated=True runs small inputs"
            raise NotImplementedError(f"bench needs a GPU, but none is in use: {instead} on the emulator (--emulated)")
        lengths = TUNING if tune and shapes is None and not here.emulated else _lengths(name, shapes, emulated)
        chosen = _chosen(name, kind, [AUTO] if host and variants is None else variants, here)
        if tune and not variants:
            chosen = _that_can_be_fastest(chosen)
        if peers is True and (tune or here.emulated):
            peers = False
        limits, lines = None, list[Line]()
        with _display.progress_line(progress) as announce:
            if not here.emulated:
                announce(f"{name}: the chip's limits")
                limits = limits_of(name, kind.name, here, peers is True, host)
            for number, shape in enumerate(lengths):
                announce(f"{name} {number + 1}/{len(lengths)}: {sizes((shape,))} {kind.name}")
                inputs = _inputs(what, shape, kind, seed + number)
                lines += _lines(what, shape, inputs, chosen, peers, rounds, limits, host)
    modules = {key: sys.modules.get(key) for key in ("cudakern", "numpy", *LIBRARIES)}
    versions = {"python": platform.python_version()} | {key: m.__version__ for key, m in modules.items() if m}
    date = datetime.now(UTC).isoformat(timespec="seconds")
    return Bench(name, kind.name, here, tuple(lines), limits, rounds, seed, versions, _commit(), date, host)


def _lines(
    what: Operation,
    shape: tuple[int, ...],
    inputs: tuple[Any, ...],
    variants: Sequence[str],
    peers: bool | Mapping[str, Callable[..., Any]],
    rounds: int,
    limits: Limits | None,
    host: bool,
) -> list[Line]:
    """The lines for one input: other libraries, variants, and what did not run."""
    arrays = list(map(np.asarray if host else cudakern.asarray, inputs))
    others, notes = library_calls(what.name, arrays, host) if peers is True else (Calls(), {})
    if isinstance(peers, Mapping):
        others = {who: functools.partial(call, *arrays) for who, call in peers.items()}
    ours = {f"cudakern: {name}": functools.partial(what.call, *arrays, variant=name) for name in variants}
    entries = {f"cudakern: {name}": table.find(what.name, name) for name in variants if name != AUTO}
    for who, entry in entries.items():
        if out_type := entry.out_type(inputs[0].dtype):  # only of products
            empty = np.empty if host else cudakern.empty
            ours[who] = functools.partial(ours[who], out=empty((len(inputs[0]), inputs[1].shape[1]), out_type))
    calls: Calls = others | ours
    errors, failed = errors_of(calls, _checker(what, inputs))
    times = timed({who: calls[who] for who in errors}, rounds, host_clock if host else None)
    names = dict(zip(ours, variants, strict=True))
    if (auto := f"cudakern: {AUTO}") in times:
        names[auto] = taken_by_auto(what, arrays)
    flops, bytes = emulator().work(what.name, tuple(x.shape for x in inputs), str(inputs[-1].dtype))
    best = min((np.median(times[who]) for who in others if who in times), default=None)
    lines = []
    for who, samples in times.items():
        at = quantiles(samples)
        ns = max(at["0.5"], 1.0)
        line = Line(shape, who, names.get(who, ""), "", at, len(samples), ns, flops, bytes, error=errors[who])
        if limits:
            rate = (flops / 1e3 if what.name == "matmul" else bytes) / ns
            fewer_bits = who in entries and entries[who].cuts_inputs  # the limit is not that of its arithmetic
            share = None if fewer_bits else limits.ns(flops, bytes) / ns
            line = line._replace(rate=rate, ratio=best and best / ns, share=share)
        lines.append(line)
    return lines + [Line(shape, who, names.get(who, ""), why, {}) for who, why in (notes | failed).items()]


def taken_by_auto(what: Operation, arrays: Sequence[Any]) -> str:
    """The variant that "auto" runs with these arrays. CHOOSER has no kernels of its own: then, the variant that would
    launch the same."""
    taken = profile(what.call, *arrays, repeat=1, warmup=0).variant.name
    if taken == CHOOSER:
        launches = _launches(what, arrays, AUTO)
        for variant in table.variants(what.name):
            if variant.name != CHOOSER and arrays[0].dtype in variant.types and not variant.on_host:
                with contextlib.suppress(NotImplementedError, ValueError, MemoryError):  # it cannot run here
                    if _launches(what, arrays, variant.name) == launches:
                        return variant.name
    return taken


def _launches(what: Operation, arrays: Sequence[Any], variant: str) -> list[tuple[Any, ...]]:
    launches = launches_of(functools.partial(what.call, *arrays, variant=variant))
    return [(x.symbol, x.launches, x.grid, x.block, x.dynamic_shared) for x in launches]


def _checker(what: Operation, inputs: tuple[Any, ...]) -> Callable[[Any], float]:
    """The error of a result: the largest; of a product, that of the norm of as many rows as CHECKED allows."""
    if what.name != "matmul":
        exact = what.reference(*widened(inputs, np.float64))
        return lambda result: compare(result, exact).max
    a, b = inputs
    rows = np.sort(np.random.default_rng().permutation(len(a))[: max(1, CHECKED // b.size)])
    wide = np.complex128 if kind_of(a.dtype) == "c" else np.float64
    product = a[rows].astype(wide) @ b.astype(wide)

    def error(result: Any) -> float:
        integers = result.dtype.kind in "biu"  # modulo their number of values; float64 has the sums exactly
        exact = product.astype(np.int64).astype(result.dtype) if integers else product
        return float(np.linalg.norm(result[rows].astype(wide) - exact) / (np.linalg.norm(exact) or 1))

    return error


def _inputs(what: Operation, shape: tuple[int, ...], kind: np.dtype[Any], seed: int) -> tuple[Any, ...]:
    if what.name == "matmul":
        m, n, k = shape
        shape = (m, k, n)
    if what.name != "matmul" or kind_of(kind) != "f":
        return what.make(shape, kind, seed)
    generator = np.random.default_rng(seed)  # normal numbers: long sums of positive ones overflow float16
    return normal(generator, (m, k), kind), normal(generator, (k, n), kind)


def _lengths(op: str, shapes: Any, emulated: bool) -> list[tuple[int, ...]]:
    """``shapes`` as tuples, or the default."""
    of, rank = "(m, n, k)", 3
    default: list[Any] = [(64, 64, 64) if emulated else (4096, 4096, 4096)]
    if op != "matmul":
        of, rank = "lengths", 1
        default = [4096 if emulated else 1 << 20 if op == "sort" else 1 << 24]  # (one thread merges in the first sorts)
    lengths = list[tuple[int, ...]]()
    with contextlib.suppress(TypeError):
        shapes = default if shapes is None else list(shapes)
        lengths = [tuple(map(operator.index, x if isinstance(x, Sequence) else (x,))) for x in shapes]
    if not lengths or any(len(x) != rank or min(x) < 1 for x in lengths):
        raise ValueError(f"bench: for {op}, shapes= must be a list of {of}, such as {default}, not {shapes!r:.80}")
    return lengths


def _chosen(op: str, kind: np.dtype[Any], names: Sequence[str] | None, here: Backend) -> list[str]:
    """The variants to run; TypeError or ValueError if one is unknown or does not take the type."""
    if names is None:
        entries = [v for v in table.variants(op) if not v.on_host and not v.why_not(here)]
        types = dict.fromkeys(dtype for entry in entries for dtype in entry.types)
        if kind.name not in types:
            raise TypeError(f"bench: the variants of {op} support {', '.join(types)}, not {table.type_in_words(kind)}")
        return [AUTO, *(entry.name for entry in entries if kind.name in entry.types)]
    names = table.names_in(names)
    for entry in (table.find(op, name, (AUTO,)) for name in names if name != AUTO):
        entry.signature(kind)
        if entry.on_host:
            raise ValueError(f"bench compares kernels, but {entry.name!r} runs on the host: leave it out")
    return names


def _that_can_be_fastest(names: list[str]) -> list[str]:
    """Without the first steps of the ladder, and without CHOOSER, which is "auto"."""
    ladder = [v.name for v in table.variants("matmul")]
    slow = {CHOOSER, *ladder[: ladder.index(TUNED_FROM)]}
    return [name for name in names if name not in slow] if set(names) - slow - {AUTO} else names


def _commit() -> str | None:
    """The commit of a checkout; None in an installed package."""
    with contextlib.suppress(OSError):
        if (PACKAGE.parent / ".git").exists():
            command = ["git", "-C", str(PACKAGE.parent), "rev-parse", "HEAD"]
            return subprocess.run(command, capture_output=True, text=True).stdout.strip()
    return None
