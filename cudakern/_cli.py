"""The command line: ``cudakern info | query | occupancy | resources | ladder | lab | variants | source | verify``, each
with ``--json``.

A wrong name ends in one line with the nearest right one and exit status 2; a ladder or check that failed in 1.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import is_dataclass
from typing import Any, NoReturn

import numpy as np

from . import __version__, _display, _table
from ._arguments import keywords
from ._backend import backend, use_backend
from ._device_query import device_query
from ._errors import CudaError, nearest, unknown
from ._ladder import Ladder, ladder, no_parameter
from ._occupancy import occupancy
from ._operations import headlines, kernels_only, names, note_on_skipped, operation
from ._resources import kernel_resources
from ._source import source
from ._verify import verify

#: What a launch is described by in options, which a variant may have as a parameter too.
OPTIONS = ("threads", "registers", "shared", "capability", "dtype")


class _Parser(argparse.ArgumentParser):
    """Errors are one line, and an option that does not exist names the nearest that does."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")

    def options(self) -> list[str]:
        return [option for action in self._actions for option in action.option_strings]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser, commands = _parsers()
    given = _command_first(given)
    behind = zip(["", *given], given, strict=False)
    command = next((word for before, word in behind if before != "--backend" and not word.startswith("-")), None)
    if command is not None and command not in commands:
        parser.error(unknown("command", command, commands))
    if command is None and not {"-h", "--help", "--version"} & set(given):
        parser.error(f"which command? There are {', '.join(commands)}; --help says what they do")
    options, rest = parser.parse_known_args(given)
    options.known = commands[options.command].options()
    if hasattr(options, "arguments"):  # argparse takes none that stands behind an option
        options.arguments = [*options.arguments, *(word for word in rest if _is_argument(word))]
        rest = [word for word in rest if not _is_argument(word)]
    elif isinstance(op := getattr(options, "op", None), str) and _is_argument(op):
        rest = [op, *rest]
    if rest:
        known = options.known
        mend = hasattr(options, "arguments") and _as_argument(rest[0], given, known) or _mend(rest[0], known)
        parser.error(f"{options.command} does not take {rest[0]!r}{mend}")
    try:
        with use_backend(options.backend) if options.backend else contextlib.nullcontext():
            return int(options.run(options))
    except (ValueError, TypeError, NotImplementedError, CudaError, ImportError, OSError, MemoryError) as error:
        if isinstance(error, BrokenPipeError):  # `cudakern variants matmul | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        said = str(error)
        if options.backend:
            said = said.replace("asked for by use_backend", "asked for by --backend")
        print(f"cudakern: {' '.join(said.split())}", file=sys.stderr)
        return 2 if isinstance(error, (ValueError, TypeError)) else 1
    except KeyboardInterrupt:
        print("cudakern: stopped", file=sys.stderr)
        return 130


def _mend(word: str, known: list[str]) -> str:
    """What to write instead of a word that a command does not take, if that can be told."""
    name, equals, value = word.partition("=")
    if word.startswith("-"):
        return f"; the nearest is {nearest(name, known)[0]}"
    if equals and f"--{name}" in known:
        return f": write --{name} {value}"
    return f": write --op {word}" if word in names() and "--op" in known else ""


def _as_argument(word: str, given: list[str], known: list[str]) -> str:
    """What to write instead of ``--n=1000`` or ``--n 1000`` where n=1000 is meant, and not an option of a like name."""
    from difflib import get_close_matches  # for errors only

    option, equals, value = word.partition("=")
    name = option.lstrip("-").replace("-", "_")
    if not word.startswith("-") or not name.isidentifier():
        return ""
    if get_close_matches(name, [k.lstrip("-") for k in known], cutoff=0.75):
        return ""
    behind = given[given.index(word) + 1 :][:1]
    if not equals:
        value = behind[0] if behind and not behind[0].startswith("--") and "=" not in behind[0] else "VALUE"
    return f": write {name}={value}"


def _is_argument(word: str) -> bool:
    return "=" in word and not word.startswith("-")


def _command_first(given: list[str]) -> list[str]:
    """Options that all commands take may stand before the command too."""
    early: list[str] = []
    while given and (given[0] == "--json" or given[0].startswith("--backend")):
        count = 2 if given[0] == "--backend" else 1
        early, given = early + given[:count], given[count:]
    return given[:1] + early + given[1:]


