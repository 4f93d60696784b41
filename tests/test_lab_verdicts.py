"""What experiments say of the documents' claims: each has a verdict where times are a chip's, and it follows them."""

import importlib
import json
import re
from pathlib import Path

import pytest

import cudakern
from cases import times_count
from cudakern import lab
from cudakern.lab import (
    _bank_conflicts,
    _coalescing,
    _constant_memory,
    _divergence,
    _hello,
    _host_memory,
    _intrinsics,
    _latency,
    _layouts,
    _overlap,
    _registers,
    _sample_sort,
    _spilling,
    _textures,
    _thread_map,
    _timing,
    _words,
)
from cudakern.lab._by_name import experiments
from cudakern.lab._retold import retold

#: Small ones, but for what a verdict asks of its size.
ARGUMENTS = {
    "bank_conflicts": {"strides": [16, 32]},
    "hello": {},
    "host_memory": {"sizes": [1 << 20]},
    "sample_sort_stages": {"n": 9000},
    "thread_map": {"grid": None, "block": (16, 16), "shape": (62, 76)},
}


def with_times_that_count(name, monkeypatch):
    """The experiment as on a GPU, also where there is none."""
    module = importlib.import_module({"sample_sort_stages": _sample_sort.__name__}.get(name, f"cudakern.lab._{name}"))
    times_count(module, monkeypatch)
    given = ARGUMENTS.get(name, {"n": 500})
    return getattr(lab, name)(**given, **({} if name in ("hello", "thread_map") else {"repeat": 1}))


@pytest.mark.parametrize("name", experiments())
def test_every_experiment_has_one(name, monkeypatch):
    result = with_times_that_count(name, monkeypatch)
    assert re.match(r"(Still so|No longer so): .*\.$", result.verdict)
    assert result.verdict in " ".join(repr(result).split())
    assert result.to_dict()["verdict"] == result.verdict


@pytest.mark.parametrize("name", experiments())
def test_emulated_times_bear_out_nothing(name):
    with cudakern.use_backend("emulator"):
        result = getattr(lab, name)(**ARGUMENTS.get(name, {"n": 500}))
    assert bool(result.verdict) == (name == "thread_map")  # whose numbers are the same everywhere


@pytest.mark.parametrize("name", experiments())
def test_a_kept_result_is_told_in_todays_words(name, monkeypatch):
    """From what is in its JSON: the same as the experiment says itself."""
    result = with_times_that_count(name, monkeypatch)
    record = json.loads(json.dumps(result.to_dict()))
    kept = record | {"finding": "old", "documents": "old", "verdict": "old"}
    assert retold(kept) == {key: record[key] for key in ("finding", "documents", "verdict")}
    assert retold(kept | {"rows": [{}]}) is None
    assert retold(kept | {"backend": {"emulated": True}}) is None


def test_the_page_has_todays_words(monkeypatch, tmp_path):
    """.ci/tables.py on a record whose words are old, and on one that lacks what today's need."""
    folder = Path(__file__).parent.parent / ".ci"
    if not folder.is_dir():
        pytest.skip("these sources have no .ci")
    monkeypatch.syspath_prepend(folder)
    tables = importlib.import_module("tables")
    record = json.loads((tables.RESULTS / "gpu_lab.json").read_text())
    for found in record["experiments"].values():
        found["verdict"] = "Still so: what was said then."
    for row in record["experiments"]["timing"]["rows"]:
        del row["key"]
    (tmp_path / "gpu_lab.json").write_text(json.dumps(record))
    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    sections = tables.experiments().split("\n## ")
    (lacking,) = (section for section in sections if "said then" in section)
    assert lacking.startswith("timing\n")
    assert lacking.rstrip().endswith("today's ask for more than it kept.)")


def test_the_words():
    assert _words.verdict({"a": True, "b": False, "c": True}) == "Still so: a; c. No longer so: b."
    assert _words.verdict({"b": False}) == "No longer so: b."
    assert _words.verdict({}) == ""
    assert [_words.clearly(more, 100) for more in (90, 109, 111)] == [False, False, True]
    assert [_words.counted(n, "block") for n in (0, 1, 4096)] == ["0 blocks", "1 block", "4,096 blocks"]


# --- each claim both ways --------------------------------------------------------------------------------------------
def banks(slow, padded=2.0):
    rows = [("broadcast", 0, 1, 2.0), ("strided", 1, 1, 2.0), ("strided", 32, 32, slow), ("padded", 32, 1, padded)]
    keys = ("form", "stride", "wavefronts", "cycles")
    return _bank_conflicts._verdict(
        [dict(zip(keys, row, strict=True)) | {"distance": row[1] + (row[0] == "padded")} for row in rows]
    )


