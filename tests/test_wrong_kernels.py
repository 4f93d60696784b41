"""The collection of wrong kernels: every right twin is right, and every file has what wrong/README.md asks for."""

import re

import pytest

import wrong_kernels

CASES = wrong_kernels.cases()


def label(case):
    return case.label


@pytest.mark.parametrize("case", CASES, ids=label)
def test_the_right_twin_is_right(emulator, order, case):
    for name in ("fixed", "seed:1"):
        order(name)
        wrong_kernels.run(case, "right")


@pytest.mark.parametrize("case", CASES, ids=label)
def test_the_file_has_the_format(case):
    lines = case.source.splitlines()
    assert case.summary.endswith((".", ".)")), "the first comment says what is wrong"
    assert case.script
    assert case.checks
    assert 1 <= len(case.marks) <= 6
    kinds = {case.kind} | ({"race"} if case.kind == "scope" else set())
    assert {*case.marks.values()} <= kinds, "the folder's kind; lines whose order a scope breaks are races"
    assert case.kind in case.marks.values()
    wrong, right = map(case.lines_of, wrong_kernels.TWINS)
    for number in case.marks:
        assert number not in right
        assert number in case.script or lines[number - 1].strip().split("//!")[0], "a mark stands after code"
    # A checker has to find the line in `wrong` itself, in a function that it calls, or on the host.
    assert wrong[-1] < right[0]
    signatures = [re.search(rf"\b{twin}\((.*?)\) {{", case.source, re.S)[1] for twin in wrong_kernels.TWINS]
    assert signatures[0] == signatures[1], "both take the same arguments"


def test_there_are_enough():
    labels = [case.label for case in CASES]
    assert len(labels) == len(set(labels)) >= 125
    assert {case.kind for case in CASES} == {*wrong_kernels.KINDS}
