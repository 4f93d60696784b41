"""What a call does not cost: copies of operands that lie well, memory on a repeated call, modules at the import.

Times are measured, beside other libraries', by .ci/record calls."""

import gc

import numpy as np
import pytest

import cudakern
import subprocesses
from cases import native, numbers
from cudakern.calls.observer import Observer, observed

A, B = (300, 400), (400, 200)


class Reports(Observer):
    """Keeps what C reports of each call."""

    def __init__(self):
        self.reports = []

    def kernel(self, run):
        self.reports.append(run.execute(1))


def guarded_calls(name, call):
    """How many calls of the runtime it makes."""
    call()
    native(name).inject_fault(0, 1)  # counts anew
    call()
    return native(name).fault_count()


# --- copies ----------------------------------------------------------------------------------------------------------
HOST = {
    "plain": lambda shape: numbers(shape, "float32"),
    "transposed": lambda shape: numbers(shape[::-1], "float32").T,
    "rows apart": lambda shape: numbers((shape[0], shape[1] + 50), "float32")[:, 25:-25],
    "transposed, columns apart": lambda shape: numbers((shape[1], shape[0] + 50), "float32")[:, 25:-25].T,
    "one row for all": lambda shape: np.broadcast_to(numbers((1, shape[1]), "float32"), shape),
    "read-only": lambda shape: np.broadcast_to(numbers(shape, "float32"), shape),
}


@pytest.mark.parametrize(
    "left, right",
    [
        (left, right) if "plain" in (left, right) else pytest.param(left, right, marks=pytest.mark.full)
        for right in HOST
        for left in HOST
    ],
)
def test_host_operands_go_as_they_lie(backend, left, right):
    """Nothing is written out on the host where a leading dimension, or a stride of 0, can say it."""
    a, b = HOST[left](A), HOST[right](B)
    for variant in ("tiled", "naive"):
        for wide, gathered in ((a, 0), (np.repeat(a, 2, axis=1)[:, ::2], a.nbytes)):  # columns apart are gathered
            with observed(Reports()) as by:
                result = cudakern.matmul(wide, b, variant=variant)
            assert np.allclose(result, a @ b, rtol=1e-4, atol=1e-4)
            assert [report["bytes_gathered"] for report in by.reports] == [gathered]


def test_operands_on_the_device_are_not_copied(backend):
    """Whatever their strides: as many calls of the runtime as for plain ones, and no memory. (Faster kernels need rows
    or columns that are contiguous.)"""
    x, y = cudakern.asarray(numbers((64, 48), "float32")), cudakern.asarray(numbers((48, 64), "float32"))
    out = cudakern.empty((64, 64), "float32")
    one = cudakern.asarray(numbers((1, 1), "float32"))
    assert one._view.strides == (4, 4)
    repeated = type(x)(native(backend).view(one._view, 0, (64, 48), (0, 0), "float32"), native(backend))
    for variant in ("tiled", "naive"):
        plain = guarded_calls(backend, lambda v=variant: cudakern.matmul(x, y, out=out, variant=v))
        used = native(backend).pool_used(0)
        for a, b in ((y.T, x.T), (x[::-1], y[:, ::-1]), (y.T[:, ::-1], x[::-1].T), (repeated, y)):
            call = lambda a=a, b=b, v=variant: cudakern.matmul(a, b, out=out, variant=v)  # noqa: E731
            assert guarded_calls(backend, call) == plain
            assert native(backend).pool_used(0) == used
            assert np.allclose(out.get(), a.get() @ b.get(), rtol=1e-4, atol=1e-4)


# --- memory ----------------------------------------------------------------------------------------------------------
def test_a_repeated_call_takes_no_memory_of_the_device(backend):
    """The pool has it from the calls before: neither the device nor the host's locked pages are asked."""
    module = native(backend)
    a, x = numbers((70, 70), "float32"), numbers(50_000, "float32")
    on_device = cudakern.asarray(a)

    def calls():
        for variant in ("tiled", "tiled_padded"):
            cudakern.matmul(a, a, variant=variant)
            (cudakern.matmul(on_device, on_device.T, variant=variant) @ on_device).get()
        cudakern.sum_of_squares(x, variant="multi_block")
        float(cudakern.sum_of_squares(on_device[::2]))

    def taken():
        gc.collect()
        cudakern.synchronize()
        free = module.device_properties(0)["memory_free"] if backend == "emulator" else 0  # a GPU is not ours alone
        return free, module.pinned_used(), module.pool_used(0)

    for _ in range(5):
        calls()
    before = taken()
    for _ in range(20):
        calls()
    assert taken() == before


# --- the import ------------------------------------------------------------------------------------------------------
def test_the_import_brings_in_nothing_that_only_shows():
    """Tables, pictures and other libraries are imported when something is to be shown, or shared with them."""
    output = subprocesses.run(
        """
        import sys
        import cudakern
        print([name for name in ("rich", "matplotlib", "torch", "cupy", "ml_dtypes") if name in sys.modules])
        """,
        fresh=True,
    )
    assert output == "[]\n"
