"""A kernel's failure shows where somebody waits: the words that say what had been launched by then, and whether the
process can go on. (What calls of the operations say then is in test_async.py.)"""

import ctypes
import re
import threading
import time

import numpy as np
import pytest

import cases
import cuda_api
import cudakern
import subprocesses

LAUNCH_FAILURE = 719
DEFAULT = 0


@pytest.fixture
def native():
    return cases.native("emulator")


@pytest.fixture
def stream(native):
    made = native.stream_create(0, 0)
    yield made
    native.stream_destroy(0, made)


def broken(stream):
    library = cuda_api.load("emulator", "broken")
    scratch = library.buffer(np.zeros(1024, np.int32))
    library.start("run_half_skips", scratch, block=64, stream=ctypes.c_void_p(stream))
    return scratch


def arrays(native):
    """A source with gaps, and as many elements without: a copy between them is a launch."""
    x, y = (native.empty((size,), "int32", 0, DEFAULT) for size in (200, 100))
    native.fill(x, bytes(4), DEFAULT)
    native.synchronize(0)
    return native.view(x, 0, (100,), (8,), "int32"), y


def message(call):
    with pytest.raises(cudakern.CudaError) as caught:
        call()
    assert caught.value.code == LAUNCH_FAILURE
    return str(caught.value)


def launches(text):
    return re.findall(r"\w+<<<\(\d+,\d+,\d+\),\(\d+,\d+,\d+\),\d+>>>", text)


@pytest.mark.parametrize("count, named, before", [(1, 1, ""), (16, 16, ""), (50, 16, " and 34 before")])
def test_the_last_launches_are_named_and_the_others_counted(native, stream, count, named, before):
    x, y = arrays(native)
    broken(stream)
    for _ in range(count):
        native.copy(y, x, stream)
    words = message(lambda: native.stream_synchronize(0, stream))
    assert "half_skips" in words
    assert "Outstanding on the stream, the last one first: strided_copy" in words
    assert len(launches(words)) == named
    assert words.endswith(f">>>{before}")
    native.copy(y, x, stream)
    native.stream_synchronize(0, stream)


def test_done_work_is_not_outstanding(native, stream):
    x, y = arrays(native)
    waits = [
        lambda: native.stream_synchronize(0, stream),
        lambda: native.synchronize(0),
        lambda: native.download(np.empty(100, "int32"), y, stream),
    ]
    for wait in waits:
        native.copy(y, x, stream)
        native.copy(y, x, stream)
        wait()
        broken(stream)
        native.copy(y, x, stream)
        assert len(launches(message(lambda: native.stream_synchronize(0, stream)))) == 1
    broken(stream)
    assert launches(message(lambda: native.stream_synchronize(0, stream))) == []


def test_a_query_says_it_too(native, stream):
    x, y = arrays(native)
    broken(stream)
    native.copy(y, x, stream)

    def ask():
        while not native.stream_done(0, stream):
            pass

    assert len(launches(message(ask))) == 1
    ask()


def test_a_device_wait_names_each_streams(native, stream):
    x, y = arrays(native)
    other = native.stream_create(0, 0)
    broken(stream)
    native.copy(y, x, stream)
    native.copy(native.empty((100,), "int32", 0, DEFAULT), x, other)
    native.copy(native.empty((100,), "int32", 0, DEFAULT), x, DEFAULT)
    words = message(lambda: native.synchronize(0))
    assert f"Outstanding on stream {stream}, the last one first: strided_copy" in words
    assert f"Outstanding on stream {other}, " in words
    assert "Outstanding on the default stream, " in words
    native.stream_destroy(0, other)
    native.synchronize(0)


def test_a_destroyed_streams_launches_are_forgotten(native, stream):
    x, y = arrays(native)
    other = native.stream_create(0, 0)
    native.copy(y, x, other)
    native.stream_destroy(0, other)
    broken(stream)
    words = message(lambda: native.synchronize(0))
    assert str(other) not in words


def test_of_many_streams_the_last_ones_are_remembered(native):
    """No record grows with the number of streams; the ones used last are told of."""
    x, _ = arrays(native)
    streams = [native.stream_create(0, 0) for _ in range(100)]
    for stream in streams:
        native.copy(native.empty((100,), "int32", 0, stream), x, stream)
    broken(streams[-1])
    broken(streams[0])
    native.copy(native.empty((100,), "int32", 0, streams[-1]), x, streams[-1])
    assert len(launches(message(lambda: native.stream_synchronize(0, streams[-1])))) == 2
    assert launches(message(lambda: native.stream_synchronize(0, streams[0]))) == []
    for stream in streams:
        native.stream_destroy(0, stream)


