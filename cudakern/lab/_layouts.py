"""layouts: an array of structs compared with a struct of arrays, on the GPU and on the CPU."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from .. import _display
from .._creation import asarray, empty
from .._operations._experiments import add_fields
from ._experiment import Column, Experiment, bars, experiment, grouped, measure, ratio, report, size
from ._rules import LANES, sectors

#: Where, the layout, its variant, whether each field is contiguous, and the sectors that a warp's loads of four fields
#: touch: four loads of 4 bytes per lane, or one of 16.
FORMS: tuple[tuple[str, str, str, bool, int | None], ...] = (
    ("GPU", "structs", "array_of_structs", False, 4 * sectors(16 * lane for lane in range(LANES))),
    ("GPU", "structs, 16 bytes at once", "aligned_structs", False, sectors((16 * lane for lane in range(LANES)), 16)),
    ("GPU", "arrays", "struct_of_arrays", True, 4 * sectors(4 * lane for lane in range(LANES))),
    ("CPU (NumPy)", "structs", "numpy", False, None),
    ("CPU (NumPy)", "arrays", "numpy", True, None),
)


@experiment(
    Column("where", "where"),
    Column("structs", "n", grouped),
    Column("layout", "layout"),
    Column("sectors per warp\n(computed)", "sectors"),
    Column("time\nper round", "round_ns", _display.duration),
    Column("relative to\narrays", "relative"),
    claim="M: with 4096 elements of four fields, an array of structs takes three to four times as long as separate "
    "arrays on a GPU (11 times on the oldest), and a tenth of the time on a CPU",
    on_an_h200="On the GPU, 4,096 structs take 2.02 times as long as arrays, less than the claimed three to four "
    "times, and 4,194,304 structs take 3.64 times as long. Structs that are loaded 16 bytes at once take 72.7% of the "
    "arrays' time with 4,096 structs, and about the same time with 4,194,304. With NumPy on the CPU, structs take 2.6 "
    "and 3.71 times as long as arrays. NumPy traverses all structs once per field, whereas the C loop of the source "
    "processes one struct at a time, so this does not test the claim about CPUs.",
)
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

    <raises>

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
        rows.append(
            {
                "where": where,
                "n": structs,
                "layout": layout,
                "label": f"{where}, {structs:,}: {layout}",
                "sectors": sector_count,
                "round_ns": None if profile.clock == "emulated" else profile.kernel_ns / rounds,
                "rounds": rounds,
                "clock": profile.clock,
                "cpu": variant == "numpy",
            }
        )
    arrays_of = {(row["where"], row["rounds"]): row for row in rows if row["layout"] == "arrays"}
    for row in rows:
        row["relative"] = ratio(row, arrays_of[row["where"], row["rounds"]], "round_ns")
    title = "layouts: four fields of 4 bytes, added in place"
    draw = bars("label", "relative", "time relative to arrays of the same size, on the same processor")
    return report("layouts", title, rows, draw=draw)
