"""Arrays on the device against NumPy's: shapes, views, values in and out, conversions, and every error."""

import copy
import gc
import importlib.util
import operator
import pickle
import pydoc
import re
import warnings
import weakref

import hypothesis
import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest

import cudakern as ck
from cases import BACKENDS, LAYOUTS, native
from cudakern import _dtypes, _layout

HAS_BFLOAT16 = importlib.util.find_spec("ml_dtypes") is not None
DTYPES = [name for name in _dtypes.NAMES if name != "bfloat16" or HAS_BFLOAT16]
NUMPY_DTYPES = [name for name in DTYPES if name != "bfloat16"]


def kind(name):
    return _dtypes.from_name(name)


def values(shape, dtype="float64", seed=0):
    """Small whole numbers, which every type has; some negative where the type has those."""
    low = 0 if np.dtype("uint8" if dtype == "bfloat16" else dtype).kind in "bu" else -50
    return np.random.default_rng(seed).integers(low, 100, shape).astype(kind(dtype))


def same(x, expected):
    """The device array has that shape, type and those values, bit for bit."""
    got = x.get()
    assert isinstance(got, np.ndarray)
    assert x.shape == got.shape == expected.shape
    assert x.dtype == got.dtype == expected.dtype.newbyteorder("=")
    assert got.flags.c_contiguous
    assert got.flags.writeable
    assert got.tobytes() == np.asarray(expected, expected.dtype.newbyteorder("=")).tobytes()


# --- in and out ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_host_arrays_come_back_as_they_went(backend, dtype, layout):
    for shape in ((5,), (6, 7), (3, 4, 5)):
        a = LAYOUTS[layout](values(shape, dtype))
        same(ck.asarray(a), a)
        x = ck.zeros(a.shape, dtype)
        x[...] = a
        same(x, a)
        x.fill(0)
        x[1:] = a[:1]
        same(x[1:], np.broadcast_to(a[:1], x[1:].shape))


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 0, 2), (1,) * 16, (2,) * 16])
def test_shapes_at_the_edges(backend, shape):
    a = values(shape, "int32")
    same(ck.asarray(a), a)
    same(ck.asarray(a).copy(), a)
    same(ck.zeros(shape, "int32"), np.zeros(shape, "int32"))
    assert ck.empty(shape).get().shape == shape


@pytest.mark.parametrize("x", [5, 2.5, 1 + 2j, True, [1, 2], [[1.5], [2]], (), np.float32(3), range(4), np.array(7)])
def test_array_likes(backend, x):
    same(ck.asarray(x), np.asarray(x))
    same(ck.asarray(x, "complex128"), np.asarray(x, "complex128"))
    with pytest.raises(ValueError, match=r"copy=False, but \w+ is in host memory"):
        ck.asarray(x, copy=False)


def test_what_it_is(backend):
    a = values((4, 5, 6), "int16")[:, ::2]
    x = ck.asarray(values((4, 5, 6), "int16"))[:, ::2]
    for name in ("shape", "dtype", "ndim", "size", "itemsize", "nbytes", "strides"):
        assert getattr(x, name) == getattr(a, name), name
        with pytest.raises(AttributeError):
            setattr(x, name, getattr(x, name))
    assert isinstance(x.dtype, np.dtype)
    assert x.backend == backend
    assert x.device == ck.Device(backend, 0)
    assert x.read_only is False
    assert len(x) == 4
    assert not hasattr(x, "__dict__")
    assert weakref.ref(x)() is x


def test_defaults_are_numpys(backend):
    assert ck.zeros(3).dtype == ck.empty(3).dtype == np.float64
    assert ck.empty(3, None).dtype == np.float64
    assert ck.empty_pinned(3).dtype == np.float64
    assert ck.asarray([1]).dtype == np.asarray([1]).dtype
    assert ck.zeros([2, 3]).shape == (2, 3)
    assert ck.zeros(np.int64(2)).shape == (2,)


def test_asarray_of_a_device_array(backend):
    x = ck.asarray(values((3, 4), "int32"))
    assert ck.asarray(x) is x
    assert ck.asarray(x, "int32", copy=False) is x
    y = ck.asarray(x, copy=True)
    y.fill(0)
    same(x, values((3, 4), "int32"))
    same(ck.asarray(x, "float32"), values((3, 4), "float32"))
    with pytest.raises(ValueError, match="copy=False, but a copy is necessary from int32 .* to float32"):
        ck.asarray(x, "float32", copy=False)


def test_arrays_of_two_backends():
    """The other backend is played by a module of another name."""

    class Other:
        def __getattr__(self, name):
            return getattr(native("emulator"), name)

        def backend_name(self):
            return "other"

    with ck.use_backend("emulator"):
        x, y = ck.zeros(3), ck.DeviceArray(ck.zeros(3)._view, Other())
        assert y.backend == "other"
        with pytest.raises(
            ValueError, match=r"on other:0, but the array is on emulator:0, another backend: take value.get"
        ):
            x[...] = y
        with pytest.raises(
            ValueError, match=r"on other:0, but the current backend is 'emulator': .*asarray\(x.get\(\)\)"
        ):
            ck.asarray(y)
        with pytest.raises(ValueError, match="other"):
            x @ y


# --- types -----------------------------------------------------------------------------------------------------------
def test_every_type_is_the_c_sides(backend):
    for name in _dtypes.NAMES:
        view = native(backend).empty((2,), name, 0, 0)
        assert (view.dtype, view.nbytes) == (name, 2 * _dtypes.itemsize(name))


