"""Device arrays over streams: who comes after whom, and when memory goes back, whatever the streams do meanwhile.

A kernel that waits for a flag of the host holds a stream up, so that what should wait would otherwise be too early.
"""

import ctypes
import gc
import random
import textwrap
import threading
import time
import weakref

import numpy as np
import pytest

import cases
import cuda_api
import cudakern
import subprocesses
from cudakern._native import Stream

PATIENCE = ctypes.c_ulonglong(20_000_000_000)  # then a kernel that waits gives up, and the result is wrong
LENGTH = 1 << 15
OUT_OF_MEMORY, LAUNCH_FAILURE = 2, 719
DEFAULT, OWN = 0, 2  # the default stream, the thread's own


class Place:
    """One device, with its C module, streams of ours and a gate that holds streams up."""

    def __init__(self, side, device=0):
        self.side, self.native, self.library = side, cases.native(side), cuda_api.load(side, "streams")
        self.device = device
        self.library.check("api_set_device", device)
        self.flag = ctypes.c_void_p(self.library.value("api_malloc_host", ctypes.c_void_p, ctypes.c_size_t(4)))
        self.seen = self.library.buffer(np.zeros(1, np.int32))
        self.made: list[Stream] = []
        self.cell.value = 0

    @property
    def cell(self):
        return ctypes.c_int.from_address(self.flag.value)

    def stream(self) -> Stream:
        self.made.append(self.native.stream_create(self.device, 0))
        return self.made[-1]

    def destroy(self, stream):
        self.made.remove(stream)
        self.native.stream_destroy(self.device, stream)

    def start(self, kernel, *arguments, stream):
        self.library.check("api_set_device", self.device)
        self.library.start(kernel, *arguments, stream=ctypes.c_void_p(stream))

    def hold(self, stream):
        """What is enqueued there from now on waits until the gate opens."""
        self.start("run_wait_for_flag", self.flag, self.seen, PATIENCE, stream=stream)

    def pause(self, stream, milliseconds):
        self.start("run_pause", ctypes.c_ulonglong(milliseconds * 1000000), stream=stream)

    def open(self):
        self.cell.value = 1

    def is_held(self, stream) -> bool:
        return not self.native.stream_done(self.device, stream)

    def array(self, value, stream=DEFAULT, length=LENGTH):
        """An int32 array of one value, there when this returns."""
        made = self.native.empty((length,), "int32", self.device, stream)
        self.fill(made, value, stream)
        self.native.stream_synchronize(self.device, stream)
        return made

    def fill(self, array, value, stream):
        self.native.fill(array, np.int32(value).tobytes(), stream)

    def copy(self, to, source, stream):
        self.native.copy(to, source, stream)

    def get(self, array) -> int:
        """The value that all elements have."""
        values = np.empty(array.shape, array.dtype)
        self.native.download(values, array, DEFAULT)
        assert (values == values[0]).all(), np.unique(values)
        return int(values[0])

    def close(self):
        self.open()
        self.native.synchronize(self.device)
        for stream in self.made:
            self.native.stream_destroy(self.device, stream)
        self.library.check("api_free_host", self.flag)


@pytest.fixture
def place(side):
    gc.collect()
    made = Place(side)
    before = made.native.pool_used(0)
    yield made
    made.close()
    gc.collect()
    assert made.native.pool_used(0) == before


@pytest.fixture(params=["default-made", "made-default", "made-made", "own-made", "made-own", "default-own"])
def pair(request, place):
    """Two streams; the first one is held up."""
    streams = [{"default": DEFAULT, "own": OWN}.get(word) for word in request.param.split("-")]
    return tuple(place.stream() if stream is None else stream for stream in streams)


# --- the order of uses -----------------------------------------------------------------------------------------------
def test_a_read_comes_after_the_write(place, pair):
    x, y = place.array(1), place.array(2)
    place.hold(pair[0])
    place.fill(x, 7, pair[0])
    place.copy(y, x, pair[1])
    assert place.is_held(pair[1])
    place.open()
    assert place.get(y) == 7


def test_a_write_comes_after_the_reads(place, pair):
    x, y = place.array(1), place.array(2)
    place.hold(pair[0])
    place.copy(y, x, pair[0])
    place.fill(x, 7, pair[1])
    assert place.is_held(pair[1])
    place.open()
    assert (place.get(y), place.get(x)) == (1, 7)


