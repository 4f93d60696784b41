"""Experiments on threads and memory: what they compute, and their rules of the hardware."""

import json
import math
import re

import numpy as np
import pytest

import cudakern
from cases import times_count
from cudakern import lab
from cudakern.lab import _memory, _warps
from cudakern.lab._experiment import plural
from cudakern.operations.registry import registry


def shows_itself(result, path):
    """What every experiment can do."""
    assert repr(result)
    assert all(column.key in row for row in result.rows for column in result.columns)
    assert "<table>" in result._repr_html_()
    assert json.loads(json.dumps(result.to_dict()))["experiment"] == result.name
    assert result.documents
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


@pytest.mark.proves("lab.thread_map")
@pytest.mark.parametrize(
    "grid, block, shape",
    [
        ((4,), (64,), (256,)),
        ((4,), (8,), (29,)),
        ((3,), (8,), (29,)),
        ((2, 3), (4, 2), (6, 8)),
        ((5, 4), (16, 16), (62, 76)),
        pytest.param((4, 3), (16, 16), (62, 76), marks=pytest.mark.full),
        pytest.param((6, 5), (16, 16), (62, 76), marks=pytest.mark.full),
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
    missed, elements = np.count_nonzero(blocks < 0), np.prod(shape)
    assert f"Elements without a thread: {missed:,} of {elements:,}." in result.note
    shows_itself(result, tmp_path)


@pytest.mark.parametrize(
    "grid, block, shape",
    [
        ((4,), (8,), (29,)),
        ((5,), (8,), (29,)),
        ((3,), (8,), (29,)),
        ((4,), (8,), (32,)),
        ((3, 3), (8, 4), (9, 21)),
        ((4, 3), (16, 16), (62, 76)),
        pytest.param((6, 5), (16, 16), (62, 76), marks=pytest.mark.full),
        pytest.param((6, 3), (16, 16), (62, 76), marks=pytest.mark.full),
        ((2, 2, 2), (4, 3, 2), (3, 5, 7)),
        ((3, 1, 1), (2, 3, 2), (4, 5, 3)),
        ((1, 1, 3), (4, 3, 2), (2, 3, 4)),
    ],
)
def test_the_picture_shows_kinds_and_idle_threads(backend, grid, block, shape):
    """Each thread lies under the color of its block's kind, the idle ones under hatches; so do all elements."""
    result = lab.thread_map(grid, block, shape)
    picture = result.plot()
    threads = [count * length for count, length in zip(grid, block, strict=True)]
    depth = max(threads[2], shape[0]) if len(grid) == 3 else 1
    shown = [axes for axes in picture.axes if axes.axison]
    assert len(shown) == depth
    legend = next(axes.get_legend() for axes in picture.axes if axes.get_legend())
    labels = [text.get_text() for text in legend.get_texts()]
    kinds = {
        row["kind"]: handle.get_facecolor() for row, handle in zip(result.rows, legend.get_patches(), strict=False)
    }
    assert labels[: len(kinds)] == [f"{r['kind']}: {plural(r['blocks'], 'block')}" for r in result.rows]
    assert len({*kinds.values()}) == len(kinds)
    assert ("idle threads,\nbeyond the array" in labels) == any(row["idle"] for row in result.rows)
    assert ("elements without\na thread" in labels) == bool((result.block < 0).any())

    def color(axes, x, y):
        """That of the image of blocks at the place."""
        for image in axes.images:
            left, right, bottom, top = image.get_extent()
            if left < x < right and top < y < bottom:
                rows, columns = image.get_array().shape
                at = int((y - top) / (bottom - top) * rows), int((x - left) / (right - left) * columns)
                yield tuple(image.cmap(image.norm(image.get_array()[at])))

    def over(axes, x, y):
        """The patches that cover the place, the lowest first."""
        for patch in axes.patches:
            if (
                patch.get_fill()
                and 0 <= x - patch.get_x() < patch.get_width()
                and 0 <= y - patch.get_y() < (patch.get_height())
            ):
                yield patch

    counted = dict.fromkeys(kinds, 0)
    for place in np.ndindex(*(max(n, m) for n, m in zip(threads, shape[::-1], strict=True))):
        x, y, z = (*place, 0, 0)[:3]
        patches = [*over(shown[z], x, y)]
        element = all(at < n for at, n in zip(place, shape[::-1], strict=True))
        thread = all(at < n for at, n in zip(place, threads, strict=True))
        colors = [kind for at in color(shown[z], x, y) for kind, its in kinds.items() if at == its]
        assert len(colors) == thread, place
        assert [patch.get_hatch() for patch in patches if patch.get_hatch()] == (
            ["////"] if thread and not element else ["xx"] if element and not thread else []
        ), place
        for kind in colors:
            counted[kind] += 1
    assert counted == {row["kind"]: row["blocks"] * row["threads"] for row in result.rows}
    if np.prod(threads) < 600:  # each with its number
        numbers = [text.get_text() for axes in shown for text in axes.texts]
        assert sorted(n for n in numbers if n != "?") == sorted([*map(str, range(np.prod(block)))] * int(np.prod(grid)))
        assert numbers.count("?") == np.count_nonzero(result.block < 0)


def test_the_picture_of_a_large_array_is_drawn_by_regions(backend):
    """Not element by element, and of many layers the first ones."""
    picture = lab.thread_map(None, (16, 16), (1000, 801)).plot()
    assert len(picture.axes[0].patches) < 12
    assert "numbers" not in picture._supxlabel.get_text()
    layers = lab.thread_map(None, (2, 2, 2), (9, 3, 3)).plot()
    assert sum(axes.axison for axes in layers.axes) == 6
    assert "the first 6 of 10 layers" in layers._supxlabel.get_text()


def test_the_slides_picture_has_its_four_kinds_of_block(backend):
    result = lab.thread_map()
    assert result.title == lab.thread_map(None, (16, 16), (62, 76)).title
    kinds = {row["kind"]: (row["blocks"], row["busy"], row["idle"]) for row in result.rows}
    assert kinds == {
        "inside": (12, 256, 0),
        "right edge": (3, 192, 64),
        "bottom edge": (4, 224, 32),
        "right and bottom edge": (1, 168, 88),
    }
    assert "Idle threads: 408 of 5,120." in result.note
    dropped = lab.thread_map((76 // 16, 62 // 16), (16, 16), (62, 76))  # the slides' mistake
    assert f"Elements without a thread: {62 * 76 - 48 * 64:,} of {62 * 76:,}." in dropped.note
    assert [row["kind"] for row in lab.thread_map((6, 4), (16, 16), (62, 76)).rows][-1] == "outside"


@pytest.mark.parametrize(
    "arguments, title, idle, missed",
    [
        ((1, 1), "1 element, 1 block of 1 thread", "0 of 1", "0 of 1"),
        ((2, 1), "2 elements, 2 blocks of 1 thread", "0 of 2", "0 of 2"),
        ((1, 2, 1), "1 element, 1 block of 2 threads", "1 of 2", "0 of 1"),
        ((1, 1, 2), "2 elements, 1 block of 1 thread", "0 of 1", "1 of 2"),
        (((1, 1), (1, 1)), "1 x 1 element, 1 x 1 block of 1 x 1 thread (x by y)", "0 of 1", "0 of 1"),
    ],
)
def test_thread_map_can_count_to_one(backend, arguments, title, idle, missed):
    result = lab.thread_map(*arguments)
    assert result.title == title
    assert result.note == f"Idle threads: {idle}. Elements without a thread: {missed}."


@pytest.mark.parametrize(
    "arguments, words",
    [
        ((None, 4), "pass a grid"),
        ((0, 4), "grid must be one or more integers of 1 or more, not [0]"),
        ((2, (4, 0), 8), "block must be one or more integers of 1 or more, not [4, 0]"),
        ((2, (4, 4), (8, 8)), "not 1, 2 and 2: "),
        (((1,) * 4, (1,) * 4), "not 4, 4 and 4: "),
        ((1, 1025), "1024 threads"),
        (((1, 100_000), (1, 1)), "100000 blocks of 1 threads along y: this device allows at most 65535 blocks"),
        (((3_000_000_000,), (1,)), "at most 67,108,864 threads"),
        (((60_000, 60_000), (1, 1)), "at most 67,108,864 threads"),
        ((1, 1, 1 << 27), "at most 67,108,864 threads and as many elements"),
        (((1, 1, 1), (1, 1, 65)), "64 threads"),
    ],
)
def test_thread_map_refuses(backend, arguments, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        lab.thread_map(*arguments)


def test_thread_map_takes_numbers_of_fitting_rank():
    number_elements = registry()["thread_map"].call
    with pytest.raises(ValueError, match="axes"):
        number_elements(np.zeros((2, 2), int), np.zeros((2, 2), int), variant="coordinates")
    assert cudakern.variants("thread_map")["coordinates"].types == ("int32", "int64")


# --- the hardware's rules --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("stride", range(33))
def test_wavefronts_of_strides_are_the_common_divisor(stride):
    assert lab.wavefronts(4 * stride * lane for lane in range(32)) == max(math.gcd(stride, 32) if stride else 1, 1)


def test_wavefronts_count_different_words_of_a_bank():
    draw = np.random.default_rng(1)
    for _ in range(50):
        words = draw.integers(0, 200, draw.integers(1, 33)).tolist()
        banks = {}
        for word in words:
            banks.setdefault(word % 32, set()).add(word)
        assert lab.wavefronts(4 * word for word in words) == max(map(len, banks.values()))
    assert lab.wavefronts([]) == 0
    assert lab.wavefronts(range(32), 1) == 1
    assert [lab.wavefronts((width * lane for lane in range(32)), width) for width in (4, 8, 16)] == [1, 2, 4]


def test_sectors_are_those_that_hold_a_byte_that_is_asked_for():
    draw = np.random.default_rng(2)
    for width in (1, 2, 4, 8, 16):
        addresses = (width * draw.integers(0, 300, 32)).tolist()
        touched = {byte // 32 for at in addresses for byte in range(at, at + width)}
        assert lab.sectors(addresses, width) == len(touched)
    assert [lab.sectors((4 * stride * lane for lane in range(32)), 4) for stride in (0, 1, 2, 8, 32)] == [
        1,
        4,
        8,
        32,
        32,
    ]
    assert lab.sectors(4 + 4 * lane for lane in range(32)) == 5
    assert lab.sectors([]) == 0


@pytest.mark.parametrize("rule", [lab.wavefronts, lab.sectors])
def test_rules_refuse_what_no_warp_asks(rule):
    with pytest.raises(ValueError, match="33 addresses"):
        rule(range(33))
    with pytest.raises(ValueError, match="width must be .* not 3"):
        rule([0], 3)
    for wrong, width in (([0, 2], 4), ([31], 4), ([32, 24], 16), ([-1], 2)):
        with pytest.raises(ValueError, match=f"address {wrong[-1]} is not a multiple of {width}"):
            rule(wrong, width)
    for wrong in ([1.5], ["4"], 1.5, None):
        with pytest.raises(
            TypeError, match=f"{rule.__name__}: addresses must be an integer or a sequence of integers, not "
        ):
            rule(wrong)
    assert rule(4) == rule([4]) == rule(np.array([4])) == 1


# --- bank_conflicts --------------------------------------------------------------------------------------------------
@pytest.mark.proves("lab.bank_conflicts")
def test_bank_conflicts_has_every_stride(backend, tmp_path):
    result = lab.bank_conflicts(repeat=1)
    forms = [(row["form"], row["stride"]) for row in result.rows]
    assert forms == [
        ("broadcast", 0),
        *(("strided", s) for s in range(1, 33)),
        *(("padded", s) for s in range(1, 33)),
    ]
    ways = {(row["form"], row["stride"]): row["wavefronts"] for row in result.rows}
    assert (ways["broadcast", 0], ways["strided", 16], ways["padded", 16], ways["padded", 31]) == (1, 16, 1, 32)
    assert result.backend.emulated == all(cycles is None for cycles in result["cycles"])
    shows_itself(result, tmp_path)


@pytest.mark.parametrize("arguments", [{"strides": []}, {"strides": [0]}, {"strides": [33]}, {"n": 0}, {"repeat": 0}])
def test_bank_conflicts_refuses(arguments):
    with pytest.raises(ValueError, match="strides|n must be 1 or more|repeat must be 1"):
        lab.bank_conflicts(**arguments)


# --- coalescing ------------------------------------------------------------------------------------------------------
@pytest.mark.proves("lab.coalescing")
def test_coalescing_has_every_case(backend, tmp_path):
    result = lab.coalescing(n=5000, repeat=1)
    sectors = {(row["experiment"], row["case"]): row["sectors"] for row in result.rows}
    assert sectors["offset", "0 elements"] == sectors["offset", "8 elements"] == 4
    assert sectors["offset", "1 element"] == 5
    assert [sectors["stride", case] for case in ("1 element", "2 elements", "8 elements", "32 elements")] == [
        *(4, 8, 32, 32),
    ]
    assert [sectors["width", case] for case in ("1 byte", "4 bytes", "8 bytes", "16 bytes")] == [1, 4, 8, 16]
    assert sectors["partial warp", "all lanes"] == sectors["partial warp", "without lane 3"] == 4
    assert [sectors["vec3", way] for way in ("array_of_structs", "aligned", "struct_of_arrays", "staged")] == [
        *(36, 16, 12, 12),
    ]
    assert all(0 < row["share"] <= 1 for row in result.rows)
    assert all((row["gb_per_s"] is None) == (row["clock"] != "gpu") for row in result.rows)
    shows_itself(result, tmp_path)


def test_sizes_below_one_are_refused():
    for experiment in (lab.coalescing, lab.divergence, lab.latency, lab.layouts):
        with pytest.raises(ValueError, match="n must be 1 or more, not 0"):
            experiment(n=0)


@pytest.mark.parametrize("offset, stride, idle", [(0, 1, 32), (3, 1, 3), (5, 7, 0), (1, 1024, 31), (1024, 3, 32)])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "float32", "float64", "complex128"])
def test_slices_are_numpys(backend, dtype, offset, stride, idle):
    slices = registry()["coalescing"].call
    for n in (0, 1, 700, 5000):
        x = (np.arange(n) % 251 + 1).astype(dtype)
        expected = x[offset::stride].copy()
        if idle < 32:
            expected[idle::32] = 0
        for given in (x, cudakern.asarray(x)):
            result = slices(given, offset=offset, stride=stride, idle=idle, variant="elementwise")
            assert np.array_equal(np.asarray(result.get() if given is not x else result), expected)
        assert np.array_equal(slices(x, offset=offset, stride=stride, idle=idle), expected)


def test_slices_refuse(backend):
    slices = registry()["coalescing"].call
    x = np.zeros(8, np.int32)
    for wrong in ({"offset": -1}, {"stride": 0}, {"idle": 33}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            slices(x, variant="elementwise", **wrong)
    with pytest.raises(ValueError, match="the output has 2 elements, but the result has 8"):
        slices(x.reshape(2, 4), variant="elementwise", offset=0)


def test_vectors_lie_as_the_variant_asks(backend):
    vec3 = registry()["vec3"].call
    x = np.random.default_rng(4).random((100, 3), np.float32)
    expected = (x * x).sum(axis=1)
    for entry in cudakern.variants("vec3"):
        for given in (x, np.asfortranarray(x), x[::-1][::-1]):
            np.testing.assert_allclose(vec3(given, variant=entry.name), expected, rtol=1e-6)
        if not entry.on_host:
            for on_device in (cudakern.asarray(x), cudakern.asarray(x.T.copy()).T):
                np.testing.assert_allclose(vec3(on_device, variant=entry.name).get(), expected, rtol=1e-6)
    for wrong in ((100, 4), (300,), (1, 100, 3)):
        with pytest.raises(ValueError, match=r"\(n, 3\)"):
            vec3(np.zeros(wrong, np.float32), variant="staged")


# --- layouts ---------------------------------------------------------------------------------------------------------
@pytest.mark.proves("lab.layouts")
def test_layouts_on_gpu_and_cpu(backend, tmp_path):
    result = lab.layouts(n=5000, repeat=1)
    assert [(row["where"][:3], row["n"], row["layout"]) for row in result.rows] == [
        (where, n, layout)
        for n in (4096, 5000)
        for where, layout in (
            ("GPU", "structs"),
            ("GPU", "structs, 16 bytes at once"),
            ("GPU", "arrays"),
            ("CPU", "structs"),
            ("CPU", "arrays"),
        )
    ]
    assert [row["sectors"] for row in result.rows[:5]] == [64, 16, 16, None, None]
    assert all(row["round_ns"] is not None for row in result.rows if row["where"] != "GPU")
    assert all((row["round_ns"] is None) == (row["clock"] == "emulated") for row in result.rows)
    shows_itself(result, tmp_path)


@pytest.mark.parametrize("variant", [entry.name for entry in cudakern.variants("add_fields") if not entry.on_host])
@pytest.mark.parametrize("rounds", [1, 3, 1000])
def test_fields_are_added_wherever_they_lie(backend, variant, rounds):
    """As structs, as arrays, into either, and where no struct begins on a multiple of 16 bytes; sums wrap."""
    add_fields = registry()["add_fields"].call
    draw = np.random.default_rng(rounds)
    a, b = (draw.integers(-(2**31), 2**31, (300, 4), dtype=np.int32) for _ in range(2))
    with np.errstate(over="ignore"):
        expected = a + np.int32(rounds) * b
    on_device = [cudakern.asarray(x) for x in (a, b)]
    by_field = [cudakern.asarray(np.ascontiguousarray(x.T)).T for x in (a, b)]
    shifted = []
    for x in (a, b):
        flat = cudakern.zeros(x.size + 1, "int32")
        flat[1:] = x.ravel()
        shifted.append(flat[1:].reshape(x.shape))
    for given in (on_device, by_field, shifted):
        assert np.array_equal(add_fields(*given, rounds=rounds, variant=variant).get(), expected)
        for out in (cudakern.empty((300, 4), "int32"), cudakern.empty((4, 300), "int32").T):
            assert add_fields(*given, rounds=rounds, variant=variant, out=out) is out
            assert np.array_equal(out.get(), expected)
    assert np.array_equal(add_fields(a, b, rounds=rounds, variant=variant), expected)
    assert np.array_equal(add_fields(a, b, rounds=rounds), expected)


def test_fields_refuse():
    add_fields = registry()["add_fields"].call
    x = np.zeros((5, 4), np.int32)
    for wrong in (np.zeros((5, 3), np.int32), np.zeros((6, 4), np.int32), np.zeros(19, np.int32)):
        with pytest.raises(ValueError, match=r"array 1 (has 24 elements, but array 0 has 20|must have shape \(n, 4\))"):
            add_fields(x, wrong, variant="array_of_structs")
    for rounds in (0, 1001):
        with pytest.raises(ValueError, match="rounds"):
            add_fields(x, x, rounds=rounds, variant="array_of_structs")
        with pytest.raises(ValueError, match="rounds"):
            add_fields(x, x, rounds=rounds, variant="numpy")


# --- divergence ------------------------------------------------------------------------------------------------------
@pytest.mark.proves("lab.divergence")
def test_divergence_counts_the_divided_warps(backend, tmp_path):
    result = lab.divergence(n=1000, repeat=1)
    rows = {(row["condition"], row["n"]): row for row in result.rows}
    assert [row["condition"] for row in result.rows[:6]] == [*_warps.CONDITIONS.values()]
    divided = {row["condition"]: row["divided"] for row in result.rows[:6]}
    assert [*divided.values()] == [0, 0, 4, 32, 32, 0]  # of 32 warps in 4 blocks
    assert [(rows["i < n", n]["warps"], rows["i < n", n]["divided"]) for n in (100, 1000, 1024, 1023)] == [
        *((4, 1), (32, 1), (32, 0), (32, 1)),
    ]
    assert rows["i < n", 100]["share"] == 25
    assert all((row["kernel_ns"] is None) == (row["clock"] != "gpu") for row in result.rows)
    shows_itself(result, tmp_path)


def test_the_branches_choose_as_they_say(backend):
    """Two paths, told apart by their results."""
    branches = registry()["divergence"].call
    x = np.arange(1, 1025, dtype=np.int32)
    first, second = (branches(x, branch=name, variant="branches") for name in ("first", "second"))
    thread = np.arange(1024) % 256
    for name, wanted in {
        "thread": thread > 2,
        "lane": thread % 32 > 2,
        "odd_lane": thread % 2 == 1,
        "warp": thread >= 64,
    }.items():
        result = branches(x, branch=name, variant="branches")
        assert np.array_equal(result, np.where(wanted, second, first)), name
    assert (first != second).all()
    with pytest.raises(ValueError, match="lane"):
        branches(x, branch="lanes", variant="branches")
    with pytest.raises(ValueError, match="lane"):
        branches(x, branch="lanes", variant="numpy")


# --- latency ---------------------------------------------------------------------------------------------------------
@pytest.mark.proves("lab.latency")
def test_latency_has_every_form(backend, tmp_path):
    result = lab.latency(n=3000, repeat=1)
    assert len(result) == 20
    assert [row["under_way"] for row in result.rows[-5:]] == [8192, 8192, 16384, 32768, 65536]
    assert all((row["kernel_ns"] is None) == (row["clock"] != "gpu") for row in result.rows)
    shows_itself(result, tmp_path)


def test_chains_are_computed_one_by_one(backend):
    """By Python's own integers."""
    x = np.arange(50, dtype=np.int32)[::-1].copy()
    expected = []
    for i, value in enumerate(x.tolist()):
        chain = i
        for _ in range(64):
            chain = (chain * chain + 12345) % 2**32
        expected.append((value + chain) % 2**32)
    for entry in cudakern.variants("latency"):
        result = registry()["latency"].call(x, variant=entry.name)
        assert result.view(np.uint32).tolist() == expected


# --- as on a GPU -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["bank_conflicts", "coalescing", "divergence", "latency", "layouts"])
def test_with_times_that_count(name, monkeypatch, tmp_path):
    """What an experiment does with a GPU's clock, where there is none: times in every row and in the picture."""

    times_count(_warps if name in ("divergence", "latency") else _memory, monkeypatch)
    result = getattr(lab, name)(n=3000, repeat=1)
    key = {"bank_conflicts": "cycles", "coalescing": "gb_per_s", "layouts": "round_ns"}.get(name, "kernel_ns")
    assert all(row[key] > 0 for row in result.rows)
    shows_itself(result, tmp_path)
