"""The measurements of .ci/record: a function for each, which returns what its record has.

TINY=1 makes them small, to see that they run, also on the emulator. What is compared with other libraries on the same
data is measured by cudakern.bench, which anybody can call: `cudakern bench OP`; all that is timed, by its timing
(cudakern.measure.rounds.timed)."""

import os
import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))  # inputs and checks of theirs

TINY = bool(os.environ.get("TINY"))
OPS = os.environ.get("OPS", "").split()
#: Where each is, and what it measures.
MEASUREMENTS = {
    "bench": ("products", "Our variants of each operation, PyTorch and CuPy."),
    "matmul": ("products", "The steps of matmul, PyTorch and CuPy, by shape and type."),
    "crossover": ("products", "Products of NumPy arrays: NumPy beside the kernel of auto, by type and shape."),
    "host": ("host", "Copies, and calls from NumPy arrays to NumPy arrays, beside PyTorch, CuPy and NumPy."),
    "calls": ("host", "What a call costs, beside PyTorch and CuPy."),
    "overhead": ("overhead", "What Python and the runtime add to a launch, for every operation."),
    "checking": ("checking", "What a check costs, on the emulator: time and memory."),
    "requests": ("requests", "What the variants of each operation ask of memory, counted by cudakern.trace."),
    "traced": ("requests", "What cudakern.trace counts where `counters` and `ladder-counters` ask Nsight Compute."),
    "clock": ("steps", "Ladders, run twice: how much the times of a step differ."),
    "lab": ("steps", "Every experiment of cudakern.lab, as it runs by itself; the sort's stages on both inputs."),
    "accuracy": ("large", "Errors of products of float32 beside the GPU's library and NumPy: kinds of data, shapes."),
    "large": ("large", "A product and a sum of squares of arrays larger than a memory limit of 8 GiB."),
}


def figures(name, *words):
    """Of a measurement; "steps.ladder" is a function of a module that is not one by itself."""
    module, _, function = name.rpartition(".")
    return getattr(import_module(f"measure.{module or MEASUREMENTS[name][0]}"), function)(*words)
