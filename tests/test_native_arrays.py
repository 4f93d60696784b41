"""The C modules' arrays: View, its bounds and references, transfers, streams and events, page-locked memory."""

import gc
import inspect
import itertools
import os
import re
import signal
import sys
import threading
import time
import warnings

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import cudakern
import subprocesses
from cases import BACKENDS, LAYOUTS, native, numbers
from growth import settled
from views import down, leaves_nothing, like, up

every_backend = pytest.mark.parametrize("name", BACKENDS)
TYPES = (
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
SHAPES = [(), (1,), (7,), (0,), (3, 4), (3, 0), (0, 3), (2, 1, 5), (1,) * 16, (2, 0, 3)]


def values(shape, dtype, seed=0):
    if np.dtype(dtype).kind == "c":
        return (numbers(shape, "float32", seed) + 1j * numbers(shape, "float32", seed + 1)).astype(dtype)
    return np.asarray(numbers(shape, dtype, seed))


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


# --- transfers -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", TYPES)
@every_backend
def test_there_and_back(name, dtype):
    for shape in SHAPES:
        x = values(shape, dtype)
        assert np.array_equal(down(name, up(name, x)), x)
        swapped = x.astype(x.dtype.newbyteorder("S"))
        view = native(name).empty(shape, dtype, 0, 0)
        native(name).upload(view, swapped, 0)
        assert np.array_equal(down(name, view), x)
        out = np.zeros_like(swapped)
        native(name).download(out, view, 0)
        assert np.array_equal(out, x)


@pytest.mark.parametrize("layout", LAYOUTS)
@every_backend
def test_into_and_out_of_strided_arrays(name, layout):
    """The device's side has any strides; the host's has none but its own order."""
    whole = numbers((9, 8), "float64")
    part = LAYOUTS[layout](whole)
    base = up(name, whole)
    if np.shares_memory(part, whole):
        view = like(name, base, whole, part)
        assert np.array_equal(down(name, view), part)
        if 0 not in part.strides:
            new = numbers(part.shape, "float64", 1)
            native(name).upload(view, new, 0)
            part[...] = new
            assert np.array_equal(down(name, base), whole)
    else:
        view = up(name, part)
        assert np.array_equal(down(name, view), part)


@every_backend
def test_misaligned_and_read_only_hosts(name):
    raw = np.zeros(41, "uint8")
    odd = raw[1:].view("float64")
    odd[...] = np.arange(5)
    odd.flags.writeable = False
    view = native(name).empty((5,), "float64", 0, 0)
    native(name).upload(view, odd, 0)
    assert down(name, view).tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="into is read-only"):
        native(name).download(odd, view, 0)


@every_backend
def test_bfloat16_comes_as_a_pair(name):
    module = native(name)
    x = (np.arange(-4, 4, dtype="float32").view("uint32") >> 16).astype("uint16")
    view, out = module.empty((8,), "bfloat16", 0, 0), np.zeros(8, "uint16")
    module.upload(view, (x, "bfloat16"), 0)
    module.download((out, "bfloat16"), view, 0)
    assert np.array_equal(out, x)
    wide = module.empty((8,), "float32", 0, 0)
    module.copy(wide, view, 0)
    assert down(name, wide).tolist() == list(range(-4, 4))
    with pytest.raises(TypeError, match="source has type uint16, but the array on the device has type bfloat16"):
        module.upload(view, x, 0)
    with pytest.raises(TypeError, match="source is an array of int16; pass bfloat16 values as an array of uint16"):
        module.upload(view, (x.view("int16"), "bfloat16"), 0)
    for pair in [(x,), (x, "float16"), (x, "bfloat16", 1), (), (x, 3)]:
        with pytest.raises(TypeError, match="source is a tuple but not a pair"):
            module.upload(view, pair, 0)
    out = np.zeros((), "float32")
    with pytest.raises(TypeError, match="input 0 is an array of float32"):
        module.execute("sum_of_squares", "vectorized", (), ((np.zeros(3, "f4"), "bfloat16"),), (out,), 0, False, 0)
    module.execute("sum_of_squares", "vectorized", (), ((x, "bfloat16"),), (out,), 0, False, 0)
    assert out == 16 + 9 + 4 + 1 + 0 + 1 + 4 + 9


