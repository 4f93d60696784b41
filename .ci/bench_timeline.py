"""What the host's threads, the link and the kernels do during one call of matmul on NumPy arrays.

    bench_timeline.py FILE.json

CUPTI's records of the call, taken by PyTorch's profiler, show it from outside: the copies on the link, the kernels, and
every call of CUDA by every thread. A thread of a ring fills or empties a slot between the end of its wait for the slot
(cudaEventSynchronize) and its next call of CUDA."""

import itertools
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from torch.profiler import ProfilerActivity, profile

import cudakern as ck

SIZE = 8192
MERGED_US = 10  #: spans of a lane that are not further apart are one span


def traced(call):
    """CUPTI's records of a call, as events of Chrome's trace format."""
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as records:
        call()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        records.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    return [event for event in events if event.get("ph") == "X"]


def lanes_of(events):
    """{lane: [(begin, end), ...]}, in microseconds."""
    lanes = {}
    for event in events:
        begin, end = float(event["ts"]), float(event["ts"]) + float(event["dur"])
        if event.get("cat") == "kernel":
            lanes.setdefault("kernels", []).append((begin, end))
        elif event.get("cat") == "gpu_memcpy" and ("HtoD" in event["name"] or "DtoH" in event["name"]):
            to = "link to the device" if "HtoD" in event["name"] else "link to the host"
            lanes.setdefault(to, []).append((begin, end))
    out_from = min((begin for begin, _ in lanes.get("link to the host", [])), default=float("inf"))
    threads = {}
    for event in sorted((e for e in events if e.get("cat") == "cuda_runtime"), key=lambda e: float(e["ts"])):
        threads.setdefault(event["tid"], []).append(event)
    for calls in threads.values():
        for call, following in itertools.pairwise(calls):
            if call["name"] == "cudaEventSynchronize":
                begin = float(call["ts"]) + float(call["dur"])
                what = "empties" if begin > out_from else "fills"
                lanes.setdefault(f"thread {calls[0]['tid']} {what} slots", []).append((begin, float(following["ts"])))
    return lanes


def merged(spans):
    result = []
    for begin, end in sorted(spans):
        if result and begin - result[-1][1] <= MERGED_US:
            result[-1][1] = max(result[-1][1], end)
        else:
            result.append([begin, end])
    return result


def timeline(lanes):
    """The lanes in the order of the picture; times from the first span's beginning, and threads numbered."""
    start = min(begin for spans in lanes.values() for begin, _ in spans)
    first = {}
    for name in sorted(lanes, key=lambda name: min(lanes[name])):
        if name.startswith("thread"):
            first.setdefault(name.split()[1], f"thread {len(first)}")
    rows = []
    for name, spans in lanes.items():
        words = name.split()
        lane, what = (first[words[1]], words[2]) if words[0] == "thread" else (name, "")
        busy = sum(end - begin for begin, end in merged(spans))
        spans = [[round(t - start, 1) for t in span] for span in merged(spans)]
        rows.append({"lane": lane, "what": what, "busy_us": round(busy, 1), "spans": spans})
    return rows


def main():
    draw = np.random.default_rng()
    a, b = (draw.standard_normal((SIZE, SIZE), np.float32) for _ in "ab")
    for _ in range(3):  # the results of the first calls have new memory
        ck.matmul(a, b)
    samples = []
    for _ in range(9):
        start = time.perf_counter()
        result = ck.matmul(a, b)
        samples.append((time.perf_counter() - start) * 1e6)
        del result
    traced(lambda: ck.matmul(a, b))  # the first one is slower
    lanes = lanes_of(traced(lambda: ck.matmul(a, b)))
    what = f"matmul of {SIZE} x {SIZE} float32 NumPy arrays"
    record = {"backend": ck.backend().to_dict(), "what": what, "call_us": statistics.median(samples)}
    record |= {"merged_us": MERGED_US, "rows": timeline(lanes)}
    for row in record["rows"]:
        print(f"{row['lane']:20} {row['what']:8} {row['busy_us']:10.1f} us in {len(row['spans'])} spans", flush=True)
    Path(sys.argv[1]).write_text(json.dumps(record, default=str))


if __name__ == "__main__":
    main()