def test_a_write_comes_after_the_write(place, pair):
    x = place.array(1)
    place.hold(pair[0])
    place.fill(x, 7, pair[0])
    place.fill(x, 8, pair[1])
    place.open()
    assert place.get(x) == 8


def test_the_first_use_comes_after_the_allocation(place, pair):
    """Memory exists from its stream's point of view; a stream that was not held up waits for that one."""
    place.hold(pair[0])
    x = place.native.empty((LENGTH,), "int32", 0, pair[0])
    place.fill(x, 7, pair[1])
    assert place.is_held(pair[1])
    place.open()
    assert place.get(x) == 7


def test_reads_do_not_wait_for_reads(place):
    first, second = place.stream(), place.stream()
    x, y, z = place.array(1), place.array(2), place.array(3)
    place.hold(first)
    place.copy(y, x, first)
    place.copy(z, x, second)
    place.native.stream_synchronize(0, second)
    assert place.is_held(first)
    assert place.native.stream_done(0, second)
    place.open()
    assert (place.get(y), place.get(z)) == (1, 1)


def test_other_arrays_do_not_wait(place):
    """The order is that of each memory, not of the device."""
    first, second = place.stream(), place.stream()
    x, y = place.array(1), place.array(2)
    place.hold(first)
    place.fill(x, 7, first)
    place.fill(y, 8, second)
    place.native.stream_synchronize(0, second)
    assert place.is_held(first)
    place.open()
    assert (place.get(x), place.get(y)) == (7, 8)


def test_a_use_outlives_its_stream(place):
    """The owner of a stream may destroy it with work pending."""
    first, second = place.stream(), place.stream()
    x, y = place.array(1), place.array(2)
    place.hold(first)
    place.fill(x, 7, first)
    place.destroy(first)
    place.copy(y, x, second)
    assert place.is_held(second)
    place.open()
    assert place.get(y) == 7


def test_a_handle_that_comes_again_is_another_stream(place):
    """CUDA hands out the addresses of destroyed streams again: a new stream there has waited for nothing."""
    handles = []
    for value in range(40):
        first = place.stream()
        handles.append(first)
        x, y = place.array(1, first), place.array(2, first)
        place.pause(first, 2)
        place.fill(x, value, first)
        place.destroy(first)
        second = place.stream()
        place.copy(y, x, second)
        place.native.stream_synchronize(0, second)
        place.destroy(second)
        assert place.get(y) == value


# A GPU has eight queues unless told otherwise: of more streams two share one, and the held one would hold another up.
@pytest.mark.parametrize(
    "side, count", [(side, count) for side in cases.SIDES for count in ((6,) if side == "cuda" else (7, 8, 9, 40))]
)
def test_more_readers_than_a_memory_has_places_for(place, count):
    """The early reader is held up, the others are not; a write waits for all of them."""
    first, last = place.stream(), place.stream()
    x = place.array(1)
    copies = [place.array(2) for _ in range(count)]
    place.hold(first)
    place.copy(copies[0], x, first)
    for copy in copies[1:]:
        stream = place.stream()
        place.copy(copy, x, stream)
        place.native.stream_synchronize(0, stream)  # not held up
    place.fill(x, 9, last)
    assert place.is_held(first)
    assert place.is_held(last)
    place.open()
    assert [place.get(copy) for copy in copies] == [1] * count
    assert place.get(x) == 9


