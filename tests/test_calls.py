"""The way of a call: how short it is, and that a kind of call that is known is never taken for another."""

import gc
import inspect
import os
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

import cudakern
import subprocesses
from cases import BACKENDS, emulated_chip, inputs_for, label, main_type, native, needs_no_out, small_shape, variants
from cudakern.calls import call as call_module
from cudakern.calls import execute
from cudakern.operations.registry import registry

KERNELS = [
    (operation, name, variant)
    for operation in registry()
    for name, variant in variants(operation, host=False)
    if needs_no_out(variant)
]
every_kernel = pytest.mark.parametrize("operation, name, variant", KERNELS, ids=label)

#: A call of these begins with another one, of extent: how many bins there are is found on the device.
OF_TWO_CALLS = ("bincount",)


def call(operation, *inputs, **keywords):
    return registry()[operation].call(*inputs, **keywords)


def own_inputs(operation, variant, seed=0):
    return inputs_for(operation, main_type(variant), small_shape(operation), seed=seed)


def takes_out(operation):
    return "out" in inspect.signature(registry()[operation].call).parameters


# --- how short it is -------------------------------------------------------------------------------------------------
def frames(work):
    """The Python functions that it runs, with their files."""
    seen = []

    def note(frame, event, _):
        if event == "call":
            seen.append(f"{Path(frame.f_code.co_filename).name}: {frame.f_code.co_name}")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return seen[1:]  # without the caller's own


@every_kernel
def test_a_named_variant_with_numpy_arrays_takes_at_most_15_frames(operation, name, variant):
    inputs = own_inputs(operation, variant)
    with cudakern.use_backend(name):
        function = registry()[operation].call
        function(*inputs, variant=variant.name)
        assert len(seen := frames(lambda: function(*inputs, variant=variant.name))) <= 15, seen


#: (what it is, operation, variant, inputs), made from a random array's views: none of these is in C order and of the
#: result's shape.
ARRANGED = {
    "transposed": ("matmul", "tiled", lambda x: (x[0], x[0].T)),
    "backwards": ("matmul", "tiled", lambda x: (x[0], x[0, ::-1])),
    "columns apart": ("matmul", "tiled", lambda x: (x[0, :, ::2], x[0, ::2, ::-1])),
    "stacks": ("matmul", "tiled", lambda x: (x, x)),
    "a stack and a matrix": ("matmul", "tiled", lambda x: (x, x[0].T)),
    "broadcast stacks": ("matmul", "naive", lambda x: (x[:, None], x[None, :1])),
    "a matrix and a vector": ("matmul", "tiled", lambda x: (x[0], x[0, 3])),
    "a vector and a stack": ("matmul", "naive", lambda x: (x[0, :, 3], x)),
    "two vectors": ("matmul", "naive", lambda x: (x[0, 0], x[0, :, 1])),
    "an empty stack": ("matmul", "naive", lambda x: (x[:0], x[0])),
    "a transposed sum": ("sum_of_squares", "multi_block", lambda x: (x.T,)),
    "a sum with gaps": ("sum_of_squares", "multi_block", lambda x: (x[:, ::2, ::-3],)),
    "a sum of what is repeated": ("sum_of_squares", "multi_block", lambda x: (x[:, :1, 2:3],)),
    "rows for all": ("vector_add", "naive", lambda x: (x, x[0, 0])),
    "both broadcast": ("vector_add", "vectorized", lambda x: (x[:, :1], x[0, :, :1].T)),
    "a number": ("vector_add", "naive", lambda x: (x[0].T, 2.5)),
    "a whole number": ("vector_add", "naive", lambda x: (x, 3)),
    "two numbers": ("saxpy", "naive", lambda x: (2.5, x[0, 0], x[1])),
    "a scan of columns": ("inclusive_scan", "blocks", lambda x: (x[0, :, 1],)),
}


