"""The documents: examples run and give what they say, links lead somewhere, exercises accept their own answers."""

import doctest
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted(
    [ROOT / "README.md", *ROOT.glob("[!.]*/README.md"), *ROOT.glob("csrc/*/README.md"), *ROOT.glob("docs/*.md")]
)
EXAMPLES = [path for path in DOCUMENTS if ">>> " in path.read_text()]


def name(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", EXAMPLES, ids=name)
def test_examples_give_what_they_say(path):
    result = doctest.testfile(str(path), module_relative=False)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_links_lead_somewhere(path):
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", path.read_text())
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_exercises_accept_their_own_answers(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(ROOT / "notebooks"))
    monkeypatch.delitem(sys.modules, "exercises", raising=False)
    from exercises import EXERCISES, check

    asked = []
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text())["cells"]:
            asked += re.findall(r'^check\("(.+)", answer\)$', "".join(cell["source"]), re.M)
    assert sorted(asked) == sorted(EXERCISES)
    for exercise in asked:
        check(exercise, None)
        assert "not answered yet" in capsys.readouterr().out
        check(exercise, EXERCISES[exercise].expected)
        assert "right" in capsys.readouterr().out
        with pytest.raises(AssertionError, match=r"is not it|is none"):
            check(exercise, "no such answer")
