#!/usr/bin/env python3
"""Once, on a GPU: a product and a sum of squares of NumPy arrays under a memory limit that is smaller than they are.

large_gpu.py FILE.json [N] [LIMIT]      matrices of N x N float32 (default: 65536), and the limit (default: 8G)

Beside each call are the times that its copies alone and its kernels alone take. Three matrices and a few GiB of host
memory are needed."""

import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import cudakern as ck
from cudakern._operations import _tiled_product

THREADS = len(os.sched_getaffinity(0))
N = int(sys.argv[2]) if len(sys.argv) > 2 else 65_536
LIMIT = sys.argv[3] if len(sys.argv) > 3 else "8G"
ROUNDS = 2


def random(shape, seed):
    """Normal numbers, by all processors."""
    x = np.empty(shape, np.float32)
    parts = np.array_split(x, 4 * THREADS)

    def fill(i):
        np.random.default_rng((seed, i)).standard_normal(out=parts[i], dtype=np.float32)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(fill, range(len(parts))))
    return x


class Watch:
    """What a call copies, how long this thread copies, and the most device memory that is in use meanwhile."""

    def __init__(self):
        here = ck.backend()
        self.native, self.device = here.native, here.device
        self.native.trim(self.device)
        self.bytes, self.seconds = {"upload": 0, "download": 0}, {"upload": 0.0, "download": 0.0}
        self.before = self.least = self.free()
        self.used = 0

    def free(self):
        return self.native.device_properties(self.device)["memory_free"]

    def counted(self, name):
        copy = getattr(self.native, name)

        def run(to, source, stream):
            start = time.perf_counter()
            copy(to, source, stream)
            self.seconds[name] += time.perf_counter() - start
            self.bytes[name] += (to if name == "upload" else source).nbytes

        return copy, run

    def sample(self):
        while not self.stop.wait(0.02):
            self.least = min(self.least, self.free())
            self.used = max(self.used, self.native.pool_used(self.device))

    def __enter__(self):
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.sample)
        self.originals = {}
        for name in self.bytes:
            self.originals[name], run = self.counted(name)
            setattr(self.native, name, run)
        self.thread.start()
        self.start = time.perf_counter()
        return self

    def __exit__(self, *_):
        self.elapsed = time.perf_counter() - self.start
        self.stop.set()
        self.thread.join()
        for name, copy in self.originals.items():
            setattr(self.native, name, copy)

    def figures(self):
        return {
            "seconds": self.elapsed,
            "bytes_to_device": self.bytes["upload"],
            "bytes_to_host": self.bytes["download"],
            "seconds_in_uploads": self.seconds["upload"],
            "seconds_in_downloads": self.seconds["download"],
            "peak_of_blocks": self.used,
            "peak_of_device_memory": self.before - self.least,
        }


def best_of(call):
    """(result, figures of the fastest call, seconds of all)."""
    seen = []
    for _ in range(ROUNDS):
        result = None
        with Watch() as watch:
            result = call()
        seen.append(watch.figures())
    return result, min(seen, key=lambda row: row["seconds"]), [row["seconds"] for row in seen]


def rates():
    """GB/s of copies of 2 GiB: to the device, to new memory of the host."""
    host = np.ones(1 << (29 if N > 10_000 else 20), np.float32)
    device = ck.asarray(host)
    times, kept = {"to_device": [], "to_host": []}, []
    for _ in range(3):
        start = time.perf_counter()
        device.set(host)
        ck.synchronize()
        times["to_device"].append(time.perf_counter() - start)
        start = time.perf_counter()
        result = device.get()
        times["to_host"].append(time.perf_counter() - start)
        kept.append(result)  # so that the next result is in new memory
    return {name: host.nbytes / min(seconds) / 1e9 for name, seconds in times.items()}


def seconds_of(call):
    """The shortest of three runs on the device."""
    times = []
    for _ in range(3):
        ck.synchronize()
        start = time.perf_counter()
        call()
        ck.synchronize()
        times.append(time.perf_counter() - start)
    return min(times)


def product(a, b, link):
    plans = []
    planned = _tiled_product.planned
    _tiled_product.planned = lambda *arguments: plans.append(planned(*arguments)) or plans[-1]
    c, row, every = best_of(lambda: ck.matmul(a, b))
    _tiled_product.planned = planned
    plan = plans[-1]
    rows, columns = plan.turned(plan.edge, plan.strip)
    x, y = ck.asarray(a[:rows, : plan.depth]), ck.asarray(b[: plan.depth, :columns])
    tile, sums = (ck.zeros((rows, columns), np.float32) for _ in range(2))

    def compute():
        ck.matmul(x, y, out=tile)
        if plan.depth < N:
            ck.vector_add(sums, tile, out=sums)

    calls = -(-N // rows) * -(-N // columns) * -(-N // plan.depth)
    kernels = calls * seconds_of(compute)
    draw = np.random.default_rng(7)
    some, others = np.unique(draw.integers(0, N, 64)), np.unique(draw.integers(0, N, 1024))
    left, right = a[some].astype(np.float64), b[:, others].astype(np.float64)
    error = np.abs(c[np.ix_(some, others)] - left @ right) / (np.abs(left) @ np.abs(right))
    bound = ck.variants("matmul")["fastest"].error_bound(a.shape, b.shape, dtype="float32")
    copies = row["bytes_to_device"] / link["to_device"] / 1e9 + row["bytes_to_host"] / link["to_host"] / 1e9
    return row | {
        "what": f"matmul float32 {N} x {N}",
        "plan": plan._asdict(),
        "all_seconds": every,
        "tflop_per_s": 2 * N**3 / row["seconds"] / 1e12,
        "seconds_of_copies_alone": copies,
        "seconds_of_kernels_alone": kernels,
        "error": float(error.max()),
        "bound": bound,
        "ok": bool(error.max() <= bound),
    }


def total(x, link):
    def exact(part):
        return sum(float(np.square(piece, dtype=np.float64).sum()) for piece in np.array_split(part, 64))

    result, row, every = best_of(lambda: ck.sum_of_squares(x))
    with ThreadPoolExecutor(THREADS) as pool:
        wanted = sum(pool.map(exact, np.array_split(x, 4 * THREADS)))
    off = abs(float(result) - wanted) / float(np.spacing(np.float32(wanted)))
    return row | {
        "what": f"sum_of_squares float32 of {x.size} elements",
        "all_seconds": every,
        "gb_per_s": x.nbytes / row["seconds"] / 1e9,
        "seconds_of_copies_alone": row["bytes_to_device"] / link["to_device"] / 1e9,
        "ulp": off,
        "ok": off <= 2,
    }


def main():
    start = time.perf_counter()
    link = rates()
    a, b = random((N, N), 1), random((N, N), 2)
    print(f"inputs after {time.perf_counter() - start:.1f} s; GB/s: {link}", flush=True)
    rows = []
    with ck.memory_limit(LIMIT) as limit:
        for work in (lambda: total(a.reshape(-1), link), lambda: product(a, b, link)):
            row = work()
            rows.append(row | {"limit": limit, "ok": row["ok"] and row["peak_of_device_memory"] <= limit})
            print(rows[-1], flush=True)
    Path(sys.argv[1]).write_text(json.dumps({"link_gb_per_s": link, "threads": THREADS, "rows": rows}))
    print(f"{time.perf_counter() - start:.1f} s")
    sys.exit(0 if all(row["ok"] for row in rows) else 1)


if __name__ == "__main__":
    main()
