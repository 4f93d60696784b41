"""The runtime under faults: every guarded call fails once, memory runs out, signals, threads and forks come between."""

import functools
import gc
import inspect
import os
import platform
import sys
import threading
import time

import numpy as np
import pytest

import cudakern
import subprocesses
from cases import (
    BACKENDS,
    inputs_for,
    label,
    main_type,
    native,
    needs_no_out,
    numbers,
    outputs_for,
    small_shape,
    variants,
)
from cudakern.operations.registry import registry
from failing import failures
from growth import grows_by_less

RUNS = [(operation, name, variant) for operation in registry() for name, variant in variants(operation, host=False)]
FIRST = {operation: variant for operation, _, variant in reversed(RUNS)}  # each operation's first kernel
every_run = pytest.mark.parametrize("operation, name, variant", RUNS, ids=label)
every_backend = pytest.mark.parametrize("name", BACKENDS)
INVALID_VALUE, OUT_OF_MEMORY, LAUNCH_FAILURE = 1, 2, 719
full = pytest.mark.full


def arguments(variant):
    return inputs_for(variant.operation, main_type(variant), small_shape(variant.operation))


def execute(name, variant, given, measure=False):
    """Past Python, so that every fault meets the call itself."""
    outputs = outputs_for(variant, given)
    native(name).execute(variant.operation, variant.name, variant.values({}), given, outputs, 0, measure, 0)
    return outputs


def to_device(name, x):
    """A View of new memory with an array's values, in C order."""
    view = native(name).empty(x.shape, x.dtype.name, 0, 0)
    native(name).upload(view, np.array(x, order="C"), 0)
    return view


def to_host(name, view):
    out = np.empty(view.shape, view.dtype)
    native(name).download(out, view, 0)
    return out


def between(name, x):
    """A View of the same values with gaps between them, so that no variant can take it as it is without strides."""
    apart = np.zeros([2 * n for n in x.shape], x.dtype)
    apart[tuple(slice(None, None, 2) for _ in x.shape)] = x
    view = to_device(name, apart)
    return native(name).view(view, 0, x.shape, tuple(2 * step for step in view.strides), view.dtype)


@pytest.mark.parametrize(
    "code", [pytest.param(INVALID_VALUE, marks=full), OUT_OF_MEMORY, pytest.param(LAUNCH_FAILURE, marks=full)]
)
@pytest.mark.shared
@every_run
def test_every_guarded_call_may_fail(operation, name, variant, code, fault):
    """The right exception; nothing stays allocated, nothing is overwritten, and the next call is right."""
    gc.collect()  # views of other tests, kept by their exceptions, would go back in the middle of this one
    given = arguments(variant)
    before = [x.tobytes() for x in given]
    for _ in range(3):  # streams, pools and events are made by the first ones
        expected = execute(name, variant, given)
    used = native(name).pool_used(0)
    call = functools.partial(execute, name, variant, given)
    for n, error in failures(name, call, code, more_than=5):  # copies each way, memory, launch, waiting
        is_the_fault(error, n, code)
        assert (n, native(name).pool_used(0)) == (n, used)
        assert [x.tobytes() for x in given] == before
        for result, want in zip(execute(name, variant, given), expected, strict=True):
            assert np.allclose(result, want, rtol=1e-5), n


def is_the_fault(error, n, code):
    assert (n, error.code) == (n, code)
    assert error.name in str(error)
    assert error.name.startswith("cudaError")
    assert isinstance(error, MemoryError) == (code == OUT_OF_MEMORY)


@pytest.mark.parametrize(
    "place, own_stream, measure",
    [
        (to_device, False, False),
        pytest.param(between, False, True, marks=full),
        pytest.param(to_device, True, True, marks=full),
        (between, True, False),
    ],
    ids=["plain", "gaps-measured", "plain-stream-measured", "gaps-stream"],
)
@pytest.mark.shared
@every_run
def test_every_guarded_call_on_device_arrays_may_fail(operation, name, variant, own_stream, place, measure, fault):
    """The same where arrays are on the device: with gaps some variants need copies, which are given back too."""
    gc.collect()
    module, code = native(name), LAUNCH_FAILURE
    stream = module.stream_create(0, 0) if own_stream else 0
    given = arguments(variant)
    expected = execute(name, variant, given)
    inputs = tuple(place(name, x) for x in given)
    outputs = tuple(place(name, np.full_like(x, 7)) for x in expected)

    def call():
        module.execute(operation, variant.name, variant.values({}), inputs, outputs, 0, measure, stream)

    def holds():
        module.stream_synchronize(0, stream)
        for x, view in zip(given, inputs, strict=True):
            assert np.array_equal(to_host(name, view), x)

    call()
    used = module.pool_used(0)
    for n, error in failures(name, call, code, more_than=2):  # the device asked for, a launch
        is_the_fault(error, n, code)
        assert (n, module.pool_used(0)) == (n, used)
        holds()
        call()
        holds()
        for view, want in zip(outputs, expected, strict=True):
            assert np.allclose(to_host(name, view), want, rtol=1e-5), n
    if own_stream:
        module.stream_destroy(0, stream)


