"""What NumPy has rules of its own for (test_numpy_contract.py): types, subclasses, out=, errors, sizes; variants."""

import contextlib
import re
import warnings

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import cudakern
from cases import (
    HAS_BFLOAT16,
    native,
    numbers,
)
from cudakern.arrays.array import DeviceArray
from cudakern.calls import execute, on_host
from cudakern.operations import matmul
from numpys import NUMPY_TYPES, TWO, as_on_a_gpu, attempt, hold

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # as NumPy warns, so does its variant


# --- what NumPy has rules of its own for -----------------------------------------------------------------------------
class Answers:
    """Treats NumPy's functions itself."""

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return ufunc.__name__, method, len(inputs)


class Refuses:
    __array_ufunc__ = None

    def __array__(self, dtype=None, copy=None):
        return np.ones((2, 2))


class Converts:
    """An array by __array__ alone."""

    def __array__(self, dtype=None, copy=None):
        return np.arange(4.0).reshape(2, 2)


class Wraps(np.ndarray):
    pass


with warnings.catch_warnings():
    warnings.simplefilter("ignore", PendingDeprecationWarning)
    MATRIX = np.matrix([[1, 2], [3, 4]])
ODD_CALLS = {
    "lists": lambda f: f([[1, 2], [3, 4]], [[1.5], [2]]),
    "a tuple": lambda f: f(((1, 2), (3, 4)), TWO),
    "bytes of a list": lambda f: f([True, False], [True, True]),
    "empty lists": lambda f: f([], []),
    "a ragged list": lambda f: f([[1], [1, 2]], [1]),
    "a Python scalar": lambda f: f(3, TWO),
    "a scalar on the right": lambda f: f(TWO, 2.5),
    "a NumPy scalar": lambda f: f(np.float32(3), TWO),
    "a 0-d array": lambda f: f(TWO, np.array(3)),
    "None": lambda f: f(None, TWO),
    "strings": lambda f: f(["a"], ["b"]),
    "bytes": lambda f: f(np.array([b"a"]), TWO),
    "dates": lambda f: f(np.zeros((2, 2), "M8[s]"), TWO),
    "durations": lambda f: f(np.zeros((2, 2), "m8[s]"), np.ones((2, 2), int)),
    "records": lambda f: f(np.zeros(2, "i4,i4"), np.zeros(2, "i4,i4")),
    "objects": lambda f: f(np.array([[1, 2]], object), np.array([[3], [4]], object)),
    "objects that cannot": lambda f: f(np.array([[{}]], object), np.array([[1]], object)),
    "shapes": lambda f: f(np.ones((2, 3)), np.ones((2, 3))),
    "shapes of stacks": lambda f: f(np.ones((2, 3, 3)), np.ones((3, 3, 3))),
    "vectors": lambda f: f(np.ones(3), np.ones(4)),
    "a matrix": lambda f: f(MATRIX, TWO),
    "a masked array": lambda f: f(np.ma.masked_array(TWO, [[0, 1], [0, 0]]), TWO),
    "a subclass": lambda f: f(TWO.view(Wraps), TWO),
    "a subclass on the right": lambda f: f(TWO, TWO.view(Wraps)),
    "an object that answers": lambda f: f(Answers(), TWO),
    "an object that refuses": lambda f: f(TWO, Refuses()),
    "an object that converts": lambda f: f(Converts(), TWO),
    "out of another kind": lambda f: f(TWO, TWO, out=np.zeros((2, 2), int)),
    "out of another kind and shape": lambda f: f(TWO, np.ones((3, 2)), out=np.zeros((2, 2), int)),
    "out that is a list": lambda f: f(TWO, TWO, out=[[0, 0], [0, 0]]),
    "out that is a scalar": lambda f: f(TWO, TWO, out=np.float64(3)),
    "out read-only": lambda f: f(TWO, TWO, out=np.broadcast_to(1.0, (2, 2))),
    "out read-only and of another kind": lambda f: f(TWO, TWO, out=np.broadcast_to(1, (2, 2))),
    "out too small": lambda f: f(np.ones((2, 2, 2)), TWO, out=np.zeros((2, 2))),
    "out with one row for two": lambda f: f(np.ones((2, 2, 2)), TWO, out=np.zeros((1, 2, 2))),
    "out with more axes": lambda f: f(TWO, TWO, out=np.zeros((3, 2, 2))),
    "out of a sum with more axes": lambda f: f(TWO[0], TWO[1], out=np.zeros(3)),
    "out of a sum": lambda f: f(TWO[0], TWO[1], out=np.zeros(())),
    "out with dots": lambda f: f(TWO[0], TWO[1], out=...),
    "out with dots, a matrix": lambda f: f(TWO, TWO, out=...),
    "out without an axis of one": lambda f: f(np.ones((1, 3)), np.ones((3, 2)), out=np.zeros(2)),
    "out without the axes of a matrix": lambda f: f(np.arange(3.0), np.ones((1, 3)), out=np.zeros(())),
    "out without a stack of one": lambda f: f(np.ones((1, 3, 2, 2)), TWO, out=np.zeros((3, 2, 2))),
    "out in a tuple": lambda f: f(TWO, TWO, out=(np.zeros((2, 2)),)),
    "None in a tuple": lambda f: f(TWO, TWO, out=(None,)),
    "no out in a tuple": lambda f: f(TWO, TWO, out=()),
    "two outs": lambda f: f(TWO, TWO, out=(TWO, TWO)),
    "an out that is a subclass": lambda f: f(TWO, TWO, out=np.zeros((2, 2)).view(Wraps)),
    "out that answers": lambda f: f(TWO, TWO, out=Answers()),
    "out positional": lambda f: f(TWO, TWO, np.zeros((2, 2))),
    "a product that no memory holds": lambda f: f(np.broadcast_to(1.0, (2**40, 1)), np.broadcast_to(1.0, (1, 2**40))),
    "a product past 2**63": lambda f: f(np.broadcast_to(1.0, (2**31, 1)), np.broadcast_to(1.0, (1, 2**31))),
    "a stack past 2**63": lambda f: f(np.broadcast_to(1.0, (2**60, 1, 1)), np.broadcast_to(1.0, (2**60, 8, 8))),
    "no operand": lambda f: f(TWO),
    "operands by name": lambda f: f(x1=TWO, x2=TWO),
}


