"""A kernel as a textbook has it: for one type, without templates, namespaces, layouts and hints.

The text is derived from the kernel's source by rules, here and in rules.py. They work on C++ as this package writes it,
not on all of C++; tests compile and launch the result for every variant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .definitions import Definition, without_template
from .lines import formatted
from .reading import calls, end_of, level, parts, rewritten, substituted
from .rules import HINTS, SIZES, decided, simplified, without_casts

Instance = tuple[str, tuple[str, ...]]  #: a kernel and its template arguments


#: The end of a comment: what a constant of that name means.
_OF_CONSTANT = re.compile(r"\b([A-Z_]{3,}): .*\Z", re.S)


def bindings(instances: Iterable[Instance], known: dict[str, list[Definition]]) -> dict[str, str]:
    """The types and values of the kernels' template parameters, where they agree."""
    values: dict[str, set[str]] = {}
    for name, arguments in instances:
        for parameter, argument in zip(without_template(known[name][0].text)[0], arguments, strict=False):
            values.setdefault(parameter.split()[-1], set()).add(argument)
    return {name: one.pop() for name, one in values.items() if len(one) == 1}


def _instantiated(one: Definition, values: dict[str, str]) -> tuple[str, list[int]]:
    """A definition without the template parameters that have a value, and the positions of these."""
    parameters, text = without_template(one.text)
    left, gone = [], []
    for i, parameter in enumerate(parameters):
        name = re.split(r" = ", parameter)[0].split()[-1]
        if name in values and not re.search(rf"\bconstexpr \w+ {name}\b", text):
            text = re.sub(rf"(?<![\w.]){name}\b", values[name], text) if not values[name].isdigit() else text
            gone.append(i)
        elif " = " in parameter and not re.search(rf"\b{name}\b", text):
            gone.append(i)
        else:
            left.append(parameter)
    return (f"template <{', '.join(left)}>\n{text}" if left else text), gone


def _specialized(text: str, names: dict[str, list[int]]) -> str:
    """Uses of templates without the arguments that are known."""
    for name, gone in names.items():
        for match in reversed(list(re.finditer(rf"(?<![\w.]){name}<", text))):
            end = end_of(text, match.end() - 1)
            left = [part for i, part in enumerate(parts(text[match.end() : end - 1])) if i not in gone]
            text = text[: match.end() - 1] + (f"<{', '.join(left)}>" if left else "") + text[end:]
    return text


def _value(expression: str, names: dict[str, int]) -> int | None:
    """The value of a constant of the package's own; None if it depends on something else."""
    expression = re.sub(r"\bsizeof\((\w+)\)", lambda m: str(SIZES.get(m[1], m[0])), expression)
    expression = re.sub(r"\b(0x[\da-fA-F]+|\d+)u\b", r"\1", expression).replace("/", "//")
    try:
        return int(eval(expression, {"__builtins__": {}}, dict(names)))
    except (NameError, SyntaxError, TypeError):
        return None


def _constants(text: str) -> dict[str, str] | None:
    """The enumerators of a struct or an enum that has nothing else; None: it is something else."""
    inside = re.sub(r"//[^\n]*", "", text)
    match = re.fullmatch(r"(?:template <[^>]*>\s*)?struct (?:alignas\(\d+\) )?\w+ \{(.*)\};", inside, re.S)
    body = match[1] if match else inside
    if not re.fullmatch(r"\s*(?:enum(?: : unsigned)? \{[^{}]*\};\s*)+", body):
        return None
    found: dict[str, str] = {}
    for part in re.findall(r"\{([^{}]*)\}", body):
        for i, constant in enumerate(parts(part)):
            name, _, value = constant.partition(" = ")
            found[name.strip()] = value.strip() or str(i)
    return found


def _without_unused_members(text: str, everything: str) -> str:
    """A struct without static functions that only the host calls."""
    while True:
        for match in re.finditer(r"^ *static (?:__device__ )?(?:constexpr )?[\w:]+ \*?(\w+)\(", text, re.M):
            on_device = "__device__" in match[0] or "constexpr" in match[0]
            if not on_device or len(re.findall(rf"\b{match[1]}\(", everything)) == 1:
                end = end_of(text, text.index("{", end_of(text, match.end() - 1)))
                text = text[: match.start()].rstrip("\n ") + text[end:]
                break
        else:
            return text


