"""Which device calls go to: device(), devices(), several emulated ones, and the GPU that is there."""

import contextvars
import pickle
import threading

import numpy as np
import pytest

import cudakern as ck
from cases import native
from subprocesses import run


@pytest.mark.proves("devices")
def test_devices_are_those_of_the_backend(backend):
    found = ck.devices()
    assert len(found) == native(backend).device_count() >= 1
    assert [d.index for d in found] == list(range(len(found)))
    assert {d.backend for d in found} == {backend}
    assert str(found[0]) == f"{backend}:0"


def test_a_device_tells_of_itself(backend):
    here = ck.devices()[0]
    told = native(backend).device_properties(0)
    assert here.name == told["name"] == here.properties["name"]
    assert here.memory.total == here.memory[1] == told["memory_bytes"]
    assert 0 < here.memory.free <= here.memory.total
    assert here.name in repr(here)
    assert str(here) in repr(here)
    assert "<table>" in here._repr_html_()
    assert here.name in here._repr_html_()
    here.synchronize()


def test_a_device_is_a_value(backend):
    here = ck.devices()[0]
    assert here == ck.devices()[0] == pickle.loads(pickle.dumps(here))
    assert hash(here) == hash(ck.devices()[0])
    assert here != ck.Device(backend, 1)
    with pytest.raises(AttributeError):
        here.index = 1


@pytest.mark.proves("device")
def test_device_gives_the_device(backend):
    with ck.device(0) as here:
        assert here == ck.Device(backend, 0)
        assert ck.backend().device == 0
        assert ck.zeros(3).device == here
    with ck.device(np.int64(0)) as again, ck.device(again) as nested:
        assert nested == here


@pytest.mark.proves("device")
@pytest.mark.parametrize("number", [-1, 64, 2**40])
def test_a_device_that_is_not_there(backend, number):
    for call in (ck.device, ck.Stream, lambda n: ck.Event(device=n), ck.synchronize):
        with pytest.raises(ValueError, match=rf"backend '{backend}' has no device {number}: it has"):
            call(number)


@pytest.mark.parametrize("what", [1.0, "0", True, [0]])
def test_what_is_no_device(backend, what):
    with pytest.raises(TypeError, match="a device must be an index or a Device, not"):
        ck.device(what)


def test_another_backends_device(backend):
    other = "cuda" if backend == "emulator" else "emulator"
    with pytest.raises(
        ValueError, match=rf"not belong to the current backend, '{backend}': .*use_backend\('{other}'\)"
    ):
        ck.device(ck.Device(other, 0))


def test_use_backend_refuses_at_once():
    with pytest.raises(ValueError, match="unknown backend 'emulater': the nearest is 'emulator'"):
        ck.use_backend("emulater")  # and no `with`


def test_use_backend_and_device_are_undone_by_an_error():
    before = ck.backend()

    def inside():
        with ck.use_backend("emulator"), ck.device(0):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        inside()
    assert ck.backend() == before


def several(code, devices=3):
    """Runs the code where the emulator has three devices."""
    head = "import numpy as np, cudakern as ck, pytest\n"
    lines = [line.removeprefix("        ") for line in code.strip("\n").splitlines()]
    return run(head + "\n".join(lines), CUDAKERN_EMULATOR_DEVICES=str(devices), CUDAKERN_BACKEND="emulator")


def test_arrays_remember_their_device():
    several(
        """
        assert [d.index for d in ck.devices()] == [0, 1, 2]
        with ck.device(1) as one:
            x = ck.asarray(np.arange(6.0).reshape(2, 3))
            stream = ck.Stream()
            assert ck.backend().device == 1 and stream.device == one and ck.Event().device == one
            with ck.device(2):
                assert ck.zeros(1).device.index == 2
            assert ck.zeros(1).device.index == 1
            assert one._native.pointer_device(x._view.pointer) == 1
        assert ck.backend().device == 0
        for y in (x, x[0], x.T, x.copy(), x.astype("int8"), x.reshape(-1), x @ x.T, ck.sum_of_squares(x)):
            assert y.device == one, y.device
        assert repr(x).endswith("on emulator:1)")
        x[0] = 7
        assert x.get().tolist() == [[7, 7, 7], [3, 4, 5]]
        assert (x @ x.T).get().tolist() == (x.get() @ x.get().T).tolist()
        """
    )


def test_memory_is_taken_where_it_should_be():
    several(
        """
        def live():
            return [d.memory.free for d in ck.devices()]
        before = live()
        with ck.device(1):
            x = ck.zeros(1 << 26, "int8")
        ck.synchronize(1)
        after = live()
        assert before[0] == after[0] and before[2] == after[2] and before[1] - after[1] >= 1 << 26
        """
    )


def test_copies_between_devices():
    several(
        """
        a = np.arange(24, dtype=np.float32).reshape(4, 6)
        with ck.device(1):
            x = ck.asarray(a)
        y = ck.asarray(x)
        assert (x.device.index, y.device.index) == (1, 0)
        assert (y.get() == a).all()
        with ck.device(2):
            z = ck.asarray(x[::-1, ::2].T, "int16", stream=ck.Stream())
        assert z.device.index == 2 and z.dtype == np.int16
        assert (z.get() == a[::-1, ::2].T).all()
        with pytest.raises(ValueError, match="copy=False"):
            ck.asarray(x, copy=False)
        with ck.device(1):
            assert ck.asarray(x) is x
        """
    )


