"""Calls on device arrays return before they are done; what they took stays until then; errors show where one waits.

A kernel that waits for a flag of the host holds a stream up: what is enqueued behind it cannot be done before."""

import ctypes
import gc

import numpy as np
import pytest

import cases
import cuda_api
import cudakern
import subprocesses
from cases import label, main_type, native, numbers, variants
from failing import failures
from views import down, up

PATIENCE = 20_000_000_000  # ns: then the kernel gives up, and results come too early
LAUNCH_FAILURE = 719
every_variant = pytest.mark.parametrize(
    "side, variant",
    [(s, r) for o in ("matmul", "sum_of_squares") for s, r in variants(o, host=False) if s in cases.SIDES],
    ids=label,
)
both_streams = pytest.mark.parametrize("own", [False, True], ids=["default", "stream"])


class Gate:
    """A stream that is held up until the gate opens."""

    def __init__(self, side, own):
        self.native, self.library = native(side), cuda_api.load(side, "streams")
        self.flag = ctypes.c_void_p(self.library.value("api_malloc_host", ctypes.c_void_p, ctypes.c_size_t(4)))
        self.seen = self.library.buffer(np.zeros(1, np.int32))
        self.own, self.stream = own, self.native.stream_create(0, 0) if own else 0

    def close(self, patience=PATIENCE):
        ctypes.c_int.from_address(self.flag.value).value = 0
        given_up = ctypes.c_ulonglong(patience)
        self.library.start("run_wait_for_flag", self.flag, self.seen, given_up, stream=ctypes.c_void_p(self.stream))

    def open(self):
        ctypes.c_int.from_address(self.flag.value).value = 1

    def done(self):
        return self.native.stream_done(0, self.stream)

    def wait(self):
        self.native.stream_synchronize(0, self.stream)

    def free(self):
        self.open()
        self.native.synchronize(0)
        if self.own:
            self.native.stream_destroy(0, self.stream)
        self.library.check("api_free_host", self.flag)


@pytest.fixture
def gate(side, own):
    made = Gate(side, own)
    yield made
    made.free()


class Call:
    """A variant on arrays of the device. With gaps, so that variants which cannot take those need copies."""

    def __init__(self, side, variant):
        gc.collect()  # views of other tests, kept by their exceptions, would go back in the middle of this one
        self.side, self.native, self.variant = side, native(side), variant
        dtype = main_type(variant)
        self.given = cases.inputs_for(variant.operation, dtype, cases.small_shape(variant.operation))
        self.expected = cases.outputs_for(variant, self.given)
        self.native.execute(variant.operation, variant.name, variant.values({}), self.given, self.expected, 0, False, 0)
        self.inputs = tuple(self.between(x) for x in self.given)
        self.outputs = tuple(self.between(np.full_like(x, 7)) for x in self.expected)

    def between(self, x):
        apart = np.zeros([2 * n for n in x.shape], x.dtype)
        apart[tuple(slice(None, None, 2) for _ in x.shape)] = x
        view = up(self.side, apart)
        return self.native.view(view, 0, x.shape, tuple(2 * step for step in view.strides), view.dtype)

    def make(self, stream, measure=False):
        variant = self.variant
        return self.native.execute(
            variant.operation, variant.name, variant.values({}), self.inputs, self.outputs, 0, measure, stream
        )

    def is_right(self):
        return all(
            np.allclose(down(self.side, view), x, rtol=1e-5)
            for view, x in zip(self.outputs, self.expected, strict=True)
        )


@both_streams
@every_variant
def test_a_call_returns_before_it_is_done(side, variant, own, gate):
    """Nothing of it waits: neither for what is in the stream before, nor for its kernels; what it took from the pool
    is given back in the stream's order, so it is not there any more for us, and still there for the kernels."""
    call = Call(side, variant)
    call.make(gate.stream)  # the pool has its memory, and kernels are loaded
    gate.wait()
    used = call.native.pool_used(0)
    gate.close()
    for _ in range(3):
        call.make(gate.stream)
    assert not gate.done()
    assert call.native.pool_used(0) == used
    gate.open()
    gate.wait()
    assert gate.done()
    assert call.is_right()


@both_streams
@every_variant
def test_a_measured_call_is_done(side, variant, own, gate):
    call = Call(side, variant)
    report = call.make(gate.stream, measure=True)
    assert gate.done()
    assert call.is_right()
    assert report["kernel_ns"] > 0
    assert report["whole_ns"] >= report["kernel_ns"]
    assert (report["to_device_ns"], report["to_host_ns"], report["finish_ns"]) == (0, 0, 0)
    assert (report["bytes_to_device"], report["bytes_to_host"]) == (0, 0)
    assert bool(report["clocks"]) == variant.reads_clock
    assert all(start <= end for start, end, _, _ in report["clocks"])


@pytest.mark.parametrize("own", [pytest.param(False, marks=pytest.mark.full), True], ids=["default", "stream"])
@pytest.mark.shared
@every_variant
def test_a_failure_behind_a_running_kernel(side, variant, own, gate, fault):
    """Some of the call is enqueued when it fails, and runs later: on memory that is still there, no other."""
    call = Call(side, variant)
    call.make(gate.stream)
    gate.wait()
    used = call.native.pool_used(0)

    def hold():
        gate.wait()
        gate.close(patience=10_000_000)  # one of the failures is told when the device is done

    for n, error in failures(side, lambda: call.make(gate.stream), LAUNCH_FAILURE, before=hold):
        assert (n, error.code) == (n, LAUNCH_FAILURE)
        assert (n, call.native.pool_used(0)) == (n, used)
        # Other arrays, on another stream: they would be overwritten if they had memory that is still in use.
        others = [numbers(5000, "int32", i) for i in range(3 * own)]
        views = [up(side, x) for x in others]
        gate.wait()
        for view, x in zip((*views, *call.inputs), (*others, *call.given), strict=True):
            assert np.array_equal(down(side, view), x), n
        del view, views
        call.make(gate.stream)
        assert call.is_right(), n


