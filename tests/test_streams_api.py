"""Stream, Event, synchronize, and what stream= takes."""

import copy
import gc
import pickle
import time
import weakref

import numpy as np
import pytest

import cudakern as ck
from cases import native
from cudakern.arrays.streams import stream_handle
from subprocesses import run


def test_a_stream(backend):
    stream = ck.Stream()
    assert stream.handle > 2
    assert stream.device == ck.Device(backend, 0)
    assert stream.__cuda_stream__() == (0, stream.handle)
    assert f"{stream.handle:#x}" in repr(stream)
    assert f"{backend}:0" in repr(stream)
    x = ck.asarray(np.arange(1000.0), stream=stream)
    y = x.copy(stream=stream)
    stream.synchronize()
    assert stream.done is True
    assert y.get(stream=stream).tolist() == list(range(1000))
    with pytest.raises(AttributeError):
        stream.handle = 1


def test_priorities_are_brought_into_the_devices_range(backend):
    for priority in (-(10**6), 0, 10**6):
        assert ck.Stream(priority=priority).done
    with pytest.raises(TypeError):
        ck.Stream(priority="high")


def test_every_method_takes_a_stream(backend):
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    for stream in (None, 0, 1, 2, np.int64(0), ck.Stream(), ck.Stream().handle and ck.Stream(priority=-1)):
        x = ck.asarray(a, stream=stream)
        assert (x.get(stream=stream) == a).all()
        x.fill(3, stream=stream)
        x.set(a.T[::-1].T, stream)
        assert (x.copy(stream=stream).get() == a[:, ::-1]).all()
        assert (x.astype("int64", stream=stream).get() == a[:, ::-1]).all()
        assert not ck.zeros((3, 4), stream=stream).get().any()
        assert ck.empty((3, 4), stream=stream).shape == (3, 4)


def test_a_handle_is_as_good_as_its_stream(backend):
    stream = ck.Stream()
    x = ck.zeros(10, stream=stream.handle)
    x.fill(2, stream=stream.handle)
    assert x.get(stream=stream.handle).sum() == 20


def test_uses_in_many_streams_come_in_order(backend):
    streams = [None, 1, 2, *(ck.Stream() for _ in range(4))]
    x = ck.zeros(100_000, "int64")
    for i in range(60):
        x = x.copy(stream=streams[i % len(streams)])
        x[i].fill(i, stream=streams[(3 * i + 1) % len(streams)])
    del streams
    gc.collect()  # a stream may go before its work is done
    expected = np.zeros(100_000, np.int64)
    expected[:60] = range(60)
    assert (x.get() == expected).all()


class WithMethod:
    def __init__(self, answer):
        self.answer = answer

    def __cuda_stream__(self):
        return self.answer


class WithProperty:
    def __init__(self, answer):
        self.answer = answer

    @property
    def __cuda_stream__(self):
        return self.answer


@pytest.mark.parametrize("kind", [WithMethod, WithProperty])
def test_the_stream_protocol(backend, kind):
    stream = ck.Stream()
    wrapped = kind((0, stream.handle))
    assert stream_handle(wrapped, native(backend), 0) == stream.handle
    assert ck.zeros(5, stream=wrapped).get(stream=wrapped).tolist() == [0] * 5
    for default in (0, 1, 2):
        assert stream_handle(kind((0, default)), native(backend), 0) == default


@pytest.mark.parametrize("answer", [None, 5, (0,), (0, 1, 2), (0, "1"), (0, None), (0.0, 1), [0, 1], (0, True)])
def test_a_stream_protocol_that_answers_nonsense(backend, answer):
    with pytest.raises(TypeError, match=r"WithMethod.__cuda_stream__ must return \(version, handle\), two integers"):
        ck.zeros(3, stream=WithMethod(answer))


def test_a_stream_protocol_of_another_version(backend):
    with pytest.raises(ValueError, match="version 1; only version 0"):
        ck.zeros(3, stream=WithMethod((1, 5)))
    with pytest.raises(ValueError, match="not -5"):
        ck.zeros(3, stream=WithMethod((0, -5)))


@pytest.mark.parametrize("stream", [True, 1.0, "2", (0, 1), object(), np.float64(0), np.bool_(False), Ellipsis])
def test_invalid_streams(backend, stream):
    with pytest.raises(TypeError, match=r"stream= must be None, an int .* or an object with __cuda_stream__"):
        ck.zeros(3, stream=stream)
    with pytest.raises(TypeError, match=r"\.cuda_stream \(PyTorch\) or \.ptr \(CuPy\)"):
        ck.zeros(3).get(stream=stream)


@pytest.mark.parametrize("handle", [-1, -5, 2**63, 2**70])
def test_invalid_handles(backend, handle):
    with pytest.raises(ValueError, match=f"not {handle}"):
        ck.zeros(3, stream=handle)


def test_a_stream_of_the_other_backend():
    with ck.use_backend("emulator"):
        stream = ck.Stream()
        event = ck.Event()

    class Other:
        def backend_name(self):
            return "cuda"

    with pytest.raises(ValueError, match="a stream of backend 'emulator' cannot be used with backend 'cuda'"):
        stream_handle(stream, Other(), 0)
    stream._native = Other()
    with pytest.raises(ValueError, match="an event of backend 'emulator' cannot be used with backend 'cuda'"):
        stream.wait(event)


def test_events_order_streams(backend):
    first, second = ck.Stream(), ck.Stream()
    x = ck.zeros(1 << 16, stream=first)
    event = first.record()
    second.wait(event)
    second.wait(first)
    x.fill(1, stream=second)
    second.synchronize()
    event.synchronize()
    assert event.done
    assert x.get().sum() == 1 << 16
    with pytest.raises(TypeError, match="can wait for an Event or a Stream, not int"):
        second.wait(5)


