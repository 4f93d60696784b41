"""Copies between host and device, and calls from NumPy arrays to NumPy arrays, beside PyTorch, CuPy and NumPy.

    bench_host.py FILE.json [few]

few: only the copies; bench_host.py calls itself in this way on two processors. What is promised
holds on every GPU, the goals on a machine like the one of the records, with 16 processors and PCI Express 5."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import cudakern as ck
from bench_calls import cupy, torch
from bench_gpu import rows_of
from cudakern._bench import bench
from cudakern._rounds import HOST_TIMING

COPY_BYTES = 1 << 30
ENOUGH_S = 1.5  #: no more than four copies of a library take longer
PROCESSORS = len(os.sched_getaffinity(0))
CALLS = (
    ("matmul", [(n, n, n) for n in (1000, 4096, 8192)]),
    ("sum_of_squares", [1 << 28]),
)
TIMING = {
    "copies": "Host's clock around one copy that has ended when it returns. GB/s. Medians of 7 after one (of "
    "slow ones, of 3). New memory: no "
    "library has used it before, because all results stay; warm memory: the last result has been freed.",
    "calls": HOST_TIMING,
}
#: GB/s of copies of 1 GiB of ordinary memory.
RATES = {
    ("to the device", "ordinary"): 40,
    ("to the host", "ordinary, existing"): 45,
    ("to the host", "ordinary, new"): 20,
    ("to the host", "ordinary, warm"): 40,
}
#: How many times faster calls are than a library's: {(operation, n): {library: times}}.
SPEEDUPS = {
    ("matmul", 4096): {"cupy": 4},
    ("matmul", 8192): {"cupy": 4.5},
    ("sum_of_squares", 1 << 28): {"cupy": 4, "numpy": 2.5},
}


def timed(work):
    samples = []
    while len(samples) < 4 or (len(samples) < 8 and sum(samples) < ENOUGH_S):
        start = time.perf_counter()
        work()
        samples.append(time.perf_counter() - start)
    return statistics.median(samples[1:])


def copy_sides():
    """{(direction, memory): {who: work}}, and the list of the results that stay"""
    n = COPY_BYTES // 4
    host = np.random.default_rng().random(n, np.float32)
    into = np.zeros_like(host)
    pinned = ck.empty_pinned((n,), np.float32)
    pinned[...] = host
    device, kept = ck.asarray(host), []
    sides = {
        ("to the device", "ordinary"): {"cudakern": lambda: device.set(host)},
        ("to the device", "page-locked"): {"cudakern": lambda: device.set(pinned)},
        ("to the host", "ordinary, existing"): {"cudakern": lambda: device.get(out=into)},
        ("to the host", "ordinary, new"): {"cudakern": lambda: kept.append(device.get())},
        ("to the host", "ordinary, warm"): {"cudakern": lambda: device.get()},
        ("to the host", "page-locked"): {"cudakern": lambda: device.get(out=pinned)},
    }
    if torch:
        th, ti = torch.from_numpy(host), torch.from_numpy(into)
        tp = th.pin_memory()
        td = th.cuda()

        def wait(result):
            torch.cuda.synchronize()
            return result

        for key, work in {
            ("to the device", "ordinary"): lambda: wait(td.copy_(th)),
            ("to the device", "page-locked"): lambda: wait(td.copy_(tp, non_blocking=True)),
            ("to the host", "ordinary, existing"): lambda: ti.copy_(td),
            ("to the host", "ordinary, new"): lambda: kept.append(td.cpu()),
            ("to the host", "ordinary, warm"): lambda: td.cpu(),
            ("to the host", "page-locked"): lambda: wait(tp.copy_(td, non_blocking=True)),
        }.items():
            sides[key]["torch"] = work
    if cupy:
        cd = cupy.asarray(host)
        cp = np.frombuffer(cupy.cuda.alloc_pinned_memory(COPY_BYTES), np.float32, n)
        cp[...] = host

        def wait_cupy():
            cupy.cuda.Device().synchronize()

        for key, work in {
            ("to the device", "ordinary"): lambda: (cd.set(host), wait_cupy()),
            ("to the device", "page-locked"): lambda: (cd.set(cp), wait_cupy()),
            ("to the host", "ordinary, existing"): lambda: cd.get(out=into),
            ("to the host", "ordinary, new"): lambda: kept.append(cd.get()),
            ("to the host", "ordinary, warm"): lambda: cd.get(),
            ("to the host", "page-locked"): lambda: cd.get(out=cp),
        }.items():
            sides[key]["cupy"] = work
    return sides, kept


def copies():
    rows, (sides, kept) = [], copy_sides()
    for (direction, memory), works in sides.items():
        row = {"bytes": COPY_BYTES, "direction": direction, "memory": memory, "processors": PROCESSORS}
        for who, work in works.items():
            row[who] = COPY_BYTES / timed(work) / 1e9
            kept.clear()
        rows.append(row)
        figures = ", ".join(f"{who} {row[who]:.1f}" for who in works)
        print(f"{PROCESSORS} processors: {direction}, {memory}: {figures} GB/s", flush=True)
    return rows


def on_two_processors():
    """The rows of a process that may use only two processors."""
    ours = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "few.json")
        os.sched_setaffinity(0, sorted(ours)[:2])
        try:
            subprocess.run([sys.executable, __file__, str(path), "few"], check=True)
        finally:
            os.sched_setaffinity(0, ours)
        return json.loads(path.read_text())


def calls():
    rows, limits = [], {}
    for op, shapes in CALLS:
        result = bench(op, shapes, host=True, rounds=7, progress=False)
        limits[op] = result.limits and result.limits._asdict()
        for row in rows_of(result):
            rows.append({"op": op} | row)
            ratio = f"  {row['ratio']:.2f} of the best other" if row["ratio"] else ""
            print(f"{op} {row['n']:,} {row['who']:28} {row['kernel_ns'] / 1e6:10.2f} ms{ratio}", flush=True)
    return rows, limits


def promises(record):
    """What docs/contract.md says of these figures: {promise: kept}. 5 % are the noise of a copy."""
    kept = {}
    for row in record["copies"]:
        pinned = "page" in row["memory"]
        others = [row[who] for who in ("torch", "cupy") if who in row and (who == "cupy" or pinned)]
        what = f"{row['direction']}, {row['memory']} memory, {row['processors']} processors: as fast"
        kept[what] = row["cudakern"] >= 0.95 * max(others, default=0)
    return kept


def goals(record):
    """{goal: reached} on the machine of the records."""
    reached = {}
    for row in record["copies"]:
        least = RATES.get((row["direction"], row["memory"]))
        if row["processors"] == PROCESSORS and least:
            reached[f"{row['direction']}, {row['memory']}: {least} GB/s"] = row["cudakern"] >= least
    for (op, n), others in SPEEDUPS.items():
        times = {
            row["who"].partition(":")[0]: row["kernel_ns"]
            for row in record["calls"]
            if (row["op"], row["n"]) == (op, n)
        }
        for who, least in others.items():
            if who in times:
                reached[f"{op} {n:,}: {least} times {who}'s speed"] = times[who] >= least * times["cudakern"]
    return reached


def main():
    path = Path(sys.argv[1])
    if sys.argv[2:] == ["few"]:
        path.write_text(json.dumps(copies()))
        return
    record = {"backend": ck.backend().to_dict(), "timing": TIMING, "processors": PROCESSORS}
    record["copies"] = copies() + (on_two_processors() if PROCESSORS > 2 else [])
    record["calls"], record["limits"] = calls()
    record["promises"], record["goals"] = promises(record), goals(record)
    for name, words in (("promises", ("kept    ", "NOT KEPT")), ("goals", ("reached ", "NOT REACHED"))):
        for what, holds in record[name].items():
            print(words[not holds], what, flush=True)
    path.write_text(json.dumps(record, default=str))


if __name__ == "__main__":
    main()
