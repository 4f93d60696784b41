"""What a check and a trace cost: calls on the emulator with one worker, plain, inside `check` and traced, in the same
rounds; and the checker's memory, per byte of the pages of memory that the kernels have accessed."""

import random
from functools import partial

import numpy as np

import cudakern as ck
from cudakern.calls.observer import observed
from cudakern.insight import checker
from cudakern.insight.counters import _Tracing
from cudakern.insight.counts import counting
from cudakern.insight.session import session
from cudakern.measure.rounds import WARMUP, host_clock, quantiles
from measure import TINY

ROUNDS = 1 if TINY else 21
SOURCE = """__global__ void add(const float *x, const float *y, float *z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}"""
TIMING = (
    "The host's clock, from a call to the end of its kernels. The checked call includes what `check` itself does, but "
    f"no compilation: {WARMUP} rounds of warm-up come first. The traced call counts all blocks, but does not include "
    f"that the compiled code is read afterwards, which takes as long for any size. In each of {ROUNDS} rounds, every "
    "call runs plain, checked and traced, in a random order; a ratio is that of one round. All on one worker."
)


def cases():
    """Title -> a call of arrays on the device."""
    rng = np.random.default_rng(1)

    def floats(*shape, dtype=np.float32):
        return ck.asarray(rng.random(shape).astype(dtype))

    n, words = (32, 1024) if TINY else (256, 1 << 16)
    a, b = floats(n, n), floats(n, n)
    of_kernel = {variant: partial(ck.matmul, a, b, variant=variant)
                 for variant in ("naive", "tiled", "register_tile", "warp_tiles", "split_fp16")}  # fmt: skip
    halves = floats(n, n, dtype=np.float16), floats(n, n, dtype=np.float16)
    of_kernel["wgmma_persistent"] = partial(ck.matmul, *halves, variant="wgmma_persistent")
    add, x, y, z = ck.compile(SOURCE).add, floats(words), floats(words), ck.empty(words, np.float32)
    return {
        f"`vector_add` by `compile`, {words:,} floats": lambda: add[words // 256, 256](x, y, z, words),
        **{f"`matmul` `{variant}`, {n}³": call for variant, call in of_kernel.items()},
        f"`sum_of_squares`, {16 * words:,} floats": partial(ck.sum_of_squares, floats(16 * words)),
        f"`exclusive_scan`, {words:,} floats": partial(ck.exclusive_scan, floats(words)),
        f"`sort`, {words // 4:,} floats": partial(ck.sort, floats(words // 4)),
    }


def finished(call):
    result = call()
    ck.synchronize()
    return result


def traced(call):
    with counting(0) as library, observed(_Tracing(library)):
        call()
        ck.synchronize()


def shadow(call):
    """Bytes of the checker's memory per byte of the pages of memory that the call has accessed."""
    with session.wanted():
        ck.check(call)
        used, accessed = checker.shadow()
    return used / accessed


def checking():
    ck.emulator.configure(workers=1)
    calls = cases()
    ways = {}
    for title, call in calls.items():
        ways[title, "plain"] = partial(finished, call)
        ways[title, "checked"] = partial(finished, partial(ck.check, call))
        ways[title, "traced"] = partial(traced, call)
    wrong = [title for title, call in calls.items() if ck.check(call)]
    samples = {which: [] for which in ways}
    for _ in range(WARMUP + ROUNDS):
        for which in random.sample(list(ways), len(ways)):
            samples[which].append(host_clock(ways[which]))
    rows = []
    for title, call in calls.items():
        plain, checked, counted = (np.array(samples[title, way][WARMUP:]) for way in ("plain", "checked", "traced"))
        row = {"call": title, "plain_ns": quantiles(plain), "checked_ns": quantiles(checked)}
        row |= {"ratio": quantiles(checked / plain), "shadow": shadow(call)}
        rows.append(row | {"traced_ns": quantiles(counted), "traced_ratio": quantiles(counted / plain)})
    promises = {"a check takes at most 20 times the plain call": all(row["ratio"]["0.5"] <= 20 for row in rows)}
    return {"timing": TIMING, "rows": rows, "promises": promises, "ok": not wrong, "summary": f"{len(rows)} calls"}
