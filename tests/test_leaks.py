"""Nothing outlives a call of any public function: no device memory, no Python object, no memory of the host."""

import ctypes
import sys
import sysconfig
import time

import pytest

from growth import grows_by_less, malloced, settled
from test_faults import EVERY

# A Python without its lock frees some things later, more of them at one time than at another.
ROUNDS = 1000 if sysconfig.get_config_var("Py_GIL_DISABLED") else 100
C_BYTES = 16  # a call: malloc's smallest block is larger, so one that is forgotten in every call shows


@pytest.mark.parametrize("make", EVERY)
def test_nothing_outlives_a_call(backend, make):
    call, kept = make()
    begun = time.perf_counter()
    for _ in range(5):
        call()
    slow = time.perf_counter() - begun > 0.02
    # An object in four rounds shows, and one in each round of a slow call.
    rounds, blocks = (ROUNDS // 4, ROUNDS // 4) if slow else (ROUNDS, ROUNDS // 4)
    used = settled(backend)
    references = [sys.getrefcount(x) for x in kept]
    grows_by_less(backend, call, rounds, blocks=blocks, in_c=C_BYTES * rounds)
    after = [sys.getrefcount(x) for x in kept]
    assert after == references
    assert settled(backend) == used


def test_what_is_forgotten_in_every_call_is_seen():
    """The instrument itself: a leak grows in every turn, in Python's memory or in C's."""
    kept, libc = [], ctypes.CDLL(None)
    with pytest.raises(AssertionError, match="Python's blocks grew by"):
        grows_by_less("emulator", lambda: kept.append(object()), 400, blocks=40, in_c=1 << 20)
    libc.malloc.argtypes, libc.malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
    libc.free.argtypes, libc.free.restype = [ctypes.c_void_p], None
    blocks = []
    if malloced():  # else nobody counts them here
        with pytest.raises(AssertionError, match="C's bytes by"):
            grows_by_less("emulator", lambda: blocks.append(libc.malloc(24)), 400, blocks=1 << 20, in_c=16 * 400)
    for block in blocks:
        libc.free(block)


def test_what_grows_once_is_no_leak():
    """As when the test runner's thread hears of its next tests while ours are counted."""
    turns, kept = iter(range(1 << 20)), []

    def call():
        if next(turns) == 100:
            kept.extend(object() for _ in range(1000))

    grows_by_less("emulator", call, 400, blocks=40, in_c=16 * 400)
    assert len(kept) == 1000
