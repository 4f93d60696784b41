"""coalescing: offsets, strides, widths of access, lanes that take no part, bytes and words, 12-byte structs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._array import DeviceArray
from .._backend import backend
from .._creation import zeros
from .._dtypes import itemsize
from .._operations._experiments import coalescing as slices
from .._operations._experiments import unpack_bytes, vec3
from ._experiment import Column, Experiment
from ._measuring import measure
from ._rules import LANES, SECTOR, sectors
from ._sizes import size
from ._words import clearly, counted, faster, percent, verdict

if TYPE_CHECKING:
    from .._plots import Picture

DOCUMENTS = (
    "T6: only loads of 4, 8 or 16 bytes from neighbours on a boundary are joined, those of 16 bytes being slow; "
    "a lane that takes no part harms nothing; 12-byte structs need alignment, arrays of their own or shared memory. M: "
    "neighbours' loads of 4 bytes become one transaction of 128 bytes, and bytes are better read as words"
)
OFFSETS, STRIDES = (0, 1, 4, 8, 16, 31), (1, 2, 3, 4, 8, 16, 32)
WIDTHS = ("uint8", "float32", "float64", "complex128")
#: T6's thread that does not read.
IDLE = 3
#: Results a case: on a chip more than its caches hold.
ON_CHIP, ON_EMULATOR = 1 << 24, 1 << 12

COLUMNS = (
    Column("experiment", "experiment"),
    Column("case", "case"),
    Column("load requests\na warp", "requests"),
    Column("sectors\na warp, by rule", "sectors"),
    Column("of which\nis wanted", "wanted", percent),
    Column("GB/s that\nare wanted", "gb_per_s", timed=True),
)

Request = tuple[Sequence[int], int]  #: byte addresses of the lanes, bytes each


@dataclass(frozen=True)
class _Case:
    experiment: str
    case: str
    requests: tuple[Request, ...]  #: of one warp
    call: Callable[..., Any]
    arguments: Callable[[], DeviceArray]
    keywords: dict[str, Any]
    bytes: float  #: that are wanted in all, read and written


def coalescing(*, n: int | None = None, repeat: int | None = None) -> Experiment:
    """What a warp's loads touch, and how fast they come.

    Parameters
    ----------
    n : int, optional
        Threads of a case that reads 4 bytes each. Default: 2**24 on a GPU, 4096 on the emulator.
    repeat : int, optional
        How often to measure a row. Without it: up to 20 times, for a tenth of a second at most.

    Returns
    -------
    Experiment
        A row a case: offsets and strides in elements of 4 bytes; 1, 4, 8 and 16 bytes a thread; a warp whose lane 3
        does not read; bytes read one by one and as words; vectors of three floats in four ways. Sectors are those
        that a warp's loads touch by the rule; the rate counts the bytes that are wanted, read and written.

    Raises
    ------
    TypeError
        What must be a whole number is none.
    ValueError
        ``n`` or ``repeat`` below 1.
    CudaError
        The GPU or the emulator failed.

    Notes
    -----
    T6, P11, M. The emulator moves no sectors: there the rates are left out.

    Examples
    --------
    >>> from cudakern import lab
    >>> rows = lab.coalescing(n=1000, repeat=1).rows
    >>> [row["sectors"] for row in rows if row["experiment"] == "stride"]
    [4, 8, 12, 16, 32, 32, 32]
    """
    here = backend()
    count = size("coalescing", n, ON_CHIP, ON_EMULATOR)
    rows = [_row(case, repeat) for case in _cases(count)]
    timed = rows[0]["gb_per_s"] is not None
    return Experiment(
        name="coalescing",
        title=f"coalescing: {count:,} threads of 4 bytes",
        backend=here,
        columns=COLUMNS,
        rows=tuple(rows),
        finding=_finding({(row["experiment"], row["case"]): row for row in rows}),
        documents=DOCUMENTS,
        verdict=_verdict({(row["experiment"], row["case"]): row for row in rows}),
        here=""
        if timed
        else "The emulator reads each lane's bytes by itself: its times say nothing about sectors, which are "
        "computed from the addresses.",
        draw=_draw,
    )


def _cases(n: int) -> Iterator[_Case]:
    def sliced(experiment: str, case: str, dtype: str, count: int, lanes: int = LANES, **own: int) -> _Case:
        width = itemsize(dtype)
        offset, stride, idle = own.get("offset", 0), own.get("stride", 1), own.get("idle", LANES)
        asked = [width * (offset + stride * lane) for lane in range(LANES) if lane != idle]
        return _Case(
            experiment,
            case,
            ((asked, width),),
            slices,
            lambda: zeros((offset + stride * count,), dtype),
            {"variant": "elementwise", **own},
            count * width * (len(asked) / LANES + 1),
        )

    for offset in OFFSETS:
        yield sliced("offset", counted(offset, "element"), "float32", n, offset=offset)
    for stride in STRIDES:
        yield sliced("stride", counted(stride, "element"), "float32", n, stride=stride)
    for dtype in WIDTHS:
        width = itemsize(dtype)
        yield sliced("width", counted(width, "byte"), dtype, -(-4 * n // width))
    yield sliced("partial warp", "all lanes", "float32", n)
    yield sliced("partial warp", f"without lane {IDLE}", "float32", n, idle=IDLE)

    def neighbours(width: int, apart: int = 0, first: int = 0) -> Request:
        return [first + (apart or width) * lane for lane in range(LANES)], width

    for variant, width in (("bytes", 1), ("words", 4)):
        yield _Case(
            "bytes as floats",
            variant,
            (neighbours(width),),
            unpack_bytes,
            lambda: zeros((n,), "uint8"),
            {"variant": variant},
            5 * n,
        )

    def vectors() -> DeviceArray:
        return zeros((n, 3), "float32")

    apart = 4 * n // SECTOR * SECTOR + SECTOR  # arrays begin on boundaries
    ways: tuple[tuple[str, Callable[[], DeviceArray], tuple[Request, ...]], ...] = (
        ("array_of_structs", vectors, tuple(neighbours(4, 12, 4 * part) for part in range(3))),
        ("aligned", vectors, (neighbours(16),)),
        (
            "struct_of_arrays",
            lambda: zeros((3, n), "float32").T,
            tuple(neighbours(4, first=apart * part) for part in range(3)),
        ),
        ("staged", vectors, tuple(neighbours(4, first=4 * LANES * part) for part in range(3))),
    )
    for variant, array, requests in ways:
        yield _Case("vec3", variant, requests, vec3, array, {"variant": variant}, 16 * n)


def _row(case: _Case, repeat: int | None) -> dict[str, Any]:
    profile, _ = measure(case.call, (case.arguments(),), case.keywords, repeat, None)
    touched = sum(sectors(*request) for request in case.requests)
    # Of an aligned struct's 16 bytes 12 are wanted.
    wanted = sum(
        len(asked) * (12 if width == 16 and case.experiment == "vec3" else width) for asked, width in case.requests
    )
    return {
        "experiment": case.experiment,
        "case": case.case,
        "requests": len(case.requests),
        "sectors": touched,
        "wanted": wanted / (touched * SECTOR),
        "gb_per_s": case.bytes / max(profile.kernel_ns, 1) if profile.clock == "gpu" else None,
        "kernel_ns": profile.kernel_ns,
        "clock": profile.clock,
    }


def _finding(rows: dict[tuple[str, str], dict[str, Any]]) -> str:
    one, widest = rows["stride", "1 element"], rows["stride", "32 elements"]
    structs = rows["vec3", "array_of_structs"]
    if one["gb_per_s"] is None:
        return (
            f"By the rule a warp's load of neighbouring floats touches {one['sectors']} sectors, from the next element "
            f"on {rows['offset', '1 element']['sectors']}, with a stride of 32 {widest['sectors']}, and 12-byte "
            f"structs take {structs['sectors']} where arrays take {rows['vec3', 'struct_of_arrays']['sectors']}."
        )

    def against(experiment: str, case: str, base: str) -> str:
        return faster(rows[experiment, case]["gb_per_s"], rows[experiment, base]["gb_per_s"])

    best = max((row for key, row in rows.items() if key[0] == "vec3"), key=lambda row: float(row["gb_per_s"]))
    said = (
        f"A stride of 32 is {against('stride', '32 elements', '1 element')} a stride of 1; an offset of 1 is "
        f"{against('offset', '1 element', '0 elements')} none; loads of 16 bytes are "
        f"{against('width', '16 bytes', '4 bytes')} loads of 4; a warp without lane {IDLE} is "
        f"{against('partial warp', f'without lane {IDLE}', 'all lanes')} a whole one; bytes read as words are "
        f"{against('bytes as floats', 'words', 'bytes')} bytes read one by one; "
    )
    if best is structs:
        return f"{said}and of the ways to lay out 12-byte structs none is faster than as they are."
    return f"{said}and {best['case']} is {against('vec3', best['case'], 'array_of_structs')} structs of 12 bytes."


def _verdict(rows: dict[tuple[str, str], dict[str, Any]]) -> str:
    rate = {key: row["gb_per_s"] for key, row in rows.items()}
    if rate["stride", "1 element"] is None:
        return ""

    def pair(experiment: str, case: str, base: str) -> tuple[float, float, str]:
        one, other = rate[experiment, case], rate[experiment, base]
        return one, other, faster(one, other)

    apart, neighbours, strided = pair("stride", "32 elements", "1 element")
    moved, bounded, offset = pair("offset", "1 element", "0 elements")
    wide, narrow, widths = pair("width", "16 bytes", "4 bytes")
    partial, whole, lanes = pair("partial warp", f"without lane {IDLE}", "all lanes")
    words, bytewise, as_words = pair("bytes as floats", "words", "bytes")
    way = max(("aligned", "struct_of_arrays", "staged"), key=lambda way: rate["vec3", way])
    best, structs, laid_out = pair("vec3", way, "array_of_structs")
    return verdict(
        {
            f"neighbours' loads are joined and others are not (a stride of 32 is {strided} a stride of 1)": clearly(
                neighbours, apart
            ),
            f"only loads from a boundary on are joined (an offset of 1 is {offset} none)": clearly(bounded, moved),
            f"loads of 16 bytes are slow (they are {widths} loads of 4)": clearly(narrow, wide),
            f"a lane that takes no part harms nothing ({lanes} a whole warp)": not clearly(whole, partial),
            f"bytes are better read as words ({as_words} one by one)": clearly(words, bytewise),
            "12-byte structs need alignment, arrays of their own or shared memory (the best of these, "
            f"{way}, is {laid_out} structs as they are)": clearly(best, structs),
        }
    )


def _draw(result: Experiment, picture: Picture) -> None:
    from .._display import figure
    from .._plots import BAR, bars

    key = "sectors" if result.rows[0]["gb_per_s"] is None else "gb_per_s"
    groups = list(dict.fromkeys(result["experiment"]))
    picture.set_size_inches(11, 6)
    every = picture.subplots(2, -(-len(groups) // 2)).reshape(-1)
    for axes, group in zip(every, groups, strict=False):
        shown = [row for row in result.rows if row["experiment"] == group][::-1]
        values = [float(row[key]) for row in shown]
        bars(axes, [row["case"] for row in shown], values, [figure(value) for value in values], BAR)
        axes.set_title(group, fontsize=9)
        axes.tick_params(labelsize=7)
        axes.set_xlabel("sectors a warp, by the rule" if key == "sectors" else "GB/s that are wanted", fontsize=8)
