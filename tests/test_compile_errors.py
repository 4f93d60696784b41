"""compile: what its errors say, of sources and of launches. (Errors of the cache are in test_compile_cache.py.)"""

import pickle
import re
import time
import traceback
from pathlib import Path

import numpy as np
import pytest

import cudakern
from cudakern.own import compilers
from own_kernels import ADD_ONE, floats

pytestmark = pytest.mark.usefixtures("backend")
on_the_emulator = pytest.mark.parametrize("backend", ["emulator"], indirect=True)


# --- errors of the compiler ------------------------------------------------------------------------------------------
def test_errors_have_the_sources_lines():
    with pytest.raises(cudakern.CompileError) as failure:
        cudakern.compile(
            "__global__ void broken(int *x) {\n    x[0] = y;\n    extern __shared__ int s[];\n    z();\n}\n"
        )
    text = str(failure.value)
    assert re.search(r"^kernels\.cu:2:(12:)? error: .*(y.*(not declared|undefined)|undeclared.*y)", text, re.M)
    assert re.search(r"^kernels\.cu:4:(5:)? error: .*(z.*(not declared|undefined)|undeclared.*z)", text, re.M)
    assert "   x[0] = y;" in text
    assert "set.cuh" not in text
    assert "generated" not in text
    assert text.split(":\n")[0] == "kernels.cu was not compiled"
    assert failure.value.log.count("error") >= 2
    files = [Path(frame.filename).name for frame in traceback.extract_tb(failure.value.__traceback__)]
    assert files == [Path(__file__).name, "_errors.py"]


WRONG_NAMES = """
#define CHECK(call) do { cudaError_t code = call; if (code) return 1; } while (0)
#define SIZE (1 << 2)
__device__ __forceinline__ float twice(float   x) { return   2 * x + no1; }
__global__ void k(float *x, int n) { x[0] = no2; }
template <typename T, int N = SIZE> __global__ void t(T *x)
{
\textern __shared__ T s[];   __shared__ int c; /* é */ c = no3;
}
int main() {
\tfloat *d = NULL, h[SIZE]; int e = SIZE + no4;
    CHECK(cudaMemcpy(d, h,
                     sizeof h * no5, cudaMemcpyHostToDevice));
    k<<<1, no6>>>(d, 1); t<float>  <<<no7, 1, SIZE>>>(d + no8); k<<<1, 1>>>(no9, 1); int f = no10;
    k
      <<<dim3(1, no11),
         32>>>(d,
               no12);
    printf("%s é", "é", no13);
}
"""


@on_the_emulator
def test_errors_point_at_the_words_as_they_are_written(tmp_path):
    """In spite of macros, tabs and what the translation inserts; g++ counts a tab as up to 8 columns."""
    (tmp_path / "wrong.cu").write_text("#include <cstdio>" + WRONG_NAMES)
    with pytest.raises(cudakern.CompileError) as failure:
        cudakern.run(tmp_path / "wrong.cu")
    found = re.findall(r"wrong\.cu:(\d+):(\d+): error: .(no\d+). was not declared", failure.value.log)
    lines = [line.expandtabs(8) for line in WRONG_NAMES.split("\n")]
    places = {name: (i, line.index(name)) for i, line in enumerate(lines, 1) for name in re.findall(r"\bno\d+", line)}
    assert {name: (int(line), int(column) - 1) for line, column, name in found} == places
    assert "    k<<<1, no6>>>(d, 1); t<float>" in failure.value.log
    assert "emu" not in failure.value.log.replace(str(tmp_path), "")


KERNEL = "__global__ void k(int *x, int n) { x[0] = n; }\n"
DEVICE = "__device__ int twice(int x) { return 2 * x; }\n"
HOST = "int half(int x) { return x / 2; }\n"


