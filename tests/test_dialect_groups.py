"""Cooperative groups as CUDA has them: partitions, and the collective operations of every group within a warp."""

import itertools
import math
import operator

import numpy as np
import pytest

import cuda_api

THREADS = 96


@pytest.fixture
def library(side):
    return cuda_api.load(side, "dialect_groups")


def test_partitions(library):
    labels = np.random.default_rng().integers(0, 9, THREADS).astype(np.int32)
    out = library.buffer(np.full((2 * THREADS, 40), -1, np.int32))
    library.launch("run_partitions", library.buffer(labels), out, block=THREADS)
    for t, row in enumerate(out.get()[:THREADS].tolist()):
        warp, half = [range(t - t % n, t - t % n + n) for n in (32, 16)]
        odd = [u for u in half if (u % 3 == 1) == (t % 3 == 1)]
        same = [u for u in warp if labels[u] == labels[t]]
        firsts = sorted(next(u for u in warp if labels[u] == label) for label in {*labels[list(warp)].tolist()})
        rank = same.index(t)
        expected = [t % 16, 16, t // 16, THREADS // 16, t % 4, 4, t % 16 // 4, 4, t % 4, 4, t % 16 // 4, 4]
        expected += [odd.index(t), len(odd), int(t % 3 == 1), 2]
        expected += [rank, len(same), firsts.index(same[0]), len(firsts)]
        tile = [rank % 4, min(4, len(same) - rank // 4 * 4), rank // 4, -(-len(same) // 4)]
        expected += tile if len(same) > 4 else expected[-4:]  # a group that fits in a tile is its own partition
        expected += [rank, len(same), 0, 1]  # all have the same label
        expected += [t, THREADS, t % 8, 8, t % 2, 2, t % 4, 4]
        expected += [THREADS, t, THREADS, t]
        assert row == expected, t


def groups(which):
    """The threads of each group."""
    warps = [range(w, w + 32) for w in range(0, THREADS, 32)]
    size = {0: 32, 1: 8, 2: 4, 4: 32}.get(which)
    if size:
        return [list(range(t, t + size)) for t in range(0, THREADS, size)]
    label = (lambda t: t % 3) if which == 3 else (lambda t: t % 32 < 5)
    return [[t for t in warp if label(t) == value] for warp in warps for value in {label(t) for t in warp}]


def mask(flags):
    bits = sum(1 << i for i, flag in enumerate(flags) if flag)
    return bits - 2**32 if bits >= 2**31 else bits


def as_int(value):
    return (value + 2**31) % 2**32 - 2**31


@pytest.mark.parametrize("which", range(6))
@pytest.mark.parametrize("low, high", [(-9, 9), (5, 6)])
def test_collective_operations(library, which, low, high):
    draw = np.random.default_rng(which)
    values = draw.integers(low, high, THREADS).astype(np.int32)
    weights = draw.integers(-4, 5, THREADS).astype(np.float32) / 4  # sums are exact, in any order
    integers = library.buffer(np.zeros((THREADS, 25), np.int32))
    floats = library.buffer(np.zeros((THREADS, 4), np.float32))
    library.launch(
        "run_collectives", which, library.buffer(values), library.buffer(weights), integers, floats, block=THREADS
    )
    got, sums = integers.get().tolist(), floats.get().tolist()
    for group in groups(which):
        x = values[group].tolist()
        w = weights[group].tolist()
        first = min(group, key=lambda t: (weights[t], t))
        common = [sum(x), min(x), max(x), *(list(itertools.accumulate(x, f))[-1] for f in BITS), as_int(math.prod(x))]
        for rank, t in enumerate(group):
            before = x[: rank + 1]
            expected = [*common, sum(before), sum(x[:rank]), max(before), min(x[:rank], default=0), sum(x[:rank])]
            expected += [sum(before), int(any(v > 3 for v in x)), int(all(v > 3 for v in x)), mask(v > 3 for v in x)]
            expected += [mask(v == x[rank] for v in x)]
            expected += [mask(x) if len({*x}) == 1 else 0, int(len({*x}) == 1), 1000 + len(x), x[-1]]
            expected += [x[rank - 2 if rank >= 2 else rank], x[rank + 3 if rank + 3 < len(x) else rank], first, x[0]]
            assert got[t] == expected, (t, group)
            assert sums[t] == [sum(w), sum(w[: rank + 1]), sum(w[:rank]), sum(w)]


BITS = (operator.and_, operator.or_, operator.xor)


def test_sums_of_floats_are_added_in_the_order_of_a_gpu(library):
    """A tile adds in a butterfly; other groups scan, and their last thread has the sum."""
    weights = np.random.default_rng(5).standard_normal(THREADS).astype(np.float32)
    ints = library.buffer(np.zeros(THREADS, np.int32))
    for which in (0, 1, 3):
        integers, floats = (
            library.buffer(np.zeros((THREADS, 25), np.int32)),
            library.buffer(np.zeros((THREADS, 4), "f4")),
        )
        library.launch("run_collectives", which, ints, library.buffer(weights), integers, floats, block=THREADS)
        for group in groups(which):
            x = weights[group]
            if which == 3:
                step = 1
                while step < len(x):
                    x = np.concatenate([x[:step], x[:-step] + x[step:]])
                    step *= 2
                total = x[-1]
            else:
                while len(x) > 1:
                    x = x[: len(x) // 2] + x[len(x) // 2 :]
                total = x[0]
            assert (floats.get()[group, 0] == total).all()


def test_a_barrier_in_two_parts_and_one_thread_of_a_group(library):
    out = library.buffer(np.zeros(96, np.int32))
    library.launch("run_arrivals", out, block=96)
    assert out.get().tolist() == [95 - t + 1000 * 3 * 2 for t in range(96)]


@pytest.mark.parametrize("n", [1, 32, 50, 301])
def test_copies_by_a_group(library, n):
    x = np.random.default_rng(n).random((5, n), np.float32)
    rows = library.buffer(np.concatenate([x.ravel(), np.zeros(8, np.float32)]))
    out = library.buffer(np.zeros_like(x))
    library.launch("run_copied_rows", rows, out, 5, n, block=64, shared=2 * n * 4)
    assert np.array_equal(out.get(), x[:, ::-1])


def test_a_copy_without_a_wait_shows():
    library = cuda_api.load("emulator", "dialect_groups")
    x = np.random.default_rng(9).random((32, 4), np.float32)
    out = library.buffer(np.zeros((64, 4), np.float32))
    library.launch("run_no_wait", library.buffer(x), out, block=32)
    assert np.isnan(out.get()[:32]).all()
    assert np.array_equal(out.get()[32:], x[::-1])
