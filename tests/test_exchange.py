"""Arrays shared with other libraries on the emulator, whose arrays are host memory: with NumPy, and PyTorch's CPU
tensors where it is installed.

(On a GPU: test_exchange_libraries.py; streams and malformed descriptions: test_exchange_rules.py.)"""

import gc
import types
import weakref

import numpy as np
import pytest

import cudakern as ck
from capsules import name_of
from cudakern.arrays import dtypes
from exchanged import Capsule, torch, values

NUMPY_DTYPES = [name for name in dtypes.NAMES if name != "bfloat16"]


class Old:
    """What speaks DLPack as before its version 1.0: no max_version."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, stream=None):
        return self.x.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_numpy_arrays_in_without_a_copy(emulator, dtype):
    a = values((4, 6), dtype)
    for view in (a, a[::-1, ::2], a.T, a[1:1]):
        x = ck.from_dlpack(view)
        assert (x.shape, x.dtype) == (view.shape, view.dtype)
        assert (x.get() == view).all()
        assert not view.size or x._view.pointer == view.ctypes.data
    x = ck.from_dlpack(a)
    x[1, 2:4] = 1
    ck.synchronize()
    assert a[1, 2:4].tolist() == [1, 1]
    a[0, 0] = 1
    assert x[0, 0].item() == 1


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_ours_to_numpy_without_a_copy(emulator, dtype):
    x = ck.asarray(values((4, 6), dtype))
    for view in (x, x[::-1, ::2], x.T):
        a = np.from_dlpack(view)
        assert a.ctypes.data == view._view.pointer
        assert a.strides == view.strides
        assert (a == view.get()).all()
    a = np.from_dlpack(x)
    x[1, 2:4].fill(1)
    ck.synchronize()
    assert a[1, 2:4].tolist() == [1, 1]
    if a.flags.writeable:
        a[0, 0] = 1
        assert x[0, 0].item() == 1


def test_the_memory_lives_as_long_as_its_last_user(emulator):
    a = values((100, 100))
    kept = weakref.ref(a)
    x = ck.from_dlpack(a)[1:]
    del a
    gc.collect()
    assert kept() is not None
    y = x @ x.T
    del x
    gc.collect()
    ck.synchronize()
    ck.zeros(1)  # what is let go is looked after at the next call
    gc.collect()
    assert kept() is None
    used = emulator.pool_used(0)
    b = np.from_dlpack(y)
    expected = y.get()
    del y
    gc.collect()
    assert (b == expected).all()
    del b, expected
    gc.collect()
    ck.synchronize()
    assert emulator.pool_used(0) < used


def test_read_only_arrays_stay_so(emulator):
    a = values((3, 3))
    a.flags.writeable = False
    x = ck.from_dlpack(a)
    assert x.read_only
    assert x[0].read_only
    for write in (lambda: x.fill(1), lambda: x.set(a), lambda: x[0].__setitem__(0, 1), lambda: x.__imatmul__(x)):
        with pytest.raises(ValueError, match="read-only"):
            write()
    assert (x.copy() @ x).read_only is False
    assert not np.from_dlpack(x).flags.writeable
    with pytest.raises(BufferError, match=r"read-only, which DLPack can express only from version 1.0"):
        x.__dlpack__()
    assert name_of(x.__dlpack__(copy=True)) == b"dltensor"
    assert (a == values((3, 3))).all()


def test_exports_say_what_they_are(emulator):
    x = ck.zeros((2, 3))
    assert x.__dlpack_device__() == (1, 0)
    for version, name in (
        (None, b"dltensor"),
        ((0, 8), b"dltensor"),
        ((1, 0), b"dltensor_versioned"),
        ((2, 5), b"dltensor_versioned"),
        ([1, 1], b"dltensor_versioned"),
    ):
        assert name_of(x.__dlpack__(max_version=version)) == name


def test_copies_when_asked(emulator):
    x = ck.asarray(values((2, 3)))
    same, other = np.from_dlpack(x, copy=False), np.from_dlpack(x, copy=True)
    x.fill(9)
    ck.synchronize()
    assert (same == 9).all()
    assert (other == values((2, 3))).all()
    assert (np.from_dlpack(x, device="cpu") == 9).all()


def test_refused_exports(emulator):
    x = ck.zeros(3)
    for arguments, error, words in (
        ({"stream": 1}, ValueError, r"stream=1: this array is in the host's memory, where stream must be None"),
        ({"stream": -1}, ValueError, "stream must be None"),
        ({"dl_device": (2, 0)}, BufferError, r"on DLPack device \(1, 0\): export it to that device or to the host"),
        ({"dl_device": 1}, TypeError, "dl_device= must be a tuple of two integers, not 1"),
        ({"dl_device": (1, "0")}, TypeError, "dl_device= must be a tuple of two integers"),
        ({"max_version": 1}, TypeError, "max_version= must be a tuple of two integers, not 1"),
        ({"max_version": (1, 0, 0)}, TypeError, "max_version= must be a tuple of two integers"),
        ({"copy": 1}, TypeError, "copy= must be True, False or None, not 1"),
    ):
        with pytest.raises(error, match=words):
            x.__dlpack__(**arguments)
    with pytest.raises(TypeError):
        x.__dlpack__(None)


def test_an_export_waits_for_what_is_under_way(emulator):
    """The host's libraries know no streams: what was enqueued before is done when they get the array."""
    stream = ck.Stream()
    a = ck.asarray(np.ones((300, 300)))
    b = ck.matmul(a, a, variant="naive", stream=stream)
    assert not stream.done
    assert (np.from_dlpack(b) == 300).all()
    assert stream.done


