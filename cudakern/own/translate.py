"""CUDA C++ as a C++ compiler for the host takes it, in one pass over the tokens of a preprocessed source.

    source --g++ -E, with the emulator's headers--> text --translated()--> C++ --g++--> object

    tokens --read()--> edits of launches, kernels, shared and volatile variables, asm (ptx.py)
    each kernel --waits.py: may its threads wait?--> inlined.py --> uniform.py, loops.py: its threads as loops --> edits
    edits --columns.py: each word stays in its place--> C++
    tokens --rules.py: what nvcc refuses, or warns of--> errors, which messages.py quotes

In preprocessed text there are no macros, and each part says from which file and line it is. So a launch in a macro, a
kernel that a macro declares and a header in any folder need no special care, and messages have the source's own lines.
What changes:

    k<<<grid, block, bytes, stream>>>(x, n)    (::emu::configure(grid, block, bytes, stream), k(x, n))
    __global__ void k(float *x, int n) {       void k(float *x, int n) { if (emu_launching) return emu::launch<k>(x, n);
    extern __shared__ T t[]; __shared__ T s;   thread-local variables: see device_dynamic.h and device_qualifiers.h
    asm("PTX" ...)                             statements that do the same: ptx.py
    v[i] = v[j];   // v: volatile              v[i] = ::emu::in_step(v[j]), ::emu::in_step();
    while (!flag) {}   // flag: volatile       while (::emu::let_others_run(), !flag) {}

A kernel's call is a launch if one is pending. So overloads, arguments of templates and conversions are found as C++
does it, by the C++ compiler.

Programs that were written for GPUs whose warps ran in step exchange data by volatile pointers, without __syncwarp. So
in a whole program, the lanes that run together read before any of them writes to such memory, and wait for each other
after it. And as all threads of a block make progress on a GPU, a loop that may wait for another thread lets it run.
"""

from __future__ import annotations

import bisect
import contextlib
import functools
import itertools
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from .. import _driver
from . import ptx, rules
from .columns import LEFT_OUT, Columns, Edit, Mark, edited, marks_of, plain
from .cuda_source import ATTRIBUTES, Token, after_angle, closing, contents, is_shift, opener, scope, split, tokens
from .inlined import Inlined
from .loops import Loops, ask
from .messages import STUB
from .rules import Problem
from .statements import TYPES, WAITS, Known, NotUnderstood
from .waits import Waits

#: What the translation looks for: a file without these words stays as it is.
_WORDS = re.compile(
    r"__global__|\btexture\s*<|__shared__|<<\s?<|\b(?:asm|__asm__|__asm|volatile|__threadfence\w*)\b"
    r"|\b(?:__device__|__host__|__constant__|threadIdx|blockIdx|__sync\w+|__shfl\w+|atomic[A-Z]\w+)\b"
)
#: An array without a length, with spaces between words.
_ARRAY = re.compile(r"(?P<element>.+) (?P<name>[A-Za-z_]\w*) \[ \](?P<lengths>(?: \[ .+ \])?)")
#: Types of one or several words, which cannot be names of parameters.
_TYPE_WORDS = TYPES | {"__int128", "__signed__", "typename", "class"}
_BOUNDS = ("__cluster_dims__", "__launch_bounds__")  #: of a kernel's launches
_QUALIFIERS = {"const", "volatile", "struct", "union", "enum", "__restrict__", "__restrict", "restrict", "register"}

#: In a loop, these show that it may wait for another thread, as variables that are volatile do.
_LOAD = re.compile(r"\bld\.(?:volatile|acquire|relaxed)")
_WAITING = {"__threadfence", "__threadfence_block", "__threadfence_system", "__ldcg", "__ldcv", "__ldca"}

#: What CUDA's own headers write for `__global__` and the like.
_SPELT_OUT = re.compile(r"__attribute__\s?\(\((global|device|host|shared)\)\)")
_MEMORY = re.compile(r"__(?:device|constant)__(?!\w)")
#: After such a word, a variable may be declared.
_DECLARED = re.compile(rf"{_MEMORY.pattern}[^;{{}}()]*[;=\[{{]")
_SIDES = re.compile(r"__(?:device|host|constant)__\b")
_LITTLE = 200  #: A kernel with fewer words and signs, whose threads never wait, becomes a loop with its code in it.
_MOST_WORDS = 300_000  #: Where there are more words and signs, as in CCCL's headers, nothing becomes loops.
_LONG = 4000  #: One with more is not written as loops.
_MOST = 100  #: messages of each kind
#: How a variable of a block is stored: see device_qualifiers.h, which says so to the package's own kernels.
_SHARED = "static __thread"
_SHARED_REPORTING = "static __thread __attribute__((used, aligned(65536)))"