@every_backend
@pytest.mark.parametrize("swapped", [False, True])
def test_transfers_of_any_strides(name, swapped):
    """Also of arrays so small that Python would have NumPy gather them."""
    module, base = native(name), np.arange(2 * 6 * 10, dtype=">f4" if swapped else "<f4").reshape(2, 6, 10)
    for host in (base.T, base[:, ::-1], base[:, ::2, ::3], base[..., 4], base.transpose(1, 0, 2)[::-1, :, 1::4]):
        for there in (up(name, np.zeros(host.shape, "f4")), up(name, np.zeros(host.shape[::-1], "f4").T)):
            module.upload(there, host, 0)
            plain = np.zeros(host.shape, "f4")
            module.download(plain, there, 0)
            assert np.array_equal(plain, host)
            room = np.full(base.size, -1, base.dtype)
            offset = host.__array_interface__["data"][0] - base.__array_interface__["data"][0]
            into = np.ndarray(host.shape, base.dtype, room, offset, host.strides)
            module.download(into, there, 0)
            assert np.array_equal(into, host)
            assert (room == -1).sum() == base.size - host.size
    there = up(name, np.zeros((3, 4), "f4"))
    module.upload(there, np.broadcast_to(base[0, 0, :8:2], (3, 4)), 0)
    module.download(plain := np.zeros((3, 4), "f4"), there, 0)
    assert np.array_equal(plain, np.broadcast_to(base[0, 0, :8:2], (3, 4)))


@every_backend
def test_transfers_that_do_not_fit(name):
    module, x = native(name), up(name, np.zeros((3, 4), "float32"))
    for transfer in (lambda host: module.upload(x, host, 0), lambda host: module.download(host, x, 0)):
        with pytest.raises(ValueError, match=r"has shape \(4, 3\), but the array on the device has shape \(3, 4\)"):
            transfer(np.zeros((4, 3), "float32"))
        with pytest.raises(
            TypeError, match=r"has type float64, but the array on the device has type float32.*\.astype"
        ):
            transfer(np.zeros((3, 4), "float64"))
        with pytest.raises(TypeError, match="is a list, not an array"):
            transfer([1, 2])
        with pytest.raises(ValueError, match="17 dimensions; at most 16"):
            transfer(np.zeros((1,) * 17, "float32"))
        with pytest.raises(TypeError, match="buffer format"):
            transfer(np.zeros((3, 4), "datetime64[s]").view("V8"))
    with pytest.raises(ValueError, match=r"same shape, but they are .*\(2,\).* and .*\(3, 4\)"):
        module.copy(x, up(name, np.zeros(2)), 0)
    with pytest.raises(ValueError, match="value has 8 bytes, but an element of float32 has 4"):
        module.fill(x, bytes(8), 0)


@every_backend
def test_what_may_not_be_written(name):
    module, x = native(name), up(name, np.arange(12, dtype="float32").reshape(3, 4))
    read_only = module.adopt(x, x.pointer, (3, 4), None, "float32", 0, True)
    broadcast = module.view(x, 0, (3, 4), (0, 4), "float32")
    for view, message in [(read_only, "is read-only"), (broadcast, "3 elements along axis 0 that share their memory")]:
        with pytest.raises(ValueError, match=f"to {message}|to has {message}"):
            module.upload(view, np.zeros((3, 4), "float32"), 0)
        with pytest.raises(ValueError, match=message):
            module.copy(view, x, 0)
        with pytest.raises(ValueError, match=message):
            module.fill(view, bytes(4), 0)
        with pytest.raises(ValueError, match=f"output 0 .*{message}"):
            module.execute("matmul", "tiled", (), (x, up(name, np.eye(4, dtype="f4"))), (view,), 0, False, 0)
    assert np.array_equal(down(name, x), np.arange(12).reshape(3, 4))
    one = module.view(x, 4, (1, 4), (0, 4), "float32")  # nobody goes along that axis
    module.fill(one, np.float32(9).tobytes(), 0)
    assert down(name, x)[0].tolist() == [0, 9, 9, 9]


@every_backend
def test_copies_convert_as_astype_does(name):
    for source, target in itertools.product(("bool", "int16", "uint64", "float32", "complex64"), repeat=2):
        x = values((5, 7), source)
        if source in ("float32", "complex64"):  # which integer a negative or a large one becomes is left open
            x = np.abs(x * 100).astype(source)
        to = native(name).empty((7, 5), target, 0, 0)
        transposed = native(name).view(to, 0, (5, 7), to.strides[::-1], target)
        native(name).copy(transposed, up(name, x), 0)
        with warnings.catch_warnings(action="ignore"):  # NumPy's, that imaginary parts are lost
            wanted = x.astype(target).T
        assert np.array_equal(down(name, to), wanted), (source, target)


