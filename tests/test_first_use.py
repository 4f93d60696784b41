"""Sets of the package's kernels that are compiled at first use (own/sets.py), and calls that name a set."""

import numpy as np
import pytest

import cudakern
from cases import main_type, native
from cudakern.arrays.dtypes import numpy_dtype
from cudakern.calls import observer
from cudakern.operations.registry import names, registry
from cudakern.own import sets


class WithSet(observer.Observer):
    """Runs each call with the kernels of the set that is compiled for it, and remembers which."""

    def __init__(self):
        self.used = []

    def kernel(self, run):
        own = sets.package_set(run.native, run.variant.operation, run.variant.name, "plain")
        self.used.append(own)
        run._replace(set=own).execute()


def compiled(*calls):
    """Their results with sets that are compiled at first use, and with the prebuilt one."""
    with cudakern.use_backend("emulator"):
        with observer.observed(WithSet()) as by:
            mine = [call() for call in calls]
        assert len(by.used) == len(calls)
        return by.used, mine, [call() for call in calls]


def test_a_call_runs_the_kernels_of_its_set():
    rng = np.random.default_rng()
    x = rng.standard_normal(1000)
    used, mine, prebuilt = compiled(
        lambda: cudakern.sum_of_squares(x, variant="tree_sequential"),
        lambda: cudakern.sum_of_squares(cudakern.asarray(x), variant="warp_shuffle").get(),
        lambda: cudakern.vector_add(x, x, variant="naive"),
    )
    for one, other in zip(mine, prebuilt, strict=True):
        np.testing.assert_array_equal(one, other)
    assert used[0] is used[1] or used[0].path == used[1].path  # both runs are in the table's own unit
    assert used[2].path != used[0].path
    assert [operation["name"] for operation in used[2].operations] == ["vector_add"]
    assert "kernels_emulator" not in used[0].path


@pytest.mark.full
@pytest.mark.parametrize("op", [op for op in names() if op != "matmul"])
def test_every_variant_runs_from_a_set_of_its_own(op):
    for variant in cudakern.variants(op):
        if not variant.kernels or "emulator" not in variant.backends:
            continue
        operation = registry()[op]
        inputs = operation.make(operation.ragged[3], numpy_dtype(main_type(variant)), 0)
        _, (mine,), (prebuilt,) = compiled(operation.call_of(variant, inputs))
        np.testing.assert_array_equal(mine, prebuilt)


def test_units_of_a_variant():
    """Those whose run functions its own run calls; not the whole folder."""

    def units(op, variant):
        return {unit.name for unit in sets.needed(op, variant)}

    assert units("matmul", "kahan") == {"matmul.cu"}  # whose run is in the table's file
    assert units("matmul", "naive") == {"matmul.cu", "naive.cu"}
    assert units("matmul", "tiled") == {"matmul.cu", "matmul_tiled_0.cu", "matmul_tiled_1.cu"}  # CK_UNIT
    assert len(units("matmul", "wgmma_persistent")) == 2 + 4  # wgmma.cu, and one for each width of tiles
    assert {"split.cu", "split_inside.cu", "warp_tiles.cu"} < units("matmul", "split_fp16")
    assert len(units("matmul", "fastest")) == len([unit for unit in sets._units() if unit.operation == "matmul"])


def test_a_run_that_is_not_in_the_set_fails():
    with cudakern.use_backend("emulator"):
        here = native("emulator")
        kahan = sets.package_set(here, "matmul", "kahan", "plain")
        a, c = np.ones((2, 2), np.float32), np.ones((2, 2), np.float32)
        with pytest.raises(ValueError, match="launch of matmul 'naive' failed"):
            here.execute((kahan, "matmul"), "naive", (), (a, a), (c,), 0, 0, 0)
        np.testing.assert_array_equal(c, 1)
        here.execute((kahan, "matmul"), "kahan", (), (a, a), (c,), 0, 0, 0)
        np.testing.assert_array_equal(c, 2)


def test_what_names_no_set():
    here = native("emulator")
    with pytest.raises(TypeError, match="set must be a Set"):
        here.work((5, "matmul"), ((2, 2), (2, 2)), "float32")
    with pytest.raises(TypeError, match="operation must be a str"):
        here.work(("matmul",), ((2, 2), (2, 2)), "float32")


def test_a_set_is_compiled_once(monkeypatch, tmp_path):
    monkeypatch.setenv("CUDAKERN_CACHE", str(tmp_path))
    with cudakern.use_backend("emulator"):
        first = sets._linked(native("emulator"), "hello", "greeting", "plain")
        files = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("*.o")}
        assert len(files) == 2  # the operation's, and the table of the set
        assert sets._linked(native("emulator"), "hello", "greeting", "plain") == first
        assert {path.name for path in tmp_path.glob("*.o")} == {*files}
