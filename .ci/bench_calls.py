"""What a call costs, and what the way between host and device costs, beside PyTorch and CuPy in the same process.

    bench_calls.py FILE.json

Three parts, each with its conditions in the record: the call itself on device arrays, copies of ordinary and
page-locked arrays, and the time of the import. Figures are medians; the order of the libraries changes from round to
round, so that none has the warmer machine."""

import json
import statistics
import subprocess
import sys
import time
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

CALLS, ROUNDS = 500, 15
COPY_BYTES = (1 << 20, 1 << 26, 1 << 30)
TIMING = {
    "calls": f"{CALLS} calls one after the other, then one wait for the device; the host's clock over the calls "
    f"alone (issue_us) and with the wait (done_us), each over {CALLS}. Medians of {ROUNDS} rounds after one warm-up.",
    "value": "One call and its value on the host: the call, the wait, the copy of one element.",
    "copies": "Host's clock around one copy that has ended when it returns. Medians of 7 after 2. GB/s. New memory: no "
    "library has used it before, because all results stay; warm memory: the last result has been freed.",
    "import": "Seconds of `import cudakern` in a new process that has NumPy already; median of 15.",
}


def synchronize():
    ck.synchronize()


def call_sides(op, n):
    """{who: (call, call with its value on the host)} on random input of that size."""
    random = np.random.default_rng()
    shape = (n, n) if op == "matmul" else (n,)
    host = [random.random(shape, np.float32) for _ in range(2)]
    sides = {}
    if op == "matmul":
        a, b = map(ck.asarray, host)
        out = ck.empty(shape, np.float32)
        sides["cudakern"] = (lambda: ck.matmul(a, b, out=out), None)
        sides["cudakern: new result"] = (lambda: ck.matmul(a, b), None)
        if torch:
            ta, tb = (torch.from_numpy(x).cuda() for x in host)
            to = torch.empty_like(ta)
            sides["torch"] = (lambda: torch.matmul(ta, tb, out=to), None)
        if cupy:
            ca, cb = map(cupy.asarray, host)
            co = cupy.empty_like(ca)
            sides["cupy"] = (lambda: cupy.matmul(ca, cb, out=co), None)
    else:
        x = ck.asarray(host[0])
        sides["cudakern"] = (lambda: ck.sum_of_squares(x), lambda: float(ck.sum_of_squares(x)))
        if torch:
            tx = torch.from_numpy(host[0]).cuda()
            sides["torch"] = (lambda: torch.dot(tx, tx), lambda: torch.dot(tx, tx).item())
        if cupy:
            cx = cupy.asarray(host[0])
            sides["cupy"] = (lambda: cupy.dot(cx, cx), lambda: float(cupy.dot(cx, cx)))
    return sides


def a_round(call, synchronize=synchronize):
    synchronize()
    start = time.perf_counter()
    for _ in range(CALLS):
        call()
    issued = time.perf_counter()
    synchronize()
    done = time.perf_counter()
    return (issued - start) / CALLS * 1e6, (done - start) / CALLS * 1e6


def calls(op, n):
    sides = call_sides(op, n)
    issue, done, value = ({who: [] for who in sides} for _ in range(3))
    names = list(sides)
    for turn in range(ROUNDS + 1):
        for who in names[turn % len(names) :] + names[: turn % len(names)]:
            call, with_value = sides[who]
            first, second = a_round(call)
            if turn > 0:
                issue[who].append(first)
                done[who].append(second)
            if with_value is not None:
                start = time.perf_counter()
                for _ in range(100):
                    with_value()
                if turn > 0:
                    value[who].append((time.perf_counter() - start) / 100 * 1e6)
    rows = []
    for who in sides:
        row = {"op": op, "n": n, "dtype": "float32", "who": who}
        row |= {"issue_us": statistics.median(issue[who]), "done_us": statistics.median(done[who])}
        row["value_us"] = statistics.median(value[who]) if value[who] else None
        rows.append(row)
        last = f", value {row['value_us']:.1f} us" if row["value_us"] else ""
        print(f"{op} {n} {who:22} issue {row['issue_us']:.2f} us, done {row['done_us']:.2f} us{last}", flush=True)
    return rows


def allocations(op, n):
    """Bytes that 200 more calls take from the device: 0 where the pool serves a repeated call."""
    sides = call_sides(op, n)
    call = sides["cudakern"][0]
    for _ in range(20):
        call()
    synchronize()
    before = ck.backend().properties["memory_free"]
    for _ in range(200):
        call()
    synchronize()
    return {"op": op, "n": n, "bytes": before - ck.backend().properties["memory_free"]}


def timed(work):
    samples = []
    for _ in range(9):
        start = time.perf_counter()
        work()
        samples.append(time.perf_counter() - start)
    return statistics.median(samples[2:])


def copy_sides(nbytes):
    """{(direction, memory): {who: work}}, and the list of the results that stay"""
    n = nbytes // 4
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
        cp = np.frombuffer(cupy.cuda.alloc_pinned_memory(nbytes), np.float32, n)
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
    rows = []
    for nbytes in COPY_BYTES:
        sides, kept = copy_sides(nbytes)
        for (direction, memory), works in sides.items():
            row = {"bytes": nbytes, "direction": direction, "memory": memory}
            for who, work in works.items():
                row[who] = nbytes / timed(work) / 1e9
                kept.clear()
            rows.append(row)
            figures = ", ".join(f"{who} {row[who]:.1f}" for who in works)
            print(f"{nbytes >> 20} MiB {direction}, {memory}: {figures} GB/s", flush=True)
    return rows


IMPORT = "import numpy, time; t = time.perf_counter(); import cudakern; print(time.perf_counter() - t)"


def imports():
    def once():
        return float(subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True).stdout)

    seconds = statistics.median(once() for _ in range(15))
    print(f"import: {seconds * 1e3:.0f} ms", flush=True)
    return seconds


def promises(record):
    """What docs/contract.md says of these figures: {promise: kept}. 5 % are the noise of a copy."""
    cases, largest = {}, max(row["bytes"] for row in record["copies"])
    for row in record["calls"]:
        cases.setdefault((row["op"], row["n"]), {})[row["who"]] = row["issue_us"]
    copied = [row for row in record["copies"] if row["bytes"] == largest]
    kept = {
        f"{op} of {n}: a call costs less than theirs": all(
            who.startswith("cudakern") or times["cudakern"] < other for who, other in times.items()
        )
        for (op, n), times in cases.items()
    }
    for row in copied:
        others = [row[who] for who in ("torch", "cupy") if who in row and (who == "cupy" or "page" in row["memory"])]
        kept[f"{row['direction']}, {row['memory']} memory: as fast"] = row["cudakern"] >= 0.95 * max(others, default=0)
    kept["a repeated call allocates nothing"] = all(row["bytes"] <= 0 for row in record["repeated_calls_allocate"])
    kept["the import takes less than 100 ms"] = record["import_s"] < 0.1
    return kept


def main():
    cases = [("sum_of_squares", 1000), ("sum_of_squares", 1 << 16), ("matmul", 64)]
    record = {
        "backend": ck.backend().to_dict(),
        "timing": TIMING,
        "import_s": imports(),
        "calls": [row for case in cases for row in calls(*case)],
        "repeated_calls_allocate": [allocations(*case) for case in cases],
        "copies": copies(),
    }
    record["promises"] = promises(record)
    for promise, kept in record["promises"].items():
        print(f"{'kept    ' if kept else 'NOT KEPT'} {promise}", flush=True)
    Path(sys.argv[1]).write_text(json.dumps(record, default=str))


if __name__ == "__main__":
    main()
