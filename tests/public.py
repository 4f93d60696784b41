"""Every public function and method, as calls on small input: what test_faults.py and test_leaks.py run.

A line makes its input and gives (call, kept): `call()` is what is tested, and returns something or None; `kept` are
arrays that the call only reads. `WITHOUT` names what needs no call of its own, and why. To add a public name, add a
line; an operation has its lines by being in the table. A name on a line is no call yet: test_faults.py sees to it that
the call runs what the line names.
"""

import copy
import inspect
import operator
from pathlib import Path

import numpy as np

import cudakern as ck
from cudakern.operations.registry import registry

CALLS = {}


def line(*names):
    def add(make):
        for name in names:
            CALLS.setdefault(name, []).append(make)
        return make

    return add


def host(shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).integers(1, 9, shape).astype(dtype)


def on_device(shape, dtype="float32", seed=0):
    return ck.asarray(host(shape, dtype, seed))


# --- operations ------------------------------------------------------------------------------------------------------
@line("matmul")
def matmul_of_host_arrays():
    a, b = host((5, 7)), host((7, 6), seed=1)
    return lambda: ck.matmul(a, b, variant="tiled"), (a, b)


@line("matmul")
def matmul_of_stacks():
    a, b = host((3, 5, 7)), host((7, 6), seed=1).T.copy().T
    return lambda: ck.matmul(a, b, variant="naive"), (a, b)


@line("matmul")
def matmul_that_pads():
    a, b = host((5, 7)), host((7, 6), seed=1)
    return lambda: ck.matmul(a, b, variant="tiled_padded"), (a, b)


@line("matmul")
def matmul_on_the_device():
    a, b = on_device((5, 7)), on_device((7, 6), seed=1)
    return lambda: ck.matmul(a, b), (a, b)


@line("matmul")
def matmul_on_the_device_into_a_strided_out():
    a, b, out = on_device((5, 7)), on_device((7, 6), seed=1), ck.zeros((6, 10), "float32")
    return lambda: ck.matmul(a, b, out=out[:, ::2].T), (a, b)


@line("matmul")
def matmul_on_the_device_that_packs():
    a, b = on_device((5, 7)), on_device((7, 6), seed=1)
    return lambda: ck.matmul(a, b, variant="tiled_padded"), (a, b)


@line("matmul")
def matmul_of_two_types():
    a, b = on_device((5, 7), "int16"), on_device((7, 6), "float64", seed=1)
    return lambda: ck.matmul(a, b), (a, b)


@line("matmul")
def matmul_over_itself():
    a = on_device((6, 6))

    def call():
        b = a.copy()
        return ck.matmul(b, a, out=b)

    return call, (a,)


@line("sum_of_squares")
def sum_of_host_arrays():
    x = host((50, 3), "int16")
    return lambda: ck.sum_of_squares(x.astype("int32"), variant="multi_block"), (x,)


@line("sum_of_squares")
def sum_on_the_device():
    x = on_device(60_000)
    return lambda: ck.sum_of_squares(x), (x,)


@line("sum_of_squares")
def sum_of_a_strided_array():
    x = on_device((40, 9), "int64")
    return lambda: ck.sum_of_squares(x[::2, 1:], variant="tree_sequential"), (x,)


# --- every other operation, by its own input: on the host, on the device, and from strided arrays there ---------------
def small_inputs(what):
    variant = next(
        variant for variant in ck.variants(what.name) if not variant.on_host and "emulator" in variant.backends
    )
    shape = next(shape for shape in what.ragged if 1 < np.prod(shape) < 2000)
    return variant, what.make(shape, np.dtype(what.default_dtype), 0)


def of_host_arrays(what):
    def make():
        variant, inputs = small_inputs(what)
        return lambda: what.call(*inputs, variant=variant.name), inputs

    make.__name__ = f"{what.name}_of_host_arrays"
    return make


def of_device_arrays(what):
    def make():
        _, inputs = small_inputs(what)
        arrays = tuple(map(ck.asarray, inputs))
        return lambda: what.call(*arrays), arrays

    make.__name__ = f"{what.name}_of_device_arrays"
    return make


def of_strided_device_arrays(what):
    def make():
        variant, inputs = small_inputs(what)
        arrays = tuple(ck.asarray(np.repeat(x, 2, -1) if x.ndim else x) for x in inputs)
        return lambda: what.call(*(x[..., ::2] if x.ndim else x for x in arrays), variant=variant.name), arrays

    make.__name__ = f"{what.name}_of_strided_device_arrays"
    return make


