"""The C modules' arrays: transfers, calls, streams and events, page-locked memory, the end of a process."""

import gc
import itertools
import re
import time
import warnings

import numpy as np
import pytest

import cudakern
import subprocesses
from cases import BACKENDS, LAYOUTS, native, numbers
from views import SHAPES, TYPES, down, like, up, values

every_backend = pytest.mark.parametrize("name", BACKENDS)


# --- transfers -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", TYPES)
@every_backend
def test_there_and_back(name, dtype):
    for shape in SHAPES:
        x = values(shape, dtype)
        assert np.array_equal(down(name, up(name, x)), x)
        swapped = x.astype(x.dtype.newbyteorder("S"))
        view = native(name).empty(shape, dtype, 0, 0)
        native(name).upload(view, swapped, 0)
        assert np.array_equal(down(name, view), x)
        out = np.zeros_like(swapped)
        native(name).download(out, view, 0)
        assert np.array_equal(out, x)


@pytest.mark.parametrize("layout", LAYOUTS)
@every_backend
def test_into_and_out_of_strided_arrays(name, layout):
    """The device's side has any strides; the host's has none but its own order."""
    whole = numbers((9, 8), "float64")
    part = LAYOUTS[layout](whole)
    base = up(name, whole)
    if np.shares_memory(part, whole):
        view = like(name, base, whole, part)
        assert np.array_equal(down(name, view), part)
        if 0 not in part.strides:
            new = numbers(part.shape, "float64", 1)
            native(name).upload(view, new, 0)
            part[...] = new
            assert np.array_equal(down(name, base), whole)
    else:
        view = up(name, part)
        assert np.array_equal(down(name, view), part)


@every_backend
def test_misaligned_and_read_only_hosts(name):
    raw = np.zeros(41, "uint8")
    odd = raw[1:].view("float64")
    odd[...] = np.arange(5)
    odd.flags.writeable = False
    view = native(name).empty((5,), "float64", 0, 0)
    native(name).upload(view, odd, 0)
    assert down(name, view).tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="into is read-only"):
        native(name).download(odd, view, 0)
    odd = np.zeros(41, "uint8")[1:].view("float64")
    native(name).download(odd, view, 0)
    assert odd.tolist() == [0, 1, 2, 3, 4]


@every_backend
def test_a_sum_that_the_host_adds_at_an_odd_address(name):
    total = np.zeros(9, "uint8")[1:].view("int64").reshape(())
    x = np.arange(5000)
    native(name).execute("sum_of_squares", "multi_block", (), (x,), (total,), 0, False, 0)
    assert total == np.dot(x, x)


@every_backend
def test_bfloat16_comes_as_a_pair(name):
    module = native(name)
    x = (np.arange(-4, 4, dtype="float32").view("uint32") >> 16).astype("uint16")
    view, out = module.empty((8,), "bfloat16", 0, 0), np.zeros(8, "uint16")
    module.upload(view, (x, "bfloat16"), 0)
    module.download((out, "bfloat16"), view, 0)
    assert np.array_equal(out, x)
    wide = module.empty((8,), "float32", 0, 0)
    module.copy(wide, view, 0)
    assert down(name, wide).tolist() == list(range(-4, 4))
    with pytest.raises(TypeError, match="source has type uint16, but the array on the device has type bfloat16"):
        module.upload(view, x, 0)
    with pytest.raises(TypeError, match="source is an array of int16; pass bfloat16 values as an array of uint16"):
        module.upload(view, (x.view("int16"), "bfloat16"), 0)
    for pair in [(x,), (x, "float16"), (x, "bfloat16", 1), (), (x, 3)]:
        with pytest.raises(TypeError, match="source is a tuple but not a pair"):
            module.upload(view, pair, 0)
    out = np.zeros((), "float32")
    with pytest.raises(TypeError, match="input 0 is an array of float32"):
        module.execute("sum_of_squares", "vectorized", (), ((np.zeros(3, "f4"), "bfloat16"),), (out,), 0, False, 0)
    module.execute("sum_of_squares", "vectorized", (), ((x, "bfloat16"),), (out,), 0, False, 0)
    assert out == 16 + 9 + 4 + 1 + 0 + 1 + 4 + 9


