"""Pictures of findings: what threads did is recorded, and the conflicting accesses are in the picture."""

import numpy as np
import pytest

import cudakern as ck
from cudakern.insight.picture import CONFLICT, picture, picture_of
from cudakern.insight.trace import record

SOURCE = r"""
__global__ void reverse(const int *x, int *y) {
    __shared__ int tile[64], other[64];
    int t = threadIdx.x;
    other[t] = 0;
    tile[t] = x[t];
    __syncwarp();
    y[t] = tile[63 - t] + other[t];
}
__global__ void smooth(int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = i > 0 && i < 63 ? x[i - 1] + x[i + 1] : 0;
    __syncthreads();
    x[i] = sum;
}
__global__ void beyond(int *x) {
    if (threadIdx.x == 3) x[64] = 1;
}
"""


@pytest.fixture(scope="module")
def program():
    return ck.compile(SOURCE)


def numbers():
    return np.arange(64, dtype=np.int32)


def rings(figure):
    """(panel, x, y) of each red ring."""
    found = []
    for i, panel in enumerate(figure.axes):
        for marks in panel.collections:
            if len(marks.get_offsets()) and tuple(marks.get_edgecolor()[0][:3]) == pytest.approx(_rgb(CONFLICT)):
                found += [(i, *map(float, at)) for at in marks.get_offsets()]
    return found


def _rgb(color):
    return tuple(int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))


def test_a_trace_has_each_access_once_between_its_barriers(program):
    trace = record(program.reverse[1, 64], numbers(), numbers())
    tile = [one for one in trace.accesses if one.place.line in (6, 8) and one.shared]
    assert [(one.thread, one.writes) for one in tile if one.interval == 0] == [(t, True) for t in range(64)]
    assert all(one.interval == 1 for one in tile if one.place.line == 8)
    assert len([one for one in trace.accesses if one.place.line == 8]) == 3 * 64  # tile, other, y
    assert [*trace.barriers.values()] == ["__syncwarp() in line 7"]


def test_a_race_in_shared_memory(program):
    """Warp 0 reads after its __syncwarp() what warp 1 writes before its own."""
    (finding,) = ck.check(program.reverse[1, 64], numbers(), numbers())
    figure = picture_of(finding, program.reverse[1, 64], numbers(), numbers(), source=SOURCE)
    assert len(figure.axes) == 2
    assert rings(figure) == [(0, 32, 32), (1, 31, 32)]
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels[0] == "line 6 writes:  tile[t] = x[t];"
    assert labels[-1] == "nothing orders these two"


def test_a_race_between_blocks_crosses_a_barrier(program):
    (finding,) = ck.check(program.smooth[2, 32], numbers())
    figure = picture_of(finding, program.smooth[2, 32], numbers())
    assert rings(figure) == [(0, 32, 31), (1, 31, 31)]
    assert [panel.get_title(loc="left") for panel in figure.axes] == ["at first", "after the barrier in line 13"]


def test_one_access_has_one_ring(program):
    (finding,) = ck.check(program.beyond[1, 32], numbers())
    figure = picture_of(finding, program.beyond[1, 32], numbers())
    assert [at[2] for at in rings(figure)] == [64]


def test_what_was_not_recorded_is_an_error(program):
    (finding,) = ck.check(program.smooth[2, 32], numbers())
    with pytest.raises(ValueError, match="no such access of smooth in line 1"):
        picture(finding, record(program.reverse[1, 64], numbers(), numbers()))


def test_only_one_recording_at_a_time(program):
    with pytest.raises(RuntimeError, match="has not ended"):
        record(record, program.smooth[2, 32], numbers())
