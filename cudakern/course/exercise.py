"""An exercise of the course: a kernel to write, what it should do, and what helps somebody whose kernel does not."""

from __future__ import annotations

import _thread
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import emulator
from .._backend import backend, use_backend
from .._errors import CudaError
from ..calls.observer import observed
from ..insight.check import Checking
from ..insight.check import check as find
from ..insight.counters import trace
from ..insight.trace import record
from ..own.compile import Program
from ..own.compile import compile as compile_source
from ..own.compilers import CompileError
from .verdict import Verdict

if TYPE_CHECKING:
    from ..measure.plots import Picture

LONGEST_S = 20  #: that a kernel may run: a right one takes a fraction of a second
#: What a wrong kernel does may depend on the order in which its threads run.
ORDERS = ("fixed", "reversed", "seed:1")


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
    kind: str = ""  #: of a Finding, such as "race"; "result": a result differs; "target"; "": any
    says: str = ""  #: a regular expression that the message contains
    like: Callable[..., None] | None = None  #: changes the arrays as such a kernel does

    def fits(self, fault: Fault) -> bool:
        if (self.kind and self.kind != fault.kind) or not re.search(self.says, fault.message):
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


@dataclass(frozen=True)
class Target:
    """A figure of ``trace`` that a right kernel stays within, by its name in Nsight Compute."""

    metric: str
    most: float
    words: str  #: what it is: "sectors per request of the loads"

    def missed(self, metrics: dict[str, float]) -> str:
        value = metrics.get(self.metric, 0)
        return f"{value:.3g} {self.words}; at most {self.most:.3g} are needed." if value > self.most else ""


@dataclass(frozen=True)
class Wrong:
    """A typical wrong kernel: the answer with one part replaced; and words of what it must be told."""

    part: str
    instead: str
    told: str  #: a regular expression


@dataclass(frozen=True)
class Exercise:
    name: str  #: of the kernel
    stub: str  #: what the notebook has
    answer: str
    numpy: Callable[..., None]  #: changes the arrays as the kernel should
    launches: tuple[Launch, ...]  #: the first one is small: `goal` draws it
    hints: tuple[Hint, ...]
    why: str  #: shown with a right kernel: what to remember
    wrongs: tuple[Wrong, ...]
    targets: tuple[Target, ...] = ()  #: of the last launch
    about: tuple[str, ...] = ()  #: parts of a kernel that `why` is about; a right one may do without

    def check(self, text: str) -> Verdict:
        """What a notebook shows below the kernel."""
        verdict = self._judged(text)
        return replace(verdict, answer=self.answer.strip(), goal=self.goal)

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
            return Verdict(False, "\n".join(filter(None, (fault.message, self.hint(fault)))))
        is_other = self.about and not any(part in code_of(text) for part in self.about)
        return Verdict(
            True, f"Nothing is wrong here. Another way is {self.about[0]}. {self.why}" if is_other else self.why
        )

    def hint(self, fault: Fault) -> str:
        return next((one.text for one in self.hints if one.fits(fault)), "")

    def fault(self, text: str) -> Fault | None:
        """The first thing that is wrong. CompileError if it does not compile, AttributeError if it has another name."""
        program = self.compiled(text)
        try:
            with _at_most(LONGEST_S):
                return self._fault(program)
        except TimeoutError:
            words = f"The kernel runs for more than {LONGEST_S} seconds: does a loop never end? A thread that has its element"
            return Fault("endless", f"{words} needs `if`, not `while`.", self.launches[0])
        except (TypeError, ValueError, CudaError) as error:
            return Fault("error", f"{error}.", self.launches[0])

    def compiled(self, text: str) -> Program:
        """As checks and pictures run it on the emulator, so that each text is compiled once for both."""
        with use_backend("emulator"), observed(Checking(raises=False)):
            return compile_source(text, name=f"{self.name}.cu")

    def _fault(self, program: Program) -> Fault | None:
        """On the emulator, where mistakes are found, in several orders of the threads; then on a GPU, if there is
        one."""
        with use_backend("emulator"):
            for order in ORDERS:
                with _ordered(order):
                    for launch in self.launches:
                        if fault := self._fault_of(program, launch):
                            return fault
            if fault := self._fault_of_one_thread(program):
                return fault
            last = self.launches[-1]
            for target in self.targets:
                metrics = trace(program[self.name][last.grid, last.block], *last.arguments()).metrics
                if missed := target.missed(metrics):
                    return Fault("target", f"The result is right. But the kernel makes {missed}", last)
        on_gpu = () if backend().emulated else self.launches
        return next(filter(None, (self._difference(program, launch) for launch in on_gpu)), None)

    def _fault_of_one_thread(self, program: Program) -> Fault | None:
        """Whether one thread writes all results, where in the answer several do."""
        launch = self.launches[0]
        if self._writers(program) > 1 or self._writers(self.compiled(self.answer)) == 1:
            return None
        message = "The result is right, but one thread does everything, while the others wait. Give each one its share."
        return Fault("alone", message, launch)

    def _writers(self, program: Program) -> int:
        """How many threads write to the arrays in the first launch."""
        launch = self.launches[0]
        done = record(program[self.name][launch.grid, launch.block], *launch.arguments())
        return len({(one.block, one.thread) for one in done.accesses if one.writes and not one.shared})

    def _fault_of(self, program: Program, launch: Launch) -> Fault | None:
        differences: list[Fault | None] = []
        found = find(lambda: differences.append(self._difference(program, launch)))
        difference = differences[0] if differences else None
        if difference and not found:
            return difference
        return Fault(found[0].kind, str(found[0]), launch, difference.results if difference else ()) if found else None

    def _difference(self, program: Program, launch: Launch) -> Fault | None:
        """The first element that differs from NumPy's."""
        kernel, results, expected = program[self.name], launch.arguments(), launch.arguments()
        kernel[launch.grid, launch.block](*results)
        self.numpy(*expected)
        for declared, x, y in zip(kernel.parameters, results, expected, strict=True):
            wrong = np.flatnonzero(np.ravel(x) != np.ravel(y))
            if wrong.size:
                i, name = wrong[0], re.findall(r"\w+", declared)[-1]
                several = f" ({wrong.size:,} elements differ)" if wrong.size > 1 else ""
                message = f"After {self.name}[{launch.grid}, {launch.block}], {name}[{i}] is {np.ravel(x)[i]}"
                return Fault("result", f"{message}, not {np.ravel(y)[i]}{several}.", launch, results)
        return None


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
