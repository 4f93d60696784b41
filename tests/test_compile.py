"""compile: kernels of one's own, from their source to their results."""

import builtins
import pathlib
import re
import subprocess
import time

import numpy as np
import pytest

import cudakern
from cudakern.own import compilers, cuda_source, translate
from own_kernels import ADD_ONE, by_nvrtc, floats


@pytest.fixture(autouse=True)
def _on(backend):
    """Each test runs on each backend that works here."""


@pytest.fixture
def add_one():
    return cudakern.compile(ADD_ONE).add_one


# --- arguments and results -------------------------------------------------------------------------------------------
def test_numpy_arrays_are_copied_there_and_back(add_one):
    x, y = floats(), np.zeros(1000, np.float32)
    before = x.copy()
    assert add_one[4, 256](x, y, 1000) is None
    np.testing.assert_array_equal(y, before + 1)
    np.testing.assert_array_equal(x, before)
    add_one((4, 1), (256,), x, y, np.int64(10), stream=cudakern.Stream())
    add_one(4, 256, x, x, 1000, shared=64)  # in place
    np.testing.assert_array_equal(x, before + 1)


def test_a_pointer_to_const_is_not_copied_back():
    program = cudakern.compile(
        "__global__ void cheat(const float *x, float *y) { const_cast<float *>(x)[0] = 5; y[0] = x[0]; }"
    )
    x, y = np.ones(1, np.float32), np.ones(1, np.float32)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="argument 1, `const float \\*x`, was written through a cast"):
        program.cheat[1, 1](x, y)
    assert (x[0], y[0]) == (1, 5)


def test_device_arrays_stay_where_they_are(add_one):
    x = cudakern.asarray(floats())
    y = cudakern.zeros(1000, np.float32)
    stream = cudakern.Stream()
    add_one(4, 256, x, y, 1000, stream=stream)
    np.testing.assert_array_equal(y.get(), x.get() + 1)  # after the other stream's work
    add_one[4, 256, 0, stream](y, y, 1000)
    np.testing.assert_allclose(y.get() - x.get(), 2, rtol=1e-6)


def test_every_type_of_number():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    types = {
        "bool": np.bool_,
        "signed char": np.int8,
        "unsigned char": np.uint8,
        "short": np.int16,
        "unsigned short": np.uint16,
        "int": np.int32,
        "unsigned": np.uint32,
        "long": np.int64,
        "size_t": np.uint64,
        "long long": np.int64,
        "float": np.float32,
        "double": np.float64,
        "__half": np.float16,
        "__nv_bfloat16": ml_dtypes.bfloat16,
    }
    source = """
        #include <cuda_bf16.h>
        #include <cuda_fp16.h>
        template <typename T> __global__ void set(T *to, T value) { to[0] = value; }"""
    program = cudakern.compile(source, instances=[f"set<{name}>" for name in types])
    for name, dtype in types.items():
        out = np.zeros(1, dtype)
        for value in (1, dtype(1)) if dtype is not np.bool_ else (True, np.True_):
            out[0] = 0
            program[f"set<{name}>"][1, 1](out, value)
            assert out[0] == 1, name
        if np.dtype(dtype).kind in "iu":
            for value in (np.iinfo(dtype).min, np.iinfo(dtype).max):
                program[f"set<{name}>"][1, 1](out, value)
                assert out[0] == value
            with pytest.raises(OverflowError, match=f"from {np.iinfo(dtype).min} to"):
                program[f"set<{name}>"][1, 1](out, np.iinfo(dtype).max + 1)


