"""Streams, events and copies: order within a stream, overlap between streams, errors where CUDA reports them."""

import ctypes
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import cuda_api
import subprocesses
from cuda_api import BLOCKING, DEFAULT, LEGACY, PER_THREAD, TO_DEVICE, TO_HOST

NOT_READY, INVALID_VALUE, INVALID_HANDLE, LAUNCH_FAILURE = 600, 1, 400, 719
PATIENCE = ctypes.c_ulonglong(20_000_000_000)  # until a kernel that waits gives up: then the result is wrong
size = ctypes.c_size_t


@pytest.fixture
def library(side):
    return cuda_api.load(side, "streams")


@pytest.fixture
def streams(library):
    made = [library.stream() for _ in range(3)]
    yield made
    for stream in made:
        library.check("api_stream_destroy", stream)


class HostFlag:
    """An int in pinned memory that host and device both see."""

    def __init__(self, library):
        self.library = library
        self.address = ctypes.c_void_p(library.value("api_malloc_host", ctypes.c_void_p, size(4)))
        self.cell = ctypes.c_int.from_address(self.address.value)
        self.cell.value = 0

    def free(self):
        self.library.check("api_free_host", self.address)


@pytest.fixture
def flag(library):
    made = HostFlag(library)
    yield made
    made.free()


def test_a_launch_does_not_wait(library, streams, flag):
    """The kernel waits for the host: a launch that waited would never come back in time."""
    out = library.buffer(np.zeros(1, np.int32))
    done = library.event()
    library.start("run_wait_for_flag", flag.address, out, PATIENCE, stream=streams[0])
    library.check("api_event_record", done, streams[0])
    assert library.code("api_stream_query", streams[0]) == NOT_READY
    assert library.code("api_event_query", done) == NOT_READY
    flag.cell.value = 41
    library.check("api_event_synchronize", done)
    assert library.code("api_event_query", done) == 0
    library.check("api_stream_synchronize", streams[0])
    assert library.code("api_stream_query", streams[0]) == 0
    assert out.get()[0] == 41
    library.check("api_event_destroy", done)


def test_streams_overlap(library, streams, flag):
    """A kernel in one stream waits for a flag that a kernel in another one sets."""
    out = library.buffer(np.zeros(1, np.int32))
    library.start("run_wait_for_flag", flag.address, out, PATIENCE, stream=streams[0])
    library.start("run_set_flag", flag.address, 5, stream=streams[1])
    library.check("api_stream_synchronize", streams[1])
    library.check("api_stream_synchronize", streams[0])
    assert out.get()[0] == 5


def test_work_of_a_stream_is_done_in_order(library, streams):
    cells = [library.buffer(np.zeros(1, np.int32)) for _ in range(2)]
    for _ in range(25):
        for at in range(2):
            library.start("run_step", cells[at], cells[1 - at], stream=streams[0])
    library.check("api_stream_synchronize", streams[0])
    value = 0
    for _ in range(50):
        value = (3 * value + 1 + 2**31) % 2**32 - 2**31
    assert cells[0].get()[0] == value


def test_an_event_orders_two_streams(library, streams, flag):
    """The second stream's step reads what the first writes, though the first is held up by the host."""
    first, second, third = (library.buffer(np.zeros(1, np.int32)) for _ in range(3))
    event = library.event()
    library.start("run_wait_for_flag", flag.address, first, PATIENCE, stream=streams[0])
    library.start("run_step", first, second, stream=streams[0])
    library.check("api_event_record", event, streams[0])
    library.check("api_stream_wait", streams[1], event)
    library.start("run_step", second, third, stream=streams[1])
    assert library.code("api_stream_query", streams[1]) == NOT_READY
    flag.cell.value = 10
    library.check("api_stream_synchronize", streams[1])
    assert third.get()[0] == 3 * (3 * 10 + 1) + 1
    library.check("api_event_destroy", event)


def test_waiting_for_an_event_that_nobody_recorded_is_no_wait(library, streams):
    event, out = library.event(), library.buffer(np.zeros(1, np.int32))
    assert library.code("api_event_query", event) == 0
    library.check("api_stream_wait", streams[0], event)
    library.launch("run_step", out, out, stream=streams[0])
    assert out.get()[0] == 1
    library.check("api_event_destroy", event)


