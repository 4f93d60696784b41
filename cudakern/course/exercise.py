"""An exercise of the course: a kernel to write, what it should do, and what helps somebody whose kernel does not."""

from __future__ import annotations

import _thread
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import emulator
from .._backend import backend, use_backend
from .._errors import CompileError, CudaError
from ..insight.check import check as find
from ..insight.check import compiled_for_checks
from ..insight.counters import trace
from ..insight.findings import Finding
from ..insight.trace import Access, record
from ..own.compile import Program
from .verdict import Verdict

if TYPE_CHECKING:
    from ..measure.plots import Picture

LONGEST_S = 20  #: that a kernel may run: a right one takes a fraction of a second
#: What a wrong kernel does may depend on the order in which its threads run.
ORDERS = ("fixed", "reversed", "seed:1")
#: So many times as many elements as the answer reads are too many: each thread does what one alone should do.
WASTE = 8


@dataclass(frozen=True)
class Launch:
    grid: Any
    block: Any
    inputs: tuple[Any, ...]

    def arguments(self) -> list[Any]:
        """Copies, which may be changed."""
        return [x.copy() if isinstance(x, np.ndarray) else x for x in self.inputs]


@dataclass(frozen=True)
class Hint:
    """What to say of a kernel that is wrong in a certain way. The first hint that fits is shown."""

    text: str
    #: Of a Finding, such as "race"; "result": a result differs; "target"; or a part of a kind. Several have "|" between.
    kind: str = "result|race|bounds|uninitialised"
    says: str = ""  #: a regular expression that the message or the checker's advice contains
    like: Callable[..., None] | None = None  #: changes the arrays as such a kernel does

    def fits(self, fault: Fault) -> bool:
        kinds = {fault.kind, *fault.parts}.intersection(self.kind.split("|"))
        if not kinds or not re.search(self.says, f"{fault.message} {fault.advice}"):
            return False
        if self.like is None:
            return True
        if not fault.results:
            return False
        expected = fault.launch.arguments()
        self.like(*expected)
        return all(np.array_equal(x, y) for x, y in zip(fault.results, expected, strict=True))


@dataclass(frozen=True)
class Fault:
    """What is wrong with a kernel."""

    kind: str  #: as a hint's
    message: str
    launch: Launch
    results: Sequence[Any] = ()  #: of a launch with wrong results: its arguments afterwards
    #: Of results: "outside" where none belongs, "missing" where one does, or "value"; "lost" if another thread must
    #: come between. Of races and bounds: "shared race", "global bounds", ..., by the memory; "idle" if it is by a
    #: thread that has nothing to do in the answer; "everything" if threads write as much as all together there.
    parts: tuple[str, ...] = ()
    advice: str = ""  #: of the checker, for kernels that no hint fits


_BARRIER = (
    "All threads must reach the barrier, also those that have nothing else to do: take it out of the if or the loop that "
    "some of them skip, and let none return before it."
)
#: They fit kernels of all exercises.
COMMON = (
    Hint(
        "Two threads write the same element of shared memory: let one of them do it, or give each its own.",
        "shared race",
        "[Ll]et one thread write it",
    ),
    Hint(
        "All blocks use the same elements. A thread's index in the grid is blockIdx.x * blockDim.x + threadIdx.x.",
        "global race",
        "No index contains blockIdx",
    ),
    Hint("Every thread does the work of all. Give each one a share of its own, by its index.", "everything"),
    Hint(_BARRIER, "barrier|ended"),
    Hint(_BARRIER, "race", "does not order these two threads"),
    Hint(
        "All lanes of the mask must make this call: neither in an if nor behind ? or &&, and none may return before.",
        "warp",
    ),
)


@dataclass(frozen=True)
class Target:
    """A figure of ``trace`` that a right kernel stays within, by its name in Nsight Compute."""

    metric: str
    most: float
    words: str  #: what it is: "sectors per request of the loads"
    least: float = 0

    def missed(self, metrics: dict[str, float]) -> str:
        value = metrics.get(self.metric, 0)
        if value < self.least:
            return f"{value:.3g} {self.words}."
        enough = f"{self.most:.3g} are enough" if self.most else "none is necessary"
        return f"{value:.3g} {self.words}; {enough}." if value > self.most else ""


@dataclass(frozen=True)
class Wrong:
    """A typical wrong kernel: the answer with one part replaced; and words of what it must be told."""

    part: str
    instead: str
    told: str  #: a regular expression