@every_backend
def test_faults_while_a_device_is_chosen(name, fault):
    """Through the public function: still a CudaError, which names what failed."""

    def call():
        return cudakern.sum_of_squares([1, 2, 3], variant="atomic")

    with cudakern.use_backend(name):
        call()  # a first one has more to ask
        for _, error in failures(name, call, LAUNCH_FAILURE, more_than=5):
            assert "cudaErrorLaunchFailure" in str(error)
            assert call() == 14


@every_backend
def test_a_fault_past_the_last_call_does_nothing(name, fault):
    with cudakern.use_backend(name):
        fault(name, 100000, OUT_OF_MEMORY)
        assert cudakern.sum_of_squares([1, 2, 3], variant="multi_block") == 14
    assert native(name).fault_count() < 100000


@every_backend
def test_faults_of_a_first_call(name):
    """A module imported anew has no pool and no streams yet: they are made then, and each of those calls may fail."""
    subprocesses.run(
        """
        import gc, importlib, os, sys
        import numpy as np
        import cudakern
        name = "cudakern._" + os.environ["NAME"]
        x, out = np.arange(1000, dtype="int32"), np.zeros((), "int64")
        def compute(module):
            out[()] = -1
            module.execute("sum_of_squares", "multi_block", (64, 8), (x,), (out,), 0, False, 0)
            return int(out)
        for n in range(1, 200):
            sys.modules.pop(name, None)
            module = importlib.import_module(name)
            module.inject_fault(n, 2)
            try:
                assert compute(module) == 332833500
                done = True
                assert module.fault_count() < n, "the fault was swallowed"
            except cudakern.CudaError as error:
                done = False
                assert "cudaErrorMemoryAllocation" in str(error)
            module.inject_fault(0, 2)
            assert compute(module) == 332833500
            assert module.pool_used(0) == 0
            if done:
                break
        assert n > 15, n
    """,
        NAME=name,
    )


@pytest.mark.parametrize(
    "operation, name, variant",
    [run if run[2] == FIRST[run[0]] else pytest.param(*run, marks=full) for run in RUNS],
    ids=label,
)
def test_nothing_is_kept(operation, name, variant):
    """No reference, no device memory and no Python object outlives a call, a failed one neither."""
    given = inputs_for(operation, main_type(variant), registry()[operation].square(9))
    wrong = tuple(x.astype("longdouble") for x in given)  # which no variant of ours takes
    out, *others = outputs_for(variant, given)
    call = registry()[operation].call
    takes_out = "out" in inspect.signature(call).parameters
    with cudakern.use_backend(name):

        def all_ways():
            if needs_no_out(variant):
                call(*given, variant=variant.name)
            if takes_out:
                call(*given, out=out, variant=variant.name)
            native(name).execute(operation, variant.name, variant.values({}), given, (out, *others), 0, True, 0)
            with pytest.raises(TypeError):
                call(*wrong, variant=variant.name)

        native(name).trim(0)  # numbers that other tests' calls have left on the device
        for _ in range(3):
            all_ways()
        gc.collect()
        references = [sys.getrefcount(x) for x in (*given, out)]
        assert native(name).pool_used(0) == 0
        grows_by_less(name, all_ways, 100, blocks=25, in_c=16 * 100)  # one object in four rounds would show
        after = [sys.getrefcount(x) for x in (*given, out)]
        assert after == references
        assert native(name).pool_used(0) == 0


