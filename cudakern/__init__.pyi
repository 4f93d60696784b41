"""What a type checker sees of cudakern. Written by .ci/stub.py: do not edit."""

from collections.abc import Callable, Mapping, Sequence
from types import EllipsisType
from typing import Any, Literal, SupportsIndex, TypeAlias, overload

import numpy.typing as npt

from . import emulator
from . import lab as lab
from ._backend import Backend, Device, backend, device, devices, use_backend
from ._errors import CompileError, CudaError, OutOfMemoryError
from .arrays.array import DeviceArray
from .arrays.creation import asarray, empty, empty_pinned, from_dlpack, zeros
from .arrays.memory_limit import memory_limit
from .arrays.streams import Event, Stream, synchronize
from .arrays.transfer import Array
from .calls.table import Parameter, Variant, Variants
from .chips.device_query import DeviceQuery, device_query
from .insight.check import check, checking
from .insight.counters import Trace, trace
from .insight.findings import Finding, Findings
from .measure.bench import Bench
from .measure.compare import Comparison, compare, random_matrix
from .measure.occupancy import Occupancy, PotentialBlockSize, max_potential_block_size
from .measure.profile import Profile
from .measure.resources import KernelResources, KernelTable
from .measure.steps import Ladder, Step
from .operations.variants import AllVariants
from .own.compile import Kernel, Program, compile
from .programs.run import Finished, run
from .sources.difference import Difference
from .sources.text import Source

__version__: str

_Operation: TypeAlias = Literal[
    "vector_add",
    "saxpy",
    "stencil_1d",
    "grayscale",
    "sum_of_squares",
    "matmul",
    "sort",
    "exclusive_scan",
    "inclusive_scan",
    "interp",
    "lookup_2d",
    "lookup_3d",
    "packbits",
    "bincount",
    "add_fields",
    "bank_conflicts",
    "coalescing",
    "constant_memory",
    "divergence",
    "extent",
    "hello",
    "intrinsics",
    "latency",
    "moving_sum",
    "rgba_to_float",
    "thread_map",
    "unpack_bytes",
    "vec3",
]
_Bincount: TypeAlias = Literal[
    "auto",
    "numpy",
    "global_atomics",
    "shared_atomics",
    "warp_aggregated",
]
_ExclusiveScan: TypeAlias = Literal[
    "auto",
    "numpy",
    "serial",
    "block_chunks",
    "blocks",
    "lookback",
]
_Grayscale: TypeAlias = Literal[
    "auto",
    "numpy",
    "naive",
    "blocks_2d",
    "vectorized",
]
_InclusiveScan: TypeAlias = Literal[
    "auto",
    "numpy",
    "serial",
    "block_chunks",
    "blocks",
    "lookback",
]
_Interp: TypeAlias = Literal[
    "auto",
    "numpy",
    "global_memory",
    "shared",
    "constant",
    "texture",
]
_Lookup2D: TypeAlias = Literal[
    "auto",
    "numpy",
    "global_memory",
    "texture",
]
_Lookup3D: TypeAlias = Literal[
    "auto",
    "numpy",
    "global_memory",
    "texture",
]
_Matmul: TypeAlias = Literal[
    "auto",
    "numpy",
    "naive",
    "kahan",
    "shared_row",
    "pitched",
    "tiled",
    "tiled_padded",
    "naive_2d",
    "tiled_plain",
    "column_tile",
    "register_tile",
    "vectorized",
    "double_buffered",
    "warp_tiles",
    "small_tiles",
    "warp_tiles_split_k",
    "few_rows",
    "tensor_cores",
    "tensor_cores_split_k",
    "wgmma_tiles",
    "wgmma_producer",
    "wgmma_persistent",
    "wgmma_multicast",
    "wgmma_split_k",
    "wgmma_groups",
    "wgmma_tf32",
    "split_fp16",
    "split_bf16",
    "split_inside",
    "split_small",
    "wgmma_int8",
    "tensor_cores_double",
    "residues_int8",
    "fastest",
]
_Packbits: TypeAlias = Literal[
    "auto",
    "numpy",
    "global_memory",
    "register",
    "unrolled",
    "ballot",
    "vectorized",
]
_Saxpy: TypeAlias = Literal[
    "auto",
    "numpy",
    "naive",
    "grid_stride",
    "vectorized",
]
_Sort: TypeAlias = Literal[
    "auto",
    "numpy",
    "radix_lists",
    "merge_serial",
    "merge_atomic_min",
    "merge_reduction",
    "merge_hybrid",
    "many_blocks",
    "sample_sort_sequential",
    "sample_sort",
    "cub",
]
_Stencil1D: TypeAlias = Literal[
    "auto",
    "numpy",
    "global_memory",
    "shared_halo",
    "register_window",
]
_SumOfSquares: TypeAlias = Literal[
    "auto",
    "numpy",
    "single_thread",
    "chunked",
    "chunked_global",
    "coalesced",
    "multi_block",
    "shared_serial",
    "tree_interleaved",
    "tree_sequential",
    "tree_unrolled",
    "warp_shuffle",
    "vectorized",
    "atomic",
    "cooperative",
    "one_launch",
]
_VectorAdd: TypeAlias = Literal[
    "auto",
    "numpy",
    "naive",
    "grid_stride",
    "vectorized",
]

