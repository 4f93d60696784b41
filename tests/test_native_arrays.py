"""The C modules' arrays: View, its bounds and references. (Transfers and streams: test_native_transfers.py.)"""

import gc
import inspect
import sys
import threading

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import cudakern
import subprocesses
from cases import BACKENDS, native
from growth import settled
from views import SHAPES, TYPES, down, leaves_nothing, like, up, values

every_backend = pytest.mark.parametrize("name", BACKENDS)


# --- the module ------------------------------------------------------------------------------------------------------
@every_backend
def test_wrong_numbers_of_arguments_are_told(name):
    module = native(name)
    for key, function in inspect.getmembers(module, inspect.isbuiltin):
        count = len(inspect.signature(function).parameters) if key[0] != "_" else 0
        if count < 2:
            continue  # Python itself counts those
        with pytest.raises(TypeError, match=rf"{key}\(.*\) takes {count} arguments, not 0"):
            function()


@every_backend
def test_arguments_of_the_wrong_kind_are_told(name):
    """Each argument in turn is an object of no use: a clear error, and nothing is leaked on the way."""
    module, x = native(name), up(name, np.arange(6.0))
    good = {
        "empty": ((2,), "float32", 0, 0),
        "view": (x, 0, (2,), (8,), "float64"),
        "adopt": (x, x.pointer, (2,), (8,), "float64", 0, True),
        "upload": (x, np.zeros(6), 0),
        "download": (np.zeros(6), x, 0),
        "copy": (x, x, 0),
        "fill": (x, bytes(8), 0),
        "overlap": (x, x),
        "wait_for": (x, 0),
        "used_in": (x, 0, True),
        "stream_create": (0, 0),
        "stream_synchronize": (0, 0),
        "event_create": (0, True),
        "dlpack_export": (x, True, False),
        "execute": ("sum_of_squares", "atomic", (), (x,), (up(name, 0.0),), 0, False, 0),
    }
    anything = {("adopt", 0), ("adopt", 6), ("used_in", 2), ("event_create", 1), ("execute", 6)}
    anything |= {("dlpack_export", 1), ("dlpack_export", 2)}
    for key, arguments in good.items():
        for i in range(len(arguments)):
            if (key, i) in anything or (key, i) == ("adopt", 3):
                continue
            wrong = (*arguments[:i], object(), *arguments[i + 1 :])
            with pytest.raises(TypeError):
                getattr(module, key)(*wrong)


LOAD = """
import importlib.machinery, importlib.util, os
path = os.environ["MODULE"]
loader = importlib.machinery.ExtensionFileLoader("cudakern._emulator", path)
spec = importlib.util.spec_from_file_location("cudakern._emulator", path, loader=loader)
try:
    module = loader.create_module(spec)
    loader.exec_module(module)
except ImportError as error:
    print(f"refused: {error}", flush=True)
else:
    print("taken", flush=True)
"""


def test_the_interpreter_must_be_the_main_one():
    """Another interpreter of the process is refused in words, whichever way it is made."""
    output = subprocesses.run(
        """
        import os
        try:
            import _interpreters as interpreters
            made = interpreters.create(), interpreters.create("legacy")
        except ImportError:  # before 3.13
            import _xxsubinterpreters as interpreters
            made = interpreters.create(), interpreters.create(isolated=False)
        for interpreter in made:
            interpreters.run_string(interpreter, os.environ["LOAD"])
            interpreters.destroy(interpreter)
        exec(os.environ["LOAD"])
    """,
        LOAD=LOAD,
        MODULE=native("emulator").__file__,
    )
    *refused, last = output.splitlines()
    assert last == "taken"
    assert all(line.startswith("refused: ") and "subinterpreter" in line for line in refused), output
    assert "main interpreter only" in refused[-1]


