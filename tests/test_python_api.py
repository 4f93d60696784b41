"""What Python offers around the operations: backends, variants, sources, profiles, ladders, comparison."""

import asyncio
import ctypes
import dataclasses
import itertools
import json
import pickle
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import cudakern
import subprocesses
from cases import BACKENDS, HAS_BFLOAT16, native
from cudakern import _profile
from cudakern._errors import unknown
from cudakern._operations import names


def json_of(value):
    """Through JSON and back: what to_dict gives must be plain."""
    return json.loads(json.dumps(value))


def emulated_note(text):
    return "emulated" in text.lower()


# --- backends --------------------------------------------------------------------------------------------------------
@pytest.mark.proves("backend")
def test_backend_names_the_backend_and_the_reason(backend):
    here = cudakern.backend()
    assert here.name == backend
    assert here.emulated == (backend == "emulator")
    assert "use_backend" in here.why
    assert here.device == native(backend).choose_device()
    assert here.name in repr(here)
    assert here.why in repr(here)
    assert emulated_note(repr(here)) == here.emulated
    assert emulated_note(here._repr_html_()) == here.emulated
    assert json_of(here.to_dict())["why"] == here.why


def test_properties_of_the_device(backend):
    p = cudakern.backend().properties
    assert p["warp_size"] == 32
    assert p["max_threads_per_block"] == 1024
    assert p["capability"] >= (6, 0)
    assert 0 < p["memory_free"] <= p["memory_bytes"]
    assert p["shared_per_block"] <= p["shared_per_block_optin"] <= p["shared_per_multiprocessor"]
    assert p["max_block_dims"] == (1024, 1024, 64)
    assert p["max_grid"] == (2**31 - 1, 65535, 65535)
    assert p["multiprocessors"] >= 1
    assert p["cooperative"]


@pytest.mark.proves("use_backend")
def test_use_backend_nests_and_ends():
    outside = cudakern.backend().why
    with cudakern.use_backend("emulator") as here:
        assert here.name == cudakern.backend().name == "emulator"
        with pytest.raises(ZeroDivisionError), cudakern.use_backend("emulator"):
            raise ZeroDivisionError
        assert cudakern.backend().name == "emulator"
    assert cudakern.backend().why == outside


def test_use_backend_holds_for_its_own_task():
    async def inner(name, seen):
        with cudakern.use_backend(name):
            await asyncio.sleep(0)
            seen.append((name, cudakern.backend().name))

    async def outer(seen):
        await asyncio.gather(*(inner(name, seen) for name in BACKENDS * 2))
        seen.append(("outside", cudakern.backend().why))

    seen, outside = [], cudakern.backend().why
    asyncio.run(outer(seen))
    assert seen[-1] == ("outside", outside)
    assert all(asked == got for asked, got in seen[:-1])


def test_unknown_backend():
    with pytest.raises(ValueError, match="emulater.*nearest is 'emulator'"), cudakern.use_backend("emulater"):
        pass


@pytest.mark.parametrize(
    "value, good", [("emulator", True), ("EMULATOR", True), ("", True), ("emulater", False), ("caf\udcff", False)]
)
def test_the_environment_chooses(value, good):
    code = """
        import cudakern
        try:
            print(cudakern.backend().name, cudakern.backend().why)
        except ValueError as error:
            print("error", error)
    """
    said = subprocesses.run(code, CUDAKERN_BACKEND=value)
    if not value:
        assert "CUDAKERN_BACKEND" not in said
    elif good:
        assert said.startswith("emulator requested by CUDAKERN_BACKEND")
    else:
        assert said.startswith("error unknown backend")
        assert ("'emulator'" in said) == (value == "emulater")
        assert "(requested by CUDAKERN_BACKEND)" in said