@pytest.mark.parametrize("what", ARRANGED)
@pytest.mark.parametrize("place", ["host", "device"])
def test_arranged_arrays_go_straight_to_c(backend, place, what):
    """From the second call of a kind on, with the results that NumPy's arrays in C order give."""
    operation, variant, views = ARRANGED[what]
    function = registry()[operation].call
    x = np.random.default_rng().random((3, 12, 12)).astype(np.float32)
    for stored in (x, x + 1):
        inputs = views(stored if place == "host" else cudakern.asarray(stored))
        work = lambda inputs=inputs: function(*inputs, variant=variant)  # noqa: E731
        expected = registry()[operation].reference(*(np.float64(x) for x in views(stored)))
        first, seen = work(), frames(work)
        assert len(seen) <= 10, seen
        for result in (first, work()):
            found = result if place == "host" else result.get()
            assert found.shape == np.shape(expected)
            assert np.allclose(found, expected, rtol=1e-5)
    other = views(stored[:, :10, :10] if place == "host" else cudakern.asarray(stored[:, :10, :10]))  # other shapes
    expected = registry()[operation].reference(*(np.float64(x) for x in views(stored[:, :10, :10])))
    result = function(*other, variant=variant)
    assert np.allclose(result if place == "host" else result.get(), expected, rtol=1e-5)


@pytest.mark.parametrize("place", ["host", "device"])
def test_results_in_arrays_of_any_strides_go_straight_to_c(backend, place):
    x = np.random.default_rng().random((3, 12, 12)).astype(np.float32)
    inputs = (x, x[0]) if place == "host" else (cudakern.asarray(x), cudakern.asarray(x[0]))
    outs = {
        "plain": (lambda y: y[:3, :12, :12].copy(), True),
        "columns apart": (lambda y: y[:3, :12, ::2], True),
        "in any order": (lambda y: y[:12, :12, :3].transpose(2, 1, 0), True),
        "backwards": (lambda y: y[2::-1, :12, 12:0:-1], True),
        "an input": (lambda y: inputs[0], False),
        "another type": (lambda y: y[:3, :12, :12].astype(np.float64), False),
    }
    for what, (view, straight) in outs.items():
        whole = np.zeros((13, 13, 24), np.float32)
        out = view(whole if place == "host" else cudakern.asarray(whole))
        seen = []
        for _ in range(2 if straight else 1):
            expected = np.matmul(*(np.asarray(y if place == "host" else y.get()) for y in inputs))
            seen = frames(lambda out=out: cudakern.matmul(*inputs, out=out, variant="tiled"))
            assert np.allclose(out if place == "host" else out.get(), expected, rtol=1e-5), what
        assert (len(seen) <= 10) == (straight or what == "an input" and place == "host"), (what, seen)


@every_kernel
def test_plain_arrays_on_the_device_go_straight_to_c(operation, name, variant, monkeypatch):
    """From the second call of a kind on: named or "auto", into a new array or into out."""
    inputs, others = own_inputs(operation, variant), own_inputs(operation, variant, seed=1)
    with cudakern.use_backend(name):
        arrays, values = (tuple(map(cudakern.asarray, x)) for x in (inputs, others))
        for which in (variant.name, "auto"):
            expected = [call(operation, *x, variant=which) for x in (arrays, values)]
            if operation not in OF_TWO_CALLS:
                monkeypatch.setattr(call_module, "on_device", None)
            results = [call(operation, *x, variant=which) for x in (arrays, values)]
            if takes_out(operation):
                out = cudakern.zeros(expected[0].shape, expected[0].dtype)
                assert call(operation, *arrays, out=out, variant=which) is out
                results.append(out)
                expected.append(expected[0])
            monkeypatch.undo()
            for one, other in zip(results, expected, strict=True):
                assert (one.dtype, one.shape) == (other.dtype, other.shape)
                if variant.deterministic or which == "auto":
                    assert one.get().tobytes() == other.get().tobytes()


class Subclass(np.ndarray):
    pass


# --- kinds are told apart --------------------------------------------------------------------------------------------
@pytest.fixture
def square(backend):
    x = np.random.default_rng().random((8, 8)).astype(np.float32)
    return x, cudakern.asarray(x)


