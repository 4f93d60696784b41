"""Several devices in one process: each has its own streams, pools and memory; copies and events go between them."""

import textwrap

import pytest

import cases
import subprocesses

#: The emulator has as many devices as one likes; GPUs there may be several of.
SIDES = [side for side in cases.SIDES if side == "emulator" or cases.native(side).device_count() > 1]
several = pytest.mark.parametrize("side", SIDES)

SETUP = """
import ctypes, threading
import numpy as np
import cuda_api
from cuda_api import DEFAULT, LEGACY, ON_DEVICE, PER_THREAD

INVALID_VALUE, INVALID_DEVICE, INVALID_HANDLE, NOT_READY = 1, 101, 400, 600
PATIENCE = ctypes.c_ulonglong(20_000_000_000)
size = ctypes.c_size_t
library = cuda_api.load({side!r}, "streams")


def on(device):
    library.check("api_set_device", device)


def cell(value, device):
    on(device)
    return library.buffer(np.array([value], np.int32))


def stream(device, flags=1):
    on(device)
    return library.stream(flags)


def event(device):
    on(device)
    return library.event()


def pinned_flag():
    at = library.value("api_malloc_host", ctypes.c_void_p, size(4))
    word = ctypes.c_int.from_address(at)
    word.value = 0
    return ctypes.c_void_p(at), word


def refused(code, function, *arguments):
    assert library.code(function, *arguments) == code, (function, library.code(function, *arguments))
    assert library.code("api_last_error") == code
"""


def run(side, code):
    settings = {"CUDAKERN_EMULATOR_DEVICES": "3", "CUDAKERN_EMULATOR_MEMORY": "64M"} if side == "emulator" else {}
    subprocesses.run(SETUP.format(side=side) + textwrap.dedent(code), CUDA_MODULE_LOADING="EAGER", **settings)


@several
def test_copies_between_devices(side):
    run(
        side,
        """
        one, two, back = cell(5, 0), cell(6, 1), np.zeros(1, np.int32)
        for at in range(2):  # whichever is the current device
            on(at)
            library.check("api_set", two, 0, size(4))
            library.check("api_synchronize")
            library.check("api_copy_peer", two, 1, one.address, 0, size(4))
            assert two.get()[0] == 5
            for kind in (ON_DEVICE, DEFAULT):
                library.check("api_set", two, 0, size(4))
                library.check("api_synchronize")
                library.check("api_copy", two, one.address, size(4), kind)
                on(0), library.check("api_synchronize"), on(1), library.check("api_synchronize"), on(at)
                assert two.get()[0] == 5
        mine = stream(0)
        library.check("api_copy_peer_async", two, 1, one.address, 0, size(4), mine)
        library.check("api_stream_synchronize", mine)
        for function in ("api_copy_peer", "api_copy_peer_async"):
            last = (None,) if function.endswith("async") else ()
            refused(INVALID_DEVICE, function, two, 9, one.address, 0, size(4), *last)
        """,
    )


@several
def test_what_a_stream_of_another_device_takes(side):
    """Launches need the stream's device to be the current one; events its own. All else goes to the stream's device."""
    run(
        side,
        """
        there, here = stream(1), stream(0)
        value, first, second = cell(1, 1), event(0), event(1)
        on(0)
        try:
            library.start("run_step", value, value, stream=there)
            assert False, "launched"
        except cuda_api.CudaFailure as failure:
            assert failure.code == INVALID_HANDLE
        library.code("api_last_error")
        library.check("api_set_async", value, 0, size(4), there)
        library.check("api_stream_synchronize", there)
        assert library.code("api_stream_query", there) == 0
        refused(INVALID_HANDLE, "api_event_record", first, there)
        refused(INVALID_HANDLE, "api_event_record", second, here)
        library.check("api_event_record", second, there)
        library.check("api_stream_wait", here, second)
        library.check("api_event_synchronize", second)
        assert library.code("api_event_query", second) == 0
        library.check("api_event_record", first, here)
        library.check("api_stream_synchronize", here)
        place = ctypes.c_float()
        refused(INVALID_HANDLE, "api_event_elapsed", ctypes.byref(place), first, second)
        on(1)
        library.launch("run_step", value, value, stream=there)
        assert value.get()[0] == 1
        """,
    )


@several
def test_an_event_orders_streams_of_two_devices(side):
    run(
        side,
        """
        flag, word = pinned_flag()
        first, second, moved = cell(0, 0), cell(0, 1), cell(0, 1)
        here, there, done = stream(0), stream(1), event(0)
        on(0)
        library.start("run_wait_for_flag", flag, first, PATIENCE, stream=here)
        library.check("api_event_record", done, here)
        on(1)
        library.check("api_stream_wait", there, done)
        library.check("api_copy_peer_async", moved, 1, first.address, 0, size(4), there)
        library.start("run_step", moved, second, stream=there)
        assert library.code("api_stream_query", there) == NOT_READY
        word.value = 4
        library.check("api_stream_synchronize", there)
        assert second.get()[0] == 13
        """,
    )


