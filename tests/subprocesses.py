"""Python in a process of its own: for settings that hold from the start, signals, forks."""

import atexit
import functools
import json
import os
import pathlib
import selectors
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
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


def interrupt(process):
    """Ctrl-C for a process whose main thread has said that it will wait: sent when it sleeps, since a signal that came
    before the wait would leave the kernel running, which takes minutes."""
    stat = pathlib.Path(f"/proc/{process.pid}/stat")
    while stat.read_text().rpartition(")")[2].split()[0] not in ("S", "Z"):
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)


#: A process that has imported what most programs here import first, and forks for each of them: the imports take more
#: time than most of the programs do. A child has used nothing of cudakern yet, and ends as any Python does.
FORKS = """
import faulthandler, json, os, signal, sys
import concurrent.futures, ctypes, importlib.metadata, numpy.random, pytest, rich.console, rich.progress, rich.table
faulthandler.register(signal.SIGUSR1, file=2)  # where a program hangs is in its errors
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs start with it ignored
for _line in sys.stdin:
    _code, _environment, *_files = json.loads(_line)
    _child = os.fork()
    if _child == 0:
        os.environ.clear()
        os.environ.update(_environment)
        for _number, _file in enumerate([os.devnull, *_files]):
            os.dup2(os.open(_file, os.O_RDWR), _number)
        exec(compile(_code, "<string>", "exec"))
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(_child, 0)[1]), flush=True)
os._exit(0)
"""


@functools.cache
def _forks(read_at_start):
    """The process for programs in whose environment this is what Python and the C libraries read when they start."""
    server = subprocess.Popen(
        [sys.executable, "-c", FORKS],
        env=environment() | dict(read_at_start),
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    atexit.register(server.communicate)  # which lets it end, and waits
    return server


def run(code, fresh=False, **settings):
    """Runs the code to its end and gives what it printed; it must end well. ``fresh``: in a Python that has imported
    nothing yet."""
    if fresh:
        process = start(code, **settings)
        output, errors = process.communicate(timeout=200)
        status = process.returncode
    else:
        status, output, errors = _forked(textwrap.dedent(code), environment(**settings))
    assert status == 0, f"exit {status}\n{output}\n{errors}"
    return output


def _forked(code, variables):
    of_start = ("PYTHON", "LD_", "GLIBC", "MALLOC", "OPENBLAS", "OMP")
    at_start = tuple(sorted((name, value) for name, value in variables.items() if name.startswith(of_start)))
    server = _forks(at_start)
    with tempfile.NamedTemporaryFile("r") as output, tempfile.NamedTemporaryFile("r") as errors:
        print(json.dumps([code, variables, output.name, errors.name]), file=server.stdin, flush=True)
        with selectors.DefaultSelector() as answer:
            answer.register(server.stdout, selectors.EVENT_READ)
            status = server.stdout.readline() if answer.select(200) else ""
        if not status:
            _forks.cache_clear()
            os.killpg(server.pid, signal.SIGUSR1)
            time.sleep(1)
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
        return int(status or -signal.SIGKILL), output.read(), errors.read()


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
