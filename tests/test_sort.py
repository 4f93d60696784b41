"""sort against numpy.sort: every variant over inputs that are hard for one of them, and the errors of its own."""

import numpy as np
import pytest

import cudakern
from cases import BACKENDS, as_called, label, settings, variants

pytestmark = pytest.mark.proves()

RUNS = tuple(variants("sort", host=False))
TYPES = ("uint32", "int32", "float32")
LENGTHS = (0, 1, 2, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025)

every_run = pytest.mark.parametrize("name, variant", RUNS, ids=label)
every_type = pytest.mark.parametrize("dtype", TYPES)


def random_bits(n, dtype, draw):
    """Any bits: for floats also NaNs of both signs, infinities and denormals."""
    return draw.integers(0, 1 << 32, n, dtype=np.uint32).view(dtype)


def nearly_sorted(n, dtype, draw):
    x = np.sort(random_bits(n, dtype, draw))
    some = draw.integers(0, max(n, 1), n // 50)
    x[some] = random_bits(some.size, dtype, draw)
    return x


def few_and_many(n, dtype, draw):
    """Nine tenths are one value, and the rest is random: most bins get nothing."""
    x = random_bits(n, dtype, draw)
    x[draw.random(n) < 0.9] = np.array([0x40490FDB], np.uint32).view(dtype)[0]
    return x


def powers(n, dtype, draw):
    """Half of the keys in half of the range, a quarter in a quarter of that ...: skewed for every equal division."""
    return (random_bits(n, np.uint32, draw) >> draw.integers(0, 32, n, dtype=np.uint32)).view(dtype)


def periodic(n, dtype, draw):
    """What equal distances between samples would be fooled by."""
    return (np.arange(n, dtype=np.uint32) % 64 * 0x03FFFFFF).view(dtype)


KINDS = {
    "random": random_bits,
    "nearly sorted": nearly_sorted,
    "sorted": lambda n, dtype, draw: np.sort(random_bits(n, dtype, draw)),
    "reversed": lambda n, dtype, draw: np.sort(random_bits(n, dtype, draw))[::-1].copy(),
    "constant": lambda n, dtype, draw: np.full(n, 7, dtype),
    "few values": lambda n, dtype, draw: draw.integers(0, 5, n).astype(dtype),
    "one value of two": few_and_many,
    "powers": powers,
    "periodic": periodic,
    "all ones": lambda n, dtype, draw: np.full(n, 0xFFFFFFFF, np.uint32).view(dtype),
    "zeros and ones": lambda n, dtype, draw: (
        np.where(draw.random(n) < 0.5, 0xFFFFFFFF, 0).astype(np.uint32).view(dtype)
    ),
    "special": lambda n, dtype, draw: draw.choice(
        np.array([np.nan, -np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-45, -1e-45, 1.5, -1.5], np.float32), n
    ).view(dtype),
}


def inputs(n, dtype, seed=1):
    return {kind: make(n, dtype, np.random.default_rng(seed)) for kind, make in KINDS.items()}


def run(name, *args, **keywords):
    with cudakern.use_backend(name):
        return cudakern.sort(*args, **keywords)


def check(x, result, kind=""):
    """As numpy.sort, and no bit of an element is changed."""
    np.testing.assert_array_equal(result, np.sort(x), err_msg=kind)
    assert result.dtype == x.dtype
    before, after = (np.sort(np.ascontiguousarray(y).view(np.uint32)) for y in (x, result))
    assert np.array_equal(before, after), kind


@every_type
@every_run
def test_every_kind_of_input(name, variant, dtype):
    for kind, x in inputs(1000, dtype).items():
        kept = x.copy()
        check(x, run(name, x, variant=variant.name), kind)
        assert x.tobytes() == kept.tobytes()


@every_run
def test_every_length(name, variant):
    for n in LENGTHS:
        for kind in ("random", "all ones", "special"):
            for dtype in TYPES:
                x = KINDS[kind](n, dtype, np.random.default_rng(n))
                check(x, run(name, x, variant=variant.name), f"{kind} {n}")


@every_run
def test_every_kind_in_every_setting(name, variant):
    for values in settings(variant):
        words = as_called(variant, values)
        for kind, x in inputs(777, "float32").items():
            check(x, run(name, x, variant=variant.name, **words), f"{kind} {words}")


@pytest.mark.parametrize("lists", [1, 2, 4, 8, 16, 32, 64, 128, 256])
@pytest.mark.parametrize(
    "name, variant", [run for run in RUNS if any(p.name == "lists" for p in run[1].parameters)], ids=label
)
def test_the_documents_numbers_of_lists(name, variant, lists):
    for n in (1024, 700, lists - 1, lists + 1):
        for kind in ("random", "few values", "all ones"):
            x = KINDS[kind](n, "uint32", np.random.default_rng(n))
            check(x, run(name, x, variant=variant.name, lists=lists), kind)


@every_run
def test_long_arrays(name, variant):
    for n in (7679, 7680, 7681, 8192, 65_535, 65_537, 70_001):
        x = random_bits(n, "float32", np.random.default_rng(n))
        check(x, run(name, x, variant=variant.name), str(n))


SAMPLED = [run for run in RUNS if any(p.name == "bins" for p in run[1].parameters)]
every_sampled = pytest.mark.parametrize("name, variant", SAMPLED, ids=label)


@pytest.mark.parametrize("dtype, n, bins", [("float32", 70_001, 0), ("int32", 9001, 512), ("uint32", 80_000, 4)])
@every_sampled
def test_every_kind_in_one_level_of_bins_and_in_several(name, variant, dtype, n, bins):
    for kind, x in inputs(n, dtype).items():
        check(x, run(name, x, variant=variant.name, bins=bins), kind)


def drawn(n, samples):
    """Where sample sort looks for its first samples: csrc/kernels/sort/parts/samples.cuh."""
    i = np.arange(samples, dtype=np.int64)
    begin, end = i * n // samples, (i + 1) * n // samples
    x = (i + 1).astype(np.uint32)
    x = (x ^ x >> 16) * np.uint32(0x45D9F3B)
    x = (x ^ x >> 15) * np.uint32(0x2C1B3C6D)
    return begin + (x ^ x >> 16) % (end - begin)


@every_sampled
def test_samples_that_say_nothing(name, variant):
    """The smallest keys are those that are drawn: all others fall into one bin, too long for a block's memory."""
    n = 50_000
    draw = np.random.default_rng(8)
    x = draw.integers(1 << 20, 1 << 32, n, dtype=np.uint32)
    x[drawn(n, 16 * 128)] = draw.integers(0, 1 << 20, 16 * 128)
    check(x, run(name, x, variant=variant.name))
    for bins in (4, 16):
        check(x, run(name, x, variant=variant.name, bins=bins))


def test_two_levels_without_being_asked(backend):
    """More keys than the bins of one level hold."""
    x = few_and_many(2_400_000, "float32", np.random.default_rng(10))
    check(x, cudakern.sort(x, variant="sample_sort"))


@every_sampled
def test_samples_sorted_by_sample_sort_itself(name, variant):
    """Bins so many that one block cannot sort their samples."""
    for kind in ("random", "powers", "constant"):
        x = KINDS[kind](140_000, "float32", np.random.default_rng(9))
        check(x, run(name, x, variant=variant.name, bins=256), kind)


@pytest.mark.parametrize("name, variant", [run for run in RUNS if run[1].name != "cub"], ids=label)
def test_minus_zeros_come_first(name, variant):
    x = np.array([0.0, -0.0, 1, 0.0, -0.0, -1], np.float32)
    signs = np.signbit(run(name, x, variant=variant.name))
    assert signs.tolist() == [True, True, True, False, False, False]


@every_run
def test_strided_inputs_and_arrays_on_the_device(name, variant):
    x = random_bits(3000, "float32", np.random.default_rng(3))
    for view in (x[::3], x[::-2], x.reshape(30, 100)[:, 5], np.broadcast_to(x[:1], 100)):
        check(view, run(name, view, variant=variant.name))
    with cudakern.use_backend(name):
        d = cudakern.asarray(x)
        check(x[::-3], cudakern.sort(d[::-3], variant=variant.name).get())
        check(x, cudakern.sort(d, variant=variant.name).get())
        assert d.get().tobytes() == x.tobytes()


@pytest.mark.parametrize("name", BACKENDS)
@every_type
def test_auto_on_the_device(name, dtype):
    for n in (0, 1, 1000, 20_001):
        for kind, x in inputs(n, dtype).items():
            with cudakern.use_backend(name):
                result = cudakern.sort(cudakern.asarray(x))
                assert isinstance(result, cudakern.DeviceArray)
                np.testing.assert_array_equal(result.get(), np.sort(x), err_msg=kind)


@pytest.mark.parametrize(
    "name, variant", [run for run in RUNS if run[1].parameters and run[1].parameters[-1].name == "memory"], ids=label
)
def test_too_long_for_shared_memory(name, variant):
    x = np.zeros(60_000, np.uint32)
    with pytest.raises(
        ValueError, match=r"memory='shared': 60000 keys .* Use memory='global', which accepts any length"
    ):
        run(name, x, variant=variant.name, memory="shared")
    with pytest.raises(ValueError, match="unknown memory 'texture': known: global, shared"):
        run(name, x[:10], variant=variant.name, memory="texture")


@pytest.mark.proves("sort:cub")
def test_the_toolkits_sort_is_the_gpus():
    assert cudakern.variants("sort")["cub"].backends == ("cuda",)
    with pytest.raises(NotImplementedError, match="'cub' cannot run here: it needs a GPU, but none is in use"):
        run("emulator", np.zeros(3, np.float32), variant="cub")


@pytest.mark.parametrize("name", BACKENDS)
def test_other_types_and_several_rows_are_numpys(name):
    draw = np.random.default_rng(5)
    for x in (
        draw.random(50),
        draw.integers(0, 9, 50),
        draw.random(50) < 0.5,
        np.array(["b", "a"]),
        1j * draw.random(5),
    ):
        np.testing.assert_array_equal(run(name, x), np.sort(x))
    cube = draw.random((3, 4, 5)).astype(np.float32)
    for axis in (-1, 0, 1, 2, None):
        np.testing.assert_array_equal(run(name, cube, axis), np.sort(cube, axis))
        np.testing.assert_array_equal(run(name, cube, axis, variant="numpy"), np.sort(cube, axis))
    assert run(name, [[3, 1, 2]]).tolist() == [[1, 2, 3]]
    assert run(name, 5, None).tolist() == [5]
    empty = np.empty((0, 3), np.float32)
    assert run(name, empty).shape == (0, 3)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "float16"])
