"""The first steps, saxpy, stencil_1d and grayscale: what is their own. What all operations share is tested in
test_operations.py."""

import itertools

import numpy as np
import pytest

import cudakern
from cases import HAS_BFLOAT16, label, rows
from cudakern._dtypes import numpy_dtype

KERNELS = {op: list(rows(op, host=False)) for op in ("saxpy", "stencil_1d")}


def kernels(operation):
    return pytest.mark.parametrize("name, row", KERNELS[operation], ids=label)


def on(name, function, *inputs, **keywords):
    with cudakern.use_backend(name):
        return function(*inputs, **keywords)


# --- saxpy -----------------------------------------------------------------------------------------------------------
FACTORS = (2, 2.5, True, 1.5 - 2j, np.float32(2.5), np.float64(2.5), np.int8(3), np.array(3, "int16"))
TYPES = ("bool", "int8", "uint8", "int32", "uint64", "float16", "float32", "float64", "complex64")


def pair(first, second):
    x, y = np.arange(6) % 3, np.arange(6)[::-1] % 4
    return x.astype(first), y.astype(second)


@pytest.mark.parametrize("a", FACTORS, ids=lambda a: f"{type(a).__name__}-{a}")
def test_the_type_of_saxpy_is_numpys(backend, a):
    """A Python number takes the arrays' type where it can; a NumPy number counts with its own."""
    for first, second in itertools.product(TYPES, repeat=2):
        x, y = pair(first, second)
        expected = a * x.astype((a * x + y).dtype) + y
        assert expected.dtype == (a * x + y).dtype
        on_device = cudakern.saxpy(a, cudakern.asarray(x), cudakern.asarray(y)).get()
        for result in (cudakern.saxpy(a, x, y), on_device):
            assert result.dtype == expected.dtype, (first, second)
            np.testing.assert_allclose(result, expected, rtol=1e-3)


@pytest.mark.skipif(not HAS_BFLOAT16, reason="needs ml_dtypes")
def test_bfloat16_stays_with_a_python_number(backend):
    x = np.arange(5).astype(numpy_dtype("bfloat16"))
    d = cudakern.asarray(x)
    for result in (cudakern.saxpy(0.5, x, x), cudakern.saxpy(0.5, d, d).get()):
        assert result.dtype == x.dtype
        assert result.astype("float32").tolist() == [0, 1.5, 3, 4.5, 6]


@kernels("saxpy")
def test_saxpy_of_shapes_that_broadcast(name, row):
    draw = np.random.default_rng(0)
    for first, second in (((4, 1), (5,)), ((), (3,)), ((3,), ()), ((2, 1, 3), (4, 1)), ((1,), (0,)), ((), ())):
        x, y = draw.random(first), draw.random(second)
        result = on(name, cudakern.saxpy, 2.5, x, y, variant=row.name)
        with cudakern.use_backend(name):
            d = cudakern.saxpy(2.5, cudakern.asarray(x), cudakern.asarray(y), variant=row.name)
        expected = 2.5 * x + y
        for got in (result, d.get()):
            assert np.shape(got) == expected.shape
            np.testing.assert_allclose(got, expected, rtol=1e-15)


@kernels("saxpy")
def test_the_factor_is_found_wherever_it_lies(name, row):
    """A number of the host, one of the device, one element of an array there."""
    x, y = np.arange(100.0), np.ones(100)
    with cudakern.use_backend(name):
        dx, dy = cudakern.asarray(x), cudakern.asarray(y)
        for a in (3, 3.0, np.float64(3), np.array(3.0), cudakern.asarray(3.0), dx[3], dx[::-1][96]):
            result = cudakern.saxpy(a, dx, dy, variant=row.name)
            assert result.get().tolist() == (3 * x + 1).tolist()
        assert cudakern.saxpy(3, x, y, variant=row.name).tolist() == (3 * x + 1).tolist()


@kernels("saxpy")
def test_saxpy_into_its_own_operand(name, row):
    """As the document's program does: y = a * x + y. And into one that overlaps."""
    with cudakern.use_backend(name):
        for length in (1, 7, 1000):
            x, y = np.arange(length, dtype="float32"), np.ones(length, "float32")
            expected = 2 * x + y
            assert cudakern.saxpy(2, x, y, out=y, variant=row.name) is y
            assert y.tolist() == expected.tolist()
            whole = cudakern.asarray(np.arange(length + 1, dtype="float32"))
            before = whole.get()
            target = whole[1:]
            assert cudakern.saxpy(2, whole[:-1], target, out=target, variant=row.name) is target
            assert target.get().tolist() == (2 * before[:-1] + before[1:]).tolist()


