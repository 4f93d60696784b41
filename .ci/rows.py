"""docs/rows.md: every row of the documents, the name to call, the tests that prove it, the notebook that shows it.

    rows.py           writes docs/rows.md from docs/rows.toml, the variant table, the tests and the notebooks
    rows.py --check   changes nothing; fails if docs/rows.md is not what that gives, if a name cannot be called, or if a
                      row has no test

Only the rows, their names and each section's test files are written by hand (docs/rows.toml). Within those files and
tests/test_operations.py a test proves what it calls, and is listed nowhere (elsewhere a call is a test's means):

  - it is parametrised with a row of the variant table, or with an operation (tests/test_operations.py: each of them)
  - it calls the function, by whatever name it imported it, itself or through a function of its own file; for a
    variant, its name is among the strings or parameters of that test too
  - where neither can be seen, it says so itself, in whatever file: @pytest.mark.row("title of the row")

So a new test of an operation counts as soon as it is there, and a renamed one cannot leave a name behind.
"""

import ast
import contextlib
import functools
import importlib
import io
import json
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import cudakern
from cudakern._operations import registry
from cudakern._table import Variant

ROOT = Path(__file__).resolve().parent.parent
ROWS, PAGE = ROOT / "docs/rows.toml", ROOT / "docs/rows.md"
EVERY = "test_operations.py"  #: it tests each operation of the table, by its reference
NAMED = 3  #: so many tests of a row are named one by one; beyond that, their file is
HEAD = """# Every row of the documents

[The documents](sources.md) describe one body of work. This is all of it, row by row: the name to call (in `cudakern`),
the tests that prove it, the notebook that shows it; in the last column a document's letter and place. Written by
`.ci/rows.py` from [rows.toml](rows.toml), the variant table, the tests and the notebooks; do not edit it.
"""


# --- names -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Call:
    """A name to call: a function ("lab.hello"), or a variant ("matmul:tiled", "matmul:tiled:tile=16")."""

    text: str
    function: object
    operation: str = ""
    variant: str = ""

    def shown(self):
        name, *rest = self.text.split(":")
        if self.operation and not hasattr(cudakern, name):  # of an experiment: it has a ladder, and no public function
            return f"`ladder({', '.join(map(json.dumps, [name, *rest[:1]]))})`".replace(', "', ', variants="')
        words = [f'variant="{rest[0]}"'] if rest else []
        words += [f'{k}="{v}"' if not v.isdigit() else f"{k}={v}" for k, v in (one.split("=") for one in rest[1:])]
        return f"`{name}({', '.join(words)})`" if callable(self.function) else f"`{name}`"


def find(text):
    """The call of that text; LookupError if there is no such name."""
    name, *rest = text.split(":")
    whole = cudakern
    if name in registry():
        whole = registry()[name].call
    else:
        for part in name.split("."):
            if part == "lab":
                importlib.import_module("cudakern.lab")
            if not hasattr(whole, part):
                raise LookupError(f"there is no cudakern.{name}")
            whole = getattr(whole, part)
    if not rest:
        return Call(text, whole, name if name in registry() else "")
    variant, *settings = rest
    if variant != "auto":
        if name not in registry() or variant not in cudakern.variants(name):
            raise LookupError(f"{name} has no variant {variant!r}")
        row = cudakern.variants(name)[variant]
        for key, value in (one.split("=") for one in settings):
            row.values({key: int(value) if value.isdigit() else value})  # (its own errors say what there is)
    return Call(text, whole, name, variant)


# --- tests -----------------------------------------------------------------------------------------------------------
@dataclass
class Uses:
    """What a function of a test file uses: objects, and strings."""

    objects: set[int] = field(default_factory=set)
    strings: set[str] = field(default_factory=set)


def dotted(node):
    """("cudakern", "lab", "hello") of such an expression, () of another."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return (node.id, *reversed(parts)) if isinstance(node, ast.Name) else ()


@functools.cache
def functions_of(module):
    """The functions of a file, by name: those in classes too."""
    tree = ast.parse(Path(module.__file__).read_text())
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@functools.cache
def uses(module, name):
    """What a function uses, itself and through functions of its own file."""
    found, seen, left = Uses(), set(), [name]
    while left:
        name = left.pop()
        if name in seen or name not in functions_of(module):
            continue
        seen.add(name)
        for node in ast.walk(functions_of(module)[name]):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.strings.add(node.value)
            parts = dotted(node)
            if not parts:
                continue
            left += parts[:1]
            what = vars(module).get(parts[0])
            for part in parts[1:]:
                what = getattr(what, part, None)
            if what is not None:
                found.objects.add(id(what))
    return found


class Collected:
    """pytest's own list of the tests."""

    items = ()

    def pytest_collection_finish(self, session):
        self.items = session.items


def collect():
    plugin, said = Collected(), io.StringIO()
    arguments = ["--collect-only", "-q", "-n", "0", "-m", "", "-p", "no:cacheprovider", str(ROOT / "tests")]
    with contextlib.redirect_stdout(said):
        code = pytest.main(arguments, plugins=[plugin])
    if code or not plugin.items:
        sys.exit("\n".join(["rows: the tests cannot be collected:", *said.getvalue().splitlines()[-30:]]))
    return plugin.items


