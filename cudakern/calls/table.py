"""The variant table: the entries of kernels are in C, next to the kernels; those of NumPy in numpy_variants.py."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from .. import _display
from .._backend import Backend, emulator
from .._errors import unknown
from ..arrays.dtypes import BFLOAT16, kind_of, rounding_unit, type_name
from .numpy_variants import WORDS, Words

AUTO = "auto"
NUMPY = "numpy"  #: the variant that NumPy computes, on the host


def either(words: Sequence[str]) -> str:
    """Alternatives: "int32, int64 or float32"."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def type_in_words(dtype: npt.DTypeLike) -> str:
    """A type's name for an error message: str and void without their number of bits."""
    name = type_name(dtype)
    return name.rstrip("0123456789") if name.startswith(("str", "bytes", "void", "StringDType")) else name


@dataclass(frozen=True)
class Parameter:
    """A parameter of a variant: one of ``choices``, or a range from ``low`` to ``high`` in steps.

    If the choices have ``words``, callers pass the word.
    """

    name: str
    default: int
    choices: tuple[int, ...]
    low: int
    high: int
    step: int
    unit: str
    words: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """The values it takes, as text."""
        if self.words:
            return ", ".join(map(repr, self.words))
        if self.choices:
            return ", ".join(map(str, sorted(self.choices)))
        steps = f" in steps of {self.step}" if self.step > 1 else ""
        return f"{self.low} to {self.high}{steps}"

    @property
    def facts(self) -> str:
        """The name, the default and the values it takes, as text."""
        _, zero, chosen = self.unit.partition("0:")
        return f"{self.name}={self.word(self.default)!r} ({self.allowed}{zero and f'; 0: {chosen.strip()}'})"

    def word(self, value: int) -> int | str:
        """A ``value`` as callers pass it."""
        return self.words[value] if self.words else value

    def check(self, value: Any) -> int:
        """The value as an int; TypeError if it is not one, ValueError if the variant does not take it."""
        if self.words:
            if not isinstance(value, str):
                raise TypeError(f"{self.name}= must be one of {self.allowed}, not {value!r:.60}")
            if value not in self.words:
                raise ValueError(unknown(self.name, value, self.words))
            return self.words.index(value)
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError(f"{self.name}= must be an integer, not {value!r:.60}") from None
        allowed = self.choices or range(self.low, self.high + 1, max(self.step, 1))
        if number not in allowed:
            unit = self.unit.removeprefix(f"{self.name} ")
            rule = f"one of {self.allowed}" if self.choices else self.allowed
            raise ValueError(f"`{self.name}`{unit and f' ({unit})'} must be {rule}, not {number}")
        return number


