"""Arrays shared with other libraries on a GPU: CuPy, PyTorch, Numba and JAX, those that are installed.

(On the emulator: test_exchange.py.)"""

import gc
import importlib
import types
import warnings

import numpy as np
import pytest

import cudakern as ck
from cases import BACKENDS, native
from exchanged import INTERFACE, Foreign, importable, torch, values


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
        their_stream = stream if hasattr(type(stream), "__cuda_stream__") else Foreign(handle)
        a = values((500, 500))
        x = ck.asarray(a, stream=their_stream)
        y = ck.matmul(x, x, stream=their_stream)
        with library.on(stream):
            theirs = library.make(np.ones((500, 500), np.float32))
            for _ in range(20):
                library.write(theirs)
            ours = ck.from_dlpack(theirs)
        assert (ours.get() == 5).all()
        assert np.allclose(y.get(stream=their_stream), a @ a)


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
        interface = x.__cuda_array_interface__
        assert interface["data"] == (x._view.pointer, False)
        assert (interface["shape"], interface["strides"], interface["typestr"]) == ((4, 3), (24, 8), "<f4")
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
