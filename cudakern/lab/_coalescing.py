"""coalescing: offsets, strides, widths of access, inactive lanes, bytes and words, 12-byte structs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .._array import DeviceArray
from .._creation import zeros
from .._dtypes import itemsize
from .._operations._experiments import coalescing as read_slice
from .._operations._experiments import unpack_bytes, vec3
from ._experiment import Column, Experiment, bars_in, experiment, measure, percent, plural, report, size
from ._rules import LANES, SECTOR, sectors

if TYPE_CHECKING:
    from .._plots import Picture

IDLE = 3  #: the lane that does not read

Request = tuple[Sequence[int], int]  #: of a warp: the lanes' byte addresses, and bytes per lane
#: Experiment, case, operation, operand, keywords, a warp's requests, the bytes that a warp uses, and those that all
#: threads read and write.
Case = tuple[str, str, Callable[..., Any], DeviceArray, dict[str, Any], list[Request], int, float]


@experiment(
    Column("experiment", "experiment"),
    Column("case", "case"),
    Column("load requests\nper warp", "requests"),
    Column("sectors per warp\n(computed)", "sectors"),
    Column("used share\nof the sectors", "wanted", percent),
    Column("GB/s\nused", "gb_per_s", timed=True),
    claim="T6, M: only loads of 4, 8 or 16 bytes from neighboring, aligned addresses are combined, and loads of 16 "
    "bytes are slow; an inactive lane does no harm; 12-byte structs need alignment, separate arrays or shared memory "
    "(T6). The loads of 4 bytes of neighboring lanes become one transaction of 128 bytes, and bytes are better read "
    "as words (M)",
    on_an_h200="With 16,777,216 threads, a stride of 32 runs at 20.3% of the rate of a stride of 1. Alignment no "
    "longer matters: an offset of one element is about as fast as no offset. A warp without lane 3 is about as fast "
    "as a full one. Loads of 16 bytes are not slow but 1.56 times as fast as loads of 4, and bytes read as words are "
    "1.87 times as fast as bytes read one by one. Structs of 12 bytes need no special layout: no other layout is "
    "faster than reading them unchanged.",
)
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

    <raises>

    Examples
    --------
    >>> from cudakern import lab
    >>> rows = lab.coalescing(n=1000, repeat=1).rows
    >>> [row["sectors"] for row in rows if row["experiment"] == "stride"]
    [4, 8, 12, 16, 32, 32, 32]
    """
    n = size("coalescing", n, chip=1 << 24, emulator=1 << 12)  # on a chip, more than its caches hold
    rows = []
    for group, case, operation, x, keywords, requests, wanted, moved in _cases(n):
        profile, _ = measure(operation, (x,), keywords, repeat)
        sector_count = sum(sectors(*request) for request in requests)
        rows.append(
            {
                "experiment": group,
                "case": case,
                "requests": len(requests),
                "sectors": sector_count,
                "wanted": wanted / (sector_count * SECTOR),
                "gb_per_s": moved / max(profile.kernel_ns, 1) if profile.clock == "gpu" else None,
                "kernel_ns": profile.kernel_ns,
                "clock": profile.clock,
            }
        )
    title = f"coalescing: {n:,} threads, 4 bytes per thread"
    return report("coalescing", title, rows, draw=_draw)


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
    timed = result.rows[0]["gb_per_s"] is not None
    key, name = ("gb_per_s", "GB/s used") if timed else ("sectors", "sectors per warp (computed)")
    groups = list(dict.fromkeys(result["experiment"]))
    picture.set_size_inches(11, 6)
    for axes, group in zip(picture.subplots(2, -(-len(groups) // 2)).flat, groups, strict=False):
        bars_in(axes, result, "case", key, name, experiment=group)
        axes.set_title(group, fontsize=9)
        axes.tick_params(labelsize=7)