@every_backend
@pytest.mark.parametrize("swapped", [False, True])
def test_transfers_of_any_strides(name, swapped):
    """Also of arrays so small that Python would have NumPy gather them."""
    module, base = native(name), np.arange(2 * 6 * 10, dtype=">f4" if swapped else "<f4").reshape(2, 6, 10)
    for host in (base.T, base[:, ::-1], base[:, ::2, ::3], base[..., 4], base.transpose(1, 0, 2)[::-1, :, 1::4]):
        for there in (up(name, np.zeros(host.shape, "f4")), up(name, np.zeros(host.shape[::-1], "f4").T)):
            module.upload(there, host, 0)
            plain = np.zeros(host.shape, "f4")
            module.download(plain, there, 0)
            assert np.array_equal(plain, host)
            room = np.full(base.size, -1, base.dtype)
            offset = host.__array_interface__["data"][0] - base.__array_interface__["data"][0]
            into = np.ndarray(host.shape, base.dtype, room, offset, host.strides)
            module.download(into, there, 0)
            assert np.array_equal(into, host)
            assert (room == -1).sum() == base.size - host.size
    there = up(name, np.zeros((3, 4), "f4"))
    module.upload(there, np.broadcast_to(base[0, 0, :8:2], (3, 4)), 0)
    module.download(plain := np.zeros((3, 4), "f4"), there, 0)
    assert np.array_equal(plain, np.broadcast_to(base[0, 0, :8:2], (3, 4)))


@every_backend
def test_transfers_that_do_not_fit(name):
    module, x = native(name), up(name, np.zeros((3, 4), "float32"))
    for transfer in (lambda host: module.upload(x, host, 0), lambda host: module.download(host, x, 0)):
        with pytest.raises(ValueError, match=r"has shape \(4, 3\), but the array on the device has shape \(3, 4\)"):
            transfer(np.zeros((4, 3), "float32"))
        with pytest.raises(
            TypeError, match=r"has type float64, but the array on the device has type float32.*\.astype"
        ):
            transfer(np.zeros((3, 4), "float64"))
        with pytest.raises(TypeError, match="is a list, not an array"):
            transfer([1, 2])
        with pytest.raises(ValueError, match="17 dimensions; at most 16"):
            transfer(np.zeros((1,) * 17, "float32"))
        with pytest.raises(TypeError, match="buffer format"):
            transfer(np.zeros((3, 4), "datetime64[s]").view("V8"))
    with pytest.raises(ValueError, match=r"same shape, but they are .*\(2,\).* and .*\(3, 4\)"):
        module.copy(x, up(name, np.zeros(2)), 0)
    with pytest.raises(ValueError, match="value has 8 bytes, but an element of float32 has 4"):
        module.fill(x, bytes(8), 0)


@every_backend
def test_what_may_not_be_written(name):
    module, x = native(name), up(name, np.arange(12, dtype="float32").reshape(3, 4))
    read_only = module.adopt(x, x.pointer, (3, 4), None, "float32", 0, True)
    broadcast = module.view(x, 0, (3, 4), (0, 4), "float32")
    for view, message in [(read_only, "is read-only"), (broadcast, "3 elements along axis 0 that share their memory")]:
        with pytest.raises(ValueError, match=f"to {message}|to has {message}"):
            module.upload(view, np.zeros((3, 4), "float32"), 0)
        with pytest.raises(ValueError, match=message):
            module.copy(view, x, 0)
        with pytest.raises(ValueError, match=message):
            module.fill(view, bytes(4), 0)
        with pytest.raises(ValueError, match=f"output 0 .*{message}"):
            module.execute("matmul", "tiled", (), (x, up(name, np.eye(4, dtype="f4"))), (view,), 0, False, 0)
    assert np.array_equal(down(name, x), np.arange(12).reshape(3, 4))
    one = module.view(x, 4, (1, 4), (0, 4), "float32")  # the stride of an axis of length 1 is not used
    module.fill(one, np.float32(9).tobytes(), 0)
    assert down(name, x)[0].tolist() == [0, 9, 9, 9]


@every_backend
def test_copies_convert_as_astype_does(name):
    for source, target in itertools.product(("bool", "int16", "uint64", "float32", "complex64"), repeat=2):
        x = values((5, 7), source)
        if source in ("float32", "complex64"):  # which integer a negative or a large one becomes is left open
            x = np.abs(x * 100).astype(source)
        to = native(name).empty((7, 5), target, 0, 0)
        transposed = native(name).view(to, 0, (5, 7), to.strides[::-1], target)
        native(name).copy(transposed, up(name, x), 0)
        with warnings.catch_warnings(action="ignore"):  # NumPy's, that imaginary parts are lost
            wanted = x.astype(target).T
        assert np.array_equal(down(name, to), wanted), (source, target)


@pytest.mark.parametrize("dtype", TYPES)
@every_backend
def test_fill(name, dtype):
    x, value = values((6, 7), dtype), values((), dtype, 5)
    base = up(name, x)
    part = x[::2, 1:-1]
    native(name).fill(like(name, base, x, part), value.tobytes(), 0)
    part[...] = value
    assert np.array_equal(down(name, base), x)


