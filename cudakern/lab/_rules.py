"""The hardware's rules for what a warp asks of memory, as CUDA's programming guide has them for today's chips."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .._operations._public import documented
from ._sizes import numbers

#: Lanes of a warp; banks of shared memory and bytes of a bank's word; bytes of a sector, the unit of global memory.
LANES, BANKS, WORD, SECTOR = 32, 32, 4, 32

_documents = documented(
    addresses="""\
addresses : int or iterable of int
    The byte addresses that the lanes ask for, at most 32: lanes that take no part are left out.""",
    raises="""\
Raises
------
TypeError
    An address that is no whole number.
ValueError
    More than 32 lanes, another width, or an address that is no multiple of the width, as CUDA's loads need it.""",
)


@_documents
def wavefronts(addresses: int | Iterable[int], width: int = WORD) -> int:
    """How many passes shared memory takes to answer one request of a warp.

    Parameters
    ----------
    <addresses>
    width : int
        Bytes that each lane asks for: 1, 2, 4, 8 or 16. Of 8 bytes half a warp is served at a time, of 16 a quarter.

    Returns
    -------
    int
        For each part of the warp the most different words that are wanted of one bank, added up. Lanes that want the
        same word share it.

    <raises>

    Examples
    --------
    >>> wavefronts(4 * 16 * lane for lane in range(32)), wavefronts(4 * 17 * lane for lane in range(32))
    (16, 1)
    """
    starts = _checked("wavefronts", addresses, width)
    together = LANES * WORD // max(width, WORD)
    passes = 0
    for first in range(0, len(starts), together):
        words = {byte // WORD for start in starts[first : first + together] for byte in range(start, start + width)}
        passes += int(np.bincount([word % BANKS for word in words]).max())
    return passes


@_documents
def sectors(addresses: int | Iterable[int], width: int = WORD) -> int:
    """How many different 32-byte sectors of global memory one request of a warp touches.

    Parameters
    ----------
    <addresses>
    width : int
        Bytes that each lane asks for: 1, 2, 4, 8 or 16.

    Returns
    -------
    int

    <raises>

    Examples
    --------
    >>> sectors(4 * lane for lane in range(32)), sectors(12 * lane for lane in range(32))
    (4, 12)
    """
    return len({start // SECTOR for start in _checked("sectors", addresses, width)})  # (aligned, none lies in two)


def _checked(rule: str, addresses: int | Iterable[int], width: int) -> tuple[int, ...]:
    starts = numbers(rule, "addresses", addresses)
    if len(starts) > LANES:
        raise ValueError(f"a warp has {LANES} lanes, and these are {len(starts)} addresses")
    if width not in (1, 2, 4, 8, 16):
        raise ValueError(f"width={width}: a lane asks for 1, 2, 4, 8 or 16 bytes at once")
    for start in starts:
        if start % width:
            raise ValueError(
                f"{rule}: address {start} is no multiple of {width}: loads of {width} bytes must be aligned"
            )
    return starts
