"""Textures that the runtime keeps from call to call: what they hold, and when they go. (Faults: test_runtime.py.)"""

import threading

import numpy as np
import pytest

import cudakern
import subprocesses
from cases import BACKENDS, native

every_backend = pytest.mark.parametrize("name", BACKENDS)


def looked_up(table, **keywords):
    """Every element of a table, by its place."""
    y, x = (v.astype(np.float32) for v in np.indices(table.shape))
    return cudakern.lookup_2d(table, y, x, filter="nearest", variant="texture", **keywords)


def free(name):
    return native(name).device_properties(0)["memory_free"]


@every_backend
def test_threads_have_textures_of_their_own(name):
    wrong = []

    def work(seed):
        draw = np.random.default_rng(seed)
        with cudakern.use_backend(name):
            for _ in range(25):
                table = draw.random((11, 13), dtype=np.float32)
                if not np.array_equal(looked_up(table), table):
                    wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@every_backend
def test_a_call_that_waits_for_nobody(name):
    """Enqueued one after the other in one stream, each with a table that the one before it made."""
    with cudakern.use_backend(name):
        stream = cudakern.Stream()
        y, x = (cudakern.asarray(v.astype(np.float32)) for v in np.indices((9, 9)))
        given = np.random.default_rng(0).random((9, 9), dtype=np.float32)
        table = cudakern.asarray(given, stream=stream)
        for _ in range(30):
            table = cudakern.lookup_2d(table, x, y, filter="nearest", variant="texture", stream=stream)  # transposed
        assert np.array_equal(table.get(stream=stream), given)


@pytest.mark.parametrize("name", ["emulator"])  # others use a GPU too
def test_what_is_kept_is_bounded_and_goes_when_asked(name):
    with cudakern.use_backend(name):
        looked_up(np.zeros((4, 4), np.float32))
        native(name).trim(0)
        before = free(name)
        table = np.random.default_rng(1).random((512, 512), dtype=np.float32)
        for _ in range(5):
            assert np.array_equal(looked_up(table), table)
        one = before - free(name)
        assert 1 << 20 <= one < 3 << 20  # the array of one texture, not of five
        for n in range(500, 540):
            looked_up(np.zeros((n, n), np.float32))
        assert before - free(name) < 18 << 20  # sixteen of them
        native(name).trim(0)
        assert free(name) == before


def test_textures_give_way_where_memory_is_short():
    subprocesses.run(
        """
        import numpy as np
        import cudakern
        from test_kept_textures import looked_up

        for n in (1000, 1100, 1050, 1150):  # 4 to 5.3 MB each, five such arrays a call, of 32 MB: not all can stay
            table = np.random.default_rng(n).random((n, n), dtype=np.float32)
            assert np.array_equal(looked_up(table), table)
        try:
            cudakern.lookup_2d(np.zeros((3000, 3000), np.float32), 0.0, 0.0, variant="texture")
        except cudakern.OutOfMemoryError as error:
            assert "36000000" in str(error).replace(",", "") or "34.3" in str(error), error
        else:
            raise AssertionError("there is no room for it")
        table = np.ones((1100, 1100), np.float32)
        assert np.array_equal(looked_up(table), table)
        """,
        CUDAKERN_BACKEND="emulator",
        CUDAKERN_EMULATOR_MEMORY="32M",
    )


def test_each_device_has_its_own():
    subprocesses.run(
        """
        import numpy as np
        import cudakern
        from test_kept_textures import looked_up

        for round in range(3):
            for number in range(3):
                with cudakern.device(number):
                    table = np.full((8, 8), 10 * number + round, np.float32)
                    assert np.array_equal(looked_up(table), table)
                    there = [cudakern.asarray(v) for v in (table, np.float32([3]), np.float32([4]))]
                    assert cudakern.lookup_2d(*there, variant="texture").get() == 10 * number + round
        """,
        CUDAKERN_BACKEND="emulator",
        CUDAKERN_EMULATOR_DEVICES="3",
    )


def test_a_child_makes_its_own():
    subprocesses.run(
        """
        import os
        import numpy as np
        import cudakern
        from test_kept_textures import looked_up

        table = np.random.default_rng(0).random((30, 20), dtype=np.float32)
        assert np.array_equal(looked_up(table), table)
        child = os.fork()
        if child == 0:
            os._exit(0 if np.array_equal(looked_up(table[::-1]), table[::-1]) else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert np.array_equal(looked_up(table), table)
        """,
        CUDAKERN_BACKEND="emulator",
    )


@every_backend
def test_results_do_not_depend_on_the_order(name, order):
    table = np.random.default_rng(5).random((40, 30), dtype=np.float32)
    at = np.random.default_rng(6).uniform(-9, 45, (2, 3000)).astype(np.float32)
    results = set()
    with cudakern.use_backend(name):
        for how in ("fixed", "reversed", "seed:7"):
            order(how)
            results.add(cudakern.lookup_2d(table, *at, "wrap", variant="texture").tobytes())
    assert len(results) == 1
