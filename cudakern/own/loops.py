"""Kernels as loops over the threads of a block, between the barriers that all of them reach.

    __global__ void k(float *x) {              static void emu_loops_k(float *x) {
        __shared__ float s[64];                    static __thread float s[64];
        int t = threadIdx.x;                       ::emu::local<int> emu_t(threads);
        s[t] = x[t];                               for each thread: { int t = threadIdx.x; s[t] = x[t]; emu_t = t; }
        __syncthreads();
        for (int h = 32; h > 0; h /= 2) {          for (int h = 32; h > 0; h /= 2)
            if (t < h) s[t] += s[t + h];               for each thread: { int t = emu_t; if (t < h) s[t] += s[t + h]; }
            __syncthreads();
        }
    }                                          }

Each thread runs from barrier to barrier in its turn, as on the emulator's fibers, so the result is the same, whatever
the kernel does. What a thread keeps across a barrier is in an array. A condition around a barrier must be one that has
the same value in all threads, as far as words show: made of parameters, constants, blockIdx and what such values give.
Of any other kernel, and where something is not understood, there is no such function, and its threads are fibers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from .cuda_source import closing
from .statements import SHUFFLES, VOTES, Exchange, Known, Local, NotUnderstood
from .uniform import Uniform

#: Functions that ask for the thread, to tell of it in a message.
_ASK = re.compile(r"emu_\w+|tex\w*|surf\w*|printf|assert|__assert_fail|__trap|malloc|free|threadIdx")


_NONE_ABSENT = "::emu::none_absent()"  #: lanes that do not take part
_EACH = (
    "emu_thread = 0;\n"
    "for (int emu_z = 0; emu_z < emu_shape[2]; ++emu_z)\n"
    "for (int emu_y = 0; emu_y < emu_shape[1]; ++emu_y)\n"
    "for (int emu_x = 0; emu_x < emu_shape[0]; ++emu_x, ++emu_thread) {\n"
    "const uint3 threadIdx = {unsigned(emu_x), unsigned(emu_y), unsigned(emu_z)};"
)


@dataclass
class _Group:
    """What each thread does before the next barrier."""

    before: list[str] = field(default_factory=list)  #: what comes before the loop
    statements: list[tuple[int, int]] = field(default_factory=list)
    sent: list[Exchange] = field(default_factory=list)  #: at its end
    after: list[str] = field(default_factory=list)  #: what comes after the loop
    received: list[Exchange] = field(default_factory=list)  #: at its beginning
    on: str = ""  #: where it is noted whether the condition is true, or nothing
    condition: tuple[int, int] = (0, 0)


class Loops(Uniform):
    """The function of one kernel. ``text(i, j)``: the C++ of these tokens, after a line that tells its place."""

    def __init__(
        self, known: Known, body: int, parameters: list[str], constants: set[str], text: Callable[[int, int], str]
    ) -> None:
        super().__init__(known, body, parameters, constants)
        self._text = text
        self._out: list[str] = []
        self._on, self._ons = _NONE_ABSENT, list[str]()
        self._group = _Group()
        self._visible: dict[str, Local] = {}
        self._places = frozenset[str]()  #: variables of the block whose place is in a variable

    def written(self, shows: bool) -> str:
        """The body of the function. ``shows``: what the kernel calls asks which thread it is. NotUnderstood if there
        is none."""
        self._shows = shows
        self.read()
        changed = [name for name in sorted(self._parameters) if any(self._changes(name))]
        uses = [part for part in self._plain if self.sign(part[0]) == "using"]
        self._in_types = {self.sign(i) for part in uses for i in range(*part)}
        self._has_groups = bool(self._boundaries)
        returns = [i for i in range(self._first, self._end) if self.sign(i) == "return"]
        self._has_ended = any(boundary > i for i in returns for boundary in self._boundaries)
        self._own = changed
        for name in changed:
            if any(local.at for local in self._declared.get(name, ())):
                raise NotUnderstood(name)
        self._emit("const uint3 blockIdx = ::blockIdx;")
        self._emit("const dim3 blockDim = ::blockDim, gridDim = ::gridDim;")
        # As compilers see, sums of signed numbers do not overflow: then more loops become operations of vectors.
        self._emit("const int emu_shape[] = {int(blockDim.x), int(blockDim.y), int(blockDim.z)};")
        self._emit("const long emu_threads = long(blockDim.x) * blockDim.y * blockDim.z;\nlong emu_thread;")
        self._on = "emu_ended" if self._has_ended else _NONE_ABSENT
        if self._has_ended:
            self._emit("const ::emu::local<bool> emu_ended(emu_threads);\nlong emu_live = emu_threads;")
            self._emit("for (long emu_i = 0; emu_i < emu_threads; ++emu_i) emu_ended[emu_i] = false;")
        for name in changed:
            self._emit(f"const auto emu_first_{name} = {name};")
            if self._has_groups:
                local = Local(name, self._first, (0, 0), 0, (0, 0), False, False, f"emu_kept_{name}")
                self._emit(f"const ::emu::local<std::decay_t<decltype({name})>> {local.kept}(emu_threads);")
                self._emit(
                    f"for (long emu_i = 0; emu_i < emu_threads; ++emu_i) {local.kept}[emu_i] = emu_first_{name};"
                )
                self._visible[name] = local
        self._block(self._first, self._end)
        self._flush()
        return "\n".join(self._out)

    @property
    def of_rows(self) -> bool:
        """Whether warps must be rows of the block's threads."""
        return bool(self._rows)

    def _emit(self, line: str) -> None:
        self._out.append(line)

    def _block(self, start: int, end: int) -> None:
        visible, places = dict(self._visible), self._places
        for first, after in self.statements(start, end):
            sign = self.sign(first)
            if self._is_barrier(first, after):
                self._flush()
            elif self._has_barrier(first, after) and sign in ("{", "if", "for", "while", "do"):
                self._flush()
                self._around(first, after, sign)
            elif self._has_barrier(first, after):
                exchanges = [self._sent(one) for one in self._exchanges(first, after)]
                self._flush()
                self._group.received = exchanges
                self._group.statements.append((first, after))
                self._keep(first, after, end)
            elif self._is_shared(first, after) or sign in ("using", "typedef"):
                self._group.before.append(self._text(first, after))
                for name in sorted(self._shared_names((first, after))):
                    self._places |= {name}
                    # Where a variable of a block is, compilers would ask again and again.
                    place = f'auto *emu_at_{name} = &{name}; __asm__("" : "+r"(emu_at_{name}));'
                    self._group.before.append(place)
            elif names := {local.name for local in self._locals(first, after)} & self._same:
                if len(names) != len(self._locals(first, after)):
                    raise NotUnderstood("a declaration")
                self._group.before.append(self._text(first, after))
            elif any(self._statement(i) == (first, after) for name in self._same for i in self._changes(name)):
                self._flush()
                self._emit(self._text(first, after))
            else:
                self._group.statements.append((first, after))
                self._keep(first, after, end)
        self._flush()
        self._visible, self._places = visible, places

    def _around(self, first: int, after: int, sign: str) -> None:
        if sign == "{":
            self._emit("{")
            self._block(first + 1, after - 1)
            self._emit("}")
            return
        condition, bodies = self.parts(first, after)
        if condition in self._rows:
            self._some(condition, bodies)
            return
        self._emit("do" if sign == "do" else self._text(first, closing(self._source, condition[0] - 1)))
        for number, body in enumerate(bodies):
            self._emit("else {" if number else "{")
            self._block(*self.inner(*body))
            self._emit("}")
        if sign == "do":
            self._emit(self._text(condition[0] - 2, after))

    def _some(self, condition: tuple[int, int], bodies: list[tuple[int, int]]) -> None:
        """What only some of the warps do."""
        self._count += 1
        before, ons, on = self._on, self._ons, f"emu_on_{self._count}"
        self._emit(f"{{\nconst ::emu::local<bool> {on}(emu_threads);")
        self._loop(_Group(on=on, condition=condition))
        for number, body in enumerate(bodies):
            if number:
                self._emit(f"for (long emu_i = 0; emu_i < emu_threads; ++emu_i) {on}[emu_i] = !{on}[emu_i];")
            self._on, self._ons = f"::emu::absent({before}, {on})", [*ons, on]
            self._emit("{")
            self._block(*self.inner(*body))
            self._emit("}")
        self._on, self._ons = before, ons
        self._emit("}")

    def _keep(self, first: int, after: int, end: int) -> None:
        """Makes arrays for what the statement declares and later groups use."""
        for local in self._locals(first, after):
            self._visible.pop(local.name, None)
            if self._is_of_index(local):
                local.again = True
                self._visible[local.name] = local
                if self.sign(after - 1) == ";" and local.name not in self._same:
                    text = f"{self._text(*local.base)} {self._text(*local.declarator)}"
                    self._group.before.append(f"[[maybe_unused]] {text};")  # for what asks for its type
                continue
            later = (i for i in self._uses(local.name, after, end) if any(after <= b <= i for b in self._boundaries))
            if next(later, None) is None and local.name not in self._in_types:
                continue
            if local.kept == "&" or self.sign(local.value) in ("(", "{"):
                raise NotUnderstood(local.name)
            words = [self.sign(i) for i in range(*local.base) if self.sign(i) not in ("constexpr", "register")]
            own = [self.sign(i) for i in range(local.declarator[0], local.value) if i != local.at]
            kind = " ".join(words + own)
            if "auto" in words:
                raise NotUnderstood("auto")
            self._visible[local.name] = local
            self._count += 1
            local.kept = f"emu_kept_{local.name}_{self._count}"
            self._group.before.append(f"const ::emu::local<std::remove_const_t<{kind}>> {local.kept}(emu_threads);")
            self._group.before.append(f"[[maybe_unused]] auto &{local.name} = {local.kept}[0];")

    def _is_of_index(self, local: Local) -> bool:
        """Whether a variable never changes and follows from the thread's index alone."""
        names = {name for name in self._all_same - self._declared.keys() | self._same if not any(self._changes(name))}
        names |= {name for name, other in self._visible.items() if other.again} | {"threadIdx"}
        start, end = local.value + 1, local.declarator[1]
        is_value = self.sign(local.value) == "=" and not local.is_array and not any(self._changes(local.name))
        return is_value and self._is_same(start, end, names)

    def _by_reference(self, local: Local) -> bool:
        """Whether a variable must not be copied: an array, or one whose address is taken."""
        return local.is_array or any(map(self._has_address, self._uses(local.name, self._first, self._end)))

    def _flush(self) -> None:
        group, self._group = self._group, _Group()
        for line in group.before:
            self._emit(line)
        if group.statements or group.sent:
            self._loop(group)
        for line in group.after:
            self._emit(line)

    def _loop(self, group: _Group) -> None:
        self._count += 1
        label = f"emu_end_{self._count}"
        for one in group.sent:
            self._emit(self._room(one))
        inside = [part for part in group.statements if self.sign(part[0]) != "{"]
        again = [x for x in self._visible.values() if x.again and not any(a <= x.at < b for a, b in inside)]
        own = {
            local.at: local
            for local in self._visible.values()
            if local.kept and any(a <= local.at < b for a, b in group.statements) and local.declarator != (0, 0)
        }
        parts = [*group.statements, *(one.arguments[0] for one in group.sent), group.condition]
        used = {name for a, b in parts for i in range(a, b) if (name := self.sign(i)).isidentifier()}
        for local in reversed(again):  # they may need each other
            if local.name in used:
                used |= {self.sign(i) for i in range(*local.declarator)}
        loaded = [local for name, local in sorted(self._visible.items())
                  if local.kept and local.at not in own and name in used]  # fmt: skip
        changed = [x for x in loaded if any(a <= i < b for i in self._changes(x.name) for a, b in parts)]
        changed += own.values()
        self._emit(_EACH + "::threadIdx = threadIdx;" * self._shows)
        if group.on:
            self._emit(f"{group.on}[emu_thread] = false;")
        for on in self._ons:  # of a whole warp
            self._emit(f"if (!{on}[emu_thread]) {{ emu_x += 31, emu_thread += 31; continue; }}")
        if self._has_ended:
            self._emit("if (emu_ended[emu_thread]) continue;")
        for local in loaded:
            self._emit(f"auto {'&' * self._by_reference(local)}{local.name} = {local.kept}[emu_thread];")
        for local in again:
            if local.name in used:
                self._emit(f"{self._text(*local.base)} {self._text(*local.declarator)};")
        for name in sorted(self._places & used):
            self._emit(f"auto &{name} = *emu_at_{name};")
        if not self._has_groups:
            for name in self._own:
                self._emit(f"auto {name} = emu_first_{name};")
        self._emit("{")
        for a, b in group.statements:
            self._statement_written(a, b, own, label, group.received)
        for one in group.sent:
            self._emit(self._sending(one))
        if group.on:
            self._emit(f"{group.on}[emu_thread] = bool({self._text(*group.condition)});")
        for local in changed:
            if not self._by_reference(local):
                self._emit(f"{local.kept}[emu_thread] = {local.name};")
        self._emit("}")
        if any(self.sign(i) == "return" for a, b in group.statements for i in range(a, b)):
            self._emit(f"{label}:;")
        self._emit("}")
        if self._has_ended and any(self.sign(i) == "return" for a, b in group.statements for i in range(a, b)):
            self._emit("if (!emu_live) return;")

    def _sent(self, one: Exchange) -> Exchange:
        """The group ends with this: lanes send, and where that is possible, all results are computed at once."""
        value, *others = one.arguments
        kept = self._visible.get(self.sign(value[0]))
        is_vote = one.call in VOTES
        if not is_vote and value[1] - value[0] == 1 and kept and kept.kept and not self._by_reference(kept):
            one = one._replace(sent=kept.kept)
        else:
            self._group.sent.append(one)
        if is_vote or all(self._is_same(*other, self._all_same) for other in others):
            one = one._replace(got=f"emu_got_{self._count}")
            self._count += 1
            kind = "local<unsigned>" if is_vote else f"same_as<decltype({one.sent})>"
            self._group.after.append(f"const ::emu::{kind} {one.got}(emu_threads);")
            call = "::emu::vote" if is_vote else f"::emu::exchange<{SHUFFLES[one.call]}>"
            words = [one.sent, one.got, "emu_threads", self._on, *(self._text(*other) for other in others)]
            self._group.after.append(f"{call}({', '.join(words)});")
        return one

    def _room(self, one: Exchange) -> str:
        """What comes before the loop in which the lanes send."""
        kind = "bool" if one.call in VOTES else f"std::decay_t<decltype({self._text(*one.arguments[0])})>"
        return f"const ::emu::local<{kind}> {one.sent}(emu_threads);"

    def _sending(self, one: Exchange) -> str:
        to = VOTES[one.call][0] if one.call in VOTES else ""
        return f"{one.sent}[emu_thread] = ({self._text(*one.arguments[0])}) {to};"

    def _receiving(self, one: Exchange) -> str:
        """What takes the place of the call."""
        if one.call in VOTES:
            kind = "unsigned" if one.call == "__ballot_sync" else "int"
            return f"{kind}({one.got}[emu_thread >> 5] {VOTES[one.call][1]})"
        if one.got:
            return f"{one.got}[emu_thread]"
        words = [f"({self._text(*argument)})" for argument in one.arguments[1:]]
        which = f"{one.sent}, emu_thread, emu_threads, {self._on}"
        return f"::emu::received<{SHUFFLES[one.call]}>({', '.join([which, *words])})"

    def _written(self, start: int, end: int, received: list[Exchange], label: str = "") -> str:
        """The C++ of these tokens, in which a thread that returns goes to the label."""
        pieces, begin, i = list[str](), start, start
        calls = {one.start: one for one in received}
        while i < end:
            one = calls.get(i)
            is_return = self.sign(i) == "return"
            if one is None and not is_return:
                i += 1
                continue
            if begin < i:
                pieces.append(self._text(begin, i))
            if one is not None:
                pieces.append(self._receiving(one))
                begin = i = one.end
                continue
            if self.sign(i + 1) != ";" or not label:
                raise NotUnderstood("return")
            ended = "emu_ended[emu_thread] = true; --emu_live; " * self._has_ended
            pieces.append(f"{{ {ended}goto {label}; }}")
            begin = i = i + 2
        return "\n".join([*pieces, *([self._text(begin, end)] if begin < end else [])])

    def _statement_written(
        self, start: int, end: int, own: dict[int, Local], label: str, received: list[Exchange]
    ) -> None:
        locals_here = self._locals(start, end)
        if not any(local.at in own for local in locals_here):
            self._emit(self._written(start, end, received, label))
            return
        for local in (own.get(local.at, local) for local in locals_here):
            base = self._text(*local.base)
            if local.at not in own or not self._by_reference(local):
                self._emit(f"{base} {self._written(*local.declarator, received)};")
                continue
            self._emit(f"auto &{local.name} = {local.kept}[emu_thread];")
            if local.value < local.declarator[1]:
                if local.is_array:
                    head = self._text(local.declarator[0], local.at) if local.declarator[0] < local.at else ""
                    sizes = self._written(local.at + 1, local.declarator[1], received)
                    self._emit(f"{{ {base} {head} emu_value {sizes};")
                    self._emit(f"__builtin_memcpy(&{local.name}, &emu_value, sizeof emu_value); }}")
                else:
                    self._emit(f"{local.name} = {self._written(local.value + 1, local.declarator[1], received)};")


def ask(words: set[str]) -> bool:
    """Whether a function with these words asks which thread calls it."""
    return any(_ASK.fullmatch(word) for word in words)
