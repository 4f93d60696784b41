"""Atomics on all their types, in global and in shared memory: no update is lost, and what threads get is consistent."""

from functools import reduce

import numpy as np
import pytest

import cuda_api
from cases import ORDERS

N = 1000
INTEGERS = ("int32", "uint32", "uint64")
FOLDS = {
    "Add": (lambda a, b: a + b, (*INTEGERS, "float32", "float64")),
    "Sub": (lambda a, b: a - b, ("int32", "uint32")),
    "Min": (min, (*INTEGERS, "int64")),
    "Max": (max, (*INTEGERS, "int64")),
    "And": (lambda a, b: a & b, INTEGERS),
    "Or": (lambda a, b: a | b, INTEGERS),
    "Xor": (lambda a, b: a ^ b, INTEGERS),
    "AddByCas": (lambda a, b: a + b, INTEGERS),
    "AddBlock": (lambda a, b: a + b, INTEGERS),
    "AddSystem": (lambda a, b: a + b, INTEGERS),
}
CASES = [(name, dtype) for name, (_, types) in FOLDS.items() for dtype in types]
each_place = pytest.mark.parametrize("shared", [0, 1], ids=["global", "shared"])


@pytest.fixture
def library(side):
    return cuda_api.load(side, "atomics")


def wrap(value, dtype):
    """A Python integer as that type holds it."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return value
    value %= 2 ** (8 * kind.itemsize)
    return value - 2 ** (8 * kind.itemsize) if kind.kind == "i" and value >= 2 ** (8 * kind.itemsize - 1) else value


def run(library, operation, dtype, shared, start, given):
    """Gives the cell's last value and what each thread got."""
    cell = library.buffer(np.array([start], dtype))
    got = library.buffer(np.zeros(len(given), dtype))
    blocks = 1 if shared or operation == "AddBlock" else 8
    threads = -(-len(given) // blocks) if not shared else 96
    library.launch(
        f"run_{operation}_{dtype}",
        shared,
        cell,
        library.buffer(given.astype(dtype)),
        got,
        len(given),
        grid=blocks,
        block=threads,
    )
    return cell.get()[0], got.get()


@each_place
@pytest.mark.parametrize("operation, dtype", CASES)
def test_no_update_is_lost(library, operation, dtype, shared):
    draw = np.random.default_rng(4)
    if np.dtype(dtype).kind == "f":
        given, start = draw.integers(-100, 100, N).astype(dtype), 7  # whole numbers: exact in every order
    else:
        limits = np.iinfo(dtype)
        given = draw.integers(limits.min, limits.max, N, dtype=dtype, endpoint=True)
        start = int(given[0])
    last, got = run(library, operation, dtype, shared, start, given)
    fold = FOLDS[operation][0]
    expected = wrap(reduce(fold, (x.item() for x in given), start), dtype)
    assert last == expected
    assert start in got  # somebody came first
    if operation in ("Add", "AddByCas", "AddBlock", "AddSystem", "Sub", "Xor"):
        # The values seen form a chain: what each thread left behind was seen by one other, or is the end.
        left = [wrap(fold(a.item(), b.item()), dtype) for a, b in zip(got, given, strict=True)]
        assert sorted(left) == sorted(
            [x.item() for x in got[got != start]] + [start] * (np.count_nonzero(got == start) - 1) + [last.item()]
        )


@each_place
@pytest.mark.parametrize("dtype", [*INTEGERS, "float32"])
def test_exchange(library, dtype, shared):
    given = np.arange(1, N + 1).astype(dtype)
    last, got = run(library, "Exch", dtype, shared, 0, given)
    assert sorted([*got.tolist(), last.item()]) == sorted([0, *given.tolist()])


@each_place
def test_increment_and_decrement_wrap(library, shared):
    limit = np.full(N, 6, np.uint32)
    last, got = run(library, "Inc", "uint32", shared, 0, limit)  # 0 1 2 3 4 5 6 0 1 ...
    assert last == N % 7
    assert np.array_equal(np.bincount(got, minlength=7), [len(range(i, N, 7)) for i in range(7)])
    last, got = run(library, "Dec", "uint32", shared, 0, limit)  # 0 6 5 4 ... 0 6
    assert last == -N % 7
    assert got.max() == 6
    last, _ = run(library, "Dec", "uint32", shared, 100, limit[:1])  # beyond the limit: set to it
    assert last == 6


@pytest.mark.parametrize("side", ["emulator"])
@pytest.mark.parametrize("order_name", ORDERS)
def test_orders_change_what_threads_get_but_not_the_end(library, order, order_name):
    order(order_name)
    last, got = run(library, "Add", "int32", 1, 0, np.ones(96, np.int32))
    assert last == 96
    assert sorted(got.tolist()) == list(range(96))
    forward = got.tolist() == list(range(96))
    assert forward == (order_name == "fixed")
