"""layouts: an array of structs against a struct of arrays, on the GPU and on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _display
from .._backend import backend
from .._creation import asarray, empty
from .._operations._experiments import add_fields
from .._transfer import Array
from ._experiment import Bars, Column, Experiment, documents, grouped
from ._measuring import measure
from ._rules import LANES, sectors
from ._sizes import size

DOCUMENTS = (
    "M: with 4096 elements of four fields, structs side by side take three to four times as long as arrays on a GPU "
    "(11 times on the oldest), and on a CPU a tenth of the time"
)
ON_AN_H200 = (
    "On the GPU 4,096 structs take 2.02 times as long as arrays, less than M's three to four times, and 4,194,304 "
    "structs take 3.64 times as long. Structs that are moved 16 bytes at once take 72.7% of the arrays' time with "
    "4,096 structs, and about the same time with 4,194,304. With NumPy on the CPU structs take 2.6 and 3.71 times "
    "as long as arrays. NumPy goes through all structs once a field, whereas M's loop in C takes a struct at a "
    "time, so this does not test M's claim about CPUs."
)
#: M's number of structs and how often they are added here; and large ones, beyond a chip's caches. A round's time has
#: its share of the copy that begins the sums.
SMALL, SMALL_ROUNDS, LARGE_ROUNDS = 4096, 100, 4
ON_CHIP, ON_EMULATOR = 1 << 22, 1 << 15

#: Where, the layout, its variant, whether fields lie side by side, and the sectors that a warp's loads of four fields
#: touch: four loads of 4 bytes a lane, or one of 16.
FORMS: tuple[tuple[str, str, str, bool, int | None], ...] = (
    ("GPU", "structs", "array_of_structs", False, 4 * sectors(16 * lane for lane in range(LANES))),
    ("GPU", "structs, 16 bytes at once", "aligned_structs", False, sectors((16 * lane for lane in range(LANES)), 16)),
    ("GPU", "arrays", "struct_of_arrays", True, 4 * sectors(4 * lane for lane in range(LANES))),
    ("CPU (NumPy)", "structs", "numpy", False, None),
    ("CPU (NumPy)", "arrays", "numpy", True, None),
)

COLUMNS = (
    Column("where", "where"),
    Column("structs", "n", grouped),
    Column("layout", "layout"),
    Column("sectors a warp\nfor its structs", "sectors"),
    Column("time\na round", "round_ns", _display.duration),
    Column("against\narrays", "relative"),
)


@documents
def layouts(*, n: int | None = None, repeat: int | None = None) -> Experiment:
    """Structs of four fields side by side, and the fields side by side: added in place, on the GPU and on the CPU.

    Parameters
    ----------
    n : int, optional
        Structs of the large case, beside the documents' 4096. Default: 2**22 on a GPU, 32,768 on the emulator.
    <repeat>

    Returns
    -------
    Experiment
        A row a place, size and layout: the time of one addition of all structs (not the emulator's). The CPU's are
        NumPy's, field by field: views of one array of structs, and arrays of their own.

    <raises>

    Notes
    -----
    M's loop on a CPU takes a struct at a time; NumPy goes through all of them once a field. So these times say nothing
    about M's claim on CPUs.

    Examples
    --------
    >>> from cudakern import lab
    >>> rows = lab.layouts(n=1000, repeat=1).rows
    >>> [(row["layout"], row["sectors"]) for row in rows[:3]]
    [('structs', 64), ('structs, 16 bytes at once', 16), ('arrays', 16)]
    """
    here = backend()
    large = size("layouts", n, ON_CHIP, ON_EMULATOR)
    rows: list[dict[str, Any]] = []
    for structs, rounds in ((SMALL, SMALL_ROUNDS), (large, LARGE_ROUNDS)):
        random = np.random.default_rng(0)
        operands = [random.integers(0, 10, (structs, 4), dtype=np.int32) for _ in range(2)]
        of_size = [_row(*form, operands, rounds, repeat) for form in FORMS]
        arrays_ns = {row["where"]: row["round_ns"] for row in of_size if row["layout"] == "arrays"}
        for row in of_size:
            base = arrays_ns[row["where"]]
            row["relative"] = None if base is None else row["round_ns"] / base
        rows += of_size
    title = "layouts: four fields of 4 bytes, added in place"
    draw = Bars("label", "relative", "time against arrays of the same size and place")
    return Experiment("layouts", title, here, COLUMNS, tuple(rows), DOCUMENTS, ON_AN_H200, draw=draw)


def _row(
    where: str,
    layout: str,
    variant: str,
    by_field: bool,
    sector_count: int | None,
    operands: list[Array],
    rounds: int,
    repeat: int | None,
) -> dict[str, Any]:
    n = len(operands[0])
    keywords: dict[str, Any] = {"variant": variant, "rounds": rounds}
    arrays: list[Any] = [np.asarray(x, order="F" if by_field else "C") for x in operands]
    if variant != "numpy":
        arrays = [asarray(x.T).T if by_field else asarray(x) for x in operands]
        keywords["out"] = empty((4, n), "int32").T if by_field else empty((n, 4), "int32")
    profile, _ = measure(add_fields, tuple(arrays), keywords, repeat)
    return {
        "where": where,
        "n": n,
        "layout": layout,
        "label": f"{where}, {n:,}: {layout}",
        "sectors": sector_count,
        "round_ns": None if profile.clock == "emulated" else profile.kernel_ns / rounds,
        "rounds": rounds,
        "clock": profile.clock,
        "cpu": variant == "numpy",
    }
