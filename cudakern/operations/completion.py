"""Completion in IPython: names of operations and variants in quotes, as arguments of a call."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import reduce
from typing import Any

from ..calls import table
from .variants import operation_name

#: Functions that take an operation first, and those that take a variant second.
_OPERATION_FIRST = ("bench", "ladder", "variants", "source", "occupancy", "kernel_resources", "profile")
_VARIANT_SECOND = ("source", "occupancy", "kernel_resources")

_CALL = re.compile(r"([A-Za-z_][\w.]*)\(([^()]*)$")
_ARGUMENT = re.compile(r"""(?:(\w+)\s*=\s*\[?\s*(?:["'][^"']*["'],\s*)*)?["'](\w*)$""")


def _open_call(text: str) -> tuple[str, list[str]] | None:
    """The innermost call that is open at the end of the text: its function and its arguments so far."""
    closed = 1
    while closed:  # the innermost brackets go first
        text, closed = re.subn(r"\([^()]*\)|\[[^][]*\]|\{[^{}]*\}", "", text)
    call = _CALL.search(text)
    return (call[1], [argument.strip() for argument in call[2].split(",")]) if call else None


def _value(expression: str, names: dict[str, Any]) -> Any:
    """The object with a dotted name, or the text of a quoted string."""
    if quoted := re.fullmatch(r"""["'](\w+)["']""", expression):
        return quoted[1]
    first, *rest = expression.split(".")
    return reduce(getattr, rest, names[first])


def completions(text: str, names: dict[str, Any]) -> Sequence[str]:
    """The names that can complete ``text``, the code up to the cursor; ``names`` are the user's variables."""
    call = _open_call(text)
    if call is None:
        return ()
    function, arguments = call
    current = _ARGUMENT.search(", ".join(arguments))
    keyword, start = current.groups() if current else (None, arguments[-1])
    try:
        called = _value(function, names)
        name = called.__name__ if called.__module__.startswith("cudakern.") else ""
        of_argument = name in _OPERATION_FIRST
        if current and of_argument and (keyword in ("op", "fn") or (keyword is None and len(arguments) == 1)):
            known = list(called.__globals__["PEERS"] if name == "bench" else table.operations())
            return [op for op in known if op.startswith(start)]
        variants = table.variants(operation_name(_value(arguments[0], names) if of_argument else called))
    except (AttributeError, KeyError, TypeError, ValueError):
        return ()
    known = []
    if current is None:
        passed = [argument.partition("=")[2].strip(" \"'") for argument in arguments if "variant" in argument]
        chosen = [variant for variant in variants if variant.name in passed] or variants
        known = [f"{p.name}=" for p in dict.fromkeys(p for variant in chosen for p in variant.parameters)]
    elif keyword in ("variant", "variants") or (name in _VARIANT_SECOND and len(arguments) == 2):
        known = [v.name for v in variants if v.kernels or name not in _VARIANT_SECOND]
        known += [] if of_argument else [table.AUTO]
    return [word for word in known if word.startswith(start)]


def register() -> None:
    """Adds these completions to the running IPython, if any."""
    shell = sys.modules["IPython"].get_ipython()
    completer = getattr(shell, "Completer", None)
    if completer is None or not hasattr(completer, "custom_matchers"):
        return
    from IPython.core.completer import SimpleCompletion, context_matcher

    @context_matcher(identifier="cudakern")  # type: ignore[untyped-decorator]
    def matcher(context: Any) -> dict[str, Any]:
        lines = context.full_text.split("\n")[: context.cursor_line + 1]
        lines[-1] = lines[-1][: context.cursor_position]
        words = completions("\n".join(lines), shell.user_ns)
        return {
            "completions": [SimpleCompletion(word, type="str") for word in words],
            "suppress": bool(words) and "=" not in words[0],
        }

    completer.custom_matchers.append(matcher)
