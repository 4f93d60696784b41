"""Arrays shared with other libraries: DLPack and the CUDA array interface, in both directions, and their stream rules.

Three kinds of tests: on the emulator, whose arrays are host memory, with NumPy (and PyTorch's CPU tensors where it is
installed); on a GPU with CuPy, PyTorch, Numba and JAX, those that are installed; and the rules of streams and malformed
descriptions with a C module that only notes what it is asked, so that they are tested without a GPU too.
"""

import ctypes
import gc
import importlib
import os
import types
import warnings
import weakref

import numpy as np
import pytest

import cudakern as ck
from cases import BACKENDS, native
from cudakern import _dtypes, _exchange

NUMPY_DTYPES = [name for name in _dtypes.NAMES if name != "bfloat16"]


def importable(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


# JAX would take most of the GPU's memory, and has no type of 64 bits unless it is told.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("JAX_ENABLE_X64", "1")

torch = importable("torch")


@pytest.fixture
def emulator():
    with ck.use_backend("emulator"):
        yield native("emulator")


def values(shape, dtype="float32"):
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


def capsule_name(capsule):
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return name(capsule).decode()


class Old:
    """What speaks DLPack as before its version 1.0: no max_version."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, stream=None):
        return self.x.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


# --- the emulator and the host's arrays ------------------------------------------------------------------------------
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
    with pytest.raises(BufferError, match=r"read-only, which a DLPack capsule can express only from version 1.0"):
        x.__dlpack__()
    assert capsule_name(x.__dlpack__(copy=True)) == "dltensor"
    assert (a == values((3, 3))).all()


def test_exports_say_what_they_are(emulator):
    x = ck.zeros((2, 3))
    assert x.__dlpack_device__() == (1, 0)
    for version, name in (
        (None, "dltensor"),
        ((0, 8), "dltensor"),
        ((1, 0), "dltensor_versioned"),
        ((2, 5), "dltensor_versioned"),
        ([1, 1], "dltensor_versioned"),
    ):
        assert capsule_name(x.__dlpack__(max_version=version)) == name


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


class Capsule:
    """Gives the same capsule every time."""

    def __init__(self, capsule, place=(1, 0)):
        self.capsule, self.place = capsule, place

    def __dlpack__(self, **words):
        return self.capsule

    def __dlpack_device__(self):
        return self.place


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


# --- the rules of streams, with a C module that notes what it is asked -----------------------------------------------
class Notes:
    """A CUDA module as far as the exchange needs one; it has two devices and no memory."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        def call(*arguments):
            self.calls.append((name, *arguments))
            if name in ("adopt", "dlpack_import"):
                return "a view"
            return None

        return call

    def backend_name(self):
        return "cuda"

    def dlpack_device(self, device):
        return (2, device)

    def device_count(self):
        return 2

    def pointer_device(self, pointer):
        return 1 if pointer == 4096 else -1

    def named(self, *names):
        return [call for call in self.calls if call[0] in names]


def a_view(**changed):
    told = {
        "shape": (2, 3),
        "strides": (12, 4),
        "dtype": "float32",
        "pointer": 4096,
        "device": 0,
        "read_only": False,
        "contiguous": True,
    }
    return types.SimpleNamespace(**(told | changed))


@pytest.mark.parametrize("stream, handle", [(None, 1), (1, 1), (2, 2), (12345, 12345), (-1, None)])
def test_what_the_consumers_stream_means(stream, handle):
    module, view = Notes(), a_view()
    _exchange.dlpack(view, module, stream, (1, 0), None, None)
    waits = [] if handle is None else [("wait_for", view, handle)]
    assert module.calls == [*waits, ("dlpack_export", view, True, False)]


@pytest.mark.parametrize(
    "stream, error, words",
    [
        (0, ValueError, "'stream' is 0, which is ambiguous: 1 is the legacy default stream, 2 the thread's own"),
        (-2, ValueError, "'stream' must be None, 1, 2, a stream's address, or -1 .*, not -2"),
        (True, TypeError, "'stream' must be an integer, not True"),
        (1.0, TypeError, "'stream' must be an integer, not 1.0"),
        ("1", TypeError, "'stream' must be an integer, not '1'"),
    ],
)
def test_what_is_no_consumers_stream(stream, error, words):
    module = Notes()
    with pytest.raises(error, match=words):
        _exchange.dlpack(a_view(), module, stream, None, None, None)
    assert not module.calls


def test_exports_from_a_gpu_to_elsewhere():
    module = Notes()
    with pytest.raises(BufferError, match=r"on DLPack device \(2, 1\)"):
        _exchange.dlpack(a_view(device=1), module, None, (1, 0), (2, 0), None)
    with pytest.raises(
        BufferError, match="copy=False, but this array is on a GPU, and the host cannot use it without a copy"
    ):
        _exchange.dlpack(a_view(), module, None, (1, 0), (1, 0), False)
    _exchange.dlpack(a_view(device=1), module, None, (1, 0), (2, 1), False)
    assert len(module.named("dlpack_export")) == 1


class PlaysCuda:
    """The emulator, which says that its memory is a GPU's."""

    def __getattr__(self, name):
        return getattr(native("emulator"), name)

    def dlpack_device(self, device):
        return (2, device)


@pytest.mark.parametrize("dtype", _dtypes.NAMES)
def test_a_copy_for_the_host(emulator, dtype):
    x = ck.asarray(values((4, 6))).astype(dtype).T
    ours = ck.DeviceArray(x._view, PlaysCuda())
    assert ours.__dlpack_device__() == (2, 0)
    capsule = ours.__dlpack__(dl_device=(1, 0), max_version=(1, 0))
    assert capsule_name(capsule) == "dltensor_versioned"
    y = ck.from_dlpack(Capsule(capsule))
    assert (y.shape, y._view.dtype) == (x.shape, dtype)
    assert y._view.pointer != x._view.pointer
    assert y.astype("complex128").tolist() == x.astype("complex128").tolist()
    x.fill(0)
    assert y.astype("complex128").tolist() != x.astype("complex128").tolist()
    if dtype != "bfloat16":
        a = np.from_dlpack(ck.DeviceArray(y._view, PlaysCuda()), device="cpu")
        assert (a == y.get()).all()


class Producer:
    """On GPU 1; notes what it is asked for."""

    def __init__(self, old=False):
        self.old, self.asked = old, []

    def __dlpack_device__(self):
        return (2, 1)

    def __dlpack__(self, **words):
        if self.old and "max_version" in words:
            raise TypeError("unexpected keyword argument 'max_version'")
        self.asked.append(words)
        return "a capsule"


class Foreign:
    def __init__(self, handle):
        self.handle = handle

    def __cuda_stream__(self):
        return 0, self.handle


@pytest.mark.parametrize(
    "stream, asked",
    [(None, 1), (0, 1), (1, 1), (2, 2), (777, 777), (Foreign(778), 778), (Foreign(0), 1)],
    ids=["None", "0", "1", "2", "777", "an object's 778", "an object's 0"],  # the same in every process
)
@pytest.mark.parametrize("old", [False, True])
def test_what_a_producer_is_asked_for(stream, asked, old):
    module, x = Notes(), Producer(old)
    assert _exchange.from_dlpack(x, module, 0, stream) == "a view"
    assert x.asked == [{"stream": asked} | ({} if old else {"max_version": (1, 0)})]
    handle = {1: stream if isinstance(stream, int) else 0}.get(asked, asked)
    assert module.calls == [("dlpack_import", "a capsule", 1), ("used_in", "a view", handle, True)]


def test_a_producer_on_a_gpu_that_is_not_seen():
    x = Producer()
    x.__class__ = type("Far", (Producer,), {"__dlpack_device__": lambda self: (2, 7)})
    with pytest.raises(BufferError, match="Far is on GPU 7, but cudakern sees 2 GPUs"):
        _exchange.from_dlpack(x, Notes(), 0, None)
    assert not x.asked


@pytest.mark.parametrize(
    "kind, words",
    [
        (1, "in the host's memory, but backend 'cuda' uses a GPU: cudakern.asarray copies it to the device"),
        (3, "in page-locked host memory, .* cudakern.asarray copies it"),
        (13, "in managed memory, .* move it to a GPU with its own library first"),
        (10, "in memory of DLPack type 10, .* move it to a GPU with its own library first"),
    ],
)
def test_a_gpu_takes_gpu_memory_only(kind, words):
    with pytest.raises(BufferError, match=words):
        _exchange.from_dlpack(Capsule(None, (kind, 0)), Notes(), 0, None)


def test_the_cuda_array_interface_of_ours():
    module, view = Notes(), a_view()
    told = _exchange.interface(view, module)
    assert told == {
        "shape": (2, 3),
        "typestr": "<f4",
        "data": (4096, False),
        "strides": None,
        "stream": 1,
        "version": 3,
    }
    assert module.calls == [("wait_for", view, 1), ("exported", view)]
    told = _exchange.interface(a_view(contiguous=False, read_only=True, strides=(24, -4)), module)
    assert (told["strides"], told["data"]) == ((24, -4), (4096, True))
    assert _exchange.interface(a_view(shape=(0, 3)), module)["data"] == (0, False)
    with pytest.raises(AttributeError, match="no name for bfloat16: use __dlpack__"):
        _exchange.interface(a_view(dtype="bfloat16"), module)


INTERFACE = {"shape": (2, 3), "typestr": "<f4", "data": (4096, False), "version": 3}


def take(told, module=None):
    x = types.SimpleNamespace(__cuda_array_interface__=told)
    return _exchange.from_interface(x, module or Notes(), 0)


@pytest.mark.parametrize(
    "changed, strides, dtype, read_only",
    [
        ({}, None, "float32", False),
        ({"strides": None, "stream": None, "mask": None, "descr": [("", "<f4")]}, None, "float32", False),
        ({"strides": (24, -4), "data": (4096, True), "version": 2}, (24, -4), "float32", True),
        ({"strides": [0, 4], "shape": [2, 3], "data": [4096, 0]}, (0, 4), "float32", False),
        ({"typestr": "|b1"}, None, "bool", False),
        ({"typestr": "<f2"}, None, "float16", False),
        ({"typestr": "<c8"}, None, "complex64", False),
        ({"typestr": "|u1"}, None, "uint8", False),
        ({"typestr": "=i8"}, None, "int64", False),
    ],
)
def test_the_cuda_array_interface_of_others(changed, strides, dtype, read_only):
    module = Notes()
    x = types.SimpleNamespace(__cuda_array_interface__=INTERFACE | changed)
    assert _exchange.from_interface(x, module, 0) == "a view"
    assert module.calls == [("adopt", x, 4096, (2, 3), strides, dtype, 1, read_only)]


@pytest.mark.parametrize("pointer", [0, None, 4096])
def test_no_elements_need_no_memory(pointer):
    module = Notes()
    take(INTERFACE | {"shape": (0, 3), "data": (pointer, False), "strides": (12, 4)}, module)
    assert module.calls[0][2:5] == (pointer or 0, (0, 3), None)


@pytest.mark.parametrize("stream", [None, 1, 2, 98765])
def test_the_stream_of_the_cuda_array_interface(stream):
    module = Notes()
    take(INTERFACE | {"stream": stream}, module)
    assert module.named("used_in") == ([("used_in", "a view", stream, True)] if stream else [])
    module = Notes()
    take(INTERFACE | {"stream": stream, "version": 2}, module)  # it came with version 3
    assert not module.named("used_in")


MALFORMED = {
    "no shape": ({"shape": ...}, ValueError, "has no 'shape'"),
    "no typestr": ({"typestr": ...}, ValueError, "has no 'typestr'"),
    "no data": ({"data": ...}, ValueError, "has no 'data'"),
    "no version": ({"version": ...}, ValueError, "has no 'version'"),
    "version 1": ({"version": 1}, ValueError, "'version' is 1: only 2 and later are supported"),
    "version text": ({"version": "3"}, TypeError, "'version' must be an integer, not '3'"),
    "shape number": ({"shape": 3}, TypeError, "'shape' must be a tuple of integers, not 3"),
    "shape float": ({"shape": (2, 3.0)}, TypeError, "'shape' must be an integer, not 3.0"),
    "shape None": ({"shape": None}, TypeError, "'shape' must be a tuple"),
    "shape bool": ({"shape": (True,)}, TypeError, "'shape' must be an integer, not True"),
    "shape negative": ({"shape": (2, -3)}, ValueError, "negative dimensions are not allowed"),
    "shape too big": ({"shape": (2**40, 2**40)}, ValueError, "array is too big"),
    "shape long": ({"shape": (1,) * 17}, ValueError, "maximum supported dimension .* is 16"),
    "typestr type": ({"typestr": np.float32}, TypeError, "'typestr' must be a str, not"),
    "typestr nonsense": ({"typestr": "hello"}, TypeError, "data type 'hello' not understood"),
    "typestr object": ({"typestr": "|O"}, TypeError, "device arrays have one of the types bool, .* not object"),
    "typestr void": ({"typestr": "|V2"}, TypeError, "device arrays have one of the types bool"),
    "typestr dates": ({"typestr": "<M8[s]"}, TypeError, "device arrays have one of the types bool"),
    "typestr swapped": ({"typestr": ">f4"}, ValueError, "'typestr' is '>f4', but device arrays are in native byte"),
    "strides few": ({"strides": (4,)}, ValueError, r"'strides' \(4,\) and 'shape' \(2, 3\) must have the same length"),
    "strides number": ({"strides": 4}, TypeError, "'strides' must be a tuple"),
    "strides float": ({"strides": (12.0, 4)}, TypeError, "'strides' must be an integer, not 12.0"),
    "data number": ({"data": 4096}, TypeError, r"'data' must be \(address, read-only\), not 4096"),
    "data buffer": ({"data": b"abc"}, TypeError, r"'data' must be \(address, read-only\)"),
    "data None": ({"data": None}, TypeError, r"'data' must be \(address, read-only\)"),
    "data one": ({"data": (4096,)}, TypeError, r"'data' must be \(address, read-only\)"),
    "data float": ({"data": (4096.0, False)}, TypeError, "'data' must be an integer, not 4096.0"),
    "data flag": ({"data": (4096, "no")}, TypeError, r"'data' must be \(address, read-only\)"),
    "data null": ({"data": (0, False)}, ValueError, "'data' is at 0x0, which is not in a device's memory"),
    "data none": ({"data": (None, False)}, ValueError, "'data' is at 0x0, which is not in a device's memory"),
    "data negative": ({"data": (-8, False)}, ValueError, "'data' is at -0x8, which is not in a device's memory"),
    "data large": ({"data": (2**64, False)}, ValueError, "which is not in a device's memory"),
    "data elsewhere": (
        {"data": (0xDEAD00, False)},
        ValueError,
        "'data' is at 0xdead00, which is not in a device's memory",
    ),
    "mask": ({"mask": object()}, ValueError, "'mask' must be None, because device arrays have no masks"),
    "stream 0": ({"stream": 0}, ValueError, "'stream' is 0, which is ambiguous"),
    "stream negative": ({"stream": -1}, ValueError, "'stream' must be None, .*, not -1"),
    "stream text": ({"stream": "1"}, TypeError, "'stream' must be an integer, not '1'"),
    "stream bool": ({"stream": True}, TypeError, "'stream' must be an integer"),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_malformed_dictionaries(what):
    changed, error, words = MALFORMED[what]
    module = Notes()
    told = {key: value for key, value in (INTERFACE | changed).items() if value is not ...}
    with pytest.raises(error, match=f"__cuda_array_interface__.*{words}"):
        take(told, module)
    assert not module.calls


@pytest.mark.parametrize(
    "changed, words",
    [
        ({"strides": (2**63, 4)}, "strides contains .*, which does not fit in 64 bits"),
        ({"shape": (2**40, 1), "strides": (2**40, 4)}, "exceeds the address space"),
        ({"strides": (-(2**40), 4)}, "outside the address space"),
    ],
)
def test_strides_that_reach_too_far(changed, words):
    """These the C module refuses; it is the emulator's here."""
    module = PlaysCuda()
    module.pointer_device = lambda pointer: 0
    with pytest.raises(ValueError, match=f"__cuda_array_interface__.*{words}"):
        take(INTERFACE | changed, module)


@pytest.mark.parametrize("told", [None, 5, (), [("shape", (2,))]])
def test_objects_that_are_not_dictionaries(told):
    with pytest.raises(TypeError, match="__cuda_array_interface__ must be a dictionary, not"):
        take(told)


# --- a GPU and the libraries that are there --------------------------------------------------------------------------
def _cupy(cupy):
    return types.SimpleNamespace(
        make=cupy.asarray,
        host=cupy.asnumpy,
        pointer=lambda x: x.data.ptr,
        take={"dlpack": cupy.from_dlpack, "interface": cupy.asarray},
        give=("dlpack", "interface"),
        write=lambda x: x.fill(5),
        stream=lambda: cupy.cuda.Stream(non_blocking=True),
        on=lambda stream: stream,
    )


def _torch(torch):
    return types.SimpleNamespace(
        make=lambda a: torch.from_numpy(a).cuda(),
        host=lambda x: x.cpu().numpy(),
        pointer=lambda x: x.data_ptr(),
        take={"dlpack": torch.from_dlpack, "interface": lambda x: torch.as_tensor(x, device="cuda")},
        give=("dlpack", "interface"),
        write=lambda x: x.fill_(5),
        stream=torch.cuda.Stream,
        on=torch.cuda.stream,
    )


def _numba(cuda):
    def fill(x):
        x[:] = np.float32(5)

    return types.SimpleNamespace(
        make=cuda.to_device,
        host=lambda x: x.copy_to_host(),
        pointer=lambda x: x.device_ctypes_pointer.value,
        take={"interface": cuda.as_cuda_array},
        give=("interface",),
        write=fill,
        stream=None,
    )


def _jax(numpy):
    return types.SimpleNamespace(
        make=lambda a: numpy.asarray(a).block_until_ready(),
        host=np.asarray,
        pointer=lambda x: x.unsafe_buffer_pointer(),
        take={"dlpack": importlib.import_module("jax").dlpack.from_dlpack},
        give=("dlpack",),
        write=None,  # its arrays do not change
        stream=None,
    )


def usable(name, adapt):
    """The library, if it is there and works: one that fails at its own arrays has nothing to say about ours."""
    module = importable(name)
    if module is None:
        return None
    try:
        library = adapt(module)
        array = library.make(np.zeros(3, "float32"))
        if library.write is not None:
            library.write(array)
        library.host(array)
        return library
    except Exception as error:
        warnings.warn(f"{name} is installed and does not work here: {error}", stacklevel=1)
        return None


LIBRARIES = {}
if "cuda" in BACKENDS:
    if not hasattr(np, "row_stack"):
        setattr(np, "row_stack", np.vstack)  # noqa: B010, NumPy 2.5 dropped the name, and Numba 0.68 still looks it up
    for _name, _adapt in (("cupy", _cupy), ("torch", _torch), ("numba.cuda", _numba), ("jax.numpy", _jax)):
        if (_library := usable(_name, _adapt)) is not None:
            LIBRARIES[_name] = _library
GIVEN = [(name, way) for name, library in LIBRARIES.items() for way in library.give]
TAKEN = [(name, way) for name, library in LIBRARIES.items() for way in library.take]


def each(names, cases):
    """A test for each case; none is made where there are none."""
    return lambda test: pytest.mark.parametrize(names, cases)(test) if cases else None


class OnlyInterface:
    """A library's array with its CUDA array interface and no DLPack."""

    def __init__(self, x):
        self.x = x
        self.__cuda_array_interface__ = x.__cuda_array_interface__


@each("take", [ck.asarray, ck.from_dlpack] if GIVEN else [])
@each("name, way", GIVEN)
def test_a_librarys_arrays_in_without_a_copy(name, way, take):
    library, a = LIBRARIES[name], values((4, 6))
    if way == "interface" and take is ck.from_dlpack:
        take = ck.asarray
    with ck.use_backend("cuda"):
        theirs = library.make(a)
        ours = take(theirs if way == "dlpack" else OnlyInterface(theirs))
        assert ours._view.pointer == library.pointer(theirs)
        assert (ours.get() == a).all()
        assert np.array_equal((ours @ ours.T).get(), a @ a.T)
        if library.write is not None:
            library.write(theirs)
            assert (ours.get() == 5).all()
        if not ours.read_only:
            ours[1].fill(7)
            ck.synchronize()  # some have streams of their own
            assert (library.host(theirs)[1] == 7).all()
        if library.write is not None:
            del theirs
            gc.collect()
            ck.zeros(1000).fill(1)
            assert (ours[1].get() == 7).all()


@each("name, way", TAKEN)
def test_ours_into_a_librarys_without_a_copy(name, way):
    library, a = LIBRARIES[name], values((4, 6))
    with ck.use_backend("cuda"):
        ours = ck.asarray(a)
        stream = ck.Stream()
        ours.fill(3, stream=stream)
        ours.set(a, stream=stream)
        theirs = library.take[way](ours)
        assert library.pointer(theirs) == ours._view.pointer
        assert np.array_equal(library.host(theirs), a)
        ours[0].fill(7)
        ck.synchronize()
        if library.write is not None:
            assert (library.host(theirs)[0] == 7).all()
            library.write(theirs)
            assert (ours.get() == 5).all()
        kept = library.host(theirs).copy()
        del ours
        gc.collect()
        ck.zeros((4, 6), "float32").fill(-1)
        ck.synchronize()
        assert np.array_equal(library.host(theirs), kept)


@each("dtype", [] if not TAKEN else ["float32", "float64", "float16", "int8", "uint8", "int32", "complex64", "bool"])
@each("name, way", TAKEN)
def test_types_and_layouts_there_and_back(name, way, dtype):
    library, a = LIBRARIES[name], values((4, 6), dtype)
    with ck.use_backend("cuda"):
        x = ck.asarray(a)
        views = [(x, a), (x.T, a.T), (x[::2, 1:], a[::2, 1:])]
        if name == "jax.numpy":  # it takes C order only
            views = views[:1]
        for view, expected in views:
            theirs = library.take[way](view)
            assert np.array_equal(library.host(theirs), expected)
            assert np.array_equal(ck.asarray(theirs).get(), expected)


@each("name", [name for name, library in LIBRARIES.items() if library.stream is not None])
def test_a_librarys_streams(name):
    """As stream=, and as the stream that its arrays are written in when we take them."""
    library = LIBRARIES[name]
    with ck.use_backend("cuda"):
        stream = library.stream()
        handle = stream.ptr if name == "cupy" else stream.cuda_stream
        given = stream if hasattr(type(stream), "__cuda_stream__") else Foreign(handle)
        a = values((500, 500))
        x = ck.asarray(a, stream=given)
        y = ck.matmul(x, x, stream=given)
        with library.on(stream):
            theirs = library.make(np.ones((500, 500), np.float32))
            for _ in range(20):
                library.write(theirs)
            ours = ck.from_dlpack(theirs)
        assert (ours.get() == 5).all()
        assert np.allclose(y.get(stream=given), a @ a)


@each("name", [name for name in LIBRARIES if name in ("cupy", "torch")])
def test_a_gpus_array_to_the_host_by_dlpack(name):
    with ck.use_backend("cuda"):
        x = ck.asarray(values((4, 6)))
        stream = ck.Stream()
        x.fill(2, stream=stream)
        a = np.from_dlpack(x, device="cpu")
        assert (a == 2).all()
        with pytest.raises((BufferError, ValueError)):
            np.from_dlpack(x, device="cpu", copy=False)
        y = ck.zeros((4, 6), "float32")
        y[...] = LIBRARIES[name].make(values((4, 6)))
        assert (y.get() == values((4, 6))).all()


if torch is not None and "cuda" in BACKENDS:

    def test_bfloat16_with_pytorch_on_a_gpu():
        with ck.use_backend("cuda"):
            t = torch.arange(12, device="cuda").reshape(3, 4).to(torch.bfloat16)
            x = ck.asarray(t)
            assert (x._view.dtype, x._view.pointer) == ("bfloat16", t.data_ptr())
            assert torch.equal(torch.from_dlpack(x @ x.T), t @ t.T)
            assert not hasattr(x, "__cuda_array_interface__")
            assert torch.equal(torch.from_dlpack(x, device="cpu"), t.cpu())


def test_whose_memory_it_is(backend):
    x = ck.zeros((4, 6))
    assert native(backend).pointer_device(x._view.pointer) == 0
    assert native(backend).pointer_device(x[3, 5]._view.pointer) == 0
    assert native(backend).pointer_device(values((4, 6)).ctypes.data) == -1


def test_a_wait_for_export_comes_after_reads_too(backend):
    """Whoever gets the memory may write it: what reads it still comes before that."""
    a = ck.asarray(np.ones((300, 300), np.float32))
    stream, theirs = ck.Stream(), ck.Stream()
    b = ck.matmul(a, a, variant="naive", stream=stream)
    native(backend).wait_for(a._view, theirs.handle)
    assert not theirs.done or stream.done
    theirs.synchronize()
    assert stream.done
    assert (b.get() == 300).all()


def test_the_cuda_array_interface_on_the_gpu(backend):
    if backend == "cuda":
        x = ck.asarray(values((4, 6)))[:, ::2]
        told = x.__cuda_array_interface__
        assert told["data"] == (x._view.pointer, False)
        assert (told["shape"], told["strides"], told["typestr"]) == ((4, 3), (24, 8), "<f4")
        assert x.__dlpack_device__() == (2, 0)
    else:
        assert not hasattr(ck.zeros(3), "__cuda_array_interface__")


def test_operations_say_what_to_do_with_another_librarys_array(backend):
    """Not silently by way of the host, and not by NumPy, which would not know what it is."""
    theirs = types.SimpleNamespace(__cuda_array_interface__=INTERFACE)
    d = ck.zeros((2, 2), "float32")
    for variant in ("auto", "tiled"):
        for call in (
            lambda v=variant: ck.matmul(theirs, theirs, variant=v),
            lambda v=variant: ck.matmul(np.ones((2, 2), "float32"), theirs, variant=v),
            lambda v=variant: ck.matmul(d, theirs, variant=v),
        ):
            with pytest.raises(TypeError, match=r"of another library, on the device|another library's, on the device"):
                call()
    for variant in ("auto", "coalesced"):
        with pytest.raises(TypeError, match=r"of another library, on the device: cudakern\.asarray\(x\) takes it"):
            ck.sum_of_squares(theirs, variant=variant)


class OnlyDLPack:
    """Another library's array on a GPU, which says so by DLPack alone, and goes to the host when NumPy asks."""

    __array_priority__ = 100

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **keywords):
        raise AssertionError("nobody should ask")

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("nobody should ask")


class HostDLPack:
    """Another library's array in host memory, which has DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)


def test_host_arrays_by_dlpack_alone(backend):
    x, d = values((4, 4), "float32"), ck.zeros((4, 4), "float32")
    theirs, row, flags = HostDLPack(x), HostDLPack(np.arange(4.0)), HostDLPack(np.arange(9) % 2)
    for variant in ("auto", "numpy", "naive"):
        np.testing.assert_array_equal(ck.vector_add(theirs, theirs, variant=variant), x + x)
        np.testing.assert_array_equal(ck.matmul(theirs, theirs, variant=variant), x @ x)
    assert ck.sum_of_squares(theirs) == np.sum(x * x)
    np.testing.assert_array_equal(ck.sort(theirs, None), np.sort(x, None))
    np.testing.assert_array_equal(ck.bincount(flags), np.bincount(flags.array))
    np.testing.assert_array_equal(ck.packbits(flags), np.packbits(flags.array))
    np.testing.assert_array_equal(ck.interp([-1.0, 9.0], row, row), np.array([0.0, 3.0]))
    d[...] = theirs
    np.testing.assert_array_equal(d.get(), x)
    np.testing.assert_array_equal(ck.asarray(theirs).get(), x)
    for call in (lambda: ck.vector_add(d, theirs), lambda: d @ theirs, lambda: theirs @ d):
        with pytest.raises(
            TypeError, match=r"in host memory \(HostDLPack\): copy \w to that device with cudakern.asarray"
        ):
            call()


def test_an_array_that_is_on_a_gpu_by_dlpack_alone(backend):
    theirs, ours, host = OnlyDLPack(), ck.zeros((2, 2)), np.zeros((2, 2))
    for variant in ("auto", "tiled"):
        for call in (
            lambda v=variant: ck.matmul(theirs, theirs, variant=v),
            lambda v=variant: ck.matmul(host, theirs, variant=v),
            lambda v=variant: ck.matmul(ours, theirs, variant=v),
            lambda v=variant: ck.matmul(ours, ours, out=theirs, variant=v),
        ):
            with pytest.raises(TypeError, match=r"on the device.*cudakern\.asarray\(\w+\) takes it without a copy"):
                call()
    with pytest.raises(TypeError, match=r"of another library, on the device: cudakern\.asarray\(x\) takes it"):
        ck.sum_of_squares(theirs)
