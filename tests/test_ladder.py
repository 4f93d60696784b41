"""Ladders: of random input, with parameters, and with the input of the caller."""

import json
import re

import numpy as np
import pytest

import cudakern
from cases import BACKENDS, HAS_BFLOAT16, json_of
from cudakern.arrays.dtypes import numpy_dtype
from cudakern.calls import table as table_module
from cudakern.measure import steps as steps_module
from cudakern.measure.recorded import FILE
from cudakern.operations.registry import names, operation, widened


# --- of random input --------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module", params=BACKENDS)
def small_ladder(request):
    with cudakern.use_backend(request.param):
        return cudakern.ladder("matmul", n=48, repeat=1, progress=False)


def test_ladder_has_every_step(small_ladder):
    names = [variant.name for variant in cudakern.variants("matmul")]
    assert [step.variant.name for step in small_ladder] == names
    assert len(small_ladder) == len(names)
    assert not small_ladder.failed
    assert small_ladder["tiled"] is small_ladder[names.index("tiled")]
    for step in small_ladder:
        if "float32" not in step.variant.types:
            assert re.search("^not for this input: takes .*, not float32$", step.note)
            continue
        assert step.profile is not None, step.note
        assert step.error.max < (2.0**-9 if step.variant.cuts_inputs else 1e-5)
        assert step.note == ""
    first = next(step for step in small_ladder if not step.variant.on_host)
    if small_ladder.backend.emulated:
        assert all(step.speedup is None for step in small_ladder)
    else:
        assert first.speedup == pytest.approx(1)


def test_ladder_shows_itself(small_ladder):
    emulated = small_ladder.backend.emulated
    for text in (repr(small_ladder), small_ladder._repr_html_()):
        assert all(step.variant.name in text for step in small_ladder if step.profile or step.failed)
        assert ("There is no GPU here." in " ".join(text.split())) == emulated
    plain = json_of(small_ladder.to_dict())
    assert plain["operation"] == "matmul"
    assert plain["backend"]["name"] == small_ladder.backend.name
    assert [step["variant"] for step in plain["steps"]] == [step.variant.name for step in small_ladder]
    clocks = {step["profile"]["clock"] for step in plain["steps"] if step["profile"]}
    assert clocks == {"host", "emulated" if emulated else "gpu"}


def test_without_a_gpu_a_ladder_shows_what_was_recorded(small_ladder):
    """Times and speed-ups of another chip, marked as such; of this place, what is exact."""
    record = json.loads(FILE.read_text())["ladders"]["matmul float32"]
    text = " ".join(repr(small_ladder).split())
    if not small_ladder.backend.emulated:
        assert small_ladder.recorded is None
        assert all(step.recorded is None for step in small_ladder)
        return
    assert {step.variant.name: step.recorded.kernel_ns for step in small_ladder if step.recorded} == {
        name: step["kernel_ns"] for name, step in record["steps"].items()
    }
    assert f"recorded on an {record['chip']} for 4,096 x 4,096 float32 on {record['date']}" in text
    tiled = small_ladder["tiled"]
    launch = tiled.kernels[0]  # for the recorded size, as the time
    assert (launch.launches, launch.grid, launch.block) == (1, (256, 256, 1), (16, 16, 1))
    assert launch.shared_bytes == 2 * 16 * 16 * 4
    row = next(row for row in small_ladder.table().rows if row[0] == "tiled")
    assert row[2:6] == ["1", "256 x 256", "16 x 16", "2,048 B"]
    assert all(step.speedup is None and step.recorded.speedup is None for step in small_ladder if step.variant.on_host)
    assert record["changed"] == ("the kernels have changed since" in text)
    assert "emulated\nkernel" not in small_ladder.table().columns
    assert small_ladder.table(emulated=True).columns[-1] == "emulated\nkernel"
    assert "times: H200, 4,096 x 4,096 float32" in text
    assert "numpy ran on that machine's CPU" in text
    with cudakern.use_backend("emulator"):
        own = cudakern.ladder("coalescing", n=100)
        multi_block = cudakern.ladder("sum_of_squares", n=9, variants=["multi_block"])
        other_tile = cudakern.ladder("matmul", n=9, variants=["naive", "tiled"], tile=8)
        other_type = cudakern.ladder("sum_of_squares", n=9, dtype="float64", variants=["vectorized"])
        same_radius, other_radius = (cudakern.ladder("stencil_1d", n=9, radius=radius) for radius in (3, 4))
    assert "Speed-ups are relative to single_thread." in multi_block.table().note  # which is not one of its steps
    assert [bool(step.recorded) for step in other_tile] == [True, False]  # recorded with the default, 16
    assert all(step.recorded for step in same_radius)
    for ladder in (other_radius, other_type):
        assert not any(step.recorded for step in ladder)
        assert "times:" not in ladder.title
        assert not any("H200" in column for column in ladder.table().columns)
    with cudakern.use_backend("emulator"):  # not of the kernel that adds the blocks' sums, or that sorts the samples
        rows = [
            *multi_block.table().rows,
            *cudakern.ladder("sort", n=9, variants=["sample_sort"]).table().rows,
        ]
        bins = cudakern.ladder("bincount", n=500, variants=["shared_atomics"])
    assert [row[2:5] for row in rows] == [["2", "32", "256"], ["6", "512", "512"]]
    assert bins[0].kernels[0].shared_bytes >= 50 * 4  # for as many bins as the values need
    assert [kernel.grid for kernel in other_radius["global_memory"].kernels] == [(1, 1, 1)]  # no times: of this input
    assert own.recorded.steps == {}
    assert "no recorded times" in " ".join(repr(own).split())
    with pytest.raises(ValueError, match="coalescing has no recorded times"):
        own.plot()


