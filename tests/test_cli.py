"""The command line: every subcommand, for people and as JSON; a wrong name is one line with the nearest right one."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest

import cudakern
import subprocesses
from cases import BACKENDS, cli, native
from cudakern._cli import main
from cudakern._installed import NOTEBOOKS
from cudakern.insight.findings import Finding, Findings, Place
from cudakern.operations.registry import names


def command(*arguments, status=0):
    """Runs `python -m cudakern`, in a process of its own; otherwise as `cli`, which takes a tenth of the time."""
    run = subprocess.run(
        [sys.executable, "-m", "cudakern", *arguments],
        capture_output=True,
        text=True,
        env=subprocesses.environment(),
        timeout=250,
    )
    assert run.returncode == status, f"exit {run.returncode}\n{run.stdout}\n{run.stderr}"
    return run.stderr if status else run.stdout


def cli_json(*arguments):
    return json.loads(cli(*arguments, "--json"))


each_backend = pytest.mark.parametrize("backend", BACKENDS)


@each_backend
def test_info(backend):
    words = command("info", "--backend", backend)
    assert backend in words
    assert "--backend" in words or "requested" in words
    plain = cli_json("info", "--backend", backend)
    assert plain["name"] == backend
    assert plain["why"]
    assert plain["emulated"] == (backend == "emulator")
    assert plain["versions"]["cudakern"] == cudakern.__version__
    assert plain["properties"]["warp_size"] == 32


@each_backend
def test_lab(backend, tmp_path):
    """Every experiment is listed; one runs with arguments from the command line, also with JSON and a plot."""
    words = cli("lab", "--backend", backend)
    listed = cli_json("lab", "--backend", backend)
    assert {row["name"] for row in listed} >= {"thread_map", "bank_conflicts", "coalescing", "latency"}
    assert all(row["name"] in words and row["summary"] for row in listed)
    assert not {"sectors", "wavefronts", "Experiment", "ThreadMap"} & {row["name"] for row in listed}
    picture = tmp_path / "map.png"
    arguments = ("lab", "thread_map", "grid=None", "block=16,16", "shape=62,76", "--backend", backend)
    assert "408 of them are idle" in " ".join(cli(*arguments, "--plot", picture).split())
    assert picture.stat().st_size > 1000
    assert [row["idle"] for row in cli_json(*arguments)["rows"]] == [0, 64, 32, 88]
    # Ranges, tuples and one number. Rows: broadcast, stride 1, and each stride without and with padding.
    assert "strides=range(1,33)" in words
    for strides, rows in (("2,", 4), ("2", 4), ("range(1,3)", 5), ("range(2, 9, 3)", 8)):
        experiment = ("bank_conflicts", f"strides={strides}", "repeat=1", "--backend", backend)
        assert len(cli_json("lab", *experiment)["rows"]) == rows
    assert len(cli_json("lab", "host_memory", "sizes=4096", "repeat=1", "--backend", backend)["rows"]) == 6
    cli("lab", "hello", "--backend", backend, "--plot", tmp_path / "hello.png")
    assert (tmp_path / "hello.png").stat().st_size > 1000


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["bank_conflict"], "nearest is 'bank_conflicts'"),
        (["sectors"], "unknown experiment 'sectors'"),
        (["layouts", "n=3", "n=4"], "layouts: n= appears twice"),
        (["layouts", "--json", "m=3"], "unexpected keyword argument 'm'"),
        (["layouts", "m=3"], "unexpected keyword argument 'm'; it takes n=None repeat=None"),
        (["layouts", "3"], "write parameters as NAME=VALUE"),
        (["thread_map", "block=4"], "pass a grid, or the shape"),
        (["layouts", "n=0"], "n must be 1 or more, not 0"),
        (["registers", "n=abc"], "registers: n must be an integer, 1 or more, not 'abc'"),
        (["registers", "n=8", "repeat=x"], "repeat must be an integer, 1 or more, not 'x'"),
        (
            ["thread_map", "grid=none", "block=2"],
            "grid must be an integer or a sequence of integers, or None, not 'none'",
        ),
        (["bank_conflicts", "strides=0"], "strides must be one or more integers from 1 to 32, not [0]"),
        (
            ["bank_conflicts", "strides=range(1,9,0)"],
            "strides must be an integer or a sequence of integers, not 'range(1,9,0)'",
        ),
        (["host_memory", "sizes=4k"], "sizes must be an integer or a sequence of integers, not '4k'"),
        (["layouts", "--plot", "/no/folder/x.png"], "no such folder: /no/folder"),
    ],
)
def test_lab_refuses_in_a_line(arguments, words):
    message = cli("lab", *arguments, status=2)
    assert words in message
    assert message.count("\n") == 1


@each_backend
def test_ladder(backend):
    short = ("ladder", "matmul", "--n", 40, "--repeat", 1, "--backend", backend)
    words = cli(*short, "--all")
    assert all(variant.name in words for variant in cudakern.variants("matmul") if "float32" in variant.types)
    assert ("There is no GPU here." in " ".join(words.split())) == (backend == "emulator")
    brief = cli(*short)
    assert "more rows: ladder matmul --all" in " ".join(brief.split())
    assert "few_rows" in words
    assert "few_rows" not in brief
    assert "few_rows" in cli(*short, "--variants", "numpy,naive,few_rows")
    assert len(cli_json(*short)[0]["steps"]) == len(cudakern.variants("matmul"))
    steps = cli_json(
        "ladder",
        "--op",
        "sum_of_squares",
        "--shape",
        "500",
        "--repeat",
        1,
        "--dtype",
        "float32",
        "--variants",
        "coalesced,atomic",
        "--backend",
        backend,
    )
    assert [step["variant"] for step in steps[0]["steps"]] == ["coalesced", "atomic"]
    assert steps[0]["dtype"] == "float32"
    assert all(step["profile"]["emulated"] == (backend == "emulator") for step in steps[0]["steps"])


def test_ladder_with_parameters():
    (steps,) = cli_json("ladder", "stencil_1d", "radius=7", "--n", 100, "--repeat", 1, "--backend", "emulator")
    assert steps["parameters"] == {"radius": 7}
    assert {step["profile"]["parameters"].get("radius", 7) for step in steps["steps"]} == {7}
    (steps,) = cli_json("ladder", "--op", "sort", "lists=4", "n=100", "--repeat", 1, "--backend", "emulator")
    assert steps["parameters"] == {"lists": 4}
    assert steps["shapes"] == [[100]]  # an option can be written like a parameter
    for words, message in (
        (["radius=7"], "pass an operation too"),
        (["--all", "tile=8"], "pass an operation too"),
        (["sort", "json=1"], "argument --json: ignored explicit argument '1'"),
        (["sort", "progress=1"], "have no parameter 'progress'; they have lists="),
        (["sort", "inputs=3"], "have no parameter 'inputs'; they have lists="),
        (["sort", "run=1"], "have no parameter 'run'; they have lists="),
        (["sort", "matmul"], "takes [OP] [NAME=VALUE ...], not sort and matmul"),
        (["sort", "sort", "lists=4"], "takes [OP] [NAME=VALUE ...], not sort and sort"),
        (["sort", "--lists", "4"], "write parameters as NAME=VALUE"),
        (["sort", "lists"], "write parameters as NAME=VALUE"),
    ):
        assert message in cli("ladder", *words, status=2)


def test_trace():
    words = cli("trace", "saxpy", "naive", "--shape", "1000")
    assert "saxpy naive, 1,000" in words
    plain = cli_json("trace", "matmul", "tiled", "--shape", "64,32,64", "--dtype", "float64")
    assert plain["metrics"]["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] == 2 * 64 * 32 * 64 / 16 / 32
    words = cli("trace", "saxpy", "naive", "--shape", "4096", "--by-line", "--sample", "8")
    assert "counted in 8 of 16 blocks" in " ".join(words.split())
    assert "axpy(number_cast<number<T>>(*a)" in " ".join(words.split())  # the source
    words = cli("trace", "matmul", "tiled", "--compare", "naive", "tile=8")  # which has no tiles
    assert "sectors" in words
    assert "matmul naive," in words
    plain = cli_json("trace", "matmul", "tiled", "--compare", "naive", "--shape", "32,32,32")
    assert plain["figures"]["global store requests"] == [32, 32]
    assert {line["access"] for line in plain["lines"]} == {"global load", "global store", "shared load", "shared store"}
    assert "such as (64, 64, 64), not (64,)" in cli("trace", "matmul", "tiled", "--shape", "64", status=2)
    assert "trace: shape= (m, k and n of" in cli("trace", "matmul", "tiled", "--shape=-1,2,3", status=2)
    assert "trace: sample must be 0 or more, not -1" in cli("trace", "saxpy", "naive", "--sample=-1", status=2)
    assert "the nearest is 'naive'" in cli("trace", "saxpy", "naive", "--compare", "nave", status=2)
    assert "trace: pass an operation and a variant of matmul: naive, kahan, " in cli("trace", "matmul", status=2)
    assert "the nearest is 'matmul'" in cli("trace", "matmull", status=2)


def test_check(monkeypatch):
    """Of a variant and of an operation; with a finding, the exit status is 1."""
    assert "check: shape= (m, k and n of" in cli("check", "matmul", "tiled", "--shape", "64", status=2)
    words = cli("check", "saxpy", "vectorized")
    assert "saxpy      vectorized  float32         8  nothing found" in words
    plain = cli_json("check", "stencil_1d", "radius=2", "--shape", "100", "--shape", "7", "--dtype", "float64")
    assert plain["ok"]
    assert [(row["variant"], row["dtype"], row["launches"], row["findings"]) for row in plain["checks"]] == [
        (variant.name, "float64", 2, []) for variant in cudakern.variants("stencil_1d")[1:]
    ]
    place = Place("saxpy.cu", 4, (0, 0, 0), (7, 0, 0))
    finding = Finding("bounds", "saxpy", place, "thread 7 writes y[7]; y has 7 floats", "Stop earlier.", "y")
    again = replace(finding, launch=2)  # with another shape: the same place
    monkeypatch.setattr("cudakern.insight.variants.check", lambda call: Findings([finding, again], 3))
    with contextlib.redirect_stdout(io.StringIO()) as output:
        assert main(["check", "saxpy", "naive"]) == 1
        assert main(["check", "saxpy", "naive", "--json"]) == 1
    text, begin, rest = output.getvalue().partition("{\n")
    assert "1 finding\n" in text
    assert "naive: saxpy, saxpy.cu:4: thread 7 writes y[7]; y has 7 floats. Stop earlier." in " ".join(text.split())
    plain = json.loads(begin + rest)
    assert not plain["ok"]
    assert [found["line"] for found in plain["checks"][0]["findings"]] == [4]


@pytest.mark.parametrize(
    "words, message",
    [
        ([], "check: pass an operation: vector_add, "),
        (["sapxy"], "the nearest is 'saxpy'"),
        (["saxpy", "numpy"], "variant 'numpy' has no kernel"),
        (["saxpy", "naiv"], "the nearest is 'naive'"),
        (["saxpy", "tile=8"], "no variant of saxpy that the emulator runs has a parameter tile="),
        (["saxpy", "naive", "tile=8"], "tile"),
        (["saxpy", "naive", "more"], "check takes OP [VARIANT] [NAME=VALUE ...], not saxpy and naive and more"),
    ],
)
def test_check_refuses_in_a_line(words, message):
    text = cli("check", *words, status=2)
    assert message in text
    assert text.count("\n") == 1


def test_both_ladders_and_their_pictures(tmp_path):
    path = tmp_path / "both.png"
    words = cli("ladder", "--n", 40, "--repeat", 1, "--plot", path, "--backend", "emulator")
    assert "speed-up" in words
    assert "Backend: emulator" in words
    for op in ("sum_of_squares", "matmul"):
        assert (tmp_path / f"both-{op}.png").read_bytes().startswith(b"\x89PNG")
    assert len(cli_json("ladder", "--n", 10, "--repeat", 1, "--backend", "emulator")) == 2
    every = cli_json("ladder", "--all", "--n", 10, "--repeat", 1, "--backend", "emulator")
    assert [one["operation"] for one in every] == list(names())


@pytest.mark.parametrize(
    "path, words",
    [
        ("folder", "is a folder; write the name of a file"),
        ("folder/", "is a folder; write the name of a file"),
        ("no/folder.png", "no such folder: "),
        ("file.png/x.png", "no such folder: "),
        ("x" * 300 + ".png", "cannot be written: File name too long"),
        ("locked/x.png", "cannot be written: "),
        ("x.bmq", "unknown format 'bmq'"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_the_work(tmp_path, monkeypatch, path, words):
    """By each option that names a file."""
    from cudakern import _cli

    def works(*_, **__):
        raise AssertionError("the work has begun")

    for name in ("ladder", "occupancy"):
        monkeypatch.setattr(_cli, name, works)
    monkeypatch.setattr("cudakern.measure.bench.bench", works)
    monkeypatch.setattr("cudakern.lab._by_name.run", works)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file.png").touch()
    (tmp_path / "locked").mkdir(0o555)
    if path.startswith("locked") and os.access(tmp_path / "locked", os.W_OK):
        path = "/proc/self/x.png"  # root may write anywhere else
    before, path = sorted(tmp_path.iterdir()), f"{tmp_path / path}{'/' * path.endswith('/')}"
    for command in (["ladder", "saxpy"], ["ladder"], ["bench", "saxpy"], ["occupancy"], ["lab", "hello"]):
        message = cli(*command, "--plot", path, status=2)
        assert words in message
        assert message.count("\n") == 1
    if "format" not in words:
        assert words in cli("bench", "saxpy", "--json", path, status=2)
    assert sorted(tmp_path.iterdir()) == before


def test_pictures_of_several_ladders_are_checked_before_the_first(tmp_path):
    (tmp_path / "x-matmul.png").mkdir()
    message = cli("ladder", "--n", 10, "--plot", tmp_path / "x.png", "--backend", "emulator", status=2)
    assert "x-matmul.png' is a folder" in message
    assert not (tmp_path / "x-sum_of_squares.png").exists()
    cli("ladder", "saxpy", "--n", 10, "--plot", tmp_path / "plain", "--backend", "emulator")
    assert (tmp_path / "plain.png").is_file()


def test_variants():
    words = cli("variants", "matmul")
    assert "tile=16" in words
    assert "sum_of_squares" not in words
    plain = cli_json("variants")
    assert set(plain) == set(names())
    assert [variant["name"] for variant in plain["matmul"]] == [variant.name for variant in cudakern.variants("matmul")]


def test_source():
    assert cli("source", "matmul", "tiled") == cudakern.source("matmul", "tiled")
    assert cli_json("source", "matmul", "tiled")["source"] == cudakern.source("matmul", "tiled")
    assert cli("source", "matmul", "tiled", "--plain") == cudakern.source("matmul", "tiled", plain=True)


@pytest.mark.parametrize("ops", [("saxpy",), pytest.param((), marks=pytest.mark.full)], ids=["saxpy", "all"])
@each_backend
def test_verify(backend, ops):
    output = cli_json("verify", "--backend", backend, *(word for op in ops for word in ("--op", op)))
    assert output["ok"]
    assert output["backend"]["name"] == backend
    variants = [variant for op in ops or names() for variant in cudakern.variants(op)]
    assert {check["variant"] for check in output["checks"]} == {variant.name for variant in variants}
    assert len(output["checks"]) == sum(len(variant.types) for variant in variants)
    words = cli("verify", "--op", "matmul", "--variants", "naive,kahan", "--backend", backend)
    assert "ok" in words
    assert "kahan" in words
    assert "tiled" not in words


def test_verify_fails_where_a_result_is_wrong(monkeypatch, capsys):
    """Verification can fail."""
    from cudakern import _cli
    from cudakern.calls import execute

    right = execute.execute

    def wrong(run):
        right(run)
        if run.variant.name == "kahan" and run.outputs[0].size:
            run.outputs[0].flat[-1] *= 1.001

    native("emulator").memo.clear()  # for calls of known kinds go to C without it
    monkeypatch.setattr(execute, "remember", lambda *_: None)
    monkeypatch.setattr(execute, "execute", wrong)
    assert _cli.main(["verify", "--op", "matmul", "--variants", "naive,kahan", "--backend", "emulator", "--json"]) == 1
    output = json.loads(capsys.readouterr().out)
    assert not output["ok"]
    assert {check["variant"] for check in output["checks"] if check["verdict"] == "FAILED"} == {"kahan"}


@pytest.mark.parametrize(
    "arguments, nearest",
    [
        (["latter"], "ladder"),
        (["variants", "matmull"], "matmul"),
        (["source", "matmul", "tild"], "tiled"),
        (["source", "sum_of_square", "atomic"], "sum_of_squares"),
        (["ladder", "matmull"], "matmul"),
        (["ladder", "matmul", "--variants", "naiv"], "naive"),
        (["info", "--backend", "emulater"], "emulator"),
        (["verify", "--op", "mathmul"], "matmul"),
        (["verify", "--variants", "kahn"], "kahan"),
        (["info", "--jsn"], "--json"),
        (["ladder", "--repeats", "3"], "--repeat"),
    ],
)
def test_a_wrong_name_is_one_line_with_the_nearest(arguments, nearest):
    message = cli(*arguments, status=2)
    assert message.count("\n") == 1
    assert nearest in message
    assert "Traceback" not in message
    if nearest == "tiled":
        assert message == command(*arguments, status=2)


@pytest.mark.parametrize(
    "arguments",
    [
        ["ladder", "matmul", "--n", "-3"],
        ["ladder", "matmul", "--dtype", "int99"],
        ["ladder", "matmul", "--n", "many"],
        ["ladder", "matmul", "--shape", "3,4"],
        ["source", "matmul", "numpy"],
        ["source"],
    ],
)
def test_wrong_values_are_one_line(arguments):
    message = cli(*arguments, status=2)
    assert message.count("\n") == 1
    assert "Traceback" not in message


@pytest.mark.parametrize("arguments", [["resources", "sort", "cub"], ["occupancy", "sort", "cub"]])
def test_a_row_that_cannot_run_here_is_one_line(arguments):
    message = cli(*arguments, "--backend", "emulator", status=1)
    assert message.count("\n") == 1
    assert "cannot run here" in message


@pytest.mark.parametrize(
    "arguments, words",
    [
        ([], "no command: use one of run, cc, toolkit, info,"),
        (["--json"], "no command:"),
        (["--backend", "cuda"], "no command:"),
        (
            ["ladder", "lookup_2d", "--shape", "8x8"],
            "the table's axes) must be integers, 0 or more, such as (1048576, 512, 512), not (8, 8)",
        ),
        (["--backend", "cuda", "latter"], "unknown command 'latter': the nearest is 'ladder'"),
        (["ladder", "matmul", "n=many"], "argument --n: invalid int value: 'many'"),
        (["lab", "n=1000"], "lab: n=1000 is an argument of an experiment: pass its name; `cudakern lab` lists them"),
        (["lab", "coalescing", "--n", "1000"], "lab does not take '--n': its options are --json, "),
        (["lab", "coalescing", "--n=1000"], "; write parameters as NAME=VALUE"),
        (["lab", "coalescing", "--plt", "x.png"], "its options are --plot, "),
        (["resources", "matmul", "tiled", "--tile=8"], "; write parameters as NAME=VALUE"),
        (["verify", "matmul"], "verify does not take 'matmul': its options are --"),
        (["info", "--jsn=1"], "its options are --json, "),
        (["ladder", "--shape", "3,a"], "lengths must be integers, as in 17,33,65, not '3,a'"),
        (["ladder", "--seed", "-1"], "seed must be 0 or more, not -1"),
        (["verify", "--seed", "-1"], "seed must be 0 or more, not -1"),
        (["ladder", "matmul", "--dtype", "U3"], "complex128, not str"),
        (["resources", "matmul", "--dtype", "flot32"], "unknown type 'flot32': the nearest is 'float32'"),
        (["resources"], "pass an operation: vector_add, "),
    ],
)
def test_what_to_write_instead(arguments, words):
    assert words in cli(*arguments, status=2)


if "cuda" not in BACKENDS:

    def test_a_backend_that_was_asked_for_by_an_option():
        message = cli("query", "--backend", "cuda", status=1)
        assert "backend 'cuda' was requested by --backend and cannot be used: " in message


def test_version_and_help():
    assert cudakern.__version__ in cli("--version")
    words = command("--help")
    assert all(name in words for name in ("info", "ladder", "variants", "source", "verify"))


def test_help_of_the_commands_for_programs():
    run, cc = command("run", "--help"), command("cc", "--help")
    assert "--check  " in run
    assert all(line in text for line in ("-I DIR", "-G  ") for text in (run, cc))
    assert "-o FILE" in cc
    assert "-o FILE" not in run  # whose program is run at once
    assert "-ptxas-options" not in cc  # which have no effect


def test_the_command_is_installed():
    from importlib.metadata import entry_points

    output = [entry for entry in entry_points(group="console_scripts") if entry.name == "cudakern"]
    assert output
    assert output[0].value == "cudakern._command:main"


def test_notebooks(tmp_path):
    folder = tmp_path / "course"
    names = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
    assert cli_json("notebooks", str(folder)) == {"folder": str(folder), "copied": names, "there": []}
    first, third = (folder / f"{name}.ipynb" for name in (names[0], names[2]))
    assert not re.search(r"\]\(\.\./", "".join(path.read_text() for path in folder.iterdir()))  # no page is there
    assert {path.suffix for path in folder.iterdir()} == {".ipynb"}  # and no answers
    original = third.read_text()
    assert json.loads(original)["cells"]
    third.write_text("mine")
    first.unlink()
    words = cli("notebooks", str(folder))
    assert words.startswith(f"1 notebooks copied to {folder}. {len(names) - 1} were there already.")
    assert third.read_text() == "mine"
    before = folder / f"{names[2]}_before.ipynb"
    assert cli("notebooks", str(folder), "--reset", "03").startswith(
        f"{third} is as it was. The one before is {before}."
    )
    assert (third.read_text(), before.read_text()) == (original, "mine")
    assert "unknown notebook '0'" in cli("notebooks", str(folder), "--reset", "0", status=2)
