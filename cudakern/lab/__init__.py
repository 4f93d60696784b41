"""Experiments on how a GPU works: each function runs one on this machine and returns an Experiment.

An Experiment is displayed as a table, with notes on what was measured on an H200 and on the claim that is tested; it
has ``plot()`` and ``to_dict()``.
"""

from ._experiment import Column as Column
from ._experiment import Experiment as Experiment
from ._host_memory import host_memory as host_memory
from ._host_memory import mapped as mapped
from ._host_memory import overlap as overlap
from ._intrinsics import intrinsics as intrinsics
from ._memory import bank_conflicts as bank_conflicts
from ._memory import coalescing as coalescing
from ._memory import layouts as layouts
from ._memory import sectors as sectors
from ._memory import wavefronts as wavefronts
from ._printed import Printed as Printed
from ._printed import hello as hello
from ._printed import printed as printed
from ._textures import textures as textures
from ._thread_map import ThreadMap as ThreadMap
from ._thread_map import thread_map as thread_map
from ._times import sample_sort_stages as sample_sort_stages
from ._times import timing as timing
from ._warps import divergence as divergence
from ._warps import latency as latency
from ._where_values_live import constant_memory as constant_memory
from ._where_values_live import registers as registers
from ._where_values_live import spilling as spilling

__all__ = [name for name in dir() if not name.startswith("_")]


def __dir__() -> list[str]:
    return __all__
