"""Products and sums of squares of host arrays that are larger than the memory limit: they are computed in tiles.

On the emulator the device has no more memory than the limit, so that a call which took more would fail."""

import contextlib
import gc
import os
import re
import signal
import threading

import numpy as np
import pytest

import cases
import cudakern as ck
import subprocesses
from cases import native
from cudakern.arrays import memory_limit
from cudakern.calls import tiles
from cudakern.operations import tiled_product
from growth import settled

LIMIT = 2 << 20
PRODUCT = (420, 430), (430, 410)  #: 2.1 MB of float32


@contextlib.contextmanager
def device_of(memory):
    """The emulated device has that much memory."""
    before = native("emulator").device_properties(0)["memory_bytes"]
    ck.emulator.configure(memory=memory)
    try:
        yield
    finally:
        ck.emulator.configure(memory=before)


@contextlib.contextmanager
def limited(backend, limit=LIMIT):
    """Inside, calls have that limit, and take no more memory."""
    gc.collect()
    ck.synchronize()  # what earlier calls have used is then free
    before, peak, stop = native(backend).pool_used(0), [0], threading.Event()

    def watch():
        while not stop.wait(0.002):
            peak[0] = max(peak[0], native(backend).pool_used(0) - before)

    watcher = threading.Thread(target=watch)
    with contextlib.ExitStack() as stack:
        if backend == "emulator":
            stack.enter_context(device_of(limit + before))
        watcher.start()
        stack.callback(watcher.join)
        stack.callback(stop.set)
        yield stack.enter_context(ck.memory_limit(limit))
    assert peak[0] <= limit
    assert native(backend).pool_used(0) <= before  # what others have used may be given back meanwhile


@pytest.fixture
def plans(monkeypatch):
    """The plans of the products that were computed in tiles."""
    seen, planned = [], tiled_product.planned

    def plan(*arguments):
        seen.append(planned(*arguments))
        assert seen[-1].needed <= arguments[0].limit
        return seen[-1]

    monkeypatch.setattr(tiled_product, "planned", plan)
    return seen


def right(result, a, b, variant, more=0):
    """Whether the product is within the variant's bound, and ``more`` roundings."""
    exact, magnitude = cases.product_reference(a, b)
    if a.dtype.kind in "biu":
        return result.dtype == exact.dtype and np.array_equal(result, exact)
    unit = float(np.finfo(a.dtype).eps) / 2
    bound = ck.variants("matmul")[variant].error_bound(a.shape, b.shape, dtype=a.dtype) + more * unit
    return result.shape == exact.shape and cases.relative_error(result, exact, magnitude).max() <= bound


TYPES = [
    pytest.param(dtype, marks=() if dtype in ("float32", "int32", "complex64") else pytest.mark.full)
    for dtype in ("bool", "int8", "int32", "uint64", "float16", "float32", "float64", "complex64", "complex128")
]


@pytest.mark.parametrize("dtype", TYPES)
def test_types(backend, dtype, plans):
    few = 2 if np.dtype(dtype).itemsize < 4 else 1
    a, b = (cases.numbers((few * m, few * n), dtype, m) for m, n in PRODUCT)
    with limited(backend):
        assert right(ck.matmul(a, b, variant="naive"), a, b, "naive")
    assert plans[0].depth == a.shape[1]


@pytest.mark.parametrize(
    "variant", ["fastest", pytest.param("tiled", marks=pytest.mark.full), "tiled_padded", "pitched", "kahan"]
)
def test_variants(backend, variant, plans):
    """Also those that need other layouts, or a workspace."""
    a, b = cases.numbers((350, 401), "float32"), cases.numbers((401, 303), "float32", 1)
    with limited(backend, 1 << 20):
        assert right(ck.matmul(a, b, variant=variant), a, b, variant)
    assert plans


