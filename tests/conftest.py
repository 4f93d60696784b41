"""What all tests share: the backends that work here, the emulator's settings put back, Hypothesis' profile."""

import gc
import os

import hypothesis
import pytest

# CUDA loads a kernel at its first launch, and waits for running ones to do so: a test whose kernel waits for another
# kernel would wait for ever. So all are loaded at the start; the setting is read when CUDA starts.
os.environ.setdefault("CUDA_MODULE_LOADING", "EAGER")

import cases
import cudakern

hypothesis.settings.register_profile("cudakern", deadline=None, max_examples=200, print_blob=True)
hypothesis.settings.register_profile("few", hypothesis.settings.get_profile("cudakern"), max_examples=20)
hypothesis.settings.register_profile("deep", hypothesis.settings.get_profile("cudakern"), max_examples=10_000)
hypothesis.settings.load_profile(os.environ.get("CUDAKERN_HYPOTHESIS", "cudakern"))  # or --hypothesis-profile=deep


def pytest_report_header():
    return [f"cudakern backends under test: {', '.join(cases.BACKENDS)} ({cudakern.backend().why})"]


def pytest_generate_tests(metafunc):
    """A test that takes `backend` runs on each backend that works here; one that takes `library` gets each side's."""
    if "backend" in metafunc.fixturenames and not _marked(metafunc, "backend"):
        metafunc.parametrize("backend", cases.BACKENDS, indirect=True)
    if "side" in metafunc.fixturenames and not _marked(metafunc, "side"):
        metafunc.parametrize("side", cases.SIDES)


def pytest_collection_finish():
    """What is collected by now stays to the end: without it, gc.collect() in a test takes a millisecond, not 200."""
    gc.collect()
    gc.freeze()


def _marked(metafunc, name):
    """True if a test lists that parameter itself."""
    marks = metafunc.definition.iter_markers("parametrize")
    return any(name in str(mark.args[0]).replace(" ", "").split(",") for mark in marks)


@pytest.fixture(autouse=True)
def garbage_of_the_test_before():
    """Arrays in an exception's frames, say: freed at some later time, they would change what a test counts.

    Young objects only, all that a test leaves; to look at every object there is would take too long."""
    gc.collect(1)


@pytest.fixture
def backend(request):
    """The name of the backend that calls of this test go to."""
    with cudakern.use_backend(request.param):
        yield request.param


@pytest.fixture
def order():
    """Sets the order of emulated threads and blocks; puts the fixed one back."""
    yield lambda name: cases.native("emulator").configure("order", name)
    cases.native("emulator").configure("order", "fixed")


@pytest.fixture
def fault():
    """Makes the n-th guarded runtime call fail: fault(backend, n, code); none are left afterwards."""
    used = []

    def inject(name, n, code):
        used.append(name)
        cases.native(name).inject_fault(n, code)

    yield inject
    for name in used:
        cases.native(name).inject_fault(0, 1)
