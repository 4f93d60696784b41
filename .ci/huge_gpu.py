"""Once, on a GPU with room for it: results and operands of more than 2^31 elements, checked where it counts.

huge_gpu.py FILE.json"""

import json
import sys
import time
from pathlib import Path

import numpy as np

import cudakern as ck

ROWS, COLUMNS, INNER = 46_411, 46_399, 3  # 2,153,424,... elements: more than 2^31, and no multiple of a tile
BYTES = (1 << 31) + 12_345


def product(variant):
    """A (m, 3) by (3, n) product; whole rows and columns beyond the 2^31st element against NumPy."""
    random = np.random.default_rng()
    a, b = random.random((ROWS, INNER), np.float32), random.random((INNER, COLUMNS), np.float32)
    start = time.perf_counter()
    c = ck.matmul(ck.asarray(a), ck.asarray(b), variant=variant)
    ck.synchronize()
    seconds = time.perf_counter() - start
    wide, worst = a.astype(np.float64), 0.0
    for rows, columns in (
        (slice(0, 3), slice(None)),
        (slice(-3, None), slice(None)),
        (slice(None), slice(-2, None)),
        (slice((1 << 31) // COLUMNS - 2, (1 << 31) // COLUMNS + 3), slice(None)),
    ):
        exact = wide[rows] @ b[:, columns].astype(np.float64)
        worst = max(worst, ck.compare(c[rows, columns].get(), exact).max)
    return {"what": f"matmul {variant}", "elements": c.size, "error": worst, "ok": worst < 1e-6, "seconds": seconds}


def total():
    """The sum of squares of more than 2^31 int8."""
    x = ck.zeros((BYTES,), np.int8)
    tail = np.random.default_rng().integers(-128, 128, 100_000).astype(np.int8)
    x[-tail.size :] = tail
    x[: tail.size] = tail
    result, exact = int(ck.sum_of_squares(x)), 2 * int((tail.astype(np.int64) ** 2).sum())
    return {"what": "sum_of_squares int8", "elements": x.size, "error": abs(result - exact), "ok": result == exact}


def strided():
    """Half of them, backwards, converted: a strided copy of 2^30 elements out of more than 2^31."""
    x = ck.zeros((BYTES,), np.int8)
    x[-1000:] = np.arange(1000, dtype=np.int8)
    got = x[::-2].astype(np.int16)[:500].get()
    want = np.arange(1000, dtype=np.int8)[::-2].astype(np.int16)
    return {
        "what": "strided copy",
        "elements": x.size // 2,
        "error": int(np.abs(got - want).max()),
        "ok": bool((got == want).all()),
    }


def main():
    rows = []
    for work in (lambda: product("auto"), lambda: product("naive"), total, strided):
        rows.append(work())
        print(rows[-1], flush=True)
    Path(sys.argv[1]).write_text(json.dumps({"rows": rows}))
    sys.exit(0 if all(row["ok"] for row in rows) else 1)


if __name__ == "__main__":
    main()
