"""layouts: an array of structs against a struct of arrays, on the GPU and on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _display
from .._backend import backend
from .._creation import asarray, empty
from .._operations._experiments import add_fields
from .._profile import Profile
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

#: (what runs, its variant, whether fields lie side by side, words from lane to lane, bytes a load)
FORMS = (
    ("structs", "array_of_structs", False, 4, 4),
    ("structs, 16 bytes at once", "aligned_structs", False, 4, 16),
    ("arrays", "struct_of_arrays", True, 1, 4),
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
        A row a place, size and layout: the time of one addition of all structs. The CPU's are NumPy's, field by field:
        views of one array of structs (what a structured array's fields are), and arrays of their own.

    <raises>

    Notes
    -----
    M. The emulator's times say nothing about sectors; they are left out, and the CPU's are real. M's loop on a CPU is
    in C and takes a struct at a time, where structs have the better of it; NumPy goes through all of them once a field.
    No form here is of M's kind, so these times say nothing about its claim on CPUs.

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
        drawn = _structs(structs, 0), _structs(structs, 1)
        kernels = [_on_device(drawn, rounds, form, repeat) for form in FORMS]
        hosts = [_on_host(drawn, rounds, by_field, repeat) for by_field in (False, True)]
        for several in (kernels, hosts):
            base = several[-1]["round_ns"]
            for row in several:
                row["relative"] = None if base is None else row["round_ns"] / base
        rows += kernels + hosts
    title = "layouts: four fields of 4 bytes, added in place"
    draw = Bars("label", "relative", "time against arrays of the same size and place")
    return Experiment("layouts", title, here, COLUMNS, tuple(rows), DOCUMENTS, ON_AN_H200, draw=draw)


def _structs(n: int, seed: int) -> Array:
    return np.random.default_rng(seed).integers(0, 10, (n, 4), dtype=np.int32)


def _on_device(
    drawn: tuple[Array, Array], rounds: int, form: tuple[str, str, bool, int, int], repeat: int | None
) -> dict[str, Any]:
    layout, variant, by_field, apart, width = form
    n = len(drawn[0])
    if by_field:
        arrays = [asarray(np.ascontiguousarray(x.T)).T for x in drawn]
        out = empty((4, n), "int32").T
    else:
        arrays, out = [asarray(x) for x in drawn], empty((n, 4), "int32")
    keywords = {"variant": variant, "rounds": rounds, "out": out}
    profile, _ = measure(add_fields, tuple(arrays), keywords, repeat)
    touched = 16 // width * sectors((4 * apart * lane for lane in range(LANES)), width)
    return _row("GPU", n, layout, rounds, profile) | {"sectors": touched}


def _on_host(drawn: tuple[Array, Array], rounds: int, by_field: bool, repeat: int | None) -> dict[str, Any]:
    n, layout = len(drawn[0]), "arrays" if by_field else "structs"
    arrays = [np.array(x, order="F" if by_field else "C") for x in drawn]
    profile, _ = measure(add_fields, tuple(arrays), {"variant": "numpy", "rounds": rounds}, repeat)
    return _row("CPU (NumPy)", n, layout, rounds, profile) | {"cpu": True}


def _row(where: str, n: int, layout: str, rounds: int, profile: Profile) -> dict[str, Any]:
    return {
        "where": where,
        "n": n,
        "layout": layout,
        "label": f"{where}, {n:,}: {layout}",
        "sectors": None,
        "round_ns": None if profile.clock == "emulated" else profile.kernel_ns / rounds,
        "rounds": rounds,
        "clock": profile.clock,
    }
