"""The first steps, saxpy, stencil_1d and grayscale: what is their own. What all operations share is tested in
test_operations.py."""

import itertools

import numpy as np
import pytest

import cudakern
from cases import HAS_BFLOAT16, label, rows
from cudakern._dtypes import numpy_dtype

KERNELS = {op: list(rows(op, host=False)) for op in ("saxpy",)}


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