@pytest.mark.parametrize("kernels", [False, True], ids=["by NumPy", "by kernels"])
@pytest.mark.parametrize("case", ODD_CALLS)
def test_auto_does_what_numpy_does(backend, case, kernels):
    expected, error = attempt(lambda: ODD_CALLS[case](np.matmul))
    with as_on_a_gpu() if kernels else contextlib.nullcontext():
        result, mine = attempt(lambda: ODD_CALLS[case](cudakern.matmul))
    assert mine is error
    assert type(result) is type(expected)
    if isinstance(expected, (np.ndarray, np.generic)):
        assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
        assert np.array_equal(result, expected)
        assert np.array_equal(np.ma.getmaskarray(result), np.ma.getmaskarray(expected))
    else:
        assert result == expected


@pytest.mark.parametrize("kernels", [False, True], ids=["by NumPy", "by kernels"])
def test_auto_takes_files_in_memory(backend, kernels, tmp_path):
    x = np.memmap(tmp_path / "numbers", "float32", "w+", shape=(5, 4))
    x[...] = numbers((5, 4), "float32")
    with as_on_a_gpu() if kernels else contextlib.nullcontext():
        result = cudakern.matmul(x, x.T)
    assert type(result) is type(np.matmul(x, x.T))
    hold(result, np.array(x), np.array(x.T), "float32")


