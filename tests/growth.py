"""What grows while a call is repeated: the one way in which these tests look for leaks."""

import ctypes
import gc
import sys

from cases import native


class Malloc(ctypes.Structure):
    """What libc says of its own memory (mallinfo2)."""

    _fields_ = [(field, ctypes.c_size_t) for field in ["a", "b", "c", "d", "mapped", "e", "f", "in_use", "g", "h"]]


def malloced():
    """Bytes that C has: Python's small objects are not among them. 0 under a sanitizer, and where libc does not say."""
    ask = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if ask is None:
        return 0
    ask.restype = Malloc
    told = ask()
    return told.in_use + told.mapped


def settled(name):
    """Bytes in use on the device when nothing runs there and no garbage is left."""
    gc.collect()
    native(name).synchronize(0)
    return native(name).pool_used(0)


def grows_by_less(name, call, rounds, *, blocks, in_c, turns=20):
    """Calls it `rounds` times a turn, until Python's blocks and C's bytes have each grown by less than this in a turn.

    What a call forgets is forgotten in every turn. A cache fills once, and so does what the thread that speaks to
    the test runner receives in between, which is why one turn proves nothing.
    A cache that fills at random takes several.
    """
    blocks_grew, in_c_grew = [], []
    while True:
        settled(name)
        before, bytes_before = sys.getallocatedblocks(), malloced()
        for i in range(rounds):
            call()
            if i % 8 == 0:
                native(name).synchronize(0)  # a backlog has memory too
        settled(name)
        blocks_grew.append(sys.getallocatedblocks() - before)
        in_c_grew.append(malloced() - bytes_before)
        if min(blocks_grew) < blocks and min(in_c_grew) < in_c:
            return
        assert len(blocks_grew) < turns, f"Python's blocks grew by {blocks_grew}, C's bytes by {in_c_grew}"
