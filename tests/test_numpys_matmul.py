"""NumPy's own tests of matmul, run with cudakern.matmul: "auto" and every variant, on every backend.

NumPy ships these tests. Where they call np.matmul by name, they get ours as well. One test goes through many types:
operands of a type that a kernel does not list are multiplied by "auto", as our own error messages advise. Where a test
has doubles only, a kernel that does not list them gets the same numbers, in the same strides, in a type that it lists.
"""

import importlib
import types
import warnings

import numpy as np
import pytest

import cudakern
from cases import BACKENDS, in_type, label, main_type, needs_no_out, variants

CORE = "numpy._core" if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else "numpy.core"
try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pytest.PytestUnknownMarkWarning)  # marks that NumPy's pytest.ini registers
        theirs = importlib.import_module(f"{CORE}.tests.test_multiarray")
except ImportError:
    pytest.skip("this NumPy was packaged without its tests", allow_module_level=True)

CASES = [  # A third of the variants, with "auto", stand for all: the others are full.
    *((backend, "auto") for backend in BACKENDS),
    *(
        pytest.param(name, entry.name, marks=() if i % 3 == 0 else pytest.mark.full)
        for i, (name, entry) in enumerate(variants("matmul"))
        if needs_no_out(entry)
    ),
]
#: Tests that multiply nothing but Python objects, which no kernel takes.
OF_OBJECTS = {
    "test_matmul_object",
    "test_matmul_object_type_scalar",
    "test_matmul_empty",
    "test_matmul_exception_multiply",
    "test_matmul_exception_add",
}

OF_ONE_TYPE = {"test_matmul_bool": "bool"}
#: Tests of doubles, which are small whole numbers, and so are the products: exact in every type of floats.
OF_DOUBLES = {"test_out_arg", "test_empty_out", "test_out_contiguous", "test_dot_equivalent"}


class NumPyWithOurMatmul(types.ModuleType):
    """The module numpy, but with another matmul."""

    def __init__(self, matmul):
        super().__init__("numpy")
        self.matmul = matmul

    def __getattr__(self, name):
        return getattr(np, name)


@pytest.mark.parametrize("backend, name", CASES, ids=label, indirect=["backend"])
class TestOurMatmul(theirs.TestMatmul):
    @pytest.fixture(autouse=True)
    def _ours(self, request, monkeypatch, backend, name):
        takes_all = name in ("auto", "numpy")
        listed = () if takes_all else cudakern.variants("matmul")[name].types
        test = request.node.originalname
        dtype = request.node.callspec.params.get("dtype", OF_ONE_TYPE.get(test))
        if not takes_all and test in OF_OBJECTS:
            pytest.skip("kernels do not multiply Python objects")
        if not takes_all and dtype is not None and np.dtype(dtype).name not in listed:
            pytest.skip(f"{name} does not list {np.dtype(dtype).name}")
        calls = []

        def ours(a, b, *out, **keywords):
            if not takes_all and test in OF_DOUBLES and "float64" not in listed:
                a, b = (in_type(x, main_type(cudakern.variants("matmul")[name])) for x in (a, b))
            calls.append(takes_all or {a.dtype.name, b.dtype.name} <= set(listed))
            return cudakern.matmul(a, b, *out, variant=name if calls[-1] else "auto", **keywords)

        monkeypatch.setattr(self, "matmul", ours, raising=False)
        monkeypatch.setattr(theirs, "np", NumPyWithOurMatmul(ours))
        yield
        assert any(calls), f"{name} did not run"
