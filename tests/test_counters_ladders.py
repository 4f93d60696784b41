"""cudakern.trace over every variant: its counters against Nsight Compute's on a GPU."""

import json
import pathlib
import re

import pytest

from counter_patterns import METRICS, MORE_OF_VARIANTS
from counter_reasons import LOCAL, VARIANTS, meeting
from cudakern import _driver
from cudakern.insight.variants import trace_variant

RECORD = json.loads((pathlib.Path(__file__).parents[1] / "docs/results/gpu_ladder_counters.json").read_text())

#: Compiled for a trace in a few seconds.
QUICK = {"naive", "tiled", "register_tile", "double_buffered"}


def _parameters():
    for op, variants in RECORD["rows"].items():
        for variant in variants:
            is_slow = op == "sort" or (op == "matmul" and variant not in QUICK)
            yield pytest.param(op, variant, marks=pytest.mark.full if is_slow else ())


#: Another compiler keeps other values in registers. docs/results/counters.md is of this one.
COMPILER = _driver.version((_driver.find("CXX", *_driver.CXX) or [""])[0])


@pytest.mark.skipif(not re.search(r"\) 12\.", COMPILER), reason="the figures are those of g++ 12")
@pytest.mark.parametrize("op, variant", list(_parameters()))
def test_the_figures_are_those_of_a_gpu(op, variant):
    metrics = trace_variant(op, variant).metrics
    measured = dict(zip(RECORD["metrics"], RECORD["rows"][op][variant], strict=True))
    # (docs/results/counters.md shows the others, too.)
    expected = {name: measured[name] - meeting(name, measured) for name in (*METRICS, *MORE_OF_VARIANTS)}
    differing = {name: (metrics[name], value) for name, value in expected.items() if metrics[name] != value}
    local = {name for name in differing if "_mem_local_" in name}
    assert bool(local) == ((op, variant) in LOCAL), differing
    assert bool(differing.keys() - local) == ((op, variant) in VARIANTS), differing
