"""Products of NumPy arrays: NumPy beside the kernel of `auto`, copies included, by type and shape.

    bench_crossover.py FILE.json

From this record comes the size below which `auto` leaves products of NumPy arrays to NumPy (_operations/matmul.py)."""

import json
import statistics
import sys
import time
from pathlib import Path

import numpy as np

import cudakern as ck

TYPES = ("float16", "float32", "float64", "int32", "int64")
SQUARE = (16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
#: m, k, n: a vector by a matrix, few rows, few columns of the sum.
OTHERS = [(1, n, n) for n in (256, 1024, 4096)] + [(16, n, n) for n in (256, 1024, 4096)]
OTHERS += [(n, 16, n) for n in (256, 1024, 4096)] + [(64, n, n) for n in (1024, 4096)]
ROUNDS, LONGEST = 9, 0.3
TIMING = f"Medians of {ROUNDS} calls after one, both ways in turns, host's clock. Nothing longer than {LONGEST} s."


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measure(dtype, m, k, n):
    draw = np.random.default_rng()
    a, b = ((draw.random(shape) * 10).astype(dtype) for shape in ((m, k), (k, n)))
    ways = {"numpy": lambda: np.matmul(a, b), "kernel": lambda: ck.matmul(a, b, variant="fastest")}
    times = {way: [] for way in ways}
    for i in range(ROUNDS + 1):
        for way, call in ways.items():
            if len(times[way]) == i - 1 or i == 0:
                spent = seconds(call)
                if i > 0:
                    times[way].append(spent)
                elif spent > LONGEST:
                    times[way] = [spent] * ROUNDS
    medians = {f"{way}_us": statistics.median(some) * 1e6 for way, some in times.items()}
    return {"dtype": dtype, "m": m, "k": k, "n": n, **medians}


def main():
    rows = []
    for dtype in TYPES:
        for m, k, n in [(n, n, n) for n in SQUARE] + OTHERS:
            # NumPy has no library for these types: it takes some nanoseconds for each product of two numbers.
            if dtype in ("float16", "int32", "int64") and m * k * n > 1e8:
                continue
            rows.append(measure(dtype, m, k, n))
            print(*rows[-1].values(), flush=True)
    Path(sys.argv[1]).write_text(json.dumps({"timing": TIMING, "rows": rows}))


main()
