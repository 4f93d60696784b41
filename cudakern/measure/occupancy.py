"""The occupancy calculator: how many blocks a multiprocessor holds at once, and what limits them."""

from __future__ import annotations

import operator
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _display
from .._backend import backend
from ..calls import table
from ..calls.checks import integer
from ..chips.chip import CHIPS, MULTIPROCESSORS, Multiprocessor
from ..operations.variants import NameOrFunction, operation_name
from ..own.compile import Kernel, Launch
from .resources import kernel_resources

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WARP = 32  #: threads per warp
BLOCK_THREADS = 1024  #: most threads per block, on all of these chips
THREAD_REGISTERS = 255  #: most registers per thread
REGISTER_UNIT = 256  #: registers are allocated to a warp in multiples of this number

#: The parameters that a plot varies.
AXES = {"threads": "threads per block", "registers": "registers per thread", "shared_bytes": "shared bytes per block"}
#: What to reduce where a limit leaves no block.
LESS = {"registers": "registers= or threads=", "shared memory": "shared_bytes="}


class Limit(NamedTuple):
    """A resource of which a multiprocessor has a limited amount."""

    name: str
    per_block: int | None  #: as allocated to a block; None: not known
    available: int  #: per multiprocessor
    unit: str
    blocks: int | None  #: blocks that fit, by this limit alone; None: no limit
    note: str = ""


