"""cudakern.trace: its counters against Nsight Compute's on a GPU."""

import json
import pathlib

import numpy as np
import pytest

import counter_patterns
import cudakern as ck
from counter_reasons import PATTERNS
from cudakern.insight.variants import trace_variant

RECORD = pathlib.Path(__file__).parents[1] / "docs/results/gpu_counters.json"


def arrays():
    return ck.asarray(np.ones(counter_patterns.ELEMENTS, "f4")), ck.zeros(counter_patterns.ELEMENTS, "f4")


@pytest.fixture(scope="module")
def patterns():
    return ck.compile(counter_patterns.SOURCE, name="patterns")


@pytest.fixture(scope="module")
def measured():
    return json.loads(RECORD.read_text())


def counted(patterns, name):
    with ck.use_backend("emulator"):
        return ck.trace(patterns[name], *counter_patterns.shape(name), *arrays())


@pytest.mark.parametrize("name", counter_patterns.BODIES)
def test_the_figures_are_those_of_a_gpu(patterns, measured, name):
    expected = dict(zip(measured["metrics"], measured["kernels"][name], strict=True))
    metrics = counted(patterns, name).metrics
    differing = {key: (metrics[key], value) for key, value in expected.items() if metrics[key] != value}
    assert bool(differing) == (name in PATTERNS), differing


def test_the_same_figures_with_any_number_of_workers(patterns, emulator):
    figures = []
    for workers in (1, 2, 5):
        emulator.configure("workers", str(workers))
        try:
            figures.append(counted(patterns, "transposed_tile").to_dict()["metrics"])
        finally:
            emulator.configure("workers", "0")
    assert figures[0] == figures[1] == figures[2]


def launch(source, *arguments):
    program = ck.compile(source)
    (name,) = program.kernels
    with ck.use_backend("emulator"):
        return ck.trace(program[name], 1, 32, *arguments)


def lines(trace, what, space="global"):
    return [one for one in trace.instructions if (one.what, one.space) == (what, space)]


def test_constant_memory_is_not_global():
    trace = launch(
        """__constant__ float table[64];
        __device__ float others[64];
        __global__ void k(float *y) { int t = threadIdx.x; y[t] = table[t % 4] + others[t]; }""",
        np.zeros(32, "f4"),
    )
    assert {one.space: one.requests for one in trace.instructions if one.what == "load"} == {"constant": 1, "global": 1}
    assert trace.metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 4


def test_atomics_in_shared_memory():
    """Additions of 1 come together; operations that return a value, or others to several words, take turns."""
    text = "__global__ void k(int *y) {{ __shared__ int s[8]; int t = threadIdx.x; if (t < 8) s[t] = 0;" \
           " __syncthreads(); {0} __syncthreads(); if (t < 8) y[t] = s[t]; }}"  # fmt: skip
    passes = {}
    for line in ("atomicAdd(&s[t % 8], 1);", "atomicMax(&s[t % 8], t);", "y[t] = atomicAdd(&s[t % 8], 1);"):
        (atomic,) = lines(launch(text.format(line), np.zeros(32, "i4")), "atomic", "shared")
        passes[line] = atomic.wavefronts
    assert [*passes.values()] == [1, 4, 4]


# --- displays, errors ------------------------------------------------------------------------------------------------
def test_displays(patterns):
    trace = counted(patterns, "transposed_tile")
    assert "32" in str(trace)
    assert "63,488" in trace.table().text()
    text = "\n".join(map(str, trace.by_line().rows))
    assert "__syncthreads();" in text
    assert "<table" in trace._repr_html_()
    (load,) = lines(trace, "load", "shared")
    picture = trace.heatmap(load.line)
    assert "up to 32 words in a bank" in picture.axes[0].get_title()
    (store,) = lines(counted(patterns, "transposed"), "store")
    assert "32 sectors" in counted(patterns, "transposed").heatmap(store.line).axes[0].get_title()
    with pytest.raises(ValueError, match="line 1 accesses no memory that is counted; these do: "):
        trace.heatmap(1)


def test_launches_and_their_sum():
    trace = ck.trace(ck.sum_of_squares, np.ones(5000, "f4"), variant="tree_sequential")
    assert len(trace.launches) >= 1
    for name, value in trace.metrics.items():
        if name.endswith(".sum"):
            assert value == sum(launch.metrics[name] for launch in trace.launches)


@pytest.mark.parametrize("op, variant", [("saxpy", "naive"), ("bincount", "shared_atomics")])
def test_lines_of_the_package(op, variant):
    trace = trace_variant(op, variant)
    assert {pathlib.Path(one.file).name for one in trace.instructions} == {f"{variant}.cuh"}
    assert all(one.line > 0 for one in trace.instructions)


def test_errors():
    with pytest.raises(TypeError, match="trace takes a function and its arguments, not an object of type ndarray"):
        ck.trace(np.zeros(3))


def test_inside_a_check():
    """A trace pauses the check around it."""
    with ck.checking():
        trace = ck.trace(ck.sum_of_squares, np.ones(100, "f4"), variant="tree_sequential")
    assert trace.instructions
