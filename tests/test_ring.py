"""Copies of large arrays through rings of page-locked slots: contents, the short way, threads, forks, faults, settings.

Each test runs in a process of its own, with slots so small that small arrays take the way of large ones."""

import pytest

import subprocesses
from cases import BACKENDS, HAS_BFLOAT16

SLOT = 4096
BEGIN = """
    import gc, os, signal, sys, threading, time
    import numpy as np, pytest
    import cases, cudakern as ck, growth
    from subprocesses import in_child, in_threads
    name = {name!r}
    native = cases.native(name)
    use = ck.use_backend(name)
    use.__enter__()
    ck.synchronize()
    SLOT = 4096  # CUDAKERN_COPY_SLOT
    LEAST = 4 * SLOT  # smaller arrays take the short way

    def random(n, seed=0):
        return np.random.default_rng(seed).integers(0, 256, n, np.uint8)

    def tasks():  # threads of this process
        return len(os.listdir("/proc/self/task"))

    def calls(work):  # guarded calls of CUDA
        native.inject_fault(0, 1)
        work()
        return native.fault_count()
"""


def run(name, code, threads="3", **settings):
    settings = {"CUDAKERN_COPY_THREADS": threads, "CUDAKERN_COPY_SLOT": str(SLOT)} | settings
    quiet = {"PYTHONWARNINGS": "ignore::DeprecationWarning"}  # newer Pythons warn of a fork with threads
    return subprocesses.run(subprocesses.joined(BEGIN.format(name=name), code), **quiet, **settings)


every_backend = pytest.mark.parametrize("name", BACKENDS)


@every_backend
@pytest.mark.parametrize("threads", ["1", pytest.param("2", marks=pytest.mark.full), "7"])
def test_contents(name, threads):
    """Sizes around multiples of a slot, at odd addresses, to existing and to new memory."""
    run(
        name,
        """
        sizes = [0, 1, SLOT, LEAST - 1, LEAST, LEAST + 1]
        sizes += [k * SLOT + by for k in (5, 8, 64, 301) for by in (-1, 0, 1, 2048)]
        for n in sizes:
            for offset in (0, 1, 8, 63):
                host, into = random(n + offset, n)[offset:], np.zeros(n + offset + 1, np.uint8)
                device = ck.asarray(host)
                device.get(out=into[offset : offset + n])
                assert np.array_equal(into[offset : offset + n], host), (n, offset)
                assert not into[:offset].any() and into[-1] == 0, (n, offset)
                assert np.array_equal(device.get(), host), (n, offset)
        """,
        threads=threads,
    )


@every_backend
def test_large_arrays_and_no_others_take_this_way(name):
    """As many copies as chunks, and threads that stay; small and page-locked arrays are one copy."""
    run(
        name,
        """
        before = tasks()
        small, pinned = random(LEAST - 1), ck.empty_pinned(100 * SLOT, "uint8")
        pinned[:] = random(100 * SLOT)
        a, b = ck.asarray(small), ck.asarray(pinned)
        for work in (lambda: a.set(small), lambda: a.get(), lambda: b.set(pinned), lambda: b.get(out=pinned)):
            assert calls(work) < 20
        assert tasks() - before <= 1  # the emulator's, for a stream
        before = tasks()
        host = random(100 * SLOT)
        for work in (lambda: b.set(host), lambda: b.get()):
            assert calls(work) >= 3 * 100
        assert tasks() - before >= 2
        before = tasks()
        for turn in range(20):
            b.set(host)
        assert tasks() == before
        native.trim(0)
        assert tasks() <= before - 2
        assert np.array_equal(b.get(), host)
        """,
    )


