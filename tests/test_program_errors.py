"""Calls of whole programs that fail: what is said of those at which the program does not look."""

import platform
import re

import pytest

import cudakern as ck

IGNORED = r"""#include <cstdio>
#include <cuda_runtime.h>
__constant__ int table[4];
int main() {
    int h[10] = {}, *d, *big;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyHostToDevice);
    cudaMemcpy(d, /* a comment; */ h,
               400, cudaMemcpyHostToDevice);
    if (h[0] == 0) cudaMalloc((void **)&big, 1ull << 40);
    cudaFree(h);
    cudaMemcpyToSymbol(table, h, sizeof h);
    cudaSetDevice(7);
    for (int i = 0; i < 3; ++i) { cudaStreamSynchronize((cudaStream_t)d); }
    cudaFree(d);
    printf("end\n");
END
}
"""
#: Of each line, the call and what is said of it.
SAID = {
    7: ("cudaMemcpy", "cudaErrorInvalidValue (1): the destination ... use cudaMemcpyDeviceToHost"),
    8: ("cudaMemcpy", "cudaErrorInvalidValue (1): 400 bytes at the destination ... only 40 bytes remain"),
    10: ("cudaMalloc", "cudaErrorMemoryAllocation (2): 1024.0 GiB on device 0; "),
    11: ("cudaFree(0x...)", "cudaErrorInvalidValue (1): the address is memory of the host"),
    12: ("cudaMemcpyToSymbol", "cudaErrorInvalidValue (1): 40 bytes from byte 0 on; the symbol has only 16 bytes"),
    13: ("cudaSetDevice", "cudaErrorInvalidDevice (101): device 7 does not exist"),
    14: ("cudaStreamSynchronize", "cudaErrorInvalidResourceHandle (400): 0x... is not a stream"),
}


def matches(lines, form):
    """Whether the lines are those of SAID: `form` names its parts."""
    forms = [form.format(line=line, call=call, what=what) for line, (call, what) in SAID.items()]
    return len(forms) == len(lines) and all(
        re.match(re.escape(form).replace(r"\.\.\.", ".*"), line) for form, line in zip(forms, lines, strict=True)
    )


@pytest.fixture
def printed(monkeypatch):
    monkeypatch.setenv("CUDAKERN_EMULATOR_PRINT", "1")
    with ck.use_backend("emulator"):
        yield


@pytest.mark.parametrize("end", ["", "abort();", "*(volatile int *)0 = 0;"])
def test_a_program_that_ignores_errors_is_told(tmp_path, monkeypatch, printed, end):
    (tmp_path / "program.cu").write_text(IGNORED.replace("END", end))
    monkeypatch.chdir(tmp_path)
    done = ck.run("program.cu")
    assert (done.exit_code == 0) == (not end)
    form = "cudakern: program.cu:{line}: {call} failed, and the program did not look: {what}"
    assert matches(done.errors.splitlines(), form), done.errors


def test_a_check_finds_them(tmp_path):
    (tmp_path / "program.cu").write_text(IGNORED.replace("END", ""))
    done = ck.run(tmp_path / "program.cu", check=True)
    assert not done.errors
    assert [(one.kind, one.line) for one in done.findings] == [("failure", line) for line in SAID]
    assert matches([*map(str, done.findings)], "{call}, program.cu:{line}: failed: {what}"), done.findings
    assert "test what cudaMalloc returns" in done.findings[2].advice


@pytest.mark.parametrize(
    "statement",
    [
        "CHECK(cudaFree(h));",
        "if (cudaFree(h) != cudaSuccess) puts(NAME);",
        "cudaError_t e =\n    cudaFree(h); if (e) puts(NAME);",
        "(void)cudaFree(h);",
        "cudaFree(h); if (cudaGetLastError()) puts(NAME);",
        "cudaFree(h); puts(cudaGetErrorString(cudaPeekAtLastError()));",
        "cudaDeviceEnablePeerAccess(0, 0) ? 0 : 1;",
        "while (cudaMalloc(&d, 1ull << 32) == cudaSuccess) {}",
        "cudaEvent_t e; cudaEventCreate(&e); slow<<<1, 1>>>(); cudaEventRecord(e); cudaEventQuery(e);",
    ],
)
def test_a_program_that_looks_is_not_told(tmp_path, printed, statement):
    (tmp_path / "program.cu").write_text(
        "#include <cstdio>\n#define CHECK(call) do { if (call) puts(NAME); } while (0)\n#define NAME __FILE__\n"
        "__global__ void slow() { for (volatile int i = 0; i < 100000; ++i) {} }\n"
        f"int main() {{\n  int h[4], *d;\n  {statement}\n  return 0;\n}}\n"
    )
    assert not ck.run(tmp_path / "program.cu").errors