def coalesced(**rates):
    cases = {
        ("stride", "1 element"): "near",
        ("stride", "32 elements"): "apart",
        ("offset", "0 elements"): "bounded",
        ("offset", "1 element"): "moved",
        ("width", "4 bytes"): "narrow",
        ("width", "16 bytes"): "wide",
        ("partial warp", "all lanes"): "all",
        ("partial warp", "without lane 3"): "partial",
        ("bytes as floats", "bytes"): "bytes",
        ("bytes as floats", "words"): "words",
        ("vec3", "array_of_structs"): "structs",
        ("vec3", "aligned"): "aligned",
        ("vec3", "struct_of_arrays"): "arrays",
        ("vec3", "staged"): "staged",
    }
    return _coalescing._verdict({case: {"gb_per_s": rates.get(name, 100.0)} for case, name in cases.items()})


def constants(literal=10.0, scalar=10.0, array=10.0, memory=10.0, divided=10.0):
    rows = [
        ("literal", 4, "uniform", literal),
        ("scalar", 4, "uniform", scalar),
        ("global", 4, "uniform", memory),
        ("array", 32, "uniform", array),
        ("global", 32, "uniform", memory),
        ("array", 32, "divergent", divided),
    ]
    keys = ("variant", "length", "index", "kernel_ns")
    return _constant_memory._verdict([dict(zip(keys, row, strict=True)) | {"clock": "gpu"} for row in rows])


def divided(odd=50.0, warp=50.0, last=50.0, divides=1):
    ns = {"first": 20.0, "second": 60.0, "odd_lane": odd, "warp": warp}
    rows = [{"kind": "branch", "condition": _divergence.CONDITIONS[key], "kernel_ns": t} for key, t in ns.items()]
    edges = [(100, divides, 1.0), (1000, divides, 1.0), (4096, 0, 50.0), (4095, divides, last)]
    rows += [
        {"kind": "edge", "condition": "i < n", "n": n, "divided": d, "share": 3.0, "kernel_ns": ns}
        for n, d, ns in edges
    ]
    return _divergence._verdict(rows)


def greeted(*threads):
    return _hello._verdict(tuple({"block": 0, "thread": thread} for thread in threads))


def copied(pinned, pageable, size=1 << 26):
    return _host_memory._verdict(
        tuple(
            {"memory": memory, "direction": direction, "bytes": size, "gb_per_s": rate, "clock": "gpu"}
            for memory, rate in (("pinned", pinned), ("pageable", pageable))
            for direction in _host_memory.DIRECTIONS
        )
    )


def evaluated(product=10.0, quotient=10.0, exp=10.0, ulp=1.0, far=1e7):
    rows = [
        ("__fdividef", "x / y", quotient, ulp),
        ("__fdividef", "x / y", 10.0, far),
        ("__expf", "expf", exp, ulp),
        ("__mul24", "x * y", product, 0.0),
    ]
    return _intrinsics._verdict(
        tuple(
            {"fast": fast, "full": full, "fast_ps": ps, "fast_ulp": error, "gain": 10 / ps, "range": "y 1 to 2"}
            | {"full_ps": 10.0, "full_ulp": 1.0, "clock": "gpu"}
            for fast, full, ps, error in rows
        )
    )


def waited(few=(10.0, 10.0, 10.0), many=(10.0, 10.0, 10.0)):
    forms = [form for form, _, _ in _latency.FORMS]
    times = {32: few, 2048: many}
    return _latency._verdict(
        [
            {"threads": threads, "form": form, "kernel_ns": ns}
            for threads, (late, early, several) in times.items()
            for form, ns in zip(forms, (late, early, several, several, several), strict=True)
        ]
    )


def laid_out(small, large, cpu):
    relative = {("GPU", 4096): small, ("CPU (NumPy)", 4096): cpu, ("GPU", 9999): large, ("CPU (NumPy)", 9999): cpu}
    return _layouts._verdict(
        [{"where": w, "n": n, "layout": "structs", "relative": times} for (w, n), times in relative.items()]
    )


def overlapped(after, begins):
    """Two kernels of 10 each."""
    rows = [{"way": "one stream", "whole_ns": 100.0, "stream": 0, "step": "kernel", "begin_ns": 0.0, "ns": 10.0}]
    rows += [
        {"way": "several streams", "whole_ns": after, "stream": i, "step": "kernel", "begin_ns": begin, "ns": 10.0}
        for i, begin in enumerate(begins)
    ]
    return _overlap._verdict([row | {"clock": "gpu"} for row in rows])


def packed(memory, register, unrolled):
    return _registers._verdict([{"kernel_ns": ns, "clock": "gpu"} for ns in (memory, register, unrolled)])


