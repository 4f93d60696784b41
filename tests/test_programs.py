"""Whole programs: each of tests/programs, and the commands that compile and run them."""

import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cudakern as ck
from cudakern import _cli
from cudakern.programs import options
from cudakern.programs.run import finished
from whole_programs import ALL, NOT_YET, PROGRAMS, Described


def command(*words, folder, input=""):
    line = [sys.executable, "-m", "cudakern", *map(str, words)]
    return subprocess.run(line, cwd=folder, input=input, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    "path", [pytest.param(p, id=p.stem, marks=pytest.mark.full if i % 4 else ()) for i, p in enumerate(ALL)]
)
def test_a_program_of_the_corpus(path, monkeypatch):
    of = Described(path)
    monkeypatch.chdir(of.folder)
    with ck.use_backend("emulator"):
        done = finished(options.parsed(of.words), path.stem, of.arguments, "plain", of.input)
    right = of.is_right(done.exit_code, done.output)
    if path.stem in NOT_YET:
        assert not right, f"{path.stem} runs: take it out of not_yet.txt"
        pytest.xfail(NOT_YET[path.stem])
    assert right, done


#: What --check finds in programs of the corpus besides leaks: they do what CUDA does not promise.
MISTAKES = {
    "atomics_types": {"scope"},  # atomicAdd_block by several blocks
    "bfs_levels": {"race"},  # a plain read beside atomicCAS
    "odd_even_sort": {"race"},  # several threads set one flag
    "out_sloppy": {"uninitialised"},
    "out_waits_for_flags": set(),  # one block waits for another: the check ends it
    "out_warps_in_step": {"race"},
}


@pytest.mark.full
@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in ALL if path.stem not in NOT_YET])
def test_no_false_alarm_in_the_corpus(path, monkeypatch):
    of = Described(path)
    monkeypatch.chdir(of.folder)
    done = finished(options.parsed(of.words), path.stem, of.arguments, "checked", of.input)
    assert of.is_right(done.exit_code, done.output) or path.stem in ("out_sloppy", "out_waits_for_flags")
    assert {one.kind for one in done.findings} - {"leak", "error"} == MISTAKES.get(path.stem, set()), done.findings


def test_a_bulk_copy_that_is_not_awaited(tmp_path):
    right = (PROGRAMS / "mbarrier_ptx.cu").read_text()
    path = tmp_path / "bulk.cu"
    path.write_text(right)
    assert not ck.run(path, check=True).findings
    path.write_text(right.replace("wait(&full[t % STAGES], t / STAGES % 2);", ""))
    assert ("asynchronous", 42) in {(one.kind, one.line) for one in ck.run(path, check=True).findings}


# --- the commands -----------------------------------------------------------------------------------------------------
WRONG = r"""
#include <cstdio>
#include <cuda_runtime.h>
__global__ void sum(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[0] += x[i];
}
int main(int argc, char **argv) {
    float *x, *y;
    cudaMalloc(&x, 100 * 4);
    cudaMalloc(&y, 4);
    cudaMemset(x, 0, 400);
    cudaMemset(y, 0, 4);
    sum<<<2, 64>>>(x, y, 100);
    cudaDeviceSynchronize();
    printf("%d arguments, the last one %s\n", argc - 1, argv[argc - 1]);
    free(malloc(10));
    return 5;
}
"""


@pytest.fixture
def wrong(tmp_path):
    path = tmp_path / "wrong.cu"
    path.write_text(WRONG)
    return path


def test_exit_code_and_output(wrong):
    with ck.use_backend("emulator"):
        done = ck.run(wrong, "a", 2)
    assert (done.exit_code, done.output, done.errors) == (5, "2 arguments, the last one 2\n", "")
    assert str(done) == "2 arguments, the last one 2\n(exit code 5)\n"
    assert done.findings is done.trace is None


