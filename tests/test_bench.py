"""bench, on the emulator; and as on a GPU, with an emulated device that claims to be none, and NumPy as CuPy."""

import json
import math
import os
import subprocess
import sys
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cudakern
from cudakern import _backend
from cudakern._cli import main
from cudakern.measure import bench as bench_module
from cudakern.measure import rounds
from cudakern.measure.bench import bench
from cudakern.measure.peers import PEERS
from cudakern.measure.rounds import timed

each = pytest.mark.parametrize


@pytest.fixture
def as_on_a_gpu(monkeypatch):
    """A device that says it is an H200, with small buffers; and NumPy in place of CuPy, on the same memory."""
    native = _backend.emulator()
    facts = native.device_properties(0) | {"name": "NVIDIA H200"}
    for module in (bench_module, rounds):
        monkeypatch.setattr(module, "backend", lambda: _backend.Backend("cuda", 0, "", native, facts))
    monkeypatch.setattr(rounds, "FLUSH", 1 << 12)
    monkeypatch.setattr(rounds, "PRODUCTS", {"float16": 32, "float64": 32})
    names = ("from_dlpack", "asarray", "cumsum", "sort", "__version__")
    cupy = types.SimpleNamespace(asnumpy=np.asarray, **{n: getattr(np, n) for n in names})
    monkeypatch.setitem(sys.modules, "torch", None)  # its import fails
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    caches = (rounds._bandwidth, rounds._link_rate, rounds._product_rate)
    for cache in caches:
        cache.cache_clear()
    with cudakern.use_backend("emulator"):
        yield
    for cache in caches:
        cache.cache_clear()


@each("op", PEERS)
def test_the_emulator_runs_small_inputs(op):
    result = bench(op, rounds=1, emulated=True, progress=False)
    names = [v.name for v in cudakern.variants(op) if "emulator" in v.backends and "float32" in v.types]
    assert [line.who for line in result.lines] == [f"cudakern: {name}" for name in ("auto", *names)]
    assert all(line.kernel_ns > 0 and line.error < 2e-3 and not line.note for line in result.lines)
    assert {(line.ratio, line.share, line.rate) for line in result.lines} == {(None, None, None)}
    assert result.lines[0].variant in names
    table = str(result)
    assert "emulated" in table
    assert "GB/s" not in table
    assert "TFLOP/s" not in table
    with pytest.raises(ValueError, match="the emulator's times"):
        result.plot()


def test_products_of_m_n_k_in_each_type():
    for dtype in ("float16", "bfloat16", "float64", "int32", "complex64"):
        result = bench("matmul", [(5, 6, 7), (1, 1, 1)], dtype, variants=["tiled"], rounds=1, emulated=True)
        assert [line.shape for line in result.lines] == [(5, 6, 7), (1, 1, 1)]
        assert result.lines[0].flops == (8 if dtype == "complex64" else 2) * 5 * 6 * 7
        assert all(line.error < 0.01 for line in result.lines)
    assert "<td" in result._repr_html_()
    wide = bench("matmul", [(16, 16, 5000)], "int8", variants=["wgmma_int8", "tiled"], rounds=1, emulated=True)
    assert [line.error for line in wide.lines] == [0, 0]  # one into an out= of int32, one modulo 256


