"""What a call costs, beside PyTorch and CuPy in the same process, and the time of the import.

    bench_calls.py FILE.json

Figures are medians; the order of the libraries changes from round to round, so that none has the warmer machine.
(Copies between host and device: bench_host.py.)"""

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
TIMING = {
    "calls": f"{CALLS} calls one after the other, then one wait for the device; the host's clock over the calls "
    f"alone (issue_us) and with the wait (done_us), each over {CALLS}. Medians of {ROUNDS} rounds after one warm-up.",
    "value": "One call and its value on the host: the call, the wait, the copy of one element.",
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


IMPORT = "import numpy, time; t = time.perf_counter(); import cudakern; print(time.perf_counter() - t)"


def imports():
    def once():
        return float(subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True).stdout)

    seconds = statistics.median(once() for _ in range(15))
    print(f"import: {seconds * 1e3:.0f} ms", flush=True)
    return seconds


def promises(record):
    """What docs/contract.md says of these figures: {promise: kept}."""
    cases = {}
    for row in record["calls"]:
        cases.setdefault((row["op"], row["n"]), {})[row["who"]] = row["issue_us"]
    kept = {
        f"{op} of {n}: a call costs less than theirs": all(
            who.startswith("cudakern") or times["cudakern"] < other for who, other in times.items()
        )
        for (op, n), times in cases.items()
    }
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
    }
    record["promises"] = promises(record)
    for promise, kept in record["promises"].items():
        print(f"{'kept    ' if kept else 'NOT KEPT'} {promise}", flush=True)
    Path(sys.argv[1]).write_text(json.dumps(record, default=str))


if __name__ == "__main__":
    main()
