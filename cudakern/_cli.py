"""The command line: ``cudakern run | cc | toolkit | info | query | ladder | occupancy | resources | lab | variants |
source | notebooks | verify | check | trace``, each with ``--json`` but the first three. The exit status is 2 for an
invalid argument, 1 for a failed ladder, verify or check."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from . import __version__, _display
from ._arguments import keywords
from ._backend import backend
from ._errors import nearest, unknown
from ._program_commands import PROGRAMS, guarded, of_program
from .calls import table
from .chips.device_query import device_query
from .course import copies
from .measure.ladder import ladder, no_parameter
from .measure.occupancy import occupancy
from .measure.resources import kernel_resources
from .measure.verify import verify
from .operations.registry import headlines, names, note_on_skipped, operation
from .operations.variants import AllVariants
from .operations.variants import variants as all_variants
from .programs.options import add_to_help
from .sources.source import source


class _Parser(argparse.ArgumentParser):
    """Prints errors as one line."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    parser, common, commands = _parsers()
    if run := of_program(arguments):
        return _guarded(parser, arguments[0], None, run)
    options, words = common.parse_known_args(arguments, argparse.Namespace(json=False, backend=None))
    command = next((word for word in words if not word.startswith("-")), None)
    if command is None:
        parser.parse_args(words)  # --help and --version exit
        parser.error(f"no command: use one of {', '.join(commands)}, or --help")
    if command not in commands:
        parser.error(unknown("command", command, commands))
    words.remove(command)
    known = list(commands[command]._option_string_actions)
    # An option may be written as a parameter is: n=1000.
    words = [f"--{word}" if f"--{word.partition('=')[0]}" in known and "=" in word else word for word in words]
    options, rest = commands[command].parse_known_intermixed_args(words, options)
    if rest:
        hint = "; write parameters as NAME=VALUE" if hasattr(options, "words") else ""
        parser.error(f"{command} does not take {rest[0]!r}: its options are {', '.join(nearest(rest[0], known))}{hint}")
    return _guarded(parser, command, options.backend, lambda: options.run(options))


def _guarded(parser: _Parser, command: str, backend: str | None, run: Callable[[], Any]) -> int:
    try:
        return guarded(backend, run)
    except argparse.ArgumentTypeError as error:
        parser.error(f"{command}: {error}")