def test_time_between_events(library, streams):
    first, last, silent = library.event(), library.event(), library.event(2)  # cudaEventDisableTiming
    out = library.buffer(np.zeros(1, np.int32))
    milliseconds = ctypes.c_float(-1)
    assert library.code("api_event_elapsed", ctypes.byref(milliseconds), first, last) == INVALID_HANDLE
    library.check("api_event_record", first, streams[0])
    library.start("run_step", out, out, stream=streams[0])
    library.check("api_event_record", last, streams[0])
    library.check("api_event_record", silent, streams[0])
    library.check("api_event_synchronize", last)
    library.check("api_event_elapsed", ctypes.byref(milliseconds), first, last)
    assert milliseconds.value >= 0
    assert library.code("api_event_elapsed", ctypes.byref(milliseconds), first, silent) == INVALID_HANDLE
    for event in (first, last, silent):
        library.check("api_event_destroy", event)


def test_memory_in_the_streams_order(library, streams, flag):
    """Memory freed behind a kernel that still uses it stays until that kernel is done."""
    out = library.buffer(np.zeros(1, np.int32))
    pointer = ctypes.c_void_p(library.value("api_malloc_async", ctypes.c_void_p, size(4), streams[0]))
    library.check("api_set_async", pointer, 0, size(4), streams[0])
    library.start("run_wait_for_flag", flag.address, pointer, PATIENCE, stream=streams[0])
    library.start("run_step", pointer, out, stream=streams[0])
    library.check("api_free_async", pointer, streams[0])
    other = ctypes.c_void_p(library.value("api_malloc_async", ctypes.c_void_p, size(4), streams[1]))
    library.check("api_set_async", other, 255, size(4), streams[1])
    library.check("api_free_async", other, streams[1])
    library.check("api_stream_synchronize", streams[1])
    flag.cell.value = 4
    library.check("api_stream_synchronize", streams[0])
    assert out.get()[0] == 13


def test_memory_freed_in_another_stream(library, streams, flag):
    """The stream that frees has waited for the one that uses: nobody gets the memory before that use is over."""
    out, event = library.buffer(np.zeros(1, np.int32)), library.event()
    pointer = ctypes.c_void_p(library.value("api_malloc_async", ctypes.c_void_p, size(4), streams[0]))
    library.start("run_wait_for_flag", flag.address, pointer, PATIENCE, stream=streams[0])
    library.start("run_step", pointer, out, stream=streams[0])
    library.check("api_event_record", event, streams[0])
    library.check("api_stream_wait", streams[1], event)
    library.check("api_free_async", pointer, streams[1])
    others = []
    for _ in range(20):
        others.append(ctypes.c_void_p(library.value("api_malloc_async", ctypes.c_void_p, size(4), streams[2])))
        library.check("api_set_async", others[-1], 255, size(4), streams[2])
    assert pointer.value not in [other.value for other in others]
    flag.cell.value = 7
    for other in others:
        library.check("api_free_async", other, streams[1])
    library.check("api_synchronize")
    assert out.get()[0] == 22
    library.check("api_event_destroy", event)


def test_free_takes_memory_of_a_pool(library, streams):
    pointer = ctypes.c_void_p(library.value("api_malloc_async", ctypes.c_void_p, size(1000), streams[0]))
    library.check("api_set_async", pointer, 0, size(1000), streams[0])
    library.check("api_stream_synchronize", streams[0])  # cudaFree of such memory does not wait for its stream
    library.check("api_free", pointer)
    library.check("api_stream_synchronize", streams[0])


@pytest.mark.parametrize("side", ["emulator"])  # what a GPU does then is nowhere promised
def test_freeing_in_a_stream_what_is_of_no_pool(library, streams):
    pointer = ctypes.c_void_p(library.value("api_malloc", ctypes.c_void_p, size(1000)))
    assert library.code("api_free_async", pointer, streams[0]) == INVALID_VALUE
    assert "free it with cudaFree" in library.detail()
    library.check("api_free", pointer)


def test_not_ready_is_an_answer_and_no_error(library, streams, flag):
    out, event = library.buffer(np.zeros(1, np.int32)), library.event()
    library.code("api_last_error")
    library.start("run_wait_for_flag", flag.address, out, PATIENCE, stream=streams[0])
    library.check("api_event_record", event, streams[0])
    assert library.code("api_stream_query", streams[0]) == NOT_READY
    assert library.code("api_event_query", event) == NOT_READY
    assert library.code("api_peek_error") == 0
    flag.cell.value = 1
    library.check("api_event_synchronize", event)
    assert library.code("api_event_query", event) == 0
    library.check("api_event_destroy", event)


