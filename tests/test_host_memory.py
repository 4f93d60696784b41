"""Page-locked host memory on both sides: every flag, kernels that use it where it lies, what is refused, and lab's
host_memory and overlap on top of it."""

import ctypes
import itertools
import json

import numpy as np
import pytest

import cuda_api
import cudakern
from cuda_api import DEFAULT, ON_DEVICE, TO_DEVICE, TO_HOST
from cudakern import lab

INVALID_VALUE, ALREADY_REGISTERED, NOT_REGISTERED = 1, 712, 713
PORTABLE, MAPPED, WRITE_COMBINED = 1, 2, 4
HOST, UNREGISTERED = 1, 0  # cudaMemoryType
size = ctypes.c_size_t
PAGE = 4096


@pytest.fixture
def library(side):
    made = cuda_api.load(side, "host_memory")
    made.code("api_last_error")
    return made


def allocate(library, n, flags):
    """(address, the memory as an array) of n int32."""
    address = library.value("api_host_alloc", ctypes.c_void_p, size(4 * n), ctypes.c_uint(flags))
    return address, np.ctypeslib.as_array((ctypes.c_int32 * n).from_address(address))


def kind(library, address):
    found, device, here, there = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
    library.check(
        "api_pointer", ctypes.c_void_p(address), *(ctypes.byref(place) for place in (found, device, here, there))
    )
    return found.value


def free(library, address):
    library.check("api_free_host", ctypes.c_void_p(address))


def on_device(library, address):
    return ctypes.c_void_p(
        library.value("api_host_device_pointer", ctypes.c_void_p, ctypes.c_void_p(address), ctypes.c_uint(0))
    )


@pytest.mark.parametrize("flags", range(8))
def test_kernels_read_and_write_it_where_it_lies(library, flags):
    n = 5000
    (given, x), (taken, y) = (allocate(library, n, flags) for _ in range(2))
    assert kind(library, given) == HOST
    assert on_device(library, given + 40).value == on_device(library, given).value + 40
    x[:], y[:] = np.arange(n), 0
    library.launch("run_add_one", on_device(library, given), on_device(library, taken), n, grid=3, block=64)
    assert np.array_equal(y, np.arange(1, n + 1))
    x[:] = -x  # the next launch sees what the host wrote since
    library.launch("run_add_one", on_device(library, given), on_device(library, taken), n, grid=3, block=64)
    assert np.array_equal(y, 1 - np.arange(n))
    free(library, given)
    free(library, taken)
    assert kind(library, given) == UNREGISTERED


