"""Pictures of findings: what threads did is recorded, and the conflicting accesses are in the picture."""

import numpy as np
import pytest

import cudakern as ck
from cudakern.insight.picture import CONFLICT
from cudakern.insight.trace import record

pytestmark = pytest.mark.usefixtures("emulator")

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
    with ck.checking():  # for which alone it is compiled
        return ck.compile(SOURCE)


def numbers():
    return np.arange(64, dtype=np.int32)


def panels(figure):
    return [panel for part in figure.subfigs for panel in part.axes]


def rings(figure):
    """(panel, x, y) of each red ring."""
    found = []
    for i, panel in enumerate(panels(figure)):
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
    figure = finding.plot()
    assert len(panels(figure)) == 2
    assert rings(figure) == [(0, 32, 32), (1, 31, 32)]
    labels = [text.get_text() for text in figure.subfigs[0].legends[0].get_texts()]
    assert labels[0] == "line 6 writes:  tile[t] = x[t];"
    assert labels[-1] == "nothing orders these two"


def test_a_race_between_blocks_crosses_a_barrier(program):
    (finding,) = ck.check(program.smooth[2, 32], numbers())
    figure = finding.plot()
    assert rings(figure) == [(0, 32, 31), (1, 31, 31)]
    assert [panel.get_title(loc="left") for panel in panels(figure)] == ["at first", "after the barrier in line 13"]


def test_a_picture_of_an_access_beyond_the_end_shows_where_the_array_ends(program):
    (finding,) = ck.check(program.beyond[1, 32], numbers())
    figure = finding.plot()
    assert [at[2] for at in rings(figure)] == [64]
    assert [text.get_text() for text in figure.subfigs[0].legends[0].get_texts()][-1] == "not in x"


def test_the_access_is_the_one_of_the_finding():
    """Not the first of that thread in that line."""
    source = "__global__ void f(int *x, int n) { for (int i = 0; i < n; ++i) x[i] = i; }"
    (finding,) = ck.check(ck.compile(source).f[1, 1], np.zeros(8, "i4"), 9)
    assert rings(finding.plot()) == [(0, 0, 8)]
    source = "__global__ void f(int *x, int n) { __shared__ int s[8]; int *p = s; while (n--) p[n] = n; x[0] = s[1]; }"
    (finding,) = ck.check(ck.compile(source).f[1, 1], np.zeros(8, "i4"), 10)
    assert [at[2] for at in rings(finding.plot())] == [9]


def test_the_call_runs_again_as_it_was_and_leaves_the_arrays(program):
    """Once for all of its findings. Views that overlap still do."""
    source = """
__global__ void move(int *x, const int *y) {
    if (x[0] == 0) x[threadIdx.x] = y[threadIdx.x];
    x[63] = 7;
}"""
    whole = ck.asarray(np.zeros(65, "i4"))
    found = ck.check(ck.compile(source).move[1, 64], whole, whole[1:])
    assert {one.kind for one in found} == {"race"}
    before = whole.get()
    assert before[63] == 7
    whole[0] = 5  # the kernel would not come to its race
    figure = found.plot()
    assert len(figure.subfigs) == len(found)
    assert whole.get().tolist() == [5, *before[1:]]


def test_arrays_that_cannot_be_written_stay_as_they_are():
    host = np.arange(4, dtype="i4")
    host.flags.writeable = False
    launch = ck.compile("__global__ void f(const int *x, int *y) { y[0] = x[threadIdx.x]; }").f[1, 4]
    for x, y in ((host, np.zeros(1, "i4")), (ck.from_dlpack(host), ck.zeros(1, "i4"))):
        assert len(rings(ck.check(launch, x, y).plot())) == 2


def test_what_has_no_picture_is_an_error(program):
    with pytest.raises(ValueError, match="nothing to plot: nothing was found"):
        ck.check(program.smooth[1, 32], numbers()).plot()
    source = "__global__ void f(int *x) { x[0] = __ballot_sync(1, 1); }"
    found = ck.check(ck.compile(source).f[1, 32], numbers())
    assert found
    with pytest.raises(ValueError, match="nothing to plot: this finding of kind 'warp' is not"):
        found[0].plot()


def test_what_does_not_happen_again_is_an_error(program):
    launches = iter([program.smooth[2, 32], program.smooth[2, 32], program.smooth[1, 32]])
    found = ck.check(lambda: next(launches)(numbers()))
    found[0].plot()
    with pytest.raises(ValueError, match=r"smooth did no such thing in line 1\d, or too late"):
        found[0].plot()


def test_a_picture_is_saved_and_displayed(program, tmp_path):
    figure = ck.check(program.smooth[2, 32], numbers()).plot(str(tmp_path / "race.png"))
    assert (tmp_path / "race.png").read_bytes()[:4] == figure._repr_png_()[:4] == b"\x89PNG"


def test_only_one_recording_at_a_time(program):
    with pytest.raises(RuntimeError, match="has not ended"):
        record(record, program.smooth[2, 32], numbers())