def test_mixing_devices_is_an_error_that_says_how_to_mend_it():
    several(
        """
        x = ck.zeros((2, 2))
        with ck.device(1):
            y = ck.zeros((2, 2))
            stream = ck.Stream()
        with pytest.raises(ValueError, match=r"emulator:1.*emulator:0.*device\\(0\\)"):
            x[0] = y[0]
        with pytest.raises(ValueError, match="emulator:1"):
            x @ y
        with pytest.raises(ValueError, match=r"a stream of emulator:1 cannot run work on emulator:0"):
            x.copy(stream=stream)
        with pytest.raises(ValueError, match="emulator:1"):
            ck.zeros(3, stream=stream)
        with ck.device(0):
            x[0] = ck.asarray(y[0])
        """
    )


def test_streams_and_events_of_two_devices():
    several(
        """
        one, two = ck.Stream(1), ck.Stream(ck.devices()[2])
        assert (one.device.index, two.device.index) == (1, 2)
        two.wait(one)
        event = one.record()
        assert event.device.index == 1
        two.wait(event)
        with pytest.raises(ValueError, match="a stream of emulator:2 cannot run work on emulator:1"):
            two.record(event)
        event.synchronize()
        later = two.record()
        later.synchronize()
        with pytest.raises(ValueError, match="whose clocks differ"):
            event.elapsed_time(later)
        ck.synchronize(1), ck.synchronize(ck.Device("emulator", 2)), ck.synchronize()
        """
    )


def test_calls_with_host_arrays_go_to_the_device():
    several(
        """
        a = np.ones((3, 3), np.float32)
        def free():
            return [d.memory.free for d in ck.devices()]
        before = free()
        with ck.device(2):
            assert ck.sum_of_squares(a, variant="tree_sequential") == 9
            assert ck.profile(ck.matmul, a, a, variant="tiled", repeat=1, warmup=0).backend == "emulator"
        assert free()[:2] == before[:2]
        """
    )


def test_the_threads_current_device_is_respected():
    """As another library sets it; device() goes before it, and changes nothing for that library."""
    several(
        """
        import threading
        import cuda_api
        library = cuda_api.load("emulator", "streams")
        library.check("api_set_device", 2)
        x = ck.asarray(np.ones((2, 2)))
        assert ck.backend().device == x.device.index == 2
        with ck.device(1) as one:
            assert ck.zeros(1).device == one
            assert ck.matmul(np.ones((2, 2)), np.ones((2, 2)), variant="naive").sum() == 8
        assert (x @ x).device.index == ck.zeros(1).device.index == 2
        found = []
        thread = threading.Thread(target=lambda: found.append(ck.backend().device))
        thread.start(), thread.join()
        assert found == [0]
        """
    )


def test_a_thread_has_its_own_device():
    several(
        """
        import contextvars, threading
        found = []
        with ck.device(2):
            thread = threading.Thread(target=lambda: found.append(ck.backend().device))
            thread.start(), thread.join()
            carried = contextvars.copy_context()
        assert found == [0]
        assert carried.run(lambda: ck.backend().device) == 2
        """
    )


def test_a_context_keeps_its_device():
    with ck.use_backend("emulator"):
        with ck.device(0):
            carried = contextvars.copy_context()
        results = []
        thread = threading.Thread(target=lambda: results.append(carried.run(ck.backend).device))
        thread.start()
        thread.join()
    assert results == [0]


def test_device_and_use_backend_can_be_entered_again(backend):
    use, device = ck.use_backend("emulator"), None
    before = ck.backend().name
    for _ in range(2):
        with use as first, use as second:
            assert first == second == ck.backend()
            device = device or ck.device(0)
            with device as here:
                with device as again:
                    assert here == again == ck.Device("emulator", 0)
                assert ck.backend().name == "emulator"
        assert ck.backend().name == before


def test_what_is_entered_again_goes_back_to_what_was_there():
    several(
        """
        second, third = ck.device(2), ck.device(1)
        for _ in range(2):
            with second, third, second:
                with third:
                    assert ck.backend().device == 1
                assert ck.backend().device == 2
            assert ck.backend().device == 0
        """
    )


def test_a_setting_shared_by_threads(backend):
    """Each thread leaves what it entered itself, in whichever order."""
    use, inside, leave = ck.use_backend("emulator"), threading.Event(), threading.Event()
    found = []

    def work():
        with use:
            inside.set()
            leave.wait(60)
            found.append(ck.backend().name)

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait(60)
    with use:
        assert ck.backend().name == "emulator"
    assert ck.backend().name == backend
    leave.set()
    thread.join()
    assert found == ["emulator"]
    with pytest.raises(RuntimeError, match="not entered in this thread"):
        use.__exit__(None, None, None)


def test_a_setting_that_fails_on_entry_leaves_nothing(backend):
    class Fails:
        def __init__(self):
            self.use = ck.use_backend("emulator")
            self.use._result = self.fail

        def fail(self):
            raise ck.CudaError("no", "cudaErrorNoDevice", 100)

    with pytest.raises(ck.CudaError), Fails().use:
        pass
    assert ck.backend().name == backend


def test_a_function_in_a_setting(backend):
    @ck.use_backend("emulator")
    def name():
        return ck.backend().name

    assert (name(), name()) == ("emulator", "emulator")
    assert ck.backend().name == backend


def test_devices_that_are_not_there_show_themselves(backend):
    assert "<cudakern device x:0: not available (" in repr(ck.Device("x", 0))
    assert repr(ck.Device(backend, 9999)).startswith(f"<cudakern device {backend}:9999: not available (")
    with pytest.raises(ValueError, match="'x'.*cuda.*emulator"):
        ck.Device("x", 0).name  # noqa: B018
