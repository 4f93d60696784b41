"""constant_memory: errors, and tables that change from call to call, across streams and threads."""

import json
import threading

import numpy as np
import pytest

import cudakern
from cudakern import lab
from cudakern.operations.experiments import LITERALS, constant_memory
from cudakern.operations.registry import operation

KERNELS = ("literal", "scalar", "array", "global")
CHANGING = ("scalar", "array", "global")
mixed = operation("constant_memory").reference


def drawn(n, seed=0):
    return np.random.default_rng(seed).integers(0, 2**32, n, dtype=np.uint32)


@pytest.mark.parametrize("index", ["uniform", "divergent"])
@pytest.mark.parametrize("length", [1, 2, 3, 31, 32, 33, 1023, 1024])
@pytest.mark.parametrize("variant", ["array", "global"])
def test_tables_of_any_length(variant, length, index, backend):
    x, table = drawn(777), drawn(length, 1)
    assert np.array_equal(constant_memory(x, table, index=index, variant=variant), mixed(x, table, index))


@pytest.mark.parametrize("variant", CHANGING)
def test_each_call_has_its_own_table(variant, backend):
    """Without a wait in between: the copy of the second must come after the run of the first, in one stream and two."""
    x, tables = cudakern.asarray(drawn(5000)), [drawn(4, seed) for seed in range(1, 9)]
    arrays = [cudakern.asarray(table) for table in tables]
    streams = [cudakern.Stream() for _ in range(3)]
    results = [
        constant_memory(x, table, variant=variant, stream=streams[i % 3] if i < 6 else None)
        for i, table in enumerate(arrays)
    ]
    for table, result in zip(tables, results, strict=True):
        assert np.array_equal(result.get(), mixed(x.get(), table))


def test_two_variants_do_not_disturb_each_other(backend):
    x, one, two = drawn(3000), drawn(4, 1), drawn(4, 2)
    results = [
        constant_memory(cudakern.asarray(x), cudakern.asarray(table), variant=variant)
        for variant, table in (("scalar", one), ("array", two), ("scalar", two), ("array", one))
    ]
    for table, result in zip((one, two, two, one), results, strict=True):
        assert np.array_equal(result.get(), mixed(x, table))


@pytest.mark.parametrize("variant", ["scalar", "array"])
def test_threads_share_one_variable(variant, backend):
    """Each thread's calls, in a stream of its own, see that thread's table."""
    x, wrong = drawn(400), []

    def work(seed):
        table = drawn(4, seed)
        expected = mixed(x, table)
        with cudakern.use_backend(backend):
            given, numbers, stream = cudakern.asarray(x), cudakern.asarray(table), cudakern.Stream()
            for _ in range(20):
                here = constant_memory(given, numbers, variant=variant, stream=stream)
                if not np.array_equal(here.get(), expected):
                    wrong.append(seed)
                if not np.array_equal(constant_memory(x, table, variant=variant), expected):
                    wrong.append(-seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_devices_one_after_another():
    with cudakern.use_backend("emulator"):
        cudakern.emulator.configure(devices=2)
        try:
            x, tables = drawn(2000), [drawn(4, seed) for seed in range(6)]
            results = []
            for i, table in enumerate(tables):
                with cudakern.device(i % 2):
                    arrays = cudakern.asarray(x), cudakern.asarray(table)
                    results.append(constant_memory(*arrays, variant="array"))
            for table, result in zip(tables, results, strict=True):
                assert np.array_equal(result.get(), mixed(x, table))
        finally:
            cudakern.emulator.configure(devices=1)


@pytest.mark.parametrize("variant", KERNELS)
def test_tables_that_do_not_fit(variant, backend):
    x = drawn(10)
    for table in (drawn(0), drawn(1025)):
        with pytest.raises(ValueError, match="table"):
            constant_memory(x, table, variant=variant)
    if variant in ("literal", "scalar"):
        with pytest.raises(ValueError, match="table has 5 numbers, but this variant needs at least 4 and at most 4"):
            constant_memory(x, drawn(5), variant=variant)


def test_types(backend):
    for variant in ("auto", *KERNELS):
        with pytest.raises(TypeError, match="uint32"):
            constant_memory(np.zeros(3, np.float32), LITERALS, variant=variant)
    with pytest.raises(ValueError, match="index"):
        constant_memory(drawn(3), LITERALS, variant="array", index="sideways")


@pytest.mark.proves("lab.constant_memory")
def test_the_experiment(backend, tmp_path):
    result = lab.constant_memory(1003, repeat=1)
    assert [(row["variant"], row["length"], row["index"]) for row in result.rows] == [
        *((name, 4, index) for index in ("uniform", "divergent") for name in KERNELS),
        *((name, 32, index) for index in ("uniform", "divergent") for name in ("array", "global")),
    ]
    emulated = result.backend.emulated
    assert {row["clock"] for row in result.rows} == {"emulated" if emulated else "gpu"}
    assert result[0]["times"] == (None if emulated else 1)
    assert json.loads(json.dumps(result.to_dict()))["experiment"] == "constant_memory"
    with pytest.raises(ValueError, match="n must be 1 or more, not 0"):
        lab.constant_memory(0)
    result.plot(str(tmp_path / "picture.png"))
    assert (tmp_path / "picture.png").stat().st_size > 1000


@pytest.mark.parametrize("first", [0, 30])  # the second lies beyond what NumPy computes
def test_the_experiment_does_not_pass_over_a_wrong_result(backend, monkeypatch, first):
    from cudakern.lab import _where_values_live as module

    right = module.mix

    def wrong(x, table, **keywords):
        result = right(x, table, **keywords)
        if keywords["variant"] != "array":
            return result
        values = result.get()
        values[first:] = ~values[first:]
        return cudakern.asarray(values)

    wrong.__module__, wrong.__name__ = right.__module__, right.__name__
    monkeypatch.setattr(module, "mix", wrong)
    monkeypatch.setattr(module, "CHECKED", 20)
    with pytest.raises(RuntimeError, match="array, 4 numbers, uniform index: the result differs"):
        lab.constant_memory(50, repeat=1)
