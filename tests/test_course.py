"""The kernels that the notebooks ask for: each rejects its own stub and typical wrong kernels, with the hint that fits,
and accepts its answer."""

import json
import re
from pathlib import Path

import pytest

from cudakern import course
from cudakern.course import exercise
from cudakern.course.exercise import code_of

NOTEBOOKS = sorted((Path(__file__).resolve().parent.parent / "notebooks").glob("*.ipynb"))
EXERCISES = course.exercises()
WRONGS = [(name, i) for name, one in EXERCISES.items() for i in range(len(one.wrongs))]


def one_of_four(cases):
    """The others take turns."""
    return [
        pytest.param(*case if isinstance(case, tuple) else (case,), marks=pytest.mark.full if i % 4 != 1 else ())
        for i, case in enumerate(cases)
    ]


@pytest.mark.parametrize("name", EXERCISES)
def test_the_answer_is_right(name):
    exercise = EXERCISES[name]
    verdict = course.check(name, exercise.answer)
    assert verdict.right is True, verdict
    assert verdict.text == exercise.why
    assert exercise.answer.strip() in verdict.answer


@pytest.mark.parametrize("name", one_of_four(EXERCISES))
def test_the_stub_is_not(name):
    exercise = EXERCISES[name]
    assert course.check(name, exercise.stub).right is None
    fault = exercise.fault(exercise.stub)
    assert fault is not None
    assert exercise.hint(fault)


@pytest.mark.parametrize("name, number", one_of_four(WRONGS))
def test_wrong_kernels_are_told_why(name, number):
    exercise = EXERCISES[name]
    wrong = exercise.wrongs[number]
    assert wrong.part in exercise.answer
    verdict = course.check(name, exercise.answer.replace(wrong.part, wrong.instead))
    assert verdict.right is False
    assert re.search(wrong.told, repr(verdict).replace("\n", " ")), verdict


def test_there_are_wrong_kernels():
    assert not [name for name, exercise in EXERCISES.items() if not exercise.wrongs]


@pytest.mark.parametrize("name", one_of_four(EXERCISES))
def test_the_picture_of_the_goal(name):
    pytest.importorskip("matplotlib")
    assert course.goal(name).axes[0].lines


@pytest.mark.parametrize(
    "name, labels",
    [("slopes", ["lane + 1"]), ("times_first", ["lane 7"])]
    + [
        (name, [f"lane {sign} {2**i}" for i in steps])
        for name, sign, steps in (
            ("warp_scan", "-", range(5)),
            ("above_min", "^", range(4, -1, -1)),
            ("argmax", "+", range(4, -1, -1)),
        )
    ],
)
def test_shuffles_are_drawn(name, labels):
    pytest.importorskip("matplotlib")
    texts = [text.get_text() for text in course.goal(name).axes[0].texts]
    assert [text for text in texts if text.startswith("lane")] == labels


def test_notebooks_have_each_stub_once():
    """A cell that is run unchanged says so, and the notebook goes on."""
    cells, numbers = {}, {}
    for number, path in enumerate(NOTEBOOKS):
        for cell in json.loads(path.read_text())["cells"]:
            magic, _, text = "".join(cell["source"]).partition("\n")
            if found := re.fullmatch(r"%%cuda --exercise (\w+)", magic):
                assert found[1] not in cells
                cells[found[1]], numbers[found[1]] = text, number
    assert sorted(cells) == sorted(EXERCISES)
    order = [numbers[name] for name in EXERCISES]
    assert order == sorted(order)  # each file has the exercises of its notebook
    for name, text in cells.items():
        assert code_of(text) == code_of(EXERCISES[name].stub), name


def test_right_kernels_of_other_kinds():
    total, steps = EXERCISES["total"], EXERCISES["steps"]
    verdict = course.check("total", total.answer.replace("if (i < n) ", ""))
    assert verdict.text.endswith("Each x[i] with i < n must be added once, and no other element.")
    verdict = course.check("steps", steps.answer.replace("tile[t - 1]", "x[t - 1]").replace("__syncthreads();", ""))
    assert verdict.right is True
    assert "Another way is __syncthreads()." in verdict.text


