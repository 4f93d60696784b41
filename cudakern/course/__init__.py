"""The exercises of the notebooks: kernels to write, which are checked against NumPy and for mistakes.

>>> from cudakern import course
>>> course.check("add_one", '''
... __global__ void add_one(float *x, int n) {
...     int i = blockIdx.x * blockDim.x + threadIdx.x;
...     x[i] += 1;
... }''')
Not yet: After add_one[1, 8] with n = 6, x[6] is 7.0, not 6.0 (2 elements differ). No thread should write there.
Without the test i < n, threads touch elements that are not theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._errors import unknown
from .questions import QUESTIONS
from .verdict import Verdict

if TYPE_CHECKING:
    from ..measure.plots import Picture
    from .exercise import Exercise

__all__ = ["Verdict", "check", "exercises", "goal"]


def exercises() -> dict[str, Exercise]:
    """All exercises, by name."""
    from . import arrays, first_kernels, memory, occupancy, products, races, sorting, sums, threads, values

    files = (first_kernels, threads, memory, sums, products, races, occupancy, sorting, values, arrays)
    return {one.name: one for some in files for one in some.EXERCISES}


def _exercise(name: str) -> Exercise:
    known = exercises()
    if name not in known:
        raise ValueError(unknown("exercise", name, known))
    return known[name]


def check(name: str, text: object) -> Verdict:
    """Judge the answer to an exercise. A wrong one gets a hint.

    A kernel is CUDA C++: it is compiled, its accesses are checked in several orders of its threads, and its results
    are compared with NumPy's. Of a question, the answer is a number, a word or a letter; None: not answered yet."""
    if name in QUESTIONS:
        return QUESTIONS[name].check(text)
    if not isinstance(text, str):
        raise TypeError(f"the kernel is CUDA C++ in a string, not {text!r:.60}")
    return _exercise(name).check(text)


def judge(name: str, text: str) -> tuple[Verdict, bool]:
    """For ``%%cuda --exercise``: what to show, and whether the kernel is right."""
    verdict = check(name, text)
    return verdict, bool(verdict.right)


def goal(name: str) -> Picture:
    """A picture of what the kernel should do: which elements each thread reads, and which ones it writes."""
    return _exercise(name).goal()
