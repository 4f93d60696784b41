"""Test kernels from Python: builds a file of emulator_kernels/, holds device memory, launches, checks codes.

A file is built for the emulator with the system's C++ compiler against the installed headers, as a user's own kernel
would be, and for a GPU with nvcc. What is built is kept by the hash of all that went in: for a GPU in
build/test-kernels/, and for the emulator with setup.py's objects, so that another clone does not build it again.
"""

import ctypes
import functools
import hashlib
import os
import pathlib
import re
import shutil
import subprocess

import numpy as np

import cudakern
from cudakern import _driver, _installed

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
SOURCES = HERE / "emulator_kernels"
PACKAGE = pathlib.Path(cudakern.__file__).resolve().parent
HEADERS = _driver.headers(_installed.SOURCES)
CORE = PACKAGE / "lib" / "libcudakern_emulator.so"

TO_DEVICE, TO_HOST, ON_DEVICE, DEFAULT = 1, 2, 3, 4  # cudaMemcpyKind
LEGACY, PER_THREAD = ctypes.c_void_p(1), ctypes.c_void_p(2)  # cudaStreamLegacy, cudaStreamPerThread
BLOCKING = 0  # cudaStreamDefault: a stream that keeps order with the legacy default stream
INTERRUPTED = -4  # backend_wait's own code


BUILT = ROOT / "build" / "test-kernels"
KEPT = _driver.objects_folder(otherwise=BUILT)  # where setup.py keeps them, too


def nvcc():
    """The path of nvcc, or None."""
    for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")):
        if home and os.path.exists(os.path.join(home, "bin", "nvcc")):
            return os.path.join(home, "bin", "nvcc")
    found = os.environ.get("CUDAKERN_NVCC") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    return found if os.path.exists(found) else None


def can_build_for_gpu():
    """True if there is nvcc, or if all files were built for the GPU before (python tests/cuda_api.py cuda)."""
    return nvcc() is not None or all(built("cuda", path.stem).exists() for path in SOURCES.glob("*.cu"))


def command(side, source, target):
    """The line that builds one file, as a list."""
    if side == "emulator":
        compiler = os.environ.get("CXX", "c++")
        # -Og: most kernels run once, and the compiler takes a third of the time that -O2 takes.
        line = [compiler, *_driver.options(compiler), "-Og", "-shared", "-Wall", "-Wextra", "-Werror"]
        line += [*HEADERS, f"-I{ROOT / 'csrc'}", str(source), "-o"]
        return [*line, str(target), f"-L{CORE.parent}", "-lcudakern_emulator"]  # which is loaded already
    line = [nvcc() or "nvcc", "-std=c++17", "-O2", "-shared", "-Xcompiler", "-fPIC"]
    needs_9_0 = ("hopper.h", "wgmma.cuh", "cluster.cuh")  # their code is for 9.0 alone
    if any(f'"{name}"' in source.read_text() for name in needs_9_0):
        line += ["-gencode", "arch=compute_90a,code=sm_90a"]
    else:
        line += ["-gencode", "arch=compute_90,code=sm_90", "-gencode", "arch=compute_90,code=compute_90"]
    return [*line, f"-I{ROOT / 'csrc' / 'gpu'}", f"-I{ROOT / 'csrc'}", str(source), "-o", str(target)]


def built(side, name):
    """Where the library of emulator_kernels/<name>.cu lies, or would."""
    source = SOURCES / f"{name}.cu"
    digest = hashlib.sha256(side.encode())
    headers = _installed.SOURCES / ("emulator" if side == "emulator" else "gpu")
    used = [*sorted(SOURCES.glob("*.h")), *sorted(headers.rglob("*.[hc]*"))]
    if kernels := re.findall(r'#include "(kernels/.+)"', source.read_text()):
        used += [*sorted((ROOT / "csrc" / "kernels").glob("*.*h")), *(ROOT / "csrc" / path for path in kernels)]
    for path in [source, *used]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    if side == "emulator":
        compiler = pathlib.Path(shutil.which(os.environ.get("CXX", "c++")) or "/").resolve()
        digest.update(f"{compiler} {compiler.stat().st_mtime_ns}".encode() + pathlib.Path(__file__).read_bytes())
    return (KEPT if side == "emulator" else BUILT) / f"{name}-{side}-{digest.hexdigest()[:16]}.so"


def build(side, name):
    """Builds a file unless the same thing is there already; returns the library's path."""
    source, target = SOURCES / f"{name}.cu", built(side, name)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(f".{os.getpid()}")  # several test processes may build the same file
        run = subprocess.run(command(side, source, partial), capture_output=True, text=True)
        if run.returncode:
            raise RuntimeError(f"{' '.join(command(side, source, partial))}\n{run.stdout}{run.stderr}")
        partial.replace(target)
    os.utime(target)  # It was used.
    return target


