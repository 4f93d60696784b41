"""How many blocks a multiprocessor holds at once, and what limits them: the occupancy calculator."""

from __future__ import annotations

import operator
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KB = 1024
WARP = 32  #: threads a warp
BLOCK_THREADS = 1024  #: threads a block may have, on all of these chips
THREAD_REGISTERS = 255  #: registers that a thread can name
REGISTER_UNIT = 256  #: a warp's registers are given out in pieces of this many


class Multiprocessor(NamedTuple):
    """What a multiprocessor of a compute capability has, and how it is given out."""

    warps: int  #: that it holds at once
    blocks: int  #: that it holds at once
    shared: int  #: bytes of shared memory
    shared_per_block: int  #: the most that a block may have, by opt-in where that is more than 48 KB
    registers: int = 64 * KB  #: of 32 bits
    registers_per_block: int = 64 * KB
    reserved: int = 0  #: bytes of shared memory that the system takes a block
    shared_unit: int = 256  #: bytes: shared memory is given out in pieces of this size
    partitions: int = 4  #: of the registers; a warp's lie in one of them


def _ampere(warps: int, blocks: int, shared: int, shared_per_block: int) -> Multiprocessor:
    """Since 8.0 the system keeps 1 KB a block, and shared memory comes in finer pieces."""
    return Multiprocessor(warps, blocks, shared * KB, shared_per_block * KB, reserved=KB, shared_unit=128)


#: By compute capability (90 is 9.0). Sizes: the table "Technical Specifications per Compute Capability" of the CUDA C++
#: Programming Guide, whose editions up to 11, 12 and 13 have the older, middle and newest chips. Units and partitions:
#: the occupancy calculator's sheet of chips and the toolkit's header cuda_occupancy.h (13.0).
MULTIPROCESSORS = {
    35: Multiprocessor(64, 16, 48 * KB, 48 * KB),
    37: Multiprocessor(64, 16, 112 * KB, 48 * KB, registers=128 * KB),
    50: Multiprocessor(64, 32, 64 * KB, 48 * KB),
    52: Multiprocessor(64, 32, 96 * KB, 48 * KB),
    53: Multiprocessor(64, 32, 64 * KB, 48 * KB, registers_per_block=32 * KB),
    60: Multiprocessor(64, 32, 64 * KB, 48 * KB, partitions=2),
    61: Multiprocessor(64, 32, 96 * KB, 48 * KB),
    62: Multiprocessor(64, 32, 64 * KB, 48 * KB, registers_per_block=32 * KB),
    70: Multiprocessor(64, 32, 96 * KB, 96 * KB),
    72: Multiprocessor(64, 32, 96 * KB, 96 * KB),
    75: Multiprocessor(32, 16, 64 * KB, 64 * KB),
    80: _ampere(64, 32, 164, 163),
    86: _ampere(48, 16, 100, 99),
    87: _ampere(48, 16, 164, 163),
    89: _ampere(48, 24, 100, 99),
    90: _ampere(64, 32, 228, 227),
    100: _ampere(64, 32, 228, 227),
    101: _ampere(48, 24, 228, 227),  # Thor, as CUDA 12 numbers it
    103: _ampere(64, 32, 228, 227),
    110: _ampere(48, 24, 228, 227),  # Thor, as CUDA 13 numbers it
    120: _ampere(48, 24, 100, 99),
    121: _ampere(48, 24, 100, 99),
}


class Limit(NamedTuple):
    """One of the things that a multiprocessor has only so much of."""

    name: str
    per_block: int | None  #: that a block takes, as it is given out; None: not known
    available: int  #: that a multiprocessor has
    unit: str
    blocks: int | None  #: that fit, by this alone; None: it sets no limit
    note: str = ""