def test_structs_by_value_and_by_pointer():
    program = cudakern.compile(
        """
        struct Point { float x; double y; };
        __global__ void move(Point *points, Point by) {
            points[threadIdx.x].x += by.x;
            points[threadIdx.x].y += by.y;
        }"""
    )
    point = np.dtype([("x", np.float32), ("y", np.float64)], align=True)
    points = np.zeros(3, point)
    program.move[1, 3](points, np.array((1, 2), point)[()])
    assert points.tolist() == [(1.0, 2.0)] * 3
    with pytest.raises(TypeError, match="a struct or an enum of 16 bytes: pass a NumPy scalar of that size"):
        program.move[1, 3](points, 5)
    with pytest.raises(TypeError, match="elements of 16 bytes, but the array has 12 bytes"):
        program.move[1, 3](np.zeros(3, np.float32), points[0])


def test_pointers_to_anything_and_null():
    program = cudakern.compile(
        """
        __global__ void first_byte(const void *from, char *to, const float *never) {
            to[0] = never ? 0 : static_cast<const char *>(from)[0];
        }"""
    )
    for array in (np.array([7], np.int64), np.array([7.0, 8]).view(np.complex128), np.zeros((), np.int8)):
        array.view(np.uint8).reshape(-1)[0] = 65
        for to in (np.zeros(1, np.uint8), np.zeros(1, np.int8)):
            program.first_byte[1, 1](array, to, None)
            assert to[0] == 65


def test_empty_arrays_and_no_arguments(add_one):
    add_one[1, 32](np.zeros(0, np.float32), np.zeros(0, np.float32), 0)
    cudakern.compile("__global__ void nothing() {}").nothing[2, 2]()


# --- what a source may contain ---------------------------------------------------------------------------------------
def test_names_namespaces_and_templates():
    program = cudakern.compile(
        """
        // __global__ void in_a_comment() {}
        __device__ const char *text() { return "__global__ void in_a_string() {"; }
        namespace a::b { inline namespace c { __global__ void __launch_bounds__(128, 2) deep(int *x) { x[0] = 1; } } }
        namespace { __global__ void hidden(int *x) { x[0] = 2; } }
        extern "C" { __global__ void plain(int *x) { x[0] = 3; } }
        template <typename T, int N = 4> __global__ void fill(T *x) { x[0] = N; }
        template <> __global__ void fill<int, 7>(int *x) { x[0] = 77; }
        #if 0
        __global__ void never() {}
        #endif
        #define KERNEL(name) __global__ void name(int *x) { x[0] = 6; }
        KERNEL(by_macro)
        """
    )
    assert program.kernels == ("a::b::c::deep", "hidden", "plain")
    x = np.zeros(1, np.int32)
    for kernel, value in [
        (program.deep, 1),
        (program["a::b::c::deep"], 1),
        (program.hidden, 2),
        (program.plain, 3),
        (program["fill<int>"], 4),
        (program["fill<int, 5>"], 5),
        (program["fill<int, 7>"], 77),
        (program["by_macro"], 6),
    ]:
        kernel[1, 1](x)
        assert x[0] == value
    assert {"deep", "hidden", "plain", "fill", "symbol"} <= set(dir(program))
    with pytest.raises(TypeError, match=r"fill is a template: name its arguments, as in program\['fill<float>'\]"):
        program.fill  # noqa: B018
    with pytest.raises(AttributeError, match="unknown kernel 'plane': the nearest is 'plain'"):
        program.plane  # noqa: B018
    with pytest.raises(cudakern.CompileError, match=r"kernels\.cu has no kernel in_a_string"):
        program["in_a_string"][1, 1]()


def test_variables_that_python_reads_and_writes():
    program = cudakern.compile(
        """
        __constant__ float table[2][3];
        __device__ int calls = 5, unused{2};
        __device__ const double half = 0.5;
        __device__ int function(int x) { return x; }
        struct Pair { short a, b; };
        __device__ Pair pairs[2];
        __global__ void use(float *out) { out[0] = table[1][2] * half; ++calls; pairs[1].b = 3; }
        template <int N> __global__ void add() { calls += N; }
        """
    )
    table = program.symbol("table")
    assert (table.shape, table.dtype) == ((2, 3), np.float32)
    table[:] = np.arange(6).reshape(2, 3)
    out = np.zeros(1, np.float32)
    program.use[1, 1](out)
    assert out[0] == 2.5
    assert program.symbol("calls").item() == 6
    assert program.symbol("unused").item() == 2
    assert program.symbol("half").item() == 0.5
    assert program.symbol("pairs").get().view(np.int16).tolist() == [[0, 0], [0, 3]]
    with pytest.raises(ValueError, match="read-only"):
        program.symbol("half")[()] = 1
    with pytest.raises(AttributeError, match="unknown variable 'tabel': the nearest is 'table'"):
        program.symbol("tabel")


