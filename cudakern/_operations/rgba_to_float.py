"""rgba_to_float: images of four bytes a pixel as floats from 0 to 1; T6's conversion by the texture unit."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._layout import Shape
from .._table import AUTO
from .._transfer import Array
from . import Operation
from ._call import call
from ._rule import Rule

NAME = "rgba_to_float"


def _shape(image: Shape) -> Shape:
    if len(image) != 3 or image[2] != 4:
        raise ValueError(f"{NAME}: the image is {image}: it must be (rows, columns, 4)")
    return image


def _by_numpy(image: Array) -> Any:
    return np.divide(image, np.float32(255), dtype=np.float32)


RULE = Rule(NAME, ("image",), _by_numpy, preferred=("packed",), shape=_shape, only=("uint8",))


def rgba_to_float(image: Any, /, out: Any = None, *, variant: str = AUTO, stream: Any = None, **parameters: int) -> Any:
    """An image of four bytes a pixel as floats from 0 to 1: each byte divided by 255.

    Parameters
    ----------
    image : array_like or DeviceArray
        uint8, of shape (rows, columns, 4), any strides.
    out : ndarray or DeviceArray, optional
        Where the result goes: of its shape, and a type that takes it ("same_kind").
    variant : str
        "auto", or a name from ``variants("rgba_to_float")``.
    stream : optional
        For arrays on the device: where the work is enqueued.
    **parameters : int
        The row's parameters: ``threads=`` per block.

    Returns
    -------
    ndarray or DeviceArray
        float32, of the image's shape.

    Raises
    ------
    TypeError
        Another type than uint8; a parameter that the row does not have.
    ValueError
        Another shape; an unknown variant; an image that no texture holds.
    CudaError
        The GPU or the emulator failed.

    Notes
    -----
    T6: a texture converts 32-bit RGBA to four floats by itself.

    Examples
    --------
    >>> import numpy
    >>> from cudakern._operations.rgba_to_float import rgba_to_float
    >>> rgba_to_float(numpy.full((1, 1, 4), 51, numpy.uint8), variant="texture").tolist()
    [[[0.20000000298023224, 0.20000000298023224, 0.20000000298023224, 0.20000000298023224]]]
    """
    return call(RULE, (image,), out, variant, stream, parameters)


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """Random bytes."""
    return (np.random.default_rng(seed).integers(0, 256, (*shape, 4)).astype(dtype),)


OPERATION = Operation(
    name=NAME,
    position=220,
    call=rgba_to_float,
    rate="GB/s",
    default_dtype="uint8",
    default_shape=(1080, 1920),
    shape_help="rows, columns",
    fixed_rank=True,
    make=make,
    reference=lambda image: np.divide(image, 255, dtype=np.float64),
    magnitude=lambda image: np.ones(np.shape(image)),
    square=lambda n: (n, n),
    ragged=((0, 5), (3, 0), (1, 1), (13, 7), (62, 76), (131, 257)),
    large=((2160, 3840),),
)
