"""``%load_ext cudakern`` in IPython: ``%%cuda`` compiles a cell, and puts its kernels into the namespace."""

from __future__ import annotations

import builtins
import keyword
import re
import shlex
from argparse import ArgumentParser
from typing import Any, NoReturn

from .compile import compile


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
    return options


#: Of Python (`__builtins__`), and of IPython's latest results and inputs, which need not exist yet: `_`, `_i`, `_7`.
_RESERVED = re.compile(r"__\w*__|_+|_i{1,3}|_i?\d+")


def _is_reserved(shell: Any, name: str) -> bool:
    """Whether the namespace must keep that variable, or cannot have it."""
    return keyword.iskeyword(name) or name in shell.user_ns_hidden or bool(_RESERVED.fullmatch(name))


def cuda(shell: Any, line: str, cell: str) -> Any:
    """The cell magic."""
    try:
        # The value of --flags may begin with a dash.
        options = _options().parse_args(shlex.split(re.sub(r"(?<!\S)--flags\s+(?=\S)", "--flags=", line)))
        if not options.name.isidentifier():
            raise ValueError(f"--name is the name of a Python variable, not {options.name!r}")
        if _is_reserved(shell, options.name) or hasattr(builtins, options.name):
            raise ValueError(f"--name {options.name} would replace what Python or IPython needs: choose another name")
        # The magic's own line is the cell's first one, as editors number them.
        program = compile(
            "\n" + cell,
            name=f"cell_{shell.displayhook.prompt_count}.cu",
            flags=shlex.split(options.flags),
            arch=options.arch,
            instances=options.instances,
        )
    except (TypeError, ValueError) as error:
        _refuse(str(error))
    names = (name for name in dir(program) if name in program.kernels and not _is_reserved(shell, name))
    shell.push({options.name: program} | {name: getattr(program, name) for name in names})
    return program


def load(shell: Any) -> None:
    """Registers the magic in a running IPython."""

    def magic(line: str, cell: str) -> Any:
        """Compile this cell, CUDA C++, and put its kernels into the namespace, and the program as ``program``.

        %%cuda [--name NAME] [--arch ARCH] [--flags "FLAGS"] [--instances INSTANCE ...]
        """
        return cuda(shell, line, cell)

    shell.register_magic_function(magic, "cell", "cuda")
