"""Which values are the same in all threads of a block, or of a warp, as far as words show."""

from __future__ import annotations

from itertools import pairwise

from .statements import CONST, TYPES, UNKNOWN, NotUnderstood, Statements

#: Words of an expression that has the same value in all threads, besides names.
_SAME = {"blockIdx", "blockDim", "gridDim", "warpSize", "sizeof", "static_cast", "true", "false", "min", "max"}
#: The index of a thread, of which warps are rows; and that of its warp.
_OF_WARPS = [
    (["threadIdx", ".", "x"], "THREAD"),
    (["(", "THREAD", ")"], "THREAD"),
    (["THREAD", "/", "32"], "WARP"),
    (["THREAD", "/", "warpSize"], "WARP"),
    (["THREAD", ">", ">", "5"], "WARP"),
    (["(", "WARP", ")"], "WARP"),
]


class Uniform(Statements):
    """``read`` finds barriers, declarations, and the conditions around barriers."""

    def read(self) -> None:
        """NotUnderstood if not all threads are certain to reach each barrier."""
        signs = [token.text for token in self._source[self._first : self._end]]
        for i, sign in enumerate(signs, self._first):
            is_lambda = sign == "[" and not (self.sign(i - 1).isidentifier() or self.sign(i - 1) in ("]", ")"))
            if sign in UNKNOWN or is_lambda:
                raise NotUnderstood(sign)
        self._boundaries: list[int] = []
        self._conditions: list[tuple[int, int]] = []
        self._steps: list[tuple[int, int]] = []
        self._of_warps: list[tuple[tuple[int, int], tuple[int, int]]] = []  #: conditions around operations of warps
        self._plain: list[tuple[int, int]] = []  #: statements without barriers
        self._look(self._first, self._end)
        self._find_same()

    def _look(self, start: int, end: int) -> None:
        for first, after in self.statements(start, end):
            sign = self.sign(first)
            if self._is_barrier(first, after):
                self._boundaries.append(first)
            elif not self._has_barrier(first, after):
                self._plain.append((first, after))
                for local in self._locals(first, after):
                    self._declared.setdefault(local.name, []).append(local)
            elif sign == "{":
                self._boundaries += [first, after]
                self._look(first + 1, after - 1)
            elif sign not in ("if", "for", "while", "do"):
                self._exchanges(first, after)
                self._boundaries.append(first)
                self._plain.append((first, after))
                for local in self._locals(first, after):
                    self._declared.setdefault(local.name, []).append(local)
            else:
                condition, bodies = self.parts(first, after)
                if self._has_barrier(*condition):
                    raise NotUnderstood(sign)
                self._boundaries += [first, after]
                if sign == "for":
                    self._for(*condition)
                elif sign == "if" and not any(self.sign(i) == "__syncthreads" for i in range(first, after)):
                    self._of_warps.append((condition, (first, after)))
                else:
                    self._conditions.append(condition)
                for body in bodies:
                    self._no_break(*body, is_loop=sign != "if")
                    self._look(*self.inner(*body))

    def _for(self, start: int, end: int) -> None:
        parts, begin = [], start
        for i in range(start, end + 1):
            if i == end or self.sign(i) == ";":
                parts.append((begin, i))
                begin = i + 1
        if len(parts) != 3:
            raise NotUnderstood("for")
        begun = self._locals(parts[0][0], parts[0][1] + 1)
        for local in begun:
            self._declared.setdefault(local.name, []).append(local)
            self._conditions.append((local.at, local.at + 1))  # so it must be the same
        if not begun:
            self._steps += self.arguments(parts[0][0] - 1, parts[0][1] + 1)
        self._conditions.append(parts[1])
        self._steps += self.arguments(parts[2][0] - 1, parts[2][1] + 1)

    def _no_break(self, start: int, end: int, is_loop: bool) -> None:
        """Refuses a break or continue of a loop with barriers."""
        if not is_loop:
            return
        i = start
        while i < end:
            sign = self.sign(i)
            if sign in ("for", "while", "do", "switch"):
                inner = self._after(i)
                if any(self.sign(k) == "continue" for k in range(i, inner)) and sign == "switch":
                    raise NotUnderstood("continue")
                i = inner
                continue
            if sign in ("break", "continue"):
                raise NotUnderstood(sign)
            i += 1

    def _is_same(self, start: int, end: int, names: set[str]) -> bool:
        """Whether an expression has the same value in all threads if these variables have."""
        for i in range(start, end):
            sign, before, after = self.sign(i), self.sign(i - 1) if i > start else "", self.sign(i + 1)
            if sign.isidentifier() and sign not in _SAME | TYPES | CONST:
                if after == "(":
                    return False
                if before not in (".", "::") and sign not in names:
                    return False
            if sign in ("[", "{") or (sign == ">" and before == "-"):
                return False
            is_unary = before == "" or before in "(,=+-*/%&|^<>!~?:" or before == "return"
            is_unary |= before == ")" and self.sign(i - 2) in TYPES | {"*"}
            if sign in "*&" and is_unary and not (sign == "&" == before):
                return False
            if sign == "=" and not (before in ("=", "!", "<", ">") or after == "="):
                return False
            if sign in "+-" and after == sign:
                return False
        return True

    def _find_same(self) -> None:
        """Finds the variables that must be the same in all threads, and refuses conditions that may not be."""
        names = {name for name in self._parameters if not any(self._changes(name))}
        names |= self._constants - self._parameters
        names -= self._declared.keys() | self._shared_names(*self._plain)
        for name, found in self._declared.items():
            if not any(local.kept or local.is_array for local in found):
                names.add(name)
        while True:
            some = [part for condition, part in self._of_warps if not self._is_same(*condition, names)]
            wrong = {name for name in names if name in self._declared and not self._stays_same(name, names)}
            wrong |= {name for name in names for part in some if self._is_changed_in(name, *part)}
            if not wrong:
                break
            names -= wrong
        needed = set[str]()
        conditions = [condition for condition, _ in self._of_warps]
        self._rows = [condition for condition in conditions if not self._is_same(*condition, names)]
        self._conditions += [condition for condition in conditions if condition not in self._rows]
        if not all(self._is_same_in_warp(*part, names) for part in self._rows):
            raise NotUnderstood("a condition")
        if not all(self._is_same(*condition, names) for condition in self._conditions):
            raise NotUnderstood("a condition")
        shared = [(first, after) for first, after in self._plain if self._is_shared(first, after)]
        new = {self.sign(i) for part in [*self._conditions, *self._steps, *shared] for i in range(*part)}
        new |= {x.name for found in self._declared.values() for x in found if x.is_const and x.name in names}
        while new := (new & names & self._declared.keys()) - needed:
            needed |= new
            places = [local.declarator for name in new for local in self._declared[name]]
            places += [self._statement(i) for name in new for i in self._changes(name)]
            new = {self.sign(i) for place in places for i in range(*place)}
        self._same, self._all_same = needed, names
        self._boundaries += [self._statement(i)[0] for name in needed for i in self._changes(name)]

    def _is_changed_in(self, name: str, start: int, end: int) -> bool:
        """Whether a variable that is declared elsewhere may be changed there."""
        is_inside = any(start <= local.at < end for local in self._declared.get(name, ()))
        return not is_inside and any(start <= i < end for i in self._changes(name))

    def _is_same_in_warp(self, start: int, end: int, names: set[str]) -> bool:
        """Whether a condition has the same value in all lanes of a warp, whose lanes are neighbors along x."""
        fixed = {x.name: x for found in self._declared.values() for x in found if len(found) == 1}
        fixed = {name: x for name, x in fixed.items() if not any(self._changes(name)) and self.sign(x.value) == "="}

        def reduced(start: int, end: int) -> list[str]:
            signs = list[str]()
            for i in range(start, end):
                sign = self.sign(i)
                x = fixed.get(sign) if sign not in names else None
                inner = reduced(x.value + 1, x.declarator[1]) if x and x.at < start else [sign]
                signs += inner if len(inner) == 1 else [sign]
                for pattern, short in _OF_WARPS:
                    if signs[-len(pattern) :] == pattern:
                        signs[-len(pattern) :] = [short]
            return signs

        for pattern in (["<", "THREAD"], [">", "THREAD"]):  # only the forms below are known
            if pattern in [reduced(start, end)[i : i + 2] for i in range(end - start)]:
                return False
        signs, kept = reduced(start, end), list[str]()
        while signs:
            sign = signs.pop(0)
            if sign == "THREAD":
                compares = signs[:1] == ["<"] and signs[1:2] != ["="] or signs[:2] == [">", "="]
                signs = signs[1 + (signs[:1] == [">"]) :]
                limit = signs[:1]
                if not compares or limit not in (["32"], ["64"], ["128"], ["256"], ["512"], ["warpSize"]):
                    return False
                if signs[1:2] not in ([], ["&"], ["|"], [")"]):
                    return False
                signs, sign = signs[1:], "1"
            kept.append("1" if sign == "WARP" else sign)
        allowed = _SAME | names | {"(", ")", "&", "|", "!", "=", "<", ">", "+", "-", "."}
        return all(sign in allowed or sign.isdigit() for sign in kept) and not any(
            a in names | _SAME and b == "(" for a, b in pairwise(kept)
        )

    def _statement(self, at: int) -> tuple[int, int]:
        return next((part for part in [*self._plain, *self._steps] if part[0] <= at < part[1]), (at, at))

    def _stays_same(self, name: str, names: set[str]) -> bool:
        for local in self._declared[name]:
            start, end = local.value, local.declarator[1]
            if start == end:
                continue
            inner = (start + 1, end) if self.sign(start) == "=" else (start + 1, end - 1)
            if not self._is_same(*inner, names):
                return False
        for i in self._changes(name):
            start, end = self._statement(i)
            end -= (start, end) in self._plain
            signs = [self.sign(k) for k in range(start, end)]
            others = [sign for sign in signs if sign != name]
            if others in (["+", "+"], ["-", "-"]) and len(signs) == 3:
                continue
            if i != start or "=" not in signs:
                return False
            value = start + signs.index("=") + 1
            if value - start > 4 or not self._is_same(value, end, names):
                return False
        return True