@on_the_emulator
@pytest.mark.parametrize(
    "source, words",
    [
        ("{KERNEL} int main() { k«<<<»1>>>(0, 1); }", "a launch has two to four values in .*, not 1"),
        ("{KERNEL} int main() { k«<<<»1, 2, 0, 0, 0>>>(0, 1); }", "a launch has two to four values in .*, not 5"),
        ("{KERNEL} int main() { k«<<<»1, 2>>(0, 1); }", "a launch is written kernel<<<.*: `>>>` is missing"),
        ("{KERNEL} int main() { k«<<<»1, 2>>>; }", r"a launch is written kernel<<<.*: `\(` is missing"),
        ("__global__ int *«f»(int x) {}", "a __global__ function must have a void return type"),
        ("struct S { __global__ void «f»() {} };", "a __global__ function cannot be a member function"),
        ("__global__ void f() { __shared__ int «s» = 3; }", "initializer not allowed for __shared__ variable"),
        ("{KERNEL} int main() { if (true) «k»(0, 1); }", "a __global__ function call must be configured: k<<<"),
        ("{HOST} int main() { «half»<<<1, 1>>>(2); }", "a __host__ function call cannot be configured"),
        ("{DEVICE} int main() { «twice»<<<1, 1>>>(2); }", "a __device__ function call cannot be configured"),
        ("{DEVICE} int main() { return «twice»(2); }", r'calling a __device__ function \("twice"\) from a __host__ f'),
        ("{HOST} __global__ void f(int *x) { x[0] = «half»(2); }", r"calling a __host__ .* from a __global__ function"),
        ("{HOST} __device__ int f(int x) { return «half»(x); }", r"calling a __host__ .* from a __device__ function"),
        ("int main() { return «threadIdx».x; }", 'identifier "threadIdx" is undefined in a __host__ function'),
        ("int main() { «__syncthreads»(); }", "calling a __device__ function .* from a __host__ function"),
        ("int main() { «__shared__» int s[4]; }", "a __shared__ variable cannot be declared in a __host__ function"),
        (
            "#include <iostream>\n__global__ void f() { std::«cout» << 1; }",
            "identifier .std::cout. is undefined in device code.*: use printf",
        ),
        (
            "int n = 5; __global__ void f(int *x) { x[0] = «n»; }",
            'identifier "n" is undefined in device code: .* pass it',
        ),
        (
            "static float t[4]; __device__ void f(int i) { «t»[i] = 1; } __global__ void g() { f(1); }",
            ".* pass a pointer",
        ),
        ("int n; __global__ void f(int *x) { if (x[0] < 1 && x[1] > «n») x[0] = 0; }", "identifier"),
        ("const float t[2] = {1, 2}; __global__ void f(float *x, int i) { x[0] = «t»[i]; }", 'identifier "t" is undef'),
        ("const int n = 2, *p = &n; __global__ void f(int *x) { x[0] = *«p» + n; }", 'identifier "p" is undefined'),
        (
            "#include <cmath>\nconst double n = acos(-1.0); __global__ void f(double *x) { x[0] = «n»; }",
            ".* of the host",
        ),
        (
            "int n; template <class T> __global__ void f(T *x) { x[0] = «n»; } int main() { f<<<1, 1>>>((int *)0); }",
            "id",
        ),
        (
            "__global__ void f() { «threadIdx».x = 5; }",
            "expression must be a modifiable lvalue: threadIdx cannot be ass",
        ),
        (
            "__constant__ int c[4]; __global__ void f(int i) { «c»[i] += 1; }",
            "expression must be a modifiable lvalue: k",
        ),
        ("__global__ void f() { «cudaDeviceSynchronize»(); }", 'calling a __host__ .*"f".* is not allowed: the host w'),
        (
            "#include <cstdlib>\n__device__ int f() { return «rand»(); }",
            'calling a __host__ .*"rand".*: use curand_kernel',
        ),
    ],
)
def test_what_nvcc_refuses(tmp_path, source, words):
    for name in ("KERNEL", "DEVICE", "HOST"):
        source = source.replace(f"{{{name}}}", globals()[name])
    before, word, _ = re.split("[«»]", source)
    (tmp_path / "wrong.cu").write_text(re.sub("[«»]", "", source))
    with pytest.raises(cudakern.CompileError) as failure:
        cudakern.run(tmp_path / "wrong.cu")
    line, column = before.count("\n") + 1, len(before.split("\n")[-1])
    (error,) = [text for text in failure.value.log.split("\n") if "error" in text]
    assert re.search(rf"wrong\.cu:{line}:{column + 1}: error: {words}", error)
    assert failure.value.log.endswith(f"      | {' ' * column}^{'~' * (len(word) - 1)}\n")


@on_the_emulator
def test_what_only_looks_like_a_call_that_nvcc_refuses(tmp_path):
    """Names that stand for other things as well, lambdas and functors of the device, and functions of both sides."""
    (tmp_path / "right.cu").write_text(r"""
    #include <algorithm>
    using namespace std;
    #define BOTH __host__ __device__
    BOTH int twice(int x) { return 2 * x; }
    constexpr int half(int x) { return x / 2; }
    __device__ int min(int a) { return a; }
    __global__ void __launch_bounds__(int(32)) fill(int *x, int n) { x[0] = twice(half(n)) + min(n); }
    __global__ void run(int *x) { fill<<<1, 1>>>(x, 6); }
    struct Solver {
        int *x;
        void run() { ::run<<<1, 1>>>(x); }
        void go() { run(); }
    };
    template <class F> __global__ void call(F f, int *x) { x[0] += f(1); }
    __device__ int square(int x) { return x * x; }
    struct Squared { __device__ int operator()(int x) const { return square(x + 1); } };
    int main() {
        int h[4], *x;
        dim3 blockDim(1), threadIdx(1);
        auto cube = [](int x) { return x * x * x; };
        fill(h, h + 4, min(1, 2));
        cudaMallocManaged(&x, 4);
        Solver{x}.go();
        call<<<threadIdx.x, blockDim>>>([=] __device__ (int i) { return square(i); }, x);
        call<<<1, 1>>>(Squared{}, x);
        cudaDeviceSynchronize();
        return *x == 6 + 6 + 1 + 4 && cube(h[0]) == 1 && twice(2) == 4 ? 0 : 1;
    }""")
    assert cudakern.run(tmp_path / "right.cu").exit_code == 0