# --- calls -----------------------------------------------------------------------------------------------------------
@every_backend
def test_execute_takes_arrays_of_one_side(name):
    module = native(name)
    a, b = numbers((5, 6), "float32"), numbers((6, 7), "float32", 1)
    x, y, out = up(name, a), up(name, b), module.empty((5, 7), "float32", 0, 0)
    assert module.execute("matmul", "tiled", (), (x, y), (out,), 0, False, 0) is None
    result = np.zeros((5, 7), "float32")
    assert module.execute("matmul", "tiled", (), (a, b), (result,), 0, False, 0) is None
    assert np.array_equal(down(name, out), result)
    assert np.allclose(result, a @ b, rtol=1e-5)
    report = module.execute("matmul", "tiled", (), (x, y), (out,), 0, True, 0)
    assert (report["bytes_to_device"], report["bytes_to_host"]) == (0, 0)
    assert report["kernel_ns"] >= 0
    for arrays in [((a, y), (out,)), ((x, b), (out,)), ((x, y), (result,)), ((a, b), (out,))]:
        with pytest.raises(TypeError, match="all arrays of a call must be on the same side"):
            module.execute("matmul", "tiled", (), *arrays, 0, False, 0)
    with pytest.raises(TypeError, match="input 1 is a list, not a View"):
        module.execute("matmul", "tiled", (), (x, [1]), (out,), 0, False, 0)
    with pytest.raises(TypeError, match="input 0 is a list, not an array"):
        module.execute("matmul", "tiled", (), ([1], x), (out,), 0, False, 0)
    with pytest.raises(TypeError, match="inputs must be a tuple of arrays"):
        module.execute("matmul", "tiled", (), [x, y], (out,), 0, False, 0)
    with pytest.raises(ValueError, match="exceed a call's limit of 6 arrays"):
        module.execute("matmul", "tiled", (), (x,) * 7, (out,), 0, False, 0)
    with pytest.raises(TypeError, match="matmul takes 2 inputs, not 1"):
        module.execute("matmul", "tiled", (), (x,), (out,), 0, False, 0)
    with pytest.raises(ValueError, match="is not a stream"):
        module.execute("matmul", "tiled", (), (x, y), (out,), 0, False, 77)


@every_backend
def test_names_that_nobody_knows(name):
    module = native(name)
    with pytest.raises(ValueError, match=re.escape("There is no operation 'nothing'. Available: ")):
        module.execute("nothing", "x", (), (), (), 0, False, 0)
    with pytest.raises(ValueError, match="has no variant 'nothing'"):
        module.execute("matmul", "nothing", (), (), (), 0, False, 0)


def test_a_view_of_another_module_is_told():
    subprocesses.run("""
        import importlib, sys
        import pytest
        first = importlib.import_module("cudakern._emulator")
        x = first.empty((3,), "float32", 0, 0)
        del sys.modules["cudakern._emulator"]
        second = importlib.import_module("cudakern._emulator")
        assert first is not second
        y = second.empty((3,), "float32", 0, 0)
        for call in (lambda: second.copy(y, x, 0), lambda: second.overlap(x, y), lambda: second.fill(x, bytes(4), 0),
                     lambda: second.execute("sum_of_squares", "atomic", (), (y, x), (y,), 0, False, 0)):
            with pytest.raises(TypeError, match="is an array of another backend"):
                call()
        del first  # the View keeps its module, and the runtime behind it
        assert x.shape == (3,)
        del x
    """)


def test_arrays_of_several_devices():
    subprocesses.run(
        """
        import numpy as np, pytest
        from cases import native
        from views import SHAPES, TYPES, down, up
        module = native("emulator")
        x, y = up("emulator", np.arange(5.0), device=0), up("emulator", np.arange(5.0), device=2)
        assert (x.device, y.device) == (0, 2)
        assert module.pool_used(2) > 0 == module.pool_used(1)
        with pytest.raises(ValueError, match="input 0 is on device 2, but the call runs on device 0; copy it there"):
            module.execute("sum_of_squares", "vectorized", (), (y,), (x,), 0, False, 0)
        z = module.empty((5,), "float64", 2, 0)
        module.copy(z, x, 0)
        assert down("emulator", z).tolist() == [0, 1, 2, 3, 4]
        stream = module.stream_create(2, 0)
        module.wait_for(z, stream)
        module.used_in(z, stream, True)
        module.stream_destroy(2, stream)
        total = module.empty((), "float64", 2, 0)
        module.execute("sum_of_squares", "vectorized", (), (y,), (total,), 2, False, 0)
        assert down("emulator", total) == 30
        assert module.current_device() == 0
        del x, y, z, total
        module.synchronize(2)
        assert [module.pool_used(d) for d in range(3)] == [0, 0, 0]
    """,
        CUDAKERN_EMULATOR_DEVICES="3",
    )