# --- View ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@every_backend
def test_a_new_array_is_as_numpys(name, shape):
    for dtype in (*TYPES, "bfloat16"):
        view = native(name).empty(shape, dtype, 0, 0)
        wanted = np.empty(shape, "uint16" if dtype == "bfloat16" else dtype)
        assert (view.shape, view.dtype, view.nbytes) == (shape, dtype, wanted.nbytes)
        if wanted.size:  # of no elements, NumPy's versions say different things
            assert view.strides == wanted.strides
        assert (view.device, view.read_only, view.foreign, view.contiguous) == (0, False, False, True)
        assert view.pointer % 256 == 0
        assert repr(view) == (
            f"<cudakern._{name}.View {dtype} {shape}, strides {view.strides}, device 0, {view.pointer:#x}>"
        )


@every_backend
def test_a_view_is_closed(name):
    """It never changes, is made by the module only, and offers no buffer: that would be a silent copy or worse."""
    view = native(name).empty((3,), "float32", 0, 0)
    for attribute in ("shape", "strides", "dtype", "pointer", "nbytes", "device", "read_only", "foreign", "contiguous"):
        with pytest.raises(AttributeError):
            setattr(view, attribute, 0)
        assert getattr(type(view), attribute).__doc__
    with pytest.raises(AttributeError):
        view.new = 1
    with pytest.raises(TypeError):
        type(view)()
    with pytest.raises(TypeError):
        type("Mine", (type(view),), {})
    with pytest.raises(TypeError):
        type(view).shape = None
    with pytest.raises(TypeError, match="bytes-like"):
        memoryview(view)
    assert type(view) is native(name).View
    assert type(view).__module__ == f"cudakern._{name}"


@every_backend
def test_sizes_that_nothing_holds(name):
    module = native(name)
    for shape in [(2**62, 4), (2**31, 2**31, 4), (2**63 - 1,), (0, 2**62, 4), (2**61,)]:
        with pytest.raises(ValueError, match="too large"):
            module.empty(shape, "float64", 0, 0)
    with pytest.raises(ValueError, match="64 bits"):
        module.empty((2**63,), "int8", 0, 0)
    with pytest.raises(ValueError, match="negative length -1"):
        module.empty((3, -1), "int8", 0, 0)
    with pytest.raises(ValueError, match="17 axes; at most 16"):
        module.empty((1,) * 17, "int8", 0, 0)
    with pytest.raises(TypeError, match="unknown dtype 'float128'"):
        module.empty((3,), "float128", 0, 0)
    with pytest.raises(cudakern.OutOfMemoryError) as caught:
        module.empty((2**45,), "float64", 0, 0)
    assert caught.value.bytes == 2**48
    with pytest.raises(cudakern.CudaError, match="cudaErrorInvalidDevice"):
        module.empty((3,), "int8", 99, 0)
    assert module.empty((3,), "int8", 0, 0).shape == (3,)
    assert module.empty((2**45, 0), "float64", 0, 0).nbytes == 0


# --- other views of the same memory ----------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", ["int8", "float32", "complex128"])
@every_backend
def test_views_hold_what_numpys_do(name, dtype):
    whole = values((6, 5, 4), dtype)
    base = up(name, whole)
    for part in (
        whole[1:], whole[::-1], whole[:, ::-2, 1:3], whole.T, whole[2, 3, 1, ...], whole[..., None, 0], whole[5:1:-3],
        np.broadcast_to(whole[:1], whole.shape), whole.transpose(1, 0, 2), whole[0:0], whole[:, 5:], whole.reshape(-1),
        np.lib.stride_tricks.sliding_window_view(whole[0, 0], 2),
    ):  # fmt: skip
        view = like(name, base, whole, part)
        assert np.array_equal(down(name, view), part)
        assert (view.shape, view.strides, view.nbytes) == (part.shape, part.strides, part.nbytes)
        assert view.contiguous == part.flags.c_contiguous
        assert (view.foreign, view.read_only, view.device) == (False, False, 0)
        of_a_view = like(name, view, part, part[..., ::-1] if part.ndim else part)
        assert np.array_equal(down(name, of_a_view), part[..., ::-1] if part.ndim else part)