@every_backend
@pytest.mark.full
def test_an_array_of_more_than_two_gibibytes(name):
    run(
        name,
        """
        host = np.zeros((1 << 31) + 5, np.uint8)
        ends = [0, 1 << 30, (1 << 31) - 1, 1 << 31, host.size - 1]
        host[ends] = range(1, 6)
        device = ck.empty(host.size, "uint8")
        assert calls(lambda: device.set(host)) >= 2048  # a chunk of at most 1 MiB takes several
        assert [int(device[i : i + 1].get()[0]) for i in ends] == [1, 2, 3, 4, 5]
        """,
        CUDAKERN_COPY_SLOT="1M",
    )


@every_backend
def test_types_and_byte_orders(name):
    run(
        name,
        f"""
        types = list(map(np.dtype, "?bBhHiIlLefdFD")) + ["bfloat16"] * {HAS_BFLOAT16}
        for dtype in types:
            dtype = cases.numpy_dtype(dtype) if dtype == "bfloat16" else dtype
            host = (random(LEAST + SLOT + 4, 3) % 2).astype(dtype).reshape(-1, 3)
            for x in (host, host[:, ::-1], host[::-2], host.T, host.astype(host.dtype.newbyteorder("S"))):
                device = ck.asarray(x)
                assert np.array_equal(device.get(), x), dtype
                into = np.zeros(x.shape, x.dtype)
                device.get(out=into)
                assert np.array_equal(into, x), dtype
                assert np.array_equal(device[::-1].get(), x[::-1]), dtype
        """,
    )


@every_backend
@pytest.mark.parametrize("threads", [pytest.param("1", marks=pytest.mark.full), "3"])
def test_operands_and_results_of_calls(name, threads):
    """Rows at any distance, backwards, columns, stacks, read-only; results into rows at a distance."""
    run(
        name,
        """
        steps = [v for v in ck.variants("matmul") if name in v.backends and "float32" in v.types]
        steps = [v.name for v in steps if not v.why_not(ck.backend()) and not v.out_type(np.dtype("float32"))]
        m, k, n = 130, 70, 90
        wide = np.random.default_rng(5).random((3, m + 9, k + 200), np.float32)
        b = np.random.default_rng(6).random((k, n), np.float32)
        b.flags.writeable = False
        rows = wide[0, :m, 5 : 5 + k]
        lefts = {
            "rows": rows, "contiguous": np.ascontiguousarray(rows), "columns": np.asfortranarray(rows),
            "backwards": rows[::-1], "every other": wide[0, : 2 * (m // 2) : 2, :k], "mirrored": rows[:, ::-1],
        }
        for step in steps[:: max(1, len(steps) // 6)]:
            for what, a in lefts.items():
                expected = a @ b
                assert calls(lambda: ck.matmul(a, b, variant=step)) > 30, (step, what)
                assert np.allclose(ck.matmul(a, b, variant=step), expected, rtol=1e-2, atol=1e-2), (step, what)
                room = np.zeros((len(a), n + 300), np.float32)
                ck.matmul(a, b, variant=step, out=room[:, 7 : 7 + n])
                assert np.allclose(room[:, 7 : 7 + n], expected, rtol=1e-2, atol=1e-2), (step, what)
                assert not room[:, :7].any() and not room[:, 7 + n :].any(), (step, what)
        stack = wide[:, :m, :k]
        for a in (stack, stack[::-1], stack[::2], stack.transpose(1, 0, 2)[:, :, :k]):
            assert np.allclose(ck.matmul(a, b, variant="tiled"), a @ b, rtol=1e-4)
        step = next(v.name for v in ck.variants("vector_add") if not v.on_host)
        for x in (wide, wide[:, ::-1], wide.T, wide[:, :m, 3:]):
            assert np.array_equal(ck.vector_add(x, x, variant=step), x + x)
        """,
        threads=threads,
    )


