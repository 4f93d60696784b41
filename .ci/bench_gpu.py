"""Our kernels against PyTorch's and CuPy's on the same input, as medians of kernel times, with errors against float64.

    bench_gpu.py FILE.json

Everything is timed by CUDA events around one call, on a warm device; ratio is their time over ours (above 1: we are
faster). PyTorch's TF32 stays off: it would lower the type's precision."""

import json
import statistics
import sys
import warnings
from pathlib import Path

import numpy as np

import cudakern as ck

try:
    import torch
except ImportError:
    torch = None
try:
    import cupy
except ImportError:
    cupy = None

REPEATS = 15
SUMS = [(n, dtype) for dtype in ("int32", "float32", "float64") for n in (1 << 20, 1 << 24, 1 << 26)]
PRODUCTS = [(n, dtype) for dtype in ("float32", "float64") for n in (512, 1000, 1024, 2048, 4096)]
SLOW_S = 0.2  # a variant slower than this is measured less often, and left out of larger sizes


def torch_time(call):
    def once():
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        begin.record()
        result = call()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e6, result

    for _ in range(3):
        once()
    samples = [once() for _ in range(REPEATS)]
    return statistics.median(ns for ns, _ in samples), samples[-1][1].cpu().numpy()


def cupy_time(call):
    def once():
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        cupy.cuda.Device().synchronize()
        begin.record()
        result = call()
        end.record()
        end.synchronize()
        return cupy.cuda.get_elapsed_time(begin, end) * 1e6, result

    for _ in range(3):
        once()
    samples = [once() for _ in range(REPEATS)]
    return statistics.median(ns for ns, _ in samples), samples[-1][1].get()


def others(op, inputs):
    """(name, ns, result) of what other libraries do for the same."""
    if torch is not None:
        torch.backends.cuda.matmul.allow_tf32 = False
        on = [torch.from_numpy(x).cuda() for x in inputs]
        if op == "matmul":
            yield "torch: a @ b", *torch_time(lambda: on[0] @ on[1])
        else:
            yield "torch: (x * x).sum()", *torch_time(lambda: (on[0] * on[0]).sum())
            if inputs[0].dtype.kind == "f":
                yield "torch: dot(x, x)", *torch_time(lambda: torch.dot(on[0], on[0]))
    if cupy is not None:
        on = [cupy.asarray(x) for x in inputs]
        if op == "matmul":
            yield "cupy: a @ b", *cupy_time(lambda: on[0] @ on[1])
        else:
            wide = "int64" if inputs[0].dtype.kind == "i" else inputs[0].dtype.name
            fused = cupy.ReductionKernel(
                "T x",
                "W y",
                f"({np.dtype(wide).name})x * x".replace("int64", "long long")
                .replace("float32", "float")
                .replace("float64", "double"),
                "a + b",
                "y = a",
                "0",
                f"sum_of_squares_{wide}",
                reduce_type={"int64": "long long", "float32": "float", "float64": "double"}[wide],
            )
            yield "cupy: fused reduction", *cupy_time(lambda: fused(on[0], cupy.empty((), wide)))
            del on
            cupy.get_default_memory_pool().free_all_blocks()


def reference(op, inputs):
    if op == "matmul":
        return inputs[0].astype(np.float64) @ inputs[1].astype(np.float64)
    wide = inputs[0].astype(np.int64 if inputs[0].dtype.kind == "i" else np.longdouble)
    return np.dot(wide, wide)


def error(result, exact):
    exact = np.asarray(exact, dtype=np.longdouble)
    return float(
        np.max(
            np.abs(np.asarray(result, dtype=np.longdouble) - exact)
            / np.maximum(np.abs(exact), np.finfo(np.float64).tiny)
        )
    )


def measure(op, function, inputs, too_slow):
    exact = reference(op, inputs)
    size, dtype = inputs[0].shape[0], inputs[0].dtype.name
    rows, theirs = [], []
    for name, ns, result in others(op, inputs):
        theirs.append(ns)
        rows.append({"op": op, "n": size, "dtype": dtype, "who": name, "kernel_ns": ns, "error": error(result, exact)})
    best = min(theirs, default=None)
    for row in [*ck.variants(op), None]:
        name = row.name if row else "auto"
        if name == "numpy" or (name, dtype) in too_slow or (row and dtype not in row.types):
            continue
        try:
            once = ck.profile(function, *inputs, variant=name, repeat=1, warmup=1)
            p = once
            if once.kernel_ns > SLOW_S * 1e9:
                too_slow.add((name, dtype))
            else:  # copies cost the most where arrays are large
                repeat = REPEATS if once.whole_ns < SLOW_S * 1e9 else 5
                p = ck.profile(function, *inputs, variant=name, repeat=repeat, warmup=1)
            result = function(*inputs, variant=name)
        except (TypeError, ValueError, ck.CudaError) as reason:
            rows.append({"op": op, "n": size, "dtype": dtype, "who": f"cudakern: {name}", "note": str(reason)})
            continue
        rows.append(
            {
                "op": op,
                "n": size,
                "dtype": dtype,
                "who": f"cudakern: {name}",
                "kernel_ns": p.kernel_ns,
                "whole_ns": p.whole_ns,
                "gb_per_s": p.gb_per_s,
                "gflop_per_s": p.gflop_per_s,
                "share": p.share,
                "limit": p.limit,
                "error": error(result, exact),
                "ratio": best / p.kernel_ns if best else None,
            }
        )
    for row in rows:
        time = f"{row['kernel_ns'] / 1e3:12.1f} us  error {row['error']:.2g}" if "kernel_ns" in row else row["note"]
        ratio = f"  {row['ratio']:.2f}x the best of the others" if row.get("ratio") else ""
        print(f"{op} {size} {dtype:8} {row['who']:32} {time}{ratio}", flush=True)
    return rows


def main():
    here = ck.backend().to_dict()
    random = np.random.default_rng(1)
    rows, too_slow = [], set()
    for n, dtype in SUMS:
        x = random.integers(0, 10, n).astype(dtype) if dtype == "int32" else random.random(n).astype(dtype)
        rows += measure("sum_of_squares", ck.sum_of_squares, [x], too_slow)
    for n, dtype in PRODUCTS:
        a, b = (random.random((n, n)).astype(dtype) for _ in range(2))
        rows += measure("matmul", ck.matmul, [a, b], too_slow)
    Path(sys.argv[1]).write_text(json.dumps({"backend": here, "rows": rows}, default=str))


if __name__ == "__main__":
    warnings.simplefilter("default")
    main()
