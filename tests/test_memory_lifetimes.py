"""When the memory of device arrays goes back: after its last use in any stream, after faults, in processes, on devices.

A kernel that waits for a flag of the host holds a stream up (test_memory_order.py).
"""

import ctypes
import gc
import textwrap
import threading
import time

import numpy as np
import pytest

import cases
import cudakern
import subprocesses
from places import DEFAULT, LAUNCH_FAILURE, LENGTH, OUT_OF_MEMORY, adopt


# --- memory goes back ------------------------------------------------------------------------------------------------
def test_memory_stays_until_its_last_use(place, pair):
    """An array is freed while its reader is held up: no new array may take its memory, and no call waits for that."""
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
            array = m.empty((1000,), "int32", 0, stream)
            m.fill(array, np.int32(5).tobytes(), stream)
            return array
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
