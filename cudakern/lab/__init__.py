"""Experiments of the documents: each function runs one, here, and gives back an Experiment.

An Experiment shows itself as a table with one sentence of what it shows and the documents' figure beside it; it has
``plot()`` and ``to_dict()``. On the emulator each says what it can and cannot show there.
"""

from ._bank_conflicts import bank_conflicts
from ._coalescing import coalescing
from ._divergence import divergence
from ._experiment import Column, Experiment
from ._latency import latency
from ._layouts import layouts
from ._rules import sectors, wavefronts
from ._thread_map import ThreadMap, thread_map

__all__ = [
    "Column",
    "Experiment",
    "ThreadMap",
    "bank_conflicts",
    "coalescing",
    "divergence",
    "latency",
    "layouts",
    "sectors",
    "thread_map",
    "wavefronts",
]