def test_a_file_of_the_host_alone(tmp_path, monkeypatch, printed):
    (tmp_path / "program.cpp").write_text("#include <cuda_runtime.h>\nint main() {\n  cudaSetDevice(7);\n}\n")
    (tmp_path / "kernels.cu").write_text("__global__ void k() {}\n")
    monkeypatch.chdir(tmp_path)
    done = ck.run("program.cpp", flags=["kernels.cu"])
    assert done.errors.startswith("cudakern: program.cpp:3: cudaSetDevice failed")


def test_a_call_that_ends_a_function(tmp_path, monkeypatch, printed):
    """The compiler could make a jump of it, without a line."""
    (tmp_path / "program.cu").write_text(
        "#include <thread>\n__global__ void k() {}\nvoid release(int *p) {\n  cudaFree(p);\n}\nint main() {\n  int h;\n"
        "  release(&h);\n  std::thread([] { cudaSetDevice(3); }).join();\n"
        "  cudaLaunchKernel((void *)k, dim3(1), dim3(2048), nullptr, 0, 0);\n}\n"
    )
    monkeypatch.chdir(tmp_path)
    *others, launch = ck.run("program.cu").errors.splitlines()
    assert launch.startswith("cudakern: program.cu:10: kernel k: a block of (2048,1,1) threads")
    assert [line.partition(" failed")[0].partition("(")[0] for line in others] == [
        "cudakern: program.cu:4: cudaFree",
        "cudakern: program.cu:9: cudaSetDevice",
    ]


@pytest.mark.parametrize("flag", ["-O2", "-O0", "-G"])
def test_each_line_of_calls_by_one_wrapper(tmp_path, monkeypatch, printed, flag):
    """Functions of the headers may be inlined or not; what is called again from one line is said once."""
    (tmp_path / "program.cu").write_text(
        "void fill(int *d, int n) {\n  cudaMemset(d, 0, n);\n}\nint main() {\n  int *d;\n  cudaMalloc(&d, 16);\n"
        "  cudaMemset(d, 0, 32);\n  cudaMemset(d, 0, 33);\n  cudaMemset(d, 0, 34);\n"
        "  fill(d, 35);\n  fill(d, 36);\n}\n"
    )
    monkeypatch.chdir(tmp_path)
    lines = [line.split(":")[2] for line in ck.run("program.cu", flags=[flag]).errors.splitlines()]
    assert lines == ["7", "8", "9", "2"] or (flag == "-O2" and lines[:3] == ["7", "8", "9"])


LAUNCHES = """__global__ void k() {}
int main() {
    cudaError_t e = cudaSuccess;
    LAUNCH
    return END;
}
"""


@pytest.mark.parametrize("launch, is_told", [
    ("k<<<1, 2048>>>(); e = cudaGetLastError();", False),
    ("e = cudaLaunchKernel((void *)k, dim3(1), dim3(2048), nullptr, 0, 0);", False),
    ("cudaLaunchKernel((void *)k, dim3(1), dim3(2048), nullptr, 0, 0);", True),
    ("k<<<1, 2048>>>(); cudaDeviceSynchronize();", True),
    ("for (int i = 0; i < 2; ++i) { k<<<1, 2048>>>(); if (!i) cudaGetLastError(); }", True),
])  # fmt: skip
def test_a_refused_launch_that_the_program_handles(tmp_path, printed, launch, is_told):
    path = tmp_path / "program.cu"
    path.write_text(LAUNCHES.replace("LAUNCH", launch).replace("END", "0"))
    assert ("2048" in ck.run(path).errors) == is_told
    assert [one.line for one in ck.run(path, check=True).findings] == [4] * is_told


