"""The static shared variables of kernels, which in what the host's compiler has made are thread-local variables."""

from __future__ import annotations

import re
import struct
from collections.abc import Collection, Iterator

STATIC_SHARED = 48 << 10  #: bytes of a block, on all chips


def too_large(image: bytes, kernels: Collection[str] | None = None) -> str:
    """That a kernel of a library or an object has more static shared memory than ptxas allows; "" if none has. (Without
    that of the functions that it calls.) ``kernels``: their names; None: a whole program registers them."""
    sizes: dict[str, int] = {}
    for name, size in thread_locals(image):
        if match := re.match(r"_Z(Z.*E)\d+\w+$", name):
            sizes[match[1]] = sizes.get(match[1], 0) + size
    of_program = b"\0".join(re.findall(rb"_ZN3emu10of_programI[^\0]+", image))
    for function, size in sizes.items():
        name = function_of(f"_Z{function}").removeprefix("emu_loops_")  # a kernel, as loops.py has written it
        is_kernel = f"{len(name)}{name}".encode() in of_program if kernels is None else name in kernels
        if size > STATIC_SHARED and is_kernel:
            has = f"{size:,} bytes of static __shared__ variables; at most {STATIC_SHARED:,} are allowed"
            return f"kernel {name} has {has}. Dynamic shared memory can be larger, after cudaFuncSetAttribute"
    return ""


def thread_locals(image: bytes) -> Iterator[tuple[str, int]]:
    """Names and sizes of the thread-local variables of an ELF file of 64 bits, which shared variables are."""
    at, count = struct.unpack_from("<Q", image, 0x28)[0], struct.unpack_from("<H", image, 0x3C)[0]
    sections = [struct.unpack_from("<IIQQQQIIQQ", image, at + 64 * i) for i in range(count)]
    for _, kind, _, _, offset, size, link, *_ in sections:
        if kind != 2:  # a table of symbols
            continue
        names = sections[link][4]
        for start in range(offset, offset + size, 24):
            name, info, _, _, _, length = struct.unpack_from("<IBBHQQ", image, start)
            if info & 15 == 6 and length:
                begin = names + name
                yield image[begin : image.index(b"\0", begin)].decode(), length


def function_of(variable: str) -> str:
    """The name of the function, without namespaces, of which a variable's linker name is; "" if it is of none."""
    rest, name = variable.removeprefix("_ZZ"), ""
    if rest == variable:
        return ""
    nested = rest.startswith("N")
    rest = rest.lstrip("NKL")
    while match := re.match(r"(\d+)", rest):
        length = int(match[1])
        name, rest = rest[match.end() : match.end() + length], rest[match.end() + length :]
        if not nested:
            break
    return name