def _parsers() -> tuple[_Parser, _Parser, dict[str, _Parser]]:
    """The parser, the parser of the options common to all commands, and the commands' parsers."""
    parser = _Parser(prog="cudakern", description="CUDA kernels and programs, on a GPU or on the emulator.")
    parser.add_argument("--version", action="version", version=f"cudakern {__version__}")
    common = _Parser(prog="cudakern", add_help=False, argument_default=argparse.SUPPRESS)
    common.add_argument("--json", action="store_true", help="print JSON")
    common.add_argument("--backend", metavar="NAME", help="cuda or emulator; default: the GPU if there is one")
    sub = parser.add_subparsers(metavar="COMMAND")
    commands: dict[str, _Parser] = {}
    several: dict[str, dict[str, Any]] = {
        "--dtype": {"help": "type of the input, e.g. float64"},
        "--variants": {"type": table.names_in, "action": "extend", "help": "variants to run, e.g. naive,tiled"},
        "--seed": {"type": int, "default": 0, "help": "seed of the random input"},
        "--plot": {"type": _picture, "metavar": "FILE", "help": "save a plot"},
    }

    def command(run: Callable[[argparse.Namespace], object], words: str = "", what: str = "", has: str = "") -> _Parser:
        """Adds a command, with its ``words`` and the options of several commands that it ``has``."""
        name, text = run.__name__.removeprefix("_"), run.__doc__
        usage = f"cudakern {name} {words} [options]" if words else None
        usage = usage.removesuffix(" [options]") if usage and name in PROGRAMS else usage
        parents = [] if name in PROGRAMS else [common]
        commands[name] = options = sub.add_parser(name, usage=usage, help=text, description=text, parents=parents)
        options.set_defaults(command=name, run=run, usage=words)
        if words:
            parameter = "" if name in PROGRAMS else "; n=1000: a parameter"
            options.add_argument("words", nargs="*", metavar=words, help=f"{what or known}{parameter}")
        for option in has.split():
            options.add_argument(option, **several[option])
        return options

    known = f"operations: {', '.join(names())}"
    several_sources = (
        "the source, and the program's own arguments. Several sources take options after them, too, and then the "
        "arguments after --: main.cpp kernels.cu -Iinclude -- ARGUMENTS"
    )
    options = command(_run, "[OPTIONS] PROGRAM.cu [ARGUMENTS]", several_sources)
    options.add_argument("--check", action="store_true", help="find what is wrong in its kernels and calls")
    options.add_argument("--error-exitcode", metavar="N", help="with --check: the exit code if it finds anything")
    options.add_argument("--trace", action="store_true", help="count its kernels' accesses to memory, by line")
    options.add_argument("--backend", metavar="NAME", help="cuda or emulator; default: the GPU if there is one")
    add_to_help(options.add_argument_group("nvcc's options, of which these are common"), True)
    options = command(_cc, "[OPTIONS] FILES -o PROGRAM", "sources and objects")
    add_to_help(options.add_argument_group("nvcc's options, of which these are common"), False)
    command(_toolkit, "DIR", "the folder to make")
    command(_info)
    options = command(_query)
    options.add_argument("--device", type=int, help="its number; default: the current one")

    options = command(_ladder, "[OP] [NAME=VALUE ...]", has="--dtype --variants --seed --plot")
    options.add_argument("--op", help="the operation, instead of OP")
    options.add_argument("--all", action="store_true", help="all variants, with notes; without OP: of all operations")
    options.add_argument("--n", type=int, help="length, or rows and columns")
    options.add_argument("--shape", type=_sizes, help="instead of --n, e.g. 17,33,65")
    options.add_argument("--repeat", type=int, help="number of measurements per variant")
    options.add_argument("--warmup", type=int, help="number of runs per variant before measuring")
    options.add_argument("--emulated", action="store_true", help="without a GPU: also show the emulator's own times")

    options = command(_bench, has="--dtype --variants --seed")
    options.set_defaults(dtype="float32", seed=None)  # new data in each run
    options.add_argument("op", nargs="?", help="the operation")
    options.add_argument("file", nargs="?", type=_output, metavar="FILE", help="with --json: write the JSON here")
    options.add_argument("--shape", type=_sizes, action="append", help="e.g. 16777216, or m,n,k for matmul; repeatable")
    options.add_argument("--rounds", type=int, default=15, help="number of measurements")
    options.add_argument("--host", action="store_true", help="from NumPy arrays to NumPy arrays, copies included")
    options.add_argument("--no-peers", dest="peers", action="store_false", help="without PyTorch and CuPy")
    options.add_argument(
        "--tune", action="store_true", help="of matmul: whether auto takes the fastest, for many shapes"
    )
    where = options.add_mutually_exclusive_group()  # the picture is of a GPU's rates
    where.add_argument("--emulated", action="store_true", help="run small inputs on the emulator")
    where.add_argument("--plot", type=_picture, metavar="FILE", help="save the roofline")

    options = command(_occupancy, "[OP VARIANT] [NAME=VALUE ...]", has="--dtype --plot")
    options.add_argument("--threads", type=int, help="per block; also sets a variant's parameter threads=")
    options.add_argument("--registers", type=int, help="per thread")
    options.add_argument("--shared", dest="shared_bytes", type=int, metavar="BYTES", help="per block, all together")
    options.add_argument("--capability", help="e.g. 9.0 or H200; default: this device's")
    options.add_argument("--shared-config", type=int, metavar="BYTES", help="shared memory per multiprocessor")

    command(_resources, "OP [VARIANT] [NAME=VALUE ...]", has="--dtype")
    command(_lab, "[NAME] [NAME=VALUE ...]", "NAME: a name in the list", has="--plot")
    command(_variants).add_argument("op", nargs="?", help=known)
    options = command(_source)
    options.add_argument("op", help=known)
    options.add_argument("variant", help="a name listed by `cudakern variants`")
    options.add_argument("--plain", action="store_true", help="as a textbook has it: for one type, without templates")
    options = command(_notebooks)
    options.add_argument("folder", nargs="?", type=Path, default=Path("cudakern-notebooks"), help="where to copy them")
    options.add_argument("--reset", metavar="NAME", help="restore that notebook, e.g. 03")
    options = command(_verify, has="--variants --seed")
    options.add_argument("--op", type=table.names_in, action="extend", help="operations to check")
    options = command(_check, "OP [VARIANT] [NAME=VALUE ...]", has="--dtype --seed")
    options.add_argument("--shape", type=_sizes, action="append", help="e.g. 1000, or m,k,n for matmul; repeatable")
    options = command(_trace, "OP VARIANT [NAME=VALUE ...]", has="--dtype --seed")
    options.add_argument("--shape", type=_sizes, help="e.g. 1000, or m,k,n for matmul")
    options.add_argument("--sample", type=int, metavar="N", help="count about N blocks of each launch; 0: all")
    options.add_argument("--by-line", action="store_true", help="the source with the figures of each line")
    options.add_argument("--compare", metavar="VARIANT", help="the variant next to another one: what changed")
    return parser, common, commands