@every_backend
def test_a_view_of_another_type(name):
    x = np.arange(12, dtype="int32")
    module, base = native(name), up(name, x)
    assert np.array_equal(down(name, module.view(base, 0, (48,), (1,), "uint8")), x.view("uint8"))
    assert np.array_equal(down(name, module.view(base, 8, (5,), (8,), "int64")), x[2:].view("int64"))
    assert module.view(base, 0, (24,), (2,), "bfloat16").dtype == "bfloat16"
    odd = module.view(base, 1, (11,), (4,), "int32")  # no element is aligned
    assert np.array_equal(down(name, odd), np.frombuffer(x.tobytes()[1:45], "int32"))


lengths = st.integers(0, 5) | st.sampled_from([2**31, 2**62, 2**63 - 1])
steps = st.integers(-40, 40) | st.sampled_from([-(2**63), 2**63 - 1, -(2**62), 2**40])


@given(st.lists(st.tuples(lengths, steps), max_size=4), st.integers(-120, 120) | steps)
def test_no_view_reaches_outside(axes, offset):
    """Exactly those whose every byte is in the memory are made, and no arithmetic overflows on the way there."""
    name = BACKENDS[0]
    module, base = native(name), native(name).empty((5, 4), "int32", 0, 0)
    shape, strides = tuple(n for n, _ in axes), tuple(s for _, s in axes)
    inner = module.view(base, 16, (4, 4), (16, 4), "int32")
    ends = [(n - 1) * s for n, s in axes]
    low, high = 16 + offset + sum(e for e in ends if e < 0), 16 + offset + sum(e for e in ends if e > 0) + 4
    if all(shape) and not (low >= 0 and high <= 80):
        with pytest.raises(ValueError, match=r"spans bytes|too large"):
            module.view(inner, offset, shape, strides, "int32")
        return
    view = module.view(inner, offset, shape, strides, "int32")
    assert (view.shape, view.strides) == (shape, strides)
    assert view.pointer == inner.pointer + offset if all(shape) else 0 <= view.pointer - base.pointer <= 80


@every_backend
def test_views_that_are_refused(name):
    module = native(name)
    x = module.empty((5,), "float32", 0, 0)
    with pytest.raises(ValueError, match="spans bytes 4 to 24, outside its memory of 20 bytes"):
        module.view(x, 4, (5,), (4,), "float32")
    with pytest.raises(ValueError, match="1 strides do not match a shape of 2 axes"):
        module.view(x, 0, (5, 1), (4,), "float32")
    with pytest.raises(ValueError, match="64 bits"):
        module.view(x, 2**64, (5,), (4,), "float32")
    with pytest.raises(TypeError, match="base is a ndarray, not a View of cudakern._"):
        module.view(np.zeros(5), 0, (5,), (4,), "float32")


@given(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 3)),
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 3)),
)
def test_overlap_is_where_ranges_meet(a, b):
    name = BACKENDS[0]
    whole = np.zeros(10, "int16")
    base = up(name, whole)
    first, second = (whole[slice(*spec)] for spec in (a, b))
    views = [like(name, base, whole, part) for part in (first, second)]
    assert native(name).overlap(*views) == np.may_share_memory(first, second)
    assert native(name).overlap(*views[::-1]) == np.may_share_memory(first, second)
    assert not native(name).overlap(base, up(name, whole))


# --- references ------------------------------------------------------------------------------------------------------
@every_backend
def test_views_share_their_memory_and_keep_it(name):
    module = native(name)
    used = settled(name)
    base = up(name, np.arange(1000, dtype="int32"))
    grown = module.pool_used(0)
    assert grown >= used + 4000
    view = module.view(base, 400, (10,), (8,), "int32")
    last = module.view(view, 8, (3,), (-8,), "int32") if view.pointer else None
    assert module.pool_used(0) == grown
    del base, view
    assert module.pool_used(0) == grown
    assert down(name, last).tolist() == [102, 100, 98]
    del last
    assert module.pool_used(0) == used


