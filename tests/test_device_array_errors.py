"""What arrays on the device refuse: the errors are NumPy's where NumPy has one."""

import operator
import pydoc
import re
import warnings

import numpy as np
import pytest

import cudakern as ck
from cudakern.arrays import dtypes
from device_arrays import DTYPES, kind, same, same_view, values


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
        assert dtypes.name_in_numpy(dtype) == dtype.name == name
    for other in ("O", "U3", "M8[s]", "V2", "longdouble", "clongdouble", [("a", "i4")], "longlong", "intc"):
        assert dtypes.name_in_numpy(np.dtype(other)) == np.dtype(other).name


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