@pytest.mark.parametrize("name", BACKENDS)
def test_narrow_types_on_the_device(name, dtype):
    bits = np.random.default_rng(6).integers(0, 1 << 16, 3000, dtype=np.uint16)
    x = bits.view(dtype) if dtype != "bool" else bits > 40000
    with cudakern.use_backend(name):
        for part in (slice(None), slice(None, None, -3), slice(0)):
            result = cudakern.sort(cudakern.asarray(x)[part])
            assert result.dtype == x.dtype
            np.testing.assert_array_equal(result.get(), np.sort(x[part]))
        with pytest.raises(TypeError, match=f"variant 'many_blocks' takes .*, not {dtype}"):
            cudakern.sort(cudakern.asarray(x), variant="many_blocks")


@pytest.mark.parametrize("name", BACKENDS)
def test_one_row_of_several_axes(name):
    x = np.array([[3, 1, 2]], np.int32)
    variant = next(variant for side, variant in RUNS if side == name)
    assert run(name, x, variant=variant.name).tolist() == [[1, 2, 3]]
    assert run(name, x.T, 0, variant=variant.name).tolist() == [[1], [2], [3]]
    assert run(name, x.reshape(3, 1), None, variant=variant.name).tolist() == [1, 2, 3]
    with cudakern.use_backend(name):
        assert cudakern.sort(cudakern.asarray(x)).get().tolist() == [[1, 2, 3]]
        assert cudakern.sort(cudakern.asarray(x.T), None).get().tolist() == [1, 2, 3]


