"""The operations that only ``cudakern.lab`` calls, to measure their kernels. Each is defined by a function of NumPy,
whose arguments with defaults are keywords of every variant. The experiments in cudakern/lab explain what they show."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.layout import Shape
from ..arrays.transfer import Array
from ..calls.call import call
from ..calls.rule import Rule, same_shape
from ..calls.table import AUTO
from .registry import FOR_EXPERIMENTS, random_array, random_arrays, random_bytes, registered


def experiment(
    preferred: str, *, shape: Callable[..., Shape] = same_shape, only: tuple[str, ...] = (), **facts: Any
) -> Callable[[Callable[..., Array]], Callable[..., Any]]:
    """Makes an operation of a function of NumPy, for shapes that C checks. ``preferred`` is the variant of "auto" on a
    device. The rest are fields of Operation: ``reference`` is the function, ``default_dtype`` the first of ``only``."""

    def of(by_numpy: Callable[..., Array]) -> Callable[..., Any]:
        arguments = inspect.signature(by_numpy).parameters.values()
        operands = tuple(p.name for p in arguments if p.default is p.empty)
        own = {p.name: p.default for p in arguments if p.default is not p.empty}
        rule = Rule(by_numpy.__name__, operands, by_numpy, preferred=(preferred,), shape=shape, only=only)

        def function(*inputs: Any, out: Any = None, variant: str = AUTO, stream: Any = None, **parameters: Any) -> Any:
            keywords = {name: parameters.pop(name, default) for name, default in own.items()}
            return call(rule, inputs, out, variant, stream, parameters, keywords)

        function.__name__ = function.__qualname__ = rule.name
        defaults: dict[str, Any] = {"reference": by_numpy, "default_dtype": (*only, "float32")[0], "own": tuple(own)}
        return registered(FOR_EXPERIMENTS, **defaults | facts)(function)

    return of


# --- which thread has which element ----------------------------------------------------------------------------------
#: Threads per block along each axis, slowest axis first, by the number of axes.
BLOCKS = {1: (8,), 2: (4, 8), 3: (2, 2, 4)}


def _numbered(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """An array, and numbers for a grid over it that for odd seeds leaves out the edge, as width / 16 blocks do."""
    random = np.random.default_rng(seed)
    block = BLOCKS[len(shape)]
    grid = tuple(n // length if seed % 2 else -(-n // length) for n, length in zip(shape, block, strict=True))
    return random_array(random, shape, dtype), random.integers(1, 1000, grid + block).astype(dtype)


@experiment(
    "coordinates",
    make=_numbered,
    default_dtype="int64",
    default_shape=(62, 76),
    ragged=((0,), (1,), (13, 0), (7,), (62, 76), (5, 7, 9), (1009,), (33, 129)),
)
def thread_map(x: Array, numbers: Array) -> Array:
    # The numbers of all threads, laid out side by side like their blocks, are added where they meet the array. Their
    # shape is the grid's followed by the block's, slowest axis first.
    axes = x.ndim
    grid, block = numbers.shape[:axes], numbers.shape[axes:]
    side_by_side = numbers.transpose([i for axis in range(axes) for i in (axis, axes + axis)])
    threads = side_by_side.reshape([blocks * length for blocks, length in zip(grid, block, strict=True)])
    covered = tuple(slice(0, min(n, m)) for n, m in zip(x.shape, threads.shape, strict=True))
    result = np.zeros_like(x)
    result[covered] = x[covered] + threads[covered]
    return result


@experiment("greeting", only=("int32",), default_shape=(4,))
def hello(x: Array, lines: int = 0) -> Array:
    # In the kernel, the first `lines` threads print a greeting too.
    return np.asarray(x + np.arange(x.size, dtype=x.dtype).reshape(x.shape))


# --- constant memory -------------------------------------------------------------------------------------------------
CHAIN = 64  #: as in mix.cuh and late.cuh
ODD = np.uint32(0x9E3779B1)
#: M's numbers, which "literal" has in its code.
LITERALS = np.array([0x55555555, 0x77777777, 0x33333333, 0x11111111], np.uint32)


def _mixed(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """Random elements, and the table that every variant takes."""
    return np.random.default_rng(seed).integers(0, 2**32, shape, np.uint32).astype(dtype), LITERALS.astype(dtype)


@experiment("array", only=("uint32",), make=_mixed)
def constant_memory(x: Array, table: Array, index: str = "uniform") -> Array:
    # 64 times d = (d ^ number) * ODD, with the table's numbers in order, again and again: from the first for all
    # elements ("uniform"), or from number i for element i ("divergent"). A compiler computes M's own chain in advance.
    d = x.copy()
    first = np.arange(d.size).reshape(d.shape) if index == "divergent" else np.zeros(d.shape, np.intp)
    for step in range(CHAIN):
        d = (d ^ table[(first + step) % table.size]) * ODD
    return d


# --- shared memory and global memory ---------------------------------------------------------------------------------
LANES, THREADS, TILE, ROUNDS = 32, 256, 1024, 256  #: as in strided.cuh and branches.cuh


def _tiles(x: Shape, stride: int = 16) -> Shape:
    return (-(-math.prod(x) // TILE), THREADS)


@experiment(
    "strided",
    shape=_tiles,
    rate="GFLOP/s",
    only=("int32",),
    default_shape=(1 << 14,),
    ragged=((0,), (1,), (1023,), (1024,), (1025,), (3, 700)),
)
def bank_conflicts(x: Array, stride: int = 16) -> Array:
    # 256 threads per tile of 1024 words: thread t begins with t, and reads word stride * (t % 32) 256 times, each time
    # as 3 * sum + word. Here as one formula. (T6: data[16 * tid] against data[17 * tid], and data[3] for all.)
    words = np.zeros((_tiles(x.shape)[0], TILE), np.int64)
    words.reshape(-1)[: x.size] = x.reshape(-1)
    begin = 3**ROUNDS % 2**32 * np.arange(THREADS, dtype=np.int64)
    each = np.tile(words[:, stride * np.arange(LANES)], THREADS // LANES)
    result: Array = (3**ROUNDS - 1) // 2 % 2**32 * each + begin  # modulo 2**64, of which int32 takes the last bits
    return result.astype(np.int32)


@experiment(
    "elementwise",
    shape=lambda x, offset, stride, idle: (len(range(offset, x[0], stride)),),
    shape_help="the array's length",
    ragged=((0,), (1,), (31,), (33,), (257,), (1009,), (65537,)),
)
def coalescing(x: Array, offset: int = 0, stride: int = 1, idle: int = LANES) -> Array:
    # Thread i reads element offset + stride * i, except lane `idle` of each warp, which writes 0.
    result = x[offset::stride].copy()
    if idle != LANES:
        result[idle::LANES] = 0
    return result


@experiment("words", make=random_bytes, default_dtype="uint8")
def unpack_bytes(x: Array) -> Array:
    return x.astype(np.float32)


@experiment(
    "staged",
    shape=lambda vectors: vectors[:1],
    magnitude=lambda vectors: np.sum(vectors * vectors, axis=1),
    default_shape=(1 << 18, 3),
    shape_help="(vectors, 3)",
    ragged=((0, 3), (1, 3), (2, 3), (33, 3), (256, 3), (257, 3), (20011, 3)),
)
def vec3(vectors: Array) -> Array:
    total: Array = vectors[:, 0] * vectors[:, 0] + vectors[:, 1] * vectors[:, 1] + vectors[:, 2] * vectors[:, 2]
    return total


@experiment(
    "struct_of_arrays",
    make=lambda shape, dtype, seed: random_arrays(dtype, seed, shape, shape),
    default_dtype="int32",
    default_shape=(1 << 18, 4),
    shape_help="(structs, 4)",
    ragged=((0, 4), (1, 4), (33, 4), (256, 4), (257, 4), (20011, 4)),
)
def add_fields(begin: Array, source: Array, rounds: int = 1) -> Array:
    # Field by field, round by round, in the arrays' order in memory: in C order the structs are side by side, in
    # Fortran's order the fields.
    result = begin.copy(order="K")
    for _ in range(rounds):
        for field in range(4):
            result[:, field] += source[:, field]
    return result


# --- what threads do -------------------------------------------------------------------------------------------------
#: Which threads take the second path, by the thread's number in its block.
BRANCHES: dict[str, Callable[[Array], Array]] = {
    "first": lambda thread: thread < 0,
    "second": lambda thread: thread >= 0,
    "thread": lambda thread: thread > 2,
    "lane": lambda thread: thread % 32 > 2,
    "odd_lane": lambda thread: thread % 2 == 1,
    "warp": lambda thread: thread // 32 >= 2,
}


@experiment(
    "branches",
    rate="GFLOP/s",
    only=("int32",),
    default_shape=(1 << 16,),
    ragged=((0,), (1,), (255,), (257,), (13, 77), (5003,)),
)
def divergence(x: Array, branch: str = "first") -> Array:
    value = x.flatten()
    second = BRANCHES[branch](np.arange(value.size) % THREADS)
    squared, scaled = value[second], value[~second]
    for _ in range(ROUNDS):
        squared = squared * squared ^ 12345
        scaled = scaled * 1664525 ^ 1013904223
    value[second], value[~second] = squared, scaled
    return value.reshape(x.shape)


@experiment("several", only=("int32",), default_shape=(1 << 17,))
def latency(x: Array) -> Array:
    # Each element plus a chain that begins with its index and becomes value * value + 12345, 64 times.
    chain = np.arange(x.size, dtype=x.dtype).reshape(x.shape)
    for _ in range(CHAIN):
        chain *= chain
        chain += 12345
    return np.asarray(x + chain)


def _product(x: Any, y: Any) -> Any:
    """The product of the integer parts, modulo 2^32, as a signed number."""
    integers = [np.trunc(np.nan_to_num(v, posinf=2**31 - 1, neginf=-(2**31))).astype(np.int64) for v in (x, y)]
    return ((integers[0] * integers[1] + 2**31) % 2**32 - 2**31).astype(x.dtype)


#: Each by NumPy, in the arguments' own precision; in the order of the kernels' words.
EXACT: dict[str, Callable[[Any, Any], Any]] = {
    "divide": lambda x, y: x / y,
    "exp": lambda x, y: np.exp(x),
    "exp10": lambda x, y: x.dtype.type(10) ** x,
    "log": lambda x, y: np.log(x),
    "log2": lambda x, y: np.log2(x),
    "log10": lambda x, y: np.log10(x),
    "sin": lambda x, y: np.sin(x),
    "cos": lambda x, y: np.cos(x),
    "tan": lambda x, y: np.tan(x),
    "power": lambda x, y: x**y,
    "reciprocal_root": lambda x, y: 1 / np.sqrt(x),
    "multiply24": _product,
}


def _function(x: Any, y: Any, function: str = "divide", repeats: int = 1) -> Array:
    """In at least double precision."""
    x, y = (np.asarray(v).astype(np.result_type(v, np.float64)) for v in (x, y))
    with np.errstate(all="ignore"):
        return np.asarray(EXACT[function](x, y))


def _arguments(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """Two arrays of floats from 1/4 to 1, for which all functions have results of the order of 1; of another type:
    integers, and powers of two to divide them by."""
    random = np.random.default_rng(seed)
    if dtype.kind == "f":
        return tuple(random.uniform(0.25, 1, shape).astype(dtype) for _ in range(2))
    return random_array(random, shape, dtype), (2 ** random.integers(0, 4, shape)).astype(dtype)


@experiment(
    "full",
    only=("float32",),
    reference=_function,
    magnitude=lambda x, y, **own: np.full(np.shape(x), 16.0),
    make=_arguments,
    rate="GFLOP/s",
    shape_help="both arrays'",
)
def intrinsics(x: Array, y: Array, function: str = "divide", repeats: int = 1) -> Array:
    # "full" is C's function in float, "fast" CUDA's intrinsic, `repeats` times for measurements.
    with np.errstate(all="ignore"):
        return _function(x, y, function).astype(np.float32)


# --- local memory, and textures --------------------------------------------------------------------------------------
WINDOW = 32  #: the variants' default


def _weighted(x: Array, window: int = WINDOW) -> Array:
    result = np.zeros_like(x)
    with np.errstate(over="ignore", invalid="ignore"):
        for age in range(min(window, len(x))):
            result[age:] += x.dtype.type(window - age) * x[: len(x) - age]
    return result


@experiment(
    "compile_time_index",
    magnitude=lambda x, window=WINDOW: _weighted(np.abs(x), window),
    default_shape=(256, 4096),
    shape_help="rows and columns",
    sides=2,
    ragged=((0, 3), (3, 0), (1, 1), (31, 5), (33, 7), (65, 33), (513, 9), (1009, 65)),
)
def moving_sum(x: Array, window: int = WINDOW) -> Array:
    # The sum of the newest `window` rows in each column: the newest counts `window` times, the oldest once. It is
    # scipy.signal.lfilter(range(window, 0, -1), 1, x, axis=0).
    return _weighted(x, window)


@experiment(
    "packed",
    only=("uint8",),
    reference=lambda image: np.divide(image, 255, dtype=np.float64),
    magnitude=lambda image: np.ones(np.shape(image)),
    make=lambda shape, dtype, seed: random_bytes((*shape, 4), dtype, seed),
    default_shape=(1080, 1920),
    shape_help="rows, columns",
    sides=2,
    ragged=((0, 5), (3, 0), (1, 1), (13, 7), (62, 76), (131, 257)),
)
def rgba_to_float(image: Array) -> Array:
    return np.asarray(np.divide(image, np.float32(255), dtype=np.float32))
