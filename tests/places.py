"""A device with streams that can be held up, for the tests of the order of uses and of memory's lifetimes."""

import ctypes
import weakref

import numpy as np

import cases
import cuda_api
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
        array = self.native.empty((length,), "int32", self.device, stream)
        self.fill(array, value, stream)
        self.native.stream_synchronize(self.device, stream)
        return array

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


class Owner:
    """Whoever another library's memory belongs to."""


def adopt(place, buffer, length):
    owner = Owner()
    array = place.native.adopt(owner, buffer.address.value, (length,), None, "int32", 0, False)
    return array, weakref.ref(owner)
