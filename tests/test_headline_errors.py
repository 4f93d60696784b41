"""The documents' headline errors: n=1000, float32, uniform in [0, 1), against a product accumulated in double."""

import numpy as np
import pytest

import cudakern
from cases import label, rows

pytestmark = pytest.mark.proves()

UNCOMPENSATED_LARGEST = 4e-6
COMPENSATED_LARGEST, COMPENSATED_AVERAGE = 1.2e-7, 4.3e-8
ROWS = [
    pytest.param(backend, row, marks=() if row.on_host or row.name in ("tiled", "tiled_plain") else pytest.mark.full)
    for backend, row in rows("matmul")
    if "float32" in row.types
]


@pytest.fixture(scope="module")
def documents_input():
    a, b = (cudakern.random_matrix(1000, seed=seed) for seed in (1, 2))
    return a, b, a.astype(np.float64) @ b.astype(np.float64)


@pytest.mark.parametrize("backend, row", ROWS, ids=label, indirect=["backend"])
def test_errors_of_the_documents(backend, row, documents_input):
    a, b, exact = documents_input
    largest, average = cudakern.compare(cudakern.matmul(a, b, variant=row.name), exact)
    assert 0 < average < largest  # rounding is there: an error of 0 would mean that something else was compared
    if row.compensated:
        assert largest <= COMPENSATED_LARGEST
        assert average <= COMPENSATED_AVERAGE
    else:
        assert largest <= UNCOMPENSATED_LARGEST