def test_auto_takes_kernels_where_there_are_some(backend, monkeypatch):
    """On a GPU every type of NumPy that a kernel has goes to one: also two that differ, lists, vectors and stacks."""
    monkeypatch.setattr(np, "matmul", Refusing(np.matmul))
    with as_on_a_gpu():
        for first in NUMPY_TYPES:
            for second in NUMPY_TYPES[:: 1 if first == "float32" else 5]:
                assert cudakern.matmul(np.ones((2, 3), first), np.ones((3, 2), second)).shape == (2, 2)
        assert cudakern.matmul([1, 2], [3.5, 4]) == 11.5
        assert cudakern.matmul(np.ones((4, 1, 2, 3), ">f8"), np.ones((5, 3, 2))).shape == (4, 5, 2, 2)
        with pytest.raises(AssertionError, match="asked"):
            cudakern.matmul(np.ones((2, 2), "longdouble"), TWO)


def test_small_products_of_host_arrays_are_numpys(monkeypatch):
    """The copies to a GPU and back would take longer. What is small depends on shapes, type and processors."""
    monkeypatch.setattr(on_host, "answers_at_once", lambda here: True)
    for processors in (1, 16):
        monkeypatch.setattr(matmul, "PROCESSORS", processors)
        for dtype, largest in (("float32", 1000), ("float64", 1000), ("int32", 64), ("float16", 64)):
            small = [n for n in range(4, 1200, 4) if matmul.small(np.dtype(dtype), (n, n), (n, n))]
            assert small == list(range(4, small[-1] + 4, 4)), "one size divides them"
            assert 8 <= small[-1] <= largest
            if processors > 1:
                continue
            for n in (small[0], small[-1], small[-1] + 4):
                x = (np.arange(n * n).reshape(n, n) % 3).astype(dtype)
                run = cudakern.profile(cudakern.matmul, x, x, repeat=1, warmup=0) if n < 100 else None
                assert run is None or (run.variant.name == "numpy") == (n in small)
                assert np.array_equal(cudakern.matmul(x, x), x @ x)
    assert matmul.small(np.dtype("float32"), (4096,), (4096, 4096)), "each element is used once"
    assert not matmul.small(np.dtype("float32"), (4096, 4096), (4096, 4096))
    monkeypatch.setattr(np, "matmul", Refusing(np.matmul))
    with pytest.raises(AssertionError, match="asked"):
        cudakern.matmul(TWO, TWO)
    assert cudakern.matmul(TWO, TWO, accuracy="strict").shape == TWO.shape


def test_auto_of_host_arrays_is_numpys_without_a_gpu(monkeypatch):
    """Nobody who wants a result should wait for the emulator, whatever use_backend says."""
    monkeypatch.setattr(execute, "execute", None)
    native("emulator").memo.clear()  # for calls of known kinds go to C without it
    with cudakern.use_backend("emulator"):
        for dtype in NUMPY_TYPES:
            assert np.array_equal(
                cudakern.matmul(TWO.astype(dtype), TWO.astype(dtype)), np.matmul(*[TWO.astype(dtype)] * 2)
            )
        assert cudakern.sum_of_squares(TWO) == 14
        assert cudakern.profile(cudakern.matmul, TWO, TWO, repeat=1).variant.name == "numpy"
        with pytest.raises(TypeError, match="NoneType"):
            cudakern.matmul(TWO, TWO, variant="tiled")


class Refusing:
    """Stands for numpy.matmul, and computes nothing."""

    def __init__(self, real):
        self.resolve_dtypes = real.resolve_dtypes

    def __call__(self, *arguments, **keywords):
        raise AssertionError("NumPy was asked")


@pytest.mark.parametrize("keyword", ["axes", "axis", "casting", "order", "dtype", "subok", "signature", "sig", "where"])
def test_keywords_of_numpy_that_are_not_taken(backend, keyword):
    d = cudakern.asarray(TWO)
    for a, variant in ((TWO, "auto"), (TWO, "tiled"), (d, "auto"), (d, "tiled")):
        with pytest.raises(TypeError, match=f"(unknown keyword|has no parameter) '{keyword}'.*tile"):
            cudakern.matmul(a, a, variant=variant, **{keyword: None})


