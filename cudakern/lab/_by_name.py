"""Experiments by name, with arguments as typed on a command line: ``strides=2,4``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

from .._arguments import keywords
from .._errors import unknown
from ._experiment import EXPERIMENTS, Experiment


def experiments() -> dict[str, Callable[..., Experiment]]:
    """The experiments, in the order of their names."""
    return {name: EXPERIMENTS[name].function for name in sorted(EXPERIMENTS)}


def about(experiment: Callable[..., Experiment]) -> tuple[str, str]:
    """The first line of an experiment's docstring, and its arguments."""
    arguments = []
    for p in inspect.signature(experiment).parameters.values():
        default = ",".join(map(str, p.default)) if isinstance(p.default, tuple) else str(p.default).replace(" ", "")
        arguments.append(p.name if p.default is p.empty else f"{p.name}={default}")
    return (inspect.getdoc(experiment) or "").partition("\n")[0].replace("`", ""), " ".join(arguments)


def run(name: str, words: Sequence[str] = ()) -> Experiment:
    """Runs the experiment ``name`` with arguments like ``n=1000``, ``block=16,16``, ``grid=None``.

    ValueError for an unknown name or a word without "="; TypeError for an unknown or missing argument.
    """
    functions = experiments()
    if name not in functions:
        raise ValueError(unknown("experiment", name, functions))
    arguments = keywords(name, words)
    try:
        inspect.signature(functions[name]).bind(**arguments)
    except TypeError as error:
        raise TypeError(f"{name}: {error}; it takes {about(functions[name])[1] or 'no arguments'}") from None
    return functions[name](**arguments)