def proved(item):
    """What a test proves: (operation, variant), a function's id, and titles of rows that it names itself."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    here = uses(item.module, item.originalname)
    rows = {(v.operation, v.name) for v in params.values() if isinstance(v, Variant)}
    titles = {title for mark in item.iter_markers("row") for title in mark.args}
    operations = {v for k, v in params.items() if k == "operation" and v in registry()}
    if not rows:  # ("operation" alone: what no row is named for is auto's)
        rows |= {(name, "auto") for name in operations}
    strings = here.strings | {v for v in params.values() if isinstance(v, str)}
    for name, what in registry().items():
        if id(what.call) in here.objects:
            named = {v.name for v in cudakern.variants(name)} & strings
            rows |= {(name, variant) for variant in named or {"auto"}}
    functions = here.objects | {id(registry()[name].call) for name, _ in rows}
    return rows, functions, titles


# --- notebooks -------------------------------------------------------------------------------------------------------
def words_of(source):
    """Names, attributes and strings of a cell."""
    lines = [line for line in source.splitlines() if not line.startswith(("%", "!"))]
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@functools.cache
def notebooks():
    """(name, the words of each code cell) of every notebook."""
    return [
        (path.stem, [set(words_of("".join(c["source"]))) for c in cells if c["cell_type"] == "code"])
        for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
        for cells in [json.loads(path.read_text())["cells"]]
    ]


def shown_in(call):
    """The notebooks with a cell that has the name; for a variant, the variant's beside it or the whole ladder."""
    name = call.text.split(":")[0].rpartition(".")[2]
    wanted = {call.variant, "ladder"} if call.variant not in ("", "auto") else {name}
    return {stem for stem, cells in notebooks() for words in cells if name in words and wanted & words}


# --- the page --------------------------------------------------------------------------------------------------------
def tests_of(call, tests, files):
    """(file, test, whether the table gave it the row) of each test that proves a call."""
    return {
        (file, name, by_table)
        for file, name, by_table, (rows, functions, _) in tests
        if file in files or (file == EVERY and call.operation)
        if ((call.operation, call.variant) in rows if call.variant else id(call.function) in functions)
    }


def origins(row, calls):
    """Where a row comes from: what the variant table says, else docs/rows.toml."""
    rows = [cudakern.variants(call.operation)[call.variant] for call in calls if call.variant not in ("", "auto")]
    return row.get("origin") or "; ".join(dict.fromkeys(row.origin for row in rows if not row.on_host))


def told(found):
    """Tests of a row's own by name; those that run over a whole table, and many of one file, by their file."""
    files = {}
    for file, name, by_table in sorted(found):
        files.setdefault(file, []).append(None if by_table else name)
    words = []
    for file, names in sorted(files.items(), key=lambda one: (None in one[1], one[0])):
        few = None not in names and len(names) <= NAMED
        words.append(f"`{file}`" + (": " + ", ".join(f"`{name}`" for name in names) if few else ""))
    return "; ".join(words)


def page():
    """The text, and what is wrong with it."""
    sections, faults = tomllib.loads(ROWS.read_text())["section"], []
    known = [row["row"] for section in sections for row in section["rows"]]
    faults += [f"two rows are called {title!r}" for title in sorted({t for t in known if known.count(t) > 1})]
    tests = set()
    for item in collect():
        by_table = any(isinstance(v, Variant) for v in getattr(getattr(item, "callspec", None), "params", {}).values())
        rows, functions, titles = proved(item)
        faults += [f"{item.nodeid} names a row that docs/rows.toml has not: {t!r}" for t in titles - set(known)]
        tests.add(
            (item.path.name, item.originalname, by_table, (frozenset(rows), frozenset(functions), frozenset(titles)))
        )
    text, unseen = [HEAD], []
    for section in sections:
        text += [f"## {section['title']}", "", "| row | call | tests | notebook | from |", "|---|---|---|---|---|"]
        for row in section["rows"]:
            calls = []
            for name in row["calls"]:
                try:
                    calls.append(find(name))
                except (LookupError, TypeError, ValueError) as error:
                    faults.append(f"{row['row']!r}: {error}")
            found = {(file, name, False) for file, name, _, (_, _, titles) in tests if row["row"] in titles}
            files = set()
            for pattern in row.get("tests", section["tests"]):
                matches = {path.name for path in (ROOT / "tests").glob(pattern)}
                faults += [] if matches else [f"there is no tests/{pattern}"]
                files |= matches
            for call in calls:
                proofs = tests_of(call, tests, files)
                if not proofs and not found:
                    others = sorted({file for file, *_ in tests_of(call, tests, {test[0] for test in tests})})
                    hint = f"; {', '.join(others)} call it: are they the section's (docs/rows.toml)?" if others else ""
                    faults.append(f"{row['row']!r}: {call.text} has no test{hint}")
                found |= proofs
            books = sorted(set().union(*map(shown_in, calls)) if calls else ())
            if not found and not calls:
                faults.append(f"{row['row']!r} has no test")
            if not books:
                unseen.append(row["row"])
            faults += [
                f"{row['row']!r}: {call.text} does not run without a GPU; rows.toml gives no reason (gpu_only)"
                for call in calls
                if call.variant not in ("", "auto") and "gpu_only" not in row
                if not {"emulator", "host"} & set(cudakern.variants(call.operation)[call.variant].backends)
            ]
            links = ", ".join(f"[{stem[:2]}](../notebooks/{stem}.ipynb)" for stem in books)
            shown = ", ".join(call.shown() for call in calls)
            text.append(f"| {row['row']} | {shown} | {told(found)} | {links} | {origins(row, calls)} |")
        text.append("")
    return "\n".join(text), sorted(set(faults)), unseen


def main():
    text, faults, unseen = page()
    if sys.argv[1:] == ["--check"]:
        if not PAGE.exists() or PAGE.read_text() != text:
            faults.append("docs/rows.md is not what the rows and the tests give: run .ci/rows.py")
    else:
        PAGE.write_text(text)
    print(*faults, sep="\n", end="\n" if faults else "")
    if unseen:
        print(f"rows: in no notebook: {', '.join(unseen)}")
    print(f"rows: {text.count(chr(10) + '| ') - text.count('| row | call')} rows, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
