"""Launches in several streams: the checker's verdict against a graph of what comes before what."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import cudakern as ck

SOURCE = """
__global__ void reads(unsigned long long x, int *y) {
    *y += *reinterpret_cast<const int *>(x);
}

__global__ void writes(unsigned long long x, int *y) {
    *reinterpret_cast<int *>(x) = *y;
}
"""
STREAMS, EVENTS, PLACES = range(3), range(2), range(2)  # stream 0 is the default one

uses = st.tuples(st.sampled_from(["reads", "writes"]), st.sampled_from(STREAMS), st.sampled_from(PLACES))
marks = st.tuples(st.sampled_from(["record", "wait"]), st.sampled_from(STREAMS), st.sampled_from(EVENTS))
waits = st.tuples(st.sampled_from(["stream", "event", "host"]), st.sampled_from(STREAMS), st.just(0))
programs = st.lists(st.one_of(uses, uses, marks, waits), min_size=2, max_size=12)


@pytest.fixture(scope="module")
def program():
    return ck.compile(SOURCE)


def run(program, steps):
    """Runs the steps; each stream has an array of its own, so that nothing but the steps orders them."""
    streams = [None, ck.Stream(), ck.Stream()]
    own = [ck.zeros(1, "i4", stream=stream) for stream in streams]
    places = [ck.zeros(1, "i4") for _ in PLACES]
    ck.synchronize()
    at = [np.from_dlpack(x).ctypes.data for x in places]
    events = {}
    for what, stream, which in steps:
        if what in ("reads", "writes"):
            program[what](1, 1, at[which], own[stream], stream=streams[stream])
        elif what == "record":
            events[which] = ck.Event()
            events[which].record(streams[stream])
        elif what == "wait" and stream and which in events:
            streams[stream].wait(events[which])
        elif what == "event" and which in events:
            events[which].synchronize()
        elif what == "host":
            ck.synchronize()
        elif what == "stream" and stream:
            streams[stream].synchronize()
    ck.synchronize()


def races(steps):
    """The pairs of steps that use one place, one of them writing, where no path leads from one to the other."""
    before = {}  # step: those directly before it
    last = dict.fromkeys(STREAMS)  # the stream's last step
    marked = {}  # event: the step that it stands for
    host = []  # steps that the host has waited for
    for i, (what, stream, which) in enumerate(steps):
        if what in ("reads", "writes"):
            before[i] = [*host, last[stream]]
            last[stream] = i
        elif what == "record":
            before[i] = [last[stream], *host]
            marked[which] = i
        elif what == "wait" and stream and which in marked:
            before[i] = [last[stream], marked[which]]
            last[stream] = i
        elif what == "event" and which in marked:
            host.append(marked[which])
        elif what == "host":
            host += last.values()
        elif what == "stream" and stream:
            host.append(last[stream])

    def comes_before(first, then):
        return first in before[then] or any(comes_before(first, one) for one in before[then] if one is not None)

    kernels = [i for i in before if steps[i][0] in ("reads", "writes")]
    return [
        (i, j)
        for i, j in itertools.combinations(kernels, 2)
        if steps[i][2] == steps[j][2] and "writes" in (steps[i][0], steps[j][0]) and not comes_before(i, j)
    ]


@given(programs)
@example([("writes", 1, 0), ("reads", 2, 0)])
@example([("writes", 1, 0), ("record", 1, 0), ("wait", 2, 0), ("reads", 2, 0)])
@example([("record", 1, 0), ("writes", 1, 0), ("wait", 2, 0), ("reads", 2, 0)])
@example([("writes", 1, 0), ("stream", 1, 0), ("reads", 2, 0), ("writes", 0, 0)])
def test_the_verdict_is_that_of_the_graph(program, steps):
    found = ck.check(run, program, steps)
    assert {one.kind for one in found} <= {"streams"}, str(found)
    assert bool(found) == bool(races(steps)), (races(steps), str(found))