@pytest.mark.parametrize("dtype", TYPES)
@every_backend
def test_fill(name, dtype):
    x, value = values((6, 7), dtype), values((), dtype, 5)
    base = up(name, x)
    part = x[::2, 1:-1]
    native(name).fill(like(name, base, x, part), value.tobytes(), 0)
    part[...] = value
    assert np.array_equal(down(name, base), x)


# --- calls -----------------------------------------------------------------------------------------------------------
@every_backend
def test_execute_takes_arrays_of_one_side(name):
    module = native(name)
    a, b = numbers((5, 6), "float32"), numbers((6, 7), "float32", 1)
    x, y, out = up(name, a), up(name, b), module.empty((5, 7), "float32", 0, 0)
    assert module.execute("matmul", "tiled", (), (x, y), (out,), 0, False, 0) is None
    result = np.zeros((5, 7), "float32")
    assert module.execute("matmul", "tiled", (), (a, b), (result,), 0, False, 0) is None
    assert np.array_equal(down(name, out), result)
    assert np.allclose(result, a @ b, rtol=1e-5)
    report = module.execute("matmul", "tiled", (), (x, y), (out,), 0, True, 0)
    assert (report["bytes_to_device"], report["bytes_to_host"]) == (0, 0)
    assert report["kernel_ns"] >= 0
    for arrays in [((a, y), (out,)), ((x, b), (out,)), ((x, y), (result,)), ((a, b), (out,))]:
        with pytest.raises(TypeError, match="all arrays of a call must be on the same side"):
            module.execute("matmul", "tiled", (), *arrays, 0, False, 0)
    with pytest.raises(TypeError, match="input 1 is a list, not a View"):
        module.execute("matmul", "tiled", (), (x, [1]), (out,), 0, False, 0)
    with pytest.raises(TypeError, match="input 0 is a list, not an array"):
        module.execute("matmul", "tiled", (), ([1], x), (out,), 0, False, 0)
    with pytest.raises(TypeError, match="inputs must be a tuple of arrays"):
        module.execute("matmul", "tiled", (), [x, y], (out,), 0, False, 0)
    with pytest.raises(ValueError, match="exceed a call's limit of 6 arrays"):
        module.execute("matmul", "tiled", (), (x,) * 7, (out,), 0, False, 0)
    with pytest.raises(TypeError, match="matmul takes 2 inputs, not 1"):
        module.execute("matmul", "tiled", (), (x,), (out,), 0, False, 0)
    with pytest.raises(ValueError, match="is not a stream"):
        module.execute("matmul", "tiled", (), (x, y), (out,), 0, False, 77)


@every_backend
def test_names_that_nobody_knows(name):
    module = native(name)
    with pytest.raises(ValueError, match=re.escape("There is no operation 'nothing'. Available: ")):
        module.execute("nothing", "x", (), (), (), 0, False, 0)
    with pytest.raises(ValueError, match="has no variant 'nothing'"):
        module.execute("matmul", "nothing", (), (), (), 0, False, 0)


def test_a_view_of_another_module_is_told():
    subprocesses.run("""
        import importlib, sys
        import pytest
        first = importlib.import_module("cudakern._emulator")
        x = first.empty((3,), "float32", 0, 0)
        del sys.modules["cudakern._emulator"]
        second = importlib.import_module("cudakern._emulator")
        assert first is not second
        y = second.empty((3,), "float32", 0, 0)
        for call in (lambda: second.copy(y, x, 0), lambda: second.overlap(x, y), lambda: second.fill(x, bytes(4), 0),
                     lambda: second.execute("sum_of_squares", "atomic", (), (y, x), (y,), 0, False, 0)):
            with pytest.raises(TypeError, match="is an array of another backend"):
                call()
        del first  # the View keeps its module, and the runtime behind it
        assert x.shape == (3,)
        del x
    """)


