"""Inline PTX on the emulator: C++ statements that do the same as an ``asm``.

An instruction is looked up by its opcode in the table ptx.txt, or in ``_HANDLERS``, which has those with operands of
other forms. What both lack becomes an error of the C++ compiler, with the source's line, if the code is used.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from .cuda_source import Token, split

#: Types of PTX in C++.
_TYPES = {
    "u8": "unsigned char", "s8": "signed char", "b8": "unsigned char", "u16": "unsigned short", "s16": "short",
    "b16": "unsigned short", "u32": "unsigned", "s32": "int", "b32": "unsigned", "u64": "unsigned long long",
    "s64": "long long", "b64": "unsigned long long", "f32": "float", "f64": "double", "f16": "__half",
    "bf16": "__nv_bfloat16", "f16x2": "__half2", "bf16x2": "__nv_bfloat162", "pred": "bool",
}  # fmt: skip
_CONSTRAINTS = {"h": "b16", "r": "b32", "f": "b32", "l": "b64", "d": "b64"}  #: of asm: the types of registers
_WIDE = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
_SIGNS = {"add": "+", "sub": "-", "mul": "*"}
_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">",
             "hs": ">="}  # fmt: skip
_ATOMICS = {"add": "Add", "min": "Min", "max": "Max", "and": "And", "or": "Or", "xor": "Xor", "exch": "Exch",
            "cas": "CAS", "inc": "Inc", "dec": "Dec"}  # fmt: skip

#: Parts of opcodes in ptx.txt and in _HANDLERS.
_PARTS = {
    "INTEGER": "[us](16|32|64)",
    "WORD": "[usb](16|32|64)",
    "BITS": "b(16|32|64)",
    "FLOAT": "f(32|64)",
    "HALF": "b?f16(x2)?",
    "NUMBER": "[us](8|16|32|64)|b?f16|f32|f64",
    "ROUNDING": "(.(way=r[nzmp]))?FTZ(sat=.sat)?",
    "FAST": ".(approx|full)FTZ",
    "FTZ": "(ftz=.ftz)?",
    "SPACE": "(.(space=global|shared(::cta)?|local|const))?",
    "HINTS": r"(.(ca|cg|cs|lu|cv|nc|wb|wt|L[12]::[\w:]+))*",
    "SCOPE": "(.(scope=cta|cluster|gpu|sys))?",
}


class UnknownError(Exception):
    """Something in an asm that has no translation; the message names it."""


#: An instruction of the table: its opcode, the types of the operands, and the C++.
_Row: TypeAlias = tuple[re.Pattern[str], str, str]


def _pattern(opcode: str) -> re.Pattern[str]:
    """An opcode as it is written in the table: see there."""
    for name, part in _PARTS.items():
        opcode = opcode.replace(name, part)
    opcode = re.sub("<(.*)>", r"(t=\1)", opcode)
    opcode = re.sub(r"\((\w+)=|\(", lambda match: f"(?P<{match[1]}>" if match[1] else "(?:", opcode)
    return re.compile(opcode.replace(".", r"\."))


@functools.cache
def _table() -> tuple[list[_Row], dict[str, str]]:
    """The instructions, and the special registers' C++ by name."""
    instructions, registers = [], {}
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("%"):
            name, kind, code = re.split("  +", line)
            registers[name] = f"static_cast<{_TYPES[kind]}>({code})"
        elif line and not line.startswith("#"):
            opcode, types, code = re.split("  +", line)
            instructions.append((_pattern(opcode), types, code))
    return instructions, registers


# --- the source ------------------------------------------------------------------------------------------------------
ASM = {"asm", "__asm__", "__asm"}
QUALIFIERS = {"volatile", "__volatile__", "__volatile", "inline", "__inline__"}  #: between asm and its parenthesis
BEFORE = {";", "{", "}", ")", ":", "else", "do"}  #: an asm that is a statement
#: The parts of a constant expression, which is computed in 64 bits.
_CONSTANT = re.compile(r"0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|\d+U?|[-()+*/%<>=!&|^~?:]|\s+")
#: What the text of an instruction of another machine does not look like.
_PTX = re.compile(r"\w\.\w|\bbra\b|\bexit\b|@|%\w")