# --- the default streams ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("handle", [None, LEGACY, PER_THREAD], ids=["NULL", "legacy", "per_thread"])
def test_default_streams_go_where_a_stream_goes(library, handle):
    flags, given, out = ctypes.c_uint(9), np.arange(30, dtype=np.int32), np.zeros(30, np.int32)
    library.check("api_stream_get_flags", handle, ctypes.byref(flags))
    assert flags.value == BLOCKING
    event = library.event()
    pointer = ctypes.c_void_p(library.value("api_malloc_async", ctypes.c_void_p, size(120), handle))
    library.check("api_copy_async", pointer, ctypes.c_void_p(given.ctypes.data), size(120), TO_DEVICE, handle)
    library.start("run_step", pointer, pointer, stream=handle)
    library.check("api_set_async", ctypes.c_void_p(pointer.value + 116), 1, size(1), handle)
    library.check("api_copy_async", ctypes.c_void_p(out.ctypes.data), pointer, size(120), TO_HOST, handle)
    library.check("api_event_record", event, handle)
    library.check("api_stream_wait", handle, event)
    library.check("api_free_async", pointer, handle)
    library.check("api_event_synchronize", event)
    library.check("api_stream_synchronize", handle)
    assert library.code("api_stream_query", handle) == 0
    assert out.tolist() == [1, *range(1, 29), 1]
    assert library.code("api_stream_destroy", handle) == INVALID_HANDLE
    assert library.code("api_last_error") == INVALID_HANDLE
    library.check("seam_wait", handle, None, None)
    library.check("api_event_destroy", event)


@pytest.mark.parametrize("first", ["blocking", "per_thread"])
@pytest.mark.parametrize("null", [None, LEGACY], ids=["NULL", "legacy"])
def test_the_legacy_stream_keeps_order_with_blocking_streams(library, streams, flag, first, null):
    """It waits for all that they were given before, they for it; a non-blocking stream does not care."""
    one = library.stream(BLOCKING)
    two = library.stream(BLOCKING)
    held = one if first == "blocking" else PER_THREAD
    cells = [library.buffer(np.zeros(1, np.int32)) for _ in range(4)]
    library.start("run_wait_for_flag", flag.address, cells[0], PATIENCE, stream=held)
    library.start("run_step", cells[0], cells[1], stream=null)
    library.start("run_step", cells[1], cells[2], stream=two)
    library.start("run_step", cells[3], cells[3], stream=streams[0])
    library.check("api_stream_synchronize", streams[0])
    for stream in (held, two, None, LEGACY):
        assert library.code("api_stream_query", stream) == NOT_READY
    flag.cell.value = 2
    library.check("api_stream_synchronize", two)
    assert [cell.get()[0] for cell in cells] == [2, 7, 22, 1]
    for stream in (one, two):
        library.check("api_stream_destroy", stream)


def test_each_thread_has_a_stream_of_its_own(library, flag):
    """Under one name: what another thread holds up there does not hold this one up."""
    cells = [library.buffer(np.zeros(1, np.int32)) for _ in range(3)]
    with ThreadPoolExecutor(1) as pool:
        held = (library.start, "run_wait_for_flag", flag.address, cells[0], PATIENCE)
        pool.submit(*held, stream=PER_THREAD).result()
        library.launch("run_step", cells[1], cells[1], stream=PER_THREAD)
        assert library.code("api_stream_query", PER_THREAD) == 0
        assert pool.submit(library.code, "api_stream_query", PER_THREAD).result() == NOT_READY
        library.start("run_step", cells[0], cells[2], stream=None)  # the legacy stream waits for both
        assert library.code("api_stream_query", None) == NOT_READY
        flag.cell.value = 5
        library.check("api_stream_synchronize", None)
        assert [cell.get()[0] for cell in cells] == [5, 1, 16]
        pool.submit(library.check, "api_stream_synchronize", PER_THREAD).result()


