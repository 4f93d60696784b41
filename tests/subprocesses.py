"""Python in a process of its own: for settings that hold from the start, signals, forks."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import traceback

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


# --- for the code that runs there ------------------------------------------------------------------------------------
def in_child(work):
    """Runs the work in a child of a fork; it must end well."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # a child that hangs ends by a signal, and the test with it
        code = 3
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        os._exit(code)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended == 0, ended


def in_threads(work, numbers):
    """Runs the work with each of the numbers, in threads at the same time, and waits for them."""
    threads = [threading.Thread(target=work, args=(number,)) for number in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
