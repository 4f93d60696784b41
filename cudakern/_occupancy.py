"""How many blocks a multiprocessor holds at once, and what limits them: the occupancy calculator."""

from __future__ import annotations

import operator
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _display
from ._backend import backend
from ._chip import CHIPS, MULTIPROCESSORS, Multiprocessor
from ._resources import main_kernel
from ._variants import Named, operation_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WARP = 32  #: threads a warp
BLOCK_THREADS = 1024  #: threads a block may have, on all of these chips
THREAD_REGISTERS = 255  #: registers that a thread can name
REGISTER_UNIT = 256  #: a warp's registers are given out in pieces of this many


class Limit(NamedTuple):
    """One of the things that a multiprocessor has only so much of."""

    name: str
    per_block: int | None  #: that a block takes, as it is given out; None: not known
    available: int  #: that a multiprocessor has
    unit: str
    blocks: int | None  #: that fit, by this alone; None: it sets no limit
    note: str = ""


@dataclass(frozen=True, repr=False)
class Occupancy(_display.Shown):
    """What a launch occupies of a multiprocessor: shown as a table, with ``plot()`` and ``to_dict()``."""

    threads: int  #: per block
    registers: int | None  #: per thread; None: not known, and they set no limit here
    shared_bytes: int  #: per block, static and dynamic
    capability: tuple[int, int]
    chip: Multiprocessor  #: what a multiprocessor has; its shared memory is the configured size
    kernel: str = ""  #: whose launch it is, if one was named
    note: str = ""
    static_unknown: bool = False  #: the kernel's own shared memory is not known, and not among shared_bytes

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        """Warps, blocks, registers, shared memory."""
        chip, warps = self.chip, _divide_up(self.threads, WARP)
        return (
            Limit("warps", warps, chip.warps, "warps", chip.warps // warps),
            Limit("blocks", 1, chip.blocks, "blocks", chip.blocks),
            Limit("registers", *_registers(chip, warps, self.registers)),
            Limit("shared memory", *_shared(chip, self.shared_bytes)),
        )

    @property
    def active_blocks(self) -> int:
        """Blocks that a multiprocessor holds at once."""
        return min(limit.blocks for limit in self.limits if limit.blocks is not None)

    @property
    def active_warps(self) -> int:
        """Warps of these blocks."""
        return self.active_blocks * _divide_up(self.threads, WARP)

    @property
    def active_threads(self) -> int:
        """Threads of these blocks."""
        return self.active_blocks * self.threads

    @property
    def occupancy(self) -> float:
        """Active warps as a share of those that the multiprocessor could hold."""
        return self.active_warps / self.chip.warps

    @property
    def limited_by(self) -> tuple[str, ...]:
        """The names of the limits that allow no more blocks than there are."""
        return tuple(limit.name for limit in self.limits if limit.blocks == self.active_blocks)

    def varied(self, **changes: int) -> Occupancy:
        """The same launch with changes: another ``threads``, ``registers`` or ``shared_bytes``."""
        unknown = self.static_unknown and "shared_bytes" not in changes
        launch: dict[str, Any] = {"static_unknown": unknown, **changes}
        return replace(self, **launch)

    def curves(self) -> dict[str, list[tuple[int, int]]]:
        """(value, active warps) as one of ``threads``, ``registers`` and ``shared_bytes`` varies over all it may be."""
        ranges = {
            "threads": range(WARP, BLOCK_THREADS + 1, WARP),
            "registers": range(1, THREAD_REGISTERS + 1),
            "shared_bytes": range(0, self.chip.shared_per_block + 1, 512),
        }
        if self.registers is None:
            del ranges["registers"]
        return {
            name: [(value, self.varied(**{name: value}).active_warps) for value in values]
            for name, values in ranges.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        launch = ("kernel", "threads", "registers", "shared_bytes", "capability", "note")
        figures = ("active_blocks", "active_warps", "active_threads", "occupancy", "limited_by")
        limits = [limit._asdict() for limit in self.limits]
        return {name: getattr(self, name) for name in launch + figures} | {
            "chip": self.chip._asdict(),
            "limits": limits,
        }

    def table(self) -> _display.Table:
        """The limits, one below the other, and what they leave."""
        rows = [
            [
                limit.name + (" <" if limit.name in self.limited_by else ""),
                _counted(limit.per_block, limit.unit),
                _counted(limit.available, limit.unit),
                "no limit" if limit.blocks is None else f"{limit.blocks:,}",
                limit.note,
            ]
            for limit in self.limits
        ]
        most = "at most " if self.registers is None or self.static_unknown else ""
        title = (
            f"{self.kernel + ': ' if self.kernel else ''}blocks of {self.threads} threads with "
            f"{'an unknown number of' if self.registers is None else self.registers} registers each and "
            f"{self.shared_bytes:,} B of {'dynamic ' if self.static_unknown else ''}shared memory, compute capability "
            f"{_dotted(self.capability)}"
        )
        note = (
            f"{_counted(self.active_blocks, 'blocks')}, {self.active_warps} of {self.chip.warps} warps: "
            f"occupancy {most}{self.occupancy:.1%}. Limited by {' and '.join(self.limited_by)}. {self.note}"
        )
        return _display.Table(title, ["limit", "a block", "a multiprocessor", "blocks", " "], rows, note.strip())

    def plot(self, path: str | None = None) -> Figure:
        """Curves of what can be varied, with this launch marked; needs matplotlib. With ``path`` it is saved too."""
        from ._plots import Picture

        names = {
            "threads": "threads a block",
            "registers": "registers a thread",
            "shared_bytes": "shared bytes a block",
        }
        curves = self.curves()
        picture = Picture(figsize=(4 * len(curves), 3.4), layout="constrained")
        axes: Any = picture.subplots(1, len(curves), sharey=True)
        for each, (name, points) in zip(axes, curves.items(), strict=True):
            each.step(*zip(*points, strict=True), where="post", linewidth=1.2)
            each.plot([getattr(self, name)], [self.active_warps], marker="^", color="crimson", clip_on=False)
            each.axhline(self.chip.warps, linewidth=0.6, linestyle=":", color="gray")
            each.spines[["top", "right"]].set_visible(False)
            each.set_xlabel(names[name], fontsize=9)
        axes[0].set_ylabel("active warps", fontsize=9)
        axes[0].set_ylim(0, self.chip.warps * 1.08)
        picture.suptitle(textwrap.fill(self.table().title, 32 * len(curves)), fontsize=9)
        return picture.saved(path)


class PotentialBlockSize(NamedTuple):
    """The block with which most threads are resident, and the fewest blocks that fill the chip with them."""

    grid: int
    threads: int


def _counted(number: int | None, unit: str) -> str:
    """1 block, 32 blocks."""
    return "not known" if number is None else f"{number:,} {unit.removesuffix('s') if number == 1 else unit}"


# --- the calculation -------------------------------------------------------------------------------------------------
def _divide_up(x: int, y: int) -> int:
    return -(-x // y)


def _round_up(x: int, unit: int) -> int:
    return _divide_up(x, unit) * unit


def _registers(chip: Multiprocessor, warps: int, registers: int | None) -> tuple[int | None, int, str, int | None, str]:
    """A warp's registers lie in one partition; a block is refused as if it filled all of them equally."""
    if not registers:
        return registers, chip.registers, "registers", None, ""
    per_warp = _round_up(registers * WARP, REGISTER_UNIT)
    blocks = (fitting := chip.registers // chip.partitions // per_warp * chip.partitions) // warps
    note = f"{per_warp:,} a warp: {fitting} warps"
    if per_warp * _round_up(warps, chip.partitions) > chip.registers_per_block:
        blocks, note = 0, f"a block may have {chip.registers_per_block:,}"
    return per_warp * warps, chip.registers, "registers", blocks, note


def _shared(chip: Multiprocessor, size: int) -> tuple[int, int, str, int | None, str]:
    per_block = _round_up(size + chip.reserved, chip.shared_unit)
    blocks = chip.shared // per_block if per_block else None
    note = f"{chip.reserved:,} B of it the system's" if chip.reserved else ""
    if size > chip.shared_per_block:
        blocks, note = 0, f"a block may have {chip.shared_per_block:,} B"
    return per_block, chip.shared, "B", blocks, note


# --- what a caller names ---------------------------------------------------------------------------------------------
def _dotted(capability: tuple[int, int]) -> str:
    """(9, 0) as "9.0"."""
    return ".".join(map(str, capability))


def _whole(name: str, value: Any, low: int, high: int | None, what: str, of: str = "occupancy") -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{of}: {name}= must be an integer, not {value!r:.60}") from None
    if number < low or (high is not None and number > high):
        allowed = f"from {low}" + (f" to {high}" if high is not None else "")
        raise ValueError(f"{of}: {name}={number}: {what} {allowed}")
    return number


def _capability(value: Any) -> tuple[int, int]:
    """7.0, "7.0", (7, 0), 70, 7 or "V100" as (7, 0), None as this device's; ValueError lists those with figures."""
    known = ", ".join(_dotted(divmod(number, 10)) for number in MULTIPROCESSORS)
    if value is None:
        here = backend()
        if here.capability not in MULTIPROCESSORS:
            raise ValueError(
                f"occupancy: this device, {here.device_name}, has compute capability {here.capability / 10:.1f}, "
                f"without figures here. capability= takes {known}"
            )
        return divmod(here.capability, 10)
    try:
        if isinstance(value, str) and value.upper() in CHIPS:
            number = CHIPS[value.upper()].capability
        elif isinstance(value, tuple) and len(value) == 2:
            number = 10 * operator.index(value[0]) + operator.index(value[1])
        elif isinstance(value, (str, float)):
            tenfold = 10 * float(value)
            number = round(tenfold) if abs(tenfold - round(tenfold)) < 1e-6 else -1
            number //= 10 if isinstance(value, str) and number >= 200 else 1  # "90"
        else:
            number = operator.index(value)
            number *= 10 if 0 < number < 20 else 1  # 9
    except (TypeError, ValueError, OverflowError):
        raise TypeError(
            f'occupancy: capability= is written 9.0, "9.0", (9, 0) or 90, or is one of {", ".join(CHIPS)}, '
            f"not {value!r}"
        ) from None
    if number not in MULTIPROCESSORS:
        raise ValueError(f"occupancy: no figures for capability={value!r}; there are some for {known}")
    return divmod(number, 10)


def occupancy(
    op: Named | None = None,
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
    """How many blocks of a kernel a multiprocessor holds at once, and what limits them: the occupancy calculator.

    Parameters
    ----------
    op : str or function, optional
    variant : str, optional
        One of our kernels, as ``variants(op)`` lists them: its threads, registers and shared memory are then what
        ``kernel_resources`` says, where they are not given.
    threads : int
        Per block, 1 to 1024. Of a variant that has a parameter ``threads=``, that parameter: shared memory follows.
    registers : int, optional
        Per thread, 0 to 255. Not given: they set no limit, and the result says so.
    shared_bytes : int, optional
        Per block, static and dynamic together; what the system adds is added here. Not given: 0.
    capability : float, str or tuple, optional
        A compute capability from 3.5 to 12.1, as 9.0, "9.0" or (9, 0), or a chip: "H200", "H100", "A100", "V100",
        "P100". Not given: this device's.
    shared_config : int, optional
        Bytes of shared memory that a multiprocessor is set to (the rest is its cache). Not given: the most.
    dtype : dtype, optional
        Of the named kernel's input; not given: the operation's usual one.
    **parameters : int
        The named variant's parameters, e.g. ``tile=32``.

    Returns
    -------
    Occupancy
        Active blocks and warps, their share, every limit with its figures; ``plot()`` draws the curves.

    Raises
    ------
    TypeError, ValueError
        A value that is none, or out of range; a capability without figures; an unknown variant.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.occupancy(threads=256, registers=64, capability="P100").occupancy  # P's first example
    0.5
    >>> cudakern.occupancy(threads=32, capability=6.0).limited_by                   # and its third
    ('blocks',)
    """
    kernel, note, built, static_unknown = "", "", None, False
    if op is not None:
        if isinstance(op, int):
            raise TypeError(f"occupancy: {op} is not an operation; for a number of threads, write threads={op}")
        its, others = main_kernel(operation_name(op), variant, dtype, parameters, threads)
        kernel = f"{its.operation}, {its.variant}: {its.kernel}"
        threads = its.threads if threads is None else threads
        built = its.capability if registers is None else None
        registers = its.registers if registers is None else registers
        static_unknown = shared_bytes is None and its.static_shared is None
        shared_bytes = its.shared_bytes if shared_bytes is None else shared_bytes
        if registers is None:
            note += f"Registers are not known here ({its.why}): registers= says them. "
        if static_unknown:
            note += f"Static shared memory is not known here ({its.why}): shared_bytes= says all of it. "
        if others:
            note += (
                f"A call launches other kernels too ({', '.join(dict.fromkeys(others))}): "
                f"kernel_resources({its.operation!r}, {its.variant!r}) has them. "
            )
    elif variant is not None or dtype is not None or parameters:
        first = next(iter(parameters), "variant" if variant is not None else "dtype")
        raise TypeError(
            f"occupancy: {first}= is for a named operation, as a variant's parameters are, and none is named; "
            "without one it takes threads=, registers=, shared_bytes=, capability="
        )
    if threads is None:
        raise TypeError("occupancy: threads= is missing (per block), or the name of an operation and a variant of it")
    where = _capability(capability)
    if built and _dotted(where) != built:
        of_here = _dotted(where)
        note = f"The registers are those of the code for {built}: a compiler for {of_here} may take others. {note}"
    chip = MULTIPROCESSORS[10 * where[0] + where[1]]
    if shared_config is not None:
        what = "a multiprocessor's shared memory can be set in bytes"
        size = _whole("shared_config", shared_config, 0, chip.shared, what)
        chip = chip._replace(shared=size, shared_per_block=min(chip.shared_per_block, size))
    return Occupancy(
        _whole("threads", threads, 1, BLOCK_THREADS, "a block has"),
        None if registers is None else _whole("registers", registers, 0, THREAD_REGISTERS, "a thread has"),
        _whole("shared_bytes", 0 if shared_bytes is None else shared_bytes, 0, None, "bytes count"),
        where,
        chip,
        kernel,
        note.strip(),
        static_unknown,
    )


def max_potential_block_size(
    *,
    registers: int | None = None,
    shared_bytes: int | Callable[[int], int] = 0,
    capability: float | str | tuple[int, int] | None = None,
    multiprocessors: int | None = None,
    threads_limit: int = BLOCK_THREADS,
) -> PotentialBlockSize:
    """The block size with which most threads are resident, and the smallest grid that fills the chip with such blocks.

    Parameters
    ----------
    registers : int, optional
        Per thread. Not given: they set no limit.
    shared_bytes : int or function
        Per block, or a function of the threads a block.
    capability : float, str or tuple, optional
        As ``occupancy`` takes it. Not given: this device's.
    multiprocessors : int, optional
        Of the chip. Not given: those of the chip that ``capability`` names, else this device's.
    threads_limit : int
        The largest block that is looked at, e.g. a kernel's launch bound.

    Returns
    -------
    PotentialBlockSize
        (grid, threads), as cudaOccupancyMaxPotentialBlockSize has them of a compiled kernel: of sizes with as many
        resident threads the largest; (0, 0) where no block fits.

    Raises
    ------
    TypeError, ValueError
        As ``occupancy``.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.max_potential_block_size(registers=40, capability="V100")
    PotentialBlockSize(grid=160, threads=768)
    """
    of = "max_potential_block_size"
    if multiprocessors is not None:
        multiprocessors = _whole("multiprocessors", multiprocessors, 1, None, "a chip has", of)
    elif isinstance(capability, str) and capability.upper() in CHIPS:
        multiprocessors = CHIPS[capability.upper()].multiprocessors
    else:
        multiprocessors = int(backend().properties["multiprocessors"])
    where = _capability(capability)
    most = _whole("threads_limit", threads_limit, 1, BLOCK_THREADS, "a block has", of)
    best, resident = PotentialBlockSize(0, 0), 0
    for aligned in range(_round_up(most, WARP), 0, -WARP):
        threads = min(aligned, most)
        shared = shared_bytes(threads) if callable(shared_bytes) else shared_bytes
        held = occupancy(threads=threads, registers=registers, shared_bytes=shared, capability=where)
        if held.active_threads > resident:
            best, resident = PotentialBlockSize(held.active_blocks * multiprocessors, threads), held.active_threads
        if resident == held.chip.warps * WARP:
            break
    return best