def of_b(shape, layout, dtype="float32"):
    """An array of that shape in another layout."""
    m, n = shape
    make = {
        "rows": lambda: cases.numbers((m, n), dtype),
        "columns": lambda: np.asfortranarray(cases.numbers((m, n), dtype)),
        "gaps": lambda: cases.numbers((m + 2, n + 9), dtype)[1:-1, 4:-5],
        "columns with gaps": lambda: cases.numbers((n + 9, m + 2), dtype)[4:-5, 1:-1].T,
        "steps": lambda: cases.numbers((2 * m, 2 * n), dtype)[::2, ::2],
        "backwards": lambda: cases.numbers((m, n), dtype)[::-1, ::-1],
        "rows backwards": lambda: cases.numbers((m, n), dtype)[::-1],
        "one row": lambda: np.broadcast_to(cases.numbers((1, n), dtype), (m, n)),
        "one column": lambda: np.broadcast_to(cases.numbers((m, 1), dtype), (m, n)),
        "misaligned": lambda: cases.LAYOUTS["misaligned"](cases.numbers((m, n), dtype)),
        "read-only": lambda: cases.LAYOUTS["read_only"](cases.numbers((m, n), dtype)),
        "other byte order": lambda: cases.numbers((m, n), dtype).astype(">f4"),
    }
    return make[layout]()


@pytest.mark.parametrize("first", ["rows", "columns"])
@pytest.mark.parametrize("second", ["rows", "columns"])
def test_four_layouts(backend, first, second, plans):
    a, b = of_b(PRODUCT[0], first), of_b(PRODUCT[1], second)
    with limited(backend):
        assert right(ck.matmul(a, b, variant="naive"), a, b, "naive")
    assert plans


@pytest.mark.parametrize(
    "layout",
    [
        *("gaps", "columns with gaps", "backwards", "one row", "misaligned"),
        *(pytest.param(x, marks=pytest.mark.full) for x in ("steps", "rows backwards", "one column", "read-only")),
    ],
)
def test_layouts(backend, layout, plans):
    """Of either operand, beside one that does not fit by itself."""
    other = cases.numbers((1000, 300), "float32", 3)
    x = of_b((300, 310), layout)
    with limited(backend, 1 << 20):
        assert right(ck.matmul(other, x, variant="naive"), other, x, "naive")
        a, b = x.T, other.T
        assert right(ck.matmul(a, b, variant="naive"), a, b, "naive")
    assert len(plans) == 2


STACKS = {
    "stack": ((200, 40, 70), (200, 70, 50)),
    "one b for all": ((300, 40, 70), (70, 50)),
    "one a for all": ((40, 70), (300, 70, 50)),
    "two axes": ((3, 1, 300, 310), (1, 2, 310, 290)),
    "an axis of a and one of b": ((90, 1, 60, 50), (1, 3, 50, 40)),
    "large matrices": ((2, 500, 600), (2, 600, 400)),
    "vector and stack": ((2000,), (3, 2000, 300)),
    "stack and vector": ((3, 300, 2000), (2000,)),
    "vectors": ((700_001,), (700_001,)),
    "row and matrix": ((1500,), (1500, 900)),
    "matrix and column": ((900, 1500), (1500,)),
    "outer product": ((1200, 1), (1, 1100)),
    "short k": ((2000, 3), (3, 700)),
}


@pytest.mark.parametrize("name", STACKS)
def test_stacks_and_vectors(backend, name, plans):
    first, second = STACKS[name]
    a, b = cases.numbers(first, "float32"), cases.numbers(second, "float32", 1)
    with limited(backend, 3 << 20 if a.nbytes + b.nbytes > 3 << 20 else 2 << 20):
        result = ck.matmul(a, b, variant="naive")
        assert type(result) is type(np.matmul(a[..., :1], b[..., :1] if b.ndim == 1 else b[..., :1, :]))
    assert right(result, a, b, "naive")
    assert plans


@pytest.mark.parametrize("k", [610, 5001])
@pytest.mark.parametrize("variant", ["naive", pytest.param("tiled", marks=pytest.mark.full)])
def test_many_blocks_are_held(backend, k, variant, plans, monkeypatch):
    """With small blocks: as many of them, or of their results, as there is room for."""
    monkeypatch.setattr(tiled_product, "sizes", lambda length: [64])
    a, b = cases.numbers((400 if k < 1000 else 170, k), "float32"), cases.numbers((k, 300), "float32", 1)
    for x, y in ((a, b), (b.T, a.T), (a, np.asfortranarray(b))):
        plans.clear()
        with limited(backend, 1 << 20):
            assert right(ck.matmul(x, y, variant=variant), x, y, variant)
        assert plans[0].held > 1
        assert plans[0].depth == k if k < 1000 else plans[0].depth < k