@on_the_emulator
def test_variables_of_the_device_that_the_host_uses(tmp_path, capsys):
    """nvcc warns (20091-D, 20092-D), and so on these lines; passing on an address is no use."""
    text = r"""
    #include <cstdio>
    __device__ int n, *p, many[4]; __constant__ float c[4]; __managed__ int both;
    __global__ void k(int *x) { ++n; }
    void show(const void *) {}
    void change(int &) {}
    int main() {
        int local = 0, *at;
        n = 0;  // written
        many[1] += 2;  // written
        printf("%d", n);  // read
        if (c[2] > local) return n;  // read read
        const int copy = n + 1;  // read
        *p = 3;  // read
        k<<<1, n>>>(p);  // read read
        both = copy;
        cudaMemcpyToSymbol(n, &local, 4);
        cudaMemcpyFromSymbol(&local, c, sizeof(c));
        cudaGetSymbolAddress((void **)&at, many);
        show(&n), show(many), change(n), show((const void *)&n);
        return local + sizeof n;
    }"""
    (tmp_path / "warned.cu").write_text(text)
    cudakern.run(tmp_path / "warned.cu")
    found = re.findall(r'warned.cu:(\d+):\d+: warning: a __\w+__ variable "\w+" cannot be directly (\w+) in a host',
                       capsys.readouterr().err)  # fmt: skip
    lines = text.split("\n")
    assert found == [(str(i), verb) for i, line in enumerate(lines, 1) for verb in line.partition("//")[2].split()]


@on_the_emulator
def test_members_with_the_name_of_a_variable_of_the_device(tmp_path, capsys):
    (tmp_path / "right.cu").write_text(r"""
    __device__ int counter;
    __device__ unsigned seed;
    struct Counts { int counter = 0; int get() { return counter; } };
    struct Random { unsigned next(); unsigned seed; };
    unsigned Random::next() { seed = 3 * seed; return seed; }
    __global__ void k() { counter = 1, seed = 2; }
    int main() { return Counts().get() + Random{0}.next(); }""")
    assert cudakern.run(tmp_path / "right.cu").exit_code == 0
    assert "warning" not in capsys.readouterr().err


@on_the_emulator
def test_variables_of_the_host_that_nvcc_does_not_refuse(tmp_path):
    """Constants, names that stand for other things in device code, and templates that nobody uses."""
    (tmp_path / "right.cu").write_text(r"""
    #include <texture_types.h>
    const int N = 2 * 16, M = N + 1;
    const float half = 0.5f, third = 1.0f / 3;
    constexpr double pi = 3.14;
    const dim3 shape(2, 3);
    enum Kind { SUM, MAX };
    struct Pair { int i, j; };
    constexpr Pair pair = {1, 2};
    int i = 1, j, table[3], *rest, many;
    __managed__ int shown;
    __device__ int kept, counts[4];
    extern __shared__ int dynamic[];
    int rand(int seed);
    namespace a { int twin; }
    namespace b { __device__ int twin; __device__ int of() { return twin; } }
    template <class T> __device__ T unused(T x) { return x + j; }
    template <int j> __device__ int times(int x) { return j * x; }
    template <class T, int N> struct Array { T of[N]; };
    struct Sum { int rest; __device__ int of() const { return rest; } };
    __device__ void both(int (&table)[3]) { table[0] = kept = sizeof(rest); }
    __host__ __device__ int wide(int x) { return x; }
    inline __host__ __device__ int of_host() { return j; }
    __global__ void k(int *x) {
        __shared__ float shared[N];
        int m, i, own[3], threads = blockDim.x;
        auto add = [](int j) { return j + 1; };
        dynamic[0] = counts[0] = SUM + shape.x + pair.i + sizeof(table) / sizeof(table[0]);
        for (i = 0; i < M; ++i) shared[i % N] = half + third + pi;
        both(own);
        Sum rest = {times<3>(4)};
        Array<int, 2> many = {};
        many.of[1] = x[0];
        shown = x[0] = add(rest.of()) + b::of() + wide(threads) + (rest.rest == 12);
    }
    int main() {
        cudaMallocManaged(&rest, 4);
        k<<<1, 1, 4>>>(rest);
        cudaDeviceSynchronize();
        return *rest == 15 && shown == 15 ? a::twin + of_host() : 1;
    }""")
    assert cudakern.run(tmp_path / "right.cu").exit_code == 0