def _sizes(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(size) for size in text.replace("x", ",").split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"lengths must be integers, as in 17,33,65, not {text!r}") from None


def _output(path: str) -> str:
    """The path of a file that a command will write, which can be written: checked before the command does its work."""
    file, folder = os.path.realpath(path), os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise argparse.ArgumentTypeError(f"no such folder: {folder}")
    if os.path.isdir(file):
        raise argparse.ArgumentTypeError(f"{path!r} is a folder; write the name of a file")
    is_new = not os.path.exists(file)
    if is_new or os.path.isfile(file):  # (to open and close a pipe would end it)
        try:
            with open(file, "ab"):
                pass
        except OSError as error:
            raise argparse.ArgumentTypeError(f"{path!r:.99} cannot be written: {error.strerror}") from None
        if is_new:
            os.remove(file)
    return path


def _picture(path: str) -> str:
    """The path of a picture, in a format that is known; .png if it has none."""
    try:
        from .measure.plots import Picture
    except ImportError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    extension = os.path.splitext(_output(path))[1].lstrip(".")
    formats = Picture().canvas.get_supported_filetypes()
    if extension and extension not in formats:
        raise argparse.ArgumentTypeError(f"unknown format {extension!r}; known: {', '.join(sorted(formats))}")
    return path if extension else _output(f"{path}.png")


def _words(options: argparse.Namespace, count: int) -> tuple[list[str | None], list[str]]:
    """The names among a command's words, filled up with None to ``count``; and the parameters."""
    plain: list[str | None] = [word for word in options.words if "=" not in word]
    if len(plain) > count:
        names = " and ".join(map(str, plain))
        raise ValueError(f"{options.command} takes {options.usage}, not {names}; write parameters as NAME=VALUE")
    return plain + [None] * (count - len(plain)), [word for word in options.words if "=" in word]


def _json(value: Any) -> None:
    def plain(o: Any) -> Any:
        if isinstance(o, np.generic):
            return o.item()
        return o.to_dict() if hasattr(o, "to_dict") else str(o)

    print(json.dumps(value, default=plain, indent=2))


def _show(options: argparse.Namespace, result: Any, show: Callable[[], object] | None = None) -> None:
    """Prints a result as JSON, by ``show`` or as its table, and saves its plot if requested."""
    if options.json:
        _json(result)
    else:
        (show or result.table().print)()
    if getattr(options, "plot", None):
        result.plot(options.plot)


# --- the commands, with their descriptions: True if a step or a check failed ------------------------------------------
def _run(options: argparse.Namespace) -> None:
    """Compile a CUDA program (main, <<<>>>), and run it: on a GPU, or without one on the emulator."""


def _cc(options: argparse.Namespace) -> None:
    """Compile CUDA programs for the emulator, with nvcc's options, in nvcc's place."""


def _toolkit(options: argparse.Namespace) -> None:
    """Make a folder that CMake and make take for a CUDA toolkit, with `cudakern cc` as its nvcc."""


def _info(options: argparse.Namespace) -> None:
    """Show the backend in use and why, its device, and versions."""
    here = backend()
    versions = {"cudakern": __version__, "python": platform.python_version(), "numpy": np.__version__}
    rows = [*here.table().rows, *versions.items(), *device_query().lines()]
    plain = here.to_dict() | {"versions": versions, "platform": platform.platform()}
    _show(options, plain, _display.facts(rows).print)


