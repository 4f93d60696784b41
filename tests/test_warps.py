"""Warp collectives against a model of what CUDA's programming guide says, lane by lane."""

import ctypes

import numpy as np
import pytest

import cuda_api
from cases import ORDERS

LANES = np.arange(32)
WHOLE = [0xFFFFFFFF] * 32


def groups(*masks):
    """Each lane's own mask: lanes of disjoint groups; a lane in no group takes no part."""
    assert sum(masks) == int(np.bitwise_or.reduce(np.array(masks, np.uint64)))
    return [next((mask for mask in masks if mask >> lane & 1), 0) for lane in range(32)]


MASKS = {
    "whole": WHOLE,
    "halves": groups(0x0000FFFF, 0xFFFF0000),
    "even_and_odd": groups(0x55555555, 0xAAAAAAAA),
    "some": groups(0x0F0F00F0),
    "one_each": [1 << lane for lane in range(32)],
    "ragged": groups(0x00000007, 0x7FFFFFF8),  # lane 31 sleeps
}
TYPES = {
    "int": np.int32,
    "unsigned": np.uint32,
    "long": np.int64,
    "long_long": np.int64,
    "unsigned_long_long": np.uint64,
    "float": np.float32,
    "double": np.float64,
}
SHUFFLE, UP, DOWN, XOR = range(4)


@pytest.fixture
def library(side):
    return cuda_api.load(side, "warps")


def source_lane(kind, lane, argument, width):
    """The lane that a shuffle reads; PTX's rule for shfl.sync."""
    first, last = lane - lane % width, lane - lane % width + width - 1
    wanted = {SHUFFLE: first + argument % width, UP: lane - argument, DOWN: lane + argument, XOR: lane ^ argument}[kind]
    if kind == UP:
        return wanted if wanted >= first else lane
    return wanted if wanted <= last else lane


def values_of(dtype, count, seed):
    draw = np.random.default_rng(seed)
    raw = draw.integers(0, 2**63, count, dtype=np.int64)
    return raw.astype(dtype) if np.dtype(dtype).kind != "f" else draw.standard_normal(count).astype(dtype)


def shuffle(library, name, kind, masks, lanes, width, seed=0):
    """Runs two blocks of three warps; gives what came and what the model says."""
    masks, lanes = (np.tile(np.array(x, np.int64), 6) for x in (masks, lanes))
    given = values_of(TYPES[name], 192, seed)
    out = library.buffer(np.zeros_like(given))
    library.launch(
        f"run_shuffle_{name}",
        kind,
        library.buffer(masks.astype(np.uint32)),
        library.buffer(given),
        library.buffer(lanes.astype(np.int32)),
        width,
        out,
        grid=2,
        block=96,
    )
    expected = np.zeros_like(given)
    for at in np.flatnonzero(masks):
        first = at - at % 32
        expected[at] = given[first + source_lane(kind, at % 32, int(lanes[at]), width)]
    return out.get(), expected


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("kind", range(4), ids=["shuffle", "up", "down", "xor"])
@pytest.mark.parametrize("width", [32, 16, 8, 4, 2, 1])
def test_shuffles_of_a_whole_warp(library, name, kind, width):
    for argument in (0, 1, 3, 8, 16, 31):
        got, expected = shuffle(library, name, kind, WHOLE, [argument] * 32, width, argument)
        assert got.tobytes() == expected.tobytes()


@pytest.mark.parametrize("width", [32, 8])
def test_every_lane_may_read_another(library, width):
    """shfl and shfl_xor take an argument that differs from lane to lane; shfl wraps it around the width."""
    draw = np.random.default_rng(5)
    for seed in range(5):
        for kind in (SHUFFLE, XOR):
            got, expected = shuffle(library, "double", kind, WHOLE, draw.integers(0, 32, 32), width, seed)
            assert got.tobytes() == expected.tobytes()
    got, expected = shuffle(library, "int", SHUFFLE, WHOLE, draw.integers(-40, 80, 32), width)
    assert got.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    "masks, kind, argument, width",
    [
        ("halves", UP, 3, 16),
        ("halves", DOWN, 5, 16),
        ("halves", XOR, 8, 32),
        ("even_and_odd", XOR, 6, 32),
        ("even_and_odd", UP, 2, 2),
        ("one_each", SHUFFLE, 0, 1),
        ("one_each", UP, 4, 1),
        ("some", XOR, 1, 32),
        ("some", UP, 1, 4),
        ("some", DOWN, 2, 4),
    ],
)
def test_shuffles_among_some_lanes(library, masks, kind, argument, width):
    got, expected = shuffle(library, "int", kind, MASKS[masks], [argument] * 32, width)
    assert got.tobytes() == expected.tobytes()