class Translated(NamedTuple):
    text: str
    has_ptx: bool  #: it needs device_ptx.h
    has_half: bool  #: and that with 16-bit floating-point numbers
    has_textures: bool  #: declared as CUDA had them until version 12, `texture<float> t`
    has_loops: bool  #: functions that loops.py has written
    errors: str  #: of rules that the C++ compiler does not know
    doubts: str  #: the same, to be believed only if the C++ compiler finds no other errors
    warnings: str


def translated(
    text: str, mode: str, headers: str, launches: bool | None = None, library: str = "", folder: Path = Path(),
    loops: bool = True,
) -> Translated:  # fmt: skip
    """The C++ of a preprocessed source. ``headers``: the folder of the emulator's own, which are C++ already;
    ``library``: the folder of headers in CUDA C++ that are marked like those of the system, such as Thrust's;
    ``launches``: whether kernels can be called from other files; by default if this one has a launch; ``folder``: to
    which names of files are relative; ``loops``: whether threads may be loops."""
    text = _SPELT_OUT.sub(lambda match: f"__{match[1]}__".ljust(len(match[0])), text)
    marks = marks_of(text)
    written = list(_written(text, marks, headers, library))
    read = {file for start, end, file in written if _WORDS.search(text, start, end)}
    parts = [(start, end) for start, end, file in written if file in read]
    own = _registered(text, written, library) if launches else ""
    words = [token for start, end in parts for token in tokens(text, start, end)]
    text = _without_sides(text, words, parts)
    source = [token for token in words if token.text not in LEFT_OUT]
    if launches is None:
        launches = any(_is_launch(source, i) for i, token in enumerate(source) if token.text == "<")
    columns = Columns(text, marks, [(start, end) for start, end, _ in written], folder, library)
    translation = _Translation(text, source, columns, mode, launches, loops)
    has_loops = translation.run()
    if own:
        translation.edits.append((len(text), len(text), f'\n# 1 "{STUB}" 3\n{own}\n'))
    has_textures = any(re.search(r"^\s*(?:static\s+)?texture\s*<", text[start:end], re.M) for start, end in parts)
    cxx = edited(text, translation.edits, columns)
    certain, doubts, warnings = translation.problems, list[Problem](), list[Problem]()
    if not library:
        is_of_system = functools.partial(_is_of_system, text, written)
        kernels, doubts, warnings = rules.problems(text, words, is_of_system, lambda: columns.has("__CUDA_ARCH__"))
        certain += kernels
    messages = [
        "".join(dict.fromkeys(itertools.starmap(columns.message, some[:_MOST]))) for some in (certain, doubts, warnings)
    ]
    messages[2] = messages[2].replace(": error: ", ": warning: ")
    of_ptx = translation.has_ptx, translation.has_half
    return Translated(cxx, *of_ptx, has_textures, has_loops, *messages)


def _without_sides(text: str, words: list[Token], parts: list[tuple[int, int]]) -> str:
    """The text with spaces in the place of ``__device__`` and the like, whose words these are in some parts."""
    starts, known = [start for start, _ in parts], {token.start for token in words}
    pieces, done, read = [], 0, -1
    for match in _SIDES.finditer(text):
        at = match.start()
        part = bisect.bisect(starts, at) - 1
        if part < 0 or at >= parts[part][1]:  # in a header of the system
            line = text.rfind("\n", 0, at) + 1
            if line != read:
                known.update(token.start for token in tokens(text, line, text.find("\n", at)))
            read = line
        if at in known:
            pieces += [text[done:at], " " * len(match[0])]
            done = match.end()
    return "".join([*pieces, text[done:]])


def _registered(text: str, written: list[tuple[int, int, str]], library: str) -> str:
    """The code that tells the core of a program's variables, but those of a library, which cudaDeviceReset gives their
    first values again: ``static ::emu::variable emu_variables[] = {::a, ::n::b};``"""
    files = {file for start, end, file in written if _MEMORY.search(text, start, end)}
    parts = (text[a:b] for a, b, file in written if file in files and not (library and file.startswith(library)))
    whole = "\n".join(parts)
    known = ", ".join(f"::{name}" for name in contents(whole).variables) if _DECLARED.search(whole) else ""
    return f"static ::emu::variable emu_variables[] = {{{known}}};" if known else ""