def sorted_by(longest, together, numpy, data="random", n=1 << 20, samples=None):
    stages = [{"stage": longest, "ns": 9.0, "share": 0.9}]
    if longest != "sort_bins":
        stages.append({"stage": "sort_samples", "ns": 1.0, "share": 0.1})
    return _sample_sort._verdict(stages, together, numpy, n, data, samples)


def spilled(ns, loads=9, local=128):
    times = {"compile_time_index": 10.0, "spilled": ns, "runtime_index": ns}
    return _spilling._verdict(
        [
            {"variant": v, "window": 32, "kernel_ns": t, "spill_loads": loads, "local_bytes": local, "clock": "gpu"}
            for v, t in times.items()
        ],
        32,
    )


def textured(column=10.0, random=10.0, memory=10.0, error=1e-8, whole=True):
    places = [("row-wise", "texture", 10.0), ("column-wise", "texture", column), ("random", "texture", random)]
    rows = [
        {"part": "locality", "what": what, "variant": variant, "kernel_ns": ns}
        for what, variant, ns in (*places, ("row-wise", "global_memory", memory))
    ]
    rows += [
        {"part": "RGBA", "what": "bytes to floats", "variant": v, "kernel_ns": 1.0, "error": error, "clock": "gpu"}
        for v in ("packed", "texture")
    ]
    precision = {"part": "precision", "what": "between 0 and 1", "variant": "texture", "error": 0.002, "whole": whole}
    return _textures._verdict([*rows, precision])


def mapped_to(*kinds, threads=5120):
    return _thread_map._verdict([{"kind": kind, "blocks": 1, "threads": threads / len(kinds)} for kind in kinds])


def timed(kernel, blocks, variant="multi_block", block=1000.0):
    """On a chip of 2 GHz."""
    rows = {"kernel": {"ns": kernel}, "whole": {"ns": 1000.0}, "blocks": {"ns": blocks}}
    rows["block"] = {"ns": block, "cycles": 2 * block}
    return _timing._verdict(rows, variant, 1 << 20)


