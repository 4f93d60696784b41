"""The experiment on fast intrinsics: every function of its kernels, the errors that it reports, what it refuses."""

import json

import numpy as np
import pytest

import cudakern
from cudakern import lab
from cudakern.lab._intrinsics import PAIRS
from cudakern.operations.experiments import EXACT, intrinsics


def test_the_words_are_those_of_the_table():
    for entry in cudakern.variants("intrinsics"):
        for parameter in entry.parameters:
            if parameter.name == "function":
                assert tuple(EXACT) == parameter.words
    assert {pair.function for pair in PAIRS} == set(EXACT)


@pytest.mark.parametrize("repeats", [1, 2, 5])
@pytest.mark.parametrize("variant", ["full", "fast"])
@pytest.mark.parametrize("function", EXACT)
def test_every_function(backend, variant, function, repeats):
    """Far enough from its own value at 0 and 1 that no other function would pass."""
    draw = np.random.default_rng(1)
    x, y = (draw.uniform(1.2, 3.1, 1003).astype(np.float32) for _ in range(2))
    if function == "tan":
        x = x / 3  # (away from its poles)
    if function == "multiply24":
        x, y = np.trunc(x * 500), -np.trunc(y * 500)
    result = intrinsics(x, y, variant=variant, function=function, repeats=repeats)
    exact = EXACT[function](x.astype(np.float64), y.astype(np.float64))
    assert np.allclose(result, exact, rtol=1e-5, atol=2e-6)
    if function == "multiply24":
        assert np.array_equal(result, exact)
    else:
        assert intrinsics(x, y, function=function) == pytest.approx(exact, rel=1e-5, abs=2e-6)


def test_products_of_more_than_24_bits(backend):
    """The fast one takes the low 24 bits of each, with the 24th as a sign."""
    x, y = np.float32([2**23, 2**24 + 8, -(2**23), 2**22]), np.float32([3, 3, 1, 2**11])
    assert intrinsics(x, y, variant="full", function="multiply24").tolist() == [3 * 2**23, 3 * (2**24 + 8), -(2**23), 0]
    assert intrinsics(x, y, variant="fast", function="multiply24").tolist() == [-3 * 2**23, 24, -(2**23), 0]


def test_what_is_refused(backend):
    x = np.ones(4, np.float32)
    for variant in ("auto", "full"):
        with pytest.raises(ValueError, match="log"):
            intrinsics(x, x, function="logarithm", variant=variant)
        with pytest.raises(ValueError, match="array 1 has 3 elements, but array 0 has 4"):
            intrinsics(x, x[:3], variant="full")
        with pytest.raises(TypeError, match="float32"):
            intrinsics(x.astype(int), x.astype(int), variant=variant)
    with pytest.raises(ValueError, match="repeats"):
        intrinsics(x, x, variant="full", repeats=0)
    with pytest.raises(ValueError, match="n must be 1 or more, not 0"):
        lab.intrinsics(0)


@pytest.mark.proves("lab.intrinsics")
def test_the_experiment(backend, tmp_path):
    result = lab.intrinsics(3000, repeat=1)
    assert [(row["fast"], row["range"]) for row in result.rows] == [(pair.fast, pair.range) for pair in PAIRS]
    rows = {(row["fast"], row["range"]): row for row in result.rows}
    emulated = result.backend.emulated
    assert {row["clock"] for row in result.rows} == {"emulated" if emulated else "gpu"}
    assert all((row["gain"] is None) == emulated for row in result.rows)
    # Documented errors, and the wrong range of the division (where T6 is wrong about where it is).
    assert rows["__fdividef", "y 2^-100 to 2^100"]["fast_ulp"] <= 2.5
    wrong = rows["__fdividef", "y 2^126.01 to 2^127.99"]
    assert wrong["fast_ulp"] > 1000 > 1 >= wrong["full_ulp"]
    assert rows["__expf", "x -1 to 1"]["fast_ulp"] <= 3.5
    assert 4 < rows["__expf", "x -80 to 80"]["fast_ulp"] <= 2 + 1.173 * 80
    assert (
        rows["__sinf", "x -pi to pi"]["fast_absolute"] <= 2**-21.41 < rows["__sinf", "x -1000 to 1000"]["fast_absolute"]
    )
    assert rows["__mul24", "y -4000 to 4000"]["fast_ulp"] == 0
    # Near a zero of the function its absolute error is many units in the last place: an H200 has 9e5 to 2.3e6 of a
    # million arguments (docs/results/gpu_lab.json); fewer arguments come less near to the zero.
    for name, where in (("__log2f", "x 0.5 to 2"), ("__logf", "x 0.5 to 2"), ("__tanf", "x -1.5 to 1.5")):
        assert rows[name, where]["fast_ulp"] > 1000 > rows[name, where]["full_ulp"]
    assert all(row["full_ulp"] <= 4.5 for row in result.rows)
    assert json.loads(json.dumps(result.to_dict()))["experiment"] == "intrinsics"
    result.plot(str(tmp_path / "picture.png"))
    assert (tmp_path / "picture.png").stat().st_size > 1000
