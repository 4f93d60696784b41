"""Calls and copies beside PyTorch, CuPy and NumPy in the same process."""

import contextlib
import importlib
import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

import cudakern as ck
from cudakern.measure.rounds import HOST_TIMING, host_clock, timed
from measure import TINY
from measure.products import rows_of, run


def library(name):
    """A library that is measured beside ours, or None."""
    with contextlib.suppress(ImportError):
        return None if ck.backend().emulated else importlib.import_module(name)


torch, cupy = library("torch"), library("cupy")
CALLS, ROUNDS = (5, 1) if TINY else (500, 15)
COPY_BYTES = 1 << (20 if TINY else 30)
PROCESSORS = len(os.sched_getaffinity(0))
TIMING = {
    "calls": f"{CALLS} calls one after the other, then one wait for the device; the host's clock over the calls "
    f"alone (issue_us) and with the wait (done_us), each over {CALLS}. Medians of {ROUNDS} rounds after three.",
    "value": "One call and its value on the host: the call, the wait, the copy of one element.",
    "import": f"Seconds of `import cudakern` in a new process that has NumPy already; median of {ROUNDS}.",
    "copies": "Host's clock around one copy that has ended when it returns. GB/s. Medians of 7 after three. New "
    "memory: no library has used it before, because all results stay; warm memory: the last result has been freed.",
    "host": HOST_TIMING,
}


def medians(calls, rounds, clock):
    return {who: statistics.median(ns) for who, ns in timed(calls, rounds, clock).items()}


# --- calls -----------------------------------------------------------------------------------------------------------
def loop(count, wait):
    """A clock of a call in a loop of them, with or without the wait for the device at the end."""

    def clock(call):
        ck.synchronize()
        start = time.perf_counter_ns()
        for _ in range(count):
            call()
        if wait:
            ck.synchronize()
        elapsed = time.perf_counter_ns() - start
        ck.synchronize()
        return elapsed / count

    return clock


def sides(op, n):
    """{who: call} and {who: call with its value on the host} on random input of that size."""
    shape = (n, n) if op == "matmul" else (n,)
    x, y = (np.random.default_rng().random(shape, np.float32) for _ in range(2))
    places = {"cudakern": (ck, ck.asarray)}
    places |= {"torch": (torch, lambda x: torch.from_numpy(x).cuda())} if torch else {}
    places |= {"cupy": (cupy, cupy.asarray)} if cupy else {}
    calls, values = {}, {}
    for who, (library, there) in places.items():
        a, b = there(x), there(y)
        if op == "matmul":
            out = library.matmul(a, b)
            calls[who] = lambda f=library.matmul, a=a, b=b, out=out: f(a, b, out=out)
        else:
            f = (lambda x: ck.sum_of_squares(x)) if library is ck else lambda x, dot=library.dot: dot(x, x)
            calls[who] = lambda f=f, a=a: f(a)
            values[who] = lambda f=f, a=a: float(f(a))
    if op == "matmul":
        a, b = ck.asarray(x), ck.asarray(y)
        calls["cudakern: new result"] = lambda: ck.matmul(a, b)
    return calls, values


def allocated(call):
    """Bytes that 200 more calls take from the device: 0 where the pool serves a repeated call."""
    loop(20, True)(call)
    before = ck.backend().properties["memory_free"]
    loop(200, True)(call)
    return before - ck.backend().properties["memory_free"]


def imported():
    code = "import numpy, time; t = time.perf_counter(); import cudakern; print(time.perf_counter() - t)"
    run = (subprocess.run([sys.executable, "-c", code], capture_output=True, text=True) for _ in range(ROUNDS))
    return statistics.median(float(done.stdout) for done in run)


def calls():
    rows, taken, promises, seconds = [], [], {}, imported()
    for op, n in ("sum_of_squares", 1000), ("sum_of_squares", 1 << 16), ("matmul", 64):
        own, with_value = sides(op, n)
        issue, done = (medians(own, ROUNDS, loop(CALLS, wait)) for wait in (False, True))
        value = medians(with_value, ROUNDS, loop(min(CALLS, 100), False))
        for who in own:
            times = {"issue_us": issue[who] / 1e3, "done_us": done[who] / 1e3}
            times["value_us"] = value[who] / 1e3 if who in value else None
            rows.append({"op": op, "n": n, "dtype": "float32", "who": who} | times)
            print(*rows[-1].values(), flush=True)
        less = all(who.startswith("cudakern") or issue["cudakern"] < other for who, other in issue.items())
        promises[f"{op} of {n}: a call costs less than theirs"] = less
        taken.append({"op": op, "n": n, "bytes": allocated(own["cudakern"])})
    promises["a repeated call allocates nothing"] = all(row["bytes"] <= 0 for row in taken)
    promises["the import takes less than 100 ms"] = seconds < 0.1
    figures = {"timing": TIMING, "import_s": seconds, "calls": rows, "repeated_calls_allocate": taken}
    short = (f"{row['op']} {row['issue_us']:.1f} us" for row in rows if row["who"] == "cudakern")
    return figures | {"promises": promises, "summary": ", ".join(short)}


