"""The operations that only ``cudakern.lab`` calls, to measure their kernels. Each is what NumPy computes; its arguments
with defaults are keywords of every variant. What it shows is said where it is measured, in cudakern/lab."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._array import DeviceArray
from .._errors import unknown
from .._layout import Shape
from .._table import AUTO
from .._transfer import Array
from . import Operation, arrays, random_array
from ._call import call
from ._rule import Rule, same_shape

OPERATIONS: list[Operation] = []
Experiment = Callable[..., Any]


def experiment(
    preferred: str,
    position: int,
    *,
    shape: Callable[..., Shape] = same_shape,
    fits: Callable[..., bool] = lambda *shapes: True,
    wants: str = "",
    only: tuple[str, ...] = (),
    out: bool = False,
    check: Callable[..., None] | None = None,
    reference: Callable[..., Any] | None = None,
    **facts: Any,
) -> Callable[[Callable[..., Array]], Experiment]:
    """Makes the operation of what NumPy computes. ``preferred`` is what "auto" takes on a device; ``fits`` which shapes
    it takes, and ``wants`` the same in words; ``out``: it may be given memory for its result; ``check`` sees variant
    and inputs first; ``reference`` is a more exact one; the rest as in Rule and Operation."""

    def of(by_numpy: Callable[..., Array]) -> Experiment:
        taken = list(inspect.signature(by_numpy).parameters.values())
        operands = tuple(p.name for p in taken if p.default is p.empty)
        own = {p.name: p.default for p in taken if p.default is not p.empty}

        def checked(*shapes: Shape, **given: Any) -> Shape:
            if not fits(*shapes):
                said = " and ".join(f"{name} is {x}" for name, x in zip(operands, shapes, strict=True))
                raise ValueError(f"{rule.name}: {said}: {wants}")
            return shape(*shapes, **given)

        rule = Rule(by_numpy.__name__, operands, by_numpy, preferred=(preferred,), shape=checked, only=only)

        def function(*inputs: Any, variant: str = AUTO, stream: Any = None, **parameters: Any) -> Any:
            if len(inputs) != len(operands):
                raise TypeError(f"{rule.name} takes {', '.join(operands)}: {len(operands)} inputs, not {len(inputs)}")
            if check is not None:
                check(variant, *inputs)
            target = parameters.pop("out", None) if out else None
            given = {}
            for name in own:
                given[name] = parameters.pop(name, own[name])
            return call(rule, inputs, target, variant, stream, parameters, given)

        function.__name__ = function.__qualname__ = rule.name
        keywords = own | ({"out": None} if out else {}) | {"variant": AUTO, "stream": None}
        function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in operands]
            + [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=keywords[name]) for name in keywords]
            + [inspect.Parameter("parameters", inspect.Parameter.VAR_KEYWORD)]
        )
        exact = reference or by_numpy
        OPERATIONS.append(Operation(function, position, reference=exact, own=tuple(own), **facts))
        return function

    return of


def unsigned(x: Array, operation: str) -> Array:
    """The same bits without a sign, in C order, since kernels add and multiply integers modulo their type's size."""
    if x.dtype.kind not in "iu":
        raise TypeError(f"{operation} takes integers, not {x.dtype}")
    return np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}").reshape(x.shape)


