"""How results display: in a terminal, in IPython and in notebooks."""

import html
import io
import re

import pytest

import cudakern
from cudakern import _display


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
        failed_step = cudakern.ladder("sum_of_squares", n=9, dtype="float32", variants=["cooperative"])[0]
    assert repr(failed_step)


def test_devices_display():
    with cudakern.use_backend("emulator"):
        device = cudakern.device(0)
        assert "Emulated NVIDIA H200" in repr(device)
        assert "with cudakern.device(0):" in repr(device)
        assert "multiprocessors132" in words(device._repr_html_())
    assert "with cudakern.use_backend('emulator'):" in repr(cudakern.use_backend("emulator"))


def test_source_is_colored_and_complete():
    for op, variant in (("matmul", "tiled"), ("sort", "sample_sort"), ("interp", cudakern.variants("interp")[-1].name)):
        code = cudakern.source(op, variant)
        markup = code._repr_html_()
        plain = str(cudakern.source(op, variant, plain=True))
        assert words(markup.partition("<details>")[0]) == plain
        assert repr(code).startswith(plain)
        assert code.kernel in words(markup)
        assert not re.search("#ifndef CK_|^namespace|note_start", code.kernel, re.M)
        assert '">__global__</span>' in markup or "__global__" not in code
        assert re.search(r'<span style="color:#\w+">//[^<]*</span>', markup)


def test_progress_in_notebooks(monkeypatch, capsys):
    """One line, updated for each variant and removed at the end; none for a ladder that is done at once."""
    texts = []

    class Line:
        def update(self, data, raw):
            assert raw
            texts.append(data["text/plain"])

    def display(data, raw, display_id):
        assert raw
        assert display_id
        texts.append(data["text/plain"])
        return Line()

    monkeypatch.setattr(_display, "_notebook_display", lambda: display)
    with cudakern.use_backend("emulator"):
        cudakern.ladder("sum_of_squares", n=9, variants=["numpy", "coalesced"], progress=True)
    assert texts[1:] == ["sum_of_squares 1/2: numpy", "sum_of_squares 2/2: coalesced", ""]
    texts.clear()
    with cudakern.use_backend("emulator"):
        cudakern.ladder("sum_of_squares", n=9, variants=["numpy"])
        cudakern.ladder("sum_of_squares", n=9, variants=["numpy"], progress=False)
    assert not texts
    clock = iter(range(100))
    monkeypatch.setattr(_display.time, "monotonic", lambda: next(clock))
    with cudakern.use_backend("emulator"):
        cudakern.ladder("sum_of_squares", n=9, variants=["numpy"])
    assert len(texts) == 3
    assert capsys.readouterr() == ("", "")


def test_heads_of_tables_align_as_their_cells(steps):
    """In every viewer: figures right, words left, by style and, where styles are removed, by attribute."""
    for result in (steps, cudakern.variants("matmul"), cudakern.kernel_resources("matmul", "tiled")):
        rows = re.findall(r"<tr>(.*?)</tr>", result._repr_html_(), re.S)
        sides = [re.findall(r'<t[hd] align="(\w+)" style="text-align:(\w+)"', row) for row in rows]
        assert all(row == sides[0] for row in sides)
        assert all(attribute == style for attribute, style in sides[0])
    lines = steps.table().text().splitlines()
    head = next(line for line in lines if "variant" in line)
    first = next(line for line in lines if line.startswith("coalesced"))
    assert head.index("error") + len("error") == re.search(r" exact\b", first).end()


@pytest.mark.parametrize("columns, there", [(70, ()), (85, ("GB/s",)), (120, ("GB/s", "memory"))])
def test_a_narrow_terminal_shows_fewer_columns(steps, columns, there, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    head = repr(steps).split("\n\u2500")[0]
    assert [word for word in ("GB/s", "memory", "speed-up", "kernel") if word in head] == [*there, "speed-up", "kernel"]
    assert max(map(len, repr(steps).splitlines())) <= columns


def test_a_narrow_notebook_shows_fewer_columns(steps):
    page = steps._repr_html_()
    width = {name: int(re.search(rf'ck-below-(\d+)"[^>]*>{name}', page)[1]) for name in ("shared", "blocks", "bytes")}
    assert width["shared"] > width["blocks"] > width["bytes"] > 400
    assert f"@container (max-width:{width['bytes']}px)" in page
    assert "Errors: this input." in page.split("<details>")[0]  # the long notes are folded


def test_the_backend_is_a_sentence_with_details():
    with cudakern.use_backend("emulator"):
        sentence, details = cudakern.backend()._repr_html_().split("<details>")
    assert "CPU, where an emulator stands in for an NVIDIA H200" in sentence
    assert "requested by use_backend" in details


def test_steps_with_the_same_note_share_a_line():
    with cudakern.use_backend("emulator"):
        steps = cudakern.ladder("sum_of_squares", n=9, dtype="float16", variants=["atomic", "chunked"])
    note = "atomic, chunked: not for this input: takes int32, int64, float32 or float64, not float16."
    assert steps.table().note.startswith(note)


@pytest.mark.parametrize("rc", [{}, {"savefig.transparent": True}, {"figure.facecolor": (1, 1, 1, 0)}])
def test_pictures_are_opaque(steps, rc, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    from matplotlib.image import imread

    with matplotlib.rc_context(rc):
        picture = steps.plot(tmp_path / "ladder.png")
        pixels = [imread(tmp_path / "ladder.png"), imread(io.BytesIO(picture._repr_png_()))]
        curves = cudakern.occupancy(threads=256, capability=9.0).plot()
        pixels.append(imread(io.BytesIO(curves._repr_png_())))
    for image in pixels:
        assert image[0, 0, :3].min() == 1
        assert image.shape[2] == 3 or image[..., 3].min() == 1


def test_a_device_is_a_dozen_lines_and_the_rest_on_request():
    with cudakern.use_backend("emulator"):
        query = cudakern.device_query()
    assert len(query.table().rows) == 13
    assert len(query.table(all=True).rows) == len(query.lines())
    short, rest = query._repr_html_().split("<details>")
    assert "Multiprocessors" in short
    assert "Compute mode" not in short
    assert "Compute mode" in rest
    assert short.count("<tr>") + rest.count("<tr>") == len(query.lines())
