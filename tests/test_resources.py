"""kernel_resources: registers and memory of compiled kernels."""

import json

import numpy as np
import pytest

import cudakern as ck
from cases import BACKENDS, HAS_BFLOAT16, cli
from cases import emulated_chip as emulated
from cudakern import _installed
from cudakern.measure import recorded as recorded_module
from cudakern.measure import resources
from cudakern.operations.registry import names, operation
from cudakern.own import nvrtc, reports

each_backend = pytest.mark.parametrize("backend", BACKENDS)


@pytest.mark.proves("kernel_resources")
@each_backend
@pytest.mark.parametrize("op", names())
def test_every_variant_has_the_resources_of_its_kernels(backend, op):
    with ck.use_backend(backend):
        kernels = ck.kernel_resources(op)
        variants = [variant for variant in ck.variants(op) if not variant.on_host and not variant.why_not(ck.backend())]
        # Kernels of libraries are not known; our own kernels in such a variant may not be needed for this type.
        ours = {variant.name for variant in variants if "emulator" in variant.backends}
        assert ours <= {one.variant for one in kernels} <= {variant.name for variant in variants if variant.kernels}
        for variant in variants:
            launches = {one.kernel for one in kernels if one.variant == variant.name}
            assert not launches or set(variant.kernels) <= launches, variant.name
        for one in kernels:
            assert one.kernel in one.symbol
            assert one.threads >= 1
            assert all(size >= 1 for size in one.grid)
            assert one.source in ("driver", "build", "recorded", "unknown")
            assert (one.registers is None) == (one.source == "unknown") == bool(one.why)
            if one.source != "unknown":
                assert 1 <= one.registers <= 255
                assert one.local_bytes >= 0
                assert one.capability
        if backend == "cuda":
            assert {one.source for one in kernels} == {"driver"}
            assert all(one.max_threads >= one.threads for one in kernels)


@pytest.mark.parametrize(
    "op", [op if op in ("matmul", "sort", "interp") else pytest.param(op, marks=pytest.mark.full) for op in names()]
)
def test_kernels_of_every_type_have_their_names(op, monkeypatch):
    """The report of the build lists kernels by these names: if the GPU module was built here, it lists all of them."""
    monkeypatch.setattr(reports, "nvcc", lambda: None)
    with ck.use_backend("emulator"):
        kernels = [
            kernel
            for variant in ck.variants(op)
            if not variant.on_host and not variant.why_not(ck.backend())
            for kind in variant.types
            if kind != "bfloat16" or HAS_BFLOAT16
            for kernel in ck.kernel_resources(op, variant.name, kind)
        ]
    assert all(one.kernel in one.symbol for one in kernels)
    if resources.REPORT.exists():
        unknown = sorted({(one.variant, one.dtype, one.symbol) for one in kernels if one.source != "build"})
        assert unknown == []


@pytest.mark.proves("kernel_resources")
@each_backend
def test_what_a_call_would_launch_is_what_it_launches(backend):
    """Grid, block and dynamic shared memory are those of a profiled call; no results are changed."""
    with ck.use_backend(backend):
        for op, variant in (
            ("matmul", "shared_row"),
            ("sum_of_squares", "tree_sequential"),
            ("vector_add", "vectorized"),
        ):
            what = operation(op)
            shape = (100, 100, 100) if op == "matmul" else what.default_shape
            inputs = what.make(shape, np.dtype("float32"), 0)
            profile = ck.profile(what.call, *inputs, variant=variant, repeat=1, warmup=0)
            kernel = ck.kernel_resources(op, variant, dtype="float32")[0]
            assert (kernel.block, kernel.launches) == (profile.block, profile.launches)
            if op != "matmul":
                assert kernel.grid == profile.grid
                assert kernel.dynamic_shared == profile.shared_bytes
    assert int(ck.sum_of_squares([1, 2, 3], variant="tree_sequential")) == 14


def test_parameters_choose_the_kernel():
    eight, sixteen = (ck.kernel_resources("matmul", "tiled", tile=tile)[0] for tile in (8, 16))
    assert eight.block == (8, 8, 1)
    assert sixteen.block == (16, 16, 1)
    assert eight.symbol != sixteen.symbol
    assert ck.kernel_resources("matmul", "tiled", "float64")[0].dtype == "float64"


