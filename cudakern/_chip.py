"""What a chip could do at most: the limits that measured figures are compared with."""

from __future__ import annotations

from typing import Any, NamedTuple

#: Results an SM and cycle of (float32, float64) multiply-adds, by compute capability: the table "Throughput of native
#: arithmetic instructions" of the CUDA C++ Programming Guide. A chip that is not here has no known limit.
MULTIPLY_ADDS = {
    70: (64, 32),
    72: (64, 32),
    75: (64, 2),
    80: (64, 32),
    86: (128, 2),
    87: (128, 2),
    89: (128, 2),
    90: (128, 64),
    100: (128, 64),
    120: (128, 2),
    121: (128, 2),
}


class Limit(NamedTuple):
    """The shortest time that a chip allows, and what sets it."""

    ns: float
    what: str


def bandwidth(device: dict[str, Any]) -> float | None:
    """Bytes a second between chip and memory: two transfers a clock over the bus; None if the driver does not say."""
    clock, bits = device.get("memory_clock_khz", 0), device.get("memory_bus_bits", 0)
    return 2 * clock * 1e3 * bits / 8 or None


def peak(device: dict[str, Any], dtype: str) -> float | None:
    """FLOPs a second of plain multiply-adds (two FLOPs each), without tensor cores; None if not known."""
    major, minor = device["capability"]
    lanes = MULTIPLY_ADDS.get(10 * major + minor)
    if lanes is None or dtype not in ("float32", "float64"):
        return None
    return float(2 * lanes[dtype == "float64"] * device["multiprocessors"] * device["clock_khz"] * 1e3) or None


def limit(device: dict[str, Any], dtype: str, flops: float, bytes: float) -> Limit | None:
    """What bounds that much work on that chip: moving the bytes, or computing (the roofline's two sides)."""
    memory, arithmetic = bandwidth(device), peak(device, dtype)
    times = []
    if memory:
        cached = "; these data fit the faster L2 cache" if bytes <= device.get("l2_bytes", 0) else ""
        times.append(Limit(bytes / memory * 1e9, f"memory bandwidth ({memory / 1e9:,.0f} GB/s{cached})"))
    if arithmetic:
        times.append(Limit(flops / arithmetic * 1e9, f"{dtype} multiply-adds ({arithmetic / 1e9:,.0f} GFLOP/s)"))
    return max(times, default=None)
