"""What all tests share: the backends that work here, the emulator's settings put back, Hypothesis' profile, and which
tests are the full product's."""

import gc
import math
import os

import hypothesis
import numpy as np
import pytest

# CUDA loads a kernel at its first launch, and waits for running ones to do so: a test whose kernel waits for another
# kernel would wait for ever. So all are loaded at the start; the setting is read when CUDA starts.
os.environ.setdefault("CUDA_MODULE_LOADING", "EAGER")
# Many tests break rules: their errors are not printed, except where a test looks at them.
os.environ.setdefault("CUDAKERN_EMULATOR_PRINT", "0")

import cases
import cudakern
import places
from cudakern import _cache
from cudakern._table import Variant

hypothesis.settings.register_profile("cudakern", deadline=None, max_examples=200, print_blob=True)
hypothesis.settings.register_profile("few", hypothesis.settings.get_profile("cudakern"), max_examples=20)
hypothesis.settings.register_profile("deep", hypothesis.settings.get_profile("cudakern"), max_examples=10_000)
hypothesis.settings.load_profile(os.environ.get("CUDAKERN_HYPOTHESIS", "cudakern"))  # or --hypothesis-profile=deep


#: What each selection (-m) of the whole suite takes on the emulator, in seconds of a core of 2023.
SECONDS = {"not full": 375, "full": 570, "": 945}


def pytest_configure(config):
    if config.option.markexpr == "not full" and any("::" in argument for argument in config.args):
        config.option.markexpr = ""  # a test that is named runs, whichever it is


def pytest_report_header(config):
    lines = [f"cudakern backends under test: {', '.join(cases.BACKENDS)} ({cudakern.backend().why})"]
    seconds = SECONDS.get(config.option.markexpr)
    if seconds and config.args == config.getini("testpaths") and not config.option.keyword:
        cores = min(getattr(config.option, "numprocesses", None) or 1, len(os.sched_getaffinity(0)))
        lines += [f"this takes about {seconds / cores / 60:.1f} minutes on {cores} idle cores, and longer with a GPU"]
    if config.option.markexpr == "not full":
        lines += ["each variant with its main type and a few sizes; pytest -m full runs the rest of the product"]
    return lines


def pytest_collection_modifyitems(items):
    """Marks the full product of variants, types and sizes as `full`, which pytest leaves out (pyproject.toml).

    What stays is decided for each test and variant by itself: of its types the main one (else the first), of its sizes
    the first empty one, the first of one element, and the last. Of more than three cases that are then left, a third
    stays, and for the next variant another third. Of a test of what all variants share (`shared`), the cases of every
    third variant of an operation stay, from its first kernel on. Of the orders of threads in which the tests of CUDA's
    features run (`order_name`), the fixed one and a random one stay. Where another product is long, a test marks the
    rest of it itself."""
    cases_of = {}
    for item in items:
        params = item.callspec.params if hasattr(item, "callspec") else {}
        if params.get("order_name", "fixed") not in ("fixed", "seed:1"):
            item.add_marker("full")
        variant = next((value for value in params.values() if isinstance(value, Variant)), None)
        if variant is not None:
            cases_of.setdefault((item.path, item.originalname, variant), []).append((item, params))
    for (_, _, variant), same in cases_of.items():
        types = [params["dtype"] for _, params in same if "dtype" in params]
        main_type = cases.main_type(variant)
        kept_type = main_type if main_type in types else next(iter(types), None)
        sizes = list(dict.fromkeys(size for _, params in same if (size := size_of(params)) is not None))
        counts = [math.prod(size) if isinstance(size, tuple) else size for size in sizes]
        kept_sizes = [sizes[counts.index(count)] for count in (0, 1) if count in counts] + sizes[-1:]
        number = [v.name for v in cudakern.variants(variant.operation)].index(variant.name)
        left = []
        for item, params in same:
            size = size_of(params)
            of_others = item.get_closest_marker("shared") and number % 3 != 1  # 0 is NumPy
            if of_others or params.get("dtype") != kept_type or (size is not None and size not in kept_sizes):
                item.add_marker("full")
            elif item.get_closest_marker("full") is None:
                left.append(item)
        for i, item in enumerate(left if len(left) > 3 else ()):
            if i % 3 != number % 3:
                item.add_marker("full")


def size_of(params):
    return params.get("shape", params.get("n"))


def pytest_generate_tests(metafunc):
    """A test that takes `backend` runs on each backend that works here; one that takes `library` gets each side's."""
    if "backend" in metafunc.fixturenames and not _marked(metafunc, "backend"):
        metafunc.parametrize("backend", cases.BACKENDS, indirect=True)
    if "side" in metafunc.fixturenames and not _marked(metafunc, "side"):
        metafunc.parametrize("side", cases.SIDES)


def _marked(metafunc, name):
    """True if a test lists that parameter itself."""
    marks = metafunc.definition.iter_markers("parametrize")
    return any(name in str(mark.args[0]).replace(" ", "").split(",") for mark in marks)


@pytest.fixture(autouse=True, scope="module")
def long_lived_objects():
    """pytest's thousands of items stay to the end: frozen, they cost each gc.collect() of a test 1 ms and not 200."""
    gc.collect()
    gc.freeze()


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
def own_cache(tmp_path, monkeypatch):
    """An empty folder for compiled programs."""
    monkeypatch.setenv(_cache.CACHE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def emulator():
    """The emulator, to which calls of this test go."""
    with cudakern.use_backend("emulator"):
        yield cases.native("emulator")


@pytest.fixture
def place(side):
    gc.collect()
    device = places.Place(side)
    before = device.native.pool_used(0)
    yield device
    device.close()
    gc.collect()
    assert device.native.pool_used(0) == before


@pytest.fixture(params=["default-made", "made-default", "made-made", "own-made", "made-own", "default-own"])
def pair(request, place):
    """Two streams; the first one is held up."""
    streams = [{"default": places.DEFAULT, "own": places.OWN}.get(word) for word in request.param.split("-")]
    return tuple(place.stream() if stream is None else stream for stream in streams)


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


@pytest.fixture
def chip(backend):
    """A chip that multiplies by wgmma: each backend that is one."""
    why_not = cudakern.variants("matmul")["split_fp16"].why_not(cudakern.backend())
    if why_not:
        pytest.skip(why_not)
    return backend


@pytest.fixture
def seed():
    """Of data that is new in each run. A failed assertion prints it."""
    return np.random.SeedSequence().entropy % 2**32
