"""grayscale: the luminance of a picture's pixels."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..arrays.layout import Shape
from ..arrays.transfer import Array
from ..calls.call import call
from ..calls.rule import Inputs, Rule
from ..calls.table import AUTO
from .registry import ArrayLike, Out, Result, random_bytes, registered


def _shape(image: Shape) -> Shape:
    if len(image) == 3 and image[2] in (3, 4):
        return image[:2]
    last = "with its channels last; image.transpose(1, 2, 0) moves them there from the front"
    shapes = "(height, width, 3) or (height, width, 4)"
    raise ValueError(f"grayscale: an image must have shape {shapes}, not {image}: pass one picture at a time, {last}")


def _by_numpy(image: Array) -> Array:
    red, green, blue = (image[..., channel].astype(np.uint16) for channel in range(3))
    return ((21 * red + 72 * green + 7 * blue + 50) // 100).astype(np.uint8)


def _refuse_names(inputs: Inputs) -> None:
    if isinstance(inputs[0], (str, bytes, os.PathLike)):
        pixels = "numpy.asarray(PIL.Image.open(name).convert('RGB')) reads them"
        raise TypeError(f"grayscale takes a picture's pixels, not the name of a file: {pixels}")


RULE = Rule(
    "grayscale",
    ("image",),
    _by_numpy,
    preferred=("vectorized",),
    shape=_shape,
    refuse=_refuse_names,
    only=("uint8",),
    instead="channels are integers from 0 to 255: image.astype('uint8') converts such numbers from another type, "
    "(255 * image).round().astype('uint8') converts numbers from 0 to 1",
)


SIZES = ((0, 5), (5, 0), (1, 1), (16, 16), (17, 33), (62, 76), (257, 1), (3, 1009))  #: that verify tries


@registered(
    4,
    default_dtype="uint8",
    default_shape=(716, 1080, 3),
    shape_help="(height, width, 3 or 4)",
    make=random_bytes,
    reference=_by_numpy,
    sides=2,
    ragged=tuple((*size, channels) for size in SIZES for channels in (3, 4)),
)
def grayscale(
    image: ArrayLike, /, out: Out = None, *, variant: str = AUTO, stream: Any = None, **parameters: int
) -> Result:
    """Convert a picture to gray: 0.21 red + 0.72 green + 0.07 blue for each pixel.

    The sum is exact, and rounded to the nearest integer; halves are rounded up.

    Parameters
    ----------
    image : array_like or DeviceArray
        One picture of uint8, with shape (height, width, 3) for red, green and blue, or (height, width, 4) with an alpha
        channel, which is ignored. Any size and strides.
    <out>

    Returns
    -------
    ndarray or DeviceArray
        An array of uint8 with shape (height, width). It is on the device if the image is.

    Notes
    -----
    Pillow's ``convert("L")`` has other weights: 0.299, 0.587 and 0.114. The variant with square blocks has the
    parameter ``side=``.

    Source: P7, the formula. Its program has 0.71 for green, which turns white into 252, and truncates; see
    docs/sources.md.

    Examples
    --------
    >>> import cudakern
    >>> import numpy as np
    >>> image = np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]]], np.uint8)
    >>> cudakern.grayscale(image)
    array([[ 54, 184,  18, 255]], dtype=uint8)
    """
    return call(RULE, (image,), out, variant, stream, parameters)
