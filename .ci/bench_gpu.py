"""Our kernels against PyTorch's and CuPy's on the same input, as medians of times on the device, with errors against
NumPy in double.

    bench_gpu.py FILE.json

TIMING below says how, and goes into the file; ratio is the best other time over ours (above 1: we are faster).
PyTorch's TF32 stays off: it would lower the type's precision. An operation without an entry in CASES is left out."""

import json
import statistics
import sys
import warnings
from pathlib import Path

import numpy as np

import cudakern as ck
from cudakern._operations import registry, widened

try:
    import torch
except ImportError:
    torch = None
try:
    import cupy
except ImportError:
    cupy = None

REPEATS, WARMUP = 15, 3
SLOW_NS = 2e8  # what takes longer is measured once
FLUSH = 1 << 30  # bytes that are written before each call: the L2 cache has none of the input then
TIMING = (
    "A call with arrays of the device, alike for all: 1 GiB is written first, so that the L2 cache has none of the "
    "input, and while the device writes, the call is queued behind it; the time is between two CUDA events around the "
    f"call, with all of its kernels and what lies between them. Medians of {REPEATS} after {WARMUP}, results in new "
    "arrays from warm allocators."
)
#: (n, type, which variants beside auto: all, none or those named); torch_calls and cupy_calls know the same operations
CASES = {
    "matmul": [
        (1000, "float32", False),
        (1024, "float32", True),
        (4096, "float32", False),
        (1024, "float64", False),
    ],
    "sum_of_squares": [
        (1 << 20, "int32", False),
        (1 << 24, "int32", True),
        (1 << 26, "int32", False),
        (1 << 20, "float32", False),
        (1 << 24, "float32", True),
        (1 << 26, "float32", False),
        (1 << 24, "float64", False),
    ],
    "vector_add": [(1 << 20, "float32", False), (1 << 24, "float32", True), (1 << 26, "float32", False)],
    "saxpy": [(1 << 20, "float32", False), (1 << 24, "float32", True), (1 << 26, "float32", False)],
    "inclusive_scan": [
        (1 << 20, "float32", ("blocks", "lookback")),
        (1 << 24, "float32", ("blocks", "lookback")),
        (1 << 26, "float32", ("lookback",)),
    ],
    "sort": [
        (1 << 20, "int32", ("sample_sort",)),
        (1 << 24, "float32", ("sample_sort",)),
        (1 << 26, "int32", ("sample_sort",)),
        (1 << 28, "int32", ("sample_sort",)),
    ],
}


def torch_calls(op, x, *more):
    if op == "sum_of_squares":
        dot = {"torch: dot(x, x)": lambda: torch.dot(x, x)} if x.dtype.is_floating_point else {}
        return {"torch: (x * x).sum()": lambda: (x * x).sum(), **dot}
    return {
        "matmul": lambda: {"torch: a @ b": lambda: x @ more[0]},
        "vector_add": lambda: {"torch: x + y": lambda: x + more[0]},
        "saxpy": lambda: {"torch: addcmul(y, a, x)": lambda: torch.addcmul(more[1], x, more[0])},
        "sort": lambda: {"torch: sort(x)": lambda: torch.sort(x)[0]},
        "inclusive_scan": lambda: {"torch: cumsum(x)": lambda: torch.cumsum(x, 0)},
    }[op]()


def cupy_calls(op, x, *more):
    if op == "sum_of_squares":
        wide, c = {"i": ("int64", "long long"), "f": (x.dtype.name, {4: "float", 8: "double"}[x.itemsize])}[
            x.dtype.kind
        ]
        words = ("T x", "W y", f"({c})x * x", "a + b", "y = a", "0", f"sum_of_squares_{wide}")
        fused = cupy.ReductionKernel(*words, reduce_type=c)
        return {"cupy: fused reduction": lambda: fused(x, cupy.empty((), wide))}
    return {
        "matmul": lambda: {"cupy: a @ b": lambda: x @ more[0]},
        "vector_add": lambda: {"cupy: x + y": lambda: x + more[0]},
        "saxpy": lambda: {"cupy: a * x + y": lambda: x * more[0] + more[1]},
        "sort": lambda: {"cupy: sort(x)": lambda: cupy.sort(x)},
        "inclusive_scan": lambda: {"cupy: cumsum(x)": lambda: cupy.cumsum(x)},
    }[op]()