@pytest.mark.parametrize("own", [True], ids=["stream"])
def test_host_arrays_do_not_wait_for_a_callers_stream(side, own, gate):
    gate.close()
    a = numbers((20, 20), "float32")
    out = np.zeros_like(a)
    gate.native.execute("matmul", "tiled", (16,), (a, a), (out,), 0, False, 0)
    assert not gate.done()
    assert np.allclose(out, a @ a, atol=1e-4)


@both_streams
def test_results_go_on_to_the_next_call(side, own, gate):
    """A chain of products that nobody waits for; the order over two streams is kept as well."""
    module = gate.native
    a = numbers((24, 24), "int64")
    first, second = up(side, a), module.empty(a.shape, "int64", 0, 0)
    other = module.stream_create(0, 0)
    gate.close()
    expected, views = a, [first, second]
    for i in range(6):
        module.execute("matmul", "tiled", (8,), (views[0], first), (views[1],), 0, False, [gate.stream, other][i % 2])
        views = [views[1], module.empty(a.shape, "int64", 0, gate.stream)]
        expected = expected @ a
    assert not gate.done()
    assert not module.stream_done(0, other)
    gate.open()
    module.synchronize(0)
    assert np.array_equal(down(side, views[0]), expected)
    module.stream_destroy(0, other)


# --- late errors -----------------------------------------------------------------------------------------------------
emulator_only = pytest.mark.parametrize("side", ["emulator"])


@both_streams
@emulator_only
@pytest.mark.parametrize("where", ["stream", "device", "download", "measured"])
def test_a_late_error_names_what_was_outstanding(side, own, gate, where):
    """A broken kernel before ours: who waits hears of it, with the launches that had been given to the stream."""
    module, broken = gate.native, cuda_api.load("emulator", "broken")
    a = numbers((20, 20), "float32")
    view, out, total = up(side, a), up(side, np.zeros_like(a)), up(side, np.zeros((), "float32"))

    def compute(measure=False):
        module.execute("matmul", "tiled", (16,), (view, view), (out,), 0, measure, gate.stream)
        module.execute("sum_of_squares", "vectorized", (64, 4), (view,), (total,), 0, measure, gate.stream)

    compute()
    module.synchronize(0)
    scratch = broken.buffer(np.zeros(1024, np.int32))
    gate.close()
    broken.start("run_half_skips", scratch, block=64, stream=ctypes.c_void_p(gate.stream))
    compute()
    gate.open()
    waits = {
        "stream": gate.wait,
        "device": lambda: module.synchronize(0),
        "download": lambda: down(side, out, gate.stream),
        "measured": lambda: compute(True),
    }
    with pytest.raises(cudakern.CudaError) as caught:
        waits[where]()
    message = str(caught.value)
    assert caught.value.code == LAUNCH_FAILURE
    assert "half_skips" in message  # what broke, from the emulator
    assert "tiled<<<(2,2,1),(16,16,1),0>>>" in message  # what else was there, from us
    assert "vectorized<<<(4,1,1),(64,1,1)" in message
    assert "finish<<<" in message
    assert "restart" not in message  # an emulated device lives on
    compute()
    module.synchronize(0)
    assert np.allclose(down(side, out), a @ a, atol=1e-4)
    assert np.allclose(down(side, total), (a * a).sum())
    broken.start("run_half_skips", scratch, block=64, stream=ctypes.c_void_p(gate.stream))
    with pytest.raises(cudakern.CudaError) as caught:
        gate.wait()
    assert "tiled" not in str(caught.value)  # which is done
    del caught  # it holds this frame, which holds it and the views


def test_an_interrupted_wait_leaves_the_rest_in_order():
    """Ctrl-C while one waits for a stream: in a process of its own, since the signal is the process's."""
    process = subprocesses.start("""
        import signal
        import numpy as np
        from cases import native
        from views import down, up
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs start with it ignored
        module = native("emulator")
        stream = module.stream_create(0, 0)
        a = np.ones((2500, 2500), "float32")
        view, out = up("emulator", a), up("emulator", np.zeros_like(a))
        small = up("emulator", a[:8, :8])
        small_out = up("emulator", a[:8, :8])
        for measure in (False, True):
            try:
                print("started", flush=True)
                module.execute("matmul", "tiled", (16,), (view, view), (out,), 0, measure, stream)
                module.stream_synchronize(0, stream)
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            module.execute("matmul", "tiled", (16,), (small, small), (small_out,), 0, False, stream)
            print(down("emulator", small_out, stream)[0, 0], flush=True)
        used = module.pool_used(0)
        del view, out, small, small_out
        module.synchronize(0)
        print(used > 0, module.pool_used(0))
    """)
    lines = []
    for _ in range(2):
        lines.append(process.stdout.readline().strip())
        subprocesses.interrupt(process)
        lines += [process.stdout.readline().strip() for _ in range(2)]
    lines += process.stdout.read().split()
    assert lines == [*(["started", "interrupted", "8.0"] * 2), "True", "0"], process.stderr.read()
    assert process.wait(60) == 0