@pytest.mark.parametrize(
    "source, words",
    [
        ("int x;", "has no kernel: no function is declared with __global__"),
        (
            "#include <nowhere.h>\n__global__ void f() {}",
            r"kernels\.cu:1:(10: fatal)? error: .*nowhere\.h|catastrophic",
        ),
        ("\n__global__ void f() {", r"kernels\.cu:2: a brace { is never closed"),
        ("\n" * 9 + "#error no\n__global__ void f() {}", r"kernels\.cu:10:(2:)? (catastrophic )?error: (#error.* )?no"),
        ("int x;\n__global__ int f() { return 1; }", r"kernels\.cu:2: f is a kernel, and must return void"),
        (
            "__global__ void f(int &x) {}",
            r"kernels\.cu:1: f is a kernel, whose parameters cannot be references: `int &x`",
        ),
        ("__global__ void f(int n, ...) {}", r"kernels\.cu:1: f is a kernel, which cannot have `...`"),
        (
            "__global__ void f(int *x) {}\n__global__ void f(float *x) {}",
            r"kernels\.cu: f stands for several kernels: give each a name of its own",
        ),
    ],
)
def test_sources_that_do_not_compile(source, words):
    with pytest.raises(cudakern.CompileError, match=words):
        cudakern.compile(source)


@on_the_emulator
def test_a_function_that_is_nowhere():
    source = "__device__ int g(int); __global__ void f(int *x) { x[0] = g(1); }"
    for _ in range(2):
        with pytest.raises(
            cudakern.CompileError, match=r"kernels\.cu uses .*g.*, which it declares and does not define"
        ):
            cudakern.compile(source)


def test_kernels_that_the_source_does_not_have():
    program = cudakern.compile(ADD_ONE + "template <typename T> __global__ void scale(T *x) {}")
    for name in ("add_tow", "nothing"):
        for get in (program.__getitem__, program.__getattr__):
            with pytest.raises(AttributeError, match=f"unknown kernel '{name}': .*known: add_one, scale"):
                get(name)
    with pytest.raises(TypeError, match=r"add_one is not a template: write program\['add_one'\]"):
        program["add_one<float>"]
    with pytest.raises(cudakern.CompileError, match=r"has no kernel scale<oops>: .*oops"):
        program["scale<oops>"][1, 1](floats())
    with pytest.raises(TypeError, match="a kernel is chosen by its name"):
        program[0]
    with pytest.raises(TypeError, match="float \\*\\*x`, points to pointers: pass a uint64 array of device addresses"):
        cudakern.compile("__global__ void f(float **x) {}").f[1, 1](floats())


def test_arguments_of_compile():
    with pytest.raises(TypeError, match=r"instances must be a list of names, such as \['f<int>'\]"):
        cudakern.compile(ADD_ONE, instances="f<int>")
    with pytest.raises(ValueError, match="name must be the name of a file, without a folder, not 'a/b.cu'"):
        cudakern.compile(ADD_ONE, name="a/b.cu")
    for name in ("-fplugin=x.so", "@options", "two\nlines.cu", "nul\0.cu"):  # options of compilers, and of no file
        with pytest.raises(ValueError, match="name must not begin with - or @, and must be printable, not '"):
            cudakern.compile(ADD_ONE, name=name)
    with pytest.raises(ValueError, match="without a folder, not '..'"):
        cudakern.compile(ADD_ONE, name="..")
    assert cudakern.compile(ADD_ONE, name="my kernel (é).cu").kernels == ("add_one",)
    with pytest.raises(TypeError, match="source must be a str or a path, not int"):
        cudakern.compile(5)
    with pytest.raises(TypeError, match=r"flags must be a list of options, such as \['-DX=1', '-Wall'\], not a str"):
        cudakern.compile(ADD_ONE, flags="-DX=1 -Wall")
    with pytest.raises(TypeError, match="flags must be a list of options, not int"):
        cudakern.compile(ADD_ONE, flags=5)
    for flag in (3, None, b"-DX", "a\0b", "-DX\n#error no"):
        with pytest.raises(TypeError, match="each of flags must be a str of one line, not " + re.escape(repr(flag))):
            cudakern.compile(ADD_ONE, flags=[flag])
    with pytest.raises(TypeError, match="each of instances must be a str of one line, not 5"):
        cudakern.compile(ADD_ONE, instances=[5])
    for arch in (12, "sm_999", 90.5):
        with pytest.raises(ValueError, match=rf"arch must be a compute capability, .*, not {arch!r}; known: 3.5,"):
            cudakern.compile(ADD_ONE, arch=arch)


