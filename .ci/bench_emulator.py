"""How fast the emulator is: against a plain single-threaded loop in C, and against Numba's simulator.

    bench_emulator.py [FILE.json]

`tiled` at n = 1000 on all cores; every variant of the sum on 2^20 ints; and the same product as three loops in C,
compiled here with -O2. Numba's figure is quoted, not measured: 17 s for a 16x16-tiled product of n = 64."""

import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

import cudakern as ck
import records

NUMBA_MFLOPS = 0.03
LOOP = """
void product(const float *a, const float *b, float *c, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}
"""


def seconds(call, repeat=3):
    samples = []
    for _ in range(repeat):
        begin = time.perf_counter()
        call()
        samples.append(time.perf_counter() - begin)
    return statistics.median(samples)


def plain_loop(a, b):
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "loop.c"), Path(folder, "loop.so")
        source.write_text(LOOP)
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
        product = ctypes.CDLL(str(library)).product
    c = np.empty_like(a)
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (a, b, c)]
    elapsed = seconds(lambda: product(*pointers, len(a)))
    assert np.allclose(c, a @ b, rtol=1e-4)
    return elapsed


def main():
    n = 1000
    a, b = (np.random.default_rng(seed).random((n, n), dtype=np.float32) for seed in (1, 2))
    x = np.random.default_rng(3).integers(0, 10, 1 << 20).astype(np.int32)
    cores = len(os.sched_getaffinity(0))
    flops = 2 * n**3
    with ck.use_backend("emulator"):
        products = {}
        for variant in ck.variants("matmul"):
            if not variant.why_not(ck.backend()) and variant.name != "numpy":
                products[variant.name] = seconds(
                    lambda name=variant.name: ck.matmul(a, b, variant=name), 1 + 2 * (variant.name == "tiled")
                )
        sums = {
            variant.name: seconds(lambda name=variant.name: ck.sum_of_squares(x, variant=name))
            for variant in ck.variants("sum_of_squares")
            if not variant.why_not(ck.backend()) and variant.name != "numpy"
        }
    loop, tiled = plain_loop(a, b), products["tiled"]
    record = {
        "cores": cores,
        "n": n,
        "plain_c_s": loop,
        "tiled_s": tiled,
        "tiled_over_plain_c": tiled / loop,
        "tiled_mflop_per_s": flops / tiled / 1e6,
        "numba_simulator_mflop_per_s": NUMBA_MFLOPS,
        "over_numba_simulator": flops / tiled / 1e6 / NUMBA_MFLOPS,
        "matmul_s": products,
        "sum_of_squares_2_20_s": sums,
        "commit": records.commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    print(f"matmul, n = {n}, float32, {cores} cores (emulated unless it says C)")
    print(f"  plain C, one thread, -O2  {loop:8.3f} s")
    for name, elapsed in products.items():
        print(f"  {name:24}  {elapsed:8.3f} s  {elapsed / loop:6.2f} x plain C")
    print(
        f"  tiled: {record['tiled_mflop_per_s']:.0f} MFLOP/s, {record['over_numba_simulator']:,.0f} times Numba's "
        f"simulator ({NUMBA_MFLOPS} MFLOP/s)"
    )
    print("sum of squares, 2^20 ints (emulated)")
    for name, elapsed in sums.items():
        print(f"  {name:24}  {elapsed:8.3f} s")
    if len(sys.argv) > 1:
        records.write(Path(sys.argv[1]), record)


if __name__ == "__main__":
    main()
