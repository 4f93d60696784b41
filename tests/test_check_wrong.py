"""The checker is judged by the wrong kernels: each wrong twin is found, with its line, and no right one is reported."""

import pytest

import wrong_kernels

#: What else a finding in a marked line may be called, by kind or case, and why.
ALSO = {
    "scope": {"race": "accesses that a scope leaves unordered are marked as races (wrong/README.md)"},
    "bounds/short_index": {"race": "y[-32768] is an element of x, which another thread reads"},
    "asynchronous/copies_of_others": {"uninitialised": "what a thread reads before the copy has no value yet"},
}
#: Findings that name no marked line, and why these are right, too.
BESIDES = {
    "barrier/in_a_loop": {"race": "where the threads do not wait for each other, their accesses are not ordered"}
}
#: Kinds that it does not find yet, or by another name.
NOT_YET = ()


def twins():
    """Each next to the other, so that one process compiles both."""
    for case in wrong_kernels.cases():
        for twin in wrong_kernels.TWINS:
            missing = twin == "wrong" and case.kind in NOT_YET
            marks = [pytest.mark.xfail(strict=True, reason="not found yet")] if missing else []
            yield pytest.param(case, twin, marks=marks, id=f"{case.label}-{twin}")


@pytest.mark.parametrize("case, twin", [*twins()])
def test_the_wrong_twin_is_found_and_the_right_one_not(emulator, case, twin):
    findings = wrong_kernels.checked(case, twin)
    if twin == "right":
        assert not findings, str(findings)
        return
    marked, others = wrong_kernels.by_mark(case, findings)
    kinds = {one.kind for one in marked}
    assert kinds & {case.kind, *ALSO.get(case.kind, ())}, str(findings)
    assert kinds <= {case.kind, *ALSO.get(case.kind, ()), *ALSO.get(case.label, ())}, str(findings)
    assert {one.kind for one in others} <= {*BESIDES.get(case.label, ())}, str(findings)
