"""Sets of kernels: loaded beside the package's own, and their kernels launched one by one on the same arrays."""

import ctypes
import gc
import re
import shutil

import numpy as np
import pytest

import cases
import cuda_api
import cudakern
import growth
import subprocesses
from cuda_api import PACKAGE
from failing import failures

N = 1000
PATIENCE = ctypes.c_ulonglong(20_000_000_000)  # ns: then a kernel that waits gives up, and the result is wrong
LAUNCH_FAILURE = 719


class Kernels:
    """A loaded set; a kernel's launch in one line."""

    def __init__(self, side, path):
        self.side, self.native = side, cases.native(side)
        self.set = self.native.load_set(str(path))

    def launch(self, kernel, *arguments, grid=1, block=1, shared=0, cooperative=False, measure=0, stream=0):
        """Launches, and does not wait unless it is measured. DeviceArrays go as their Views."""
        shape = [(n,) if isinstance(n, int) else n for n in (grid, block)]
        given = tuple(x._view if isinstance(x, cudakern.DeviceArray) else x for x in arguments)
        return self.native.launch(self.set, kernel, *shape, shared, cooperative, given, 0, measure, stream)


@pytest.fixture
def kernels(side):
    with cudakern.use_backend(side):
        yield Kernels(side, cuda_api.build(side, "set"))


def on_device(array):
    return cudakern.asarray(np.asarray(array))


def floats(n=N):
    return np.random.default_rng().random(n, np.float32)


# --- what is in a set ------------------------------------------------------------------------------------------------
def test_kernels_are_listed_with_their_parameters(kernels):
    listed = dict(kernels.set.kernels)
    assert list(listed) == [
        "add_one",
        "scale<float>",
        "scale<long long>",
        "all_values",
        "of_a_struct",
        "reversed",
        "grid_sums",
        "count_calls",
        "of_nothing",
        "any_pointers",
    ]
    pointer = ctypes.sizeof(ctypes.c_void_p)
    reads, writes, number = (
        ("reads", "float32", pointer, 4),
        ("writes", "float32", pointer, 4),
        ("value", "int32", 4, 0),
    )
    assert listed["add_one"] == (reads, writes, number)
    assert listed["scale<long long>"] == (("writes", "int64", pointer, 8), ("value", "int64", 8, 0), number)
    types = [np.dtype(x[1]).name if x[1] not in ("bfloat16", None) else x[1] for x in listed["all_values"][1:]]
    assert (
        len(set(types)) == 14
    )  # every type of arrays but complex ones, which have no name; long and long long are one
    assert listed["of_a_struct"][:2] == (("value", None, 16, 0), ("reads", None, pointer, 16))
    assert listed["of_nothing"] == ()
    assert listed["any_pointers"] == (
        ("reads", None, pointer, 0),
        ("writes", None, pointer, 0),
        ("reads", "int16", pointer, 2),
    )
    assert kernels.set.operations == ()
    assert kernels.set.path == str(cuda_api.build(kernels.side, "set"))


def test_the_packages_own_set(side):
    """Its tables are the variant table; loading it again gives the same."""
    native = cases.native(side)
    own = native.load_set(str(PACKAGE / "lib" / f"kernels_{side}.so"))
    assert own.operations == native.operations()
    assert own.kernels == ()


