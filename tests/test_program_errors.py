"""Calls of whole programs that fail: what is said of those at which the program does not look."""

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
    11: ("cudaFree(0x...)", "cudaErrorInvalidValue (1): the address was never allocated"),
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
