"""What a kept result says in today's words: experiments' words get better, and their figures are measured once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from . import (
    _bank_conflicts,
    _coalescing,
    _constant_memory,
    _divergence,
    _hello,
    _host_memory,
    _intrinsics,
    _latency,
    _layouts,
    _overlap,
    _registers,
    _sample_sort,
    _spilling,
    _textures,
    _thread_map,
    _timing,
)

Rows = list[dict[str, Any]]
Told = tuple[str, str]  #: finding and verdict

#: What only a title says: the lengths that the documents' figures are for.
SORTED = re.compile(r"Sample sort of (?P<n>[\d,]+) (?P<data>[a-z ]+) keys?, stage by stage")
TIMED = re.compile(r"sum_of_squares, (?P<variant>\w+): (?P<n>[\d,]+) int32")
MAPPED = re.compile(r"(?P<shape>[\d, x]+) elements?, ")


def retold(record: Mapping[str, Any]) -> dict[str, str] | None:
    """The finding, documents and verdict of a GPU's result, from its ``to_dict()``.

    None where the record lacks what today's words are about, or is an emulator's.
    """
    if record["backend"]["emulated"]:
        return None
    module, told = TOLD[record["experiment"]]
    try:
        finding, verdict = told(record["rows"], record["title"])
    except (LookupError, TypeError):
        return None
    return {"finding": finding, "documents": module.DOCUMENTS, "verdict": verdict}


def _of_rows(module: Any) -> tuple[Any, Callable[[Rows, str], Told]]:
    return module, lambda rows, title: (module._finding(rows), module._verdict(rows))


def _of_a_chip(module: Any) -> tuple[Any, Callable[[Rows, str], Told]]:
    """Its finding says less of an emulator."""
    return module, lambda rows, title: (module._finding(rows, False), module._verdict(rows))


def _coalesced(rows: Rows, title: str) -> Told:
    cases = {(row["experiment"], row["case"]): row for row in rows}
    return _coalescing._finding(cases), _coalescing._verdict(cases)


def _spilled(rows: Rows, title: str) -> Told:
    window = max(row["window"] for row in rows)
    return _spilling._finding(rows, window, False), _spilling._verdict(rows, window)


def _sorted(rows: Rows, title: str) -> Told:
    n, data = _parts(SORTED, title)
    ns = {row["stage"]: row["ns"] for row in rows}
    stages = [row for row in rows if row["share"] is not None]
    samples = ns.get(_sample_sort.ON_CPU)
    verdict = _sample_sort._verdict(stages, ns["all"], ns["numpy.sort"], int(n.replace(",", "")), data, samples)
    return _sample_sort._finding(stages, ns["all"]), verdict


def _mapped(rows: Rows, title: str) -> Told:
    (shape,) = _parts(MAPPED, title)
    elements = 1
    for length in shape.split(" x "):
        elements *= int(length.replace(",", ""))
    verdict = _thread_map._verdict(rows) if title == _thread_map.OF_THE_PICTURE else ""
    return _thread_map._finding(rows, elements), verdict


def _timed(rows: Rows, title: str) -> Told:
    variant, n = _parts(TIMED, title)
    by_key = {row["key"]: row for row in rows}
    finding = _timing._finding({key: row["ns"] for key, row in by_key.items()})
    return finding, _timing._verdict(by_key, variant, int(n.replace(",", "")))


def _parts(pattern: re.Pattern[str], title: str) -> tuple[str, ...]:
    found = pattern.match(title)
    if found is None:
        raise LookupError(title)
    return found.groups()


TOLD: dict[str, tuple[Any, Callable[[Rows, str], Told]]] = {
    "bank_conflicts": _of_rows(_bank_conflicts),
    "coalescing": (_coalescing, _coalesced),
    "constant_memory": _of_a_chip(_constant_memory),
    "divergence": _of_rows(_divergence),
    "hello": _of_rows(_hello),
    "host_memory": _of_rows(_host_memory),
    "intrinsics": _of_a_chip(_intrinsics),
    "latency": _of_rows(_latency),
    "layouts": _of_rows(_layouts),
    "overlap": _of_rows(_overlap),
    "registers": _of_a_chip(_registers),
    "sample_sort_stages": (_sample_sort, _sorted),
    "spilling": (_spilling, _spilled),
    "textures": _of_a_chip(_textures),
    "thread_map": (_thread_map, _mapped),
    "timing": (_timing, _timed),
}
