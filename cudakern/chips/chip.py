"""Facts about chips, from the file that the emulator is compiled with; the shortest time that a chip allows."""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple

from .._installed import HEADERS

KB = 1024


class Multiprocessor(NamedTuple):
    """Resources of a multiprocessor of a compute capability, and their allocation; emulator/chips.h has the sources."""

    warps: int  #: at most, at once
    blocks: int  #: at most, at once
    shared: int  #: bytes of shared memory
    shared_per_block: int  #: at most; more than 48 KB by opt-in
    reserved: int  #: bytes of shared memory per block, for the system
    shared_unit: int  #: shared memory is allocated in multiples of this number of bytes
    registers: int  #: of 32 bits
    registers_per_block: int
    partitions: int  #: of the registers; the registers of a warp are in one of them
    float32: int  #: multiply-adds per cycle: the "CUDA cores"
    float64: int  #: multiply-adds per cycle; 0: not known


class Chip(NamedTuple):
    """A chip by name."""

    capability: int  #: 90 is 9.0
    multiprocessors: int


_LINES = re.findall(r"^(CAPABILITY|CHIP)\((.*)\)$", (HEADERS / "emulator/chips.h").read_text(encoding="utf-8"), re.M)
_ENTRIES = [(kind, ast.literal_eval(f"({numbers})")) for kind, numbers in _LINES]


def _multiprocessor(warps: int, blocks: int, *figures: int) -> Multiprocessor:
    shared, by_opt_in, reserved, unit, registers, of_block, *others = figures
    sizes = shared * KB, by_opt_in * KB, reserved * KB, unit, registers * KB, of_block * KB
    return Multiprocessor(warps, blocks, *sizes, *others)


#: By compute capability: 90 is 9.0.
MULTIPROCESSORS = {entry[0]: _multiprocessor(*entry[1:]) for kind, entry in _ENTRIES if kind == "CAPABILITY"}
#: By name.
CHIPS = {entry[0]: Chip(entry[2], entry[3]) for kind, entry in _ENTRIES if kind == "CHIP"}


class Limit(NamedTuple):
    """The shortest time that a chip allows for some work, and the reason."""

    ns: float
    what: str


def limit(device: dict[str, Any], dtype: str, flops: float, bytes: float) -> Limit | None:
    """The larger of the times for moving the bytes and for computing (the roofline model); None if neither is known.

    The memory bus makes two transfers per clock. A multiply-add is two FLOPs; tensor cores are not considered.
    """
    times = []
    memory = 2 * device.get("memory_clock_khz", 0) * 1e3 * device.get("memory_bus_bits", 0) / 8  # bytes per second
    if memory:
        cache = "; these data fit the faster L2 cache" if bytes <= device.get("l2_bytes", 0) else ""
        times.append(Limit(bytes / memory * 1e9, f"memory bandwidth ({memory / 1e9:,.0f} GB/s{cache})"))
    major, minor = device["capability"]
    rate = getattr(MULTIPROCESSORS.get(10 * major + minor), dtype, 0) if dtype in ("float32", "float64") else 0
    arithmetic = 2 * rate * device["multiprocessors"] * device["clock_khz"] * 1e3
    if arithmetic:
        times.append(Limit(flops / arithmetic * 1e9, f"{dtype} multiply-adds ({arithmetic / 1e9:,.0f} GFLOP/s)"))
    return max(times, default=None)
