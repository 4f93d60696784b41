"""How results display: in a terminal, in IPython and in notebooks."""

import html
import re

import pytest

import cudakern


def words(markup):
    """The text of some HTML."""
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


@pytest.fixture(scope="module")
def steps():
    with cudakern.use_backend("emulator"):
        return cudakern.ladder("sum_of_squares", n=100, variants=["numpy", "coalesced"])


def test_variants_and_steps_display_as_tables(steps):
    variant = cudakern.variants("matmul")["tiled"]
    assert repr(variant).startswith("matmul, tiled\n")
    assert variant.lesson.split()[0] in repr(variant)
    assert "tile=16" in words(variant._repr_html_())
    step = steps["coalesced"]
    assert "sum_of_squares, coalesced" in repr(step)
    assert re.search(r"launch +1 blocks? of 256 threads", repr(step))
    assert re.search(r"error +exact", repr(step))
    assert "256 threads" in words(step._repr_html_())
    with cudakern.use_backend("emulator"):
        refused = cudakern.ladder("sum_of_squares", n=9, dtype="float32", variants=["cooperative"])[0]
    assert repr(refused)


def test_devices_display():
    with cudakern.use_backend("emulator"):
        chosen = cudakern.device(0)
        assert "Emulated NVIDIA H200" in repr(chosen)
        assert "with cudakern.device(0):" in repr(chosen)
        assert "multiprocessors132" in words(chosen._repr_html_())
    assert "with cudakern.use_backend('emulator'):" in repr(cudakern.use_backend("emulator"))


def test_source_is_colored_and_complete():
    for op, variant in (("matmul", "tiled"), ("sort", "sample_sort"), ("interp", cudakern.variants("interp")[-1].name)):
        code = cudakern.source(op, variant)
        markup = code._repr_html_()
        assert words(markup) == code
        assert '">__global__</span>' in markup or "__global__" not in code
        assert re.search(r'<span style="color:#\w+">//[^<]*</span>', markup)