def _is_of_system(text: str, written: list[tuple[int, int, str]], name: str) -> bool:
    """Whether the text has a function of that name in parts that are not the source's."""
    starts = [start for start, *_ in written]
    for match in re.finditer(rf"\b{name}\s*\(", text):
        part = bisect.bisect(starts, match.start()) - 1
        if part < 0 or match.start() >= written[part][1]:
            return True
    return False


def _written(text: str, marks: list[Mark], headers: str, library: str) -> Iterator[tuple[int, int, str]]:
    """Where in a text the parts of files are that are not the system's or the emulator's, and these files."""
    # A word that a macro of the system stands for is marked like a header of it: 3; but no file begins there: 1.
    others = {
        mark.file
        for mark in marks
        if {"1", "3"} <= {*mark.flags.split()} and not (library and mark.file.startswith(library))
    }
    for mark, after in pairwise([Mark(0, 0, 1, "", ""), *marks, Mark(len(text), 0, 1, "", "")]):
        if mark.file not in others and not mark.file.startswith((headers, "<")):
            yield mark.end, after.start, mark.file


class _Body(NamedTuple):
    """A kernel that has one: what `read` has found, as numbers of tokens."""

    begin: int  #: of the declaration
    head: tuple[int, int]  #: `template <...>`
    name: str
    arguments: list[str]  #: of the template
    opening: int  #: of the parameters
    parameters: list[str]
    brace: int
    bounds: str  #: for emu::launch
    has_cluster: bool
    is_simple: bool  #: a function of its own, and not one of a class


def _is_launch(source: list[Token], i: int) -> bool:
    """Whether `<<<` begins there: three signs, of which a formatter may have parted the last one."""
    if i == 0 or [token.text for token in source[i : i + 3]] != ["<"] * 3:
        return False
    before = source[i - 1].text
    return before in (">", ")", "]") or (before.isidentifier() and before != "operator")