def _chosen(name: str, ones: list[Definition], types: set[str]) -> list[Definition]:
    """Of specializations of a function, the one for the type; without it, all definitions."""
    for one in ones:
        match = re.match(rf"template <>\s*((?:__device__ )?([^(]*?) {name})(?:<(.*?)>)?(?=\()", one.text, re.S)
        if match and (match[3] or match[2]) in types:
            one.text = match[1] + one.text[match.end() :]
            return [one]
    ones = [one for one in ones if not one.text.startswith("template <>")]
    if len(types) == 1:
        (kind,) = types
        of_type = [one for one in ones if re.search(rf"\b{name}\({kind} \w+\)", one.text)]
        return of_type if len(of_type) == 1 else ones
    return ones


def _without_itself(declaration: re.Match[str]) -> str:
    """`constexpr int SIDE = SIDE, DEPTH = 8;`, where SIDE has become a constant at the top."""
    left = [part for part in parts(declaration[1]) if not re.fullmatch(r"(\w+) = \1", part)]
    indent = declaration[0][: declaration[0].index("c")]
    return f"{indent}constexpr int {', '.join(left)};\n" if left else ""


class Kernels:
    """Definitions by name, while rules change them."""

    def __init__(self, definitions: Sequence[Definition], instances: Sequence[Instance], padded: bool) -> None:
        self.known: dict[str, list[Definition]] = {}
        self.instances = instances
        self.numbers: dict[str, int] = {}  #: constants that are defined at the top
        self.originals = {name: HINTS.sub("", HINTS.sub("", one.text)) for one in definitions for name in one.names}
        for one in definitions:
            if one.name in ("number_cast", "number", "number_of"):  # have no use
                continue
            new = Definition(simplified(one.text, padded), one.comment)
            for name in one.names:
                if not re.search(rf"struct {name}<", one.text):  # a specialization
                    self.known.setdefault(name, []).append(new)
        self.kernels = list(dict.fromkeys(name for name, _ in instances))
        self._instantiate()
        self._hoist_constants()
        self._drop_aliases()
        self._bind_calls()
        self._decide()
        self._drop_unused_parameters()
        self._inline()
        self._type_memory()

    def used(self) -> list[Definition]:
        """What the kernels need, each after what it needs itself."""
        found: list[Definition] = []

        def visit(one: Definition, above: tuple[Definition, ...] = ()) -> None:
            if one in found or one in above:
                return
            for word in re.findall(r"[A-Za-z_]\w*", re.sub(r"//[^\n]*", "", one.text)):
                for other in self.known.get(word, []):
                    visit(other, (*above, one))
            found.append(one)

        for name in self.kernels:
            for one in self.known[name]:
                if "__global__" in one.text:
                    visit(one)
        return found

    def _instantiate(self) -> None:
        values = bindings(self.instances, self.known)
        for name, value in values.items():
            if "<" in value:
                self.known[name] = [Definition(f"using {name} = {value};")]
                values[name] = name
        for name, ones in self.known.items():
            self.known[name] = _chosen(name, ones, {value for value in values.values() if value in SIZES})
        self.numbers |= {name: int(value) for name, value in values.items() if value.isdigit()}
        templates: dict[str, list[int]] = {}
        for one in self.used():
            one.text, gone = _instantiated(one, values)
            if gone:
                templates[one.name] = gone
        for one in self.used():
            one.text = _specialized(one.text, templates)

    def _drop_aliases(self) -> None:
        """Types of numbers have one name."""
        for one in self.used():
            if (match := re.fullmatch(r"using (\w+) = ([\w ]+);", one.text)) and match[2] in SIZES:
                del self.known[match[1]]
                for other in self.used():
                    other.text = re.sub(rf"(?<![\w.])(?<!->){match[1]}\b(?=[ *<>,)(])(?! =)", match[2], other.text)

    def _bind_calls(self) -> None:
        """Functions that are always called with the same template arguments have them as constants."""
        used = self.used()
        for one in used:
            if not one.text.startswith("template") or not one.is_function or len(self.known[one.name]) > 1:
                continue
            others = [other for other in used if other is not one]
            found = {tuple(given) for other in others for _, _, given, _ in calls(other.text, one.name)}
            given = found.pop() if len(found) == 1 else ()
            parameters = without_template(one.text)[0][: len(given)]
            constant = r"true|false|\d+|[A-Z_]+|[A-Z]\w+::[A-Z_]+"
            if any(parameter.startswith("typename") for parameter in parameters) or not all(
                re.fullmatch(constant, value) for value in given
            ):
                continue
            names = (parameter.split()[-1] for parameter in parameters)
            values = (f"({value})" if value.isdigit() else value for value in given)
            one.text, gone = _instantiated(one, dict(zip(names, values, strict=True)))
            for other in others:
                other.text = _specialized(other.text, {one.name: gone})

    def _decide(self) -> None:
        everything = "".join(one.text for one in self.used())
        for one in self.used():
            if one.text.startswith("struct"):
                one.text = _without_unused_members(one.text, everything)
            one.text = without_casts(decided(one.text))

    def _drop_unused_parameters(self) -> None:
        """Of functions, where the decided conditions have left some unused."""
        for one in self.used():
            if one.name in self.kernels or not one.is_function or len(self.known[one.name]) > 1:
                continue
            begin = one.text.index("(", one.text.index(f"{one.name}("))
            end = end_of(one.text, begin)
            listed, body = parts(one.text[begin + 1 : end - 1]), one.text[end:]
            names = [re.search(r"(\w+)(?:\)|\[\w*\])*(?: = .*)?$", parameter) for parameter in listed]
            left = [i for i, name in enumerate(names) if not name or re.search(rf"\b{name[1]}\b", body)]
            if len(left) == len(listed):
                continue
            one.text = f"{one.text[: begin + 1]}{', '.join(listed[i] for i in left)}){body}"
            for other in (other for other in self.used() if other is not one):
                for at, end, template, given in calls(other.text, one.name):
                    values = f"<{', '.join(template)}>" if template else ""
                    call = f"{one.name}{values}({', '.join(given[i] for i in left)})"
                    other.text = other.text[:at] + call + other.text[end:]

    def _type_memory(self) -> None:
        """Shared and constant memory that holds several types in the source has one here."""
        types: dict[str, str] = {}
        everything = "".join(one.text for one in self.used())
        for one in self.used():
            for kind, name in re.findall(r"extern __shared__ ([\w ]+) (\w+)\[", one.text):
                if types.setdefault(name, kind) != kind:
                    one.text = re.sub(rf"(?<![\w.]){name}\b(?!\()", f"{name}_of_{one.name}", one.text)
            match = re.match(r"__constant__ double (\w+)\[", one.text)
            if match and f"(const float *){match[1]}" in everything:
                one.text = one.text.replace("double", "float")

    def _hoist_constants(self) -> None:
        """Constants of structs and enums, and template arguments that are numbers, are constants at the top."""
        used = self.used()
        for one in used:
            constants = _constants(one.text) if one.text.startswith(("enum", "struct")) else None
            if constants is None:
                continue
            for name, value in constants.items():
                if (number := _value(value, self.numbers)) is not None:
                    self.numbers[name] = number
            others = [other for other in used if other is not one] if one.name not in constants else []
            is_a_type = any(re.search(rf"\b{one.name}\b(?!::)", other.text) for other in others)
            if all(name in self.numbers for name in constants) and not is_a_type:
                for name in one.names:
                    self.known.pop(name, None)
                for other in others:
                    other.text = re.sub(rf"\b{one.name}::(?=\w)", "", other.text)
        for one in self.used():
            one.text = re.sub(r"^ *constexpr int ([^;]*);\n", _without_itself, one.text, flags=re.M)

    def _inline(self) -> None:
        """One-line functions are replaced by what they return."""
        for _ in range(4):  # one may call another
            for one in self.used():
                if one.name in self.kernels or not one.is_function or one.text.startswith("template"):
                    continue
                head, body = one.text[: one.text.index("{")], one.text[one.text.index("{") + 1 : -1]
                for line, kind, local, value in re.findall(r"^( *const (\w+) (\w+) = (\w+);\n)", body, re.M):
                    if re.search(rf"[(,] ?{kind} {value}[,)]", head):  # another name of a parameter
                        body = substituted(body.replace(line, ""), {local: value})
                one.text = f"{head}{{{body}}}"
                match = re.fullmatch(r"\s*return ([^;{]*);\s*", body)
                if match and len(match[1]) <= 60 and len(self.known[one.name]) == 1:
                    self._replace(one, match[1])

    def _replace(self, function: Definition, value: str) -> None:
        names = [name for _, name in parameters_of(function.text)]
        for one in self.used():
            if one is not function:
                one.text = rewritten(one.text, function.name, lambda _, of: _inlined(value, names, of))

    # --- parameters and launches ---
    def _fields(self, kind: str) -> list[tuple[str, str]]:
        """Types and names of a struct's members; none: it is no struct."""
        base = re.sub(r"^const |<.*", "", kind)
        ones = [one for one in self.known.get(base, []) if re.match(r"(?:template <[^>]*>\s*)?struct", one.text)]
        if not ones or kind.endswith("*"):
            return []
        text = ones[0].text
        if match := re.search(r"<(.*)>", kind):
            parameter = re.match(r"template <typename (\w+)>", text)
            text = re.sub(rf"\b{parameter[1]}\b", match[1], text) if parameter else text
        return members(text)

    def parameters(self, kernel: str) -> list[tuple[str, str]]:
        """Types and names of a kernel's parameters, with the members of structs in their place."""
        return [leaf for kind, name in parameters_of(self.kernel(kernel)) for leaf in self._leaves(kind, name)]

    def kernel(self, name: str) -> str:
        return next(one.text for one in self.known[name] if "__global__" in one.text)

    def _leaves(self, kind: str, name: str) -> list[tuple[str, str]]:
        leaves = []
        for member, inner in self._fields(kind):
            leaves += self._leaves(member, f"{name}_{inner}")
        return leaves or [(kind, name)]

    def _value(self, kind: str, name: str) -> str:
        inside = [self._value(member, f"{name}_{inner}") for member, inner in self._fields(kind)]
        return f"{{{', '.join(inside)}}}" if inside else name

    def _with_fields(self, text: str) -> str:
        """A kernel whose parameters are numbers and pointers, of which it makes the structs that its source has."""
        parameters = parameters_of(text)
        if not any(self._fields(kind) for kind, _ in parameters):
            return text
        begin = text.index("(") + 1
        end = end_of(text, begin - 1) - 1
        listed = ", ".join(_declared(kind, name) for one in parameters for kind, name in self._leaves(*one))
        made = [f"    {kind} {name} = {self._value(kind, name)};\n" for kind, name in parameters if self._fields(kind)]
        body = text.index("{", end) + 1
        return text[:begin] + listed + text[end:body] + "\n" + "".join(made) + text[body:].lstrip("\n")

    def text(self) -> str:
        """The definitions, formatted."""
        used = self.used()
        texts, words = [], set().union(*(one.words() for one in used))
        for kind, low, high in (("int", -(2**31), 2**31), ("unsigned", 2**31, 2**32)):
            if names := [name for name, value in self.numbers.items() if name in words and low <= value < high]:
                values = [str(self.numbers[name]) if kind == "int" else f"{self.numbers[name]:#x}" for name in names]
                texts.append(f"constexpr {kind} {', '.join(map(' = '.join, zip(names, values, strict=True)))};")
        for one in used:
            if "__global__" in one.text:
                one.text = self._with_fields(one.text)
            comment = "" if re.search(r"\.cuh|PLAIN|VECTOR|number<|stack", one.comment) else one.comment
            if (end := _OF_CONSTANT.search(comment)) and end[1] not in one.words():
                comment = f"{comment[: end.start()].rstrip(' /')}\n".lstrip("\n")
            texts.append(comment + formatted(one.text))
        for header, word in (("cuda_pipeline", "__pipeline"), ("cooperative_groups", "cooperative_groups::")):
            if any(word in text for text in texts):
                texts.insert(0, f"#include <{header}.h>")
        return "\n\n".join(texts) + "\n"