def test_a_kernel_that_never_ends(monkeypatch):
    monkeypatch.setattr(exercise, "LONGEST_S", 3)
    endless = EXERCISES["add_one"].answer.replace("if (i < n)", "while (i < n)")
    verdict = course.check("add_one", endless)
    assert verdict.right is False
    assert "does a loop never end? A thread that has its element needs `if`" in verdict.text


def test_one_thread_must_not_do_everything():
    for name, test in (("times", "blockIdx.x == 0 && threadIdx.x == 0"), ("saxpy", "blockIdx.x + threadIdx.x == 0")):
        one = EXERCISES[name]
        alone = re.sub(r"int i = .*;", f"if (!({test})) return; for (int i = 0; i < n; ++i)", one.answer)
        verdict = course.check(name, alone)
        assert verdict.right is False
        assert "one thread does everything" in verdict.text
    verdict = course.check(
        "block_max",
        """
__global__ void block_max(const int *x, int *result) {
    if (threadIdx.x > 0) return;
    int most = x[256 * blockIdx.x];
    for (int i = 1; i < 256; ++i) most = max(most, x[256 * blockIdx.x + i]);
    result[blockIdx.x] = most;
}""",
    )
    assert "but one thread of each block does everything" in verdict.text


def test_each_thread_must_not_do_everything():
    verdict = course.check(
        "above_min",
        """
__global__ void above_min(const int *x, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, least = x[i];
    for (int j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) least = min(least, x[j]);
    y[i] = x[i] - least;
}""",
    )
    assert verdict.right is False
    assert "the threads read 1,056 elements, where 64 are enough" in verdict.text


def test_results_say_what_they_have_in_common():
    squares = EXERCISES["squares"].answer
    for there, here, told in (
        ("i < n", "i < n - 1", "no thread has written another value there"),
        ("i < n", "i <= n", "No thread should write there"),
        ("x[i] * x[i]", "x[0]", "All of them are the same"),
        ("x[i] * x[i]", "x[i] * x[i] + 2", "All are too large by 2"),
        ("x[i] * x[i]", "-x[i] * x[i]", "All are -1 times"),
        ("x[i] * x[i]", "x[i] * x[i] * 2", "All are 2 times"),
        ("y[i] = x[i] * x[i]", "y[(i + 1) % n] = x[i] * x[i]", "y\\[i\\] is x\\[i\\] times itself"),
        ("x[i] * x[i]", "x[n - 1 - i] * x[n - 1 - i]", "in the opposite order"),
    ):
        assert re.search(told, course.check("squares", squares.replace(there, here)).text)
    verdict = course.check("squares", squares.replace("const float *x", "float *x").replace("y[i] =", "x[i] ="))
    assert verdict.text.endswith("x must stay as it is: the result belongs in y.")
    lines = course.check("reverse_blocks", EXERCISES["reverse_blocks"].answer.replace(";\n    ", "; "))
    assert lines.right


def test_displays():
    html = course.check("add_one", "__global__ void add_one(float *x, int n) {}")._repr_html_()
    assert "border-left" in html
    assert "<details><summary>What it should do</summary><style>" in html
    assert html.index("What it should do") < html.index("<details><summary>An answer</summary>")
    unanswered = course.check("add_one", EXERCISES["add_one"].stub)._repr_html_()
    assert "<details open><summary>What it should do</summary><style>" in unanswered
    assert "An answer" not in unanswered  # until the reader has tried
    broken = course.check("add_one", "__global__ void add_one(float *x, int n) { x[0] }")
    assert "does not accept it" in repr(broken)
    assert "add_one.cu:1:" in broken.output


def test_errors():
    with pytest.raises(ValueError, match="unknown exercise 'add_on': the nearest is 'add_one'"):
        course.check("add_on", "")
    with pytest.raises(TypeError, match="the kernel is CUDA C\\+\\+ in a string, not 5"):
        course.check("add_one", 5)
    with pytest.raises(ValueError, match="unknown exercise"):
        course.goal("nothing")