def translated(text: str, parts: list[Token]) -> str | None:
    """The C++ for an asm, of which these tokens stand in the parentheses; None if it is none for a GPU: empty, or with
    the instructions or constraints of another machine. What the emulator lacks becomes an error where it is called."""
    try:
        asm = _Asm(text, parts)
        return asm.code() if asm.ptx.strip() else None
    except UnknownError as error:
        if not _PTX.search("".join(token.text for token in parts if '"' in token.text)):
            return None
        words = re.sub(r"[^\w .,:;%@!+=<>(){}\[\]/-]", "'", str(error))
        function = f"emu_unknown_{parts[0].start if parts else 0}"
        return f'{{ __attribute__((error("{words}"))) void {function}(); {function}(); }}'


class _Asm:
    """One asm: its text, operands and registers."""

    def __init__(self, text: str, parts: list[Token]) -> None:
        self.source = text
        self.label = (
            f"emu_label_{parts[0].start if parts else 0}_"  # labels are the function's, so each asm has its own
        )
        self.operands: list[str] = []  # in C++
        self.scopes: list[dict[str, str]] = [{}]  # names of registers in C++, by those in PTX
        self.before: list[str] = []
        self.after: list[str] = []
        ptx, *operands = split(parts, ":", "::")
        self.ptx = "".join(map(_string, ptx))
        for is_output, section in zip((True, False), operands, strict=False):
            for operand in split(section, ",") if section else ():
                # nvcc also takes operands without a comma between them.
                starts = [
                    i for i, token in enumerate(operand) if i and token.text[:1] == '"' and operand[i - 1].text == ")"
                ]
                for start, end in zip([0, *starts], [*starts, len(operand)], strict=True):
                    self._operand(operand[start:end], is_output)

    def _operand(self, operand: list[Token], is_output: bool) -> None:
        name = f"emu_{len(self.operands)}"
        if len(operand) < 4 or operand[1].text != "(":
            raise UnknownError("an operand of asm must have the form constraint (expression)")
        constraint = _string(operand[0])
        expression = re.sub(r"//[^\n]*|/\*.*?\*/|\n", " ", self.source[operand[1].start : operand[-1].end], flags=re.S)
        letter = constraint.lstrip("=+&")
        if letter == "n":
            self.operands.append(f"static_cast<long long>{expression}")
            return
        if letter not in _CONSTRAINTS:
            raise UnknownError(f"the emulator does not have the constraint {constraint}, only h, r, l, f, d and n")
        kind = _TYPES[_CONSTRAINTS[letter]]
        self.operands.append(name)
        if is_output:
            read = f"emu_ptx::in<{kind}>({name}_)" if constraint.startswith("+") else "0"
            self.before.append(f"auto &{name}_ = {expression}; {kind} {name} = {read};")
            self.after.append(f"emu_ptx::out({name}_, {name});")
        else:
            self.before.append(f"{kind} {name} = emu_ptx::in<{kind}>{expression};")

    def code(self) -> str:
        lines = [line for statement in _statements(self.ptx) for line in self._statement(statement)]
        return " ".join(["{", *self.before, *lines, *self.after, "}"])

    # --- statements
    def _statement(self, text: str) -> Iterator[str]:
        if text == "{":
            self.scopes.append({})
            yield text
        elif text == "}":
            if len(self.scopes) == 1:
                raise UnknownError("asm: a closing brace without an opening one")
            self.scopes.pop()
            yield text
        elif text.startswith(".reg"):
            yield from self._declare(text)
        elif text.endswith(":"):
            yield f"{self.label}{text};"
        else:
            guard = re.match(r"@(!?)\s*([\w%$]+)\s+", text)
            condition = f"if ({guard[1]}{self.register(guard[2])}) " if guard else ""
            opcode, _, rest = text[guard.end() if guard else 0 :].partition(" ")
            arguments = [part.strip() for part in re.findall(r"(?:\{[^}]*\}|\[[^\]]*\]|[^,{\[])+", rest)]
            yield condition + "{ " + self._instruction(opcode, arguments) + " }"

    def _declare(self, text: str) -> Iterator[str]:
        match = re.fullmatch(r"\.reg\s+\.(\w+)\s+(.*)", text, re.S)
        if not match or match[1] not in _TYPES:
            raise UnknownError(f"the emulator cannot declare PTX registers by {text}")
        bits = "32" if match[1].endswith("x2") else match[1].lstrip("usbf")
        kind = _TYPES["pred" if match[1] == "pred" else f"b{bits}"]
        for name in re.split(r"\s*,\s*", match[2].strip()):
            many = re.fullmatch(r"([\w%$]+)<(\d+)>", name)
            for each in [f"{many[1]}{i}" for i in range(int(many[2]))] if many else [name]:
                self.scopes[-1][each] = register = "emu_reg_" + re.sub(r"\W", "_", each)
                yield f"{kind} {register} = 0;"

    def _instruction(self, opcode: str, arguments: list[str]) -> str:
        for pattern, handler in _HANDLERS.items():
            if match := pattern.fullmatch(opcode):
                try:
                    return handler(self, match, arguments)
                except (ValueError, IndexError):
                    given = ", ".join(arguments)
                    raise UnknownError(f"the PTX instruction {opcode} has other operands than {given}") from None
        for pattern, types, code in _table()[0]:
            if match := pattern.fullmatch(opcode):
                return self._from_table(match, types, code, arguments)
        raise UnknownError(f"the emulator does not have the PTX instruction {opcode}")

    def _from_table(self, match: re.Match[str], types: str, code: str, arguments: list[str]) -> str:
        parts = {name: part or "" for name, part in match.groupdict().items()}
        kind = parts.get("t", "")
        wide = _WIDE.get(kind, kind)
        unsigned, wide_unsigned = (re.sub("^[us]", "b", each) for each in (kind, wide))
        meaning = {"T": kind, "U": unsigned, "W": wide, "V": wide_unsigned, "X": parts.get("to", "")}
        kinds = [_TYPES[meaning.get(each, each)] for each in re.findall(r"[TUWVX]|[usbf]+\d+|pred", types)]
        if len(arguments) != len(kinds):
            raise UnknownError(f"the PTX instruction {match[0]} has {len(kinds)} operands, not {len(arguments)}")
        if any("{" in argument for argument in arguments):
            return self._packed(match[0], kind, arguments)
        flushed = "emu_ptx::flushed({})" if kind == "f32" and parts.get("ftz") else "{}"
        values = [flushed.format(self.value(argument, of)) for argument, of in zip(arguments, kinds, strict=True)]
        if types.startswith(":"):
            return code.format(**dict(zip("abcd", values, strict=False))) + ";"
        words = dict(zip("abcd", values[1:], strict=False))
        words |= {letter: _TYPES[each] for letter, each in meaning.items() if each} | _words(parts, kind, words)
        expression = flushed.format(f"static_cast<{kinds[0]}>({code.format(**words)})")
        if parts.get("sat"):
            expression = f"static_cast<{kinds[0]}>(emu_ptx::saturated_to_1({expression}))"
        return f"emu_ptx::put({self.register(arguments[0])}, {expression});"

    def _packed(self, opcode: str, kind: str, arguments: list[str]) -> str:
        """mov between a register and a vector of its parts, the lowest first."""
        if not opcode.startswith("mov.b"):
            raise UnknownError(f"the emulator does not have vectors in the PTX instruction {opcode}")
        to, of = arguments
        vector = self.registers(to if "{" in to else of)
        bits = int(kind[1:]) // len(vector)
        part = _TYPES[f"b{bits}"]
        if "{" in to:
            code = [f"const auto emu_whole = {self.value(of, _TYPES[kind])};"]
            code += [f"{each} = static_cast<{part}>(emu_whole >> {bits * i});" for i, each in enumerate(vector)]
            return " ".join(code)
        terms = [f"static_cast<{_TYPES[kind]}>({each}) << {bits * i}" for i, each in enumerate(vector)]
        return f"emu_ptx::put({self.register(to)}, static_cast<{_TYPES[kind]}>({' | '.join(terms)}));"

    # --- operands
    def register(self, text: str) -> str:
        """A register or a literal in C++."""
        text = text.strip()
        for scope in reversed(self.scopes):
            if text in scope:
                return scope[text]
        if match := re.fullmatch(r"%(\d+)", text):
            if int(match[1]) >= len(self.operands):
                raise UnknownError(f"asm has no operand {text}")
            return self.operands[int(match[1])]
        if special := _table()[1].get(text):
            return special
        if match := re.fullmatch(r"0(?:[fF]([0-9a-fA-F]{8})|[dD]([0-9a-fA-F]{16}))", text):
            return f"0x{match[1]}u" if match[1] else f"0x{match[2]}ull"
        if text == "WARP_SZ":
            return "32ll"
        if match := re.fullmatch(r"(-?)(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?", text):
            return f"static_cast<long long>({match[1]}{match[2]}ull)"
        if re.fullmatch(r"-?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?", text):
            return f"double({text})"
        if (parts := _CONSTANT.findall(text)) and "".join(parts) == text and not re.search(r"%\w", text):
            terms = [
                f"{part.rstrip('U')}{'ull' if part[-1] == 'U' else 'll'}" if part[0].isdigit() else part
                for part in parts
            ]
            return f"static_cast<long long>({''.join(terms)})"
        raise UnknownError(f"the emulator does not have the PTX operand {text}")

    def registers(self, text: str) -> list[str]:
        """Of a vector, ``{a, b}``, or of a result and a predicate, ``d|p``."""
        names = [name.strip() for name in re.split("[,|]", text.strip("{}"))]
        return [self.register(name) for name in names if name != "_"]

    def value(self, text: str, kind: str) -> str:
        negated = text.startswith("!")
        value = f"emu_ptx::as<{kind}>({self.register(text[negated:])})"
        return f"!{value}" if negated else value

    def address(self, text: str, space: str | None, kind: str) -> str:
        match = re.fullmatch(r"\[\s*([^\s+\-\]]+)\s*(?:\+?\s*(-?\s*\w+))?\s*\]", text)
        if not match:
            raise UnknownError(f"the emulator does not have the PTX address {text}")
        base = f"emu_ptx::as<unsigned long long>({self.register(match[1])})"
        offset = f" + {self.value(match[2].replace(' ', ''), 'long long')}" if match[2] else ""
        where = "shared" if (space or "").startswith("shared") else "global"
        return f"emu_ptx::{where}<{kind}>({base}{offset})"


