"""Every public function and method, as calls on small input: what test_faults.py and test_leaks.py run.

A line makes its input and gives (call, kept): `call()` is what is tested, and returns something or None; `kept` are
arrays that the call only reads. `WITHOUT` names what needs no call of its own, and why. To add a public name, add a
line; an operation has its lines by being in the table.
"""

import inspect

import numpy as np

import cudakern as ck
from cudakern._operations import registry

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
    row = next(row for row in ck.variants(what.name) if not row.on_host and "emulator" in row.backends)
    shape = next(shape for shape in what.ragged if 1 < np.prod(shape) < 2000)
    return row, what.make(shape, np.dtype(what.default_dtype), 0)


def of_host_arrays(what):
    def make():
        row, inputs = small_inputs(what)
        return lambda: what.call(*inputs, variant=row.name), inputs

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
        row, inputs = small_inputs(what)
        arrays = tuple(ck.asarray(np.repeat(x, 2, -1) if x.ndim else x) for x in inputs)
        return lambda: what.call(*(x[..., ::2] if x.ndim else x for x in arrays), variant=row.name), arrays

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


@line("DeviceArray.set", "DeviceArray.__setitem__")
def set_of_a_view():
    x, y = on_device((4, 6)), host((4, 3), seed=3)
    return lambda: x.__setitem__((slice(None), slice(None, None, 2)), y), (y,)


@line("DeviceArray.copy", "DeviceArray.__copy__", "DeviceArray.__deepcopy__")
def copy():
    x = on_device((4, 6))
    return lambda: x.T.copy(), (x,)


@line("DeviceArray.fill")
def fill():
    x = on_device((4, 6))
    return lambda: x[1:, ::3].fill(7), ()


@line("DeviceArray.astype")
def astype():
    x = on_device((4, 6))
    return lambda: x.astype("int8"), (x,)


@line("DeviceArray.__getitem__", "DeviceArray.T", "DeviceArray.transpose", "DeviceArray.reshape", "DeviceArray.ravel")
def views():
    x = on_device((4, 6))
    return lambda: (x[1:, None, ..., -1].T, x.transpose(1, 0), x.reshape(3, -1), x.ravel())[2], (x,)


@line("DeviceArray.__matmul__", "DeviceArray.__rmatmul__", "DeviceArray.__imatmul__")
def at():
    a = on_device((6, 6))
    return lambda: a @ a, (a,)


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
    return lambda: (float(x), int(x), complex(x), bool(x), x.item()), (x,)


@line("DeviceArray.tolist", "DeviceArray.__iter__", "DeviceArray.__len__")
def lists():
    x = on_device((2, 3))
    return lambda: (x.tolist(), len(x), [row.get() for row in x]), (x,)


@line("DeviceArray", "DeviceArray.__repr__", "DeviceArray._repr_html_")
def shows_itself():
    x = on_device((40, 60))
    return lambda: (repr(x), x._repr_html_()), (x,)


# --- streams and devices ---------------------------------------------------------------------------------------------
@line(
    "Stream",
    "Stream.__repr__",
    "Stream.synchronize",
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
        return y, z, other.done, one.__cuda_stream__()[0], "Stream" in repr(one)

    return call, (x,)


@line("Event", "Event.__repr__", "Event.record", "Event.synchronize", "Event.done", "Event.elapsed_time")
def events():
    def call():
        first, last = ck.Event(), ck.Event()
        first.record()
        last.record()
        last.synchronize()
        return first.elapsed_time(last) >= 0, last.done, "Event" in repr(last)

    return call, ()


@line("synchronize")
def synchronize():
    return lambda: ck.synchronize(), ()


@line(
    "Device",
    "Device.__repr__",
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
            return len(ck.devices()) > 0, here.name, here.memory[1] > 0, bool(here.properties), repr(here)

    return call, ()


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


@line("backend", "Backend", "use_backend")
def backend():
    def call():
        with ck.use_backend(ck.backend().name) as here:
            return bool(here.properties), here.capability

    return call, ()


@line("variants", "Variants", "Variant", "Parameter")
def variants():
    return lambda: [row.values({}) for row in ck.variants("matmul")], ()


@line("source", "Source")
def source():
    return lambda: str(ck.source("matmul", "tiled")), ()


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
    "emulator": "settings of the process: test_python_api.py",
    "__version__": "a str",
}


def public_names():
    """All names that a user can call: of the module, and the methods of what has memory or a handle."""
    names = set(ck.__all__)
    for owner in (ck.DeviceArray, ck.Stream, ck.Event, ck.Device):
        for name, what in vars(owner).items():
            plain = not name.startswith("_") and (inspect.isfunction(what) or name in ("T", "memory", "properties"))
            if plain or name in ("__dlpack__", "__getitem__", "__setitem__", "__matmul__", "__float__", "__repr__"):
                names.add(f"{owner.__name__}.{name}")
    return names - set(WITHOUT)