def test_events_measure(backend):
    stream = ck.Stream()
    begin, end = ck.Event(), ck.Event()
    begun = time.perf_counter()
    stream.record(begin)
    x = ck.zeros(1 << 18, "float32", stream=stream)
    for value in range(5):
        x.fill(value, stream=stream)
    assert stream.record(end) is end
    end.synchronize()
    took = time.perf_counter() - begun
    assert 0 < begin.elapsed_time(end) < 1.01 * 1000 * took  # milliseconds; the host waited for both
    assert begin.elapsed_time(begin) == 0
    assert isinstance(begin.elapsed_time(end), float)
    assert f"{backend}:0" in repr(begin)


def test_events_on_the_default_stream(backend):
    event = ck.Event(device=0)
    assert event.done  # nothing was recorded yet
    ck.zeros(10)
    event.record()
    event.synchronize()
    assert event.done


def test_what_events_cannot_measure(backend):
    recorded, never, plain = ck.Event(), ck.Event(), ck.Event(timing=False)
    for event in (recorded, plain):
        event.record()
        event.synchronize()
    with pytest.raises(TypeError, match="takes a later Event, not NoneType"):
        recorded.elapsed_time(None)
    with pytest.raises(ValueError, match="the later event was never recorded"):
        recorded.elapsed_time(never)
    with pytest.raises(ValueError, match="this event was never recorded"):
        never.elapsed_time(recorded)
    with pytest.raises(ValueError, match="the later event was created with timing=False"):
        recorded.elapsed_time(plain)


def test_an_event_that_has_not_happened_yet():
    """On the emulator, whose kernels can be made to take long."""
    with ck.use_backend("emulator"):
        stream = ck.Stream()
        begin, end = ck.Event(), ck.Event()
        a = ck.asarray(np.ones((400, 400)))
        begin.record(stream)
        ck.matmul(a, a, variant="naive", stream=stream)
        end.record(stream)
        assert not stream.done
        with pytest.raises(ck.CudaError, match="the later event has not happened yet") as caught:
            begin.elapsed_time(end)
        assert (caught.value.name, caught.value.code) == ("cudaErrorNotReady", 600)
        end.synchronize()
        assert begin.elapsed_time(end) > 0


def test_streams_and_events_go_with_their_objects(backend):
    module, closed = native(backend), []

    class Listening:
        def __getattr__(self, name):
            return getattr(module, name)

        def stream_destroy(self, device, handle):
            closed.append(("stream", handle))
            module.stream_destroy(device, handle)

        def event_destroy(self, device, handle):
            closed.append(("event", handle))
            module.event_destroy(device, handle)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cudakern.arrays.streams.resolve", lambda device: (Listening(), 0))
        stream, event = ck.Stream(), ck.Event()
    handles = [("stream", stream.handle), ("event", event._handle)]
    assert not closed
    reference = weakref.ref(stream)
    del stream, event
    gc.collect()
    assert reference() is None
    assert sorted(closed) == sorted(handles)


def test_synchronize(backend):
    x = ck.zeros(100_000)
    stream = ck.Stream()
    x.fill(1, stream=stream)
    ck.synchronize()
    assert stream.done
    ck.synchronize(0)
    ck.synchronize(ck.devices()[0])


def test_a_process_may_end_with_streams_at_work():
    out = run(
        """
        import cudakern as ck
        stream = ck.Stream()
        x = ck.zeros((300, 300), stream=stream)
        y = ck.matmul(x, x, stream=stream)
        event = stream.record()
        print("done")
        """,
        CUDAKERN_BACKEND="emulator",
    )
    assert out == "done\n"


def test_a_forked_process_leaves_its_parents_streams_alone():
    out = run(
        """
        import os, cudakern as ck
        stream = ck.Stream()
        child = os.fork()
        if child == 0:
            del stream
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        x = ck.zeros(10, stream=stream)
        stream.synchronize()
        print(x.get().sum())
        """,
        CUDAKERN_BACKEND="emulator",
    )
    assert out == "0.0\n"


@pytest.mark.parametrize("kind", [ck.Stream, ck.Event])
@pytest.mark.parametrize("call", [copy.copy, copy.deepcopy, pickle.dumps])
def test_streams_and_events_are_not_copied(backend, kind, call):
    with pytest.raises(TypeError, match=f"a {kind.__name__} cannot be copied or pickled, .* create another"):
        call(kind())


def test_a_stream_records_events_only(backend):
    with pytest.raises(TypeError, match=r"a stream records an Event, not int; record\(\) creates one"):
        ck.Stream().record(3)


@pytest.mark.parametrize("handle", [4096, 28672, 123456789 * 8, 2**46])
def test_a_wrong_handle_is_never_followed(handle):
    """On a GPU CUDA follows any address, and so the process may end; the emulator knows its streams."""
    with ck.use_backend("emulator"):
        x, host = ck.zeros((2, 2)), np.eye(2)
        for call in (
            lambda: x.get(stream=handle),
            lambda: x.fill(1, stream=handle),
            lambda: ck.matmul(x, x, stream=handle),
            lambda: ck.Event().record(handle),
            lambda: ck.matmul(host, host, stream=handle),
            lambda: ck.sum_of_squares(host, stream=handle),
        ):
            with pytest.raises(ck.CudaError, match="cudaErrorInvalidResourceHandle"):
                call()
        assert not x.get().any()


def test_asarray_looks_at_its_stream_also_where_nothing_is_copied(backend):
    with pytest.raises(TypeError, match="stream= must be None"):
        ck.asarray(ck.zeros(3), stream="nonsense")