def _words(parts: dict[str, str], kind: str, operands: dict[str, str]) -> dict[str, str]:
    """What the table's C++ takes from the opcode."""
    op, way, to = parts.get("op", ""), parts.get("way", ""), parts.get("to", "")
    letter, suffix = "f" if kind == "f32" else "d", {"rm": "rd", "rp": "ru", "": "rn"}.get(way, way)
    words = {
        "op": op,
        "mode": parts.get("mode", ""),
        "sign": _SIGNS.get(op, ""),
        "two": "2" * kind.endswith("x2"),
        "rounded": f"__{letter}{op}_{suffix}",
        "fused": f"__fma{'f' * (kind == 'f32')}_{suffix}",
        "keep": "true" if parts.get("cc") else "false",
        "carry": "emu_ptx::carry" if parts.get("c") else "0",
    }
    if to:
        source = operands["a"]
        if way.endswith("i") and to[0] == "f":  # to an integral number of a floating-point type
            source, way = f"emu_ptx::to_integral({source}, emu_ptx::{way[:2]})", "rn"
        mode, clamp = way[:2] or ("rn" if "f" in to else "rz"), "true" if parts["clamp"] else "false"
        words["converted"] = f"emu_ptx::convert<{_TYPES[to]}>({source}, emu_ptx::{mode}, {clamp})"
    return words