@several
def test_each_device_has_its_own_default_streams(side):
    """What one holds up, another does not."""
    run(
        side,
        """
        flag, word = pinned_flag()
        first, second = cell(0, 0), cell(0, 1)
        for handle in (None, LEGACY, PER_THREAD):
            word.value = 0
            on(0)
            library.start("run_wait_for_flag", flag, first, PATIENCE, stream=handle)
            on(1)
            library.launch("run_step", second, second, stream=handle)
            library.check("api_synchronize")
            on(0)
            assert library.code("api_stream_query", handle) == NOT_READY
            word.value = 8
            library.check("api_stream_synchronize", handle)
            assert first.get()[0] == 8
        assert second.get()[0] == 13
        """,
    )


@several
def test_pools_and_memory_are_each_devices_own(side):
    run(
        side,
        """
        def free(device):
            on(device)
            available, total = size(), size()
            library.check("api_memory_info", ctypes.byref(available), ctypes.byref(total))
            return available.value
        there, big = stream(1), 32 << 20
        before = free(0), free(1)
        on(0)  # the stream says which device's pool it is
        pointer = ctypes.c_void_p(library.value("api_malloc_async", ctypes.c_void_p, size(big), there))
        library.check("api_stream_synchronize", there)
        kind, device, on_device, on_host = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        library.check("api_pointer", pointer, *map(ctypes.byref, (kind, device, on_device, on_host)))
        assert (kind.value, device.value) == (2, 1)
        if library.side == "emulator":  # others use GPUs too
            assert (before[0] - free(0), before[1] - free(1)) == (0, big)
        library.check("api_free_async", pointer, there)
        library.check("api_stream_synchronize", there)
        """,
    )


@several
def test_peers(side):
    run(
        side,
        """
        pairs = [(0, 1), (1, 0)]
        reach = [library.value("api_can_access_peer", ctypes.c_int, *pair) for pair in pairs]
        assert all(can in (0, 1) for can in reach)
        on(0)
        zero, no = ctypes.c_uint(0), ctypes.c_uint(1)
        if reach[0]:
            refused(INVALID_VALUE, "api_enable_peer", 1, no)
            refused(705, "api_disable_peer", 1)
            library.check("api_enable_peer", 1, zero)
            refused(704, "api_enable_peer", 1, zero)
            library.check("api_synchronize")
            value = cell(3, 1)
            on(0)
            library.launch("run_step", value, value)  # a kernel here, memory there
            assert value.get()[0] == 10
            library.check("api_disable_peer", 1)
        else:
            refused(217, "api_enable_peer", 1, zero)
        """,
    )


@pytest.mark.parametrize("side", ["emulator"])
def test_memory_of_the_wrong_device(side):
    """Each device's limit is its own; the words say whose memory it is."""
    run(
        side,
        """
        one, two, host = cell(5, 0), cell(6, 1), np.zeros(1, np.int32)
        refused(INVALID_VALUE, "api_copy_peer", two, 2, one.address, 0, size(4))
        assert "it is memory of device 1" in library.detail(), library.detail()
        refused(INVALID_VALUE, "api_copy_peer", two, 1, ctypes.c_void_p(host.ctypes.data), 0, size(4))
        pinned, _ = pinned_flag()
        refused(INVALID_VALUE, "api_copy_peer_async", pinned, 1, one.address, 0, size(4), None)
        assert "it is host memory" in library.detail(), library.detail()
        held = []
        for device in range(3):
            on(device)
            held.append(ctypes.c_void_p(library.value("api_malloc", ctypes.c_void_p, size(60 << 20))))
            refused(2, "api_malloc", ctypes.byref(ctypes.c_void_p()), size(8 << 20))
            assert f"device {device}" in library.detail()
        for pointer in held:
            library.check("api_free", pointer)
        """,
    )


@pytest.mark.parametrize("side", ["emulator"])
def test_threads_choose_their_devices_each_for_itself(side):
    run(
        side,
        """
        wrong = []

        def work(device):
            on(device)
            value = library.buffer(np.zeros(1, np.int32))
            for _ in range(200):
                library.start("run_step", value, value, stream=PER_THREAD)
                if library.value("api_get_device", ctypes.c_int) != device:
                    wrong.append(device)
            library.check("api_stream_synchronize", PER_THREAD)
            expected = 0
            for _ in range(200):
                expected = (3 * expected + 1 + 2**31) % 2**32 - 2**31
            if value.get()[0] != expected:
                wrong.append(device)

        threads = [threading.Thread(target=work, args=(i % 3,)) for i in range(9)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert not wrong, wrong
        """,
    )
