"""The experiment on local memory: the sums of its forms, its table, and what it refuses."""

import json

import numpy as np
import pytest

import cudakern
from cudakern import lab
from cudakern.operations.experiments import moving_sum

KERNELS = [entry.name for entry in cudakern.variants("moving_sum") if not entry.on_host]


@pytest.mark.parametrize("variant", KERNELS)
@pytest.mark.parametrize("window", [8, 16, 32])
def test_every_form_is_scipys_filter(backend, variant, window):
    """Integers: every sum is exact. Lengths around a window and around a piece, which is 8 windows long."""
    from scipy.signal import lfilter  # here, since it takes as long to import as all other modules of the tests

    for rows in (1, window - 1, window, window + 1, 8 * window - 1, 8 * window, 8 * window + 1, 17 * window + 3):
        x = np.random.default_rng(rows).integers(-99, 99, (rows, 37)).astype(np.float64)
        expected = lfilter(np.arange(window, 0, -1), 1, x, axis=0)
        assert np.array_equal(moving_sum(x, variant=variant, window=window, threads=32), expected)


def test_auto_has_the_default_window():
    from scipy.signal import lfilter

    x = np.random.default_rng(0).integers(-99, 99, (70, 5)).astype(np.float64)
    assert np.array_equal(moving_sum(x), lfilter(np.arange(32, 0, -1), 1, x, axis=0))


@pytest.mark.parametrize("shape", [(), (5,), (2, 3, 4)])
def test_an_array_of_other_than_two_axes_is_refused(backend, shape):
    for x in (np.ones(shape, np.float32), cudakern.asarray(np.ones(shape, np.float32))):
        with pytest.raises(ValueError, match="must have two: rows and columns"):
            moving_sum(x, variant="spilled")


def test_a_window_without_a_kernel_is_refused(backend):
    with pytest.raises(ValueError, match="`window`.* must be one of .*8, 16, 32.*, not 9"):
        moving_sum(np.ones((3, 3), np.float32), variant="spilled", window=9)
    with pytest.raises(ValueError, match="8, 16, 32"):
        lab.spilling(8, window=9)
    with pytest.raises(ValueError, match="n must be 1 or more, not 0"):
        lab.spilling(0)


@pytest.mark.proves("lab.spilling")
def test_the_experiment(backend, tmp_path):
    result = lab.spilling(65, repeat=1)
    assert [(row["variant"], row["window"]) for row in result.rows] == [
        (name, window) for window in (8, 16, 32) for name in KERNELS
    ]
    assert {row["clock"] for row in result.rows} == {"emulated" if result.backend.emulated else "gpu"}
    for row in result.rows:
        resources = cudakern.kernel_resources("moving_sum", row["variant"], "float32", window=row["window"])[0]
        assert (row["registers"], row["local_bytes"]) == (resources.registers, resources.local_bytes)
        assert (row["registers"] is None) == ("is not known here" in result.note)
        assert row["label"] == f"{row['variant']}, {row['window']}"
    emulated = result.backend.emulated  # whose times make no ratios
    assert {row["times"] for row in result.rows if row["variant"] == "compile_time_index"} == {None if emulated else 1}
    assert json.loads(json.dumps(result.to_dict()))["experiment"] == "spilling"
    result.plot(str(tmp_path / "picture.png"))
    assert (tmp_path / "picture.png").stat().st_size > 1000


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("window", [8, 16, 32])
def test_local_memory_is_where_the_index_is_not_known(window, name):
    """As far as the build's report or a driver tells it; where neither does, no figure is made up."""
    resources = cudakern.kernel_resources("moving_sum", name, "float32", window=window)[0]
    if resources.source == "unknown":
        assert (resources.registers, resources.local_bytes) == (None, None)
        assert resources.why
        pytest.skip(f"nobody tells here what local memory a kernel has: {resources.why}")
    if name == "runtime_index":
        assert resources.local_bytes >= 4 * window
    elif name != "spilled":
        assert resources.local_bytes == 0
    elif window == 32:
        assert resources.registers <= 32 < window + resources.local_bytes // 4


def test_forms_that_differ_are_an_error(monkeypatch):
    from cudakern.lab import _where_values_live

    def off(x, variant, window):
        result = moving_sum(x, variant=variant, window=window).get()
        return cudakern.asarray(result + np.float32(variant == "spilled"))

    off.__module__ = moving_sum.__module__
    monkeypatch.setattr(_where_values_live, "moving_sum", off)
    with pytest.raises(RuntimeError, match=r"spilled and runtime_index differ"):
        lab.spilling(8, window=8, repeat=1)
