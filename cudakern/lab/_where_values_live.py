"""Where a kernel keeps values: in registers, in local memory (spilling), and in constant memory."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from .. import asarray, backend, kernel_resources, packbits
from ..calls.table import Variant, variants
from ..operations.experiments import CHAIN as ROUNDS
from ..operations.experiments import LITERALS, moving_sum
from ..operations.experiments import constant_memory as mix
from ..operations.registry import random_array
from ._experiment import Experiment, bars, experiment, kernel_times, measure, ratio, report, size

ROWS = 256  #: of the moving sum


@experiment
def registers(n: int | None = None, *, repeat: int | None = None) -> Experiment:
    """Flags packed into words: accumulated in global memory, in a register, with an unrolled loop, by a warp vote.

    The forms are variants of ``packbits``, in which each thread has its own word.

    If no other thread can access a word, the compiler may keep it in a register although the source accumulates it in
    memory. ``global_memory`` prevents this by ``volatile``. The first form of the source, in which all threads share
    one word, is a race and is left out.

    Parameters
    ----------
    n : int, optional
        Flags. <size>
    <repeat>

    <returns>
        One row per form: registers per thread (from ``kernel_resources``; None if unknown), kernel time, rate, and
        speed-ups (None if the times are emulated).

    Examples
    --------
    >>> from cudakern import lab
    >>> lab.registers(1000, repeat=1)["variant"]
    ['global_memory', 'register', 'unrolled', 'ballot']
    """
    n = size("registers", n, chip=1 << 26, emulator=1 << 18)
    flags = np.random.default_rng(0).random(n) < 0.5
    expected = np.packbits(flags, bitorder="little")
    on_device = asarray(flags)  # copied once
    rows: list[dict[str, Any]] = []
    for form in ("global_memory", "register", "unrolled", "ballot"):
        profile, result = measure(packbits, (on_device,), {"variant": form, "bitorder": "little"}, repeat)
        if not np.array_equal(result.get(), expected):
            raise RuntimeError(f"registers: the result of {form} differs from NumPy's")
        resources = kernel_resources("packbits", form, flags.dtype)[0]
        rows.append({"variant": form, "registers": resources.registers, **kernel_times(profile)})
    for previous, row in zip((None, *rows), rows, strict=False):
        row["speedup"] = ratio(rows[0], row)
        row["step"] = previous and ratio(previous, row)
    return report("registers", f"{n:,} flags packed into bits", rows, bars, label="variant", value="kernel_ns")


@experiment
def spilling(n: int | None = None, *, window: int | None = None, repeat: int | None = None) -> Experiment:
    """A thread's array indexed at run time or at compile time, spilled, or in shared memory: one sum, four locations.

    Each thread walks down a column and keeps the newest values in an array (``moving_sum``). Registers have no
    addresses, so the array can be in registers only if the compiler knows every index.

    Parameters
    ----------
    n : int, optional
        Columns of 256 rows each; a thread processes part of one column. <size>
    window : int, optional
        The array's length: 8, 16 or 32. Default: all three.
    <repeat>

    <returns>
        One row per form and window: registers and local memory per thread (from ``kernel_resources``; None if unknown),
        kernel time, rate, and the time relative to ``compile_time_index``.

    Examples
    --------
    >>> from cudakern import lab
    >>> lab.spilling(64, window=8, repeat=1)["variant"]
    ['runtime_index', 'compile_time_index', 'spilled', 'shared_array']
    """
    n = size("spilling", n, chip=1 << 16, emulator=1 << 10)
    forms = _on_device("moving_sum")
    parameter = next(p for p in forms[0].parameters if p.name == "window")
    windows = sorted(parameter.choices) if window is None else [parameter.check(window)]
    x = asarray(random_array(np.random.default_rng(0), (ROWS, n), np.dtype(np.float32)))  # copied once
    rows: list[dict[str, Any]] = []
    for length in windows:
        first = None
        for form in forms:
            profile, result = measure(moving_sum, (x,), {"variant": form.name, "window": length}, repeat)
            sums = result.get()
            first = sums if first is None else first
            # Like allclose() for finite numbers, but faster.
            if not np.all(np.abs(sums - first) <= 1e-8 + 1e-5 * np.abs(first)):
                raise RuntimeError(f"spilling: {form.name} and {forms[0].name} differ for window={length}")
            resources = kernel_resources(form.operation, form.name, x.dtype, window=length)[0]
            keys = ("registers", "local_bytes", "spill_stores", "spill_loads")
            row = {"variant": form.name, "window": length, "label": f"{form.name}, {length}"}
            rows.append(row | {key: getattr(resources, key) for key in keys} | kernel_times(profile))
    compile_time = {row["window"]: row for row in rows if row["variant"] == "compile_time_index"}
    for row in rows:
        row["times"] = ratio(row, compile_time[row["window"]])
    return report("spilling", f"moving_sum of {ROWS} x {n:,} float32", rows, bars, label="label", value="kernel_ns")


def _on_device(operation: str) -> list[Variant]:
    """The variants that run on this device."""
    return [form for form in variants(operation) if not form.on_host and not form.why_not(backend())]


CHECKED = 1 << 17  #: elements compared with NumPy; the others are compared between storages


@experiment
def constant_memory(n: int | None = None, *, repeat: int | None = None) -> Experiment:
    """A small table as literals, in ``__constant__`` memory (by name and as an array), and in global memory.

    Each element is mixed with 64 numbers from the table. With a *uniform* index, all lanes of a warp read the same
    number at the same time; with a *divergent* index, each lane starts at a different number.

    The arithmetic is chosen so that the compiler cannot reduce it to a constant, unlike the source's own kernels.

    Parameters
    ----------
    n : int, optional
        Elements. <size>
    <repeat>

    <returns>
        One row per storage, table and index: kernel time, time per number, and the time relative to literals.

    Examples
    --------
    >>> from cudakern import lab
    >>> sorted(set(lab.constant_memory(100, repeat=1)["variant"]))
    ['array', 'global', 'literal', 'scalar']
    """
    n = size("constant_memory", n, chip=1 << 22, emulator=1 << 12)
    random = np.random.default_rng(0)
    x = random.integers(0, 2**32, n, dtype=np.uint32)
    long = random.integers(0, 2**32, 32, dtype=np.uint32)  # a number for each lane of a warp
    storages = [form.name for form in _on_device("constant_memory")]
    on_device = asarray(x)  # copied once
    rows: list[dict[str, Any]] = []
    for table, index in itertools.product((LITERALS, long), ("uniform", "divergent")):
        expected = mix(x[:CHECKED], table, index=index, variant="numpy")
        first = None
        for storage in storages if table is LITERALS else ("array", "global"):
            keywords = {"variant": storage, "index": index}
            profile, result = measure(mix, (on_device, asarray(table)), keywords, repeat)
            values = result.get()
            first = values if first is None else first
            if not (np.array_equal(values[:CHECKED], expected) and np.array_equal(values, first)):
                case = f"{storage}, {table.size} numbers, {index} index"
                raise RuntimeError(f"constant_memory: {case}: the result differs from NumPy's")
            row = {"variant": storage, "length": table.size, "index": index}
            row["label"] = f"{storage}, {table.size}, {index}"
            row["ps"] = profile.kernel_ns * 1e3 / (n * ROUNDS)
            row["changes"] = {"literal": "no (recompile)", "global": "at any time"}.get(storage, "between launches")
            rows.append(row | kernel_times(profile))
    for row in rows:
        row["times"] = ratio(row, rows[0])
    title = f"{n:,} elements mixed with {ROUNDS} numbers each"
    return report("constant_memory", title, rows, bars, label="label", value="kernel_ns")
