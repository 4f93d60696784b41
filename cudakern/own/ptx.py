"""Inline PTX on the emulator: replaces each ``asm`` of a source by C++ statements that do the same.

An instruction is looked up by its opcode in ``_TABLE``, whose rows are a pattern, the types of the operands, and C++;
those with operands of other forms are in ``_HANDLERS``. What both lack becomes an error of the C++ compiler, with the
source's line, unless the preprocessor removes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from .cuda_source import Token, tokens

#: Types of PTX in C++.
_TYPES = {
    "u8": "unsigned char", "s8": "signed char", "b8": "unsigned char", "u16": "unsigned short", "s16": "short",
    "b16": "unsigned short", "u32": "unsigned", "s32": "int", "b32": "unsigned", "u64": "unsigned long long",
    "s64": "long long", "b64": "unsigned long long", "f32": "float", "f64": "double", "f16": "__half",
    "bf16": "__nv_bfloat16", "f16x2": "__half2", "bf16x2": "__nv_bfloat162", "pred": "bool",
}  # fmt: skip
#: The registers of these sizes, by the constraints of asm and the types of .reg.
_REGISTERS = {"8": "unsigned char", "16": "unsigned short", "32": "unsigned", "64": "unsigned long long", "d": "bool"}
_CONSTRAINTS = {"h": "16", "r": "32", "f": "32", "l": "64", "d": "64"}
_UNSIGNED = {"u16": "b16", "s16": "b16", "u32": "b32", "s32": "b32", "u64": "b64", "s64": "b64"}
_WIDE = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}

_SPECIAL = {
    "laneid": "emu_ptx::thread() % 32u", "warpid": "emu_ptx::thread() / 32u",
    "nwarpid": "(emu_ptx::threads() + 31) / 32u", "smid": "emu_ptx::multiprocessor()",
    "nsmid": "emu_ptx::multiprocessors()", "clock": "static_cast<unsigned>(emu_clock64())",
    "clock_hi": "static_cast<unsigned>(emu_clock64() >> 32)", "clock64": "emu_clock64()",
    "globaltimer": "emu_global_timer_ns()", "globaltimer_lo": "static_cast<unsigned>(emu_global_timer_ns())",
    "globaltimer_hi": "static_cast<unsigned>(emu_global_timer_ns() >> 32)",
    "lanemask_eq": "1u << emu_ptx::thread() % 32", "lanemask_lt": "(1u << emu_ptx::thread() % 32) - 1",
    "lanemask_le": "(2u << emu_ptx::thread() % 32) - 1", "lanemask_gt": "~((2u << emu_ptx::thread() % 32) - 1)",
    "lanemask_ge": "~((1u << emu_ptx::thread() % 32) - 1)",
    "dynamic_smem_size": "static_cast<unsigned>(emu_dynamic_shared_bytes())",
    **{f"{ptx}.{axis}": f"{cuda}.{axis}" for axis in "xyz"
       for ptx, cuda in (("tid", "threadIdx"), ("ntid", "blockDim"), ("ctaid", "blockIdx"), ("nctaid", "gridDim"))},
}  # fmt: skip

_INTEGER, _WORD, _BITS, _FLOAT = "[us](?:16|32|64)", "[usb](?:16|32|64)", "b(?:16|32|64)", "f(?:32|64)"
_HALF = "(?:b?f16)(?:x2)?"
_WAY = r"(?:\.(?P<way>r[nzmp]))?(?P<ftz>\.ftz)?(?P<sat>\.sat)?"
_FAST = r"\.(?:approx|full)(?P<ftz>\.ftz)?"
_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">",
             "hs": ">="}  # fmt: skip

#: Opcode, where (?P<t>...) is the type; the types of the result and the operands (T: the instruction's, U: unsigned,
#: W: twice as wide, V: that unsigned, X: the type to convert to); C++ for the operands a, b, c, d.
_TABLE: tuple[tuple[str, str, str], ...] = (
    (rf"mov\.(?P<t>{_WORD}|{_FLOAT}|pred)", "TT", "{a}"),
    (rf"(?P<op>add|sub)\.(?P<t>{_INTEGER})", "UUU", "{a} {sign} {b}"),
    (rf"mul\.lo\.(?P<t>{_INTEGER})", "UUU", "1u * {a} * {b}"),
    (rf"mul\.hi\.(?P<t>{_INTEGER})", "TTT", "emu_ptx::high({a}, {b})"),
    (r"mul\.wide\.(?P<t>[us](?:16|32))", "WTT", "static_cast<{W}>({a}) * {b}"),
    (rf"mad\.lo\.(?P<t>{_INTEGER})", "UUUU", "1u * {a} * {b} + {c}"),
    (rf"mad\.hi\.(?P<t>{_INTEGER})", "UTTU", "static_cast<{U}>(emu_ptx::high({a}, {b})) + {c}"),
    (r"mad\.wide\.(?P<t>[us](?:16|32))", "VTTV", "static_cast<{V}>(static_cast<{W}>({a}) * {b}) + {c}"),
    (r"mul24\.lo\.(?P<t>s32)", "TTT", "__mul24({a}, {b})"),
    (r"mul24\.lo\.(?P<t>u32)", "TTT", "__umul24({a}, {b})"),
    (
        r"(?P<op>add|sub)(?P<c>c?)(?P<cc>\.cc)?\.(?P<t>[us](?:32|64))",
        "UUU",
        "emu_ptx::{op}_with_carry<{U}>({a}, {b}, {carry_in}, {keep})",
    ),
    (r"mad(?P<c>c?)\.(?P<part>lo|hi)(?P<cc>\.cc)?\.(?P<t>[us](?:32|64))", "UTTU",
     "emu_ptx::add_with_carry<{U}>({product}, {c_}, {carry_in}, {keep})"),
    (rf"div\.(?P<t>{_INTEGER})", "TTT", "emu_ptx::quotient({a}, {b})"),
    (rf"rem\.(?P<t>{_INTEGER})", "TTT", "emu_ptx::remainder({a}, {b})"),
    (r"abs\.(?P<t>s(?:16|32|64))", "UT", "{a} < 0 ? 0 - static_cast<{U}>({a}) : static_cast<{U}>({a})"),
    (r"neg\.(?P<t>s(?:16|32|64))", "UU", "0 - {a}"),
    (rf"min\.(?P<t>{_INTEGER})", "TTT", "{a} < {b} ? {a} : {b}"),
    (rf"max\.(?P<t>{_INTEGER})", "TTT", "{a} > {b} ? {a} : {b}"),
    (r"sad\.(?P<t>[us]32)", "UTTU", "({a} > {b} ? 0u + {a} - {b} : 0u + {b} - {a}) + {c}"),
    (r"dp4a\.(?P<t>u32)\.u32", "TTTT", "__dp4a({a}, {b}, {c})"),
    (r"dp4a\.(?P<t>s32)\.s32", "TTTT", "__dp4a({a}, {b}, {c})"),
    (rf"and\.(?P<t>{_BITS}|pred)", "TTT", "{a} & {b}"),
    (rf"or\.(?P<t>{_BITS}|pred)", "TTT", "{a} | {b}"),
    (rf"xor\.(?P<t>{_BITS}|pred)", "TTT", "{a} ^ {b}"),
    (rf"not\.(?P<t>{_BITS})", "TT", "~{a}"),
    (r"not\.(?P<t>pred)", "TT", "!{a}"),
    (rf"cnot\.(?P<t>{_BITS})", "TT", "{a} == 0"),
    (rf"shl\.(?P<t>{_BITS})", "TTb32", "emu_ptx::shifted_left({a}, {b})"),
    (rf"shr\.(?P<t>{_WORD})", "TTb32", "emu_ptx::shifted_right({a}, {b})"),
    (r"shf\.l\.wrap\.(?P<t>b32)", "TTTT", "__funnelshift_l({a}, {b}, {c})"),
    (r"shf\.r\.wrap\.(?P<t>b32)", "TTTT", "__funnelshift_r({a}, {b}, {c})"),
    (r"shf\.l\.clamp\.(?P<t>b32)", "TTTT", "__funnelshift_lc({a}, {b}, {c})"),
    (r"shf\.r\.clamp\.(?P<t>b32)", "TTTT", "__funnelshift_rc({a}, {b}, {c})"),
    (r"bfe\.(?P<t>[us](?:32|64))", "TTb32b32", "emu_ptx::bit_field({a}, {b}, {c})"),
    (r"bfi\.(?P<t>b(?:32|64))", "TTTb32b32", "emu_ptx::with_bit_field({a}, {b}, {c}, {d})"),
    (r"bfind\.(?P<t>[us](?:32|64))", "u32T", "emu_ptx::highest_bit({a})"),
    (r"popc\.(?P<t>b(?:32|64))", "u32T", "__builtin_popcountll({a})"),
    (r"clz\.(?P<t>b32)", "u32T", "__clz(static_cast<int>({a}))"),
    (r"clz\.(?P<t>b64)", "u32T", "__clzll(static_cast<long long>({a}))"),
    (r"brev\.(?P<t>b32)", "TT", "__brev({a})"),
    (r"brev\.(?P<t>b64)", "TT", "__brevll({a})"),
    (r"fns\.(?P<t>b32)", "TTTs32", "__fns({a}, {b}, {c})"),
    (r"prmt\.(?P<t>b32)", "TTTT", "emu_ptx::permuted({a}, {b}, {c})"),
    (r"lop3\.(?P<t>b32)", "TTTTT", "emu_ptx::logic({a}, {b}, {c}, {d})"),
    (rf"selp\.(?P<t>{_WORD}|{_FLOAT})", "TTTpred", "{c} ? {a} : {b}"),
    # --- floating point
    (rf"(?P<op>add|sub|mul){_WAY}\.(?P<t>{_FLOAT})", "TTT", "{arithmetic}({a}, {b})"),
    (rf"(?:fma|mad){_WAY}\.(?P<t>{_FLOAT})", "TTTT", "{fused}({a}, {b}, {c})"),
    (r"div\.(?P<way>r[nzmp])(?P<ftz>\.ftz)?\.(?P<t>f32|f64)(?P<op>)", "TTT", "{divided}({a}, {b})"),
    (r"(?P<op>rcp|sqrt)\.(?P<way>r[nzmp])(?P<ftz>\.ftz)?\.(?P<t>f32|f64)", "TT", "{arithmetic}({a})"),
    (rf"div{_FAST}\.(?P<t>f32)", "TTT", "__fdividef({a}, {b})"),
    (rf"rcp{_FAST}\.(?P<t>f32|f64)", "TT", "1 / {a}"),
    (rf"sqrt{_FAST}\.(?P<t>f32)", "TT", "sqrtf({a})"),
    (rf"rsqrt{_FAST}\.(?P<t>f32|f64)", "TT", "rsqrt(static_cast<double>({a}))"),
    (rf"sin{_FAST}\.(?P<t>f32)", "TT", "__sinf({a})"),
    (rf"cos{_FAST}\.(?P<t>f32)", "TT", "__cosf({a})"),
    (rf"ex2{_FAST}\.(?P<t>f32)", "TT", "exp2f({a})"),
    (rf"lg2{_FAST}\.(?P<t>f32)", "TT", "__log2f({a})"),
    (rf"tanh{_FAST}\.(?P<t>f32)", "TT", "tanhf({a})"),
    (rf"abs(?P<ftz>\.ftz)?\.(?P<t>{_FLOAT})", "TT", "std::fabs({a})"),
    (rf"neg(?P<ftz>\.ftz)?\.(?P<t>{_FLOAT})", "TT", "-{a}"),
    (rf"copysign\.(?P<t>{_FLOAT})", "TTT", "std::copysign({b}, {a})"),
    (rf"min(?P<ftz>\.ftz)?\.(?P<t>{_FLOAT})", "TTT", "emu_ptx::least({a}, {b})"),
    (rf"max(?P<ftz>\.ftz)?\.(?P<t>{_FLOAT})", "TTT", "emu_ptx::greatest({a}, {b})"),
    (rf"(?P<op>add|sub|mul)(?:\.rn)?\.(?P<t>{_HALF})", "TTT", "{a} {sign} {b}"),
    (rf"(?P<op>fma)\.rn\.(?P<t>{_HALF})", "TTTT", "__hfma{two}({a}, {b}, {c})"),
    (rf"(?P<op>abs|neg)\.(?P<t>{_HALF})", "TT", "__h{op}{two}({a})"),
    (rf"(?P<op>min|max)\.(?P<t>{_HALF})", "TTT", "__h{op}{two}({a}, {b})"),
    # --- conversions
    (r"cvt(?:\.(?P<way>r[nzmp]i?))?(?P<ftz>\.ftz)?(?P<sat>\.sat)?\.(?P<to>[us](?:8|16|32|64)|b?f16|f32|f64)"
     r"\.(?P<t>[us](?:8|16|32|64)|b?f16|f32|f64)", "XT", "{converted}"),
    (r"cvt\.rn\.(?P<t>f16x2)\.f32", "Tf32f32", "__floats2half2_rn({b}, {a})"),
    (r"cvt\.rn\.(?P<t>bf16x2)\.f32", "Tf32f32", "__floats2bfloat162_rn({b}, {a})"),
    (r"cvt\.rna\.tf32\.f32(?P<t>)", "b32b32", "({a} + 0x1000u) & 0xffffe000u"),
    (r"cvta(?:\.to)?\.(?:global|local|const|param)\.(?P<t>u64)", "TT", "{a}"),
    (r"cvta\.to\.shared\.(?P<t>u64)", "TT",
     "static_cast<unsigned long long>(__cvta_generic_to_shared(reinterpret_cast<void *>({a})))"),
    (r"cvta\.shared\.(?P<t>u64)", "TT",
     "reinterpret_cast<unsigned long long>(__cvta_shared_to_generic({a}))"),
    # --- warps
    (r"vote\.sync\.all\.(?P<t>pred)", "TTb32", "__all_sync({b}, {a}) != 0"),
    (r"vote\.sync\.any\.(?P<t>pred)", "TTb32", "__any_sync({b}, {a}) != 0"),
    (r"vote\.sync\.ballot\.(?P<t>b32)", "TpredT", "__ballot_sync({b}, {a})"),
    (r"match\.any\.sync\.(?P<t>b32|b64)", "b32Tb32", "__match_any_sync({b}, {a})"),
    (r"redux\.sync\.(?P<op>add|min|max)\.(?P<t>[us]32)", "TTb32", "__reduce_{op}_sync({b}, {a})"),
    (r"redux\.sync\.(?P<op>and|or|xor)\.(?P<t>b32)", "TTb32", "__reduce_{op}_sync({b}, {a})"),
    (r"activemask\.(?P<t>b32)", "T", "__activemask()"),
)  # fmt: skip

_SYMBOLS = {"add": "+", "sub": "-", "mul": "*"}
_SPACE = r"(?:\.(?P<space>global|shared(?:::cta)?|local|const))?"
_HINTS = r"(?:\.(?:ca|cg|cs|lu|cv|nc|wb|wt|L[12]::[\w:]+))*"
_ORDER = r"(?:\.(?P<order>volatile|weak|relaxed|acquire|release)(?:\.(?:cta|cluster|gpu|sys))?)?"
_MEMORY = re.compile(
    rf"(?P<op>ld|st){_ORDER}{_SPACE}{_HINTS}(?:\.v(?P<count>[24]))?\.(?P<t>[usb](?:8|16|32|64)|f32|f64)"
)
_ATOMIC = re.compile(
    rf"(?P<op>atom|red)(?:\.(?:relaxed|acquire|release|acq_rel))?(?:\.(?:cta|cluster|gpu|sys))?{_SPACE}"
    r"\.(?P<what>add|min|max|and|or|xor|exch|cas|inc|dec)(?:\.noftz)?\.(?P<t>[usb](?:16|32|64)|f32|f64|b?f16(?:x2)?)"
)
_ATOMICS = {"add": "Add", "min": "Min", "max": "Max", "and": "And", "or": "Or", "xor": "Xor", "exch": "Exch",
            "cas": "CAS", "inc": "Inc", "dec": "Dec"}  # fmt: skip
_SETP = re.compile(
    rf"setp\.(?P<how>{'|'.join(_COMPARED)}|(?:{'|'.join(_COMPARED)})u|num|nan)(?P<ftz>\.ftz)?\.(?P<t>{_WORD}|{_FLOAT})"
)


class UnknownError(Exception):
    """Something in an asm that has no translation; the message names it."""


class _Register(NamedTuple):
    name: str  # in C++
    type: str  # "" for a literal


# --- the source ------------------------------------------------------------------------------------------------------
_ASM = {"asm", "__asm__", "__asm"}
_QUALIFIERS = {"volatile", "__volatile__", "__volatile", "inline", "__inline__"}


def has_asm(text: str) -> bool:
    return re.search(r"\b(?:asm|__asm__|__asm)\b", text) is not None


def translated(text: str) -> str:
    """The source with C++ for each asm, also in the bodies of macros. Lines keep their numbers."""
    if not has_asm(text):
        return text

    def macro(match: re.Match[str]) -> str:
        if not has_asm(match[0]):
            return match[0]
        body = _without_asm(match[0].replace("\\\n", " \n"), in_macro=True)
        return re.sub(r" ?\n", lambda _: "\\\n", body)

    define = r"^[ \t]*#[ \t]*define\b(?:\\\n|[^\n])*"
    return _without_asm(re.sub(define, macro, text, flags=re.M))


def _without_asm(text: str, in_macro: bool = False) -> str:
    source = tokens(re.sub(r"^[ \t]*#", lambda m: " " * len(m[0]), text) if in_macro else text)
    pieces: list[str] = []
    end = i = 0
    while i < len(source):
        start = i
        i += 1
        if source[start].text not in _ASM:
            continue
        while i < len(source) and source[i].text in _QUALIFIERS:
            i += 1
        if i == len(source) or source[i].text != "(":
            continue
        depth, first = 1, i + 1
        while depth and i + 1 < len(source):
            i += 1
            depth += (source[i].text in "([{") - (source[i].text in ")]}")
        parts = source[first:i]
        i += 1
        last = source[i].end if i < len(source) and source[i].text == ";" else source[i - 1].end
        try:
            code = _Asm(text, parts).code()
        except UnknownError as error:
            words = re.sub(r"[^\w .,:;%@!+=<>(){}\[\]/-]", "'", str(error))
            code = f'_Pragma("GCC error \\"{words}\\"");'
        pieces += [text[end : source[start].start], code, "\n" * text.count("\n", source[start].start, last)]
        end = last
    return "".join([*pieces, text[end:]])


class _Asm:
    """One asm: its text, operands and registers."""

    def __init__(self, text: str, parts: list[Token]) -> None:
        self.source = text
        self.operands: list[_Register] = []
        self.scopes: list[dict[str, _Register]] = [{}]
        self.before: list[str] = []
        self.after: list[str] = []
        sections: list[list[Token]] = [[]]
        depth = 0
        for token in parts:
            depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
            if depth == 0 and token.text in (":", "::"):
                sections += [[] for _ in token.text]
            else:
                sections[-1].append(token)
        self.ptx = "".join(map(_string, sections[0]))
        for is_output, section in zip((True, False), sections[1:3], strict=False):
            for operand in _separated(section):
                self._operand(operand, is_output)

    def _operand(self, operand: list[Token], is_output: bool) -> None:
        name = f"emu_{len(self.operands)}"
        if len(operand) < 4 or operand[1].text != "(":
            raise UnknownError("an operand of asm must have the form constraint (expression)")
        constraint = _string(operand[0])
        expression = re.sub(r"//[^\n]*|/\*.*?\*/|\n", " ", self.source[operand[1].start : operand[-1].end], flags=re.S)
        letter = constraint.lstrip("=+&")
        if letter == "n":
            self.operands.append(_Register(f"static_cast<long long>{expression}", ""))
            return
        if letter not in _CONSTRAINTS:
            raise UnknownError(
                f"the emulator does not have the constraint {constraint} of asm, only h, r, l, f, d and n"
            )
        kind = _REGISTERS[_CONSTRAINTS[letter]]
        self.operands.append(_Register(name, kind))
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
        else:
            guard = re.match(r"@(!?)\s*([\w%$]+)\s+", text)
            condition = f"if ({guard[1]}{self._operand_of(guard[2]).name}) " if guard else ""
            opcode, _, rest = text[guard.end() if guard else 0 :].partition(" ")
            arguments = [part.strip() for part in re.findall(r"(?:\{[^}]*\}|\[[^\]]*\]|[^,{\[])+", rest)]
            yield condition + "{ " + self._instruction(opcode, arguments) + " }"

    def _declare(self, text: str) -> Iterator[str]:
        match = re.fullmatch(r"\.reg\s+(?:\.v[24]\s+)?\.(\w+)\s+(.*)", text, re.S)
        if not match or match[1] not in _TYPES or ".v" in text:
            raise UnknownError(f"the emulator cannot declare PTX registers by {text}")
        kind = _REGISTERS[
            "d" if match[1] == "pred" else {"f16x2": "32", "bf16x2": "32"}.get(match[1], match[1].lstrip("usbf"))
        ]
        for name in re.split(r"\s*,\s*", match[2].strip()):
            many = re.fullmatch(r"([\w%$]+)<(\d+)>", name)
            for each in [f"{many[1]}{i}" for i in range(int(many[2]))] if many else [name]:
                register = _Register("emu_reg_" + re.sub(r"\W", "_", each), kind)
                self.scopes[-1][each] = register
                yield f"{kind} {register.name} = 0;"

    def _instruction(self, opcode: str, arguments: list[str]) -> str:
        for pattern, handler in _HANDLERS:
            match = pattern.fullmatch(opcode)
            if match:
                try:
                    return handler(self, match, arguments)
                except (ValueError, IndexError):
                    raise UnknownError(
                        f"the PTX instruction {opcode} has other operands than {', '.join(arguments)}"
                    ) from None
        for row, types, code in _TABLE:
            match = re.fullmatch(row, opcode)
            if match:
                return self._from_table(match, re.findall(r"[TUWVX]|[usbf]+\d+|pred", types), code, arguments)
        raise UnknownError(f"the emulator does not have the PTX instruction {opcode}")

    def _from_table(self, match: re.Match[str], types: list[str], code: str, arguments: list[str]) -> str:
        parts = match.groupdict()
        kind = parts["t"]
        unsigned, wide = _UNSIGNED.get(kind, kind), _WIDE.get(kind, kind)
        meaning = {"T": kind, "U": unsigned, "W": wide, "V": _UNSIGNED.get(wide, wide), "X": parts.get("to")}
        kinds = [_TYPES[meaning.get(each) or each] for each in types]
        if len(arguments) != len(kinds):
            raise UnknownError(f"the PTX instruction {match[0]} has {len(kinds)} operands, not {len(arguments)}")
        if "{" in arguments[0] or any("{" in argument for argument in arguments[1:]):
            return self._packed(match[0], kind, arguments)
        result = self._operand_of(arguments[0])
        values = [self._value(argument, type_) for argument, type_ in zip(arguments[1:], kinds[1:], strict=True)]
        flush = parts.get("ftz") and kind == "f32"
        values = [f"emu_ptx::flushed({value})" for value in values] if flush else values
        names = dict(zip("abcd", values, strict=False))
        words = names | {letter: _TYPES[each] for letter, each in meaning.items() if each} | _words(parts, kind, names)
        expression = f"static_cast<{kinds[0]}>({code.format(**words)})"
        expression = f"emu_ptx::flushed({expression})" if flush else expression
        if parts.get("sat") and not code.startswith("{converted"):
            expression = f"static_cast<{kinds[0]}>(emu_ptx::saturated_to_1({expression}))"
        return f"emu_ptx::put({result.name}, {expression});"

    def _packed(self, opcode: str, kind: str, arguments: list[str]) -> str:
        """mov between a register and a vector of its parts, the lowest first."""
        if not opcode.startswith("mov.b"):
            raise UnknownError(f"the emulator does not have vectors in the PTX instruction {opcode}")
        to, of = arguments
        vector = [self._operand_of(name) for name in _names(to if "{" in to else of)]
        bits = int(kind[1:]) // len(vector)
        part = _TYPES[f"b{bits}"]
        if "{" in to:
            code = [f"const auto emu_whole = {self._value(of, _TYPES[kind])};"]
            code += [f"{each.name} = static_cast<{part}>(emu_whole >> {bits * i});" for i, each in enumerate(vector)]
            return " ".join(code)
        terms = [f"static_cast<{_TYPES[kind]}>({each.name}) << {bits * i}" for i, each in enumerate(vector)]
        return f"emu_ptx::put({self._operand_of(to).name}, static_cast<{_TYPES[kind]}>({' | '.join(terms)}));"

    # --- operands
    def _operand_of(self, text: str) -> _Register:
        text = text.strip()
        for scope in reversed(self.scopes):
            if text in scope:
                return scope[text]
        if match := re.fullmatch(r"%(\d+)", text):
            if int(match[1]) >= len(self.operands):
                raise UnknownError(f"asm has no operand {text}")
            return self.operands[int(match[1])]
        if text.startswith("%") and text[1:] in _SPECIAL:
            expression = _SPECIAL[text[1:]]
            kind = _REGISTERS["64" if "64" in text or text == "%globaltimer" else "32"]
            return _Register(f"static_cast<{kind}>({expression})", kind)
        if match := re.fullmatch(r"0[fF]([0-9a-fA-F]{8})", text):
            return _Register(f"0x{match[1]}u", "unsigned")
        if match := re.fullmatch(r"0[dD]([0-9a-fA-F]{16})", text):
            return _Register(f"0x{match[1]}ull", "unsigned long long")
        if text == "WARP_SZ":
            return _Register("32ll", "")
        if match := re.fullmatch(r"(-?)(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?", text):
            return _Register(f"static_cast<long long>({match[1]}{match[2]}ull)", "")
        if re.fullmatch(r"-?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?", text):
            return _Register(f"double({text})", "")
        raise UnknownError(f"the emulator does not have the PTX operand {text}")

    def _value(self, text: str, kind: str) -> str:
        negated = text.startswith("!")
        value = f"emu_ptx::as<{kind}>({self._operand_of(text[negated:]).name})"
        return f"!{value}" if negated else value

    def address(self, text: str, space: str | None, kind: str) -> str:
        match = re.fullmatch(r"\[\s*([^\s+\-\]]+)\s*(?:\+?\s*(-?\s*\w+))?\s*\]", text)
        if not match:
            raise UnknownError(f"the emulator does not have the PTX address {text}")
        base = f"emu_ptx::as<unsigned long long>({self._operand_of(match[1]).name})"
        offset = f" + {self._value(match[2].replace(' ', ''), 'long long')}" if match[2] else ""
        where = "shared" if (space or "").startswith("shared") else "global"
        return f"emu_ptx::{where}<{kind}>({base}{offset})"


def _words(parts: dict[str, str | None], kind: str, names: dict[str, str]) -> dict[str, str]:
    """What the table's C++ takes from the opcode."""
    op, way = parts.get("op") or "", parts.get("way") or "rn"
    letter = "f" if kind == "f32" else "d"
    suffix = {"rm": "rd", "rp": "ru"}.get(way, way)
    words = {
        "op": op,
        "sign": _SYMBOLS.get(op, ""),
        "arithmetic": f"__{letter}{op}_{suffix}",
        "divided": f"__{letter}div_{suffix}",
        "fused": f"__fma{'f' * (kind == 'f32')}_{suffix}",
        "two": "2" * kind.endswith("x2"),
    }
    if "cc" in parts:
        words["keep"] = "true" if parts["cc"] else "false"
        words["carry_in"] = "emu_ptx::carry" if parts["c"] else "0"
        if parts.get("part"):
            a, b, unsigned = names["a"], names["b"], _TYPES[_UNSIGNED[kind]]
            low = f"1u * static_cast<{unsigned}>({a}) * static_cast<{unsigned}>({b})"
            words["product"] = low if parts["part"] == "lo" else f"static_cast<{unsigned}>(emu_ptx::high({a}, {b}))"
            words["c_"] = names["c"]
    if parts.get("to"):
        to, saturates = str(parts["to"]), "true" if parts.get("sat") else "false"
        mode, source = parts.get("way"), names["a"]
        if mode and mode.endswith("i") and to[0] == "f":  # to an integral number of a floating-point type
            source, mode = f"emu_ptx::to_integral({source}, emu_ptx::{mode[:2]})", "rn"
        default = "rn" if "f" in to else "rz"
        words["converted"] = f"emu_ptx::convert<{_TYPES[to]}>({source}, emu_ptx::{(mode or default)[:2]}, {saturates})"
    return words


