"""Experiments of the documents: each function runs one, here, and gives back an Experiment.

An Experiment shows itself as a table with one sentence of what it shows and the documents' figure beside it; it has
``plot()`` and ``to_dict()``. On the emulator each says what it can and cannot show there.
"""

from ._constant_memory import constant_memory
from ._experiment import Column, Experiment
from ._hello import hello
from ._host_memory import host_memory
from ._intrinsics import intrinsics
from ._mapped import mapped
from ._overlap import overlap
from ._printed import Printed, printed
from ._textures import textures

__all__ = [
    "Column",
    "Experiment",
    "Printed",
    "constant_memory",
    "hello",
    "host_memory",
    "intrinsics",
    "mapped",
    "overlap",
    "printed",
    "textures",
]