def test_a_streams_number_is_never_given_again(library, streams):
    """Its handle may be: that is why the number is asked for."""

    def number(stream):
        return library.value("api_stream_id", ctypes.c_ulonglong, stream)

    seen = [number(stream) for stream in (*streams, None, PER_THREAD)]
    assert number(LEGACY) == number(None)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(number, None).result() == number(None)
        seen.append(pool.submit(number, PER_THREAD).result())
    for _ in range(5):
        stream = library.stream()
        seen.append(number(stream))
        library.check("api_stream_destroy", stream)
    assert len(set(seen)) == len(seen) == 11
    assert [number(stream) for stream in streams] == seen[:3]


@pytest.mark.parametrize("side", ["emulator"])
def test_the_work_of_a_thread_that_is_gone(library, flag):
    """Its stream goes when that is done, and the next thread has a new one."""
    cells = [library.buffer(np.zeros(1, np.int32)) for _ in range(2)]
    for _ in range(3):
        flag.cell.value = 0
        elsewhere(lambda: library.start("run_wait_for_flag", flag.address, cells[0], PATIENCE, stream=PER_THREAD))
        elsewhere(lambda: library.launch("run_step", cells[1], cells[1], stream=PER_THREAD))
        flag.cell.value = 5
        library.check("api_synchronize")
        assert cells[0].get()[0] == 5
    assert cells[1].get()[0] == 13


def test_streams_of_many_threads(library):
    """Each goes through its own stream and the legacy one in turns; all ends right and nothing is left."""

    def work(seed):
        cells = [library.buffer(np.full(1, seed, np.int32)) for _ in range(2)]
        for i in range(20):
            stream = PER_THREAD if i % 3 else LEGACY
            for at in range(2):
                library.start("run_step", cells[at], cells[1 - at], stream=stream)
        library.check("api_stream_synchronize", PER_THREAD)
        library.check("api_stream_synchronize", LEGACY)
        value = seed
        for _ in range(40):
            value = (3 * value + 1 + 2**31) % 2**32 - 2**31
        return cells[0].get()[0] == value

    for _ in range(3):  # threads come and go
        with ThreadPoolExecutor(6) as pool:
            assert all(pool.map(work, range(6)))
    library.check("api_synchronize")


# --- copies ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("rows, columns", [(1, 1), (7, 13), (33, 100), (5, 1000)])
def test_copies_of_two_dimensions(library, streams, rows, columns, asynchronous):
    """Host rows of one pitch, device rows of another, back into rows of a third: only the columns are touched."""
    given = np.random.default_rng(0).random((rows, columns + 3)).astype(np.float32)
    width = columns * 4
    pointer, pitch = ctypes.c_void_p(), size()
    library.check("api_malloc_pitch", ctypes.byref(pointer), ctypes.byref(pitch), size(width), size(rows))
    assert pitch.value >= width
    assert pitch.value % 256 == 0
    out = np.full((rows, columns + 7), -1, np.float32)

    def copy(to, to_pitch, source, source_pitch, kind):
        more = [streams[0]] if asynchronous else []
        library.check(
            "api_copy_2d_async" if asynchronous else "api_copy_2d",
            to,
            size(to_pitch),
            source,
            size(source_pitch),
            size(width),
            size(rows),
            kind,
            *more,
        )

    copy(pointer, pitch.value, ctypes.c_void_p(given.ctypes.data), given.strides[0], TO_DEVICE)
    copy(ctypes.c_void_p(out.ctypes.data), out.strides[0], pointer, pitch.value, TO_HOST)
    library.check("api_stream_synchronize", streams[0])
    assert np.array_equal(out[:, :columns], given[:, :columns])
    assert (out[:, columns:] == -1).all()
    wrong = library.code(
        "api_copy_2d",
        pointer,
        size(width - 1),
        ctypes.c_void_p(given.ctypes.data),
        size(given.strides[0]),
        size(width),
        size(rows),
        TO_DEVICE,
    )
    last = library.code("api_last_error")
    assert rows == 1 or (wrong, last) == (12, 12)  # cudaErrorInvalidPitchValue: rows would overlap
    library.check("api_free", pointer)


def test_fills(library, streams):
    buffer = library.buffer(np.zeros((6, 64), np.uint8))
    library.check("api_set_2d_async", buffer, size(64), 7, size(10), size(5), streams[0])
    library.check("api_stream_synchronize", streams[0])
    expected = np.zeros((6, 64), np.uint8)
    expected[:5, :10] = 7
    assert np.array_equal(buffer.get(), expected)
    library.check("api_set", buffer, 0x1FF, size(64))
    assert (buffer.get()[0] == 255).all()


