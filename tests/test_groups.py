"""Cooperative groups: tiles of a warp, coalesced lanes, and the barrier of a whole grid."""

import numpy as np
import pytest

import cuda_api
import cudakern
from cases import ORDERS, native


@pytest.fixture
def library(side):
    return cuda_api.load(side, "groups")


@pytest.mark.parametrize("size", [32, 16, 4])
def test_tiles(library, size):
    threads = 96
    given = np.random.default_rng(8).integers(-9, 9, threads).astype(np.int32)
    out = library.buffer(np.zeros((threads, 11), np.int32))
    library.launch(f"run_tiles_{size}", library.buffer(given), out, block=threads)
    expected = []
    for t in range(threads):
        rank, first = t % size, t - t % size
        tile = given[first : first + size]
        odd = sum(1 << i for i, value in enumerate(tile.tolist()) if value & 1)
        odd = odd - 2**32 if odd >= 2**31 else odd
        total = int(tile.sum())
        expected.append(
            [
                t,
                threads,
                rank,
                size,
                t // size,
                total,
                total,
                int(given[max(t - 1, first)]),
                odd,
                int((tile & 1).any()),
                int((tile & 1).all()),
            ]
        )
    assert out.get().tolist() == expected


def test_lanes_that_are_together(library):
    out = library.buffer(np.zeros((64, 3), np.int32))
    library.launch("run_coalesced", out, block=64)
    got = out.get()
    if library.side == "emulator":  # a GPU may split such groups further
        lane = np.arange(64) % 32
        assert got[:, 0].tolist() == (lane // 2).tolist()
        assert got[:, 1].tolist() == [16] * 64
        assert got[:, 2].tolist() == [t - t % 32 + t % 2 for t in range(64)]
    assert (got[:, 0] < got[:, 1]).all()
    assert (got[:, 2] % 2 == np.arange(64) % 2).all()


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("blocks, threads", [(1, 1), (2, 64), (4, 33), (8, 100)])
def test_a_grid_meets_at_a_barrier(library, order, order_name, blocks, threads):
    if library.side == "emulator":
        order(order_name)
    rounds = 20
    cells, out = library.buffer(np.zeros(blocks, np.int64)), library.buffer(np.zeros(blocks * threads, np.int64))
    library.launch("run_grid_rounds", cells, out, rounds, grid=blocks, block=threads, cooperative=True)
    values = [block + 1 for block in range(blocks)]
    for _ in range(rounds):
        total = sum(values) % 1000003
        values = [total + block for block in range(blocks)]
    assert out.get().tolist() == np.repeat(values, threads).tolist()


def test_a_grid_too_large_to_be_resident(library):
    out = library.buffer(np.zeros(1, np.int64))
    with pytest.raises(cuda_api.CudaFailure) as caught:
        library.launch("run_grid_rounds", out, out, 1, grid=1_000_000, block=256, cooperative=True)
    assert (caught.value.code, caught.value.name) == (720, "cudaErrorCooperativeLaunchTooLarge")
    if library.side == "emulator":
        assert "1000000" in caught.value.detail.replace(",", "")
    library.launch(
        "run_grid_rounds",
        library.buffer(np.zeros(2, np.int64)),
        library.buffer(np.zeros(4, np.int64)),
        1,
        grid=2,
        block=2,
        cooperative=True,
    )


def test_a_block_for_each_multiprocessor(library):
    blocks = native(library.side).device_properties(0)["multiprocessors"]
    out = library.buffer(np.zeros(blocks * 32, np.int64))
    library.launch(
        "run_grid_rounds", library.buffer(np.zeros(blocks, np.int64)), out, 1, grid=blocks, block=32, cooperative=True
    )
    assert (out.get().reshape(blocks, 32) == (sum(range(1, blocks + 1)) % 1000003 + np.arange(blocks))[:, None]).all()


@pytest.mark.parametrize("threads, shared", [(32, 48 << 10), (64, 48 << 10)])
def test_a_cooperative_grid_is_as_large_as_occupancy_says(threads, shared):
    """The emulated chip's; registers are not known there. One more is refused."""
    library = cuda_api.load("emulator", "groups")
    with cudakern.use_backend("emulator"):
        held = cudakern.occupancy(threads=threads, shared_bytes=shared).active_blocks
        most = held * cudakern.backend().properties["multiprocessors"]
    assert most >= 4 * 56  # the smallest chip's
    cells, out = library.buffer(np.zeros(most + 1, np.int64)), library.buffer(np.zeros((most + 1) * threads, np.int64))
    call = ("run_grid_rounds", cells, out, 1)
    library.launch(*call, grid=most, block=threads, shared=shared, cooperative=True)
    assert out.get()[: most * threads : threads].tolist() == [
        sum(range(1, most + 1)) % 1000003 + block for block in range(most)
    ]
    with pytest.raises(cuda_api.CudaFailure, match=f"at most {most}") as caught:
        library.launch(*call, grid=most + 1, block=threads, shared=shared, cooperative=True)
    assert caught.value.code == 720
