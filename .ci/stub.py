#!/usr/bin/env python3
"""Writes cudakern/__init__.pyi, what a type checker sees of the package: an import for every public name, for every
operation two signatures (arrays on the device, arrays on the host) made from its function's, and the names of
operations and variants, for completion. --check writes nothing, and fails if the file is out of date."""

import inspect
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import cudakern  # noqa: E402
from cudakern.operations import registry  # noqa: E402

#: The names in the functions' signatures: (arrays on the device, the host's). See cudakern/operations/registry.py.
MEANS = {
    "ArrayLike": ("DeviceArray", "npt.ArrayLike"),
    "ArrayOrNumber": ("npt.ArrayLike | DeviceArray", "npt.ArrayLike"),
    "ArrayStack": ("DeviceArray", "npt.ArrayLike | DeviceArray"),
    "Number": ("float | DeviceArray | None", "float | None"),
    "Out": ("DeviceArray | None", "Array | None"),
    "NumpyOut": 2 * ("Array | DeviceArray | tuple[Array | DeviceArray | None] | EllipsisType | None",),
    "Result": ("DeviceArray", "Any"),
}
assert set(MEANS) <= set(vars(registry))

HEAD = '''"""What a type checker sees of cudakern. Written by .ci/stub.py: do not edit."""

from collections.abc import Callable, Mapping, Sequence
from types import EllipsisType
from typing import Any, Literal, SupportsIndex, TypeAlias, overload

import numpy.typing as npt

from . import emulator
from . import lab as lab
'''

#: variants' signatures: an overload cannot be read from the function.
VARIANTS = """@overload
def variants(op: _Operation | str | Callable[..., Any]) -> Variants: ...
@overload
def variants(op: None = None) -> AllVariants: ...
"""


def literal(name, values):
    """A type of these strings."""
    return f"{name}: TypeAlias = Literal[\n{''.join(f'    {json.dumps(value)},{chr(10)}' for value in values)}]\n"


def variants_type(function):
    """The name of the type of an operation's variants."""
    return f"_{function.__name__.title().replace('_', '')}"


def annotation(function, p, side):
    """The type of a parameter."""
    if p.name == "variant" and side is not None:
        return f"{variants_type(function)} | str"
    if "NameOrFunction" in p.annotation:
        return p.annotation.replace("NameOrFunction", "_Operation | str | Callable[..., Any]")
    return MEANS.get(p.annotation, (p.annotation,) * 2)[side or 0]


def signature(function, side=None):
    """A function; with ``side``, one of an operation's two overloads. A comma after the last parameter keeps the
    formatter's hands off it."""
    lines, kinds = [], [p.kind for p in inspect.signature(function).parameters.values()]
    for i, p in enumerate(inspect.signature(function).parameters.values()):
        if p.kind is p.KEYWORD_ONLY and not {p.KEYWORD_ONLY, p.VAR_POSITIONAL} & {*kinds[:i]}:
            lines.append("*")
        value = p.default if isinstance(p.default, bool | None) else json.dumps(p.default, default=str)
        default = "" if p.default is p.empty else f" = {value}"
        stars = {p.VAR_KEYWORD: "**", p.VAR_POSITIONAL: "*"}.get(p.kind, "")
        kind = annotation(function, p, side).replace("'", '"')  # the formatter's quotes
        lines.append(f"{stars}{p.name}: {kind}{default}")
        if p.kind is p.POSITIONAL_ONLY and p.POSITIONAL_ONLY not in kinds[i + 1 :]:
            lines.append("/")
    body = "".join(f"    {line},\n" for line in lines)
    if side is None:
        return f"def {function.__name__}(\n{body}) -> {inspect.signature(function).return_annotation}: ...\n"
    return f"@overload\ndef {function.__name__}(\n{body}) -> {MEANS['Result'][side]}: ...\n"


def takes_operation(function):
    """True if its first parameter is an operation."""
    first = next(iter(inspect.signature(function).parameters.values()), None)
    return first is not None and "NameOrFunction" in str(first.annotation)


def text():
    modules, operations, takers = {"arrays.transfer": {"Array"}, "operations.variants": {"AllVariants"}}, [], []
    for name in sorted(cudakern.__all__):
        what = getattr(cudakern, name)
        if inspect.isfunction(what) and inspect.signature(what).return_annotation == "Result":
            operations.append(what)
        elif inspect.isfunction(what) and name != "variants" and takes_operation(what):
            takers.append(what)
        elif name not in ("__version__", "emulator", "variants"):
            modules.setdefault(what.__module__.removeprefix("cudakern."), set()).add(name)
    parts = [HEAD]
    for module in sorted(modules):
        names = sorted(modules[module], key=lambda name: (name.islower(), name))  # as the formatter has them
        parts.append(f"from .{module} import {', '.join(names)}\n")
    parts.append("\n__version__: str\n\n")
    parts.append(literal("_Operation", cudakern.variants()))
    for function in operations:
        parts.append(literal(variants_type(function), ["auto", *(v.name for v in cudakern.variants(function))]))
    parts.append("\n")
    parts += [signature(function) for function in takers]
    parts.append(VARIANTS)
    parts += [signature(function, side) for function in operations for side in (0, 1)]
    names = "".join(f'    "{name}",\n' for name in sorted(cudakern.__all__))
    return "".join(parts) + f"\n__all__ = [\n{names}]\n"


if __name__ == "__main__":
    path = ROOT / "cudakern/__init__.pyi"
    if "--check" not in sys.argv[1:]:
        path.write_text(text())
    elif not path.exists() or path.read_text() != text():
        sys.exit(f"{path.relative_to(ROOT)} is out of date: python .ci/stub.py writes it")
