"""Many threads, on arrays of their own and on one, with streams of their own, one shared and the default ones."""

import gc
import queue
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import cudakern as ck
from cases import native

THREADS, ROUNDS = 8, 6
STREAMS = ("default", "own", "shared", "per_thread")


def in_threads(backend, work, count=THREADS):
    """Runs work(i) in threads that start together, on the backend; what went wrong in one is raised."""
    together = threading.Barrier(count)

    def run(i):
        with ck.use_backend(backend):
            together.wait(60)
            try:
                return work(i)
            finally:
                native(backend).stream_synchronize(0, 2)  # a thread waits for its own stream before it ends

    with ThreadPoolExecutor(count) as pool:
        return [future.result(timeout=200) for future in [pool.submit(run, i) for i in range(count)]]


def matrix(seed, shape=(24, 24), dtype="int64"):
    return np.random.default_rng(seed).integers(-9, 10, shape).astype(dtype)


@pytest.fixture
def pick(backend):
    """Gives a thread's stream, by one of STREAMS."""
    shared = ck.Stream()
    return {"default": lambda: None, "own": ck.Stream, "shared": lambda: shared, "per_thread": lambda: 2}


@pytest.fixture(autouse=True)
def nothing_left(backend):
    """All device memory is back when the threads are done."""
    gc.collect()
    before = native(backend).pool_used(0)
    yield
    gc.collect()
    assert native(backend).pool_used(0) == before


@pytest.mark.parametrize("which", STREAMS)
def test_arrays_of_their_own(backend, pick, which):
    def work(i):
        stream = pick[which]()
        for k in range(ROUNDS):
            a, b = matrix(100 * i + k), matrix(100 * i + k + 50)
            x, y = ck.asarray(a, stream=stream), ck.asarray(b, stream=stream)
            product = ck.matmul(x, y.T, stream=stream)
            total = ck.sum_of_squares(product, stream=stream)
            assert np.array_equal(product.get(), a @ b.T), (i, k)  # by the default stream: order is kept all the same
            assert int(total) == ((a @ b.T) ** 2).sum(), (i, k)

    in_threads(backend, work)


@pytest.mark.parametrize("which", STREAMS)
def test_all_read_one_array(backend, pick, which):
    a = matrix(1, (40, 30))
    x = ck.asarray(a)

    def work(i):
        stream = pick[which]()
        for k in range(ROUNDS):
            rows = slice(i, 40, k + 1)
            assert int(ck.sum_of_squares(x[rows], stream=stream)) == (a[rows] ** 2).sum()
            assert np.array_equal(ck.matmul(x.T, x, stream=stream).get(), a.T @ a)

    in_threads(backend, work)
    assert np.array_equal(x.get(), a)


@pytest.mark.parametrize("which", STREAMS)
def test_all_write_one_array_each_its_part(backend, pick, which):
    x = ck.zeros((THREADS, 50), "int32")

    def work(i):
        stream = pick[which]()
        mine = x[i]
        for k in range(ROUNDS):
            mine.fill(k, stream=stream)
            mine[1::2].set(np.arange(25) + 100 * i + k, stream=stream)

    in_threads(backend, work)
    expected = np.full((THREADS, 50), ROUNDS - 1, "int32")
    expected[:, 1::2] = np.arange(25) + 100 * np.arange(THREADS)[:, None] + ROUNDS - 1
    assert np.array_equal(x.get(), expected)


@pytest.mark.parametrize("which", STREAMS)
def test_all_write_all_of_one_array(backend, pick, which):
    """In turns: the calls are, their work goes on. What was enqueued first is done first, in whatever streams."""
    x, turn = ck.zeros((64, 64), "int32"), threading.Lock()

    def work(i):
        stream = pick[which]()
        for k in range(ROUNDS):
            with turn:
                x.fill(10 * i + k, stream=stream)
                seen = x.copy()
            with turn:
                later = x.copy(stream=stream)
            assert (seen.get() == 10 * i + k).all()
            last = later.get()
            assert (last == last[0, 0]).all()

    in_threads(backend, work)
    last = x.get()
    assert (last == last[0, 0]).all()
    assert last[0, 0] % 10 == ROUNDS - 1


def test_all_write_all_of_one_array_at_once(backend, pick):
    """As with NumPy's arrays nobody can say what is in it then, but no harm is done."""
    x = ck.zeros((64, 64), "int32")

    def work(i):
        stream = pick[STREAMS[i % len(STREAMS)]]()
        for k in range(ROUNDS):
            x.fill(10 * i + k, stream=stream)
            seen = x.get()
            assert set(np.unique(seen)) <= {0} | {10 * j + r for j in range(THREADS) for r in range(ROUNDS)}

    in_threads(backend, work)
    x.fill(7)
    assert (x.get() == 7).all()


def test_arrays_that_go_from_thread_to_thread(backend, pick):
    """Each link of a chain works in a stream of another kind, and lets go at once."""
    links = [queue.Queue() for _ in range(len(STREAMS) + 1)]

    def work(i):
        stream = pick[STREAMS[i]]()
        for _ in range(20):
            x = links[i].get(timeout=100)
            y = x.copy(stream=stream)
            ck.matmul(x, y, out=y, stream=stream)
            links[i + 1].put(y)
            del x, y

    for k in range(20):
        links[0].put(ck.asarray(np.diag(np.arange(k, k + 5))))
    in_threads(backend, work, len(STREAMS))
    for k in range(20):
        assert np.array_equal(links[-1].get().get(), np.diag(np.arange(k, k + 5) ** 16))


def test_streams_and_events_of_many_threads(backend):
    """Made, used by another thread and destroyed while others do the same."""
    made = queue.Queue()

    def work(i):
        x = ck.zeros(100, "int32")
        for k in range(20):
            stream = ck.Stream()
            x.fill(k, stream=stream)
            event = stream.record()
            made.put((stream, event))
            other, happened = made.get()
            other.wait(event)
            happened.synchronize()
            assert happened.done
            other.synchronize()
            del stream, event, other, happened
            assert (x.get() == k).all()

    in_threads(backend, work)


def test_devices_are_chosen_by_each_thread(backend):
    """On as many devices as there are: one, as a rule; test_devices.py makes several."""
    count = len(ck.devices())

    def work(i):
        with ck.device(i % count) as here:
            for k in range(ROUNDS):
                x = ck.asarray(matrix(i + k))
                assert x.device == here
                assert np.array_equal((x @ x).get(), matrix(i + k) @ matrix(i + k))

    in_threads(backend, work)