def test_what_stands_for_several_kernels():
    overloaded = "__global__ void over(int *a) {}\n__global__ void over(float *a) {}"
    with pytest.raises(cudakern.CompileError, match="over stands for several kernels: give each a name of its own"):
        cudakern.compile(overloaded)
    program = cudakern.compile("template <class A, class B> __global__ void two(A *a) {}")
    with pytest.raises(
        cudakern.CompileError, match="has no kernel two<float>: name all arguments of the template, a type for"
    ):
        program["two<float>"](1, 1, np.zeros(1, np.float32))
    with pytest.raises(cudakern.CompileError, match="has no kernel two<1, int>: name all arguments of the template"):
        program["two<1, int>"](1, 1, np.zeros(1, np.float32))
    with pytest.raises(TypeError, match=r"'two<int' names no kernel: write it as in program\['scale<float>'\]"):
        program["two<int"]
    program = cudakern.compile("template <typename T> struct type {};\n__global__ void f() {}")
    with pytest.raises(cudakern.CompileError, match=r"type<1> is no kernel, or its signature cannot be read \(.*type"):
        program["type<1>"](1, 1)


def test_a_kernel_that_a_macro_declares():
    program = cudakern.compile("#define KERNEL(name) __global__ void name(int *x) { x[0] = 1; }\nKERNEL(one)")
    with pytest.raises(AttributeError, match=r"unknown kernel 'one'.* If a macro declares it, write program\['one'\]"):
        program.one  # noqa: B018
    x = np.zeros(1, np.int32)
    program["one"](1, 1, x)
    assert x[0] == 1


def test_arrays_of_other_types_say_what_to_do():
    """For an array that the kernel writes: how the result is kept. (A copy made within the call would lose it.)"""
    program = cudakern.compile("__global__ void f(float *w, const float *r) {}\n__global__ void g(char *w) {}")
    x, wide = np.zeros(4, np.float32), np.zeros(4)
    cases = {
        "must be a float32 array, not float64": (wide, "x.astype('float32')"),
        "another byte order": (x.astype(">f4"), "x.astype('float32')"),
        "a pointer has no strides": (x[::2], "numpy.ascontiguousarray(x)"),
        "not contiguous, and a pointer has no strides": (cudakern.asarray(x)[::2], "x.copy()"),
        "not list": ([1.0], "numpy.asarray(x, 'float32')"),
    }
    for words, (array, conversion) in cases.items():
        y = cudakern.asarray(x) if isinstance(array, cudakern.DeviceArray) else x
        with pytest.raises((TypeError, ValueError), match=f"{words}.*: pass {re.escape(conversion)}$"):
            program.f(1, 1, y, array)
        kept = re.escape(f"take x = {conversion} before the call, and pass x, which then has the result")
        with pytest.raises((TypeError, ValueError), match=f"{words}.*: {kept}$"):
            program.f(1, 1, array, y)
    with pytest.raises(
        ValueError, match=r"read-only, .*: take x = x.copy\(\) before the call, and pass x.*; or declare"
    ):
        program.f(1, 1, np.broadcast_to(x, x.shape), x)
    masked = np.ma.masked_array(x)
    with pytest.raises(TypeError, match=r"`const float \*r`, is a masked .* be lost: take x.filled\(0\) or x.data$"):
        program.f(1, 1, x, masked)
    with pytest.raises(TypeError, match=r"`float \*w`, is a masked array.* be lost: take x.data, whose memory it is$"):
        program.f(1, 1, masked, x)
    with pytest.raises(TypeError, match=r"must be an int8 array, not bytes8: pass its bytes, x.view\('int8'\)"):
        program.g(1, 1, np.zeros(1, "S1"))


def test_numbers_beyond_a_type():
    pytest.importorskip("ml_dtypes")
    program = cudakern.compile(
        "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n"
        "template <typename T> __global__ void set(T value, float *x) { x[0] = static_cast<float>(value); }",
        instances=["set<float>", "set<double>", "set<__half>", "set<__nv_bfloat16>"],
    )
    x = np.zeros(1, np.float32)
    largest = {
        "float": ("float32", 3.4028234e38),
        "__half": ("float16", 65504.0),
        "__nv_bfloat16": ("bfloat16", 3.3895e38),
    }
    for name, (dtype, number) in largest.items():
        for value in (number, -number, np.inf, -np.inf):
            program[f"set<{name}>"][1, 1](value, x)
            np.testing.assert_allclose(x[0], value, rtol=1e-2)
        program[f"set<{name}>"][1, 1](np.nan, x)
        assert np.isnan(x[0])
        for value in (1.01 * number, -1.01 * number, 1e300, 10**400):
            words = f"argument 1, `T value`, must be within the range of {dtype}, or infinite, not {value!r:.60}"
            with pytest.raises(OverflowError, match=re.escape(words)):
                program[f"set<{name}>"][1, 1](value, x)
    program["set<double>"][1, 1](1e300, x)
    assert np.isinf(x[0])


