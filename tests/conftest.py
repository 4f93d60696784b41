"""What all tests share: the backends that work here, the emulator's settings put back, Hypothesis' profile, and which
tests are the full product's."""

import gc
import math
import os
import zlib

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
from cudakern.calls import observer
from cudakern.calls.table import Variant
from cudakern.own import cache, sets

hypothesis.settings.register_profile("cudakern", deadline=None, max_examples=100, print_blob=True)
hypothesis.settings.register_profile("few", hypothesis.settings.get_profile("cudakern"), max_examples=20)
hypothesis.settings.register_profile("deep", hypothesis.settings.get_profile("cudakern"), max_examples=10_000)
hypothesis.settings.load_profile(os.environ.get("CUDAKERN_HYPOTHESIS", "cudakern"))  # or --hypothesis-profile=deep


#: What the tests that are not full, and those that are, take on the emulator, in seconds of a core of 2023.
SECONDS, SECONDS_FULL = 480, 1900


def pytest_addoption(parser):
    parser.addoption("--full-part", metavar="K/N", type=part, help="of the tests marked full, the Kth of N parts")
    parser.addoption("--first-use", action="store_true", help="emulated kernels are compiled at first use: own/sets.py")


def part(text):
    number, count = map(int, text.split("/"))
    if not 1 <= number <= count:
        raise ValueError
    return number, count


def pytest_configure(config):
    if config.option.markexpr == "not full" and any("::" in argument for argument in config.args):
        config.option.markexpr = ""  # a test that is named runs, whichever it is
    if config.option.first_use:
        observer.choose_set = lambda native, variant: (
            sets.package_set(native, variant.operation, variant.name, "plain") if native.emulated() else None
        )


def pytest_report_header(config):
    lines = [f"cudakern backends under test: {', '.join(cases.BACKENDS)} ({cudakern.backend().why})"]
    full = SECONDS_FULL / (config.option.full_part or (1, 1))[1]
    seconds = {"not full": SECONDS, "full": full, "": SECONDS + full}.get(config.option.markexpr)
    if seconds and config.args == config.getini("testpaths") and not config.option.keyword:
        cores = min(getattr(config.option, "numprocesses", None) or 1, len(os.sched_getaffinity(0)))
        lines += [f"this takes about {seconds / cores / 60:.1f} minutes on {cores} idle cores, and longer with a GPU"]
    if config.option.markexpr == "not full":
        lines += ["each variant with its main type and a few sizes; pytest -m full runs the rest of the product"]
    return lines


def size_of(params):
    return params.get("shape", params.get("n"))


def pytest_collection_modifyitems(config, items):
    """--full-part K/N. The part of a test depends on its name alone, so that N parts are all of them."""
    if config.option.full_part:
        number, count = config.option.full_part

        def is_of_another(item):
            return item.get_closest_marker("full") and zlib.crc32(item.nodeid.encode()) % count != number % count

        config.hook.pytest_deselected(items=[item for item in items if is_of_another(item)])
        items[:] = [item for item in items if not is_of_another(item)]


def pytest_generate_tests(metafunc):
    """A test that takes `backend` runs on each backend that works here; one that takes `library` gets each side's."""
    if "backend" in metafunc.fixturenames and not _marked(metafunc, "backend"):
        metafunc.parametrize("backend", cases.BACKENDS, indirect=True)
    if "side" in metafunc.fixturenames and not _marked(metafunc, "side"):
        metafunc.parametrize("side", cases.SIDES)


@pytest.hookimpl(specname="pytest_generate_tests", trylast=True)
def pytest_full_product(metafunc):
    """Of a test's cases, marks those of the full product as `full`; drops them at once if no such test is to run."""
    calls = metafunc._calls  # pytest has no other way to change them
    for call in _of_the_full_product(metafunc.definition, calls):
        call.marks.append(pytest.mark.full.mark)
    if metafunc.config.option.markexpr == "not full":
        # If none is left, one stays, which pytest leaves out by its mark: a test must have its parameters.
        metafunc._calls = [call for call in calls if not _is_full(call)] or calls[:1]


def _is_full(call):
    return any(mark.name == "full" for mark in call.marks)


def _of_the_full_product(test, calls):
    """The cases of a test that only the full product of variants, types and sizes has.

    What stays is decided for each variant by itself: of its types the main one (else the first), of its sizes
    the first empty one, the first of one element, and the last. Of more than three cases that are then left, a third
    stays, and for the next variant another third. Of a test of what all variants share (`shared`), the cases of every
    third variant of an operation stay, from its first kernel on. Of other tests, if there are many variants, those
    of every second one stay, from the first or the second on, as the test's name decides; test_operations.py has all.
    Of the orders of threads in which the tests of CUDA's features run (`order_name`), the fixed one and a random one
    stay. Where another product is long, a test marks the rest of it itself."""
    full = [call for call in calls if call.params.get("order_name", "fixed") not in ("fixed", "seed:1")]
    cases_of = {}
    for call in calls:
        variant = next((value for value in call.params.values() if isinstance(value, Variant)), None)
        if variant is not None:
            cases_of.setdefault(variant, []).append(call)
    for variant, same in cases_of.items():
        types = [call.params["dtype"] for call in same if "dtype" in call.params]
        main_type = cases.main_type(variant)
        kept_type = main_type if main_type in types else next(iter(types), None)
        sizes = list(dict.fromkeys(size for call in same if (size := size_of(call.params)) is not None))
        counts = [math.prod(size) if isinstance(size, tuple) else size for size in sizes]
        kept_sizes = [sizes[counts.index(count)] for count in (0, 1) if count in counts] + sizes[-1:]
        names = [v.name for v in cudakern.variants(variant.operation)]
        number = names.index(variant.name)
        if test.get_closest_marker("shared"):
            is_left_out = number % 3 != 1  # 0 is NumPy
        else:
            many = len(names) > 8 and test.path.name != "test_operations.py"
            is_left_out = many and (number + zlib.crc32(test.name.encode())) % 2
        left = []
        for call in same:
            size = size_of(call.params)
            if is_left_out or call.params.get("dtype") != kept_type or (size is not None and size not in kept_sizes):
                full.append(call)
            elif not _is_full(call):
                left.append(call)
        full += [call for i, call in enumerate(left if len(left) > 3 else ()) if i % 3 != number % 3]
    return full


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
    monkeypatch.setenv(cache.CACHE, str(tmp_path / "cache"))
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
