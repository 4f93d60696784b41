"""source(plain=True): which kernels have a plain text, and an example of their launches."""

from __future__ import annotations

import ctypes
import functools
import itertools
import keyword
import math
import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays.dtypes import type_name
from ..calls.observer import Observer, Run, observed
from ..calls.table import Variant
from ..operations.registry import operation
from .arguments import NUMPY, Launch, Plain, plain, template_arguments
from .kernels import Instance
from .text import Source

#: Headers of instructions that no plain text explains, in the words of a note.
_IN_FULL = {
    "wgmma.cuh": "Hopper's tensor cores",
    "tensor_core.cuh": "tensor cores",
    "cluster.cuh": "clusters of blocks",
    "mbarrier.cuh": "barriers that count bytes",
}
_EXAMPLE = (100, 60, 80, 5)  #: lengths of an example's axes, where the operation lets them be any
_TYPES = {"unsigned int": "unsigned", "unsigned long": "unsigned long long", "long": "long long"}


class _Listed(Observer):
    """The launches that a call would make."""

    run: Run
    kernels: tuple[dict[str, Any], ...] = ()

    def kernel(self, run: Any) -> None:
        self.run, self.kernels = run, run.launches(())


def _dtype(entry: Variant, usual: str) -> str:
    """The type of the example: the operation's usual one, but float32 where that one has sums of another type."""
    first = usual if usual in entry.types else entry.types[0]
    return "float32" if len(set(entry.signature(first))) > 1 and "float32" in entry.types else first


def listed(entry: Variant) -> tuple[_Listed, tuple[Any, ...]]:
    """An example that launches all kernels of the variant, and its inputs."""
    what = operation(entry.operation)
    usual = what.default_shape
    for larger in (1, 10, 100):
        lengths = [1000 * larger] if len(usual) == 1 else [n * larger for n in _EXAMPLE]
        shape = tuple(n if n <= 8 else length for n, length in zip(usual, lengths, strict=False))
        inputs = what.make(shape, np.dtype(_dtype(entry, what.default_dtype)), 0)
        with observed(_Listed()) as found, np.errstate(all="ignore"):
            what.call_of(entry, inputs)()
        if {kernel["name"] for kernel in found.kernels} >= set(entry.kernels):
            break
    return found, inputs


def _demangled(symbol: str) -> str:
    library = ctypes.CDLL("libstdc++.so.6")
    library.__cxa_demangle.restype = ctypes.c_void_p
    if not (address := library.__cxa_demangle(symbol.encode(), None, None, None)):
        return symbol  # a C function's
    text = ctypes.string_at(address).decode()
    ctypes.CDLL(None).free(ctypes.c_void_p(address))  # the process's own, as of the malloc before it
    return text


@functools.cache
def _instance(symbol: str) -> Instance:
    """A kernel's name and template arguments, of the name for the linker."""
    text = re.sub(r"^void ", "", _demangled(symbol))
    match = re.match(r"(?:\w+::)*(\w+)(<?)", text)
    assert match is not None  # a name
    arguments = template_arguments(text[match.end() - 1 :]) if match[2] else []
    words = (re.sub(r"\b\w+::| const$", "", argument) for argument in arguments)
    return match[1], tuple(_TYPES.get(word, word) for word in words)


def plain_source(entry: Variant, whole: str, files: Mapping[Path, str], own: Path) -> Source:
    """The plain text of a variant; its ``whole`` source, with a note, if it has none."""
    needs = ["a library"] * ("emulator" not in entry.backends)
    needs += [words for name, words in _IN_FULL.items() if any(f'"{name}"' in text for text in files.values())]
    if {"Hopper's tensor cores", "tensor cores"} <= {*needs}:
        needs.remove("tensor cores")
    if needs:
        return _in_full(entry, f"it needs {' and '.join(needs[:2])}", whole, own)
    try:
        found, inputs = listed(entry)
    except NotImplementedError as error:  # on this chip
        return _in_full(entry, f"its example needs another device: {error}", whole, own)
    kernels = [kernel for kernel in found.kernels if kernel["name"] in entry.kernels]
    instances = list(dict.fromkeys(_instance(kernel["symbol"]) for kernel in kernels))
    launches = [
        Launch(number, _instance(kernel["symbol"])[0], grid, block, shared, values, kernel["cooperative"])
        for kernel in kernels
        for number, grid, block, shared, values in kernel["each"]
    ]
    launches.sort()
    text = plain((Source(text).kernel for text in files.values()), instances, launches)
    head = f'// {entry.operation}, "{entry.name}": {entry.summary}.\n{_conditions(text, whole)}'
    example = _Example(text, launches, kernels[0], found.run, [*inputs, *found.run.outputs]).text()
    note = "// The result is the sum of `partials`.\n" * (entry.finish == "host" and kernels[0]["partials"] > 0)
    return Source(f"{head}{text.text()}\n{example}{note}", own, plain=True)


