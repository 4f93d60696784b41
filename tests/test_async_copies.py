"""Asynchronous copies (cp.async): their groups on both sides, and the mistakes that the emulator reveals."""

import numpy as np
import pytest

import cuda_api
from cases import ORDERS


@pytest.fixture
def library(side):
    return cuda_api.load(side, "async_copies")


@pytest.fixture
def emulated():
    return cuda_api.load("emulator", "async_copies")


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("size, wait", [(4, 0), (8, 0), (16, 0), (4, 2), (16, 1)])
@pytest.mark.parametrize("inside", [0, 1, 150, 3 * 64 * 4])
def test_groups(library, order, order_name, size, wait, inside):
    """Every group that the wait covers is there, with zeros past the end; 3 blocks of 64 threads, 4 copies each."""
    order(order_name)
    blocks, threads, count, words = 3, 64, 4, size // 4
    data = np.arange(1, blocks * threads * count * words + 1, dtype=np.int32)
    out = library.buffer(np.zeros_like(data))
    library.launch(
        f"run_copies_{size}_{wait}",
        library.buffer(data),
        count,
        inside,
        out,
        grid=blocks,
        block=threads,
        shared=threads * count * size,
    )
    expected = np.where(np.arange(data.size) // words < inside, data, 0).reshape(-1, count, words)
    expected[:, count - wait :] = -1
    np.testing.assert_array_equal(out.get(), expected.ravel())


def test_a_part_is_read_and_the_rest_is_zero(library):
    data = np.random.default_rng().integers(1, 255, (17, 16)).astype(np.uint8)
    out = library.buffer(np.zeros_like(data))
    library.launch("run_parts", library.buffer(data), out, block=17)
    np.testing.assert_array_equal(out.get(), np.where(np.arange(16) < np.arange(17)[:, None], data, 0))


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("tiles", [1, 2, 5])
def test_pipeline(library, order, order_name, tiles):
    order(order_name)
    data = np.random.default_rng().integers(-99, 99, (tiles, 64)).astype(np.float32)
    out = library.buffer(np.zeros(64, np.float32))
    library.launch("run_pipeline", library.buffer(data), tiles, out, block=64)
    np.testing.assert_array_equal(out.get(), np.roll(data.sum(0), -17))


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("kernel", ["no_wait", "waits_for_too_few"])
def test_a_missing_wait_gives_nan(emulated, order, order_name, kernel):
    order(order_name)
    out = emulated.buffer(np.zeros(64, np.float32))
    emulated.launch(f"run_{kernel}", emulated.buffer(np.ones(64, np.float32)), out, block=64)
    assert np.isnan(out.get()).all()


@pytest.mark.parametrize("kernel", ["misaligned", "misaligned_and_empty"])
def test_a_misaligned_copy_is_named(emulated, kernel):
    out = emulated.buffer(np.zeros(64, np.float32))
    with pytest.raises(cuda_api.CudaFailure, match=r"async_copies\.cu:\d+, .*multiples of 16") as caught:
        emulated.launch(f"run_{kernel}", emulated.buffer(np.ones(64, np.float32)), out, block=1)
    line = int(caught.value.detail.split("async_copies.cu:")[1].split(",")[0])
    assert line in emulated.lines(kernel)