def test_variables_keep_their_values_when_an_instance_is_added():
    program = cudakern.compile("__device__ int n; template <int N> __global__ void add() { n += N; }")
    program["add<2>"][1, 1]()
    n = program.symbol("n")
    program["add<3>"][1, 1]()
    assert n.item() == 5
    n[()] = 7
    program["add<4>"][1, 1]()
    assert n.item() == 11
    assert "variable n of kernels.cu" in repr(n)


def test_what_nvcc_defines():
    program = cudakern.compile(
        """
        #include <cuda.h>
        #include <limits.h>
        __host__ __device__ int side() {
        #ifdef __CUDA_ARCH__
            return __CUDA_ARCH__;
        #else
            return 0;
        #endif
        }
        #if !defined(__CUDACC__) || !defined(__NVCC__)
        #error neither
        #endif
        __global__ void ask(int *out) { out[0] = side(); out[1] = INT_MAX; out[2] = TILE; }
        """,
        flags=["-DTILE=16"],
    )
    out = np.zeros(3, np.int32)
    program.ask[1, 1](out)
    assert out.tolist() == [100 * 9, np.iinfo(np.int32).max, 16]
    older = cudakern.compile(program.source, flags=["-DTILE=1"], arch="sm_80")
    older.ask[1, 1](out)
    assert out[0] == 800
    with pytest.raises(ValueError, match="arch must be a compute capability"):
        cudakern.compile(ADD_ONE, arch="hopper")


def test_a_file_and_what_it_includes(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "value.cuh").write_text("#define VALUE 1\n__global__ void other(int *x) { x[0] = 9; }\n")
    file = tmp_path / "main.cu"
    file.write_text('#include "parts/value.cuh"\n__global__ void get(int *x) { x[0] = VALUE; }\n')
    x = np.zeros(1, np.int32)
    for value in (1, 2):  # the cache sees that a header changed
        (tmp_path / "parts" / "value.cuh").write_text(
            f"#define VALUE {value}\n__global__ void other(int *x) {{ x[0] = 9; }}\n"
        )
        program = cudakern.compile(file if value == 1 else str(file))
        program.get[1, 1](x)
        assert x[0] == value
        program.other[1, 1](x)
        assert x[0] == 9
    assert program.source.path == file
    with pytest.raises(FileNotFoundError):
        cudakern.compile(tmp_path / "none.cu")


@pytest.mark.parametrize("encoding, end", [("latin-1", "\n"), ("utf-8", "\n"), ("utf-8-sig", "\n"), ("cp1252", "\r\n")])
def test_files_in_other_encodings(backend, tmp_path, encoding, end):
    """A comment in Latin-1, a mark of UTF-8 and lines of Windows are nothing to be noticed. (But NVRTC, which reads
    headers itself, refuses that mark in them.)"""
    lines = ["template <typename T> __device__ T one() {", "    // Größe, à peu près", "    extern __shared__ T t[];"]
    lines += ["    return t[0] = 1; }", ""]
    of_header = "utf-8" if (backend, encoding) == ("cuda", "utf-8-sig") else encoding
    (tmp_path / "part.cuh").write_bytes(end.join(lines).encode(of_header))
    lines = ["template <typename T> __global__ void f(T *x) { x[0] = one<T>(); } // Größe", '#include "part.cuh"']
    (tmp_path / "main.cu").write_bytes(end.join(lines[::-1]).encode(encoding))
    program = cudakern.compile(tmp_path / "main.cu")
    assert "// Größe" in program.source
    x = np.zeros(1, np.float32)
    program["f<float>"](1, 1, x, shared=4)
    assert x[0] == 1