@pytest.mark.parametrize("bad", [object, "U3", "S2", "M8[s]", "m8[s]", [("a", "i4")], "V4", "longdouble"])
def test_types_that_the_device_does_not_support(backend, bad):
    for call in (lambda: ck.zeros(3, bad), lambda: ck.empty_pinned(3, bad), lambda: ck.asarray([1], bad)):
        with pytest.raises(TypeError, match=r"device arrays have one of the types bool, int8, .*, complex128, not"):
            call()
    with pytest.raises(TypeError, match="device arrays have one of the types bool"):
        ck.asarray(np.zeros(3, bad))
    with pytest.raises(TypeError, match="device arrays have one of the types bool"):
        ck.zeros(3).astype(bad)


@pytest.mark.parametrize("x", ["words", [2**70], [None], ["a", "b"], {1: 2}, object()])
def test_values_that_the_device_has_no_type_for(backend, x):
    with pytest.raises(TypeError, match="device arrays have one of the types bool"):
        ck.asarray(x)


def test_masked_arrays_are_refused(backend):
    masked = np.ma.array([1.0, 2], mask=[0, 1])
    x = ck.zeros(2)
    for call in (
        lambda: ck.asarray(masked),
        lambda: ck.from_dlpack(masked),
        lambda: x.set(masked),
        lambda: x.get(out=masked),
        lambda: x.__setitem__(0, np.ma.masked),
    ):
        with pytest.raises(TypeError, match=r"masked array, and its mask would be lost: take \w+\.filled\(0\)"):
            call()


def test_bfloat16_without_ml_dtypes(backend, monkeypatch):
    """What needs NumPy's type says what to install; the rest works."""
    with ck.use_backend(backend):
        x = ck.asarray([1.5, 2]).astype("bfloat16")
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    _dtypes.from_name.cache_clear()
    assert (x.itemsize, x.nbytes) == (2, 4)
    assert x.astype("float32").get().tolist() == [1.5, 2]
    assert "[1.5, 2. ], dtype=bfloat16" in repr(x)
    for call in (lambda: x.dtype, lambda: x.get(), lambda: ck.asarray([1.0], "bfloat16")):
        with pytest.raises(ImportError, match="NumPy has bfloat16 only with the package ml_dtypes"):
            call()
    monkeypatch.undo()
    _dtypes.from_name.cache_clear()


@pytest.mark.parametrize("target", DTYPES)
@pytest.mark.parametrize("source", DTYPES)
def test_astype_is_numpys(backend, source, target):
    a = values((7, 9), source)
    x = ck.asarray(a)
    with warnings.catch_warnings(record=True) as expected_warnings:
        warnings.simplefilter("always")
        expected = a.astype(kind(target))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        y = x.astype(target)
    same(y, expected)
    # ml_dtypes drops imaginary parts without a word; here bfloat16 is a real type like the others.
    dropped = source.startswith("complex") and target == "bfloat16"
    wanted = [w.category for w in expected_warnings] + [np.exceptions.ComplexWarning] * dropped
    assert [w.category for w in found] == wanted
    assert all(w.filename == __file__ for w in found)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        same(x[::-1, 1::3].T.astype(kind(target)), expected[::-1, 1::3].T)


def test_astype_without_a_copy(backend):
    x = ck.zeros(3, "int8")
    assert x.astype("int8", copy=False) is x
    assert x.astype("int8") is not x
    assert x.astype(">i2").dtype == np.int16


# --- views -----------------------------------------------------------------------------------------------------------
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6)
INDICES = {"allow_newaxis": True, "allow_ellipsis": True, "max_dims": 8}


def pair(data, dtype="int32"):
    """The same array on both sides, sliced and transposed in the same ways."""
    a = values(data.draw(SHAPES, "shape"), dtype)
    x = ck.asarray(a)
    if data.draw(st.booleans(), "sliced"):
        key = data.draw(hnp.basic_indices(a.shape, **INDICES), "slice")
        if isinstance(a[key], np.ndarray):
            a, x = a[key], x[key]
    if data.draw(st.booleans(), "transposed"):
        axes = data.draw(st.permutations(range(a.ndim)), "axes")
        a, x = a.transpose(axes), x.transpose(axes)
    return a, x


def same_view(x, a):
    """Also of the same memory: the strides of all axes that have any."""
    same(x, a)
    if a.size:
        assert [s for s, n in zip(x.strides, a.shape, strict=True) if n > 1] == [
            s for s, n in zip(a.strides, a.shape, strict=True) if n > 1
        ]


@pytest.mark.parametrize("name", BACKENDS)
@hypothesis.given(data=st.data())
def test_basic_indexing(name, data):
    with ck.use_backend(name):
        a, x = pair(data)
        key = data.draw(hnp.basic_indices(a.shape, **INDICES), "key")
        same_view(x[key], np.asarray(a[key]))


@pytest.mark.parametrize("name", BACKENDS)
@hypothesis.given(data=st.data())
def test_transpose(name, data):
    with ck.use_backend(name):
        a, x = pair(data)
        axes = data.draw(st.permutations(range(a.ndim)), "axes")
        axes = [n - a.ndim if data.draw(st.booleans()) else n for n in axes]
        same_view(x.transpose(*axes), a.transpose(*axes))
        same_view(x.transpose(tuple(axes)), a.transpose(tuple(axes)))
        same_view(x.transpose(), a.transpose())
        same_view(x.transpose(None), a.transpose(None))
        same_view(x.T, a.T)
        same_view(x.squeeze(), a.squeeze())
        same(x.flatten(), a.flatten())
        if a.ndim:
            pair_of_axes = data.draw(st.tuples(*2 * [st.integers(-a.ndim, a.ndim - 1)]), "swapped")
            same_view(x.swapaxes(*pair_of_axes), a.swapaxes(*pair_of_axes))


