"""The columns of a ladder without a GPU that explain its steps: what their kernels ask of the memory system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .. import _display

Metrics = Mapping[str, float]  #: of ck.trace, by Nsight Compute's names

SECTOR = 32  #: bytes
_OF_TMA = (
    "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum",
    "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum",
)
MANY = 0.25  #: of a step's sectors: those of stores or atomic operations are then worth a column
#: Columns: for each the operations that its figure covers, as Nsight Compute abbreviates them.
_SECTORS_PER = {"load": ("ld",), "store": ("st",), "atomic": ("atom", "red")}
_NOTES = {
    "load": "Sectors per load, store or atomic: how many sectors of 32 bytes a request of a warp takes; with 4 bytes "
    "per lane, 4 is the least of a whole warp.",
    "bank\nconflicts": "Bank conflicts: passes through shared memory beyond those needed without conflicts.",
    "bytes\nmoved": "Bytes moved: those of all sectors, by loads, stores, atomics and TMA.",
}


def _sum(metrics: Metrics, what: str, operations: Sequence[str] = ("ld", "st", "atom", "red")) -> float:
    """Of the global ``requests`` or ``sectors`` of some operations."""
    return sum(metrics.get(f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum", 0) for op in operations)


def _shared(metrics: Metrics, what: str) -> float:
    """Of the ``bank_conflicts_pipe_lsu`` or ``pipe_lsu_wavefronts`` of shared memory."""
    names = (f"l1tex__data_{what}_mem_shared_op_{op}.sum" for op in ("ld", "st", "atom"))
    return sum(metrics.get(name, 0) for name in names)


def sectors_per(metrics: Metrics, operation: str) -> float | None:
    """Sectors per request of "load", "store" or "atomic"; None: there is no request."""
    requests = _sum(metrics, "requests", _SECTORS_PER[operation])
    return _sum(metrics, "sectors", _SECTORS_PER[operation]) / requests if requests else None


def conflicts(metrics: Metrics) -> float:
    """Bank conflicts of loads, stores and atomic operations in shared memory."""
    return _shared(metrics, "bank_conflicts_pipe_lsu")


def bytes_moved(metrics: Metrics) -> float:
    """Bytes of all sectors of global memory that are asked for."""
    return SECTOR * _sum(metrics, "sectors") + sum(metrics.get(name, 0) for name in _OF_TMA)


def columns(steps: Sequence[Metrics], least: float = 0) -> list[dict[str, str]]:
    """The cells of each step, by their columns' headings; a step without metrics has "-".

    Sectors of stores and of atomic operations are left out where all steps agree in them or they are few, and
    conflicts where no step uses shared memory. ``least``: bytes that must be moved; a record in which a step moves
    less is one without TMA's.
    """
    known = [metrics for metrics in steps if metrics]
    if not known:
        return [{} for _ in steps]

    def tells(operation: str) -> bool:
        share = max(_sum(one, "sectors", _SECTORS_PER[operation]) / (_sum(one, "sectors") or 1) for one in known)
        return share >= MANY and (len(known) == 1 or len({sectors_per(one, operation) for one in known}) > 1)

    shown = [operation for operation in _SECTORS_PER if operation == "load" or tells(operation)]
    result = []
    for metrics in steps:
        cells = {f"sectors\nper {op}": _display.figure(sectors_per(metrics, op)) for op in shown}
        if any(_shared(one, "pipe_lsu_wavefronts") for one in known):
            cells["bank\nconflicts"] = f"{conflicts(metrics):,.0f}" if metrics else "-"
        moved = bytes_moved(metrics)
        cells["bytes\nmoved"] = _display.size(moved) if metrics and moved >= least else "-"
        result.append(cells)
    return result


def notes(figures: Sequence[str]) -> Iterator[str]:
    """What the columns mean."""
    for name, note in _NOTES.items():
        if any(column == name or column.endswith(f" {name}") for column in figures):
            yield note