@pytest.mark.parametrize("name", BACKENDS)
def test_what_is_refused(name):
    x = np.zeros((2, 3), np.float32)
    entry = next(variant for side, variant in RUNS if side == name)
    for keyword in ("kind", "order", "stable"):
        with pytest.raises(TypeError, match=f"unknown keyword '{keyword}' of sort"):
            run(name, x, **{keyword: None})
    with cudakern.use_backend(name):
        for a, variant in ((x, entry.name), (cudakern.asarray(x), "auto")):
            with pytest.raises(ValueError, match=r"a has shape \(2, 3\), but the kernels sort one row"):
                cudakern.sort(a, variant=variant)
        with pytest.raises(TypeError, match="of device arrays takes uint32, int32, float32, .*, not float64"):
            cudakern.sort(cudakern.asarray(x[0]).astype("float64"))
    for axis in (2, -3):
        with pytest.raises(np.exceptions.AxisError, match=f"axis {axis} is out of bounds"):
            run(name, x, axis)
    with pytest.raises(np.exceptions.AxisError):
        run(name, 5)
    with pytest.raises(TypeError, match="float64"):
        run(name, np.zeros(3), variant=entry.name)
    with pytest.raises(ValueError, match="lists=257|257"):
        run(name, x[0], variant="merge_hybrid", lists=257)
    with pytest.raises(ValueError, match="unknown variant"):
        run(name, x, variant="merge_hybrids")
    with pytest.raises(TypeError, match="'auto' has no parameters"):
        run(name, x, lists=3)
