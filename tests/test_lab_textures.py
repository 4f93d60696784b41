"""lab.textures: the figures of the experiment agree with the contents of its tables."""

import dataclasses
import json
from types import SimpleNamespace

import numpy as np
import pytest

import cudakern
from cudakern import lab


@pytest.mark.proves("lab.textures")
def test_precision(backend):
    result = lab.textures(20, repeat=1)
    full, filtered = (row for row in result.rows if row["part"] == "precision")
    assert full["error"] == 0
    assert filtered["values"] == "257 different"
    assert filtered["whole"]
    assert filtered["error"] <= (1 / 512 if result.backend.emulated else 1 / 256)
    assert filtered["nearest"] or not result.backend.emulated


@pytest.mark.proves("lab.textures")
def test_edges(backend):
    rows = {
        row["what"]: row
        for row in lab.textures(4, repeat=1).rows
        if (row["part"], row["variant"]) == ("edges", "texture")
    }
    assert {mode: row["values"] for mode, row in rows.items()} == {
        "clamp": "1 1 1 | 4 4 4",
        "wrap": "3 2.5 1 | 4 2.5 2",
        "mirror": "2 1 1 | 4 4 3",
        "border": "0 0.5 1 | 4 2 0",
    }
    assert all(row["error"] <= 1 / 64 for row in rows.values())


@pytest.mark.proves("lab.textures")
def test_locality_and_what_it_shows_itself_as(backend, tmp_path):
    result = lab.textures(33, repeat=2)
    rows = [row for row in result.rows if row["part"] == "locality"]
    assert len(rows) == 8
    assert all(row["kernel_ns"] > 0 and row["clock"] for row in rows)
    assert all((row["times"] is None) == result.backend.emulated for row in rows)
    assert any("16 x 16 tiles" in word for row in result.table().rows for word in row)
    assert repr(result)
    assert result._repr_html_()
    assert json.loads(json.dumps(result.to_dict()))["experiment"] == "textures"
    result.plot(tmp_path / "textures.png")
    assert (tmp_path / "textures.png").stat().st_size > 1000


@pytest.mark.parametrize("emulated", [True, False])
def test_the_picture_has_times_where_they_say_something(backend, emulated):
    side = SimpleNamespace(emulated=emulated, device_name="one or the other", as_it_is=lambda: side)
    result = dataclasses.replace(lab.textures(9, repeat=1), backend=side)
    steps, edges, *times = result.plot().axes
    assert [len(axes.patches) for axes in times] == [] if emulated else [3 + 8]
    assert [line.get_label() for line in edges.lines] == ["clamp", "wrap", "mirror", "border"]
    full, filtered = (line.get_ydata() for line in steps.lines)
    assert np.array_equal(full, np.arange(65) / 16 / 256)
    assert set(np.multiply(filtered, 256).tolist()) == {0, 1, 2, 3, 4}


def test_pixels(backend):
    rows = [row for row in lab.textures(16, repeat=1).rows if row["part"] == "RGBA"]
    assert [row["variant"] for row in rows] == ["bytes", "packed", "texture"]
    assert all(row["error"] <= 2**-17 for row in rows)


def test_images_that_begin_anywhere(backend):
    """Rows of 4 bytes and 16 that begin between two words go another way."""
    from cudakern.operations.experiments import rgba_to_float

    wide = np.arange(5 * 7 * 4 + 3, dtype=np.uint8)
    there = cudakern.asarray(wide)
    for start in range(4):
        image = wide[start : start + 140].reshape(5, 7, 4)
        for variant in ("bytes", "packed", "texture"):
            result = rgba_to_float(there[start : start + 140].reshape(5, 7, 4), variant=variant)
            assert np.allclose(result.get(), image / 255, atol=2**-17)


def test_every_order_reads_every_element_once():
    from cudakern.lab import _textures

    for order in _textures.ORDERS:
        y, x = _textures._coordinates(order, 37)
        assert np.array_equal(np.sort(y * 37 + x), np.arange(37 * 37))


def test_tiles_are_read_one_after_another():
    from cudakern.lab import _textures

    y, x = _textures._coordinates("16 x 16 tiles", 20)
    assert [*zip(y, x, strict=True)] == [
        (i, j)
        for rows in (range(16), range(16, 20))
        for columns in (range(16), range(16, 20))
        for i in rows
        for j in columns
    ]


def test_what_is_refused(backend):
    with pytest.raises(ValueError, match="n must be from 1 to 65536, not 0"):
        lab.textures(0)
    with pytest.raises(ValueError, match="n must be from 1 to 65536"):
        lab.textures(65537)