@pytest.mark.parametrize("at", [0, 1], ids=["host", "device"])
def test_parameters_that_are_equal_and_not_the_same(square, at):
    """16.0 and True are equal to 16 and 1, and have the same hash."""
    x = square[at]
    for tile in (8, 16):
        for _ in range(2):
            cudakern.matmul(x, x, variant="tiled", tile=tile)
            with pytest.raises(TypeError, match=f"tile= must be an integer, not {float(tile)}"):
                cudakern.matmul(x, x, variant="tiled", tile=float(tile))
    for _ in range(2):
        with pytest.raises(ValueError, match="`tile`.* must be .*, not 1"):
            cudakern.matmul(x, x, variant="tiled", tile=True)
        with pytest.raises(TypeError, match="tile= must be an integer, not '16'"):
            cudakern.matmul(x, x, variant="tiled", tile="16")
        with pytest.raises(TypeError, match=r"tile= must be an integer, not \[16\]"):
            cudakern.matmul(x, x, variant="tiled", tile=[16])
        result = cudakern.matmul(x, x, variant="tiled", tile=np.int8(16))
        assert np.allclose(result if at == 0 else result.get(), square[0] @ square[0], rtol=1e-5)


@pytest.mark.parametrize("at", [0, 1], ids=["host", "device"])
def test_what_is_no_name_of_a_variant(square, at):
    class Word(str):
        __hash__ = None

    x = square[at]
    for _ in range(2):
        for wrong in (["tiled"], None, 5, b"tiled", {}, np.array(["a", "b"])):
            with pytest.raises(TypeError, match="the variant of matmul must be a str, not"):
                cudakern.matmul(x, x, variant=wrong)
        for right in ("tiled", Word("tiled"), np.str_("tiled")):
            result = cudakern.matmul(x, x, variant=right)
            assert np.allclose(result if at == 0 else result.get(), square[0] @ square[0], rtol=1e-5)
        with pytest.raises(ValueError, match="tilde"):
            cudakern.matmul(x, x, variant="tilde")


def test_keywords_that_are_parameters(backend):
    flags = np.random.default_rng().random(1003) < 0.5
    for given in (flags, cudakern.asarray(flags)):
        for order in ("big", "little", "big", "little"):
            found = cudakern.packbits(given, bitorder=order, variant="ballot")
            assert np.array_equal(found if given is flags else found.get(), np.packbits(flags, bitorder=order))


def test_results_whose_length_is_a_value(backend):
    for most, least in ((3, 0), (50, 0), (3, 70), (3, 0)):
        x = np.array([0, most, 1, 1], np.int32)
        for given in (x, cudakern.asarray(x)):
            found = cudakern.bincount(given, minlength=least, variant="shared_atomics")
            assert np.array_equal(found if given is x else found.get(), np.bincount(x, minlength=least))


def test_types_layouts_and_shapes(backend):
    """In one order and in the other: what is known of one kind does not serve the next."""
    random = np.random.default_rng()
    arrays = [random.random((6, 6)).astype(t) for t in ("float32", "float64", "float32")]
    arrays += [arrays[0].T, arrays[0][::2], arrays[1].astype(">f8"), arrays[0][:, :1], np.float32([1, 2, 3, 4, 5, 6])]
    arrays += [np.arange(36).reshape(6, 6), np.array(2.5, np.float32), np.zeros((0, 6), np.float32)]
    on_device = [cudakern.asarray(x) for x in arrays]
    pairs = [(i, j) for i in range(len(arrays)) for j in range(len(arrays))]
    for order in (pairs, pairs[::-1]):
        for i, j in order:
            try:
                expected = arrays[i] + arrays[j]
            except ValueError:
                expected = None
            for here in (arrays, on_device):
                if expected is None:
                    with pytest.raises(ValueError, match="shapes|broadcast"):
                        cudakern.vector_add(here[i], here[j])
                    continue
                found = cudakern.vector_add(here[i], here[j])
                found = found.get() if isinstance(found, cudakern.DeviceArray) else found
                assert found.dtype == expected.dtype.newbyteorder("=")
                assert np.array_equal(found, expected)


