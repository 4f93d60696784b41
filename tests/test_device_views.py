"""Views of arrays on the device against NumPy's, and assignment to them."""

import gc

import hypothesis
import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest

import cudakern as ck
from cases import BACKENDS, native
from cudakern.arrays import layout
from device_arrays import DTYPES, kind, same, same_view, values

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
        assigned = {
            "host": lambda: value,
            "device": lambda: ck.asarray(value),
            "list": lambda: value.tolist() if value.size else value,  # a list has no shape without elements
            "strided": lambda: ck.asarray(np.repeat(value[None], 2, 0).T).T[1],
        }[how]()
        a[key] = value
        x[key] = assigned
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


# --- shapes and strides alone ----------------------------------------------------------------------------------------
@hypothesis.given(data=st.data())
def test_the_strides_of_reshape_are_numpys(data):
    """Without a device, so that more of them are tried."""
    a = np.zeros(data.draw(hnp.array_shapes(max_dims=6, max_side=6), "shape"), "int16")
    key = data.draw(hnp.basic_indices(a.shape, allow_newaxis=True, allow_ellipsis=False, max_dims=8), "slice")
    a = a[(*key, ...) if isinstance(key, tuple) else (key, ...)]
    a = np.transpose(a, data.draw(st.permutations(range(np.ndim(a))), "axes"))
    shape = tuple(data.draw(factors(a.size), "new shape"))
    strides = layout.reshape(shape, a.shape, a.strides, 2)
    expected = a.reshape(shape)
    if a.size:
        assert (strides is not None) == np.shares_memory(a, expected)
    if strides is not None and a.size:
        ours = np.lib.stride_tricks.as_strided(a, shape, strides)
        flat = np.arange(a.size, dtype="int16")
        a[...] = flat.reshape(a.shape)
        assert (ours.ravel() == flat).all()
