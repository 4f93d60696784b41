"""What Python offers around the operations: backends, errors, variants, sources and comparisons. (test_profile.py has
profiles, and test_ladder.py ladders.)"""

import asyncio
import ctypes
import dataclasses
import pickle
import re
import shutil
import subprocess

import numpy as np
import pytest

import cudakern
import subprocesses
from cases import BACKENDS, HAS_BFLOAT16, emulated_note, json_of, native
from cudakern._errors import unknown
from cudakern._installed import KERNELS
from cudakern.operations.registry import names


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
    "value, good",
    [
        *(("EMULATOR", True), ("caf\udcff", False)),
        *(pytest.param(*x, marks=pytest.mark.full) for x in (("emulator", True), ("", True), ("emulater", False))),
    ],
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


def test_every_variants_source_has_its_kernels_and_what_they_use():
    numbers = []
    for op in names():
        for entry in cudakern.variants(op):
            if not entry.kernels:
                continue
            code = cudakern.source(op, entry.name)
            assert code.path.name.endswith(f"{entry.name}.cuh")
            for kernel in entry.kernels:  # pitched, split_bf16, wgmma_int8 and fastest take another variant's
                assert re.search(rf"__global__[^;{{]*\b{kernel}\(", code.kernel), (op, entry.name)
            if code.path.parent.name == "ladder":
                numbers.append((code.path.parent, int(code.path.name.split("_")[0])))
            assert not any(
                f"__global__ void {kernel}(" in text for text in code.helpers.values() for kernel in entry.kernels
            )
    matmul = [number for folder, number in numbers if folder.parent.name == "matmul"]
    assert matmul == sorted(matmul)  # so that ls shows the ladder as the table does
    assert len(matmul) == len(list((KERNELS / "matmul/ladder").iterdir())) == len(set(matmul))


def test_a_sources_helpers_are_folded():
    code = cudakern.source("matmul", "tiled")
    assert "kahan_sum" in code.kernel  # is used here
    assert "struct kahan_sum" not in code  # and defined elsewhere:
    assert "struct kahan_sum" in code.helpers["compensated.cuh"]
    assert "note_start" not in "".join(code.helpers.values())  # the clock is not shown, so neither is its helper
    assert code._repr_html_().count("<details>") > len(code.helpers) > 2
    again = pickle.loads(pickle.dumps(code))
    assert (again, again.path, again.helpers) == (code, code.path, code.helpers)


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


def test_bfloat16_without_its_package(backend, monkeypatch):
    """verify goes on and says so; a ladder of it does not begin."""
    from cudakern.arrays import dtypes
    from cudakern.measure import verify

    monkeypatch.setattr(verify, "has_bfloat16", lambda: False)
    report = verify.verify(["matmul"], ["naive"])
    assert report.ok
    assert [(c.verdict, c.detail) for c in report.checks if c.dtype == "bfloat16"] == [
        ("not here", "ml_dtypes is not installed")
    ]

    def missing(name):
        raise ImportError("NumPy has bfloat16 only with the package ml_dtypes")

    monkeypatch.setattr(dtypes, "from_name", missing)
    for call in (
        lambda: cudakern.ladder("matmul", n=3, dtype="bfloat16"),
        lambda: cudakern.random_matrix(3, dtype="bfloat16"),
    ):
        with pytest.raises(ImportError, match="ml_dtypes"):
            call()


def test_variants_are_found_by_name():
    table = cudakern.variants("matmul")
    assert "tiled" in table
    assert table["tiled"] in table
    assert "tild" not in table
    with pytest.raises(KeyError, match="unknown variant 'tild' of matmul: the nearest is 'tiled'"):
        table["tild"]


@pytest.mark.parametrize("compiler", ["g++", "clang++", pytest.param("clang++-14", marks=pytest.mark.full)])
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