def test_out_that_does_not_fit_is_told_or_converted_each_time(square):
    x, d = square
    expected = cudakern.matmul(x, x, variant="tiled")
    read_only = d._native.adopt(d, d._view.pointer, d.shape, None, "float32", d._view.device, True)
    for _ in range(3):
        assert cudakern.matmul(d, d, variant="tiled").get().tobytes() == expected.tobytes()
        wide, strided = cudakern.zeros((8, 8), "float64"), cudakern.zeros((8, 16), "float32")[:, ::2]
        for out in (wide, strided):
            assert cudakern.matmul(d, d, out=out, variant="tiled") is out
            assert np.array_equal(out.get(), expected)
        mine = d.copy()
        cudakern.matmul(mine, mine, out=mine, variant="tiled")  # into an operand
        assert np.array_equal(mine.get(), expected)
        with pytest.raises(ValueError, match="read-only"):
            cudakern.matmul(d, d, out=cudakern.DeviceArray(read_only, d._native), variant="tiled")
        with pytest.raises(ValueError, match=r"\(8, 7\)"):
            cudakern.matmul(d, d, out=cudakern.zeros((8, 7), "float32"), variant="tiled")
        with pytest.raises(TypeError, match="int32"):
            cudakern.matmul(d, d, out=cudakern.zeros((8, 8), "int32"), variant="tiled")
        with pytest.raises(TypeError):
            cudakern.matmul(d, d, out=x, variant="tiled")
        frozen = np.zeros((8, 8), np.float32)
        frozen.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            cudakern.matmul(x, x, out=frozen, variant="tiled")
        with pytest.raises(ValueError, match=r"\(8, 7\)"):
            cudakern.matmul(x, x, out=np.zeros((8, 7), np.float32), variant="tiled")
        assert np.array_equal(d.get(), x)


def test_subclasses_of_arrays(square):
    """A subclass of ndarray, and what only looks like a DeviceArray."""
    x, d = square

    class Mine(np.ndarray):
        pass

    expected = cudakern.matmul(x, x, variant="naive")
    cudakern.matmul(d, d, variant="naive")
    assert np.array_equal(cudakern.matmul(x.view(Mine), x, variant="naive"), expected)
    unfinished = object.__new__(cudakern.DeviceArray)
    with pytest.raises((AttributeError, TypeError)):
        cudakern.matmul(d, unfinished, variant="naive")


# --- Python's own numbers, which C keeps on the device ---------------------------------------------------------------
def test_numbers_that_change(backend):
    """Each is told from the last one, also where the two are equal (0.0 and -0.0) or of another type (2 and 2.0)."""
    x, y = np.float32([1, -2, np.inf]), np.float32([0, 0, 1])
    a, b = cudakern.asarray(x), cudakern.asarray(y)
    for number in (2.5, 2, 2.0, 0.0, -0.0, 0, float("nan"), float("-inf"), 1e-42, 2.5, 2.5, 16777217, 1e38, True):
        for variant in ("auto", "naive"):
            found = cudakern.saxpy(number, a, b, variant=variant).get()
            with np.errstate(invalid="ignore"):
                expected = cudakern.saxpy(number, x, y, variant=variant)
            assert found.tobytes() == expected.tobytes(), number


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_integers_that_change(backend, dtype):
    limits = np.iinfo(dtype)
    x = np.arange(5).astype(dtype)
    d = cudakern.asarray(x)
    for number in (0, 1, limits.min, limits.max, 3, 3):
        assert np.array_equal(cudakern.saxpy(number, d, d, variant="naive").get(), np.array(number, dtype) * x + x)
    for wrong in (limits.min - 1, limits.max + 1, 10**30):
        for given in (x, d):
            with pytest.raises(OverflowError):
                cudakern.saxpy(wrong, given, given, variant="naive")
    for number in (0.5, 2.0):  # a float makes floats of integers
        for variant in ("auto", "naive"):
            assert np.array_equal(cudakern.saxpy(number, d, d, variant=variant).get(), number * x + x)


def test_an_operand_that_is_not_one_number_is_refused_each_time(backend):
    x = np.float32([1, 2, 3])
    d = cudakern.asarray(x)
    for given, one, several in ((x, np.array(2.5, np.float32), x[:1]), (d, cudakern.asarray(np.float32(2.5)), d[:1])):
        for _ in range(3):
            for variant in ("auto", "naive"):
                with pytest.raises(ValueError, match="a must be a scalar, but has shape"):
                    cudakern.saxpy(several, given, given, variant=variant)
                found = cudakern.saxpy(one, given, given, variant=variant)
                assert np.array_equal(found if given is x else found.get(), 3.5 * x)