def test_arrays_of_several_devices():
    subprocesses.run(
        """
        import numpy as np, pytest
        from cases import native
        from views import down, up
        module = native("emulator")
        x, y = up("emulator", np.arange(5.0), device=0), up("emulator", np.arange(5.0), device=2)
        assert (x.device, y.device) == (0, 2)
        assert module.pool_used(2) > 0 == module.pool_used(1)
        with pytest.raises(ValueError, match="input 0 is on device 2, but the call runs on device 0; copy it there"):
            module.execute("sum_of_squares", "vectorized", (), (y,), (x,), 0, False, 0)
        z = module.empty((5,), "float64", 2, 0)
        module.copy(z, x, 0)
        assert down("emulator", z).tolist() == [0, 1, 2, 3, 4]
        stream = module.stream_create(2, 0)
        module.wait_for(z, stream)
        module.used_in(z, stream, True)
        module.stream_destroy(2, stream)
        total = module.empty((), "float64", 2, 0)
        module.execute("sum_of_squares", "vectorized", (), (y,), (total,), 2, False, 0)
        assert down("emulator", total) == 30
        assert module.current_device() == 0
        del x, y, z, total
        module.synchronize(2)
        assert [module.pool_used(d) for d in range(3)] == [0, 0, 0]
    """,
        CUDAKERN_EMULATOR_DEVICES="3",
    )


# --- streams and events ----------------------------------------------------------------------------------------------
@every_backend
def test_streams(name):
    module = native(name)
    low, high = module.stream_create(0, 0), module.stream_create(0, -1)
    assert len({low, high, 0, 1, 2}) == 5
    x = up(name, np.arange(10.0), low)
    for stream in (low, high, 0, 1, 2):
        assert down(name, x, stream).tolist() == list(range(10))
        module.fill(x, np.float64(stream % 7).tobytes(), stream)
        module.stream_synchronize(0, stream)
        assert module.stream_done(0, stream) is True
        assert (down(name, x, low) == stream % 7).all()
        module.fill(x, bytes(8), low)
        module.upload(x, np.arange(10.0), high)
    module.synchronize(0)
    for stream in (low, high):
        module.stream_destroy(0, stream)
    for wrong in (3, 77, 2**63 + 8, 4097):
        with pytest.raises(ValueError, match="is not a stream"):
            module.stream_synchronize(0, wrong)
        with pytest.raises(ValueError, match="is not a stream"):
            module.empty((3,), "int8", 0, wrong)
    for wrong in (0, 1, 2):
        with pytest.raises(ValueError, match="cannot be destroyed"):
            module.stream_destroy(0, wrong)
    with pytest.raises(ValueError, match="stream is -1, which is negative"):
        module.stream_done(0, -1)
    with pytest.raises(TypeError, match="stream must be an integer, not 'x'"):
        module.stream_done(0, "x")
    with pytest.raises(cudakern.CudaError, match="cudaErrorInvalidDevice"):
        module.stream_create(99, 0)


@pytest.mark.parametrize("handle", [8, 4096, 4104, 2**40, 2**47 - 8, 2**63 - 8])
def test_invented_handles(handle):
    """The emulator looks handles up and follows none: an address of nothing, within an event, of one that is gone."""
    module = native("emulator")
    event, stream = module.event_create(0, True), module.stream_create(0, 0)
    gone = [module.event_create(0, True), module.stream_create(0, 0)]
    module.event_destroy(0, gone[0])
    module.stream_destroy(0, gone[1])
    refused = (ValueError, cudakern.CudaError)
    words = "is not (a stream|an event)|cudaErrorInvalidResourceHandle"
    for wrong in (handle, event + 8, stream + 8, *gone):
        for call in ("stream_destroy", "stream_synchronize", "stream_done"):
            with pytest.raises(refused, match=words):
                getattr(module, call)(0, wrong)
        for call in ("event_destroy", "event_synchronize", "event_done"):
            with pytest.raises(refused, match=words):
                getattr(module, call)(0, wrong)
        for call, arguments in (
            ("stream_wait_event", (wrong, event)),
            ("stream_wait_event", (stream, wrong)),
            ("event_record", (wrong, stream)),
            ("event_record", (event, wrong)),
            ("event_elapsed", (wrong, event)),
            ("event_elapsed", (event, wrong)),
            ("wait_for", ()),
            ("used_in", ()),
        ):
            x = module.empty((3,), "int8", 0, 0)
            given = {"wait_for": (x, wrong), "used_in": (x, wrong, True)}.get(call, (0, *arguments))
            with pytest.raises(refused, match=words):
                getattr(module, call)(*given)
    module.event_record(0, event, stream)
    module.event_synchronize(0, event)
    many = [module.event_create(0, False) for _ in range(1000)]
    assert len({*many, event}) == 1001
    for one in many:
        module.event_record(0, one, stream)
        assert isinstance(module.event_done(0, one), bool)
        module.event_destroy(0, one)
    module.event_destroy(0, event)
    module.stream_destroy(0, stream)


