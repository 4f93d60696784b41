"""trace: what the memory system of a GPU would do for a kernel, counted without one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from .. import _display
from .._backend import emulator, use_backend
from ..calls.checks import integer
from ..calls.observer import Observed, Observer, Run, observed
from ..own.compile import _Run as OwnRun
from ..own.sets import in_mode
from .costs import by_access, costs
from .counts import SECTOR, Counts, Instruction, Sources, counting, progress, read, together
from .launches import Launches, Resources, label, needs
from .session import name_of, session

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .compared import Compared

_NEAR = 6  #: lines between two that access memory, which are shown
_COPIES = "strided::"  #: kernels of the runtime, which are compiled in the plain mode alone: strided_copy.cuh
_ROWS = ("instructions", "branches", "arithmetic", "operations")
_MOST_ADVICE = 4  #: of the costliest accesses
#: Columns that a narrow terminal leaves out.
_SPARE = ("wave-\nfronts", "L1\nhits", "shared\nbytes", "sectors", "lanes")


class Counted(_display.Shown):
    """What a launch, or several, asked of the memory system: figures by line, and by Nsight Compute's names."""

    def __init__(self, counts: Counts, sources: Sources, resources: Resources) -> None:
        self.name, self.instructions, self.barriers, self.l2 = counts[:4]
        self.branches, self.arithmetic, self.operations, self.sample = counts[4:8]
        self.kernel, self.grid, self.block = counts.kernel, counts.grid, counts.block  #: of a launch
        self.resources, self._sources = resources, sources

    def _sum(self, figure: str, space: str, *kinds: str) -> int:
        return sum(getattr(one, figure) for one in self.instructions if one.space == space and one.what in kinds)

    @property
    def metrics(self) -> dict[str, float]:
        """The figures by the names under which Nsight Compute shows them."""
        result: dict[str, float] = {}
        of_global = {"ld": ("load", "copy"), "st": ("store",), "atom": ("atomic",), "red": ("reduction",)}
        for op, kinds in of_global.items():
            requests, sectors = (self._sum(figure, "global", *kinds) for figure in ("requests", "sectors"))
            unit = f"pipe_lsu_mem_global_op_{op}"
            result[f"l1tex__t_requests_{unit}.sum"] = requests
            result[f"l1tex__t_sectors_{unit}.sum"] = sectors
            if requests:
                result[f"l1tex__average_t_sectors_per_request_{unit}.ratio"] = sectors / requests
        for op, what in (("ld", "load"), ("st", "store"), ("atom", "atomic")):
            kinds = what, f"matrix {what}"  # (the instructions of matrices have a name of their own, below)
            wavefronts, ideal = (self._sum(figure, "shared", *kinds) for figure in ("wavefronts", "ideal"))
            result[f"smsp__sass_inst_executed_op_shared_{op}.sum"] = self._sum("requests", "shared", what)
            result[f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"] = wavefronts
            result[f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum"] = wavefronts - ideal
        copied = self._sum("sectors", "global", "copy")
        result["smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum"] = copied
        for op, what in (("ldgsts", "copy"), ("ldsm", "matrix load")):
            result[f"smsp__sass_inst_executed_op_{op}.sum"] = self._sum("requests", "shared", what)
            passes = self._sum("wavefronts", "shared", what)
            result[f"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"] = passes
        result |= self._of_local() | self._operations()
        targets, divergent = (
            sum(getattr(one, figure) for one in self.branches if not one.predicated)
            for figure in ("warps", "divergent")
        )
        result["smsp__sass_branch_targets.sum"] = targets
        result["smsp__sass_branch_targets_threads_divergent.sum"] = divergent
        result["smsp__sass_branch_targets_threads_uniform.sum"] = targets - divergent
        for kind in ("float", "double"):
            for op, what in (("add", "adds"), ("mul", "multiplies"), ("fma", "fused")):
                count = sum(getattr(one, what) for one in self.arithmetic if one.type == kind)
                result[f"smsp__sass_thread_inst_executed_op_{kind[0]}{op}_pred_on.sum"] = count
        return result | self._caches()

    def _of_local(self) -> dict[str, float]:
        counts = {op: self._sum("requests", "local", what) for op, what in (("ld", "load"), ("st", "store"))}
        return {f"l1tex__t_requests_pipe_lsu_mem_local_op_{op}.sum": count for op, count in counts.items()}

    def _operations(self) -> dict[str, float]:
        def total(figure: str, name: str) -> int:
            return sum(getattr(one, figure) for one in self.operations if one.name == name)

        return {
            "l1tex__t_requests_pipe_tex_mem_texture.sum": total("quads", "texture read"),
            "smsp__sass_inst_executed_op_tma_ld.sum": total("warps", "TMA load"),
            "smsp__sass_inst_executed_op_tma_st.sum": total("warps", "TMA store"),
            "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum": total("shared_bytes", "TMA load")
            + SECTOR * total("edges", "TMA load"),
            "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum": SECTOR * total("sectors", "TMA store"),
        }

    def _caches(self) -> dict[str, float]:
        hits, sectors = (self._sum(figure, "global", "load", "copy") for figure in ("hits", "sectors"))
        of_all = [one for one in self.instructions if one.space == "global"]
        rates = {
            "l1tex__t_sector_hit_rate.pct": (sum(one.hits for one in of_all), sum(one.sectors for one in of_all)),
            "lts__t_sector_hit_rate.pct": (self.l2.hits, self.l2.reads + self.l2.writes + self.l2.atomics),
        }
        return {
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum": hits,
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum": sectors - hits,
            "lts__t_sectors_op_read.sum": self.l2.reads,
            "lts__t_sectors_op_write.sum": self.l2.writes,
            "dram__bytes_read.sum": SECTOR * self.l2.dram,
            **{name: 100 * part / whole for name, (part, whole) in rates.items() if whole},
        }

    @property
    def flops(self) -> dict[str, int]:
        """Additions and multiplications by type: "float", "double", "half"; "matrix": those of products of matrices
        (mma, wgmma), of whatever type."""
        result: dict[str, int] = {}
        if products := sum(one.operations for one in self.operations):
            result["matrix"] = products
        for one in self.arithmetic:
            result[one.type] = result.get(one.type, 0) + one.operations
        return result

    def compare(self, other: Counted) -> Compared:
        """This trace and another one side by side: what changed, by figure, and by line where lines match."""
        from .compared import Compared

        if not isinstance(other, Counted):
            raise TypeError(f"compare takes another trace, not {other!r:.60}")
        return Compared(self, other)

    def by_line(self) -> _display.Table:
        """The source of the lines that are counted, and those between them, with the figures in the margin; in a narrow
        terminal, below each line.

        Lines that cost a large share of all passes through L1 and shared memory, and more than they need, are marked,
        and the note says why.
        """
        columns = {"access": "access", "requests": "requests", "per request": "sectors/\nrequest", "used": "used",
                   "L1 hits": "L1\nhits", "conflicts": "conflicts", "shared bytes": "shared\nbytes",
                   "divergent": "divergent", "operations": "operations", "cost": "cost"}  # fmt: skip
        rows: list[list[str]] = []
        marked, last, paid = [], ("", 0), costs(self.instructions)
        figures_of = self._figures()
        several = len({file for file, _ in figures_of}) > 1
        for (file, line), some in figures_of.items():
            text = self._sources.lines(file)
            first = last[1] + 1 if last[0] == file and line - last[1] < _NEAR else max(1, line - 1)
            empty = [""] * len(columns)
            if several and (last[0] != file or not rows):
                rows.append(["", f"{Path(file).name or 'unknown file'}:", *empty])
            elif rows and first > last[1] + 1:
                rows.append(["...", "", *empty])
            rows += [[str(n), text[n - 1].rstrip(), *empty] for n in range(first, line) if n <= len(text)]
            source = self._line(file, line)
            for figures in some:
                cost = paid.get((file, line, figures["access"]))
                mark = cost is not None and cost.is_marked
                if mark:
                    marked.append(len(rows))
                shares = {"cost": _display.share(cost.share)} if cost else {}
                shown = ((figures | shares).get(name, "") for name in columns)
                rows.append([f"> {line}" if mark else f"{line}", source, *shown])
                source = ""
            last = file, line
        return self._shown(["line", "source", *columns.values()], rows, marked)

    def _shown(self, names: list[str], rows: list[list[str]], marked: list[int]) -> _display.Table:
        """A table of the columns that have an entry, with what costs too much."""
        used = [i for i in range(len(names)) if i < 3 or any(row[i] for row in rows)] if rows else []
        names, rows = [names[i] for i in used], [[row[i] for i in used] for row in rows]
        right = [name for name in names if name not in ("source", "access")]
        notes = [*self._advice(), self._needs()] if rows else []
        notes += self.not_counted
        if any(one.shared_bytes for one in self.operations):
            notes.append("Shared bytes: what TMA and wgmma read or write there, without threads.")
        if any(one.space == "local" for one in self.instructions):
            notes.append("Local: of arrays of a thread by an index that varies, so that they cannot be in registers.")
        if any(one.predicated for one in self.branches):
            notes.append("Predicate: an if so small that all lanes execute both ways, without a branch.")
        if "cost" in names:
            notes.append("Cost: share of all passes: 4 sectors each through L1, a word per bank through shared memory.")
        return _display.Table(self._title(), names, rows, "\n".join(filter(None, notes)), right, _SPARE, marked)

    def _advice(self) -> Iterator[str]:
        """Sentences on the costliest accesses: why they cost more than they should, those with the same reasons as one;
        and on constants."""
        groups: dict[tuple[str, ...], list[tuple[str, int, str]]] = {}
        paid = costs(self.instructions)
        for place in sorted(paid, key=lambda place: -paid[place].share):
            if paid[place].is_marked:
                groups.setdefault(tuple(paid[place].reasons), []).append(place)
        for reasons, places in list(groups.items())[:_MOST_ADVICE]:
            share = _display.share(sum(paid[place].share for place in places))
            yield f"{_places(places)}, {share} of the cost: {'; '.join(reasons)}."
        for file, line, access in [some[0] for some in groups.values()][:1]:
            if remedy := paid[file, line, access].remedy(self._line(file, line)):
                yield f"What would help line {line}: {remedy}."
        constants = [one for one in self.instructions if one.space == "constant"]
        words = {(one.file, one.line, "constant load"): len({at for _, at in one.worst}) for one in constants}
        if places := [place for place, count in words.items() if count > 1]:
            why = "different words, which come one after another; one for all lanes is fast"
            yield f"{_places(places)}: up to {max(words.values())} {why}."

    def heatmap(self, line: int | None = None, steps: int = 0) -> Figure:
        """The costliest request of a line, by default of the costliest one, as a picture: which sectors, or banks, each
        lane of the warp accesses.

        With ``steps``, the first so many requests (at most 8) that one warp makes there, one after another: those of a
        loop's iterations.

        Raises ValueError if no such line, or none at all, accesses memory. Needs matplotlib
        (``pip install cudakern[plot]``).
        """
        every = [one for one in self.instructions if one.space != "local"]
        some = [one for one in every if one.line == line]
        if line is None and (paid := costs(every)):
            some = by_access(every)[max(paid, key=lambda place: (paid[place].is_marked, paid[place].share))]
        if not some and line is None:
            raise ValueError("no line accesses memory that is counted")
        if not some:
            known = ", ".join(str(n) for n in sorted({one.line for one in every}))
            raise ValueError(f"line {line} accesses no memory that is counted; these do: {known}")
        from .heatmap import heatmap

        one = max(some, key=lambda one: one.wavefronts - one.ideal or one.sectors / one.requests)
        if steps and not one.steps:  # another launch has them
            one = next(other for other in some if other.steps and (other.what, other.space) == (one.what, one.space))
        return heatmap(one, integer("heatmap: steps", steps, 0, 8))

    def _line(self, file: str, line: int) -> str:
        text = self._sources.lines(file)
        return text[line - 1].rstrip() if 0 < line <= len(text) else ""

    def text(self, file: str) -> list[str]:
        """The lines of a file of ``lines()``; empty if it is not known."""
        return self._sources.lines(file)

    def lines(self) -> dict[tuple[str, int], list[Instruction]]:
        """The instructions of each line of each file, in the lines' order."""
        result: dict[tuple[str, int], list[Instruction]] = {}
        for one in sorted(self.instructions, key=lambda one: (one.file, one.line)):
            result.setdefault((one.file, one.line), []).append(one)
        return result

    def _figures(self) -> dict[tuple[str, int], list[dict[str, str]]]:
        """The rows of each line of each file, in the lines' order: figures by column."""
        result = {place: [{"access": what, **row} for what, row in _accesses(of)] for place, of in self.lines().items()}
        for one in self.branches:
            row = {
                "access": "predicate" if one.predicated else "branch",
                "requests": f"{one.warps:,}",
                "lanes": f"{one.threads / one.warps:.3g}",
            }
            result.setdefault((one.file, one.line), []).append(row | {"divergent": f"{one.divergent:,}"})
        for it in self.operations:
            row = {"access": it.name, "requests": f"{it.warps:,}", "lanes": f"{it.threads / it.warps:.3g}"}
            if it.sectors:
                row |= {"sectors": f"{it.sectors:,}", "used": _display.share(it.used / (SECTOR * it.sectors))}
            row |= {"shared bytes": f"{it.shared_bytes:,}"} if it.shared_bytes else {}
            row |= {"operations": f"{it.operations:,}"} if it.operations else {}
            result.setdefault((it.file, it.line), []).append(row)
        for some in self.arithmetic:
            row = {"access": some.type, "operations": f"{some.operations:,}"}
            result.setdefault((some.file, some.line), []).append(row)
        files: dict[str, float] = {}  # the costliest first
        for (file, _, _), cost in costs(self.instructions).items():
            files[file] = files.get(file, 0) + cost.share
        return dict(sorted(result.items(), key=lambda row: (-files.get(row[0][0], 0), row[0])))

    def table(self) -> _display.Table:
        """One row per line and what it does: kind of access and memory space, branch, arithmetic of a type."""
        columns = {name: name for name in ("access", "requests", "lanes", "sectors")}
        columns |= {
            "per request": "sectors/\nrequest",
            "used": "used",
            "L1 hits": "L1\nhits",
            "wavefronts": "wave-\nfronts",
        }
        columns |= {"conflicts": "conflicts", "shared bytes": "shared\nbytes", "divergent": "divergent"}
        columns |= {"operations": "operations"}
        rows: list[list[str]] = []
        marked, paid = [], costs(self.instructions)
        for (file, line), some in self._figures().items():
            for figures in some:
                if (cost := paid.get((file, line, figures["access"]))) and cost.is_marked:
                    marked.append(len(rows))
                place = f"{Path(file).name}:{line}" if line else "unknown"
                rows.append([place, *(figures.get(name, "") for name in columns)])
        return self._shown(["line", *columns.values()], rows, marked)

    def _title(self) -> str:
        return ": ".join([self.name, *filter(None, ["; ".join(self._notes())])])

    def _notes(self) -> Iterator[str]:
        """What the title adds to the name."""
        if self.barriers:
            yield f"{self.barriers:,} arrival{'s' * (self.barriers != 1)} of warps at barriers"
        if self.sample:
            yield str(self.sample)

    @property
    def not_counted(self) -> list[str]:
        """Sentences on what the launches may do besides what is counted."""
        return []

    def _needs(self) -> str:
        """What a launch needs of a multiprocessor, in words; empty if that is not known, or of several launches."""
        known = needs(self) if self.kernel else {}
        units = {"registers": "{} registers per thread", "spilled bytes": "{} bytes of them spilled",
                 "local bytes": "{} bytes of local memory per thread",
                 "shared bytes": "{} bytes of shared memory per block", "occupancy": "occupancy up to {}"}  # fmt: skip
        parts = [units[name].format(x) for name, x in known.items() if x != "0"]
        return f"Needs {', '.join(parts)}." if parts else ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "metrics": self.metrics,
            "flops": self.flops,
            **{name: [vars(one) for one in getattr(self, name)] for name in _ROWS},
        }


def _places(places: Sequence[tuple[str, int, str]]) -> str:
    """In words: "lines 5 and 7, shared load and shared store"."""
    several = len({file for file, _, _ in places}) > 1
    lines = dict.fromkeys(f"{Path(file).name}:{line}" if several else f"{line}" for file, line, _ in sorted(places))
    accesses = dict.fromkeys(access for _, _, access in places)
    label = "" if several else "lines " if len(lines) > 1 else "line "
    return f"{label}{_listed(lines)}, {_listed(accesses)}"


def _listed(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _accesses(instructions: Sequence[Instruction]) -> Iterator[tuple[str, dict[str, str]]]:
    """The kinds of accesses, such as "global load", each with the figures of its instructions by column."""
    for space, what in sorted({(one.space, one.what) for one in instructions}):
        some = [one for one in instructions if (one.space, one.what) == (space, what)]
        requests, lanes, sectors, used, wavefronts, ideal, hits = (
            sum(getattr(one, name) for one in some)
            for name in ("requests", "lanes", "sectors", "used", "wavefronts", "ideal", "hits")
        )
        shared = space == "shared"
        yield (
            f"{space} {what}",
            {
                "requests": f"{requests:,}",
                "lanes": f"{lanes / requests:.3g}",
                "sectors": f"{sectors:,}" if space == "global" else "",
                "per request": f"{sectors / requests:.3g}" if space == "global" else "",
                "used": _display.share(used / (SECTOR * sectors)) if space == "global" else "",
                "L1 hits": _display.share(hits / sectors) if space == "global" else "",
                "wavefronts": f"{wavefronts:,}" if shared else "",
                "conflicts": f"{wavefronts - ideal:,}" if shared else "",
            },
        )


class Trace(Counted):
    """The counters of a call: of all its launches together, and of each in ``launches``."""

    def __init__(self, name: str, launches: Sequence[Counts], sources: Sources, resources: Resources) -> None:
        super().__init__(together(name, launches), sources, resources)
        named = (launch._replace(name=label(launch)) for launch in launches)
        self.launches = Launches(Counted(launch, sources, resources) for launch in named)
        if len(launches) == 1:
            self.kernel, self.grid, self.block = launches[0].kernel, launches[0].grid, launches[0].block

    def _title(self) -> str:
        if not self.launches:
            return f"{self.name}: no kernel was launched, so there is nothing to count"
        if not self._figures():
            measured = "profile, ladder, bench and lab launch what they measure themselves"
            why = "" if self.not_counted else "its kernels access no memory" if self.resources else measured
            return f"{self.name}: nothing was counted{f' ({why})' if why else ''}"
        return super()._title()

    @property
    def not_counted(self) -> list[str]:
        """Sentences on what the launches may do besides what is counted."""
        kernels = [one.kernel.removeprefix(_COPIES) for one in self.launches if one.kernel.startswith(_COPIES)]
        names, count = ", ".join(sorted({name.partition("<")[0] for name in kernels})), len(kernels)
        what = "with which the package copies, converts and fills arrays"
        copies = [f"Not counted: {names} ({count:,} launch{'es' * (count != 1)}), {what}."] if kernels else []
        return copies + super().not_counted

    def _notes(self) -> Iterator[str]:
        if len(self.launches) > 1:
            yield f"{len(self.launches):,} launches, each in .launches"
        elif not self.name.startswith(f"{self.kernel}["):
            yield self.launches[0].name
        yield from super()._notes()


class _Tracing(Observer):
    """Runs every call in the set whose kernels report what they do."""

    mode = "traced"

    def __init__(self, library: Any) -> None:
        self.sources, self.resources, self.library, self.native = Sources(), Resources(), library, emulator()

    def kernel(self, run: Observed) -> None:
        if isinstance(run, Run):
            self.sources.add_operation(run.variant.operation)
        else:
            self.sources.add(cast(OwnRun, run).launch.kernel.program.source)
        if run.native is not self.native:
            raise TypeError("trace runs kernels on the emulator: pass NumPy arrays, or arrays made inside it")
        run = in_mode(run, self.mode)
        self.resources.add(run)
        with progress(self.library):
            run.execute()
            run.native.synchronize(run.device)


def trace(function: Callable[..., Any], *arguments: Any, sample: int | None = None, **keywords: Any) -> Trace:
    """Run a call on the emulator, and count what its kernels ask of the memory system.

    Parameters
    ----------
    function : callable
        An operation, a launch of a kernel of your own, ``kernel[grid, block]``, or any function that calls these.
    *arguments, **keywords
        Its arguments.
    sample : int, optional
        How many blocks of each launch to count, in eight runs of neighbors; 0 counts all. By default, launches of more
        than 1,048,576 threads are sampled by blocks of 262,144 threads. All blocks run; the figures are scaled.

    Returns
    -------
    Trace
        The counters, which display as a table with a row per line. ``metrics`` has them by Nsight Compute's names.

    Raises
    ------
    TypeError
        If ``function`` cannot be called, or arrays are on a GPU.
    ValueError
        If ``sample`` is negative.

    Examples
    --------
    >>> import numpy as np, cudakern as ck
    >>> program = ck.compile('''
    ... __global__ void every_second(const float *x, float *y) {
    ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...     y[i] = x[2 * i];
    ... }''')
    >>> x = np.zeros(2048, "f4")
    >>> t = ck.trace(program.every_second[4, 256], x, np.zeros(1024, "f4"))
    >>> [(one.line, one.what, one.requests, one.sectors) for one in t.instructions]
    [(4, 'load', 32, 256), (4, 'store', 32, 128)]
    """
    name = " ".join([name_of(function, "trace"), *(str(keywords[word]) for word in ("variant",) if word in keywords)])
    with session.paused(), use_backend("emulator"), counting(sample) as library, observed(_Tracing(library)) as by:
        function(*arguments, **keywords)
        by.native.synchronize(by.native.current_device())  # copies may be queued
        launches = read(library, by.sources)
    return Trace(name, launches, by.sources, by.resources)
