"""DLPack, capsule by capsule: well-formed and malformed ones made here, ours taken apart here."""

import contextlib
import ctypes
import gc
import itertools
import math
import sys
import threading

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import cudakern
import subprocesses
from capsules import (
    CODES,
    CPU,
    CUDA,
    CUDA_HOST,
    CUDA_MANAGED,
    DELETER,
    DESTROY,
    Old,
    Versioned,
    is_valid,
    name_of,
    new_capsule,
    pointer_of,
    set_name,
)
from cases import BACKENDS, native
from growth import settled
from views import down, leaves_nothing, up

every_backend = pytest.mark.parametrize("name", BACKENDS)
both_kinds = pytest.mark.parametrize("versioned", [True, False], ids=["versioned", "old"])


class Producer:
    """Another library with a tensor of 2 x 3 float32, unless told otherwise."""

    alive = []  # what C holds addresses of

    def __init__(self, name, versioned, shape=(2, 3), strides=(3, 1), ndim=None, data=None, major=1, minor=0, flags=0,
                 code=2, bits=32, lanes=1, device=None, offset=0, deleter=True, capsule_name=None,
                 floats=64):  # fmt: skip
        self.memory = up(name, np.arange(floats, dtype="float32"))
        native(name).synchronize(0)
        self.deleted = 0
        self.deleter = DELETER(self.delete)
        self.managed = Versioned() if versioned else Old()
        if versioned:
            self.managed.major, self.managed.minor, self.managed.flags = major, minor, flags
        self.managed.deleter = ctypes.cast(self.deleter, ctypes.c_void_p) if deleter else None
        tensor = self.managed.tensor
        tensor.data = self.memory.pointer if data is None else data
        tensor.device_type, tensor.device_id = native(name).dlpack_device(0) if device is None else device
        tensor.ndim = len(shape or ()) if ndim is None else ndim
        tensor.code, tensor.bits, tensor.lanes, tensor.byte_offset = code, bits, lanes, offset
        for field, values in (("shape", shape), ("strides", strides)):
            if values is not None:
                setattr(tensor, field, (ctypes.c_int64 * max(len(values), 1))(*values))
        self.name = (b"dltensor_versioned" if versioned else b"dltensor") if capsule_name is None else capsule_name
        self.capsule = self.wrap()
        Producer.alive.append(self)

    def wrap(self):
        return new_capsule(ctypes.addressof(self.managed), self.name, DESTROY)

    def delete(self, address):
        assert address == ctypes.addressof(self.managed)
        self.deleted += 1

    def is_untouched(self):
        return name_of(self.capsule) == self.name and self.deleted == 0

    def ends(self):
        """The capsule goes; the deleter has been called once in all."""
        self.capsule = None
        if self.deleted == 0:
            gc.collect()
        if self.deleted == 1:  # else somebody may still call it
            Producer.alive.remove(self)
        return self.deleted == 1


@pytest.fixture(autouse=True)
def producers_end():
    """A capsule that outlives this file's functions would call what is no more."""
    yield
    while Producer.alive:
        Producer.alive.pop().capsule = None


# --- import ----------------------------------------------------------------------------------------------------------
@both_kinds
@every_backend
def test_a_tensor_is_taken_once_and_given_back_once(name, versioned):
    module = native(name)
    producer = Producer(name, versioned, shape=(2, 3), strides=(1, 4), offset=8)
    view = module.dlpack_import(producer.capsule, 0)
    assert (view.shape, view.strides, view.dtype) == ((2, 3), (4, 16), "float32")
    assert (view.pointer, view.device) == (producer.memory.pointer + 8, 0)
    assert (view.foreign, view.read_only, view.contiguous) == (True, False, False)
    assert np.array_equal(down(name, view), [[2, 6, 10], [3, 7, 11]])
    assert name_of(producer.capsule) == b"used_" + producer.name
    assert producer.deleted == 0
    part = module.view(view, 4, (2,), (16,), "float32")
    with pytest.raises(ValueError, match="spans bytes -4 to"):
        module.view(view, -4, (), (), "float32")  # the tensor's range, not the producer's memory
    del view
    module.synchronize(0)
    assert producer.deleted == 0
    module.fill(part, bytes(4), 0)
    del part
    module.synchronize(0)
    assert producer.deleted == 1
    assert producer.ends()


@both_kinds
@every_backend
def test_a_used_capsule_is_refused(name, versioned):
    module = native(name)
    producer = Producer(name, versioned)
    view = module.dlpack_import(producer.capsule, 0)
    for _ in range(2):
        with pytest.raises(ValueError, match="already been used"):
            module.dlpack_import(producer.capsule, 0)
    assert producer.deleted == 0
    del view
    assert producer.ends()