LAYOUTS = """
    def layouts(dtype):
        \"\"\"Arrays that are not in C order, by what they are.\"\"\"
        draw = np.random.default_rng(11)

        def make(*shape):
            return draw.integers(0, 100, shape).astype(dtype)

        flat, image, cube = make(20_000), make(45, 70, 12), make(20, 31, 52)
        tall = make(2500, 9)
        return {
            "backwards": flat[::-1], "every third": flat[1::3], "every third backwards": flat[-2::-3],
            "transposed": tall.T, "Fortran": np.asfortranarray(cube), "axes in another order": cube.transpose(1, 2, 0),
            "backwards in every axis": cube[::-1, ::-1, ::-1], "transposed, one axis backwards": cube.T[:, ::-1],
            "every other column": tall[:, ::2], "every other column of the transposed": tall.T[::2],
            "columns of the transposed": tall[100:2100].T, "a box": cube[2:19, 3:30, 1:50],
            "a box in another order": cube.transpose(2, 0, 1)[1:50, 2:19, 3:30:2], "three of four": image[..., 1:4],
            "three of four, backwards": image[..., 4:1:-1], "one column": image[:, :, 5],
            "two elements": image[:, :, ::7], "one of many": tall.reshape(-1, 9, 1)[:, 3:4],
            "repeated": np.broadcast_to(flat[::2], (3, 10_000)),
            "repeated in the middle": np.broadcast_to(tall[:, None, ::2], (2500, 4, 5)),
            "overlapping": np.lib.stride_tricks.sliding_window_view(flat[:9000], 5),
        }
"""


@every_backend
@pytest.mark.parametrize("threads", [pytest.param("1", marks=pytest.mark.full), "3"])
def test_any_strides_to_the_device_and_back(name, threads):
    """Each value is where it belongs, whatever the order, direction and gaps of the axes; and NumPy gathers nothing."""
    run(
        name,
        subprocesses.joined(
            LAYOUTS,
            f"""
            types = ["uint8", "int16", "float32", "float64", "complex128"] + ["bfloat16"] * {HAS_BFLOAT16}
            seen = 0
            for dtype in types:
                for what, x in layouts(cases.numpy_dtype(dtype)).items():
                    for y in (x, x.astype(x.dtype.newbyteorder("S")) if dtype != "bfloat16" else x):
                        y = y if y is x else np.lib.stride_tricks.as_strided(y, y.shape, y.strides)
                        device = ck.asarray(y)
                        assert np.array_equal(device.get(), x), (dtype, what)
                        device = ck.zeros(x.shape, dtype)
                        device.set(y)
                        assert np.array_equal(device.get(), x), (dtype, what)
                    if 0 in x.strides or what == "overlapping":
                        continue
                    # Into the same strides, with a border that must stay.
                    base = x
                    while base.base is not None:
                        base = base.base
                    offset = x.__array_interface__["data"][0] - base.__array_interface__["data"][0]
                    room = np.full(base.nbytes, 0x5A, np.uint8)
                    out = np.ndarray(x.shape, x.dtype, room, offset, x.strides)
                    expected = np.full(base.nbytes, 0x5A, np.uint8)
                    np.ndarray(x.shape, x.dtype, expected, offset, x.strides)[...] = x
                    device.get(out=out)
                    assert np.array_equal(room, expected), (dtype, what)
                    room[:] = 0x5A
                    device[::-1].get(out=out[::-1])
                    assert np.array_equal(room, expected), (dtype, what)
                    seen += x.nbytes >= LEAST and not x.flags.c_contiguous
            assert seen > 60
            """,
        ),
        threads=threads,
    )