for _what in registry().values():
    if _what.name not in CALLS:
        CALLS[_what.name] = [of_host_arrays(_what), of_device_arrays(_what), of_strided_device_arrays(_what)]


@line("saxpy")
def saxpy_with_a_number_of_the_host():
    x, y = on_device((4, 6)), on_device(6, seed=1)
    return lambda: ck.saxpy(2.5, x, y), (x, y)


# --- arrays ----------------------------------------------------------------------------------------------------------
@line("asarray")
def asarray():
    x = host((4, 6))
    return lambda: ck.asarray(x), (x,)


@line("asarray")
def asarray_of_another_type():
    x = host((4, 6)).T
    return lambda: ck.asarray(x, "float64"), (x,)


@line("empty")
def empty():
    return lambda: ck.empty((3, 4), "int8").fill(1), ()


@line("zeros")
def zeros():
    return lambda: ck.zeros((3, 4), "complex64"), ()


@line("empty_pinned")
def empty_pinned():
    return lambda: ck.empty_pinned((30, 4), "float32").fill(1), ()


@line("from_dlpack", "DeviceArray.__dlpack__", "DeviceArray.__dlpack_device__")
def exchange():
    x = on_device((4, 6))
    return lambda: ck.from_dlpack(x), (x,)


@line("DeviceArray.get")
def get():
    x = on_device((4, 6))
    return lambda: x.get(), (x,)


@line("DeviceArray.get")
def get_of_a_view():
    x = on_device((4, 6))
    return lambda: x[::-1, ::2].get(), (x,)


@line("DeviceArray.set")
def set_():
    x, y = on_device((4, 6)), host((4, 6), seed=3)
    return lambda: x.set(y), (y,)


@line("DeviceArray.__setitem__")
def set_of_a_view():
    x, y = on_device((4, 6)), host((4, 3), seed=3)
    return lambda: x.__setitem__((slice(None), slice(None, None, 2)), y), (y,)


@line("DeviceArray.copy", "DeviceArray.__copy__", "DeviceArray.__deepcopy__")
def copies():
    x = on_device((4, 6))
    return lambda: (x.T.copy(), copy.copy(x[::2]), copy.deepcopy(x)), (x,)


@line("DeviceArray.fill")
def fill():
    x = on_device((4, 6))
    return lambda: x[1:, ::3].fill(7), ()


@line("DeviceArray.astype")
def astype():
    x = on_device((4, 6))
    return lambda: x.astype("int8"), (x,)


@line("DeviceArray.__getitem__", "DeviceArray.T", "DeviceArray.transpose", "DeviceArray.reshape", "DeviceArray.ravel")
@line("DeviceArray.mT", "DeviceArray.swapaxes", "DeviceArray.squeeze", "DeviceArray.flatten")
def views():
    x = on_device((4, 6))
    return lambda: (
        (x[1:, None, ..., -1].T, x.transpose(1, 0), x.swapaxes(0, 1).mT, x.squeeze(), x.ravel(), x.reshape(3, -1))[-1],
        x.T.flatten(),
    ), (x,)


@line("DeviceArray.__matmul__", "DeviceArray.__imatmul__")
def at():
    a = on_device((6, 6))

    def call():
        b = a.copy()
        b @= a
        return a @ a, b

    return call, (a,)


@line("DeviceArray.__array_ufunc__", "DeviceArray.__array_function__")
def numpys_functions():
    a = on_device((6, 6))
    return lambda: np.matmul(a, np.transpose(a)), (a,)


@line("DeviceArray.__rmatmul__")
def at_from_the_right():
    """An array of the host is refused: which of the two should be moved, only the caller knows."""
    a, b, on_host = on_device((6, 6)), on_device((6, 6), seed=1), host((6, 6))

    def call():
        try:
            on_host @ a
        except TypeError as error:
            return a.__rmatmul__(b), str(error)

    return call, (a, b, on_host)


@line(
    "DeviceArray.item",
    "DeviceArray.__float__",
    "DeviceArray.__int__",
    "DeviceArray.__complex__",
    "DeviceArray.__bool__",
    "DeviceArray.__index__",
)
def one_element():
    x = on_device((1, 1), "int32")
    return lambda: (float(x), int(x), complex(x), bool(x), x.item(), operator.index(x[0, 0])), (x,)


@line("DeviceArray.tolist", "DeviceArray.__iter__", "DeviceArray.__len__")
def lists():
    x = on_device((2, 3))
    return lambda: (x.tolist(), len(x), [row.get() for row in x]), (x,)


@line("DeviceArray", "DeviceArray.__repr__", "DeviceArray.__format__", "DeviceArray._repr_html_")
def shows_itself():
    x = on_device((40, 60))
    return lambda: (repr(x), x._repr_html_(), f"{x[0, 0]:.2f}"), (x,)