@dataclass(frozen=True, repr=False)
class Variant(_display.Shown):
    """An entry of the table: one way to compute an operation, and its contract."""

    operation: str
    name: str
    after: str | None  #: the step it comes after
    summary: str
    lesson: str
    origin: str  #: document and step (docs/sources.md lists the documents), paper or library
    parameters: tuple[Parameter, ...]
    types: tuple[str, ...]  #: dtype names of the inputs
    signatures: tuple[tuple[str, str, str], ...]  #: (input, accumulator, output)
    sum_order: str  #: "sequential", "tree", "compensated" or "none"
    # The defaults are what NumPy's variant has.
    deterministic: bool = True  #: the same bits whatever the order of threads, for every type
    deterministic_integers: bool = True  #: ... for integer types
    flushes_denormals: bool = False  #: a GPU may flush float32 sums below the normal range to zero
    cuts_inputs: bool = False  #: 11 significant bits of float32 inputs count (tf32)
    compensated: bool = False
    reads_clock: bool = False
    cooperative: bool = False
    finish: str = "kernel"  #: who adds the last partial sums: "host" or "kernel"
    capability: int = 0  #: 75 means compute capability 7.5, at least
    capability_exact: bool = False  #: that capability and no other
    backends: tuple[str, ...] = ("host",)  #: "cuda", "emulator", "host"
    kernels: tuple[str, ...] = ()
    source: str = ""  #: file, relative to the folder of kernels

    @property
    def on_host(self) -> bool:
        """True for the variant that NumPy computes."""
        return "host" in self.backends

    def deterministic_for(self, dtype: npt.DTypeLike) -> bool:
        """True if inputs of type ``dtype`` give the same bits in every run."""
        return self.deterministic or (self.deterministic_integers and kind_of(dtype) in "biu")

    def signature(self, dtype: npt.DTypeLike, instead: str = "") -> tuple[str, str, str]:
        """(input, accumulator, output) for inputs of type ``dtype``; a TypeError recommends ``instead`` or "auto"."""
        name = type_name(dtype)
        for signature in self.signatures:
            if signature[0] == name:
                return signature
        hint = f"; {instead or f'variant={AUTO!r} takes it'}" if kind_of(dtype) in tuple("biufc") else ""
        types = f"{either(self.types)}, not {type_in_words(dtype)}"
        raise TypeError(f"{self.operation}: variant {self.name!r} takes {types}{hint}")

    def out_type(self, dtype: npt.DTypeLike) -> str:
        """The type that out= must have for inputs of type ``dtype``, where this kernel's result has another type than
        that of the operation's first kernel; "" where none is needed."""
        if self.on_host:
            return ""
        name, _, result = self.signature(dtype)
        _, *kernels = variants(self.operation)
        usual = next(types[2] for kernel in kernels for types in kernel.signatures if types[0] == name)
        return "" if result == usual else result

    def values(self, arguments: Mapping[str, Any]) -> tuple[int, ...]:
        """The values of all parameters in the variant's order, from ``arguments`` or the defaults."""
        names = [p.name for p in self.parameters]
        if wrong := [name for name in arguments if name not in names]:
            takes = f"takes {' and '.join(f'{n}=' for n in names)}" if names else "has no parameters"
            raise TypeError(f"{self.operation}: variant {self.name!r} has no parameter {wrong[0]!r}; it {takes}")
        try:
            return tuple(p.check(arguments[p.name]) if p.name in arguments else p.default for p in self.parameters)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{self.operation}: variant {self.name!r}: {error}") from None

    def by_default(self, arguments: Mapping[str, Any]) -> bool:
        """True if ``arguments`` are the defaults (NumPy's variant: of the first kernel)."""
        kernel = variants(self.operation)[1] if self.on_host else self
        return all(p.check(arguments[p.name]) == p.default for p in kernel.parameters if p.name in arguments)

    def why_not(self, backend: Backend) -> str:
        """Why this variant cannot run on that backend; "" if it can."""
        if self.on_host:
            return ""
        if backend.name not in self.backends:
            return "it needs a GPU, but none is in use"
        here, least = backend.capability, self.capability
        if here < least or (self.capability_exact and here != least):
            exactly = "exactly" if self.capability_exact else "at least"
            return f"it needs compute capability {exactly} {least / 10:.1f}, but this device has {here / 10:.1f}"
        if self.capability_exact and backend.exact_capability != least:
            return f"it needs code for {least}a, which this build does not contain"
        return ""

    def error_bound(
        self, *shapes: tuple[int, ...], dtype: npt.DTypeLike, rms: bool = False, **parameters: int
    ) -> float:
        """Bound the rounding error of the variant's order of summation, relative to the sum of magnitudes.

        Let f be the number of roundings on the longest path of additions (the length for a sequential sum, its
        logarithm for a tree, 2 for a compensated one), u the accumulator's rounding unit, and v the output's (for the
        rounding of the product and the last one). The largest error is 1.1 * (f * u + v), where 1.1 leaves room for
        terms of second order. The root mean square over many inputs (``rms=True``) is sqrt(f * u^2 + v^2), since
        independent roundings add up like a random walk. Integers are exact: 0. Where inputs are cut to 11 significant
        bits (``cuts_inputs``), v also contains the largest error of a product of two such inputs, 2^-9.

        ``shapes`` and ``dtype`` are those of the inputs; ``parameters`` are the variant's that differ from the
        defaults.

        Examples
        --------
        >>> import cudakern
        >>> variant = cudakern.variants("matmul")["kahan"]
        >>> variant.error_bound((1000, 1000), (1000, 1000), dtype="float32") < 3e-7
        True
        """
        _, accumulator, output = self.signature(dtype)
        kind = kind_of(output)
        if kind in "biu":
            return 0.0
        variant, name, values = self, type_name(dtype), self.values(parameters)
        if self.on_host:  # it has the roundings of the ladder's first kernel, with any type and the largest parameters
            variant = variants(self.operation)[1]
            name, values = variant.types[0], tuple(max(p.choices, default=p.high) for p in variant.parameters)
        sizes = tuple(tuple(map(int, shape)) for shape in shapes)
        depth = emulator().error_depth(variant.operation, variant.name, values, (name,) * len(sizes), sizes)
        u, v = rounding_unit(accumulator), rounding_unit(output)
        if kind == "c":  # a complex product is two products and a sum, in both parts
            v *= 3
        if self.cuts_inputs:
            v += 2.0**-9
        return math.sqrt(depth * u * u + v * v) if rms else 1.1 * (depth * u + v)

    def types_of(self, every: Sequence[str]) -> str:
        """The types, as text; ``every``: those of all variants of the operation."""
        others = [dtype for dtype in every if dtype not in self.types]
        short = f"all but {others[0]}" if others else "all"
        return short if len(others) < 2 and len(every) > 3 else ", ".join(self.types)

    def table(self) -> _display.Table:
        capability = f"{self.capability / 10:.1f}" + ("" if self.capability_exact else " or later")
        deterministic = "yes" if self.deterministic else "integers only" if self.deterministic_integers else "no"
        rows = [
            ("what it shows", self.summary),
            ("lesson", self.lesson),
            ("comes after", self.after or "-"),
            ("parameters", "; ".join(p.facts for p in self.parameters) or "-"),
            ("types", ", ".join(self.types)),
            ("runs on", ", ".join(self.backends)),
            ("compute capability", "-" if self.on_host else capability),
            ("deterministic", deterministic),
            ("kernels", ", ".join(self.kernels) or "-"),
            ("source", self.source or "-"),
            ("origin", f"docs/sources.md: {self.origin}"),
        ]
        return _display.facts(rows, f"{self.operation}, {self.name}")