class CudaFailure(Exception):
    """A runtime function or launch gave an error code."""

    def __init__(self, call, code, name, detail):
        super().__init__(f"{call}: {name} ({code}) {detail}")
        self.code, self.name, self.detail = code, name, detail


class Shape(ctypes.Structure):
    """A launch's shape; struct Shape of kernels.h."""

    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_size_t),
        ("stream", ctypes.c_void_p),
        ("cooperative", ctypes.c_int),
        ("cluster", ctypes.c_uint * 3),
    ]


class Buffer:
    """Device memory that holds a copy of a NumPy array, freed with the object."""

    def __init__(self, library, array):
        self.library, self.shape, self.dtype = library, array.shape, array.dtype
        self.bytes = max(array.nbytes, 1)
        self.address = ctypes.c_void_p()
        library.check("api_malloc", ctypes.byref(self.address), ctypes.c_size_t(self.bytes))
        self.put(array)

    def put(self, array):
        array = np.ascontiguousarray(array)
        place = ctypes.c_void_p(array.ctypes.data)
        self.library.check("api_copy", self.address, place, ctypes.c_size_t(array.nbytes), TO_DEVICE)
        # A small copy from pageable memory may still be on its way, and streams of ours do not wait for this one.
        self.library.check("api_stream_synchronize", None)

    def get(self):
        array = np.empty(self.shape, self.dtype)
        place = ctypes.c_void_p(array.ctypes.data)
        self.library.check("api_copy", place, self.address, ctypes.c_size_t(array.nbytes), TO_HOST)
        return array

    def __del__(self):
        self.library.raw.api_free(self.address)


def three(value):
    value = (value,) if isinstance(value, int) else tuple(value)
    return (ctypes.c_uint * 3)(*(value + (1, 1, 1))[:3])


class Library:
    """One built file of test kernels; `path`: a copy of it."""

    def __init__(self, side, name, path=None):
        self.side = side
        self.source = SOURCES / f"{name}.cu"
        if side == "emulator":
            ctypes.CDLL(str(CORE))
        self.raw = ctypes.CDLL(str(path or build(side, name)))
        self.raw.api_error_name.restype = self.raw.api_error_string.restype = ctypes.c_char_p
        self.raw.seam_name.restype = ctypes.c_char_p

    def code(self, function, *arguments):
        """Calls a function and gives its code. An int is a C int: wrap what is wider."""
        plain = [a.address if isinstance(a, Buffer) else a for a in arguments]
        return getattr(self.raw, function)(*plain)

    def check(self, function, *arguments):
        code = self.code(function, *arguments)
        if code:
            raise CudaFailure(function, code, self.raw.api_error_name(code).decode(), self.detail())

    def detail(self):
        """What the backend knows of the last error beyond its code."""
        text = ctypes.create_string_buffer(4096)
        self.raw.seam_detail(text, ctypes.c_size_t(4096))
        return text.value.decode()

    def buffer(self, array):
        return Buffer(self, np.asarray(array))

    def start(self, function, *arguments, grid=1, block=1, shared=0, stream=None, cooperative=False, cluster=None):
        """Launches and does not wait."""
        blocks = three(cluster) if cluster else (ctypes.c_uint * 3)()
        shape = Shape(three(grid), three(block), shared, stream, int(cooperative), blocks)
        self.check(function, ctypes.byref(shape), *arguments)

    def launch(self, function, *arguments, stream=None, **shape):
        """Launches and waits."""
        self.start(function, *arguments, stream=stream, **shape)
        self.check("api_stream_synchronize", stream)

    def value(self, function, kind, *arguments):
        """The value that a function writes through its first argument."""
        place = kind()
        self.check(function, ctypes.byref(place), *arguments)
        return place.value

    def stream(self, flags=1):  # cudaStreamNonBlocking
        return ctypes.c_void_p(self.value("api_stream_flags", ctypes.c_void_p, ctypes.c_uint(flags)))

    def event(self, flags=0):
        return ctypes.c_void_p(self.value("api_event", ctypes.c_void_p, ctypes.c_uint(flags)))

    def lines(self, mark):
        """The numbers of the lines marked "HERE: mark"."""
        text = self.source.read_text().splitlines()
        return [number for number, line in enumerate(text, 1) if line.endswith(f"HERE: {mark}")]


@functools.cache
def load(side, name):
    return Library(side, name)


def copies(side, name, folder, count):
    """As many libraries of one file: copies of it in the folder, which the loader takes for different ones."""
    paths = [folder / f"{name}_{number}.so" for number in range(count)]
    return [Library(side, name, shutil.copy(build(side, name), path)) for path in paths]


if __name__ == "__main__":  # builds all; "cuda": for a machine without nvcc
    import sys

    for wanted in sys.argv[1:] or ["emulator"]:
        for path in sorted(SOURCES.glob("*.cu")):
            print(build(wanted, path.stem))