def test_most_parameters():
    numbers = [", ".join(f"int a{i}" for i in range(count)) for count in (63, 64)]
    program = cudakern.compile(
        f"__global__ void most(int *x, {numbers[0]}) {{ x[0] = a62; }}\n"
        "template <int N> struct Bytes { char of[N]; };\n"
        "template <int N> __global__ void bytes(Bytes<N> by, char *x) { x[0] = by.of[N - 1]; }",
        instances=["bytes<1024>", "bytes<1025>"],
    )
    x = np.zeros(1, np.int32)
    program.most[1, 1](x, *range(63))
    assert x[0] == 62
    # NVRTC says it when it compiles the kernel.
    of_launch = "more has 65 parameters; at most 64 are allowed. Pass a struct of several"
    with pytest.raises(
        (ValueError, cudakern.CompileError), match=f"{of_launch}|a kernel may have at most 64 parameters"
    ):
        cudakern.compile(f"__global__ void more(int *x, {numbers[1]}) {{}}").more[1, 1](x, *range(64))
    letters = np.zeros(1, np.int8)
    program["bytes<1024>"][1, 1](np.array([b"a" * 1024])[0].view("V1024"), letters)
    assert letters[0] == ord("a")
    with pytest.raises(ValueError, match="passed by value exceed 1024 bytes in all. Pass a pointer to an array"):
        program["bytes<1025>"][1, 1](np.zeros(1, "V1025")[0], letters)


def test_programs_are_not_pickled():
    program = cudakern.compile(ADD_ONE)
    for what in (program, program.add_one, program.add_one[1, 2]):
        with pytest.raises(TypeError, match="a Program cannot be copied or pickled, .* pickle its source, str.program"):
            pickle.dumps(what)
    assert pickle.loads(pickle.dumps(program.source)) == ADD_ONE


@on_the_emulator
@pytest.mark.parametrize(
    "flags",
    [["-fsyntax-only"], ["-E"], ["-c"], ["-S"], ["-M"], ["--version"], ["-###"], ["-Wl,--version"]],
    ids=" ".join,
)
def test_flags_with_which_nothing_is_compiled(flags):
    message = (
        "ended without an error, but wrote no shared library. If a flag lets it do something else, .* leave that out"
    )
    with pytest.raises(cudakern.CompileError, match=message):
        cudakern.compile(ADD_ONE, flags=flags)


def test_a_long_line_with_many_errors():
    started = time.process_time()
    with pytest.raises(cudakern.CompileError) as failure:
        cudakern.compile(ADD_ONE + 50_000 * "#")
    assert time.process_time() - started < 5  # without the compiler's own time; the whole line with each error: 30 s
    assert len(str(failure.value)) < 20_000


@on_the_emulator
def test_without_a_compiler(monkeypatch):
    compilers.compiler.cache_clear()
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(cudakern.CompileError, match="needs a C.. compiler.*apt install"):
        cudakern.compile(ADD_ONE + "// no compiler")
    for command, words in (("'a", "No closing quotation"), ("g++ '", "No closing quotation"), ("g++ \\", "No escaped")):
        monkeypatch.setenv("CXX", command)
        message = f"CXX={command!r} cannot be read as a command ({words}"
        with pytest.raises(cudakern.CompileError, match=re.escape(message)):
            cudakern.compile(ADD_ONE)
        assert cudakern.emulator.compile_flags()
    monkeypatch.setenv("CXX", "/nowhere/g++")
    with pytest.raises(cudakern.CompileError, match="'/nowhere/g..' cannot be run: No such file"):
        cudakern.compile(ADD_ONE + "// no compiler")
    compilers.compiler.cache_clear()


@on_the_emulator
def test_features_that_the_emulator_lacks(tmp_path):
    """One error, on the source's line: for a header that would cause hundreds, and for a qualifier without effect."""
    use = "__global__ void f(cufftComplex *x) {}"
    message = r"the emulator has no cuFFT \(cufft\.h\): run this program on a GPU"
    with pytest.raises(cudakern.CompileError, match=rf"^kernels\.cu:2: {message}$") as failure:
        cudakern.compile(f"// transforms\n#include <cufft.h>\n{use}")
    assert "cuFFT" in failure.value.log
    (tmp_path / "tiles.cuh").write_text(f"\n\n#include <cufft.h>\n{use}")
    (tmp_path / "product.cu").write_text('#include "tiles.cuh"')
    with pytest.raises(cudakern.CompileError, match=rf"tiles\.cuh:3: {message}$"):
        cudakern.compile(tmp_path / "product.cu")
    with pytest.raises(
        cudakern.CompileError, match=r"kernels\.cu:2:.*has no __cluster_dims__: .* from Python has no clusters"
    ):
        cudakern.compile("\n__global__ void __cluster_dims__(2) f() {}")