def _query(options: argparse.Namespace) -> None:
    """Show a device's properties, as CUDA's sample deviceQuery does."""
    query = device_query(options.device)
    _show(options, query, lambda: print(query))


def _occupancy(options: argparse.Namespace) -> None:
    """Show how many blocks a multiprocessor holds at once, and what limits them."""
    (op, variant), parameters = _words(options, 2)
    settings = ("threads", "registers", "shared_bytes", "capability", "shared_config", "dtype")
    figures = {name: getattr(options, name) for name in settings}
    _show(options, occupancy(op, variant, **figures, **keywords("occupancy", parameters)))


def _resources(options: argparse.Namespace) -> None:
    """Show the resources of an operation's compiled kernels."""
    (op, variant), parameters = _words(options, 2)
    if op is None:
        raise ValueError(f"resources: pass an operation: {', '.join(names())}")
    _show(options, kernel_resources(op, variant, options.dtype, **keywords("resources", parameters)))


def _ladder(options: argparse.Namespace) -> bool:
    """Run all variants of an operation on one input, and show the main path. Default: sum_of_squares and matmul."""
    (op,), words = _words(options, 1)
    if op and options.op:
        raise ValueError("ladder: pass the operation once")
    op = op or options.op
    if options.variants == []:
        raise ValueError("--variants: no names")
    parameters = keywords("ladder", words)
    for name in parameters:
        if not op:
            raise ValueError(f"ladder: {name}= is a parameter of variants, so pass an operation too")
        if not table.having(name, table.variants(op)):
            raise TypeError(no_parameter(operation(op), name))
    here = backend()
    if not options.json:
        print(f"Backend: {here.name}, {here.device_name} ({here.why}).", flush=True)
    chosen = table.choose([op] if op else names() if options.all else headlines(), options.variants)
    settings = {name: getattr(options, name) for name in ("n", "shape", "dtype", "repeat", "warmup", "seed")}
    ladders, pictures = [], {name: options.plot for name, _ in chosen}
    if options.plot and not op:
        stem, extension = os.path.splitext(options.plot)
        pictures = {name: _output(f"{stem}-{name}{extension}") for name in pictures}
    for name, picture in pictures.items():
        variants = [variant.name for of, variant in chosen if of == name]
        ladders.append(ladder(name, variants=variants, **settings, **parameters))
        if not options.json:
            print()
            whole = any((options.all, options.emulated, options.variants))
            ladders[-1].table(options.emulated, brief=not whole).print()
        if picture:
            ladders[-1].plot(picture)
    if options.all and (skipped := note_on_skipped()):
        print(f"cudakern: {skipped}", file=sys.stderr)
    if options.json:
        _json(ladders)
    return any(result.failed for result in ladders)


def _bench(options: argparse.Namespace) -> None:
    """Compare an operation's variants with PyTorch and CuPy, on a GPU. Default: every operation that they have."""
    from .measure.bench import bench
    from .measure.peers import PEERS

    if options.file and not options.json:
        raise ValueError(f"bench takes one operation, not {options.op} and {options.file}; a file needs --json")
    options.op = options.op or ("matmul" if options.tune else None)
    if not options.op and (options.shape or options.variants or options.plot):
        raise ValueError("bench: --shape, --variants and --plot need an operation")
    names = ("dtype", "variants", "peers", "rounds", "seed", "host", "tune", "emulated")
    settings = {name: getattr(options, name) for name in names}
    results = []
    for op in [options.op] if options.op else PEERS:
        results.append(bench(op, options.shape, **settings))
        if options.file or not options.json:
            (results[-1].choices() if options.tune else results[-1].table()).print()
    if options.file:
        results[0].save(options.file)
    elif options.json:
        _json(results)
    if options.plot:
        results[0].plot(options.plot)


def _lab(options: argparse.Namespace) -> None:
    """Run an experiment of cudakern.lab. Default: list the experiments."""
    from .lab import _by_name  # loaded only if needed

    (name,), words = _words(options, 1)
    if name is not None:
        _show(options, _by_name.run(name, words))
        return
    if words:
        raise ValueError(f"lab: {words[0]} is an argument of an experiment: pass its name; `cudakern lab` lists them")
    rows = [[name, *_by_name.about(what)] for name, what in _by_name.experiments().items()]
    listing = [dict(zip(("name", "summary", "arguments"), row, strict=True)) for row in rows]
    _show(options, listing, _display.Table("", ["experiment", "what it shows", "arguments"], rows).print)


