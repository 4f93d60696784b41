"""Edits a preprocessed source so that its words keep their lines and columns of the file that a person wrote.

The preprocessor gives each line's number, but not where in it a word was: macros, tabs and spaces change that, and so
do edits. A compiler quotes the line of the file, and points at a column. So where a word is elsewhere than in the file,
a new line that says where it is begins before it, as the preprocessor itself writes it around its own macros:

    k<<<1, n>>>(x);    (::emu::configure(
                       # 6 "a.cu"
                           1, n
                       # 6 "a.cu"
                       ), k
                       # 6 "a.cu"
                                  (x));
"""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from .cuda_source import Token, tokens
from .messages import lines_of, quoted

#: Of the preprocessor: what follows is of that line of that file; 3: a header of the system.
_MARKER = re.compile(r'^# (\d+) "((?:\\.|[^"\\])*)"([\d ]*)$\n?', re.M)
#: Words of files that the text does not have.
LEFT_OUT = {"__device__", "__host__", "__constant__"}
#: There may be a space before these, unless it is in a word: `x.f`, `"%d"_format`, 1e-5.
_SEPARATE = re.compile(r"""[^"'][A-Za-z_(){}\[\];,]|[(,<=]["'\d]""")
_MOST = 1_000_000  #: the product of two lengths, in words, up to which lines are compared

#: Where it starts and ends, and what takes the place of the text between: new text, and other parts of the source.
Edit = tuple[int, int, str | tuple[str | tuple[int, int], ...]]


class Mark(NamedTuple):
    """From where to where it is in the text, and what it says of the next line."""

    start: int
    end: int
    line: int
    file: str
    flags: str


class Line(NamedTuple):
    """A line of a file that has words in the text."""

    file: str
    number: int
    written: str  #: the file's, with the lines after it that have no words in the text
    sections: list[tuple[int, int]]  #: of the text


class Place(NamedTuple):
    line: int
    column: int  #: in bytes, from 0


def marks_of(text: str) -> list[Mark]:
    return [Mark(m.start(), m.end(), int(m[1]), m[2], m[3]) for m in _MARKER.finditer(text)]


class Columns:
    """Where the words of a preprocessed text are in the files."""

    def __init__(self, text: str, marks: Sequence[Mark], parts: Iterable[tuple[int, int]], folder: Path,
                 library: str = "") -> None:  # fmt: skip
        """``parts``: of which the words are sought; ``folder``: to which names of files are relative; ``library``: the
        folder of headers that are left out, because nobody edits them."""
        self._text, self._marks, self._library = text, marks, library
        self._starts = [mark.start for mark in marks]
        self._read = functools.cache(lambda file: lines_of(folder / file))
        self._lines = list(self._of_parts(parts))

    def mark(self, at: int) -> Mark:
        """The last one before that place of the text."""
        i = bisect.bisect(self._starts, at) - 1
        return self._marks[i] if i >= 0 else Mark(0, 0, 1, "", "")

    def line(self, at: int) -> int:
        """The line of the file at that place of the text."""
        mark = self.mark(at)
        return mark.line + self._text.count("\n", mark.end, at)

    def places(self, edits: Sequence[Edit]) -> dict[int, Place]:
        """By where words begin in the text, their places in the file, on lines that are not as in the file."""
        touched = sorted({at for start, end, _ in edits for at in (start, end)})
        found: dict[int, Place] = {}
        changed: list[tuple[Line, list[Token]]] = []  # lines in a row: a macro's words may be on several in the file
        for line in self._lines:
            if changed and changed[-1][0].file != line.file:
                found.update(_matched(self._text, changed))
                changed = []
            first, last = line.sections[0][0], line.sections[-1][1]
            is_edited = bisect.bisect_left(touched, first) < bisect.bisect(touched, last)
            if not is_edited and not changed and len(line.sections) == 1:
                text = self._text[first:last]
                written, indented = line.written.split("\n")[0], text.lstrip()
                if text == written:
                    continue
                if indented == written.lstrip():
                    found[last - len(indented)] = Place(line.number, len(written) - len(indented))
                    continue
            words = [token for section in line.sections for token in tokens(self._text, *section)]
            theirs = _of_file(line.written)
            if [token.text for token in words] == [token.text for token in theirs]:
                found.update(_matched(self._text, changed))
                found.update(_places(self._text, line, zip(words, theirs, strict=True)))
                changed = []
            else:
                changed.append((line, words))
        return found | _matched(self._text, changed)

    def has(self, word: str) -> bool:
        """Whether one of the files has that word."""
        return any(word in text for file in {line.file for line in self._lines} for text in self._read(file))

    def message(self, token: Token, words: str) -> str:
        """An error, as compilers write it, with the line of the file and a caret below that word."""
        line, column = self.places([(token.start, token.end, "")]).get(token.start, (self.line(token.start), -1))
        file = self.mark(token.start).file
        text = "".join(self._read(file)[line - 1 : line])
        if column < 0:  # a macro's, or the line is as in the file
            column = len(text[: max(0, text.find(token.text))].encode(errors="surrogateescape"))
        return quoted(file, line, column, words, len(token.text), text)

    def _of_parts(self, parts: Iterable[tuple[int, int]]) -> Iterator[Line]:
        """The lines that have words, of files that can be read."""
        sections: list[tuple[int, int]] = []
        file, line = "", 0
        for start, end in parts:
            number, name = self.line(start), self.mark(start).file
            if (self._library and name.startswith(self._library)) or not self._read(name):
                continue
            for text in self._text[start:end].split("\n"):
                if text and not text.isspace() and not text.lstrip().startswith("#"):
                    if (name, number) != (file, line):
                        if sections:
                            last = number if name == file and number > line else line + 1
                            yield Line(file, line, "\n".join(self._read(file)[line - 1 : last - 1]), sections)
                        file, line, sections = name, number, []
                    sections.append((start, start + len(text)))
                start += len(text) + 1
                number += 1
        if sections:
            yield Line(file, line, "\n".join(self._read(file)[line - 1 : line]), sections)


