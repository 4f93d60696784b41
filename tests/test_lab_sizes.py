"""Numbers as arguments of experiments: each experiment refuses a wrong one with the same message."""

import itertools
import re
import time
from types import SimpleNamespace

import numpy as np
import pytest

import cudakern
from cudakern import lab
from cudakern.lab import _by_name, _experiment
from cudakern.measure import profile


@pytest.mark.parametrize("wrong", [1000.5, "1000", [1000], np.float64(8)])
def test_a_size_that_is_not_an_integer(backend, wrong):
    counted = {name: what for name, what in _by_name.experiments().items() if " n=" in f" {_by_name.about(what)[1]}"}
    assert len(counted) > 10
    for name, what in counted.items():
        with pytest.raises(TypeError, match=f"^{name}: n must be an integer, .*, not {re.escape(repr(wrong))}$"):
            what(n=wrong)
        with pytest.raises(ValueError, match="n must be (1 or more|from 1 to 65536), not 0"):
            what(n=0)


def test_other_counts(backend):
    for name, key, others in (("hello", "blocks", {}), ("hello", "threads", {}), ("overlap", "work", {"n": 8})):
        with pytest.raises(TypeError, match=f"^{name}: {key} must be an integer, 1 or more, not '2'$"):
            getattr(lab, name)(**others, **{key: "2"})
    with pytest.raises(TypeError, match="block must be an integer or a sequence of integers, not"):
        lab.thread_map(2, (4, 1.5))


def test_one_number_is_a_sequence_of_one():
    for value in (7, np.int64(7), [7], (7,), range(7, 8), np.array([7]), np.array(7)):
        assert _experiment.numbers("x", "y", value) == (7,)
    for wrong in (None, 7.0, "7", [7.0], ["7"], np.array(7.0)):
        with pytest.raises(
            TypeError, match=re.escape(f"x: y must be an integer or a sequence of integers, not {wrong!r}")
        ):
            _experiment.numbers("x", "y", wrong)


def test_one_size_and_one_stride(backend):
    assert {row["bytes"] for row in lab.host_memory(4096, repeat=1).rows} == {4096}
    assert [row["stride"] for row in lab.bank_conflicts(strides=3, repeat=1).rows] == [0, 1, 3, 3]
    with pytest.raises(ValueError, match=r"strides must be one or more integers from 1 to 32, not \[0\]"):
        lab.bank_conflicts(strides=0)


def test_a_row_is_measured_for_a_tenth_of_a_second(backend, monkeypatch):
    """By a clock on which each call takes 30 ms: the first is the warm-up."""
    readings = itertools.count()
    clock = SimpleNamespace(perf_counter=lambda: 0.03 * next(readings), perf_counter_ns=time.perf_counter_ns)
    monkeypatch.setattr(profile, "time", clock)
    call = (cudakern.vector_add, ([1.0], [2.0]), {})
    assert _experiment.measure(*call, None)[0].repeat == 4
    assert _experiment.measure(*call, 7)[0].repeat == 7
    assert profile.measure(*call, None, None)[0].repeat == 17
