"""What a type checker sees of cudakern. Written by .ci/stub.py: do not edit."""

from types import EllipsisType
from typing import Any, SupportsIndex, overload

import numpy.typing as npt

from . import emulator
from . import lab as lab
from ._array import DeviceArray
from ._backend import Backend, backend, use_backend
from ._compare import Comparison, compare, random_matrix
from ._creation import asarray, empty, empty_pinned, from_dlpack, zeros
from ._device_query import DeviceQuery, device_query
from ._devices import Device, device, devices
from ._errors import CudaError, OutOfMemoryError
from ._ladder import Ladder, Step, ladder
from ._occupancy import Occupancy, PotentialBlockSize, max_potential_block_size, occupancy
from ._profile import Profile, profile
from ._resources import KernelResources, KernelTable, kernel_resources
from ._source import Source, source
from ._streams import Event, Stream, synchronize
from ._table import Parameter, Variant, Variants
from ._transfer import Array
from ._variants import variants

__version__: str

@overload
def bincount(
    x: DeviceArray,
    /,
    weights: None = None,
    minlength: SupportsIndex = 0,
    *,
    variant: str = "auto",
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
    variant: str = "auto",
    stream: Any = None,
    **parameters: int,
) -> Any: ...
@overload
def exclusive_scan(
    x: DeviceArray,
    /,
    out: DeviceArray | None = None,
    *,
    variant: str = "auto",
    stream: Any = None,
    **parameters: int,
) -> DeviceArray: ...
@overload
def exclusive_scan(
    x: npt.ArrayLike,
    /,
    out: Array | None = None,
    *,
    variant: str = "auto",
    stream: Any = None,
    **parameters: int,
) -> Any: ...
@overload
def grayscale(
    image: DeviceArray,
    /,
    out: DeviceArray | None = None,
    *,
    variant: str = "auto",
    stream: Any = None,
    **parameters: int,
) -> DeviceArray: ...
@overload
def grayscale(
    image: npt.ArrayLike,
    /,
    out: Array | None = None,
    *,
    variant: str = "auto",
    stream: Any = None,
    **parameters: int,
) -> Any: ...
@overload
def inclusive_scan(
    x: DeviceArray,
    /,
    out: DeviceArray | None = None,
    *,
    variant: str = "auto",
    stream: Any = None,
    **parameters: int,
) -> DeviceArray: ...
@overload
def inclusive_scan(
    x: npt.ArrayLike,
    /,
    out: Array | None = None,
    *,
    variant: str = "auto",
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
    variant: str = "auto",
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
    variant: str = "auto",
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
    variant: str = "auto",
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
    variant: str = "auto",
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
    variant: str = "auto",
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
    variant: str = "auto",
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
    variant: str = "auto",
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
    variant: str = "auto",
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
    variant: str = "auto",
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
    variant: str = "auto",
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
    variant: str = "auto",
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
    variant: str = "auto",
    stream: Any = None,
    **parameters: int,
) -> Any: ...
@overload
def sort(
    a: DeviceArray,
    axis: int | None = -1,
    *,
    variant: str = "auto",
    stream: Any = None,
    **parameters: Any,
) -> DeviceArray: ...
@overload
def sort(
    a: npt.ArrayLike,
    axis: int | None = -1,
    *,
    variant: str = "auto",
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
    variant: str = "auto",
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
    variant: str = "auto",
    stream: Any = None,
    **parameters: int,
) -> Any: ...
@overload
def sum_of_squares(
    x: DeviceArray,
    variant: str = "auto",
    *,
    stream: Any = None,
    **parameters: int,
) -> DeviceArray: ...
@overload
def sum_of_squares(
    x: npt.ArrayLike,
    variant: str = "auto",
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
    variant: str = "auto",
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
    variant: str = "auto",
    stream: Any = None,
    **parameters: int,
) -> Any: ...

__all__ = [
    "Backend",
    "Comparison",
    "CudaError",
    "Device",
    "DeviceArray",
    "DeviceQuery",
    "Event",
    "KernelResources",
    "KernelTable",
    "Ladder",
    "Occupancy",
    "OutOfMemoryError",
    "Parameter",
    "PotentialBlockSize",
    "Profile",
    "Source",
    "Step",
    "Stream",
    "Variant",
    "Variants",
    "__version__",
    "asarray",
    "backend",
    "bincount",
    "compare",
    "device",
    "device_query",
    "devices",
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
    "occupancy",
    "packbits",
    "profile",
    "random_matrix",
    "saxpy",
    "sort",
    "source",
    "stencil_1d",
    "sum_of_squares",
    "synchronize",
    "use_backend",
    "variants",
    "vector_add",
    "zeros",
]