PROPERTIES = ("shape", "dtype", "ndim", "size", "itemsize", "nbytes", "strides", "read_only", "device", "backend")


@line(*(f"DeviceArray.{name}" for name in PROPERTIES))
def what_an_array_is():
    x = on_device((4, 6))
    return lambda: operator.attrgetter(*PROPERTIES)(x[1:].T), (x,)


@line("DeviceArray.__cuda_array_interface__")
def cuda_array_interface():
    """Which the emulator's arrays have not."""
    x = on_device((4, 6))
    return lambda: getattr(x, "__cuda_array_interface__", {}).get("shape"), (x,)


# --- streams and devices ---------------------------------------------------------------------------------------------
@line(
    "Stream",
    "Stream.__repr__",
    "Stream.synchronize",
    "Stream.device",
    "Stream.handle",
    "Stream.done",
    "Stream.wait",
    "Stream.record",
    "Stream.__cuda_stream__",
)
def streams():
    x = on_device(100)

    def call():
        one, other = ck.Stream(), ck.Stream()
        event = one.record()
        other.wait(event)
        y = ck.sum_of_squares(x, stream=one)
        z = x.copy(stream=other)
        one.synchronize()
        known = (one.handle == one.__cuda_stream__()[1], one.device == x.device, "stream" in repr(one))
        return y, z, isinstance(other.done, bool), known

    return call, (x,)


@line(
    "Event",
    "Event.__repr__",
    "Event.device",
    "Event.record",
    "Event.synchronize",
    "Event.done",
    "Event.elapsed_time",
)
def events():
    def call():
        first, last = ck.Event(), ck.Event()
        first.record()
        last.record()
        last.synchronize()
        return first.elapsed_time(last) >= 0, last.done, "event" in repr(last), last.device == first.device

    return call, ()


OWN = """
__constant__ float by;
__global__ void add(const float *x, float *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x] + by; }
template <typename T> __global__ void scale(T *x, T by) { x[threadIdx.x] *= by; }
"""


@line("compile", "Program", "Kernel")
def a_kernel_of_ones_own_on_host_arrays():
    x, y = host(40), np.empty(40, np.float32)

    def call():
        program = ck.compile(OWN)
        program.symbol("by")[()] = 2
        program.add(1, 64, x, y, 40)
        program["scale<float>"][1, 40](y, 3)
        return y.copy()

    return call, (x,)


@line("Kernel")
def a_kernel_of_ones_own_on_the_device():
    program = ck.compile(OWN)
    x, y = on_device(40), ck.zeros(40, "float32")

    def call():
        program.add(1, 64, x, y, 40)
        measured = ck.profile(program.add[1, 64], x, y, 40, repeat=1, warmup=0)
        return y.get(), measured.launches, ck.kernel_resources(program.add)[0].block

    return call, (x,)


@line("synchronize")
def synchronize():
    return lambda: ck.synchronize(), ()


@line(
    "Device",
    "Device.name",
    "Device.properties",
    "Device.memory",
    "Device.synchronize",
    "devices",
    "device",
)
def devices():
    def call():
        with ck.device(0) as here:
            here.synchronize()
            return len(ck.devices()) > 0, here.name, here.memory[1] > 0, bool(here.properties)

    return call, ()


@line("Device.__repr__", "Device.__str__")
def a_device_in_words():
    here = ck.devices()[0]
    return lambda: (repr(here), str(here)), ()


@line("Device._repr_html_")
def a_device_in_html():
    here = ck.devices()[0]
    return lambda: "multiprocessors" in here._repr_html_(), ()


# --- what stands around the operations -------------------------------------------------------------------------------
@line("profile", "Profile")
def profile():
    x = host(100)
    return lambda: bool(ck.profile(ck.sum_of_squares, x, variant="coalesced", repeat=1, warmup=0)), (x,)


@line("profile")
def profile_on_the_device():
    x = on_device((6, 6))
    return lambda: bool(ck.profile(ck.matmul, x, x, variant="tiled", repeat=1, warmup=0)), (x,)


@line("ladder", "Ladder", "Step")
def ladder():
    names = ["coalesced"]

    def call():
        steps = ck.ladder("sum_of_squares", n=10, variants=names, repeat=1, warmup=0, progress=False)
        return [step.to_dict()["note"] for step in steps if step.failed], steps.failed

    return call, ()


@line("bench", "Bench")
def bench():
    def call():
        result = ck.bench("sort", [10], variants=["sample_sort"], rounds=1, emulated=True, progress=False)
        return [line.note for line in result.lines], result.seed >= 0

    return call, ()