class Variants(_display.Shown, tuple[Variant, ...]):
    """The variants of an operation in the ladder's order, indexed by position or by name; displays as a table."""

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        for variant in self:
            if variant.name == key:
                return variant
        raise KeyError(unknown("variant", key, (variant.name for variant in self), of=self[0].operation))

    def __contains__(self, key: object) -> bool:
        return any(variant.name == key for variant in self) if isinstance(key, str) else super().__contains__(key)

    @functools.cached_property
    def types(self) -> tuple[str, ...]:
        """The types that at least one of the variants takes."""
        return tuple(dict.fromkeys(dtype for variant in self for dtype in variant.types))

    def table(self) -> _display.Table:
        """One row per variant."""
        rows, every = [], self.types
        for variant in self:
            bound = "only" if variant.capability_exact else "from"
            capability = "" if variant.on_host else f"{bound} {variant.capability / 10:.1f}"
            parameters, backends = "; ".join(p.facts for p in variant.parameters), ", ".join(variant.backends)
            words = [variant.name, variant.after or "", variant.summary, parameters, variant.types_of(every)]
            rows.append([*words, backends, capability])
        note = f"All types: {', '.join(every)}." if any(row[4].startswith("all") for row in rows) else ""
        title = f"{self[0].operation}: {operations()[self[0].operation]['summary']}" if self else ""
        columns = ["variant", "after", "what it shows", "parameters", "types", "backends", "capability"]
        return _display.Table(title, columns, rows, note)

    def to_dict(self) -> list[dict[str, Any]]:
        return [variant.to_dict() for variant in self]


