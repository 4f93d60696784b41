"""What Python and the runtime add to a launch: every operation on small arrays on the device, called three ways.

`native` is the C module's own function with the arrays' Views (and a new one for the result, where the public function
takes no out=); `auto` and `named` are the public function, with out= where it takes one. Beside them, in the same
rounds, a launch alone. On a GPU, all on that core of the CPU on which a launch takes least: on a machine that others
use, too, cores differ by a third."""

import ctypes
import inspect
import os
import statistics
from timeit import Timer

import numpy as np

import cuda_api
import cudakern as ck
from cases import inputs_for, small_shape
from cudakern.calls.observer import observed
from cudakern.measure.profile import Times
from cudakern.measure.rounds import timed
from cudakern.operations.registry import registry
from measure import OPS, TINY

BACKEND = ck.backend()
MODULE = BACKEND.native
CALLS, ROUNDS = (2, 1) if TINY else (50, 101) if BACKEND.emulated else (300, 61)
TIMING = (
    f"The host's clock over a loop of {CALLS} calls (timeit, with Python's garbage collector), without the wait for "
    f"the device that follows, over {CALLS}; microseconds. Medians of {ROUNDS} rounds after three, each way once in a "
    f"round, in a random order{'' if BACKEND.emulated else ', on the core on which a launch takes least'}."
)


def ways(name, *inputs):
    """The ways to call an operation on these inputs, timed; the variant that is auto's; and whether there is out=."""
    function = registry()[name].call
    arrays = tuple(x if isinstance(x, float) else ck.asarray(x) for x in inputs)
    with observed(Times()) as times:
        result = function(*arrays)
    variant, values = times.reports[-1]["variant"], times.reports[-1]["values"]
    takes_out = "out" in inspect.signature(function).parameters
    views = tuple((ck.asarray(np.asarray(x, result.dtype)) if isinstance(x, float) else x)._view for x in arrays)
    shape, dtype, device = result.shape, result._view.dtype, BACKEND.device

    def counted():  # how many bins bincount has is found on the device
        limits = MODULE.empty((2,), "int64", device, 0)
        MODULE.execute("extent", "blocks", (), views, (limits,), device, 0, 0)
        MODULE.download(np.empty(2, np.int64), limits, 0)

    target = "result" if takes_out else "empty(shape, dtype, device, 0)"
    native = f"execute(name, variant, values, views, ({target},), device, 0, 0)"
    operands, out = ", ".join(f"x{i}" for i in range(len(arrays))), ", out=out" if takes_out else ""
    calls = {
        "native": f"counted(); {native}" if name == "bincount" else native,
        "auto": f"function({operands}{out})",
        "named": f"function({operands}{out}, variant=variant)",
        **({"new result": f"function({operands})"} if takes_out else {}),
    }
    names = {"function": function, "out": result, "result": result._view, "variant": variant.name, "name": name}
    names |= {"values": values, "views": views, "shape": shape, "dtype": dtype, "device": device, "counted": counted}
    names |= {"execute": MODULE.execute, "empty": MODULE.empty} | {f"x{i}": x for i, x in enumerate(arrays)}
    timers = {way: Timer(call, "import gc; gc.enable()", globals=names).timeit for way, call in calls.items()}
    return timers, variant.name, takes_out


def launches(count):
    """Seconds of that many launches, alone and each with an event's record."""
    library = cuda_api.load(BACKEND.name, "bare")
    times = [ctypes.c_longlong(), ctypes.c_longlong()]
    library.check("time_launches", count, *map(ctypes.byref, times))
    return [t.value / 1e9 for t in times]


def clock(timer):
    """Nanoseconds of a call; ``timer``: seconds of a number of calls."""
    ck.synchronize()
    seconds = timer(CALLS)
    ck.synchronize()
    return seconds / CALLS * 1e9


def stay_on_the_best_core():
    took = {}
    for core in os.sched_getaffinity(0):
        os.sched_setaffinity(0, {core})
        took[core] = min(sum(launches(CALLS)) for _ in range(10))
    os.sched_setaffinity(0, {min(took, key=took.get)})


def overhead():
    if not BACKEND.emulated:  # (the emulator's workers need the other cores)
        stay_on_the_best_core()
    cases = {op: (op, *inputs_for(op, what.default_dtype, (64,) * 3 if op == "matmul" else small_shape(op)))
             for op, what in registry().items() if not OPS or op in OPS}  # fmt: skip
    cases["saxpy of a Python number"] = ("saxpy", 2.5, np.float32([1, 2, 3]), np.float32([4, 5, 6]))
    rows = []
    for title, case in cases.items():
        timers, variant, takes_out = ways(*case)
        timers |= {"launch": lambda n: launches(n)[0], "launch and event": lambda n: launches(n)[1]}
        row = {"call": title, "variant": variant, "out": takes_out}
        row |= {way: statistics.median(ns) / 1e3 for way, ns in timed(timers, ROUNDS, clock).items()}
        rows.append(row)
        print(*row.values(), flush=True)
    promises = {"a named variant takes at most 1.3 times auto": all(row["named"] <= 1.3 * row["auto"] for row in rows)}
    twice = (max(row["auto"], row["named"]) <= 2 * row["native"] for row in rows)
    promises["both take at most twice the native call"] = all(twice)
    if not BACKEND.emulated:
        own = {row["call"]: row for row in rows}
        for name, way, where, us in (
            ("matmul", "auto", "out", 2),
            ("sum_of_squares", "auto", "a new array", 2.5),  # (it has no out=)
            ("vector_add", "new result", "a new array", 2.5),
        ):
            if name in own:
                promise = f"{name} into {where}: a launch, an event and {us} us"
                promises[promise] = own[name][way] - own[name]["launch and event"] <= us
    return {"timing": TIMING, "calls": rows, "promises": promises, "summary": f"{len(rows)} operations"}
