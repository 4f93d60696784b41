"""Threads of a block: who they are, barriers, shared memory, clocks. On a GPU too, where there is one."""

import ctypes
import os

import numpy as np
import pytest

import cuda_api
from cases import ORDERS

PATIENCE = ctypes.c_ulonglong(20_000_000_000)  # nanoseconds until a kernel that waits gives up: a failure, not a limit


@pytest.fixture
def library(side):
    return cuda_api.load(side, "blocks")


@pytest.mark.parametrize(
    "grid, block",
    [((1,), (1,)), ((3,), (37,)), ((2, 3), (4, 5)), ((2, 1, 3), (3, 2, 4)), ((1,), (1, 1, 64)), ((1,), (1024,))],
)
def test_indices(library, grid, block):
    threads, blocks = int(np.prod(block)), int(np.prod(grid))
    out = library.buffer(np.full((blocks * threads, 7), -1, np.int32))
    library.launch("run_indices", out, grid=grid, block=block)
    full = lambda sizes: tuple(sizes) + (1,) * (3 - len(sizes))  # noqa: E731
    expected = [
        [tx, ty, tz, bx, by, bz, 32]
        for bz in range(full(grid)[2])
        for by in range(full(grid)[1])
        for bx in range(full(grid)[0])
        for tz in range(full(block)[2])
        for ty in range(full(block)[1])
        for tx in range(full(block)[0])
    ]
    assert out.get().tolist() == expected


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize("leave", [0, 2, 7, 32])
@pytest.mark.parametrize("threads", [1, 31, 33, 256, 1000])
def test_barriers_count_the_living(library, order, name, leave, threads):
    if library.side == "emulator":
        order(name)
    out = library.buffer(np.full((3, threads), -1, np.int32))
    library.launch("run_reverse", out, leave, grid=3, block=threads)
    t = np.arange(threads)
    other = threads - 1 - t
    for block, row in enumerate(out.get()):
        expected = 3 * other + block
        if leave:
            expected = np.where(other % leave == 0, -2, expected)
            expected = np.where(t % leave == 0, -1, expected)
        assert np.array_equal(row, expected)


def test_warps_leave_one_by_one(library):
    out = library.buffer(np.full((2, 200), -1, np.int32))
    library.launch("run_leave_warp_by_warp", out, grid=2, block=200)
    assert np.array_equal(out.get(), np.tile(np.arange(200) // 32, (2, 1)))


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_barriers_that_count(library, share):
    given = (np.random.default_rng(1).random(133) < share).astype(np.int32) * 5
    out = library.buffer(np.zeros((133, 3), np.int32))
    library.launch("run_barrier_votes", library.buffer(given), out, block=133)
    expected = [np.count_nonzero(given), int(given.all()), int(given.any())]
    assert out.get().tolist() == [expected] * 133


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize("entry, dtype", [("run_scan_int", "int32"), ("run_scan_double", "float64")])
def test_dynamic_shared_memory_and_locals(library, order, name, entry, dtype):
    if library.side == "emulator":
        order(name)
    given = np.random.default_rng(2).integers(-50, 50, (4, 321)).astype(dtype)
    out = library.buffer(np.zeros_like(given))
    library.launch(entry, library.buffer(given), out, grid=4, block=321, shared=321 * given.itemsize)
    assert np.array_equal(out.get(), np.cumsum(given, axis=1))


@pytest.mark.parametrize(
    "entry, dtype, n", [("run_transpose_float", "float32", 32), ("run_transpose_double", "float64", 8)]
)
def test_static_shared_memory_in_a_template(library, entry, dtype, n):
    given = np.random.default_rng(3).random((20, n, n)).astype(dtype)
    out = library.buffer(np.zeros_like(given))
    library.launch(entry, library.buffer(given), out, grid=20, block=(n, n))
    assert np.array_equal(out.get(), given.transpose(0, 2, 1))


def test_clocks_run_forward(library):
    out = library.buffer(np.zeros((4 * 64, 5), np.int64))
    library.launch("run_clocks", out, grid=4, block=64)
    cycles_from, cycles_to, ns_from, ns_to, _ = out.get().T
    assert (cycles_from < cycles_to).all()
    assert (ns_from <= ns_to).all()
    assert (ns_from > 0).all()
    again = library.buffer(np.zeros((64, 5), np.int64))
    library.launch("run_clocks", again, grid=1, block=64)
    assert again.get()[:, 2].min() >= ns_to.max()  # one clock for all blocks and launches


def test_blocks_run_on_several_cores(library):
    """Two blocks that wait for each other: with one worker they would wait for ever."""
    cores = len(os.sched_getaffinity(0))
    blocks = min(cores, 8) if library.side == "emulator" else 8
    out = library.buffer(np.zeros(blocks, np.int32))
    library.launch("run_meet", library.buffer(np.zeros(1, np.uint32)), out, PATIENCE, grid=blocks, block=1)
    assert out.get().tolist() == [blocks] * blocks


# --- orders: only the emulator has them ------------------------------------------------------------------------------
emulator_only = pytest.mark.parametrize("side", ["emulator"])


@emulator_only
def test_a_missing_barrier_hides_in_one_order_and_shows_in_another(library, order):
    def wrong(name):
        order(name)
        out = library.buffer(np.full(256, -7, np.int32))
        library.launch("run_missing_barrier", out, block=256)
        return np.count_nonzero(out.get() != np.maximum(np.arange(256) - 1, 0))

    assert wrong("fixed") == 0
    assert wrong("reversed") > 200
    assert all(wrong(f"seed:{seed}") > 20 for seed in range(5))


@emulator_only
def test_blocks_run_in_the_order_that_was_set(library, order):
    library.check("seam_configure", b"workers", b"1")
    try:

        def run(name):
            order(name)
            out = library.buffer(np.zeros(50, np.int32))
            library.launch("run_tickets", library.buffer(np.zeros(1, np.uint32)), out, grid=50, block=1)
            return out.get().tolist()

        forward = list(range(50))
        assert run("fixed") == forward
        assert run("reversed") == forward[::-1]
        seeded = [run(f"seed:{seed}") for seed in (1, 2, 1)]
        assert seeded[0] == seeded[2] != seeded[1]
        assert all(sorted(tickets) == forward != tickets for tickets in seeded)
    finally:
        library.check("seam_configure", b"workers", b"0")
