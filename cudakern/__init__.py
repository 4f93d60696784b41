"""CUDA kernels for NumPy arrays and arrays on the device, each operation as a ladder of variants from one thread to the
chip's limit. Runs on an NVIDIA GPU, or without one on the package's emulator.

>>> import cudakern as ck
>>> int(ck.sum_of_squares([1, 2, 3]))                              # a fast and accurate variant
14
>>> int(ck.sum_of_squares([1, 2, 3], variant="tree_sequential"))   # this kernel, on the GPU or the emulator
14

Operations   {operations}
Variants     variants(op) lists them, source(op, variant) shows a kernel, diff(op, variant) what a step changes
Your own     compile(source) compiles CUDA C++; program.kernel[grid, block](...) launches a kernel
             run("program.cu") compiles a whole program (main, <<<>>>), and runs it
Measuring    profile(op, ...) measures one call, ladder(op) all variants, bench(op) also PyTorch and CuPy; compare and
             random_matrix help
Checking     check(op, ...) finds races and other mistakes in kernels; inside checking(), they are errors
             trace(op, ...) counts what a kernel asks of the memory system, as Nsight Compute does
Hardware     device_query, occupancy, max_potential_block_size, kernel_resources
Backends     backend() reports which one answers calls and why; use_backend, devices, device, emulator.configure
Memory       memory_limit("8G") limits the device memory of matmul and sum_of_squares of NumPy arrays
Experiments  lab, e.g. lab.coalescing()
Exercises    course.check("add_one", kernel) judges a kernel of the notebooks' exercises
Arrays       asarray, empty, zeros, from_dlpack make a DeviceArray; .get() copies its values to the host;
             empty_pinned makes a NumPy array that copies fast
Ordering     Stream, Event, synchronize
Errors       CudaError, OutOfMemoryError

Each op is a name or a function: ladder("matmul") or ladder(matmul). help(cudakern.matmul) describes a function.

Operations on a DeviceArray return a DeviceArray without waiting for the device. ``asarray`` and ``from_dlpack`` use
other libraries' device arrays without a copy.

>>> d = ck.asarray([[1.0, 2.0], [3.0, 4.0]])
>>> (d @ d.T).get().tolist()
[[5.0, 11.0], [11.0, 25.0]]
"""

import importlib
import os
import sys
import textwrap

from . import emulator
from ._backend import Backend, Device, backend, device, devices, use_backend
from ._backend import emulator as _load_emulator
from ._backend import gpu_module as _load_gpu_module
from ._errors import CompileError, CudaError, OutOfMemoryError
from ._imports import IMPORTING as _IMPORTING
from .arrays.array import DeviceArray
from .arrays.creation import asarray, empty, empty_pinned, from_dlpack, zeros
from .arrays.memory_limit import memory_limit
from .arrays.streams import Event, Stream, synchronize
from .calls.observer import of_process as _of_process
from .calls.table import Parameter, Variant, Variants
from .operations.matmul import matmul
from .operations.sum_of_squares import sum_of_squares
from .operations.variants import variants

_load_emulator()  # fails at once, with instructions, in a checkout that is not built
_load_gpu_module()  # so that no call imports it
if hasattr(os, "register_at_fork"):
    # (Python calls what precedes a fork in reverse order: it waits for imports before it takes the runtime's locks, for
    # which an import may wait, because it can run the garbage collector.)
    os.register_at_fork(
        before=_IMPORTING.acquire, after_in_parent=_IMPORTING.release, after_in_child=_IMPORTING.release
    )

#: The other operations, by their modules in operations/.
_OPERATIONS = {
    "lookup": "interp lookup_2d lookup_3d",
    "scan": "exclusive_scan inclusive_scan",
    "bincount": "bincount",
    "grayscale": "grayscale",
    "packbits": "packbits",
    "saxpy": "saxpy",
    "sort": "sort",
    "stencil_1d": "stencil_1d",
    "vector_add": "vector_add",
}
#: Modules that are imported when one of their names is first used: importing all would take twice as long.
_LATER = {
    "chips.device_query": "DeviceQuery device_query",
    "insight.check": "check checking",
    "insight.counters": "Trace trace",
    "insight.findings": "Finding Findings",
    "measure.bench": "Bench bench",
    "measure.compare": "Comparison compare random_matrix",
    "measure.ladder": "ladder",
    "measure.occupancy": "Occupancy PotentialBlockSize max_potential_block_size occupancy",
    "measure.profile": "Profile profile",
    "measure.resources": "KernelResources KernelTable kernel_resources",
    "measure.steps": "Ladder Step",
    "own.compile": "Kernel Program compile",
    "programs.run": "Finished run",
    "sources.difference": "Difference diff",
    "sources.source": "source",
    "sources.text": "Source",
    **{f"operations.{module}": names for module, names in _OPERATIONS.items()},
}
_LATER = {name: module for module, names in _LATER.items() for name in names.split()}
if __doc__:  # (python -OO has none)
    _public = ["sum_of_squares", "matmul", *" ".join(_OPERATIONS.values()).split()]
    __doc__ = __doc__.format(operations=textwrap.fill(", ".join(_public), 100, subsequent_indent=" " * 13))
    del _public

# What a type checker sees is in __init__.pyi, which .ci/stub.py writes.
# fmt: off
__all__ = [
    "Backend", "CompileError", "CudaError", "Device", "DeviceArray", "Event", "OutOfMemoryError", "Parameter", "Stream",
    "Variant", "Variants", "__version__", "asarray", "backend", "device", "devices", "empty", "empty_pinned",
    "emulator", "from_dlpack", "matmul", "memory_limit", "sum_of_squares", "synchronize", "use_backend", "variants",
    "zeros",
    *_LATER,
]
# fmt: on
_LATER |= {"lab": "lab", "course": "course"}

# pydoc documents every name in __all__ in full: 3,700 lines. Without __all__, help(cudakern) is the text above.
_PUBLIC = __all__
del __all__

if _of_process is not None:  # CUDAKERN_CHECK
    from .insight.defaults import check_process

    check_process()

if "IPython" in sys.modules:
    from .operations.completion import register

    register()


def __getattr__(name: str) -> object:
    if name == "__all__" and sys._getframe(1).f_globals.get("__name__") != "pydoc":
        return _PUBLIC
    if name in _LATER:
        with _IMPORTING:
            module = importlib.import_module(f".{_LATER[name]}", __name__)
        value = module if name == _LATER[name] else getattr(module, name)
    elif name == "__version__":
        # Rarely needed, and searching the installed packages takes as long as the rest of the import.
        with _IMPORTING:
            from importlib.metadata import PackageNotFoundError, version

        try:
            value = version(__name__)
        except PackageNotFoundError:  # built in place, or not at all
            value = "0+unknown"
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    globals()[name] = value
    return value


def load_ipython_extension(shell: object) -> None:
    """For ``%load_ext cudakern``, which adds ``%%cuda``."""
    from .course import judge
    from .insight.defaults import of_cells
    from .own.magic import load
    from .programs.run import run_cell

    load(shell, of_cells, run_cell, judge)


#: Classes that programs name: errors, streams, arrays. The others are what functions return.
_NAMED = {"CompileError", "CudaError", "DeviceArray", "Event", "OutOfMemoryError", "Stream"}


def __dir__() -> list[str]:
    return sorted({*(name for name in _PUBLIC if not name[0].isupper()), *_NAMED, "course", "lab"})