def test_a_brief_table_is_the_main_path(small_ladder):
    """At most ten rows, each faster than all before, from the first kernel to the fastest; the steps are all there."""
    table, every = small_ladder.table(brief=True), small_ladder.table()
    shown = [row[0] for row in table.rows]
    assert len(shown) <= 10 < len(every.rows)
    assert shown[:2] == ["numpy", "naive"]
    assert [row for row in every.rows if row[0] in shown] == list(table.rows)
    steps = [small_ladder[name] for name in shown[1:]]
    times = [(step.recorded or step.profile).kernel_ns for step in steps]
    assert times == sorted(times, reverse=True)
    assert not any(step.variant.cuts_inputs for step in steps)
    assert f" {len(every.rows) - len(shown)} more rows: ladder matmul --all" in table.note
    assert len(table.note) < 120
    if small_ladder.backend.emulated:
        assert {"tiled", "register_tile", "vectorized", "warp_tiles", "split_fp16"} <= set(shown)
        fastest = min(
            step.recorded.kernel_ns for step in small_ladder if step.recorded and not step.variant.cuts_inputs
        )
        assert times[-1] < 1.05 * fastest


def test_what_a_brief_table_must_not_leave_out(monkeypatch):
    """NumPy's row, a step that failed, and why; a short ladder, and one without times, is whole."""
    right = steps_module.errors_of

    def fails(*arguments):
        if len(seen) == 3:
            seen.append(None)
            raise cudakern.CudaError("cudaErrorLaunchFailure (719): words", "cudaErrorLaunchFailure", 719)
        seen.append(None)
        return right(*arguments)

    seen = []
    monkeypatch.setattr("cudakern.measure.ladder.errors_of", fails)
    with cudakern.use_backend("emulator"):
        broken = cudakern.ladder("sum_of_squares", n=9, progress=False).table(brief=True)
        short = cudakern.ladder("saxpy", n=9, progress=False)
        untimed = cudakern.ladder("sum_of_squares", n=9, dtype="uint8", progress=False)
        elsewhere = cudakern.ladder("sort", n=9, progress=False).table(brief=True)
    names = [variant.name for variant in cudakern.variants("sum_of_squares")]
    assert names[3] in [row[0] for row in broken.rows]
    assert len(broken.rows) <= 10
    assert f"{names[3]}: failed: cudaErrorLaunchFailure" in broken.note
    for ladder in (short, untimed):
        assert ladder.table(brief=True).rows == ladder.table().rows
        assert "more rows" not in ladder.table(brief=True).note
    assert "There is no GPU here, and sum_of_squares has no recorded times" in untimed.table(brief=True).note
    assert "cub: not here: it needs a GPU" in elsewhere.note


def test_the_emulators_default_size_is_small():
    """matmul takes more than a minute there at a GPU's default, 1000. Recorded times are those of the recorded size."""
    with cudakern.use_backend("emulator"):
        steps = cudakern.ladder("matmul", variants=["numpy", "warp_tiles"])
    assert steps.shapes == ((256, 256),) * 2
    assert steps.recorded.shapes == ((4096, 4096),) * 2
    assert "matmul: 256 x 256 float32; Emulated NVIDIA H200; times: H200, 4,096 x 4,096" in steps.title