@kernels("saxpy")
def test_saxpy_where_boundaries_of_16_bytes_do_not_meet(name, row):
    """Arrays on the device that begin at any element: heads, packs and rests of every length."""
    with cudakern.use_backend(name):
        numbers = np.arange(64, dtype="int16")
        x, y, out = cudakern.asarray(numbers), cudakern.asarray(numbers * 3), cudakern.zeros(64, "int16")
        for i, j, k in ((0, 0, 0), (3, 3, 3), (1, 0, 0), (0, 2, 0), (5, 5, 13), (7, 7, 7)):
            for n in (0, 1, 5, 8, 9, 40):
                out.fill(-1)
                cudakern.saxpy(2, x[i : i + n], y[j : j + n], out=out[k : k + n], variant=row.name)
                expected = np.full(64, -1, "int16")
                expected[k : k + n] = 2 * numbers[i : i + n] + 3 * numbers[j : j + n]
                assert out.get().tolist() == expected.tolist()


def test_what_saxpy_refuses(backend):
    x = np.arange(4, dtype="uint8")
    d = cudakern.asarray(x)
    for v in (x, d):
        for a in (np.arange(1), [[2]], np.ones((1, 1))):
            with pytest.raises(ValueError, match="a is one number, and its shape is"):
                cudakern.saxpy(a, v, v)
        for a in (256, -1, 2**70):
            with pytest.raises(OverflowError):
                cudakern.saxpy(a, v, v)
            with pytest.raises(OverflowError):
                a * x + x  # as NumPy
        for a in ("2", None):
            with pytest.raises(TypeError):
                cudakern.saxpy(a, v, v)
        with pytest.raises(ValueError, match=r"x is \(4,\) and y is \(3,\), which do not broadcast"):
            cudakern.saxpy(2, v, v[:3])
        with pytest.raises(TypeError, match=r"takes arrays of one type, not .*a float64.*x uint8"):
            cudakern.saxpy(np.float64(2), x, x, variant="naive")
        with pytest.raises(TypeError, match="no parameters"):
            cudakern.saxpy(2, v, v, threads=64)
    with pytest.raises(ValueError, match="a is one number"):
        cudakern.saxpy(d, d, d)
    with pytest.raises(TypeError, match="masked"):
        cudakern.saxpy(np.ma.array(2, mask=True), d, d)
    with pytest.raises(ValueError, match=r"out is \(3,\)"):
        cudakern.saxpy(2, x, x, out=np.zeros(3, "uint8"))
    with pytest.raises(TypeError, match="same_kind"):
        cudakern.saxpy(2.5, x, x, out=np.zeros(4, "uint8"))


# --- stencil_1d ------------------------------------------------------------------------------------------------------
RADII = (0, 1, 2, 3, 4, 10, 100, 1023, 1024)


def around(x, radius):
    """By the definition, a sum an element, in Python's own numbers."""
    values = x.tolist()
    return [sum(values[max(i - radius, 0) : i + radius + 1]) for i in range(len(values))]


@kernels("stencil_1d")
@pytest.mark.parametrize("radius", RADII)
def test_every_radius_with_every_length_near_a_block(name, row, radius):
    """Lengths around what a block has of results, and around the radius: a halo that is longer than the array."""
    draw = np.random.default_rng(radius)
    for threads in (1, 32, 33, 96):
        for length in {0, 1, 2, radius, radius + 1, 2 * radius + 1, threads - 1, threads, threads + 1, 7 * threads + 3}:
            if length > 200 * threads:  # the emulator starts each thread
                continue
            x = draw.integers(-99, 100, length).astype("int32")
            result = on(name, cudakern.stencil_1d, x, radius, variant=row.name, threads=threads)
            assert result.dtype == x.dtype
            assert result.tolist() == around(x, radius)


@kernels("stencil_1d")
def test_the_widest_tile_of_the_widest_type(name, row):
    threads = next(p for p in row.parameters if p.name == "threads").high
    x = np.arange(5000) * (1 - 2j)
    result = on(name, cudakern.stencil_1d, x, 1024, variant=row.name, threads=threads)
    assert result.tolist() == around(x, 1024)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_all_stencils_are_the_same_bits(dtype):
    """All kernels add from left to right; NumPy's row is within the bound of its sum's length."""
    x = np.random.default_rng(4).standard_normal(3000).astype(dtype)
    for radius in RADII:
        results = {
            on(name, cudakern.stencil_1d, x, radius, variant=row.name).tobytes() for name, row in KERNELS["stencil_1d"]
        }
        assert len(results) == 1
        wide = x.astype(np.result_type(x, np.longdouble))
        exact, scale = (np.convolve(w, np.ones(2 * radius + 1, w.dtype))[radius:][:3000] for w in (wide, np.abs(wide)))
        unit, added = (np.finfo(t).eps / 2 for t in (dtype, "float32" if dtype == "float16" else dtype))
        for result in (np.frombuffer(results.pop(), dtype), cudakern.stencil_1d(x, radius, variant="numpy")):
            assert np.max(np.abs(result - exact) / scale) <= 1.1 * (2 * radius * added + unit)


