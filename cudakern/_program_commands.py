"""The commands whose words are those of other programs, and what happens when a command fails."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ._backend import use_backend
from ._errors import CompileError, CudaError
from .programs import run, toolkit

#: Commands whose words are those of other programs.
PROGRAMS = {"run": run.command_run, "cc": run.command_cc, "toolkit": toolkit.command}


def of_program(arguments: Sequence[str]) -> Callable[[], Any] | None:
    """What a command does whose words are those of other programs; None for other commands."""
    command, *words = arguments or [""]
    if command in ("check", "trace") and any(run.is_source(word) for word in words):
        command, words = "run", [f"--{command}", *words]
    if command in PROGRAMS and not {"-h", "--help"} & {*words[:1]}:
        return lambda: PROGRAMS[command](words)
    return None


def guarded(backend: str | None, run: Callable[[], Any]) -> int:
    """Runs a command: the exit status. Errors are printed."""
    try:
        with use_backend(backend) if backend else contextlib.nullcontext():
            return int(run() or 0)
    except CompileError as error:
        first = str(error).partition(":\n")[0]
        print(f"{error.log}cudakern: {first}" if error.log else f"cudakern: {error}", file=sys.stderr)
        return 1
    except (ValueError, TypeError, NotImplementedError, CudaError, ImportError, OSError, MemoryError) as error:
        if isinstance(error, BrokenPipeError):  # `cudakern variants matmul | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        message = " ".join(str(error).split()).replace("requested by use_backend", "requested by --backend")
        print(f"cudakern: {message}", file=sys.stderr)
        return 2 if isinstance(error, (ValueError, TypeError)) else 1
    except KeyboardInterrupt:
        print("cudakern: stopped", file=sys.stderr)
        return 130
