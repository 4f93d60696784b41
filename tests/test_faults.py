"""Whatever call of the CUDA runtime fails first, second, third...: the right exception, nothing kept, nothing spoilt.

The calls are those of public.py; a test below fails when a public name has none."""

import gc
import sys

import numpy as np
import pytest

import cudakern
import public
from cases import native
from cudakern.operations.registry import registry

NAMES = {1: "cudaErrorInvalidValue", 2: "cudaErrorMemoryAllocation", 719: "cudaErrorLaunchFailure"}
OUT_OF_MEMORY = 2
EVERY = [pytest.param(m, id=m.__name__) for m in dict.fromkeys(m for makes in public.CALLS.values() for m in makes)]


def values(result):
    """Something to compare: arrays as NumPy's, of the host."""
    if isinstance(result, cudakern.DeviceArray):
        return result.get()
    if isinstance(result, (tuple, list)):
        return [values(item) for item in result]
    return result


def same(a, b):
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b or str(a) == str(b)


def test_every_public_name_has_a_call():
    missing = public.public_names() - set(public.CALLS)
    assert not missing, f"add lines to tests/public.py for {sorted(missing)}"
    known = {*cudakern.__all__, *registry()}  # (experiments' operations are not at the top level)
    unknown = {name for name in public.CALLS if "." not in name} - known
    assert not unknown


@pytest.mark.parametrize("make", EVERY)
def test_a_line_runs_what_it_names(backend, make):
    call, _ = make()
    seen, before = set(), sys.getprofile()
    sys.setprofile(lambda frame, event, _: seen.add(frame.f_code))
    try:
        call()
    finally:
        sys.setprofile(before)
    assert [name for name, makes in public.CALLS.items() if make in makes and not public.codes(name) & seen] == []


@pytest.mark.parametrize(
    "code", [code if code == OUT_OF_MEMORY else pytest.param(code, marks=pytest.mark.full) for code in NAMES]
)
@pytest.mark.parametrize("make", EVERY)
def test_every_runtime_call_may_fail(backend, fault, make, code):
    call, kept = make()
    call()  # makes what a first call makes: pools, streams
    expected = values(call())  # and what is kept from the second call of a kind on: a number on the device
    gc.collect()
    cudakern.synchronize()
    before = [np.asarray(values(x)).tobytes() for x in kept]
    used = native(backend).pool_used(0)
    failures = 0
    for n in range(1, 400):
        fault(backend, n, code)
        raised = False
        try:
            result = call()
        except cudakern.CudaError as error:
            raised = True
            failures += 1
            assert NAMES[code] in str(error), n
            assert (n, error.code) == (n, code) or "does not respond" in str(error)  # then there is no device: 100
            assert isinstance(error, MemoryError) == (error.code == OUT_OF_MEMORY)
            error.__traceback__ = None  # it holds the frames, and they hold arrays
            result = None
        reached = native(backend).fault_count() >= n
        fault(backend, 0, code)
        if not raised:  # then it is right; or it tells the error in its words, as a device's repr does
            result = values(result)
            told = reached and NAMES[code] in str(result)
            failures += told
            assert told or same(result, expected), n
        del result
        if native(backend).pool_used(0) != used:  # not yet, or never: an exception's frames are in cycles
            gc.collect()
        assert (n, native(backend).pool_used(0)) == (n, used)
        assert [np.asarray(values(x)).tobytes() for x in kept] == before
        if not reached:
            break
    assert n < 399
    assert same(values(call()), expected)
    assert failures > 0 or n <= 2 or not native(backend).fault_count()