def bench(
    op: _Operation | str | Callable[..., Any],
    shapes: Sequence[int | Sequence[int]] | None = None,
    dtype: npt.DTypeLike = "float32",
    *,
    variants: Sequence[str] | None = None,
    peers: bool | Mapping[str, Callable[..., Any]] = True,
    rounds: int = 15,
    seed: int | None = None,
    host: bool = False,
    tune: bool = False,
    emulated: bool = False,
    progress: bool | None = None,
) -> Bench: ...
def diff(
    op: _Operation | str | Callable[..., Any],
    variant: str,
    to: str | None = None,
) -> Difference: ...
def kernel_resources(
    op: _Operation | str | Callable[..., Any],
    variant: str | None = None,
    dtype: npt.DTypeLike | None = None,
    **parameters: Any,
) -> KernelTable: ...
def ladder(
    op: _Operation | str | Callable[..., Any] | Sequence[Callable[..., Any]],
    *,
    n: int | None = None,
    shape: Sequence[int] | None = None,
    dtype: npt.DTypeLike | None = None,
    inputs: Sequence[Any] | None = None,
    variants: Sequence[str] | None = None,
    repeat: int | None = None,
    warmup: int | None = None,
    seed: int | None = None,
    progress: bool | None = None,
    reference: Callable[..., Any] | None = None,
    **parameters: Any,
) -> Ladder: ...
def occupancy(
    op: _Operation | str | Callable[..., Any] | None = None,
    variant: str | None = None,
    *,
    threads: int | None = None,
    registers: int | None = None,
    shared_bytes: int | None = None,
    capability: float | str | tuple[int, int] | None = None,
    shared_config: int | None = None,
    dtype: Any = None,
    **parameters: Any,
) -> Occupancy: ...
def profile(
    fn: _Operation | str | Callable[..., Any],
    *args: Any,
    repeat: int | None = None,
    warmup: int | None = None,
    **kw: Any,
) -> Profile: ...
def source(
    op: _Operation | str | Callable[..., Any],
    variant: str | None = None,
    *,
    plain: bool = False,
) -> Source: ...
@overload
def variants(op: _Operation | str | Callable[..., Any]) -> Variants: ...
@overload
def variants(op: None = None) -> AllVariants: ...
@overload
def bincount(
    x: DeviceArray,
    /,
    weights: None = None,
    minlength: SupportsIndex = 0,
    *,
    variant: _Bincount | str = "auto",
    stream: Any = None,
    **parameters: int,
) -> DeviceArray: ...
@overload
def bincount(
    x: npt.ArrayLike,
    /,
    weights: None = None,
    minlength: SupportsIndex = 0,
    *,
    variant: _Bincount | str = "auto",
    stream: Any = None,
    **parameters: int,
) -> Any: ...
@overload
def exclusive_scan(
    x: DeviceArray,
    /,
    out: DeviceArray | None = None,
    *,
    variant: _ExclusiveScan | str = "auto",
    stream: Any = None,
    **parameters: int,
) -> DeviceArray: ...
@overload
def exclusive_scan(
    x: npt.ArrayLike,
    /,
    out: Array | None = None,
    *,
    variant: _ExclusiveScan | str = "auto",
    stream: Any = None,
    **parameters: int,
) -> Any: ...
@overload
def grayscale(
    image: DeviceArray,
    /,
    out: DeviceArray | None = None,
    *,
    variant: _Grayscale | str = "auto",
    stream: Any = None,
    **parameters: int,
) -> DeviceArray: ...
@overload
def grayscale(
    image: npt.ArrayLike,
    /,
    out: Array | None = None,
    *,
    variant: _Grayscale | str = "auto",
    stream: Any = None,
    **parameters: int,
) -> Any: ...
@overload
def inclusive_scan(
    x: DeviceArray,
    /,
    out: DeviceArray | None = None,
    *,
    variant: _InclusiveScan | str = "auto",
    stream: Any = None,
    **parameters: int,
) -> DeviceArray: ...
@overload
def inclusive_scan(
    x: npt.ArrayLike,
    /,
    out: Array | None = None,
    *,
    variant: _InclusiveScan | str = "auto",
    stream: Any = None,
    **parameters: int,
) -> Any: ...
@overload
def interp(
    x: DeviceArray,
    xp: DeviceArray,
    fp: DeviceArray,
    left: float | DeviceArray | None = None,
    right: float | DeviceArray | None = None,
    *,
    out: DeviceArray | None = None,
    variant: _Interp | str = "auto",
    stream: Any = None,
    **parameters: int,
) -> DeviceArray: ...
@overload
def interp(
    x: npt.ArrayLike,
    xp: npt.ArrayLike,
    fp: npt.ArrayLike,
    left: float | None = None,
    right: float | None = None,
    *,
    out: Array | None = None,
    variant: _Interp | str = "auto",
    stream: Any = None,
    **parameters: int,
) -> Any: ...
@overload
def lookup_2d(
    table: DeviceArray,
    y: DeviceArray,
    x: DeviceArray,
    mode: str = "clamp",
    filter: str = "linear",
    *,
    out: DeviceArray | None = None,
    variant: _Lookup2D | str = "auto",
    stream: Any = None,
    **parameters: int,
) -> DeviceArray: ...
@overload
def lookup_2d(
    table: npt.ArrayLike,
    y: npt.ArrayLike,
    x: npt.ArrayLike,
    mode: str = "clamp",
    filter: str = "linear",
    *,
    out: Array | None = None,
    variant: _Lookup2D | str = "auto",
    stream: Any = None,
    **parameters: int,
) -> Any: ...
@overload
def lookup_3d(
    table: DeviceArray,
    z: DeviceArray,
    y: DeviceArray,
    x: DeviceArray,
    mode: str = "clamp",
    filter: str = "linear",
    *,
    out: DeviceArray | None = None,
    variant: _Lookup3D | str = "auto",
    stream: Any = None,
    **parameters: int,
) -> DeviceArray: ...
@overload
def lookup_3d(
    table: npt.ArrayLike,
    z: npt.ArrayLike,
    y: npt.ArrayLike,
    x: npt.ArrayLike,
    mode: str = "clamp",
    filter: str = "linear",
    *,
    out: Array | None = None,
    variant: _Lookup3D | str = "auto",
    stream: Any = None,
    **parameters: int,
) -> Any: ...
@overload
def matmul(
    a: DeviceArray,
    b: DeviceArray,
    /,
    out: Array | DeviceArray | tuple[Array | DeviceArray | None] | EllipsisType | None = None,
    *,
    variant: _Matmul | str = "auto",
    accuracy: Literal["fast", "strict"] = "fast",
    stream: Any = None,
    **parameters: int,
) -> DeviceArray: ...
@overload
def matmul(
    a: npt.ArrayLike | DeviceArray,
    b: npt.ArrayLike | DeviceArray,
    /,
    out: Array | DeviceArray | tuple[Array | DeviceArray | None] | EllipsisType | None = None,
    *,
    variant: _Matmul | str = "auto",
    accuracy: Literal["fast", "strict"] = "fast",
    stream: Any = None,
    **parameters: int,
) -> Any: ...
@overload
def packbits(
    a: DeviceArray,
    /,
    axis: SupportsIndex | None = None,
    bitorder: str = "big",
    *,
    variant: _Packbits | str = "auto",
    stream: Any = None,
    **parameters: int,
) -> DeviceArray: ...
@overload
def packbits(
    a: npt.ArrayLike,
    /,
    axis: SupportsIndex | None = None,
    bitorder: str = "big",
    *,
    variant: _Packbits | str = "auto",
    stream: Any = None,
    **parameters: int,
) -> Any: ...
@overload
def saxpy(
    a: npt.ArrayLike | DeviceArray,
    x: DeviceArray,
    y: DeviceArray,
    /,
    out: DeviceArray | None = None,
    *,
    variant: _Saxpy | str = "auto",
    stream: Any = None,
    **parameters: int,
) -> DeviceArray: ...
@overload
def saxpy(
    a: npt.ArrayLike,
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    /,
    out: Array | None = None,
    *,
    variant: _Saxpy | str = "auto",
    stream: Any = None,
    **parameters: int,
) -> Any: ...
@overload
def sort(
    a: DeviceArray,
    axis: int | None = -1,
    *,
    variant: _Sort | str = "auto",
    stream: Any = None,
    **parameters: Any,
) -> DeviceArray: ...
@overload
def sort(
    a: npt.ArrayLike,
    axis: int | None = -1,
    *,
    variant: _Sort | str = "auto",
    stream: Any = None,
    **parameters: Any,
) -> Any: ...
@overload
def stencil_1d(
    x: DeviceArray,
    /,
    radius: int = 3,
    out: DeviceArray | None = None,
    *,
    variant: _Stencil1D | str = "auto",
    stream: Any = None,
    **parameters: int,
) -> DeviceArray: ...
@overload
def stencil_1d(
    x: npt.ArrayLike,
    /,
    radius: int = 3,
    out: Array | None = None,
    *,
    variant: _Stencil1D | str = "auto",
    stream: Any = None,
    **parameters: int,
) -> Any: ...
@overload
def sum_of_squares(
    x: DeviceArray,
    variant: _SumOfSquares | str = "auto",
    *,
    stream: Any = None,
    **parameters: int,
) -> DeviceArray: ...
@overload
def sum_of_squares(
    x: npt.ArrayLike,
    variant: _SumOfSquares | str = "auto",
    *,
    stream: Any = None,
    **parameters: int,
) -> Any: ...
@overload
def vector_add(
    x: DeviceArray,
    y: npt.ArrayLike | DeviceArray,
    /,
    out: DeviceArray | None = None,
    *,
    variant: _VectorAdd | str = "auto",
    stream: Any = None,
    **parameters: int,
) -> DeviceArray: ...
@overload
def vector_add(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    /,
    out: Array | None = None,
    *,
    variant: _VectorAdd | str = "auto",
    stream: Any = None,
    **parameters: int,
) -> Any: ...

