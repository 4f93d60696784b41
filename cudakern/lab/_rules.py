"""How today's chips serve a warp's memory requests, by the rules of CUDA's programming guide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from .._operations._public import documented
from ._experiment import numbers

#: Lanes per warp; banks of shared memory, and bytes per word of a bank; bytes per sector, the unit of global memory.
LANES, BANKS, WORD, SECTOR = 32, 32, 4, 32

_paragraphs = documented(
    addresses="""\
Parameters
----------
addresses : int or iterable of int
    The byte addresses that the lanes access, at most 32. Leave out inactive lanes.""",
    raises="""\
Raises
------
TypeError
    An address that is not an integer.
ValueError
    More than 32 lanes, an unsupported width, or an address that is not a multiple of the width.""",
)


@_paragraphs
def wavefronts(addresses: int | Iterable[int], width: int = WORD) -> int:
    """How many passes shared memory needs to serve one request of a warp.

    <addresses>
    width : int
        Bytes per lane: 1, 2, 4, 8 or 16. Requests for 8 bytes are served half a warp at a time, for 16 a quarter.

    Returns
    -------
    int
        The largest number of different words in one bank, summed over the parts of the warp that are served together.
        Lanes that access the same word share it.

    <raises>

    Examples
    --------
    >>> wavefronts(4 * 16 * lane for lane in range(32)), wavefronts(4 * 17 * lane for lane in range(32))
    (16, 1)
    """
    starts = _addresses("wavefronts", addresses, width)
    together = LANES * WORD // max(width, WORD)
    passes = 0
    for first in range(0, len(starts), together):
        words = {byte // WORD for start in starts[first : first + together] for byte in range(start, start + width)}
        passes += max(Counter(word % BANKS for word in words).values())
    return passes


@_paragraphs
def sectors(addresses: int | Iterable[int], width: int = WORD) -> int:
    """How many different 32-byte sectors of global memory one request of a warp touches.

    <addresses>
    width : int
        Bytes per lane: 1, 2, 4, 8 or 16.

    Returns
    -------
    int
        The number of sectors: 4 for 32 neighboring 4-byte words, up to 32 if each lane accesses its own.

    <raises>

    Examples
    --------
    >>> sectors(4 * lane for lane in range(32)), sectors(12 * lane for lane in range(32))
    (4, 12)
    """
    return len({start // SECTOR for start in _addresses("sectors", addresses, width)})  # aligned: no access spans two


def _addresses(rule: str, addresses: int | Iterable[int], width: int) -> tuple[int, ...]:
    starts = numbers(rule, "addresses", addresses)
    if len(starts) > LANES:
        raise ValueError(f"{rule}: a warp has {LANES} lanes, but {len(starts)} addresses were passed")
    if width not in (1, 2, 4, 8, 16):
        raise ValueError(f"{rule}: width must be 1, 2, 4, 8 or 16 bytes per lane, not {width}")
    if odd := [start for start in starts if start % width]:
        raise ValueError(f"{rule}: address {odd[0]} is not a multiple of {width}; accesses must be aligned")
    return starts