# A side: (calls by name, flush, event, ns between two events, result on the host).
def torch_side(op, inputs):
    torch.backends.cuda.matmul.allow_tf32 = False
    written = torch.empty(FLUSH, dtype=torch.uint8, device="cuda")

    def event():
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def between(begin, end):
        end.synchronize()
        return begin.elapsed_time(end) * 1e6

    calls = torch_calls(op, *(torch.from_numpy(x).cuda() for x in inputs))
    return calls, written.zero_, event, between, lambda result: result.cpu().numpy()


def cupy_side(op, inputs):
    written = cupy.empty(FLUSH, "uint8")

    def event():
        event = cupy.cuda.Event()
        event.record()
        return event

    def between(begin, end):
        end.synchronize()
        return cupy.cuda.get_elapsed_time(begin, end) * 1e6

    return cupy_calls(op, *map(cupy.asarray, inputs)), lambda: written.fill(0), event, between, cupy.asnumpy


def our_side(what, variants, inputs):
    written = ck.empty((FLUSH,), "uint8")
    there = [ck.asarray(x) for x in inputs]

    def call(name):
        return lambda: what.call(*there, variant=name)

    def event():
        event = ck.Event()
        event.record()
        return event

    def between(begin, end):
        end.synchronize()
        return begin.elapsed_time(end) * 1e6

    calls = {f"cudakern: {name}": call(name) for name in variants}
    return calls, lambda: written.fill(0), event, between, lambda result: result.get()


def timed(side):
    """(name, ns, result) of each call of a side."""
    calls, flush, event, between, get = side
    for name, call in calls.items():
        samples = []
        while len(samples) < WARMUP + REPEATS and not (len(samples) == 2 and samples[1] > SLOW_NS):
            flush()
            begin = event()
            result = call()
            samples.append(between(begin, event()))
        yield name, statistics.median(samples[min(WARMUP, len(samples) - 1) :]), get(result)


def measure(what, n, dtype, every):
    inputs = what.make(what.square(n), np.dtype(dtype), 1)
    exact = what.reference(*widened(inputs, np.float64))
    wanted = [entry for entry in ck.variants(what.name) if every is True or entry.name in (every or ())]
    names = [entry.name for entry in wanted if not entry.on_host and dtype in entry.types]
    rows = []
    for library, side in ((torch, torch_side), (cupy, cupy_side)):
        for name, ns, result in timed(side(what.name, inputs)) if library else ():
            rows.append({"who": name, "kernel_ns": ns, "error": ck.compare(result, exact).max})
    best = min((row["kernel_ns"] for row in rows), default=None)
    for name, ns, result in timed(our_side(what, [*names, "auto"], inputs)):
        variant = name.removeprefix("cudakern: ")
        if variant == "auto":
            variant = ck.profile(what.call, *map(ck.asarray, inputs), repeat=1, warmup=0).variant.name
        ratio = best / ns if best else None
        error = ck.compare(result, exact).max
        rows.append({"who": name, "variant": variant, "kernel_ns": ns, "error": error, "ratio": ratio})
    for row in rows:
        ratio = f"  {row['ratio']:.2f}x the best of the others" if row.get("ratio") else ""
        line = f"{row['kernel_ns'] / 1e3:12.1f} us  error {row['error']:.1e}{ratio}"
        print(f"{what.name} {n} {dtype:8} {row['who']:32} {line}", flush=True)
    return [{"op": what.name, "n": n, "dtype": dtype, **row} for row in rows]


def main():
    here = ck.backend().to_dict()
    rows = []
    for op, cases in CASES.items():
        for case in cases if op in registry() else ():
            rows += measure(registry()[op], *case)
            done = list(dict.fromkeys(row["op"] for row in rows))
            record = {"backend": here, "timing": TIMING, "operations": done, "rows": rows}
            # After each: where the time is up, what was measured is kept.
            Path(sys.argv[1]).write_text(json.dumps(record, default=str))


if __name__ == "__main__":
    warnings.simplefilter("default")
    main()