@pytest.mark.parametrize(
    "dtype, first, variant, hidden",
    [
        ("float16", "tensor_cores", "wgmma_tiles", "kahan"),
        ("float64", "tensor_cores_double", "tensor_cores_double", "vectorized"),
    ],
)
def test_recorded_times_of_other_types(dtype, first, variant, hidden):
    """matmul has recorded times for further types; variants that do not take a type are a note, not rows."""
    with cudakern.use_backend("emulator"):
        steps = cudakern.ladder("matmul", n=16, dtype=dtype, variants=["numpy", "naive", variant, hidden])
        alone = cudakern.ladder("matmul", n=16, dtype=dtype, variants=[hidden])
    assert steps[variant].recorded.kernel_ns > 0
    assert steps.recorded.shapes == ((4096, 4096),) * 2
    assert [row[0] for row in steps.table().rows] == ["numpy", "naive", variant]
    assert f"Speed-ups are relative to {first}." in steps.table().note
    assert "numpy ran on" not in steps.table().note  # NumPy's products of these types were not recorded
    assert "1 more variant takes other types: ladder('matmul', dtype=...), with 'float32'" in steps.table().note
    assert [row[0] for row in alone.table().rows] == [hidden]  # nothing else to show


def test_ladder_plots(small_ladder, tmp_path):
    path = tmp_path / "ladder.png"
    figure = small_ladder.plot(str(path))
    assert path.read_bytes().startswith(b"\x89PNG")
    words = [text.get_text() for axes in figure.axes for text in [axes.title, *axes.get_yticklabels()]]
    assert "tiled" in words
    assert ("recorded on an NVIDIA H200" in figure.get_suptitle()) == small_ladder.backend.emulated


def test_ladder_of_sums(backend, capsys):
    steps = cudakern.ladder(
        "sum_of_squares", n=3000, dtype="float64", variants=["coalesced", "atomic", "numpy"], repeat=1, progress=True
    )
    assert [step.variant.name for step in steps] == ["coalesced", "atomic", "numpy"]
    assert steps.dtype == "float64"
    assert steps.shapes == ((3000,),)
    assert "atomic" in capsys.readouterr().err  # progress says which variant runs
    exact = cudakern.ladder("sum_of_squares", n=100, variants=["coalesced"], repeat=1)
    assert exact.dtype == "int32"
    assert exact[0].error == (0, 0)
    assert "exact" in repr(exact)


def test_ladder_takes_shapes_and_refuses_nonsense(backend):
    steps = cudakern.ladder("matmul", shape=(3, 4, 5), variants=["naive"], repeat=1)
    assert steps.shapes == ((3, 4), (4, 5))
    with pytest.raises(ValueError, match="not both"):
        cudakern.ladder("matmul", n=3, shape=(3, 4, 5))
    for wrong, words in (
        ({"n": -1}, "n must be 0 or more, not -1"),
        ({"shape": (3, -4, 5)}, "-4"),
        ({"shape": (3, 4)}, r"shape= \(m, k and n .*, not \(3, 4\)"),
    ):
        with pytest.raises(ValueError, match=words):
            cudakern.ladder("matmul", **wrong)
    with pytest.raises(TypeError, match="support .*float32.*complex64.*not str"):
        cudakern.ladder("matmul", n=3, dtype="U3")
    with pytest.raises(TypeError, match="support .*float32.*not complex64"):
        cudakern.ladder("sum_of_squares", n=3, dtype="complex64")


@pytest.mark.parametrize("dtype", ["bool", "uint8", "float16", "complex64"])
def test_ladders_of_types_that_some_variants_have(backend, dtype):
    steps = cudakern.ladder("matmul", shape=(17, 9, 20), dtype=dtype, repeat=1)
    for step in steps:
        if dtype in step.variant.types:
            allowed = {"float16": 2**-9, "complex64": 1e-5}.get(dtype, 0)
            assert step.error.max <= allowed
        else:
            assert step.note.startswith("not for this input: takes ")
    assert {step.variant.name for step in steps if step.profile} >= {"naive", "tiled", "numpy"}


