"""Nothing outlives a call of any public function: no device memory, no Python object, no memory of the host."""

import gc
import sys
import sysconfig

import pytest

import cudakern
import public
from cases import native
from test_faults import EVERY
from views import malloced

# A Python without its lock frees some things later, more of them at one time than at another.
ROUNDS = 1000 if sysconfig.get_config_var("Py_GIL_DISABLED") else 100
C_BYTES = 16  # a call: malloc's smallest block is larger, so one that is forgotten in every call shows


@pytest.mark.parametrize("make", EVERY)
def test_nothing_outlives_a_call(backend, make):
    call, kept = make()
    for _ in range(5):
        call()
    gc.collect()
    cudakern.synchronize()
    used = native(backend).pool_used(0)
    references = [sys.getrefcount(x) for x in kept]
    growth, in_c = [], []
    while len(growth) < 8 and (  # caches grow too, but not for ever
        min(growth, default=ROUNDS) >= ROUNDS // 4 or min(in_c, default=C_BYTES * ROUNDS) >= C_BYTES * ROUNDS
    ):
        blocks, bytes_of_c = sys.getallocatedblocks(), malloced()
        for _ in range(ROUNDS):
            call()
        gc.collect()
        cudakern.synchronize()
        growth.append(sys.getallocatedblocks() - blocks)
        in_c.append(malloced() - bytes_of_c)
    after = [sys.getrefcount(x) for x in kept]
    assert after == references
    assert native(backend).pool_used(0) == used
    assert min(growth) < ROUNDS // 4, growth  # one object in four rounds would show
    assert min(in_c) < C_BYTES * ROUNDS, in_c


def test_every_public_name_is_in_it():
    assert public.public_names() <= set(public.CALLS)
