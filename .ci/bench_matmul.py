"""The steps of matmul against PyTorch and CuPy, by shape and type, in one run: times, rates and errors.

    bench_matmul.py FILE.json

Timed as bench_gpu.py does (TIMING there). Inputs are new normal numbers in each run. The error is the Frobenius norm of
the difference from NumPy's product in double, relative to that product's norm."""

import json
import sys
from pathlib import Path

import numpy as np

import bench_gpu
import cudakern as ck
from cudakern._operations import registry

LADDER = ("tiled_plain", "column_tile", "register_tile", "vectorized", "double_buffered", "warp_tiles")
HALVES = ("tensor_cores", "wgmma_tiles", "wgmma_producer", "wgmma_persistent")
#: type -> (variants, shapes m, n, k)
CASES = {
    "float32": (
        (*LADDER, "wgmma_tf32"),
        [(4096, 4096, 4096), (2048, 2048, 2048), (4095, 4097, 4093), (1000, 1000, 1000)],
    ),
    "float64": (("tensor_cores_double",), [(4096, 4096, 4096), (2048, 2048, 2048), (1024, 1024, 1024)]),
    "float16": (
        HALVES,
        [
            (8192, 8192, 8192),
            (4096, 4096, 4096),
            (2048, 2048, 2048),
            (1024, 1024, 1024),
            (1000, 1000, 1000),
            (512, 512, 512),
            (4095, 4097, 4093),
            (1023, 1025, 999),
            (8192, 8192, 512),
            (128, 4096, 4096),
        ],
    ),
}


def main():
    here, rows, draw = ck.backend().to_dict(), [], np.random.default_rng()
    what = registry()["matmul"]
    for dtype, (variants, shapes) in CASES.items():
        for m, n, k in shapes:
            inputs = tuple(draw.standard_normal(shape, np.float32).astype(dtype) for shape in ((m, k), (k, n)))
            exact = np.matmul(*(x.astype(np.float64) for x in inputs))
            sides = [(bench_gpu.torch, bench_gpu.torch_side), (bench_gpu.cupy, bench_gpu.cupy_side)]
            timings = [t for library, side in sides if library for t in bench_gpu.timed(side("matmul", inputs))]
            best = min((ns for _, ns, _ in timings), default=None)
            timings += bench_gpu.timed(bench_gpu.our_side(what, variants, inputs))
            for who, ns, result in timings:
                error = float(np.linalg.norm(result - exact) / np.linalg.norm(exact))
                row = {"m": m, "n": n, "k": k, "dtype": dtype, "who": who, "kernel_ns": ns, "error": error}
                row |= {"tflops": 2e-3 * m * n * k / ns, "ratio": best / ns if best else None}
                rows.append(row)
                print(f"{dtype} {m}x{n}x{k} {who:28} {row['tflops']:7.1f} TFLOP/s {row['ratio'] or 0:.3f}", flush=True)
            record = {"backend": here, "timing": bench_gpu.TIMING, "rows": rows}
            Path(sys.argv[1]).write_text(json.dumps(record, default=str))


if __name__ == "__main__":
    main()