def test_copies_within_the_host(library, streams):
    """By default kind, which asks the pointers: neither is CUDA's."""
    given, out = np.arange(50, dtype=np.int32), np.zeros(50, np.int32)
    ends = [ctypes.c_void_p(array.ctypes.data) for array in (out, given)]
    library.check("api_copy", *ends, size(100), DEFAULT)
    library.check("api_copy_async", *ends, size(200), DEFAULT, streams[0])
    library.check("api_stream_synchronize", streams[0])
    assert np.array_equal(out, given)


def test_copies_know_their_direction(library):
    given, out = np.arange(10, dtype=np.int32), np.zeros(10, np.int32)
    one, two = library.buffer(given), library.buffer(out)
    library.check("api_copy", two, one.address, size(40), DEFAULT)
    assert np.array_equal(two.get(), given)
    library.check("api_copy", ctypes.c_void_p(out.ctypes.data), two.address, size(40), DEFAULT)
    assert np.array_equal(out, given)
    assert library.code("api_copy", two, one.address, size(40), 17) == 21  # cudaErrorInvalidMemcpyDirection
    library.code("api_last_error")


# --- errors, and the end of what never ends: the emulator only -------------------------------------------------------
emulator_only = pytest.mark.parametrize("side", ["emulator"])


@emulator_only
@pytest.mark.parametrize(
    "entry, shape", [("run_endless", {"grid": 3, "block": 64}), ("run_long_grid", {"grid": 1_000_000, "block": 1})]
)
def test_a_kernel_can_be_cancelled(library, streams, entry, shape):
    """backend_wait asks; what runs and what waits behind it is abandoned, and the stream goes on."""
    out, asked = library.buffer(np.zeros(1, np.int32)), []
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(lambda _: asked.append(1) or len(asked) > 2)
    behind = library.buffer(np.zeros(1, np.int32))
    library.start(entry, out, stream=streams[0], **shape)
    library.start("run_step", behind, behind, stream=streams[0])
    assert library.code("seam_wait", streams[0], callback, None) == cuda_api.INTERRUPTED
    assert len(asked) == 3
    assert library.code("api_stream_query", streams[0]) == 0
    assert behind.get()[0] == 0
    library.launch("run_step", behind, behind, stream=streams[0])
    assert behind.get()[0] == 1


Asked = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


@emulator_only
@pytest.mark.parametrize("wait", ["seam_wait", "seam_wait_device", "seam_wait_event"])
def test_each_kind_of_wait_can_be_broken_off(library, streams, wait):
    """With it goes what the wait was for, in other streams too; what else this thread has launched goes on."""
    event, done = library.event(), library.event()
    out, cell, free = (library.buffer(np.zeros(1, np.int32)) for _ in range(3))
    target = {"seam_wait": [streams[1]], "seam_wait_device": [], "seam_wait_event": [done]}[wait]
    library.start("run_endless", out, stream=streams[0])
    library.check("api_event_record", event, streams[0])
    library.check("api_stream_wait", streams[1], event)
    library.start("run_step", cell, cell, stream=streams[1])
    library.check("api_event_record", done, streams[1])
    if wait != "seam_wait_device":
        library.start("run_pause", ctypes.c_ulonglong(200_000_000), stream=streams[2])
        library.start("run_step", free, free, stream=streams[2])
    assert library.code(wait, *target, Asked(lambda _: 1), None) == cuda_api.INTERRUPTED
    for stream in streams[:2]:
        assert library.code("api_stream_query", stream) == 0
    assert library.code("api_event_query", done) == 0
    assert library.code("api_synchronize") == 0  # no error is left behind
    assert cell.get()[0] == 0
    assert free.get()[0] == (wait != "seam_wait_device")
    library.launch("run_step", cell, cell, stream=streams[1])
    assert cell.get()[0] == 1
    for each in (event, done):
        library.check("api_event_destroy", each)


