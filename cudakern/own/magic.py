"""``%load_ext cudakern`` in IPython: ``%%cuda`` compiles a cell, and puts its kernels into the namespace, or runs its
``main``."""

from __future__ import annotations

import builtins
import keyword
import re
import shlex
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any, NoReturn

from .._backend import backend
from .compile import Checked, compiled
from .cuda_source import defines_main

#: The text, its name, options for the compiler, whether to check.
RunCell = Callable[[str, str, list[str], bool], None]
#: An exercise's name and a text: what to show, and whether it is right.
Judge = Callable[[str, str], tuple[Any, bool]]


def _refuse(message: str) -> NoReturn:
    from IPython.core.error import UsageError  # of which IPython shows the message only

    raise UsageError(f"%%cuda: {message}")


def _options() -> ArgumentParser:
    from IPython.core.magic_arguments import MagicArgumentParser  # whose errors are UsageErrors, too

    options: ArgumentParser = MagicArgumentParser("%%cuda")  # type: ignore[no-untyped-call]
    options.add_argument("--name", default="program", help="the variable of the Program")
    options.add_argument("--arch", help="the compute capability of __CUDA_ARCH__")
    options.add_argument("--flags", default="", help="more options for the compiler, in quotes")
    options.add_argument("--instances", nargs="*", default=[], help="instances of templates")
    options.add_argument("--exercise", help="the exercise of the course that the kernel solves")
    options.add_argument("--no-check", dest="check", action="store_false", help="do not check launches")
    return options


#: Of Python (`__builtins__`), and of IPython's latest results and inputs, which need not exist yet: `_`, `_i`, `_7`.
_RESERVED = re.compile(r"__\w*__|_+|_i{1,3}|_i?\d+")


def _is_reserved(shell: Any, name: str) -> bool:
    """Whether the namespace must keep that variable, or cannot have it."""
    return keyword.iskeyword(name) or name in shell.user_ns_hidden or bool(_RESERVED.fullmatch(name))


def cuda(shell: Any, line: str, cell: str, check: Callable[[], Checked | None], run_cell: RunCell, judge: Judge) -> Any:
    """The cell magic."""
    try:
        # The value of --flags may begin with a dash.
        options = _options().parse_args(shlex.split(re.sub(r"(?<!\S)--flags\s+(?=\S)", "--flags=", line)))
        if not options.name.isidentifier():
            raise ValueError(f"--name is the name of a Python variable, not {options.name!r}")
        if _is_reserved(shell, options.name) or hasattr(builtins, options.name):
            raise ValueError(f"--name {options.name} would replace what Python or IPython needs: choose another name")
        # The magic's own line is the cell's first one, as editors number them.
        name, flags = f"cell_{shell.displayhook.prompt_count}.cu", shlex.split(options.flags)
        if options.exercise:
            verdict, is_right = judge(options.exercise, "\n" + cell)
            if not is_right:
                return verdict
        checked = check() if options.check else None
        if checked is not None and backend().emulated:
            _say_once(checked)
        if defines_main(cell):
            return run_cell("\n" + cell, name, flags, checked is not None)
        program = compiled("\n" + cell, name, flags, options.arch, options.instances, checked)
    except (TypeError, ValueError) as error:
        _refuse(str(error))
    names = (name for name in dir(program) if name in program.kernels and not _is_reserved(shell, name))
    shell.push({options.name: program} | {name: getattr(program, name) for name in names})
    return verdict if options.exercise else program


_said = False


def _say_once(checked: Checked) -> None:
    global _said
    if not _said:
        launches = f"launches of up to {checked.threads:,} threads are checked for races and other mistakes"
        print(f"%%cuda: {launches}; --no-check or CUDAKERN_CHECK=0 turns that off.")
    _said = True


def load(shell: Any, check: Callable[[], Checked | None], run_cell: RunCell, judge: Judge) -> None:
    """Registers the magic in a running IPython; ``check`` says how the launches of its kernels are checked,
    ``run_cell`` runs a cell with a ``main``, and ``judge`` says whether one solves an exercise."""

    def magic(line: str, cell: str) -> Any:
        """Compile this cell, CUDA C++, and put its kernels into the namespace, and the program as ``program``. A cell
        with a ``main`` is a whole program: it is run, and what it prints is shown.

        ::

          %%cuda [--name NAME] [--arch ARCH] [--flags "FLAGS"] [--instances INSTANCE ...] [--no-check]
                 [--exercise NAME]

        --name NAME       the variable of the program
        --arch ARCH       the compute capability of __CUDA_ARCH__, e.g. 90
        --flags "FLAGS"   more options for the compiler
        --instances ...   instances of templates to compile now, e.g. "scale<float>"
        --no-check        run the kernels without checking them
        --exercise NAME   judge the kernel as a solution of an exercise of the course (cudakern.course)

        On the emulator, launches are checked as by cudakern.check while they are small (the first cell says how small):
        a mistake, such as an index out of bounds or a race, is a CudaError that names the line, the thread and the
        element. Larger launches run unchecked, and so do those that profile or ladder measure. On a GPU nothing is
        checked. The environment variable CUDAKERN_CHECK=0 turns the checks of all cells off; if it is 1 when
        cudakern is imported, every launch on the emulator is checked, whatever its size, also with --no-check.
        """
        return cuda(shell, line, cell, check, run_cell, judge)

    shell.register_magic_function(magic, "cell", "cuda")