# --- instructions with operands of other forms -----------------------------------------------------------------------
_Handler = Callable[[_Asm, "re.Match[str]", list[str]], str]


def _memory(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    is_load = match["op"] == "ld"
    where, what = arguments if not is_load else reversed(arguments)
    kind, count = _TYPES[match["t"]], int(match["count"] or 1)
    registers = asm.registers(what)
    if len(registers) != count:
        raise UnknownError(f"the PTX instruction {match[0]} has {count} values, not {len(registers)}")
    order = match["order"] or "weak"
    if order == "weak":
        load, store = "load", "store"
    else:
        scope = {"cta": "EMU_OF_BLOCK", "gpu": "0", "cluster": "0"}.get(match["scope"], "EMU_OF_SYSTEM")
        load, store = f"load_again<{scope}>", f"store_now<{scope}>"
    before, after = _fences(order, match["scope"])
    code = [f"{kind} *emu_at = {asm.address(where, match['space'], kind)};", before]
    if is_load:
        code += [f"const {kind} emu_v{i} = emu_ptx::{load}(emu_at + {i});" for i in range(count)]
        code += [f"emu_ptx::put({register}, emu_v{i});" for i, register in enumerate(registers)]
    else:
        code += [f"emu_ptx::{store}(emu_at + {i}, emu_ptx::as<{kind}>({r}));" for i, r in enumerate(registers)]
    return " ".join([*code, after])


def _fences(order: str | None, scope: str | None) -> tuple[str, str]:
    """Before an operation that releases, and after one that acquires."""
    fence = {"cta": "__threadfence_block();", "sys": "__threadfence_system();"}.get(scope or "", "__threadfence();")
    return fence * (order in ("release", "acq_rel")), fence * (order in ("acquire", "acq_rel"))


def _atomic(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    kind, what = _TYPES[match["t"]], match["what"]
    if match["t"] == "s64" and what not in ("min", "max"):
        kind = "unsigned long long"
    result = arguments.pop(0) if match["op"] == "atom" else "_"
    place = asm.address(arguments.pop(0), match["space"], kind)
    values = ", ".join(asm.value(argument, kind) for argument in arguments)
    scope = {"cta": "_block", "sys": "_system"}.get(match["scope"], "") if "f16" not in match["t"] else ""
    call = f"atomic{_ATOMICS[what]}{scope}({place}, {values})"
    before, after = _fences(match["order"], match["scope"])
    return f"{before} {call if result == '_' else f'emu_ptx::put({asm.register(result)}, {call})'}; {after}"


def _setp(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    kind, how = _TYPES[match["t"]], match["how"]
    a, b = (asm.value(argument, kind) for argument in arguments[1:])
    if match["ftz"] and kind == "float":
        a, b = f"emu_ptx::flushed({a})", f"emu_ptx::flushed({b})"
    if how in ("num", "nan"):
        test = f"({a} != {a} || {b} != {b}) == {'true' if how == 'nan' else 'false'}"
    elif how.endswith("u") and how not in _COMPARED:  # true for NaN
        test = f"({a} {_COMPARED[how[:-1]]} {b} || {a} != {a} || {b} != {b})"
    elif how == "ne" and kind in ("float", "double"):
        test = f"({a} < {b} || {a} > {b})"
    else:
        test = f"({a} {_COMPARED[how]} {b})"
    results = zip(asm.registers(arguments[0]), (test, f"!{test}"), strict=False)
    return " ".join(f"{result} = {value};" for result, value in results)


def _shuffle(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    values = ", ".join(asm.value(argument, "unsigned") for argument in arguments[1:])
    return _with_flag(asm, arguments[0], "bool", f"emu_ptx::shuffle(emu_ptx::{match['how']}, {values}, emu_flag)")


def _match_all(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    value, mask = asm.value(arguments[1], _TYPES[match["t"]]), asm.value(arguments[2], "unsigned")
    return _with_flag(asm, arguments[0], "int", f"__match_all_sync({mask}, {value}, &emu_flag)")


def _with_flag(asm: _Asm, results: str, kind: str, call: str) -> str:
    """A call's value to the first result of ``d|p``, and to the second, if there is one, the flag that it sets."""
    to, *predicates = asm.registers(results)
    flags = [f" {predicate} = emu_flag != 0;" for predicate in predicates]
    return f"{kind} emu_flag; emu_ptx::put({to}, {call});{''.join(flags)}"


def _barrier(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    values = [asm.value(argument, "unsigned") for argument in arguments]
    return f"emu_ptx::barrier({', '.join([*values, '0u'][:2])});"


def _mbarrier(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    """All but waits: a change of the phase's arrivals and bytes."""
    op, to = match["op"], arguments.pop(0) if "[" not in arguments[0] else "_"
    place = asm.address(arguments.pop(0), "shared", "void")
    value = asm.value(arguments[0], "int") if arguments else "1"
    arrivals, number = (value, "0") if "tx" not in op else (str(int("arrive" in op)), value)
    if op == "complete_tx":
        number = f"-{number}"
    call = f"emu_ptx::mbarrier_change({place}, {arrivals}, {number}, {str('drop' in op).lower()})"
    return f"{call};" if to == "_" else f"emu_ptx::put({asm.register(to)}, {call});"


def _mbarrier_wait(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    place, state = asm.address(arguments[1], "shared", "void"), asm.value(arguments[2], "unsigned long long")
    return f"{asm.register(arguments[0])} = emu_ptx::mbarrier_{match['how']}({place}, {state});"


def _bulk_load(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    to, of, barrier = (asm.address(arguments[i], where, "void") for i, where in ((0, "shared"), (1, ""), (3, "shared")))
    return f"emu_ptx::bulk_load({to}, {of}, {asm.value(arguments[2], 'int')}, {barrier});"


def _bulk_store(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    to, of = asm.address(arguments[0], "", "void"), asm.address(arguments[1], "shared", "void")
    return f"__builtin_memcpy({to}, {of}, {asm.value(arguments[2], 'size_t')});"


def _branch(asm: _Asm, _: re.Match[str], arguments: list[str]) -> str:
    if len(arguments) != 1 or not re.fullmatch(r"[A-Za-z_$][\w$]*", arguments[0]):
        raise ValueError(arguments)
    return f"goto {asm.label}{arguments[0]};"


def _ldmatrix(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    to = _vector(asm, arguments[0], int(match["count"]))
    is_transposed = "true" if match["transposed"] else "false"
    row = asm.address(arguments[1], "shared", "char")
    code = [f"unsigned emu_to[{len(to)}]; ldmatrix<{len(to)}, {is_transposed}>(emu_to, {row});"]
    return " ".join([*code, *(f"emu_ptx::put({register}, emu_to[{i}]);" for i, register in enumerate(to))])


def _stmatrix(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    count, is_transposed = int(match["count"]), "true" if match["transposed"] else "false"
    row = asm.address(arguments[0], "shared", "char")
    return (
        f"{_words_of(asm, 'from', arguments[1], count)} emu_ptx::stmatrix<{count}, {is_transposed}>({row}, emu_from);"
    )


#: Of mma: shapes of 16 rows and 8 columns by the type of A and B, and the number of elements in a register.
_MATRICES = {"f16": ("__half", {8, 16}, 2), "bf16": ("__nv_bfloat16", {8, 16}, 2), "tf32": ("emu_ptx::tf32", {4, 8}, 1),
             "s8": ("signed char", {16, 32}, 4), "u8": ("unsigned char", {16, 32}, 4)}  # fmt: skip
_SUMS = {"f16": ("f16",), "f32": ("f16", "bf16", "tf32"), "s32": ("s8", "u8")}


def _mma(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    k, (left, right, of) = int(match["k"]), match.group("a", "b", "d")
    kind, depths, count = _MATRICES[left]
    is_mixed = _MATRICES[right][2] != count or (left != right and of != "s32")
    if k not in depths or is_mixed or match["c"] != of or left not in _SUMS[of]:
        raise UnknownError(f"the emulator does not have the PTX instruction {match[0]}")
    sums = 2 if of == "f16" else 4
    numbers = {"a": k // 2 // count, "b": k // 4 // count, "c": sums}
    code = [_words_of(asm, name, text, numbers[name]) for name, text in zip("abc", arguments[1:], strict=True)]
    types = f"{kind}, {_MATRICES[right][0]}, {_TYPES[of]}, {k}, {'true' if match['sat'] else 'false'}"
    code.append(f"unsigned emu_d[{sums}]; emu_ptx::mma<{types}>(emu_d, emu_a, emu_b, emu_c);")
    code += [f"emu_ptx::put({to}, emu_d[{i}]);" for i, to in enumerate(_vector(asm, arguments[0], sums))]
    return " ".join(code)


def _mma_double(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    rows, k = int(match["rows"]), int(match["k"])
    if rows == 8 and k != 4:
        raise UnknownError(f"the emulator does not have the PTX instruction {match[0]}")
    numbers = dict(zip("abd", (rows * k // 32, k // 4, rows // 4), strict=True))
    code = [_words_of(asm, name, text, numbers[name], "double")
            for name, text in zip("abd", arguments[1:], strict=True)]  # fmt: skip
    code.append(f"emu_ptx::mma_double<{rows}, {k}>(emu_d, emu_a, emu_b);")
    code += [f"emu_ptx::put({to}, emu_d[{i}]);" for i, to in enumerate(_vector(asm, arguments[0], numbers["d"]))]
    return " ".join(code)


def _vector(asm: _Asm, text: str, count: int) -> list[str]:
    registers = asm.registers(text)
    if len(registers) != count:
        raise ValueError(text)
    return registers


def _words_of(asm: _Asm, name: str, text: str, count: int, kind: str = "unsigned") -> str:
    """An array in C++ of a vector's registers."""
    values = ", ".join(f"emu_ptx::as<{kind}>({register})" for register in _vector(asm, text, count))
    return f"{kind} emu_{name}[{count}] = {{{values}}};"


def _copy(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    to, of = asm.address(arguments[0], "shared", "char"), asm.address(arguments[1], "global", "char")
    size = asm.value(arguments[2], "int")
    read = asm.value(arguments[3], "int") if len(arguments) > 3 else size
    return f"emu_copy_async({to}, {of}, {size}, {read}, __builtin_FILE(), __builtin_LINE());"


_HANDLERS: dict[re.Pattern[str], _Handler] = {
    _pattern("(op=ld|st)(.(order=volatile|weak|relaxed|acquire|release)SCOPE)?SPACEHINTS(.v(count=[24]))?"
             ".<[usb](8|16|32|64)|FLOAT>"): _memory,
    _pattern("(op=atom|red)(.(order=relaxed|acquire|release|acq_rel))?SCOPESPACE"
             f".(what={'|'.join(_ATOMICS)})(.noftz)?.<WORD|FLOAT|HALF>"): _atomic,
    _pattern(f"setp.(how=({'|'.join(_COMPARED)})u?|num|nan)FTZ.<WORD|FLOAT>"): _setp,
    _pattern("shfl.sync.(how=up|down|bfly|idx).b32"): _shuffle,
    _pattern("match.all.sync.<b32|b64>"): _match_all,
    _pattern("(bar|barrier)(.cta)?.sync(.aligned)?"): _barrier,
    _pattern(r"cp.async.c[ag].shared(::cta)?.global(.L2::\w+)?"): _copy,
    _pattern("(op=atom|red).(what=exch|cas|add|and|or|xor|min|max)(.(order=relaxed|acquire|release|acq_rel))?SCOPESPACE"
             ".<WORD|FLOAT>"): _atomic,
    _pattern("mbarrier.init(.shared(::cta)?)?.b64"): lambda asm, _, arguments: (
        f"emu_ptx::mbarrier_init({asm.address(arguments[0], 'shared', 'void')}, {asm.value(arguments[1], 'unsigned')});"
    ),
    _pattern("mbarrier.inval(.shared(::cta)?)?.b64"): lambda *_: "",
    _pattern("mbarrier.(op=arrive(_drop)?(.expect_tx)?|expect_tx|complete_tx)(.noComplete)?"
             "(.(release|relaxed).(cta|cluster))?(.shared(::cta)?)?.b64"): _mbarrier,
    _pattern("mbarrier.(how=test|try)_wait(.parity)?(.(acquire|relaxed).(cta|cluster))?(.shared(::cta)?)?.b64"):
        _mbarrier_wait,
    _pattern("cp.async.mbarrier.arrive(noinc=.noinc)?(.shared(::cta)?)?.b64"): lambda asm, match, arguments: (
        "emu_copy_async_commit(); emu_copy_async_wait(0);"
        + (f" emu_ptx::mbarrier_change({asm.address(arguments[0], 'shared', 'void')}, 1, 0, false);"
           if match["noinc"] else "")
    ),
    _pattern("cp.async.bulk.shared::(cta|cluster).global.mbarrier::complete_tx::bytes"): _bulk_load,
    _pattern("cp.async.bulk.global.shared::cta.bulk_group"): _bulk_store,
    re.compile(r"bra(\.uni)?"): _branch,
    # (Also in other orders of the words, which ptxas takes.)
    _pattern("ldmatrix.sync.aligned(.m8n8)?.x(count=[124])(transposed=.trans)?(.m8n8)?.shared(::cta)?.b16"): _ldmatrix,
    _pattern("stmatrix.sync.aligned(.m8n8)?.x(count=[124])(transposed=.trans)?(.m8n8)?.shared(::cta)?.b16"): _stmatrix,
    _pattern("elect.sync"): lambda asm, _, arguments: (
        f"const bool emu_elected = emu_ptx::elected({asm.value(arguments[1], 'unsigned')});"
        f" {asm.registers(arguments[0])[-1]} = emu_elected;"
    ),
    _pattern("mma.sync.aligned.m16n8k(k=4|8|16|32).row.col(sat=.satfinite)?.(d=f16|f32|s32)"
             ".(a=b?f16|tf32|[su]8).(b=b?f16|tf32|[su]8).(c=f16|f32|s32)"): _mma,
    _pattern("mma.sync.aligned.m(rows=8|16)n8k(k=4|8|16).row.col.f64.f64.f64.f64"): _mma_double,
    re.compile(r"(?:prefetchu?|discard|applypriority)\b.*|griddepcontrol\.\w+|setmaxnreg\..*"): lambda *_: "",
}  # fmt: skip


# --- text ------------------------------------------------------------------------------------------------------------
def _string(token: Token) -> str:
    raw = re.fullmatch(r'R"([^(]*)\((.*)\)\1"', token.text, re.S)
    if raw:
        return raw[2]
    if not token.text.startswith('"'):
        raise UnknownError(f"the text of asm must be a string, not {token.text}")
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t", "\n": ""}.get(m[1], m[1]), token.text[1:-1], flags=re.S)


def _statements(ptx: str) -> Iterator[str]:
    """Instructions, declarations, and the braces of scopes."""
    ptx = re.sub(r"//[^\n]*|/\*.*?\*/", " ", ptx.replace("%%", "%"), flags=re.S)
    statement = re.compile(r"\s*(?:([{}]|[A-Za-z_$][\w$]*:(?!:))|((?:\{[^}]*\}|[^{};])+)(?:;|$)|;)")
    at = 0
    while ptx[at:].strip():
        match = statement.match(ptx, at)
        if match is None:
            raise UnknownError(f"asm: the PTX text {' '.join(ptx[at:].split())[:60]} has no end")
        at = match.end()
        if text := match[1] or " ".join((match[2] or "").split()):
            yield text