DIVIDED = [("naive", "float32", 0), ("naive", "int32", 0), ("tiled", "float32", 0), ("tiled", "float16", 1)]
DIVIDED += [("tiled", "complex64", 0), ("tiled", "float64", 8), ("naive", "bool", 0), ("tiled", "complex128", 8)]


@pytest.mark.parametrize(
    "variant, dtype, more",
    [pytest.param(*row, marks=() if i < 4 else pytest.mark.full) for i, row in enumerate(DIVIDED)],
)
def test_long_rows_are_divided(backend, variant, dtype, more, plans):
    """Parts of k are added in a type in which the bound holds; without such a type, each part adds a rounding."""
    k = 500_001 // np.dtype(dtype).itemsize
    a, b = cases.numbers((9, k), dtype), cases.numbers((k, 11), dtype, 1)
    with limited(backend, 1 << 20):
        assert right(ck.matmul(a, b, variant=variant), a, b, variant, more)
    assert plans[0].depth < k / 2


def test_a_result_of_another_type(backend, plans):
    """wgmma_int8 adds products of int8 in int32, and so do its tiles."""
    entry = ck.variants("matmul")["wgmma_int8"]
    if why := entry.why_not(ck.backend()):
        assert "9.0" in why
        return
    a, b = cases.numbers((96, 20_000), "int8"), cases.numbers((20_000, 112), "int8", 1)
    with limited(backend, 1 << 20):
        result = ck.matmul(a, b, variant="wgmma_int8", out=np.zeros((96, 112), np.int32))
    assert np.array_equal(result, a.astype(np.int32) @ b.astype(np.int32))
    assert plans[0].depth < 20_000


@pytest.mark.skipif(not cases.HAS_BFLOAT16, reason="ml_dtypes is not installed")
def test_bfloat16(backend, plans):
    a, b = cases.numbers((500, 600), "bfloat16"), cases.numbers((600, 400), "bfloat16", 1)
    with limited(backend, 1 << 20):
        result = ck.matmul(a, b, variant="naive")
        total = ck.sum_of_squares(np.concatenate([a, b.reshape(-1, 600)]), "one_launch")
    exact, magnitude = cases.product_reference(a, b)
    bound = ck.variants("matmul")["naive"].error_bound(a.shape, b.shape, dtype="bfloat16")
    assert cases.relative_error(result.astype(np.float64), exact, magnitude).max() <= bound
    wanted = sum(np.sum(x.astype(np.float64) ** 2) for x in (a, b))
    assert abs(float(total) - wanted) <= 2 * np.spacing(np.float32(wanted))
    assert plans


def test_parts_of_k_keep_infinities_and_nan(backend):
    a, b = np.ones((3, 100_001), np.float32), np.ones((100_001, 5), np.float32)
    a[0, 5], a[1, 70_000], b[99_999, 4] = np.inf, np.nan, 3e38
    a[2] = 1e30
    for variant in ("naive", "tiled"):
        with limited(backend, 1 << 20), np.errstate(over="ignore", invalid="ignore"):
            result = ck.matmul(a, b, variant=variant)
        assert np.array_equal(np.isnan(result), [[False] * 5, [True] * 5, [False] * 5])
        assert np.array_equal(np.isinf(result), [[True] * 5, [False] * 5, [False] * 4 + [True]])


def test_without_elements(backend):
    with limited(backend):
        result = ck.matmul(np.ones((2000, 0), np.float32), np.ones((0, 900), np.float32), variant="naive")
        assert np.array_equal(result, np.zeros((2000, 900)))
        empty = ck.matmul(np.ones((0, 2_000_000), np.float32), np.ones((2_000_000, 2), np.float32), variant="naive")
        assert empty.shape == (0, 2)


def test_the_same_bits_each_time(backend):
    a, b = cases.numbers((300, 310), "float32"), cases.numbers((310, 290), "float32", 1)
    with limited(backend, 1 << 20):
        first, second = (ck.matmul(a, b, variant="fastest") for _ in range(2))
    assert first.tobytes() == second.tobytes()