def _conditions(text: Plain, whole: str) -> str:
    """As a comment: where the kernel gives wrong results, because it is the instance of its template for other layouts
    ("VECTOR is false where ..." in the comment of its file)."""
    words = " ".join(line.strip() for line in re.findall(r"^//(.*)", whole, re.M))
    true = [name for name, value in text.bindings().items() if value == "true"]
    conditions = [match[1] for name in true for match in re.finditer(rf"\b{name} is false where (.*?)[:.] ", words)]
    note = "".join(f"It gives wrong results where {condition}." for condition in conditions)
    return textwrap.fill(note, 98, initial_indent="// ", subsequent_indent="// ") + "\n" * bool(note)


def _in_full(entry: Variant, why: str, text: str, path: Path) -> Source:
    note = f'In full, as a template without an example, because {why}: {entry.operation}(..., variant="{entry.name}") '
    note += "launches it."
    note = textwrap.fill(note, 98, initial_indent="// ", subsequent_indent="// ")
    return Source(f"{note}\n{Source(text).kernel}", path, plain=True)


class _Example:
    """Launches of plain kernels, and the arrays that they are passed."""

    def __init__(self, text: Plain, launches: list[Launch], sizes: dict[str, Any], run: Run, views: list[Any]) -> None:
        self.plain, self.launches, self.sizes, self.run = text, launches, sizes, run
        self.views = [x[0] if isinstance(x, tuple) else x for x in views]
        self.names: dict[int, str] = {}  #: of arrays, by their addresses
        self.kinds: dict[int, str] = {}  #: the types that pointers point to
        pointers = [
            one for launch in launches for one in text.arguments(launch) if one.kind.endswith("*") and one.value
        ]
        pointers.sort(
            key=lambda one: _place(one.value)[0] >= len(views)
        )  # the call's arrays have their parameters' names
        for kind, name, address in pointers:
            names = itertools.chain([name], (f"work_{i}" for i in itertools.count(1)))
            self.names.setdefault(address, next(one for one in names if one not in self.names.values()))
            self.kinds.setdefault(address, kind.rstrip("* ").removeprefix("const "))

    def text(self) -> str:
        """As comments."""
        arrays = "; ".join(f"{name}: {self._array(address)}" for address, name in self.names.items())
        note = textwrap.wrap(f"An example, with {arrays}:", 98, initial_indent="// ", subsequent_indent="// ")
        return "\n".join([*note, *(f"//     {self._launch(launch)}" for launch in self.launches)]) + "\n"

    def _launch(self, launch: Launch) -> str:
        words = [_number(one.value) for one in self.plain.arguments(launch)]
        for i, one in enumerate(self.plain.arguments(launch)):
            if one.kind.endswith("*"):
                words[i] = self.names.get(one.value, "None")
        name = f'program["{launch.kernel}"]' if keyword.iskeyword(launch.kernel) else launch.kernel
        shape = [_sizes(launch.grid), _sizes(launch.block)]
        if launch.shared:  # by what it depends on, if that shows
            size = self.plain.shared_size(launch.kernel)
            count = {*words, str(launch.block[0])} & {str(launch.shared / size).removesuffix(".0")}
            shape.append(f"{size} * {count.pop()}" if count else f"{launch.shared}")
        if launch.cooperative:
            return f"{name}({', '.join([*shape, *words])}, cooperative=True)"
        return f"{name}[{', '.join(shape)}]({', '.join(words)})"

    def _array(self, address: int) -> str:
        view, offset = _place(address)
        dtype = NUMPY.get(self.kinds[address], "")
        if view < len(self.views):
            x, padded = self.views[view], self.sizes["bytes"][view]
            shape = x.shape
            if padded > x.nbytes:  # rows are padded
                pitch = self.plain.values(self.launches[0]).get(f"{self.names[address]}_pitch")
                pitch = pitch or padded // x.itemsize // shape[0]
                shape = (padded // x.itemsize // pitch, pitch)
            same_size = dtype and np.dtype(dtype).itemsize == x.itemsize
            return f"{dtype if same_size else type_name(x.dtype)} ({', '.join(map(str, shape))})"
        accumulator = self.run.variant.signature(self.run.dtype)[1]
        ends = (self.sizes["workspace"], self.sizes["partials"] * np.dtype(accumulator).itemsize)
        after = [_place(other)[1] for other in self.names if _place(other)[0] == view and other > address]
        size = max(min([*after, ends[view - len(self.views)]]) - offset, 0)
        dtype = dtype or "uint8"
        return f"{dtype} ({size // np.dtype(dtype).itemsize}), zeros"


def _place(address: int) -> tuple[int, int]:
    """The array of the call, and the position in it, of an address in a list of launches (CK_NOWHERE)."""
    return (address >> 40) - 1, address & (1 << 40) - 1


def _number(value: Any) -> str:
    return str(value) if not isinstance(value, float) else f"{value:g}" if math.isfinite(value) else f'float("{value}")'


def _sizes(lengths: tuple[int, int, int]) -> str:
    last = max((axis for axis, length in enumerate(lengths) if length > 1), default=0)
    return str(lengths[0]) if last == 0 else f"({', '.join(map(str, lengths[: last + 1]))})"