def test_squeeze_and_mT(backend):
    a = values((1, 3, 1, 4))
    x = ck.asarray(a)
    same_view(x.squeeze((0, -2)), a.squeeze((0, -2)))
    same_view(x.squeeze(axis=2), a.squeeze(axis=2))
    same_view(x.mT, a.swapaxes(-1, -2))
    assert not np.shares_memory(a.flatten(), a)
    copy = x.flatten()
    copy.fill(0)
    same(x, a)
    for call, error in (
        (lambda x: x.squeeze(1), ValueError),
        (lambda x: x.squeeze(4), np.exceptions.AxisError),
        (lambda x: x.swapaxes(0, 4), np.exceptions.AxisError),
    ):
        for array in (a, x):
            with pytest.raises(error):
                call(array)
    with pytest.raises(ValueError, match=r"mT needs at least two axes, but this array has shape \(3,\)"):
        x[0, :, 0, 0].mT  # noqa: B018


@pytest.mark.parametrize("name", BACKENDS)
@hypothesis.given(data=st.data())
def test_reshape(name, data):
    with ck.use_backend(name):
        a, x = pair(data)
        shape = data.draw(factors(a.size), "new shape")
        if data.draw(st.booleans(), "-1") and shape and (a.size or 0 not in shape):
            shape[data.draw(st.integers(0, len(shape) - 1))] = -1
        try:
            expected = a.reshape(shape)
        except ValueError:  # 0 elements in (0, -1), and the like
            with pytest.raises(ValueError, match="cannot reshape array of size"):
                x.reshape(shape)
            return
        if a.size and not np.shares_memory(a, expected):
            with pytest.raises(ValueError, match=r"no view of this array .*: use \.copy\(\)\.reshape\("):
                x.reshape(shape)
            x = x.copy()
        same(x.reshape(shape), expected)
        same(x.reshape(*shape) if shape else x.reshape(()), expected)


@st.composite
def factors(draw, size):
    """A shape of that many elements, with some axes of one."""
    shape = []
    if size == 0:
        shape = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
        shape[draw(st.integers(0, len(shape) - 1))] = 0
        return shape
    while size > 1:
        factor = draw(st.sampled_from([n for n in range(2, size + 1) if size % n == 0]))
        shape.append(factor)
        size //= factor
    for _ in range(draw(st.integers(0, 2))):
        shape.insert(draw(st.integers(0, len(shape))), 1)
    return shape


def test_ravel(backend):
    a = values((3, 4, 5))
    x = ck.asarray(a)
    same(x.ravel(), a.ravel())
    same(x[1].ravel(), a[1].ravel())
    same(x[:, 0, 0].ravel(), a[:, 0, 0].ravel())
    same(ck.zeros(()).ravel(), np.zeros(1))
    with pytest.raises(ValueError, match=r"have shape \(60,\): use .copy\(\).reshape\(\(60,\)\)"):
        x.T.ravel()
    same(x.T.copy().ravel(), a.T.ravel())


def test_views_share_memory_and_keep_it(backend):
    x = ck.zeros((4, 6), "int32")
    view = x[1::2, ::-1].T.reshape(6, 2, 1)[2:, 1]
    view.fill(5)
    expected = np.zeros((4, 6), "int32")
    expected[1::2, ::-1].T.reshape(6, 2, 1)[2:, 1] = 5
    same(x, expected)
    kept, used = view.get(), native(backend).pool_used(0)
    del x
    gc.collect()
    assert native(backend).pool_used(0) == used
    assert (view.get() == kept).all()
    del view
    gc.collect()
    ck.synchronize()
    assert native(backend).pool_used(0) < used


def test_steps_larger_than_memory(backend):
    a, x = values((5,)), ck.asarray(values((5,)))
    for step in (2**40, 2**62, -(2**62), 2**70):
        same(x[::step], a[::step])


# --- assignment ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", BACKENDS)
@hypothesis.given(data=st.data())
def test_assignment(name, data):
    """Scalars, host arrays and device arrays of any type and any shape that broadcasts, to any basic index."""
    with ck.use_backend(name):
        dtype = data.draw(st.sampled_from(["int32", "float32", "complex64", "bool", "float16"]), "dtype")
        other = data.draw(st.sampled_from(["int32", "float64", "uint8", "bool"]), "value's dtype")
        a = values(data.draw(SHAPES, "shape"), dtype)
        x = ck.asarray(a)
        key = data.draw(hnp.basic_indices(a.shape, **INDICES), "key")
        target = a[key].shape
        shape = [1 if data.draw(st.booleans(), "broadcast") else n for n in target]
        shape = shape[data.draw(st.integers(0, len(shape)), "left out") :]
        value = values(shape, other, seed=1)
        how = data.draw(st.sampled_from(["host", "device", "list", "strided"]), "how")
        given = {
            "host": lambda: value,
            "device": lambda: ck.asarray(value),
            "list": lambda: value.tolist() if value.size else value,  # a list has no shape without elements
            "strided": lambda: ck.asarray(np.repeat(value[None], 2, 0).T).T[1],
        }[how]()
        a[key] = value
        x[key] = given
        same(x, a)