def test_without_a_gpu_the_emulator_is_used_and_the_reason_reported():
    said = subprocesses.run(
        """
        import warnings
        warnings.simplefilter("error")
        import cudakern
        print(cudakern.backend().name, "|", cudakern.backend().why)
        try:
            with cudakern.use_backend("cuda"): pass
        except cudakern.CudaError as error:
            print(error.code, error.name, error)
    """,
        CUDA_VISIBLE_DEVICES="-1",
    )
    first, second = said.splitlines()
    assert first.startswith("emulator | no GPU: ")
    assert second.startswith("100 cudaErrorNoDevice")


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"order": "sideways"}, "reversed"),
        ({"order": "café"}, "café.*reversed"),
        ({"order": "x" + 40 * "é"}, "reversed"),  # cut within a character
        ({"order": "\udcff"}, r"^order contains characters that UTF-8 cannot encode: '\\udcff'"),
        ({"chip": "H200\0"}, "^chip contains a null character"),
        ({"workers": -1}, "workers"),
        ({"memory": -5}, "memory"),
        ({"chip": "H9000"}, "H200"),
        ({"devices": 10**6}, "devices"),
        ({"devices": 0}, "devices must be at least 1, not 0"),
        ({"stack": 3}, "stack"),
        ({"fail_allocation": -2}, "fail_allocation"),
    ],
)
def test_settings_that_are_not_possible(settings, words):
    with pytest.raises(ValueError, match=words):
        cudakern.emulator.configure(**settings)


def test_unknown_setting():
    words = "^unknown setting 'ordr' of emulator.configure: the nearest is 'order'; known: devices, memory, chip"
    with pytest.raises(TypeError, match=words):
        cudakern.emulator.configure(ordr="fixed", chip="V100")
    assert cudakern.emulator._configured.get("chip") != "V100"
    with pytest.raises(ValueError, match="colour"):
        native("emulator").configure("colour", "red")


@pytest.mark.parametrize(
    "variable, value",
    [
        ("ORDER", "sideways"),
        ("MEMORY", "much"),
        ("DEVICES", "many"),
        ("ORDER", "café"),
        ("CHIP", "x" + 40 * "é"),  # cut within a character
        ("WORKERS", "\udcff\udcfe"),  # bytes that are no UTF-8
    ],
)
def test_a_wrong_environment_variable_is_reported(variable, value):
    name = f"CUDAKERN_EMULATOR_{variable}"
    said = subprocesses.run(
        """
        import cudakern
        try:
            with cudakern.use_backend("emulator"):
                cudakern.sum_of_squares([1, 2], variant="coalesced")
        except (ValueError, cudakern.CudaError) as error:
            print(ascii(str(error)))
    """,
        **{name: value},
    )
    assert name in said
    shown = value[:30].encode(errors="surrogateescape").decode(errors="backslashreplace")
    assert ascii(shown)[1:-1] in said


# --- errors ----------------------------------------------------------------------------------------------------------
def test_error_classes():
    assert issubclass(cudakern.CudaError, RuntimeError)
    assert issubclass(cudakern.OutOfMemoryError, (cudakern.CudaError,))
    assert issubclass(cudakern.OutOfMemoryError, MemoryError)
    for name in BACKENDS:
        assert native(name).CudaError is cudakern.CudaError
        assert native(name).OutOfMemoryError is cudakern.OutOfMemoryError


