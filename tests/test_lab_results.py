"""Results of all experiments: copies and pickles, the texts below the figures, and marks of emulated times."""

import copy
import dataclasses
import functools
import itertools
import json
import os
import pickle
import re
import subprocess
import sys

import pytest

import cudakern
from cases import emulated_chip
from cudakern import lab
from cudakern.lab._by_name import experiments
from cudakern.lab._experiment import EXPERIMENTS, Column, Experiment, lines
from cudakern.measure.verify import verify

#: Small ones.
ARGUMENTS = {
    "bank_conflicts": {"strides": [16]},
    "hello": {},
    "host_memory": {"sizes": [4096]},
    "thread_map": {"grid": None, "block": (4, 4), "shape": (6, 7)},
}


def small(name):
    arguments = ARGUMENTS.get(name, {"n": 500})
    return getattr(lab, name)(**arguments, **({} if name in ("hello", "thread_map") else {"repeat": 1}))


def copies(what):
    for version in (2, pickle.HIGHEST_PROTOCOL):
        yield pickle.loads(pickle.dumps(what, version))
    yield copy.copy(what)
    yield copy.deepcopy(what)


@pytest.mark.parametrize("name", experiments())
def test_results_can_be_copied_and_kept(name, backend):
    result = small(name)
    for again in copies(result):
        assert type(again) is type(result)
        assert json.dumps(again.to_dict()) == json.dumps(result.to_dict())
        assert repr(again) == repr(result)
        assert again._repr_html_() == result._repr_html_()
    again.plot()
    pickle.loads(pickle.dumps(result)).plot()


def test_maps_backends_and_ladders_can_be_copied_and_kept(backend):
    seen, ladder, here = lab.thread_map(2, 3, 5), cudakern.ladder("vector_add", n=100, repeat=1), cudakern.backend()
    for again in copies(seen):
        assert again.block.tolist() == seen.block.tolist()
        assert again.thread.tolist() == seen.thread.tolist()
    for again in copies(ladder):
        assert again.to_dict() == ladder.to_dict()
        assert again.backend == ladder.backend
    for again in copies(here):
        assert again == here
        assert (again.emulated, again.capability) == (here.emulated, here.capability)
        assert again.to_dict() == here.to_dict()
        assert repr(again) == repr(here)


def test_a_result_is_opened_where_its_device_is_not(backend):
    """Here no module is asked, so none need be here; where another chip is, it still names the one that ran."""
    code = """
import json, pickle, sys
from cudakern import _backend
_backend.native_of = _backend._load = None  # any module asked for would fail
ladder = pickle.loads(bytes.fromhex(sys.stdin.read()))
print(json.dumps([ladder.to_dict(), repr(ladder), ladder._repr_html_()]))
"""
    ladder = cudakern.ladder("vector_add", n=100, repeat=1)
    facts = {**ladder.backend.properties, "name": "some other chip"}
    renamed = dataclasses.replace(ladder.backend, _snapshot=facts)
    ladder = dataclasses.replace(ladder, backend=renamed)
    # (Its environment as Python has it: a terminal library may have put a width into C's.)
    command = {"args": [sys.executable, "-c", code], "env": dict(os.environ), "input": pickle.dumps(ladder).hex()}
    ran = subprocess.run(**command, capture_output=True, text=True, check=True)
    content, words, html = json.loads(ran.stdout)
    assert content == json.loads(json.dumps(ladder.to_dict(), default=str))
    assert (words, html) == (repr(ladder), ladder._repr_html_())
    assert content["backend"]["properties"]["name"] == "some other chip"
    assert "some other chip" in words


def test_a_result_names_the_chip_that_it_was_measured_on():
    with cudakern.use_backend("emulator"):
        kept = cudakern.ladder("vector_add", n=100, repeat=1), small("registers"), verify(["vector_add"], ["naive"])
        live = cudakern.backend()
        before = [what.to_dict() for what in kept]
        with emulated_chip("A100"):
            assert "A100" in live.device_name
            assert [what.to_dict() for what in kept] == before
            assert all("H200" in what.backend.device_name for what in kept)
            assert "H200" in kept[0].title


def test_sources_and_maps_can_be_copied_and_compared():
    source = cudakern.source("sort", "sample_sort")
    for again in copies(source):
        assert (again, again.path, type(again)) == (source, source.path, type(source))
    with cudakern.use_backend("emulator"):
        seen, other = lab.thread_map(2, 3, 5), lab.thread_map(2, 3, 6)
    assert all(again == seen for again in copies(seen))
    assert seen != other
    assert seen != 5
    changed = dataclasses.replace(seen, block=seen.block + 1)
    assert changed != seen


def test_a_column_that_a_result_does_not_have():
    with cudakern.use_backend("emulator"):
        result = lab.hello()
    with pytest.raises(KeyError, match="unknown column 'lins' of the rows of hello: the nearest is 'line'"):
        result["lins"]