def test_a_ladder_goes_on_after_a_step_that_fails(backend, monkeypatch):
    from cudakern.calls import execute

    right = execute.execute

    def fails(run):
        if run.variant.name == "coalesced":
            raise cudakern.CudaError("cudaErrorLaunchFailure (719): words", "cudaErrorLaunchFailure", 719)
        right(run)

    monkeypatch.setattr(execute, "execute", fails)
    steps = cudakern.ladder("sum_of_squares", n=100, variants=["coalesced", "atomic"], repeat=1, progress=False)
    assert steps.failed
    assert steps[0].profile is None
    assert "cudaErrorLaunchFailure" in steps[0].note
    assert steps[1].profile is not None
    assert "coalesced: failed: cudaErrorLaunchFailure" in " ".join(repr(steps).split())


def test_a_step_that_a_ladder_does_not_have():
    steps = cudakern.ladder("sum_of_squares", n=10, variants=["coalesced"])
    assert steps["coalesced"] is steps[0]
    with pytest.raises(KeyError, match="coalesced"):
        steps["chunked"]


# --- with parameters, and with the caller's input ---------------------------------------------------------------------
def test_ladder_with_parameters(backend):
    """Parameters go to the variants that have them; those that change the result go to all and to the reference."""
    steps = cudakern.ladder("sort", n=300, lists=8, variants=["merge_serial", "sample_sort"], repeat=1)
    serial, sampled = (step.profile.parameters for step in steps)
    assert serial["lists"] == 8
    assert "lists" not in sampled
    assert all(step.error == (0, 0) for step in steps)
    assert steps.parameters == {"lists": 8} == steps.to_dict()["parameters"]
    assert ", lists=8; " in steps.title
    for radius in (0, 9):
        steps = cudakern.ladder("stencil_1d", n=300, radius=radius, repeat=1)
        assert {step.profile.parameters["radius"] for step in steps if not step.variant.on_host} == {radius}
        assert all(step.error.max < 1e-6 for step in steps)
    steps = cudakern.ladder("lookup_2d", n=50, mode="border", variants=["numpy", "global_memory"], repeat=1)
    assert all(step.error.max < 1e-6 for step in steps)
    steps = cudakern.ladder("sort", n=50, lists=np.int64(8), variants=["merge_serial"], repeat=1)
    assert json.loads(json.dumps(steps.to_dict()))["parameters"] == {"lists": 8}


def test_a_step_names_the_machine_of_its_recorded_time():
    with cudakern.use_backend("emulator"):
        steps = cudakern.ladder("sort", n=9, variants=["numpy", "sample_sort"])
    assert "recorded on a CPU" in repr(steps["numpy"])
    assert "recorded on a GPU" in repr(steps["sample_sort"])


def test_a_value_that_some_variants_refuse_is_their_steps_matter(monkeypatch):
    """A value that some variants accept is passed on; the steps of the others have a note."""
    find = table_module.Variant.values

    def refuse(self, arguments):
        if self.name == "tiled" and arguments.get("tile") == 8:
            raise ValueError("tile=8 is nothing for tiled")
        return find(self, arguments)

    monkeypatch.setattr(table_module.Variant, "values", refuse)
    with cudakern.use_backend("emulator"):
        steps = cudakern.ladder("matmul", n=5, tile=8, variants=["tiled", "tiled_padded"], repeat=1)
    assert steps["tiled"].note == "not for this input: tile=8 is nothing for tiled"
    assert steps["tiled_padded"].profile.parameters["tile"] == 8


@pytest.mark.parametrize("op", names())
def test_what_changes_the_result_changes_it_for_all_variants(op):
    """Parameters of `own`, with a value other than the default, for every variant that runs here, including NumPy's."""
    what = operation(op)
    for name in what.own:
        having = [p for variant in cudakern.variants(op) for p in variant.parameters if p.name == name]
        common = set.intersection(*(set(candidates(parameter)) for parameter in having))
        value = sorted(common - {usual(having[0])})[0]
        with cudakern.use_backend("emulator"):
            for arguments in ({"shape": what.ragged[-1]}, {"inputs": list(example_inputs(what))}):
                steps = cudakern.ladder(op, **arguments, **{name: value}, repeat=1, warmup=0)
                assert not [step.note for step in steps if step.note and not step.note.startswith("not here")]
                assert all(step.error is None or step.error.max < 0.1 for step in steps), (name, value)
                assert steps["numpy"].profile is not None


def example_inputs(what):
    return what.make(what.ragged[-1], numpy_dtype(what.default_dtype), 5)


def candidates(parameter):
    """Values that a parameter allows, as callers write them."""
    return parameter.words or parameter.choices or range(parameter.low, parameter.high + 1, parameter.step)


def usual(parameter):
    return parameter.words[parameter.default] if parameter.words else parameter.default


