"""How memory serves a warp: the rules of CUDA's programming guide, bank_conflicts, coalescing, and layouts."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import DeviceArray, asarray, empty, zeros
from ..arrays.dtypes import itemsize
from ..operations.experiments import ROUNDS, THREADS, TILE, add_fields, unpack_bytes, vec3
from ..operations.experiments import bank_conflicts as read_strided
from ..operations.experiments import coalescing as read_slice
from ._experiment import Experiment, bars, experiment, lines, measure, numbers, plural, ratio, report, size

if TYPE_CHECKING:
    from ..measure.plots import Picture

#: Lanes per warp; banks of shared memory, and bytes per word of a bank; bytes per sector, the unit of global memory.
LANES, BANKS, WORD, SECTOR = 32, 32, 4, 32


def wavefronts(addresses: int | Iterable[int], width: int = WORD) -> int:
    """How many passes shared memory needs to serve one request of a warp.

    Parameters
    ----------
    addresses : int or iterable of int
        The byte addresses that the lanes access, at most 32. Leave out inactive lanes.
    width : int
        Bytes per lane: 1, 2, 4, 8 or 16. Requests for 8 bytes are served half a warp at a time, for 16 a quarter.

    Returns
    -------
    int
        The largest number of different words in one bank, summed over the parts of the warp that are served together.
        Lanes that access the same word share it.

    Raises
    ------
    TypeError
        An address that is not an integer.
    ValueError
        More than 32 lanes, an unsupported width, or an address that is not a multiple of the width.

    Examples
    --------
    >>> wavefronts(4 * 16 * lane for lane in range(32)), wavefronts(4 * 17 * lane for lane in range(32))
    (16, 1)
    """
    starts = _addresses("wavefronts", addresses, width)
    together = LANES * WORD // max(width, WORD)
    passes = 0
    for first in range(0, len(starts), together):
        words = {byte // WORD for start in starts[first : first + together] for byte in range(start, start + width)}
        passes += max(Counter(word % BANKS for word in words).values())
    return passes


def sectors(addresses: int | Iterable[int], width: int = WORD) -> int:
    """How many different 32-byte sectors of global memory one request of a warp touches.

    Parameters
    ----------
    addresses, width
        As in :func:`wavefronts`.

    Returns
    -------
    int
        The number of sectors: 4 for 32 neighboring 4-byte words, up to 32 if each lane accesses its own.

    Raises
    ------
    TypeError, ValueError
        As in :func:`wavefronts`.

    Examples
    --------
    >>> sectors(4 * lane for lane in range(32)), sectors(12 * lane for lane in range(32))
    (4, 12)
    """
    return len({start // SECTOR for start in _addresses("sectors", addresses, width)})  # aligned: no access spans two


def _addresses(rule: str, addresses: int | Iterable[int], width: int) -> tuple[int, ...]:
    starts = numbers(rule, "addresses", addresses)
    if len(starts) > LANES:
        raise ValueError(f"{rule}: a warp has {LANES} lanes, but {len(starts)} addresses were passed")
    if width not in (1, 2, 4, 8, 16):
        raise ValueError(f"{rule}: width must be 1, 2, 4, 8 or 16 bytes per lane, not {width}")
    if odd := [start for start in starts if start % width]:
        raise ValueError(f"{rule}: address {odd[0]} is not a multiple of {width}; accesses must be aligned")
    return starts


#: Requests per block: the loads of all its warps in all rounds.
REQUESTS = THREADS // LANES * ROUNDS


@experiment
def bank_conflicts(
    strides: int | Sequence[int] = range(1, 33), *, n: int = TILE, repeat: int | None = None
) -> Experiment:
    """Bank conflicts: shared memory read with strides, with and without padding, and one word read by all lanes.

    Shared memory has 32 banks. One request of a warp takes one pass if its lanes access different banks or the same
    word, and one pass per word where they access different words in one bank.

    Parameters
    ----------
    strides : int or sequence of int
        Distances between the words of neighboring lanes, each 1 to 32.
    n : int
        Words, 1024 per block. One block is enough, since each block has its own shared memory.
    <repeat>

    <returns>
        One row per form and stride: the passes (wavefronts) per request computed from the addresses, and on a GPU the
        cycles per request measured with the multiprocessor's clock.

    Examples
    --------
    >>> from cudakern import lab
    >>> [(row["form"], row["stride"], row["wavefronts"]) for row in lab.bank_conflicts([16], repeat=1).rows]
    [('broadcast', 0, 1), ('strided', 1, 1), ('strided', 16, 16), ('padded', 16, 1)]
    """
    n = size("bank_conflicts", n, TILE, TILE)
    several = numbers("bank_conflicts", "strides", strides, 1, 32)
    x = np.arange(n, dtype=np.int32)
    forms = {"broadcast": (0,), "strided": dict.fromkeys((1, *several)), "padded": dict.fromkeys(several)}
    rows: list[dict[str, Any]] = []
    for form, stride in ((form, stride) for form, distances in forms.items() for stride in distances):
        keywords = {"variant": "padded" if form == "padded" else "strided", "stride": stride}
        profile, _ = measure(read_strided, (x,), keywords, repeat)
        distance = stride + (form == "padded")
        passes = wavefronts(WORD * distance * lane for lane in range(LANES))
        cycles = np.median(profile.cycles) / REQUESTS if profile.clock == "gpu" else None
        rows.append({"form": form, "stride": stride, "distance": distance, "wavefronts": passes, "cycles": cycles})
    for row in rows:
        row["relative"] = ratio(row, rows[1], "cycles")
    title = f"bank_conflicts: {REQUESTS:,} requests per block, 4-byte words"
    figure = "wavefronts" if rows[1]["cycles"] is None else "cycles"
    return report("bank_conflicts", title, rows, lines, x="stride", y=figure, by="form")


IDLE = 3  #: the lane that does not read

Request = tuple[Sequence[int], int]  #: of a warp: the lanes' byte addresses, and bytes per lane
#: Experiment, case, operation, operand, keywords, a warp's requests, the bytes that a warp uses, and those that all
#: threads read and write.
Case = tuple[str, str, Callable[..., Any], DeviceArray, dict[str, Any], list[Request], int, float]


@experiment
def coalescing(*, n: int | None = None, repeat: int | None = None) -> Experiment:
    """Coalescing: how many sectors of global memory a warp's loads touch, and how fast the loads are.

    Global memory moves in sectors of 32 bytes; the more of each a warp uses, the more useful bytes arrive per second.

    Parameters
    ----------
    n : int, optional
        Threads, in cases that read 4 bytes per thread. Default: 2**24 on a GPU, 4096 on the emulator.
    <repeat>

    <returns>
        One row per case: offsets and strides in elements of 4 bytes; 1, 4, 8 and 16 bytes per thread; a warp whose
        lane 3 does not read; bytes read one by one and as words; vectors of three floats in four layouts. The sectors
        per warp are computed from the addresses. The rate (on a GPU only) counts the useful bytes read and written.

    Examples
    --------
    >>> from cudakern import lab
    >>> rows = lab.coalescing(n=1000, repeat=1).rows
    >>> [row["sectors"] for row in rows if row["experiment"] == "stride"]
    [4, 8, 12, 16, 32, 32, 32]
    """
    n = size("coalescing", n, chip=1 << 24, emulator=1 << 12)  # on a chip, more than its caches hold
    rows = []
    for group, case, operation, x, keywords, requests, useful, moved in _cases(n):
        profile, _ = measure(operation, (x,), keywords, repeat)
        count = sum(sectors(*request) for request in requests)
        row = {"experiment": group, "case": case, "requests": len(requests), "sectors": count}
        rate = moved / max(profile.kernel_ns, 1) if profile.clock == "gpu" else None
        times = {"gb_per_s": rate, "kernel_ns": profile.kernel_ns, "clock": profile.clock}
        rows.append(row | {"share": useful / (count * SECTOR)} | times)
    return report("coalescing", f"coalescing: {n:,} threads, 4 bytes per thread", rows, _draw)


def _cases(n: int) -> Iterator[Case]:
    def slices(
        group: str, case: str, dtype: str = "float32", offset: int = 0, stride: int = 1, idle: int = LANES
    ) -> Case:
        width = itemsize(dtype)
        count = -(-4 * n // width)
        addresses = [width * (offset + stride * lane) for lane in range(LANES) if lane != idle]
        keywords = {"variant": "elementwise", "offset": offset, "stride": stride, "idle": idle}
        x, moved = zeros(offset + stride * count, dtype), count * width * (len(addresses) / LANES + 1)
        return group, case, read_slice, x, keywords, [(addresses, width)], width * len(addresses), moved

    for offset in (0, 1, 4, 8, 16, 31):
        yield slices("offset", plural(offset, "element"), offset=offset)
    for stride in (1, 2, 3, 4, 8, 16, 32):
        yield slices("stride", plural(stride, "element"), stride=stride)
    for dtype in ("uint8", "float32", "float64", "complex128"):
        yield slices("width", plural(itemsize(dtype), "byte"), dtype)
    yield slices("partial warp", "all lanes")
    yield slices("partial warp", f"without lane {IDLE}", idle=IDLE)

    def request(width: int, apart: int = 0, first: int = 0) -> Request:
        return [first + (apart or width) * lane for lane in range(LANES)], width

    values = zeros(n, "uint8")
    for way, width in (("bytes", 1), ("words", 4)):
        yield "bytes as floats", way, unpack_bytes, values, {"variant": way}, [request(width)], width * LANES, 5 * n

    structs, arrays = zeros((n, 3), "float32"), zeros((3, n), "float32").T
    from_array_to_array = 4 * n // SECTOR * SECTOR + SECTOR  # aligned to sectors
    layouts = {
        "array_of_structs": (structs, [request(4, 12, 4 * part) for part in range(3)]),
        "aligned": (structs, [request(16)]),
        "struct_of_arrays": (arrays, [request(4, first=from_array_to_array * part) for part in range(3)]),
        "staged": (structs, [request(4, first=4 * LANES * part) for part in range(3)]),
    }
    for layout, (x, requests) in layouts.items():
        yield "vec3", layout, vec3, x, {"variant": layout}, requests, 12 * LANES, 16 * n


def _draw(result: Experiment, picture: Picture) -> None:
    figure = "sectors" if result.rows[0]["gb_per_s"] is None else "gb_per_s"
    groups = list(dict.fromkeys(result["experiment"]))
    picture.set_size_inches(11, 6)
    for axes, group in zip(picture.subplots(2, -(-len(groups) // 2)).flat, groups, strict=False):
        bars(result, picture, "case", figure, axes, experiment=group)
        axes.set_title(group, fontsize=9)
        axes.tick_params(labelsize=7)


#: Where, the layout, its variant, whether each field is contiguous, and the sectors that a warp's loads of four fields
#: touch: four loads of 4 bytes per lane, or one of 16.
FORMS: tuple[tuple[str, str, str, bool, int | None], ...] = (
    ("GPU", "structs", "array_of_structs", False, 4 * sectors(16 * lane for lane in range(LANES))),
    ("GPU", "structs, 16 bytes at once", "aligned_structs", False, sectors((16 * lane for lane in range(LANES)), 16)),
    ("GPU", "arrays", "struct_of_arrays", True, 4 * sectors(4 * lane for lane in range(LANES))),
    ("CPU (NumPy)", "structs", "numpy", False, None),
    ("CPU (NumPy)", "arrays", "numpy", True, None),
)


@experiment
def layouts(*, n: int | None = None, repeat: int | None = None) -> Experiment:
    """Array of structs and struct of arrays: four fields added in place, on the GPU and on the CPU.

    Parameters
    ----------
    n : int, optional
        Structs in the large case; the small case has 4096. Default: 2**22 on a GPU, 32,768 on the emulator.
    <repeat>

    <returns>
        One row per processor, size and layout: the time to add all structs once (not measured on the emulator). On the
        CPU, NumPy adds field by field: views into one array of structs, or separate arrays.

    Examples
    --------
    >>> from cudakern import lab
    >>> rows = lab.layouts(n=1000, repeat=1).rows
    >>> [(row["layout"], row["sectors"]) for row in rows[:3]]
    [('structs', 64), ('structs, 16 bytes at once', 16), ('arrays', 16)]
    """
    large = size("layouts", n, chip=1 << 22, emulator=1 << 15)
    rows: list[dict[str, Any]] = []
    # The large case exceeds a chip's caches. A round's time includes a share of the copy that initializes the sums.
    for (structs, rounds), form in itertools.product(((4096, 100), (large, 4)), FORMS):
        where, layout, variant, by_field, sector_count = form
        random = np.random.default_rng(0)
        operands = [random.integers(0, 10, (structs, 4), dtype=np.int32) for _ in range(2)]
        arrays: list[Any] = [np.asarray(x, order="F" if by_field else "C") for x in operands]
        keywords: dict[str, Any] = {"variant": variant, "rounds": rounds}
        if variant != "numpy":
            arrays = [asarray(x.T).T if by_field else asarray(x) for x in operands]
            keywords["out"] = empty((4, structs), "int32").T if by_field else empty((structs, 4), "int32")
        profile, _ = measure(add_fields, tuple(arrays), keywords, repeat)
        row = {"where": where, "n": structs, "layout": layout, "label": f"{where}, {structs:,}: {layout}"}
        round_ns = None if profile.clock == "emulated" else profile.kernel_ns / rounds
        times = {"round_ns": round_ns, "rounds": rounds, "clock": profile.clock, "cpu": variant == "numpy"}
        rows.append(row | {"sectors": sector_count} | times)
    arrays_of = {(row["where"], row["rounds"]): row for row in rows if row["layout"] == "arrays"}
    for row in rows:
        row["relative"] = ratio(row, arrays_of[row["where"], row["rounds"]], "round_ns")
    title = "layouts: four fields of 4 bytes, added in place"
    return report("layouts", title, rows, bars, label="label", value="relative")
