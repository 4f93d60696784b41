"""lab.sample_sort_stages: which stages exist, how often each runs, and errors."""

import numpy as np
import pytest

import cudakern
from cases import BACKENDS, native
from cudakern import lab
from cudakern.calls.observer import observed
from cudakern.measure.profile import Times

STAGES = ["select_samples", "sort_samples", "count_bins", "scan_bins", "scatter", "sort_bins"]


def stages(name, *args, **keywords):
    with cudakern.use_backend(name):
        return lab.sample_sort_stages(*args, repeat=1, **keywords)


@pytest.mark.proves("lab.sample_sort_stages")
@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize(
    "n, bins, launches",
    [
        (9000, 0, [1, 1, 1, 1, 1, 1]),
        (80_000, 4, [3, 3, 3, 3, 3, 1]),  # three levels
        (140_000, 256, [1, 1, 1, 1, 1, 1]),  # so few samples per bin that a block sorts them
        pytest.param(1_300_000, 0, [1, 7, 1, 1, 1, 1], marks=pytest.mark.full),  # the samples by sample sort itself
    ],
)
def test_every_stage_is_there(name, n, bins, launches):
    for data in ("random", "nearly sorted"):
        result = stages(name, n, data=data, bins=bins)
        assert result["stage"] == [*STAGES, "all", "samples on the CPU", "numpy.sort"]
        assert result["launches"][:6] == launches
        assert result["launches"][6] == sum(launches)
        assert all(ns > 0 for ns in result["ns"])
        assert sum(result["share"][:6]) == pytest.approx(1)
        text = " ".join(repr(result).split())
        assert f"{n:,} {data} keys" in text
        assert result.documents.partition(": ")[2] in text


@pytest.mark.parametrize("name", BACKENDS)
def test_keys_that_are_one_bin(name):
    """Nothing is sampled, so there is no other way for the samples either."""
    for n in (1, 100, 1000):
        assert stages(name, n)["stage"] == ["sort_bins", "all", "numpy.sort"]
    assert "of 1 random key," in stages(name, 1).title


def test_what_is_refused():
    with pytest.raises(ValueError, match="unknown data 'sorted'.*nearly sorted"):
        lab.sample_sort_stages(100, data="sorted")
    with pytest.raises(ValueError, match="bins"):
        lab.sample_sort_stages(100, bins=3)
    for wrong in ({"n": 0}, {"n": 100, "repeat": 0}):
        with pytest.raises(ValueError, match="0"):
            lab.sample_sort_stages(**wrong)


@pytest.mark.parametrize("name", BACKENDS)
def test_the_time_of_each_launch(name):
    """What the stages are told from: a call reports each launch where that is asked for, of host and device arrays."""
    x = np.random.default_rng(1).integers(0, 1 << 32, 5000, dtype=np.uint32)
    with observed(Times(by_launch=True)) as times, cudakern.use_backend(name):
        for a in (x, cudakern.asarray(x)):
            cudakern.sort(a, variant="many_blocks")
    assert len(times.reports) == 2
    for report in times.reports:
        names, times = zip(*report["launches"], strict=True)
        assert names == ("many_blocks", "merge_runs", "merge_runs", "merge_runs")
        assert min(times) > 0
        assert sum(times) <= report["kernel_ns"] * 1.01 + 1000


def test_launches_are_not_timed_unasked():
    with observed(Times()) as times, cudakern.use_backend("emulator"):
        cudakern.sort(np.ones(50, np.uint32), variant="sample_sort")
    assert times.reports[0]["launches"] == ()


@pytest.mark.parametrize("name", BACKENDS)
def test_whichever_call_fails_while_launches_are_timed(name, fault):
    failures = 0
    with observed(Times(by_launch=True)), cudakern.use_backend(name):
        x = cudakern.asarray(np.arange(9000, dtype=np.uint32)[::-1].copy())
        cudakern.sort(x, variant="sample_sort")
        used = native(name).pool_used(0)
        for n in range(1, 200):
            fault(name, n, 1)
            try:
                result = cudakern.sort(x, variant="sample_sort")
            except cudakern.CudaError as error:
                assert "cudaErrorInvalidValue" in str(error)
                error.__traceback__ = None
                failures += 1
            else:
                break
            finally:
                fault(name, 0, 1)
            assert native(name).pool_used(0) == used, n
        assert result.get().tolist() == list(range(9000))
    assert failures > 20  # the launches and an event after each
