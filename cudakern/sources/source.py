"""source: a kernel's code."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from .._installed import KERNELS
from ..calls import table
from ..operations.variants import NameOrFunction, operation_name
from .text import Source
from .variant import plain_source

#: What a file defines: functions, types, constants and macros.
_DEFINED = re.compile(r"^(?!namespace|#(?!define))[\w:<>*&, #]*?\b(?!__)(\w+)(?:\(| = | \{|;)", re.M)


def _included(path: Path) -> dict[Path, str]:
    """The device code among the files that a file includes, and that these include, in this order, with their texts."""
    files: dict[Path, str] = {}
    waiting = [path]
    while waiting:
        path = waiting.pop(0)
        if path in files or path.parent.name in ("plans", "launches") or not path.is_file():  # some are below the seam
            continue
        files[path] = path.read_text(encoding="utf-8")
        names = re.findall(r'^#include "([^"]+\.cuh)"', files[path], re.M)
        waiting += [there for name in names if (there := (path.parent / name).resolve()).is_relative_to(KERNELS)]
    return files


def _used(shown: str, others: dict[Path, str]) -> dict[Path, str]:
    """Those definitions in the other files of which the shown text uses a name, and those that these use."""
    left = [
        (path, number, definition, set(_DEFINED.findall(definition)))
        for path, text in others.items()
        for number, definition in enumerate(re.split(r"\n\n(?=\S)", Source(text).kernel.strip()))
        if not re.match(r"(?://[^\n]*\n)*inline \w", definition)  # of the host
    ]
    used, waiting = [], [shown]
    while waiting:
        words = set(re.findall(r"\w+", re.sub(r"//[^\n]*", "", waiting.pop())))
        found = [one for one in left if one[3] & words]
        left = [one for one in left if one not in found]
        waiting += [definition for _, _, definition, _ in found]
        used += found
    paths = dict.fromkeys(path for path, *_ in used)
    return {
        path: "\n\n".join(one[2] for one in sorted(used, key=lambda one: one[1]) if one[0] == path) for path in paths
    }


def source(op: NameOrFunction, variant: str | None = None, *, plain: bool = False) -> Source:
    """The CUDA source of the kernels of ``variant``, a name listed by ``variants(op)``: a ``str`` with the file's
    ``path``, and with what it uses from other files, ``helpers``. A kernel that another file has, because variants
    share it, follows the variant's own file. ``op`` may also be a kernel, a launch or a Program of your own, without
    ``variant``. ValueError for an unknown name or a variant without a kernel (NumPy's); TypeError without a variant.

    ``plain=True`` gives the kernel as a textbook has it, derived from the same source: for one type, without templates
    and other files, with the launches of an example as its last lines. ``compile`` and ``%%cuda`` take it as it is. A
    kernel that needs tensor cores or clusters remains as it is written, and says so. What is displayed is this text.

    Examples
    --------
    >>> import cudakern
    >>> "__global__" in cudakern.source("matmul", "tiled")
    True
    >>> list(cudakern.source("matmul", "tiled").helpers)[0]
    'compensated.cuh'
    """
    op = getattr(op, "kernel", op)  # of a launch, program.add_one[4, 256]
    for name in ("code", "source"):  # a kernel of a Program, and a Program
        if isinstance(code := getattr(op, name, None), Source):
            return code
    op = operation_name(op)
    if variant is None:
        raise TypeError(f"source: {table.pass_a_variant(op)}")
    entry = table.find(op, variant)
    if not entry.source or not entry.kernels:
        raise ValueError(f"{op}: variant {variant!r} has no kernel ({entry.summary})")
    own = (KERNELS / entry.source).resolve()
    files = _included(own)
    shown = {own: files.pop(own)}
    for kernel in entry.kernels:
        if not any(_defines(text, kernel) for text in shown.values()):
            for path in (KERNELS / entry.source.split("/")[0]).rglob("*.cuh"):
                if _defines(text := path.read_text(encoding="utf-8"), kernel):
                    shown[path] = text
                    files |= _included(path)
    text = "\n".join(shown.values())
    textbook = functools.partial(plain_source, entry, text, {**shown, **files}, own)
    if plain:
        return textbook()
    whole = Source(text, own)
    whole.textbook = textbook
    for path, text in _used(whole.kernel, {path: text for path, text in files.items() if path not in shown}).items():
        whole.helpers[str(path.relative_to(KERNELS))] = Source(text, path)
    return whole


def _defines(text: str, kernel: str) -> bool:
    return bool(re.search(rf"__global__[^;{{]*\b{kernel}\(", text))