@every_backend
def test_instances_hold_their_type_and_let_go_of_it(name):
    module = native(name)
    base = module.empty((3,), "int8", 0, 0)
    kinds = [type(base), type(module.pinned(1))]
    before = [sys.getrefcount(kind) for kind in kinds]
    made = [(module.view(base, 0, (), (), "int8"), module.pinned(1)) for _ in range(50)]
    assert [sys.getrefcount(kind) for kind in kinds] == [count + 50 for count in before]
    del made
    assert [sys.getrefcount(kind) for kind in kinds] == before


class Owner:
    """Memory of somebody else's."""

    def __init__(self, view):
        self.view = view


@every_backend
def test_an_adopted_memorys_owner_is_kept_and_let_go(name):
    module = native(name)
    owner = Owner(up(name, np.arange(20, dtype="float32").reshape(4, 5)))
    references, pointer = sys.getrefcount(owner), owner.view.pointer
    view = module.adopt(owner, pointer, (4, 5), None, "float32", 0, False)
    backwards = module.adopt(owner, pointer + 76, (4, 5), (-20, -4), "float32", 0, True)
    assert sys.getrefcount(owner) == references + 2
    assert (view.foreign, view.read_only, view.contiguous, view.device) == (True, False, True, 0)
    assert (backwards.read_only, backwards.contiguous) == (True, False)
    assert "read-only, foreign>" in repr(backwards)
    row = module.view(backwards, -20, (5,), (-4,), "float32")
    assert (row.foreign, row.read_only) == (True, True)
    assert down(name, row).tolist() == [14, 13, 12, 11, 10]
    module.fill(view, np.float32(3).tobytes(), 0)
    assert (down(name, owner.view) == 3).all()
    del view, backwards
    module.synchronize(0)
    assert sys.getrefcount(owner) == references + 1
    del row
    module.synchronize(0)
    assert sys.getrefcount(owner) == references


@every_backend
def test_an_adoption_that_fails_keeps_nothing(name):
    module, owner = native(name), object()
    references = sys.getrefcount(owner)
    for arguments, message in [
        ((0, (3,), (4,), "float32", 0), "pointer is 0"),
        ((2**64 - 8, (3,), (4,), "float32", 0), "outside the address space"),
        ((64, (30,), (-4,), "float32", 0), "outside the address space"),
        ((2**64, (3,), (4,), "float32", 0), "64 bits"),
        ((-8, (3,), (4,), "float32", 0), "negative"),
        ((4096, (2**62,), (4,), "float32", 0), "too large"),
        ((4096, (2, 2), (2**63 - 1, -(2**63)), "int8", 0), "too large|outside the address space"),
        ((2**63, (2, 2), (2**63 - 2, -(2**63)), "int8", 0), "too large"),
        ((4096, (3, 3), (4,), "float32", 0), "1 strides"),
    ]:
        with pytest.raises(ValueError, match=message):
            module.adopt(owner, *arguments, False)
    with pytest.raises(cudakern.CudaError, match="cudaErrorInvalidDevice"):
        module.adopt(owner, 4096, (3,), (4,), "float32", 99, False)
    empty = module.adopt(owner, 0, (3, 0), None, "float32", 0, False)
    assert (empty.pointer, empty.nbytes) == (0, 0)
    assert sys.getrefcount(owner) == references + 1
    del empty
    assert sys.getrefcount(owner) == references


@every_backend
def test_an_owner_may_use_the_module_when_it_is_let_go(name):
    """Its finalizer runs with Python's lock and without any of ours: it may make and drop arrays itself."""
    module, seen = native(name), []

    class Careless:
        def __del__(self):
            seen.append(down(name, up(name, np.arange(3))).tolist())
            raise RuntimeError("nobody hears this")

    x = up(name, np.zeros(4))
    told = []
    hook, sys.unraisablehook = sys.unraisablehook, lambda what: told.append(str(what.exc_value))
    try:
        module.fill(module.adopt(Careless(), x.pointer, (4,), None, "float64", 0, False), bytes(8), 0)
        module.synchronize(0)
        gc.collect()
    finally:
        sys.unraisablehook = hook
    assert (seen, told) == ([[0, 1, 2]], ["nobody hears this"])