@pytest.mark.parametrize("name", BACKENDS)
@hypothesis.given(data=st.data())
def test_assignment_from_itself(name, data):
    """As if the value had been copied before, however the two overlap."""
    with ck.use_backend(name):
        n = data.draw(st.integers(1, 12), "n")
        a = values((n, n), "int32")
        x = ck.asarray(a)
        count = data.draw(st.integers(1, n), "count")
        first, second = (
            tuple(
                slice(start, start + count)
                for start in (data.draw(st.integers(0, n - count)), data.draw(st.integers(0, n - count)))
            )
            for _ in "ab"
        )
        turned = data.draw(st.sampled_from(["", "T", "reversed"]), "turned")

        def turn(y):
            return {"": y, "T": y.T, "reversed": y[::-1, ::-1]}[turned]

        x[first] = turn(x[second])
        a[first] = turn(a[second]).copy()
        same(x, a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_set_and_fill(backend, dtype):
    a = values((6, 5), dtype)
    x = ck.empty((6, 5), dtype)
    x.set(a)
    same(x, a)
    x.set(a[0])
    same(x, np.broadcast_to(a[0], a.shape))
    x[::2, ::-2].fill(1)
    expected = np.broadcast_to(a[0], a.shape).copy()
    expected[::2, ::-2] = 1
    same(x, expected)
    x.fill(np.float32(3))
    same(x, np.full((6, 5), 3).astype(kind(dtype)))


def test_one_value_in_any_clothes(backend):
    for value in (7, 7.0, np.int8(7), [7], np.array([[[7]]]), ck.asarray(7), ck.asarray([[7]]), True + 6):
        x, a = ck.zeros((2, 3), "int16"), np.zeros((2, 3), "int16")
        x[1:] = value
        a[1:] = 7
        same(x, a)
        x = ck.zeros((), "int16")
        x[...] = value
        assert int(x) == 7


def test_complex_to_real_warns_as_numpy_does(backend):
    x = ck.zeros(2)
    for value in (np.array([1 + 2j, 3]), ck.asarray([1 + 2j, 3])):
        with pytest.warns(np.exceptions.ComplexWarning, match="discards the imaginary part") as caught:
            x[...] = value
        assert len(caught) == 1
        assert x.get().tolist() == [1, 3]


@pytest.mark.parametrize("width", [12, 100])
def test_overlapping_rows_are_read(backend, width):
    """Short and long rows; arrays of other libraries can have such strides."""
    values = np.random.default_rng(0).standard_normal(500)
    x = ck.asarray(values)
    windows = ck.DeviceArray(native(backend).view(x._view, 0, (16, width), (24, 8), "float64"), native(backend))
    same(windows, np.lib.stride_tricks.as_strided(values, (16, width), (24, 8)))


def test_repeated_elements_are_not_written(backend):
    view = ck.zeros(3)._view
    repeated = ck.DeviceArray(native(backend).view(view, 0, (4, 3), (0, 8), "float64"), native(backend))
    for write in (lambda: repeated.fill(1), lambda: repeated.set(np.ones((4, 3))), lambda: repeated.set(ck.zeros(3))):
        with pytest.raises(ValueError, match=r"elements of the destination share memory .*: call .copy\(\)"):
            write()
    same(repeated.copy(), np.zeros((4, 3)))


# --- to the host -----------------------------------------------------------------------------------------------------
OUTS = {
    "plain": lambda: np.empty((4, 6), "int32"),
    "fortran": lambda: np.empty((4, 6), "int32", order="F"),
    "strided": lambda: np.empty((8, 12), "int32")[::2, ::-2],
    "swapped": lambda: np.empty((4, 6), ">i4"),
    "misaligned": lambda: np.empty(4 * 6 * 4 + 1, "u1")[1:].view("int32").reshape(4, 6),
    "subclass": lambda: np.empty((4, 6), "int32").view(np.recarray),
    "pinned": lambda: ck.empty_pinned((4, 6), "int32"),
}


@pytest.mark.parametrize("out", OUTS)
def test_get_into(backend, out):
    a = values((4, 6), "int32")
    for x, expected in ((ck.asarray(a), a), (ck.asarray(a)[::-1], a[::-1])):
        into = OUTS[out]()
        assert x.get(out=into) is into
        assert (np.asarray(into) == expected).all()
        into = OUTS[out]()
        assert x.get(into, None) is into
        assert (np.asarray(into) == expected).all()


def test_get_refuses(backend):
    x = ck.zeros((4, 6), "int32")
    read_only = np.empty((4, 6), "int32")
    read_only.flags.writeable = False
    for out, error, words in (
        ([0], TypeError, "out must be a NumPy array, not list"),
        (
            np.empty((4, 6), "int64"),
            TypeError,
            r"out has type int64, but the array has type int32: use .astype\('int64'\)",
        ),
        (np.empty((4, 6), "float32"), TypeError, "out has type float32"),
        (np.empty((6, 4), "int32"), ValueError, r"out has shape \(6, 4\), but the array has shape \(4, 6\)"),
        (np.empty((1, 4, 6), "int32"), ValueError, "out has shape"),
        (read_only, ValueError, "out is read-only"),
    ):
        with pytest.raises(error, match=words):
            x.get(out=out)


@pytest.mark.parametrize("dtype", DTYPES)
def test_pinned_arrays(backend, dtype):
    x = ck.empty_pinned((3, 5), dtype)
    assert type(x) is np.ndarray
    assert (x.shape, x.dtype) == ((3, 5), kind(dtype))
    assert x.flags.c_contiguous
    assert x.flags.writeable
    x[...] = values((3, 5), dtype)
    d = ck.asarray(x)
    same(d, values((3, 5), dtype))
    part = x[1]
    del x
    gc.collect()
    assert (part == values((3, 5), dtype)[1]).all()


@pytest.mark.parametrize("shape", [0, (), (3, 0)])
def test_small_pinned_arrays(backend, shape):
    assert ck.empty_pinned(shape).shape == np.empty(shape).shape


# --- one element -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", DTYPES)
def test_one_element_becomes_a_number(backend, dtype):
    a = np.asarray(1).astype(kind(dtype))
    x = ck.asarray(a)
    assert x.item() == a.item()
    assert type(x.item()) is type(a.item())
    assert bool(x) is True
    assert bool(ck.zeros((1, 1), dtype)) is False
    assert complex(x) == 1
    for convert in (float, int):
        for one in (x, x.reshape(1, 1)):
            if np.iscomplexobj(a):
                with pytest.raises(TypeError):
                    convert(one)
            else:
                assert convert(one) == convert(a)
                assert type(convert(one)) is convert
    if a.dtype.kind in "iu":
        assert operator.index(x) == [7, 8][x] - 7 == 1
    else:
        with pytest.raises(TypeError, match="only integer scalar arrays can be converted to a scalar index"):
            operator.index(x)
    with pytest.raises(TypeError, match="only integer scalar arrays"):
        operator.index(x.reshape(1))


@pytest.mark.parametrize("shape", [(2,), (0,), (3, 3)])
def test_more_elements_do_not_become_a_number(backend, shape):
    x = ck.zeros(shape)
    for convert in (float, int, complex):
        with pytest.raises(TypeError, match="only arrays of one element can be converted to Python scalars"):
            convert(x)
    with pytest.raises(ValueError, match="can only convert an array of size 1 to a Python scalar"):
        x.item()
    words = "more than one element is ambiguous" if x.size else "truth value of an empty array is ambiguous"
    with pytest.raises(ValueError, match=words):
        bool(x)


def test_item_and_tolist(backend):
    a = values((3, 4))
    x = ck.asarray(a)
    for index in ((5,), (-1,), (1, 2), (-3, -4), ((2, 0),)):
        assert x.item(*index) == a.item(*index)
    for index in ((12,), (-13,), (3, 0), (1,) * 3):
        with pytest.raises((IndexError, ValueError)) as ours:
            x.item(*index)
        with pytest.raises((IndexError, ValueError)) as numpys:
            a.item(*index)
        assert ours.type is numpys.type
    assert x.tolist() == a.tolist()
    assert x[0].item(1) == a[0].item(1)
    assert ck.asarray(3.5).tolist() == 3.5


def test_it_is_a_sequence_of_its_first_axis(backend):
    a = values((3, 4), "int8")
    rows = list(ck.asarray(a))
    assert len(rows) == 3
    for row, expected in zip(rows, a, strict=True):
        same(row, expected)
    assert [int(n) for n in ck.asarray(a[0])] == a[0].tolist()
    assert [row.tolist() for row in reversed(ck.asarray(a))] == a[::-1].tolist()
    first, *_ = ck.asarray(a)
    first.fill(1)


# --- copies ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("how", [lambda x: x.copy(), copy.copy, copy.deepcopy])
def test_copies(backend, how):
    a = values((3, 4), "uint16")
    x = ck.asarray(a)
    y = how(x.T)
    same(y, a.T)
    assert y.strides == np.ascontiguousarray(a.T).strides
    y.fill(0)
    same(x, a)


def test_it_is_not_pickled(backend):
    for call in (pickle.dumps, lambda x: copy.deepcopy({"x": pickle.dumps([x])})):
        with pytest.raises(
            TypeError, match=r"cannot be pickled, because its memory is on a device: pickle its .get\(\)"
        ):
            call(ck.zeros(3))
    assert copy.deepcopy({"x": ck.zeros(3)})["x"].shape == (3,)


# --- what it does not do, and says so --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "call",
    [
        lambda x, a: np.asarray(x),
        lambda x, a: np.array(x, dtype="int8", copy=True),
        lambda x, a: np.array([x, x]),
        lambda x, a: np.linalg.norm(x),
        lambda x, a: a.__setitem__(slice(None), x),
        lambda x, a: np.copyto(a, x),
        lambda x, a: np.concatenate([x, a]),
        lambda x, a: np.array_equal(x, a),
        lambda x, a: np.array_equal(a, x),
        lambda x, a: np.array_equiv(x, x),
        lambda x, a: np.allclose(x, a),
        lambda x, a: np.testing.assert_array_equal(x, a),
        lambda x, a: np.sum(x),
        lambda x, a: np.zeros_like(x),
        lambda x, a: np.reshape(x, (3, 1)),
    ],
)
def test_it_never_becomes_a_numpy_array_by_itself(backend, call):
    with pytest.raises(TypeError, match=r"is not converted to a NumPy array implicitly: use .get\(\)"):
        call(ck.zeros(3), np.zeros(3))