def test_the_choice_of_auto_beside_the_fastest(capsys):
    shapes = [(5, 6, 7), (33, 8, 100)]
    result = bench("matmul", shapes, tune=True, rounds=1, emulated=True)
    assert {"warp_tiles", "split_fp16"} < {line.variant for line in result.lines} > {"few_rows"}
    assert not {"naive", "tiled"} & {line.variant for line in result.lines if not line.who.endswith("auto")}
    table = result.choices()
    for shape, row in zip(shapes, table.rows, strict=True):
        lines = {line.who: line for line in result.lines if line.shape == shape and not line.who.endswith("tf32")}
        best = min((line for line in lines.values() if line.kernel_ns), key=lambda line: line.kernel_ns)
        assert row[1] == ("tiled" if max(shape) <= 32 else "small_tiles")
        assert row[3] == best.variant
        assert float(row[5]) == pytest.approx(lines["cudakern: auto"].kernel_ns / best.kernel_ns, abs=0.006)
    assert "geometric mean" in table.note
    assert "says nothing about a GPU" in table.note
    assert "No input" in bench("sort", [9], variants=["auto"], rounds=1, emulated=True).choices().note
    on_host = {"variants": ["auto", "tiled"], "dtype": "bfloat16", "host": True, "rounds": 1, "emulated": True}
    assert len(bench("matmul", [(8, 8, 8)], **on_host).choices().rows) == 1, "NumPy has no entry for bfloat16"
    other_type = {"variants": ["auto", "wgmma_int8"], "dtype": "int8", "rounds": 1, "emulated": True}
    assert "No input" in bench("matmul", [(64, 64, 64)], **other_type).choices().note
    with pytest.raises(ValueError, match="for matmul"):
        bench("sort", tune=True, emulated=True)
    for wrong in ({"tune": "yes"}, {"host": 1}):
        with pytest.raises(TypeError, match="must be True or False, not"):
            bench("matmul", emulated=True, **wrong)
    assert main(["bench", "--tune", "--emulated", "--rounds", "1", "--shape", "5,6,7", "--variants", "auto,tiled"]) == 0
    assert "auto / fastest" in capsys.readouterr().out