def test_views_share_their_memorys_order(place, pair):
    x, y = place.array(1), place.array(2)
    half = place.native.view(x, 2 * LENGTH, (LENGTH // 2,), (4,), "int32")
    place.hold(pair[0])
    place.fill(half, 7, pair[0])
    place.copy(y, x, pair[1])
    place.open()
    values = np.empty(LENGTH, "int32")
    place.native.download(values, y, DEFAULT)
    assert (values[: LENGTH // 2] == 1).all()
    assert (values[LENGTH // 2 :] == 7).all()


def test_each_threads_own_stream_is_another(place):
    """They have one handle; a thread that begins when another one ended may also have that one's number."""

    def in_a_thread(work, *arguments):
        thread = threading.Thread(target=work, args=arguments)
        thread.start()
        thread.join()

    def write(array, value):
        place.hold(OWN)
        place.fill(array, value, OWN)

    x, y, z = place.array(1), place.array(2), place.array(3)
    in_a_thread(write, x, 7)
    in_a_thread(place.copy, y, x, OWN)
    place.copy(z, x, OWN)
    assert place.is_held(OWN)
    place.open()
    assert (place.get(y), place.get(z)) == (7, 7)


@pytest.mark.parametrize(
    "to, source",
    [
        (np.s_[1:], np.s_[:-1]),
        (np.s_[:-1], np.s_[1:]),
        (np.s_[::-1], np.s_[:]),
        (np.s_[::2], np.s_[:50]),
        (np.s_[:50], np.s_[::2]),
        (np.s_[:], np.s_[:]),
    ],
)
def test_a_copy_within_one_memory(place, to, source):
    """All is read before anything is written."""
    values = np.arange(100, dtype="float64")
    array = place.native.empty((100,), "float64", 0, DEFAULT)
    place.native.upload(array, values, DEFAULT)

    def part(cut):
        chosen = values[cut]
        offset = chosen.__array_interface__["data"][0] - values.__array_interface__["data"][0]
        return place.native.view(array, offset, chosen.shape, chosen.strides, "float64")

    place.copy(part(to), part(source), place.stream())
    result = np.empty(100)
    place.native.download(result, array, DEFAULT)
    values[to] = values[source].copy()
    assert np.array_equal(result, values)


# --- other libraries' streams ----------------------------------------------------------------------------------------
def test_another_librarys_work_comes_after_ours(place):
    ours, theirs = place.stream(), place.library.stream()
    x = place.array(1)
    out = place.library.buffer(np.zeros(1, np.int32))
    place.hold(ours)
    place.fill(x, 7, ours)
    place.native.wait_for(x, theirs.value)
    place.library.start("run_step", ctypes.c_void_p(x.pointer), out, stream=theirs)
    assert place.is_held(theirs.value)
    place.open()
    place.library.check("api_stream_synchronize", theirs)
    assert out.get()[0] == 22
    place.library.check("api_stream_destroy", theirs)


def test_another_librarys_writes_come_after_our_reads(place):
    ours, theirs = place.stream(), place.library.stream()
    x, y = place.array(1, length=1), place.array(2, length=1)
    place.hold(ours)
    place.copy(y, x, ours)
    place.native.wait_for(x, theirs.value)
    place.library.start("run_step", ctypes.c_void_p(x.pointer), ctypes.c_void_p(x.pointer), stream=theirs)
    assert place.is_held(theirs.value)
    place.open()
    place.library.check("api_stream_synchronize", theirs)
    assert (place.get(y), place.get(x)) == (1, 4)
    place.library.check("api_stream_destroy", theirs)


def test_our_work_comes_after_another_librarys(place):
    ours, theirs = place.stream(), place.library.stream()
    x, y = place.array(1, length=1), place.array(2, length=1)
    place.library.start("run_wait_for_flag", place.flag, ctypes.c_void_p(x.pointer), PATIENCE, stream=theirs)
    place.library.start("run_step", ctypes.c_void_p(x.pointer), ctypes.c_void_p(x.pointer), stream=theirs)
    place.native.used_in(x, theirs.value, True)
    place.library.check("api_stream_destroy", theirs)
    place.copy(y, x, ours)
    assert place.is_held(ours)
    place.open()
    assert place.get(y) == 4


# --- memory goes back ------------------------------------------------------------------------------------------------
def test_memory_stays_until_its_last_use(place, pair):
    """Freed behind a reader that is held up: no new array may lie there. And nobody waits for that."""
    x, y = place.array(1), place.array(2)
    place.hold(pair[0])
    place.copy(y, x, pair[0])
    del x
    assert place.is_held(pair[0])
    if place.side == "emulator" or DEFAULT not in pair:  # CUDA's default stream waits for the thread's own
        others = [place.array(5, place.stream()) for _ in range(3)]
        assert place.is_held(pair[0])
        del others
    place.open()
    assert place.get(y) == 1


def test_memory_used_on_several_streams_stays_until_the_last(place):
    streams = [DEFAULT, *(place.stream() for _ in range(12))]
    for late in (0, 1, 12):
        place.cell.value = 0
        x = place.array(late)
        copies = [place.array(-1) for _ in streams]
        place.hold(streams[late])
        for copy, stream in zip(copies, streams, strict=True):
            place.copy(copy, x, stream)
        del x
        assert place.is_held(streams[late])
        other = place.native.empty((LENGTH,), "int32", 0, place.stream())
        place.fill(other, 5, place.made[-1])
        place.native.stream_synchronize(0, place.made[-1])
        place.open()
        assert [place.get(copy) for copy in copies] == [late] * len(streams)


def test_freed_memory_is_the_devices_again(place):
    """What is freed on other streams than the default one comes back too, and is used again."""
    native = place.native
    stream = place.stream()
    gc.collect()  # what other tests left in circles
    native.trim(0)
    free, used = native.device_properties(0)["memory_free"], native.pool_used(0)
    for _ in range(20):
        arrays = [place.native.empty((1 << 20,), "int32", 0, stream) for _ in range(4)]
        for array in arrays:
            place.fill(array, 1, stream)
        del arrays, array
    assert native.pool_used(0) == used
    native.trim(0)
    if place.side == "emulator":  # a GPU's memory is not ours alone
        assert native.device_properties(0)["memory_free"] == free


def test_memory_lent_to_another_library_waits_for_the_device(place):
    """Its streams are not ours to see."""
    theirs = place.library.stream()
    x = place.array(1)
    out = place.library.buffer(np.zeros(1, np.int32))
    place.native.exported(x)
    place.hold(theirs.value)
    place.library.start("run_step", ctypes.c_void_p(x.pointer), out, stream=theirs)
    thread = threading.Timer(0.3, place.open)
    start = time.monotonic()
    thread.start()
    del x
    assert time.monotonic() - start > 0.2
    assert not place.is_held(theirs.value)
    assert out.get()[0] == 4
    thread.join()
    place.library.check("api_stream_destroy", theirs)


class Owner:
    """Whoever another library's memory belongs to."""


def adopt(place, buffer, length):
    owner = Owner()
    array = place.native.adopt(owner, buffer.address.value, (length,), None, "int32", 0, False)
    return array, weakref.ref(owner)


def test_an_owner_hears_at_once_of_memory_that_nobody_used(place):
    buffer = place.library.buffer(np.ones(8, np.int32))
    array, alive = adopt(place, buffer, 8)
    view = place.native.view(array, 8, (6,), (4,), "int32")
    del array
    assert alive() is not None
    del view
    assert alive() is None


def test_an_owner_hears_when_the_device_is_done(place, pair):
    """Not before, and the one who lets go does not wait."""
    buffer = place.library.buffer(np.ones(LENGTH, np.int32))
    x = place.array(1)
    array, alive = adopt(place, buffer, LENGTH)
    place.hold(pair[0])
    place.copy(x, array, pair[0])
    del array
    gc.collect()
    assert alive() is not None
    place.native.empty((8,), "int32", 0, DEFAULT)  # later calls look after it
    assert place.is_held(pair[0])
    assert alive() is not None
    place.open()
    place.native.synchronize(0)
    assert alive() is None


def test_an_owner_that_uses_the_device_when_it_hears(place):
    """The last reference goes in the middle of another call, without a lock held."""
    stream = place.stream()
    buffer = place.library.buffer(np.ones(LENGTH, np.int32))
    x, seen = place.array(1), []

    class Busy:
        def __del__(self):
            mine = place.array(6, stream)
            seen.append(place.get(mine))

    array = place.native.adopt(Busy(), buffer.address.value, (LENGTH,), None, "int32", 0, False)
    place.hold(stream)
    place.copy(x, array, stream)
    del array
    assert seen == []
    place.open()
    place.native.synchronize(0)
    assert seen == [6]


# --- any order at all ------------------------------------------------------------------------------------------------
def play(place, seed, steps=120, names=5):
    """Random work on random streams, against the same work done one after the other on the host."""
    chosen = random.Random(seed)
    streams = [DEFAULT, OWN, *(place.stream() for _ in range(3))]
    arrays = [place.array(value, length=64) for value in range(names)]
    expected = list(range(names))
    for step in range(steps):
        what, stream = chosen.random(), chosen.choice(streams)
        to, source = chosen.randrange(names), chosen.randrange(names)
        if what < 0.1:
            place.pause(stream, 1)
        elif what < 0.15 and stream not in (DEFAULT, OWN):
            place.destroy(stream)
            streams[streams.index(stream)] = place.stream()
        elif what < 0.25:
            arrays[to] = place.native.empty((64,), "int32", 0, stream)
            place.fill(arrays[to], step, stream)
            expected[to] = step
        elif what < 0.5:
            place.fill(arrays[to], step, stream)
            expected[to] = step
        elif what < 0.55:
            assert place.get(arrays[to]) == expected[to]
        elif what < 0.65:  # through another type, and backwards
            middle = place.native.empty((64,), "float64", 0, stream)
            place.copy(middle, arrays[source], stream)
            last = place.native.view(middle, 63 * 8, (64,), (-8,), "float64")
            place.copy(arrays[to], last, chosen.choice(streams))
            expected[to] = expected[source]
        else:
            place.copy(arrays[to], arrays[source], stream)
            expected[to] = expected[source]
    assert [place.get(array) for array in arrays] == expected


@pytest.mark.parametrize("seed", range(6))
def test_any_order_of_any_work(place, seed):
    play(place, seed)


def test_threads_with_arrays_of_their_own(place):
    failures = []

    def work(seed):
        try:
            other = Place(place.side)
            play(other, seed, steps=60)
            other.close()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_threads_that_share_an_array(place):
    """All read it, each on its own stream, the thread's own one among them; what they made is right, whoever frees."""
    x, right = place.array(3), []

    def work(seed):
        chosen = random.Random(seed)
        streams = [DEFAULT, OWN, place.native.stream_create(0, 0), place.native.stream_create(0, 0)]
        for _ in range(30):
            stream = chosen.choice(streams)
            mine = place.native.empty((LENGTH,), "int32", 0, stream)
            place.copy(mine, x, stream)
            right.append(place.get(mine) == 3)
        for stream in streams[2:]:
            place.native.stream_destroy(0, stream)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 180
    place.fill(x, 4, OWN)
    assert place.get(x) == 4


# --- faults ----------------------------------------------------------------------------------------------------------
def over_streams(place, streams, value, pause):
    """Writes, reads and frees over streams, some of it late; returns the value."""
    x = place.native.empty((LENGTH,), "int32", 0, streams[0])
    place.pause(streams[0], pause)
    place.fill(x, value, streams[0])
    y = place.native.empty((LENGTH,), "int32", 0, streams[1])
    place.copy(y, x, streams[1])
    for stream in streams[2:]:
        place.copy(y, x, stream)
    z = place.native.empty((LENGTH // 2,), "float32", 0, DEFAULT)
    place.copy(z, place.native.view(y, 0, (LENGTH // 2,), (8,), "int32"), streams[0])
    return place.get(z)


@pytest.mark.parametrize("code", [OUT_OF_MEMORY, LAUNCH_FAILURE])
def test_every_guarded_call_may_fail(place, code):
    """The right exception or none (where memory goes back), nothing is lost, and the next call is right: also when it
    uses memory of the one that failed, of which something may still be on its way."""
    native = place.native
    streams = [place.stream() for _ in range(12)]
    before, failed, n, done = native.pool_used(0), 0, 0, False
    while not done:
        n += 1
        native.inject_fault(n, code)
        try:
            assert over_streams(place, streams, n, 10) == n
        except cudakern.CudaError as error:
            assert error.code == code
            failed += 1
        done = native.fault_count() < n
        native.inject_fault(0, code)
        assert (n, native.pool_used(0)) == (n, before)
        assert (n, over_streams(place, streams[::-1], -1, 0)) == (n, -1)
    assert failed > 30


@pytest.mark.parametrize("code", [OUT_OF_MEMORY, LAUNCH_FAILURE])
def test_letting_go_may_fail(place, code):
    """Each call on the way back fails once: nobody sees it, nothing is lost, and nothing goes back too early."""
    native = place.native
    stream, n, done = place.stream(), 0, False
    buffer = place.library.buffer(np.full(LENGTH, 4, np.int32))
    while not done:
        n += 1
        x, y, z = place.array(1), place.array(2), place.array(3)
        foreign, alive = adopt(place, buffer, LENGTH)
        before = native.pool_used(0)
        place.pause(stream, 30)
        place.copy(y, x, stream)
        place.copy(z, foreign, stream)
        native.inject_fault(n, code)
        del x, foreign
        done = native.fault_count() < n
        native.inject_fault(0, code)
        assert alive() is not None or not place.is_held(stream)
        assert native.pool_used(0) == before - 4 * LENGTH
        others = [place.array(5, place.stream()) for _ in range(2)]
        assert (place.get(y), place.get(z)) == (1, 4)
        native.synchronize(0)
        assert alive() is None
        del others, y, z
    assert n > 4


# --- processes -------------------------------------------------------------------------------------------------------
def test_the_child_of_a_fork_does_not_touch_its_parents_memory():
    subprocesses.run("""
        import gc, os
        import numpy as np
        import cases, cudakern
        m = cases.native("emulator")
        def array(stream):
            made = m.empty((1000,), "int32", 0, stream)
            m.fill(made, np.int32(5).tobytes(), stream)
            return made
        class Owner: pass
        host = np.ones(1000, "int32")
        def get(array):
            values = np.empty(1000, "int32")
            m.download(values, array, 0)
            return values.sum()
        def in_child(x, y, foreign):
            for call in (lambda: get(x), lambda: m.copy(y, x, 0), lambda: m.wait_for(x, 0), lambda: m.exported(x)):
                try:
                    call()
                    assert call.__code__.co_names[-1] == "exported", "no error"
                except cudakern.CudaError as error:
                    assert error.code == 3 and "fork" in str(error), error
            del x, y, foreign
            gc.collect()
            assert m.pool_used(0) == 0
            assert get(array(0)) == get(array(m.stream_create(0, 0))) == 5000
            assert m.pool_used(0) == 0
        stream = m.stream_create(0, 0)
        for _ in range(3):
            x, y = array(0), array(stream)
            foreign = m.adopt(Owner(), host.ctypes.data, (1000,), None, "int32", 0, False)
            m.copy(y, foreign, stream)
            child = os.fork()
            if child == 0:
                try:
                    in_child(x, y, foreign)
                    del x, y, foreign
                    gc.collect()
                    os._exit(0)
                except BaseException as failure:
                    print(repr(failure), flush=True)
                    os._exit(3)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            assert (get(x), get(y)) == (5000, 1000)
        del x, y, foreign
        gc.collect()
        assert m.pool_used(0) == 0
    """)


def test_arrays_that_outlive_their_module():
    """The interpreter ends with arrays alive and work under way."""
    output = subprocesses.run("""
        import sys
        import numpy as np
        import cases, cuda_api, ctypes
        m = cases.native("emulator")
        library = cuda_api.load("emulator", "streams")
        stream = m.stream_create(0, 0)
        library.start("run_pause", ctypes.c_ulonglong(200_000_000), stream=ctypes.c_void_p(stream))
        x = m.empty((1000,), "int32", 0, stream)
        m.fill(x, bytes(4), stream)
        y = m.empty((1000,), "int32", 0, 0)
        m.copy(y, x, 0)
        host = np.ones(10, "int32")
        foreign = m.adopt(host, host.ctypes.data, (10,), None, "int32", 0, False)
        m.copy(m.view(y, 0, (10,), (4,), "int32"), foreign, stream)
        del foreign
        for name in list(sys.modules):
            if name.startswith("cudakern"): del sys.modules[name]
        print("done")
    """)
    assert output == "done\n"


# --- devices ---------------------------------------------------------------------------------------------------------
SEVERAL = [side for side in cases.SIDES if side == "emulator" or cases.native(side).device_count() > 1]
TWO_DEVICES = """
import gc, os, random
import numpy as np
import cudakern
from test_memory_order import LENGTH, Place, cases
first, second = Place(os.environ["SIDE"], 0), Place(os.environ["SIDE"], 1)
native = first.native
here, there = first.stream(), second.stream()


def gate(value):
    for place in (first, second):
        place.cell.value = value


def between(source, to, s, t):
    x, y, z = source.array(1), to.array(2), to.array(3)
    source.hold(s)  # a copy comes after the write
    source.fill(x, 7, s)
    to.copy(y, x, t)
    to.copy(z, y, 0)
    assert to.is_held(t)
    gate(1)
    assert (to.get(y), to.get(z)) == (7, 7)
    gate(0)
    to.hold(t)  # and the next write after the copy
    to.copy(y, x, t)
    source.fill(x, 8, s)
    assert source.is_held(s)
    gate(1)
    assert (to.get(y), source.get(x)) == (7, 8)
    gate(0)
    to.hold(t)  # and memory goes back after it
    to.copy(y, x, t)
    del x
    other = source.array(5, source.stream())
    assert to.is_held(t)
    gate(1)
    assert to.get(y) == 8
    gate(0)


def with_gaps(source, to, t):
    values = np.arange(600, dtype="complex64").reshape(20, 30)
    x, y = (native.empty((20, 30), "complex64", place.device, 0) for place in (source, to))
    for cut in (np.s_[::2, ::-3], np.s_[5:, 7], np.s_[:0, :], np.s_[...]):
        native.upload(x, values, 0)
        native.upload(y, -values, 0)
        def part(view):
            cut_ = values[cut]
            offset = cut_.__array_interface__["data"][0] - values.__array_interface__["data"][0]
            return native.view(view, offset if cut_.size else 0, cut_.shape, cut_.strides, "complex64")
        native.copy(part(y), part(x), t)
        expected, result = -values, np.empty_like(values)
        expected[cut] = values[cut]
        native.download(result, y, 0)
        assert np.array_equal(result, expected), cut


def close():
    gate(1)
    for place in (first, second):
        place.close()
    gc.collect()
    assert native.pool_used(0) == native.pool_used(1) == 0
"""


def on_two_devices(side, code):
    settings = {"CUDAKERN_EMULATOR_DEVICES": "2"} if side == "emulator" else {}
    subprocesses.run(TWO_DEVICES + textwrap.dedent(code), SIDE=side, CUDA_MODULE_LOADING="EAGER", **settings)


@pytest.mark.parametrize("side", SEVERAL)
def test_copies_between_devices_keep_the_order(side):
    on_two_devices(
        side,
        """
        for s in (0, here):
            for t in (0, there):
                between(first, second, s, t)
        between(second, first, there, here)
        with_gaps(first, second, there)
        with_gaps(second, first, 0)
        first.library.check("api_set_device", 0)
        buffer = first.library.buffer(np.full(LENGTH, 6, np.int32))
        foreign, y = native.adopt(buffer, buffer.address.value, (LENGTH,), None, "int32", 0, False), second.array(1)
        second.copy(y, foreign, there)
        assert second.get(y) == 6
        del foreign, y
        if native.dlpack_device(0)[0] == 1:  # device memory is the host's: any of the host's is taken
            host = np.full(LENGTH, 5, np.int32)
            foreign, y = native.adopt(host, host.ctypes.data, (LENGTH,), None, "int32", 0, False), second.array(1)
            second.copy(y, foreign, there)
            assert second.get(y) == 5
            second.fill(y, 4, there)
            first.copy(foreign, y, here)
            native.synchronize(0)
            assert (host == 4).all()
            del foreign, y
        close()
        """,
    )


@pytest.mark.parametrize("side", SEVERAL)
def test_a_copy_between_devices_keeps_the_type(side):
    on_two_devices(
        side,
        """
        x, y = first.array(1), native.empty((LENGTH,), "float32", 1, 0)
        try:
            native.copy(y, x, 0)
        except TypeError as error:
            assert "cannot convert int32 to float32" in str(error) and "astype('float32')" in str(error), error
        else:
            raise AssertionError
        del x, y
        close()
        """,
    )


@pytest.mark.parametrize("side", SEVERAL)
def test_every_guarded_call_between_devices_may_fail(side):
    on_two_devices(
        side,
        """
        def over(value, pause):
            x, y = first.array(-1), second.array(-2)
            first.pause(here, pause)
            first.fill(x, value, here)
            second.copy(native.view(y, 0, (LENGTH // 2,), (8,), "int32"),
                        native.view(x, 0, (LENGTH // 2,), (8,), "int32"), there)
            second.copy(native.view(y, 4, (LENGTH // 2,), (8,), "int32"),
                        native.view(x, 0, (LENGTH // 2,), (4,), "int32"), there)
            return second.get(y)
        n, done, failed = 0, False, 0
        while not done:
            n += 1
            native.inject_fault(n, 719)
            try:
                assert over(n, 5) == n
            except cudakern.CudaError as error:
                assert error.code == 719
                failed += 1
            done = native.fault_count() < n
            native.inject_fault(0, 719)
            assert (n, native.pool_used(0), native.pool_used(1)) == (n, 0, 0)
            assert (n, over(-3, 0)) == (n, -3)
        assert failed > 40, failed
        close()
        """,
    )
