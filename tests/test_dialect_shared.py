"""Shared memory as CUDA declares it: each form, by each compiler that is here, in sources and in headers."""

import re
import shutil

import numpy as np
import pytest

import cudakern
from cudakern.own import compilers

pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture(params=["g++", "clang++"])
def _by(request, backend, monkeypatch):
    if not shutil.which(request.param):
        pytest.skip(f"{request.param} is not installed")
    if not cudakern.backend().emulated and request.param != "g++":
        pytest.skip("a GPU's compiler is another one")
    monkeypatch.setenv("CXX", request.param)
    compilers.compiler.cache_clear()
    yield
    compilers.compiler.cache_clear()


def reversed_by(kernel, dtype=np.float32, threads=32, shared=2048):
    """Each of these kernels reverses an array through shared memory."""
    x = np.arange(threads).astype(dtype)
    kernel(1, threads, x, shared=shared)
    np.testing.assert_array_equal(x, np.arange(threads)[::-1], err_msg=kernel.name)


#: A declaration in a kernel, and how the array's element i is written.
WITHIN = {
    "plain": ("extern __shared__ float t[]", "t[i]"),
    "two_lines": ("extern __shared__\n    float t[]", "t[i]"),
    "type_first": ("extern float __shared__ t[]", "t[i]"),
    "volatile_first": ("extern volatile __shared__ float t[]", "t[i]"),
    "volatile_last": ("extern __shared__ volatile float t[]", "t[i]"),
    "volatile_before": ("volatile extern __shared__ float t[]", "t[i]"),
    "two_axes": ("extern __shared__ float t[][4]", "t[i / 4][i % 4]"),
    "three_axes": ("extern __shared__ float t[][sizeof(float[2]) / 4][2]", "t[i / 4][i / 2 % 2][i % 2]"),
    "aligned": ("extern __shared__ __align__(16) float t[]", "t[i]"),
    "alignas_before": ("alignas(16) extern __shared__ float t[]", "t[i]"),
    "bytes": ("extern __shared__ unsigned char t[]", "reinterpret_cast<float *>(t)[i]"),
    "of_address": ("extern __shared__ unsigned char t[]", "reinterpret_cast<float *>(&t)[i]"),
    "pairs": ("extern __shared__ struct Pair t[]", "t[i].a"),
    "by_macro": ("DYNAMIC(float, t)", "t[i]"),
    "fixed": ("__shared__ float t[32]", "t[i]"),
    "fixed_static": ("static __shared__ float t[32]", "t[i]"),
    "static_fixed": ("__shared__ static float t[32]", "t[i]"),
    "fixed_alignas": ("__shared__ alignas(16) float t[32]", "t[i]"),
    "static_last": ("static float __shared__ t[8][4]", "t[i / 4][i % 4]"),
    "static_volatile": ("static volatile __shared__ float t[32]", "t[i]"),
}
#: The same at file scope, where each array has a name of its own.
OUTSIDE = {
    "outer": ("extern __shared__ float outer_t[]", "outer_t[i]"),
    "outer_volatile": ("extern volatile __shared__ float outer_v[]", "outer_v[i]"),
    "outer_axes": ("extern __shared__ float outer_a[][4]", "outer_a[i / 4][i % 4]"),
    "outer_bytes": ("extern __shared__ __align__(16) char outer_b[]", "((float *)outer_b)[i]"),
    "outer_cast": ("extern __shared__ double outer_d[]", "reinterpret_cast<float *>(outer_d)[i]"),
    "outer_address": ("extern __shared__ char outer_e[]", "((float *)&outer_e)[i]"),
    "outer_fixed": ("static float __shared__ outer_f[32]", "outer_f[i]"),
    "spaced": ("namespace a { extern __shared__ float spaced_t[]; }", "a::spaced_t[i]"),
    "unnamed": ("namespace { extern __shared__ float unnamed_t[]; }", "unnamed_t[i]"),
    "linkage": ('extern "C" { extern __shared__ float linkage_t[]; }', "linkage_t[i]"),
}


def kernel(name, declaration, element):
    return (
        f"__global__ void {name}(float *x) {{\n    {declaration};\n    int i = threadIdx.x;\n    {element} = x[i];\n"
        f"    __syncthreads();\n    float own = {element};\n    x[blockDim.x - 1 - i] = own;\n}}\n"
    )


@pytest.mark.usefixtures("_by")
def test_every_form():
    text = "struct Pair { float a, b; };\n#define DYNAMIC(T, name) \\\n    extern __shared__ \\\n    T name[]\n"
    for name, form in WITHIN.items():
        text += re.sub(r"\bt\b", f"t_{name}", kernel(name, *form))
    text += "".join(f"{form};\n{kernel(name, '', element)}" for name, (form, element) in OUTSIDE.items())
    program = cudakern.compile(text)
    for name in (*WITHIN, *OUTSIDE):
        reversed_by(program[name])