PTXAS = """\
ptxas info    : Compiling entry function '_Z5firstPf' for 'sm_80'
ptxas info    : Function properties for _Z5firstPf
    64 bytes stack frame, 32 bytes spill stores, 40 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 64 bytes cumulative stack size, 1024 bytes smem, 368 bytes cmem[0], 8 bytes cmem[2]
ptxas info    : Compiling entry function '_Z6secondPf' for 'sm_80'
ptxas info    : Function properties for _Z6secondPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 0 barriers
ptxas info    : Compiling entry function '_Z5firstPf' for 'sm_90a'
ptxas info    : Function properties for _Z5firstPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 2048 bytes smem
"""  # noqa: E501


def test_the_builds_report(monkeypatch, tmp_path):
    sample = tmp_path / "sample.txt"
    sample.write_text(PTXAS)
    columns = ("registers", "static_shared", "local_bytes", "spill_stores", "spill_loads", "constant_bytes")
    figures = {
        symbol: [tuple(chip[name] for name in (*columns, "capability")) for chip in chips]
        for symbol, chips in resources.compiler_report(sample).items()
    }
    assert figures["_Z5firstPf"] == [(255, 1024, 64, 32, 40, 376, "8.0"), (40, 2048, 0, 0, 0, 0, "9.0")]
    assert figures["_Z6secondPf"] == [(12, 0, 0, 0, 0, 0, "8.0")]

    with ck.use_backend("emulator"):
        symbol = ck.kernel_resources("vector_add", "naive")[0].symbol
        report, build = tmp_path / "kernels.txt", tmp_path / "build.json"
        monkeypatch.setattr(resources, "REPORT", report)
        monkeypatch.setattr(_installed, "BUILD", build)
        build.write_text('{"_cuda": {"built": false, "why_not": "there was no nvcc"}}')
        recorded = ck.kernel_resources("vector_add", "naive")
        assert (recorded[0].source, recorded[0].capability, recorded[0].why) == ("recorded", "9.0", "")
        assert "by nvcc" in repr(recorded)
        monkeypatch.setattr(recorded_module, "compiled", lambda symbol: None)
        monkeypatch.setattr(reports, "nvcc", lambda: None)
        nothing = ck.kernel_resources("vector_add", "naive")
        assert (nothing[0].source, nothing[0].why) == ("unknown", "there was no nvcc")
        assert "there was no nvcc" in repr(nothing)
        assert "not known" in repr(ck.occupancy("vector_add", "naive"))

        report.write_text(PTXAS.replace("_Z5firstPf", symbol))
        known = ck.kernel_resources("vector_add", "naive")[0]
        assert (known.source, known.registers, known.static_shared, known.capability) == ("build", 40, 2048, "9.0")
        with emulated("A100"):
            spilling = ck.kernel_resources("vector_add", "naive")[0]
            assert (spilling.registers, spilling.spill_stores, spilling.local_bytes) == (255, 32, 64)
        launch = ck.occupancy("vector_add", "naive", threads=256)
        assert (launch.registers, launch.shared_bytes) == (40, 2048)
        assert launch.limited_by == ("registers",)
        assert ck.occupancy("vector_add", "naive", registers=16).registers == 16
        other = ck.kernel_resources("vector_add", "vectorized")[0]
        assert other.source == "unknown"
        assert "without this kernel" in other.why


def test_resources_with_a_parameter_that_some_variants_have(backend):
    kernels = ck.kernel_resources("sort", lists=8)
    assert {one.block[0] for one in kernels["merge_serial"]} == {8}
    assert kernels["sample_sort"]
    with pytest.raises(TypeError, match="no variant of sort has a parameter 'list'"):
        ck.kernel_resources("sort", list=8)
    with pytest.raises(
        TypeError, match="no variant of sort that runs here supports float64; supported: uint32, int32, float32"
    ):
        ck.kernel_resources("sort", dtype="float64")


def test_what_resources_show():
    kernels = ck.kernel_resources("sum_of_squares")
    assert all(variant.name in repr(kernels) for variant in ck.variants("sum_of_squares") if not variant.on_host)
    assert "<table>" in kernels._repr_html_()
    assert "<table>" in kernels[0]._repr_html_()
    assert json.loads(json.dumps(kernels.to_dict()))[0]["operation"] == "sum_of_squares"
    assert [one.variant for one in kernels["atomic"]] == ["atomic"]