def test_a_users_headers_may_have_the_names_of_ours(tmp_path):
    """CUDA's names are taken; those of the package's own headers are not."""
    ours = [
        "backend.h",
        "cluster.cuh",
        "tensor_map.h",
        "device_core.h",
        "core.h",
        "numbers.cuh",
        "launch.cuh",
        "set.cuh",
    ]
    ours += ["set.h", "abi.h", "parameters.cuh", "call.h"]
    source = tmp_path / "kernels.cu"
    for number, name in enumerate(ours, 1):
        guard = name.replace(".", "_").upper()  # as some of ours have
        (tmp_path / name).write_text(
            f"#ifndef CK_{guard}_OF_THE_USER\n#define CK_{guard}_OF_THE_USER {number}\n#endif\n"
        )
    sums = " + ".join(f"CK_{name.replace('.', '_').upper()}_OF_THE_USER" for name in ours)
    includes = "".join(f'#include "{name}"\n' for name in ours)
    source.write_text(f"{includes}__global__ void add(int *y) {{ *y = {sums}; }}\n")
    y = np.zeros(1, np.int32)
    cudakern.compile(source).add[1, 1](y)
    assert y[0] == sum(range(1, len(ours) + 1))


@pytest.mark.parametrize("backend", ["emulator"], indirect=True)
def test_object_files_of_flags_are_linked(tmp_path):
    (tmp_path / "seven.c").write_text("int seven(void) { return 7; }")
    subprocess.run(["gcc", "-fPIC", "-c", "seven.c"], cwd=tmp_path, check=True)
    source = 'extern "C" int seven();\n__global__ void f(int *y) { y[0] = seven(); }'
    y = np.zeros(1, np.int32)
    cudakern.compile(source, flags=[f"{tmp_path}/seven.o"]).f(1, 1, y)
    assert y[0] == 7


# --- displays --------------------------------------------------------------------------------------------------------
def test_displays(add_one):
    assert repr(add_one) == "<kernel add_one(const float *x, float *y, int n) of kernels.cu>"
    assert add_one.parameters == ("const float *x", "float *y", "int n")
    text = repr(add_one.program)
    assert "add_one" in text
    assert "const float *x, float *y, int n" in text
    assert "<table" in add_one.program._repr_html_()


def test_tools_take_a_kernel(add_one):
    x, y = floats(), np.zeros(1000, np.float32)
    profile = cudakern.profile(add_one[4, 256], x, y, 1000)
    np.testing.assert_array_equal(y, x + 1)
    assert (profile.bytes, profile.grid, profile.block) == (8000, (4, 1, 1), (256, 1, 1))
    assert profile.kernel_ns > 0
    assert profile.to_device_ns > 0
    assert profile.to_host_ns > 0
    assert "add_one" in repr(profile)
    assert "FLOP" not in repr(profile)
    assert cudakern.profile(add_one, 4, 256, cudakern.asarray(x), cudakern.asarray(y), 1000).to_device_ns == 0
    assert cudakern.source(add_one) == ADD_ONE.strip()
    (resources,) = cudakern.kernel_resources(add_one[4, (16, 16)])
    assert (resources.kernel, resources.threads, resources.active_blocks) == ("add_one", 256, 8)
    assert (resources.registers is None) == (resources.source == "C++ compiler") == bool(resources.why)
    assert cudakern.occupancy(add_one, threads=1024, registers=32).occupancy == 1
    with pytest.raises(TypeError, match="a kernel of your own: it takes no other arguments"):
        cudakern.kernel_resources(add_one, dtype="float32")


