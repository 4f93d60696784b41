"""The checker's quick path finds what its rules alone find: the same places, threads and counts, on random kernels."""

import contextlib
import functools

import numpy as np
import pytest

import cudakern as ck
from cudakern.insight import checker

READS = {
    "s[i]": "x += s[i % 64];",
    "g[i]": "x += g[i % 64];",
    "vector in shared memory": "x += (int)v[i % 8].x;",
    "vector": "x += ((int4 *)g)[i % 16].y;",
    "bytes[i]": "x += bytes[i % 64];",
    "four bytes": "x += ((int *)bytes)[i % 16];",
    "halves[i]": "x += halves[i % 64];",
    "many": "for (int j = 0; j < 16; ++j) x += g[j];",
    "many in shared memory": "for (int j = 0; j < 16; ++j) x += s[j];",
    "many halves": "for (int j = 0; j < 16; ++j) x += halves[j];",
}
WRITES = {
    "s[i] =": "s[i % 64] = x;",
    "g[i] =": "g[i % 64] = x;",
    "vector in shared memory =": "v[i % 8] = make_float4(1, 1, 1, 1);",
    "bytes[i] =": "bytes[i % 64] = x;",
    "halves[i] =": "halves[i % 64] = x;",
}
OTHERS = {
    "volatile": "x += *(volatile int *)&g[i % 64];",
    "atomic": "atomicAdd(&g[i % 64], 1);",
    "fence": "__threadfence();",
}
BARRIERS = {"block": "__syncthreads();", "warp": "__syncwarp();"}
ALL = [*READS, *WRITES, *OTHERS, *BARRIERS]


@functools.cache
def kernel():
    """Each thread does in each step what `ops` says: the number of one of ALL, and 256 * i."""
    code = {**READS, **WRITES, **OTHERS, **BARRIERS}
    cases = "\n".join(f"        if (what == {number}) {{ {code[name]} }}" for number, name in enumerate(ALL))
    return ck.compile(
        f"""
__global__ void random_steps(const int *ops, int steps, int *g, unsigned char *bytes, unsigned short *halves,
                             int *sums) {{
    __shared__ int s[64];
    __shared__ float4 v[8];
    const int t = threadIdx.x;
    int x = 0;
    s[t % 64] = t;
    if (t < 8) v[t] = make_float4(0, 0, 0, 0);
    __syncthreads();
    for (int step = 0; step < steps; ++step) {{
        const int op = ops[(blockIdx.x * steps + step) * blockDim.x + t], what = op & 255, i = op >> 8;
{cases}
    }}
    sums[blockIdx.x * blockDim.x + t] = x;
}}"""
    ).random_steps


def random_ops(seed):
    """Mostly reads, and barriers that all threads of a block reach."""
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(1, 5)), int(rng.integers(2, 14)), int(rng.choice([32, 64, 96, 128]))
    ops, dice, rare = rng.choice(len(READS), shape), rng.random(shape), rng.choice([0.002, 0.02, 0.2])
    ops = np.where(dice < rare, len(READS) + rng.choice(len(WRITES), shape), ops)
    ops = np.where(dice > 1 - rare / 2, len(READS) + len(WRITES) + rng.choice(len(OTHERS), shape), ops)
    for step in range(shape[1]):
        together = rng.random()
        if together < 0.7:  # all threads of the grid do the same
            ops[:, step] = ALL.index("block" if together < 0.35 else "warp" if together < 0.5 else rng.choice([*READS]))
    return (ops + 256 * rng.integers(0, int(rng.choice([4, 16, 64])), shape)).astype(np.int32)


def findings(ops):
    blocks, steps, threads = ops.shape
    launch = kernel()[blocks, threads]
    arrays = [ck.asarray(np.zeros(64, dtype)) for dtype in (np.int32, np.uint8, np.uint16)]
    found = ck.check(launch, ck.asarray(ops), steps, *arrays, ck.empty(blocks * threads, np.int32))
    return [(one.kind, one.lines, one.count, one.message) for one in found]


@contextlib.contextmanager
def rules_alone():
    checker.quick(False)
    try:
        yield
    finally:
        checker.quick(True)


@pytest.mark.parametrize("seed", range(24))
def test_the_quick_path_finds_the_same(emulator, seed):
    ops = random_ops(seed)
    quickly = findings(ops)
    with rules_alone():
        assert findings(ops) == quickly


def test_random_kernels_have_mistakes_and_none(emulator):
    """Otherwise, the test above would compare nothing."""
    counts = [len(findings(random_ops(seed))) for seed in range(24)]
    assert min(counts) == 0
    assert max(counts) > 5