# --- launches --------------------------------------------------------------------------------------------------------
def test_a_kernel_runs(kernels):
    x, y = on_device(floats()), cudakern.zeros(N, "float32")
    kernels.launch("add_one", x, y, N - 1, grid=(N + 255) // 256, block=256)
    assert np.array_equal(y.get(), np.append(x.get()[:-1] + 1, np.float32(0)))


def test_a_template_is_named_with_its_arguments(kernels):
    x, n = on_device(floats()), on_device(np.arange(N))
    kernels.launch("scale<float>", x, np.float32(2.5), N, grid=N, block=1)
    kernels.launch("scale<long long>", n, -3, N, grid=(N,), block=(1, 1, 1))
    assert np.array_equal(n.get(), np.arange(N) * -3)
    given = floats()
    x = on_device(given)
    kernels.launch("scale<float>", x, 2.5, N, grid=N)
    assert np.array_equal(x.get(), given * np.float32(2.5))


SCALARS = [
    *[np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.int64, np.uint64],
    *[np.float16, None, np.float32, np.float64, np.complex64, np.complex128],
]


def test_values_of_every_type(kernels):
    """As NumPy's scalars; and Python's numbers where there are such."""
    out = cudakern.zeros(19, "float64")
    given = [1, -7, 200, -30000, 60000, -(2**31), 2**32 - 1, -(2**50), 2**51, -(2**52), 2**53, 0.5, None, 1.5, -2.25]
    given += [1 - 2j, 3 + 4j]
    bits = np.uint16(0xC040)  # bfloat16: -3
    scalars = [bits if kind is None else kind(x) for kind, x in zip(SCALARS, given, strict=True)]
    expected = [*given[:12], -3, *given[13:15], 1, -2, 3, 4]
    kernels.launch("all_values", out, *scalars)
    assert out.get().tolist() == expected
    python = [x if isinstance(x, (int, float)) and x != 0.5 else s for x, s in zip(given, scalars, strict=True)]
    out = cudakern.zeros(19, "float64")
    kernels.launch("all_values", out, *python)
    assert out.get().tolist() == expected


def test_structures(kernels):
    kind = np.dtype([("x", "f4"), ("n", "i4"), ("y", "f8")])
    points = np.array([(1.5, 2, 3.5), (4.5, -5, 6.5)], kind)
    raw = on_device(points.view(np.uint8))
    out = cudakern.zeros(6, "float64")
    kernels.launch("of_a_struct", points[0], raw, out)
    assert out.get().tolist() == [1.5, 2, 3.5, 4.5, -5, 6.5]
    kernels.launch("of_a_struct", points[1].tobytes(), raw, out)
    assert out.get().tolist() == [4.5, -5, 6.5] * 2


def test_pointers_to_any_type(kernels):
    to = cudakern.zeros(2, "int8")
    kernels.launch("any_pointers", on_device(np.uint8([65, 1])), to, on_device(np.int16([66])))
    assert to.get().tobytes() == b"AB"


@pytest.mark.parametrize("block", [64, 1024])
def test_dynamic_shared_memory(kernels, block):
    given = np.arange(3 * block, dtype=np.int32)
    x = on_device(given)
    for shared in (4 * block, 4 * block + 60 * 1024, 4 * block):  # the second must be asked for
        kernels.launch("reversed", x, grid=3, block=block, shared=shared)
        given = given.reshape(3, block)[:, ::-1].reshape(-1)
        assert np.array_equal(x.get(), given)


def test_blocks_that_wait_for_each_other(kernels):
    given, out = cudakern.zeros(64, "int32"), cudakern.zeros(64, "int32")
    kernels.launch("grid_sums", given, out, grid=64, block=1, cooperative=True)
    assert out.get().tolist() == [64 * 65 // 2] * 64


def test_no_parameters_and_empty_arrays(kernels):
    kernels.launch("of_nothing", grid=(2, 3, 4), block=(1, 2, 3))
    kernels.launch("add_one", cudakern.zeros(0, "float32"), cudakern.zeros(0, "float32"), 0)
    cudakern.synchronize()


# --- one array, kernels of several sets ------------------------------------------------------------------------------
def test_arrays_go_from_set_to_set(kernels):
    """The package's kernels, the set's, NumPy's values: one array, in the stream's order."""
    given = floats()
    x, y = on_device(given), cudakern.empty(N, "float32")
    expected = given
    for _ in range(20):
        kernels.launch("add_one", x, y, N, grid=8, block=128)
        cudakern.vector_add(y, x, out=x)
        expected = (expected + np.float32(1)) + expected
        kernels.launch("scale<float>", x, 0.5, N, grid=8, block=128)
        expected = expected * np.float32(0.5)
    assert np.array_equal(x.get(), expected)
    assert cudakern.sum_of_squares(x).get() == pytest.approx((expected.astype(float) ** 2).sum())


@pytest.fixture
def gate(side):
    """A way to hold a stream up, and to let it go on."""
    library = cuda_api.load(side, "streams")
    flag = ctypes.c_void_p(library.value("api_malloc_host", ctypes.c_void_p, ctypes.c_size_t(4)))
    seen, cell = library.buffer(np.zeros(1, np.int32)), ctypes.c_int.from_address(flag.value)

    def hold(stream):
        cell.value = 0
        library.start("run_wait_for_flag", flag, seen, PATIENCE, stream=ctypes.c_void_p(stream))

    def let_go():
        cell.value = 1

    yield hold, let_go
    let_go()
    cases.native(side).synchronize(0)
    library.check("api_free_host", flag)


@pytest.fixture
def streams(side):
    native = cases.native(side)
    made = [native.stream_create(0, 0) for _ in range(2)]
    yield made
    for stream in made:
        native.stream_destroy(0, stream)


def test_what_a_kernel_writes_comes_after_uses_and_before_others(kernels, gate, streams):
    """A pointer that is not to const: as the result of an operation."""
    (hold, let_go), (first, second) = gate, streams
    x, y = cudakern.zeros(N, "float32"), cudakern.zeros(N, "float32")
    cudakern.synchronize()
    hold(first)
    kernels.launch("add_one", x, y, N, grid=N, stream=first)
    kernels.launch("scale<float>", y, 3.0, N, grid=N, stream=second)  # after the write
    total = cudakern.vector_add(y, y)  # in the default stream, after both
    assert not kernels.native.stream_done(0, second)
    let_go()
    assert total.get().tolist() == [6.0] * N


def test_a_pointer_to_const_only_reads(kernels, gate, streams):
    """Reads do not wait for reads; a write waits for them."""
    (hold, let_go), (first, second) = gate, streams
    x, y, z = (on_device(np.full(N, k, np.float32)) for k in (1, 0, 0))
    cudakern.synchronize()
    hold(first)
    kernels.launch("add_one", x, y, N, grid=N, stream=first)
    kernels.launch("add_one", x, z, N, grid=N, stream=second)
    kernels.native.stream_synchronize(0, second)  # although the first one is held up
    assert not kernels.native.stream_done(0, first)
    kernels.launch("scale<float>", x, 7.0, N, grid=N, stream=second)
    assert not kernels.native.stream_done(0, second)
    let_go()
    assert (x.get()[0], y.get()[0], z.get()[0]) == (7, 2, 2)


def test_memory_stays_until_the_kernel_is_done(kernels, gate, streams):
    (hold, let_go), (first, _) = gate, streams
    gc.collect()
    used = kernels.native.pool_used(0)
    x, y = on_device(np.ones(N, np.float32)), cudakern.zeros(N, "float32")
    cudakern.synchronize()
    hold(first)
    kernels.launch("add_one", x, y, N, grid=N, stream=first)
    del x
    others = [on_device(np.full(N, 5, np.float32)) for _ in range(4)]
    let_go()
    assert y.get().tolist() == [2.0] * N
    del y, others
    gc.collect()
    kernels.native.synchronize(0)
    assert kernels.native.pool_used(0) == used


# --- measured --------------------------------------------------------------------------------------------------------
def test_a_measured_launch(kernels):
    x, y = on_device(floats()), cudakern.zeros(N, "float32")
    report = kernels.launch("add_one", x, y, N, grid=(4, 1), block=256, shared=16, measure=1)
    assert report["kernel_ns"] > 0
    assert report["whole_ns"] > 0
    assert (report["grid"], report["block"], report["shared_bytes"]) == ((4, 1, 1), (256, 1, 1), 16)
    assert report["launches"] == ()
    report = kernels.launch("scale<float>", y, 2.0, N, grid=4, block=256, measure=2)
    ((name, time),) = report["launches"]
    assert name == "scale<float>"
    assert time > 0
    assert np.array_equal(y.get(), (x.get() + 1) * 2)


# --- what is refused -------------------------------------------------------------------------------------------------
def test_arguments_that_do_not_fit(kernels):
    x, y, wide = cudakern.zeros(N, "float32"), cudakern.zeros(N, "float32"), cudakern.zeros(N, "float64")
    strided = cudakern.zeros(2 * N, "float32")[::2]

    def refused(kind, words, *arguments, kernel="add_one", **shape):
        with pytest.raises(kind, match=words):
            kernels.launch(kernel, *arguments, **shape)

    refused(TypeError, "add_one has 3 parameters and needs a tuple of as many arguments", x, y)
    refused(TypeError, "argument 2 is an array of float64, but the parameter is a pointer to float32", x, wide, N)
    refused(TypeError, "argument 1 .*View", np.zeros(N, np.float32), y, N)
    refused(TypeError, "argument 3 is 1.5, but the parameter is a value of int32, 4 bytes long", x, y, 1.5)
    refused(TypeError, "argument 3 is 2147483648, ", x, y, 2**31)
    refused(TypeError, "argument 3 is .*1000.*, but the parameter is a value of int32", x, y, np.float32(1000))
    refused(TypeError, "argument 3 is .*1000.*, but the parameter is a value of int32", x, y, np.int64(1000))
    refused(TypeError, "argument 3 is 'n'", x, y, "n")
    refused(TypeError, "argument 3 is None", x, y, None)
    refused(TypeError, "argument 2 is '1'", x, "1", 1, kernel="scale<float>")
    refused(ValueError, "argument 1 is not contiguous in C order", strided, y, N)
    refused(ValueError, "argument 2 is read-only", x, read_only(y), N)
    refused(ValueError, "has no kernel 'add_two'. Available: add_one, scale<float>, ", kernel="add_two")
    refused(ValueError, "grid must be one to three integers of at least 1, not ", x, y, N, grid=0)
    refused(ValueError, "block must be one to three integers", x, y, N, block=(1, -1))
    refused(ValueError, "grid", x, y, N, grid=(1, 1, 1, 1))
    refused(ValueError, "shared must be a number of bytes of at least 0, not -1", x, y, N, shared=-1)
    with pytest.raises(TypeError, match="set must be a Set of cudakern._"):
        kernels.native.launch("set", "add_one", (1,), (1,), 0, False, (), 0, 0, 0)


def read_only(array):
    native, view = array._native, array._view
    return native.adopt(array, view.pointer, view.shape, None, view.dtype, 0, True)


def test_a_launch_that_the_device_refuses_names_the_kernel(kernels):
    x, y = cudakern.zeros(N, "float32"), cudakern.zeros(N, "float32")
    with pytest.raises(cudakern.CudaError, match=re.escape("add_one<<<(1,1,1),(2048,1,1),0>>>")):
        kernels.launch("add_one", x, y, N, block=2048)
    kernels.launch("add_one", x, y, N, grid=N)
    assert y.get()[0] == 1


def test_arrays_of_the_other_side(kernels):
    other = "cuda" if kernels.side == "emulator" else "emulator"
    if other not in cases.BACKENDS:
        pytest.skip("there is one side here")
    with cudakern.use_backend(other):
        x = cudakern.zeros(N, "float32")
    with pytest.raises(TypeError, match="argument 1"):
        kernels.launch("add_one", x, x, N)


def test_arrays_of_another_device():
    """Two emulated devices."""
    code = """
        import cuda_api, cudakern
        from cudakern import _emulator
        kernels = _emulator.load_set(str(cuda_api.build("emulator", "set")))
        with cudakern.use_backend("emulator"):
            with cudakern.device(1):
                x = cudakern.zeros(10, "float32")
        try:
            _emulator.launch(kernels, "add_one", (1,), (16,), 0, False, (x._view, x._view, 10), 0, 0, 0)
        except ValueError as error:
            assert str(error) == "argument 1 is on device 1, but the launch is on device 0; copy it there first", error
        else:
            raise AssertionError
        _emulator.launch(kernels, "add_one", (1,), (16,), 0, False, (x._view, x._view, 10), 1, 0, 0)
        assert x.get().tolist() == [1.0] * 10
    """
    subprocesses.run(code, CUDAKERN_EMULATOR_DEVICES="2")


def test_files_that_are_no_sets(side, tmp_path):
    native = cases.native(side)
    text = tmp_path / "text.so"
    text.write_text("no library")
    for path, words in [
        (tmp_path / "missing.so", "the set of kernels cannot be loaded: .*missing.so"),
        (text, "the set of kernels cannot be loaded: .*text.so"),
        (cuda_api.build(side, "handles"), "is not a set of kernels: it does not export cudakern_set"),
        (
            cuda_api.build(side, "set_other_version"),
            r"was built for version \d+ of the kernel interface, but this is",
        ),
        (cuda_api.build(side, "set_other_backend"), f"was built for the backend another, but this is {side}"),
    ]:
        with pytest.raises(ValueError, match=words):
            native.load_set(str(path))
    with pytest.raises(TypeError, match="path"):
        native.load_set(5)


# --- many sets, faults, leaks ----------------------------------------------------------------------------------------
def test_sets_side_by_side(kernels, tmp_path):
    """Copies of one file are sets of their own, with variables of their own; the same file is the same set."""
    paths = [shutil.copy(cuda_api.build(kernels.side, "set"), tmp_path / f"set_{i}.so") for i in range(12)]
    sets = [Kernels(kernels.side, path) for path in paths]
    out = cudakern.zeros(1, "int32")
    for round_ in range(3):
        for at, one in enumerate(sets):
            for _ in range(at):
                one.launch("count_calls", out)
        for at, path in enumerate(paths):
            Kernels(kernels.side, path).launch("count_calls", out)
            assert out.get()[0] == round_ * (at + 1) + at


@pytest.mark.parametrize("measure", [0, 2])
def test_whichever_call_fails(kernels, measure):
    x, y = on_device(np.ones(N, np.float32)), cudakern.zeros(N, "float32")

    def run():
        kernels.launch("add_one", x, y, N, grid=N, measure=measure)

    run()
    kernels.native.synchronize(0)
    used = kernels.native.pool_used(0)
    for n, error in failures(kernels.side, run, 1, more_than=2):
        assert "cudaErrorInvalidValue" in str(error), n
        assert kernels.native.pool_used(0) == used, n
    assert y.get().tolist() == [2.0] * N


@pytest.mark.parametrize("side", ["emulator"])
def test_a_late_error_names_the_kernel(kernels, streams):
    """A broken kernel before it in the stream: who waits hears of both."""
    x, y = cudakern.zeros(N, "float32"), cudakern.zeros(N, "float32")
    cudakern.synchronize()
    broken = cuda_api.load("emulator", "broken")
    scratch = broken.buffer(np.zeros(1024, np.int32))
    broken.start("run_half_skips", scratch, block=64, stream=ctypes.c_void_p(streams[0]))
    kernels.launch("add_one", x, y, N, grid=(4, 2), block=64, stream=streams[0])
    with pytest.raises(cudakern.CudaError) as caught:
        kernels.native.stream_synchronize(0, streams[0])
    assert caught.value.code == LAUNCH_FAILURE
    assert "half_skips" in str(caught.value)
    assert "add_one<<<(4,2,1),(64,1,1),0>>>" in str(caught.value)


def test_nothing_is_left(kernels):
    x, y = on_device(np.ones(N, np.float32)), cudakern.zeros(N, "float32")
    path = str(cuda_api.build(kernels.side, "set"))

    def call():
        kernels.native.load_set(path)
        kernels.launch("add_one", x, y, N, grid=8, block=128)
        kernels.launch("scale<float>", y, np.float32(1), N, grid=8, block=128, measure=1)
        with pytest.raises(TypeError):
            kernels.launch("add_one", x, y, "n")

    growth.grows_by_less(kernels.side, call, 400, blocks=100, in_c=16 * 400)  # one object in four rounds would show
