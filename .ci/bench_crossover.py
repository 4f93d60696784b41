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
TIMING = (
    f"Medians of {ROUNDS} calls after one, both ways in turns, host's clock. What takes longer than {LONGEST} s is "
    "called once."
)


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measure(dtype, m, k, n):
    draw = np.random.default_rng()
    a, b = ((draw.random(shape) * 10).astype(dtype) for shape in ((m, k), (k, n)))
    ways = {"numpy": lambda: np.matmul(a, b), "kernel": lambda: ck.matmul(a, b, variant="fastest")}
    times = {way: [seconds(call)] for way, call in ways.items()}
    short = [way for way, (first,) in times.items() if first <= LONGEST]
    for way in short:
        times[way].clear()  # the first call was the warm-up
    for _ in range(ROUNDS):
        for way in short:
            times[way].append(seconds(ways[way]))
    medians = {f"{way}_us": statistics.median(some) * 1e6 for way, some in times.items()}
    return {"dtype": dtype, "m": m, "k": k, "n": n, **medians}


def main():
    rows = []
    ck.matmul(np.ones((2, 2)), np.ones((2, 2)), variant="naive")  # the first call in a process prepares the GPU
    for dtype in TYPES:
        for m, k, n in [(n, n, n) for n in SQUARE] + OTHERS:
            # NumPy has no library for these types: it takes some nanoseconds for each product of two numbers.
            if dtype in ("float16", "int32", "int64") and m * k * n > 1e8:
                continue
            rows.append(measure(dtype, m, k, n))
            print(*rows[-1].values(), flush=True)
    Path(sys.argv[1]).write_text(json.dumps({"timing": TIMING, "rows": rows}))


main()