@dataclass(frozen=True, repr=False)
class Occupancy:
    """What a launch occupies of a multiprocessor: shown as a table, with ``plot()`` and ``to_dict()``."""

    threads: int  #: per block
    registers: int | None  #: per thread; None: not known, and they set no limit here
    shared_bytes: int  #: per block, static and dynamic
    capability: tuple[int, int]
    chip: Multiprocessor  #: what a multiprocessor has; its shared memory is the configured size
    limits: tuple[Limit, ...]  #: warps, blocks, registers, shared memory
    kernel: str = ""  #: whose launch it is, if one was named
    note: str = ""
    static_unknown: bool = False  #: the kernel's own shared memory is not known, and not among shared_bytes

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
        return _calculate(
            threads=changes.get("threads", self.threads),
            registers=changes.get("registers", self.registers),
            shared_bytes=changes.get("shared_bytes", self.shared_bytes),
            capability=self.capability,
            chip=self.chip,
            kernel=self.kernel,
            note=self.note,
            static_unknown=self.static_unknown and "shared_bytes" not in changes,
        )

    def curves(self) -> dict[str, list[tuple[int, int]]]:
        """(value, active warps) as one of ``threads``, ``registers`` and ``shared_bytes`` varies over all it may be."""
        sizes = range(0, self.chip.shared_per_block + 1, 512)
        ranges: dict[str, Iterable[int]] = {"threads": range(WARP, BLOCK_THREADS + 1, WARP)}
        if self.registers is not None:
            ranges["registers"] = range(1, THREAD_REGISTERS + 1)
        ranges["shared_bytes"] = sizes
        return {
            name: [(value, self.varied(**{name: value}).active_warps) for value in values]
            for name, values in ranges.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        fields = {name: getattr(self, name) for name in ("kernel", "threads", "registers", "shared_bytes")}
        figures = ("active_blocks", "active_warps", "active_threads", "occupancy", "limited_by")
        return (
            fields
            | {name: getattr(self, name) for name in figures}
            | {
                "capability": self.capability,
                "chip": self.chip._asdict(),
                "limits": [limit._asdict() for limit in self.limits],
                "note": self.note,
            }
        )

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
        registers = "an unknown number of" if self.registers is None else str(self.registers)
        what = f"{self.kernel}: " if self.kernel else ""
        title = (
            f"{what}blocks of {self.threads} threads with {registers} registers each and "
            f"{self.shared_bytes:,} B of {'dynamic ' if self.static_unknown else ''}shared memory, compute capability "
            f"{told(self.capability)}"
        )
        most = self.registers is None or self.static_unknown
        left = (
            f"{_counted(self.active_blocks, 'blocks')}, {self.active_warps} of {self.chip.warps} warps: "
            f"occupancy {'at most ' if most else ''}{self.occupancy:.1%}. Limited by {' and '.join(self.limited_by)}."
        )
        note = f"{left} {self.note}".strip()
        return _display.Table(title, ["limit", "a block", "a multiprocessor", "blocks", " "], rows, note)

    def __repr__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()

    def plot(self, path: str | None = None) -> Figure:
        """Three curves, one for each thing that can be varied, with this launch marked; needs matplotlib.
        With ``path`` it is saved too."""
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
            self._curve(each, points, getattr(self, name))
            each.set_xlabel(names[name], fontsize=9)
        axes[0].set_ylabel("active warps", fontsize=9)
        axes[0].set_ylim(0, self.chip.warps * 1.08)
        picture.suptitle(textwrap.fill(self.table().title, 32 * len(curves)), fontsize=9)
        if path is not None:
            picture.savefig(path, dpi=150)
        return picture

    def _curve(self, axes: Axes, points: list[tuple[int, int]], here: int) -> None:
        xs, ys = zip(*points, strict=True)
        axes.step(xs, ys, where="post", linewidth=1.2)
        axes.plot([here], [self.active_warps], marker="^", color="crimson", clip_on=False)
        axes.axhline(self.chip.warps, linewidth=0.6, linestyle=":", color="gray")
        axes.spines[["top", "right"]].set_visible(False)


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


def _registers(chip: Multiprocessor, warps: int, registers: int | None) -> Limit:
    """A warp's registers lie in one partition; a block is refused as if it filled all of them equally."""

    def limit(per_block: int | None, blocks: int | None, note: str) -> Limit:
        return Limit("registers", per_block, chip.registers, "registers", blocks, note)

    if registers is None:
        return limit(None, None, "")
    per_warp = _round_up(registers * WARP, REGISTER_UNIT)
    if per_warp == 0:
        return limit(0, None, "")
    per_block = per_warp * warps
    if per_warp * _round_up(warps, chip.partitions) > chip.registers_per_block:
        return limit(per_block, 0, f"a block may have {chip.registers_per_block:,}")
    fitting = chip.registers // chip.partitions // per_warp * chip.partitions
    return limit(per_block, fitting // warps, f"{per_warp:,} a warp: {fitting} warps")


def _shared(chip: Multiprocessor, asked: int) -> Limit:
    def limit(per_block: int, blocks: int | None, note: str) -> Limit:
        return Limit("shared memory", per_block, chip.shared, "B", blocks, note)

    per_block = _round_up(asked + chip.reserved, chip.shared_unit)
    if asked > chip.shared_per_block:
        return limit(per_block, 0, f"a block may have {chip.shared_per_block:,} B")
    kept = f"{chip.reserved:,} B of it the system's" if chip.reserved else ""
    return limit(per_block, chip.shared // per_block if per_block else None, kept)


def _calculate(
    *,
    threads: int,
    registers: int | None,
    shared_bytes: int,
    capability: tuple[int, int],
    chip: Multiprocessor,
    kernel: str = "",
    note: str = "",
    static_unknown: bool = False,
) -> Occupancy:
    warps = _divide_up(threads, WARP)
    limits = (
        Limit("warps", warps, chip.warps, "warps", chip.warps // warps),
        Limit("blocks", 1, chip.blocks, "blocks", chip.blocks),
        _registers(chip, warps, registers),
        _shared(chip, shared_bytes),
    )
    return Occupancy(threads, registers, shared_bytes, capability, chip, limits, kernel, note, static_unknown)


# --- what is given ---------------------------------------------------------------------------------------------------
def told(capability: tuple[int, int]) -> str:
    """(9, 0) as "9.0"."""
    return ".".join(map(str, capability))


def _known() -> str:
    return ", ".join(told(divmod(number, 10)) for number in MULTIPROCESSORS)


def _whole(name: str, value: Any, low: int, high: int | None, what: str, of: str = "occupancy") -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{of}: {name}= must be an integer, not {value!r:.60}") from None
    if number < low or (high is not None and number > high):
        allowed = f"from {low}" + (f" to {high}" if high is not None else "")
        raise ValueError(f"{of}: {name}={number}: {what} {allowed}")
    return number


def read_capability(given: Any) -> tuple[int, int]:
    """7.0, "7.0", (7, 0), 70 or 7 as (7, 0); ValueError lists those that there are figures for."""
    number: int | None = None
    try:
        if isinstance(given, tuple) and len(given) == 2:
            number = 10 * operator.index(given[0]) + operator.index(given[1])
        elif isinstance(given, (str, float)):
            number = round(10 * float(given)) if abs(10 * float(given) - round(10 * float(given))) < 1e-6 else -1
        else:
            number = operator.index(given)
        if isinstance(given, str) and number is not None and number >= 200:  # "90"
            number //= 10
        if not isinstance(given, (str, float, tuple)) and number is not None and 0 < number < 20:  # 9
            number *= 10
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None:
        raise TypeError(f'occupancy: capability= is written 9.0, "9.0", (9, 0) or 90, not {given!r}')
    if number not in MULTIPROCESSORS:
        raise ValueError(f"occupancy: no figures for capability={given!r}; there are some for {_known()}")
    return divmod(number, 10)


def _here() -> tuple[int, int]:
    from ._backend import backend

    here = backend()
    capability = divmod(here.capability, 10)
    if here.capability not in MULTIPROCESSORS:
        raise ValueError(
            f"occupancy: this device, {here.device_name}, has compute capability {told(capability)}, without "
            f"figures here. capability= takes {_known()}"
        )
    return capability


def _chip(capability: tuple[int, int], configured: Any) -> Multiprocessor:
    chip = MULTIPROCESSORS[10 * capability[0] + capability[1]]
    if configured is None:
        return chip
    size = _whole("shared_config", configured, 0, chip.shared, "a multiprocessor's shared memory can be set in bytes")
    return chip._replace(shared=size, shared_per_block=min(chip.shared_per_block, size))


def occupancy(
    op: str | None = None,
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
    op, variant : str, optional
        One of our kernels, as ``variants(op)`` lists them: its threads, registers and shared memory are then what
        ``kernel_resources`` says, where they are not given.
    threads : int
        Per block, 1 to 1024. Of a named row that has a parameter ``threads=``, that parameter: shared memory follows.
    registers : int, optional
        Per thread, 0 to 255. Not given: they set no limit, and the result says so.
    shared_bytes : int, optional
        Per block, static and dynamic together; what the system adds is added here. Not given: 0.
    capability : float, str or tuple, optional
        A compute capability from 3.5 to 12.1, as 9.0, "9.0" or (9, 0). Not given: this device's.
    shared_config : int, optional
        Bytes of shared memory that a multiprocessor is set to (the rest is its cache). Not given: the most.
    dtype : dtype, optional
        Of the named kernel's input; not given: the operation's usual one.
    **parameters : int
        The named row's parameters, e.g. ``tile=32``.

    Returns
    -------
    Occupancy
        Active blocks and warps, their share, every limit with its figures; ``plot()`` draws the curves.

    Raises
    ------
    TypeError, ValueError
        A value that is none, or out of range; a capability without figures; an unknown row.

    Notes
    -----
    P's section on occupancy. Sizes are those of the CUDA programming guide's table of technical specifications; a
    warp's registers are given out in pieces of 256 within one of (mostly) four partitions, shared memory in pieces of
    256 bytes, or since 8.0 of 128 with 1 KB a block for the system.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.occupancy(threads=256, registers=64, capability=6.0).occupancy     # P's first example
    0.5
    >>> cudakern.occupancy(threads=32, capability=6.0).limited_by                   # and its third
    ('blocks',)
    """
    kernel, note, built, static_unknown = "", "", None, False
    if op is not None:
        if not isinstance(op, str):
            raise TypeError(f"occupancy: {op!r:.60} is no operation's name; threads= is the number of threads")
        from ._resources import main_kernel

        found, others = main_kernel(op, variant, dtype, parameters, threads)
        kernel = f"{found.operation}, {found.variant}: {found.kernel}"
        threads = found.threads if threads is None else threads
        built = found.capability if registers is None else None
        registers = found.registers if registers is None else registers
        static_unknown = shared_bytes is None and found.static_shared is None
        shared_bytes = found.shared_bytes if shared_bytes is None else shared_bytes
        if registers is None:
            note += f"Registers are not known here ({found.why}): registers= says them. "
        if static_unknown:
            note += f"Static shared memory is not known here ({found.why}): shared_bytes= says all of it. "
        if others:
            note += (
                f"A call launches other kernels too ({', '.join(dict.fromkeys(others))}): "
                f"kernel_resources({found.operation!r}, {found.variant!r}) has them. "
            )
    elif variant is not None or dtype is not None or parameters:
        given = [*parameters, *(["variant"] if variant is not None else []), *(["dtype"] if dtype is not None else [])]
        raise TypeError(
            f"occupancy: {given[0]}= is for a named operation, as a row's parameters are, and none is named; "
            "without one it takes threads=, registers=, shared_bytes=, capability="
        )
    if threads is None:
        raise TypeError("occupancy: threads= is missing (per block), or the name of an operation and a variant of it")
    where = _here() if capability is None else read_capability(capability)
    if built and told(where) != built:
        note = f"The registers are those of the code for {built}: a compiler for {told(where)} may take others. {note}"
    return _calculate(
        threads=_whole("threads", threads, 1, BLOCK_THREADS, "a block has"),
        registers=None if registers is None else _whole("registers", registers, 0, THREAD_REGISTERS, "a thread has"),
        shared_bytes=_whole("shared_bytes", 0 if shared_bytes is None else shared_bytes, 0, None, "bytes count"),
        capability=where,
        chip=_chip(where, shared_config),
        kernel=kernel,
        note=note.strip(),
        static_unknown=static_unknown,
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
        Of the chip. Not given: this device's.
    threads_limit : int
        The largest block that is looked at, e.g. a kernel's launch bound.

    Returns
    -------
    PotentialBlockSize
        (grid, threads); of sizes with as many resident threads, the largest. (0, 0) where no block fits.

    Raises
    ------
    TypeError, ValueError
        As ``occupancy``.

    Notes
    -----
    What cudaOccupancyMaxPotentialBlockSize does for a compiled kernel (P names the driver's form of it): whole warps,
    from the largest block down.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.max_potential_block_size(registers=40, capability=7.0, multiprocessors=80)
    PotentialBlockSize(grid=160, threads=768)
    """
    from ._backend import backend

    if multiprocessors is not None:
        multiprocessors = _whole("multiprocessors", multiprocessors, 1, None, "a chip has", "max_potential_block_size")
    if multiprocessors is None:
        multiprocessors = int(backend().properties["multiprocessors"])
    where = _here() if capability is None else read_capability(capability)
    most = _whole("threads_limit", threads_limit, 1, BLOCK_THREADS, "a block has", "max_potential_block_size")
    best, resident = PotentialBlockSize(0, 0), 0
    for aligned in range(_round_up(most, WARP), 0, -WARP):
        threads = min(aligned, most)
        shared = shared_bytes(threads) if callable(shared_bytes) else shared_bytes
        found = occupancy(threads=threads, registers=registers, shared_bytes=shared, capability=where)
        if found.active_threads > resident:
            best, resident = PotentialBlockSize(found.active_blocks * multiprocessors, threads), found.active_threads
        if resident == found.chip.warps * WARP:
            break
    return best