def _bytes(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    return (np.random.default_rng(seed).integers(0, 256, shape).astype(dtype),)


# --- which thread has which element ----------------------------------------------------------------------------------
#: Threads a block along each axis, slowest axis first, by the number of axes.
BLOCKS = {1: (8,), 2: (4, 8), 3: (2, 2, 4)}


def _numbered(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """An array, and numbers for a grid over it that for odd seeds leaves out the edge, as width / 16 blocks do."""
    random = np.random.default_rng(seed)
    block = BLOCKS[len(shape)]
    grid = tuple(n // length if seed % 2 else -(-n // length) for n, length in zip(shape, block, strict=True))
    return random_array(random, shape, dtype), random.integers(1, 1000, grid + block).astype(dtype)


@experiment(
    "coordinates",
    200,
    fits=lambda x, numbers: 1 <= len(x) <= 3 and len(numbers) == 2 * len(x),
    wants="x has 1 to 3 axes, and numbers the grid's axes and then the block's, as many each",
    make=_numbered,
    default_dtype="int64",
    default_shape=(62, 76),
    ragged=((0,), (1,), (13, 0), (7,), (62, 76), (5, 7, 9), (1009,), (33, 129)),
    large=((1023, 1025), (3, 257, 513)),
)
def thread_map(x: Array, numbers: Array) -> Array:
    # The numbers of all threads, laid side by side as their blocks lie, added where they meet the array. Their shape is
    # the grid's followed by the block's, slowest axis first.
    axes = x.ndim
    grid, block = numbers.shape[:axes], numbers.shape[axes:]
    side_by_side = numbers.transpose([i for axis in range(axes) for i in (axis, axes + axis)])
    threads = side_by_side.reshape([blocks * length for blocks, length in zip(grid, block, strict=True)])
    covered = tuple(slice(0, min(n, m)) for n, m in zip(x.shape, threads.shape, strict=True))
    result = np.zeros_like(x)
    result[covered] = x[covered] + threads[covered]
    return result


@experiment(
    "greeting",
    201,
    only=("int32",),
    out=True,
    default_dtype="int32",
    default_shape=(4,),
    ragged=((0,), (1,), (4,), (33,), (13, 77)),
    large=(),
)
def hello(x: Array, lines: int = 0) -> Array:
    # The first `lines` threads print a greeting, NumPy none.
    return np.asarray(x + np.arange(x.size).reshape(x.shape).astype(x.dtype))


# --- constant memory -------------------------------------------------------------------------------------------------
CHAIN = 64  #: as in mix.cuh and late.cuh
ODD = np.uint32(0x9E3779B1)
LONGEST = 1024  #: table
#: M's numbers, which "literal" has in its code.
LITERALS = np.array([0x55555555, 0x77777777, 0x33333333, 0x11111111], np.uint32)


def _mixed(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """Random elements, and the table that every variant takes."""
    random = np.random.default_rng(seed)
    if dtype == np.uint32:
        return random.integers(0, 2**32, shape, dtype=np.uint32), LITERALS.copy()
    return random_array(random, shape, dtype), LITERALS.astype(dtype)


def _check_literals(variant: str, x: Any, table: Any) -> None:
    if variant == "literal":
        given = table.get() if isinstance(table, DeviceArray) else np.asarray(table)
        if given.dtype == LITERALS.dtype and given.shape == LITERALS.shape and not np.array_equal(given, LITERALS):
            said = f"{LITERALS.tolist()}, not {given.tolist()}"
            raise ValueError(f"constant_memory: literal's numbers are in its code: {said}")


def _mix(x: Any, table: Any, index: str = "uniform") -> Array:
    """64 times d = (d ^ number) * ODD, with the table's numbers in order, round and round: from the first for all
    elements ("uniform"), or from number i for element i ("divergent"). M's own chain folds into constants."""
    table = np.asarray(table).astype(np.uint32)
    if table.size == 0:
        raise ValueError("constant_memory: the table is empty")
    d: Array = np.asarray(x).astype(np.uint32)
    first = np.arange(d.size).reshape(d.shape) if index == "divergent" else np.zeros(d.shape, np.intp)
    for step in range(CHAIN):
        d = (d ^ table[(first + step) % table.size]) * ODD
    return d


@experiment(
    "array",
    200,
    check=_check_literals,
    fits=lambda x, table: len(table) == 1 and 1 <= table[0] <= LONGEST,
    wants="the table is one axis of 1 to 1024 numbers",
    only=("uint32",),
    make=_mixed,
    default_dtype="uint32",
    ragged=((0,), (1,), (31,), (33,), (257,), (1009,), (13, 77)),
    large=(((1 << 22) + 3,),),
    any_value=(0,),
)
def constant_memory(x: Any, table: Any, index: str = "uniform") -> Array:
    return _mix(x, table, index)


# --- shared memory and global memory ---------------------------------------------------------------------------------
LANES, THREADS, TILE, ROUNDS = 32, 256, 1024, 256  #: as in strided.cuh and branches.cuh


def _tiles(x: Shape, stride: int = 16) -> Shape:
    return (-(-math.prod(x) // TILE), THREADS)


@experiment(
    "strided",
    201,
    shape=_tiles,
    rate="GFLOP/s",
    default_dtype="int32",
    default_shape=(1 << 14,),
    ragged=((0,), (1,), (1023,), (1024,), (1025,), (3, 700)),
    large=((100_000,),),
)
def bank_conflicts(x: Array, stride: int = 16) -> Array:
    # 256 threads a tile of 1024 words: thread t begins with t, and reads word stride * (t % 32) 256 times, each time as
    # 3 * sum + word. Here as one formula. (T6: data[16 * tid] against data[17 * tid], and data[3] for all.)
    if not 0 <= stride <= 32:
        raise ValueError(f"bank_conflicts: stride={stride}: lanes are 0 to 32 words apart")
    kind = x.dtype
    flat = unsigned(x, "bank_conflicts").reshape(-1)
    tiles = _tiles(x.shape)[0]
    words = np.zeros((tiles, TILE), flat.dtype)
    words.reshape(-1)[: flat.size] = flat
    modulus = 1 << 8 * kind.itemsize
    begin = 3**ROUNDS % modulus * np.arange(THREADS, dtype=flat.dtype)
    each = np.tile(words[:, stride * np.arange(LANES)], THREADS // LANES)
    result: Array = flat.dtype.type((3**ROUNDS - 1) // 2 % modulus) * each + begin.astype(flat.dtype)
    return result.view(kind)


@experiment(
    "elementwise",
    202,
    fits=lambda x: len(x) == 1,
    wants="x has one axis",
    shape=lambda x, offset, stride, idle: (len(range(offset, x[0], stride)),),
    shape_help="the array's length",
    fixed_rank=True,
    ragged=((0,), (1,), (31,), (33,), (257,), (1009,), (65537,)),
    large=((10_000_019,),),
)
def coalescing(x: Array, offset: int = 0, stride: int = 1, idle: int = LANES) -> Array:
    # Thread i reads element offset + stride * i, but for lane `idle` of each warp, which writes 0.
    if offset < 0 or stride < 1 or not 0 <= idle <= LANES:
        raise ValueError(f"coalescing: offset={offset}, stride={stride}, idle={idle}: from 0, from 1, and 0 to {LANES}")
    result = x[offset::stride].copy()
    if idle != LANES:
        result[idle::LANES] = 0
    return result


@experiment(
    "words",
    203,
    make=_bytes,
    default_dtype="uint8",
    ragged=((0,), (1,), (3,), (5,), (257,), (31, 33), (65539,)),
    large=((10_000_019,),),
)
def unpack_bytes(x: Array) -> Array:
    return x.astype(np.float32)


@experiment(
    "staged",
    204,
    fits=lambda vectors: len(vectors) == 2 and vectors[1] == 3,
    wants="the vectors' shape is (n, 3)",
    shape=lambda vectors: vectors[:1],
    magnitude=lambda vectors: np.sum(vectors * vectors, axis=1),
    default_shape=(1 << 18, 3),
    shape_help="(vectors, 3)",
    fixed_rank=True,
    square=lambda n: (n, 3),
    ragged=((0, 3), (1, 3), (2, 3), (33, 3), (256, 3), (257, 3), (20011, 3)),
    large=((3_000_017, 3),),
)
def vec3(vectors: Array) -> Array:
    total: Array = vectors[:, 0] * vectors[:, 0] + vectors[:, 1] * vectors[:, 1] + vectors[:, 2] * vectors[:, 2]
    return total


@experiment(
    "struct_of_arrays",
    205,
    fits=lambda begin, source: len(begin) == 2 and begin[1] == 4 and source == begin,
    wants="both shapes are (n, 4), a row a struct",
    out=True,
    make=arrays(2),
    default_dtype="int32",
    default_shape=(1 << 18, 4),
    shape_help="(structs, 4)",
    fixed_rank=True,
    square=lambda n: (n, 4),
    ragged=((0, 4), (1, 4), (33, 4), (256, 4), (257, 4), (20011, 4)),
    large=((3_000_017, 4),),
)
def add_fields(begin: Array, source: Array, rounds: int = 1) -> Array:
    # Field by field, round by round, in the order that the arrays have in memory: in C order the structs lie side by
    # side, in Fortran's order the fields.
    if not 1 <= rounds <= 1000:
        raise ValueError(f"add_fields: rounds={rounds}: 1 to 1000")
    result = begin.copy(order="K")
    for _ in range(rounds):
        for field in range(4):
            result[:, field] += source[:, field]
    return result


# --- what threads do -------------------------------------------------------------------------------------------------
#: Who takes the second path, by the thread's number in its block.
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
    206,
    rate="GFLOP/s",
    default_dtype="int32",
    default_shape=(1 << 16,),
    ragged=((0,), (1,), (255,), (257,), (13, 77), (5003,)),
    large=((1_000_003,),),
)
def divergence(x: Array, branch: str = "first") -> Array:
    if branch not in BRANCHES:
        raise ValueError(f"divergence: {unknown('branch=', branch, BRANCHES)}")
    value = unsigned(x, "divergence").reshape(-1).copy()
    kind = value.dtype.type
    second = BRANCHES[branch](np.arange(value.size) % THREADS)
    squared, scaled = value[second], value[~second]
    for _ in range(ROUNDS):
        squared = squared * squared ^ kind(12345)
        scaled = scaled * kind(1664525) ^ kind(1013904223)
    value[second], value[~second] = squared, scaled
    return value.view(x.dtype).reshape(x.shape)


@experiment(
    "several",
    207,
    default_dtype="int32",
    default_shape=(1 << 17,),
    large=((3_000_017,),),
)
def latency(x: Array) -> Array:
    # Each element plus a chain of 64 times value * value + 12345 that begins with its index.
    value = unsigned(x, "latency")
    chain = np.arange(x.size, dtype=value.dtype).reshape(x.shape)
    for _ in range(CHAIN):
        chain *= chain
        chain += value.dtype.type(12345)
    result: Array = value + chain
    return result.view(x.dtype)


def _product(x: Any, y: Any) -> Any:
    """Of the whole parts, modulo 2^32, as a signed number."""
    whole = [np.trunc(np.nan_to_num(v, posinf=2**31 - 1, neginf=-(2**31))).astype(np.int64) for v in (x, y)]
    return ((whole[0] * whole[1] + 2**31) % 2**32 - 2**31).astype(x.dtype)


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
    """Two arrays of numbers from 1/4 to 1, for which all functions have results of the order of 1; of another type:
    whole numbers, and powers of two to divide them by."""
    random = np.random.default_rng(seed)
    if dtype.kind == "f":
        return tuple(random.uniform(0.25, 1, shape).astype(dtype) for _ in range(2))
    return random_array(random, shape, dtype), (2 ** random.integers(0, 4, shape)).astype(dtype)


@experiment(
    "full",
    202,
    fits=lambda x, y: x == y,
    wants="they must have one shape",
    only=("float32",),
    out=True,
    reference=_function,
    magnitude=lambda x, y: np.full(np.shape(x), 16.0),
    make=_arguments,
    rate="GFLOP/s",
    shape_help="both arrays'",
    ragged=((0,), (1,), (31,), (33,), (257,), (13, 77)),
    large=(((1 << 22) + 3,),),
    any_value=(0,),
)
def intrinsics(x: Array, y: Array, function: str = "divide", repeats: int = 1) -> Array:
    # "full" is C's function in float, "fast" CUDA's intrinsic, `repeats` times for measurements.
    if function not in EXACT:
        raise ValueError(f"intrinsics: function={function!r}: it is one of {', '.join(EXACT)}")
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
    210,
    fits=lambda x: len(x) == 2,
    wants="it must have two axes: rows, over which the window moves, and columns; x[:, None] makes a column of a list",
    magnitude=lambda x, window=WINDOW: _weighted(np.abs(x), window),
    default_shape=(256, 4096),
    shape_help="rows and columns",
    fixed_rank=True,
    square=lambda n: (n, n),
    ragged=((0, 3), (3, 0), (1, 1), (31, 5), (33, 7), (65, 33), (513, 9), (1009, 65)),
    large=((20_011, 1001), (257, 65_537)),
)
def moving_sum(x: Array, window: int = WINDOW) -> Array:
    # The newest `window` rows of each column: the newest counts `window` times, the oldest once. It is
    # scipy.signal.lfilter(range(window, 0, -1), 1, x, axis=0).
    return _weighted(x, window)


@experiment(
    "packed",
    220,
    fits=lambda image: len(image) == 3 and image[2] == 4,
    wants="it must be (rows, columns, 4)",
    only=("uint8",),
    reference=lambda image: np.divide(image, 255, dtype=np.float64),
    magnitude=lambda image: np.ones(np.shape(image)),
    make=lambda shape, dtype, seed: _bytes((*shape, 4), dtype, seed),
    default_dtype="uint8",
    default_shape=(1080, 1920),
    shape_help="rows, columns",
    fixed_rank=True,
    square=lambda n: (n, n),
    ragged=((0, 5), (3, 0), (1, 1), (13, 7), (62, 76), (131, 257)),
    large=((2160, 3840),),
)
def rgba_to_float(image: Array) -> Array:
    result: Array = np.divide(image, np.float32(255), dtype=np.float32)
    return result
