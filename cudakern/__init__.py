"""Ladders of CUDA kernels, from one thread to the chip's limit, for NumPy arrays and arrays on the device: on a GPU,
or without one.

>>> import cudakern as ck
>>> int(ck.sum_of_squares([1, 2, 3]))                              # the fastest correct way here
14
>>> int(ck.sum_of_squares([1, 2, 3], variant="tree_sequential"))   # that kernel, on the GPU or the emulator
14

``variants(op)`` lists the steps of a ladder, ``source(op, variant)`` shows a kernel, ``profile(fn, ...)`` measures a
call, ``ladder(op)`` all steps, and ``backend()`` says where they run, and why.

``asarray(x)`` brings values to the device, as a DeviceArray, which operations take and give without waiting; its
``.get()`` brings them back. ``asarray`` and ``from_dlpack`` take other libraries' arrays where they lie. ``Stream`` and
``Event`` order work, and ``with device(n):`` says where it is done.

>>> d = ck.asarray([[1.0, 2.0], [3.0, 4.0]])
>>> (d @ d.T).get().tolist()
[[5.0, 11.0], [11.0, 25.0]]
"""

from . import emulator
from ._array import DeviceArray
from ._backend import Backend, backend, use_backend
from ._backend import emulator as _load_emulator
from ._creation import asarray, empty, empty_pinned, from_dlpack, zeros
from ._devices import Device, device, devices
from ._errors import CudaError, OutOfMemoryError
from ._operations.matmul import matmul
from ._operations.sum_of_squares import sum_of_squares
from ._streams import Event, Stream, synchronize
from ._table import Parameter, Variant, Variants, variants

_load_emulator()  # an unbuilt checkout says so at once, and what to do

#: Modules that are imported when one of their names is asked for: an import of all would take twice as long.
_LATER = {
    "_compare": "Comparison compare random_matrix",
    "_device_query": "DeviceQuery device_query",
    "_ladder": "Ladder Step ladder",
    "_occupancy": "Occupancy PotentialBlockSize max_potential_block_size occupancy",
    "_operations._lookup": "lookup_2d lookup_3d",
    "_operations._scan": "exclusive_scan inclusive_scan",
    "_operations.bincount": "bincount",
    "_operations.grayscale": "grayscale",
    "_operations.interp": "interp",
    "_operations.packbits": "packbits",
    "_operations.saxpy": "saxpy",
    "_operations.sort": "sort",
    "_operations.stencil_1d": "stencil_1d",
    "_operations.vector_add": "vector_add",
    "_profile": "Profile profile",
    "_resources": "KernelResources KernelTable kernel_resources",
    "_source": "Source source",
}
_LATER = {name: module for module, names in _LATER.items() for name in names.split()}

# What a type checker sees is in __init__.pyi, which .ci/stub.py writes.
__all__ = ["DeviceArray", "asarray", "empty", "empty_pinned", "from_dlpack", "zeros"]
__all__ += ["Backend", "Device", "backend", "device", "devices", "emulator", "use_backend"]
__all__ += ["CudaError", "Event", "OutOfMemoryError", "Stream", "synchronize"]
__all__ += ["Parameter", "Variant", "Variants", "matmul", "sum_of_squares", "variants"]
__all__ += ["__version__", *_LATER]
_LATER["lab"] = "lab"


def __getattr__(name: str) -> object:
    if name in _LATER:
        from importlib import import_module

        module = import_module(f".{_LATER[name]}", __name__)
        globals()[name] = value = module if name == _LATER[name] else getattr(module, name)
        return value
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Asked for seldom, and looking through the installed packages takes as long as the rest of the import.
    from importlib.metadata import PackageNotFoundError, version

    try:
        value = version(__name__)
    except PackageNotFoundError:  # built in place, or not at all
        value = "0+unknown"
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, "__version__"})