def _round_up(x: int, unit: int) -> int:
    return -(-x // unit) * unit


def _counted(number: int | None, unit: str) -> str:
    """1 block, 32 blocks."""
    return "not known" if number is None else f"{number:,} {unit.removesuffix('s') if number == 1 else unit}"


@dataclass(frozen=True, repr=False)
class Occupancy(_display.Shown):
    """The share of a multiprocessor that a launch occupies; displays as a table, with ``plot()`` and ``to_dict()``."""

    threads: int  #: per block
    registers: int | None  #: per thread; None: not known, and no limit here
    shared_bytes: int  #: per block, static and dynamic
    capability: tuple[int, int]
    chip: Multiprocessor  #: a multiprocessor's resources; shared memory as configured
    kernel: str = ""  #: name of the launched kernel, if one was passed
    note: str = ""
    static_unknown: bool = False  #: shared_bytes lacks the kernel's static shared memory

    @property
    def _warps(self) -> int:
        return -(-self.threads // WARP)  # per block

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        """Warps, blocks, registers, shared memory.

        A warp's registers are in one partition; the limit per block assumes that it fills all of them equally.
        """
        chip, warps, registers = self.chip, self._warps, self.registers
        blocks, note = None, ""
        if registers:
            registers = _round_up(registers * WARP, REGISTER_UNIT)
            fitting = chip.registers // chip.partitions // registers * chip.partitions
            blocks, note = fitting // warps, f"{registers:,} per warp: {fitting} warps"
            if registers * _round_up(warps, chip.partitions) > chip.registers_per_block:
                blocks, note = 0, f"at most {chip.registers_per_block:,} per block"
            registers *= warps
        shared = _round_up(self.shared_bytes + chip.reserved, chip.shared_unit)
        fits, why = chip.shared // shared if shared else None, ""
        if self.shared_bytes > chip.shared_per_block:
            fits, why = 0, f"at most {chip.shared_per_block:,} B per block"
        elif chip.reserved:
            why = f"including {chip.reserved:,} B for the system"
        return (
            Limit("warps", warps, chip.warps, "warps", chip.warps // warps),
            Limit("blocks", 1, chip.blocks, "blocks", chip.blocks),
            Limit("registers", registers, chip.registers, "registers", blocks, note),
            Limit("shared memory", shared, chip.shared, "B", fits, why),
        )

    @property
    def active_blocks(self) -> int:
        """Blocks resident on a multiprocessor at once."""
        return min(limit.blocks for limit in self.limits if limit.blocks is not None)

    @property
    def active_warps(self) -> int:
        """Warps of the active blocks."""
        return self.active_blocks * self._warps

    @property
    def active_threads(self) -> int:
        """Threads of the active blocks."""
        return self.active_blocks * self.threads

    @property
    def occupancy(self) -> float:
        """Active warps as a share of the warps that a multiprocessor can hold."""
        return self.active_warps / self.chip.warps

    @property
    def limited_by(self) -> tuple[str, ...]:
        """The names of the limits that determine the number of active blocks."""
        return tuple(limit.name for limit in self.limits if limit.blocks == self.active_blocks)

    def varied(self, **changes: int) -> Occupancy:
        """The same launch with ``changes``: other ``threads``, ``registers`` or ``shared_bytes``."""
        return replace(self, static_unknown=self.static_unknown and "shared_bytes" not in changes, **changes)  # type: ignore[arg-type]

    def curves(self) -> dict[str, list[tuple[int, int]]]:
        """(value, active warps) for all values of ``threads``, ``registers`` and ``shared_bytes``, one at a time."""
        ranges = {"threads": range(WARP, BLOCK_THREADS + 1, WARP)}
        if self.registers is not None:
            ranges["registers"] = range(1, THREAD_REGISTERS + 1)
        ranges["shared_bytes"] = range(0, self.chip.shared_per_block + 1, 512)
        return {name: [(x, self.varied(**{name: x}).active_warps) for x in xs] for name, xs in ranges.items()}

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        names = "kernel threads registers shared_bytes capability note active_blocks active_warps active_threads"
        figures = {name: getattr(self, name) for name in (*names.split(), "occupancy", "limited_by")}
        return figures | {"chip": self.chip._asdict(), "limits": [limit._asdict() for limit in self.limits]}

    def table(self) -> _display.Table:
        """One row per limit; the note gives the occupancy."""
        rows = []
        for limit in self.limits:
            sizes = [_counted(limit.per_block, limit.unit), _counted(limit.available, limit.unit)]
            rows.append([limit.name, *sizes, "no limit" if limit.blocks is None else f"{limit.blocks:,}", limit.note])
        most = "at most " if self.registers is None or self.static_unknown else ""
        registers = "an unknown number of" if self.registers is None else self.registers
        memory = f"{self.shared_bytes:,} B of {'dynamic ' if self.static_unknown else ''}shared memory"
        title = f"{self.kernel and f'{self.kernel}: '}blocks of {self.threads} threads with {registers} registers each "
        title += f"and {memory}, compute capability {'.'.join(map(str, self.capability))}"
        note = f"{_counted(self.active_blocks, 'blocks')}, {self.active_warps} of {self.chip.warps} warps: "
        limits = " and ".join(self.limited_by).replace(" and ", ", ", len(self.limited_by) - 2)
        note += f"occupancy {most}{self.occupancy:.1%}. Limited by {limits}. "
        if not self.active_blocks:
            less = " and ".join(LESS[name] for name in self.limited_by)
            note += f"No block fits, so a launch would fail: pass a smaller {less}. "
        figures = ["per block", "per multiprocessor", "blocks"]
        return _display.Table(title, ["limit", *figures, " "], rows, (note + self.note).strip(), figures)

    def plot(self, path: str | None = None) -> Figure:
        """Active warps over threads, registers and shared memory, with this launch marked; ``path`` also saves it.
        Needs matplotlib."""
        from .plots import Picture

        curves = self.curves()
        picture = Picture(figsize=(3.2 * len(curves), 3), layout="constrained")
        axes: Any = picture.subplots(1, len(curves), sharey=True)
        for panel, (name, points) in zip(axes, curves.items(), strict=True):
            panel.step(*zip(*points, strict=True), where="post", linewidth=1.2)
            panel.plot([getattr(self, name)], [self.active_warps], marker="^", color="crimson", clip_on=False)
            panel.axhline(self.chip.warps, linewidth=0.6, linestyle=":", color="gray")
            panel.spines[["top", "right"]].set_visible(False)
            panel.set_xlabel(AXES[name], fontsize=9)
            panel.xaxis.set_major_formatter("{x:,.0f}")
            panel.locator_params(axis="x", nbins=4)
        axes[0].set_ylabel("active warps", fontsize=9)
        axes[0].set_ylim(0, self.chip.warps * 1.08)
        picture.suptitle(textwrap.fill(self.table().title, 38 * len(curves)), fontsize=9)
        return picture.saved(path)


class PotentialBlockSize(NamedTuple):
    """The result of ``max_potential_block_size``."""

    grid: int
    threads: int


def _capability(value: Any) -> tuple[int, int]:
    """A capability (7.0, "7.0", (7, 0), 70, 7) or a chip ("V100") as (7, 0); None is this device's."""
    value = backend().capability / 10 if value is None else value
    text = ".".join(map(str, value)) if isinstance(value, tuple) else str(value).upper()
    try:
        number = CHIPS[text].capability if text in CHIPS else float(text)
    except ValueError:
        allowed = f'9.0, "9.0", (9, 0), 90 or a chip ({", ".join(CHIPS)})'
        raise TypeError(f"occupancy: capability= must be {allowed}, not {value!r}") from None
    for known in MULTIPROCESSORS:
        if number in (known, known / 10):
            return known // 10, known % 10
    names = ", ".join(f"{known / 10}" for known in MULTIPROCESSORS)
    raise ValueError(f"occupancy: no data for capability={value!r} (default: this device's); known: {names}")


def occupancy(
    op: NameOrFunction | None = None,
    variant: str | None = None,
    *,
    threads: int | None = None,
    registers: int | None = None,
    shared_bytes: int | None = None,
    capability: float | str | tuple[int, int] | None = None,
    shared_config: int | None = None,
    dtype: Any = None,
    **parameters: Any,
) -> Occupancy:
    """The occupancy calculator: how many blocks of a kernel a multiprocessor holds at once, and what limits them.

    Parameters
    ----------
    op, variant : str or function; str, optional
        A kernel of this package, or one of your own without ``variant``. Its figures from ``kernel_resources`` are the
        defaults of the next three parameters.
    threads : int
        Per block, 1 to 1024. If the variant has a parameter ``threads=``, this sets it, and shared memory follows.
    registers : int, optional
        Per thread, 0 to 255. Default: registers set no limit, and the result notes this.
    shared_bytes : int, optional
        Per block, static and dynamic together, without what the system adds. Default: 0.
    capability : float, str or tuple, optional
        A compute capability, as 9.0, "9.0" or (9, 0), or a chip, such as "H200". Default: this device's.
    shared_config : int, optional
        Bytes of a multiprocessor's shared memory, if less than the maximum (the rest is cache).
    dtype, **parameters : optional
        The type of the kernel's input (default: the operation's usual one) and the variant's parameters: ``tile=32``.

    Returns
    -------
    Occupancy

    Raises
    ------
    TypeError, ValueError
        A value of the wrong type or out of range; an unknown capability or variant.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.occupancy(threads=256, registers=64, capability="P100").occupancy
    0.5
    >>> cudakern.occupancy(threads=32, capability=6.0).limited_by
    ('blocks',)
    """
    kernel, notes, static_unknown, where = "", [], False, _capability(capability)
    if op is not None:
        if isinstance(op, int):
            raise TypeError(f"occupancy: {op} is not an operation; to pass a number of threads, use threads={op}")
        if isinstance(op, (Kernel, Launch)):
            kernels = kernel_resources(op, variant, dtype, **parameters)
            kernel = op.__name__
        else:
            op = operation_name(op)
            if variant is None:
                raise TypeError(f"occupancy: {table.pass_a_variant(op)}")
            if threads is not None and table.having("threads", [table.find(op, variant)]):
                parameters["threads"] = threads
            kernels = kernel_resources(op, variant, dtype, **parameters)
            if not kernels:
                raise ValueError(f"occupancy: {op} {variant!r} launches no kernel of its own")
            kernel = f"{op}, {variant}" + (f", kernel {kernels[0].kernel}" if kernels[0].kernel != variant else "")
        main, target = kernels[0], f"{where[0]}.{where[1]}"
        threads = main.threads if threads is None else threads
        unknown = f"not known ({main.why}); pass"
        if registers is None:
            registers = main.registers
            if registers is None:
                notes.append(f"The number of registers is {unknown} registers=.")
            elif main.capability != target:
                code = f"the code for {main.capability}; a build for {target} may differ"
                notes.append(f"The registers are those of {code}.")
        if shared_bytes is None:
            shared_bytes, static_unknown = main.shared_bytes, main.static_shared is None
            if static_unknown:
                notes.append(f"The static shared memory is {unknown} shared_bytes=.")
        if others := ", ".join(dict.fromkeys(other.kernel for other in kernels[1:])):
            notes.append(f"A call also launches {others}: see kernel_resources({op!r}, {variant!r}).")
    elif variant is not None or dtype is not None or parameters:
        first = next(iter(parameters), "variant" if variant is not None else "dtype")
        without = f"without them it takes {', '.join(AXES)}, capability and shared_config"
        raise TypeError(f"occupancy: {first}= needs an operation and a variant; {without}")
    if threads is None:
        raise TypeError("occupancy: pass threads= (per block), or an operation and a variant")
    chip = MULTIPROCESSORS[10 * where[0] + where[1]]
    if shared_config is not None:
        size = integer("occupancy: shared_config", shared_config, 0, chip.shared)
        chip = chip._replace(shared=size, shared_per_block=min(chip.shared_per_block, size))
    threads = integer("occupancy: threads", threads, 1, BLOCK_THREADS)
    registers = None if registers is None else integer("occupancy: registers", registers, 0, THREAD_REGISTERS)
    shared_bytes = integer("occupancy: shared_bytes", 0 if shared_bytes is None else shared_bytes, 0)
    return Occupancy(threads, registers, shared_bytes, where, chip, kernel, " ".join(notes), static_unknown)


def max_potential_block_size(
    *,
    registers: int | None = None,
    shared_bytes: int | Callable[[int], int] = 0,
    capability: float | str | tuple[int, int] | None = None,
    multiprocessors: int | None = None,
    threads_limit: int = BLOCK_THREADS,
) -> PotentialBlockSize:
    """The block size with the most resident threads, and the smallest grid of such blocks that fills the chip.

    Parameters
    ----------
    registers, capability : optional
        As for ``occupancy``.
    shared_bytes : int or function
        Per block, or a function that computes it from the threads per block.
    multiprocessors, threads_limit : int, optional
        Those of the chip (default: the chip that ``capability`` names, else this device), and the largest block size to
        consider, e.g. a kernel's launch bound.

    Returns
    -------
    PotentialBlockSize
        As cudaOccupancyMaxPotentialBlockSize: the largest of the best block sizes; (0, 0) if no block fits.

    Raises
    ------
    TypeError, ValueError
        As for ``occupancy``.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.max_potential_block_size(registers=40, capability="V100")
    PotentialBlockSize(grid=160, threads=768)
    """
    if multiprocessors is None:
        chip = CHIPS.get(str(capability).upper())
        multiprocessors = chip.multiprocessors if chip else backend().properties["multiprocessors"]
    multiprocessors = integer("max_potential_block_size: multiprocessors", multiprocessors, 1)
    if registers is not None:
        registers = integer("max_potential_block_size: registers", registers, 0, THREAD_REGISTERS)
    most = integer("max_potential_block_size: threads_limit", threads_limit, 1, BLOCK_THREADS)
    where = _capability(capability)  # asked once, because it may ask the device

    def resident(threads: int) -> Occupancy:
        shared = shared_bytes(threads) if callable(shared_bytes) else shared_bytes
        shared = integer("max_potential_block_size: shared_bytes", shared, 0)
        return Occupancy(threads, registers, shared, where, MULTIPROCESSORS[10 * where[0] + where[1]])

    sizes = [min(aligned, most) for aligned in range(_round_up(most, WARP), 0, -WARP)]
    best = max(map(resident, sizes), key=operator.attrgetter("active_threads"))  # of equals the first, the largest
    return PotentialBlockSize(best.active_blocks * multiprocessors, best.threads if best.active_blocks else 0)
