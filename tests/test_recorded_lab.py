"""What notebooks show: experiments as recorded on an H200, pictures of one's own numbers, excerpts of kernels."""

import pytest

from cudakern import lab


def test_recorded_experiments_have_times():
    result = lab.recorded("coalescing")
    assert result.backend.device_name == "NVIDIA H200"
    assert not result.backend.emulated
    assert "recorded on 20" in result.table().text()
    assert all(row["gb_per_s"] > 0 for row in result.rows)
    assert len(lab.recorded("spilling")) > 2  # whose rows the record has in full
    with pytest.raises(ValueError, match="the nearest is 'latency'"):
        lab.recorded("latenzy")


@pytest.mark.parametrize("name", ["bank_conflicts", "host_memory", "layouts", "overlap", "registers"])
def test_recorded_experiments_have_plots(name):
    pytest.importorskip("matplotlib")
    assert lab.recorded(name).plot().axes
    with pytest.raises(ValueError, match="nothing to plot: hello has no times"):
        lab.recorded("hello").plot()


def test_excerpts_of_kernels():
    pytest.importorskip("matplotlib")
    from cudakern.course.helpers import excerpt

    text = excerpt("matmul", "wgmma_tiles", "const auto begin_slab", "};")
    assert text.startswith("const auto begin_slab")
    assert text.endswith("\n};")
    assert "<pre" in text._repr_html_()


def test_the_roofline():
    pytest.importorskip("matplotlib")
    axes = lab.roofline({"mine": (10, 50)}, gflop_per_s=1000, gb_per_s=10).axes[0]
    assert "mine: 50%" in [text.get_text() for text in axes.texts]
    with pytest.raises(ValueError, match="positive numbers, not 0"):
        lab.roofline({"mine": (10, 0)}, gflop_per_s=1000, gb_per_s=10)


def test_curves():
    pytest.importorskip("matplotlib")
    axes = lab.curves([1, 10], {"a": [1, 2], "b": [3, 4]}, x_label="n", y_label="s", log="x").axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    assert len({line.get_linestyle() for line in axes.lines}) == 2  # told apart without colors
    with pytest.raises(ValueError, match="'a' has 1 values for 2 points"):
        lab.curves([1, 10], {"a": [1]}, x_label="n", y_label="s")
    with pytest.raises(ValueError, match="log must be"):
        lab.curves([1], {"a": [1]}, x_label="n", y_label="s", log="z")