def _of_file(text: str) -> list[Token]:
    return [token for token in tokens(text) if token.text not in LEFT_OUT]


def _matched(text: str, lines: Sequence[tuple[Line, list[Token]]]) -> dict[int, Place]:
    """The places of the words on lines that follow each other, as far as the file has them."""
    if not lines:
        return {}
    whole = lines[0][0]._replace(written="\n".join(line.written for line, _ in lines))
    ours, theirs = [word for _, words in lines for word in words], _of_file(whole.written)
    if len(ours) * len(theirs) > _MOST:
        return {}
    a, b = ([token.text for token in some] for some in (ours, theirs))
    blocks = SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    return _places(
        text, whole, [(ours[one + i], theirs[other + i]) for one, other, size in blocks for i in range(size)]
    )


def _places(text: str, line: Line, pairs: Iterable[tuple[Token, Token]]) -> dict[int, Place]:
    """The places of these words of the text, which are those of the file."""
    places = {}
    for our, their in pairs:
        before = text[our.start - 1 : our.start]
        if before.isspace() or (not before.isalnum() and _SEPARATE.match(before + our.text)):
            begin = line.written.rfind("\n", 0, their.start) + 1
            column = len(line.written[begin : their.start].encode(errors="surrogateescape"))
            places[our.start] = Place(line.number + line.written.count("\n", 0, their.start), column)
    return places


def edited(text: str, edits: Iterable[Edit], columns: Columns) -> str:
    """The text with these edits."""
    edits = sorted(edits, key=lambda edit: edit[:2])
    writer, done = _Writer(text, columns, edits), 0
    for start, end, new in edits:
        writer.copy(done, start)
        for part in (new,) if isinstance(new, str) else new:
            if isinstance(part, str):
                writer.add(part)
            else:
                writer.copy(*part)
        writer.go_on(start, end)
        done = end
    writer.copy(done, len(text))
    return "".join(writer.pieces)


def plain(text: str, start: int, end: int, edits: Iterable[Edit]) -> str:
    """A part of the text with its edits, for code that nobody is shown: its words have their lines alone."""
    pieces, done = [], start
    inside = [edit for edit in edits if start <= edit[0] and edit[1] <= end]
    for first, after, new in sorted(inside, key=lambda edit: edit[:2]):
        parts = (new,) if isinstance(new, str) else new
        other = "".join(part if isinstance(part, str) else text[slice(*part)] for part in parts)
        pieces += [text[done:first], other, "\n" * (text.count("\n", first, after) - other.count("\n"))]
        done = after
    return "".join([*pieces, text[done:end]])


class _Writer:
    def __init__(self, text: str, columns: Columns, edits: Sequence[Edit]) -> None:
        self.text, self.columns = text, columns
        self.pieces: list[str] = []
        self.line, self.column = 1, 0  # where the next character is, as a compiler counts
        self.has_lines = False  # whether an edit's new text has lines of its own
        self.places = columns.places(edits)
        self.stops = sorted(self.places)

    def add(self, piece: str) -> None:
        """New text."""
        self._append(piece)
        self.has_lines |= "\n" in piece

    def copy(self, start: int, end: int) -> None:
        """A part of the text, of which each word goes to its place."""
        for stop in self.stops[bisect.bisect_left(self.stops, start) : bisect.bisect_left(self.stops, end)]:
            self._copy(start, stop, " ")
            self._go_to(stop)
            start = stop
        self._copy(start, end)

    def go_on(self, start: int, end: int) -> None:
        """After an edit of this part: lines keep their numbers."""
        if self.has_lines:
            self._mark(self.columns.line(end), end)
            self.has_lines = False
        elif lines := self.text.count("\n", start, end):
            self._append("\n" * lines)
            self.line += lines

    def _append(self, piece: str) -> None:
        self.pieces.append(piece)
        begin = piece.rfind("\n") + 1
        size = len(piece[begin:].encode(errors="surrogateescape"))
        self.column = size if begin else self.column + size

    def _copy(self, start: int, end: int, without: str = "") -> None:
        piece = self.text[start:end]
        self._append(piece.rstrip(without) if without else piece)
        if lines := piece.count("\n"):
            mark = self.columns.mark(end)
            self.line = self.columns.line(end) if mark.start >= start and mark.line else self.line + lines

    def _go_to(self, at: int) -> None:
        line, column = self.places[at]
        needs_space = self.column > 0 and self.text[at - 1 : at].isspace()
        if line != self.line or self.column + needs_space > column:
            self._mark(line, at)
        self._append(" " * (column - self.column))

    def _mark(self, line: int, at: int) -> None:
        self._append(f'\n# {line} "{self.columns.mark(at).file}"\n')
        self.line = line