@dataclass(frozen=True)
class Exercise:
    name: str  #: of the kernel
    start: str | tuple[tuple[str, str], ...]  #: see `stub`
    answer: str
    numpy: Callable[..., None]  #: changes the arrays as the kernel should
    launches: tuple[Launch, ...]  #: the first one is small: `goal` draws it
    hints: tuple[Hint, ...]
    why: str  #: shown with a right kernel: what to remember
    wrongs: tuple[Wrong, ...]
    targets: tuple[Target, ...] = ()  #: of the last launch
    about: tuple[str, ...] = ()  #: parts of a kernel that `why` is about; a right one may do without

    @property
    def stub(self) -> str:
        """What the notebook has: a text, or the answer with some parts replaced, or without its body."""
        if isinstance(self.start, str):
            return self.start or re.sub(r"\{.*\}", "{\n}", self.answer, flags=re.S)
        stub = self.answer
        for part, instead in self.start:
            stub = stub.replace(part, instead)
        return stub

    def check(self, text: str) -> Verdict:
        """What a notebook shows below the kernel."""
        verdict = self._judged(text)
        answer = "" if verdict.right is None else self.answer.strip()  # not before the reader has tried
        return replace(verdict, answer=answer, goal=self.goal)

    def goal(self) -> Picture:
        """A picture of what the kernel should do: which elements each thread reads, and which ones it writes."""
        from .drawing import draw  # which needs matplotlib

        return draw(self)

    def _judged(self, text: str) -> Verdict:
        if code_of(text) == code_of(self.stub):
            return Verdict(None, "Change the kernel, and run the cell again.")
        try:
            fault = self.fault(text)
        except CompileError as error:
            return Verdict(False, "The compiler does not accept it.", str(error))
        except AttributeError as error:
            return Verdict(False, f"The kernel's name must be {self.name}: {error}.")
        if fault:
            own = re.search(r"^\s+\w+ \w+(\[.*\])?;", text, re.M) and fault.kind in ("result", "uninitialised")
            own = own and "__shared__" in self.answer and "__shared__" not in text
            hint = "Without __shared__, each thread has a variable of its own." if own else self.hint(fault)
            return Verdict(False, "\n".join(filter(None, (fault.message, hint or fault.advice))))
        is_other = self.about and not any(part in code_of(text) for part in self.about)
        return Verdict(
            True, f"Nothing is wrong here. Another way is {self.about[0]}. {self.why}" if is_other else self.why
        )

    def hint(self, fault: Fault) -> str:
        return next((one.text for one in (*COMMON, *self.hints) if one.fits(fault)), "")

    def fault(self, text: str) -> Fault | None:
        """The first thing that is wrong. CompileError if it does not compile, AttributeError if it has another name."""
        program = self.compiled(text)
        try:
            with _at_most(LONGEST_S):
                return self._fault(program)
        except TimeoutError:
            words = f"The kernel runs for more than {LONGEST_S} seconds: does a loop never end? A thread that has its element"
            return Fault("endless", f"{words} needs `if`, not `while`.", self.launches[0])
        except (TypeError, ValueError) as error:  # the parameters are not as in the stub
            declared = re.search(rf"{self.name}(\([^)]*\))", self.answer)
            what, *_ = re.split(": (?:take|pass) ", str(error))  # another array: here, they are given
            return Fault("arguments", f"{what}. The parameters are {declared and declared[1]}.", self.launches[0])
        except CudaError as error:
            return Fault("error", f"{error}.", self.launches[0])

    def compiled(self, text: str) -> Program:
        """As checks and pictures run it on the emulator, so that each text is compiled once for both."""
        return compiled_for_checks(text, f"{self.name}.cu")

    def _fault(self, program: Program) -> Fault | None:
        """On the emulator, where mistakes are found, in several orders of the threads; then on a GPU, if there is
        one."""
        with use_backend("emulator"):
            for order in ORDERS:
                with _ordered(order):
                    for launch in self.launches:
                        if fault := self._fault_of(program, launch):
                            return fault
            if slow := _slowed(program.source):
                for launch in self.launches:
                    if fault := self._fault_of(self.compiled(slow), launch):
                        message = f"If other threads come before an atomicCAS or atomicExch: {fault.message}"
                        return replace(fault, message=message, parts=(*fault.parts, "lost"))
            last = self.launches[-1]
            for target in self.targets:
                metrics = trace(program[self.name][last.grid, last.block], *last.arguments()).metrics
                if missed := target.missed(metrics):
                    return Fault("target", f"The result is right. But there are {missed}", last)
            if wasted := self._wasted(program):
                return Fault("wasted", f"The result is right, but {wasted}", self.launches[0])
        on_gpu = () if backend().emulated else self.launches
        return next(filter(None, (self._difference(program, launch) for launch in on_gpu)), None)

    def _wasted(self, program: Program) -> str:
        """Whether one thread does the work of all, or each of them does, while in the answer they share it."""
        programs = program, self.compiled(self.answer)
        mine, its = (list(chain(*self._accesses(of, self.launches[0]).values())) for of in programs)
        busy, most = ({one.place.block + one.place.thread for one in of} for of in (mine, its))
        blocks = {one.place.block for one in mine}
        if len(busy) <= len(blocks) < len(most):
            of_block = " of each block" if len(blocks) > 1 else ""
            return f"one thread{of_block} does everything, while the others wait. Give each one its share."
        reads, enough = (sum(not one.writes for one in of) for of in (mine, its))
        if reads > WASTE * enough:
            return f"the threads read {reads:,} elements, where {enough:,} are enough. Do all of them do the same?"
        return ""

    def _accesses(self, program: Program, launch: Launch) -> dict[int, list[Access]]:
        """Those to each array, by its place among the parameters."""
        done = record(program[self.name][launch.grid, launch.block], *launch.arguments())
        arrays = {i: range(begin, begin + launch.inputs[i].nbytes) for (_, i), begin in done.arrays.items()}
        return {i: [one for one in done.accesses if one.address in array] for i, array in arrays.items()}

    def _fault_of(self, program: Program, launch: Launch) -> Fault | None:
        differences: list[Fault | None] = []
        noted = find(lambda: differences.append(self._difference(program, launch)), notes=True)
        findings = [one for one in noted if one.kind not in ("leak", "unwritten")]
        difference = differences[0] if differences else None
        if difference and not findings:
            return difference
        if not findings:
            return None
        first = findings[0]
        # A wrong index may lead to races, too.
        first = next((one for one in findings if one.kind == "bounds" and one.array == first.array), first)
        names = [name_of(declared) for declared in program[self.name].parameters]
        parts = [f"{'global' if first.array in names else 'shared'} {first.kind}"]
        if first.kind in ("bounds", "race") and first.array in names:
            kinds = {one.kind for one in findings}
            parts += self._told_by_answer(program, launch, first, names.index(first.array), kinds)
        results = difference.results if difference else ()
        kind = "unset" if "is read without a value" in first.message else first.kind
        message = str(replace(first, advice=""))
        if kind == "error":
            message = f"{self._launched(program, launch)}: {message}"
        return Fault(kind, message, launch, results, tuple(parts), first.advice)

    def _launched(self, program: Program, launch: Launch) -> str:
        """The launch, with its numbers: copy[1, 8] with n = 7."""
        names = (name_of(declared) for declared in program[self.name].parameters)
        pairs = zip(names, launch.inputs, strict=True)
        numbers = ", ".join(f"{name} = {x}" for name, x in pairs if not isinstance(x, np.ndarray))
        return f"{self.name}[{launch.grid}, {launch.block}]" + (f" with {numbers}" if numbers else "")

    def _told_by_answer(
        self, program: Program, launch: Launch, first: Finding, at: int, kinds: set[str]
    ) -> Iterator[str]:
        """Parts of a fault in the array that is parameter ``at``, which a comparison with the answer shows."""
        its = self._accesses(self.compiled(self.answer), launch)
        busy = {(one.place.block, one.place.thread) for one in its.get(at, ())}
        if any((one.block, one.thread) not in busy for one in (first.place, first.other) if one):
            yield "idle"
        if "bounds" in kinds:  # the launch would complain
            return
        mine, enough = (
            {(one.place.block, one.place.thread, one.address) for one in chain(*of.values()) if one.writes}
            for of in (self._accesses(program, launch), its)
        )
        by_thread = Counter(who[:2] for who in mine)
        if len({who[:2] for who in enough}) > 1 and sum(n >= len(enough) for n in by_thread.values()) > 1:
            yield "everything"

    def _difference(self, program: Program, launch: Launch) -> Fault | None:
        """The first element that differs from NumPy's, and what the others have in common."""
        kernel, results, expected = program[self.name], launch.arguments(), launch.arguments()
        kernel[launch.grid, launch.block](*results)
        self.numpy(*expected)
        names = [name_of(declared) for declared in kernel.parameters]
        arrays = list(
            zip(names, *([np.ravel(x) for x in of] for of in (launch.inputs, results, expected)), strict=True)
        )
        outputs = [name for name, before, _, right in arrays if not np.array_equal(before, right)]
        for name, before, result, right in arrays:
            wrong = np.flatnonzero(result != right)
            if wrong.size:
                part = "value"
                if name not in outputs:
                    part, more = "input", f"{name} must stay as it is: the result belongs in {' and '.join(outputs)}."
                elif np.array_equal(before[wrong], right[wrong]):
                    part, more = "outside", "No thread should write there."
                elif np.array_equal(before[wrong], result[wrong]):
                    part, more = "missing", "It is what it was before: no thread has written another value there."
                else:
                    more = _relation(before, result, right)
                several = f" ({wrong.size:,} elements differ)" if wrong.size > 1 else ""
                message = f"After {self._launched(program, launch)}, {name}[{wrong[0]}] is {result[wrong[0]]}"
                message = f"{message}, not {right[wrong[0]]}{several}. {more}".rstrip()
                return Fault("input" if part == "input" else "result", message, launch, results, (part,))
        return None