@functools.cache
def operations() -> dict[str, dict[str, Any]]:
    """The table of the C modules, by operation."""
    return {entry["name"]: entry for entry in emulator().operations()}


@functools.cache
def variants(op: str) -> Variants:
    """The variants of an operation, in the order of its ladder; ValueError for an unknown one."""
    if op not in operations():
        raise ValueError(unknown("operation", op, operations()))
    kernels = []
    for entry in operations()[op]["variants"]:
        fields = {name: entry[name] for name in Variant.__dataclass_fields__ if name in entry}
        fields["parameters"] = tuple(Parameter(**p) for p in entry["parameters"])
        fields["signatures"] = tuple(tuple(types) for types in entry["types"])
        fields["types"] = tuple(dict.fromkeys(types[0] for types in entry["types"]))
        kernels.append(Variant(operation=op, **fields))
    return Variants([_numpy_variant(op, kernels), *kernels])


def _numpy_variant(op: str, kernels: list[Variant]) -> Variant:
    """NumPy's variant: it takes the kernels' types except bfloat16 (with the first such kernel's result), and those of
    its Words."""
    words = WORDS.get(op, Words())
    results: dict[str, str] = {}
    for dtype, _, result in (signature for kernel in kernels for signature in kernel.signatures):
        if dtype != BFLOAT16:
            results.setdefault(dtype, result)
    for pair in words.more.split():
        dtype, _, result = pair.partition(":")
        results[dtype] = result or dtype
    return Variant(
        operation=op,
        name=NUMPY,
        after=None,
        summary=words.summary,
        lesson=words.lesson,
        origin=words.origin,
        parameters=(),
        types=tuple(results),
        signatures=tuple((dtype, result, result) for dtype, result in results.items()),
        sum_order=words.sum_order or kernels[0].sum_order,
    )


def having(parameter: str, entries: Iterable[Variant]) -> list[Variant]:
    return [variant for variant in entries if any(p.name == parameter for p in variant.parameters)]


def find(op: str, name: str, also: Sequence[str] = ()) -> Variant:
    """The variant of that name; ValueError lists all names and those of ``also``, the most similar first."""
    if not isinstance(name, str):
        hint = f"; {op} takes fewer arrays" if hasattr(name, "shape") else ""
        raise TypeError(f"the variant of {op} must be a str, not {type(name).__name__}{hint}")
    for variant in variants(op):
        if variant.name == name:
            return variant
    raise ValueError(unknown("variant", name, [*also, *(variant.name for variant in variants(op))], of=op))


def names_in(variants: str | Iterable[str]) -> list[str]:
    """A list of names, or a text with commas between them, as on the command line."""
    if not isinstance(variants, str):
        return list(variants)
    return [name.strip() for name in variants.split(",") if name.strip()] or [variants]


def pass_a_variant(op: str) -> str:
    """The error message where a variant with a kernel is missing."""
    return f"pass a variant of {op}: {', '.join(entry.name for entry in variants(op) if not entry.on_host)}"


def choose(ops: Sequence[str], names: Sequence[str] | None) -> list[tuple[str, Variant]]:
    """The variants of those names (None: all) in those operations; ValueError for a name that none of them has."""
    entries = [(op, variant) for op in ops for variant in variants(op)]
    known = dict.fromkeys(variant.name for _, variant in entries)
    for name in names or ():
        if name not in known:
            raise ValueError(unknown("variant", name, known, of=" and ".join(dict.fromkeys(ops))))
    return [(op, variant) for op, variant in entries if names is None or variant.name in names]


def check_own(operation: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """A public function's own keywords, checked as parameters of its first kernel, since NumPy's variant has none:
    words unchanged, numbers as ints."""
    parameters = [p for p in variants(operation)[1].parameters if p.name in own]
    try:
        return {**own, **{p.name: p.word(p.check(own[p.name])) for p in parameters}}
    except (TypeError, ValueError) as error:
        raise type(error)(f"{operation}: {error}") from None
