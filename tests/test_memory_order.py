"""Device arrays over streams: who comes after whom, whatever the streams do meanwhile.

A kernel that waits for a flag of the host holds a stream up, so that what should wait would otherwise be too early.
(When memory goes back: test_memory_lifetimes.py.)
"""

import ctypes
import random
import threading

import numpy as np
import pytest

import cases
from places import DEFAULT, LENGTH, OWN, PATIENCE, Place


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