def test_the_cell_magic(capsys, monkeypatch):
    monkeypatch.setattr(builtins, "__IPYTHON__", True, raising=False)  # and removed after the test
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell()
    shell.run_line_magic("load_ext", "cudakern")
    cell = f"%%cuda --name p --flags '-DX=1 -DY=2' --arch 80\n{ADD_ONE}\n__global__ void b(int *x) {{ x[0] = X + Y; }}"
    run = shell.run_cell(cell, store_history=True)
    assert run.success
    assert shell.user_ns["add_one"].program.table().title == f"cell_{run.execution_count}.cu: kernels"
    assert shell.user_ns["p"].kernels == ("add_one", "b")
    x = np.zeros(1, np.int32)
    shell.user_ns["b"][1, 1](x)
    assert x[0] == 3
    capsys.readouterr()
    assert not shell.run_cell("%%cuda\n__global__ void b(int *x) {\n    oops;\n}").success
    shown = capsys.readouterr().out
    assert re.search(r"cell_\d+\.cu:3:(5:)? error", shown)  # the magic's line is the first
    assert "Traceback" not in shown
    shell.push({"x": x})
    for call in ("b[1, 1](5)", "b(1, 1, 5)", "b[1, 2.5]", "b[1, 2048](x)"):
        shell.run_cell(f"1 + 1\n{call}")
        shown = re.sub("\x1b[^m]*m", "", capsys.readouterr().out)
        assert f"----> 2 {call}" in shown
        assert len(re.findall(r"cudakern/(?:\w+/)?\w+\.py", shown)) == 1  # one step of this package
    if cudakern.backend().emulated:
        shell.run_cell("%%cuda\n__global__ void b(int *x) {\n    __shfl_sync(2, *x, 0);\n}", store_history=True)
        capsys.readouterr()
        shell.run_cell("b[1, 1](x)")
        shown = re.sub("\x1b[^m]*m", "", capsys.readouterr().out)
        assert re.search(r"cell_\d+\.cu:3: __shfl_sync\(2, \*x, 0\);", shown)
    shell.run_cell("%%cuda --wrong\nint x;")
    shown = capsys.readouterr()
    assert "unrecognized arguments: --wrong" in shown.out + shown.err
    assert shell.run_cell('%%cuda --flags "-DTILE=16"\n__global__ void b(int *x) { x[0] = TILE; }').success
    capsys.readouterr()
    reserved = [f"--name {name}" for name in ("__builtins__", "_", "_i7", "In", "print", "lambda")]
    for options, words in (
        ("--name 'not valid'", "--name is the name of a Python variable, not 'not valid'"),
        *((option, f"{option} would replace what Python or IPython needs: choose another name") for option in reserved),
        ("--arch hopper", "arch must be a compute capability"),
        ("--flags '-DX", "No closing quota"),
    ):
        shell.run_cell(f"%%cuda {options}\n{ADD_ONE}")
        shown = capsys.readouterr()
        assert f"%%cuda: {words}" in (shown.out + shown.err).replace("compile: ", "")
        assert "Traceback" not in shown.out
    assert shell.run_cell("%%cuda --name q\n__global__ void In() {}\n__global__ void other() {}").success
    assert shell.user_ns["In"] is not shell.user_ns["q"].In
    shell.user_ns["other"][1, 1]()


