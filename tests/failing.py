"""Every guarded call of the runtime made to fail, one at a time."""

import cudakern
from cases import native


def failures(name, call, code, *, before=lambda: None, more_than=0, most=1000):
    """Calls it with the first guarded call failing, then the second, until it makes fewer: yields (n, error) each time.

    ``before`` comes before each of these calls, and nothing fails there.

    How many it makes is not asked beforehand: one call makes more than another, which finds what that one has left.
    A fault that no error tells of fails the test.
    """
    for n in range(1, most):
        before()
        native(name).inject_fault(n, code)
        caught = None
        try:
            call()
        except cudakern.CudaError as error:
            caught = error.with_traceback(None)  # its frames hold arrays
        reached = native(name).fault_count() >= n
        native(name).inject_fault(0, code)
        if not reached:
            assert caught is None
            assert n > more_than
            return
        assert caught is not None, f"the fault in guarded call {n} was swallowed"
        yield n, caught
    raise AssertionError(f"{most} guarded calls, and no end")