def test_functions_of_numpy_that_need_no_values(backend):
    a = values((1, 3, 4))
    x = ck.asarray(a)
    for call in (np.shape, np.ndim, np.size, np.iscomplexobj, lambda x: np.result_type(x, "int8")):
        assert call(x) == call(a)
    for call in (np.transpose, np.squeeze, lambda x: np.moveaxis(x, 0, 2), lambda x: np.swapaxes(x, 0, 1)):
        same_view(call(x), call(a))
    same(np.matmul(x, x.mT), np.matmul(a, a.swapaxes(1, 2)))
    with pytest.raises(TypeError, match=r"DeviceArray"):
        operator.imatmul(values((3, 3)), ck.zeros((3, 3)))


BINARY = [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "and_",
    "or_",
    "xor",
    "lshift",
    "rshift",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
]


@pytest.mark.parametrize("name", BINARY)
def test_no_arithmetic_and_no_comparison(backend, name):
    call, x = getattr(operator, name), ck.zeros(3, "int32")
    for other in (x, 1, np.int32(1), np.zeros(3, "int32"), None, [0, 0, 0]):
        with pytest.raises(TypeError, match=r"no elementwise arithmetic or comparisons: copy it .* .get\(\)"):
            call(x, other)
        if not isinstance(other, ck.DeviceArray):
            with pytest.raises(TypeError, match="no elementwise arithmetic or comparisons"):
                call(other, x)