@pytest.mark.parametrize(
    "op, arguments, error, words",
    [
        ("sort", {"list": 4}, TypeError, "variants of sort have no parameter 'list'; they have lists=, memory="),
        ("sort", {"lists": 0}, ValueError, "`lists`.* must be .*, not 0"),
        (
            "sort",
            {"lists": 4, "variants": ["sample_sort"]},
            TypeError,
            r"none of the variants \(sample_sort\) has a parameter lists=; these have it: radix_lists, ",
        ),
        ("stencil_1d", {"radius": -1}, ValueError, "`radius`.* must be 0 to 1024, not -1"),
        ("stencil_1d", {"radius": -1, "variants": ["numpy"]}, ValueError, "`radius`.* must be 0 to 1024, not -1"),
        ("lookup_2d", {"mode": "round"}, ValueError, "round"),
        ("grayscale", {"radius": 1}, TypeError, "they have threads="),
    ],
)
def test_parameters_that_a_ladder_refuses(op, arguments, error, words):
    with pytest.raises(error, match=words):
        cudakern.ladder(op, n=10, **arguments)


@pytest.mark.parametrize(
    "op", [pytest.param(op, marks=pytest.mark.full) if i % 2 else op for i, op in enumerate(names())]
)
def test_ladder_of_ones_own_input(op, backend):
    what = operation(op)
    inputs = example_inputs(what)
    kept = [x.copy() for x in inputs]
    arguments = [x.item() if x.ndim == 0 else x[::-1].copy()[::-1] for x in inputs]  # strided
    steps = cudakern.ladder(op, inputs=arguments, repeat=1, warmup=0)
    ran = [step for step in steps if step.profile]
    assert ran
    for step in steps:
        assert step.profile or step.note.startswith(
            "not here: " if what.default_dtype in step.variant.types else "not for this input: takes"
        )
    for step in ran:
        result = what.call(*inputs, variant=step.variant.name)
        exact = what.reference(*widened(inputs, np.float64))
        magnitude = what.magnitude(*widened(inputs, np.float64)) if what.cancels else None
        assert step.error.max == pytest.approx(cudakern.compare(result, exact, magnitude).max, abs=1e-6)
    assert all(np.array_equal(x, y) for x, y in zip(inputs, kept, strict=True))
    assert steps.shapes == tuple(x.shape for x in inputs)
    assert steps.dtype == what.default_dtype


def test_ladders_tell_inputs_apart(backend):
    """The errors are for this input, not for a random one."""
    wraps = [3, np.array([255, 100], np.uint8), np.array([1, 200], np.uint8)]
    steps = cudakern.ladder("saxpy", inputs=wraps, repeat=1)  # Python's 3 takes their type, in the reference as well
    assert [step.error for step in steps] == [(0, 0)] * len(cudakern.variants("saxpy"))
    x, y = np.float32([1, 2, 3]), np.float32([1, 1, 1])
    steps = cudakern.ladder("interp", inputs=[np.float32([0.5, 9]), x - 1, y], variants=["global_memory"], repeat=1)
    assert steps[0].error == (0, 0)  # left and right have their defaults
    keys = np.arange(500, dtype=np.uint32)
    keys[::50] = 3
    kept = keys.copy()
    assert cudakern.ladder("sort", inputs=[keys], variants=["sample_sort"], repeat=1)[0].error == (0, 0)
    assert np.array_equal(keys, kept)
    picture = np.zeros((4, 5, 3), np.uint8)
    assert cudakern.ladder("grayscale", inputs=[picture], repeat=1).shapes == ((4, 5, 3),)