# --- copies and calls of NumPy arrays --------------------------------------------------------------------------------
def copy_sides():
    """{(direction, memory): {who: work}}, and the list of the results that stay"""
    n, kept = COPY_BYTES // 4, []
    host, pinned = np.random.default_rng().random(n, np.float32), ck.empty_pinned((n,), np.float32)
    into, device = np.zeros_like(host), ck.asarray(host)
    pinned[...] = host
    works = {"cudakern": [
        lambda: device.set(host),
        lambda: device.set(pinned),
        lambda: device.get(out=into),
        lambda: kept.append(device.get()),
        lambda: device.get(),
        lambda: device.get(out=pinned),
    ]}  # fmt: skip
    if torch:
        th, ti = torch.from_numpy(host), torch.from_numpy(into)
        tp, td = th.pin_memory(), th.cuda()
        works["torch"] = [
            lambda: (td.copy_(th), torch.cuda.synchronize()),
            lambda: (td.copy_(tp, non_blocking=True), torch.cuda.synchronize()),
            lambda: ti.copy_(td),
            lambda: kept.append(td.cpu()),
            lambda: td.cpu(),
            lambda: (tp.copy_(td, non_blocking=True), torch.cuda.synchronize()),
        ]
    if cupy:
        cd, cp = cupy.asarray(host), np.frombuffer(cupy.cuda.alloc_pinned_memory(COPY_BYTES), np.float32, n)
        cp[...] = host
        works["cupy"] = [
            lambda: (cd.set(host), cupy.cuda.Device().synchronize()),
            lambda: (cd.set(cp), cupy.cuda.Device().synchronize()),
            lambda: cd.get(out=into),
            lambda: kept.append(cd.get()),
            lambda: cd.get(),
            lambda: cd.get(out=cp),
        ]
    places = [("to the device", memory) for memory in ("ordinary", "page-locked")]
    places += [
        ("to the host", memory) for memory in ("ordinary, existing", "ordinary, new", "ordinary, warm", "page-locked")
    ]
    return {place: {who: some[i] for who, some in works.items()} for i, place in enumerate(places)}, kept


def copies(processors=PROCESSORS):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:processors])
    rows, (works_of, kept) = [], copy_sides()
    for (direction, memory), works in works_of.items():
        row = {"bytes": COPY_BYTES, "direction": direction, "memory": memory, "processors": processors}
        for who, work in works.items():
            work()  # a slow copy is measured once: not the first one
            row[who] = COPY_BYTES / medians({who: work}, ROUNDS // 2, host_clock)[who]
            kept.clear()
        rows.append(row)
        print(*row.values(), flush=True)
    return rows


def host():
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
        few = list(pool.submit(copies, 2).result()) if PROCESSORS > 2 else []
    rows, limits, promises = copies() + few, {}, {}
    for row in rows:  # 5 % are the noise of a copy
        others = [row[who] for who in ("torch", "cupy") if who in row and (who == "cupy" or "page" in row["memory"])]
        what = f"{row['direction']}, {row['memory']} memory, {row['processors']} processors: as fast"
        promises[what] = row["cudakern"] >= 0.95 * max(others, default=0)
    timed_calls = []
    for op, shapes in ("matmul", [(n, n, n) for n in (1000, 4096, 8192)]), ("sum_of_squares", [1 << 28]):
        result = run(op, shapes, host=True, **({} if TINY else {"rounds": 7}))
        limits[op] = result.limits and result.limits._asdict()
        timed_calls += rows_of(result, op=op)
    figures = {"timing": TIMING, "processors": PROCESSORS, "copies": rows, "calls": timed_calls, "limits": limits}
    return figures | {"promises": promises, "summary": f"{len(rows)} copies, {len(timed_calls)} calls"}