@emulator_only
@pytest.mark.parametrize("stream", ["shared", None, LEGACY], ids=["shared", "NULL", "legacy"])
def test_breaking_a_wait_off_leaves_the_work_of_others(library, streams, flag, stream):
    """Two threads share a stream; one gives up waiting while the other's kernel runs there."""
    stream = streams[0] if stream == "shared" else stream
    theirs, mine, later = (library.buffer(np.zeros(1, np.int32)) for _ in range(3))
    with ThreadPoolExecutor(1) as pool:
        pool.submit(library.start, "run_wait_for_flag", flag.address, theirs, PATIENCE, stream=stream).result()
        library.start("run_step", mine, mine, stream=stream)
        pool.submit(library.start, "run_step", theirs, later, stream=stream).result()
        for wait, target in (("seam_wait", [stream]), ("seam_wait_device", [])):
            assert library.code(wait, *target, Asked(lambda _: 1), None) == cuda_api.INTERRUPTED
            assert library.code("api_stream_query", stream) == NOT_READY
        flag.cell.value = 3
        library.check("api_stream_synchronize", stream)
    assert [cell.get()[0] for cell in (theirs, mine, later)] == [3, 0, 10]


@emulator_only
def test_a_wait_ends_though_others_go_on_launching(library, streams):
    """A wait is for what was there when it began, however often it asks."""
    stop, launched = threading.Event(), threading.Event()
    cell = library.buffer(np.zeros(1, np.int32))

    def feed():
        while not stop.is_set():
            library.start("run_pause", ctypes.c_ulonglong(30_000_000), stream=streams[0])
            library.start("run_pause", ctypes.c_ulonglong(30_000_000), stream=streams[0])
            launched.set()
            while library.code("api_stream_query", streams[1]) == NOT_READY:
                pass
            library.start("run_pause", ctypes.c_ulonglong(40_000_000), stream=streams[1])

    with ThreadPoolExecutor(1) as pool:
        feeding = pool.submit(feed)
        begun = launched.wait(60)
        for _ in range(3 if begun else 0):
            library.check("seam_wait", streams[0], Asked(lambda _: 0), None)
        stop.set()
        feeding.result()  # says why nothing was launched
        assert begun
    library.launch("run_step", cell, cell, stream=streams[0])
    assert cell.get()[0] == 1


def test_settling_waits_for_the_device(library, streams):
    cells = [library.buffer(np.zeros(1, np.int32)) for _ in range(4)]
    for cell, stream in zip(cells, (*streams, None), strict=True):
        library.start("run_pause", ctypes.c_ulonglong(20_000_000), stream=stream)
        library.start("run_step", cell, cell, stream=stream)
    library.check("seam_settle")
    for stream in (*streams, None):
        assert library.code("api_stream_query", stream) == 0
    assert [cell.get()[0] for cell in cells] == [1] * 4


@emulator_only
def test_settling_leaves_errors_where_they_are(library, streams, half_skips):
    half_skips(streams[0])
    library.check("seam_settle")
    assert library.code("api_stream_synchronize", streams[0]) == LAUNCH_FAILURE
    assert library.code("api_stream_synchronize", streams[0]) == 0
    library.code("api_last_error")


def test_waiting_without_an_interruption(library, streams, flag):
    out, event = library.buffer(np.zeros(1, np.int32)), library.event()
    flag.cell.value = 3
    for wait, target in (("seam_wait", [streams[0]]), ("seam_wait_device", []), ("seam_wait_event", [event])):
        for asked in (Asked(lambda _: 0), None):
            library.check("api_set", out, 0, size(4))
            library.check("api_synchronize")
            library.start("run_wait_for_flag", flag.address, out, PATIENCE, stream=streams[0])
            library.check("api_event_record", event, streams[0])
            library.check(wait, *target, asked, None)
            assert out.get()[0] == 3
    library.check("api_event_destroy", event)


@emulator_only
def test_a_stream_that_is_no_more(library):
    stream = library.stream()
    library.check("api_stream_destroy", stream)
    assert library.code("api_stream_query", stream) in (INVALID_HANDLE, INVALID_VALUE, 709)
    library.code("api_last_error")