@pytest.mark.parametrize(
    "op, arguments, error, words",
    [
        ("sort", {"inputs": [[3, 1]], "n": 3}, ValueError, "pass inputs= or n=, not both"),
        ("sort", {"inputs": [[3, 1]], "seed": 0}, ValueError, "pass inputs= or seed=, not both"),
        ("sort", {"inputs": [[3, 1]], "dtype": "int32"}, ValueError, "pass inputs= or dtype=, not both"),
        ("sort", {"inputs": np.arange(3)}, TypeError, r"inputs= must be a list \[a\], not ndarray"),
        ("sort", {"inputs": []}, TypeError, r"sort takes inputs=\[a\]; got 0 inputs"),
        ("sort", {"inputs": [np.ma.array([3, 1], mask=[0, 1])]}, TypeError, "its mask would be lost"),
        ("sort", {"inputs": [None]}, TypeError, "must be an array"),
        ("grayscale", {"inputs": ["photo.png"]}, TypeError, "not the name of a file"),
        (
            "stencil_1d",
            {"inputs": [[1.0], 10]},
            TypeError,
            r"takes inputs=\[x\]; pass radius= separately; got 2 inputs",
        ),
        ("interp", {"left": 3}, TypeError, r"left is an input: inputs=\[x, xp, fp, left, right\]"),
        ("sort", {"seed": ""}, TypeError, "seed must be an integer"),
        ("sort", {"variants": 5}, TypeError, "variants= must be a list of names, not 5"),
        ("matmul", {"inputs": [np.ones((2, 2))]}, TypeError, r"matmul takes inputs=\[a, b\]; got 1 inputs"),
        ("matmul", {"inputs": [np.ones((2, 3))] * 2}, ValueError, "matmul: .*these must match"),
        (
            "interp",
            {"inputs": [np.ones(3)] * 6},
            TypeError,
            r"left, right\] \(the last 2 can be omitted\); got 6 inputs",
        ),
        ("grayscale", {"inputs": [np.ones((2, 3, 3))]}, TypeError, "takes uint8, not float64"),
    ],
)
def test_inputs_that_a_ladder_refuses(op, arguments, error, words):
    with pytest.raises(error, match=words):
        cudakern.ladder(op, **arguments)


def test_a_ladder_takes_no_array_of_the_device(backend):
    with pytest.raises(TypeError, match=r"must be host arrays, .* pass x\.get\(\)"):
        cudakern.ladder("sort", inputs=[cudakern.asarray([3, 1])])


def test_nan_is_right_where_it_should_be(backend):
    x = np.float32([3, np.nan, 1, np.inf])
    for op, variants in (("sort", ["numpy", "sample_sort"]), ("inclusive_scan", ["serial", "lookback"])):
        steps = cudakern.ladder(op, inputs=[x], variants=variants, repeat=1)
        assert [step.error for step in steps] == [(0, 0), (0, 0)]
        json.dumps(steps.to_dict(), allow_nan=False)
    wrong, right = np.float32([1, np.nan]), np.float32([np.nan, 1])
    assert np.isnan(steps_module.errors_of(wrong, right, None).max)
    assert steps_module.errors_of(np.float32([np.nan, 3]), np.float64([np.nan, 2]), None).max == 0.5


@pytest.mark.skipif(not HAS_BFLOAT16, reason="needs ml_dtypes")
def test_types_that_numpys_variant_has_not(backend):
    ones = np.ones(16, numpy_dtype("bfloat16"))
    steps = cudakern.ladder("sum_of_squares", inputs=[ones], variants=["numpy", "vectorized"], repeat=1)
    assert [step.error for step in steps] == [None, (0, 0)]
    assert steps["numpy"].note.startswith("not for this input: takes")
    assert "auto" not in steps["numpy"].note


# --- kernels of one's own --------------------------------------------------------------------------------------------
OWN = r"""
__global__ void one(const float *x, float *y, float *total, int n) {
    for (int i = 0; i < n; ++i) {
        *total += x[i];
        y[i] = x[i] - 1;
    }
}
__global__ void many(const float *x, float *y, float *total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(total, x[i]);
        y[i] = x[i] - 1;
    }
}
__global__ void wrong(const float *x, float *y, float *total, int n) { y[0] = 8; }
__global__ void doubles(const double *x, double *y, double *total, int n) {}
__global__ void in_place(float *x) { x[threadIdx.x] += 1; }
__global__ void only_reads(const float *x) {}
"""


@pytest.fixture
def own(backend):
    return cudakern.compile(OWN)


def both(x, y, total, n):
    assert x.dtype == np.float64
    total += x.sum()  # in place, as the kernels do
    return x - 1, total


