"""Experiments on threads and memory: what they compute, what their sentences say, and their rules of the hardware."""

import json

import numpy as np
import pytest

import cudakern
from cudakern import lab
from cudakern._operations import registry

pytest.importorskip("matplotlib")


def shows_itself(result, path):
    """What every experiment can do."""
    text = repr(result)
    assert result.finding in " ".join(text.split())
    assert all(column.key in row for row in result.rows for column in result.columns)
    assert "<table>" in result._repr_html_()
    assert json.loads(json.dumps(result.to_dict()))["experiment"] == result.name
    assert result.documents
    assert result.here or not result.backend.emulated
    result.plot(str(path / "picture.png"))
    assert (path / "picture.png").stat().st_size > 1000


# --- thread_map ------------------------------------------------------------------------------------------------------
def by_loops(grid, block, shape):
    """(block, thread) of each element by the formula, element by element; grid and block as x, y, z."""
    blocks, threads = np.full(shape, -1), np.full(shape, -1)
    for place in np.ndindex(*shape):
        at = place[::-1]
        which, inside = zip(*(divmod(i, length) for i, length in zip(at, block, strict=True)), strict=True)
        if all(b < n for b, n in zip(which, grid, strict=True)):
            blocks[place] = sum(b * int(np.prod(grid[:axis])) for axis, b in enumerate(which))
            threads[place] = sum(t * int(np.prod(block[:axis])) for axis, t in enumerate(inside))
    return blocks, threads


@pytest.mark.parametrize(
    "grid, block, shape",
    [
        ((4,), (64,), (256,)),
        ((4,), (8,), (29,)),
        ((3,), (8,), (29,)),
        ((2, 3), (4, 2), (6, 8)),
        ((5, 4), (16, 16), (62, 76)),
        ((4, 3), (16, 16), (62, 76)),
        ((6, 5), (16, 16), (62, 76)),
        ((2, 2, 2), (4, 3, 2), (3, 5, 7)),
        ((1, 2, 3), (2, 3, 4), (13, 2, 3)),
    ],
)
def test_thread_map_is_the_formula(backend, grid, block, shape, tmp_path):
    result = lab.thread_map(grid, block, shape)
    blocks, threads = by_loops(grid, block, shape)
    assert np.array_equal(result.block, blocks)
    assert np.array_equal(result.thread, threads)
    assert sum(row["blocks"] for row in result.rows) == np.prod(grid)
    started = np.prod(grid) * np.prod(block)
    assert sum(row["idle_in_all"] for row in result.rows) == started - np.count_nonzero(blocks >= 0)
    assert ("no thread" in result.finding) == bool((blocks < 0).any())
    shows_itself(result, tmp_path)


def test_the_slides_picture_has_its_four_kinds_of_block(backend):
    result = lab.thread_map(None, (16, 16), (62, 76))
    kinds = {row["kind"]: (row["blocks"], row["busy"], row["idle"]) for row in result.rows}
    assert kinds == {
        "inside": (12, 256, 0),
        "right edge": (3, 192, 64),
        "bottom edge": (4, 224, 32),
        "right and bottom edge": (1, 168, 88),
    }
    assert "408 of them are idle" in result.finding
    dropped = lab.thread_map((76 // 16, 62 // 16), (16, 16), (62, 76))  # the slides' mistake
    assert f"{62 * 76 - 48 * 64:,} elements have no thread" in dropped.finding
    assert [row["kind"] for row in lab.thread_map((6, 4), (16, 16), (62, 76)).rows][-1] == "outside"


@pytest.mark.parametrize(
    "arguments, words",
    [
        ((None, 4), "give a grid"),
        ((0, 4), "grid=0"),
        ((2, (4, 0), 8), "block=(4, 0)"),
        ((2, (4, 4), (8, 8)), "1, 2 and 2 axes"),
        (((1,) * 4, (1,) * 4), "4 axes|axes"),
        ((1, 1025), "1024 threads"),
        (((1, 70000), (1, 1)), "65535 blocks"),
        (((1, 1, 1), (1, 1, 65)), "64 threads"),
    ],
)
def test_thread_map_refuses(backend, arguments, words):
    with pytest.raises(ValueError, match=words.replace("(", r"\(").replace(")", r"\)")):
        lab.thread_map(*arguments)


def test_thread_map_takes_numbers_of_fitting_rank():
    number_elements = registry()["thread_map"].call
    with pytest.raises(ValueError, match="1 to 3 axes"):
        number_elements(np.zeros((2, 2), int), np.zeros((2, 2), int))
    assert cudakern.variants("thread_map")["coordinates"].types == ("int32", "int64")
