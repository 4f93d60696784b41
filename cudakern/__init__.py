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

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from . import lab as lab
    from ._compare import Comparison, compare, random_matrix
    from ._device_query import DeviceQuery, device_query
    from ._ladder import Ladder, Step, ladder
    from ._occupancy import Occupancy, PotentialBlockSize, max_potential_block_size, occupancy
    from ._operations.bincount import bincount
    from ._operations.exclusive_scan import exclusive_scan
    from ._operations.grayscale import grayscale
    from ._operations.inclusive_scan import inclusive_scan
    from ._operations.interp import interp
    from ._operations.lookup_2d import lookup_2d
    from ._operations.lookup_3d import lookup_3d
    from ._operations.packbits import packbits
    from ._operations.saxpy import saxpy
    from ._operations.sort import sort
    from ._operations.stencil_1d import stencil_1d
    from ._operations.vector_add import vector_add
    from ._profile import Profile, profile
    from ._resources import KernelResources, KernelTable, kernel_resources
    from ._source import Source, source

__version__: str

_load_emulator()  # an unbuilt checkout says so at once, and what to do

# fmt: off
__all__ = [
    "Backend", "Comparison", "CudaError", "Device", "DeviceArray", "DeviceQuery", "Event", "KernelResources",
    "KernelTable", "Ladder", "Occupancy", "OutOfMemoryError", "Parameter", "PotentialBlockSize", "Profile", "Source",
    "Step", "Stream", "Variant", "Variants", "__version__", "asarray", "backend", "bincount", "compare", "device",
    "device_query", "devices", "empty", "empty_pinned", "emulator", "exclusive_scan", "from_dlpack", "grayscale",
    "inclusive_scan", "interp", "kernel_resources", "ladder", "lookup_2d", "lookup_3d", "matmul",
    "max_potential_block_size", "occupancy", "packbits", "profile", "random_matrix", "saxpy", "sort", "source",
    "stencil_1d", "sum_of_squares", "synchronize", "use_backend", "variants", "vector_add", "zeros",
]
# fmt: on

if not TYPE_CHECKING:  # a checker would take every name for one that is there
    #: Modules that are imported when one of their names is asked for: an import of all would take twice as long.
    _LATER = {
        "_compare": "Comparison compare random_matrix",
        "_device_query": "DeviceQuery device_query",
        "_ladder": "Ladder Step ladder",
        "_occupancy": "Occupancy PotentialBlockSize max_potential_block_size occupancy",
        "_profile": "Profile profile",
        "_resources": "KernelResources KernelTable kernel_resources",
        "_source": "Source source",
    }
    _LATER = {name: module for module, names in _LATER.items() for name in names.split()} | {"lab": "lab"}
    _OPERATIONS = "bincount exclusive_scan grayscale inclusive_scan interp lookup_2d lookup_3d packbits saxpy sort"
    _LATER |= {name: f"_operations.{name}" for name in f"{_OPERATIONS} stencil_1d vector_add".split()}

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