def test_free_memory_is_no_part_of_a_record(backend):
    here = cudakern.backend()
    assert "memory_free" in here.properties
    assert set(here.properties) - set(here.to_dict()["properties"]) == {"memory_free"}


# --- emulated times --------------------------------------------------------------------------------------------------
def is_time(column):
    kind = column.show == "duration" or column.key in ("gb_per_s", "cycles", "relative", "times", "gain")
    return kind or column.key.split("_")[-1] == "ps"


@pytest.mark.parametrize("name", experiments())
def test_texts_next_to_the_figures(name, backend):
    """They are the experiment's, whatever was measured; the H200 comes first, then the claim and its source."""
    result = small(name)
    assert (result.documents, result.on_an_h200) == (EXPERIMENTS[name].claim, EXPERIMENTS[name].on_an_h200)
    shown = " ".join(repr(result).split())
    source, claim = result.documents.split(": ", 1)
    assert (
        f"On an H200: {result.on_an_h200} Claim tested (docs/sources.md: {source}): {claim}.".replace("`", "") in shown
    )
    assert "`" not in shown
    timed = any(column.timed for column in result.columns)
    assert ("This run was emulated" in shown) == (result.backend.emulated and timed)
    assert timed == (name not in ("hello", "layouts", "thread_map"))  # (layouts has the CPU's own times alone)
    assert {key: result.to_dict()[key] for key in ("documents", "on_an_h200", "note")} == {
        key: getattr(result, key) for key in ("documents", "on_an_h200", "note")
    }


@pytest.mark.parametrize("name", experiments())
def test_emulated_times_are_called_so(name):
    with cudakern.use_backend("emulator"):
        result = small(name)
    headings = result.table().columns
    for column, heading in zip(result.columns, headings, strict=True):
        there = any(value is not None for value in result[column.key])
        emulated = (is_time(column) or column.timed) and there and name != "layouts"  # (the CPU's own are left there)
        assert heading == column.name + "\n(emulated)" * emulated
    axes = " ".join(each.get_xlabel() + each.get_ylabel() for each in result.plot().axes)
    drawn = {"constant_memory", "host_memory", "overlap", "registers", "sample_sort_stages", "spilling", "timing"}
    assert ("(emulated)" in axes) == (name in drawn)


@pytest.mark.parametrize("name", ["timing", "sample_sort_stages"])
def test_the_cpus_own_time_is_not_emulated(name):
    with cudakern.use_backend("emulator"):
        result = small(name)
    (row,) = (row for row in result.table().rows if "(CPU)" in " ".join(row))
    assert {"NumPy's sum on the CPU", "numpy.sort"} & {*row}
    assert sum("(CPU)" in cell for cell in row) == 1
    (axes,) = result.plot().axes
    assert re.fullmatch(r"time, (us|ms|s) \(emulated\); gray: measured on the CPU", axes.get_xlabel())
    assert len({bar.get_facecolor() for bar in axes.patches}) == 2


def test_a_chips_times_have_no_mark():
    with cudakern.use_backend("emulator"):
        here = cudakern.backend()

    class Chip(type(here)):
        emulated = False

    columns = (Column("time", "ns", "duration", timed=True), Column("what", "what"))
    rows = ({"ns": 5.0, "what": "a", "cpu": True}, {"ns": None, "what": "b"})
    result = Experiment("x", "x", Chip(here.name, here.device, here.why, here.native), columns, rows, "x", "x.", lines)
    assert result.table().columns == ["time", "what"]
    assert result.table().rows == [["5 ns", "a"], ["-", "b"]]
    emulated = dataclasses.replace(result, backend=here)
    assert emulated.table().columns == ["time\n(emulated)", "what"]
    assert emulated.table().rows == [["5 ns (CPU)", "a"], ["-", "b"]]
    assert result.table().right == ["time"]
    nothing = dataclasses.replace(emulated, rows=rows[1:])
    assert nothing.table().columns == ["time", "what"]
    assert nothing.table().right == []  # no figures below that heading


# --- pictures --------------------------------------------------------------------------------------------------------
def test_lines_on_each_other_are_all_seen(backend):
    rows = [{"x": x, "y": x * (2 if who == "c" else 1), "who": who} for who in "abcd" for x in (1, 2)]
    draw = functools.partial(lines, x="x", y="y", by="who")
    result = Experiment("x", "x", cudakern.backend(), (), tuple(rows), "x", "x.", draw)
    for picture, count in ((result.plot(), 4), (lab.host_memory([4096, 1 << 16], repeat=1).plot(), 6)):
        (axes,) = picture.axes
        widths = [line.get_linewidth() for line in axes.lines]
        assert len(widths) == count
        assert all(one - next >= 0.5 for one, next in itertools.pairwise(widths))
        assert [line.get_zorder() for line in axes.lines] == sorted(line.get_zorder() for line in axes.lines)
        assert [line.get_linestyle() for line in axes.lines] == ["-", "--"] * (count // 2)
        assert len({line.get_color() for line in axes.lines}) == count
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