@on_the_emulator
@pytest.mark.parametrize(
    "source, error",
    [
        ("struct S { S(const S &) = delete; }; __global__ void «f»(S s) {} int main() {}", "deleted"),
        ("struct P { int a[3]; }; __global__ void f(P *p) { p[0] = __shfl_sync«(»-1, p[0], 0); }",
         "lanes can exchange only numbers of at most 8 bytes"),
        ("__global__ void f(int *x) { «asm»(\"bogus.u32 %0, 1;\" : \"=r\"(x[0])); } int main() { f<<<1, 1>>>(0); }",
         "the emulator does not have the PTX instruction bogus.u32"),
        ("«#»include <cufft.h>", "the emulator has no cuFFT (cufft.h): run this program on a GPU"),
        ("#include «<»helper_cuda.h>", "helper_cuda.h: No such file or directory"),
    ],
)  # fmt: skip
def test_messages_do_not_show_the_emulators_code(tmp_path, source, error):
    before, word, after = re.split("[«»]", source)
    (tmp_path / "wrong.cu").write_text(before + word + after)
    with pytest.raises(cudakern.CompileError) as failure:
        cudakern.run(tmp_path / "wrong.cu")
    log = failure.value.log
    assert f"wrong.cu:1:{len(before) + 1}: " in log
    assert re.search(f"error: .*{re.escape(error)}.*\n", log)
    assert not re.search(r"emu(_|::)|<launch>|csrc|include/emulator", log)
    assert ("note: it belongs to NVIDIA's samples: clone" in log) == ("helper_cuda" in source)


@on_the_emulator
def test_messages_of_the_linker(tmp_path):
    for text, error in (
        ("__global__ void f() {}", "^no source defines the function main, with which a program begins\n$"),
        ("int g();\nint main() { return g(); }", r"^\S*wrong\.cu:2: undefined reference to `g\(\)'\n$"),
    ):
        (tmp_path / "wrong.cu").write_text(text)
        with pytest.raises(cudakern.CompileError) as failure:
            cudakern.run(tmp_path / "wrong.cu")
        assert re.search(error, failure.value.log)


# --- errors of launches ----------------------------------------------------------------------------------------------
@pytest.fixture
def add_one():
    return cudakern.compile(ADD_ONE).add_one


def test_arguments_that_do_not_fit(add_one):
    x, y = floats(), np.zeros(1000, np.float32)
    wrong = {
        "has 3 parameters .const float .x, float .y, int n., but got 2": (TypeError, (x, y)),
        "argument 1, `const float .x`, must be a float32 array, not float64: .* x.astype": (
            TypeError,
            (x.astype(np.float64), y, 1),
        ),
        "argument 2, `float .y`, must be a NumPy array or an array on the device, not list": (
            TypeError,
            (x, [1.0], 1),
        ),
        "shape .500,. and strides .8,., and a pointer has no strides": (ValueError, (x[::2], y, 1)),
        "argument 2, `float .y`, is read-only": (ValueError, (x, np.broadcast_to(y, y.shape), 1)),
        "another byte order": (TypeError, (x.astype(">f4"), y, 1)),
        "masked": (TypeError, (np.ma.masked_array(x), y, 1)),
        "pass both of one kind": (TypeError, (x, cudakern.asarray(y), 1)),
        "argument 3, `int n`, must be an integer, not 1.5": (TypeError, (x, y, 1.5)),
        "argument 3, `int n`, must be from -2147483648 to 2147483647, not 4294967296": (OverflowError, (x, y, 2**32)),
        "argument 3, `int n`, is a value, not a pointer: an array of shape .2,.": (TypeError, (x, y, np.zeros(2))),
        "arguments 1 and 2 overlap": (ValueError, (x[1:], x[:-1], 1)),
    }
    for words, (kind, arguments) in wrong.items():
        with pytest.raises(kind, match=words):
            add_one[4, 256](*arguments)
    with pytest.raises(ValueError, match="not contiguous"):
        add_one[4, 256](cudakern.asarray(x)[::2], cudakern.asarray(y), 1)


def test_arguments_have_no_names(add_one):
    x, y = floats(), np.zeros(1000, np.float32)
    by_position = r"add_one takes its arguments by position, .* \(const float .x, float .y, int n\), not as n=\.\.\."
    for launch in (lambda **words: add_one[4, 256](x, y, **words), lambda **words: add_one(4, 256, x, y, **words)):
        with pytest.raises(TypeError, match=by_position):
            launch(n=1000)
    for words, how in (
        ({"stream": None}, r"add_one: stream is written as in add_one\[grid, block, shared, stream\]"),
        ({"cooperative": True}, r"add_one: cooperative is written as in add_one\(grid, block, .*, cooperative=True\)"),
    ):
        with pytest.raises(TypeError, match=how):
            add_one[4, 256](x, y, 1000, **words)


