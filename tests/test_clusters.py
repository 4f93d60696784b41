"""Clusters on both sides: other blocks' memory, barriers, multicast; and the mistakes that the emulator reports."""

import ctypes
import subprocess

import numpy as np
import pytest

import cuda_api
from cases import ORDERS, emulated_chip

NOT_SUPPORTED, LAUNCH_FAILURE, INVALID_CLUSTER = 801, 719, 912
CLUSTER_LAUNCH = 120  # cudaDevAttrClusterLaunch


@pytest.fixture
def library(side):
    library = cuda_api.load(side, "clusters")
    if not library.value("api_attribute", ctypes.c_int, CLUSTER_LAUNCH, 0):
        pytest.skip("this chip has no clusters")
    return library


@pytest.fixture
def emulated():
    return cuda_api.load("emulator", "clusters")


@pytest.mark.parametrize(
    "grid, cluster", [((4,), (1,)), ((6,), (2,)), ((8,), (8,)), ((4, 6, 2), (2, 3, 1)), ((2, 2, 4), (1, 2, 4))]
)
def test_ranks(library, grid, cluster):
    """Within a cluster x runs fastest, then y, then z."""
    grid, cluster = [(*x, 1, 1)[:3] for x in (grid, cluster)]
    out = library.buffer(np.full((*grid[::-1], 2), -1, np.int32))
    library.launch("run_ranks", out, grid=grid, cluster=cluster)
    z, y, x = np.indices(grid[::-1])
    ranks = x % cluster[0] + cluster[0] * (y % cluster[1] + cluster[1] * (z % cluster[2]))
    np.testing.assert_array_equal(out.get()[..., 0], ranks)
    np.testing.assert_array_equal(out.get()[..., 1], np.prod(cluster))


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("size, blocks", [(1, 3), (2, 2), (2, 12), (3, 6), (8, 16)])
def test_shared_memory_of_other_blocks(library, order, order_name, size, blocks):
    order(order_name)
    out = library.buffer(np.zeros((blocks, size, 64, 2), np.int32))
    library.launch("run_exchange", out, grid=blocks, block=64, shared=256, cluster=size)
    block, rank, thread = np.indices((blocks, size, 64))
    expected = 1000 * (block // size * size + rank) + 63 - thread
    np.testing.assert_array_equal(out.get()[..., 0], expected)
    np.testing.assert_array_equal(out.get()[..., 1], -expected)


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("size, threads, count", [(1, 32, 3), (2, 64, 5), (4, 33, 4), (8, 96, 8)])
def test_rounds_of_the_barrier(library, order, order_name, size, threads, count):
    order(order_name)
    out = library.buffer(np.zeros(2 * size, np.int32))
    library.launch("run_rounds", count, out, grid=2 * size, block=threads, cluster=size)
    expected = np.zeros(size, np.int32)
    for i in range(count):
        for rank in range(size):
            expected[(rank + i) % size] += threads * (1 + rank)
    np.testing.assert_array_equal(out.get(), np.tile(expected, 2))


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("size", [1, 2, 5])
def test_arrivals_at_barriers_of_other_blocks(library, order, order_name, size):
    order(order_name)
    count = 9
    out = library.buffer(np.zeros((size, count), np.int32))
    library.launch("run_pass_on", count, out, grid=size, block=32, cluster=size)
    np.testing.assert_array_equal(out.get(), 7 * np.arange(count) + np.arange(size)[:, None])


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("size", [1, 2, 4])
def test_boxes_for_all_blocks(library, order, order_name, size):
    order(order_name)
    rows = np.random.default_rng().integers(-(2**31), 2**31, (8 * size, 32), dtype=np.int32)
    out = library.buffer(np.zeros((2 * size, 8 * size, 32), np.int32))
    library.launch(
        "run_share_rows", library.buffer(rows), len(rows), out, grid=2 * size, block=64, shared=9216, cluster=size
    )
    np.testing.assert_array_equal(out.get(), np.broadcast_to(rows, (2 * size, *rows.shape)))


def share(library, masks, expected):
    """Each block loads its eight rows for the blocks in its mask: what each block then has, and the rows."""
    size = len(masks)
    rows = np.random.default_rng().integers(0, 2**31, (size, 8, 32), dtype=np.int32)
    out = library.buffer(np.zeros((size, size, 8, 32), np.int32))
    numbers = (library.buffer(np.array(x, np.int32)) for x in (masks, expected))
    arguments = (library.buffer(rows), 8 * size, *numbers, out)
    library.launch("run_share_with", *arguments, grid=size, block=64, shared=1024 * (size + 1), cluster=size)
    return out.get(), rows


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("masks", [(0b10, 0b01), (0b01, 0b10), (0b11, 0), (0b0110, 0b1011, 0b0001, 0b1000)])
def test_boxes_for_some_blocks(library, order, order_name, masks):
    """A box comes to the blocks in the mask and to no others, and its bytes to their mbarriers."""
    order(order_name)
    chosen = np.array([[mask >> block & 1 for mask in masks] for block in range(len(masks))])
    out, rows = share(library, masks, chosen.sum(1))
    np.testing.assert_array_equal(out, np.where(chosen[:, :, None, None], rows, -1))


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("masks", [(0b01, 0b10), (0b01, 0b11), (0b11, 0b10)])
def test_a_mask_that_lacks_a_block_is_reported(emulated, order, order_name, masks):
    """Both blocks wait for both boxes."""
    order(order_name)
    with pytest.raises(
        cuda_api.CudaFailure, match="waits forever, because the phase lacks 0 of 1 arrivals and 1024 b"
    ) as e:
        share(emulated, masks, (2, 2))
    assert f"clusters.cu:{emulated.lines('share_with')[0]}" in e.value.detail


@pytest.mark.parametrize("order_name", ORDERS)
def test_a_thread_that_waits_for_a_flag_of_another_block(library, order, order_name):
    order(order_name)
    out = library.buffer(np.zeros(1, np.int32))
    library.launch("run_spin", out, grid=2, block=1, cluster=2)
    assert out.get()[0] == 1
    rows = library.buffer(np.full((8, 32), 5, np.int32))
    library.launch("run_spin_for_box", rows, out, grid=2, block=1, shared=2048, cluster=2)
    assert out.get()[0] == 5


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("cluster", [None, 1, 2])
def test_the_barrier_in_two_branches(library, order, order_name, cluster):
    """A launch without clusters has clusters of one block."""
    order(order_name)
    out = library.buffer(np.zeros(2, np.int32))
    library.launch("run_two_branches", out, grid=2, block=128, cluster=cluster)
    assert out.get().tolist() == [64, 64]


# --- mistakes ---------------------------------------------------------------------------------------------------------
MISTAKES = [
    (0, "wait alone", "the thread calls cluster_wait without cluster_arrive before it"),
    (1, "arrive twice", "calls cluster_arrive for the second time without cluster_wait"),
    (2, "no such rank", "map_shared: the rank of a block in this cluster of 2 is 0 to 1, not 5"),
    (3, "not shared", "is not an address in the block's shared memory"),
    (4, "one arrival too few", "mbarrier_wait for parity 0 waits forever, because the phase lacks 1 of 2 arrivals"),
    (5, "not initialized", "mbarrier_arrive_at: the mbarrier at"),
    (6, "block 0 waits at the cluster", "mbarrier_wait for parity 0 waits forever, because the phase lacks 1 of 1"),
    (7, "block 0 has ended", "map_shared: block 0 of the cluster has ended, and its shared memory no longer exists"),
]


@pytest.mark.parametrize("what, mark, message", MISTAKES)
def test_mistakes_are_reported_with_their_line(emulated, what, mark, message):
    out = emulated.buffer(np.zeros(2, np.int32))
    with pytest.raises(cuda_api.CudaFailure) as failure:
        emulated.launch("run_mistake", what, out, grid=2, block=1, cluster=2)
    assert failure.value.code == LAUNCH_FAILURE
    assert message in failure.value.detail
    assert f"clusters.cu:{emulated.lines(mark)[0]}" in failure.value.detail
    emulated.launch("run_spin", out, grid=2, block=1, cluster=2)  # the next cluster runs


def test_a_barrier_that_a_block_never_reaches(emulated):
    out = emulated.buffer(np.zeros(2, np.int32))
    with pytest.raises(cuda_api.CudaFailure) as failure:
        emulated.launch("run_half_a_barrier", out, grid=2, block=2, cluster=2)
    assert "cluster_wait waits forever, because 3 of the 4 threads in the cluster's 2 blocks" in failure.value.detail
    assert f"clusters.cu:{emulated.lines('never opens')[0]}" in failure.value.detail


@pytest.mark.parametrize("side", ["emulator"])
@pytest.mark.parametrize(
    "chip, grid, cluster, cooperative, code, message",
    [
        ("H200", 6, 4, False, INVALID_CLUSTER, "the grid must be a multiple of the cluster along x"),
        ("H200", 9, 9, False, INVALID_CLUSTER, "a cluster of (9,1,1) blocks; it must have 1 to 8"),
        ("A100", 2, 2, False, NOT_SUPPORTED, "clusters need compute capability 9.0; this device (A100) has none"),
        ("H200", 2, 2, True, NOT_SUPPORTED, "does not run cooperative launches with clusters"),
    ],
)
def test_launches_that_are_refused(side, emulated, chip, grid, cluster, cooperative, code, message):
    out = emulated.buffer(np.zeros(2 * grid, np.int32))
    with emulated_chip(chip), pytest.raises(cuda_api.CudaFailure) as failure:
        emulated.launch("run_ranks", out, grid=grid, cluster=cluster, cooperative=cooperative)
    assert failure.value.code == code
    assert message in failure.value.detail


def test_a_size_that_the_launch_would_not_learn():
    """A kernel with __cluster_dims__ does not compile, rather than run without clusters."""
    line = ["c++", "-std=c++17", "-fsyntax-only", "-x", "c++", *cuda_api.HEADERS, "-"]
    kernel = '#include "cuda_runtime.h"\n__global__ void __cluster_dims__(2, 1, 1) pairs() {}'
    run = subprocess.run(line, input=kernel, text=True, capture_output=True)
    assert run.returncode != 0
    assert "use cudaLaunchAttributeClusterDimension" in run.stderr
    assert "a launch from Python has no clusters" in run.stderr