@every_backend
@pytest.mark.parametrize("threads", [pytest.param("1", marks=pytest.mark.full), "3"])
def test_operands_and_results_of_any_strides(name, threads):
    """With one thread, several variants of each operation; with three, one of each."""
    run(
        name,
        subprocesses.joined(
            LAYOUTS,
            f"first = slice(None, {None if threads == '1' else 1})",
            """
            add = [v.name for v in ck.variants("vector_add") if name in v.backends and not v.on_host][first]
            sums = [v.name for v in ck.variants("sum_of_squares") if name in v.backends and not v.on_host][-1:-4:-1]
            products = ["tiled", "register_tile", "warp_tiles"][first]
            for what, x in layouts("float32").items():
                for step in add:
                    assert np.array_equal(ck.vector_add(x, x, variant=step), x + x), (what, step)
                    if 0 in x.strides or what == "overlapping":
                        continue
                    room = np.full(x.size * 3, -1, "float32")
                    out = room[1::3].reshape(x.shape)
                    ck.vector_add(x, x, variant=step, out=out)
                    assert np.array_equal(out, x + x), (what, step)
                    assert (room[::3] == -1).all() and (room[2::3] == -1).all()
                    out = np.empty(x.shape[::-1], "float32").T
                    ck.vector_add(x, x, variant=step, out=out)
                    assert np.array_equal(out, x + x), (what, step)
                for step in sums:
                    assert np.isclose(ck.sum_of_squares(x, variant=step), (x.astype("float64") ** 2).sum()), what
                if x.ndim < 2:
                    continue
                b = np.random.default_rng(3).integers(0, 9, (x.shape[-1], 24)).astype("float32")
                for step in products:
                    for right in (b, b[:, ::-1], np.repeat(b, 2, 1)[:, ::2])[: 3 if step == "tiled" else 1]:
                        result = ck.matmul(x, right, variant=step)
                        assert np.array_equal(result, x.astype("float64") @ right), (what, step)
                    out = np.zeros((*x.shape[:-1], 48), "float32")[..., ::-2]
                    ck.matmul(x, b, variant=step, out=out)
                    assert np.array_equal(out, x.astype("float64") @ b), (what, step)
            """,
        ),
        threads=threads,
    )


@every_backend
def test_a_permuted_array_is_copied_as_one_without_gaps(name):
    """As many copies between host and device as for the same memory in C order, and one kernel more."""
    run(
        name,
        """
        import tracemalloc

        x = np.random.default_rng(1).random((40, 50, 60))
        ck.asarray(x)
        plain = calls(lambda: ck.asarray(x))
        assert plain > 3 * 200
        tracemalloc.start()
        for y in (x.T, x[::-1], x[:, ::-1, ::-1], x.transpose(1, 0, 2), np.asfortranarray(x)):
            out = np.empty(y.T.shape, y.dtype).T
            device = ck.zeros(y.shape, y.dtype)
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            assert calls(lambda: device.set(y)) <= plain + 60
            assert calls(lambda: device.get(out=out)) <= plain + 60
            assert np.array_equal(out, y)
            assert tracemalloc.get_traced_memory()[1] - before < y.nbytes / 2  # no copy by NumPy
        pinned = ck.empty_pinned((2000, 60), "float32")
        pinned[...] = np.arange(pinned.size).reshape(pinned.shape)
        some = pinned[:, ::2]
        assert calls(lambda: ck.asarray(some)) < 1000  # a copy of each element would be 60,000
        device = ck.asarray(some)
        assert np.array_equal(device.get(), some)
        assert calls(lambda: device.get(out=pinned[:, 1::2])) < 1000
        assert np.array_equal(pinned[:, 1::2], pinned[:, ::2])
        """,
    )


@every_backend
def test_order_in_a_stream(name):
    """A copy to the device comes after the work before it, and before the work after it."""
    run(
        name,
        """
        first, second = (np.random.default_rng(i).random((110, 110)) for i in range(2))
        for stream in (None, ck.Stream()):
            for turn in range(5):
                x = ck.asarray(first, stream=stream)
                before = ck.matmul(x, x, stream=stream)
                x.set(second, stream=stream)
                after = ck.matmul(x, x, stream=stream)
                assert np.allclose(before.get(stream=stream), first @ first)
                assert np.allclose(after.get(stream=stream), second @ second)
        """,
    )