def test_groups_read_their_own_first_lane(library):
    for masks in MASKS.values():
        first = [(mask & -mask).bit_length() - 1 if mask else 0 for mask in masks]
        got, expected = shuffle(library, "unsigned_long_long", SHUFFLE, masks, first, 32)
        assert got.tobytes() == expected.tobytes()


# --- votes, matches, reductions --------------------------------------------------------------------------------------
def vote_model(masks, given):
    """The 15 columns of `votes` in warps.cu."""
    out = np.zeros((len(given), 15), np.uint32)
    for at, mask in enumerate(masks):
        if not mask:
            continue
        first = at - at % 32
        lanes = [lane for lane in range(32) if mask >> lane & 1]
        values = {lane: int(given[first + lane]) for lane in lanes}
        bits = {lane: value % 2**32 for lane, value in values.items()}
        same = [lane for lane in lanes if values[lane] == values[at % 32]]
        all_same = len(set(values.values())) == 1
        out[at] = [
            x % 2**32
            for x in (
                all(values.values()),
                any(values.values()),
                sum(1 << lane for lane in lanes if values[lane]),
                sum(1 << lane for lane in same),
                mask if all_same else 0,
                all_same,
                sum(values.values()),
                min(values.values()),
                max(values.values()),
                sum(bits.values()),
                min(bits.values()),
                max(bits.values()),
                int(np.bitwise_and.reduce(np.array(list(bits.values()), np.uint64))),
                int(np.bitwise_or.reduce(np.array(list(bits.values()), np.uint64))),
                int(np.bitwise_xor.reduce(np.array(list(bits.values()), np.uint64))),
            )
        ]
    return out


@pytest.mark.parametrize("order_name", ORDERS[:4])
@pytest.mark.parametrize("masks", MASKS)
@pytest.mark.parametrize("values", ["zeros", "ones", "few", "wide"])
def test_votes_matches_and_reductions(library, order, order_name, masks, values):
    if library.side == "emulator":
        order(order_name)
    draw = np.random.default_rng(11)
    given = {
        "zeros": np.zeros(192),
        "ones": np.ones(192),
        "few": draw.integers(0, 3, 192),
        "wide": draw.integers(-(2**31), 2**31, 192),
    }[values].astype(np.int32)
    each = np.tile(np.array(MASKS[masks], np.uint32), 6)
    out = library.buffer(np.zeros((192, 15), np.uint32))
    library.launch("run_votes", library.buffer(each), library.buffer(given), out, grid=2, block=96)
    assert np.array_equal(out.get(), vote_model(each.tolist(), given))


@pytest.mark.parametrize("order_name", ORDERS)
def test_a_warps_own_barrier(library, order, order_name):
    if library.side == "emulator":
        order(order_name)
    out = library.buffer(np.zeros(128, np.int32))
    library.launch("run_warp_barrier", out, 7, block=128)
    t = np.arange(128)
    assert np.array_equal(out.get(), t - t % 32 + (t + 7) % 32)


@pytest.mark.parametrize("threads", [1, 31, 32, 40, 64])
def test_the_last_warp_may_be_short(library, threads):
    out = library.buffer(np.zeros(threads, np.uint32))
    library.launch("run_active", out, block=threads)
    expected = [(1 << min(32, threads - t + t % 32)) - 1 for t in range(threads)]
    assert out.get().tolist() == expected


def test_lanes_leave_a_loop_of_votes(library):
    out = library.buffer(np.zeros(32, np.uint32))
    library.launch("run_shrinking_votes", out, block=32)
    votes = [sum(lane & 1 for lane in range(i, 32)) for i in range(32)]
    assert out.get().tolist() == [sum(votes[: lane + 1]) for lane in range(32)]


def test_negative_zero_and_nan_travel_unchanged(library):
    given = np.array([-0.0, np.nan, np.inf, 5e-324] * 8)
    out = library.buffer(np.zeros(32))
    library.launch(
        "run_shuffle_double",
        XOR,
        library.buffer(np.array(WHOLE, np.uint32)),
        library.buffer(given),
        library.buffer(np.full(32, 1, np.int32)),
        ctypes.c_int(32),
        out,
        block=32,
    )
    assert out.get().tobytes() == given[LANES ^ 1].tobytes()