# --- streams and events ----------------------------------------------------------------------------------------------
@every_backend
def test_streams(name):
    module = native(name)
    low, high = module.stream_create(0, 0), module.stream_create(0, -1)
    assert len({low, high, 0, 1, 2}) == 5
    x = up(name, np.arange(10.0), low)
    for stream in (low, high, 0, 1, 2):
        assert down(name, x, stream).tolist() == list(range(10))
        module.fill(x, np.float64(stream % 7).tobytes(), stream)
        module.stream_synchronize(0, stream)
        assert module.stream_done(0, stream) is True
        assert (down(name, x, low) == stream % 7).all()
        module.fill(x, bytes(8), low)
        module.upload(x, np.arange(10.0), high)
    module.synchronize(0)
    for stream in (low, high):
        module.stream_destroy(0, stream)
    for wrong in (3, 77, 2**63 + 8, 4097):
        with pytest.raises(ValueError, match="is not a stream"):
            module.stream_synchronize(0, wrong)
        with pytest.raises(ValueError, match="is not a stream"):
            module.empty((3,), "int8", 0, wrong)
    for wrong in (0, 1, 2):
        with pytest.raises(ValueError, match="cannot be destroyed"):
            module.stream_destroy(0, wrong)
    with pytest.raises(ValueError, match="stream is -1, which is negative"):
        module.stream_done(0, -1)
    with pytest.raises(TypeError, match="stream must be an integer, not 'x'"):
        module.stream_done(0, "x")
    with pytest.raises(cudakern.CudaError, match="cudaErrorInvalidDevice"):
        module.stream_create(99, 0)


@pytest.mark.parametrize("handle", [8, 4096, 4104, 2**40, 2**47 - 8, 2**63 - 8])
def test_invented_handles(handle):
    """The emulator looks handles up and follows none: an address of nothing, within an event, of one that is gone."""
    module = native("emulator")
    event, stream = module.event_create(0, True), module.stream_create(0, 0)
    gone = [module.event_create(0, True), module.stream_create(0, 0)]
    module.event_destroy(0, gone[0])
    module.stream_destroy(0, gone[1])
    refused = (ValueError, cudakern.CudaError)
    words = "is not (a stream|an event)|cudaErrorInvalidResourceHandle"
    for wrong in (handle, event + 8, stream + 8, *gone):
        for call in ("stream_destroy", "stream_synchronize", "stream_done"):
            with pytest.raises(refused, match=words):
                getattr(module, call)(0, wrong)
        for call in ("event_destroy", "event_synchronize", "event_done"):
            with pytest.raises(refused, match=words):
                getattr(module, call)(0, wrong)
        for call, arguments in (
            ("stream_wait_event", (wrong, event)),
            ("stream_wait_event", (stream, wrong)),
            ("event_record", (wrong, stream)),
            ("event_record", (event, wrong)),
            ("event_elapsed", (wrong, event)),
            ("event_elapsed", (event, wrong)),
            ("wait_for", ()),
            ("used_in", ()),
        ):
            x = module.empty((3,), "int8", 0, 0)
            given = {"wait_for": (x, wrong), "used_in": (x, wrong, True)}.get(call, (0, *arguments))
            with pytest.raises(refused, match=words):
                getattr(module, call)(*given)
    module.event_record(0, event, stream)
    module.event_synchronize(0, event)
    many = [module.event_create(0, False) for _ in range(1000)]
    assert len({*many, event}) == 1001
    for one in many:
        module.event_record(0, one, stream)
        assert isinstance(module.event_done(0, one), bool)
        module.event_destroy(0, one)
    module.event_destroy(0, event)
    module.stream_destroy(0, stream)