@every_backend
def test_events(name):
    module = native(name)
    first, last, plain = module.event_create(0, True), module.event_create(0, True), module.event_create(0, False)
    stream, other = module.stream_create(0, 0), module.stream_create(0, 0)
    x = up(name, numbers((300, 300), "float32"), stream)
    out = module.empty((300, 300), "float32", 0, stream)
    begun = time.perf_counter()
    module.event_record(0, first, stream)
    module.execute("matmul", "naive", (), (x, x), (out,), 0, False, stream)
    module.event_record(0, last, stream)
    module.stream_wait_event(0, other, last)
    module.event_record(0, plain, other)
    module.event_synchronize(0, plain)
    took = time.perf_counter() - begun
    assert module.event_done(0, last) is True
    assert module.stream_done(0, stream) is True
    assert 0 < module.event_elapsed(0, first, last) < 1.01 * 1000 * took  # milliseconds; the host waited for both
    with pytest.raises(cudakern.CudaError):
        module.event_elapsed(0, first, plain)  # it notes no time
    with pytest.raises(ValueError, match="0 is not an event"):
        module.event_record(0, 0, stream)
    with pytest.raises(ValueError, match="5 is not an event"):
        module.stream_wait_event(0, stream, 5)
    for event in (first, last, plain):
        module.event_destroy(0, event)
    for handle in (stream, other):
        module.stream_destroy(0, handle)


@every_backend
def test_work_in_several_streams_is_ordered_by_its_arrays(name):
    """A long product in one stream; the next stream reads its result without anybody waiting."""
    module = native(name)
    a = numbers((200, 200), "float32")
    one, two = module.stream_create(0, 0), module.stream_create(0, 0)
    x, y, z = up(name, a), module.empty(a.shape, "float32", 0, one), module.empty(a.shape, "float32", 0, two)
    for _ in range(5):
        module.execute("matmul", "tiled", (), (x, x), (y,), 0, False, one)
        module.copy(z, y, two)
        module.fill(y, bytes(4), one)  # after the copy that reads it
    assert np.allclose(down(name, z, one), a @ a, rtol=1e-4, atol=1e-4)
    assert not down(name, y, two).any()
    module.exported(y)
    del x, y, z  # while work may still run
    for stream in (one, two):
        module.stream_destroy(0, stream)


@every_backend
def test_another_librarys_work_is_ordered_as_it_is_told(name):
    """Its array is another memory to us, at the same address: only what is told orders the two."""
    module = native(name)
    a = numbers((200, 200), "float32")
    wanted = a @ a
    one, two = module.stream_create(0, 0), module.stream_create(0, 0)
    x, ours, seen = up(name, a), up(name, a), module.empty(a.shape, "float32", 0, two)
    theirs = module.adopt(ours, ours.pointer, a.shape, None, "float32", 0, False)
    module.synchronize(0)
    for _ in range(3):
        module.execute("matmul", "naive", (), (x, x), (theirs,), 0, False, one)
        module.used_in(ours, one, True)
        assert np.allclose(down(name, ours, two), wanted, rtol=1e-4, atol=1e-4)
        module.fill(theirs, bytes(4), 0)
        module.synchronize(0)
        module.execute("matmul", "naive", (), (x, x), (ours,), 0, False, one)
        module.wait_for(ours, two)
        module.copy(seen, theirs, two)
        module.used_in(ours, two, False)
        module.fill(ours, bytes(4), one)  # after the copy
        assert np.allclose(down(name, seen), wanted, rtol=1e-4, atol=1e-4)
        assert not down(name, ours).any()
    module.synchronize(0)
    for stream in (one, two):
        module.stream_destroy(0, stream)


# --- page-locked memory ----------------------------------------------------------------------------------------------
@every_backend
def test_pinned_memory_lives_as_long_as_its_last_user(name):
    module = native(name)
    gc.collect()
    used = module.pinned_used()
    made = module.pinned(4000)
    assert module.pinned_used() >= used + 4000
    assert repr(made).startswith(f"<cudakern._{name}.Pinned, 4000 bytes, 0x")
    with memoryview(made) as bytes_of_it:
        assert (bytes_of_it.nbytes, bytes_of_it.readonly, bytes_of_it.format, bytes_of_it.ndim) == (4000, False, "B", 1)
    x = np.frombuffer(made, "float32")
    del made
    gc.collect()
    x[...] = np.arange(1000)
    view = module.empty((1000,), "float32", 0, 0)
    module.upload(view, x, 0)
    x[...] = 0
    module.download(x, view, 0)
    assert np.array_equal(x, np.arange(1000))
    part = x[10:]
    del x
    assert part[0] == 10
    assert module.pinned_used() >= used + 4000
    del part
    assert module.pinned_used() == used
    assert memoryview(module.pinned(0)).nbytes == 0
    with pytest.raises(ValueError, match="-1"):
        module.pinned(-1)
    with pytest.raises(TypeError):
        module.pinned("x")
    with pytest.raises(TypeError):
        type(module.pinned(1))()
    with pytest.raises((cudakern.CudaError, MemoryError)):
        module.pinned(2**62)