@pytest.mark.parametrize(
    "kind, words, arguments, parameters",
    [
        (ValueError, "matmul", ("matmull",), {}),
        (ValueError, "tiled", ("matmul", "tilde"), {}),
        (ValueError, "no kernel", ("matmul", "numpy"), {}),
        (TypeError, "not int8", ("matmul", "kahan", "int8"), {}),
        (TypeError, "has no parameter 'tiles'", ("matmul", "tiled"), {"tiles": 8}),
    ],
)
def test_bad_questions(kind, words, arguments, parameters):
    with pytest.raises(kind, match=words):
        ck.kernel_resources(*arguments, **parameters)
    with pytest.raises((kind, TypeError)):
        ck.occupancy(*arguments[:2], dtype=arguments[2] if len(arguments) > 2 else None, **parameters)


@each_backend
@pytest.mark.parametrize(
    "arguments, words",
    [
        (["matmul", "tiled", "tile=9"], "`tile` (elements per side of a tile) must be one of 8, 16, 32, not 9"),
        (["matmul", "tiled", "tile=x"], "tile= must be an integer, not 'x'"),
        (["matmul", "tiled", "tiles=8"], "variant 'tiled' has no parameter 'tiles'; it takes tile="),
        (["matmul", "tiled", "8"], "not matmul and tiled and 8; write parameters as NAME=VALUE"),
        (["matmul", "tiled", "tile=8", "tile=8"], "tile= appears twice"),
        (["matmul", "tilde", "tile=8"], "unknown variant 'tilde' of matmul: the nearest is 'tiled'"),
        (["sort", "merge_hybrid", "memory=shard"], "the nearest is 'shared'"),
        (["matmul", "tiled", "dtype=flot32"], "unknown type 'flot32': the nearest is 'float32'"),
    ],
)
def test_a_variants_parameters_on_the_command_line(backend, arguments, words):
    """Both commands that inspect a variant's kernels accept them, and report errors in one line."""
    for command in ("occupancy", "resources"):
        assert words in cli(command, *arguments, "--backend", backend, status=2)
    here = ("--json", "--backend", backend)
    line = ("occupancy", "sum_of_squares", "tree_sequential", "threads=512", "blocks=3", "--registers", "20", *here)
    kernels = json.loads(cli(*line))
    assert (kernels["threads"], kernels["shared_bytes"] >= 4096) == (512, True)
    for words in (["matmul", "tiled", "tile=8", *here], ["matmul", "tiled", *here, "tile=8"]):
        assert json.loads(cli("resources", *words))[0]["block"] == [8, 8, 1]
    of_which = "pass a variant of matmul: naive, "
    assert of_which in cli("occupancy", "matmul", "tile=8", "--backend", backend, status=2)
    every = json.loads(cli("resources", "matmul", "tile=8", *here))
    assert {one["block"][0] for one in every if one["variant"].startswith("tiled")} == {8}
    assert "naive" in {one["variant"] for one in every}
    assert "no variant of matmul has a parameter 'tiles'" in cli("resources", "matmul", "tiles=8", status=2)
    assert "pass an operation:" in cli("resources", "tile=8", status=2)
    assert "128 threads" in cli("occupancy", "threads=128", "capability=V100")


@each_backend
def test_resources_on_the_command_line(backend):
    words = cli("resources", "matmul", "--backend", backend)
    assert all(variant.name in words for variant in ck.variants("matmul") if not variant.on_host)
    line = ("resources", "matmul", "tiled", "--dtype", "float64", "--json", "--backend", backend)
    plain = json.loads(cli(*line))
    assert [(one["kernel"], one["dtype"]) for one in plain] == [("tiled", "float64")]
    assert "tiled" in cli("resources", "matmul", "tyled", "--backend", backend, status=2)


