#!/usr/bin/env python3
"""Writes cudakern/__init__.pyi, what a type checker sees of the package: an import for every public name, and for every
operation two signatures, of arrays on the device and of the host's, from the one of its function. --check writes
nothing, and fails if the file is out of date."""

import inspect
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import cudakern  # noqa: E402
from cudakern._operations import _public  # noqa: E402

#: The names in the functions' signatures: (arrays on the device, the host's). See cudakern/_operations/_public.py.
MEANS = {
    "Operand": ("DeviceArray", "npt.ArrayLike"),
    "Beside": ("npt.ArrayLike | DeviceArray", "npt.ArrayLike"),
    "Stack": ("DeviceArray", "npt.ArrayLike | DeviceArray"),
    "Number": ("float | DeviceArray | None", "float | None"),
    "Out": ("DeviceArray | None", "Array | None"),
    "NumpyOut": 2 * ("Array | DeviceArray | tuple[Array | DeviceArray | None] | EllipsisType | None",),
    "Result": ("DeviceArray", "Any"),
}
assert set(MEANS) <= set(vars(_public))

HEAD = '''"""What a type checker sees of cudakern. Written by .ci/stub.py: do not edit."""

from types import EllipsisType
from typing import Any, SupportsIndex, overload

import numpy.typing as npt

from . import emulator
from . import lab as lab
'''


def signature(function, side):
    """One overload. A comma after the last parameter keeps the formatter's hands off it."""
    lines, kinds = [], [p.kind for p in inspect.signature(function).parameters.values()]
    for i, p in enumerate(inspect.signature(function).parameters.values()):
        if p.kind is p.KEYWORD_ONLY and p.KEYWORD_ONLY not in kinds[:i]:
            lines.append("*")
        default = "" if p.default is p.empty else f" = {p.default if p.default is None else json.dumps(p.default)}"
        stars = "**" if p.kind is p.VAR_KEYWORD else ""
        lines.append(f"{stars}{p.name}: {MEANS.get(p.annotation, (p.annotation,) * 2)[side]}{default}")
        if p.kind is p.POSITIONAL_ONLY and p.POSITIONAL_ONLY not in kinds[i + 1 :]:
            lines.append("/")
    body = "".join(f"    {line},\n" for line in lines)
    return f"@overload\ndef {function.__name__}(\n{body}) -> {MEANS['Result'][side]}: ...\n"


def text():
    modules, operations = {"_transfer": {"Array"}}, []
    for name in cudakern.__all__:
        what = getattr(cudakern, name)
        if inspect.isfunction(what) and inspect.signature(what).return_annotation == "Result":
            operations.append(what)
        elif name not in ("__version__", "emulator"):
            modules.setdefault(what.__module__.removeprefix("cudakern."), set()).add(name)
    parts = [HEAD]
    for module in sorted(modules):
        names = sorted(modules[module], key=lambda name: (name.islower(), name))  # as the formatter has them
        parts.append(f"from .{module} import {', '.join(names)}\n")
    parts.append("\n__version__: str\n\n")
    parts += [signature(function, side) for function in sorted(operations, key=lambda f: f.__name__) for side in (0, 1)]
    names = "".join(f'    "{name}",\n' for name in sorted(cudakern.__all__))
    return "".join(parts) + f"\n__all__ = [\n{names}]\n"


if __name__ == "__main__":
    path = ROOT / "cudakern/__init__.pyi"
    if "--check" not in sys.argv[1:]:
        path.write_text(text())
    elif not path.exists() or path.read_text() != text():
        sys.exit(f"{path.relative_to(ROOT)} is out of date: python .ci/stub.py writes it")
