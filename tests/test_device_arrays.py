"""Arrays on the device against NumPy's: values in and out, types, conversions, copies, and how they are shown."""

import copy
import gc
import operator
import pickle
import warnings
import weakref

import numpy as np
import pytest

import cudakern as ck
from cases import LAYOUTS, native
from cudakern.arrays import dtypes
from device_arrays import DTYPES, NUMPY_DTYPES, kind, same, values


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
            ValueError, match=r"the value is on other:0, and the backend here is 'emulator': take its .get\(\)"
        ):
            x[...] = y
        with pytest.raises(
            ValueError, match=r"this array is on other:0, and the backend here is 'emulator': take its .get\(\)"
        ):
            ck.asarray(y)
        with pytest.raises(ValueError, match="other"):
            x @ y


# --- types -----------------------------------------------------------------------------------------------------------
def test_every_type_is_the_c_sides(backend):
    for name in dtypes.NAMES:
        view = native(backend).empty((2,), name, 0, 0)
        assert (view.dtype, view.nbytes) == (name, 2 * dtypes.itemsize(name))


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
    dtypes.from_name.cache_clear()
    assert (x.itemsize, x.nbytes) == (2, 4)
    assert x.astype("float32").get().tolist() == [1.5, 2]
    assert "[1.5, 2. ], dtype=bfloat16" in repr(x)
    for call in (lambda: x.dtype, lambda: x.get(), lambda: ck.asarray([1.0], "bfloat16")):
        with pytest.raises(ImportError, match="NumPy has bfloat16 only with the package ml_dtypes"):
            call()
    monkeypatch.undo()
    dtypes.from_name.cache_clear()


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
    with pytest.raises(TypeError, match=r"format '.3f' is for one element, not for shape \(2,\): .* use .get\(\)"):
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