# --- signals, processes, the end -------------------------------------------------------------------------------------
@pytest.mark.parametrize("wait", ["stream_synchronize(0, 0)", "synchronize(0)", "event_synchronize(0, event)"])
def test_ctrl_c_ends_a_wait(wait):
    process = subprocesses.start(f"""
        import signal
        import numpy as np
        from cases import native
        from views import up
        signal.signal(signal.SIGINT, signal.default_int_handler)
        module = native("emulator")
        x = up("emulator", np.ones((3000, 3000), "float32"))
        out = module.empty((3000, 3000), "float32", 0, 0)
        event = module.event_create(0, False)
        module.execute("matmul", "tiled", (), (x, x), (out,), 0, False, 0)
        module.event_record(0, event, 0)
        assert module.stream_done(0, 0) is False
        try:
            print("started", flush=True)
            module.{wait}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        del x, out
        small = up("emulator", np.ones(4, "float32"))
        module.synchronize(0)
        print(module.pool_used(0), flush=True)
    """)
    assert process.stdout.readline().strip() == "started"
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=60)  # the whole product would take minutes
    lines = output.split()
    assert lines[0] == "interrupted", errors
    assert 0 < int(lines[1]) < 1000
    assert process.returncode == 0, errors


def test_a_forked_child_is_told_that_its_arrays_are_the_parents():
    subprocesses.run("""
        import os, gc
        import numpy as np, pytest, cudakern
        from cases import native
        from views import down, up
        module = native("emulator")
        x, owner = up("emulator", np.arange(5.0)), object()
        adopted = module.adopt(owner, x.pointer, (5,), None, "float64", 0, False)
        pinned = np.frombuffer(module.pinned(80), "float64")
        child = os.fork()
        if child == 0:
            try:
                assert x.shape == (5,)
                for use in (lambda: down("emulator", x), lambda: module.fill(adopted, bytes(8), 0)):
                    with pytest.raises(cudakern.CudaError, match="forked"):
                        use()
                del x, adopted, pinned
                gc.collect()
                y = up("emulator", np.arange(3.0))
                assert down("emulator", y).tolist() == [0, 1, 2]
                os._exit(0)
            finally:
                os._exit(3)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert down("emulator", x).tolist() == [0, 1, 2, 3, 4]
        del x, adopted
        module.synchronize(0)
        assert module.pool_used(0) == 0
    """)


@pytest.mark.parametrize("where", ["a global", "a module", "a cycle", "a thread"])
def test_the_interpreter_ends_with_live_arrays(where):
    """Quietly, with work still running and with owners that nobody let go."""
    process = subprocesses.start(
        """
        import os, sys, threading, time
        import numpy as np
        from cases import native
        from views import up
        module = native("emulator")
        class Owner:
            pass
        def make():
            x = up("emulator", np.ones((400, 400), "float32"))
            out = module.empty((400, 400), "float32", 0, module.stream_create(0, 0))
            owner = Owner()
            owner.view = module.adopt(owner, x.pointer, (400, 400), None, "float32", 0, False)
            module.execute("matmul", "naive", (), (owner.view, x), (out,), 0, False, 0)
            return x, out, owner, np.frombuffer(module.pinned(100), "uint8")
        where = os.environ["WHERE"]
        if where == "a global":
            keep = make()
        elif where == "a module":
            sys.keep = make()
        elif where == "a cycle":
            cycle = []
            cycle.append((cycle, make()))
            del cycle
        else:
            def work():
                while True:
                    kept = make()
                    module.synchronize(0)
            threading.Thread(target=work, daemon=True).start()
            time.sleep(0.5)
        print("done")
    """,
        WHERE=where,
    )
    output, errors = process.communicate(timeout=100)
    assert (process.returncode, output, errors) == (0, "done\n", "")