# --- out -------------------------------------------------------------------------------------------------------------
def test_out(backend, plans):
    a, b = (cases.numbers(shape, "float32", shape[1]) for shape in PRODUCT)
    expected = np.zeros((420, 410), np.float32)
    with limited(backend):
        ck.matmul(a, b, out=expected, variant="naive")
        outs = [np.zeros((410, 420), np.float32).T, np.zeros((422, 420), np.float32)[1:-1, 3:-7]]
        outs += [np.zeros((420, 820), np.float32)[:, ::2], np.zeros((420, 410)), np.zeros((2, 420, 410), np.float32)]
        outs += [np.zeros((420, 410), np.float32)[::-1]]
        for out in outs:
            assert ck.matmul(a, b, out=out, variant="naive") is out
            assert np.array_equal(out, np.broadcast_to(expected, out.shape))
        with pytest.raises(TypeError, match="same_kind"):
            ck.matmul(a, b, out=np.zeros((420, 410), np.int32), variant="naive")
    assert right(expected, a, b, "naive")
    assert len(plans) == 7


def test_out_overlaps_an_input(backend, plans):
    square = cases.numbers((440, 440), "float32")
    for place in ("a", "b", "shifted"):
        memory = np.zeros((460, 440), np.float32)
        a, b = square.copy(), square[::-1].copy()
        if place == "shifted":
            memory[:440] = a
            a, out = memory[:440], memory[20:]
        else:
            out = a if place == "a" else b
        first, second = a.copy(), b.copy()
        with limited(backend):
            ck.matmul(a, b, out=out, variant="naive")
        assert right(out, first, second, "naive"), place
    assert len(plans) == 3


SUMS = ("one_launch", "float32"), ("one_launch", "int32"), ("one_launch", "float16"), ("atomic", "float32")


