"""The rules that need no other definition than the one that they change."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .reading import end_of, level, put, rewritten, statement, top

#: What disappears, with what follows each on the same line.
HINTS = re.compile(
    r"\b__restrict__ ?|\b__forceinline__ ?|__launch_bounds__\((?:[^()]|\([^()]*\))*\)\s*|\[\[[^]]*\]\] ?"
    r"|^ *#pragma unroll(?: \d[^\n]*| *//[^\n]*)\n|^ *static_assert\(.*?;[^\n]*\n"
    r"|^ *(?:let_next_grid_begin|wait_for_grid_before)\(\);[^\n]*\n|(?<=\*)const (?=[a-z])|\b__host__ "
    r"|\brecompute_from\([^()]*\);[^\n]*\n",
    re.M | re.S,
)
#: Each type has one name, the shortest.
_TYPES = {
    "int64_t": "int",
    "int32_t": "int",
    "uint8_t": "unsigned char",
    "uint16_t": "unsigned short",
    "uint32_t": "unsigned",
    "uint64_t": "unsigned long long",
    "uintptr_t": "size_t",
    "unsigned int": "unsigned",
}
SIZES = {
    "float": 4,
    "double": 8,
    "int": 4,
    "unsigned": 4,
    "unsigned long long": 8,
    "unsigned char": 1,
    "unsigned short": 2,
}
#: A matmul kernel takes matrices of any layout. A plain one takes rows without gaps, of m x k, k x n and m x n
#: elements, or, where the variant's plan leaves gaps, rows at these distances.
_ROWS = {"a": "k", "b": "n", "c": "n"}
_PADDED_ROWS = {"a": "a_pitch", "b": "b_pitch", "c": "c_pitch"}
_MATRICES = (
    (r"const operand_stack<(\w+), \w+> stack\b", r"const \1 *a, const \1 *b, \1 *c, int m, int n, int k"),
    (r"^ *(?:const auto \[a, b, c, m, n, k\]|(?:const )?operands<.*?> op) = stack\.of_block\(\);\n", ""),
    (r"const operands<(\w+), \w+> &op\b", r"const \1 *a, const \1 *b, int m, int n, int k"),
    (r"const output_matrix<(\w+), \w+> &c\b", r"\1 *c"),
    (r"\bop\.(a|b|c|m|n|k)\b", r"\1"),
    (r"(?<=, )op(?=[,)])", "a, b, m, n, k"),
    # Of a launch within another variant, which this one is not.
    (r",\s*const unsigned \*findings, unsigned bit|^ *if \(findings && .*\n", ""),
)
#: ... and its parts, after the rows and columns have become elements.
_STRIDES = (
    (r"\b([abc])\.data\b", r"\1"),
    (r"\b[abc]\.column_stride == 1 && ", ""),
    (r"\[\(([\w +]+)\) \* [abc]\.column_stride\]", r"[\1]"),
    (r" \* [abc]\.column_stride\b", ""),
    (r"\b[abc]\.column_stride\b", "1"),
)
#: A picture has three channels, and rows without gaps.
_PICTURES = (
    (r"const picture image\b", "const unsigned char *image, unsigned char *gray, int height, int width"),
    (r"image\.column_stride == CHANNELS", "true"),
    (r" \* image\.gray_column_stride\b", ""),
    (r"\b2 \* image\.channel_stride\b", "2"),
    (r"\bimage\.(?:channel_stride|gray_column_stride)\b", "1"),
    (r"\bimage\.(height|width)\b", r"\1"),
)


def _replaced(text: str, rules: Sequence[tuple[str, str]]) -> str:
    for pattern, instead in rules:
        text = re.sub(pattern, instead, text, flags=re.M)
    return text


def _index(row: str, pitch: str, column: str) -> str:
    return f"{put(f'@ * {pitch}', 0, 1, row)} + {column}"


def _without_matrices(text: str, padded: bool) -> str:
    rows = _PADDED_ROWS if padded else _ROWS
    text = _replaced(text, _MATRICES)
    if padded:
        text = text.replace("int m, int n, int k", "int m, int n, int k, int a_pitch, int b_pitch, int c_pitch")
    for whole, name, line in re.findall(r"^( *const auto (\w+) = ([ab]\.(?:row|column)\(.*\));\n)", text, re.M):
        text = re.sub(rf"(?<!\w){name}(?=\[)", line, text.replace(whole, ""))
    while match := re.search(r"\b([ab])\.(row|column)\(", text):
        inner = end_of(text, match.end() - 1)
        outer = end_of(text, inner)
        row, column = text[match.end() : inner - 1], text[inner + 1 : outer - 1]
        if match[2] == "column":
            row, column = column, row
        text = f"{text[: match.start()]}{match[1]}[{_index(row, rows[match[1]], column)}]{text[outer:]}"
    text = rewritten(text, "c.store", lambda _, of: f"c[{_index(of[0], rows['c'], of[1])}] = {of[2]}")
    for matrix, pitch in rows.items():
        text = re.sub(rf"\b{matrix}\.row_stride\b", pitch, text)
    return _replaced(text, _STRIDES)


def _without_pictures(text: str) -> str:
    text = rewritten(text, "image.pixel", lambda _, of: f"image + ({_index(of[0], 'width', of[1])}) * 3")
    text = re.sub(r"\*image\.gray_pixel\((.*?), (.*?)\)(?= =)", lambda m: f"gray[{_index(m[1], 'width', m[2])}]", text)
    text = rewritten(text, "image.gray_pixel", lambda _, of: f"gray + {_index(of[0], 'width', of[1])}")
    return _replaced(text, _PICTURES)


def simplified(text: str, padded: bool) -> str:
    """By the rules that need no other definition."""
    text = HINTS.sub("", HINTS.sub("", text))
    text = re.sub(r"(?<=[;{},])  +(?=//)", " ", text)
    text = re.sub(r"static_cast<int64_t>\(([\w.]+)\)(?= \*)", r"\1", text)
    text = re.sub(r"\bnumber<(\w+)>", r"\1", text)
    text = _without_pictures(_without_matrices(text, padded))
    text = re.sub(r"DYNAMIC_SHARED\((.+), (\w+)\);", r"extern __shared__ \1 \2[];", text)
    text = rewritten(text, "number_cast", lambda _, of: of[0])
    text = rewritten(text, "compensated_result", lambda _, of: f"{of[0]}.sum")
    text = rewritten(text, "cp_async", lambda size, of: f"__pipeline_memcpy_async({', '.join(_copy(size, of))})")
    text = rewritten(text, "cp_async_commit", lambda *_: "__pipeline_commit()")
    text = rewritten(text, "cp_async_wait", lambda of, _: f"__pipeline_wait_prior({of[0]})")
    text = re.sub(r"\b(?:publishing|matmul)::", "", text)
    text = re.sub(r"__constant__ (struct (\w+) \{.*?\}) (\w+);", r"\1;\n\n__constant__ \2 \3;", text)
    return re.sub("|".join(rf"\b{name}\b" for name in _TYPES), lambda match: _TYPES[match[0]], text)


def _copy(size: list[str], of: list[str]) -> list[str]:
    return [*of[:2], size[0], *([f"{size[0]} - ({of[2]})"] if len(of) > 2 else [])]


def without_casts(text: str) -> str:
    """static_cast and reinterpret_cast as C writes them, where a conversion is not implied."""
    while match := re.search(r"\b(static|reinterpret)_cast<", text):
        closing = end_of(text, match.end() - 1)
        end = end_of(text, closing)
        target, inner = text[match.end() : closing - 1], text[closing + 1 : end - 1]
        before, after = text[: match.start()].rstrip(), text[end:].lstrip()
        if "*" in target:
            new = f"({target}){inner if level(inner) == 0 else f'({inner})'}"
            new = f"({new})" if after[:1] in ("[", ".") or after[:2] == "->" else new
            text = text[: match.start()] + new + text[end:]
            continue
        statement = re.split(r"[;{}]", before)[-1]
        implied = (
            re.search(r"(?:(?<![=<>!])=|\breturn|[-+*/|^]=)$", before)
            and after[:1] in ";,)"
            and "auto " not in statement
        )
        integers = re.fullmatch(r"(?:[\s+*()%-]|\w*(?:Idx|Dim)\.[xyz]|[A-Z_]+|\d+)*", inner)
        argument = (
            re.search(r"[(,]$", before)
            and after[:1] in ",)"
            and not re.search(r"(?:atomic|__\w+|make_)\w*\([^;]*$", statement)
        )
        modular = target == "unsigned" and re.search(r"[\w)\]] [-+*^&|]$", before) and after[:1] in ";,)"
        if implied or modular or (target == "int" and (integers or argument)):
            text = put(text, match.start(), end, inner)
        elif " " in target:
            text = put(text, match.start(), end, f"({target}){inner if level(inner) == 0 else f'({inner})'}")
        else:
            text = text[: match.start()] + f"{target}({inner})" + text[end:]
    literal = r"\b(unsigned(?: long long| char)?)\((\d+)\)"
    text = re.sub(literal, lambda match: match[2] + ("ull" if "long" in match[1] else "u"), text)
    text = text.replace("unsigned long long(", "(unsigned long long)(")
    return re.sub(r"\bfloat\((\d+)(?:\.(\d+))?\)", lambda m: f"{m[1]}.{m[2] or 0}f", text)


def decided(text: str) -> str:
    """Without conditions that are true or false whatever the data, nor the constants that are."""
    text = _decided(text)
    while found := re.search(r"^ *const bool (\w+) =\s+(true|false);\n", text, re.M):
        text = text[: found.start()] + re.sub(rf"\b{found[1]}\b", found[2], text[found.end() :])
        text = _decided(text)
    return text


def _decided(text: str) -> str:
    word = r"(float|double|int|unsigned(?: long long| char| short)?)"
    text = re.sub(
        rf"std::is_(floating_point|integral)_v<{word}>",
        lambda m: str((m[2] in ("float", "double")) == (m[1] != "integral")).lower(),
        text,
    )
    text = re.sub(r"std::is_same<(.*?)>::value", r"std::is_same_v<\1>", text)
    text = re.sub(rf"std::is_same_v<{word}, {word}>", lambda m: str(m[1] == m[2]).lower(), text)
    text = re.sub(
        rf"(?<![-+*/%] )sizeof\({word}\) (==|<|<=|>=|>) (?:sizeof\({word}\)|(\d+))(?! [-+*])", _compared, text
    )
    text = re.sub(r"(?<![-+*/%] )\b(\d+) == \1\b", "true", text)
    text = re.sub(r"!true\b", "false", text)
    text = re.sub(r"!false\b", "true", text)
    while match := re.search(r"(?<![\w)])!?\b(true|false)\b(?: (&&|\|\||\?) )", text):
        value = (match[1] == "true") != match[0].startswith("!")
        if match[2] == "?":
            rest = text[match.end() :]
            middle = top(rest, ":")
            tail = top(rest[middle + 1 :], ",;)]}")
            yes, no = rest[:middle].strip(), rest[middle + 1 : middle + 1 + tail].strip()
            text = put(text, match.start(), match.end() + middle + 1 + tail, yes if value else no)
        elif value == (match[2] == "&&"):
            text = text[: match.start()] + text[match.end() :]
        else:
            rest = text[match.end() :]
            tail = top(rest, ",;)]}?" + ("|" if value else ""))
            text = text[: match.start()] + ("true" if value else "false") + text[match.end() + tail :]
    text = re.sub(r"(?<=[(\w\]) ]) && true\b| \|\| false\b", "", text)
    while match := re.search(r"( *)if (?:constexpr )?\((!?)(true|false)\) ?", text):
        yes, end = statement(text, match.end())
        no = ""
        if other := re.compile(r"\s*else\s+").match(text, end):
            no, end = statement(text, other.end())
        chosen = yes if (match[3] == "true") != bool(match[2]) else no
        if chosen.startswith("{"):
            chosen = re.sub(r"^    ", "", chosen[1:-1].strip("\n"), flags=re.M).strip()
        end = end if chosen else end + (text[end : end + 1] == "\n")
        if chosen.startswith("return"):  # what follows is not reached
            end += top(text[end:], "}")
            chosen += "\n" + " " * max(len(match[1]) - 4, 0)
        text = text[: match.start()] + (match[1] * (chosen[:1] not in ("", "#")) + chosen) + text[end:]
    return text


def _compared(sizes: re.Match[str]) -> str:
    left, right = SIZES[sizes[1]], SIZES[sizes[3]] if sizes[3] else int(sizes[4])
    return str(
        {"==": left == right, "<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[sizes[2]]
    ).lower()