def test_why_a_launch_is_refused_if_the_program_does_not_end_well(tmp_path, printed):
    path = tmp_path / "program.cu"
    path.write_text(LAUNCHES.replace("LAUNCH", "k<<<1, 2048>>>(); e = cudaGetLastError();").replace("END", "e"))
    assert "program.cu:4: kernel k: a block of (2048,1,1) threads" in ck.run(path).errors
    assert [one.line for one in ck.run(path, check=True).findings] == [4]


def test_kernels_that_are_not_exported_have_names(tmp_path, printed):
    path = tmp_path / "program.cu"
    path.write_text(
        "static __global__ void own(int *out) { out[threadIdx.x] = 1; }\n"
        "namespace { __global__ void nameless(int *out) { out[threadIdx.x] = 1; } }\n"
        "template <typename F> __global__ void apply(F f, int *out) { f(out + threadIdx.x); }\n"
        "int main() {\n  int *d;\n  cudaMalloc(&d, 64);\n"
        "  own<<<1, 17>>>(d); nameless<<<1, 17>>>(d); apply<<<1, 17>>>([] __device__ (int *p) { *p = 3; }, d);\n"
        "  cudaFree(d);\n}\n"
    )
    names = ["own", "nameless", "apply<main::{lambda(int*)#1}>"]
    assert [line.split(": ")[1] for line in ck.run(path).errors.splitlines()] == [f"kernel {name}" for name in names]
    found = ck.run(path, check=True).findings
    assert [(one.kernel, one.array) for one in found] == [(name, "out") for name in names]


# --- kernels that fail ------------------------------------------------------------------------------------------------
FAILING = r"""#include <cstdio>
#include <cstdlib>
__global__ void beyond(int *p, int i) { p[i] = 1; }
__global__ void divides(int *p) { p[0] = p[1] / 0; }
int main(int, char **argv) {
    int *p, *q, h = 7;
    cudaMalloc(&p, 400);
    cudaMalloc(&q, 400);
    switch (atoi(argv[1])) {
    case 0: beyond<<<1, 1>>>(p, 100); break;
    case 1: divides<<<1, 1>>>(p); break;
    case 2: beyond<<<1, 1>>>(p, 1 << 27); cudaMemcpy(&h, q, 4, cudaMemcpyDeviceToHost); printf("%d\n", h); break;
    default:
        for (int i = 0; i < 3; ++i) beyond<<<1, 2000>>>(p, 1);
        beyond<<<0, 1>>>(p, 1);
    }
    cudaDeviceSynchronize();
}
"""


@pytest.fixture
def failing(tmp_path, monkeypatch, printed):
    (tmp_path / "program.cu").write_text(FAILING)
    monkeypatch.chdir(tmp_path)
    return lambda which: ck.run("program.cu", which)


def test_damage_names_the_allocation_and_the_launch(failing):
    assert failing(0).errors == (
        "cudakern: kernel beyond: a thread of the launch in program.cu:10 wrote beyond the end of an allocation of 400 "
        "bytes (bytes 400 to 403 have changed), allocated in program.cu:7. Let threads whose index is not in the array "
        "do nothing: if (i < n). `cudakern run --check` names the line\n"
    )


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other compilers' traps end the process")
def test_a_division_by_a_literal_zero(failing):
    error = failing(1).errors
    assert "kernel divides, program.cu:4, " in error
    assert "a division by 0" in error or "was divided by zero" in error


def test_nothing_is_copied_after_a_fault(failing):
    done = failing(2)
    assert done.output == "7\n"
    assert "kernel beyond, program.cu:3, block (0,0,0)" in done.errors


def test_each_line_whose_launch_is_refused_is_named(failing):
    first, second = failing(3).errors.splitlines()
    assert first.startswith("cudakern: program.cu:14: kernel beyond: a block of (2000,1,1) threads")
    assert second.startswith("cudakern: program.cu:15: kernel beyond: a grid of (0,1,1) blocks")


