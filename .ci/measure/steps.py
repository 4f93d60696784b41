"""Ladders and experiments, as the package shows them; and what Nsight Compute sees of the steps of matmul."""

import math
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import cudakern as ck
import records
from cudakern.arrays.dtypes import numpy_dtype
from cudakern.insight.variants import checkable
from cudakern.measure.resources import compiler_report
from cudakern.operations.registry import operation, registry
from measure import OPS, TINY

#: So large that launches and caches hardly count. (NumPy takes half a minute for 2**24 values of a table of three axes,
#: and sort's first steps, in which one thread merges, take two seconds for 2**20 keys.)
LONG = "vector_add saxpy stencil_1d sum_of_squares exclusive_scan inclusive_scan packbits bincount"
BUSY = {
    **{op: {"n": 1 << 26} for op in LONG.split()},
    "matmul": {"n": 4096},
    "sort": {"n": 1 << 20},
    "grayscale": {"shape": [8192, 8192, 3]},
    "interp": {"shape": [1 << 24, 1000]},
    "lookup_2d": {"shape": [1 << 24, 512, 512]},
    "lookup_3d": {"shape": [1 << 24, 64, 64, 64]},
}
#: The ladders of `clock`, each with steps of a millisecond and with steps of a few microseconds: {operation: variants}.
CLOCKED = {
    "sum_of_squares": ("multi_block", "tree_sequential", "vectorized", "atomic", "one_launch"),
    "vector_add": ("naive", "grid_stride", "vectorized"),
    "inclusive_scan": ("blocks", "lookback"),
}
LONG_US = 20  #: two runs of a step that takes longer shall agree within 3 %


def ladder(op):
    """On inputs that keep the chip busy; experiments' operations, and all on the emulator, on their own."""
    how = {"n": 33, "repeat": 1} if TINY and op == "matmul" else {} if ck.backend().emulated else BUSY.get(op, {})
    result = ck.ladder(op, **how).to_dict()
    return {"digest": records.digest(op), "ladder": records.of_ladder(result)}


def clocked():
    """(operation, n, variant, kernel_ns, repeat) of each step of CLOCKED."""
    return [
        (op, n, step.variant.name, step.profile.kernel_ns, step.profile.repeat)
        for op, variants in CLOCKED.items()
        for n in ((1000, 100) if TINY else (1 << 26, 1 << 20))
        for step in ck.ladder(op, n=n, variants=variants)
    ]


def clock():
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
        runs = [pool.submit(clocked).result() for _ in range(2)]
    rows, largest = [], {f"above {LONG_US} us": 0.0, "others": 0.0}
    for (op, n, variant, *first), (*_, ns, repeat) in zip(*runs, strict=True):
        times = [first[0], ns]
        row = {"op": op, "n": n, "variant": variant, "kernel_ns": times, "repeat": [first[1], repeat]}
        rows.append(row | {"difference": max(times) / min(times) - 1})
        kind = f"above {LONG_US} us" if max(times) > LONG_US * 1e3 else "others"
        largest[kind] = max(largest[kind], rows[-1]["difference"])
        print(*rows[-1].values(), flush=True)
    summary = ", ".join(f"{what}: {difference:.1%}" for what, difference in largest.items())
    return {"largest": largest, "rows": rows, "ok": TINY or largest[f"above {LONG_US} us"] <= 0.03, "summary": summary}


def lab():
    from cudakern.lab._by_name import experiments

    runs = [(name, name, {}) for name in experiments()]
    runs.append(("sample_sort_stages, nearly sorted", "sample_sort_stages", {"data": "nearly sorted"}))
    results, seconds = {}, {}
    for label, name, arguments in runs:
        start = time.monotonic()
        try:
            result = experiments()[name](**arguments).to_dict()
            rows = [{key: value for key, value in row.items() if key != "curve"} for row in result["rows"]]
            results[label] = {"experiment": name, "title": result["title"], "rows": rows}
        except Exception as error:  # the others are wanted too
            results[label] = {"experiment": name, "error": f"{type(error).__name__}: {error}"}
        seconds[label] = results[label]["seconds"] = round(time.monotonic() - start, 2)
        print(label, seconds[label], results[label].get("error", ""), flush=True)
    failed = [label for label, result in results.items() if "error" in result]
    longest = max(seconds, key=seconds.get)
    summary = f"{len(results) - len(failed)} experiments, the longest {longest}: {seconds[longest]:.0f} s"
    digests = {op: records.digest(op) for op in records.of_experiments()}
    summary += f"; failed: {', '.join(failed)}" if failed else ""
    return {"digests": digests, "experiments": results, "ok": not failed, "summary": summary}


def profiled():
    """For Nsight Compute: every variant of matmul once, and after each a kernel that says so."""
    one = ck.asarray(np.ones(1, np.float32))
    for dtype in ("float32", "float64", "float16"):
        a, b = (
            ck.asarray(np.random.default_rng().standard_normal((4096, 4096), np.float32).astype(dtype)) for _ in "ab"
        )
        for variant in ck.variants("matmul"):
            if not variant.on_host and dtype in variant.types and (dtype != "float64" or "double" in variant.name):
                print("PROFILED", dtype, variant.name, flush=True)
                ck.matmul(a, b, variant=variant.name)
                ck.vector_add(one, one, variant="grid_stride")
                ck.synchronize()
    return {}


def counted():
    """For Nsight Compute: every variant once, as cudakern.insight.variants.trace_variant runs it, and after each a
    kernel that says so."""
    mark = ck.compile("__global__ void mark() {}").mark
    for op in OPS or registry():
        what = operation(op)
        for entry in checkable(op):
            if entry.why_not(ck.backend()):
                continue
            dtype = numpy_dtype(what.default_dtype if what.default_dtype in entry.types else entry.types[0])
            call = what.call_of(entry, what.make(max(what.ragged, key=math.prod), dtype, 0))
            print("PROFILED", op, entry.name, flush=True)
            call()
            mark(1, 1)
            ck.synchronize()
    return {}


def kernels():
    """What the compiler says of our kernels for compute capability 9.0."""
    columns = ("registers", "static_shared", "local_bytes", "spill_stores", "spill_loads", "constant_bytes")
    rows = {
        symbol: [figures[name] for name in columns]
        for symbol, chips in sorted(compiler_report(Path("cudakern/lib/kernels.txt")).items())
        for figures in chips
        if figures["capability"] == "9.0" and "3cub" not in symbol
    }
    return {"capability": "9.0", "columns": columns, "rows": rows}
