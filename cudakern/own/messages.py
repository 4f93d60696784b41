"""What compilers say, as the user of a source is to read it: about that source, not about the emulator's headers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from .._installed import HEADERS

#: The end of the name of the file to which the code that launches a kernel belongs; before it, the kernel's file.
STUB = "<launch>"
_OURS = re.escape(str(HEADERS)) + r"/[^\s:]+[:\d]*"
_LINES = r"(?: .*\n)*"  #: that are quoted
_INCLUDED = r"(?:In file included from .*\n(?: +from .*\n)*)?"
#: An error in a header of ours: how the compiler came there, and the error.
_ERROR = re.compile(
    rf"^({_INCLUDED}(?:{_OURS}: In .*\n)?(?:\S+: +(?:recursively )?required .*\n|\S+: +\[ skipping .*\n)*)"
    rf"{_OURS}: (?:fatal )?error: (?:static assertion failed: |#error )?(.*)\n{_LINES}",
    re.M,
)
#: In what comes before an error: places in a source, or in code that launches a kernel, and who includes whom.
_PLACE = re.compile(r"^(\S+?):(\d+):(\d+): +(?:recursively )?required", re.M)
_INCLUDES = re.compile(r"^(?:In file included| +) from (\S+?):(\d+)()[:,]", re.M)
#: A note in a header of ours.
_NOTE = re.compile(rf"^{_INCLUDED}{_OURS}: note: +(.*)\n{_LINES}", re.M)
#: A function that stands for what the emulator lacks (ptx.py).
_LACKING = re.compile(rf"^(\S+?):(\d+):\d+: error: call to \S+ declared with attribute error: (.*)\n{_LINES}", re.M)
#: A message of clang, which quotes the line of the translated source.
_OF_CLANG = re.compile(
    r"^((\S+?):(\d+):\d+: (?:fatal )?(?:error|warning|note): .*\n)(?! *\d* \|)(.*)(?=\n *[~^])", re.M
)
_MISSING = re.compile(rf"^(\S+: fatal error: (\S+): No such file or directory\n{_LINES})", re.M)
#: Headers that programs include and neither CUDA nor the emulator has.
_HINTS = {
    r"helper_\w+\.h|exception\.h|nvrtc_helper\.h":
        "it belongs to NVIDIA's samples: clone github.com/NVIDIA/cuda-samples, and compile with -I cuda-samples/Common",
    r"cutil\w*\.h|shrUtils\.h|shrQATest\.h|sdkHelper\.h":
        "it belonged to NVIDIA's samples before CUDA 5; helper_cuda.h of github.com/NVIDIA/cuda-samples replaced it",
    r"(?:.*/)?(?:book|cpu_bitmap|cpu_anim|gpu_anim)\.h":
        'it belongs to the programs of the book "CUDA by Example", and lies in their folder `common`',
    r"mpi\.h": "MPI is a library of its own, not of CUDA, and the emulator has none",
    r"(?:GL|GLFW|glad|EGL)/.*|(?:freeglut|glut|glew)\.h":
        "the emulator has no graphics: run this program on a GPU, or without its display if it has an option for that",
    r"opencv2?/.*": "OpenCV is a library of its own: add its flags (pkg-config --cflags --libs opencv4)",
    r"(?:cutlass|cute)/.*": "CUTLASS is a library of its own: github.com/NVIDIA/cutlass",
    r"cu(?:dss|tensor|sparseLt|tensorNet)\w*\.h|nv(?:shmem\w*|ml)\.h|cupti\w*\.h|optix\w*\.h":
        "the emulator does not have this library of NVIDIA's: run this program on a GPU",
}  # fmt: skip


def quoted(file: str, line: int, column: int, words: str, size: int = 1, text: str | None = None) -> str:
    """An error, as compilers write it, with the line of the file and a caret. ``column`` is counted in bytes, from 0;
    -1: where the line's words begin."""
    if text is None:
        text = "".join(lines_of(Path(file))[line - 1 : line])
    content = text.encode(errors="surrogateescape")
    column = column if column >= 0 else len(content) - len(content.lstrip())
    before = len(content[:column].decode(errors="replace").expandtabs(8))
    message = f"{file}:{line}:{before + 1}: error: {words}\n"
    return message + (f"{line:5} | {text.expandtabs(8)}\n      | {' ' * before}^{'~' * (size - 1)}\n" if text else "")


