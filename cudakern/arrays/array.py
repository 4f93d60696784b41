"""DeviceArray: a View (memory of a C module, with a shape and strides) and that module."""

from __future__ import annotations

import html
import math
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, cast, final

import numpy as np
import numpy.typing as npt

from .. import _display
from .._backend import Device
from .._native import Native, View
from . import dtypes, exchange, layout, transfer
from .streams import stream_handle
from .transfer import Array

#: Functions of NumPy that need an array's shape, type or methods, but no values.
_WITHOUT_VALUES = {np.shape, np.ndim, np.size, np.result_type, np.can_cast, np.iscomplexobj, np.isrealobj}
_WITHOUT_VALUES |= {np.transpose, np.moveaxis, np.swapaxes, np.squeeze}
#: An array of any library has at least one of these attributes.
_ARRAYS = ("__array__", "__dlpack__", "__cuda_array_interface__", "__array_interface__", "shape")


@final
class DeviceArray:
    """An array on a device, created by ``asarray``, ``empty``, ``zeros``, ``from_dlpack`` and operations.

    A call returns when its work is enqueued, and every later use waits for that work, in any stream. Errors on the
    device are raised where the host waits: in ``get()``, ``float()``, ``print()``, ``synchronize()``.

    Indexing with integers, slices, ``...`` and ``None``, ``.T``, ``.mT``, ``transpose``, ``swapaxes``, ``squeeze``,
    ``reshape`` and ``ravel`` return views of the same memory. For boolean and integer arrays as indices, arithmetic and
    comparisons, use ``.get()``, or pass the array to CuPy or PyTorch, which share its memory by DLPack.

    Types: bool, int8 to uint64, float16, bfloat16 (in NumPy the type of ml_dtypes), float32, float64, complex64,
    complex128, always in native byte order. At most 16 axes.

    Examples
    --------
    >>> import numpy as np, cudakern
    >>> a = cudakern.asarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    >>> (a @ a.T).get().tolist()
    [[5.0, 14.0], [14.0, 50.0]]
    >>> a[:, ::-1].get().tolist()
    [[2.0, 1.0, 0.0], [5.0, 4.0, 3.0]]
    """

    __slots__ = ("__weakref__", "_native", "_view")
    _native: Native
    _view: View

    #: What ``@`` calls. The module of matmul, which imports this one, sets it: at interpreter exit, imports fail.
    _matmul: ClassVar[Callable[..., Any]]

    def __init__(self, view: Any = None, native: Native | None = None) -> None:
        if native is None:
            raise TypeError("create a DeviceArray with cudakern.asarray(x), empty(shape), zeros(shape), from_dlpack(x)")
        self._view = view
        self._native = native

    def __init_subclass__(cls, **others: Any) -> NoReturn:
        raise TypeError("DeviceArray cannot be a base class: make one an attribute of your class")

    # --- properties --------------------------------------------------------------------------------------------------
    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self._view.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The elements' type; ImportError for bfloat16 if ml_dtypes is not installed."""
        return dtypes.from_name(self._view.dtype)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._view.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self._view.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return dtypes.itemsize(self._view.dtype)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._view.nbytes

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next, for each axis."""
        return self._view.strides

    @property
    def read_only(self) -> bool:
        """True if the memory belongs to another library, which exported it as read-only."""
        return self._view.read_only

    @property
    def device(self) -> Device:
        """The device that holds it."""
        return Device(self.backend, self._view.device)

    @property
    def backend(self) -> str:
        """The backend that holds it: "cuda" or "emulator"."""
        return self._native.backend_name()

    def __len__(self) -> int:
        if not self._view.shape:
            raise TypeError("len() of unsized object")
        return self._view.shape[0]

    # --- views -------------------------------------------------------------------------------------------------------
    def __getitem__(self, key: Any) -> DeviceArray:
        """A view of the elements that integers, slices, ``...`` and ``None`` select."""
        return self._other(*layout.index(key, self._view.shape, self._view.strides))

    def __iter__(self) -> Iterator[DeviceArray]:
        if not self._view.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    @property
    def T(self) -> DeviceArray:
        """A view with the axes in reverse order."""
        return self._other(0, self._view.shape[::-1], self._view.strides[::-1])

    def transpose(self, *axes: Any) -> DeviceArray:
        """A view with the axes in reverse order, or in the order of ``axes`` (integers or one tuple)."""
        return self._as_numpy(lambda x: x.transpose(*axes))

    @property
    def mT(self) -> DeviceArray:
        """A view with the last two axes swapped: every matrix of a stack transposed."""
        if self.ndim < 2:
            raise ValueError(f"mT needs at least two axes, but this array has shape {self.shape}")
        return self.swapaxes(-2, -1)

    def swapaxes(self, axis1: Any, axis2: Any) -> DeviceArray:
        """A view with the axes ``axis1`` and ``axis2`` swapped."""
        return self._as_numpy(lambda x: x.swapaxes(axis1, axis2))

    def squeeze(self, axis: Any = None) -> DeviceArray:
        """A view without axes of length 1: all, or those of ``axis`` (an integer or a tuple)."""
        return self._as_numpy(lambda x: x.squeeze(axis))

    def reshape(self, *shape: Any) -> DeviceArray:
        """A view with another ``shape`` of the same size; one length may be -1. ValueError where NumPy would copy,
        because no strides describe the shape: call ``.copy()`` first."""
        new = layout.reshaped(shape, self.size)
        strides = layout.reshape(new, self.shape, self.strides, self.itemsize)
        if strides is None:
            this = f"this array (shape {self.shape}, strides {self.strides})"
            raise ValueError(f"no view of {this} can have shape {new}: use .copy().reshape({new})")
        return self._other(0, new, strides)

    def ravel(self) -> DeviceArray:
        """A view with one axis; ValueError as for ``reshape``."""
        return self.reshape(self.size)

    def flatten(self, *, stream: Any = None) -> DeviceArray:
        """A copy with one axis, in C order; enqueued in ``stream``."""
        return self.copy(stream=stream).ravel()

    def _as_numpy(self, view: Callable[[Array], Array]) -> DeviceArray:
        result = view(layout.stand_in(self._view.shape, self._view.strides))
        return self._other(0, result.shape, result.strides)

    def _other(self, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> DeviceArray:
        view = self._view
        return DeviceArray(self._native.view(view, offset, shape, strides, view.dtype), self._native)

    # --- to and from the host ----------------------------------------------------------------------------------------
    def get(self, out: Array | None = None, stream: Any = None) -> Array:
        """The values as a NumPy array, after all work that writes them, in ``stream``.

        They are copied to ``out``, an array of the same shape and type, of any layout and byte order, or to a new one
        in C order. If a kernel that writes them failed, CudaError names the launches.

        Examples
        --------
        >>> import cudakern
        >>> cudakern.asarray([1, 2, 3])[::2].get()
        array([1, 3])
        """
        handle = 0 if stream is None else stream_handle(stream, self._native, self._view.device)
        if out is None:
            return transfer.to_host(self._native, self._view, handle)
        transfer.into_host(self._native, self._view, out, handle)
        return out

    def set(self, array: Any, stream: Any = None) -> None:
        """``self[...] = array`` in ``stream``: values on the host or this device, broadcast and converted as in
        NumPy."""
        self._assign(array, stream_handle(stream, self._native, self._view.device))

    def __setitem__(self, key: Any, value: Any) -> None:
        self[key]._assign(value, 0)

    def _assign(self, value: Any, stream: int) -> None:
        native, target = self._native, self._view
        source = memory_of(value, "the value", native, target.device, stream)
        if source is None:
            transfer.assign_host(native, target, value, stream)
        else:
            transfer.assign_view(native, target, source, stream)

    def fill(self, value: Any, stream: Any = None) -> None:
        """Sets all elements to ``value``, converted as in NumPy; enqueued in ``stream``."""
        if isinstance(value, DeviceArray):
            raise TypeError("fill takes a value on the host: take value.item(), or a[...] = value")
        handle = stream_handle(stream, self._native, self._view.device)
        transfer.fill(self._native, self._view, value, handle)

    # --- copies on the device ----------------------------------------------------------------------------------------
    def copy(self, *, stream: Any = None) -> DeviceArray:
        """A copy in C order on the same device; enqueued in ``stream``."""
        return self.astype(self._view.dtype, stream=stream)

    def astype(self, dtype: npt.DTypeLike, copy: bool = True, stream: Any = None) -> DeviceArray:
        """A copy in C order of type ``dtype``, converted as in NumPy, with its ComplexWarning; enqueued in ``stream``.
        With ``copy=False``, the array itself if it already has that type."""
        view, native, name = self._view, self._native, dtypes.name_of(dtype)
        if name == view.dtype and not copy:
            return self
        transfer.warn_of_imaginary_parts(view.dtype, name)
        handle = stream_handle(stream, native, view.device)
        return DeviceArray(transfer.duplicate(native, view, name, view.device, handle), native)

    def __copy__(self, memo: Any = None) -> DeviceArray:
        return self.copy()

    __deepcopy__ = __copy__

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("a DeviceArray cannot be pickled, because its memory is on a device: pickle its .get()")

    # --- one element -------------------------------------------------------------------------------------------------
    def item(self, *index: Any) -> Any:
        """An element as a Python number: the only one, or that at ``index`` (a single integer counts in C order)."""
        if not index:
            if self.size != 1:
                raise ValueError(f"can only convert an array of size 1 to a Python scalar, not of shape {self.shape}")
            return self.get().item()
        if len(index) == 1 and isinstance(index[0], tuple):
            index = index[0]
        if len(index) == 1 and self.ndim != 1:
            flat = operator.index(index[0])
            if not -self.size <= flat < self.size:
                raise IndexError(f"index {flat} is out of bounds for size {self.size}")
            index = np.unravel_index(flat % self.size, self.shape)
        elif len(index) != self.ndim:
            raise ValueError(f"incorrect number of indices for array: {len(index)} for {self.ndim} dimensions")
        return self[tuple(map(operator.index, index))].get().item()

    def tolist(self) -> Any:
        """The values as (nested) lists of Python numbers."""
        return self.get().tolist()

    def _only(self) -> Array:
        """The only element, as a 0-d array on the host."""
        if self.size != 1:
            message = "only arrays of one element can be converted to Python scalars"
            raise TypeError(f"{message}, but this array has shape {self.shape}: index it, or use .get()")
        return self.get().reshape(())

    def __float__(self) -> float:
        return float(self._only())

    def __int__(self) -> int:
        return int(self._only())

    def __complex__(self) -> complex:
        return complex(self._only())

    def __index__(self) -> int:
        if self._view.shape or dtypes.from_name(self._view.dtype).kind not in "iu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return operator.index(self._only())

    def __bool__(self) -> bool:
        if self.size != 1:
            array = "array with more than one element" if self.size else "empty array"
            raise ValueError(f"The truth value of an {array} is ambiguous. Use .get().any(), .get().all() or .size")
        return bool(self._only())

    # --- operators ---------------------------------------------------------------------------------------------------
    def __matmul__(self, other: Any) -> DeviceArray:
        """``cudakern.matmul(self, other)``."""
        return self._product(other, self, other)

    def __rmatmul__(self, other: Any) -> DeviceArray:
        """``cudakern.matmul(other, self)``."""
        return self._product(other, other, self)

    def __imatmul__(self, other: Any) -> DeviceArray:
        """``cudakern.matmul(self, other, out=self)``."""
        return self._product(other, self, other, self)

    def _product(self, other: Any, a: Any, b: Any, out: DeviceArray | None = None) -> DeviceArray:
        """NotImplemented unless ``other`` is an array, since it may implement the product; ValueError for scalars."""
        if type(other) is not DeviceArray:
            is_array = isinstance(other, (list, tuple)) or any(hasattr(other, name) for name in _ARRAYS)
            if isinstance(other, np.generic) or not is_array:
                return cast("DeviceArray", NotImplemented)
        if not self.shape or getattr(other, "shape", None) == ():
            raise ValueError("@ takes matrices and vectors, but one operand is a scalar or a 0-d array: use .get()")
        return cast("DeviceArray", DeviceArray._matmul(a, b, out=out))

    def _not_offered(self, *others: Any) -> NoReturn:
        instead = "copy it to NumPy with .get(), or pass it to CuPy or PyTorch, which share its memory (from_dlpack)"
        raise TypeError(f"a DeviceArray has no elementwise arithmetic or comparisons: {instead}")

    # Comparisons too, because Python's == would silently compare identities; so the type is not hashable. Hidden from
    # type checkers, so that they refuse all uses.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            if name in ("cpu", "numpy") or hasattr(np.ndarray, name):
                message = f"'DeviceArray' object has no attribute {name!r}; .get() copies it to NumPy"
                raise AttributeError(message, name=name, obj=self)
            return object.__getattribute__(self, name)  # Python's own error, or a property's

        __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _not_offered
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _not_offered
        __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = __pow__ = __rpow__ = _not_offered
        __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lshift__ = __rlshift__ = _not_offered
        __rshift__ = __rrshift__ = __neg__ = __pos__ = __abs__ = __invert__ = _not_offered

    # --- exchange ----------------------------------------------------------------------------------------------------
    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        """TypeError: arrays are copied to the host only on request."""
        raise TypeError("a DeviceArray is not converted to a NumPy array implicitly: use .get()")

    def __array_function__(self, function: Any, types: Any, args: Any, keywords: Any) -> Any:
        """NumPy's functions: TypeError for those that need values (array_equal would ignore that of ``__array__``)."""
        return function._implementation(*args, **keywords) if function in _WITHOUT_VALUES else self.__array__()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        """``cudakern.matmul`` for ``numpy.matmul``; TypeError for all others, and for ``host_array @= self``."""
        if ufunc is not np.matmul or method != "__call__" or "axes" in keywords:
            self._not_offered()
        return DeviceArray._matmul(*inputs, **keywords)

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule, as in the array API standard: other libraries' ``from_dlpack`` calls this.

        ``stream`` is the consumer's: None or 1 for CUDA's legacy default stream, 2 for the thread's own, -1 for no
        ordering, or a ``cudaStream_t``; on the emulator only None. ``max_version`` is the newest that the consumer
        supports: from (1, 0) on the capsule is versioned. ``dl_device`` is the target: the array's own device or the
        host, (1, 0). ``copy``: True always copies, False never, None if necessary. BufferError if these cannot be
        satisfied.
        """
        return exchange.dlpack(self._view, self._native, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's (type, index): (2, n) for a CUDA device, (1, 0) for the host and for emulated devices."""
        return self._native.dlpack_device(self._view.device)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3, ordered after all writes in the legacy default stream; AttributeError on the emulator."""
        return exchange.interface(self._view, self._native)

    # --- display -----------------------------------------------------------------------------------------------------
    def __repr__(self) -> str:
        """The values as NumPy prints them, those at the ends for a large array; type, shape and device."""
        head = "DeviceArray("
        values = f"{head}{self._printed(head)},"
        facts = f"dtype={self._view.dtype}, shape={self.shape}, on {self.device})"
        room = np.get_printoptions()["linewidth"] - len(values[values.rfind("\n") + 1 :])
        return values + (" " if len(facts) < room else "\n" + " " * len(head)) + facts

    def __format__(self, spec: str) -> str:
        if not spec:
            return repr(self)
        if self.shape:
            raise TypeError(f"format {spec!r} is for one element, not for shape {self.shape}: index it, or use .get()")
        return format(self.item(), spec)

    def _repr_html_(self) -> str:
        view = self._view
        notes = {f"strides {view.strides}": not view.contiguous, "another library's": view.foreign}
        notes["read-only"] = view.read_only
        memory = ", ".join([_display.size(view.nbytes), *(note for note, holds in notes.items() if holds)])
        rows = [
            ("shape", " x ".join(f"{n:,}" for n in view.shape) or "one element"),
            ("dtype", view.dtype),
            ("on", f"{self.device}, {self._native.device_properties(view.device)['name']}"),
            ("memory", memory),
        ]
        return f"<div><pre>{html.escape(self._printed(''))}</pre>{_display.facts(rows).html()}</div>"

    def _printed(self, prefix: str) -> str:
        options = np.get_printoptions()
        whole = self.size <= options["threshold"]
        edge = max(self.shape, default=0) if whole else max(options["edgeitems"], 1)
        return np.array2string(self._corners(edge), threshold=0, edgeitems=edge, separator=", ", prefix=prefix)

    def _corners(self, edge: int, axis: int = 0) -> Array:
        """The elements that NumPy prints: ``edge`` at both ends of each long axis, and one that stands for the rest."""
        if axis == self.ndim:
            # NumPy prints bfloat16 only with ml_dtypes.
            return (self.astype("float32") if self._view.dtype == dtypes.BFLOAT16 else self).get()
        if self.shape[axis] <= 2 * edge + 1:
            return self._corners(edge, axis + 1)
        before = (slice(None),) * axis
        first, last = self[(*before, slice(edge + 1))], self[(*before, slice(-edge, None))]
        return np.concatenate([first._corners(edge, axis + 1), last._corners(edge, axis + 1)], axis)


def memory_of(x: Any, what: str, native: Native, device: int, stream: Any) -> View | None:
    """The memory of an array on the device, ours or another library's; None for anything in host memory. ValueError,
    which says ``what`` it is, for an array of another backend."""
    if not isinstance(x, DeviceArray):
        return exchange.on_device(x, native, device, stream)
    if x._native is not native:
        raise ValueError(f"{what} is on {x.device}, and the backend here is {native.backend_name()!r}: take its .get()")
    return x._view