class _Translation:
    def __init__(
        self, text: str, source: list[Token], columns: Columns, mode: str, launches: bool, loops: bool
    ) -> None:
        self.text, self.source, self.columns, self.launches = text, source, columns, launches
        self.shared = _SHARED_REPORTING if mode in _driver.REPORTING else _SHARED
        #: A lambda that copies cannot copy an array without a length.
        copies = any(token.text == "[" and source[i + 1].text == "=" for i, token in enumerate(source[:-1]))
        self.dynamic = (
            "auto *const {name} = emu_dynamic<{type}>()" if copies else "auto &{name} = emu_dynamic<{type}>()"
        )
        self.edits: list[Edit] = []
        self.problems: list[Problem] = []
        self.has_ptx = self.has_half = False
        #: The names that are volatile: of the file, and of each open brace's scope.
        self.mode = mode
        self.waiting, self.volatile = set(_WAITING), [set[str]()]
        for i, token in enumerate(source):
            if token.text == "volatile":
                self.waiting |= _names_after(source, i)
        self.has_loops = loops and mode == "plain" and len(source) < _MOST_WORDS
        self.waits = Waits(source, self.waiting) if launches or self.has_loops else None
        self.bodies: list[_Body] = []

    @functools.cached_property
    def known(self) -> Known:
        return Known(self.source)

    @functools.cached_property
    def inlined(self) -> Inlined:
        return Inlined(self.source, self.known, self.raw)

    def run(self) -> bool:
        """Finds all edits: whether any is a function of loops."""
        self.read()
        written = [(body, *self.threads(body)) for body in self.bodies]
        for body, before, threads in written:
            self.stub(body, before, threads)
        return any(before for _, before, _ in written)

    def read(self) -> None:
        source = self.source
        scopes: list[bool] = []  # of each open brace: whether it is a function's or a type's
        start = i = 0  # the statement's first token; this one
        shared = False
        parameters: set[str] = set()  # those that are volatile, of a function whose body may follow
        while i < len(source):
            sign = source[i].text
            if sign in ptx.ASM:
                i = self.asm(i)
                continue
            if sign == "__global__":
                self.kernel(start, i, any(scopes))
            elif sign == "__shared__":
                shared = True
            elif sign == "volatile":
                is_parameter = sum((t.text == "(") - (t.text == ")") for t in source[start:i]) > 0
                (parameters if is_parameter else self.volatile[-1]).update(_names_after(source, i))
            elif sign in ("while", "for") and self.launches and any(scopes):
                self.loop(i)
            elif sign == "<" and _is_launch(source, i):
                self.launch(i)
                i += 2
            elif sign == "[" and self.launches and any(source[i - 1].text in names for names in self.volatile):
                self.store(i)
            elif sign in ("{", "}", ";"):
                if shared:
                    self.variable(start, i, any(scopes))
                if sign == "{":
                    scopes.append(scope([token.text for token in source[start:i]]) is None)
                    self.volatile.append(parameters)
                elif sign == "}" and scopes:
                    scopes.pop()
                    self.volatile.pop()
                parameters = set()
                start, shared = i + 1, False
            i += 1

    # --- launches
    def launch(self, at: int) -> None:
        """``callee<<<configuration>>>(arguments)``, of which ``at`` is the first ``<``."""
        source, depth, end, stop = self.source, 0, at + 3, len(self.source)
        while end < len(source):  # to the `>>>` outside of parentheses
            sign = source[end].text
            if sign == ">" and depth == 0 and [t.text for t in source[end + 1 : end + 3]] == [">", ">"]:
                break
            depth += (sign in "([{") - (sign in ")]}")
            if depth < 0 or (sign == ";" and depth == 0) or (sign == "<" and _is_launch(source, end)):
                end, stop = len(source), end
            end += 1
        inside = source[at + 3 : end] if end < len(source) else []
        counts = {len(split(inside, ",")), len(split(inside, ",", opening="([{<", closing=")]}>"))}
        message = ""
        if end >= len(source):
            message = "a launch is written kernel<<<grid, block>>>(arguments): `>>>` is missing"
        elif end + 3 >= len(source) or source[end + 3].text != "(":
            message = "a launch is written kernel<<<grid, block>>>(arguments): `(` is missing after `>>>`"
        elif not counts & {2, 3, 4} and all(token.text != "." for token in inside[-3:]):
            message = "a launch has two to four values in <<<grid, block, bytes of shared memory, stream>>>"
            message += f", not {min(counts)}"
        arguments = source[end + 3 : closing(source, end + 3)]
        if message:
            self.problems.append(Problem(source[at]._replace(text="<<<"), message))
        if message or any(token.text == ";" for token in _outside_of_braces(arguments)):  # without a `)`
            sign_after = next((i for i in range(at, stop) if source[i].text in ";{}"), stop)
            after = source[sign_after if sign_after < len(source) else at].start
            after = source[end + 2].end if end < len(source) else after
            self.edits.append((source[at].start, after, ""))  # the C++ compiler is to find the other errors
            return
        first = _callee(source, at)
        last = arguments[-1]
        self.edits += [
            (source[first].start, source[at + 2].end, "(::emu::configure("),
            (source[end].start, source[end + 2].end, ("), ", (source[first].start, source[at - 1].end))),
            (last.end, last.end, ")"),
        ]

    # --- kernels
    def kernel(self, start: int, at: int, inside: bool) -> None:
        """A declaration with ``__global__`` at that token: it is exported and, if it has a body, launches itself."""
        source, begin = self.source, start
        # Where emu_launching is constant for it, it must look each time.
        inline = ", noinline" * (self.launches and self.mode in _driver.REPORTING)
        self.edits.append((source[at].start, source[at].end, f'__attribute__((visibility("default"){inline}))'))
        opening = at + 1
        while opening < len(source) and source[opening].text not in "({;":
            opening += 1
            if source[opening - 1].text == "<":
                opening = after_angle(source, opening - 1)
            elif opening < len(source) and source[opening].text == "(" and source[opening - 1].text in ATTRIBUTES:
                opening = closing(source, opening)
        if opening >= len(source) or source[opening].text != "(":
            return
        cluster, most = (self.bound(start, opening, word) for word in _BOUNDS)
        bounds = ", ".join(["", *(cluster or ["0u"] * 3), *most[:1]]) * bool(cluster or most)
        for token in source[start:opening]:
            if token.text == '"hidden"':  # visibility
                self.edits.append((token.start, token.end, '"default"'))
        if message := self.unlike_a_kernel(start, opening):
            self.problems.append(Problem(source[opening - 1], message))
            return
        end = closing(source, opening)  # after the parameters
        while end < len(source) and source[end].text in ("noexcept", "__attribute__"):
            end = closing(source, end + 1) if source[end + 1].text == "(" else end + 1
        if end < len(source) and source[end].text in ("->", "-"):  # auto k(int *x) -> void
            end = next((i for i in range(end, len(source)) if source[i].text in "{;"), end)
        if not (self.launches or self.has_loops) or end >= len(source) or source[end].text != "{":
            return
        if inside and all(token.text != "friend" for token in source[start:at]):
            return  # a member, which rules.py refuses
        first = _name_before(source, opening)
        name = self.text[source[first].start : source[opening - 1].end]
        while source[start].text == "extern" and source[start + 1].text.startswith('"'):
            start += 2
        arguments = []
        is_template = source[start].text == "template"
        is_simple = name.isidentifier() and not inside and not cluster
        if is_template and ">" not in name:
            last = after_angle(source, start + 1) - 1
            arguments = self.named(source[start + 2 : last], "emu_t")
        last = closing(source, opening) - 1
        parameters = self.named(source[opening + 1 : last], "emu_p")
        head = (start, after_angle(source, start + 1)) if is_template else (start, start)
        self.bodies.append(
            _Body(begin, head, name, arguments, opening, parameters, end, bounds, bool(cluster), is_simple)
        )

    def threads(self, body: _Body) -> tuple[str, str]:
        """What its threads do, for emu::launch; and a function that runs them in loops, or nothing."""
        waits, end = self.waits, closing(self.source, body.brace)
        if self.mode != "plain" or waits is None or body.has_cluster:
            return "", "THEY_WAIT"
        never = not waits.may_wait(body.brace)
        before, threads = "", "THEY_NEVER_WAIT" if never else "THEY_WAIT"
        can = body.is_simple and end - body.brace < (_LITTLE if never else _LONG)
        if not self.has_loops or not can:
            return before, threads
        with contextlib.suppress(NotUnderstood):
            source, words = self, waits.inside(body.brace)
            if not never and waits.may_wait(body.brace, WAITS):
                names = [name.removesuffix("...") for name in body.parameters]
                code = self.inlined.body(body.brace, names)
                if code is not None:
                    text = f"{self.raw(body.begin, body.brace)} {{\n{code}\n}}"
                    columns = Columns(text, marks_of(text), (), Path())
                    source = _Translation(text, tokens(text), columns, self.mode, self.launches, True)
                    source.read()
                    body = source.bodies[0]
                    words = {token.text for token in source.source[body.brace :] if token.text.isidentifier()}
            if never or not waits.may_wait_with(words - WAITS):
                return source.loops(body, self.known, ask(waits.called(words)))
        return before, threads

    def loops(self, body: _Body, known: Known, shows: bool) -> tuple[str, str]:
        """The function that runs a block's threads in loops. NotUnderstood if there is none."""
        names = [name.removesuffix("...") for name in body.parameters]
        if shows and not self.launches:  # elsewhere threadIdx is constant
            raise NotUnderstood("threadIdx")
        loops = Loops(known.of(self.source), body.brace, names, {*body.arguments}, self.piece)
        code = loops.written(shows)
        head = self.piece(*body.head) if body.head[0] < body.head[1] else ""
        parameters = self.piece(body.opening, closing(self.source, body.opening))
        # For operations of vectors by g++, which before version 12 forgets the command's options here.
        kind = 'static __attribute__((optimize("O3", "fp-contract=off"))) void'
        function = f"{head}\n{kind} emu_loops_{body.name}{parameters} {{\n{code}\n}}\n"
        return function, f"IN_{'' if shows else 'SILENT_'}LOOPS{'_OF_ROWS' * loops.of_rows}"

    def stub(self, body: _Body, before: str, threads: str) -> None:
        """What launches the kernel, at the beginning of its body; and what comes before the kernel."""
        source, name = self.source, body.name
        types = ", ".join(
            re.sub(r"^(\w+)", r"::emu::declared<decltype(\1)>", parameter) for parameter in body.parameters
        )
        arguments = f"<{', '.join(body.arguments)}>" if body.arguments else ""
        cast = f"static_cast<void (*)({types})>"
        how = f"::emu::{threads}" + f", ({cast}(emu_loops_{name}{arguments}))" * bool(before)
        how += ", nullptr" * (not before and bool(body.bounds)) + body.bounds
        of_kernel = f"({cast}({name}{arguments})), {how}"
        if self.launches:
            call = f"if (::emu_launching) return ::emu::launch<{of_kernel}>({', '.join(body.parameters)});"
        elif before:
            call = f"(void)&::emu::of_program<{of_kernel}>::kernel;"
        else:
            return
        at = source[_name_before(source, body.opening)].start
        code = f'\n# {self.columns.line(at)} "{self.columns.mark(at).file}{STUB}" 3\n{call}'
        self.edits.append((source[body.brace].end, source[body.brace].end, code))
        if before:
            begin = source[body.begin].start
            self.edits.append((begin, begin, before))

    def raw(self, first: int, after: int) -> str:
        """The text of these tokens, after a line that tells its place."""
        start = self.source[first].start
        return f"\n{self.place(start)}\n{self.text[start : self.source[after - 1].end]}\n"

    def piece(self, first: int, after: int) -> str:
        """The C++ of these tokens, after a line that tells its place."""
        start, end = self.source[first].start, self.source[after - 1].end
        return f"\n{self.place(start)}\n{plain(self.text, start, end, self.edits)}\n"

    def place(self, at: int) -> str:
        """What tells the compiler that the next line is the one there."""
        return f'# {self.columns.line(at)} "{self.columns.mark(at).file}"'

    def unlike_a_kernel(self, start: int, opening: int) -> str:
        """Why that is no declaration of a kernel, of whose parameters ``opening`` is the parenthesis."""
        source = self.source
        begin = after_angle(source, start + 1) if source[start].text == "template" else start
        words, end = list[str](), _name_before(source, opening)
        while begin < end:  # without what attributes have in parentheses: __launch_bounds__(int(N))
            words.append(source[begin].text)
            begin = closing(source, begin) if source[begin].text == "(" else begin + 1
        if words[-1:] == ["*"] or {*words} & (_TYPE_WORDS - {"void", "auto", "typename", "class"}):
            return "a __global__ function must have a void return type"
        return ""

    def bound(self, start: int, end: int, word: str) -> list[str]:
        """Takes out ``__cluster_dims__(x, y, z)`` or ``__launch_bounds__(threads, ...)`` between these tokens: three
        numbers, as further arguments."""
        source = self.source
        for at in range(start, end):
            if source[at].text == word and source[at + 1].text == "(":
                last = closing(source, at + 1) - 1
                self.edits.append((source[at].start, source[last].end, ""))
                sizes = split(source[at + 2 : last], ",", opening="([{<", closing=")]}>")
                words = [f"unsigned({self.text[size[0].start : size[-1].end]})" for size in sizes]
                return [*words, "1u", "1u"][:3]
        return []

    def named(self, section: list[Token], prefix: str) -> list[str]:
        """The names of a template's or a function's parameters, as arguments; those without a name get one."""
        names = []
        shifts = {i + j for i in range(len(section)) if is_shift(section, i) for j in (0, 1)}
        section = [token for i, token in enumerate(section) if i not in shifts]
        parts = split(section, ",", opening="([{<", closing=")]}>")
        for number, part in enumerate(parts):
            declared = split(part, "=", opening="([{<", closing=")]}>")[0]
            words = [token.text for token in declared]
            if not words or words == ["void"]:
                continue
            name = _declared_name(words)
            if not name:
                name = f"{prefix}{number}"
                stars = [i for i, (a, b) in enumerate(pairwise(words)) if (a, b) == ("*", ")")]
                place = declared[stars[0] if stars else -1].end
                self.edits.append((place, place, f" {name}"))
            names.append(name + "..." * ("." in words))
        return names

    # --- shared memory
    def variable(self, start: int, end: int, inside: bool) -> None:
        """A declaration with ``__shared__``, between these tokens."""
        statement = self.source[start:end]
        words = [token.text for token in statement]
        declared = _dynamic(statement) if self.source[end].text == ";" else None
        if declared:
            first, parts = declared
            form = self.dynamic if inside else "extern __thread {element} (&{name})[]{lengths} EMU_DYNAMIC"
            form = form.replace("EMU_DYNAMIC", _DYNAMIC)
            self.edits.append((statement[first].start, statement[-1].end, form.format(**parts)))
            return
        at = words.index("__shared__")
        if len(split(statement[at:], "=", opening="([{<", closing=")]}>")) > 1:
            message = "initializer not allowed for __shared__ variable: let a thread assign to it, then __syncthreads()"
            self.problems.append(Problem(statement[words.index("=") - 1], message))
        for token in statement:
            if token.text == "static":
                self.edits.append((token.start, token.end, ""))
        if words[at + 1 : at + 3] == ["alignas", "("]:  # what says how it is aligned must come first in C++
            after = statement[closing(statement, at + 2) - 1]
            alignment = self.text[statement[at + 1].start : after.end]
            self.edits.append((statement[at].start, after.end, f"{alignment} {self.shared}"))
        else:
            self.edits.append((statement[at].start, statement[at].end, self.shared))

    # --- warps that run in step, and loops that wait
    def store(self, opening: int) -> None:
        """A statement that begins with ``name[index] = value``, of which ``opening`` is the first bracket."""
        source = self.source
        if source[opening - 2].text not in (";", "{", "}", ")", "else", ":"):
            return
        at = closing(source, opening)
        while at < len(source) and source[at].text == "[":
            at = closing(source, at)
        first = at
        while at < first + 3 and source[at].text in "+-*/%&|^<>":
            at += 1
        if source[at].text != "=" or source[at + 1].text in ("=", "{"):
            return
        end = at
        while end < len(source) and source[end].text != ";":
            end = closing(source, end) if source[end].text in "([{" else end + 1
        # What is no expression to be read, such as 0 for a pointer, must stay as it is.
        begin = source[at].end if end > at + 2 else source[opening - 1].start
        before, after = (" ::emu::in_step(", ")") if end > at + 2 else ("::emu::in_step(), ", "")
        self.edits += [
            (begin, begin, before),
            (source[end].start, source[end].start, f"{after}, ::emu::in_step()"),
        ]

    def loop(self, at: int) -> None:
        """A loop that begins there, or the ``while`` of a ``do``: lets others run if it may wait for one of them."""
        source = self.source
        end = closing(source, at + 1)
        if source[at + 1].text != "(" or end >= len(source):
            return
        body = closing(source, end) if source[end].text == "{" else end
        while body < len(source) and source[body - 1].text not in (";", "}"):
            body += 1
        first = opener(source, at - 1) if source[at - 1].text == "}" else at  # of a do, its body
        if not any(self.may_wait(i) for i in range(first, body)):
            return
        inside = source[at + 2 : end - 1]
        if source[at].text == "for":
            parts = split(inside, ";")
            if len(parts) == 3:
                self.edits.append((source[end - 1].start,) * 2 + (", ::emu::let_others_run()"[2 * (not parts[2]) :],))
        elif inside and not _declares(inside):
            self.edits.append((inside[0].start, inside[0].start, "::emu::let_others_run(), "))

    def may_wait(self, at: int) -> bool:
        """Whether the token there may read what another thread writes meanwhile."""
        sign = self.source[at].text
        if sign == "volatile":
            return self.source[at - 1].text not in ptx.ASM
        return sign in self.waiting or (sign[0] == '"' and _LOAD.search(sign) is not None)

    # --- PTX
    def asm(self, at: int) -> int:
        """An asm statement: returns where to go on."""
        source, opening = self.source, at + 1
        while opening < len(source) and source[opening].text in ptx.QUALIFIERS:
            opening += 1
        if opening >= len(source) or source[opening].text != "(" or source[at - 1].text not in ptx.BEFORE:
            return at + 1
        end = closing(source, opening)
        code = ptx.translated(self.text, source[opening + 1 : end - 1])
        if code is None:
            return end
        self.has_ptx = True
        self.has_half |= any(re.search("f16|matrix|mma", token.text) for token in source[opening:end])
        end += end < len(source) and source[end].text == ";"
        self.edits.append((source[at].start, source[end - 1].end, code))
        return end


