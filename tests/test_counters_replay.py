"""cudakern.trace: the requests of lanes that part and meet again, against a reference that executes a warp's lanes in
step, under masks, as a GPU does: those that leave a loop wait behind it for the others."""

import numpy as np
import pytest

import cudakern as ck

LANES, SECTOR = 32, 32
ROWS, N = 300, 4096

KERNELS = """
__global__ void sparse_product(const int *begin, const int *column, const float *value, float *y, int rows) {
    for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x) {
        const int end = begin[row + 1];
        float sum = 0;
        for (int k = begin[row]; k < end; ++k)
            sum += value[k] *
                   value[column[k]];
        y[row] = sum;
    }
}
__global__ void while_in_while(const int *begin, const int *column, const float *value, float *y, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, rounds = column[i] % 7;
    float sum = 0;
    while (rounds--) {
        int steps = column[i] % 9;
        while (steps--)
            sum += value[i++];
        y[i % rows] = sum;
    }
}
__global__ void goes_on(const int *begin, const int *column, const float *value, float *y, int rows) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 10; ++k) {
        const int m = column[i + k];
        if (m % 3 == 0) continue;
        for (int j = 0; j < m % 5; ++j)
            sum += value[32 * j + i];
        y[i + k] = sum;
    }
}
__global__ void breaks(const int *begin, const int *column, const float *value, float *y, int rows) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 10; ++k) {
        int j = 0;
        for (; j < 20; ++j)
            if (value[i + 32 * j + k] > 0.8f) break;
        y[i + k] = j;
        if (column[i + k] % 11 == 0) break;
    }
}
"""
NAMES = ["sparse_product", "while_in_while", "goes_on", "breaks"]


def inputs():
    random = np.random.default_rng(5)
    lengths = random.integers(0, 12, ROWS)
    begin = np.concatenate([[0], np.cumsum(lengths)]).astype("i4")
    return begin, random.integers(0, N // 2, N).astype("i4"), random.random(N, "f4")


class Warp:
    """Of loads, and of stores to y: requests, sectors."""

    def __init__(self, threads, counts):
        self.threads, self.counts = threads, counts

    def access(self, array, index, mask):
        """Indices of 4-byte elements, as far as the lanes take part."""
        if mask.any():
            count = self.counts.setdefault("store" if array == "y" else "load", [0, 0])
            count[0] += 1
            count[1] += len(set(index[mask] * 4 // SECTOR))


def sparse_product(warp, begin, column, value, threads):
    row = warp.threads.copy()
    while (mask := row < ROWS).any():
        at = np.where(mask, row, 0)
        warp.access("begin", at + 1, mask)
        warp.access("begin", at, mask)
        k, end = begin[at], begin[at + 1]
        while (inner := mask & (k < end)).any():
            some = np.where(inner, k, 0)
            for array, index in (("value", some), ("column", some), ("value", column[some])):
                warp.access(array, index, inner)
            k = k + inner
        warp.access("y", at, mask)
        row += threads


def while_in_while(warp, begin, column, value, threads):
    i = warp.threads.copy()
    warp.access("column", i, i >= 0)
    rounds = column[i] % 7
    while (mask := rounds > 0).any():
        warp.access("column", i, mask)
        steps = np.where(mask, column[i] % 9, 0)
        while (inner := steps > 0).any():
            warp.access("value", i, inner)
            i, steps = i + inner, steps - inner
        warp.access("y", i % ROWS, mask)
        rounds = rounds - mask


def goes_on(warp, begin, column, value, threads):
    i = warp.threads
    for k in range(10):
        warp.access("column", i + k, i >= 0)
        mask, j = column[i + k] % 3 != 0, 0
        while (inner := mask & (column[i + k] % 5 > j)).any():
            warp.access("value", 32 * j + i, inner)
            j += 1
        warp.access("y", i + k, mask)


def breaks(warp, begin, column, value, threads):
    i = warp.threads
    mask = i >= 0
    for k in range(10):
        inner = mask.copy()
        for j in range(20):
            warp.access("value", i + 32 * j + k, inner)
            inner &= value[i + 32 * j + k] <= np.float32(0.8)
        warp.access("y", i + k, mask)
        warp.access("column", i + k, mask)
        mask = mask & (column[i + k] % 11 != 0)


@pytest.mark.parametrize("name", NAMES)
def test_lanes_meet_again_behind_loops(name):
    begin, column, value = inputs()
    expected: dict[str, list[int]] = {}
    for first in range(0, 64, LANES):
        globals()[name](Warp(np.arange(first, first + LANES), expected), begin, column, value, 64)
    program = ck.compile(KERNELS)
    with ck.use_backend("emulator"):
        metrics = ck.trace(program[name], 1, 64, begin, column, value, np.zeros(N, "f4"), ROWS).metrics
    found = {
        what: [metrics[f"l1tex__t_{figure}_pipe_lsu_mem_global_op_{op}.sum"] for figure in ("requests", "sectors")]
        for what, op in (("load", "ld"), ("store", "st"))
    }
    assert found == expected
