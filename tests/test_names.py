"""How operations are named: by name or by function."""

import json

import numpy as np
import pytest

import cudakern


def test_functions_name_operations():
    assert cudakern.variants(cudakern.sort) is cudakern.variants("sort")
    assert cudakern.source(cudakern.matmul, "tiled") == cudakern.source("matmul", "tiled")
    with cudakern.use_backend("emulator"):
        assert cudakern.ladder(cudakern.sort, n=9, variants=["numpy"]).operation == "sort"
        assert cudakern.profile("matmul", [[1.0]], [[2.0]], repeat=1).operation == "matmul"
        kernels = cudakern.kernel_resources(cudakern.matmul, "tiled")
        assert kernels[0] == cudakern.kernel_resources("matmul", "tiled")[0]
        assert cudakern.occupancy(cudakern.matmul, "tiled") == cudakern.occupancy("matmul", "tiled")


@pytest.mark.parametrize("wrong", [np.matmul, 3, None, cudakern.asarray])
def test_other_things_name_no_operation(wrong):
    calls = [lambda: cudakern.ladder(wrong), lambda: cudakern.source(wrong, "tiled")]
    calls += [lambda: cudakern.kernel_resources(wrong)]
    for call in calls:
        with pytest.raises(TypeError, match=r"such as 'matmul' or cudakern\.matmul, not "):
            call()
    with pytest.raises(ValueError, match="the nearest is 'matmul'"):
        cudakern.profile("matmol", [1], [2])


def test_variants_of_all_operations():
    listed = cudakern.variants()
    assert listed["sort"] is cudakern.variants("sort") is listed[cudakern.sort]
    assert set(listed) >= {"matmul", "sum_of_squares", "hello"}
    assert f"{sum(map(len, listed.values()))} variants" in repr(listed)
    assert repr(listed).count("tree_sequential") == 1
    assert json.loads(json.dumps(listed.to_dict()))["matmul"][0]["name"] == "numpy"
    assert "<th" in listed._repr_html_()
    with pytest.raises(KeyError, match="the nearest is 'matmul'"):
        listed["matmol"]


def test_profile_of_a_result_says_what_to_write():
    with pytest.raises(TypeError) as error:
        cudakern.profile(cudakern.matmul(np.ones((50, 50)), np.ones((50, 50))))
    assert "write profile(cudakern.matmul, a, b), not profile(cudakern.matmul(a, b))" in str(error.value)
    assert "[" not in str(error.value)