# --- reading declarations ---------------------------------------------------------------------------------------------
#: At file scope, an array of dynamic shared memory is this variable of the core: see device_dynamic.h.
_DYNAMIC = '__asm__("emu_dynamic_begin") __attribute__((tls_model("initial-exec"), visibility("default")))'


def _names_after(source: list[Token], at: int) -> set[str]:
    """The names that a declaration with ``volatile`` at that token gives; none for a cast."""
    names = set()
    name, depth = "", 0
    for i in range(at + 1, min(at + 100, len(source))):
        sign = source[i].text
        if depth == 0 and sign in (";", ",", ")", "=", "[", "{", ":"):
            names |= {name} if name else set()
            name = ""
            if sign in (")", ";", "{", ":") or (sign == "," and source[i + 1].text.isidentifier()):
                break  # a parameter ends, or the declaration
        depth += (sign in "([{<") - (sign in ")]}>")
        if depth == 0 and sign.isidentifier() and sign not in _TYPE_WORDS | _QUALIFIERS:
            name = sign
    return names


def _declares(condition: list[Token]) -> bool:
    """Whether a loop's condition declares a variable."""
    first, second = condition[0].text, condition[1].text if len(condition) > 1 else ""
    return first in _TYPE_WORDS | {"const"} or (first.isidentifier() and second.isidentifier())