def test_what_else_is_not_offered(backend):
    x = ck.zeros(3, "int32")
    for call in (operator.neg, operator.pos, abs, operator.invert, lambda x: divmod(x, 2), lambda x: 0 in x):
        with pytest.raises(TypeError, match="no elementwise arithmetic or comparisons"):
            call(x)
    with pytest.raises(TypeError, match="unhashable type: 'DeviceArray'"):
        hash(x)
    host = np.zeros(3, "int32")
    for call in (lambda: np.add(x, 1), lambda: np.sqrt(x), lambda: np.add.reduce(x), lambda: np.add(host, host, out=x)):
        with pytest.raises(TypeError, match=r"no elementwise arithmetic or comparisons: copy it .* .get\(\)"):
            call()
    with pytest.raises(TypeError, match=r"create a DeviceArray with cudakern.asarray\(x\), empty\(shape\)"):
        ck.DeviceArray([1, 2])
    with pytest.raises(TypeError, match=r"create a DeviceArray with cudakern.asarray\(x\), empty\(shape\)"):
        ck.DeviceArray()
    with pytest.raises(TypeError, match="DeviceArray cannot be a base class"):
        type("S", (ck.DeviceArray,), {})
    with pytest.raises(TypeError, match="positional argument"):
        x.copy("F")


@pytest.mark.parametrize("other", [2, None, 2.5, "x", np.float64(2), np.int8(1), {1: 2}])
def test_products_with_what_is_no_array(backend, other):
    x = ck.zeros((3, 3))
    for call, words in (
        (lambda: x @ other, "unsupported operand type.* for @"),
        (lambda: other @ x, "unsupported operand type.* for @"),
        (lambda: operator.imatmul(x, other), "unsupported operand type.* for @"),
    ):
        with pytest.raises(TypeError, match=words):
            call()


def test_products_with_arrays_of_no_axes(backend):
    x, one = ck.zeros((3, 3)), ck.asarray(2.0)
    for call in (lambda: x @ one, lambda: one @ x, lambda: x @ np.array(2.0), lambda: operator.imatmul(x, one)):
        with pytest.raises(ValueError, match="one operand is a scalar or a 0-d array: use .get"):
            call()


def test_products_ask_the_other_operand(backend):
    class Other:
        def __rmatmul__(self, x):
            return "mine"

    assert ck.zeros((3, 3)) @ Other() == "mine"


def test_warnings_name_the_callers_line(backend):
    a = np.array([1 + 2j, 3])
    x = ck.zeros(2, "float32")
    d = ck.asarray(a)
    for call in (
        lambda: x.set(a),
        lambda: x.__setitem__(slice(None), a),
        lambda: x.__setitem__(0, a[0]),
        lambda: x.fill(a[0]),
        lambda: ck.asarray(a, "float32"),
        lambda: ck.asarray(d, "float32"),
        lambda: x.set(d),
        lambda: d.astype("float32"),
    ):
        with pytest.warns(np.exceptions.ComplexWarning, match="discards the imaginary part") as told:
            call()
        assert [w.filename for w in told] == [__file__]
    x.set(a.real)
    expected = x.get()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x.set(a)
        assert (x.get() == expected).all()
        assert ck.asarray(a, "int8").get().tolist() == [1, 3]
        assert ck.asarray(np.array([0j, 1j]), "bool").get().tolist() == [False, True]
        assert ck.asarray(a, "complex64").get().tolist() == a.tolist()


@pytest.mark.parametrize("name", DTYPES)
def test_names_of_types_are_numpys(name):
    for order in "=<>":
        dtype = kind(name).newbyteorder(order)
        assert _dtypes.name_in_numpy(dtype) == dtype.name == name
    for other in ("O", "U3", "M8[s]", "V2", "longdouble", "clongdouble", [("a", "i4")], "longlong", "intc"):
        assert _dtypes.name_in_numpy(np.dtype(other)) == np.dtype(other).name


def test_help_has_no_headings_of_the_source():
    assert "# ---" not in pydoc.render_doc(ck.DeviceArray)


# --- errors of NumPy -------------------------------------------------------------------------------------------------
def same_error(call, x, a, words=True):
    """The same exception type as NumPy's, and (words) the same words at the beginning."""
    with pytest.raises(Exception) as numpys:  # noqa: PT011
        call(a)
    with pytest.raises(numpys.type) as ours:
        call(x)
    assert ours.type is numpys.type
    if words:
        beginning = re.split(r"[:;]| \(|, ", str(numpys.value))[0]
        assert str(ours.value).startswith(beginning)


@pytest.mark.parametrize(
    "key",
    [7, -6, (0, 7), (0, -8), (0, 0, 0), (..., ...), slice(None, None, 0), slice(1.5, 2)],
    ids=str,
)
def test_indices_that_are_refused_as_numpy_does(backend, key):
    a = values((5, 6))
    same_error(lambda x: x[key], ck.asarray(a), a)
    same_error(lambda x: x.__setitem__(key, 1), ck.asarray(a), a)


@pytest.mark.parametrize(
    "key", [[0, 1], [True] * 5, np.array([0, 1]), np.ones((5, 6), bool), True, np.True_, ([0], 0)], ids=str
)
def test_fancy_indices_are_refused_in_words(backend, key):
    x = ck.zeros((5, 6))
    for call in (lambda: x[key], lambda: x.__setitem__(key, 1)):
        with pytest.raises(IndexError, match=r"integers, slices \(`:`\), ellipsis .*, not \w+: .* use .get\(\) first"):
            call()


