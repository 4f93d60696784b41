"""Python in a process of its own: for settings that hold from the start, signals, forks."""

import os
import subprocess
import sys
import textwrap

import cuda_api


def environment(**settings):
    """This process's environment, without settings of ours that would change what a test sees, and with these."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CUDAKERN_")}
    return kept | {"PYTHONPATH": os.pathsep.join([str(cuda_api.HERE), os.environ.get("PYTHONPATH", "")])} | settings


def joined(*parts):
    """Pieces of code, each with its own margin, as one."""
    return "\n".join(map(textwrap.dedent, parts))


def start(code, stdin=subprocess.DEVNULL, **settings):
    """Starts the code; the caller waits."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=environment(**settings),
        text=True,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def run(code, **settings):
    """Runs the code to its end and gives what it printed; it must end well."""
    process = start(code, **settings)
    output, errors = process.communicate(timeout=200)
    assert process.returncode == 0, f"exit {process.returncode}\n{output}\n{errors}"
    return output