def test_words_and_warnings_are_the_same_each_time(backend):
    """Whether C or Python sees a number first."""
    bytes_, floats = cudakern.asarray(np.uint8([1])), cudakern.asarray(np.float32([1]))
    said = []
    for _ in range(3):
        with pytest.raises(OverflowError) as caught:
            cudakern.saxpy(-3, bytes_, bytes_, variant="naive")
        said.append(str(caught.value))
        assert cudakern.saxpy(3, bytes_, bytes_, variant="naive").get() == 4
        with pytest.warns(RuntimeWarning, match="overflow encountered in cast"):
            assert cudakern.saxpy(1e39, floats, floats, variant="naive").get() == np.inf
        cudakern.saxpy(3.0, floats, floats, variant="naive")
    assert len(set(said)) == 1


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) >= "2.0.0", reason="since NumPy 2 only a number's kind counts")
def test_the_value_of_a_number_may_decide_the_type(backend):
    x = np.int8([1, 2, 3])
    for given in (x, cudakern.asarray(x)):
        for number in (3, 300, 3):
            for variant in ("auto", "naive"):
                found = cudakern.saxpy(number, given, given, variant=variant)
                found = found if given is x else found.get()
                assert found.dtype == np.result_type(number, x)
                assert np.array_equal(found, number * x.astype(found.dtype) + x)


def test_numbers_are_kept_for_all_streams(backend):
    """A number that one stream has put on the device is complete before a call in another stream reads it."""
    x = np.random.default_rng().random(100_000, np.float32)
    d, streams = cudakern.asarray(x), [None, cudakern.Stream(), cudakern.Stream()]
    for number in (1.5, 2.5, 1.5, -1.0):
        found = [cudakern.saxpy(number, d, d, stream=stream, variant="naive") for stream in streams * 2]
        for result in found:
            assert np.allclose(result.get(), number * x + x, rtol=1e-6)