@pytest.mark.parametrize(
    "claim, borne_out, not_borne_out",
    [
        ("n ways take n times as long (32 ways take", banks(64.0), banks(20.0)),
        ("a word of padding takes that away", banks(64.0), banks(64.0, padded=4.0)),
        ("neighbours' loads are joined", coalesced(apart=20.0), coalesced()),
        ("only loads from a boundary on", coalesced(moved=50.0), coalesced(moved=99.0)),
        ("loads of 16 bytes are slow", coalesced(wide=50.0), coalesced(wide=150.0)),
        ("a lane that takes no part", coalesced(), coalesced(partial=50.0)),
        ("bytes are better read as words", coalesced(words=200.0), coalesced()),
        ("12-byte structs need", coalesced(staged=300.0), coalesced(staged=50.0)),
        ("literals and constants by name take the same time", constants(), constants(scalar=12.0)),
        ("constants by name beat global memory", constants(memory=400.0), constants()),
        ("an array of constants is no faster", constants(), constants(memory=20.0)),
        ("32 addresses in a warp are served", constants(divided=100.0), constants()),
        ("32 addresses take at least", constants(divided=320.0), constants(divided=200.0)),
        ("a divided warp walks both paths", divided(odd=80.0), divided(odd=41.0)),
        ("a branch between warps costs nothing", divided(), divided(warp=80.0)),
        ("an edge check divides one warp", divided(), divided(divides=2)),
        ("an edge check costs nothing", divided(), divided(last=80.0)),
        ("threads 0 to 3 of a block", greeted(0, 1, 2, 3), greeted(0, 2, 1, 3)),
        ("memory that is not page-locked is slower", copied(50.0, 9.0), copied(9.0, 9.0)),
        ("the link moves up to 8 GB/s", copied(6.0, 3.0), copied(55.0, 9.0)),
        ("24-bit products are faster", evaluated(product=5.0), evaluated(product=12.0)),
        ("__fdividef is faster", evaluated(quotient=5.0), evaluated()),
        ("__fdividef is as exact", evaluated(), evaluated(ulp=2.0)),
        ("__fdividef is wrong for", evaluated(), evaluated(far=2.0)),
        ("__expf, __sinf and their like are faster", evaluated(exp=5.0), evaluated()),
        ("__expf, __sinf and their like are less exact", evaluated(ulp=2.0), evaluated()),
        ("loads belong at a kernel's start", waited(few=(20.0, 10.0, 5.0)), waited()),
        ("enough threads hide the latency", waited(), waited(many=(20.0, 10.0, 5.0))),
        ("several elements a thread help", waited(many=(10.0, 10.0, 5.0)), waited()),
        ("structs are slower on a GPU", laid_out(3.5, 3.5, 0.1), laid_out(3.5, 1.0, 0.1)),
        ("4,096 structs take three to four times", laid_out(3.5, 3.5, 0.1), laid_out(2.3, 3.5, 0.1)),
        ("one piece is computed while", overlapped(60.0, [0.0, 10.0]), overlapped(100.0, [0.0, 10.0])),
        ("the chip is then never idle", overlapped(60.0, [0.0, 5.0]), overlapped(60.0, [0.0, 30.0])),
        ("the register form is 1.7 times", packed(17.0, 10.0, 10.0), packed(12.0, 10.0, 10.0)),
        ("the loop written out is", packed(17.0, 10.0, 5.0), packed(17.0, 10.0, 9.9)),
        ("sorting the samples is the longest", sorted_by("sort_samples", 1.0, 9.0), sorted_by("scatter", 1.0, 9.0)),
        ("1,048,576 random keys take 67 ms", sorted_by("scatter", 7e7, 9e9), sorted_by("scatter", 1e5, 9e9)),
        ("random keys take a fifth", sorted_by("scatter", 1e5, 1e6), sorted_by("scatter", 1e5, 2e5)),
        (
            "with nearly sorted keys the CPU is faster",
            sorted_by("scatter", 2e8, 1e8, "nearly sorted"),
            sorted_by("scatter", 1e5, 1e8, "nearly sorted"),
        ),
        (
            "the samples of nearly sorted keys are sorted faster on the CPU",
            sorted_by("scatter", 1e5, 1e8, "nearly sorted", samples=0.5),
            sorted_by("scatter", 1e5, 1e8, "nearly sorted", samples=1.0),
        ),
        ("what does not fit into registers slows", spilled(20.0), spilled(10.0)),
        ("an array declared in a kernel may be put", spilled(20.0), spilled(10.0)),
        ("reads of a texture need not be coalesced", textured(), textured(column=20.0)),
        ("reads of a texture should be near", textured(random=20.0), textured()),
        ("a texture makes four floats", textured(), textured(error=0.1)),
        ("a texture's filter is of low resolution", textured(), textured(whole=False)),
        ("blocks come in four kinds", mapped_to("a", "b", "c", "d"), mapped_to("a", "b")),
        ("the picture takes 80 x 64 threads", mapped_to("a"), mapped_to("a", threads=4800)),
        ("the kernel is a small part", timed(1.0, 1.0), timed(500.0, 1.0)),
        # Of all blocks, whatever one of them takes; by events where the blocks' timer stood still.
        ("multi_block takes 150,000 cycles", timed(1.0, 7.5e4), timed(1.0, 7e3, block=1e5)),
        ("multi_block takes 150,000 cycles", timed(7.5e4, 0), timed(1.0, 0)),
    ],
)
def test_a_claim_is_judged_by_the_figures(claim, borne_out, not_borne_out):
    for said, wanted in ((borne_out, True), (not_borne_out, False)):
        still, _, no_longer = said.partition("No longer so: ")
        assert said.count(claim) == 1, said
        assert (claim in still) == wanted, said
        assert (claim in no_longer) != wanted, said


def test_a_shorter_time_with_an_edge_check_is_no_finding():
    """One element fewer and 10% less time: that is how far repetitions lie apart."""
    assert "4,095 additions take no longer than 4,096)" in divided(last=44.9)
    assert "4,095 additions take 1.2 times as long as 4,096)" in divided(last=60.0)


def test_what_is_not_measured_is_not_judged():
    """A loop over structs in C on a CPU; a plain coalesced read of global memory."""
    for cpu in (0.1, 2.5):
        assert "CPU" not in laid_out(3.5, 3.5, cpu)
    for memory in (5.0, 20.0):
        assert "global memory" not in textured(memory=memory)


def test_what_was_not_asked_is_not_judged():
    """Copies too small to time the link; one stream against one; other lengths than the documents'; what fitted."""
    assert copied(9.0, 5.0, size=4096) == ""
    assert overlapped(60.0, [0.0]) == ""
    assert "ms" not in sorted_by("scatter", 1e5, 1e6, n=1000)
    assert "cycles" not in timed(1.0, 1.0, "tree_sequential")
    assert "sorting the samples" not in sorted_by("sort_bins", 1e5, 1e6)  # (one bin: nothing is sampled)
    assert "the samples" not in sorted_by("sort_bins", 1e5, 1e6, "nearly sorted")
    assert "on the CPU" not in sorted_by("scatter", 1e5, 1e6, samples=0.5)  # M has no such figure of random keys
    assert "spilled" not in spilled(20.0, loads=0)
    assert "local memory" not in spilled(20.0, local=None)
    assert "banks" not in _bank_conflicts._verdict(
        [{"form": f, "stride": 1, "wavefronts": 1, "cycles": 2.0, "distance": 1} for f in ("broadcast", "strided")]
    )