# --- sums of squares -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "variant, dtype",
    [
        pytest.param(name, dtype, marks=() if (name, dtype) in SUMS else pytest.mark.full)
        for name in ("one_launch", "atomic")
        for dtype in ck.variants("sum_of_squares")[name].types
        if dtype != "bfloat16"
    ],
)
def test_sums_of_squares(backend, dtype, variant):
    entry = ck.variants("sum_of_squares")[variant]
    x = cases.numbers((2_100_001 // np.dtype(dtype).itemsize, 2), dtype)
    for array in (x, x.T, x[::-1], x[:, 1]):
        with limited(backend, 1 << 20):
            result = ck.sum_of_squares(array, variant)
        exact, magnitude = cases.sum_reference(array)
        if result.dtype.kind in "iu":
            assert int(result) % 2**64 == exact % 2**64
        elif variant == "one_launch" and result.dtype == np.float32:
            assert abs(result - exact) <= 2 * np.spacing(np.float32(exact))
        else:
            bound = entry.error_bound(array.shape, dtype=dtype) + float(np.finfo(result.dtype).eps)
            assert abs(result - exact) <= bound * magnitude


def test_a_sum_of_squares_that_overflows(backend):
    x = np.full(600_000, 1e18, np.float32)
    with limited(backend, 1 << 20):
        assert ck.sum_of_squares(x, "one_launch") == np.inf
        x[3] = np.nan
        assert np.isnan(ck.sum_of_squares(x, "one_launch"))


# --- the limit -------------------------------------------------------------------------------------------------------
def test_calls_that_fit_run_as_usual(backend, plans):
    a, b = (cases.numbers(shape, "float32", shape[1]) for shape in PRODUCT)
    with ck.memory_limit(16 << 20):
        for _ in range(2):  # the second time, the kind of call is known
            assert right(ck.matmul(a, b, variant="naive"), a, b, "naive")
    assert right(ck.matmul(a, b, variant="naive"), a, b, "naive")
    assert not plans
    with ck.memory_limit(LIMIT):  # a known kind of call that does not fit
        assert right(ck.matmul(a, b, variant="naive"), a, b, "naive")
    assert len(plans) == 1


def test_the_limit_is_what_is_free(plans):
    a, b = (cases.numbers(shape, "float32", shape[1]) for shape in PRODUCT)
    with ck.use_backend("emulator"), device_of(LIMIT):
        kept = ck.zeros(1 << 18, "float32")
        assert right(ck.matmul(a, b, variant="naive"), a, b, "naive")
        with pytest.raises(ck.OutOfMemoryError):  # one call, which is measured whole
            ck.profile("matmul", a, b, variant="naive")
        assert not kept.get().any()
    assert plans[0].needed <= LIMIT - (1 << 20)


def test_a_limit_that_is_too_small(backend):
    """(No call needs that much today: the memory of a block is made larger.)"""
    a, b, x = np.ones((40, 10_000)), np.ones((10_000, 40)), np.ones(1 << 20, np.float32)
    used = settled(backend)
    with ck.memory_limit(memory_limit.LEAST), pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiles, "ROUNDED", 1 << 20)
        with pytest.raises(
            ValueError, match=r"matmul: the memory limit of 1,048,576 bytes .* need [0-9,]+ bytes .*CUDAK"
        ):
            ck.matmul(a, b, variant="naive")
        with pytest.raises(ValueError, match="sum_of_squares: the memory limit"):
            ck.sum_of_squares(x, "one_launch")
    assert native(backend).pool_used(0) == used


def test_settings(monkeypatch):
    assert memory_limit.current() is None
    with ck.memory_limit("8G") as outer, ck.memory_limit("512m") as inner:
        assert (outer, inner) == (8 << 30, 512 << 20)
        assert memory_limit.current() == inner
    assert memory_limit.current() is None
    monkeypatch.setenv(memory_limit.ENVIRONMENT, "3M")
    assert memory_limit.current() == 3 << 20
    with ck.memory_limit(progress=True) as limit:
        assert limit == 3 << 20
        assert memory_limit.shows_progress()
    with ck.memory_limit(np.int64(1 << 20)) as limit:
        assert limit == 1 << 20
    assert repr(ck.memory_limit("8G", progress=True)) == (
        "<cudakern setting, for use as `with cudakern.memory_limit('8G', progress=True):`>"
    )
    assert "memory_limit()" in repr(ck.memory_limit())
    for wrong in ("8T", "-1G", "G", "1.5G", "", "8GG", 1000, 0, "1K"):
        with pytest.raises(ValueError, match="limit must be"):
            ck.memory_limit(wrong)
    for wrong in (2.5, True, b"8G", [1 << 20]):
        with pytest.raises(TypeError, match="limit must be a whole number of bytes"):
            ck.memory_limit(wrong)
    monkeypatch.setenv(memory_limit.ENVIRONMENT, "many")
    with pytest.raises(ValueError, match="CUDAKERN_MEMORY_LIMIT must be a whole number of bytes"):
        ck.matmul(*np.ones((2, 300, 300), np.float32), variant="naive")


def test_a_thread_has_its_own_limit(backend):
    seen = []
    with ck.memory_limit(LIMIT):
        thread = threading.Thread(target=lambda: seen.append(memory_limit.current()))
        thread.start()
        thread.join()
    assert seen == [None]


def test_progress(backend, capsys):
    a, b = (cases.numbers(shape, "float32", shape[1]) for shape in PRODUCT)
    before = threading.active_count()
    with ck.memory_limit(LIMIT, progress=True):
        ck.matmul(a, b, variant="naive")
        assert re.search("matmul, naive.* 100%", capsys.readouterr().out)
        ck.sum_of_squares(np.ones((3 << 20) // 2, np.float32), "one_launch")
        assert re.search("sum_of_squares, one_launch.* 100%", capsys.readouterr().out)
    assert threading.active_count() == before
    with ck.memory_limit(LIMIT):
        ck.matmul(a, b, variant="naive")
    assert capsys.readouterr().out == ""


# --- errors in the middle --------------------------------------------------------------------------------------------
def call(a, b, x):
    return ck.matmul(a, b, variant="naive"), ck.sum_of_squares(x, "one_launch")


def test_an_interrupted_call_leaves_nothing_behind(backend, monkeypatch, capsys):
    """Whatever step the signal comes at, and although the exception, with its frames, is kept."""
    a, b = (cases.numbers(shape, "float32", shape[1]) for shape in PRODUCT)
    x = cases.numbers(1_500_000, "float32")
    steps, at, advance = [0], [0], tiles.Tiled.advance

    def interrupted(self):
        steps[0] += 1
        advance(self)
        if steps[0] == at[0]:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(tiles.Tiled, "advance", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with ck.memory_limit(1 << 20, progress=True):
            expected = call(a, b, x)
            count, used, threads = steps[0], native(backend).pool_used(0), threading.active_count()
            assert count > 8
            for at[0] in {1, 2, count // 2, count - 1}:
                steps[0] = 0
                with pytest.raises(KeyboardInterrupt) as caught:
                    call(a, b, x)
                assert native(backend).pool_used(0) == used
                assert threading.active_count() == threads
                assert caught.tb is not None
            at[0] = 0
            again = call(a, b, x)
    finally:
        signal.signal(signal.SIGINT, before)
    assert all(map(np.array_equal, again, expected))


@pytest.mark.parametrize("name", cases.BACKENDS)
def test_ctrl_c_in_a_program(name):
    """A signal at any time, also while this thread waits for the device."""
    subprocesses.run(
        f"""
        import os, signal, threading, time
        import numpy as np, cases, cudakern as ck
        signal.signal(signal.SIGINT, signal.default_int_handler)
        a, b = (cases.numbers((450, 450), "float32", i) for i in range(2))
        native = cases.native({name!r})
        with ck.use_backend({name!r}), ck.memory_limit("2M"):
            expected = ck.matmul(a, b, variant="naive")
            threads = threading.active_count()
            for i in range(5):
                timer = threading.Timer(0.02 * (i + 1), os.kill, (os.getpid(), signal.SIGINT))
                caught = False
                try:
                    timer.start()
                    while True:
                        ck.matmul(a, b, variant="naive")
                except KeyboardInterrupt as error:
                    caught = error
                timer.join()
                assert native.pool_used(0) == 0, i
            assert threading.active_count() == threads
            assert np.array_equal(ck.matmul(a, b, variant="naive"), expected)
        """
    )


@pytest.mark.parametrize("code", [2, pytest.param(1, marks=pytest.mark.full)])
def test_calls_of_the_runtime_may_fail(backend, fault, code):
    """The first ones, and then fewer and fewer of the many."""
    a, b = cases.numbers((130, 1000), "float32"), cases.numbers((1000, 140), "float32", 1)
    with ck.memory_limit(1 << 20):
        expected = ck.matmul(a, b, variant="naive")
        n, failures, used = 1, 0, native(backend).pool_used(0)
        while True:
            fault(backend, n, code)
            try:
                result = ck.matmul(a, b, variant="naive")
            except ck.CudaError as error:
                failures += 1
                kind = error
            else:
                assert np.array_equal(result, expected), n
            reached = native(backend).fault_count() >= n
            fault(backend, 0, code)
            assert native(backend).pool_used(0) == used, n
            if not reached:
                break
            n += 1 + n // 8
        assert failures > 20
        assert isinstance(kind, MemoryError) == (code == 2)
        assert np.array_equal(ck.matmul(a, b, variant="naive"), expected)


def test_the_device_has_less_memory_than_the_limit():
    a, b = (cases.numbers(shape, "float32", shape[1]) for shape in PRODUCT)
    with ck.use_backend("emulator"), ck.memory_limit(LIMIT):
        used = native("emulator").pool_used(0)
        with device_of(LIMIT // 2):
            assert right(ck.matmul(a, b, variant="naive"), a, b, "naive")
        assert native("emulator").pool_used(0) == used
        assert right(ck.matmul(a, b, variant="naive"), a, b, "naive")


# --- what transfers take ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", cases.BACKENDS)
def test_tiles_take_the_ring(name):
    """Large blocks are copied by several threads, also rows with gaps."""
    subprocesses.run(
        f"""
        import numpy as np, cases, cudakern as ck
        native = cases.native({name!r})
        a, b = cases.numbers((300, 310), "float32"), cases.numbers((310, 290), "float32", 1)
        with ck.use_backend({name!r}):
            expected = ck.matmul(a, b, variant="naive")
            with ck.memory_limit("1M"):
                for x in (a, np.asfortranarray(a)):
                    for y in (b, np.asfortranarray(b)):
                        native.inject_fault(0, 1)
                        assert np.array_equal(ck.matmul(x, y, variant="naive"), expected)
                        assert native.fault_count() > 1000  # guarded calls of CUDA: each slot takes several
        """,
        CUDAKERN_COPY_THREADS="3",
        CUDAKERN_COPY_SLOT="4096",
    )


def test_transfers_of_rows_with_gaps(backend):
    """Rows or columns with gaps on either side, and rows in the opposite order."""
    module = native(backend)
    base = module.empty((40_000,), "int32", 0, 0)
    for shape, strides in (((30, 100), (400, 4)), ((30, 100), (512, 4)), ((30, 100), (4, 120)), ((30, 100), (4, 160))):
        view = module.view(base, 0, shape, strides, "int32")
        for layout in ("rows", "columns", "gaps", "columns with gaps", "backwards", "one row", "steps"):
            host = of_b(shape, layout, "int32")
            module.upload(view, host, 0)
            into = np.zeros(shape, np.int32)
            module.download(into, view, 0)
            assert np.array_equal(into, host)
            wide = np.zeros((32, 111), np.int32)
            module.download(wide[1:-1, 5:-6], view, 0)
            assert np.array_equal(wide[1:-1, 5:-6], host)
            assert np.count_nonzero(wide) == np.count_nonzero(host)
    back = module.view(base, 400 * 29, (30, 100), (-400, 4), "int32")
    host = of_b((30, 100), "gaps", "int32")
    module.upload(back, host, 0)
    into = np.zeros((30, 200), np.int32)[:, ::2]
    module.download(into, back, 0)
    assert np.array_equal(into, host)


def test_memory_needed(backend):
    """What an ordinary call takes at most, and what a call on arrays of the device takes besides them."""
    module, arrays = native(backend), (np.ones((100, 200), np.float32), np.ones((200, 300), np.float32))
    out = np.ones((100, 300), np.float32)
    total = sum(x.nbytes for x in (*arrays, out))
    assert module.memory_needed("matmul", "naive", (), arrays, (out,), 0, False) == total
    assert module.memory_needed("matmul", "naive", (), arrays, (out,), 0, True) == 0
    odd = np.ones((100, 201), np.float32), np.ones((201, 300), np.float32)
    padded = 4 * (112 * 208 + 208 * 304 + 112 * 304)
    assert module.memory_needed("matmul", "tiled_padded", (16,), odd, (out,), 0, True) == padded
    assert module.memory_needed("matmul", "tiled_padded", (16,), odd, (out,), 0, False) == padded
    with pytest.raises(ValueError, match="unknown variant|no variant"):
        module.memory_needed("matmul", "nothing", (), arrays, (out,), 0, False)


# --- more than 2^31 elements -----------------------------------------------------------------------------------------
ROWS, COLUMNS = 46_411, 46_399  # 2,153,424,... elements: no multiple of a tile


@pytest.fixture
def huge(backend):
    if backend != "cuda" or ck.backend().properties["memory_free"] < 16 << 30:
        pytest.skip("needs a GPU with 16 GiB of free memory")


@pytest.mark.full
@pytest.mark.parametrize("variant", ["auto", "naive"])
def test_a_product_of_more_than_2_31_elements(backend, huge, variant):
    """Whole rows and columns beyond the 2^31st element."""
    draw = np.random.default_rng(3)
    a, b = draw.random((ROWS, 3), np.float32), draw.random((3, COLUMNS), np.float32)
    c = ck.matmul(ck.asarray(a), ck.asarray(b), variant=variant)
    middle = (1 << 31) // COLUMNS
    for rows in slice(0, 3), slice(-3, None), slice(middle - 2, middle + 3):
        assert ck.compare(c[rows].get(), a[rows].astype(np.float64) @ b.astype(np.float64)).max < 1e-6
    assert ck.compare(c[:, -2:].get(), a.astype(np.float64) @ b[:, -2:].astype(np.float64)).max < 1e-6


@pytest.mark.full
def test_sums_and_strided_copies_of_more_than_2_31_elements(backend, huge):
    x, tail = ck.zeros(((1 << 31) + 12_345,), np.int8), np.arange(-500, 500).astype(np.int8)
    x[-1000:] = tail
    x[:1000] = tail
    assert int(ck.sum_of_squares(x)) == 2 * int((tail.astype(np.int64) ** 2).sum())
    assert np.array_equal(x[::-2].astype(np.int16)[:500].get(), tail[::-2].astype(np.int16))
