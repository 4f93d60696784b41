"""What the kernels of a plain text are launched with."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from .definitions import Definition, definitions, without_template
from .kernels import Instance, Kernels, bindings, members, parameters_of
from .reading import end_of, parts
from .rules import SIZES

NUMPY = {"float": "float32", "double": "float64", "int": "int32", "unsigned": "uint32", "unsigned char": "uint8"}
NUMPY |= {"unsigned long long": "uint64", "long long": "int64", "unsigned short": "uint16", "bool": "bool"}
_CODES = {
    "int64_t": "q",
    "uint64_t": "Q",
    "unsigned long long": "Q",
    "long long": "q",
    "size_t": "Q",
    "cudaTextureObject_t": "Q",
}
_CODES |= {"int": "i", "int32_t": "i", "unsigned": "I", "uint32_t": "I", "float": "f", "double": "d", "bool": "?"}
#: Members of structs that stand for layouts, by the name of the plain parameter that has their value.
_LAYOUT_NAMES = {f"stack_first_{name}": name.split("_")[0] for name in ("a_data", "b_data", "c_data", "m", "n", "k")}
_LAYOUT_NAMES |= {f"stack_first_{x}_row_stride": f"{x}_pitch" for x in "abc"}
_LAYOUT_NAMES |= {"image_data": "image", "image_gray": "gray", "image_height": "height", "image_width": "width"}


class Launch(NamedTuple):
    """A launch that a call makes."""

    number: int  #: in the call
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    arguments: Sequence[bytes]
    cooperative: bool


class Argument(NamedTuple):
    """A plain parameter and its value."""

    kind: str
    name: str
    value: Any  #: an address of a pointer


class Plain(Kernels):
    """A plain text and what its kernels are launched with."""

    def arguments(self, launch: Launch) -> list[Argument]:
        values = self.values(launch)
        return [Argument(kind, name, values[name]) for kind, name in self.parameters(launch.kernel)]

    def values(self, launch: Launch) -> dict[str, Any]:
        """Of parameters and members of structs, by their plain names."""
        values: dict[str, Any] = {}
        types = self.bindings()
        for (kind, name), value in zip(
            parameters_of(without_template(self.originals[launch.kernel])[1]), launch.arguments, strict=False
        ):
            self._decode(kind, name, value, 0, types, values)
        return values

    def bindings(self) -> dict[str, str]:
        """The kernels' template arguments, by the parameters' names."""
        return bindings(self.instances, {name: [Definition(text)] for name, text in self.originals.items()})

    def shared_size(self, kernel: str) -> int:
        """Bytes of an element of a kernel's dynamic shared memory."""
        match = re.search(r"extern __shared__ ([\w ]+) \w+\[", self.kernel(kernel))
        return SIZES.get(match[1], 1) if match else 1

    def _decode(
        self, kind: str, name: str, value: bytes, at: int, types: dict[str, str], values: dict[str, Any]
    ) -> int:
        """Notes the values of a parameter or a member and of its own members; the position after it."""
        kind = kind.removeprefix("const ").strip()
        kind = types.get(kind, kind)
        code = "Q" if kind.endswith("*") else _CODES.get(kind)
        if code is None:
            base = kind.split("<")[0]
            for member, inner in members(self.originals.get(base, "{};")):
                at = self._decode(member, f"{name}_{inner}", value, at, types, values)
            return at
        size = struct.calcsize(code)
        at = -(-at // size) * size
        values[_LAYOUT_NAMES.get(name, name)] = struct.unpack_from(code, value, at)[0] if at + size <= len(value) else 0
        return at + size


def plain(texts: Iterable[str], instances: Sequence[Instance], launches: Sequence[Launch]) -> Plain:
    """The plain text of kernels, from the texts of files: the kernels' own first."""
    known = [one for text in texts for one in definitions(text)]
    text = Plain(known, instances, padded=False)
    values = text.values(launches[0])
    padded = "a_pitch" in values and [values[f"{x}_pitch"] for x in "abc"] != [values[x] for x in "knn"]
    return Plain(known, instances, padded=True) if padded else text


def template_arguments(text: str) -> list[str]:
    """Of text that begins with <."""
    return parts(text[1 : end_of(text, 0) - 1])