def test_new_data_in_each_run_unless_the_seed_is_passed():
    sums = []

    def remember(x):
        sums.append(x.get().sum())
        return x

    peers = {"mine": remember}
    for seed in (None, None, 5, 5):
        result = bench("sort", [100], peers=peers, variants=[], rounds=1, seed=seed, emulated=True)
        assert result.seed == (seed or result.seed)
        assert result.lines[0].error > 0  # it does not sort
    first, second, *same = sums[:: len(sums) // 4]
    assert first != second
    assert same[0] == same[1]


def test_own_calls_as_peers_and_calls_that_fail(capsys):
    def fails(a, b):
        raise RuntimeError("no\n  kernel")

    peers = {"mine: a @ b": lambda a, b: a.get() @ b.get(), "fails": fails}
    result = bench("matmul", [(9, 8, 7)], variants=["tiled"], peers=peers, rounds=2, emulated=True)
    by_name = {line.who: line for line in result.lines}
    assert by_name["mine: a @ b"].error < 1e-6
    assert by_name["mine: a @ b"].measurements == 2
    assert by_name["fails"].note == "no kernel"
    assert by_name["fails"].kernel_ns is None
    assert "fails: no kernel." in result.table().note


def test_json_has_everything(tmp_path):
    result = bench("saxpy", [100], "float64", rounds=3, emulated=True)
    result.save(str(tmp_path / "saxpy.json"))
    record = json.loads((tmp_path / "saxpy.json").read_text())
    assert record == json.loads(result.json()) == json.loads(json.dumps(result.to_dict()))
    assert record["backend"]["properties"]["name"] == "Emulated NVIDIA H200"
    assert record["versions"]["numpy"] == np.__version__
    assert record["limits"] is None
    line = record["lines"][0]
    assert (line["who"], line["shape"], line["variant"]) == ("cudakern: auto", [100], "vectorized")
    times = list(line["quantiles"].values())
    assert times == sorted(times)
    assert line["quantiles"]["0.5"] == line["kernel_ns"]


@each(
    "op, dtype",
    [
        *(
            pytest.param(op, "float32", marks=[] if op in ("matmul", "inclusive_scan") else pytest.mark.full)
            for op in PEERS
            if op != "sum_of_squares"
        ),
        pytest.param("matmul", "float16", marks=pytest.mark.full),
    ],
)
def test_rates_shares_and_a_roofline_as_on_a_gpu(as_on_a_gpu, op, dtype, tmp_path):
    shapes = [(16, 17, 18), (32, 32, 32)] if op == "matmul" else [50, 100]
    result = bench(op, shapes, dtype, rounds=3)
    peers, ours = ([x for x in result.lines if x.who.startswith(who)] for who in ("cupy", "cudakern"))
    assert len(peers) == 2
    assert [line.ratio for line in peers] == [1, 1]  # the only other library
    for line in ours:
        if line.who == "cudakern: cub":  # it needs a GPU
            assert line.note
            continue
        theirs = next(x for x in peers if x.shape == line.shape)
        assert line.ratio == pytest.approx(theirs.kernel_ns / line.kernel_ns)
        work = line.flops / 1e3 if op == "matmul" else line.bytes
        assert line.rate == pytest.approx(work / line.kernel_ns)
        least = [line.bytes / result.limits.memory]
        least += [line.flops / result.limits.arithmetic] if result.limits.arithmetic else []
        if line.variant != "wgmma_tf32":
            assert line.share == pytest.approx(max(least) / line.kernel_ns)
    by = result.limits.arithmetic_by
    assert by.startswith("measured by" if dtype == "float16" else "computed")
    assert "Limits: memory" in result.table().note
    assert "NVIDIA H200" in result.title
    picture = result.plot(str(tmp_path / "roofline.png"))
    assert (tmp_path / "roofline.png").stat().st_size > 10_000
    labels = [line.get_label() for line in picture.axes[0].lines]
    assert labels[:-1] == list(dict.fromkeys(line.who for line in result.lines if line.kernel_ns))
    assert labels[-1] == "limit"
    assert "limit: memory" in picture.axes[0].get_xlabel()


@pytest.mark.parametrize(
    "op", [op if op in ("matmul", "sum_of_squares") else pytest.param(op, marks=pytest.mark.full) for op in PEERS]
)
def test_from_numpy_to_numpy_as_on_a_gpu(as_on_a_gpu, op, tmp_path):
    """Every call takes the NumPy arrays and gives one back; the link is the limit of what is copied."""
    seen = []

    def mine(*arrays):
        seen.append(arrays)
        return cudakern.operations.registry.operation(op).call(*arrays, variant="numpy")

    result = bench(op, host=True, peers={"mine": mine}, rounds=2, shapes=[(5, 6, 7)] if op == "matmul" else [100])
    assert [(line.who, line.measurements) for line in result.lines] == [("mine", 2), ("cudakern: auto", 2)]
    assert all(isinstance(x, np.ndarray) for arrays in seen for x in arrays)
    result = bench(op, host=True, rounds=3, shapes=[(32, 32, 32)] if op == "matmul" else [100])
    timed = [line for line in result.lines if line.kernel_ns]
    others = [line.who for line in timed if line.who.startswith(("cupy", "numpy"))]
    assert {who.partition(":")[0] for who in others} == ({"numpy"} if op == "sum_of_squares" else {"cupy", "numpy"})
    assert [line.who for line in timed] == [*others, "cudakern: auto"]
    assert all(line.error < 2e-3 for line in timed)
    *peers, auto = timed
    assert auto.variant in cudakern.variants(op)
    assert auto.ratio == pytest.approx(min(x.kernel_ns for x in peers) / auto.kernel_ns)
    assert auto.share == pytest.approx(result.limits.ns(auto.flops, auto.bytes) / auto.kernel_ns)
    assert "link" in str(result.limits)
    assert "NumPy arrays" in result.title
    assert result.to_dict()["timing"] == rounds.HOST_TIMING
    result.plot(str(tmp_path / "roofline.png"))


def test_a_library_without_the_type_gets_a_note(as_on_a_gpu):
    result = bench("matmul", [(8, 8, 8)], "bfloat16", variants=["tiled"], rounds=1)
    assert [(line.who, bool(line.note)) for line in result.lines] == [("cudakern: tiled", False), ("cupy", True)]
    assert result.lines[0].ratio is None


def test_without_libraries(as_on_a_gpu):
    result = bench("matmul", [(8, 8, 8)], variants=["tiled", "wgmma_tf32"], peers=False, rounds=1)
    assert [line.who for line in result.lines] == ["cudakern: tiled", "cudakern: wgmma_tf32"]
    assert result.lines[1].share is None  # the limit is that of float32
    assert result.lines[0].ratio is None
    assert result.lines[0].share > 0


def test_slow_calls_are_measured_once(monkeypatch):
    calls = {"slow": 0, "fast": 0}

    def count(name):
        calls[name] += 1

    monkeypatch.setattr(rounds, "SLOW_NS", -1.0)
    with cudakern.use_backend("emulator"):
        times = timed({name: lambda name=name: count(name) for name in calls}, 4)
    assert calls == {"slow": 1, "fast": 1}
    assert [len(x) for x in times.values()] == [1, 1]


def test_large_products_are_checked_in_some_rows(monkeypatch):
    monkeypatch.setattr(bench_module, "CHECKED", 100)
    a, b = np.ones((30, 4)), np.ones((4, 5))
    error = bench_module._checker(cudakern.operations.registry.operation("matmul"), (a, b))
    assert error(a @ b) == 0
    assert error(2 * (a @ b)) == pytest.approx(1)
    wrong = a @ b
    wrong[:, 0] = 0
    assert error(wrong) > 0.1


def test_mistakes():
    with (
        cudakern.use_backend("emulator"),
        pytest.raises(NotImplementedError, match="needs a GPU.*cudakern ladder sort"),
    ):
        bench("sort")
    wrong = [
        (ValueError, "unknown operation 'bincount' of bench", lambda: bench("bincount", emulated=True)),
        (
            ValueError,
            r"of \(m, n, k\), such as \[\(64, 64, 64\)\], not \[5\]",
            lambda: bench("matmul", [5], emulated=True),
        ),
        (ValueError, r"of lengths, such as \[4096\], not \[\(3, 4\)\]", lambda: bench("sort", [(3, 4)], emulated=True)),
        (ValueError, r"not \[0\]", lambda: bench("saxpy", [0], emulated=True)),
        (ValueError, r"not \[2.5\]", lambda: bench("saxpy", [2.5], emulated=True)),
        (ValueError, "not 7", lambda: bench("saxpy", 7, emulated=True)),
        (ValueError, r"not \[\]", lambda: bench("saxpy", [], emulated=True)),
        (ValueError, "unknown variant 'tild'", lambda: bench("matmul", variants=["tild"], emulated=True)),
        (ValueError, "'numpy' runs on the host", lambda: bench("matmul", variants="numpy", emulated=True)),
        (
            TypeError,
            r"peers\['m'\] must be a function of the inputs, not 3",
            lambda: bench("matmul", [(8, 8, 8)], peers={"m": 3}, emulated=True),
        ),
        (TypeError, "takes float32, not", lambda: bench("matmul", None, "f8", variants=["warp_tiles"], emulated=True)),
        (TypeError, "support uint32, int32, float32, not int8", lambda: bench("sort", [5], "int8", emulated=True)),
        (ValueError, "rounds must be 1", lambda: bench("sort", rounds=0, emulated=True)),
    ]
    for error, message, call in wrong:
        with pytest.raises(error, match=message):
            call()


def test_the_command(tmp_path, capsys):
    path = tmp_path / "record.json"
    words = "bench matmul --emulated --rounds 1 --shape 8,9,10 --shape 4,4,4 --variants tiled,naive --dtype float64"
    assert main([*words.split(), "--json", str(path)]) == 0
    assert "8 x 9 x 10  tiled" in capsys.readouterr().out
    assert len(json.loads(path.read_text())["lines"]) == 4
    assert main([*words.split(), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["dtype"] == "float64"
    assert main(["bench", "matmul", "--host", *words.split()[2:-2]]) == 0
    assert "float32 NumPy arrays" in capsys.readouterr().out
    assert main(["bench", "matmul", "--backend", "emulator"]) == 1
    assert "needs a GPU" in capsys.readouterr().err
    assert main(["bench", "matmul", "sort"]) == 2
    assert main(["bench", "--shape", "5"]) == 2
    assert "need an operation" in capsys.readouterr().err


def test_the_result_is_pickled_without_its_device():
    import pickle

    result = bench("sort", [9], variants=["sample_sort"], rounds=1, emulated=True)
    assert str(pickle.loads(pickle.dumps(result))) == str(replace(result))


def test_variants_in_one_text():
    """As on the command line."""
    result = bench("matmul", [(8, 9, 10)], variants="tiled, auto", emulated=True)
    assert [line.who for line in result.lines] == ["cudakern: tiled", "cudakern: auto"]
    steps = cudakern.ladder("matmul", n=8, variants="tiled,naive", repeat=1)
    assert [step.variant.name for step in steps] == ["tiled", "naive"]


# --- records of measurements -----------------------------------------------------------------------------------------
CI = Path(__file__).resolve().parent.parent / ".ci"


def test_records_are_read_as_they_were_written(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(CI))
    import records

    rows = [{"n": n, "ns": n / 3, "who": "", "error": None} for n in range(5)]
    records.write(
        tmp_path / "a.json", {"chip": {"name": "x", "properties": {"warp": 32}}, "rows": rows, "few": rows[:2]}
    )
    read = records.read(tmp_path / "a.json")
    assert read["chip"] == {"name": "x"}
    assert [{**row, "ns": 0} for row in read["rows"]] == [{**row, "ns": 0} for row in rows]
    assert all(math.isclose(a["ns"], b["ns"], rel_tol=1e-8) for a, b in zip(read["rows"], rows, strict=True))
    assert [list(row) for row in read["few"]] == [["n", "ns", "who", "error"]] * 2
    assert '[1, 0.333333333, "", null]' in (tmp_path / "a.json").read_text()


def test_what_compute_sanitizer_says(monkeypatch):
    """Its texts as NVIDIA's manual shows them."""
    monkeypatch.syspath_prepend(str(CI))
    import wrong_kernels
    import wrongs

    (case,) = (case for case in wrong_kernels.cases() if case.label == "race/reverse")
    first, *_ = sorted(case.marks)
    judge = wrongs.Sanitizer.verdict
    head, ran = "========= COMPUTE-SANITIZER\n", f'\n@{{"case": "{case.label}", "error": ""}}\n'
    race = (
        "========= Error: Race reported between Write access at wrong(int *, int *)+0x90 in reverse.cu:{}\n"
        "=========     and Read access at wrong(int *, int *)+0x100 in reverse.cu:1 [508 hazards]\n=========\n"
        "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n"
    )
    assert judge(None, case, head + ran + race.format(first))[0] == "line"
    assert judge(None, case, head + ran + race.format(1))[0] == "found"
    assert judge(None, case, head + ran + "========= ERROR SUMMARY: 0 errors\n") == ("clean", "", "")
    assert judge(None, case, head + f"\n@{wrongs.HANGS}\n")[::2] == ("hangs", "hangs")
    assert judge(None, case, head)[0] == "no summary"
    leak = "========= Leaked 64 bytes at 0x400200200\n=========     Saved host backtrace\n{}"
    leak += "========= ERROR SUMMARY: 2 errors\n"
    heap = "========= Leaked 16 bytes at 0x4012ffff6 on the device heap\n"
    assert judge(None, case, head + ran + leak.format(heap))[:2] == ("found", heap.strip("=\n "))
    assert judge(None, case, head + ran + leak.format(""))[0] == "clean"


@pytest.mark.full
def test_measurements_run(tmp_path):
    """Small, on the emulator."""
    settings = {"TINY": "1", "OPS": "saxpy", "OUT": str(tmp_path), "COMMIT": "0", "CUDAKERN_BACKEND": "emulator"}
    command = [sys.executable, CI / "record", "bench", "matmul", "crossover", "host", "calls", "large"]
    ran = subprocess.run(command, env=os.environ | settings, text=True, capture_output=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert {path.name for path in tmp_path.iterdir()} == {f"emulator_{step}.json" for step in command[2:]}
    record = json.loads((tmp_path / "emulator_bench.json").read_text())
    assert record["rows"]["columns"][:4] == ["op", "n", "dtype", "who"]
    assert record["commit"] == "0"
