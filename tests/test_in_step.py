"""Clusters of a persistent grid that wait for each other from time to time: matmul/parts/split_shares.cuh."""

import numpy as np
import pytest

import cuda_api

BLOCKS, TILES, SLABS_BETWEEN = 6, 40, 512  # split_shares.cuh: IN_STEP_SLABS


def times_of(side, clusters, slabs_of_tile, polls, *, counted=True):
    """For each block and tile, numbers before and after it meets the others; and how many arrivals there were."""
    library = cuda_api.load(side, "in_step")
    arrivals, clock = (library.buffer(np.zeros(1, np.uint32)) for _ in range(2))
    times = library.buffer(np.zeros((BLOCKS, TILES, 2), np.uint32))
    library.launch(
        "run_meet",
        arrivals if counted else None,
        clusters,
        slabs_of_tile,
        polls,
        TILES,
        clock,
        times,
        grid=BLOCKS,
        cooperative=True,  # all blocks run at the same time
    )
    assert clock.get()[0] == BLOCKS * TILES * 2
    return times.get(), arrivals.get()[0]


@pytest.mark.parametrize("slabs_of_tile", [1000, 512, 511, 128, 100, 20])
def test_they_meet(side, slabs_of_tile):
    """Before tiles `every`, 2 `every`, ..., no block goes on until all have arrived; there is no other meeting."""
    times, arrivals = times_of(side, BLOCKS, slabs_of_tile, 1 << 30)
    every = -(-SLABS_BETWEEN // slabs_of_tile)
    meetings = np.arange(every - 1, TILES, every)
    assert arrivals == BLOCKS * len(meetings)
    for tile in meetings:
        assert times[:, tile, 0].max() < times[:, tile, 1].min()


def test_they_do_not_wait_for_ever(side):
    """One that never comes: the others wait for it once, and not again."""
    _, arrivals = times_of(side, BLOCKS + 1, 512, 50)
    assert arrivals == BLOCKS


def test_without_a_count_nobody_waits(side):
    """It returns, although one cluster never comes."""
    times_of(side, BLOCKS + 1, 1, 1 << 30, counted=False)