STREAMS = r"""
__global__ void sum(const float *x, float *y) { y[threadIdx.x] = x[threadIdx.x]; }
int main() {
    float *x, *y, *h;
    cudaMallocHost(&h, 400);
    cudaMalloc(&x, 400);
    cudaMalloc(&y, 400);
    cudaStream_t s, t;
    cudaStreamCreate(&s);
    cudaStreamCreate(&t);
    sum<<<1, 100, 0, s>>>(x, y);
    cudaMemcpyAsync(h, y, 400, cudaMemcpyDeviceToHost, t);
    cudaDeviceSynchronize();
    sum<<<1, 100, 0, s>>>(x, y);
    sum<<<1, 100, 0, t>>>(x, y);
    cudaDeviceSynchronize();
    cudaFree(x), cudaFree(y), cudaFreeHost(h);
}
"""


def test_advice_is_in_the_words_of_programs(tmp_path):
    (tmp_path / "program.cu").write_text(STREAMS)
    findings = ck.run(tmp_path / "program.cu", check=True).findings
    assert "by cudaMemcpy or cudaMemset" in findings[0].advice
    between = [one for one in findings if one.kind == "streams"]
    assert {one.lines for one in between} == {(11, 12), (14, 15)}
    for one in between:
        first, second = (12, 11) if one.line == 12 else (11, 12) if one.line == 11 else (one.line, 29 - one.line)
        other = f"a copy in another stream, in line {second}," if second == 12 else f"sum, launched in line {second} in"
        assert other in one.message
        assert one.kernel == ("copy" if first == 12 else "sum")
        assert "cudaStreamWaitEvent(later, event)" in one.advice
    assert "stream.synchronize" not in str(findings)


def test_variables_of_the_device_in_one_line_are_told_apart(tmp_path):
    (tmp_path / "program.cu").write_text(
        "__device__ int one, other;\nnamespace tools { __device__ int third; }\nstatic __device__ volatile int own;\n"
        "int main() {\n  one = 1, other = 2, tools::third = 3, own = 4;\n}\n"
    )
    found = ck.run(tmp_path / "program.cu", check=True).findings
    names = [re.search(r"cudaMemcpyToSymbol\(([\w:]+), &h", one.advice)[1] for one in found]
    assert sorted(names) == ["one", "other", "tools::third", "variable"]


@pytest.mark.parametrize("captures, advice", [
    ("&", r"what the lambda captures by reference, .* by value: \[=\]"),
    ("d, &local", r"what the lambda captures by reference"),
    ("=", "a member through this, .* to local variables"),
])  # fmt: skip
def test_what_a_lambda_captures(tmp_path, captures, advice):
    (tmp_path / "program.cu").write_text(
        "template <typename F> __global__ void apply(F f) { f(threadIdx.x); }\nstruct Holder {\n  int *d, local;\n"
        "  void go() {\n    apply<<<1, 32>>>([=] __device__ (int i) {\n      d[i] = local;\n    });\n  }\n};\n"
        "int main() {\n  Holder h{nullptr, 3};\n  cudaMalloc(&h.d, 128);\n  int *d = h.d, local = 3;\n"
        f"  {'h.go();' if captures == '=' else ''}\n"
        f"  apply<<<1, 32>>>([{captures.replace('=', 'd, local')}] __device__ (int i) {{\n    d[i] = local;\n  }});\n"
        "  cudaDeviceSynchronize();\n  cudaFree(d);\n}\n"
    )
    found = [one for one in ck.run(tmp_path / "program.cu", check=True).findings if one.kind == "bounds"]
    assert found
    assert all(re.search(advice, str(one)) for one in found), found


@pytest.mark.parametrize("size, is_told", [("n", True), ("bytes", False), ("n * sizeof(int)", False)])
def test_an_allocation_without_sizeof(tmp_path, size, is_told):
    """The access beyond the end is not the kernel's mistake, then."""
    path = tmp_path / "short.cu"
    path.write_text(f"""
__global__ void fill(int *x, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 1;
}}
int main() {{
    int *x, n = 100, of = {int(is_told)};
    size_t bytes = 25 * sizeof(int);
    cudaMalloc(&x, {size});
    fill<<<1, 128>>>(x, of ? n : 120);
    return cudaDeviceSynchronize() == cudaSuccess;
}}
""")
    finding = next(one for one in ck.run(path, check=True).findings if one.kind == "bounds")
    assert ("Line 9 allocates as many bytes as elements" in finding.advice) is is_told