@both_kinds
@every_backend
def test_what_may_be_missing(name, versioned):
    """No strides mean C order; no deleter means that there is nothing to do; no elements need no data."""
    module = native(name)
    for options, shape, strides in [
        ({"strides": None}, (2, 3), (12, 4)),
        ({"shape": (), "strides": ()}, (), ()),
        ({"shape": None, "strides": None}, (), ()),
        ({"shape": (1,) * 16, "strides": None}, (1,) * 16, (4,) * 16),
        ({"shape": (2, 0), "strides": (5, 7), "data": 0}, (2, 0), (20, 28)),
        ({"shape": (4,), "strides": (-1,), "offset": 12}, (4,), (-4,)),
        ({"shape": (4,), "strides": (0,)}, (4,), (0,)),
    ]:
        producer = Producer(name, versioned, **options)
        view = module.dlpack_import(producer.capsule, 0)
        assert (view.shape, view.strides) == (shape, strides)
        x = np.arange(64, dtype="float32")[options.get("offset", 0) // 4 :]
        if 0 not in shape and min(strides, default=0) >= 0:
            assert np.array_equal(down(name, view), np.lib.stride_tricks.as_strided(x, shape, strides))
        elif shape == (4,):
            assert down(name, view).tolist() == [3, 2, 1, 0]
        del view
        module.synchronize(0)
        assert producer.ends()
    producer = Producer(name, versioned, deleter=False)
    view = module.dlpack_import(producer.capsule, 0)
    del view, producer.capsule
    assert producer.deleted == 0


@every_backend
def test_flags_and_later_minor_versions(name):
    module = native(name)
    for flags, read_only in [(0, False), (1, True), (2, False), (3, True), (1 << 40, False)]:
        producer = Producer(name, True, flags=flags, minor=9)
        view = module.dlpack_import(producer.capsule, 0)
        assert view.read_only is read_only
        if read_only:
            with pytest.raises(ValueError, match="to is read-only"):
                module.fill(view, bytes(4), 0)
        del view
        assert producer.ends()


@pytest.mark.parametrize("major", [0, 2, 77])
@every_backend
def test_another_major_version_is_deleted_unread(name, major):
    """Nothing but the deleter may be looked at, and the capsule is spent."""
    producer = Producer(name, True, major=major, minor=3, shape=None, ndim=-5, code=99)
    with pytest.raises(
        BufferError, match=rf"version {major}\.3, but only version 1 is supported.*max_version=\(1, 0\)"
    ):
        native(name).dlpack_import(producer.capsule, 0)
    assert producer.deleted == 1
    with pytest.raises(ValueError, match="already been used"):
        native(name).dlpack_import(producer.capsule, 0)
    assert producer.ends()


MALFORMED = {
    "negative length": ({"shape": (2, -1)}, ValueError, "negative length"),
    "negative ndim": ({"ndim": -1}, ValueError, "number of axes is negative"),
    "17 axes": ({"shape": (1,) * 17, "strides": None}, ValueError, "17 axes; at most 16"),
    "many axes": ({"ndim": 2**31 - 1}, ValueError, "at most 16"),
    "no shape": ({"shape": None, "strides": None, "ndim": 2}, ValueError, "no shape"),
    "no data": ({"data": 0}, ValueError, "elements but no data"),
    "huge": ({"shape": (2**62, 2**62), "strides": None}, ValueError, "malformed"),
    "huge count": ({"shape": (2**40, 2**40), "strides": (0, 0)}, ValueError, "63 bits can count"),
    "huge bytes": ({"shape": (2**62,), "strides": None}, ValueError, "strides exceed the address space"),
    "huge stride": ({"strides": (2**62, 1)}, ValueError, "stride exceeds the address space"),
    "huge negative stride": ({"strides": (-(2**63), 1)}, ValueError, "stride exceeds the address space"),
    "huge reach": ({"shape": (2**40, 2), "strides": (2**40, 1)}, ValueError, "strides exceed the address space"),
    "far below": ({"strides": (-(2**58), 1)}, ValueError, "beyond the address space"),
    "huge offset": ({"offset": 2**64 - 1}, ValueError, "beyond the address space"),
    "offset beyond half of all addresses": ({"offset": 2**63 + 5}, ValueError, "beyond the address space"),
    "end of addresses": ({"data": 2**64 - 8}, ValueError, "beyond the address space"),
    "lanes": ({"lanes": 4}, BufferError, "type code 2, 32 bits and 4 lanes"),
    "no lanes": ({"lanes": 0}, BufferError, "0 lanes"),
    "opaque": ({"code": 3, "bits": 64}, BufferError, "type code 3"),
    "float8": ({"code": 10, "bits": 8}, BufferError, "type code 10, 8 bits"),
    "int4": ({"code": 0, "bits": 4}, BufferError, "type code 0, 4 bits"),
    "float128": ({"code": 2, "bits": 128}, BufferError, "type code 2, 128 bits"),
    "complex32": ({"code": 5, "bits": 32}, BufferError, "type code 5, 32 bits"),
    "bool of 32 bits": ({"code": 6, "bits": 32}, BufferError, "type code 6, 32 bits"),
    "managed": ({"device": (CUDA_MANAGED, 0)}, BufferError, "type 13"),
    "page-locked": ({"device": (CUDA_HOST, 0)}, BufferError, "type 3"),
    "Vulkan": ({"device": (7, 0)}, BufferError, "type 7"),
    "no device": ({"device": (0, 0)}, BufferError, "type 0"),
}


@pytest.mark.parametrize("case", MALFORMED)
@both_kinds
@every_backend
def test_what_is_refused_stays_in_its_capsule(name, versioned, case):
    options, kind, message = MALFORMED[case]
    producer = Producer(name, versioned, **options)
    for _ in range(2):
        with pytest.raises(kind, match=message):
            native(name).dlpack_import(producer.capsule, 0)
        assert producer.is_untouched()
    assert producer.ends()


@both_kinds
@every_backend
def test_the_other_sides_memory_is_refused(name, versioned):
    module, (here, _) = native(name), native(name).dlpack_device(0)
    producer = Producer(name, versioned, device=(CUDA if here == CPU else CPU, 0))
    with pytest.raises(BufferError, match="copy it to the host first|numpy.from_dlpack"):
        module.dlpack_import(producer.capsule, 0)
    assert producer.is_untouched()
    assert producer.ends()
    if here == CUDA:
        producer = Producer(name, versioned, device=(CUDA, 5))
        with pytest.raises(BufferError, match="on CUDA device 5, but it was requested on device 0"):
            module.dlpack_import(producer.capsule, 0)
        assert producer.ends()
    producer = Producer(name, versioned)
    with pytest.raises((BufferError, cudakern.CudaError)):
        module.dlpack_import(producer.capsule, 99)
    assert producer.is_untouched()
    assert producer.ends()


@every_backend
def test_other_capsules_and_other_objects(name):
    module = native(name)
    for capsule_name in (b"arrow_schema", b"", b"dltensor2", b"DLTENSOR"):
        producer = Producer(name, False, capsule_name=capsule_name)
        with pytest.raises(ValueError, match="is not a DLPack capsule"):
            module.dlpack_import(producer.capsule, 0)
        assert producer.is_untouched()
        set_name(producer.capsule, b"dltensor")
        assert producer.ends()
    nameless = new_capsule(ctypes.addressof(ctypes.create_string_buffer(8)), None, None)
    with pytest.raises(ValueError, match="is not a DLPack capsule"):
        module.dlpack_import(nameless, 0)
    for thing in (None, 3, np.zeros(3), "dltensor", producer):
        with pytest.raises(TypeError, match=r"expected a DLPack capsule.*__dlpack__"):
            module.dlpack_import(thing, 0)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
                                   "float16", "bfloat16", "float32", "float64", "complex64", "complex128"])  # fmt: skip