def _inlined(body: str, names: Sequence[str], arguments: Sequence[str]) -> str | None:
    for name, argument in zip(names, arguments, strict=True):
        is_simple = level(argument) == 0 and len(argument) <= 32 and not re.search(r"[(?]", argument)
        if len(re.findall(rf"(?<![\w.]){name}\b", body)) > 1 and not is_simple:
            return None
    markers = {name: f"_{i}_" for i, name in enumerate(names)}
    body = substituted(body, markers)
    return substituted(body, {f"_{i}_": argument for i, argument in enumerate(arguments)})


def parameters_of(text: str) -> list[tuple[str, str]]:
    """Types and names of a function's parameters."""
    begin = text.index("(")
    listed = parts(re.sub(r"\s+", " ", text[begin + 1 : end_of(text, begin) - 1]))
    return [(match[1].strip(), match[2]) for one in listed if (match := re.fullmatch(r"(.*?)(\w+)", one))]


def _declared(kind: str, name: str) -> str:
    return f"{kind}{name}" if kind.endswith("*") else f"{kind} {name}"


def members(text: str) -> list[tuple[str, str]]:
    """Types and names of a struct's members."""
    found = []
    body = re.sub(r"//[^\n]*", "", text[text.index("{") + 1 : -2])
    kinds = r"(?:const )?(?:(?:unsigned )?long long|unsigned (?:char|short|int)|[\w:]+)(?:<[^>;]*>)?"
    for declaration in re.findall(
        rf"^ *((?!static|using|enum|template|__device__|return){kinds} [\w*, ]+);", body, re.M
    ):
        kind, first, *others = parts(re.sub(rf"^({kinds}) ", r"\1, ", declaration))
        found += [(kind + " *" * one.strip().startswith("*"), one.strip().lstrip("*")) for one in (first, *others)]
    return found