def _relation(before: Any, result: Any, right: Any) -> str:
    """What the elements that differ have in common."""
    at = np.flatnonzero((before != right) | (result != right))
    with np.errstate(invalid="ignore"):  # NaN
        x, y = result[at].astype(float), right[at].astype(float)
    if before[at].any() and np.array_equal(x - y, before[at]):
        return "What was there before has been added to the result: assign it."
    if at.size < 4 or (y == y[0]).all():
        return ""
    if (x == x[0]).all():
        return "All of them are the same."
    if np.array_equal(x, y[::-1]):
        return "The elements are in the opposite order."
    if (x - y == x[0] - y[0]).all():
        return f"All are too {'large' if x[0] > y[0] else 'small'} by {abs(x[0] - y[0]):g}."
    for factor in (-1, 2, 0.5):
        if np.array_equal(x, factor * y):
            return f"All are {factor:g} times what they should be."
    if np.array_equal(x[1:], y[:-1]):
        return "Each is what the element before it should be."
    if np.array_equal(x[:-1], y[1:]):
        return "Each is what the element behind it should be."
    return ""


def _slowed(source: str) -> str:
    """The program, with other threads that run before each of these; "" if it has none."""
    body, count = re.subn(r"\b(atomicCAS|atomicExch)\(", r"course_\1(", source)
    slow = (
        f"template <class T, class... Values> __device__ T course_{name}(T *at, Values... values) "
        f"{{ __nanosleep(1); return {name}(at, values...); }} "
        for name in ("atomicCAS", "atomicExch")
    )
    return "".join(slow) + "\n" + body.removeprefix("\n") if count else ""


def name_of(declared: str) -> str:
    """Of a parameter."""
    return str(re.findall(r"\w+", declared)[-1])


def code_of(text: str) -> str:
    """Without comments and spaces."""
    return re.sub(r"//.*|/\*.*?\*/|\s", "", text)


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """TimeoutError if what is done takes longer: it is interrupted as by Ctrl-C, which only the main thread can be."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    fired = threading.Event()

    def interrupt() -> None:
        fired.set()
        _thread.interrupt_main()

    timer = threading.Timer(seconds, interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    except KeyboardInterrupt:
        if not fired.is_set():
            raise
        raise TimeoutError from None
    finally:
        timer.cancel()


@contextmanager
def _ordered(order: str) -> Iterator[None]:
    emulator.configure(order=order)
    try:
        yield
    finally:
        emulator.configure(order="fixed")


def whole(length: int, high: int = 10, dtype: Any = np.float32) -> Any:
    """Integers from 0 to high - 1, whose sums floats contain exactly."""
    return np.random.default_rng(length).integers(0, high, length).astype(dtype)


def untouched(length: int, dtype: Any = np.float32) -> Any:
    """A result that is longer than needed: elements that no thread may write stay -1."""
    return np.full(length, -1, dtype)