@pytest.mark.parametrize(
    "error",
    [
        cudakern.CudaError("words", "cudaErrorLaunchFailure", 719),
        cudakern.OutOfMemoryError("words", bytes=5, bytes_free=3),
    ],
)
def test_errors_travel_between_processes(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == "words"
    assert vars(again) == vars(error)


# --- variants and sources --------------------------------------------------------------------------------------------
def test_variants_is_a_table():
    variants = cudakern.variants("matmul")
    assert variants["tiled"] is next(variant for variant in variants if variant.name == "tiled")
    assert all(variant.name in repr(variants) for variant in variants)
    assert all(variant.name in variants._repr_html_() for variant in variants)
    assert [variant["name"] for variant in json_of(variants.to_dict())] == [variant.name for variant in variants]
    with pytest.raises(dataclasses.FrozenInstanceError):
        variants[0].name = "other"
    hash(variants[0])


def test_parameters_of_a_variant():
    tile = cudakern.variants("matmul")["tiled"].parameters[0]
    assert (tile.name, tile.default, sorted(tile.choices)) == ("tile", 16, [8, 16, 32])
    threads = cudakern.variants("sum_of_squares")["coalesced"].parameters[0]
    assert (threads.name, threads.default) == ("threads", 256)
    assert threads.low <= 512 <= threads.high
    assert tile.unit
    assert threads.unit


def test_tables_of_variants_are_short():
    variants = cudakern.variants("sum_of_squares")
    assert "blocks=0 (0 to 65535; 0: chosen from the chip)" in str(variants["atomic"].table().rows)
    assert {row[4] for row in variants.table().rows} == {"all", "all but bfloat16", "int32, int64, float32, float64"}
    assert variants.table().note.startswith("All types: int32, ")
    assert ("types", "float32, float64") in cudakern.variants("matmul")["kahan"].table().rows


def test_source_is_the_kernels_text():
    code = cudakern.source("matmul", "tiled")
    assert isinstance(code, str)
    assert code == code.path.read_text()
    assert "__shared__" in code
    assert "&lt;" in code._repr_html_() or "<" not in code


def test_unknown_names_list_the_known_ones():
    for call in (
        lambda: cudakern.variants("matmull"),
        lambda: cudakern.source("matmull", "tiled"),
        lambda: cudakern.ladder("matmull"),
    ):
        with pytest.raises(ValueError, match="nearest is 'matmul'.*sum_of_squares"):
            call()
    for call in (cudakern.ladder, cudakern.variants):  # the public operations, in order of position
        with pytest.raises(ValueError, match="nearest is 'sum_of_squares'; known: ") as error:
            call("sum")
        known = str(error.value).partition("known: ")[2].split(", ")
        assert known == [name for name in names() if name in cudakern.__all__]
    for call in (
        lambda: cudakern.source("matmul", "tild"),
        lambda: cudakern.ladder("matmul", variants=["tild"]),
    ):
        with pytest.raises(ValueError, match="nearest is 'tiled'"):
            call()
    with pytest.raises(TypeError, match="source: pass a variant of matmul: naive, "):
        cudakern.source("matmul")
    with pytest.raises(ValueError, match="unknown variant 'qq' of matmul: known: "):  # none is like it
        cudakern.source("matmul", "qq")
    with pytest.raises(AttributeError, match="no attribute 'matmull'") as error:
        getattr(cudakern, "matmull")  # noqa: B009
    assert (error.value.name, error.value.obj) == ("matmull", cudakern)
    with pytest.raises(ValueError, match="no kernel"):
        cudakern.source("matmul", "numpy")


# --- profile ---------------------------------------------------------------------------------------------------------
@pytest.mark.proves("profile")
def test_profile_of_a_kernel_that_reads_the_clock(backend):
    p = cudakern.profile(
        cudakern.sum_of_squares, np.ones(5000, "int32"), variant="multi_block", blocks=7, threads=64, repeat=3, warmup=1
    )
    assert (p.variant.name, p.operation, p.backend, p.repeat) == ("multi_block", "sum_of_squares", backend, 3)
    assert p.parameters == {"threads": 64, "blocks": 7}
    assert p.clock == ("emulated" if backend == "emulator" else "gpu")
    assert p.emulated == (backend == "emulator")
    assert p.kernel_ns > 0
    assert p.to_device_ns >= 0
    assert p.to_host_ns >= 0
    assert p.whole_ns >= p.kernel_ns
    assert p.flops == 10000
    assert p.bytes >= 20000
    assert p.gb_per_s == pytest.approx(p.bytes / p.kernel_ns)
    assert p.gflop_per_s == pytest.approx(p.flops / p.kernel_ns)
    assert (p.grid[0], p.block[0]) == (7, 64)
    assert len(p.cycles) == 7
    assert min(p.cycles) >= 0
    assert p.blocks_ns >= 0
    assert emulated_note(repr(p)) == p.emulated
    assert emulated_note(p._repr_html_()) == p.emulated
    assert "multi_block" in repr(p)
    assert json_of(p.to_dict())["clock"] == p.clock


@pytest.mark.parametrize("on_device", [False, True])
def test_measured_kernels_have_a_head_start(backend, on_device):
    """An empty kernel goes before those that are timed, and none before a call that nobody measures."""
    x = cudakern.asarray(np.ones(500, "float32")) if on_device else np.ones(500, "float32")

    def calls(what):
        """The guarded calls that it makes, in order, by making each fail."""
        for n in range(1, 50):  # (to the launch; after it profile asks much of the device)
            what()  # what a failed call left behind is cleared
            cudakern.synchronize()
            native(backend).inject_fault(n, 719)
            try:
                what()
            except cudakern.CudaError as error:
                yield str(error).partition("The call was ")[2]
            finally:
                native(backend).inject_fault(0, 719)

    plain = list(calls(lambda: cudakern.vector_add(x, x, variant="naive")))
    measured = list(calls(lambda: cudakern.profile(cudakern.vector_add, x, x, variant="naive", repeat=1, warmup=0)))
    assert not [call for call in plain if "head_start" in call.partition(".")[0]]
    (start,) = (i for i, call in enumerate(measured) if call.startswith("head_start<<<(1,1,1),(1,1,1),0>>>"))
    assert measured[start + 1].startswith("cudaEventRecord")
    assert measured[start + 2].startswith("naive<<<")
    assert sum(call.startswith("naive<<<") for call in plain) == 1


def test_profile_of_a_kernel_that_does_not(backend):
    a = np.ones((40, 40), "float32")
    p = cudakern.profile(cudakern.matmul, a, a, variant="naive", repeat=1)
    assert p.cycles == ()
    assert p.blocks_ns is None
    assert "cycles" not in repr(p)
    assert p.flops == 2 * 40**3


def test_an_emulated_time_is_never_a_share_of_a_limit():
    a = np.ones((40, 40), "float32")
    with cudakern.use_backend("emulator"):
        p = cudakern.profile(cudakern.matmul, a, a, variant="tiled", repeat=1)
    assert p.share is None
    assert p.limit is None
    assert "share of the limit" not in repr(p)
    assert "%" not in repr(p)


def test_a_gpu_reaches_a_share_of_its_limit(backend):
    a = np.ones((500, 500), "float32")
    p = cudakern.profile(cudakern.matmul, a, a, variant="tiled", repeat=3)
    assert (p.share is None) == p.emulated
    assert p.emulated or 0 < p.share <= 1.05
    assert ("share of the limit" in repr(p)) == (not p.emulated)


@pytest.mark.proves("profile")
def test_profile_of_numpys_variant(backend):
    p = cudakern.profile(cudakern.matmul, np.ones((30, 30)), np.ones((30, 30)), variant="numpy", repeat=2)
    assert (p.clock, p.backend, p.share, p.cycles) == ("host", "host", None, ())
    assert p.to_device_ns == p.to_host_ns == 0
    assert p.flops == 2 * 30**3
    assert not emulated_note(repr(p))


def test_profile_gives_the_errors_of_the_call(backend):
    a = np.ones((3, 3), "float32")
    with pytest.raises(TypeError, match="cudakern"):
        cudakern.profile(np.matmul, a, a)
    with pytest.raises(ValueError, match="tild"):
        cudakern.profile(cudakern.matmul, a, a, variant="tild")
    for wrong in ({"repeat": 0}, {"warmup": -1}):
        with pytest.raises(ValueError, match="repeat must be 1 or more, not 0|warmup must be 0 or more, not -1"):
            cudakern.profile(cudakern.matmul, a, a, **wrong)


def test_a_median_is_settled_when_its_confidence_interval_is_narrow(monkeypatch):
    """The interval has the true median in 95 of 100 draws, whatever the distribution; too few samples give none."""
    monkeypatch.setattr(_profile, "PRECISION", 0.01)
    draw = np.random.default_rng(17)
    for n in (20, 100):
        hits = 0
        for _ in range(2000):
            ordered = np.sort(draw.lognormal(0, 1, n))
            low, high = (round((n - 1) / 2 + by * 0.98 * n**0.5) for by in (-1, 1))
            hits += ordered[low] <= 1 <= ordered[high]
        assert 0.92 < hits / 2000 < 0.98, n
    assert not _profile.settled([5.0])
    assert _profile.settled([5.0] * 20)
    narrow = [1000.0 + i for i in range(20)]
    assert _profile.settled(narrow)  # ranks 5 to 14: 9 of 1010
    assert not _profile.settled([x * 3 for x in narrow[:10]] + narrow[10:])
    assert not _profile.settled(list(draw.normal(1000, 300, 20)))
    assert _profile.settled(list(draw.normal(1000, 300, 20_000)))


def test_repetitions_of_a_profile(monkeypatch):
    """On a GPU until the median is known or the time is up; elsewhere a fixed number of times."""
    x = np.ones(100, "float32")

    def runs(clock, times, budget_s=30, **counts):
        monkeypatch.setattr(_profile, "_clock", lambda sample: clock)
        measured = []

        def kernel(self, run):
            measured.append(next(times))
            call = {"variant": run.variant, "values": run.values, "shapes": run.shapes, "dtype": run.dtype}
            report = run.execute(1) | call | {"backend": cudakern.backend(), "kernel_ns": measured[-1]}
            self.reports.append(report)

        monkeypatch.setattr(_profile.Times, "kernel", kernel)
        with cudakern.use_backend("emulator"):
            counts = {"repeat": None, "warmup": 0} | counts
            p, _ = _profile.measure(cudakern.vector_add, (x, x), {"variant": "naive"}, budget_s=budget_s, **counts)
        return p.repeat, len(measured), p.kernel_ns

    steady, wild = (lambda: itertools.cycle([1000.0, 1001.0])), (lambda: itertools.cycle([900.0, 1100.0]))
    assert runs("emulated", wild()) == (20, 20, 1000)
    assert runs("gpu", steady())[:2] == (20, 20)
    assert runs("gpu", wild())[0] == 1000
    then_steady = itertools.chain([900.0, 1100.0] * 30, itertools.repeat(1000.0))
    repeat, measured, ns = runs("gpu", then_steady)
    assert 60 < repeat < 300
    assert measured == repeat
    assert ns == 1000
    assert runs("gpu", wild(), repeat=7)[0] == 7
    assert runs("gpu", wild(), budget_s=0.05)[0] < 1000
    repeat, measured, _ = runs("gpu", steady(), budget_s=0.5, warmup=None)
    assert repeat == 20
    assert measured > 21  # a fifth of the time to warm up


def test_an_ordinary_call_after_profile_is_not_measured(backend):
    cudakern.profile(cudakern.sum_of_squares, np.ones(10, "float32"), variant="coalesced", repeat=1)
    from cudakern._observer import observer

    assert observer.get() is None


# --- ladder ----------------------------------------------------------------------------------------------------------
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
    record = json.loads((Path(cudakern.__file__).parent / "recorded.json").read_text())["ladders"]["matmul float32"]
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


@pytest.mark.parametrize("variant, launches", [("blocks", 3), ("lookback", 1)])
def test_a_profile_counts_launches(backend, variant, launches):
    """Three of "blocks" (sums, their scan, the tiles' scans), one of "lookback", whatever the timing adds."""
    profile = cudakern.profile(cudakern.inclusive_scan, np.ones(50_000, "f4"), variant=variant, repeat=1)
    assert profile.launches == launches


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


def test_bfloat16_without_its_package(backend, monkeypatch):
    """verify goes on and says so; a ladder of it does not begin."""
    from cudakern import _dtypes, _verify

    monkeypatch.setattr(_verify, "has_bfloat16", lambda: False)
    found = _verify.verify(["matmul"], ["naive"])
    assert found.ok
    assert [(c.verdict, c.detail) for c in found.checks if c.dtype == "bfloat16"] == [
        ("not here", "ml_dtypes is not installed")
    ]

    def missing(name):
        raise ImportError("NumPy has bfloat16 only with the package ml_dtypes")

    monkeypatch.setattr(_dtypes, "from_name", missing)
    for call in (
        lambda: cudakern.ladder("matmul", n=3, dtype="bfloat16"),
        lambda: cudakern.random_matrix(3, dtype="bfloat16"),
    ):
        with pytest.raises(ImportError, match="ml_dtypes"):
            call()


def test_a_ladder_goes_on_after_a_step_that_fails(backend, monkeypatch):
    from cudakern._operations import _execute

    right = _execute.execute

    def fails(run):
        if run.variant.name == "coalesced":
            raise cudakern.CudaError("cudaErrorLaunchFailure (719): words", "cudaErrorLaunchFailure", 719)
        right(run)

    monkeypatch.setattr(_execute, "execute", fails)
    steps = cudakern.ladder("sum_of_squares", n=100, variants=["coalesced", "atomic"], repeat=1, progress=False)
    assert steps.failed
    assert steps[0].profile is None
    assert "cudaErrorLaunchFailure" in steps[0].note
    assert steps[1].profile is not None
    assert "coalesced: failed: cudaErrorLaunchFailure" in " ".join(repr(steps).split())


# --- comparison and random matrices ----------------------------------------------------------------------------------
@pytest.mark.proves("compare")
def test_compare_is_that_of_the_documents():
    largest, average = cudakern.compare([1.0, 2.2, 3.0, 0.5], [1.0, 2.0, 4.0, 0.0])
    assert largest == pytest.approx(0.25)
    assert average == pytest.approx((0 + 0.1 + 0.25) / 3)
    assert cudakern.compare([], []) == (0, 0)
    assert cudakern.compare([np.inf], [np.inf]) == (0, 0)
    assert np.isnan(cudakern.compare([np.nan], [1.0]).max)
    with pytest.raises(ValueError, match="shape"):
        cudakern.compare([1, 2], [1, 2, 3])


def test_compare_by_magnitudes():
    """Errors of results near 0 as shares of what they are made of; a result that should be 0 is not passed over."""
    largest, average = cudakern.compare([1e-7, 2.0, 0.0], [0.0, 1.0, 0.0], magnitude=[1.0, 4.0, 0.0])
    assert (largest, average) == pytest.approx((0.25, (1e-7 + 0.25) / 3))
    assert cudakern.compare([1.0, 0.0], [0.0, 0.0], magnitude=[0.0, 0.0]).max == np.inf
    assert cudakern.compare([3.0, 1.0], [2.0, 1.0], magnitude=4) == (0.25, 0.125)
    assert cudakern.compare([1 + 1j], [1j], magnitude=[4.0]) == (0.25, 0.25)
    assert cudakern.compare([], [], magnitude=[]) == (0, 0)
    with pytest.raises(ValueError, match="shape"):
        cudakern.compare([1.0, 2.0], [1.0, 2.0], magnitude=[1.0, 2.0, 3.0])


def test_errors_of_look_ups_are_shares_of_the_tables_values():
    """The texture's weights are rounded to 256ths, some times over: by the result, which may be 0, they were 100 %."""
    for op, n in (("interp", 5000), ("lookup_2d", 5000), ("lookup_3d", 5000)):
        steps = cudakern.ladder(op, n=n, repeat=1, warmup=0, progress=False)
        assert 1e-5 < steps["texture"].error.max < 0.02
        assert steps["global_memory"].error.max < 3e-7
        assert "relative to the magnitude of the terms of a result" in " ".join(
            repr(steps).split()
        )  # (lines break anywhere)
    with cudakern.use_backend("emulator"):
        steps = cudakern.ladder("saxpy", n=100, repeat=1, progress=False)
    assert "Errors are relative, compared" in " ".join(repr(steps).split())


def test_ladders_compare_with_double():
    """A running sum in float32 is less exact than the kernels' trees: it is not what they are measured by."""
    steps = cudakern.ladder("inclusive_scan", n=50_000, repeat=1, warmup=0, progress=False)
    assert 0 < steps["lookback"].error.max < 5e-7 < steps["numpy"].error.max
    assert steps["serial"].error == steps["numpy"].error
    assert 0 < cudakern.ladder("vector_add", n=5000, variants=["numpy"], repeat=1)[0].error.max <= 2.0**-24


def test_comparisons_and_ladders_of_what_is_no_number():
    for wrong in (["a"], np.array(["2020"], "M8[Y]")):
        with pytest.raises(TypeError, match="compare takes numbers, not (str|datetime64)"):
            cudakern.compare(wrong, wrong)
    with pytest.raises(TypeError, match=r"ladder: n must be an integer, 0 or more, not 2\.5"):
        cudakern.ladder("matmul", n=2.5)
    for wrong in (5, (3, 4.5, 2)):
        with pytest.raises(TypeError, match=r"ladder: shape= \(m, k and n .*\) must be integers, 0 or more, .* not"):
            cudakern.ladder("matmul", shape=wrong)
    with pytest.raises(TypeError, match="unknown type 'float31': the nearest is 'float"):
        cudakern.random_matrix(2, dtype="float31")


def test_compare_sees_the_last_bit():
    one = np.float64(1)
    assert cudakern.compare(np.nextafter(one, 2), one).max == np.finfo(np.float64).eps
    assert cudakern.compare(np.int64(2**62 + 1), np.int64(2**62)).max == pytest.approx(2.0**-62)


@pytest.mark.proves("random_matrix")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", *(["bfloat16"] if HAS_BFLOAT16 else [])])
def test_random_matrices(dtype):
    a = cudakern.random_matrix(30, 40, dtype=dtype, seed=7)
    assert a.shape == (30, 40)
    assert a.dtype == dtype
    assert a.min() >= 0
    assert a.max() < 1
    assert 0.4 < a.astype("float64").mean() < 0.6
    assert np.array_equal(a, cudakern.random_matrix(30, 40, dtype=dtype, seed=7))
    assert not np.array_equal(a, cudakern.random_matrix(30, 40, dtype=dtype, seed=8))
    assert cudakern.random_matrix(3).shape == (3, 3)
    with pytest.raises(TypeError, match="int32"):
        cudakern.random_matrix(3, dtype="int32")


def test_variants_are_found_by_name():
    table = cudakern.variants("matmul")
    assert "tiled" in table
    assert table["tiled"] in table
    assert "tild" not in table
    with pytest.raises(KeyError, match="unknown variant 'tild' of matmul: the nearest is 'tiled'"):
        table["tild"]


def test_a_step_that_a_ladder_does_not_have():
    steps = cudakern.ladder("sum_of_squares", n=10, variants=["coalesced"])
    assert steps["coalesced"] is steps[0]
    with pytest.raises(KeyError, match="coalesced"):
        steps["chunked"]


@pytest.mark.parametrize("compiler", ["g++", "clang++", "clang++-14"])
def test_compile_flags_suit_the_compiler(compiler, tmp_path, monkeypatch):
    """The compiler accepts all of them, named by the argument or by CXX."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    flags = cudakern.emulator.compile_flags(compiler)
    (other_name := tmp_path / "c++").symlink_to(shutil.which(compiler))
    monkeypatch.setenv("CXX", str(other_name))
    assert cudakern.emulator.compile_flags() == flags
    source = tmp_path / "kernel.cu"
    source.write_text(
        '#include <cuda_runtime.h>\nextern "C" int one() { int n = 0; cudaGetDeviceCount(&n); return n; }\n'
    )
    library = tmp_path / "kernel.so"
    done = subprocess.run([compiler, *flags, source, "-o", library], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert ctypes.CDLL(str(library)).one() >= 1


def test_out_of_memory_is_reported_in_one_unit():
    with cudakern.use_backend("emulator"):
        with pytest.raises(cudakern.OutOfMemoryError, match=r"72\.8 TiB requested, [\d.]+ [GM]iB free") as error:
            cudakern.empty(10**13)
        assert error.value.bytes == 8 * 10**13
        with pytest.raises(cudakern.OutOfMemoryError, match=r"7276\.0 TiB of page-locked host memory"):
            cudakern.empty_pinned(10**15)


def test_a_host_without_memory_is_named_first():
    """Where the emulated device would have room, and the host has none."""
    output = subprocesses.run(
        """
        import resource
        import cudakern
        small = cudakern.zeros(1)
        pages = int(open("/proc/self/statm").read().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (64 << 20),) * 2)
        try:
            cudakern.empty(1 << 27)
        except cudakern.OutOfMemoryError as error:
            print(error)
        """,
        CUDAKERN_BACKEND="emulator",
    )
    assert output.startswith("The host is out of memory: 1024.0 MiB requested, and the device would have ")


@pytest.mark.parametrize(
    "name, known, near",
    [
        ("cpu", ("cuda", "emulator"), None),
        ("fast", ("tiled", "naive"), None),
        ("", ("tiled",), None),
        ("cud", ("cuda", "emulator"), "cuda"),
        ("warp", ("tree_simple", "warp_shuffle"), "warp_shuffle"),
        ("tilde", ("tiled", "naive"), "tiled"),
        ("TILED", ("tiled", "naive"), "tiled"),
        ("gpu", ("cuda", "emulator"), None),
    ],
)
def test_only_a_name_that_is_near_is_called_the_nearest(name, known, near):
    words = unknown("backend", name, known)
    assert (f"the nearest is {near!r}; " in words) if near else "nearest" not in words
    assert all(k in words for k in known)