# --- kernels of one's own, without a GPU ------------------------------------------------------------------------------
TILES = r"""
template <int WIDTH> __device__ void tile(float *x) {
    __shared__ float s[32][WIDTH];
    s[threadIdx.y][threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[0] = s[threadIdx.x][3];
}
__device__ void by_way_of_another(float *x) { tile<32>(x); }
__global__ void narrow(float *x) { tile<32>(x); }
__global__ void indirect(float *x) { by_way_of_another(x); }
__global__ void wide(float *x) {
    __shared__ double q[10];
    tile<33>(x);
    q[threadIdx.x % 10] = x[1];
    __syncthreads();
    x[2] = q[9 - threadIdx.x % 10];
}
__global__ void none(float *x, int n) {
    float values[100];
    for (int i = 0; i < 100; ++i) values[i] = x[i * n];
    x[n] = values[n % 100];
}
template <class T> __global__ void scale(T *x) {
    __shared__ T s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = 2 * s[63 - threadIdx.x];
}
"""
SHARED = {"narrow": 4096, "wide": 4224 + 80, "none": 0, "indirect": 4096, "scale<double>": 512, "scale<char>": 64}


def of_tiles():
    with ck.use_backend("emulator"):
        program = ck.compile(TILES)
        return {name: ck.kernel_resources(program[name][1, 64])[0] for name in SHARED}


@pytest.fixture
def without(monkeypatch):
    """A function that takes compilers away."""

    def without(*compilers):
        def gone():
            raise nvrtc.NotFoundError("taken away")

        if "NVRTC" in compilers:
            monkeypatch.setattr(nvrtc, "version", gone)
        if "nvcc" in compilers:
            monkeypatch.setattr(reports, "nvcc", lambda: None)

    return without


@pytest.mark.parametrize("compiler, other", [("NVRTC", "nvcc"), ("nvcc", "NVRTC")])
def test_compilers_report_of_kernels_without_a_gpu(without, compiler, other):
    without(other)
    kernels = of_tiles()
    if kernels["none"].source == "C++ compiler":
        pytest.skip(f"{compiler} is not installed")
    assert {name: kernel.static_shared for name, kernel in kernels.items()} == SHARED
    assert all(kernel.source.startswith(compiler) and not kernel.why for kernel in kernels.values())
    assert all(1 <= kernel.registers <= 64 and kernel.spills == 0 for kernel in kernels.values())
    assert kernels["none"].local_bytes == 400
    with ck.use_backend("emulator"):
        occupancy = ck.occupancy(ck.compile(TILES).wide[1, 64])
    assert (occupancy.registers, occupancy.shared_bytes) == (kernels["wide"].registers, SHARED["wide"])
    assert not occupancy.note


def test_static_shared_memory_is_known_without_such_a_compiler(without):
    without("NVRTC", "nvcc")
    kernels = of_tiles()
    assert {name: kernel.static_shared for name, kernel in kernels.items()} == SHARED
    assert {kernel.registers for kernel in kernels.values()} == {None}
    assert kernels["wide"].why == "without a GPU: neither NVRTC nor nvcc is installed"
    with ck.use_backend("emulator"):
        occupancy = ck.occupancy(ck.compile(TILES).wide[1, 64])
    assert (occupancy.shared_bytes, occupancy.static_unknown) == (SHARED["wide"], False)
    assert "The number of registers is not known (without a GPU: neither NVRTC" in occupancy.note


def test_what_no_compiler_for_gpus_compiles(without):
    """The emulator's compiler knows more than CUDA's ones."""
    with ck.use_backend("emulator"):
        program = ck.compile("__global__ void k(int *x) { static thread_local int n; x[0] = ++n; }")
        (kernel,) = ck.kernel_resources(program.k[1, 1])
    assert kernel.source == "C++ compiler"
    assert kernel.why.startswith("without a GPU: ")


def test_nvcc_reports_of_a_variant_of_which_nothing_is_recorded(monkeypatch):
    if reports.nvcc() is None:
        pytest.skip("nvcc is not installed")
    monkeypatch.setattr(recorded_module, "compiled", lambda symbol: None)
    monkeypatch.setattr(resources, "_built", lambda symbol, capability: (None, "nobody looked"))
    with ck.use_backend("emulator"):
        (kernel,) = ck.kernel_resources("vector_add", "naive")
        every = ck.kernel_resources("vector_add")  # which would take long: nothing is compiled
    assert (kernel.source[:4], kernel.capability, kernel.spills) == ("nvcc", "9.0", 0)
    assert {one.source for one in every} == {"unknown"}