def test_a_stencil_is_a_convolution(backend):
    for dtype in ("bool", "uint8", "int64", "float64", "complex128"):
        x = (np.arange(50) * 37 % 11).astype(dtype)
        for radius in (0, 3, 24):
            expected = np.convolve(x, np.ones(2 * radius + 1, dtype), "same")
            for result in (cudakern.stencil_1d(x, radius), cudakern.stencil_1d(cudakern.asarray(x), radius).get()):
                assert result.dtype == x.dtype
                assert result.tolist() == expected.tolist()


@kernels("stencil_1d")
def test_integers_wrap_and_bools_are_or(name, row):
    x = np.full(20, 100, "int8")
    expected = np.array(around(x, 3)).astype("int8")
    assert on(name, cudakern.stencil_1d, x, variant=row.name).tolist() == expected.tolist()
    x = np.zeros(20, bool)
    x[[0, 12]] = True
    expected = [i <= 3 or 9 <= i <= 15 for i in range(20)]
    assert on(name, cudakern.stencil_1d, x, variant=row.name).tolist() == expected


@kernels("stencil_1d")
def test_an_infinity_stays_within_its_radius(name, row):
    """No sum is made from its neighbour's: what went in once would never come out."""
    x = np.ones(500, "float32")
    x[[100, 300]] = np.inf, np.nan
    result = on(name, cudakern.stencil_1d, x, 5, variant=row.name)
    assert np.flatnonzero(np.isinf(result)).tolist() == list(range(95, 106))
    assert np.flatnonzero(np.isnan(result)).tolist() == list(range(295, 306))
    z = x.astype("complex64")
    for z_result in (on(name, cudakern.stencil_1d, z, 5, variant=v) for v in (row.name, "numpy")):
        assert np.array_equal(z_result.real, result, equal_nan=True)
        assert not z_result.imag.any()


def test_the_document_s_stencil(backend):
    """1024 ones, radius 3: 7 everywhere but at the ends."""
    for row in cudakern.variants("stencil_1d"):
        result = cudakern.stencil_1d(np.ones(1024, "int32"), variant=row.name)
        assert result.tolist() == [4, 5, 6, *[7] * 1018, 6, 5, 4]


def test_what_stencil_1d_refuses(backend):
    x = np.ones(10, "float32")
    d = cudakern.asarray(x)
    for v in (x, d):
        for variant in ("auto", "shared_halo"):
            for radius in (-1, 1025, 2**40):
                with pytest.raises(ValueError, match=f"stencil_1d: radius={radius} is not possible.*0 to 1024"):
                    cudakern.stencil_1d(v, radius, variant=variant)
            for radius in (2.0, "3", None):
                with pytest.raises(TypeError, match="stencil_1d: radius= must be an integer"):
                    cudakern.stencil_1d(v, radius, variant=variant)
            for shape in ((2, 5), (1, 10), (10, 1)):
                with pytest.raises(ValueError, match=r"x has one axis, and its shape is \(\d+, \d+\)"):
                    cudakern.stencil_1d(v.reshape(shape), variant=variant)
            with pytest.raises(ValueError, match=r"out is \(9,\), and the result is \(10,\)"):
                cudakern.stencil_1d(v, out=v[:9], variant=variant)
    with pytest.raises(ValueError, match="one axis"):
        cudakern.stencil_1d(3.0)
    assert cudakern.stencil_1d(x, np.int8(0), variant="global_memory").tolist() == x.tolist()


@kernels("stencil_1d")
def test_a_stencil_into_its_own_input(name, row):
    """Other threads still read what one would overwrite."""
    with cudakern.use_backend(name):
        x = np.arange(1000)
        expected = around(x, 50)
        d = cudakern.asarray(x)
        assert cudakern.stencil_1d(d, 50, out=d, variant=row.name) is d
        assert d.get().tolist() == expected
        d = cudakern.asarray(x)
        assert cudakern.stencil_1d(d[::-1], 50, out=d, variant=row.name) is d
        assert d.get().tolist() == expected[::-1]
        assert cudakern.stencil_1d(x, 50, out=x, variant=row.name) is x
        assert x.tolist() == expected
