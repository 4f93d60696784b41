"""bank_conflicts: strides, padding and broadcast in shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _display
from .._backend import backend
from .._operations._experiments import ROUNDS, THREADS, TILE
from .._operations._experiments import bank_conflicts as operation
from ._experiment import Column, Experiment
from ._measuring import measure
from ._rules import LANES, WORD, wavefronts
from ._sizes import numbers, size
from ._words import NEARLY, clearly, counted, longer, verdict

if TYPE_CHECKING:
    from .._plots import Picture

DOCUMENTS = (
    "T6 and P11: lanes that want one bank are served one after the other, n ways take n times as long, 17 words apart "
    "instead of 16 take none of it, and a word that all lanes want is broadcast (T's card had 16 banks for half a warp)"
)
#: Requests of a block: a warp's loads in all rounds.
REQUESTS = THREADS // LANES * ROUNDS

COLUMNS = (
    Column("form", "form"),
    Column("stride", "stride"),
    Column("words from\nlane to lane", "distance"),
    Column("wavefronts\na request, by rule", "wavefronts"),
    Column("cycles\na request", "cycles", timed=True),
    Column("against\nstride 1", "relative", timed=True),
)


def bank_conflicts(
    strides: int | Sequence[int] = range(1, 33), *, n: int = TILE, repeat: int | None = None
) -> Experiment:
    """Shared memory read in strides, with and without padding, and all lanes the same word.

    Parameters
    ----------
    strides : int or sequence of int
        Which: 1 to 32.
    n : int
        Words: a block for each 1024. One block shows it, since each block has its own shared memory and clock.
    repeat : int, optional
        How often to measure a row. Without it: up to 20 times, for a tenth of a second at most.

    Returns
    -------
    Experiment
        A row a form and stride: the wavefronts that a warp's request takes by the rule of banks, and the cycles that
        it took by the multiprocessor's clock.

    Raises
    ------
    TypeError
        What must be a whole number is none.
    ValueError
        No strides, or others; ``n`` below 1; ``repeat`` below 1.
    CudaError
        The GPU or the emulator failed.

    Notes
    -----
    T6, P11. The emulator has no banks to wait for: there the cycles are left out.

    Examples
    --------
    >>> from cudakern import lab
    >>> [(row["form"], row["stride"], row["wavefronts"]) for row in lab.bank_conflicts([16], repeat=1).rows]
    [('broadcast', 0, 1), ('strided', 1, 1), ('strided', 16, 16), ('padded', 16, 1)]
    """
    n = size("bank_conflicts", n, TILE, TILE)
    chosen = numbers("bank_conflicts", "strides", strides)
    if not chosen or any(not 1 <= stride <= 32 for stride in chosen):
        raise ValueError(f"bank_conflicts: strides={list(chosen)}: they are 1 to 32, and at least one")
    here = backend()
    x = np.arange(n, dtype=np.int32)
    rows = [_row("broadcast", 0, x, repeat)]
    rows += [_row("strided", stride, x, repeat) for stride in dict.fromkeys((1, *chosen))]
    rows += [_row("padded", stride, x, repeat) for stride in dict.fromkeys(chosen)]
    base = rows[1]["cycles"]
    for row in rows:
        row["relative"] = None if row["cycles"] is None else row["cycles"] / base
    return Experiment(
        name="bank_conflicts",
        title=f"bank_conflicts: {REQUESTS:,} requests a block, 4-byte words",
        backend=here,
        columns=COLUMNS,
        rows=tuple(rows),
        finding=_finding(rows),
        documents=DOCUMENTS,
        verdict=_verdict(rows),
        here=""
        if base is not None
        else "The emulator has no banks: it runs the same reads, and its times say nothing "
        "about them; the wavefronts are computed from the addresses.",
        draw=_draw,
    )


def _row(form: str, stride: int, x: Any, repeat: int | None) -> dict[str, Any]:
    variant = "padded" if form == "padded" else "strided"
    profile, _ = measure(operation, (x,), {"variant": variant, "stride": stride}, repeat, None)
    distance = stride + (form == "padded")
    timed = profile.clock == "gpu"
    return {
        "form": form,
        "stride": stride,
        "distance": distance,
        "wavefronts": wavefronts(WORD * distance * lane for lane in range(LANES)),
        "cycles": _display.median(profile.cycles) / REQUESTS if timed else None,
    }


def _finding(rows: Sequence[dict[str, Any]]) -> str:
    strided = [row for row in rows if row["form"] == "strided"]
    worst = max(strided, key=lambda row: (row["wavefronts"], row["stride"] > 1))  # stride 1 is what others are held to
    padded = next((row for row in rows if row["form"] == "padded" and row["stride"] == worst["stride"]), None)
    broadcast, first = rows[0], rows[1]
    if worst["cycles"] is None:
        said = f"By the rule stride {worst['stride']} takes {counted(worst['wavefronts'], 'wavefront')} a request"
        if padded:
            said += f", the same words with padding {padded['wavefronts']}"
        return f"{said}, and a broadcast {broadcast['wavefronts']}."
    said = (
        f"Stride {worst['stride']} takes {longer(worst['cycles'], first['cycles'])} stride 1 (by the rule "
        f"{counted(worst['wavefronts'], 'wavefront')})"
    )
    if padded:
        said += f"; with padding it takes {longer(padded['cycles'], first['cycles'])} stride 1"
    return f"{said}; a broadcast takes {longer(broadcast['cycles'], first['cycles'])} stride 1."


def _verdict(rows: Sequence[dict[str, Any]]) -> str:
    broadcast, first = rows[0], rows[1]
    if first["cycles"] is None:
        return ""
    ways = {row["stride"]: row for row in rows if row["form"] == "strided" and row["wavefronts"] > 1}
    claims = {}
    if ways:
        worst = max(ways.values(), key=lambda row: row["wavefronts"])
        in_turn = all(abs(row["cycles"] / (row["wavefronts"] * first["cycles"]) - 1) <= NEARLY for row in ways.values())
        claims[
            "lanes that want one bank are served one after the other, n ways take n times as long "
            f"({worst['wavefronts']} ways take {longer(worst['cycles'], first['cycles'])} one)"
        ] = in_turn
        padded = {row["stride"]: row for row in rows if row["form"] == "padded" and row["stride"] in ways}
        same = padded[worst["stride"]]
        claims[
            f"a word of padding takes that away (words {same['distance']} apart take "
            f"{longer(same['cycles'], first['cycles'])} neighbours)"
        ] = not any(clearly(row["cycles"], first["cycles"]) for row in padded.values())
    claims[
        f"a word that all lanes want is broadcast (it takes {longer(broadcast['cycles'], first['cycles'])} neighbours)"
    ] = not clearly(broadcast["cycles"], first["cycles"])
    return verdict(claims)


def _draw(result: Experiment, picture: Picture) -> None:
    axes = picture.subplots()
    key = "wavefronts" if result.rows[0]["cycles"] is None else "cycles"
    for form in ("strided", "padded"):
        shown = [row for row in result.rows if row["form"] == form]
        axes.plot([row["stride"] for row in shown], [row[key] for row in shown], marker="o", markersize=3, label=form)
    axes.axhline(result.rows[0][key], color="#999999", linewidth=1, linestyle=":", label="broadcast")
    axes.set_xlabel("stride, in words", fontsize=9)
    axes.set_ylabel("wavefronts a request, by the rule" if key == "wavefronts" else "cycles a request", fontsize=9)
    axes.legend(fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