def test_kernels_of_ones_own_are_compared_with_a_reference(own):
    x = np.arange(1, 101, dtype=np.float32)
    inputs = [x, np.zeros(100, np.float32), np.array([5], np.float32), 100]
    kernels = [own.one[1, 1], own.many[4, 32], own.many[2, (8, 8)], own.wrong[1, 1], own.doubles[1, 1]]
    steps = cudakern.ladder(kernels, reference=both, inputs=inputs, repeat=3)
    assert [step.variant.name for step in steps] == ["one", "many[4, 32]", "many[2, (8, 8)]", "wrong", "doubles"]
    assert steps["one"].error == steps["many[4, 32]"].error == (0, 0)  # also where 0 is expected, and after repeats
    assert steps["wrong"].error.max == 1  # y[1:] and the total; y[0] should be 0, and is 8 of 99
    assert steps["many[2, (8, 8)]"].error.max == 1  # its threads differ in y too
    assert steps["doubles"].profile is None
    assert "argument 1, `const double *x`, must be a float64 array" in steps["doubles"].note
    assert (inputs[1].any(), inputs[2][0]) == (False, 5)  # kernels have copies
    text = repr(steps)
    emulated = cudakern.backend().emulated
    for word in ("time", "GB/s", "speed-up"):
        assert (word in text.splitlines()[2]) is not emulated
    assert "There is no GPU here, so there are no times." in " ".join(text.split()) or not emulated
    assert [step.speedup is None for step in steps] == [emulated] * 4 + [True]
    table = steps.table()
    (row,) = (dict(zip(table.columns, row, strict=True)) for row in table.rows if row[0] == "many[4, 32]")
    assert [row[name] for name in ("blocks", "threads", "max\nerror")] == ["4", "32", "exact"]
    assert "emulated" in steps.table(emulated=True).columns[-1] or not emulated
    json.dumps(steps.to_dict())
    if emulated:
        with pytest.raises(ValueError, match="nothing to plot: without a GPU"):
            steps.plot()
    else:
        assert steps.plot()


TRANSPOSES = r"""
__global__ void naive(const float *x, float *y, int n) {
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) y[c * n + r + k] = x[(r + k) * n + c];
}
template <int WIDTH> __device__ void tile(const float *x, float *y, int n) {
    __shared__ float s[32][WIDTH];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) s[threadIdx.y + k][threadIdx.x] = x[(r + k) * n + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x;
    r = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) y[(r + k) * n + c] = s[threadIdx.x][threadIdx.y + k];
}
__global__ void tile_32(const float *x, float *y, int n) { tile<32>(x, y, n); }
__global__ void tile_33(const float *x, float *y, int n) { tile<33>(x, y, n); }
"""


