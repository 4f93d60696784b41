"""What Python and the runtime add to a launch: every operation on small arrays on the device, called three ways.

    bench_overhead.py FILE.json

`native` is the C module's own function with the arrays' Views (and a new one for the result, where the public function
takes no out=); `auto` and `named` are the public function, with out= where it takes one. Beside them, in the same
rounds, a launch alone. All on that core of the CPU on which a launch takes least: on a machine that others use, too,
cores differ by a third."""

import ctypes
import inspect
import json
import math
import os
import statistics
import sys
from pathlib import Path
from timeit import Timer

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import cuda_api
import cudakern as ck
from cases import inputs_for, small_shape
from cudakern._observer import observed
from cudakern._operations import registry
from cudakern._profile import Times

BACKEND = ck.backend()
MODULE = BACKEND.native
CALLS, ROUNDS = (50, 101) if BACKEND.emulated else (300, 31)
TOO_SLOW = 1.15
TIMING = (
    f"The host's clock over a loop of {CALLS} calls (timeit, with Python's garbage collector), without the wait for "
    f"the device that follows, over {CALLS}; microseconds. Medians of {ROUNDS} rounds after one; the ways take turns. "
)
if not BACKEND.emulated:
    TIMING += (
        f"On the core of the CPU on which a launch takes least; a round in which a launch took more than {TOO_SLOW} "
        "times that is repeated, at most ten times as often as there are rounds."
    )


class Ways:
    """One operation on one input: the ways to call it, and the variant that is auto's."""

    def __init__(self, name, *inputs):
        function = registry()[name].call
        arrays = tuple(x if isinstance(x, float) else ck.asarray(x) for x in inputs)
        with observed(Times()) as times:
            result = function(*arrays)
        self.variant, values = times.reports[-1]["variant"], times.reports[-1]["values"]
        self.takes_out = "out" in inspect.signature(function).parameters
        views = tuple((ck.asarray(np.asarray(x, result.dtype)) if isinstance(x, float) else x)._view for x in arrays)
        shape, dtype, device = result.shape, result._view.dtype, BACKEND.device

        def counted():  # how many bins bincount has is found on the device
            limits = MODULE.empty((2,), "int64", device, 0)
            MODULE.execute("extent", "blocks", (), views, (limits,), device, 0, 0)
            MODULE.download(np.empty(2, np.int64), limits, 0)

        target = "result" if self.takes_out else "empty(shape, dtype, device, 0)"
        native = f"execute(name, variant, values, views, ({target},), device, 0, 0)"
        operands = ", ".join(f"x{i}" for i in range(len(arrays)))
        out = ", out=out" if self.takes_out else ""
        self.calls = {
            "native": f"counted(); {native}" if name == "bincount" else native,
            "auto": f"function({operands}{out})",
            "named": f"function({operands}{out}, variant=variant)",
        }
        if self.takes_out:
            self.calls["new result"] = f"function({operands})"
        self.names = {"function": function, "out": result, "result": result._view, "variant": self.variant.name}
        self.names |= {"name": name, "values": values, "views": views, "shape": shape, "dtype": dtype}
        self.names |= {"device": device, "counted": counted, "execute": MODULE.execute, "empty": MODULE.empty}
        self.names |= {f"x{i}": x for i, x in enumerate(arrays)}

    def a_round(self, way):
        timer = Timer(self.calls[way], "import gc; gc.enable()", globals=self.names)
        ck.synchronize()
        issued = timer.timeit(CALLS)
        ck.synchronize()
        return issued / CALLS * 1e6


def bare_launch():
    """(a launch, a launch and an event's record), in microseconds."""
    library = cuda_api.load(BACKEND.name, "bare")
    times = [ctypes.c_longlong(), ctypes.c_longlong()]
    library.check("time_launches", CALLS, *map(ctypes.byref, times))
    return [t.value / CALLS / 1e3 for t in times]


def stay_on_the_best_core():
    """Returns what a launch, and one with an event, take there together."""
    cores = os.sched_getaffinity(0)
    took = {}
    for core in cores:
        os.sched_setaffinity(0, {core})
        took[core] = min(sum(bare_launch()) for _ in range(10))
    best = min(took, key=took.get)
    os.sched_setaffinity(0, {best})
    return took[best]


def cases():
    """(title, the ways to call it)"""
    for name in registry():
        shape = (64, 64, 64) if name == "matmul" else small_shape(name)
        yield name, Ways(name, *inputs_for(name, registry()[name].default_dtype, shape))
    x, y = np.float32([1, 2, 3]), np.float32([4, 5, 6])
    yield "saxpy of a Python number", Ways("saxpy", 2.5, x, y)


def promises(rows):
    """What docs/contract.md says of these figures: {promise: kept}."""
    kept = {
        "a named variant takes at most 1.3 times auto": all(row["named"] <= 1.3 * row["auto"] for row in rows),
        "both take at most twice the native call": all(
            max(row["auto"], row["named"]) <= 2 * row["native"] for row in rows
        ),
    }
    if not BACKEND.emulated:
        with_out = {row["call"]: row["auto"] - row["launch and event"] for row in rows}
        new = {row["call"]: row.get("new result", row["auto"]) - row["launch and event"] for row in rows}
        kept["matmul into out: a launch, an event and 2 us"] = with_out["matmul"] <= 2
        for name in ("sum_of_squares", "vector_add"):
            kept[f"{name} into a new array: a launch, an event and 2.5 us"] = new[name] <= 2.5
    return kept


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    rows, repeated = [], 0
    # The emulator's workers need the other cores.
    quiet = math.inf if BACKEND.emulated else TOO_SLOW * stay_on_the_best_core()
    for title, ways in cases():
        names, samples = list(ways.calls), {name: [] for name in (*ways.calls, "launch", "launch and event")}
        for turn in range(11 * ROUNDS):
            rotated = names[turn % len(names) :] + names[: turn % len(names)]
            times = {name: ways.a_round(name) for name in rotated}
            times["launch"], times["launch and event"] = bare_launch()
            if times["launch"] + times["launch and event"] > quiet and turn < 10 * ROUNDS:
                repeated += 1  # others used this machine's core
                continue
            for name, value in times.items():
                if turn > 0:
                    samples[name].append(value)
            if len(samples["launch"]) == ROUNDS:
                break
        row = {"call": title, "variant": ways.variant.name, "out": ways.takes_out}
        row |= {name: statistics.median(values) for name, values in samples.items()}
        rows.append(row)
        figures = ", ".join(f"{name} {row[name]:.2f}" for name in samples)
        print(
            f"{title:26} {figures}; named/auto {row['named'] / row['auto']:.2f}, auto/native "
            f"{row['auto'] / row['native']:.2f}",
            flush=True,
        )
    record = {
        "backend": BACKEND.to_dict(),
        "timing": TIMING,
        "repeated rounds": repeated,
        "calls": rows,
        "promises": promises(rows),
    }
    for promise, kept in record["promises"].items():
        print(f"{'kept    ' if kept else 'NOT KEPT'} {promise}", flush=True)
    Path(sys.argv[1]).write_text(json.dumps(record, indent=1, default=str) + "\n")


if __name__ == "__main__":
    main()