@every_backend
def test_what_follows_waits_for_the_last_slots(name):
    run(
        name,
        """
        device = ck.zeros(16 << 20, "uint8")
        for turn in range(1, 30):
            host = np.full(16 << 20, turn, np.uint8)
            device.set(host)
            assert (device[::4096].get() == turn).all(), turn
        """,
        CUDAKERN_COPY_SLOT="1M",
    )


@every_backend
def test_several_python_threads(name):
    run(
        name,
        """
        wrong, done = [], []

        def work(seed):
            with ck.use_backend(name):
                for turn in range(15):
                    host = random((20 + seed) * SLOT + turn, seed * 100 + turn)
                    device = ck.asarray(host)
                    if not np.array_equal(device.get(), host):
                        wrong.append((seed, turn))
                    if turn == seed:
                        native.trim(0)
                done.append(seed)

        in_threads(work, range(6))
        assert not wrong and len(done) == 6
        """,
    )


COPIES = """
    def copies(seed=1):
        host = random(200 * SLOT, seed)
        assert calls(lambda: ck.asarray(host)) >= 3 * 200
        assert np.array_equal(ck.asarray(host).get(), host)
"""


def test_a_child_has_a_ring_of_its_own():
    run("emulator", subprocesses.joined(COPIES, "copies()", "in_child(copies)", "copies()"))


@pytest.mark.forks
def test_a_fork_beside_threads_that_copy():
    run(
        "emulator",
        subprocesses.joined(
            COPIES,
            """
            copies()
            done = threading.Event()
            counts = []

            def go_on():
                with ck.use_backend(name):
                    while not done.is_set():
                        host = random(100 * SLOT)
                        counts.append(np.array_equal(ck.asarray(host).get(), host))

            others = [threading.Thread(target=go_on) for _ in range(2)]
            for other in others:
                other.start()
            try:
                for turn in range(20):
                    in_child(copies)
            finally:
                done.set()
            for other in others:
                other.join(60)
            assert all(counts) and len(counts) > 5
            copies()
            """,
        ),
    )


@every_backend
def test_other_python_threads_go_on(name):
    """And the end of the process does not wait for the ring's threads."""
    output = run(
        name,
        """
        counted, done = [0], threading.Event()

        def count():
            while not done.is_set():
                counted[0] += 1
                time.sleep(0)

        other = threading.Thread(target=count)
        other.start()
        host = random(64 << 20)
        device = ck.asarray(host)
        before = counted[0]
        for turn in range(5):
            device.set(host)
        assert counted[0] - before > 5
        done.set()
        other.join()
        print("end")
        """,
    )
    assert output == "end\n"


@every_backend
@pytest.mark.parametrize("code", [2, pytest.param(719, marks=pytest.mark.full)])
def test_every_call_may_fail(name, code):
    """The first, second, third... call of CUDA: an error with its name or a right result, and all goes on as before."""
    output = run(
        name,
        f"""
        CODE, WORD = {code}, {{2: "cudaErrorMemoryAllocation", 719: "cudaErrorLaunchFailure"}}[{code}]
        a = np.random.default_rng(3).random((80, 120), np.float32)
        wide = np.random.default_rng(4).random((120, 300), np.float32)[:, 3:90]
        host, into = random(6 * SLOT + 3), np.zeros(6 * SLOT + 3, np.uint8)
        device = ck.asarray(host)
        works = {{
            "set": lambda: (device.set(host), device)[1],
            "get": lambda: device.get(out=into),
            "first": lambda: (native.trim(0), device.set(host), device)[2],
            "matmul": lambda: ck.matmul(a, wide, variant="tiled"),
        }}
        for what, work in works.items():
            expected = a @ wide if what == "matmul" else host
            work(), gc.collect(), ck.synchronize()
            used, failures = native.pool_used(0), 0
            for n in range(1, 400):
                into[:] = 0
                native.inject_fault(n, CODE)
                try:
                    result = work()
                    raised = False
                except ck.CudaError as error:
                    raised = True
                    failures += 1
                    assert WORD in str(error), (what, n, error)
                reached = native.fault_count() >= n
                native.inject_fault(0, 1)
                if not raised:
                    result = result.get() if isinstance(result, ck.DeviceArray) else into if what == "get" else result
                    assert np.allclose(result, expected), (what, n)
                result = None
                assert native.pool_used(0) == used, (what, n)
                assert tasks() < 40, (what, n)
                if not reached:
                    break
            assert failures > 20 and n < 399, (what, failures, n)
            work()
            device.set(host)
            assert np.array_equal(device.get(), host)
        print(failures)
        """,
    )
    assert int(output) > 0