@pytest.mark.usefixtures("_by")
@pytest.mark.parametrize("backend", ["emulator"], indirect=True)  # a GPU's compiler wants one type for each name
def test_one_name_for_several_things():
    """A local variable, a parameter, a member and arrays of other types with the name of an array at file scope."""
    program = cudakern.compile(
        """
        extern __shared__ float t[];
        struct Member { float t; __device__ float get() const { return t; } };
        template <typename T> __device__ T first(T *t) { return t[0]; }
        __global__ void local(float *x) {
            float t[2] = {x[threadIdx.x], 1};
            __syncthreads();
            x[blockDim.x - 1 - threadIdx.x] = t[0];
        }
        __global__ void parameter(float *t) {
            Member own = {t[threadIdx.x]};
            __syncthreads();
            t[blockDim.x - 1 - threadIdx.x] = own.get();
        }
        __global__ void outer(float *x) {
            t[threadIdx.x] = x[threadIdx.x];
            auto copy = [=](int i) { return first(t + i); };
            __syncthreads();
            x[blockDim.x - 1 - threadIdx.x] = copy(threadIdx.x);
        }
        __global__ void integers(int *x) {
            extern __shared__ int t[];
            t[threadIdx.x] = x[threadIdx.x];
            auto copy = [=](int i) { return first(t + i); };
            __syncthreads();
            x[blockDim.x - 1 - threadIdx.x] = copy(threadIdx.x);
        }
        template <typename T, int N> __global__ void instance(T *x) {
            extern __shared__ T t[][N];
            t[threadIdx.x][N - 1] = x[threadIdx.x];
            __syncthreads();
            x[blockDim.x - 1 - threadIdx.x] = t[threadIdx.x][N - 1];
        }
        """,
        instances=["instance<double, 2>", "instance<short, 3>"],
    )
    for name in ("local", "parameter", "outer"):
        reversed_by(program[name])
    reversed_by(program.integers, np.int32)
    reversed_by(program["instance<double, 2>"], np.float64)
    reversed_by(program["instance<short, 3>"], np.int16)


@pytest.mark.usefixtures("_by")
def test_headers_from_anywhere(tmp_path):
    """Beside the source, above it, by an absolute path, and in a folder of the flags; each included twice."""
    for folder in ("main/parts", "above", "flags/lib"):
        (tmp_path / folder).mkdir(parents=True)

    def header(where, name, others=()):
        lines = ["#pragma once", *(f"#include {other}" for other in others)]
        function = (
            "__device__ void NAME(float *x) {\n extern __shared__ float t[];\n static __shared__ int n;\n"
            " if (threadIdx.x == 0) n = 31;\n"
        )
        function += " t[threadIdx.x] = x[threadIdx.x];\n __syncthreads();\n x[n - threadIdx.x] = t[threadIdx.x]; }\n"
        (tmp_path / where).write_text("\n".join([*lines, function.replace("NAME", name)]))

    header("main/parts/beside.cuh", "beside", ['"sibling.cuh"', '"plain.cuh"'])
    header("main/parts/sibling.cuh", "sibling")
    (tmp_path / "main" / "parts" / "plain.cuh").write_text("#pragma once\n#define PLAIN 1\n")
    header("above/above.cuh", "above", ['"../main/parts/plain.cuh"', "<lib/lib.cuh>"])
    header("above/absolute.cuh", "absolute", ['"above.cuh"'])
    header("flags/lib/lib.cuh", "lib")
    names = ("beside", "sibling", "above", "absolute", "lib")
    kernels = "".join(f"__global__ void by_{name}(float *x) {{ {name}(x); }}\n" for name in names)
    includes = ['"parts/beside.cuh"', '"../above/above.cuh"', f'"{tmp_path}/above/absolute.cuh"', "<lib/lib.cuh>"]
    text = "".join(f"#include {name}\n" for name in (*includes, *includes[::-1])) + "#if PLAIN\n" + kernels + "#endif\n"
    (tmp_path / "main" / "main.cu").write_text(text)
    program = cudakern.compile(tmp_path / "main" / "main.cu", flags=[f"-I{tmp_path}/flags"])
    for name in names:
        reversed_by(program[f"by_{name}"])
    (tmp_path / "above" / "above.cuh").write_text(
        "#pragma once\n__device__ int above() {\n extern __shared__ int t[];\n oops; }"
    )
    with pytest.raises(cudakern.CompileError, match=r"above/above\.cuh:4:(?:\d+:)? error: .*oops.*\n.* oops; }"):
        cudakern.compile(tmp_path / "main" / "main.cu", flags=["-I", f"{tmp_path}/flags"])
    text = f'#include "{tmp_path}/above/absolute.cuh"\n__global__ void f(float *x) {{ absolute(x); }}'
    header("above/above.cuh", "above")
    reversed_by(cudakern.compile(text).f)


@pytest.mark.parametrize("backend", ["emulator"], indirect=True)
def test_an_error_shows_the_declaration_as_it_is_written():
    with pytest.raises(cudakern.CompileError, match=r"kernels\.cu:2:") as failure:
        cudakern.compile("__global__ void f(float *x) {\n    extern __shared__ unknown t[];\n}")
    assert "extern __shared__ unknown t[];" in str(failure.value)