__all__ = [
    "Backend",
    "Bench",
    "Comparison",
    "CompileError",
    "CudaError",
    "Device",
    "DeviceArray",
    "DeviceQuery",
    "Difference",
    "Event",
    "Finding",
    "Findings",
    "Finished",
    "Kernel",
    "KernelResources",
    "KernelTable",
    "Ladder",
    "Occupancy",
    "OutOfMemoryError",
    "Parameter",
    "PotentialBlockSize",
    "Profile",
    "Program",
    "Source",
    "Step",
    "Stream",
    "Trace",
    "Variant",
    "Variants",
    "__version__",
    "asarray",
    "backend",
    "bench",
    "bincount",
    "check",
    "checking",
    "compare",
    "compile",
    "device",
    "device_query",
    "devices",
    "diff",
    "empty",
    "empty_pinned",
    "emulator",
    "exclusive_scan",
    "from_dlpack",
    "grayscale",
    "inclusive_scan",
    "interp",
    "kernel_resources",
    "ladder",
    "lookup_2d",
    "lookup_3d",
    "matmul",
    "max_potential_block_size",
    "memory_limit",
    "occupancy",
    "packbits",
    "profile",
    "random_matrix",
    "run",
    "saxpy",
    "sort",
    "source",
    "stencil_1d",
    "sum_of_squares",
    "synchronize",
    "trace",
    "use_backend",
    "variants",
    "vector_add",
    "zeros",
]