def _variants(options: argparse.Namespace) -> None:
    """List the variants of an operation. Default: of all operations."""
    ladders = AllVariants({options.op: table.variants(options.op)}) if options.op else all_variants()
    if options.json:
        _json(ladders)
        return
    for number, variants in enumerate(ladders.values()):
        print("\n" * (number > 0), end="")
        variants.table().print()


def _source(options: argparse.Namespace) -> None:
    """Print the CUDA source of a variant."""
    code = source(options.op, options.variant, plain=options.plain)
    facts = {"operation": options.op, "variant": options.variant, "path": str(code.path), "source": str(code)}
    _show(options, facts, lambda: print(code.removesuffix("\n")))


def _notebooks(options: argparse.Namespace) -> None:
    """Copy the course's notebooks to a folder, or restore one of them."""
    if options.reset is not None:
        name, before = copies.reset(options.folder, options.reset)
        facts: dict[str, Any] = {"folder": str(options.folder), "restored": name, "before": before and str(before)}
        kept = f" The one before is {before}." if before else ""
        _show(options, facts, lambda: print(f"{options.folder / name}.ipynb is as it was.{kept}"))
        return
    copied, there = copies.copy(options.folder)
    facts = {"folder": str(options.folder), "copied": copied, "there": there}
    words = f"{len(copied)} notebooks copied to {options.folder}." + f" {len(there)} were there already." * bool(there)
    first = "" if importlib.util.find_spec("jupyterlab") else f"{sys.executable} -m pip install jupyterlab && "
    _show(options, facts, lambda: print(f"{words} Open them with: {first}jupyter lab {options.folder}"))


def _verify(options: argparse.Namespace) -> bool:
    """Check all variants of all operations against NumPy, on random inputs of odd sizes."""
    verdict = verify(options.op, options.variants, options.seed)
    _show(options, verdict)
    return not verdict.ok


def _check(options: argparse.Namespace) -> bool:
    """Check the kernels of a variant, or of all variants of an operation, for out-of-bounds accesses, races and other
    mistakes, on the emulator. Of a program: cudakern check program.cu [arguments]"""
    from .insight.variants import VariantChecks, check_variant, checkable  # loaded only if needed

    (op, variant), words = _words(options, 2)
    if op is None:
        raise ValueError(f"check: pass an operation: {', '.join(names())}")
    parameters, entries = keywords("check", words), checkable(op)
    for name in parameters:
        entries = entries if name in operation(op).own else table.having(name, entries)
        if not entries:
            raise TypeError(f"check: no variant of {op} that the emulator runs has a parameter {name}=")
    chosen, checks = [variant] if variant else [entry.name for entry in entries], []
    with _display.progress_line(False if options.json else None) as announce:
        for number, name in enumerate(chosen):
            announce(f"{op} {number + 1}/{len(chosen)}: {name}")
            checks.append(check_variant(op, name, options.dtype, options.shape, options.seed, **parameters))
    result = VariantChecks(tuple(checks))
    _show(options, result)
    return not result.ok


def _trace(options: argparse.Namespace) -> bool:
    """Count what the kernels of a variant ask of the memory system, by line, on the emulator. Of a program: cudakern
    trace program.cu [arguments]"""
    from .insight.variants import checkable, trace_variant

    (op, variant), words = _words(options, 2)
    if op is None or variant is None:
        known = ", ".join(entry.name for entry in checkable(op)) if op else ", ".join(names())
        raise ValueError(f"trace: pass an operation and a variant{f' of {op}' if op else ''}: {known}")
    parameters = keywords("trace", words)

    def traced(name: str, **parameters: Any) -> Any:
        return trace_variant(op, name, options.dtype, options.shape, options.seed, options.sample, **parameters)

    result = traced(variant, **parameters)
    if options.compare:
        entry = table.find(op, options.compare)
        both = {key: x for key, x in parameters.items() if key in operation(op).own or table.having(key, [entry])}
        result = result.compare(traced(entry.name, **both))
    _show(options, result, result.by_line().print if options.by_line else None)
    return False
