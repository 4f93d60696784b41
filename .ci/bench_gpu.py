"""Our kernels against PyTorch's and CuPy's on the same input, as medians of kernel times, with errors against NumPy in
double.

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

REPEATS, FEWER, LONG = 15, 5, 1 << 27  # of inputs of LONG elements or more, whose copies take a second: FEWER
SLOW_NS = 2e8  # a variant that takes longer is measured once
TIMING = {
    "all": "Time between two CUDA events around the kernels, queued behind the copy of the input. The input has "
    "just been copied from the host, each time anew: as much of it as fits may lie in the L2 cache. "
    f"Medians of {REPEATS}, from {LONG:,} elements on of {FEWER}.",
    "cudakern": "One call with arrays of the host; the events are around its kernels, without its copies. Where the "
    "host adds the last partial sums (a few thousand at most), that is not in it: finish_ns has it.",
    "others": "A call with arrays of the device, in the stream of an asynchronous copy from pinned memory, whose "
    "length hides what Python needs to start it. Several kernels (x * x, then the sum) count with what lies between "
    "them; their allocator is warm.",
    "not alike": "Theirs leave the whole result on the device; some of ours leave partial sums.",
}
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


def torch_side(op, inputs):
    """(calls, copy the inputs, event, ns between two events, result on the host) by PyTorch."""
    torch.backends.cuda.matmul.allow_tf32 = False
    pinned = [torch.from_numpy(x).pin_memory() for x in inputs]
    on = [torch.empty_like(x, device="cuda") for x in pinned]

    def copy():
        for target, source in zip(on, pinned, strict=True):
            target.copy_(source, non_blocking=True)

    def event():
        made = torch.cuda.Event(enable_timing=True)
        made.record()
        return made

    def between(begin, end):
        end.synchronize()
        return begin.elapsed_time(end) * 1e6

    return torch_calls(op, *on), copy, event, between, lambda result: result.cpu().numpy()


def cupy_side(op, inputs):
    """The same by CuPy."""
    pinned = []
    for x in inputs:
        pinned.append(np.frombuffer(cupy.cuda.alloc_pinned_memory(x.nbytes), x.dtype, x.size).reshape(x.shape))
        pinned[-1][...] = x
    on = [cupy.empty(x.shape, x.dtype) for x in inputs]

    def copy():
        for target, source in zip(on, pinned, strict=True):
            target.set(source, stream=cupy.cuda.get_current_stream())

    def event():
        made = cupy.cuda.Event()
        made.record()
        return made

    def between(begin, end):
        end.synchronize()
        return cupy.cuda.get_elapsed_time(begin, end) * 1e6

    return cupy_calls(op, *on), copy, event, between, lambda result: result.get()


def repeats(inputs):
    return REPEATS if inputs[0].size < LONG else FEWER


def others(op, inputs):
    """(name, ns, result) of what other libraries do for the same."""
    for side, library in ((torch_side, torch), (cupy_side, cupy)):
        if library is None:
            continue
        calls, copy, event, between, get = side(op, inputs)
        for name, call in calls.items():
            samples = []
            for _ in range(3 + repeats(inputs)):  # the first three warm up
                copy()
                begin = event()
                result = call()
                samples.append(between(begin, event()))
            yield name, statistics.median(samples[3:]), get(result)


def ours(what, inputs, name):
    """What a record holds of one of our variants: figures, or a note why there are none."""
    try:
        p = ck.profile(what.call, *inputs, variant=name, repeat=1, warmup=1)
        if p.kernel_ns < SLOW_NS:
            p = ck.profile(what.call, *inputs, variant=name, repeat=repeats(inputs), warmup=0)
        result = what.call(*inputs, variant=name)
    except (TypeError, ValueError, NotImplementedError, ck.CudaError) as reason:
        return {"note": str(reason)}, None
    figures = ("kernel_ns", "blocks_ns", "finish_ns", "whole_ns", "gb_per_s", "gflop_per_s", "share", "limit")
    return {"variant": p.variant.name} | {key: getattr(p, key) for key in figures}, result


def measure(what, n, dtype, every):
    inputs = what.make(what.square(n), np.dtype(dtype), 1)
    exact = what.reference(*widened(inputs, np.float64))

    def error(result):
        return ck.compare(result, exact).max

    rows = [{"who": name, "kernel_ns": ns, "error": error(got)} for name, ns, got in others(what.name, inputs)]
    best = min((row["kernel_ns"] for row in rows), default=None)
    wanted = [row for row in ck.variants(what.name) if every is True or row.name in (every or ())]
    names = [row.name for row in wanted if not row.on_host and dtype in row.types]
    for name in [*names, "auto"]:
        figures, result = ours(what, inputs, name)
        if result is not None:
            figures |= {"error": error(result), "ratio": best / figures["kernel_ns"] if best else None}
        rows.append({"who": f"cudakern: {name}", **figures})
    for row in rows:
        time = f"{row['kernel_ns'] / 1e3:12.1f} us  error {row['error']:.1e}" if "kernel_ns" in row else row["note"]
        ratio = f"  {row['ratio']:.2f}x the best of the others" if row.get("ratio") else ""
        print(f"{what.name} {n} {dtype:8} {row['who']:32} {time}{ratio}", flush=True)
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