@every_backend
def test_events(name):
    module = native(name)
    first, last, plain = module.event_create(0, True), module.event_create(0, True), module.event_create(0, False)
    stream, other = module.stream_create(0, 0), module.stream_create(0, 0)
    x = up(name, numbers((300, 300), "float32"), stream)
    out = module.empty((300, 300), "float32", 0, stream)
    begun = time.perf_counter()
    module.event_record(0, first, stream)
    module.execute("matmul", "naive", (), (x, x), (out,), 0, False, stream)
    module.event_record(0, last, stream)
    module.stream_wait_event(0, other, last)
    module.event_record(0, plain, other)
    module.event_synchronize(0, plain)
    took = time.perf_counter() - begun
    assert module.event_done(0, last) is True
    assert module.stream_done(0, stream) is True
    assert 0 < module.event_elapsed(0, first, last) < 1.01 * 1000 * took  # milliseconds; the host waited for both
    with pytest.raises(cudakern.CudaError):
        module.event_elapsed(0, first, plain)  # it notes no time
    with pytest.raises(ValueError, match="0 is not an event"):
        module.event_record(0, 0, stream)
    with pytest.raises(ValueError, match="5 is not an event"):
        module.stream_wait_event(0, stream, 5)
    for event in (first, last, plain):
        module.event_destroy(0, event)
    for handle in (stream, other):
        module.stream_destroy(0, handle)


@every_backend
def test_work_in_several_streams_is_ordered_by_its_arrays(name):
    """A long product in one stream; the next stream reads its result without anybody waiting."""
    module = native(name)
    a = numbers((200, 200), "float32")
    one, two = module.stream_create(0, 0), module.stream_create(0, 0)
    x, y, z = up(name, a), module.empty(a.shape, "float32", 0, one), module.empty(a.shape, "float32", 0, two)
    for _ in range(5):
        module.execute("matmul", "tiled", (), (x, x), (y,), 0, False, one)
        module.copy(z, y, two)
        module.fill(y, bytes(4), one)  # after the copy that reads it
    assert np.allclose(down(name, z, one), a @ a, rtol=1e-4, atol=1e-4)
    assert not down(name, y, two).any()
    module.exported(y)
    del x, y, z  # while work may still run
    for stream in (one, two):
        module.stream_destroy(0, stream)


@every_backend
def test_another_librarys_work_is_ordered_as_it_is_told(name):
    """Its array is another memory to us, at the same address: only what is told orders the two."""
    module = native(name)
    a = numbers((200, 200), "float32")
    wanted = a @ a
    one, two = module.stream_create(0, 0), module.stream_create(0, 0)
    x, ours, seen = up(name, a), up(name, a), module.empty(a.shape, "float32", 0, two)
    theirs = module.adopt(ours, ours.pointer, a.shape, None, "float32", 0, False)
    module.synchronize(0)
    for _ in range(3):
        module.execute("matmul", "naive", (), (x, x), (theirs,), 0, False, one)
        module.used_in(ours, one, True)
        assert np.allclose(down(name, ours, two), wanted, rtol=1e-4, atol=1e-4)
        module.fill(theirs, bytes(4), 0)
        module.synchronize(0)
        module.execute("matmul", "naive", (), (x, x), (ours,), 0, False, one)
        module.wait_for(ours, two)
        module.copy(seen, theirs, two)
        module.used_in(ours, two, False)
        module.fill(ours, bytes(4), one)  # after the copy
        assert np.allclose(down(name, seen), wanted, rtol=1e-4, atol=1e-4)
        assert not down(name, ours).any()
    module.synchronize(0)
    for stream in (one, two):
        module.stream_destroy(0, stream)


# --- page-locked memory ----------------------------------------------------------------------------------------------
@every_backend
def test_pinned_memory_lives_as_long_as_its_last_user(name):
    module = native(name)
    gc.collect()
    used = module.pinned_used()
    made = module.pinned(4000)
    assert module.pinned_used() >= used + 4000
    assert repr(made).startswith(f"<cudakern._{name}.Pinned, 4000 bytes, 0x")
    with memoryview(made) as bytes_of_it:
        assert (bytes_of_it.nbytes, bytes_of_it.readonly, bytes_of_it.format, bytes_of_it.ndim) == (4000, False, "B", 1)
    x = np.frombuffer(made, "float32")
    del made
    gc.collect()
    x[...] = np.arange(1000)
    view = module.empty((1000,), "float32", 0, 0)
    module.upload(view, x, 0)
    x[...] = 0
    module.download(x, view, 0)
    assert np.array_equal(x, np.arange(1000))
    part = x[10:]
    del x
    assert part[0] == 10
    assert module.pinned_used() >= used + 4000
    del part
    assert module.pinned_used() == used
    assert memoryview(module.pinned(0)).nbytes == 0
    with pytest.raises(ValueError, match="-1"):
        module.pinned(-1)
    with pytest.raises(TypeError):
        module.pinned("x")
    with pytest.raises(TypeError):
        type(module.pinned(1))()
    with pytest.raises((cudakern.CudaError, MemoryError)):
        module.pinned(2**62)
