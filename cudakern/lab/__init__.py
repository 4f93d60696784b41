"""Experiments on how a GPU works: each function runs one on this machine and returns an Experiment.

An Experiment is displayed as a table, with notes on what was measured on an H200 and on the claim that is tested; it
has ``plot()`` and ``to_dict()``.
"""

from ._bank_conflicts import bank_conflicts
from ._coalescing import coalescing
from ._constant_memory import constant_memory
from ._divergence import divergence
from ._experiment import Column, Experiment
from ._hello import hello
from ._host_memory import host_memory, mapped
from ._intrinsics import intrinsics
from ._latency import latency
from ._layouts import layouts
from ._overlap import overlap
from ._printed import Printed, printed
from ._registers import registers
from ._rules import sectors, wavefronts
from ._sample_sort import sample_sort_stages
from ._spilling import spilling
from ._textures import textures
from ._thread_map import ThreadMap, thread_map
from ._timing import timing

__all__ = [
    "Column",
    "Experiment",
    "Printed",
    "ThreadMap",
    "bank_conflicts",
    "coalescing",
    "constant_memory",
    "divergence",
    "hello",
    "host_memory",
    "intrinsics",
    "latency",
    "layouts",
    "mapped",
    "overlap",
    "printed",
    "registers",
    "sample_sort_stages",
    "sectors",
    "spilling",
    "textures",
    "thread_map",
    "timing",
    "wavefronts",
]