@pytest.mark.parametrize(
    "grid, block, kind, words",
    [
        ((), 1, ValueError, r"grid must be an integer of at least 1 or a tuple of up to three, not \(\)$"),
        (1, (), ValueError, r"block must be an integer of at least 1 or a tuple of up to three, not \(\)$"),
        (0, 1, ValueError, "grid must be an integer of at least 1.*an empty input needs no launch"),
        (1000 / 256, 1, TypeError, "use //"),
        (1, (1, 2, 3, 4), ValueError, "block must be"),
        (True, 1, TypeError, "grid must be"),
        (1, 1025, cudakern.CudaError, r"add_one<<<\(1,1,1\),\(1025,1,1\),0>>>"),
        ((1, 65536), 1, cudakern.CudaError, r"add_one<<<\(1,65536,1\),\(1,1,1\),0>>>"),
    ],
)
def test_sizes_that_do_not_fit(add_one, grid, block, kind, words):
    with pytest.raises(kind, match=words):
        add_one[grid, block](floats(), floats(), 1)


def test_sizes_beyond_all_devices(add_one):
    x = floats()
    for grid in (2**31, (1, 2**40), 2**70):
        with pytest.raises(ValueError, match=r"add_one: grid .*at most 2147483647 blocks along x"):
            add_one[grid, 1](x, x, 1)
    with pytest.raises(ValueError, match=r"add_one: block .* not 2147483648 .at most 1024 threads."):
        add_one[1, 2**31](x, x, 1)
    for kind, shared in ((ValueError, -1), (ValueError, 2**70), (TypeError, 1.5)):
        with pytest.raises(
            kind, match=re.escape(f"shared must be a number of bytes, an integer of at least 0, not {shared}")
        ):
            add_one(1, 1, x, x, 1, shared=shared)
    with pytest.raises(cudakern.CudaError, match=r"dynamic shared memory|shared"):
        add_one(1, 1, x, x, 1, shared=10**9)


def test_a_launch_without_grid_and_block(add_one):
    with pytest.raises(TypeError, match=r"not ndarray: grid and block come first, as in add_one\[grid, block\]"):
        add_one(floats(), floats(), 1000)
    with pytest.raises(TypeError, match=r"in brackets: add_one\[grid, block\]\(.*\), or add_one\[grid, block, shared"):
        add_one[4](floats(), floats(), 1000)


def test_a_call_without_a_grid_says_how_to_launch():
    program = cudakern.compile("__global__ void add_one(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 1; }")
    how = r"a launch needs a grid and a block, in brackets: add_one\[grid, block\]\(float \*x, int n\)$"
    for arguments in ((), (np.zeros(3, np.float32),)):
        with pytest.raises(TypeError, match=how):
            program.add_one(*arguments)
    with pytest.raises(
        AttributeError, match=r"unknown kernel 'g': known: add_one\. A launch is written program\.add_one\["
    ):
        program.g(3)


def test_a_write_through_a_pointer_to_const_is_noticed():
    program = cudakern.compile("""
        __global__ void cast(const float *x, float *y) { ((float *)x)[1] = 3; y[0] = x[0]; }
        __global__ void const_cast_to(const float *x, int n) { float *p = const_cast<float *>(x); if (n > 3) p[0] = n; }
        __global__ void reads(const float *x, float *y) { y[0] = ((float4 *)x)[0].y; }""")
    x, y = np.arange(4, dtype=np.float32), np.zeros(1, np.float32)
    message = r"argument 1, `const float \*x`, was written through a cast, .* not copied back: declare it `float \*x`"
    with pytest.raises(ValueError, match=message):
        program.cast[1, 1](x, y)
    with pytest.raises(ValueError, match=message):
        program.const_cast_to[1, 1](x, 4)
    program.const_cast_to[1, 1](x, 3)  # does not write
    program.reads[1, 1](x, y)
    assert y == 1
    assert x.tolist() == [0, 1, 2, 3]


def test_errors_of_written_arrays_do_not_suggest_a_conversion_in_the_call():
    program = cudakern.compile("__global__ void add_one(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 1; }")
    for x in (np.zeros(4), [1, 2, 3], np.zeros((4, 2), np.float32)[:, 1], np.zeros(4, ">f4")):
        with pytest.raises(
            (TypeError, ValueError), match=r"take x = .* before the call, and pass x, which then has the result"
        ):
            program.add_one[1, 4](x, 4)