def test_flags_that_there_are_not(library):
    place = ctypes.c_void_p()
    for flags in (0x100, 0x80000000):
        code = library.code("api_host_alloc", ctypes.byref(place), size(64), ctypes.c_uint(flags))
        assert code == library.code("api_last_error") == INVALID_VALUE
    room = np.zeros(3 * PAGE, np.uint8)
    at = ctypes.c_void_p(-(-room.ctypes.data // PAGE) * PAGE)
    code = library.code("api_host_register", at, size(PAGE), ctypes.c_uint(0x100))
    assert code == library.code("api_last_error") == INVALID_VALUE


@pytest.mark.parametrize("flags", [0, PORTABLE, MAPPED, PORTABLE | MAPPED])
def test_registered_memory(library, flags):
    n = 2 * PAGE // 4
    room = np.zeros(4 * PAGE, np.uint8)
    start = -(-room.ctypes.data // PAGE) * PAGE
    offset = start - room.ctypes.data
    x = room[offset : offset + 2 * PAGE].view(np.int32)
    x[:] = np.arange(n)
    assert kind(library, start) == UNREGISTERED
    library.check("api_host_register", ctypes.c_void_p(start), size(2 * PAGE), ctypes.c_uint(flags))
    assert kind(library, start) == kind(library, start + PAGE + 8) == HOST
    out = library.buffer(np.zeros(n, np.int32))
    library.launch("run_add_one", on_device(library, start), out, n, grid=2, block=64)
    assert np.array_equal(out.get(), np.arange(1, n + 1))
    code = library.code("api_host_register", ctypes.c_void_p(start), size(2 * PAGE), ctypes.c_uint(flags))
    assert code == library.code("api_last_error") == ALREADY_REGISTERED
    library.check("api_host_unregister", ctypes.c_void_p(start))
    assert kind(library, start) == UNREGISTERED
    code = library.code("api_host_unregister", ctypes.c_void_p(start))
    assert code == library.code("api_last_error") == NOT_REGISTERED
    library.check("api_host_register", ctypes.c_void_p(start), size(PAGE), ctypes.c_uint(flags))  # and again
    library.check("api_host_unregister", ctypes.c_void_p(start))


def test_what_is_not_page_locked(library):
    place, plain = ctypes.c_void_p(), np.zeros(64)
    at = ctypes.c_void_p(plain.ctypes.data)
    assert library.code("api_host_device_pointer", ctypes.byref(place), at, ctypes.c_uint(0)) == INVALID_VALUE
    assert library.code("api_free_host", at) == INVALID_VALUE
    assert library.code("api_host_unregister", at) == NOT_REGISTERED
    assert library.code("api_free_host", None) == 0
    assert library.code("api_last_error") == NOT_REGISTERED
    for bytes_, where in ((0, at), (64, None)):
        code = library.code("api_host_register", where, size(bytes_), ctypes.c_uint(0))
        assert code == library.code("api_last_error") == INVALID_VALUE


def test_a_counter_of_host_and_device(library):
    address, words = allocate(library, 1, MAPPED)
    words[0] = 5
    for _ in range(3):
        library.launch("run_count_up", on_device(library, address), grid=4, block=32)
        words[0] += 1
    assert words[0] == 5 + 3 * 129
    free(library, address)


@pytest.mark.parametrize("to_device, to_host", [(TO_DEVICE, TO_HOST), (DEFAULT, DEFAULT), (ON_DEVICE, ON_DEVICE)])
def test_copies_do_not_wait_and_keep_order(library, to_device, to_host):
    """Between page-locked memory and the device a copy is enqueued, behind the kernels before it."""
    if (to_device, to_host) == (ON_DEVICE, ON_DEVICE) and library.side == "cuda":
        to_device = to_host = DEFAULT  # which kinds a GPU's runtime passes over is not documented
    n = 1000
    (given, x), (taken, y) = (allocate(library, n, MAPPED) for _ in range(2))
    buffer, stream = library.buffer(np.zeros(n, np.int32)), library.stream()
    x[:], y[:] = np.arange(n), 0
    library.check("api_copy_async", buffer, ctypes.c_void_p(given), size(4 * n), to_device, stream)
    library.start("run_add_one", buffer, buffer, n, grid=2, block=64, stream=stream)
    library.check("api_copy_async", ctypes.c_void_p(taken), buffer.address, size(4 * n), to_host, stream)
    library.check("api_stream_synchronize", stream)
    assert np.array_equal(y, np.arange(1, n + 1))
    library.check("api_stream_destroy", stream)
    free(library, given)
    free(library, taken)


# --- for Python ------------------------------------------------------------------------------------------------------
def test_mapped_arrays_are_the_same_memory(backend):
    x = cudakern.empty_pinned((50, 40), "int32")
    x[:] = np.arange(2000).reshape(50, 40)
    d = lab.mapped(x)
    assert isinstance(d, cudakern.DeviceArray)
    assert (d.shape, d.dtype, d.strides) == (x.shape, x.dtype, x.strides)
    assert np.array_equal(d.get(), x)
    x[3, 4] = -7
    cudakern.synchronize()
    assert d[3, 4].get() == -7
    cudakern.asarray(x + 1)
    d.fill(9)
    cudakern.synchronize()
    assert (x == 9).all()
    total = cudakern.vector_add(d, d)
    assert (total.get() == 18).all()
    x[:] = 1
    cudakern.vector_add(d, d, out=d, variant="naive")
    cudakern.synchronize()
    assert (x == 2).all()


def test_mapped_memory_lives_as_long_as_its_device_array(backend):
    used = cudakern.backend().native.pinned_used()
    d = lab.mapped(cudakern.empty_pinned(1000, "float32"))
    d.fill(3)
    assert cudakern.backend().native.pinned_used() == used + 4000
    assert (d.get() == 3).all()
    del d
    cudakern.synchronize()
    assert cudakern.backend().native.pinned_used() == used


def test_slices_and_empty_arrays_can_be_mapped(backend):
    x = cudakern.empty_pinned(100, "float64")
    x[:] = np.arange(100)
    assert lab.mapped(x[10:90:4]).get().tolist() == list(range(10, 90, 4))
    assert lab.mapped(x[:0]).shape == (0,)


def test_what_cannot_be_mapped(backend):
    with pytest.raises(ValueError, match="page-locked"):
        lab.mapped(np.zeros(10))
    with pytest.raises(TypeError, match="list"):
        lab.mapped([1, 2])
    with pytest.raises(TypeError, match="complex256|longdouble|device"):
        lab.mapped(np.zeros(3, "longdouble"))


@pytest.mark.proves("lab.host_memory")
def test_host_memory(backend, tmp_path):
    result = lab.host_memory(sizes=[4, 4096, 100_000], repeat=1)
    assert [(row["bytes"], row["memory"], row["direction"]) for row in result.rows] == [
        (bytes_, memory, direction)
        for bytes_ in (4, 4096, 100_000)
        for memory in ("pageable", "pinned", "mapped")
        for direction in ("to device", "to host")
    ]
    emulated = result.backend.emulated
    assert {row["clock"] for row in result.rows} == {"emulated" if emulated else "gpu"}
    assert all(row["ns"] >= 0 and row["gb_per_s"] > 0 for row in result.rows)
    assert json.loads(json.dumps(result.to_dict()))["experiment"] == "host_memory"
    for wrong in ([], [3], [4096, 2**40]):
        with pytest.raises(ValueError, match="sizes must be one or more"):
            lab.host_memory(sizes=wrong)
    result.plot(str(tmp_path / "picture.png"))
    assert (tmp_path / "picture.png").stat().st_size > 1000


def test_host_memory_looks_at_what_arrives(backend, monkeypatch):
    from cudakern.lab import _host_memory as module

    monkeypatch.setattr(module, "mapped", lambda x: cudakern.asarray(np.zeros_like(x)))
    with pytest.raises(RuntimeError, match="mapped memory"):
        lab.host_memory(sizes=[400], repeat=1)


@pytest.mark.proves("lab.overlap")
@pytest.mark.parametrize(
    "n, pieces, streams, work", [(1, 1, 1, 1), (9, 1, 3, 1), (1003, 4, None, 2), (50, 50, 3, 1), (4000, 3, 2, 1)]
)
def test_overlap(backend, n, pieces, streams, work):
    result = lab.overlap(n, pieces=pieces, streams=streams, work=work, repeat=2)
    count = min(streams or pieces, pieces)
    second = "several streams" if count > 1 else "one stream again"
    assert [(row["way"], row["piece"], row["stream"], row["step"]) for row in result.rows] == [
        (way, piece, piece % k, step)
        for way, k in (("one stream", 1), (second, count))
        for piece in range(pieces)
        for step in ("copy in", "kernel", "copy out")
    ]
    # In a stream steps come one after the other; an event's clock has a resolution.
    for way, k in (("one stream", 1), (second, count)):
        for stream in range(k):
            times = [(r["begin_ns"], r["ns"]) for r in result.rows if (r["way"], r["stream"]) == (way, stream)]
            assert all(a + long <= b + 2000 for (a, long), (b, _) in itertools.pairwise(times))
            assert all(long >= 0 for _, long in times)
    assert all(row["whole_ns"] > 0 for row in result.rows)
    assert ("several" in repr(result)) == (count > 1)
    assert result.title.startswith(f"{n:,} sine{'s' * (n > 1)} in {pieces} piece{'s' * (pieces > 1)}: ")
    assert json.loads(json.dumps(result.to_dict()))["experiment"] == "overlap"


def test_overlap_has_a_picture(backend, tmp_path):
    result = lab.overlap(2000, pieces=3, streams=1, repeat=1)
    picture = result.plot(str(tmp_path / "picture.png"))
    assert (tmp_path / "picture.png").stat().st_size > 1000
    (legend,) = picture.legends
    assert [text.get_text() for text in legend.get_texts()] == ["copy in", "kernel", "copy out"]
    for axes in picture.axes:  # the legend covers no bar
        assert not axes.get_window_extent().overlaps(legend.get_window_extent())


def test_streams_are_at_work_at_the_same_time():
    """In one stream kernels never overlap; in two they do, unless the computer is busy elsewhere for a whole kernel."""
    for _ in range(20):
        with cudakern.use_backend("emulator"):
            result = lab.overlap(2000, pieces=2, work=300, repeat=1)
        together = {}
        for way in ("one stream", "several streams"):
            (_, end), (begin, _) = (
                (r["begin_ns"], r["begin_ns"] + r["ns"])
                for r in result.rows
                if (r["way"], r["step"]) == (way, "kernel")
            )
            together[way] = begin < end - 2000
        assert not together["one stream"]
        if together["several streams"]:
            break
    assert together["several streams"]


def test_overlap_refuses(backend):
    for wrong in ({"pieces": 4, "n": 3}, {"pieces": 0}, {"pieces": 65}, {"streams": 0}, {"work": 0}):
        with pytest.raises(
            ValueError, match=f"^overlap: {next(iter(wrong))} must be (1 or more|from 1 to (3|64)), not "
        ):
            lab.overlap(**wrong)
    with pytest.raises(ValueError, match="repeat"):
        lab.overlap(10, repeat=0)


def test_overlap_looks_at_what_comes_back(backend, monkeypatch):
    from cudakern.lab import _host_memory as module

    monkeypatch.setattr(module, "intrinsics", lambda x, y, out, **keywords: out.fill(0.5))
    with pytest.raises(RuntimeError, match="the results from 1 stream are wrong"):
        lab.overlap(100, repeat=1)