def elsewhere(work):
    """What the function gives in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


@pytest.fixture
def half_skips():
    """Starts a kernel that breaks a rule."""
    broken = cuda_api.load("emulator", "broken")
    out = broken.buffer(np.zeros(1024, np.int32))
    return lambda stream: broken.start("run_half_skips", out, block=64, stream=stream)


@emulator_only
@pytest.mark.parametrize(
    "where, wait", [("own", "device"), ("own", "event"), ("default", "device"), ("default", "event"), ("default",) * 2]
)
def test_a_wait_elsewhere_does_not_take_the_error(library, streams, half_skips, where, wait):
    """Another thread hears of the error once; the thread that launched the kernel still gets it, once, and what it put
    behind that kernel is skipped until then."""
    stream, event = streams[0] if where == "own" else None, library.event()
    cell = library.buffer(np.zeros(1, np.int32))
    waits = {
        "device": ["api_synchronize"],
        "event": ["api_event_synchronize", event],
        "default": ["api_stream_synchronize", None],
    }
    half_skips(stream)
    library.check("api_event_record", event, stream)
    assert elsewhere(lambda: library.code(*waits[wait])) == LAUNCH_FAILURE
    assert elsewhere(lambda: library.code(*waits[wait])) == 0
    library.start("run_step", cell, cell, stream=stream)
    assert library.code("api_stream_synchronize", stream) == LAUNCH_FAILURE
    assert library.code("api_stream_synchronize", stream) == 0
    assert cell.get()[0] == 0
    library.launch("run_step", cell, cell, stream=stream)
    assert cell.get()[0] == 1
    assert library.code("api_synchronize") == 0
    library.check("api_event_destroy", event)
    library.code("api_last_error")


@emulator_only
def test_the_launcher_is_told_by_a_wait_for_the_device(library, streams, half_skips):
    """One report is enough for several broken kernels, and for streams that are gone."""
    gone = library.stream()
    for stream in (streams[0], streams[1], gone, None):
        half_skips(stream)
    library.check("api_stream_destroy", gone)
    assert elsewhere(lambda: library.code("api_synchronize")) == LAUNCH_FAILURE
    assert library.code("api_synchronize") == LAUNCH_FAILURE
    assert library.code("api_synchronize") == 0
    for stream in (*streams, None):
        assert library.code("api_stream_synchronize", stream) == 0
    library.code("api_last_error")


@emulator_only
@pytest.mark.parametrize(
    "where, wait",
    [(where, wait) for where in ("own", "default") for wait in ("stream", "device", "event")]
    + [("destroyed", "device"), ("destroyed", "event")],
)
def test_a_skipped_launch_is_reported_to_its_thread(library, half_skips, where, wait):
    """Whoever launched the kernel that failed waits first, and hears of both."""
    stream = None if where == "default" else library.stream()
    event, cell = library.event(), library.buffer(np.zeros(1, np.int32))
    waits = {
        "stream": ["api_stream_synchronize", stream],
        "device": ["api_synchronize"],
        "event": ["api_event_synchronize", event],
    }
    with ThreadPoolExecutor(1) as other:
        half_skips(stream)
        other.submit(library.start, "run_step", cell, cell, stream=stream).result()
        library.check("api_event_record", event, stream)
        assert [library.code("api_stream_synchronize", stream) for _ in range(2)] == [LAUNCH_FAILURE, 0]
        if where == "destroyed":
            library.check("api_stream_destroy", stream)
        with pytest.raises(cuda_api.CudaFailure) as caught:
            other.submit(library.check, *waits[wait]).result()
        assert caught.value.code == LAUNCH_FAILURE
        words = "kernel step was not run, because a kernel before it in its stream failed: kernel half_skips, "
        assert caught.value.detail.startswith(words)
        other.submit(library.check, *waits[wait]).result()
        assert cell.get()[0] == 0
        other.submit(library.launch, "run_step", cell, cell).result()
        assert cell.get()[0] == 1
    if where == "own":
        library.check("api_stream_destroy", stream)
    library.check("api_event_destroy", event)


@emulator_only
def test_what_is_skipped_behind_an_event_is_reported_by_a_later_wait(library, streams, half_skips):
    cell, event = library.buffer(np.zeros(1, np.int32)), library.event()
    half_skips(streams[0])
    library.check("api_event_record", event, streams[0])
    library.start("run_step", cell, cell, stream=streams[0])
    library.check("seam_settle")
    assert [library.code("api_event_synchronize", event) for _ in range(2)] == [LAUNCH_FAILURE, 0]
    assert [library.code("api_stream_synchronize", streams[0]) for _ in range(2)] == [LAUNCH_FAILURE, 0]
    library.launch("run_step", cell, cell, stream=streams[0])
    assert cell.get()[0] == 1
    library.check("api_event_destroy", event)


@emulator_only
def test_a_thread_that_never_waits_leaves_nothing_silent(library, half_skips):
    """Its launches on the default stream are skipped until it waits, and each wait of another thread says so."""
    cell = library.buffer(np.zeros(1, np.int32))
    with ThreadPoolExecutor(1) as other:
        other.submit(half_skips, None).result()
        assert [library.code("api_synchronize") for _ in range(2)] == [LAUNCH_FAILURE, 0]
        for _ in range(3):
            other.submit(library.start, "run_step", cell, cell).result()
            assert [library.code("api_synchronize") for _ in range(2)] == [LAUNCH_FAILURE, 0]
            assert "kernel step" in library.detail()
        assert other.submit(library.code, "api_stream_synchronize", None).result() == LAUNCH_FAILURE
        other.submit(library.launch, "run_step", cell, cell).result()
    assert cell.get()[0] == 1


@emulator_only
def test_launches_of_threads_that_ended_are_reported_to_the_next_wait(library, streams, half_skips):
    """Once for all of them. A later thread, which may get the identity of one that ended, has nothing to do with it."""
    cell, event = library.buffer(np.zeros(1, np.int32)), library.event()
    half_skips(streams[0])
    library.check("api_event_record", event, streams[0])
    for _ in range(5):
        elsewhere(lambda: library.start("run_step", cell, cell, stream=streams[0]))
    library.check("seam_settle")
    assert library.code("api_event_synchronize", event) == LAUNCH_FAILURE
    assert [library.code("api_synchronize") for _ in range(2)] == [LAUNCH_FAILURE, 0]
    assert "kernel step" in library.detail()
    with ThreadPoolExecutor(1) as other:
        other.submit(half_skips, streams[0]).result()
        assert library.code("api_synchronize") == LAUNCH_FAILURE
    elsewhere(lambda: library.launch("run_step", cell, cell, stream=streams[0]))
    assert cell.get()[0] == 1
    assert library.code("api_stream_synchronize", streams[0]) == 0
    library.check("api_event_destroy", event)


@emulator_only
def test_others_may_use_a_broken_stream_once_they_were_told(library, streams, half_skips):
    """The launcher never comes back: its error must not stop everyone else."""
    cell = library.buffer(np.zeros(1, np.int32))
    with ThreadPoolExecutor(1) as pool:
        pool.submit(half_skips, streams[0]).result()
        assert library.code("api_synchronize") == LAUNCH_FAILURE
        library.start("run_step", cell, cell, stream=streams[0])
        assert library.code("api_synchronize") == 0
        assert cell.get()[0] == 1
        assert library.code("api_stream_synchronize", streams[0]) == LAUNCH_FAILURE  # the stream's own wait ends it
        assert library.code("api_stream_synchronize", streams[0]) == 0
        pool.submit(library.start, "run_step", cell, cell, stream=streams[0]).result()
        assert library.code("api_stream_synchronize", streams[0]) == 0
        assert cell.get()[0] == 4
        assert pool.submit(library.code, "api_stream_synchronize", streams[0]).result() == LAUNCH_FAILURE
        assert pool.submit(library.code, "api_stream_synchronize", streams[0]).result() == 0
    library.code("api_last_error")


def test_threads_of_the_emulator_let_faults_be_handled():
    """A fault that is blocked ends the process before any handler (faulthandler's, a sanitizer's) gets a word."""
    code = """
        import pathlib, signal
        import numpy as np
        import cuda_api
        library = cuda_api.load("emulator", "streams")
        out = library.buffer(np.zeros(1, np.int32))
        before = {task.name for task in pathlib.Path("/proc/self/task").iterdir()}
        library.launch("run_long_grid", out, grid=20, stream=library.stream())
        blocked = []
        for task in pathlib.Path("/proc/self/task").iterdir():
            if task.name not in before:
                blocked.append(int((task / "status").read_text().partition("SigBlk:")[2].split()[0], 16))
        assert len(blocked) == 3, blocked  # the stream's, two that help it
        bit = lambda name: 1 << (getattr(signal, name) - 1)
        assert not any(mask & (bit("SIGSEGV") | bit("SIGBUS")) for mask in blocked)
        assert all(mask & bit("SIGINT") for mask in blocked)
    """
    subprocesses.run(code, CUDAKERN_EMULATOR_WORKERS="3")