def lines_of(path: Path) -> list[str]:
    """The lines of a file; none if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    except OSError:
        return []


Lines = Callable[[str], list[str]]  #: of a file


def readable(log: str, name: str = "", text: str = "") -> str:
    """A compiler's messages about a source. Files are read from the current folder, if they are there; of that name, it
    is this text."""

    def lines(file: str) -> list[str]:
        return text.split("\n") if file == name else lines_of(Path(file))

    log = _ERROR.sub(lambda m: _of_header(m, lines), log)
    log = _NOTE.sub(_note, log)
    log = _LACKING.sub(lambda m: _of_word(lines, m[1], int(m[2]), m[3], r"\b(?:asm|__asm__|__asm)\b"), log)
    log = _OF_CLANG.sub(lambda m: _as_written(m, lines), log)
    log = _MISSING.sub(lambda m: m[1] + _hint(m[2]), log)
    return log.replace(f"{STUB}:", ":").replace("emu_print(int, ", "printf(")


def _of_header(match: re.Match[str], lines: Lines) -> str:
    """An error in a header of ours, at the place of the source that brought the compiler there."""
    for file, line, column in _PLACE.findall(match[1]) or _INCLUDES.findall(match[1]):
        if file.endswith(STUB):
            return _of_word(lines, file.removesuffix(STUB), int(line), match[2], r"(?<=void\s)\w+")
        if not file.startswith((str(HEADERS), "<")):
            text = "".join(lines(file)[int(line) - 1 : int(line)])
            return quoted(file, int(line), _bytes(text, int(column or 0) - 1), match[2], 1, text)
    return match[0]


def _bytes(text: str, column: int) -> int:
    """A column in bytes, of one in characters, with tabs as g++ shows them."""
    size = next((i for i in range(len(text)) if len(text[:i].expandtabs(8)) >= column), len(text))
    return len(text[:size].encode(errors="surrogateescape")) if column >= 0 else -1


def _of_word(lines: Lines, file: str, line: int, words: str, pattern: str) -> str:
    text = "".join(lines(file)[line - 1 : line])
    found = re.search(pattern, text)
    column = len(text[: found.start()].encode(errors="surrogateescape")) if found else -1
    return quoted(file, line, column, words, len(found[0]) if found else 1, text)


def _as_written(match: re.Match[str], lines: Lines) -> str:
    line = "".join(lines(match[2])[int(match[3]) - 1 : int(match[3])]).replace("\t", " ")
    return match[1] + (line or match[4])


def _note(match: re.Match[str]) -> str:
    words = match[1]
    is_ours = words == "declared here" or re.search(r"\bemu(?:_|::)|evaluates to false|reduces to", words)
    return "" if is_ours else f"      note: {words}\n"


def _hint(header: str) -> str:
    hints = (words for pattern, words in _HINTS.items() if re.fullmatch(pattern, header))
    return "".join(f"      note: {words}\n" for words in hints)


def of_linker(log: str, objects: Sequence[tuple[Path, Path]]) -> str:
    """A linker's messages, with the names of the sources in the place of those of their objects."""
    for made, source in objects:
        log = log.replace(str(made), str(source))
    if "undefined reference to `main'" in log:
        return "no source defines the function main, with which a program begins\n"
    log = re.sub(r"^(?:\S*/)?\S*ld(?:\.\w+)?: (?:\S+: in function .*:\n)?", "", log, flags=re.M)
    log = re.sub(r":\(\.[\w.]+\+0x[0-9a-f]+\)", "", log)  # beside a line
    return re.sub(
        r"^(?:\S+: in function .*:|collect2: .*|clang.*: error: linker command failed.*)\n", "", log, flags=re.M
    )
