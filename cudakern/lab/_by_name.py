"""Experiments by their names, and their arguments as a command line has them: ``strides=2,4``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from .. import lab
from .._arguments import keywords
from .._errors import unknown
from ._experiment import Experiment


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

    ValueError for an unknown name or a word that is no argument; TypeError for one that the experiment does not take or
    that is missing.
    """
    known = experiments()
    if name not in known:
        raise ValueError(unknown("experiment", name, known))
    given = keywords(name, words)
    try:
        inspect.signature(known[name]).bind(**given)
    except TypeError as error:
        raise TypeError(f"{name}: {error}; it takes {about(known[name])[1] or 'no arguments'}") from None
    return known[name](**given)
