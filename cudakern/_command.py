"""``cudakern``: runs a program at once, and leaves other commands to _cli.py, whose imports take longer than that."""

from __future__ import annotations

import sys

from ._program_commands import guarded, of_program


def main() -> int:
    """Runs the command line; returns the exit status."""
    if run_it := of_program(sys.argv[1:]):
        return guarded(None, run_it)
    from . import _cli

    return _cli.main()
