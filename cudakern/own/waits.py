"""Which kernels have threads that never wait for other ones: a block of such a kernel is a loop over its threads.

The answer comes from words alone, so it is "may wait" in case of doubt. It follows each name in a kernel to all
functions and types of that name in the source, and finds a word with which threads wait, or none. Lambdas and operators
are called without a name, so every kernel counts as one that calls them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection

from .cuda_source import Token, closing, opener

#: Words with which a thread waits, or with which it may be in a loop until another thread has done something.
_WAITS = re.compile(
    r"__(sync|shfl|ballot|any|all|match|reduce_|activemask|barrier|nanosleep|threadfence|cluster)\w*|volatile"
    r"|__shared__|_*asm_*|atomic(CAS|Exch)\w*|__ld(cg|cv|ca)|__nv_\w+|goto"
    r"|(cooperative_groups|cg|sync|this_\w+|\w*partition|coalesced_\w+|barrier|pipeline|memcpy_async|reduce|shfl\w*)"
    r"|(cuda|cub|thrust|nvcuda|wmma|std_thread)|(ballot|any|all|match_any|match_all|arrive\w*|wait\w*)"
    # Of the package's own headers (csrc/emulator/seam):
    r"|(mbarrier|wgmma|mma|tensor|cluster|cp_async|sync_threads)\w*|(ld|st)matrix|elect_one|let_next_grid_begin"
    r"|(get|give_up)_registers|map_shared|fence_async_proxy"
)
_HOST = re.compile(r"<<<|cuda[A-Z]\w*|std|cout|omp_\w+|main")
_ATOMIC = re.compile(r"atomic\w+|emu_atomic\w*")
_LOOPS = {"while", "do"}
_ANY = "operator"  #: what every kernel may call


class Waits:
    def __init__(self, source: list[Token], changing: Collection[str] = ()) -> None:
        """``changing``: names of what other threads may change meanwhile."""
        self._source, self._changing = source, changing
        #: The words of the functions and types of a name; those of the host are left out.
        self._words: dict[str, set[str]] = defaultdict(set)
        for i, token in enumerate(source):
            if token.text == "{" and (name := self._name(i)):
                words = self.inside(i)
                if not any(_HOST.fullmatch(word) for word in words):
                    self._words[name] |= words
        self._unknown = self._declared() - self._words.keys()
        if self._has_pointers():  # then every kernel may call every function
            self._words[_ANY] |= {word for words in self._words.values() for word in words}

    def may_wait(self, opening: int, besides: Collection[str] = ()) -> bool:
        """Whether that is so of the kernel whose body begins with the brace there; ``besides``: not counting these
        words in it."""
        return self.may_wait_with(self.inside(opening) - {*besides})

    def may_wait_with(self, own: set[str]) -> bool:
        """The same of a kernel with these words."""
        words = self._all_words(own | self._words.get(_ANY, set()))
        if any(word in self._changing or _WAITS.fullmatch(word) for word in words) or "<<<" in words:
            return True
        return bool(words & _LOOPS) and any(_ATOMIC.fullmatch(word) for word in words)

    def called(self, own: set[str]) -> set[str]:
        """The words of all that a kernel with these words may call, and its own ones but threadIdx."""
        return self._all_words((own - {"threadIdx"}) | self._words.get(_ANY, set()))

    def _all_words(self, new: set[str]) -> set[str]:
        """These words and those of all functions and types that they name."""
        words = set[str]()
        while new:
            words |= new
            new = {word for name in new if name in self._words for word in self._words[name]} - words
        return words | (words & self._unknown and {"sync"})  # a function of another file may wait

    def _has_pointers(self) -> bool:
        """Whether the source declares, or calls, pointers to functions: ``(*f)(int)``."""
        signs = [token.text for token in self._source]
        stars = (i for i, sign in enumerate(signs) if sign == "*" and signs[i - 1] == "(")
        return any([")", "("] in (signs[i + 1 : i + 3], signs[i + 2 : i + 4]) for i in stars)

    def inside(self, opening: int) -> set[str]:
        """The words in these braces."""
        source, end = self._source, closing(self._source, opening)
        words = {token.text for token in source[opening:end] if token.text[0].isalpha() or token.text[0] == "_"}
        for i in range(opening, end - 2):
            three = [token.text for token in source[i : i + 3]]
            if three == ["<"] * 3:
                words.add("<<<")
            elif three[0] == ";" == three[1]:  # for (;;)
                words.add("while")
        return words

    def _declared(self) -> set[str]:
        """The functions that are declared outside of functions."""
        source, names, i = self._source, set[str](), 0
        while i < len(source) - 1:
            sign = source[i].text
            if sign == "{" and source[i - 1].text in (")", "const", "noexcept", "override", "final"):
                i = closing(source, i)  # a function's body
                continue
            if sign == "(" and i and source[i - 1].text.isidentifier():
                end = closing(source, i)
                while end < len(source) and source[end].text in ("const", "noexcept", "override", "final"):
                    end += 1
                if end < len(source) and source[end].text in (";", "="):
                    names.add(source[i - 1].text)
            i += 1
        return names

    def _name(self, opening: int) -> str:
        """Of which function or type that brace opens the body; "" if of none. A lambda counts as an operator."""
        source, i = self._source, opening - 1
        while i > 0 and source[i].text in ("const", "noexcept", "override", "final", "mutable", "&"):
            i -= 1
        if source[i].text == ")":
            i = opener(source, i) - 1
            name = source[i].text
            if name.isidentifier() and not name.startswith("__"):
                return name if name not in ("if", "for", "while", "switch", "catch") else ""
        start = i
        while start > 0 and source[start].text not in ";{}":
            if source[start].text in ("struct", "class", "union"):
                return source[start + 1].text
            if source[start].text == _ANY:
                return _ANY
            if source[start].text == "]":  # a lambda of device code that a kernel can get has no references
                first = start
                while first > 0 and source[first].text != "[":
                    first -= 1
                return "" if any(token.text == "&" for token in source[first:start]) else _ANY
            start -= 1
        return ""