def test_old_producers_and_consumers(emulator):
    a = values((3, 4))
    x = ck.from_dlpack(Old(a))
    assert x._view.pointer == a.ctypes.data
    assert not x.read_only
    assert np.from_dlpack(Old(x)).ctypes.data == a.ctypes.data
    y = ck.from_dlpack(Old(x))  # there and back
    assert y._view.pointer == a.ctypes.data


def test_our_own_arrays_in(emulator):
    x = ck.asarray(values((3, 4)))
    y = ck.from_dlpack(x.T)
    assert (y._view.pointer, y.shape) == (x._view.pointer, (4, 3))


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_capsule_is_used_once(emulator, version):
    x = Capsule(values((3, 4)).__dlpack__(max_version=version))
    ck.from_dlpack(x)
    with pytest.raises(ValueError, match="already been used"):
        ck.from_dlpack(x)


@pytest.mark.parametrize("capsule", [None, 5, b"dltensor", object()])
def test_objects_that_are_not_capsules(emulator, capsule):
    with pytest.raises(TypeError, match="expected a DLPack capsule"):
        ck.from_dlpack(Capsule(capsule))


@pytest.mark.parametrize("place", [None, 1, (1,), (1, 2, 3), ("1", "x"), (None, 0)])
def test_what_is_no_place(emulator, place):
    with pytest.raises(TypeError, match=r"Capsule.__dlpack_device__ must return \(type, index\), not"):
        ck.from_dlpack(Capsule(None, place))


@pytest.mark.parametrize("x", [[1, 2], 5, None, "text", types.SimpleNamespace(__dlpack__=print)])
def test_what_takes_no_part_in_dlpack(backend, x):
    with pytest.raises(TypeError, match="from_dlpack takes an object with __dlpack__ and __dlpack_device__, not"):
        ck.from_dlpack(x)


@pytest.mark.parametrize("place", [(2, 0), (3, 0), (13, 1), (10, 0), (99, 5)])
def test_the_emulator_takes_host_memory_only(emulator, place):
    with pytest.raises(BufferError, match=r"Capsule is in .*, but backend 'emulator' uses the host's memory"):
        ck.from_dlpack(Capsule(None, place))


def test_types_that_the_device_does_not_support(emulator):
    for a in (np.zeros(3, "longdouble"), np.zeros(3, "clongdouble")):
        with pytest.raises(BufferError):
            ck.from_dlpack(a)


def test_asarray_copies_host_memory(emulator):
    a = values((3, 4))
    for host in (a, Old(a), memoryview(a)):
        x = ck.asarray(host)
        x.fill(0)
        ck.synchronize()
        assert (a == values((3, 4))).all()
        with pytest.raises(
            ValueError, match=r"copy=False, but \w+ is in host memory .*from_dlpack uses it without a copy"
        ):
            ck.asarray(host, copy=False)


def test_no_cuda_array_interface_on_the_emulator(emulator):
    x = ck.zeros(3)
    assert not hasattr(x, "__cuda_array_interface__")
    with pytest.raises(AttributeError, match="an emulated device's array is in host memory: use __dlpack__"):
        _ = x.__cuda_array_interface__
    gpu = types.SimpleNamespace(__cuda_array_interface__={})
    with pytest.raises(BufferError, match=r"is on a GPU, but the backend is 'emulator' \(requested by use_backend\)"):
        ck.asarray(gpu)
    with pytest.raises(BufferError, match="is on a GPU"):
        x[...] = gpu


if torch is not None:
    TORCH = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.int64, torch.complex64]

    @pytest.mark.parametrize("dtype", [*TORCH, torch.uint8, torch.bool], ids=str)
    def test_pytorch_on_the_host(emulator, dtype):
        t = torch.arange(12).reshape(3, 4).to(dtype)
        for view in (t, t.T, t[:, ::2], t[1:1]):
            x = ck.from_dlpack(view)
            assert (x.shape, x._view.dtype) == (tuple(view.shape), str(dtype).removeprefix("torch."))
            assert torch.equal(torch.from_dlpack(x), view)
        x = ck.from_dlpack(t)
        assert x._view.pointer == t.data_ptr() == torch.from_dlpack(x).data_ptr()
        x[0].fill(1)
        ck.synchronize()
        assert (t[0] == 1).all()
        assert ck.asarray(t.float())._view.pointer != t.data_ptr()