@every_backend
def test_failed_calls_keep_no_host_memory(name, fault):
    """256,000 partial sums are a megabyte on the host: a call that failed and kept them would show."""
    x, out = numbers(5000, "float32"), np.zeros((), "float32")

    def all_faults():
        n, done = 0, False
        while not done:
            n += 1
            fault(name, n, LAUNCH_FAILURE)
            try:
                native(name).execute("sum_of_squares", "multi_block", (256, 1000), (x,), (out,), 0, True, 0)
                done = True
            except cudakern.CudaError:
                pass
            fault(name, 0, LAUNCH_FAILURE)
        native(name).trim(0)
        gc.collect()
        return n

    assert all_faults() > 10
    grows_by_less(name, all_faults, 1, blocks=100, in_c=4_000_000)  # ten calls fail after they took that megabyte


@every_backend
def test_functions_without_a_call_keep_nothing(name):
    module = native(name)
    shapes, types = ((4, 5), (5, 6)), ("float32", "float32")

    def all_of_them():
        module.operations()
        module.device_properties(0)
        module.error_depth("matmul", "tiled", (), types, shapes)
        module.work("matmul", shapes, "float32")
        module.choose_device(), module.current_device(), module.device_count(), module.why_not()
        with pytest.raises(ValueError, match="nothing"):
            module.work("nothing", shapes, "float32")

    for _ in range(3):
        all_of_them()
    grows_by_less(name, all_of_them, 400, blocks=100, in_c=16 * 400)


@every_backend
def test_trim_gives_pooled_memory_back(name):
    with cudakern.use_backend(name):
        x = np.ones(3_000_000, "float32")
        cudakern.sum_of_squares(x, variant="warp_shuffle")
        native(name).trim(0)
        free = native(name).device_properties(0)["memory_free"]
        cudakern.sum_of_squares(x, variant="warp_shuffle")
        native(name).trim(0)
        if name == "emulator":  # a GPU's memory is not ours alone
            assert native(name).device_properties(0)["memory_free"] == free
        assert native(name).pool_used(0) == 0


@every_backend
def test_a_device_that_is_not_there(name):
    x, out = np.ones(3, "float32"), np.zeros((), "float32")
    for device in (-1, native(name).device_count(), 1000):
        with pytest.raises((ValueError, cudakern.CudaError), match=str(device)):
            native(name).execute("sum_of_squares", "single_thread", (), (x,), (out,), device, False, 0)
        with pytest.raises((ValueError, cudakern.CudaError)):
            native(name).device_properties(device)


@every_backend
@pytest.mark.parametrize("bad", ["swapped", "two_inputs", "no_buffer"])
def test_buffers_that_the_c_module_does_not_take(name, bad):
    """Python copies such arrays before; the module itself refuses, and holds nothing."""
    x, out = np.ones(8, "float32"), np.zeros((), "float32")
    inputs = {
        "swapped": (x.astype(x.dtype.newbyteorder("S")),),
        "two_inputs": (x, x),
        "no_buffer": ([1.0, 2.0],),
    }[bad]
    count = sys.getrefcount(inputs[0])
    with pytest.raises((TypeError, ValueError, BufferError)):
        native(name).execute("sum_of_squares", "coalesced", (256,), inputs, (out,), 0, False, 0)
    after = sys.getrefcount(inputs[0])
    assert after == count


# --- threads ---------------------------------------------------------------------------------------------------------
@every_backend
def test_many_threads_at_once(name):
    """Each thread has its own backend, arrays and streams, and gets its own results."""
    all_variants = [variant for operation, _, variant in RUNS if operation == "sum_of_squares"]
    some = [variant for i, variant in enumerate(all_variants) if i % 3 == 0 or variant.cooperative]
    failures, right = [], []

    def work(seed):
        with cudakern.use_backend(name):
            for i in range(2):
                x = numbers(900 + 37 * seed, "int64", seed + i)
                for variant in some:
                    with np.errstate(over="ignore"):
                        result = cudakern.sum_of_squares(x, variant=variant.name)
                        (right if result == np.dot(x, x) else failures).append((seed, variant.name))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(right) == 12 * 2 * len(some)
    assert native(name).pool_used(0) == 0


def test_use_backend_holds_for_its_own_thread_only():
    seen = {}
    outside = cudakern.backend().why

    def other():
        seen["other"] = cudakern.backend().why

    with cudakern.use_backend("emulator"):
        seen["inside"] = cudakern.backend().why
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert "use_backend" in seen["inside"]
    assert seen["other"] == outside == cudakern.backend().why


