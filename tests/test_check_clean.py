"""The checker reports nothing in right code: every variant, and kernels as textbooks write them (right/README.md)."""

import pathlib

import pytest

import cudakern
import wrong_kernels
from cases import HAS_BFLOAT16, as_called, inputs_for, main_type, settings, small_shape, variants
from cudakern.operations.registry import registry

RIGHT = [wrong_kernels.read(path) for path in sorted(pathlib.Path(__file__).with_name("right").glob("*.cu"))]


def kernels():
    """By names, not as Variant: conftest.py would leave out every second one."""
    for operation in registry():
        for backend, variant in variants(operation, host=False):
            if backend == "emulator":
                yield operation, variant


def typed():
    """Each variant with its first type; with the others, which share most of its code, in the full product."""
    for operation, variant in kernels():
        types = [dtype for dtype in dict.fromkeys(variant.types) if dtype != "bfloat16" or HAS_BFLOAT16]
        for dtype in types:
            marks = () if dtype == types[0] else pytest.mark.full
            yield pytest.param(operation, variant.name, dtype, marks=marks, id=f"{operation}-{variant.name}-{dtype}")


def named(operation, name):
    return next(variant for variant in cudakern.variants(operation) if variant.name == name)


@pytest.mark.parametrize("operation, name, dtype", [*typed()])
def test_every_variant_is_clean(emulator, operation, name, dtype):
    what, variant = registry()[operation], named(operation, name)
    for shape in what.ragged:
        found = cudakern.check(what.call_of(variant, inputs_for(operation, dtype, shape, seed=3)))
        assert not found, f"{shape}: {found}"


@pytest.mark.full
@pytest.mark.parametrize("operation, name", [(operation, variant.name) for operation, variant in kernels()])
def test_every_parameter_is_clean(emulator, operation, name):
    what, variant = registry()[operation], named(operation, name)
    inputs = inputs_for(operation, main_type(variant), small_shape(operation))
    for values in settings(variant)[1:]:
        words = as_called(variant, values)
        found = cudakern.check(what.call_of(variant, inputs, **words))
        assert not found, f"{words}: {found}"


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name)
def test_a_textbooks_kernel_is_clean_and_right(emulator, case):
    found = cudakern.check(wrong_kernels.run, case, "right")
    assert not found, str(found)


@pytest.mark.full
@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name)
def test_a_textbooks_kernel_is_right_in_every_order(emulator, order, case):
    for name in ("fixed", "reversed", "seed:1"):
        order(name)
        wrong_kernels.run(case, "right")