def test_cells_are_checked_by_default(capsys, monkeypatch, emulator):
    monkeypatch.setattr(builtins, "__IPYTHON__", True, raising=False)
    monkeypatch.setattr("cudakern.own.magic._said", False)
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell()
    shell.run_line_magic("load_ext", "cudakern")
    shell.run_line_magic("colors", "nocolor")
    shell.push({"x": np.ones(64, np.float32), "y": np.zeros(1, np.float32)})
    kernel = "__global__ void sum(const float *x, float *y) {\n    y[0] += x[threadIdx.x];\n}"

    def shown(cell):
        shell.run_cell(cell, store_history=True)
        output = capsys.readouterr()
        return output.out + output.err

    sentence = "threads are checked for races and other mistakes; --no-check or CUDAKERN_CHECK=0 turns that off."
    assert shown(f"%%cuda\n{kernel}").count(sentence) == 1
    text = shown("sum[1, 64](x, y)")
    assert re.search(r"CudaError: sum, cell_\d+\.cu:3: thread 1 .* y\[0\], which thread 0 ", text)
    assert text.count("nothing orders the two") == 1
    assert len(re.findall(r"cudakern/(?:\w+/)?\w+\.py", text)) == 1  # one step of this package
    assert sentence not in shown(f"%%cuda\n{kernel}")
    assert "Error" not in shown(f"%%cuda --no-check\n{kernel}") + shown("sum[1, 64](x, y)")
    monkeypatch.setenv("CUDAKERN_CHECK", "0")
    assert "Error" not in shown(f"%%cuda\n{kernel}") + shown("sum[1, 64](x, y)")
    monkeypatch.setenv("CUDAKERN_CHECK", "no")
    assert "%%cuda: CUDAKERN_CHECK must be 1 " in shown(f"%%cuda\n{kernel}")
    monkeypatch.delenv("CUDAKERN_CHECK")
    assert "CudaError: sum, " in shown(f"%%cuda\n{kernel}") + shown("sum[1, 64](x, y)")
    assert "--no-check" in shown("%%cuda?")


def test_macros_of_flags_leave_the_headers_alone(backend):
    """Names that courses use, and that the package's headers give other meanings."""
    names = ["N", "K", "T", "A", "B", "P", "n", "size", "value", "count"]
    source = "__global__ void f(int *out) { out[0] = ADDED(N) + K + T + A + B + P + n + size + value + count + LAST; }"
    flags = [*(f"-D{name}={i}" for i, name in enumerate(names)), "-D", "ADDED(a)=a + 100", "-DLAST", "-DGONE", "-UGONE"]
    x = np.zeros(1, np.int32)
    cudakern.compile(
        source + "\n#ifdef GONE\n#error\n#endif\n#ifndef NDEBUG\n#error\n#endif", flags=[*flags, "-DNDEBUG"]
    ).f(1, 1, x)
    assert x[0] == sum(range(len(names))) + 100 + 1


def test_a_source_and_a_launch_have_their_text(backend):
    program = cudakern.compile(ADD_ONE)
    assert cudakern.source(program) == ADD_ONE
    assert cudakern.source(program.add_one[4, 256]) == cudakern.source(program.add_one)
    assert cudakern.source(program.add_one).startswith("__global__")


def test_a_variable_that_is_no_array(backend):
    program = cudakern.compile("__device__ int counter;\n__global__ void f(int *x) { x[0] = counter; }")
    program.symbol("counter")[:] = 7
    assert program.symbol("counter")[:].get() == 7
    x = np.zeros(1, np.int32)
    program.f(1, 1, x)
    assert x[0] == 7


def test_reading_a_source():
    text = (pathlib.Path(__file__).parent / "emulator_kernels" / "set.cu").read_text()
    kernels = {kernel.name: kernel for kernel in cuda_source.contents(text).kernels}
    assert list(kernels)[:3] == ["add_one", "scale", "all_values"]
    assert kernels["scale"].is_template
    assert kernels["scale"].parameters == ("T *x", "T by", "int n")
    assert kernels["of_nothing"].parameters == ()
    assert cuda_source.contents(text).variables == ("calls",)


@pytest.mark.parametrize(
    "sign",
    ["#", "{", "{}", "}", "(", "[", "<", '"', "'", '"\\', "'\\", 'R"(', "/* ", "extern __shared__ ", "\n#\\", "f<<<"],
)
def test_reading_many_signs_takes_linear_time(sign):
    started = time.process_time()
    text = ADD_ONE + 30_000 * sign
    assert cuda_source.contents(text).kernels[0].name == "add_one"
    exported = ADD_ONE.replace("__global__", '__attribute__((visibility("default")))')
    assert exported[:80] in translate.translated("__shared__ int a;" + text, "plain", "/").text
    assert time.process_time() - started < 2


