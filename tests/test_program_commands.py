"""`cudakern run` and `cc`: several sources, what is taken for an argument of the program's own, CUDAKERN_CHECK."""

import os
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import cudakern as ck
from cudakern import _cli
from cudakern.programs.run import _split

MAIN = """#include <cstdio>
int last_of(int n);
int main(int count, char **words) { printf("%d %s\\n", last_of(N), count > 1 ? words[1] : "-"); }
"""
KERNELS = """#include "by.h"
__global__ void fill(int *x, int n) { if (threadIdx.x <= n) x[threadIdx.x] = BY * threadIdx.x; }
int last_of(int n) {
    int *x, last = -1;
    cudaMalloc(&x, n * sizeof *x);
    fill<<<1, 64>>>(x, n - MORE);
    cudaMemcpy(&last, x + n - 1, sizeof last, cudaMemcpyDeviceToHost);
    cudaFree(x);
    return last;
}
"""
OPTIONS = ["-Iinclude", "-DN=10", "-rdc=true", "-lm"]


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "include").mkdir()
    for name, text in {"main.cpp": MAIN, "kernels.cu": KERNELS, "include/by.h": "#define BY 7\n"}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUDAKERN_BACKEND", "emulator")
    return tmp_path


def ran(*words, **settings):
    line = [sys.executable, "-m", "cudakern", *words]
    return subprocess.run(line, env=os.environ | settings, capture_output=True, text=True, timeout=300)


def test_several_sources_are_run(project):
    done = ran("run", "main.cpp", "kernels.cu", *OPTIONS, "-DMORE=1")
    assert (done.stdout, done.stderr) == ("63 -\n", "")
    assert ran("run", "-DMORE=1", "main.cpp", *OPTIONS, "kernels.cu", "--", "a.cu").stdout == "63 a.cu\n"


def test_several_sources_are_checked_and_traced(project):
    done = ran("run", "--check", "main.cpp", "kernels.cu", *OPTIONS, "-DMORE=0", "--", "word")
    assert done.stdout == "63 word\n"
    assert "fill, kernels.cu:2: thread 10 writes x[10]" in done.stderr
    done = ran("run", "main.cpp", "kernels.cu", "--trace", *OPTIONS, "-DMORE=1")
    assert done.stdout == "63 -\n"
    assert "kernels.cu:2  global store" in done.stderr


@pytest.mark.parametrize(
    "line, arguments",
    [
        ("a.cu", ""),
        ("-O3 a.cu 1 -x", "1 -x"),
        ("a.cu 1 b.cu", "1 b.cu"),  # one program, as before
        ("a.cu -O3 b.cu", "-O3 b.cu"),
        ("a.cu b.cu -O3", ""),
        ("a.cu -- b.cu", "b.cu"),
        ("a.cu -O3 b.cu -- -- c.cu", "-- c.cu"),
        ("-include b.cu a.cu 1", "1"),
    ],
)
def test_which_words_are_the_program_s_own(line, arguments):
    ours, theirs = _split(line.split())
    assert theirs == arguments.split()
    assert ours == line.removesuffix(arguments).removesuffix(" -- ").split()


@pytest.mark.parametrize(
    "line, status, message",
    [
        ("main.cpp -DN=1 kernels.cu", 1, "unless -- comes after them: cudakern run main.cpp -DN=1 kernels.cu --"),
        ("main.cpp kernels.cu 100", 2, "100: unknown kind of file: "),
        ("main.cpp kernels.cu -n 5", 2, "unknown option -n: did you mean "),
        ("main.cpp input.c", 1, "input.c: no such file; "),
        ("other.cpp other.cpp", 1, "the program was not linked; "),
    ],
)
def test_arguments_and_sources_that_are_confused(project, capsys, line, status, message):
    (project / "main.cpp").write_text(f"#define N 10\n{MAIN}")
    (project / "other.cpp").write_text("int main() {}\n")
    assert _cli.main(["run", *line.split()]) == status
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("cudakern: ")
    assert message in last
    assert last.endswith((" kernels.cu --", "; the program's own arguments come after --"))


def test_an_error_in_python_has_the_messages_and_no_lines_of_the_package(project):
    with pytest.raises(ck.CompileError, match=r"^the program was not linked:\n.*main.cpp:3: undefined ") as caught:
        ck.run("main.cpp", flags=["-DN=1"])
    files = [Path(frame.filename).name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert files == [Path(__file__).name, "_errors.py"]


@pytest.mark.parametrize("option", ["--check", "--trace", "--backend"])
def test_options_of_run_are_not_those_of_cc(option, capsys):
    assert _cli.main(["cc", option, "main.cpp"]) == 2
    assert f"{option} belongs to `cudakern run`, " in capsys.readouterr().err


# --- CUDAKERN_CHECK ---------------------------------------------------------------------------------------------------
SOURCES = ["main.cpp", "kernels.cu", *OPTIONS]


def test_the_variable_checks_programs_that_are_run(project):
    assert "thread 10 writes x[10]" in ran("run", *SOURCES, "-DMORE=0", CUDAKERN_CHECK="1").stderr
    traced = ran("run", "--trace", *SOURCES, "-DMORE=1", CUDAKERN_CHECK="1").stderr
    assert "global store" in traced
    assert "CUDAKERN_CHECK" not in traced
    refused = ran("run", *SOURCES, "-DMORE=1", CUDAKERN_CHECK="yes")
    assert refused.returncode == 2
    assert "CUDAKERN_CHECK must be 1 " in refused.stderr


def test_the_variable_checks_programs_of_python(project, monkeypatch):
    monkeypatch.setenv("CUDAKERN_CHECK", "1")
    flags = [*SOURCES[1:], "-DMORE=0"]
    assert [one.kind for one in ck.run("main.cpp", flags=flags).findings] == ["bounds"]
    monkeypatch.setenv("CUDAKERN_CHECK", "0")
    assert ck.run("main.cpp", flags=flags).findings is None


def test_a_program_that_was_compiled_without_checks_says_so(project):
    assert ran("cc", *SOURCES, "-DMORE=1", "-o", "program").returncode == 0

    def said(**settings):
        environment = os.environ | {"CUDAKERN_EMULATOR_PRINT": "1"} | settings
        return subprocess.run("./program", env=environment, capture_output=True, text=True).stderr

    assert said(CUDAKERN_CHECK="1").startswith("cudakern: CUDAKERN_CHECK=1 checks nothing in this program, ")
    assert said(CUDAKERN_CHECK="1").count("\n") == 1
    assert not said(CUDAKERN_CHECK="0")
    assert not said(CUDAKERN_CHECK="1", CUDAKERN_EMULATOR_PRINT="0")