def test_numbers_of_several_threads(backend):
    x = np.random.default_rng().random(1000, np.float32)
    d, wrong = cudakern.asarray(x), []

    def work(number):
        for _ in range(100):
            if not np.allclose(cudakern.saxpy(number, d, d, variant="naive").get(), number * x + x, rtol=1e-6):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(float(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_numbers_where_arrays_have_their_table(backend):
    """interp's left and right: numbers beside arrays, which change from call to call."""
    x, xp, fp = np.float64([-1, 0.5, 9]), np.float64([0, 1, 2]), np.float64([3, 4, 5])
    given = tuple(map(cudakern.asarray, (x, xp, fp)))
    for left, right in ((None, None), (7.0, 8.0), (7, 8), (-0.0, 8.0), (7.0, None), (7.0, 8.0)):
        found = cudakern.interp(*given, left=left, right=right).get()
        assert np.array_equal(found, np.interp(x, xp, fp, left=left, right=right))


@pytest.mark.forks
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_numbers_after_a_fork():
    """What the parent put on the device is not the child's, also while the parent's threads are in calls with it."""
    subprocesses.run(
        """
        import os, threading, time
        import numpy as np, cudakern
        cudakern.emulator.configure(workers=1)
        x = np.ones(1 << 16, np.float32)
        d, end = cudakern.asarray(x), threading.Event()

        def work():
            while not end.is_set():
                for _ in range(20):
                    found = cudakern.saxpy(2.5, d, d, variant="naive")
                assert (found.get() == 3.5).all()

        def right(given):
            return all((cudakern.saxpy(2.5, given, given, variant="naive").get() == 3.5).all() for _ in range(3))

        assert right(d)
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(20):
            time.sleep(0.003)
            child = os.fork()
            if child == 0:
                os._exit(0 if right(cudakern.asarray(x[:10])) else 1)
            assert os.waitpid(child, 0)[1] == 0
        end.set()
        for thread in threads:
            thread.join()
        assert right(d)
    """,
        CUDAKERN_BACKEND="emulator",
    )


# --- the memo --------------------------------------------------------------------------------------------------------
def test_another_chip_is_asked_anew():
    """What is known holds for a chip: the compute capability decides which variants run."""
    newest = max(
        (variant for _, variant in variants("exclusive_scan", host=False)), key=lambda variant: variant.capability
    )
    x = np.ones(100, np.float32)
    with cudakern.use_backend("emulator"):
        for chip, runs in (("H200", True), ("P100", newest.capability <= 60), ("H200", True)):
            with emulated_chip(chip):
                for given in (x, cudakern.asarray(x)):
                    for _ in range(2):
                        if runs:
                            found = cudakern.exclusive_scan(given, variant=newest.name)
                            assert np.array_equal(found if given is x else found.get(), np.arange(100))
                            continue
                        with pytest.raises(NotImplementedError, match=newest.name):
                            cudakern.exclusive_scan(given, variant=newest.name)


def test_the_memo_is_emptied_when_the_emulator_changes(square):
    _, d = square
    module = d._native
    cudakern.matmul(d, d, variant="tiled")
    assert module.memo
    if module.emulated():
        with emulated_chip("V100"):
            assert not module.memo
            cudakern.matmul(cudakern.asarray(square[0]), cudakern.asarray(square[0]), variant="tiled")
            assert module.memo
        assert not module.memo
    module.memo.clear()
    cudakern.matmul(d, d, variant="tiled")
    assert module.memo


def test_the_memo_is_bounded(square, monkeypatch):
    x, d = square
    monkeypatch.setattr(execute, "MOST", 5)
    d._native.memo.clear()
    for threads in range(32, 1025, 32):
        for given in (x, d):
            cudakern.sum_of_squares(given, variant="multi_block", threads=threads)
            assert len(d._native.memo) <= 5


def test_the_memo_keeps_no_arrays(backend):
    x = cudakern.asarray(np.ones((9, 9), np.float32))
    cudakern.matmul(x, x, variant="tiled")
    cudakern.matmul(x, x, variant="tiled")
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None


def test_threads_that_call_while_the_memo_is_emptied(square):
    x, d = square
    expected, wrong, end = x @ x, [], threading.Event()

    def work(tile):
        while not end.is_set():
            for given in (x, d):
                found = cudakern.matmul(given, given, variant="tiled", tile=tile)
                if not np.allclose(found if given is x else found.get(), expected, rtol=1e-5):
                    wrong.append(tile)

    threads = [threading.Thread(target=work, args=(tile,)) for tile in (8, 16, 32)]
    for thread in threads:
        thread.start()
    for _ in range(300):
        d._native.memo.clear()
    end.set()
    for thread in threads:
        thread.join()
    assert not wrong


# --- what C takes ----------------------------------------------------------------------------------------------------
def plain(*shapes):
    """The layouts of arrays of one shape, which a kernel takes as they are."""
    if len(set(shapes)) > 1:
        raise ValueError(shapes)
    return shapes[0], (None,) * (len(shapes) + 1)


@pytest.mark.parametrize("name", BACKENDS)
def test_known_kinds_in_c(name):
    """Below Python's functions: what is known by hand, and what is not."""
    module = native(name)
    with cudakern.use_backend(name):
        x, y = cudakern.zeros(10, "float32"), cudakern.zeros(10, "float32")
    h = np.ones(10, np.float32)
    key = module.key("rule", "variant", {"n": 1}, (x, y), -1)
    assert key == module.key("rule", "variant", {"n": 1}, (y, x), -1)
    others = [
        module.key("rule", "variant", {"n": 2}, (x, y), -1),
        module.key("rule", "variant", {"m": 1}, (x, y), -1),
        module.key("rule", "other", {"n": 1}, (x, y), -1),
        module.key("other", "variant", {"n": 1}, (x, y), -1),
        module.key("rule", "variant", {}, (x, y), -1),
        module.key("rule", "variant", {"n": 1}, (x,), -1),
        module.key("rule", "variant", {"n": 1}, (x, 1), -1),
        module.key("rule", "variant", {"n": 1}, (x, 1.0), -1),
        module.key("rule", "variant", {"n": 1}, (x, y.reshape(5, 2)), -1),
        module.key("rule", "variant", {"n": 1}, (x.astype("int8"), y), -1),
        *(module.key("rule", "variant", {"n": 1}, (h, h), at) for at in (0, 1)),
        *(module.key("rule", "variant", {"n": 1}, (h, h.astype(kind)), 0) for kind in ("int64", "longlong", "uint8")),
    ]
    assert len({key, *others}) == len(others) + 1
    assert key == module.key("rule", "variant", {"n": 1}, (x, y[::2]), -1)
    for inputs in ((), (1, 2.0), (x, True), (x, np.float32(1)), [x, y], (x, h), (x,) * 6):
        assert module.key("rule", "variant", {"n": 1}, inputs, -1) is None
        assert module.call("rule", "variant", {"n": 1}, inputs, None, 0, -1) is NotImplemented
    swapped, objects, many = h.astype(h.dtype.newbyteorder("S")), h.astype(object), np.zeros((1,) * 17, np.float32)
    for host in (np.ma.array(h), h.view(Subclass), h[0], swapped, objects, many, [1.0], x, True, 1j, None):
        assert module.key("rule", "variant", {"n": 1}, (h, host), 0) is None
        assert module.call("rule", "variant", {"n": 1}, (h, host), None, 0, 0) is NotImplemented
    for parameters in ({"n": 1.0}, {"n": True}, {"n": None}):
        assert module.key("rule", "variant", parameters, (x, y), -1) is None
    for wrong in (5, None, []):
        with pytest.raises(TypeError, match="parameters must be a dict"):
            module.key("rule", "variant", wrong, (x, y), -1)
    module.memo[key] = "something else"
    try:
        assert module.call("rule", "variant", {"n": 1}, (x, y), None, 0, -1) is NotImplemented
        of_ten = ("vector_add", "naive", (64,), "float32", ((10,), (10,)))
        module.memo[key] = module.prepare(*of_ten, plain, False, None, None)
        assert module.call("rule", "variant", {"n": 1}, (x, y), None, 0, -1).get().tolist() == [0] * 10
        assert module.call("rule", "variant", {"n": 1}, (x, y), y, 0, -1) is NotImplemented  # y is an input
        assert module.call("rule", "variant", {"n": 1}, (x, y[:3]), None, 0, -1) is NotImplemented
        out = cudakern.DeviceArray(module.empty((10,), "float32", 0, 0), module)
        assert module.call("rule", "variant", {"n": 1}, (x, y), out, 0, -1) is out
        short = lambda *shapes: ((5,), (None,) * 3)  # noqa: E731
        module.memo[key] = module.prepare(*of_ten, short, False, None, None)
        with pytest.raises(ValueError, match="array 2 has 5 elements, but array 0 has 10"):  # as its plan says
            module.call("rule", "variant", {"n": 1}, (x, y), None, 0, -1)
        nothing = (None,) * 3
        for bad, error in (
            (lambda *s: 1 // 0, ZeroDivisionError),
            (lambda *s: ((-1,), nothing), None),
            (lambda *s: "x", TypeError),
            (lambda *s: ("x", nothing), TypeError),
            (lambda *s: ((10,), "x"), TypeError),
            (lambda *s: ((10,), nothing[1:]), TypeError),
            (lambda *s: ((10,), (*nothing[1:], 5)), TypeError),
            (lambda *s: ((10,), (*nothing[1:], ((10,), (1, 1)))), TypeError),
            (lambda *s: ((10,), (*nothing[1:], ((10,), (2,)))), TypeError),
            (lambda *s: ((10,), (*nothing[1:], ((10,), (-1,)))), TypeError),
        ):
            later = lambda *s, bad=bad: bad(*s) if s[0] == (10,) else plain(*s)  # noqa: E731
            module.memo[key] = module.prepare(*of_ten[:4], ((5,), (5,)), later, False, None, None)
            if error is None:
                module.prepare(*of_ten, bad, False, None, None)
                assert module.call("rule", "variant", {"n": 1}, (x, y), None, 0, -1) is NotImplemented
            else:
                with pytest.raises(error):
                    module.prepare(*of_ten, bad, False, None, None)
                with pytest.raises(error):
                    module.call("rule", "variant", {"n": 1}, (x, y), None, 0, -1)
    finally:
        del module.memo[key]
    for wrong, words in (
        (("no_operation", "naive", (), "float32", (), plain, False, None, None), "no operation"),
        (("vector_add", "none", (), "float32", (), plain, False, None, None), "none"),
        (("vector_add", "naive", (-1,), "float32", (), plain, False, None, None), "threads"),
        (("vector_add", "naive", (64,), "float128", (), plain, False, None, None), "float128"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            module.prepare(*wrong)
