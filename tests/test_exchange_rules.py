"""The rules of streams, and malformed descriptions, of arrays that are shared with other libraries (test_exchange.py):
with a C module that only notes what it is asked, so that they are tested without a GPU, too."""

import types

import numpy as np
import pytest

import cudakern as ck
from capsules import name_of
from cases import native
from cudakern.arrays import dtypes, exchange
from exchanged import INTERFACE, Capsule, Foreign, values


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
    interface = {
        "shape": (2, 3),
        "strides": (12, 4),
        "dtype": "float32",
        "pointer": 4096,
        "device": 0,
        "read_only": False,
        "contiguous": True,
    }
    return types.SimpleNamespace(**(interface | changed))


@pytest.mark.parametrize("stream, handle", [(None, 1), (1, 1), (2, 2), (12345, 12345), (-1, None)])
def test_what_the_consumers_stream_means(stream, handle):
    module, view = Notes(), a_view()
    exchange.dlpack(view, module, stream, (1, 0), None, None)
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
        exchange.dlpack(a_view(), module, stream, None, None, None)
    assert not module.calls


def test_exports_from_a_gpu_to_elsewhere():
    module = Notes()
    with pytest.raises(BufferError, match=r"on DLPack device \(2, 1\)"):
        exchange.dlpack(a_view(device=1), module, None, (1, 0), (2, 0), None)
    with pytest.raises(
        BufferError, match="copy=False, but this array is on a GPU, and the host cannot use it without a copy"
    ):
        exchange.dlpack(a_view(), module, None, (1, 0), (1, 0), False)
    exchange.dlpack(a_view(device=1), module, None, (1, 0), (2, 1), False)
    assert len(module.named("dlpack_export")) == 1


class PlaysCuda:
    """The emulator, which says that its memory is a GPU's."""

    def __getattr__(self, name):
        return getattr(native("emulator"), name)

    def dlpack_device(self, device):
        return (2, device)


@pytest.mark.parametrize("dtype", dtypes.NAMES)
def test_a_copy_for_the_host(emulator, dtype):
    x = ck.asarray(values((4, 6))).astype(dtype).T
    ours = ck.DeviceArray(x._view, PlaysCuda())
    assert ours.__dlpack_device__() == (2, 0)
    capsule = ours.__dlpack__(dl_device=(1, 0), max_version=(1, 0))
    assert name_of(capsule) == b"dltensor_versioned"
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


@pytest.mark.parametrize(
    "stream, asked",
    [(None, 1), (0, 1), (1, 1), (2, 2), (777, 777), (Foreign(778), 778), (Foreign(0), 1)],
    ids=["None", "0", "1", "2", "777", "an object's 778", "an object's 0"],  # the same in every process
)
@pytest.mark.parametrize("old", [False, True])
def test_what_a_producer_is_asked_for(stream, asked, old):
    module, x = Notes(), Producer(old)
    assert exchange.from_dlpack(x, module, 0, stream) == "a view"
    assert x.asked == [{"stream": asked} | ({} if old else {"max_version": (1, 0)})]
    handle = {1: stream if isinstance(stream, int) else 0}.get(asked, asked)
    assert module.calls == [("dlpack_import", "a capsule", 1), ("used_in", "a view", handle, True)]


def test_a_producer_on_a_gpu_that_is_not_seen():
    x = Producer()
    x.__class__ = type("Far", (Producer,), {"__dlpack_device__": lambda self: (2, 7)})
    with pytest.raises(BufferError, match="Far is on GPU 7, but cudakern sees 2 GPUs"):
        exchange.from_dlpack(x, Notes(), 0, None)
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
        exchange.from_dlpack(Capsule(None, (kind, 0)), Notes(), 0, None)


def test_the_cuda_array_interface_of_ours():
    module, view = Notes(), a_view()
    interface = exchange.interface(view, module)
    assert interface == {
        "shape": (2, 3),
        "typestr": "<f4",
        "data": (4096, False),
        "strides": None,
        "stream": 1,
        "version": 3,
    }
    assert module.calls == [("wait_for", view, 1), ("exported", view)]
    interface = exchange.interface(a_view(contiguous=False, read_only=True, strides=(24, -4)), module)
    assert (interface["strides"], interface["data"]) == ((24, -4), (4096, True))
    assert exchange.interface(a_view(shape=(0, 3)), module)["data"] == (0, False)
    with pytest.raises(AttributeError, match="no name for bfloat16: use __dlpack__"):
        exchange.interface(a_view(dtype="bfloat16"), module)


def take(interface, module=None):
    x = types.SimpleNamespace(__cuda_array_interface__=interface)
    return exchange.from_interface(x, module or Notes(), 0)


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
    assert exchange.from_interface(x, module, 0) == "a view"
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
    interface = {key: value for key, value in (INTERFACE | changed).items() if value is not ...}
    with pytest.raises(error, match=f"__cuda_array_interface__.*{words}"):
        take(interface, module)
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


@pytest.mark.parametrize("interface", [None, 5, (), [("shape", (2,))]])
def test_objects_that_are_not_dictionaries(interface):
    with pytest.raises(TypeError, match="__cuda_array_interface__ must be a dictionary, not"):
        take(interface)