def test_too_few_threads_or_too_little_memory():
    """Then CUDA copies the array: every fault in the creation of a ring leaves the right contents."""
    run(
        "emulator",
        """
        host = random(50 * SLOT)
        device = ck.asarray(host)
        native.trim(0)
        through_the_ring = calls(lambda: device.set(host))
        slow = 0
        for n in range(2, 45):
            native.trim(0)
            device.set(np.zeros_like(host))
            native.trim(0)
            native.inject_fault(n, 2)
            try:
                device.set(host)
            except ck.OutOfMemoryError:
                continue
            slow += native.fault_count() < through_the_ring / 2
            native.inject_fault(0, 1)
            assert np.array_equal(device.get(), host)
        assert slow > 10
        """,
    )


@every_backend
def test_nothing_is_kept_of_a_copy(name):
    run(
        name,
        """
        host = random(40 * SLOT)
        device = ck.asarray(host)
        into = np.empty_like(host)

        def there_and_back():
            device.set(host)
            device.get(out=into)

        growth.grows_by_less(name, there_and_back, 50, blocks=50, in_c=20_000)
        growth.grows_by_less(name, lambda: (native.trim(0), there_and_back()), 10, blocks=50, in_c=20_000)
        """,
    )


def test_no_ring_by_default_where_no_link_is():
    run("emulator", "assert calls(lambda: ck.asarray(random(100 * SLOT))) < 30", threads="")
    run("emulator", "assert calls(lambda: ck.asarray(random(100 * SLOT))) < 30", threads="0")


@pytest.mark.skipif("cuda" not in BACKENDS, reason="needs a GPU")
def test_threads_by_default():
    """As many as processors, twelve at most, and the calling thread is one of them; none for one processor."""
    code = """
        count = {count}
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])
        before = tasks()
        ck.asarray(random(100 * SLOT))
        # (CUDA may start threads of its own.)
        assert tasks() - before in range(expected - 1, expected + 3) if (expected := min(count, 12)) > 1 else tasks()
    """
    for count in (1, 2, 64):
        run("cuda", code.format(count=count).replace("count = 64", "count = os.cpu_count()"), threads="")


WRONG = {
    ("CUDAKERN_COPY_THREADS", "an integer from 0 to 64"): ("-1", "65", "two", "1.5", "2 3"),
    ("CUDAKERN_COPY_SLOT", "an integer from 4096 to 67108864"): ("65M", "4095", "M", "4096B"),
    ("CUDAKERN_WARM_RESULTS", "an integer from 0 to"): ("much", "-1", "9" * 30),
}


@pytest.mark.parametrize(
    "variable, value, allowed",
    [
        pytest.param(variable, value, allowed, marks=[pytest.mark.full] if number else [])
        for (variable, allowed), values in WRONG.items()
        for number, value in enumerate(values)
    ],
)
def test_other_values_of_settings(variable, value, allowed):
    subprocesses.run(
        f"""
        import cases, pytest, cudakern as ck
        native = cases.native("emulator")
        with pytest.raises(ValueError, match='the environment variable {variable} must be {allowed}.*not "{value}"'):
            native.empty((1,), "uint8", 0, 0)
            native.warm(1 << 23)
        """,
        **{variable: value},
    )
