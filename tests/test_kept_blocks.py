"""Small blocks of device memory that are kept once they are freed: who gets them again, and when they go back."""

import pytest

import subprocesses
from cases import BACKENDS

BEGIN = """
    import gc, sys
    import numpy as np, pytest
    import cases, cudakern
    name = {name!r}
    native = cases.native(name)
    native.trim(0)
    KEPT, LARGEST = 32, 1 << 20  # of csrc/runtime/pool.c

    def make(bytes, stream=0):
        return native.empty((bytes,), "uint8", 0, stream)

    def address(bytes, stream=0):  # of a block that is freed again at once
        return make(bytes, stream).pointer
"""


def run(name, code, keep="1"):
    subprocesses.run(subprocesses.joined(BEGIN.format(name=name), code), CUDAKERN_KEEP_FREED=keep)


every_backend = pytest.mark.parametrize("name", BACKENDS)


@every_backend
def test_the_next_of_that_size_gets_it(name):
    run(
        name,
        """
        first = address(1000)
        other = make(999)
        assert other.pointer != first
        assert native.pool_used(0) == 999
        again = make(1000)
        assert again.pointer == first
        assert native.pool_used(0) == 1999
        assert make(1000).pointer != first  # which is in use
        del other, again
        assert native.pool_used(0) == 0
        """,
    )


@every_backend
def test_of_several_the_one_freed_last_comes_first(name):
    run(
        name,
        """
        blocks = [make(640) for _ in range(5)]
        addresses = [x.pointer for x in blocks]
        while blocks:
            del blocks[0]
        assert [x.pointer for x in [make(640) for _ in range(5)]] == addresses[::-1]
        """,
    )


@every_backend
def test_not_on_another_stream_and_not_large_ones(name):
    """Another stream does not come after what the default stream does with a block until then."""
    run(
        name,
        """
        first, own = address(5000), native.stream_create(0, 0)
        assert make(5000, own).pointer != first
        assert make(5000).pointer == first
        free = native.device_properties(0)["memory_free"]
        kept = make(LARGEST + 1)
        del kept
        if name == "emulator":  # CUDA's pool keeps it, too
            assert native.device_properties(0)["memory_free"] == free
        native.stream_destroy(0, own)
        """,
    )


@every_backend
def test_work_that_still_goes_on_in_a_freed_block(name):
    """The array that gets it comes after that."""
    run(
        name,
        """
        random = np.random.default_rng()
        with cudakern.use_backend(name):
            x, y = (cudakern.asarray(random.random((64, 64), np.float32)) for _ in range(2))
            expected = {id(x): x.get() @ x.get(), id(y): y.get() @ y.get()}
            kept = []
            for turn in range(200):
                given = (x, y)[turn % 2]
                product = given @ given  # where the last but one lay
                kept = [*kept[-1:], (given, product)]
                if turn % 17 == 0:
                    for source, found in kept:
                        assert np.allclose(found.get(), expected[id(source)], rtol=1e-5)
        """,
    )


CLEAR = """
    with cudakern.use_backend(name):
        arrays = [cudakern.asarray(np.arange(n) % 7) for n in (20000, 50000, 33333)]
        expected = [int((x.get() ** 2).sum()) for x in arrays]

    def sums(stream=None):
        with cudakern.use_backend(name):
            return [int(cudakern.sum_of_squares(x, variant="one_launch", stream=stream)) for x in arrays]

    def guarded():  # calls of CUDA by one sum
        native.inject_fault(10**6, 1)
        with cudakern.use_backend(name):
            result = cudakern.sum_of_squares(arrays[0], variant="one_launch")
        count = native.fault_count()
        native.inject_fault(0, 1)
        assert int(result) == expected[0]
        return count
"""


@every_backend
def test_a_workspace_that_was_left_clear_is_not_cleared_again(name):
    run(
        name,
        CLEAR
        + """
    first, second, third = guarded(), guarded(), guarded()
    assert first > second == third
    for turn in range(5):
        assert sums() == expected
    with cudakern.use_backend(name):
        streams = [cudakern.Stream() for _ in range(2)]
    for turn in range(3):  # elsewhere, and in the default stream again
        assert sums(streams[turn % 2]) == expected == sums()
    assert guarded() == second
    dirty = [make(n) for n in range(64, 4096, 8)]  # an array never gets a clear block, which it would leave dirty
    for x in dirty:
        native.fill(x, bytes([255]), 0)
    del dirty, x
    assert sums() == expected
    """,
    )


def test_a_failure_leaves_no_workspace_clear():
    """It may have stopped the kernel that would have cleared it, so the next call clears it itself."""
    run(
        "emulator",
        CLEAR
        + """
    from test_late_errors import broken
    kept = [guarded() for _ in range(3)][-1]
    scratch = broken(0)
    with pytest.raises(cudakern.CudaError):
        native.synchronize(0)
    again = [guarded() for _ in range(2)]
    assert again[0] > again[1] == kept
    """,
    )


@every_backend
def test_there_is_an_end_to_it(name):
    """Of more than are kept the oldest goes back, and trim gives all back."""
    run(
        name,
        """
        blocks = [make(2048) for _ in range(KEPT + 3)]
        addresses = [x.pointer for x in blocks]
        while blocks:
            del blocks[0]
        again = [make(2048) for _ in range(KEPT)]
        assert [x.pointer for x in again] == addresses[:2:-1]
        del again
        before = native.device_properties(0)["memory_free"]
        native.trim(0)
        if name == "emulator":  # a GPU's memory is not ours alone
            assert native.device_properties(0)["memory_free"] >= before + KEPT * 2048
        """,
    )


def test_memory_that_is_short_takes_them():
    run(
        "emulator",
        """
        cudakern.emulator.configure(memory="8M")
        with cudakern.use_backend("emulator"):
            arrays = [cudakern.zeros(1 << 18, "uint8") for _ in range(24)]
            del arrays
            x = cudakern.zeros(7 << 20, "uint8")
            with pytest.raises(cudakern.OutOfMemoryError):
                cudakern.zeros(2 << 20, "uint8")
        """,
    )


@every_backend
@pytest.mark.parametrize("keep", ["0", ""])
def test_whether_blocks_are_kept(name, keep):
    """The setting says it, else a GPU keeps them; the emulator finds uses of freed memory, and keeps none."""
    run(
        name,
        f"""
        free = native.device_properties(0)["memory_free"]
        address(4096)
        if name == "emulator":
            assert native.device_properties(0)["memory_free"] == free
        elif {keep!r} == "":
            assert address(4096) == address(4096)
        """,
        keep=keep,
    )


@every_backend
def test_another_value_of_the_setting(name):
    subprocesses.run(
        f"""
        import cases, pytest
        with pytest.raises(ValueError, match='CUDAKERN_KEEP_FREED must be 0 or 1, not "yes"'):
            cases.native({name!r}).empty((1,), "uint8", 0, 0)
        """,
        CUDAKERN_KEEP_FREED="yes",
    )


@every_backend
def test_the_results_of_a_loop_take_turns(name):
    """x = f(x) needs two blocks, however often."""
    run(
        name,
        """
        with cudakern.use_backend(name):
            x, one = cudakern.zeros(100, "float32"), cudakern.asarray(np.ones(100, np.float32))
            seen = set()
            for turn in range(50):
                x = cudakern.vector_add(x, one)
                seen.add(x._view.pointer)
            assert x.get().tolist() == [50] * 100
            assert len(seen) <= 3
        """,
    )
