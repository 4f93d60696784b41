"""What CUDA C++ forbids and C++ allows: who may call whom and use which variable, and what kernels and launches are
like.

nvcc refuses it, so a program that runs here must not rely on it. The messages are nvcc's where those are clear. Who
calls whom, and uses what, is judged by names alone. So a name is left alone that also stands for something else: a
variable, a type, a member or a function of the system, or a variable of the function. All of them are where a file asks
for ``__CUDA_ARCH__``: it is read once here, for both sides.
"""

from __future__ import annotations

import bisect
import functools
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from .cuda_source import ATTRIBUTES, Token, after_angle, closing, declared, opener

_SPACES = ("__global__", "__device__", "__host__")
_KEYWORDS = {
    "return", "else", "do", "case", "throw", "new", "delete", "and", "or", "not", "co_return", "co_yield", "goto",
    "sizeof",
}  # fmt: skip
_TYPES = {"struct", "class", "union"}
_OF_DEVICE = re.compile(
    r"__(syncthreads|syncwarp|shfl|ballot|activemask|threadfence)\w*|atomic(Add|Sub|Exch|Min|Max|CAS|Inc|Dec)"
)
_INDICES = {"threadIdx", "blockIdx"}
_OF_HOST = {
    "cout", "cerr", "vector", "string", "map", "unordered_map", "set", "deque", "list", "cin", "sort",
}  #: of std  # fmt: skip
_FUNCTIONS_OF_HOST = re.compile(
    r"s?rand|d?rand48|random|time|gettimeofday|u?sleep|abort|exit|calloc|realloc|qsort|ato[fil]|getenv|fopen|fclose"
    r"|fscanf|scanf|fflush|f?puts|putchar|str(len|n?cpy|n?cmp|n?cat)|memmove|([fs]|sn)printf"
    r"|cuda((Device|Thread|Event|Stream)Synchronize|DeviceReset|SetDevice|Memcpy|Memcpy(To|From)Symbol|Memset|MallocHost"
    r"|MallocManaged|HostAlloc|FreeHost|StreamCreate|EventCreate|EventElapsedTime|MemGetInfo|GetDeviceProperties)"
)
#: What to do instead of calling them.
_INSTEAD = {
    **dict.fromkeys(
        ("cudaDeviceSynchronize", "cudaThreadSynchronize"),
        "the host waits for kernels (kernels could until CUDA 12); __syncthreads() waits for the block's threads",
    ),
    "cudaMemcpy": "in a kernel, memcpy or an assignment copies", "cudaMemset": "in a kernel, memset sets memory",
    "rand": "use curand_kernel.h", "random": "use curand_kernel.h", "drand48": "use curand_kernel.h",
    "fprintf": "use printf", "puts": "use printf", "putchar": "use printf",
    "time": "clock64() counts cycles", "exit": "return ends a thread, and __trap() the kernel",
    "abort": "__trap() ends the kernel",
}  # fmt: skip
#: Functions in the value of a variable that make it none of the compile time's.
_COMPUTING = re.compile(r"a?(cos|sin|tan|cosh|sinh|tanh)f?|atan2f?|sqrtf?|cbrtf?|exp2?f?|log(2|10)?f?|powf?|fmodf?")
#: A declaration at the file's level with these words is none of a variable of the host.
_NO_VARIABLES = {
    "using", "typedef", "template", "friend", "namespace", "enum", "texture", "surface", "auto", "operator",
}  # fmt: skip


_LATER = "write it before the launch, by cudaMemcpyToSymbol"


class Problem(NamedTuple):
    token: Token
    message: str


class _Function(NamedTuple):
    name: Token
    spaces: frozenset[str]  #: "__global__", ...; of the host if there are none
    is_member: bool
    is_free: bool  #: neither constexpr nor defaulted: only free ones are called by one side alone
    begin: int  #: of the declaration
    first: int  #: the tokens of its body; 0 and 0 of a declaration
    end: int

    @property
    def side(self) -> str:
        """ "" if it is of both."""
        if "__global__" in self.spaces:
            return "__global__"
        if not self.is_free or {"__device__", "__host__"} <= self.spaces:
            return ""
        return "__device__" if "__device__" in self.spaces else "__host__"

    @property
    def is_of_device(self) -> bool:
        return not {"__global__", "__device__"}.isdisjoint(self.spaces)