# --- instructions with operands of other forms -----------------------------------------------------------------------
_Handler = Callable[[_Asm, "re.Match[str]", list[str]], str]


def _memory(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    is_load = match["op"] == "ld"
    where, what = arguments if not is_load else reversed(arguments)
    kind, count = _TYPES[match["t"]], int(match["count"] or 1)
    vector = [asm._operand_of(name) for name in _names(what)]
    if len(vector) != count:
        raise UnknownError(f"the PTX instruction {match[0]} has {count} values, not {len(vector)}")
    ordered = match["order"] not in (None, "weak")
    code = [f"{kind} *emu_at = {asm.address(where, match['space'], kind)};"]
    function = ("load_again" if ordered else "load") if is_load else ("store_now" if ordered else "store")
    values = [f"emu_ptx::{function}(emu_at + {i})" for i in range(count)]
    if is_load:
        code += [f"const {kind} emu_v{i} = {value};" for i, value in enumerate(values)]
        code += [f"emu_ptx::put({register.name}, emu_v{i});" for i, register in enumerate(vector)]
    else:
        code += [f"emu_ptx::{function}(emu_at + {i}, emu_ptx::as<{kind}>({r.name}));" for i, r in enumerate(vector)]
    return " ".join(code)


def _atomic(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    kind, what = _TYPES[match["t"]], match["what"]
    if match["t"] == "s64" and what not in ("min", "max"):
        kind = "unsigned long long"
    result = arguments.pop(0) if match["op"] == "atom" else "_"
    place = asm.address(arguments.pop(0), match["space"], kind)
    values = ", ".join(asm._value(argument, kind) for argument in arguments)
    call = f"atomic{_ATOMICS[what]}({place}, {values})"
    return f"{call};" if result == "_" else f"emu_ptx::put({asm._operand_of(result).name}, {call});"


def _setp(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    kind, how = _TYPES[match["t"]], match["how"]
    results = [asm._operand_of(name) for name in re.split(r"\s*\|\s*", arguments[0])]
    a, b = (asm._value(argument, kind) for argument in arguments[1:])
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
    values = (test, f"!{test}")
    return " ".join(f"{result.name} = {value};" for result, value in zip(results, values, strict=False))


def _shuffle(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    names = re.split(r"\s*\|\s*", arguments[0])
    values = ", ".join(asm._value(argument, "unsigned") for argument in arguments[1:])
    code = f"bool emu_in; const unsigned emu_got = emu_ptx::shuffle(emu_ptx::{match['how']}, {values}, emu_in);"
    code += f" emu_ptx::put({asm._operand_of(names[0]).name}, emu_got);"
    return code + (f" {asm._operand_of(names[1]).name} = emu_in;" if len(names) > 1 else "")


def _match_all(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    names = re.split(r"\s*\|\s*", arguments[0])
    value, mask = asm._value(arguments[1], _TYPES[match["t"]]), asm._value(arguments[2], "unsigned")
    code = f"int emu_all; emu_ptx::put({asm._operand_of(names[0]).name}, __match_all_sync({mask}, {value}, &emu_all));"
    return code + (f" {asm._operand_of(names[1]).name} = emu_all != 0;" if len(names) > 1 else " (void)emu_all;")


def _uniform(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    value, mask = asm._value(arguments[1], "bool"), asm._value(arguments[2], "unsigned")
    return (
        f"const unsigned emu_mask = {mask}, emu_yes = __ballot_sync(emu_mask, {value}); "
        f"{asm._operand_of(arguments[0]).name} = emu_yes == 0 || emu_yes == emu_mask;"
    )


def _call(function: str, kind: str = "unsigned") -> _Handler:
    def handler(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
        return f"{function}({', '.join(asm._value(argument, kind) for argument in arguments)});"

    return handler


def _barrier(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    values = [asm._value(argument, "unsigned") for argument in arguments]
    return f"emu_ptx::barrier({', '.join([*values, '0u'][:2])});"


def _copy(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    to, of = asm.address(arguments[0], "shared", "char"), asm.address(arguments[1], "global", "char")
    size = asm._value(arguments[2], "int")
    read = asm._value(arguments[3], "int") if len(arguments) > 3 else size
    return f"emu_copy_async({to}, {of}, {size}, {read}, __builtin_FILE(), __builtin_LINE());"


def _nothing(asm: _Asm, match: re.Match[str], arguments: list[str]) -> str:
    return ""


_HANDLERS: tuple[tuple[re.Pattern[str], _Handler], ...] = tuple(
    (pattern if isinstance(pattern, re.Pattern) else re.compile(pattern), handler)
    for pattern, handler in (
        (_MEMORY, _memory),
        (_ATOMIC, _atomic),
        (_SETP, _setp),
        (r"shfl\.sync\.(?P<how>up|down|bfly|idx)\.b32", _shuffle),
        (r"match\.all\.sync\.(?P<t>b32|b64)", _match_all),
        (r"vote\.sync\.uni\.pred", _uniform),
        (r"(?:bar|barrier)(?:\.cta)?\.sync(?:\.aligned)?", _barrier),
        (r"(?:bar|barrier)(?:\.cta)?\.arrive(?:\.aligned)?", _call("emu_ptx::arrive")),
        (r"bar\.warp\.sync", _call("__syncwarp")),
        (r"(?:membar\.cta|fence(?:\.(?:sc|acq_rel))?\.cta)", _call("__threadfence_block")),
        (r"(?:membar\.(?:gl|sys)|fence(?:\.(?:sc|acq_rel))?\.(?:gpu|sys|cluster))", _call("__threadfence")),
        (r"cp\.async\.c[ag]\.shared(?:::cta)?\.global(?:\.L2::\w+)?", _copy),
        (r"cp\.async\.commit_group", _call("emu_copy_async_commit")),
        (r"cp\.async\.wait_group", _call("emu_copy_async_wait", "int")),
        (r"cp\.async\.wait_all", lambda *_: "emu_copy_async_commit(); emu_copy_async_wait(0);"),
        (r"nanosleep\.u32", _call("__nanosleep")),
        (r"trap", _call("__trap")),
        (r"(?:prefetchu?|discard|applypriority)\b.*|griddepcontrol\.\w+", _nothing),
    )
)


# --- text ------------------------------------------------------------------------------------------------------------
def _string(token: Token) -> str:
    raw = re.fullmatch(r'R"([^(]*)\((.*)\)\1"', token.text, re.S)
    if raw:
        return raw[2]
    if not token.text.startswith('"'):
        raise UnknownError(f"the text of asm must be a string, not {token.text}")
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t", "\n": ""}.get(m[1], m[1]), token.text[1:-1], flags=re.S)


def _separated(section: list[Token]) -> Iterator[list[Token]]:
    """The parts between commas."""
    part: list[Token] = []
    depth = 0
    for token in section:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if depth == 0 and token.text == ",":
            yield part
            part = []
        else:
            part.append(token)
    if part:
        yield part


def _statements(ptx: str) -> Iterator[str]:
    """Instructions, declarations, and the braces of scopes."""
    ptx = re.sub(r"//[^\n]*|/\*.*?\*/", " ", ptx.replace("%%", "%"), flags=re.S)
    at = 0
    while match := re.compile(r"\s*(?:([{}])|((?:\{[^}]*\}|[^{};])+)(?:;|$)|;)").match(ptx, at):
        at = match.end()
        text = match[1] or " ".join((match[2] or "").split())
        if text:
            yield text
        if at == len(ptx):
            return
    if ptx[at:].strip():
        raise UnknownError(f"asm: the PTX text {' '.join(ptx[at:].split())[:60]} has no end")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.strip().strip("{}").split(",")]
