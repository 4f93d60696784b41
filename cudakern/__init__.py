"""Ladders of CUDA kernels, from one thread to the chip's limit, for NumPy arrays: on a GPU, or without one.

>>> import cudakern as ck
>>> int(ck.sum_of_squares([1, 2, 3]))                              # the fastest correct way here
14
>>> int(ck.sum_of_squares([1, 2, 3], variant="tree_sequential"))   # that kernel, on the GPU or the emulator
14

``variants(op)`` lists the steps of a ladder, ``source(op, variant)`` shows a kernel, ``profile(fn, ...)`` measures a
call, ``ladder(op)`` all steps, and ``backend()`` says where they run, and why.
"""

from importlib.metadata import PackageNotFoundError as _NotInstalled
from importlib.metadata import version as _version

try:
    __version__ = _version("cudakern")
except _NotInstalled:  # built in place, or not at all
    __version__ = "0+unknown"

from . import emulator
from ._backend import Backend, backend, use_backend
from ._backend import emulator as _load_emulator
from ._compare import Comparison, compare, random_matrix
from ._errors import CudaError, OutOfMemoryError
from ._ladder import Ladder, Step, ladder
from ._operations.matmul import matmul
from ._operations.sum_of_squares import sum_of_squares
from ._profile import Profile, profile
from ._source import Source, source
from ._table import Parameter, Variant, Variants, variants

_load_emulator()  # an unbuilt checkout says so at once, and what to do

__all__ = [
    "Backend",
    "Comparison",
    "CudaError",
    "Ladder",
    "OutOfMemoryError",
    "Parameter",
    "Profile",
    "Source",
    "Step",
    "Variant",
    "Variants",
    "__version__",
    "backend",
    "compare",
    "emulator",
    "ladder",
    "matmul",
    "profile",
    "random_matrix",
    "source",
    "sum_of_squares",
    "use_backend",
    "variants",
]