class _Variable(NamedTuple):
    """One that is declared at the level of a file or a namespace."""

    memory: str  #: "__device__", "__constant__", "__shared__", "__managed__" or "__host__"
    is_constant: bool  #: the compiler knows its value
    is_array: bool


def problems(
    text: str, source: Sequence[Token], is_of_system: Callable[[str], bool], asks: Callable[[], bool]
) -> tuple[list[Problem], list[Problem], list[Problem]]:
    """Those of kernels, of calls and variables, and those of which nvcc only warns. ``is_of_system``: whether the
    system's headers have a function of that name; ``asks``: whether a file asks for ``__CUDA_ARCH__``."""
    rules = _Rules(text, source)
    calls = [
        problem
        for problem in rules.of_calls()
        if problem.token.text not in rules.sides or not is_of_system(problem.token.text)
    ]
    warnings = list(rules.of_host())
    if (calls or warnings) and asks():
        calls, warnings = [], []
    return list(rules.of_kernels()), calls, warnings


class _Rules:
    def __init__(self, text: str, source: Sequence[Token]) -> None:
        self.text, self.source = text, list(source)
        self.of_files: dict[str, set[_Variable]] = defaultdict(set)
        self.hosts = set[str]()  #: functions of the host so far
        self.functions = list(self._functions())
        self.sides: dict[str, set[str]] = defaultdict(set)
        for function in self.functions:
            self.sides[function.name.text].add("" if function.is_member else function.side)
        self.defined = {function.name.text for function in self.functions if function.end}
        self.variables = {
            token.text for i, token in enumerate(self.source[:-1]) if token.text in self.sides and self._is_variable(i)
        }

    def of_kernels(self) -> Iterator[Problem]:
        for function in self.functions:
            if "__global__" in function.spaces and function.is_member:
                yield Problem(function.name, "a __global__ function cannot be a member function")

    def of_calls(self) -> Iterator[Problem]:
        for function in self.functions:
            if not function.end:
                continue
            for i in self._own(function):
                message = (function.side and self._of_word(function, i)) or self._of_use(function, i)
                if message:
                    yield Problem(self.source[i], message)

    def of_host(self) -> Iterator[Problem]:
        """Where the host uses a variable of the device's, of which it has a copy that kernels never see."""
        for function in self.functions:
            if function.end and not function.is_of_device and self.source[function.begin].text != "template":
                for i in self._own(function):
                    name = self.source[i].text
                    if name in self.of_files and (verb := self._used_by_host(function, i)):
                        (variable,) = self.of_files[name]
                        copy = f"cudaMemcpy{'To' if verb == 'written' else 'From'}Symbol"
                        message = f'a {variable.memory} variable "{name}" cannot be directly {verb} in a host function'
                        yield Problem(
                            self.source[i], f"{message}: kernels do not see the host's copy of it; use {copy}"
                        )

    def _used_by_host(self, function: _Function, i: int) -> str:
        """Whether the variable there is read or written, and its address not only passed on; "" if unsure."""
        source, name, before, after = self.source, self.source[i].text, self.source[i - 1].text, self.source[i + 1].text
        variable = next(iter(self.of_files[name]))
        of_device = variable.memory in ("__device__", "__constant__") and len(self.of_files[name]) == 1
        if not of_device or variable.is_constant or name in self.sides or not self._is_plain(i):
            return ""
        # A class may have a member of that name, and derived classes, and functions outside of it, use that.
        if function.is_member or sum(map(self._declares_surely, self.places[name])) > 1:
            return ""
        if self._is_local(function, name) or after in ("::", "(") or (variable.is_array and after != "["):
            return ""
        if self._is_assigned(i):
            return "written" if variable.is_array or (after != "[" and before != "*") else "read"
        if before in ("&", "<", ")", "sizeof", "[") or "&" in (source[i - 2].text, source[i - 3].text):
            return "read" if before == "<" == source[i - 2].text else ""  # std::cout << n
        at, depth = i - 1, 0  # to the call of which it is an argument
        while at > function.first and (depth or source[at].text not in ";{}("):
            depth += (source[at].text in ")]") - (source[at].text in "([")
            at -= 1
        callee = source[at - 1].text if source[at].text == "(" else ""
        is_value = re.fullmatch(
            r"if|while|switch|return|f?printf|emu_print|cudaMem(cpy|set)(Async)?|cudaFree|>|", callee
        )
        return "read" if is_value or not callee[:1].isidentifier() else ""

    def _of_use(self, function: _Function, i: int) -> str:
        """What is wrong with that use of a variable, or of a function of the system's."""
        name, before, after = self.source[i].text, self.source[i - 1].text, self.source[i + 1].text
        is_index = name in ("threadIdx", "blockIdx", "blockDim", "gridDim")
        is_call = after == "(" and _FUNCTIONS_OF_HOST.fullmatch(name) is not None and name not in self.sides
        if not function.is_of_device or not (is_index or is_call or name in self.of_files):
            return ""
        if not self._is_plain(i) or after == "::" or self._is_local(function, name):
            return ""
        if is_call:
            by = f'a {function.side} function ("{function.name.text}")'
            hint = f": {_INSTEAD[name]}" if name in _INSTEAD else ""
            return f'calling a __host__ function ("{name}") from {by} is not allowed{hint}' if function.side else ""
        if is_index:
            instead = f"{name} cannot be assigned to; use a variable of your own"
            return f"expression must be a modifiable lvalue: {instead}" if self._is_assigned(i) else ""
        if len(self.of_files[name]) > 1 or function.is_member or name in self.sides:
            return ""
        (variable,) = self.of_files[name]
        if variable.memory == "__constant__" and self._is_assigned(i):
            return f"expression must be a modifiable lvalue: kernels only read {name}, which is __constant__; {_LATER}"
        if variable.memory != "__host__" or variable.is_constant or after == "(" or name == function.name.text:
            return ""
        while before in ("(", "*", "&"):
            before, i = self.source[i - 2].text, i - 1
        if before in ("sizeof", "decltype", "alignof", "typeof", "goto") or function.name.text not in self.reached:
            return ""
        instead = "pass it to the kernel, or declare it with __device__"
        if variable.is_array:
            instead = "copy it to the device and pass a pointer, or declare it with __device__ or __constant__"
        return f'identifier "{name}" is undefined in device code: it is a variable of the host; {instead}'

    @functools.cached_property
    def reached(self) -> set[str]:
        """The names of functions that kernels may call, and those of kernels, of templates if they are used."""
        kernels = [function for function in self.functions if "__global__" in function.spaces]
        new = {of.name.text for of in kernels if self.source[of.begin].text != "template" or
               len(self.places[of.name.text]) > 1}  # fmt: skip
        words, reached = defaultdict[str, set[str]](set), set[str]()
        for function in self.functions:
            inside = self.source[function.first : function.end]
            words[function.name.text].update(token.text for token in inside if token.text in self.sides)
        while new:
            reached |= new
            new = {word for name in new for word in words[name]} - reached
        return reached

    @functools.cached_property
    def places(self) -> dict[str, list[int]]:
        """Where each word is."""
        places = defaultdict[str, list[int]](list)
        for i, token in enumerate(self.source):
            places[token.text].append(i)
        return places

    def _is_local(self, function: _Function, name: str) -> bool:
        """Whether the function may declare something of that name."""
        source, places = self.source, self.places[name]
        for i in places[bisect.bisect_left(places, function.begin) : bisect.bisect_left(places, function.end)]:
            before, second = source[i - 1].text, source[i - 2].text
            if i < function.first or self._declares_surely(i):
                return True
            if before == "[" and not (second.isidentifier() and second != "auto") and second not in (")", "]"):
                return True  # [n = 1], auto &[n, m]
            if (
                before in "*&" and second == "(" and source[i + 1].text == ")" and source[i + 2].text in "[("
            ):  # float (&n)[4]
                return True
            at, depth = i - 1, 0
            while before == "," and at > function.first and (depth or source[at].text not in ";{}("):
                depth += (source[at].text in ")]") - (source[at].text in "([")
                at -= 1
            is_launch = "<<<" in self.text[source[at].end : source[i].start]
            if before == "," and source[at].text != "(" and not is_launch:  # int m, n;
                return True
        return False

    def _ends_angle(self, i: int) -> bool:
        """Whether the ``>`` there ends a template's arguments, and is no comparison."""
        depth = 0
        while self.source[i].text not in ";{}(&|":
            i = opener(self.source, i) if self.source[i].text in ")]" else i
            depth += (self.source[i].text == ">") - (self.source[i].text == "<")
            if not depth:
                return True
            i -= 1
        return False

    def _is_assigned(self, i: int) -> bool:
        """Whether the variable there, a member or an element of it is assigned to."""
        source, last = self.source, i + 1
        while source[last].text in (".", "["):
            last = closing(source, last) if source[last].text == "[" else last + 2
        after = [token.text for token in source[last : last + 3]]
        if after[:2] in (["+", "+"], ["-", "-"]) or [t.text for t in source[i - 2 : i]] in (["+", "+"], ["-", "-"]):
            return True
        is_set = after[0] == "=" != after[1] or (after[0] in "+-*/%&|^" and after[1] == "=")
        return is_set or after in (["<", "<", "="], [">", ">", "="])

    def _of_word(self, function: _Function, i: int) -> str:
        source, name, here = self.source, self.source[i].text, function.side
        before, after = source[i - 1].text, source[i + 1].text
        by = f'a {here} function ("{function.name.text}")'
        is_plain = self._is_plain(i)
        of_std = before == "::" and source[i - 2].text == "std"
        if here == "__host__":
            if name == "__shared__":
                return f"a __shared__ variable cannot be declared in {by}"
            if name in _INDICES and is_plain and all(source[other + 1].text == "." for other in self._all(name)):
                return f'identifier "{name}" is undefined in {by}'
            if _OF_DEVICE.fullmatch(name) and after == "(" and is_plain and name not in self.sides:
                return f'calling a __device__ function ("{name}") from {by} is not allowed'
        elif of_std and name in _OF_HOST:
            hint = ": use printf" if name in ("cout", "cerr") else ""
            return f'identifier "std::{name}" is undefined in device code, in {by}{hint}'
        sides = self.sides.get(name, set())
        if len(sides) != 1 or "" in sides or name in self.variables or not is_plain:
            return ""
        (side,) = sides
        if after == "<" and [token.text for token in source[i + 1 : i + 4]] == ["<"] * 3:
            if side != "__global__":
                return f'a {side} function call cannot be configured: "{name}" is not declared with __global__'
        elif after != "(" or self._declares(i):
            return ""
        elif side == "__global__" and (before in (";", "{", "}", ":", "else", "do") or self._is_after_condition(i)):
            return f"a __global__ function call must be configured: {name}<<<grid, block>>>(...)"
        elif side == "__device__" and here == "__host__":
            return f'calling a __device__ function ("{name}") from {by} is not allowed'
        elif side == "__host__" and here != "__host__" and name in self.defined:
            hint = "declare it with __device__, or with __host__ __device__ for both"
            return f'calling a __host__ function ("{name}") from {by} is not allowed: {hint}'
        return ""

    # --- words
    def _is_plain(self, i: int) -> bool:
        """Whether the name there is none of a member, or in a namespace."""
        before = self.source[i - 1].text
        return before not in (".", "::") and not (before == ">" and self.source[i - 2].text == "-")

    def _all(self, name: str) -> Iterator[int]:
        return iter(self.places[name])

    def _declares(self, i: int) -> bool:
        """Whether the name there follows a type: ``int f``, ``T *f``, ``T<int> f``."""
        before, second = self.source[i - 1].text, self.source[i - 2].text
        if before in ("*", "&", ">"):
            return second not in ("-", "=") and (second.isidentifier() or second in (">", "*", "&", ")"))
        return before.isidentifier() and before not in _KEYWORDS

    def _declares_surely(self, i: int) -> bool:
        """The same without casts, ``(T *)&f``, and comparisons, ``a > f``."""
        before, second = self.source[i - 1].text, self.source[i - 2].text
        declares = self._ends_angle(i - 1) if before == ">" else self._declares(i)
        return declares and not (before in "*&" and second == ")")

    def _is_variable(self, i: int) -> bool:
        """Whether the name there is that of a variable or a type, or is assigned to."""
        before, after = self.source[i - 1].text, self.source[i + 1].text
        if before in _TYPES or before in ("using", "typename", "namespace", "enum") or after == "::":
            return True
        return after not in ("(", "<") and (self._declares(i) or (after == "=" and self.source[i + 2].text != "="))

    def _is_after_condition(self, i: int) -> bool:
        """Whether a statement begins there, after ``if (...)`` and the like."""
        before = self.source[opener(self.source, i - 1) - 1].text
        return self.source[i - 1].text == ")" and before in ("if", "while", "for", "constexpr")

    # --- functions
    def _own(self, function: _Function) -> Iterator[int]:
        """The words of a function's body, without what is said to be of another side in it, such as a lambda."""
        i = function.first
        while i < function.end:
            if self.source[i].text in _SPACES:
                while i < function.end and self.source[i].text not in "{;":
                    i += 1
                i = closing(self.source, i) if i < function.end and self.source[i].text == "{" else i + 1
                continue
            if self.source[i].text.isidentifier():
                yield i
            i += 1

    def _functions(self) -> Iterator[_Function]:
        """The functions that are declared and defined outside of functions."""
        source, i, start = self.source, 0, 0
        members: list[bool] = []  # of each open brace: whether it is a type's
        while i < len(source):
            sign = source[i].text
            if sign in "([":
                i = closing(source, i)
                continue
            if sign in "{;}":
                end = i + 1
                words = [token.text for token in source[start:i]]
                name = self._name(start, i)
                if sign == "{" and name is None and _opens_scope(words):
                    members.append(not _TYPES.isdisjoint(words))
                elif sign == "{":
                    end = closing(source, i)
                    if name is None or _is_member_initializer(source, start, i):
                        goes_on = "operator" not in words and not (end < len(source) and source[end].text == "{")
                        if name is None and not goes_on:
                            start = end
                        i = end
                        continue
                elif sign == "}" and members:
                    members.pop()
                if name is not None:
                    is_member = (any(members) and "friend" not in words) or source[name - 1].text in ("::", "~")
                    is_free = words[:1] != ["using"] and not {"constexpr", "consteval", "delete", "default"} & {*words}
                    spaces = frozenset(word for word in words if word in _SPACES)
                    body = (i, end) if sign == "{" else (0, 0)
                    function = _Function(source[name], spaces, is_member, is_free, start, *body)
                    self.hosts |= {function.name.text} if function.side == "__host__" else set()
                    yield function
                elif sign == ";" and not any(members):
                    self._declare(start, i)
                start = i = end
                continue
            i += 1

    def _declare(self, start: int, end: int) -> None:
        """Notes the variables that a statement between these tokens declares."""
        section = self.source[start:end]
        words = [token.text for token in section if token.text[0] != '"']
        first = next((i for i, word in enumerate(words) if word in "=[{,;"), len(words))
        if not words or not _NO_VARIABLES.isdisjoint(words) or sum(w.isidentifier() for w in words[:first]) < 2:
            return
        memory = next((word for word in ("__device__", "__constant__", "__shared__") if word in words), "__host__")
        if '"emu_managed"' in self.text[self.source[start - 1].end if start else 0 : section[-1].end]:
            memory = "__managed__"
        is_type = not _TYPES.isdisjoint(words[:first]) and sum(word.isidentifier() for word in words[:first]) < 3
        is_computed = any(
            after == "(" and (_COMPUTING.fullmatch(word) or (word in self.hosts and memory == "__host__"))
            for word, after in pairwise(words[first:])
        )
        for name in declared(section) if not is_type else ():
            at = words.index(name)
            is_array, is_pointer = words[at + 1 : at + 2] == ["["], "*" in words[max(0, at - 2) : at]
            is_constant = "const" in words[:first] and not (is_array or is_pointer or is_computed)
            is_constant |= "constexpr" in words
            self.of_files[name].add(_Variable(memory, is_constant, is_array))

    def _name(self, start: int, end: int) -> int | None:
        """The name of the function that is declared between these tokens; None if something else is."""
        source, i, depth = self.source, start, 0
        if i < end and source[i].text == "template":
            i = after_angle(source, i + 1)
        while i < end:
            sign = source[i].text
            if sign == "operator" or (sign == "=" and not depth) or sign in ("typedef", "using", "friend"):
                return None
            if sign == "(":
                before = source[i - 1].text if i > start else ""
                if before in ATTRIBUTES or before == "(":
                    i = closing(source, i)
                    continue
                is_name = before.isidentifier() and before not in _KEYWORDS and i > start
                return i - 1 if is_name and i - 1 > start else None
            depth += (sign == "<") - (sign == ">")
            i += 1
        return None


def _opens_scope(words: Sequence[str]) -> bool:
    """Whether a brace after these words opens a namespace, a type, or ``extern "C"``."""
    if "=" in words or "enum" in words:
        return False
    return "namespace" in words or not _TYPES.isdisjoint(words) or (words[:1] == ["extern"] and len(words) == 2)


def _is_member_initializer(source: Sequence[Token], start: int, at: int) -> bool:
    """Whether the brace there is that of ``: member{value}`` of a constructor."""
    return source[at - 1].text.isidentifier() and any(
        source[i].text == ")" and source[i + 1].text == ":" and source[i + 2].text != ":" for i in range(start, at - 1)
    )