def _before_angle(source: list[Token], at: int) -> int:
    """The ``<`` that the ``>`` there closes; the ``>`` itself if there is none."""
    depth, i = 0, at
    while i >= 0 and source[i].text not in ";{}":
        sign = source[i].text
        if sign in ")]":
            i = opener(source, i) - 1
            continue
        if i and is_shift(source, i - 1):
            i -= 2
            continue
        depth += (sign == ">" and source[i - 1].text != "-") - (sign == "<")
        if not depth:
            return i
        i -= 1
    return at


def _outside_of_braces(section: list[Token]) -> Iterator[Token]:
    depth = 0
    for token in section:
        depth += (token.text == "{") - (token.text == "}")
        if not depth:
            yield token


def _name_before(source: list[Token], at: int) -> int:
    """The first token of a name that ends before that token: ``tools::scale<float>``."""
    i = at - 1
    if source[i].text == ">":
        i = _before_angle(source, i) - 1
    while i > 1 and source[i - 1].text == "::":
        i -= 2
        if source[i].text == ">":
            i = _before_angle(source, i) - 1
    return i - (i > 0 and source[i - 1].text == "::")


def _lambda(source: list[Token], at: int) -> int:
    """The first token of the lambda whose body is closed there; -1 if that closes something else."""
    i = opener(source, at) - 1
    if source[i].text == ")":
        i = opener(source, i) - 1
    return opener(source, i) if source[i].text == "]" else -1


