"""The launches of a trace: how large they are, and what their kernels need of a multiprocessor."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from .. import _display
from .._backend import use_backend
from ..calls.observer import Observed, Run
from ..own.compile import _Run as OwnRun

if TYPE_CHECKING:
    from ..measure.resources import KernelResources
    from .counters import Counted
    from .counts import Counts

_MOST = 100  #: rows of a table
_LONG = 20  #: characters of a template's arguments; more are left out
_COLUMNS = ("", "kernel", "grid", "block", "registers", "spilled bytes", "local bytes", "shared bytes", "occupancy",
            "requests", "sectors", "conflicts")  # fmt: skip


class Resources:
    """What the kernels that were launched need; looked up when it is displayed, because a compiler may have to say."""

    def __init__(self, known: Sequence[KernelResources] = ()) -> None:
        self._of: dict[object, Callable[[], Sequence[KernelResources]]] = {None: lambda: known} if known else {}

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, or what is pickled, knows what this one can look up."""
        return Resources, ([one for known in self._of.values() for one in known()],)

    def __bool__(self) -> bool:
        """Whether any kernels were launched."""
        return bool(self._of)

    def add(self, run: Observed) -> None:
        """Remembers a run, without its arrays."""
        if not isinstance(run, Run):
            own = replace(cast(OwnRun, run), arguments=(), results=())
            launch = own.launch
            of_own = launch.kernel, launch.grid, launch.block, launch.shared
            self._of.setdefault(of_own, functools.cache(lambda: _listed(own, compiles=True)))
        elif (key := (run.variant.operation, run.variant.name, run.values, run.dtype, run.shapes)) not in self._of:
            known = _listed(run, compiles=False)
            self._of[key] = lambda: known

    def of(self, launch: Counted) -> KernelResources | None:
        """Those of a launch's kernel: the one of that name, if only one has it."""
        every = [one for known in self._of.values() for one in known() if one.block == launch.block]
        for name in (str, _plain):
            same = [one for one in every if name(one.kernel) == name(launch.kernel)]
            if len({one.symbol for one in same}) == 1:
                return max(same, key=lambda one: one.grid == launch.grid)
        return None


def _listed(run: Observed, compiles: bool) -> list[KernelResources]:
    from ..measure.resources import _resources

    with use_backend("emulator"):
        return [_resources(run, launch, compiles) for launch in run.launches(())]


def label(launch: Counts) -> str:
    """A launch in words: "vectorized<true>, grid 4, block 256"."""
    kernel = launch.kernel
    arguments = kernel[len(kernel.partition("<")[0]) :]
    kernel = _plain(kernel) + (arguments if len(arguments) <= _LONG else "<...>")
    return f"{kernel}, grid {_display.dimensions(launch.grid)}, block {_display.dimensions(launch.block)}"


def _plain(kernel: str) -> str:
    """Its name without namespaces and templates' arguments."""
    return re.sub(r"<.*", "", kernel).rpartition("::")[2]


def needs(launch: Counted) -> dict[str, str]:
    """What a launch needs of a multiprocessor, by the names of columns; without what is not known."""
    from ..measure.occupancy import occupancy

    result: dict[str, str] = {}
    one = launch.resources.of(launch)
    if one is None or one.static_shared is None:
        return result
    if one.registers is not None:
        result["registers"] = f"{one.registers}"
    if one.spills:
        result["spilled bytes"] = f"{one.spills:,}"
    if one.local_bytes and not one.spills:
        result["local bytes"] = f"{one.local_bytes:,}"
    result["shared bytes"] = f"{one.shared_bytes:,}"
    if one.registers is not None:
        with use_backend("emulator"):
            here = occupancy(threads=one.threads, registers=one.registers, shared_bytes=one.shared_bytes)
        result["occupancy"] = f"{here.occupancy:.0%}"
    return result


class Launches(_display.Shown, tuple["Counted", ...]):
    """The launches of a call, in their order; displays as a table. Each displays as a trace does."""

    __slots__ = ()

    def table(self) -> _display.Table:
        """One row per launch, of the first ones."""
        rows = []
        for number, one in enumerate(self[:_MOST]):
            sizes = {"": f"{number}", "kernel": one.name.rpartition(", grid")[0]} | {
                name: _display.dimensions(getattr(one, name)) for name in ("grid", "block")
            }
            counts = dict.fromkeys(("requests", "sectors", "conflicts"), "-")
            if one.instructions:
                in_global = [x for x in one.instructions if x.space == "global"]
                counts = {name: f"{sum(getattr(x, name) for x in in_global):,}" for name in ("requests", "sectors")}
                counts["conflicts"] = f"{sum(x.wavefronts - x.ideal for x in one.instructions):,}"
            rows.append(sizes | needs(one) | counts)
        heads = [name for name in _COLUMNS if any(name in row for row in rows)]
        cells = [[row.get(name, "") for name in heads] for row in rows]
        notes = [f"... and {len(self) - _MOST:,} more."] if len(self) > _MOST else []
        notes += ["Requests and sectors are those of global memory, conflicts those of shared memory."] if rows else []
        right = [name for name in heads if name != "kernel"]
        title = f"{len(self):,} launch{'es' * (len(self) != 1)}"
        return _display.Table(title, heads, cells, "\n".join(notes), right)

    def to_dict(self) -> list[dict[str, Any]]:
        """One dictionary per launch, for JSON."""
        return [one.to_dict() for one in self]
