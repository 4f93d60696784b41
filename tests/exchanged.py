"""What the tests of arrays shared with other libraries have in common."""

import importlib
import os

import numpy as np


def importable(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


# JAX would take most of the GPU's memory, and has no type of 64 bits unless it is told.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("JAX_ENABLE_X64", "1")

torch = importable("torch")

INTERFACE = {"shape": (2, 3), "typestr": "<f4", "data": (4096, False), "version": 3}


def values(shape, dtype="float32"):
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


class Capsule:
    """Gives the same capsule every time."""

    def __init__(self, capsule, place=(1, 0)):
        self.capsule, self.place = capsule, place

    def __dlpack__(self, **words):
        return self.capsule

    def __dlpack_device__(self):
        return self.place


class Foreign:
    def __init__(self, handle):
        self.handle = handle

    def __cuda_stream__(self):
        return 0, self.handle
