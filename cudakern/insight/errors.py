"""Errors with which the emulator ends a kernel, as findings: a barrier that not all reach, a lane that is missing."""

from __future__ import annotations

import dataclasses
import linecache
import math
import re
from collections.abc import Callable, Sequence
from typing import cast

from .._errors import CudaError
from ..calls.observer import Observed, Run
from ..own.compile import _Run as OwnRun
from .checker import Place, triple
from .declared import lines_of, without_comments
from .findings import Finding, thread_name

#: Codes of errors that a kernel causes while it runs: an address, an assert, a barrier. Others are the call's.
OF_KERNELS = range(700, 720)


def is_explained(code: int, text: str, found: list[Finding]) -> bool:
    """Whether an error is a consequence of what was found."""
    if "free and delete" in text:
        return any(one.kind == "double_free" for one in found)
    return bool(found) and code in (700, 716)  # an illegal or a misaligned address


def explained(found: Finding, later: int = 0) -> Finding:
    """What led to an error, with what follows from this; ``later``: so many launches did not run."""
    ones = f", and the {later:,} later ones" if later > 1 else ", and the later one"
    ended = f"The launch ended here{f'{ones} did not run, as on a GPU' if later else ''}"
    return dataclasses.replace(found, advice=f"{found.advice} {ended}: check again when this is mended.".strip())


#: How the emulator begins the error of a kernel: "kernel scale, cell.cu:4, block (0,0,0), thread (3,0,0): ...".
_ERROR = re.compile(
    r"kernel (?P<kernel>\S.*?)(?:, (?P<file>[^:,<>]+):(?P<line>\d+))?(?:, (?P<who>block .*?\)))?: (?P<what>.*)", re.S
)
#: What follows in errors of calls.
_REST = re.compile(r"\. The call was waiting for .*", re.S)


def of_error(error: CudaError, run: Observed) -> Finding:
    """A finding of an error with which the emulator ended the kernel: a divergent barrier, a lane that is missing."""
    text = _REST.sub("", str(error))
    if isinstance(run, Run):
        return of_message(text, None)
    launch = cast(OwnRun, run).launch
    program = launch.kernel.program

    def source(file: str) -> Sequence[str]:
        return lines_of(file, program._name, program.source) or linecache.getlines(file)

    return of_message(text, source, launch.grid, launch.block)


def of_message(
    text: str, lines: Callable[[str], Sequence[str]] | None, grid: Sequence[int] = (), shape: Sequence[int] = ()
) -> Finding:
    """The same of its message; ``lines``: the source's, by its file; None: it is the package's own, whose words are the
    emulator's."""
    match = _ERROR.search(text)
    of = match.groupdict() if match else {}
    words = {"barrier": r"barrier|sync\(\)", "warp": "lane|warp|shuffle"}
    kind = next((kind for kind, word in words.items() if re.search(word, text)), "error")
    file, line, who = of.get("file") or "", int(of.get("line") or 0), of.get("who") or ""
    source: Sequence[str] = ()
    numbers = [*map(int, re.findall(r"\d+", who)), *[0] * 6]
    block, thread = triple(numbers[:3]), triple(numbers[3:6])
    message, other = of.get("what", text).rstrip(". "), 0
    if lines is not None:
        source = lines(file)
        message, other = _as_written(message, source, file, line)
        grid, shape = (triple((*size, 1, 1)[:3]) for size in (grid, shape))
        who = thread_name(grid, shape, block, thread) if who else ""
    message = re.sub(r"^[^`]*: assertion `", "assertion `", message)  # without the function
    message = message.replace("; put only", ". Put only")
    if "with mask" not in message:
        message = re.sub(r"Put only lanes .*", "Let all threads of the group call it", message)
        message = message.replace("all lanes in the mask", "all threads of the group")
    before, _, advice = message.rpartition(". ")
    message, advice = (before, advice) if before else (message, "")
    if lines is not None:
        advice = _better(advice, message, "".join(without_comments(source)[line - 1 : line]), math.prod(grid) == 1)
    if who:
        message = message.replace("this thread", who) if "this thread" in message else f"{who}: {message}"
    places = Place(file, line, block, thread), Place(file, other, block, (0, 0, 0)) if other else None
    advice = f"{advice}." if advice else ""
    return Finding(kind, of.get("kernel", ""), places[0], message, advice, other=places[1], source=source)


def _better(advice: str, message: str, line: str, is_one_block: bool) -> str:
    """The advice of an error, as far as the line and the launch tell more than the emulator knows."""
    if "waits for ever" in message:
        if re.search(r"\batomic(?:CAS|Exch)|compare_exchange|exchange\(", line):
            lock = "If it is a lock, its holder must release it before it waits at a barrier, and before it ends"
            return lock if is_one_block else f"{lock}. {advice}"
        waits = "No other thread of the block changes it: the one that should may have ended, or wait at a barrier"
        return waits if is_one_block else advice
    if "must contain the calling lane" in message:
        return "Add this lane to the mask, or let only the lanes of the mask call it"
    if re.search(r"(?:__shfl_sync|\.shfl|->shfl)\(\)", message):  # which has no offset
        of_mask = "from a lane of the mask, such as __ffs(mask) - 1"
        lane = of_mask if "is not in the mask" in message else "from another lane"
        return advice.replace("or reduce the width or the offset", f"or read {lane}")
    return advice


#: In an error of the emulator: an operation, perhaps its mask, and perhaps where other threads wait at it.
_OPERATION = re.compile(
    r"(?P<name>__sync(?:threads\w*|warp)|__\w+_sync|the grid's sync)(?:\(\)|(?!\())"
    r"(?P<mask> with mask 0x[0-9a-f]+)?(?:, (?P<file>[^:,; ]+):(?P<line>\d+))?"
)


def _as_written(message: str, source: Sequence[str], file: str, line: int) -> tuple[str, int]:
    """The message of an error, with the operations' names in the source instead of the emulator's ("tile.sync()"), and
    the first other line that it names, or 0."""
    lines, others = without_comments(source), []

    def written(match: re.Match[str]) -> str:
        at = int(match["line"] or line)
        is_here = (match["file"] or file) == file
        name = _name_in(lines[at - 1] if is_here and 0 < at <= len(lines) else "", match["name"])
        mask = "" if "." in name or "->" in name else match["mask"] or ""
        if match["line"] and is_here:
            others.append(at)
        where = f" in line {at}" if is_here else f", {match['file']}:{match['line']}"
        return f"{name}{mask}{where if match['line'] else ''}"

    return _OPERATION.sub(written, message), next((at for at in others if at != line), 0)


def _name_in(text: str, name: str) -> str:
    """How a line calls an operation that the emulator names __shfl_down_sync, __syncwarp, ...: "tile.shfl_down()"."""
    method = "sync" if "sync" in name[-12:] and not name.endswith("_sync") else name[2:].removesuffix("_sync")
    if name not in text:
        if match := re.search(rf"(\w+(?:\(\))?(?:\.|->)){method}\s*\(", text):
            return f"{match[1]}{method}()"
        if match := re.search(r"\b((?:\w+::)*(?:sync|reduce|\w+_scan))\s*\((\w+)\s*([,)])", text):
            return f"{match[1]}({match[2]}{', ...' * (match[3] == ',')})"
    return f"{name}()"