def test_keywords_that_nothing_has(backend):
    for x in (TWO, cudakern.asarray(TWO)):
        with pytest.raises(
            TypeError, match=r"unknown keyword 'foo' of matmul: known: .*out, variant, accuracy, stream, tile"
        ):
            cudakern.matmul(x, x, foo=1)
        with pytest.raises(TypeError, match=r"'auto' has no parameters, but 'tile' was passed; .* have it: 'tiled'"):
            cudakern.matmul(x, x, tile=16)
        with pytest.raises(TypeError, match=r"'foo' of sum_of_squares: known: x, variant, stream, .*threads"):
            cudakern.sum_of_squares(x, foo=1)
        with pytest.raises(TypeError, match="unknown keyword 'varient' of sum_of_squares: the nearest is 'variant'"):
            cudakern.sum_of_squares(x, varient="atomic")
        for keyword in ("axis", "dtype", "out", "keepdims", "where", "initial"):
            for variant in ("auto", "coalesced"):
                with pytest.raises(TypeError, match=f"(unknown keyword|has no parameter) '{keyword}'.*threads"):
                    cudakern.sum_of_squares(x, variant, **{keyword: None})


@pytest.mark.parametrize("variant", ["auto", "naive", "numpy"])
def test_dots_in_a_tuple(backend, variant):
    with pytest.raises(TypeError):
        np.matmul(TWO, TWO, out=(...,))
    for x in (TWO, cudakern.asarray(TWO)):
        with pytest.raises(TypeError, match=r"pass out=\.\.\., not a tuple"):
            cudakern.matmul(x, x, out=(...,), variant=variant)


def test_types_without_a_kernel_are_told_as_one_writes_them(backend):
    for x, words in (
        (np.array([[None]]), "float32 or float64, but a is object; "),
        (np.array([["a"]]), "float32 or float64, but a is str; "),
        (np.array([[b"ab"]]), "float32 or float64, but a is bytes; "),
        (np.zeros((1, 1), "i4,f4"), "float32 or float64, but a is void; "),
        (np.array([[1]], "int8"), "not int8; variant='auto' takes it$"),
    ):
        with pytest.raises(TypeError, match=words):
            cudakern.matmul(x, x, variant="tiled_padded")
    for dtype in ("float16", "longdouble"):
        with pytest.raises(TypeError, match=f"not {np.dtype(dtype).name}; variant='auto' takes it$"):
            cudakern.sum_of_squares(np.ones(3, dtype), "single_thread")
        assert cudakern.sum_of_squares(np.ones(3, dtype)) == 3
    with pytest.raises(TypeError, match="takes real numbers, but x is str; "):
        cudakern.sum_of_squares(["a"])


def test_conversions_on_the_device_do_not_warn_of_values(backend):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cudakern.asarray([1e30]).astype("float16").get() == np.inf
        x = cudakern.zeros(1, "float16")
        x[...] = cudakern.asarray([1e30])
        assert x.get() == np.inf


if HAS_BFLOAT16:

    def test_bfloat16_of_host_arrays(backend):
        """auto: what NumPy makes of it; a named kernel: bfloat16, by way of float32."""
        a, b = (numbers(shape, "bfloat16", seed) for seed, shape in enumerate([(5, 9), (9, 4)]))
        wide = a.astype("float32") @ b.astype("float32")
        for kernels in (False, True):
            with as_on_a_gpu() if kernels else contextlib.nullcontext():
                result = cudakern.matmul(a, b)
                assert result.dtype == np.matmul(a, b).dtype
                assert np.allclose(result, wide, rtol=1e-5, atol=1e-6)
                assert cudakern.sum_of_squares(a).dtype == np.float32
        result = cudakern.matmul(a, b.T.copy().T, variant="tiled")
        assert result.dtype == a.dtype
        assert np.allclose(result.astype("float32"), wide, rtol=2**-8, atol=2**-8)