def _parsers() -> tuple[_Parser, dict[str, _Parser]]:
    parser = _Parser(
        prog="cudakern", description="Ladders of CUDA kernels, on a GPU or on the emulator.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"cudakern {__version__}")
    common = _Parser(add_help=False)
    common.add_argument("--json", action="store_true", help="print JSON")
    common.add_argument("--backend", metavar="NAME", help="cuda or emulator; default: the GPU if there is one")
    sub = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands: dict[str, _Parser] = {}

    def command(name: str, run: Any, text: str) -> _Parser:
        made: _Parser = sub.add_parser(name, help=text, description=text, parents=[common], allow_abbrev=False)
        made.set_defaults(run=run)
        commands[name] = made
        return made

    def add_arguments(made: _Parser, text: str) -> None:
        made.add_argument("arguments", nargs="*", default=(), metavar="NAME=VALUE", help=text)

    command("info", _info, "The backend that answers and why, its device, and versions.")

    made = command("query", _query, "What a device says of itself, as CUDA's sample deviceQuery has it.")
    made.add_argument("--device", type=int, help="its number; default: the current one")

    known = ", ".join(names())
    made = command("ladder", _ladder, "Run every variant on one input; without a name the two headlines'.")
    made.add_argument("op", nargs="?", help=known)
    add_arguments(made, "parameters, for the variants that have them, e.g. threads=512 or radius=10")
    made.add_argument("--op", dest="op_option", metavar="OP", help="the same")
    made.add_argument("--all", action="store_true", help="every operation's")
    made.add_argument("--n", type=int, help="length, or rows and columns")
    made.add_argument("--shape", type=_sizes, help="instead of --n, e.g. 17,33,65")
    made.add_argument("--dtype", help="type of the input, e.g. float64")
    made.add_argument("--repeat", type=int, help="how often to measure each variant")
    made.add_argument("--warmup", type=int, help="how often to run each variant before")
    made.add_argument("--variants", type=_names, action="extend", help="which, e.g. naive,tiled")
    made.add_argument("--seed", type=int, default=0, help="of the random input")
    made.add_argument("--plot", metavar="FILE", help="save a picture (of several ladders: FILE-<op>)")

    made = command("occupancy", _occupancy, "How many blocks a multiprocessor holds at once, and what limits them.")
    made.add_argument("op", nargs="?", help=f"with a variant: that kernel's threads, registers and memory ({known})")
    made.add_argument("variant", nargs="?", help="as `cudakern variants` lists it")
    add_arguments(made, "the variant's parameters, e.g. tile=8")
    made.add_argument("--threads", type=int, help="per block; of a variant that has threads=, that parameter")
    made.add_argument("--registers", type=int, help="per thread")
    made.add_argument("--shared", type=int, metavar="BYTES", help="per block, static and dynamic")
    made.add_argument("--capability", help="e.g. 9.0; default: this device's")
    made.add_argument("--shared-config", type=int, metavar="BYTES", help="shared memory of a multiprocessor")
    made.add_argument("--dtype", help="type of the named kernel's input")
    made.add_argument("--plot", metavar="FILE", help="save the curves")

    made = command("resources", _resources, "What the compiler made of an operation's kernels.")
    made.add_argument("op", help=known)
    made.add_argument("variant", nargs="?", help="as `cudakern variants` lists it; default: all")
    add_arguments(made, "the variant's parameters, e.g. tile=8")
    made.add_argument("--dtype", help="type of the input, e.g. float64")

    made = command("lab", _lab, "Run an experiment of cudakern.lab; without a name, list them.")
    made.add_argument("name", nargs="?", help="as the list has it")
    add_arguments(made, "e.g. n=1000, or block=16,16 shape=62,76")
    made.add_argument("--plot", metavar="FILE", help="save its picture")

    made = command("variants", _variants, "The variants of an operation; without a name of all.")
    made.add_argument("op", nargs="?", help=known)

    made = command("source", _source, "The CUDA source of a variant.")
    made.add_argument("op", help=known)
    made.add_argument("variant", help="as `cudakern variants` lists it")

    made = command("verify", _verify, "Check every variant of every operation against NumPy on random ragged inputs.")
    made.add_argument("--op", type=_names, action="extend", help="which operations")
    made.add_argument("--variants", type=_names, action="extend", help="which variants")
    made.add_argument("--seed", type=int, default=0, help="of the random inputs")
    return parser, commands


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _sizes(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(size) for size in text.replace("x", ",").split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"lengths are whole numbers, as in 17,33,65, and not {text!r}") from None


def _json(value: Any) -> None:
    def plain(o: Any) -> Any:
        if isinstance(o, np.generic):
            return o.item()
        if hasattr(o, "to_dict"):
            return o.to_dict()
        if is_dataclass(o):
            return vars(o)
        return str(o)

    print(json.dumps(value, default=plain, indent=2))


def _info(options: argparse.Namespace) -> int:
    here = backend()
    versions = {"cudakern": __version__, "python": platform.python_version(), "numpy": np.__version__}
    if options.json:
        _json(here.to_dict() | {"versions": versions, "platform": platform.platform()})
        return 0
    rows = [["backend", here.name], ["why", here.why], ["device", f"{here.device}: {here.device_name}"]]
    rows += [[name.replace("_", " "), _plain(name, value)] for name, value in (versions | here.properties).items()]
    _display.Table("", ["", " "], rows).print()
    return 0


def _plain(name: str, value: Any) -> str:
    if name in ("driver_version", "runtime_version"):  # CUDA writes 13.0 as 13000
        return f"{value // 1000}.{value % 1000 // 10}"
    if name == "capability":
        return ".".join(map(str, value))
    return f"{value:,}" if type(value) is int else " x ".join(map(str, value)) if type(value) is tuple else str(value)


def _query(options: argparse.Namespace) -> int:
    found = device_query(options.device)
    if options.json:
        _json(found.to_dict())
    else:
        print(found)
    return 0


def _occupancy(options: argparse.Namespace) -> int:
    if options.plot:
        _check_picture(options.plot)
    parameters = _row_parameters(options)
    if options.threads is not None and "threads" in parameters:
        raise ValueError("occupancy: threads= is given twice: --threads is the same")
    found = occupancy(
        options.op,
        options.variant,
        **{"threads": options.threads} | parameters,
        registers=options.registers,
        shared_bytes=options.shared,
        capability=options.capability,
        shared_config=options.shared_config,
        dtype=options.dtype,
    )
    if options.json:
        _json(found.to_dict())
    else:
        found.table().print()
    if options.plot:
        found.plot(options.plot)
    return 0


def _row_parameters(options: argparse.Namespace) -> dict[str, Any]:
    """The NAME=VALUE words of a command that names a row, as the row takes them."""
    words = [word for word in (options.op, options.variant) if word and _is_argument(word)]
    words += options.arguments
    given = keywords(options.command, words)
    named = options.variant is not None and not _is_argument(options.variant)
    row = _table.find(options.op, options.variant) if given and named else None
    for name in given:
        if name in OPTIONS and hasattr(options, name) and not (row and _table.having(name, [row])):
            whose = "no variant is named" if row is None else f"{row.operation} {row.name!r} has no such parameter"
            raise ValueError(f"{options.command}: {name}= is an option, since {whose}: write --{name} {given[name]}")
        if row is None and options.command != "resources":  # (which shows all variants: those that have it take it)
            raise ValueError(f"{options.command}: {name}= is a variant's parameter: write OP VARIANT {words[0]}")
    if row is not None:
        row.values(given)  # refuses
    return given


def _resources(options: argparse.Namespace) -> int:
    if _is_argument(options.op):
        raise ValueError(f"resources: the operation comes first: write resources OP {options.op}")
    parameters = _row_parameters(options)
    variant = None if options.variant and _is_argument(options.variant) else options.variant
    found = kernel_resources(options.op, variant, options.dtype, **parameters)
    if options.json:
        _json(found.to_dict())
    else:
        found.table().print()
    return 0


def _ladder(options: argparse.Namespace) -> int:
    words = [word for word in (options.op, *options.arguments) if word]
    named = next((word for word in words if not _is_argument(word)), None)
    if named:
        words.remove(named)
    if named and options.op_option:
        raise ValueError("ladder: the operation is given twice")
    op = named or options.op_option
    if op and options.all:
        raise ValueError(f"ladder: either {op} or --all")
    for word in words:
        if not _is_argument(word):
            if word in names():
                raise ValueError(f"ladder takes one operation, and there is {op} and {word}: --all is for every one")
            raise ValueError(f"ladder: {word!r} is no argument: write NAME=VALUE, as in threads=512")
    parameters = keywords("ladder", words)
    for name, value in parameters.items():
        if f"--{name}" in options.known:
            instead = name if isinstance(getattr(options, name, None), bool) else f"{name} {value}"
            raise ValueError(f"ladder does not take '{name}={value}': write --{instead}")
        if not op:
            raise ValueError(f"ladder: {name}= is a parameter of an operation's variants: name the operation")
        if not _table.having(name, _table.variants(op)):
            raise TypeError(no_parameter(operation(op), name))
    here = backend()
    if not options.json:
        print(f"Backend: {here.name}, {here.device_name} ({here.why}).", flush=True)
    if options.plot:
        _check_picture(options.plot)
    done: list[Ladder] = []
    chosen: dict[str, list[str]] = {}  # each ladder takes the names that it has
    if options.variants == []:
        raise ValueError("--variants: no name is given")
    for name, row in _table.choose([op] if op else names() if options.all else headlines(), options.variants):
        chosen.setdefault(name, []).append(row.name)
    for name, variants in chosen.items():
        done.append(
            ladder(
                name,
                n=options.n,
                shape=options.shape,
                dtype=options.dtype,
                variants=variants,
                repeat=options.repeat,
                warmup=options.warmup,
                seed=options.seed,
                progress=True,
                **parameters,
            )
        )
        if not options.json:
            print()
            done[-1].table().print()
        if options.plot:
            stem, extension = os.path.splitext(options.plot)
            done[-1].plot(options.plot if op else f"{stem}-{name}{extension or '.png'}")
    skipped = note_on_skipped() if options.all else ""
    if skipped:
        print(f"cudakern: {skipped}", file=sys.stderr)
    if options.json:
        _json([one.to_dict() for one in done])
    return int(any(one.failed for one in done))


def _check_picture(path: str) -> None:
    """Before anything runs: is there matplotlib, a folder to write to, a format that it knows?"""
    from ._plots import Picture

    folder, extension = os.path.dirname(path) or ".", os.path.splitext(path)[1].lstrip(".")
    if not os.path.isdir(folder):
        raise ValueError(f"--plot {path}: there is no folder {folder}")
    formats = Picture().canvas.get_supported_filetypes()
    if extension and extension not in formats:
        raise ValueError(f"--plot {path}: no format {extension!r}; there are {', '.join(sorted(formats))}")


def _lab(options: argparse.Namespace) -> int:
    from .lab import _by_name  # (what nobody asks for is not loaded)

    if options.name is None:
        rows = [[name, *_by_name.about(what)] for name, what in _by_name.experiments().items()]
        if options.json:
            _json([dict(zip(("name", "summary", "arguments"), row, strict=True)) for row in rows])
        else:
            _display.Table("", ["experiment", "what it shows", "arguments"], rows).print()
        return 0
    if _is_argument(options.name):
        name = next((word for word in options.arguments if not _is_argument(word)), "NAME")
        raise ValueError(f"lab: the experiment's name comes first: write lab {name} {options.name}")
    if options.plot:
        _check_picture(options.plot)
    result = _by_name.run(options.name, options.arguments)
    if options.json:
        _json(result.to_dict())
    else:
        result.table().print()
    if options.plot:
        result.plot(options.plot)
    return 0


def _variants(options: argparse.Namespace) -> int:
    ops = [options.op] if options.op else [*names(), *kernels_only()]
    if options.json:
        _json({name: _table.variants(name).to_dict() for name in ops})
    else:
        for at, name in enumerate(ops):
            print("\n" * (at > 0), end="")
            _table.variants(name).table().print()
    return 0


def _source(options: argparse.Namespace) -> int:
    code = source(options.op, options.variant)
    if options.json:
        _json({"operation": options.op, "variant": options.variant, "path": str(code.path), "source": str(code)})
    else:
        print(code, end="" if code.endswith("\n") else "\n")
    return 0


def _verify(options: argparse.Namespace) -> int:
    verdict = verify(options.op, options.variants, options.seed)
    if options.json:
        _json(verdict.to_dict())
    else:
        verdict.table().print()
    return 0 if verdict.ok else 1
