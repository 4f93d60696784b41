"""Experiments on how a GPU works: each function runs one on this machine and returns an Experiment.

An Experiment is displayed as a table, with notes on what was measured on an H200 and on the claim that is tested; it
has ``plot()`` and ``to_dict()``.

Threads        hello: which order threads run in; thread_map: which thread processes which element
Warps          divergence: branches that split a warp; latency: loads issued early or late; intrinsics: fast functions
Global memory  coalescing and layouts: how threads should be assigned to data, and data to addresses
Other memory   bank_conflicts, constant_memory, registers, spilling, textures
The host       host_memory: rates of copies; overlap: copies during kernels
Time           timing: three clocks; sample_sort_stages: the stages of one algorithm

recorded shows an experiment as it was recorded on an H200. curves and roofline draw your own numbers.

They use these functions, which help with your own kernels, too: sectors and wavefronts count the transactions of a
warp's request, printed captures the output of kernels, and mapped makes a device array in host memory.

Each function's help has more: help(cudakern.lab.coalescing).
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
from ._pictures import curves as curves
from ._pictures import roofline as roofline
from ._printed import Printed as Printed
from ._printed import hello as hello
from ._printed import printed as printed
from ._recorded import recorded as recorded
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


def __dir__() -> list[str]:
    # There is no __all__, because pydoc documents every name in it in full: 1,000 lines instead of the text above.
    return sorted(name for name in globals() if not name.startswith("_"))