@every_backend
def test_every_type_both_ways(name, dtype):
    module = native(name)
    letters, digits = dtype.rstrip("0123456789"), dtype[len(dtype.rstrip("0123456789")) :]
    code, bits = CODES[letters], int(digits or 8)
    producer = Producer(name, True, shape=(2, 2), strides=(2, 1), code=code, bits=bits)
    view = module.dlpack_import(producer.capsule, 0)
    assert (view.dtype, view.strides) == (dtype, (bits // 4, bits // 8))
    for versioned in (True, False):
        tensor = look(module.dlpack_export(view, versioned, False)).tensor
        assert (tensor.code, tensor.bits, tensor.lanes) == (code, bits, 1)
    del view, tensor  # it keeps its capsule
    assert producer.ends()


sizes = st.integers(-2, 5) | st.sampled_from([2**31, 2**32, 2**62, 2**63 - 1, -(2**63)])


@given(
    versioned=st.booleans(),
    axes=st.lists(st.tuples(sizes, sizes), max_size=4),
    data=st.sampled_from([None, 0, 4096, 2**64 - 64, 2**63]),
    offset=st.sampled_from([0, 8, 2**63, 2**64 - 8]),
    code=st.integers(0, 7),
    bits=st.sampled_from([4, 8, 16, 32, 64, 128]),
    lanes=st.sampled_from([1, 1, 1, 0, 2]),
    has_strides=st.booleans(),
    major=st.sampled_from([1, 1, 1, 0, 2]),
)
def test_anything_is_taken_whole_or_refused_in_words(
    versioned, axes, data, offset, code, bits, lanes, has_strides, major
):
    """Whatever stands in the structure: a right View or a clear error, and one call of the deleter."""
    name = BACKENDS[0]
    shape, strides = [n for n, _ in axes], [s for _, s in axes] if has_strides else None
    producer = Producer(name, versioned, shape, strides, data=data, major=major, code=code, bits=bits, lanes=lanes,
                        offset=offset)  # fmt: skip
    try:
        view = native(name).dlpack_import(producer.capsule, 0)
    except (ValueError, BufferError) as error:
        assert len(str(error)) > 20
        assert producer.deleted == (versioned and major != 1)
    else:
        size = bits // 8
        assert view.shape == tuple(shape)
        assert view.dtype.rstrip("0123456789") == {number: word for word, number in CODES.items()}[code]
        assert min(shape, default=0) >= 0
        if strides is not None:
            assert view.strides == tuple(s * size for s in strides)
        if 0 not in shape:
            first = (producer.memory.pointer if data is None else data) + offset
            assert view.pointer == first
            ends = [(n - 1) * s for n, s in zip(shape, view.strides, strict=True)]
            assert first + sum(e for e in ends if e < 0) >= 0
            assert first + sum(e for e in ends if e > 0) + size <= 2**64
        del view
        assert producer.deleted == 1
    assert producer.ends()


@both_kinds
def test_a_fault_while_a_tensor_is_taken(versioned, fault):
    """The capsule is as it was, and the next try works."""
    name = BACKENDS[0]
    module = native(name)
    fault(name, 0, 1)
    producer = Producer(name, versioned)
    module.inject_fault(0, 1)
    view = module.dlpack_import(producer.capsule, 0)
    count = module.fault_count()
    del view
    assert producer.ends()
    for n in range(1, count + 1):
        producer = Producer(name, versioned)
        fault(name, n, 1)
        with pytest.raises(cudakern.CudaError):
            module.dlpack_import(producer.capsule, 0)
        assert producer.is_untouched()
        fault(name, 0, 1)
        view = module.dlpack_import(producer.capsule, 0)
        del view
        assert producer.ends()


# --- objects that lie ------------------------------------------------------------------------------------------------
one_of = st.sampled_from
BITS = {0: (8, 16, 32, 64), 1: (8, 16, 32, 64), 2: (16, 32, 64), 4: (16,), 5: (64, 128), 6: (8,)}  #: by type code
FLOATS = 1024  #: of memory, in the middle of which a tensor begins
ends = one_of([1, 3, 2**31, 2**62, 2**63 - 1, 2**63, 2**64 - 64, 2**64 - 8, 2**64 - 1])
devices = st.tuples(one_of([0, 2, 3, 13, -1, 2**31 - 1]), one_of([0, -1, 2**31 - 1]))
wild = one_of([0, 1, -1, 2, 15, 16, 17, 2**31 - 1, -(2**31), 2**32, 2**62, 2**63 - 1, -(2**63), 2**63 - 8])
answers = [0, "capsule", b"", object(), [], TypeError("other words"), ValueError("no"), BufferError("no")]
names = [b"", b"dltensor_version", b"used_dltensor", b"\xff\xfe", b"x" * 500]
places = [(1,), (1, 0, 0), "10", b"10", 1, ("1", "0"), (2, 0), (2**70, 0), (1, 2**70), (1.5, 0), (None, None), [1, 0]]


def axes(draw, x):
    shape = draw(st.lists(wild | st.just(1), min_size=1, max_size=40))
    return {"shape": shape, "strides": draw(st.none() | st.just([draw(wild) for _ in shape]))}


def ndim(draw, x):
    n = draw(one_of([-1, -(2**31), 17, 2**31 - 1, *range(len(x["shape"] or ()) + 1)]))
    fewer = {name: x[name] and x[name][:n] for name in ("shape", "strides")}
    return {"ndim": n, **(fewer if 0 <= n <= 16 else {})}


def one_wild(draw, numbers):
    at = draw(st.integers(0, len(numbers) - 1)) if numbers else 0
    return numbers and [*numbers[:at], draw(wild), *numbers[at + 1 :]]


#: What a structure, its capsule or its object say instead.
LIES = [
    axes,
    ndim,
    lambda draw, x: {"shape": None, "ndim": draw(one_of([1, 2, 16])), "strides": draw(one_of([None, [1] * 16]))},
    lambda draw, x: {"shape": one_wild(draw, x["shape"])},
    lambda draw, x: {"strides": one_wild(draw, x["strides"])},
    lambda draw, x: {"data": draw(one_of([0, 8, 4096, 2**47]) | ends)},
    lambda draw, x: {"offset": draw(ends)},
    lambda draw, x: {"code": draw(st.integers(0, 255)), "bits": draw(one_of([0, 1, 4, 8, 16, 24, 32, 64, 128, 255]))},
    lambda draw, x: {"lanes": draw(one_of([0, 2, 4, 65535]))},
    lambda draw, x: {"device": draw(devices)},
    lambda draw, x: {"major": draw(one_of([0, 2, 2**32 - 1])), "minor": draw(one_of([0, 1, 2**32 - 1]))},
    lambda draw, x: {"flags": draw(st.integers(0, 2**64 - 1))},
    lambda draw, x: {"capsule_name": draw(one_of(names))},
    lambda draw, x: {"answer": draw(one_of(answers))},
    lambda draw, x: {"place": draw(one_of(places))},
]


@st.composite
def tensors(draw):
    """What a Producer says and its object answers, and the number of lies: without any, a tensor in its memory."""
    code = draw(one_of(sorted(BITS)))
    x = {"versioned": draw(st.booleans()), "minor": draw(one_of([0, 99])), "flags": draw(st.integers(0, 3))}
    x |= {"code": code, "bits": draw(one_of(BITS[code])), "deleter": draw(st.booleans())}
    x |= {"device": (CPU, draw(one_of([0, 7]))), "offset": 2 * FLOATS + draw(one_of([0, 1, 8]))}
    x["shape"] = draw(st.lists(st.integers(0, 3), max_size=4) | st.just([1] * 16))
    steps = [math.prod(max(n, 1) for n in x["shape"][axis + 1 :]) for axis in range(len(x["shape"]))]
    x["strides"] = [step * draw(one_of([1, 1, -1, 0])) for step in steps] if draw(st.booleans()) else None
    x |= {"major": 1, "lanes": 1} | dict.fromkeys(("ndim", "data", "capsule_name", "answer", "place"))
    lies = sorted(draw(st.lists(st.integers(0, len(LIES) - 1), max_size=3, unique=True)))
    for lie in lies:
        x |= LIES[lie](draw, x)
    return x, len(lies)


class Liar:
    """An object of another library."""

    def __init__(self, producer, answer, place):
        self.producer, self.answer, self.place = producer, answer, place

    def __dlpack_device__(self):
        tensor = self.producer.managed.tensor
        return (tensor.device_type, tensor.device_id) if self.place is None else self.place

    def __dlpack__(self, **words):
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.producer.capsule if self.answer is None else self.answer


def could_be_taken(x, producer):
    """Whether the specification allows the tensor: then (its first address, shape, strides in bytes)."""
    shape, size = x["shape"] or [], x["bits"] // 8
    known = x["bits"] in BITS.get(x["code"], ()) and x["lanes"] == 1 and x["device"][0] == CPU
    known &= x["answer"] is None and producer.name.startswith(b"dltensor") and (x["major"] == 1 or not x["versioned"])
    if not known or x["ndim"] not in (None, len(shape)) or len(shape) > 16 or min(shape, default=0) < 0:
        return None
    c_order = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    strides = [size * step for step in (c_order if x["strides"] is None else x["strides"])]
    first = (producer.memory.pointer if x["data"] is None else x["data"]) + x["offset"]
    return None if x["data"] == 0 and 0 not in shape else (first, shape, strides)


@given(tensors())
def test_capsules_that_lie(drawn):
    """Each ends in an error in words, or in an array that is what the capsule says; the deleter is called once."""
    x, lies = drawn
    said = {name: value for name, value in x.items() if name not in ("answer", "place")}
    producer = Producer("emulator", floats=FLOATS, **said)
    with cudakern.use_backend("emulator"):
        try:
            d = cudakern.from_dlpack(Liar(producer, x["answer"], x["place"]))
        except (ValueError, BufferError, TypeError) as error:  # MemoryError: only where there is none
            assert lies > 0, error
            assert len(str(error)) > 10 or error is x["answer"]
        else:
            allowed = could_be_taken(x, producer)
            assert allowed is not None
            first, shape, strides = allowed
            assert d.shape == tuple(shape)
            if 0 not in shape:
                compare(d, producer, first, strides, x)
            assert producer.deleted == 0
            del d
            cudakern.synchronize()
            assert producer.deleted == x["deleter"]
    last = producer.deleted or (x["deleter"] and producer.name in (b"dltensor", b"dltensor_versioned"))
    producer.capsule = None
    assert producer.deleted == last <= 1
    Producer.alive.remove(producer)


def compare(d, producer, first, strides, x):
    """What was taken, with what NumPy has there, where that memory is really the producer's."""
    size, base = x["bits"] // 8, producer.memory.pointer
    reach = [(n - 1) * step for n, step in zip(d.shape, strides, strict=False)]
    low, high = first + sum(end for end in reach if end < 0), first + sum(end for end in reach if end > 0) + size
    assert 0 <= low < high <= 2**63
    if low < base or high > base + 4 * FLOATS or d.size > FLOATS:  # (a stride of 0 makes much of little)
        return
    memory = (ctypes.c_uint8 * (4 * FLOATS)).from_address(base)
    expected = np.ndarray(d.shape, f"V{size}", memory, first - base, strides[: d.ndim]).tobytes()
    if d._view.dtype == "bfloat16":
        bits = np.empty(d.shape, "uint16")
        native("emulator").download((bits, "bfloat16"), d._view, 0)
        assert bits.tobytes() == expected
    elif d._view.dtype != "bool":  # of which any byte may be true
        assert d.get().tobytes() == expected
        if d.ndim:
            assert d[0].copy().get().tobytes() == expected[: d[0].nbytes]
        if not d.read_only and 0 not in strides:
            d.fill(1)
            assert (d.get() == 1).all()


# --- export ----------------------------------------------------------------------------------------------------------
def look(capsule):
    """The structure in a capsule."""
    for name, kind in ((b"dltensor", Old), (b"dltensor_versioned", Versioned)):
        if is_valid(id(capsule), name):
            managed = kind.from_address(pointer_of(id(capsule), name))
            managed.capsule = capsule  # which keeps it
            return managed
    raise AssertionError(name_of(capsule))


def take(capsule):
    """A consumer: it takes the tensor, and calls the deleter when it likes."""
    managed = look(capsule)
    name = name_of(capsule)
    set_name(capsule, {b"dltensor": b"used_dltensor", b"dltensor_versioned": b"used_dltensor_versioned"}[name])
    del managed.capsule
    return managed, lambda: DELETER(managed.deleter)(ctypes.addressof(managed))


@both_kinds
@every_backend
def test_what_an_exported_tensor_says(name, versioned):
    module = native(name)
    base = up(name, np.arange(60, dtype="int16").reshape(3, 4, 5))
    for view, shape, strides, data in [
        (base, (3, 4, 5), (20, 5, 1), base.pointer),
        (module.view(base, 2, (5, 3), (2, -0), "int16"), (5, 3), (1, 0), base.pointer + 2),
        (module.view(base, 118, (4,), (-10,), "int16"), (4,), (-5,), base.pointer + 118),
        (module.view(base, 6, (), (), "int16"), (), (), base.pointer + 6),
        (module.view(base, 0, (2, 1), (8, 3), "int16"), (2, 1), (4, 1), base.pointer),
        (module.view(base, 0, (0, 3), (6, 2), "int16"), (0, 3), (3, 1), None),
        (module.empty((1,) * 16, "int16", 0, 0), (1,) * 16, (1,) * 16, ...),
    ]:
        capsule = module.dlpack_export(view, versioned, False)
        assert name_of(capsule) == (b"dltensor_versioned" if versioned else b"dltensor")
        managed = look(capsule)
        tensor = managed.tensor
        if versioned:
            assert (managed.major, managed.flags) == (1, 0)
            assert look(module.dlpack_export(view, True, True)).flags == 2
        assert (tensor.device_type, tensor.device_id) == module.dlpack_device(0)
        assert (tensor.ndim, tensor.code, tensor.bits, tensor.lanes, tensor.byte_offset) == (len(shape), 0, 16, 1, 0)
        assert tuple(tensor.shape[: len(shape)]) == shape
        assert tuple(tensor.strides[: len(shape)]) == strides
        assert tensor.data == (view.pointer if data is ... else data)
        assert managed.deleter


@every_backend
def test_where_the_memory_is(name):
    module = native(name)
    assert module.dlpack_device(0) == ((CPU, 0) if module.emulated() else (CUDA, 0))
    assert module.dlpack_device(3) == ((CPU, 0) if module.emulated() else (CUDA, 3))


@both_kinds
@every_backend
def test_an_exported_tensor_keeps_its_memory(name, versioned):
    module = native(name)
    used = settled(name)
    view = up(name, np.arange(100, dtype="float64"))
    capsule = module.dlpack_export(view, versioned, False)
    _, delete = take(capsule)
    del view, capsule
    gc.collect()
    assert module.pool_used(0) > used
    delete()
    assert module.pool_used(0) == used
    view = up(name, np.arange(100, dtype="float64"))
    capsule = module.dlpack_export(view, versioned, False)
    del view
    assert module.pool_used(0) > used
    del capsule  # nobody took it
    assert module.pool_used(0) == used


@both_kinds
@every_backend
def test_ours_is_taken_by_ours(name, versioned):
    module, used = native(name), settled(name)
    x = np.arange(24, dtype="complex64").reshape(4, 6)
    view = up(name, x)
    back = module.dlpack_import(
        module.dlpack_export(module.view(view, 8, (6, 3), (8, 48), "complex64"), versioned, False), 0
    )
    assert np.array_equal(down(name, back), np.lib.stride_tricks.as_strided(x.reshape(-1)[1:], (6, 3), (8, 48)))
    assert back.foreign
    again = module.dlpack_import(module.dlpack_export(back, versioned, True), 0)
    del view, back
    assert down(name, again)[0, 0] == 1
    del again
    module.synchronize(0)
    assert module.pool_used(0) == used


@every_backend
def test_read_only_arrays(name):
    """Version 1 says it; before, nobody would hear of it."""
    module, owner = native(name), up(name, np.arange(3.0))
    view = module.adopt(owner, owner.pointer, (3,), None, "float64", 0, True)
    references = sys.getrefcount(owner)
    with pytest.raises(BufferError, match=r"read-only.*max_version=\(1, 0\)"):
        module.dlpack_export(view, False, False)
    assert look(module.dlpack_export(view, True, False)).flags == 1
    assert look(module.dlpack_export(view, True, True)).flags == 3
    assert module.dlpack_import(module.dlpack_export(view, True, False), 0).read_only
    del view
    module.synchronize(0)
    assert sys.getrefcount(owner) == references - 1


@every_backend
def test_strides_that_dlpack_cannot_say(name):
    module, base = native(name), up(name, np.arange(16, dtype="uint8"))
    with pytest.raises(BufferError, match="along axis 1 elements of 4 bytes are 6 bytes apart"):
        module.dlpack_export(module.view(base, 0, (1, 2), (3, 6), "int32"), True, False)
    with pytest.raises(TypeError, match="view is a ndarray"):
        module.dlpack_export(np.zeros(3), True, False)


@both_kinds
@every_backend
def test_a_consumer_may_be_done_on_any_thread(name, versioned):
    """The deleter is called without Python's lock, while other threads make and drop arrays."""
    module, used = native(name), settled(name)
    taken = [take(module.dlpack_export(up(name, np.arange(50)), versioned, False)) for _ in range(64)]

    def work(part):
        for managed, delete in part:
            delete()  # ctypes lets the lock go around it
            up(name, np.arange(5))
            assert managed is not None

    threads = [threading.Thread(target=work, args=(taken[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    module.synchronize(0)
    assert module.pool_used(0) == used


@every_backend
def test_an_owner_waits_for_those_who_had_its_memory_from_us(name):
    """A third library works on it in a stream that nobody told of, and is done with the tensor before its work is."""
    module, seen = native(name), []
    stream = module.stream_create(0, 0)
    memory, factor = up(name, np.zeros((200, 200), "float32")), up(name, np.ones((200, 200), "float32"))
    module.synchronize(0)

    class Owner:
        def __del__(self):
            seen.append(module.stream_done(0, stream))

    view = module.adopt(Owner(), memory.pointer, (200, 200), None, "float32", 0, False)
    managed, delete = take(module.dlpack_export(view, True, False))
    module.exported(view)  # as a GPU's memory is by itself
    theirs = module.adopt(None, managed.tensor.data, (200, 200), None, "float32", 0, False)
    del view
    for _ in range(3):
        module.execute("matmul", "naive", (), (factor, factor), (theirs,), 0, False, stream)
    assert seen == []
    delete()
    assert seen == [True]
    module.stream_destroy(0, stream)


class Exporter:
    """An array of ours, as NumPy wants to see it."""

    def __init__(self, module, view, versioned):
        self.module, self.view, self.versioned = module, view, versioned

    def __dlpack_device__(self):
        return self.module.dlpack_device(self.view.device)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        assert stream is None
        return self.module.dlpack_export(self.view, self.versioned, False)


@both_kinds
def test_numpy_reads_an_emulated_array_where_it_is(versioned):
    module, used = native("emulator"), settled("emulator")
    for dtype in ("bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64", "complex128"):
        x = (np.arange(24) % 5).reshape(4, 6).astype(dtype)
        view = up("emulator", x)
        seen = np.from_dlpack(Exporter(module, view, versioned))
        part = module.view(view, 5 * x.itemsize, (3, 2), (6 * x.itemsize, -2 * x.itemsize), dtype)
        seen_part = np.from_dlpack(Exporter(module, part, versioned))
        assert seen.dtype == dtype
        assert np.array_equal(seen, x)
        assert np.array_equal(seen_part, x[:3, 5:1:-2])
        assert seen.__array_interface__["data"][0] == view.pointer
        module.fill(part, np.ones((), dtype).tobytes(), 0)
        module.synchronize(0)
        assert (seen_part == 1).all()
        assert seen[0, 5] == seen[2, 3] == 1
        del view, part
        gc.collect()
        assert module.pool_used(0) > used
        assert seen[3, 5] == x[3, 5]
        del seen, seen_part
        assert module.pool_used(0) == used
    empty = np.from_dlpack(Exporter(module, module.empty((3, 0), "float32", 0, 0), versioned))
    assert empty.shape == (3, 0)


def test_numpy_is_told_what_is_read_only():
    module = native("emulator")
    x = np.arange(5.0)
    read_only = module.adopt(x, x.ctypes.data, (5,), None, "float64", 0, True)
    assert not np.from_dlpack(Exporter(module, read_only, True)).flags.writeable
    writable = module.adopt(x, x.ctypes.data, (5,), None, "float64", 0, False)
    np.from_dlpack(Exporter(module, writable, True))[2] = 7
    assert x[2] == 7


def test_numpys_arrays_are_taken_where_they_are():
    module = native("emulator")
    x = np.arange(12, dtype="float32").reshape(3, 4)
    references = sys.getrefcount(x)
    view = module.dlpack_import(x.T[::-1].__dlpack__(max_version=(1, 0)), 0)
    assert (view.shape, view.strides, view.read_only) == ((4, 3), (-4, 16), False)
    assert np.array_equal(down("emulator", view), x.T[::-1])
    module.fill(view, np.float32(2).tobytes(), 0)
    module.synchronize(0)
    assert (x == 2).all()
    total = module.empty((), "float32", 0, 0)
    module.execute("sum_of_squares", "vectorized", (), (view,), (total,), 0, False, 0)
    assert down("emulator", total) == 48
    del view
    module.synchronize(0)
    assert sys.getrefcount(x) == references
    x.flags.writeable = False
    assert module.dlpack_import(x.__dlpack__(max_version=(1, 0)), 0).read_only


@every_backend
def test_nothing_leaks(name):
    module = native(name)
    view = up(name, np.arange(12, dtype="float32"))
    odd = module.view(view, 0, (2,), (6,), "float32")
    read_only = module.adopt(object(), view.pointer, (3,), None, "float32", 0, True)

    def refused(function, *arguments):
        with contextlib.suppress(BufferError):
            raise AssertionError(function(*arguments))

    for versioned in (True, False):
        for call in (
            lambda: module.dlpack_export(view, versioned, False),  # noqa: B023
            lambda: module.dlpack_import(module.dlpack_export(view, versioned, False), 0),  # noqa: B023
            lambda: refused(module.dlpack_export, odd, versioned, False),  # noqa: B023
            lambda: refused(module.dlpack_export, read_only, False, False),
            lambda: take(module.dlpack_export(view, versioned, False))[1](),  # noqa: B023
        ):
            leaves_nothing(name, call)

    for options in ({}, {"lanes": 3}, {"shape": (2, -1)}, {"major": 3}, {"data": 0}):
        producer = Producer(name, True, **options)  # once: ctypes keeps something of each new function
        calls = itertools.count()

        def once():
            next(calls)  # noqa: B023
            capsule = producer.wrap()  # noqa: B023
            with contextlib.suppress(ValueError, BufferError):
                module.dlpack_import(capsule, 0)

        leaves_nothing(name, once)
        assert producer.deleted == next(calls) > 0


def test_a_consumer_may_be_done_after_the_interpreter():
    """libc calls the deleter when the process exits: our own memory's, and that of an owner who was Python's."""
    for owner in ("ours", "adopted"):
        process = subprocesses.start(
            """
            import ctypes, os
            import numpy as np
            from cases import native
            from test_dlpack_capsules import DELETER, take
            from views import up
            module = native("emulator")
            x = np.arange(50.0)
            ours = up("emulator", x)
            adopted = module.adopt(x, x.ctypes.data, (50,), None, "float64", 0, False)
            view = ours if os.environ["OWNER"] == "ours" else adopted
            module.fill(view, bytes(8), module.stream_create(0, 0))
            libc = ctypes.CDLL(None)
            for versioned in (True, False):
                managed, delete = take(module.dlpack_export(view, versioned, False))
                address = ctypes.c_void_p(ctypes.addressof(managed))
                assert libc.__cxa_atexit(ctypes.c_void_p(managed.deleter), address, None) == 0
            del view, ours, adopted
            print("done")
        """,
            OWNER=owner,
        )
        output, errors = process.communicate(timeout=60)
        assert (process.returncode, output, errors) == (0, "done\n", ""), owner


def test_tensors_live_at_the_end_of_the_interpreter():
    process = subprocesses.start("""
        import sys
        import numpy as np
        from cases import native
        from test_dlpack_capsules import Exporter, Producer
        from views import up
        module = native("emulator")
        sys.kept = [
            module.dlpack_export(up("emulator", np.arange(3)), True, False),
            module.dlpack_import(np.arange(3.0).__dlpack__(max_version=(1, 0)), 0),
            np.from_dlpack(Exporter(module, up("emulator", np.arange(4)), True)),
            np.arange(5).__dlpack__(),
        ]
        print("done")
    """)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors) == (0, "done\n", "")