def test_bfloat16_of_device_arrays(backend):
    """Two of them give a third; with another type it counts as float32. NumPy needs no bfloat16 for that."""
    values = np.array([[1.0, -2.5], [3.0, 0.25]], "float32")  # bfloat16 has them exactly
    x = cudakern.asarray(values).astype("bfloat16")
    assert (x @ x)._view.dtype == (x[None] @ x)._view.dtype == "bfloat16"
    assert np.array_equal((x @ x).astype("float32").get(), values @ values)
    for other, result in (("float32", "float32"), ("float16", "float32"), ("int8", "float32"), ("int32", "float64")):
        y = cudakern.asarray(np.array([[1, 2], [3, 4]], other))
        assert (x @ y)._view.dtype == result
        assert np.array_equal((x @ y).get(), values @ np.array([[1, 2], [3, 4]]))
    into = cudakern.empty((2, 2), "bfloat16")
    cudakern.matmul(cudakern.asarray(values), x, out=into)
    assert np.array_equal(into.astype("float64").get(), values @ values)
    total = cudakern.sum_of_squares(x)
    assert (total._view.dtype, float(total)) == ("float32", float(np.sum(values**2)))


# --- named variants ------------------------------------------------------------------------------------------------
def test_named_variants_take_one_type(backend):
    for a, b in ((TWO, TWO.astype("f4")), (TWO.astype("f4"), TWO), (TWO, TWO.astype(int))):
        for x, y in ((a, b), (cudakern.asarray(a), cudakern.asarray(b))):
            with pytest.raises(TypeError, match=f"one type, but a is {a.dtype} and b is {b.dtype}"):
                cudakern.matmul(x, y, variant="tiled")
    for dtype in ("int32", "complex64"):
        x = np.ones((2, 2), dtype)
        for y in (x, cudakern.asarray(x)):
            with pytest.raises(TypeError, match=f"'kahan' takes float32 or float64, not {dtype}"):
                cudakern.matmul(y, y, variant="kahan")
    with pytest.raises(TypeError, match="masked"):
        cudakern.matmul(np.ma.masked_array(TWO), TWO, variant="tiled")
    with pytest.raises(TypeError, match="masked"):
        cudakern.matmul(TWO, TWO, out=np.ma.masked_array(TWO.copy()), variant="tiled")


def test_complex_numbers_have_no_sum_of_squares(backend):
    x = cudakern.asarray(np.ones(3, "complex64"))
    for variant in ("auto", "coalesced"):
        for either in (x, x.get()):
            with pytest.raises(TypeError, match="real numbers, not complex64"):
                cudakern.sum_of_squares(either, variant=variant)


# --- sizes ---------------------------------------------------------------------------------------------------------
MOST_AXES = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32


@pytest.mark.parametrize("variant", ["auto", "naive"])
def test_more_axes_than_the_device_has(backend, variant):
    """Up to NumPy's own limit: axes of one element go, neighbours that lie as one become one, the rest is copied."""
    draw = numbers((2, 3, 4), "float32")
    lots = draw.reshape((1,) * (MOST_AXES - 3) + draw.shape)
    for a, b in (
        (lots, draw[0].T),
        (lots.transpose(*range(5, MOST_AXES - 2), *range(5), -2, -1), lots.swapaxes(-1, -2)),
        (np.ones((2,) * 15 + (1, 1), "i4"), np.ones((1, 1), "i4")),
        (np.ones((2, 1) * 9 + (2, 1), "f4")[..., ::2, :, :], np.ones((1, 1), "f4")),
        (np.ones((0,) + (2,) * 20, "f4"), np.ones((2, 2), "f4")),
    ):
        with as_on_a_gpu():
            result = cudakern.matmul(a, b, variant=variant)
        assert np.array_equal(result.shape, np.matmul(a, b).shape)
        assert np.allclose(result, a @ b, rtol=1e-5, atol=1e-6)
    out = np.zeros(lots.shape[:-1] + (3,), "float64")
    assert cudakern.matmul(lots, draw[0].T, out=out, variant=variant) is out
    assert np.allclose(out, lots @ draw[0].T, rtol=1e-5, atol=1e-6)


def test_axes_that_alternate(backend):
    """Fifteen axes of two, broadcast in turns: no two of them can be told as one."""
    a = numbers(2**8, "int32").reshape((2, 1) * 7 + (2, 1, 1))
    b = numbers(2**7, "int32").reshape((1, 2) * 7 + (1, 1, 1))
    assert np.array_equal(cudakern.matmul(a, b, variant="naive"), a @ b)