@every_backend
def test_nothing_leaks(name):
    module = native(name)
    x, host = up(name, np.arange(60, dtype="float32").reshape(6, 10)), np.zeros((6, 10), "float32")
    total = up(name, np.float32(0))
    stream, event = module.stream_create(0, 0), module.event_create(0, False)
    owner = object()

    def fails(function, *arguments):
        try:
            function(*arguments)
        except (ValueError, TypeError, cudakern.CudaError):
            return
        raise AssertionError(f"{function} did not fail")

    calls = {
        "empty": lambda: module.empty((6, 10), "float32", 0, 0),
        "empty in a stream": lambda: module.empty((6, 10), "float32", 0, stream),
        "attributes": lambda: (x.shape, x.strides, x.dtype, x.pointer, x.nbytes, x.device, x.contiguous, repr(x)),
        "view": lambda: module.view(module.view(x, 4, (5,), (8,), "float32"), 0, (), (), "int8"),
        "view refused": lambda: fails(module.view, x, 4, (60,), (4,), "float32"),
        "adopt": lambda: module.fill(module.adopt(object(), x.pointer, (3,), None, "int8", 0, False), b"1", 0),
        "adopt unused": lambda: module.adopt(object(), x.pointer, (3,), None, "int8", 0, True),
        "adopt refused": lambda: fails(module.adopt, owner, x.pointer, (3,), None, "int8", 99, True),
        "upload": lambda: module.upload(x, host, 0),
        "upload refused": lambda: fails(module.upload, x, host[1:], 0),
        "download": lambda: module.download(host, x, stream),
        "download refused": lambda: fails(module.download, host[::2], x, 0),
        "copy": lambda: module.copy(module.empty((6, 10), "float64", 0, 0), x, 0),
        "fill": lambda: module.fill(x, bytes(4), stream),
        "overlap": lambda: module.overlap(x, total),
        "execute": lambda: module.execute("sum_of_squares", "multi_block", (64, 8), (x,), (total,), 0, False, stream),
        "execute measured": lambda: module.execute("sum_of_squares", "atomic", (), (x,), (total,), 0, True, 0),
        "execute on the host": lambda: module.execute(
            "sum_of_squares", "atomic", (), (host,), (np.zeros((), "float32"),), 0, False, 0
        ),
        "execute refused": lambda: fails(
            module.execute, "sum_of_squares", "atomic", (), (x,), (host,), 0, False, 0
        ),
        "pinned": lambda: memoryview(module.pinned(1000))[3:].release(),
        "wait_for": lambda: module.wait_for(x, stream),
        "used_in": lambda: module.used_in(x, stream, False),
        "exported": lambda: module.exported(module.empty((3,), "int8", 0, 0)),
        "streams": lambda: module.stream_destroy(0, module.stream_create(0, 0)),
        "events": lambda: (module.event_record(0, event, stream), module.event_synchronize(0, event)),
        "event": lambda: module.event_destroy(0, module.event_create(0, True)),
    }  # fmt: skip
    for what, call in calls.items():
        used = settled(name)
        leaves_nothing(name, call)
        assert (what, module.pool_used(0)) == (what, used)
    module.stream_destroy(0, stream)
    module.event_destroy(0, event)


@every_backend
def test_many_threads_make_and_drop_views(name):
    module = native(name)
    shared = up(name, np.arange(64, dtype="int64"))
    used, failures = settled(name), []

    def work(seed):
        stream = module.stream_create(0, 0)
        for i in range(60):
            part = module.view(shared, 8 * (i % 8), (8,), (8 * (1 + seed % 7),), "int64")
            own = up(name, np.full(8, seed), stream)
            module.copy(own, part, stream)
            got = down(name, own, stream)
            if not np.array_equal(got, i % 8 + (1 + seed % 7) * np.arange(8)):
                failures.append((seed, i, got))
        module.stream_destroy(0, stream)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    module.synchronize(0)
    assert module.pool_used(0) == used
