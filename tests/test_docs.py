"""The documents: examples run and give what they say, links lead somewhere, exercises accept their own answers, what
holds a promise of the contract exists, and every topic of the source documents has a name to call and a test."""

import ast
import doctest
import importlib
import importlib.util
import itertools
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

import cudakern
from cudakern import course
from cudakern.calls.table import Variant
from cudakern.course.questions import QUESTIONS
from cudakern.lab._by_name import experiments
from cudakern.operations.registry import names, registry

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted(
    path for form in ("*.md", "[!.]*/README.md", "c*/*/README.md", "docs/*.md") for path in ROOT.glob(form)
)
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
EXAMPLES = [path for path in DOCUMENTS if ">>> " in path.read_text()]


def name(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", EXAMPLES, ids=name)
def test_examples_give_what_they_say(path):
    result = doctest.testfile(str(path), module_relative=False)
    assert result.attempted > 0
    assert result.failed == 0


def test_the_kernel_of_the_readme(capsys):
    """It gives what its comment says, and without its `if` the error that the page shows (but for those bytes)."""
    text = (ROOT / "README.md").read_text()
    code, error = re.search(
        r"^```python\n(.*?)^```\n.*?^CudaError: \.\.\. (.*?) \.\.\.\n```", text, re.M | re.S
    ).groups()
    with cudakern.use_backend("emulator"):
        exec(code, {})
        assert capsys.readouterr().out.strip() == re.search(r"# (\S+)\n$", code)[1]
        with pytest.raises(cudakern.CudaError) as caught:
            exec(code.replace("if (i < n) ", ""), {})
    assert re.search(
        re.escape(" ".join(error.split())).replace(r"4000\ to\ 4095", r"40\d\d to 40\d\d"), str(caught.value)
    )


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_links_lead_somewhere(path):
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", path.read_text())
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_every_test_file_is_listed():
    listed = set(re.findall(r"`(test_\w+\.py)`", (ROOT / "tests/README.md").read_text()))
    assert listed == {path.name for path in (ROOT / "tests").glob("test_*.py")}


def test_the_tables_of_operations_have_every_operation():
    """.ci/tables.py adds what is new when it is next run."""
    table = (ROOT / "docs/operations.md").read_text()
    listed = {
        re.match(r"`(\w+)\(", cells[0])[1]: re.findall(r"`(\w+)`", cells[2])
        for cells in (line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| `"))
        if len(cells) == 3
    }
    public = {op for op in names() if op in cudakern.__all__}
    assert set(listed) <= public
    assert len(public - set(listed)) < 3  # one or two may be new; more would be a table that lost its lines
    for op, variants in listed.items():
        ladder = [variant.name for variant in cudakern.variants(op) if not variant.on_host]
        assert variants == [name for name in ladder if name in variants]
        assert variants


def test_excerpts_occur_in_their_kernels():
    """Those of docs/matmul.md, in whichever file of a kernel or a part of one."""

    def stripped(text):
        return "\n".join(line.strip() for line in text.strip().splitlines())

    sources = [stripped(path.read_text()) for path in (ROOT / "csrc/kernels").rglob("*.cuh")]
    excerpts = re.findall(r"^```cuda\n([^`]+)^```$", (ROOT / "docs/matmul.md").read_text(), re.M)
    assert len(excerpts) > 10
    for excerpt in excerpts:
        assert any(f"\n{stripped(excerpt)}\n" in source for source in sources), excerpt


def test_questions_accept_their_own_answers():
    asked = []
    for path in NOTEBOOKS:
        asked += re.findall(r'^check\("(.+)", answer\)$', "\n".join(cells(path)), re.M)
    assert sorted(asked) == sorted(QUESTIONS)
    for name, question in QUESTIONS.items():
        assert course.check(name, None).right is None
        right = course.check(name, question.expected)
        assert right.right is True
        assert question.why in right.text
        wrong = course.check(name, "no such answer")
        assert wrong.right is False  # a hint, and the notebook goes on
        assert question.hint in wrong.text
    assert course.check("one long sum", "(B)").right
    assert "a word or a letter" in course.check("one long sum", 0).text
    assert course.check("words read with tiles", 125e6).right  # 2 * n**3 / 16, and with whole tiles:
    assert course.check("words read with tiles", 126e6).right


def test_notebooks_are_stored_without_outputs():
    """A diff shows what changed, and no figure in one can be out of date."""
    for path in NOTEBOOKS:
        for cell in json.loads(path.read_text())["cells"]:
            assert not cell.get("outputs"), path.name
            assert not cell.get("execution_count"), path.name


def cells(path, kind="code"):
    return ["".join(cell["source"]) for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == kind]


def test_notebooks_are_of_a_size_to_read_and_have_links_that_open():
    """In a copy, too, with nothing beside it but the other notebooks."""
    for path in NOTEBOOKS:
        kinds = [cell["cell_type"] for cell in json.loads(path.read_text())["cells"]]
        assert len(kinds) <= 60, path.name
        assert ("markdown", "markdown") not in itertools.pairwise(kinds), path.name
        links = [link for text in cells(path, "markdown") for link in re.findall(r"\]\(([^)]+)\)", text)]
        assert [link for link in links if not re.fullmatch(r"\w+\.ipynb", link)] == [], path.name
        assert all((path.parent / link).exists() for link in links), path.name


def test_notebooks_begin_by_installing_what_is_missing(monkeypatch, tmp_path):
    manager = pytest.importorskip("IPython.core.inputtransformer2").TransformerManager()
    (first,) = {cells(path)[0] for path in NOTEBOOKS}
    magics = []
    shell = SimpleNamespace(run_line_magic=lambda *words: magics.append(words))

    def run():
        exec(manager.transform_cell(first), {"get_ipython": lambda: shell})

    run()
    assert magics == []  # it is installed
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="git clone"):
        run()
    (tmp_path / "cudakern").mkdir()  # a clone, which alone would be imported as a package without contents
    (tmp_path / "cudakern/setup.py").touch()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: SimpleNamespace(origin=None))
    run()
    assert magics == [("pip", 'install --quiet "./cudakern[plot]"')]


def test_wheels_have_the_records_that_notebooks_show():
    code = "".join(text for path in NOTEBOOKS for text in cells(path))
    shown = {"gpu_lab", *re.findall(r'\brecord\("(\w+)"', code)}
    text = (ROOT / "setup.py").read_text()
    assert [name for name in sorted(shown) if f'"{name}.json"' not in text] == []
    assert len(shown) > 1


def test_wheels_have_the_extension_of_jupyterlab():
    files = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["data-files"]
    names = {Path(path).name: ROOT / path for path in files["share/jupyter/labextensions/cudakern"]}
    package = json.loads(names["package.json"].read_text())
    assert package["name"] == "cudakern"
    assert "_JUPYTERLAB" in names[package["jupyterlab"]["_build"]["load"]].read_text()


def test_sources_are_displayed_without_boilerplate():
    for op in names():
        for variant in cudakern.variants(op):
            if not variant.kernels:
                continue
            text = repr(cudakern.source(op, variant.name))
            assert not re.search(
                r"^(#ifndef CK_|#include \"|#endif|namespace|\} // namespace)|note_(start|end)", text, re.M
            )
            assert text.count("{") == text.count("}")


# --- the contract ----------------------------------------------------------------------------------------------------
CONTRACT = ROOT / "docs/contract.md"
HELD_BY = re.compile(r"`(tests/test_\w+\.py::test_\w+|\.ci/(?:run|record) [^`]+)`")


def promises():
    """(promise, what holds it) of each row of the page."""
    rows = re.findall(r"^\| (.+) \| (.*) \|$", CONTRACT.read_text(), re.M)
    return [(promise, held_by) for promise, held_by in rows if (promise, held_by) != ("guarantee", "checked by")]


def names_in(path):
    """The names of a file's tests, those in classes and behind conditions too."""
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test")}


def steps_of(script):
    """The steps of a script of .ci: .ci/run announces them in words, the others list them when they know one not."""
    if script == ".ci/run":
        return set(re.findall(r'^step "?([^"$\n]+)', (ROOT / script).read_text(), re.M))
    run = subprocess.run([sys.executable, ROOT / script, "no such step"], text=True, capture_output=True)
    return set(run.stderr.strip().rpartition("the steps are ")[2].split(", "))


def test_every_promise_is_held_by_something():
    assert len(promises()) > 50
    for promise, held_by in promises():
        assert held_by == ", ".join(f"`{one}`" for one in HELD_BY.findall(held_by)), promise


def test_what_holds_a_promise_exists():
    named = {one for _, held_by in promises() for one in HELD_BY.findall(held_by)}
    known = {}
    for one in named:
        place, name = one.split("::") if "::" in one else one.split(" ", 1)
        is_script = place.startswith(".ci")
        if place not in known:
            known[place] = steps_of(place) if is_script else names_in(place)
        words = name.split() if is_script and place != ".ci/run" else [name]
        assert set(words) <= known[place], place


# --- the source documents --------------------------------------------------------------------------------------------
#: What a person calls for the topics of the source documents (docs/sources.md), beside the experiments of cudakern.lab.
TOPICS = """
backend compare device device_query devices emulator kernel_resources occupancy profile random_matrix use_backend
sum_of_squares:single_thread sum_of_squares:chunked sum_of_squares:chunked_global sum_of_squares:coalesced:threads=256
sum_of_squares:coalesced:threads=512 sum_of_squares:multi_block sum_of_squares:shared_serial sum_of_squares:auto
sum_of_squares:tree_interleaved sum_of_squares:tree_sequential sum_of_squares:tree_unrolled sum_of_squares:warp_shuffle
sum_of_squares:vectorized sum_of_squares:atomic sum_of_squares:cooperative sum_of_squares:one_launch
matmul:naive matmul:kahan matmul:shared_row matmul:pitched matmul:tiled:tile=8 matmul:tiled:tile=16
matmul:tiled:tile=32 matmul:tiled_padded matmul:naive_2d matmul:tiled_plain matmul:auto
stencil_1d:global_memory stencil_1d:shared_halo saxpy:naive saxpy:numpy vector_add:naive vector_add:numpy
grayscale:naive grayscale:blocks_2d grayscale:vectorized packbits:global_memory packbits:register packbits:unrolled
interp:texture interp:global_memory lookup_2d:auto lookup_3d:auto
bincount:global_atomics bincount:shared_atomics bincount:warp_aggregated
moving_sum:runtime_index moving_sum:compile_time_index moving_sum:spilled
sort:radix_lists sort:merge_serial:lists=1 sort:merge_atomic_min sort:merge_reduction sort:merge_hybrid:lists=256
sort:merge_hybrid:memory=shared sort:merge_hybrid:memory=global sort:many_blocks sort:sample_sort
sort:sample_sort_sequential sort:cub sort:auto
exclusive_scan:serial exclusive_scan:block_chunks exclusive_scan:blocks exclusive_scan:lookback inclusive_scan:auto
"""
ONLY_ON_A_GPU = {"sort:cub"}  # only nvcc can compile the toolkit's sort


def marks_of(test):
    marks = getattr(test, "pytestmark", [])
    return marks if isinstance(marks, list) else [getattr(marks, "mark", marks)]


def operands_of(value):
    """The variants and operations in the parameters of a test, however they are nested."""
    if isinstance(value, Variant):
        yield f"{value.operation}:{value.name}"
    elif isinstance(value, str) and value in registry():
        yield f"{value}:auto"
    elif isinstance(value, list | tuple):  # (a pytest.param is one, too)
        for part in value:
            yield from operands_of(part)


def proved():
    """What the tests with the mark `proves` call: what the mark names, or else the variants and operations with which
    they are parametrized."""
    calls = set()
    for path in (ROOT / "tests").glob("test_*.py"):
        if "mark.proves(" not in path.read_text():
            continue
        module = importlib.import_module(path.stem)
        for name, test in list(vars(module).items()):
            marks = [*marks_of(module), *marks_of(test)] if name.startswith("test_") else []
            of_test = [mark for mark in marks if mark.name == "proves"]
            calls |= {call for mark in of_test for call in mark.args}
            if any(not mark.args for mark in of_test):
                found = {call for mark in marks if mark.name == "parametrize" for call in operands_of(mark.args[1])}
                calls |= {call for call in found if not call.endswith(":auto")} or found
    return calls


def test_every_topic_of_the_source_documents_has_a_name_and_a_test():
    """Every variant has a test, and every experiment: a new one as soon as it is in the table."""
    tested, topics = proved(), {}
    for topic in TOPICS.split():
        name, *words = topic.split(":")
        topics.setdefault(":".join([name, *words[:1]]), []).append(words[1:])
    for call, settings in topics.items():
        name, _, variant = call.partition(":")
        assert callable(getattr(cudakern, name, None) or registry()[name].call) or name == "emulator", call
        for (one,) in filter(None, settings):  # its own error says what there is
            key, value = one.split("=")
            cudakern.variants(name)[variant].values({key: int(value) if value.isdigit() else value})
    every = {f"{op}:{variant.name}": variant for op in names() for variant in cudakern.variants(op)}
    assert {call for call in topics if ":" in call and not call.endswith(":auto")} - set(every) == set()
    assert {*every, *topics, *(f"lab.{name}" for name in experiments())} - tested == set()
    assert {call for call, variant in every.items() if not {"emulator", "host"} & {*variant.backends}} == ONLY_ON_A_GPU