@pytest.mark.parametrize("key", ["x", 1.0, 1j, {1}, np.float32(1), np.array([1.0]), (0, "x")], ids=str)
def test_what_is_no_index(backend, key):
    a = values((5, 6))
    x = ck.asarray(a)
    for call in (lambda: x[key], lambda: x.__setitem__(key, 1)):
        with pytest.raises(
            IndexError, match=r"^only integers, slices \(`:`\), .* valid indices .*, not [\w.]+: for boolean"
        ):
            call()
    with pytest.raises(IndexError, match="only integers, slices|arrays used as indices"):
        a[key]


def test_too_many_axes(backend):
    x = ck.zeros((1,) * 16)
    with pytest.raises(
        IndexError, match=r"number of dimensions must be within \[0, 16\], indexing result would have 17"
    ):
        x[None]
    for call in (lambda: x.reshape((1,) * 17), lambda: ck.zeros((1,) * 17), lambda: ck.asarray(np.zeros((1,) * 17))):
        with pytest.raises(ValueError, match="maximum supported dimension for an array on the device is 16, found 17"):
            call()


def test_a_page_locked_array_has_as_many_axes_as_numpys(backend):
    assert ck.empty_pinned((1,) * 17).shape == (1,) * 17


@pytest.mark.parametrize("shape", [True, np.bool_(True), {2, 3}, (n for n in (2, 3)), "23", 2.0])
def test_what_is_no_shape(backend, shape):
    with pytest.raises(TypeError, match="a shape is a sequence of integers or a single integer"):
        ck.zeros(shape)


def test_axes_as_an_array(backend):
    x = np.arange(24).reshape(2, 3, 4)
    order = np.array([2, 0, 1])
    assert np.array_equal(ck.asarray(x).transpose(order).get(), x.transpose(order))


@pytest.mark.parametrize(
    "arguments", [(4,), (2, 4), (-1, -1), (-1, 4), (0, -1), (2.0, 3), ("6",), (), ((2, 3), 1), (2**62, 8)]
)
def test_reshapes_that_are_refused_as_numpy_does(backend, arguments):
    a = np.zeros(6)
    same_error(
        lambda x: x.reshape(*arguments),
        ck.asarray(a),
        a,
        words=arguments not in ((), ("6",), (-1, 4), (0, -1)),
    )


@pytest.mark.parametrize("axes", [(0,), (0, 0), (0, 2), (0, -3), (0, 1, 2), ((0,),), (1.0, 0), ("T", 0)])
def test_transposes_that_are_refused_as_numpy_does(backend, axes):
    a = np.zeros((2, 3))
    same_error(lambda x: x.transpose(*axes), ck.asarray(a), a, words=axes != ((0, 1, 2)))


def test_a_0d_array_is_no_sequence(backend):
    for call in (len, list, iter, lambda x: x[0], lambda x: x[:]):
        same_error(call, ck.zeros(()), np.zeros(()))


@pytest.mark.parametrize(
    "shape, value",
    [((3,), [1, 2]), ((2, 3), np.zeros((3, 2))), ((3,), np.zeros((2, 3))), ((), [1, 2]), ((0,), [1, 2]), ((2, 2), [])],
)
def test_values_that_do_not_broadcast(backend, shape, value):
    def assign(x):
        x[...] = value

    same_error(assign, ck.zeros(shape), np.zeros(shape), words=shape != ())
    a = np.asarray(value)
    with pytest.raises(ValueError, match=re.escape(f"could not broadcast input array from shape {a.shape}")):
        ck.zeros(shape)[...] = ck.asarray(a)


@pytest.mark.parametrize(
    "dtype, value",
    [
        ("uint8", 300),
        ("uint8", -1),
        ("int8", [1, 200]),
        ("float32", 1j),
        ("int32", "x"),
        ("int32", None),
        ("int8", {}),
    ],
)
def test_values_that_do_not_convert(backend, dtype, value):
    def assign(x):
        x[...] = value

    same_error(assign, ck.zeros(2, dtype), np.zeros(2, dtype))
    if not isinstance(value, list):
        same_error(lambda x: x.fill(value), ck.zeros(2, dtype), np.zeros(2, dtype), words=False)


def test_fill_takes_one_value(backend):
    x = ck.zeros(3)
    with pytest.raises(ValueError, match="setting an array element with a sequence|could not broadcast"):
        x.fill([1, 2, 3])
    with pytest.raises(TypeError, match=r"fill takes a value on the host: take value.item\(\)"):
        x.fill(ck.zeros(()))


@pytest.mark.parametrize("name", ["cpu", "numpy", "sum"])
def test_attributes_of_other_arrays_point_to_get(backend, name):
    x = ck.zeros(3)
    with pytest.raises(AttributeError, match=rf"no attribute '{name}'; \.get\(\) copies it to NumPy"):
        getattr(x, name)
    with pytest.raises(AttributeError, match="no attribute 'shap'$"):
        getattr(x, "shap")  # noqa: B009


@pytest.mark.parametrize(
    "shape", [-1, (3, -2), 2.5, "3", (2, 1.5), None, (2**62, 8), (2**62, 0, 8), 2**70, [2, "3"]], ids=str
)
@pytest.mark.parametrize("make", ["empty", "zeros", "empty_pinned"])
def test_shapes_that_cannot_be(backend, make, shape):
    if shape is None:  # NumPy takes it for ()
        with pytest.raises(TypeError, match="a shape is a sequence of integers or a single integer, not None"):
            getattr(ck, make)(shape)
        return
    numpys = getattr(np, make, np.empty)
    with pytest.raises((ValueError, TypeError)) as expected:
        numpys(shape)
    with pytest.raises((ValueError, TypeError)) as ours:
        getattr(ck, make)(shape)
    assert ours.type is expected.type
    if "too big" in str(expected.value) or "negative" in str(expected.value):
        assert str(expected.value)[:17] == str(ours.value)[:17]


