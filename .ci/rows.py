"""docs/rows.md: the topics of the source documents, with the names to call, the tests and the notebooks.

    rows.py           writes docs/rows.md from docs/rows.toml, the table of variants, the tests and the notebooks
    rows.py --check   changes nothing; fails if docs/rows.md does not match these, if a name cannot be called, or if a
                      row has no test

Only the rows and their names are written by hand (docs/rows.toml). A mark on a test or its module tells what it proves:
@pytest.mark.proves("lab.hello") that function; @pytest.mark.proves() the variants or operations with which the test is
parametrized, so that new ones count automatically.
"""

import ast
import contextlib
import functools
import importlib
import io
import json
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

import cudakern
from cudakern._operations import registry
from cudakern._table import Variant

ROOT = Path(__file__).resolve().parent.parent
ROWS, PAGE = ROOT / "docs/rows.toml", ROOT / "docs/rows.md"
NAMED = 3  #: so many tests of a row are named one by one; beyond that, their file is
HEAD = """# Topics of the source documents

Every topic of the [source documents](sources.md), with the name to call (in `cudakern`), the tests that cover it, the
notebooks that show it, and its source: a document's letter and section. `.ci/rows.py` writes this page from
[rows.toml](rows.toml), the table of variants, the tests and the notebooks; do not edit it.
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
class Collected:
    """pytest's own list of the tests."""

    items = ()

    def pytest_collection_finish(self, session):
        self.items = session.items


def collect():
    plugin, output = Collected(), io.StringIO()
    arguments = ["--collect-only", "-q", "-n", "0", "-m", "", "-p", "no:cacheprovider", str(ROOT / "tests")]
    with contextlib.redirect_stdout(output):
        code = pytest.main(arguments, plugins=[plugin])
    if code or not plugin.items:
        sys.exit("\n".join(["rows: the tests cannot be collected:", *output.getvalue().splitlines()[-30:]]))
    return plugin.items


def proved(item):
    """What a test's marks say that it proves: {call: whether the test is made from the table}."""
    marks = list(item.iter_markers("proves"))
    calls = {call: False for mark in marks for call in mark.args}
    if all(mark.args for mark in marks):
        return calls
    params = item.callspec.params.values() if hasattr(item, "callspec") else ()
    names = [f"{v.operation}:{v.name}" for v in params if isinstance(v, Variant)]
    if not names:  # (an operation alone: "auto" computes)
        names = [f"{v}:auto" for v in params if isinstance(v, str) and v in registry()]
    return calls | {name: True for call in names for name in (call, call.partition(":")[0])}


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
def origins(row, calls):
    """Where a row comes from: what the variant table says, else docs/rows.toml."""
    rows = [cudakern.variants(call.operation)[call.variant] for call in calls if call.variant not in ("", "auto")]
    return row.get("origin") or "; ".join(dict.fromkeys(row.origin for row in rows if not row.on_host))


def in_words(proofs):
    """Tests of a row's own by name; those that are made from the table, and many of one file, by their file."""
    files = {}
    for file, name, from_table in sorted(proofs):
        files.setdefault(file, []).append(None if from_table else name)
    words = []
    for file, names in sorted(files.items(), key=lambda one: (None in one[1], one[0])):
        few = None not in names and len(names) <= NAMED
        words.append(f"`{file}`" + (": " + ", ".join(f"`{name}`" for name in names) if few else ""))
    return "; ".join(words)


def page():
    """The text, what is wrong with it, and the rows that no notebook shows."""
    sections, faults = tomllib.loads(ROWS.read_text())["section"], []
    titles = [row["row"] for section in sections for row in section["rows"]]
    faults += [f"two rows are called {title!r}" for title in {t for t in titles if titles.count(t) > 1}]
    proofs = {}
    for item in collect():
        for call, from_table in proved(item).items():
            proofs.setdefault(call, set()).add((item.path.name, item.originalname, from_table))
    text, unseen, wanted = [HEAD], [], set()
    for section in sections:
        text += [f"## {section['title']}", "", "| topic | call | tests | notebook | source |", "|---|---|---|---|---|"]
        for row in section["rows"]:
            calls, tests = [], set()
            for name in row["calls"]:
                key = ":".join(name.split(":")[:2])
                wanted.add(key)
                tests |= proofs.get(key, set())
                if key not in proofs:
                    faults.append(f"{row['row']!r}: {name} has no test with the mark proves")
                try:
                    calls.append(find(name))
                except (LookupError, TypeError, ValueError) as error:
                    faults.append(f"{row['row']!r}: {error}")
            books = sorted(set().union(*map(shown_in, calls)) if calls else ())
            if not books:
                unseen.append(row["row"])
            faults += [
                f"{row['row']!r}: {call.text} does not run without a GPU; rows.toml gives no reason (gpu_only)"
                for call in calls
                if call.variant not in ("", "auto") and "gpu_only" not in row
                if not {"emulator", "host"} & set(cudakern.variants(call.operation)[call.variant].backends)
            ]
            links = ", ".join(f"[{stem[:2]}](../notebooks/{stem}.ipynb)" for stem in books)
            cells = ", ".join(call.shown() for call in calls)
            text.append(f"| {row['row']} | {cells} | {in_words(tests)} | {links} | {origins(row, calls)} |")
        text.append("")
    marked = {call for call, tests in proofs.items() if not all(from_table for *_, from_table in tests)}
    faults += [f"a test proves {call!r}, which is no call of docs/rows.toml" for call in sorted(marked - wanted)]
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
    print(f"rows: {text.count(chr(10) + '| ') - text.count('| topic | call')} rows, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