# --- NVRTC, which needs no GPU ---------------------------------------------------------------------------------------
def test_nvrtc_compiles_what_the_host_compiles(own_cache):
    text = """
        #include <climits>
        #include <cuda_fp16.h>
        #define N 4
        __constant__ float table[N];
        namespace a { __global__ void add(const float *x, float *y, __half by) {
            extern __shared__ float tile[];
            tile[0] = y[0] = x[0] + table[INT_MAX % N] + __half2float(by);
        } }
        template <typename T> __global__ void scale(T *x, T by) { *x *= by; }
        #if 0
        __global__ void never() {}
        #endif"""
    for _ in range(2):  # the second one is from the cache
        compilers._loaded.clear()
        loaded = by_nvrtc(text, ["scale<double>"])
        assert loaded.image.startswith(b"\x7fELF")
        assert set(loaded.names) == {"a::add", "scale<double>", "table"}
        assert loaded.names["a::add"] == "_ZN1a3addEPKfPf6__half"
        assert all(name.encode() in loaded.image for name in loaded.names.values())
    assert len(list(own_cache.glob("*.cubin"))) == 1


def test_nvrtc_writes_ptx_for_another_chip(own_cache):
    loaded = by_nvrtc("__global__ void f(int *x) { x[0] = __CUDA_ARCH__; }", arch=800)
    assert b".target sm_80" in loaded.image
    assert b"800" in loaded.image


def test_macros_of_flags_leave_nvrtcs_headers_alone(own_cache):
    text = "__global__ void f(int *out) { out[0] = N + K + T + A + B + P + n + x; }"
    assert by_nvrtc(text, flags=[f"-D{name}=2" for name in "NKTABPnx"])
    with pytest.raises(cudakern.CompileError, match="kernels.cu:1: error: .*N.* undefined"):
        by_nvrtc("__global__ void f(int *out) { out[0] = N; }", flags=["-DN=2", "-UN"])


def test_nvrtcs_errors_have_the_sources_lines(own_cache):
    with pytest.raises(cudakern.CompileError) as failure:
        by_nvrtc("__global__ void f(int *x) {\n    int unused;\n    x[0] = y;\n}")
    assert re.match(
        r"kernels\.cu was not compiled:\nkernels\.cu:3: error: identifier .y. is undefined", str(failure.value)
    )
    assert "unused" not in str(failure.value)
    for source, wanted, words in (
        ("__global__ void f() {}", ["g<1>"], "has no kernel g<1>: .*g"),
        ("__device__ int g(int); __global__ void f(int *x) { x[0] = g(1); }", [], "uses .*g.*, which it declares"),
        (
            "__global__ void f(int *x) {}\n__global__ void f(float *x) {}",
            [],
            "f stands for several kernels: give each a name of its own",
        ),
    ):
        with pytest.raises(cudakern.CompileError, match=words):
            by_nvrtc(source, wanted)


def test_static_shared_memory_is_limited():
    """As by ptxas; that of other kernels does not count."""
    text = "__global__ void k{}(int *x) {{ __shared__ int a[{}]; a[threadIdx.x] = 1; __syncthreads(); x[0] = a[1]; }}\n"
    with cudakern.use_backend("emulator"):
        x = np.zeros(1, np.int32)
        cudakern.compile(text.format(1, 48 << 8) + text.format(2, 48 << 8)).k2[1, 32](x)
        assert x == 1
        with pytest.raises(cudakern.CompileError, match="kernel k3 has 49,156 bytes .* at most 49,152"):
            cudakern.compile(text.format(1, 10) + text.format(3, (48 << 8) + 1)).k1[1, 32](x)