def test_findings_in_a_program(wrong):
    done = ck.run(wrong, "a", check=True)
    assert done.exit_code == 5
    assert done.output == "1 arguments, the last one a\n"
    *mistakes, one, two = [(one.kind, one.kernel, one.line) for one in done.findings]
    assert mistakes == [("race", "sum", 6), ("bounds", "sum", 6)]
    assert (one, two) == (("leak", "allocation", 10), ("leak", "allocation", 11))
    assert "400 bytes are never freed" in str(done.findings)
    assert "x[100]; x has 100 floats" in str(done.findings)
    for words in (("run", "--check"), ("check",)):
        shown = command(*words, "wrong.cu", "a", folder=wrong.parent)
        assert shown.returncode == 5
        assert "sum, wrong.cu:6: thread 100" in shown.stderr
    with pytest.raises(ValueError, match="either checked or traced"):
        ck.run(wrong, check=True, trace=True)


def test_counters_of_a_program(wrong):
    done = ck.run(wrong, trace=True)
    assert done.exit_code == 5
    loads = [one for one in done.trace.instructions if (one.space, one.what) == ("global", "load")]
    assert {one.line for one in loads} == {6}
    assert sum(one.requests for one in loads) == 8  # of four warps: y[0], and x[i]
    assert not done.trace.branches  # that the kernel launches itself is none
    assert "wrong.cu:6" in command("trace", "wrong.cu", folder=wrong.parent).stderr


def test_errors_are_those_of_the_source(tmp_path, wrong):
    wrong.write_text(WRONG.replace("x[i]", "z[i]").replace("<<<2, 64>>>", "<<<2>>>"))
    with ck.use_backend("emulator"), pytest.raises(ck.CompileError, match=r"wrong\.cu was not compiled") as failure:
        ck.run(wrong, flags=["-DN=1"])
    assert "wrong.cu:6:" in failure.value.log
    assert "wrong.cu:14:" in failure.value.log
    done = command("run", "--backend", "emulator", "wrong.cu", folder=tmp_path)
    assert done.returncode == 1
    assert "wrong.cu:6:" in done.stderr
    assert "Traceback" not in done.stderr
    with pytest.raises(FileNotFoundError, match=r"nowhere\.cu"):
        ck.run(tmp_path / "nowhere.cu")