HUGE = (
    lambda one: (one((2**40, 1)), one((1, 2**40))),  # 2**80 elements
    lambda one: (one((2**31, 1)), one((1, 2**31))),  # 2**62 elements, more bytes than 64 bits count
    lambda one: (one((2**62, 1, 1)), one((1, 1))),
    lambda one: (one((2**62, 1, 1)), one((2, 1, 1, 1))),
)


@pytest.mark.parametrize("variant", ["auto", "naive", "tiled_padded"])
@pytest.mark.parametrize("case", range(len(HUGE)))
def test_products_that_no_memory_holds(backend, case, variant):
    """An error that says so, of NumPy's class, and the next call is right."""

    def host(shape):
        return as_strided(np.ones(1, "f8"), shape, (0,) * len(shape))

    module = native(backend)
    single = module.empty((1,), "float64", 0, 0)

    def device(shape):
        return DeviceArray(module.view(single, 0, shape, (0,) * len(shape), "float64"), module)

    assert attempt(lambda: np.matmul(*HUGE[case](host)))[1] in (ValueError, MemoryError)
    for place in (host, device):
        with as_on_a_gpu(), pytest.raises((ValueError, MemoryError, cudakern.CudaError)) as caught:
            cudakern.matmul(*HUGE[case](place), variant=variant)
        assert str(caught.value)
    assert np.array_equal(cudakern.matmul(TWO, TWO, variant=variant), TWO @ TWO)


def test_empty_products_of_huge_shapes(backend):
    """No element, and nothing is computed, however long the axes are."""
    wide = as_strided(np.ones(1, "f4"), (0, 2**40), (0, 0))
    tall = as_strided(np.ones(1, "f4"), (2**40, 0), (0, 0))
    for variant in ("auto", "naive", "tiled", "pitched"):
        assert cudakern.matmul(wide, tall, variant=variant).shape == (0, 0)


def test_a_long_row_of_one_element(backend):
    """K past 16 bits, with strides of 0: nothing is written out on the host."""
    k = 70_001
    a, b = (as_strided(np.full(1, 3, "int16"), shape, (0, 0)) for shape in ((2, k), (k, 3)))
    for variant in ("naive", "tiled"):
        assert np.array_equal(cudakern.matmul(a, b, variant=variant), np.full((2, 3), np.array(9 * k).astype("int16")))


def test_sums_that_no_memory_holds(backend):
    module = native(backend)
    single = module.empty((1,), "float64", 0, 0)
    x = DeviceArray(module.view(single, 0, (2**40,), (0,), "float64"), module)
    with pytest.raises((ValueError, MemoryError, cudakern.CudaError)):
        cudakern.sum_of_squares(x)
    assert cudakern.sum_of_squares(TWO, variant="coalesced") == 14


def test_what_is_no_array_of_numbers():
    """TypeErrors say what was given and what is allowed, also where NumPy's own would name its loops."""
    a, ragged = np.ones((2, 2), np.float32), [[1, 2], [3]]
    for function, arguments, words in (
        (cudakern.matmul, (a, "x"), "matmul takes numbers, but b is str; convert it"),
        (cudakern.matmul, ([["a", "b"]], a), "matmul takes numbers, but a is str"),
        (cudakern.matmul, (a, a, [a]), "matmul: out must be an array, not list"),
        (cudakern.sum_of_squares, (iter([1]),), "sum_of_squares: x must be an array, not list_iterator"),
        (cudakern.sort, ("x",), "sort: a must be an array, not str"),
        (cudakern.sort, (a, "x"), "sort: axis must be an integer or None, not 'x': write variant='x'"),
        (cudakern.packbits, ([1], 1.5), "packbits: axis must be an integer or None, not 1.5"),
    ):
        with pytest.raises(TypeError, match=re.escape(words)):
            function(*arguments)
    for call in (
        lambda: cudakern.matmul(a, ragged),
        lambda: cudakern.sum_of_squares(ragged),
        lambda: cudakern.sort(ragged),
    ):
        with pytest.raises(ValueError, match="[abx] must be an array, but its rows differ in length"):
            call()