def transposes(n):
    program = cudakern.compile(TRANSPOSES)
    launches = [program[name][(n // 32, n // 32), (32, 8)] for name in ("naive", "tile_32", "tile_33")]
    x = np.arange(n * n, dtype=np.float32).reshape(n, n)
    return cudakern.ladder(launches, reference=lambda x, y, n: x.T, inputs=[x, np.zeros_like(x), n])


def test_without_a_gpu_a_ladder_says_what_kernels_ask_of_memory():
    """Three transpositions, all right, which only their requests tell apart."""
    with cudakern.use_backend("emulator"):
        steps = transposes(64)
    table = steps.table()
    shown = [name.replace("\n", " ") for name in table.columns]
    figures = {row[0]: dict(zip(shown, row, strict=True)) for row in table.rows}
    asked = ["sectors per load", "sectors per store", "bank conflicts", "bytes moved"]
    assert [figures["naive"][name] for name in asked] == ["4", "32", "0", "147 kB"]
    assert [figures["tile_32"][name] for name in asked] == ["4", "4", "3,968", "32.8 kB"]
    assert [figures["tile_33"][name] for name in asked] == ["4", "4", "0", "32.8 kB"]
    assert "bytes\nmoved" in table.html()
    assert "4 is the least of a whole warp" in " ".join(table.note.split())
    assert steps["tile_32"].metrics["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"] == 3968


def test_long_calls_are_not_counted(monkeypatch):
    monkeypatch.setattr("cudakern.measure.kernel_ladder.TRACED_NS", 0)
    with cudakern.use_backend("emulator"):
        steps = transposes(32)
    assert not any(step.metrics for step in steps)
    assert "bytes\nmoved" not in steps.table().columns
    assert "naive, tile_32, tile_33: not counted, which takes long" in steps.table().note


def test_a_ladder_goes_on_where_nothing_can_be_counted():
    def ladder(x):
        steps.append(transposes(32))

    steps = []
    with cudakern.use_backend("emulator"):
        cudakern.trace(ladder, 0)  # a trace inside another one is refused
    assert [step.error for step in steps[0]] == [(0, 0)] * 3
    assert not any(step.metrics for step in steps[0])


def test_recorded_metrics():
    with cudakern.use_backend("emulator"):
        steps = cudakern.ladder(
            "sum_of_squares", n=1000, variants=["numpy", "chunked", "coalesced", "tree_interleaved"]
        )
        (other,) = cudakern.ladder("sum_of_squares", n=1000, variants=["coalesced"], threads=64)
    table = steps.table()
    sectors, conflicts = (table.columns.index(name) for name in ("sectors\nper load", "bank\nconflicts"))
    assert [(row[sectors], row[conflicts]) for row in table.rows] == [
        ("-", "-"), ("32", "0"), ("4", "0"), ("4", "2,048")
    ]  # fmt: skip
    assert "counted for 1,048,576 int32, where the operation must read and write 4.19 MB" in table.note
    assert "Memory: counted for 1,048,576." in steps.table(brief=True).note
    assert not other.metrics  # they are of the default parameters
    assert steps["chunked"].to_dict()["metrics"] == steps["chunked"].metrics


def test_recorded_metrics_are_what_a_trace_counts():
    """Of the step `requests` of .ci/record, for a few quick variants."""
    with cudakern.use_backend("emulator"):
        for name in ("naive", "grid_stride", "vectorized"):
            step = cudakern.ladder("vector_add", variants=[name])[name]
            x = np.ones(1 << 20, np.float32)
            metrics = cudakern.trace(cudakern.vector_add, x, x, variant=name).metrics
            assert step.metrics.items() <= metrics.items()
            assert len(step.metrics) >= 4


def test_a_kernel_that_works_in_place_and_results_that_do_not_matter(own):
    x = np.arange(32, dtype=np.float32)
    (step,) = cudakern.ladder(own.in_place[1, 32], reference=lambda x: x + 1, inputs=[x], repeat=5)
    assert step.error == (0, 0)
    assert x[0] == 0
    inputs = [x, np.zeros(32, np.float32), np.zeros(1, np.float32), 32]
    (step,) = cudakern.ladder([own.one[1, 1]], reference=lambda x, y, total, n: (None, x.sum()), inputs=inputs)
    assert step.error == (0, 0)
    nan = np.full(32, np.nan, np.float32)
    (step,) = cudakern.ladder([own.in_place[1, 32]], reference=lambda x: np.zeros(32), inputs=[nan])
    assert np.isnan(step.error.max)
    (step,) = cudakern.ladder([own.in_place[1, 32]], reference=lambda x: x, inputs=[nan])
    assert step.error == (0, 0)


@pytest.mark.parametrize(
    "kind, words, kernels, arguments",
    [
        (TypeError, r"in_place has neither grid nor block: write in_place\[grid", lambda p: [p.in_place], {}),
        (TypeError, "must contain launches of kernels", lambda p: ["matmul"], {}),
        (ValueError, "the list of kernels is empty", lambda p: [], {}),
        (TypeError, "only_reads has no result", lambda p: [p.only_reads[1, 1]], {}),
        (TypeError, "reference= must be a function .*; it is missing", None, {"reference": None}),
        (TypeError, "reference= must be a function .*; it is of type ndarray", None, {"reference": np.zeros(4)}),
        (TypeError, "inputs= must be a list .*; it is missing", None, {"inputs": None}),
        (TypeError, "expected contents of `float .x`, not None", None, {"reference": lambda x: None}),
        (TypeError, "may write `float .x`, so reference must return 1 results, not 2", None,
         {"reference": lambda x: (x, x)}),
        (ValueError, r"`float .x`, has shape \(4,\), and reference returned shape \(2,\)", None,
         {"reference": lambda x: x[:2]}),
        (TypeError, "n= is for operations", None, {"n": 5}),
        (TypeError, "tile= is for operations", None, {"tile": 5}),
        (TypeError, "in_place has 1 parameters", None, {"inputs": []}),
        (TypeError, "must be a NumPy array .*, not list", None, {"inputs": [[1.0]]}),
    ],
)  # fmt: skip
def test_ladders_of_kernels_refuse(own, kind, words, kernels, arguments):
    launches = kernels(own) if kernels else [own.in_place[1, 4]]
    arguments = {"reference": lambda *x: x[0] if x else 0, "inputs": [np.zeros(4, np.float32)]} | arguments
    with pytest.raises(kind, match=words):
        cudakern.ladder(launches, **arguments)


def test_ladders_of_kernels_take_host_arrays(own):
    with pytest.raises(TypeError, match=r"inputs= must be host arrays.*pass x.get\(\)"):
        cudakern.ladder([own.in_place[1, 4]], reference=abs, inputs=[cudakern.zeros(4, np.float32)])
    with pytest.raises(TypeError, match="reference= is for kernels of your own"):
        cudakern.ladder("sort", reference=np.sort)