def test_a_rule_that_is_broken_is_said_once(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDAKERN_EMULATOR_PRINT", "1")
    (tmp_path / "barrier.cu").write_text(
        "__global__ void k() {\n  if (threadIdx.x) __syncthreads();\n  else\n    __syncthreads();\n}\n"
        "int main() { k<<<1, 32>>>(); k<<<1, 32>>>(); cudaDeviceSynchronize(); return 7; }\n"
    )
    with ck.use_backend("emulator"):
        done = ck.run(tmp_path / "barrier.cu")
    assert done.exit_code == 7
    assert done.errors.count("kernel k, ") == 1
    assert "barrier.cu:4, block (0,0,0)" in done.errors or "barrier.cu:2, block (0,0,0)" in done.errors


def test_compiling_and_linking_apart(tmp_path):
    (tmp_path / "kernels.cu").write_text(
        '#include "kernels.cuh"\n__global__ void add(int *x, int by) { x[threadIdx.x] += by; }\n'
    )
    (tmp_path / "kernels.cuh").write_text("#pragma once\n__global__ void add(int *x, int by);\n")
    (tmp_path / "main.cu").write_text(
        '#include <stdio.h>\n#include "kernels.cuh"\nint main() {\n  int *x, h[4];\n  cudaMalloc(&x, sizeof h);\n'
        "  cudaMemset(x, 0, sizeof h);\n  add<<<1, 4>>>(x, BY);\n  cudaMemcpy(h, x, sizeof h, cudaMemcpyDefault);\n"
        '  printf("%d\\n", h[3]);\n}\n'
    )
    cc = (
        "cc",
        "-O3",
        "-std=c++17",
        "-lineinfo",
        "-Xcompiler",
        "-Wall,-Wextra",
        "-gencode",
        "arch=compute_90,code=sm_90",
    )
    assert command(*cc, "-dc", "kernels.cu", "-o", "kernels.o", folder=tmp_path).returncode == 0
    assert command(*cc, "-dc", "-DBY=7", "main.cu", folder=tmp_path).returncode == 0
    linked = command(*cc, "-use_fast_math", "-rdc=true", "main.o", "kernels.o", "-o", "both", folder=tmp_path)
    assert linked.stderr == "cudakern: without effect on the emulator: -use_fast_math\n"
    done = subprocess.run([tmp_path / "both"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "7\n")


@pytest.mark.parametrize(
    "words, message",
    [
        (["-foo", "--ptx", "a.cu"], "-ptx cannot be had without a GPU's compiler"),
        (["--maxregcount=3", "a.cu"], "unknown option --maxregcount=3: did you mean"),
        (["a.cu", "-lcufft"], "-lcufft: the emulator does not have this library"),
        (["a.f90"], "a.f90: unknown kind of file"),
        (["a.cu", "-o"], "-o needs a value"),
    ],
)
def test_options_that_are_refused(words, message, capsys):
    assert _cli.main(["cc", *words]) == 2
    assert message in capsys.readouterr().err


def test_options_are_read_as_nvcc_reads_them():
    words = "-I a,b -DX=1 -D Y -O3 --std=c++20 -Xcompiler -Wall,-fopenmp -arch=sm_80 -x cu a.txt -lm -lcudart -o out"
    request = options.parsed(words.split())
    assert request.host == ["-Ia", "-Ib", "-DX=1", "-DY", "-O3", "-std=c++20", "-Wall", "-fopenmp"]
    assert (request.arch, request.linker, request.output) == (800, ["-lm"], Path("out"))
    assert request.language_of(Path("a.txt")) == "cu"


def test_a_cell_with_main(capsys):
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell()
    shell.run_line_magic("load_ext", "cudakern")
    with ck.use_backend("emulator"):
        shell.run_cell(f"%%cuda\n{WRONG}")
    shown = capsys.readouterr()
    assert "0 arguments" in shown.out
    assert re.search(r"sum, cell_\d+\.cu:7: thread", shown.out)
    assert "(exit code 5)" in shown.out


def test_parameters_with_restrict_in_a_template(tmp_path):
    (tmp_path / "restrict.cu").write_text(
        "#include <cstdio>\ntemplate <typename T> __global__ "
        "void k(const T *__restrict__ a, T *__restrict__ b, const int n) {\n"
        "  if (threadIdx.x < n) b[threadIdx.x] = 2 * a[threadIdx.x];\n}\nint main() {\n  float *x;\n"
        "  cudaMallocManaged(&x, 8 * sizeof(float));\n  x[3] = 5;\n  k<<<1, 32>>>(x, x + 4, 4);\n"
        '  cudaDeviceSynchronize();\n  printf("%g %d\\n", x[7], INT_MAX);\n}\n'
    )
    assert ck.run(tmp_path / "restrict.cu").output == "10 2147483647\n"


def test_a_launch_that_is_refused_says_why(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDAKERN_EMULATOR_PRINT", "1")
    (tmp_path / "large.cu").write_text("__global__ void k() {}\nint main() { k<<<1, dim3(64, 64)>>>(); }\n")
    with ck.use_backend("emulator"):
        done = ck.run(tmp_path / "large.cu")
    place, why = f"{tmp_path / 'large.cu'}:2", "a block of (64,64,1) = 4096 threads; at most 1024 are allowed"
    assert done.errors == f"cudakern: {place}: kernel k: {why}\n"


def test_the_second_place_of_a_finding_names_its_file(tmp_path):
    (tmp_path / "last.cuh").write_text("""#include <cuda_pipeline.h>
__device__ int last(const int *s) { return s[31 - threadIdx.x]; }
__device__ void cp_async(int *to, const int *from) { __pipeline_memcpy_async(to, from, 4); __pipeline_commit(); }
""")
    path = tmp_path / "both.cu"
    path.write_text("""
#include "last.cuh"
__global__ void k(int *x) {
    __shared__ int s[32];
    s[threadIdx.x] = 1;
    x[threadIdx.x] = last(s);
}
__global__ void copies(const int *x, int *y) {
    __shared__ int s[32];
    cp_async(&s[threadIdx.x], &x[threadIdx.x]);
    y[threadIdx.x] = s[threadIdx.x];
}
int main() { int *x; cudaMalloc(&x, 128); k<<<1, 32>>>(x); copies<<<1, 32>>>(x, x); cudaFree(x); }
""")
    found = ck.run(path, check=True).findings
    race = next(one for one in found if one.kind == "race")
    assert re.search(r" in line 2 of last\.cuh,| in line 5 of both\.cu,", race.message)
    copy = next(one for one in found if one.kind == "asynchronous" and one.line == 11)
    assert "which the operation that thread 0 began in line 10 writes" in copy.message  # not where cp_async does


@pytest.mark.parametrize(
    "words, code", [("--check --error-exitcode 9", 9), ("--check --error-exitcode=7", 7), ("--check", 0)]
)
def test_the_exit_code_of_a_check_that_finds_something(tmp_path, words, code):
    (tmp_path / "leak.cu").write_text(
        "int main(int n, char **) { int *d; cudaMalloc(&d, 4); if (n == 2) cudaFree(d); return n == 3 ? 5 : 0; }\n"
    )
    arguments = ("run", *words.split(), "leak.cu")
    assert command(*arguments, folder=tmp_path).returncode == code
    assert command(*arguments, "freed", folder=tmp_path).returncode == 0
    assert command(*arguments, "and", "fails", folder=tmp_path).returncode == 5


# --- faults -----------------------------------------------------------------------------------------------------------
FAULTS = r"""
#include <cassert>
#include <cstdio>
#include <cstdlib>
__global__ void fault(float *x, int which) {
    int i = threadIdx.x;
    if (which == 0) x[i + (1 << 28)] = 1;
    if (which == 1) ((float *)nullptr)[i] = 1;
    if (which == 2 && i == 3) __trap();
    if (which == 3) assert(i < 3);
    if (which == 4) x[i] = i / (int)x[i];
    if (which == 5) {
        if (i < 3) __syncthreads();
        else __syncthreads();
    }
    if (which == 6) ((float4 *)(x + 1))[i / 8] = make_float4(i, i, i, i);
}
__global__ void later(float *x) { x[threadIdx.x] = 2; }

int main(int, char **argv) {
    float *x, h[32];
    cudaEvent_t event;
    cudaStream_t stream;
    cudaEventCreate(&event);
    cudaStreamCreate(&stream);
    cudaMalloc(&x, sizeof h);
    cudaMemset(x, 0, sizeof h);
    fault<<<1, 32>>>(x, atoi(argv[1]));
    later<<<1, 32>>>(x);
    printf("%d", cudaGetLastError());
    printf(" %d", cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost));
    later<<<1, 32>>>(x);
    printf(" %d %d %d", cudaGetLastError(), cudaPeekAtLastError(), cudaDeviceSynchronize());
    printf(" %d %d", cudaEventRecord(event), cudaEventDestroy(event));
    printf(" %d %d", cudaStreamSynchronize(stream), cudaStreamDestroy(stream));
    printf(" %d %d\n", cudaFree(x), cudaDeviceReset());
}
"""
#: By the number of the fault: its line, its error, and words of its message.
OF_FAULTS = [
    (7, 700, "wrote to address 0x"),
    (8, 700, "which is a null pointer"),
    (9, 719, "__trap()"),
    (10, 710, "`i < 3` failed"),
    (11, 719, "divided by zero"),
    (14, 719, "__syncthreads()"),
    *[(16, 716, "not a multiple of its 16 bytes")] * (platform.machine() == "x86_64"),  # others have no such fault
]


@pytest.fixture(scope="module")
def faults(tmp_path_factory):
    path = tmp_path_factory.mktemp("faults") / "faults.cu"
    path.write_text(FAULTS)
    return path


@pytest.mark.parametrize("which", range(len(OF_FAULTS)))
def test_after_a_fault_every_call_fails(faults, which, monkeypatch):
    monkeypatch.setenv("CUDAKERN_EMULATOR_PRINT", "1")
    line, code, words = OF_FAULTS[which]
    with ck.use_backend("emulator"):
        done = ck.run(faults, which)
    assert done.output == "0" + f" {code}" * 8 + " 46 0\n"  # the reset comes before the last but one
    first, second = done.errors.splitlines()
    assert words in first
    assert f"faults.cu:{line}" in first
    assert "kernel later was not run" in second


#: In a check: the thread, the kind of finding, and words of its message.
OF_FINDINGS = [
    (0, "bounds", "thread 0 writes x[268435456]; x has 32 floats"),
    (0, "bounds", "thread 0 writes through a null pointer"),
    (3, "error", "thread 3: the kernel called __trap()"),
    (3, "error", "thread 3: assertion `i < 3` failed"),
    (0, "error", "thread 0: an integer was divided by zero"),
    (3, "barrier", "thread 3 reached __syncthreads(), while 3 of 32 threads wait at __syncthreads() in line 13"),
    (0, "misaligned", "thread 0 writes 16 bytes at x[1], whose address is not a multiple of 16"),
]


@pytest.mark.parametrize("which", range(len(OF_FAULTS)))
def test_a_fault_is_one_finding(faults, which, monkeypatch):
    monkeypatch.setenv("CUDAKERN_EMULATOR_PRINT", "1")
    thread, kind, words = OF_FINDINGS[which]
    line, code, _ = OF_FAULTS[which]
    done = ck.run(faults, which, check=True)
    assert done.output == "0" + f" {code}" * 8 + " 46 0\n"  # the reset comes before the last but one
    assert done.errors == ""
    (found,) = done.findings
    assert (found.kernel, found.file, found.line, found.kind) == ("fault", str(faults), line, kind)
    assert (found.place.block, found.place.thread) == ((0, 0, 0), (thread, 0, 0))
    assert words in found.message
    assert "The launch ended here, and the 2 later ones did not run, as on a GPU" in found.advice


@pytest.mark.parametrize("end, signal", [("assert(x == nullptr)", 6), ("*(volatile int *)8 = 1", 11)])
def test_findings_of_a_program_that_breaks_down(tmp_path, end, signal):
    (tmp_path / "broken.cu").write_text(
        "#include <cassert>\n__global__ void k(int *x) { if (threadIdx.x == 3) x[1] = 1; }\nint main() {\n  int *x;\n"
        f"  cudaMalloc(&x, 4);\n  k<<<1, 4>>>(x);\n  cudaDeviceSynchronize();\n  {end};\n}}\n"
    )
    done = ck.run(tmp_path / "broken.cu", check=True)
    assert done.exit_code == -signal
    assert [(one.kind, one.line) for one in done.findings] == [("bounds", 2)]


def test_a_refused_launch_is_a_finding(tmp_path):
    (tmp_path / "large.cu").write_text(
        "template <typename T> __global__ void k(T x) {}\nint main() {\n  for (int i = 0; i < 3; i++)\n"
        "    k<<<1, dim3(64, 64)>>>(i);\n  k<<<1, 1>>>(2.0f);\n  void *none[] = {nullptr};\n"
        "  cudaLaunchCooperativeKernel(k<char>, 100000, 32, none);\n  cudaDeviceSynchronize();\n}\n"
    )
    done = ck.run(tmp_path / "large.cu", check=True)
    found, of_api = done.findings
    assert (of_api.kernel, of_api.line) == ("k<char>", 7)
    assert (found.kernel, found.line, found.count, done.findings.launches) == ("k<int>", 4, 3, 1)
    assert "at most 1024 are allowed" in found.message
    assert "cudaGetLastError()" in found.advice


def test_what_a_gpu_does_not_notice_ends_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDAKERN_EMULATOR_PRINT", "1")
    (tmp_path / "beyond.cu").write_text(
        "#include <cstdio>\n__global__ void k(int *x) { x[threadIdx.x] = 1; }\nint main() {\n  int *x, h = 0;\n"
        "  cudaMalloc(&x, 16);\n  k<<<1, 5>>>(x);\n  k<<<1, 4>>>(x);\n  cudaMemcpy(&h, x, 4, cudaMemcpyDefault);\n"
        '  printf("%d %d\\n", h, cudaFree(x));\n}\n'
    )
    with ck.use_backend("emulator"):
        done = ck.run(tmp_path / "beyond.cu")
    assert done.output == "1 0\n"
    assert "wrote beyond the end of an allocation of 16 bytes" in done.errors
    (found,) = ck.run(tmp_path / "beyond.cu", check=True).findings
    assert (found.kind, found.line, found.count) == ("bounds", 2, 1)
    assert "launch ended" not in found.advice


@pytest.mark.parametrize("check", [False, True])
def test_static_shared_memory_is_limited(tmp_path, check):
    (tmp_path / "shared.cu").write_text(
        "template <int N> __global__ void k(int *x, int *y) {\n  __shared__ int a[N], b[N];\n"
        "  a[threadIdx.x] = b[threadIdx.x] = 1;\n  __syncthreads();\n  x[threadIdx.x] = a[31 - threadIdx.x] + "
        "b[31 - threadIdx.x];\n}\nint main() {\n  int *x;\n  cudaMalloc(&x, 128);\n  k<LENGTH><<<1, 32>>>(x, x);\n"
        "  cudaFree(x);\n}\n"
    )
    with ck.use_backend("emulator"):
        assert not ck.run(tmp_path / "shared.cu", flags=["-DLENGTH=6144"], check=check).findings
        with pytest.raises(ck.CompileError, match="kernel k has 49,160 bytes .* at most 49,152"):
            ck.run(tmp_path / "shared.cu", flags=["-DLENGTH=6145"], check=check)


def test_launch_bounds_are_known(tmp_path):
    (tmp_path / "bounds.cu").write_text(
        "#include <cstdio>\ntemplate <int N> __global__ __launch_bounds__(2 * N) void k(int *x) { x[N] = N; }\n"
        "int main() {\n  cudaFuncAttributes of;\n  cudaFuncGetAttributes(&of, k<50>);\n  int grid, block, most[2];\n"
        "  cudaOccupancyMaxPotentialBlockSize(&grid, &block, k<50>);\n  for (int i = 0; i < 2; i++)\n"
        "    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&most[i], k<50>, 100 + i, 0);\n  void *nothing = nullptr;\n"
        "  void *arguments[] = {&nothing};\n  int code = cudaLaunchKernel((void *)k<50>, 1, 101, arguments, 0, 0);\n"
        '  printf("%d %d %d %d %d\\n", of.maxThreadsPerBlock, block, most[0], most[1], code);\n}\n'
    )
    with ck.use_backend("emulator"):
        assert ck.run(tmp_path / "bounds.cu").output == "100 64 16 0 1\n"


RESET = r"""
#include <cstdio>
#define HERE __device__
struct S {
    int x;
    __device__ S &operator+=(int by) { return x += by, *this; }
    __device__ bool operator>(const S &other) const { return x > other.x; }
};
__device__ bool operator<(const S &a, const S &b) { return a.x < b.x; }
namespace a { // far from:
__constant__ float b[2] = {1, 2}; namespace { HERE int c = 3; } }
static __device__ int d[2][2] = {{1, 2}, {3, 4}}, e;
__device__ S s = {7};
__device__ __managed__ int m = 9;
__device__ volatile int v{4};
__device__ const char *text = "a \"__device__\" variable";
__device__ int *pointer = &e;
extern "C" { __device__ unsigned char large[1 << 20]; }
template <int N> __device__ int of_template = N;
__constant__ const int constant = 6;
int host = 5;

__global__ void change() {
    a::c++, d[1][1]++, e++, s += 1, m++, v = v + 1, large[1000]++, of_template<1>++;
    text++, pointer++;
}
__global__ void show() {
    printf("%g %d %d %d %d %d %d %d %d %d %s\n", a::b[0], a::c, d[1][1], e, s.x + (s > s) + (s < s), m, v, large[1000],
           constant, *pointer, text);
}
int main() {
    cudaStream_t stream;
    cudaEvent_t event;
    void *memory;
    const float more = 8;
    for (int i = 0; i < 2; i++) {
        cudaStreamCreate(&stream);
        cudaEventCreate(&event);
        cudaMalloc(&memory, 4);
        cudaMemcpyToSymbol(a::b, &more, sizeof more);
        change<<<1, 1>>>();
        host++;
        cudaDeviceSynchronize();
        if (cudaDeviceReset()) return 1;
        show<<<1, 1>>>();
        cudaDeviceSynchronize();
    }
    printf("%d: %d %d %d\n", host, cudaEventQuery(event), cudaStreamQuery(stream), cudaFree(memory));
}
"""


@pytest.mark.parametrize("check", [False, True])
def test_a_reset_gives_variables_their_first_values(tmp_path, check):
    (tmp_path / "reset.cu").write_text(RESET.replace("// far from:", 20 * "\n"))
    with ck.use_backend("emulator"):
        done = ck.run(tmp_path / "reset.cu", check=check)
    assert done.output == 2 * '1 3 4 0 7 9 4 0 6 0 a "__device__" variable\n' + "7: 400 400 1\n"
    assert not done.findings


@pytest.mark.parametrize(
    "end, is_found",
    [
        ("", True),
        ("cudaStreamDestroy(s);", True),
        ("cudaMemsetAsync(d, 0, 16, s);", True),
        ("cudaDeviceSynchronize();", False),
        ("cudaStreamSynchronize(s);", False),
        ("cudaMemcpy(h, d, 16, cudaMemcpyDeviceToHost);", False),
        ("cudaFree(d);", False),
        ("return 1;", False),  # perhaps because of an error
    ],
)
def test_a_program_ends_before_its_kernel(tmp_path, end, is_found):
    """What the kernel does is checked all the same."""
    path = tmp_path / "ends.cu"
    path.write_text(f"""
__global__ void work(int *x) {{ x[threadIdx.x] = 1; }}
int main() {{
    int *d, h[4] = {{}};
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamDefault);
    cudaMalloc(&d, 16);
    work<<<1, 4, 0, s>>>(d);
    {end}
    return h[0] & 2;
}}
""")
    done = ck.run(path, check=True)
    assert "in 1 launch" in str(done.findings)
    found = [one for one in done.findings if one.kind == "host"]
    assert [one.line for one in found] == [8] * is_found
    assert all("has not waited for work" in one.message for one in found)


def test_what_nobody_writes_is_no_right_result(tmp_path):
    """The grid is one block too small. A test of the program's own must see it under a check, too."""
    path = tmp_path / "short.cu"
    path.write_text("""
#include <cmath>
__global__ void twice(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
int main() {
    float x[100], y[100], *d, *e;
    for (int i = 0; i < 100; ++i) x[i] = i;
    cudaMalloc(&d, 400);
    cudaMalloc(&e, 400);
    cudaMemcpy(d, x, 400, cudaMemcpyDefault);
    twice<<<100 / 32, 32>>>(d, e, 100);
    cudaMemcpy(y, e, 400, cudaMemcpyDefault);
    for (int i = 0; i < 100; ++i)
        if (fabs(y[i] - 2 * x[i]) > 1e-5) return 1;
    return cudaFree(d) + cudaFree(e);
}
""")
    assert [ck.run(path, check=check).exit_code for check in (False, True)] == [1, 1]
