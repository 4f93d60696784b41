"""Memory of large results on the host, which the next results get: reuse, limit, trim, forks, threads, settings."""

import pytest

import subprocesses
from cases import BACKENDS

BEGIN = """
    import os, pickle, signal, threading
    import numpy as np
    import cases, cudakern as ck
    from subprocesses import in_child, in_threads
    name = {name!r}
    native = cases.native(name)
    use = ck.use_backend(name)
    use.__enter__()
    MIB = 1 << 20

    def new(mib, value=1):
        x = ck.empty(int(mib * MIB), "uint8")
        x[...] = value
        return x.get()

    def address(x):
        return x.ctypes.data
"""


def run(name, code, **settings):
    quiet = {"PYTHONWARNINGS": "ignore::DeprecationWarning"}  # newer Pythons warn of a fork with threads
    subprocesses.run(subprocesses.joined(BEGIN.format(name=name), code), **quiet, **settings)


every_backend = pytest.mark.parametrize("name", BACKENDS)


@every_backend
def test_the_next_result_gets_it(name):
    """Once no array uses it; also a smaller one, down to 8/9 of the block."""
    run(
        name,
        """
        x = new(18, 3)
        assert not x.flags.owndata and x.flags.writeable and x.flags.carray and address(x) % (2 * MIB) == 0
        first, part = address(x), x[5:7]
        del x
        assert native.warm_kept() == 0
        assert address(y := new(18, 4)) != first
        assert part.tolist() == [3, 3]
        del part
        assert native.warm_kept() == 18 * MIB
        assert address(z := new(16, 5)) == first
        assert native.warm_kept() == 0
        del z
        assert address(z := new(14, 6)) != first  # it would leave more than 1/8 unused
        assert z[0] == z[-1] == 6 and y[0] == y[-1] == 4
        """,
    )


@every_backend
def test_results_of_calls(name):
    run(
        name,
        """
        x = np.arange(2 * MIB, dtype=np.float32)
        step = next(v.name for v in ck.variants("vector_add") if not v.on_host)
        seen = set()
        for turn in range(6):
            y = ck.vector_add(x, x, variant=step)
            assert np.array_equal(y, x + x) and not y.flags.owndata
            seen.add(address(y))
        assert len(seen) == 2  # a result exists until the next one replaces it
        assert np.array_equal(pickle.loads(pickle.dumps(y)), y)
        z = y.copy()
        assert z.flags.owndata and np.array_equal(z, y)
        """,
    )


@every_backend
def test_small_results_are_ordinary_arrays(name):
    run(
        name,
        """
        x = new(4 - 1 / MIB)
        assert x.flags.owndata and x.base is None
        assert not new(4).flags.owndata
        """,
    )


@every_backend
def test_limit(name):
    """Of more than the limit, the oldest block is unmapped; a larger block is never kept."""
    run(
        name,
        """
        arrays = [new(4), new(6), new(8)]
        four, six, eight = map(address, arrays)
        while arrays:
            del arrays[0]
        assert native.warm_kept() == 14 * MIB
        assert {address(a := new(6)), address(b := new(8))} == {six, eight}
        del a, b
        big = new(18)
        del big
        assert native.warm_kept() <= 16 * MIB
        many = [new(4) for _ in range(8)]
        del many
        assert native.warm_kept() == 16 * MIB
        """,
        CUDAKERN_WARM_RESULTS="16M",
    )


@every_backend
def test_how_many_blocks(name):
    run(
        name,
        """
        many = [new(4) for _ in range(70)]
        del many
        assert native.warm_kept() == 64 * 4 * MIB
        """,
    )


@every_backend
def test_trim(name):
    """It unmaps what no array uses, and nothing else."""
    run(
        name,
        """
        def mapped():  # bytes of the process
            return int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGESIZE")

        x, y = new(64, 7), new(64, 8)
        del y
        before = mapped()
        native.trim(0)
        assert native.warm_kept() == 0 and before - mapped() >= 64 * MIB
        assert x[0] == x[-1] == 7
        x[:] = 9
        del x
        assert native.warm_kept() == 64 * MIB
        """,
    )


@every_backend
@pytest.mark.parametrize("value", ["0", "0M"])
def test_switched_off(name, value):
    run(
        name,
        """
        x = new(8)
        assert x.flags.owndata and x[0] == x[-1] == 1
        del x
        assert native.warm_kept() == 0
        """,
        CUDAKERN_WARM_RESULTS=value,
    )


def test_in_a_child_of_a_fork():
    """The child has copies of the parent's arrays and of the kept blocks."""
    run(
        "emulator",
        """
        x, kept = new(8, 3), new(12)
        del kept

        def work():
            global x
            assert x[0] == x[-1] == 3 and native.warm_kept() == 12 * MIB
            x[:] = 4
            y = new(12, 5)
            assert native.warm_kept() == 0 and y[0] == y[-1] == 5 and x[-1] == 4
            del x, y
            assert native.warm_kept() == 20 * MIB
            native.trim(0)

        for turn in range(2):
            in_child(work)
        assert x[0] == x[-1] == 3 and native.warm_kept() == 12 * MIB
        """,
    )


@every_backend
def test_several_python_threads(name):
    run(
        name,
        """
        wrong, done = [], []

        def work(seed):
            with ck.use_backend(name):
                for turn in range(20):
                    x = new(4 + 2 * (turn % 3), seed)
                    if x.min() != seed or x.max() != seed:
                        wrong.append(seed)
                    if turn % 7 == seed:
                        native.trim(0)
                done.append(seed)

        in_threads(work, range(1, 7))
        assert not wrong and len(done) == 6
        assert native.warm_kept() <= 4096 * MIB
        """,
    )


@every_backend
def test_arrays_that_outlive_the_end_of_the_interpreter(name):
    run(
        name,
        """
        import sys
        sys.kept = new(8)  # released after the modules
        x = new(8)
        """,
    )
