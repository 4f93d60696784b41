"""lab.timing: every way of timing, and the interval that it measures."""

import json

import pytest

import cudakern as ck
from cases import BACKENDS
from cudakern import lab

each_backend = pytest.mark.parametrize("backend", BACKENDS)


@pytest.mark.proves("lab.timing")
@each_backend
@pytest.mark.parametrize("variant", ["single_thread", "coalesced", "multi_block", "tree_sequential"])
def test_the_three_ways(backend, variant):
    with ck.use_backend(backend):
        result = lab.timing(5000, variant=variant, repeat=2)
        khz = ck.backend().properties["clock_khz"]
    of = {row["key"]: row for row in result.rows}
    assert [row["clock"] for row in result.rows] == ["chip"] * 2 + ["events"] * 3 + ["host"] * 4
    assert all(row["ns"] > 0 for row in result.rows if row["key"] != "blocks")
    assert of["blocks"]["ns"] >= 0  # a chip's common timer may stand still for a microsecond
    assert of["block"]["cycles"] / khz * 1e6 == of["block"]["ns"]
    assert [row["key"] for row in result.rows if row["cycles"] is not None] == ["block"]
    assert of["wait"]["ns"] >= of["launch"]["ns"]  # of one pair of readings
    assert of["copies"]["ns"] >= of["kernel"]["ns"]
    assert of["kernel"]["times"] == of["kernel"]["ns"] / max(of["blocks"]["ns"], 1)
    assert of["numpy"]["times"] is None
    for what in ("0.09 ms", "5,000 int32", "clock64", "waiting"):
        assert what in " ".join(repr(result).split())
    assert len(json.loads(json.dumps(result.to_dict()))["rows"]) == 9
    assert len(result.plot().axes[0].patches) == 9


@pytest.mark.parametrize(
    "words, arguments",
    [
        ("n must be 1 or more", {"n": 0}),
        ("repeat must be 1 or more, not 0", {"n": 10, "repeat": 0}),
        ("does not read", {"n": 10, "variant": "vectorized"}),
        ("tree_sequential", {"n": 10, "variant": "tree_sequentiel"}),
    ],
)
def test_bad_questions(words, arguments):
    with pytest.raises(ValueError, match=words):
        lab.timing(**arguments)
