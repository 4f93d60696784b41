"""Ladders of given parameters and of given input; test_python_api.py has those of random input."""

import numpy as np
import pytest

import cudakern
from cudakern._dtypes import numpy_dtype
from cudakern._operations import names, operation, widened


def test_ladder_with_parameters(backend):
    """A row's own go to the rows that have them, and what changes the result to all and to the reference."""
    steps = cudakern.ladder("sort", n=300, lists=8, variants=["merge_serial", "sample_sort"], repeat=1)
    serial, sampled = (step.profile.parameters for step in steps)
    assert serial["lists"] == 8
    assert "lists" not in sampled
    assert all(step.error == (0, 0) for step in steps)
    assert steps.parameters == {"lists": 8} == steps.to_dict()["parameters"]
    assert ", lists=8; " in steps.title
    for radius in (0, 9):
        steps = cudakern.ladder("stencil_1d", n=300, radius=radius, repeat=1)
        assert {step.profile.parameters["radius"] for step in steps if not step.variant.on_host} == {radius}
        assert all(step.error.max < 1e-6 for step in steps)
    steps = cudakern.ladder("lookup_2d", n=50, mode="border", variants=["numpy", "global_memory"], repeat=1)
    assert all(step.error.max < 1e-6 for step in steps)
    # One that some rows refuse is their steps' matter; one that all refuse, or none has, is refused.
    steps = cudakern.ladder("matmul", n=5, tile=32, dtype="float64", repeat=1)
    assert steps["tiled"].profile.parameters["tile"] == 32


@pytest.mark.parametrize(
    "op, given, error, words",
    [
        ("sort", {"list": 4}, TypeError, "variants of sort have no 'list': they take lists=, memory="),
        ("sort", {"lists": 0}, ValueError, "lists=0 is not possible"),
        (
            "sort",
            {"lists": 4, "variants": ["sample_sort"]},
            TypeError,
            "sample_sort none has lists=; radix_lists, .* have",
        ),
        ("stencil_1d", {"radius": -1}, ValueError, "radius=-1 is not possible"),
        ("stencil_1d", {"radius": -1, "variants": ["numpy"]}, ValueError, "radius=-1 is not possible"),
        ("lookup_2d", {"mode": "round"}, ValueError, "round"),
        ("grayscale", {"radius": 1}, TypeError, "they take threads="),
    ],
)
def test_parameters_that_a_ladder_refuses(op, given, error, words):
    with pytest.raises(error, match=words):
        cudakern.ladder(op, n=10, **given)


@pytest.mark.parametrize("op", names())
def test_ladder_of_ones_own_input(op, backend):
    what = operation(op)
    made = what.make(what.ragged[-1], numpy_dtype(what.default_dtype), 5)
    kept = [x.copy() for x in made]
    given = [x.item() if x.ndim == 0 else x[::-1].copy()[::-1] for x in made]  # not as they would be made: strided
    steps = cudakern.ladder(op, inputs=given, repeat=1, warmup=0)
    ran = [step for step in steps if step.profile]
    assert ran
    assert all(step.profile or step.note.startswith("not here: ") for step in steps)
    for step in ran:
        result = what.call(*made, variant=step.variant.name)
        exact = what.reference(*widened(made, np.float64))
        magnitude = what.magnitudes(*widened(made, np.float64)) if what.cancels else None
        assert step.error.max == pytest.approx(cudakern.compare(result, exact, magnitude).max, abs=1e-6)
    assert all(np.array_equal(x, y) for x, y in zip(made, kept, strict=True))
    assert steps.shapes == tuple(x.shape for x in made)
    assert steps.dtype == what.default_dtype


def test_ladders_tell_inputs_apart(backend):
    """The errors are those of this input, and not of a random one."""
    x, y = np.float32([1, 2, 3]), np.float32([1, 1, 1])
    steps = cudakern.ladder("interp", inputs=[np.float32([0.5, 9]), x - 1, y], variants=["global_memory"], repeat=1)
    assert steps[0].error == (0, 0)  # left and right are what they are where nobody gives them
    keys = np.arange(500, dtype=np.uint32)
    keys[::50] = 3
    kept = keys.copy()
    assert cudakern.ladder("sort", inputs=[keys], variants=["sample_sort"], repeat=1)[0].error == (0, 0)
    assert np.array_equal(keys, kept)
    picture = np.zeros((4, 5, 3), np.uint8)
    assert cudakern.ladder("grayscale", inputs=[picture], repeat=1).shapes == ((4, 5, 3),)


@pytest.mark.parametrize(
    "op, given, error, words",
    [
        ("sort", {"inputs": [[3, 1]], "n": 3}, ValueError, "give inputs or n, not both"),
        ("sort", {"inputs": [[3, 1]], "seed": 0}, ValueError, "give inputs or seed, not both"),
        ("sort", {"inputs": [[3, 1]], "dtype": "int32"}, ValueError, "give inputs or dtype, not both"),
        ("sort", {"inputs": np.arange(3)}, TypeError, r"as \[x\], not ndarray"),
        ("sort", {"inputs": []}, TypeError, "sort takes a; 0 inputs are given"),
        ("matmul", {"inputs": [np.ones((2, 2))]}, TypeError, "matmul takes a, b; 1 inputs are given"),
        ("matmul", {"inputs": [np.ones((2, 3))] * 2}, ValueError, "matmul: .*mismatch"),
        ("interp", {"inputs": [np.ones(3)] * 6}, TypeError, "interp takes x, xp, fp, left, right; 6 inputs are given"),
        ("grayscale", {"inputs": [np.ones((2, 3, 3))]}, TypeError, "takes uint8, not float64"),
    ],
)
def test_inputs_that_a_ladder_refuses(op, given, error, words):
    with pytest.raises(error, match=words):
        cudakern.ladder(op, **given)


def test_a_ladder_takes_no_array_of_the_device(backend):
    with pytest.raises(TypeError, match=r"\.get\(\) brings one there"):
        cudakern.ladder("sort", inputs=[cudakern.asarray([3, 1])])