def test_more_than_there_is(backend):
    with pytest.raises(ck.OutOfMemoryError) as caught:
        ck.empty(2**45, "int8")
    assert isinstance(caught.value, MemoryError)
    assert caught.value.bytes >= 2**45
    assert 0 < caught.value.bytes_free < 2**45
    assert ck.zeros(3).get().tolist() == [0, 0, 0]


# --- showing itself --------------------------------------------------------------------------------------------------
def numpys_text(a, prefix="DeviceArray("):
    return np.array2string(a, separator=", ", prefix=prefix)


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 4), (2, 2, 2)])
def test_repr_of_small_arrays(backend, dtype, shape):
    a = values(shape, dtype)
    text = repr(ck.asarray(a))
    assert text.startswith(f"DeviceArray({numpys_text(a)},")
    assert text.endswith(f"dtype={dtype}, shape={shape}, on {backend}:0)")
    assert max(map(len, text.splitlines())) <= 80
    assert str(ck.asarray(a)) == text


@pytest.mark.parametrize(
    "shape",
    [(1001,), (1000, 1000), (7, 143), (8, 126), (3, 400), (400, 3), (11, 12, 13), (2,) * 10 + (9,), (7, 1, 200)],
)
def test_repr_of_large_arrays_is_numpys(backend, shape):
    a = values(shape, "int32") * 1000
    a.reshape(-1)[a.size // 2] = 123456789  # far from all that is shown
    for x, expected in ((ck.asarray(a), a), (ck.asarray(a)[..., ::-1], a[..., ::-1]), (ck.asarray(a).T, a.T)):
        assert repr(x).startswith(f"DeviceArray({numpys_text(expected)},")
    with np.printoptions(threshold=5, edgeitems=2, precision=2):
        assert repr(ck.asarray(a)).startswith(f"DeviceArray({numpys_text(a)},")


def test_repr_of_arrays_with_more_axes_than_a_view_can_tell(backend):
    """Each long axis takes two of the view's 16; nine of them are told of memory that repeats itself."""
    view = native(backend).view(ck.asarray(np.arange(9.0))._view, 0, (9,) * 9, (0,) * 8 + (8,), "float64")
    a = np.broadcast_to(np.arange(9.0), (9,) * 9)
    with np.printoptions(edgeitems=1):
        assert repr(ck.DeviceArray(view, native(backend))).startswith(f"DeviceArray({numpys_text(a)},")


class Listening:
    """A C module that notes how many bytes come to the host."""

    def __init__(self, module):
        self.module, self.bytes = module, 0

    def __getattr__(self, name):
        return getattr(self.module, name)

    def download(self, into, source, stream):
        self.bytes += source.nbytes
        self.module.download(into, source, stream)


def test_repr_fetches_only_what_it_shows(backend):
    module = Listening(native(backend))
    x = ck.DeviceArray(ck.zeros((5000, 5000), "float32")._view, module)
    assert "shape=(5000, 5000)" in repr(x)
    assert "5,000 x 5,000" in x._repr_html_()
    assert 0 < module.bytes <= 2 * 49 * 4


def test_html(backend):
    x = ck.asarray(values((20, 30), "int16"))[::2]
    page = x._repr_html_()
    for word in ("10 x 30", "int16", f"{backend}:0", "600 B", "strides (120, 2)", "<pre>[["):
        assert word in page
    assert "one element" in ck.zeros(())._repr_html_()


def test_format(backend):
    assert f"{ck.asarray(2.0):.3f}" == "2.000"
    x = ck.zeros(2)
    assert f"{x}" == repr(x)
    with pytest.raises(
        TypeError, match=r"format '.3f' is for one element, but this array has shape \(2,\): .* use .get\(\)"
    ):
        f"{x:.3f}"


@pytest.mark.parametrize(
    "call", [repr, str, float, lambda x: x.get(), lambda x: x._repr_html_(), lambda x: f"{x[0]:.1f}"]
)
def test_repr_raises_what_get_raises(backend, fault, call):
    x = ck.zeros(1)
    fault(backend, 1, 700)
    with pytest.raises(ck.CudaError) as caught:
        call(x)
    assert caught.value.code == 700
    assert call(x) is not None


# --- shapes and strides alone ----------------------------------------------------------------------------------------
@hypothesis.given(data=st.data())
def test_the_strides_of_reshape_are_numpys(data):
    """Without a device, so that more of them are tried."""
    a = np.zeros(data.draw(hnp.array_shapes(max_dims=6, max_side=6), "shape"), "int16")
    key = data.draw(hnp.basic_indices(a.shape, allow_newaxis=True, allow_ellipsis=False, max_dims=8), "slice")
    a = a[(*key, ...) if isinstance(key, tuple) else (key, ...)]
    a = np.transpose(a, data.draw(st.permutations(range(np.ndim(a))), "axes"))
    shape = tuple(data.draw(factors(a.size), "new shape"))
    strides = _layout.reshape(shape, a.shape, a.strides, 2)
    expected = a.reshape(shape)
    if a.size:
        assert (strides is not None) == np.shares_memory(a, expected)
    if strides is not None and a.size:
        ours = np.lib.stride_tricks.as_strided(a, shape, strides)
        flat = np.arange(a.size, dtype="int16")
        a[...] = flat.reshape(a.shape)
        assert (ours.ravel() == flat).all()