def _callee(source: list[Token], at: int) -> int:
    """The first token of the expression before a launch: a name, ``(*kernel)``, ``table[i]``, ``a.b<T>``."""
    i = at
    while i > 0:
        before = source[i - 1].text
        if before in ")]":
            i = opener(source, i - 1)
            if before == "]" or source[i - 1].text.isidentifier() or source[i - 1].text in "])":
                continue  # an index, or a call, of what stands before
            if source[i - 1].text == ">" and source[_before_angle(source, i - 1) - 1].text.isidentifier():
                continue  # a call of a template, or a cast: get<0>(table), static_cast<T>(kernel)
            if source[i - 1].text == "}" and (first := _lambda(source, i - 1)) >= 0:
                return first
        elif before == ">":
            i = _before_angle(source, i - 1)
            continue
        elif before.isidentifier():
            i -= 1
        else:
            return i
        while i > 0 and source[i - 1].text == "template":
            i -= 1
        linked = source[i - 1].text if i else ""
        if linked in ("::", "."):
            i -= 1
        elif linked == ">" and source[i - 2].text == "-":
            i -= 2
        else:
            return i
    return i


def _declared_name(words: list[str]) -> str:
    """The name that a parameter's declaration gives; "" if it has none."""
    if "(" in words:  # void (*f)(int), float (&x)[4]
        inner = words[words.index("(") + 1 :]
        if inner[:1] in (["*"], ["&"]):
            return next((word for word in inner[: inner.index(")")] if word.isidentifier()), "")
    depth, plain = 0, []  # without what stands in brackets of any kind
    for word in words:
        depth -= word in ")]}>"
        if depth == 0 and word not in "([{<)]}>":
            plain.append(word)
        depth += word in "([{<"
    is_type = False
    name = ""
    for i, word in enumerate(plain):
        if not word.isidentifier():
            if word in "*&":
                is_type, name = True, ""
            continue
        if word in _QUALIFIERS:
            continue
        if word in _TYPE_WORDS:
            is_type = True
        elif plain[i - 1] == "::" and i:
            is_type = True  # the end of a type's name
        elif is_type and (plain[i + 1] if i + 1 < len(plain) else "") != "::":
            name = word
        else:
            is_type = True
    return name


def _dynamic(statement: list[Token]) -> tuple[int, dict[str, str]] | None:
    """Where an ``extern __shared__ T name[]`` begins in a statement, and its parts; None if that is something else."""
    words = [token.text for token in statement]
    if "extern" not in words:
        return None
    i = first = min(words.index("extern"), words.index("__shared__"))
    while first and words[first - 1] in ("const", "volatile"):
        first -= 1
    declared = words[first:i]
    while i < len(words):
        if words[i] in ("alignas", "__attribute__"):
            i = closing(statement, i + 1)
            continue
        declared += [words[i]] * (words[i] not in ("extern", "__shared__", "static"))
        i += 1
    parts = _ARRAY.fullmatch(" ".join(declared))
    return parts and (first, parts.groupdict() | {"type": parts["element"] + parts["lengths"]})
