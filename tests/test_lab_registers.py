"""The experiment on packing flags in memory and in registers: its results, its table, and what it refuses."""

import itertools
import json

import numpy as np
import pytest

import cudakern
from cases import ORDERS
from cudakern import lab


@pytest.mark.proves("lab.registers")
def test_the_experiment(backend, tmp_path):
    result = lab.registers(10_001, repeat=1)
    assert result["variant"] == ["global_memory", "register", "unrolled", "ballot"]
    emulated = result.backend.emulated
    assert {row["clock"] for row in result.rows} == {"emulated" if emulated else "gpu"}
    for row in result.rows:
        resources = cudakern.kernel_resources("packbits", row["variant"], "bool")[0]
        assert row["registers"] == resources.registers
        assert (row["speedup"] is None) == emulated  # emulated times make no ratios
    if not emulated:
        times, steps = result["kernel_ns"], result["step"]
        assert result["speedup"] == pytest.approx([times[0] / one for one in times])
        assert steps[0] is None
        assert steps[1:] == pytest.approx([a / b for a, b in itertools.pairwise(times)])
    text = " ".join(repr(result).split())
    assert "race" in text
    assert json.loads(json.dumps(result.to_dict()))["experiment"] == "registers"
    result.plot(str(tmp_path / "picture.png"))
    assert (tmp_path / "picture.png").stat().st_size > 1000


@pytest.mark.proves("lab.registers")
def test_no_flag_is_lost_in_any_order(order):
    """One flag set at a time, over two words and a part: a loop that ends at `i < 31` loses the 32nd of each; a word
    that threads share would lose others."""
    for how in ORDERS:
        order(how)
        for variant in ("global_memory", "register", "unrolled"):
            for place in range(70):
                flags = np.arange(70) == place
                packed = cudakern.packbits(flags, bitorder="little", variant=variant)
                assert np.array_equal(packed, np.packbits(flags, bitorder="little")), (how, variant, place)


def test_sizes_that_it_does_not_take(backend):
    with pytest.raises(ValueError, match="n must be 1 or more, not 0"):
        lab.registers(0)
    with pytest.raises(ValueError, match="repeat must be 1"):
        lab.registers(8, repeat=0)


def test_a_result_that_differs_from_numpys_is_an_error(monkeypatch):
    from cudakern.lab import _where_values_live

    def off(a, **keywords):
        result = cudakern.packbits(a, **keywords).get()
        return cudakern.asarray(result ^ np.uint8(keywords["variant"] == "unrolled"))

    off.__module__ = cudakern.packbits.__module__
    monkeypatch.setattr(_where_values_live, "packbits", off)
    with pytest.raises(RuntimeError, match="unrolled differs from NumPy's"):
        lab.registers(100, repeat=1)