def test_a_freed_array_does_not_take_the_error_away(native, stream):
    """What goes back meanwhile waits for the device, and leaves the error to whoever waits for the work."""
    _, y = arrays(native)
    lent = native.empty((100,), "int32", 0, stream)
    native.exported(lent)
    broken(stream)
    del lent
    native.trim(0)
    assert "half_skips" in message(lambda: native.stream_synchronize(0, stream))
    native.fill(y, bytes(4), stream)
    native.stream_synchronize(0, stream)


def test_a_dropped_texture_does_not_take_the_error_away(emulator):
    table = cudakern.zeros((9, 9), "float32")
    broken(DEFAULT)
    cudakern.lookup_2d(table, table, table, variant="texture")
    emulator.trim(0)
    assert "half_skips" in message(lambda: emulator.stream_synchronize(0, DEFAULT))


def test_a_copy_that_waits_for_another_stream_tells_of_its_kernels(emulator):
    """Of those that failed there, and those that were skipped; once."""
    fails = cudakern.compile("__global__ void fails(int *x) { *(volatile int *)0 = x[0]; }").fails
    stream, x, broken = cudakern.Stream(), cudakern.asarray(np.ones(4, "float32")), cudakern.zeros(4, "int32")
    for read in (
        lambda y: y.get(),
        lambda y: float(cudakern.sum_of_squares(y)),
        lambda y: cudakern.vector_add(y, y).get(),
    ):
        fails(1, 1, broken, stream=stream)
        with pytest.raises(cudakern.CudaError, match="fails"):
            read(cudakern.vector_add(x, x, stream=stream))
        assert (cudakern.vector_add(x, x, stream=stream).get() == 2).all()
        stream.synchronize()
    fails(1, 1, broken, stream=stream)
    with pytest.raises(cudakern.CudaError, match="fails"):
        broken.get()
    stream.synchronize()


@pytest.mark.parametrize("kind", ["own kernel", "own kernel, host", "operation", "operation, host"])
def test_no_call_is_skipped_in_silence(emulator, kind):
    """Another thread's kernels fail in the same stream, and that thread hears of it, all the time."""
    library = cuda_api.load("emulator", "broken")
    scratch = library.buffer(np.zeros(1024, np.int32))
    twice = cudakern.compile("__global__ void twice(const float *x, float *y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }")
    x = np.arange(64, dtype="float32") + 1
    on_device, out, stop, codes = cudakern.asarray(x), cudakern.zeros(64, "float32"), threading.Event(), set()

    def fail():
        while not stop.is_set():
            library.start("run_half_skips", scratch, block=64)
            codes.add(library.code("api_stream_synchronize", None))

    def call():
        if kind == "own kernel":
            out.fill(0)
            twice.twice[1, 64](on_device, out)
            return out.get()
        if kind == "own kernel, host":
            result = np.zeros(64, "float32")
            twice.twice[1, 64](x, result)
            return result
        return cudakern.vector_add(x, x) if "host" in kind else cudakern.vector_add(on_device, on_device).get()

    failing = threading.Thread(target=fail)
    failing.start()
    try:
        until, right = time.monotonic() + 1, 0
        while time.monotonic() < until or not right or LAUNCH_FAILURE not in codes:
            try:
                assert np.array_equal(call(), 2 * x)
                right += 1
            except cudakern.CudaError:
                pass
    finally:
        stop.set()
        failing.join()
        library.code("api_synchronize")
    assert LAUNCH_FAILURE in codes


@pytest.mark.parametrize("side", cases.BACKENDS)
def test_a_gpu_is_lost_after_a_failure_and_an_emulated_device_is_not(side):
    """In a process of its own: nothing of it works on that GPU any more, and it says so."""
    output = subprocesses.run(
        """
        import os
        import numpy as np
        import cases, cudakern
        from test_late_errors import broken
        side = os.environ["SIDE"]
        m = cases.native(side)
        x, y = m.empty((2000,), "int32", 0, 0), m.empty((1000,), "int32", 0, 0)
        stream = m.stream_create(0, 0)
        if side == "emulator":
            scratch = broken(stream)
        else:  # nothing is at the address
            x = m.adopt(np.ones(1), 1 << 20, (2000,), (4,), "int32", 0, False)
        m.copy(y, m.view(x, 0, (1000,), (8,), "int32"), stream)
        for call in (lambda: m.stream_synchronize(0, stream), lambda: m.fill(y, bytes(4), 0), lambda: m.synchronize(0)):
            try:
                call()
                print("well")
            except cudakern.CudaError as error:
                assert error.code == (719 if side == "emulator" else 700), error
                print("lost" if "context is lost" in str(error) and "restart the process" in str(error) else "")
        del x, y
        print(m.pool_used(0))
    """,
        SIDE=side,
    )
    words = ["", "well", "well"] if side == "emulator" else ["lost"] * 3
    assert output.split("\n") == [*words, "0", ""]