def test_other_threads_run_while_a_kernel_does():
    a = numbers((260, 260), "float32")
    seen = False
    for _ in range(10):  # a busy machine may leave this thread aside for the length of a kernel, not of ten
        span, ticks = [], []

        def work(span=span):
            with cudakern.use_backend("emulator"):
                span.append(time.perf_counter())
                cudakern.matmul(a, a, variant="kahan")
                span.append(time.perf_counter())

        thread = threading.Thread(target=work)
        thread.start()
        while thread.is_alive():
            ticks.append(time.perf_counter())
            time.sleep(0.001)
        thread.join()
        first, last = span
        if any(first + 0.1 * (last - first) < tick < last - 0.1 * (last - first) for tick in ticks):
            seen = True
            break
    assert seen


# --- processes and signals -------------------------------------------------------------------------------------------
def test_ctrl_c_ends_a_long_kernel():
    """KeyboardInterrupt comes while the kernel runs, and the library goes on working."""
    process = subprocesses.start("""
        import signal
        import numpy as np, cudakern
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs start with it ignored
        a = np.ones((3000, 3000), "float32")
        with cudakern.use_backend("emulator"):
            cudakern.matmul(a[:8, :8], a[:8, :8], variant="tiled")
            try:
                print("started", flush=True)
                cudakern.matmul(a, a, variant="tiled")
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            print(cudakern.matmul(a[:8, :8], a[:8, :8], variant="tiled")[0, 0], flush=True)
            from cases import native
            print(native("emulator").pool_used(0))
    """)
    assert process.stdout.readline().strip() == "started"
    subprocesses.interrupt(process)
    output, errors = process.communicate(timeout=60)  # the whole product would take minutes
    assert output.split() == ["interrupted", "8.0", "0"], errors
    assert process.returncode == 0


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer itself ends without memory")
@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize("megabytes", [1, 24, *(pytest.param(x, marks=pytest.mark.full) for x in (8, 64))])
def test_a_shortage_of_address_space_is_one_error(warm, megabytes):
    """ulimit -v: whatever it strikes, a MemoryError; of ours one with words. The process lives on, and a call that
    needs little succeeds when the limit is gone."""
    said = subprocesses.run(
        f"""
        import random, resource
        import numpy as np, cudakern as ck
        WARM, LIMIT = {warm}, {megabytes} << 20
        """
        """
        x, small = np.ones(100_000, "float32"), np.ones(1000, "float32")
        def streams():
            kept = [ck.Stream() for _ in range(100)]
            d = ck.zeros(1000, "float32")
            return [ck.vector_add(d, d, stream=s, variant="naive").get(stream=s) for s in kept]
        CALLS = [
            lambda: ck.zeros(256 << 20, "uint8"),
            lambda: ck.zeros(1 << 20, "uint8"),
            lambda: ck.empty_pinned(256 << 20, "uint8"),
            streams,
            lambda: ck.sum_of_squares(x, variant="tree_sequential"),
            lambda: ck.sum_of_squares(x, variant="cooperative"),
            lambda: ck.lookup_2d(np.ones((9, 9), "f4"), small, small, variant="texture"),
            lambda: [ck.Event() for _ in range(5000)] and None,
            lambda: ck.synchronize(),
        ]
        with ck.use_backend("emulator"):
            if WARM:
                ck.sum_of_squares(x, variant="tree_sequential")
            used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
            before = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (used + LIMIT, before[1]))
            short = 0
            for call in CALLS:
                try:
                    call()
                except MemoryError as error:  # OutOfMemoryError is one
                    short += 1
                    assert not isinstance(error, ck.CudaError) or "memory" in str(error), error
                    del error
            resource.setrlimit(resource.RLIMIT_AS, before)
            assert ck.sum_of_squares(x, variant="tree_sequential") == x.size
            print("short", short)
    """,
        CUDAKERN_EMULATOR_MEMORY="2G",
    )
    assert int(said.split()[-1]) >= 2


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer itself ends without memory")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the C library places static shared memory")
def test_no_memory_for_static_shared_memory():
    """The C library would end the process: a thread's copy of all static shared variables of the package is 1.7 MB."""
    said = subprocesses.run(
        """
        import resource
        import numpy as np, cudakern as ck
        program = ck.compile("__global__ void waits(int *x) { x[threadIdx.x] = __syncthreads_count(1); }")
        program.waits[8, 1024](ck.zeros(1024, "int32"))  # so threads and stacks are there
        ck.synchronize()
        x, a = ck.asarray(np.ones(2000, "float32")), ck.asarray(np.ones((32, 32), "float32"))
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        short = 0
        for most in range(used + (1 << 19), used + (20 << 20), 1 << 19):
            resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
            try:
                ck.matmul(a, a).get()
                assert ck.sum_of_squares(x, variant="tree_sequential").get() == 2000
                print("short", short)
                break
            except MemoryError as error:
                assert "memory" in str(error), error
                short += 1
    """,
        CUDAKERN_BACKEND="emulator",
        CUDAKERN_EMULATOR_WORKERS="2",
        MALLOC_ARENA_MAX="1",
        MALLOC_MMAP_THRESHOLD_="65536",
    )
    assert int(said.split()[-1]) >= 2


