"""The documents' headline errors: n=1000, float32, uniform in [0, 1), against a product accumulated in double."""

import numpy as np
import pytest

import cudakern
from cases import label, variants

pytestmark = pytest.mark.proves()

UNCOMPENSATED_LARGEST = 4e-6
COMPENSATED_LARGEST, COMPENSATED_AVERAGE = 1.2e-7, 4.3e-8
CUT_LARGEST = 2.0**-9  # two inputs, each cut to 11 significant bits
VARIANTS = [
    pytest.param(backend, variant, marks=() if variant.on_host or variant.name == "tiled" else pytest.mark.full)
    for backend, variant in variants("matmul")
    if "float32" in variant.types
]


@pytest.fixture(scope="module")
def documents_input():
    a, b = (cudakern.random_matrix(1000, seed=seed) for seed in (1, 2))
    return a, b, a.astype(np.float64) @ b.astype(np.float64)


@pytest.mark.parametrize("backend, variant", VARIANTS, ids=label, indirect=["backend"])
def test_errors_of_the_documents(backend, variant, documents_input):
    """The emulator computes a quarter of the rows: 250,000 sums of 1000 products."""
    a, b, exact = documents_input
    if cudakern.backend().emulated and not variant.on_host:
        a, exact = a[:250], exact[:250]
    largest, average = cudakern.compare(cudakern.matmul(a, b, variant=variant.name), exact)
    assert 0 < average < largest  # rounding is there: an error of 0 would mean that something else was compared
    if variant.compensated:
        assert largest <= COMPENSATED_LARGEST
        assert average <= COMPENSATED_AVERAGE
    else:
        assert largest <= (CUT_LARGEST if variant.cuts_inputs else UNCOMPENSATED_LARGEST)