@line("backend", "Backend", "use_backend")
def backend():
    def call():
        with ck.use_backend(ck.backend().name) as here:
            return bool(here.properties), here.capability

    return call, ()


@line("memory_limit")
def memory_limit():
    x = host(300_000)

    def call():
        with ck.memory_limit("1M") as limit:
            return limit, float(ck.sum_of_squares(x, "one_launch"))  # in two pieces

    return call, (x,)


@line("variants", "Variants", "Variant", "Parameter")
def variants():
    return lambda: (repr(ck.variants("matmul")), ck.variants("matmul")["tiled"].values({"tile": 8})), ()


@line("source", "Source", "diff", "Difference")
def source():
    return lambda: (str(ck.source("matmul", "tiled")), str(ck.diff("matmul", "tiled_plain"))), ()


@line("compare", "Comparison", "random_matrix")
def compare():
    return lambda: ck.compare(ck.random_matrix(5, seed=1), ck.random_matrix(5, seed=1)), ()


# --- the chip --------------------------------------------------------------------------------------------------------
@line("device_query", "DeviceQuery")
def device_query():
    return lambda: str(ck.device_query()), ()


@line("occupancy", "Occupancy", "max_potential_block_size", "PotentialBlockSize")
def occupancy():
    return lambda: (repr(ck.occupancy(threads=256)), ck.max_potential_block_size(registers=40)), ()


@line("kernel_resources", "KernelResources", "KernelTable")
def kernel_resources():
    return lambda: repr(ck.kernel_resources("sum_of_squares", "tree_sequential")), ()


@line("occupancy")
def occupancy_of_a_kernel():
    return lambda: ck.occupancy("matmul", "shared_row").curves(), ()


WITHOUT = {
    "CudaError": "an exception",
    "OutOfMemoryError": "an exception",
    "CompileError": "an exception",
    "emulator": "settings of the process: test_python_api.py",
    "__version__": "a str",
    "run": "another process: test_programs.py",
    "Finished": "what run returns",
}


def methods(owner):
    """{name: function} of what a user calls or reads of a class; not what a dataclass makes, nor what only refuses."""
    found = {}
    for name, what in ((name, what) for base in reversed(owner.__mro__) for name, what in vars(base).items()):
        function = what.fget if isinstance(what, property) else what
        if not inspect.isfunction(function) or not (name[0] != "_" or name[:2] == "__" or name == "_repr_html_"):
            continue
        ours = Path(ck.__file__).parent in Path(function.__code__.co_filename).parents
        if ours and name != "__init__" and function.__annotations__.get("return") != "NoReturn":
            found[f"{owner.__name__}.{name}"] = function
    return found


OWNERS = (ck.DeviceArray, ck.Stream, ck.Event, ck.Device)
METHODS = {name: function for owner in OWNERS for name, function in methods(owner).items()}


def public_names():
    """All names that a user can call: of the module, and the methods of what has memory or a handle."""
    return {*ck.__all__, *METHODS} - set(WITHOUT)


def codes(name):
    """What must run for that name to be called: any of it."""
    if name in METHODS:
        return {METHODS[name].__code__}
    what = registry()[name].call if name in registry() else getattr(ck, name)
    if inspect.isclass(what):
        parts = (getattr(part, "fget", getattr(part, "__func__", part)) for part in vars(what).values())
        return {part.__code__ for part in parts if inspect.isfunction(part)}
    return {inspect.unwrap(what).__code__}


# --- checks ----------------------------------------------------------------------------------------------------------
@line("check", "Findings", "Finding")
def check_of_a_race():
    program, x, y = ck.compile(SUM_OF_ALL), on_device(40), np.zeros(1, "f4")
    return lambda: str(ck.check(program.sum_of_all[2, 32], x.get(), y, 40)[0]), (x,)


@line("trace", "Trace")
def trace_of_a_sum():
    program, x, y = ck.compile(SUM_OF_ALL), host(40), np.zeros(1, "f4")

    def call():  # (the model of the caches depends on where a second attempt finds memory)
        trace = ck.trace(program.sum_of_all[2, 32], x, y, 40)
        assert str(trace)
        return str([(one.line, one.what, one.requests, one.sectors) for one in trace.instructions])

    return call, (x,)


@line("checking")
def checking_of_an_operation():
    a = host(40)

    def call():
        with ck.checking():
            return ck.sum_of_squares(a, variant="atomic")

    return call, (a,)


SUM_OF_ALL = """__global__ void sum_of_all(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[0] += x[i];
}"""
