"""Experiments by their names, and their arguments as a command line has them: ``strides=2,4``."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

from .. import lab
from .._errors import unknown
from ._experiment import Experiment

#: As Python and the list of experiments have it: range(33), range(1,33), range(1, 33, 2).
RANGE = re.compile(r"range\(( *-?\d+ *(?:, *-?\d+ *){0,2})\)")


def experiments() -> dict[str, Callable[..., Experiment]]:
    """The public functions that give back an Experiment."""
    found = {}
    for name in lab.__all__:
        what = getattr(lab, name)
        gives = getattr(lab, inspect.signature(what).return_annotation, None) if inspect.isfunction(what) else None
        if inspect.isclass(gives) and issubclass(gives, Experiment):
            found[name] = what
    return found


def about(experiment: Callable[..., Experiment]) -> tuple[str, str]:
    """What it shows, in a line, and its arguments."""
    taken = inspect.signature(experiment).parameters.values()
    arguments = [p.name if p.default is p.empty else f"{p.name}={_told(p.default)}" for p in taken]
    return (inspect.getdoc(experiment) or "").partition("\n")[0], " ".join(arguments)


def _told(default: Any) -> str:
    return ",".join(map(str, default)) if isinstance(default, tuple) else str(default).replace(" ", "")


def run(name: str, words: Sequence[str] = ()) -> Experiment:
    """The experiment of that name with arguments like ``n=1000``, ``block=16,16``, ``grid=None``.

    ValueError for an unknown name or a word without "="; TypeError for an argument that the experiment does not take
    or that is missing.
    """
    known = experiments()
    if name not in known:
        raise ValueError(unknown("experiment", name, known))
    given: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"{name}: {word!r} is no argument: write NAME=VALUE, as in n=1000 or block=16,16")
        given[key] = _value(value)
    try:
        inspect.signature(known[name]).bind(**given)
    except TypeError as error:
        raise TypeError(f"{name}: {error}; it takes {about(known[name])[1] or 'no arguments'}") from None
    return known[name](**given)


def _value(text: str) -> Any:
    """None, a number, several numbers ("2," is one of several), a range of them, or the word itself."""
    if text == "None":
        return None
    if written := RANGE.fullmatch(text):
        with contextlib.suppress(ValueError):  # a step of 0: the experiment refuses the word
            return range(*map(int, written[1].split(",")))
    try:
        numbers = tuple(int(part) for part in text.removesuffix(",").split(","))
    except ValueError:
        return text
    return numbers if "," in text else numbers[0]
