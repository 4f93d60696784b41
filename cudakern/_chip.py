"""Facts about chips, from the file that the emulator is compiled with; and what a chip could do at most."""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple

from ._installed import HEADERS

KB = 1024


class Multiprocessor(NamedTuple):
    """What a multiprocessor of a compute capability has, and how it is given out; emulator_chips.h has the sources."""

    warps: int  #: that it holds at once
    blocks: int  #: that it holds at once
    shared: int  #: bytes of shared memory
    shared_per_block: int  #: the most that a block may have, by opt-in where that is more than 48 KB
    reserved: int  #: bytes of shared memory that the system takes a block
    shared_unit: int  #: bytes: shared memory is given out in pieces of this size
    registers: int  #: of 32 bits
    registers_per_block: int
    partitions: int  #: of the registers; a warp's lie in one of them
    float32: int  #: multiply-adds a cycle, which are the "CUDA cores"
    float64: int  #: multiply-adds a cycle; 0: not known


class Chip(NamedTuple):
    """A chip by name."""

    capability: int  #: 90 is 9.0
    multiprocessors: int


_LINES = re.findall(r"^(CAPABILITY|CHIP)\((.*)\)$", (HEADERS / "emulator_chips.h").read_text(encoding="utf-8"), re.M)
_ENTRIES = [(kind, ast.literal_eval(f"({numbers})")) for kind, numbers in _LINES]


def _multiprocessor(warps: int, blocks: int, *figures: int) -> Multiprocessor:
    shared, by_opt_in, reserved, unit, registers, of_block, partitions, float32, float64 = figures
    sizes = shared * KB, by_opt_in * KB, reserved * KB, unit
    return Multiprocessor(warps, blocks, *sizes, registers * KB, of_block * KB, partitions, float32, float64)


#: By compute capability: 90 is 9.0.
MULTIPROCESSORS = {entry[0]: _multiprocessor(*entry[1:]) for kind, entry in _ENTRIES if kind == "CAPABILITY"}
#: By name.
CHIPS = {entry[0]: Chip(entry[2], entry[3]) for kind, entry in _ENTRIES if kind == "CHIP"}


class Limit(NamedTuple):
    """The shortest time that a chip allows, and what sets it."""

    ns: float
    what: str


def limit(device: dict[str, Any], dtype: str, flops: float, bytes: float) -> Limit | None:
    """What bounds that much work on that chip: moving the bytes, or computing (the roofline's two sides).

    The memory's bus makes two transfers a clock. A multiply-add is two FLOPs; tensor cores are left out. None where
    neither is known.
    """
    times = []
    memory = 2 * device.get("memory_clock_khz", 0) * 1e3 * device.get("memory_bus_bits", 0) / 8  # bytes a second
    if memory:
        cache = "; these data fit the faster L2 cache" if bytes <= device.get("l2_bytes", 0) else ""
        times.append(Limit(bytes / memory * 1e9, f"memory bandwidth ({memory / 1e9:,.0f} GB/s{cache})"))
    major, minor = device["capability"]
    rate = getattr(MULTIPROCESSORS.get(10 * major + minor), dtype, 0) if dtype in ("float32", "float64") else 0
    arithmetic = 2 * rate * device["multiprocessors"] * device["clock_khz"] * 1e3
    if arithmetic:
        times.append(Limit(flops / arithmetic * 1e9, f"{dtype} multiply-adds ({arithmetic / 1e9:,.0f} GFLOP/s)"))
    return max(times, default=None)