def test_small_memory_runs_out():
    subprocesses.run(
        """
        import numpy as np, pytest, cudakern
        from cases import native
        with cudakern.use_backend("emulator"):
            assert cudakern.backend().properties["memory_bytes"] == 16 << 20
            x = np.ones(8 << 20, "float32")
            for _ in range(3):
                with pytest.raises(cudakern.OutOfMemoryError) as caught:
                    cudakern.vector_add(x, x, variant="naive")
                error = caught.value
                assert isinstance(error, MemoryError) and isinstance(error, cudakern.CudaError)
                assert (error.name, error.code, error.bytes) == ("cudaErrorMemoryAllocation", 2, 32 << 20)
                assert 0 < error.bytes_free <= 16 << 20
                assert "32.0 MiB requested, " in str(error) and str(error).count("MiB") >= 4
                assert native("emulator").pool_used(0) == 0
            with pytest.raises(cudakern.OutOfMemoryError):  # one operand fits, all do not
                cudakern.saxpy(2, x[:2_000_000], x[:2_000_000], variant="naive")
            assert native("emulator").pool_used(0) == 0
            assert cudakern.sum_of_squares(x[:3_000_000], variant="coalesced") == 3_000_000
            # what the pool keeps from one size does not stand in the way of another
            for n in (3_000_000, 1_000_000, 2_000_000, 3_500_000):
                assert cudakern.sum_of_squares(x[:n], variant="warp_shuffle") == n
    """,
        CUDAKERN_EMULATOR_MEMORY="16M",
    )


def test_several_emulated_devices():
    subprocesses.run(
        """
        import numpy as np, pytest, cudakern
        from cases import native
        module = native("emulator")
        assert module.device_count() == 3
        x = np.arange(1000, dtype="int64")
        for device in range(3):
            out = np.zeros((), "int64")
            module.execute("sum_of_squares", "multi_block", (64, 8), (x,), (out,), device, False, 0)
            assert out == np.dot(x, x)
            assert module.pool_used(device) == 0
        assert module.current_device() == 0
        view = module.empty((1000,), "int64", 1, 0)
        module.upload(view, x, 0)
        totals = [module.empty((), "int64", device, 0) for device in range(2)]
        module.execute("sum_of_squares", "multi_block", (64, 8), (view,), (totals[1],), 1, False, 0)
        module.download(out, totals[1], 0)
        assert out == np.dot(x, x)
        for total, device in ((totals[0], 0), (totals[0], 1), (totals[1], 0), (totals[1], 2)):
            with pytest.raises(ValueError, match=f"device {device}"):
                module.execute("sum_of_squares", "multi_block", (64, 8), (view,), (total,), device, False, 0)
        assert module.current_device() == 0
        assert len({module.device_properties(d)["pci_bus_id"] for d in range(3)}) == 3
    """,
        CUDAKERN_EMULATOR_DEVICES="3",
    )


def test_no_device_at_all():
    subprocesses.run(
        """
        import pytest, cudakern
        with pytest.raises(cudakern.CudaError, match="There is no device.*CUDAKERN_EMULATOR_DEVICES"):
            with cudakern.use_backend("emulator"):
                cudakern.sum_of_squares([1, 2], variant="coalesced")
        assert cudakern.sum_of_squares([1, 2], variant="numpy") == 5
    """,
        CUDAKERN_EMULATOR_DEVICES="0",
    )


def test_allocation_failures_on_request():
    cudakern.emulator.configure(fail_allocation=1)
    try:
        with cudakern.use_backend("emulator"):
            native("emulator").trim(0)
            with pytest.raises(cudakern.OutOfMemoryError):
                cudakern.sum_of_squares(np.ones(2_000_000, "float32"), variant="coalesced")
            assert cudakern.sum_of_squares(np.ones(10, "float32"), variant="coalesced") == 10
    finally:
        cudakern.emulator.configure(fail_allocation=0)
