"""Checks that are nested or come by default: CUDAKERN_CHECK, cells of %%cuda, timings inside, several threads."""

import contextlib
import ctypes
import io
import sys
import threading
import warnings

import numpy as np
import pytest

import cudakern
import subprocesses
from cudakern import _display
from cudakern.calls.observer import Observer, observed
from cudakern.insight import checker, defaults
from cudakern.own import compile as own
from cudakern.own import sets
from own_kernels import ADD_ONE, floats

#: Two mistakes, each with a finding of its own.
SUM = """
__device__ int launches;
__global__ void sum(const float *x, float *y) {
    y[0] += x[blockIdx.x * blockDim.x + threadIdx.x];
}
__global__ void count(int *result) {
    result[threadIdx.x] = ++launches;
}
"""

pytestmark = pytest.mark.usefixtures("emulator")


@pytest.fixture
def program():
    return cudakern.compile(SUM)


@pytest.fixture
def cells():
    """What the kernels of a cell are."""
    return own.compiled(SUM, "cell_1.cu", (), None, (), defaults.of_cells())


def modes(program):
    return {mode for _, mode in program._built}


def arguments(n=1000):
    return floats(n), np.zeros(1, np.float32)


def kinds(found):
    return {one.kind for one in found}


@contextlib.contextmanager
def raises(words):
    with pytest.raises(cudakern.CudaError, match=words) as caught:
        yield caught
    assert caught.value.name == "cudaErrorLaunchFailure"


@pytest.fixture
def no_package_set(monkeypatch):
    def compiles(*_):
        raise AssertionError("a set was compiled for a call that is timed")

    monkeypatch.setattr("cudakern.own.sets.package_set", compiles)


# --- nested checks ---------------------------------------------------------------------------------------------------
def test_a_check_inside_checking_returns_its_findings(program):
    with cudakern.checking():
        found = cudakern.check(program.sum[4, 256], *arguments())
        assert kinds(found) == {"race", "bounds"}
        assert kinds(cudakern.check(program.sum[1, 1], *arguments())) == set()
        with raises("race|orders"):
            program.sum[1, 64](*arguments())
        with cudakern.checking(), raises("race|orders"):
            program.sum[1, 64](*arguments())
        found = cudakern.check(program.sum[1, 64], *arguments())
    assert kinds(found) == {"race"}
    program.sum[1, 64](*arguments())  # no check is left


def test_checking_inside_a_check_raises_as_always(program):
    def both():
        program.sum[1, 64](*arguments())
        with cudakern.checking():
            program.sum[1, 64](*arguments())

    with raises("race|orders"):
        cudakern.check(both)
    with raises("race|orders"), cudakern.checking():
        program.sum[1, 64](*arguments())
    assert not cudakern.check(program.sum[1, 1], *arguments())


def test_an_error_has_all_findings_of_its_launch(program):
    with cudakern.checking(), raises(r"^sum, kernels\.cu:4: ") as caught:
        program.sum[4, 256](*arguments())
    first, words, *others = str(caught.value).splitlines()
    assert "y[0]" in first
    assert words == "Further findings:"
    assert len(others) == 1
    assert "reads x[1000]" in others[0]


def test_memory_keeps_its_history_in_a_nested_check():
    program = cudakern.compile("__global__ void twice(float *x) { x[threadIdx.x] *= 2; }")
    with cudakern.checking():
        x = cudakern.empty(32, "float32")
        assert kinds(cudakern.check(program.twice[1, 32], x)) == {"uninitialised"}


def test_several_threads_check_at_the_same_time(program):
    right, wrong = [], []

    def work(number):
        for _ in range(5):
            right.append(kinds(cudakern.check(program.sum[1, 1], *arguments())))
            wrong.append(kinds(cudakern.check(program.sum[1, 64], *arguments())))
            with cudakern.use_backend("emulator"):
                cudakern.profile(program.sum[1, 1], *arguments(), repeat=1)

    subprocesses.in_threads(work, range(4))
    assert right == [set()] * 20
    assert wrong == [{"race"}] * 20


# --- timings ---------------------------------------------------------------------------------------------------------
def test_times_inside_are_those_of_the_plain_set(no_package_set):
    x = np.arange(1000)
    program = cudakern.compile(SUM)
    with cudakern.checking():
        profile = cudakern.profile(cudakern.sum_of_squares, x, variant="atomic", warmup=2)
        assert profile.clock == "emulated"
        assert cudakern.ladder("sum_of_squares", n=100, repeat=1, variants=["atomic"]).steps[0].profile
        assert cudakern.bench("saxpy", shapes=[(100,)], rounds=1, variants=["vectorized"], emulated=True).lines
        cudakern.lab.layouts(n=8, repeat=1)
        cudakern.kernel_resources("sum_of_squares", "atomic")
        cudakern.profile(program.sum[4, 256], *arguments(1024), warmup=1)
        assert modes(program) == {"plain"}
        with raises("race|orders"):
            program.sum[1, 64](*arguments())
        assert modes(program) == {"plain", "checked"}
        result = floats(1)
        ladder = cudakern.ladder([program.sum[1, 1]], reference=lambda x, y: y + x, inputs=[floats(1), result])
        assert not ladder.failed


def test_timings_pause_the_session():
    with cudakern.checking():
        with pytest.raises(RuntimeError, match="another"):
            checker.begin()
        with observed(Observer()):
            checker.begin()  # nobody else hears of launches
            checker.end()
            with cudakern.checking(), pytest.raises(RuntimeError, match="another"):
                checker.begin()
        with pytest.raises(RuntimeError, match="another"):
            checker.begin()
    checker.begin()
    checker.end()


# --- cells -----------------------------------------------------------------------------------------------------------
def test_small_launches_of_a_cell_are_checked(cells):
    with raises(r"^sum, cell_1\.cu:4: "):
        cells.sum[4, 256](*arguments())
    assert modes(cells) == {"checked"}
    n = defaults.SMALL
    cells.sum[n // 256 + 1, 256](*arguments(n + 256))  # too large to be checked
    assert modes(cells) == {"checked", "plain"}
    with raises("race|orders"):
        cells.sum[n // 256, 256](*arguments(n))
    cells.sum[1, 1](*arguments())
    checker.begin()  # no session is left
    checker.end()


def test_variables_of_a_cell_move_with_its_launches(cells):
    """Between the set that is checked and the plain one."""
    large = defaults.SMALL // 32 + 1
    result = np.zeros(1, np.int32)
    cells.symbol("launches")[...] = 10
    assert modes(cells) == {"checked"}
    cells.count[1, 1](result)
    assert result[0] == 11
    with observed(Observer()):
        cells.count[1, 1](result)
    assert modes(cells) == {"checked", "plain"}
    assert result[0] == int(cells.symbol("launches").get()) == 12
    cells.count[1, 1](result)
    assert result[0] == int(cells.symbol("launches").get()) == 13
    cells.sum[large, 32](*arguments(32 * large))
    assert int(cells.symbol("launches").get()) == 13


def test_a_symbol_as_an_argument_is_that_of_the_set_that_runs():
    source = "__device__ float table[4];\n__global__ void f(float *x) { x[threadIdx.x] = table[threadIdx.x] + 1; }"
    cell = own.compiled(source, "cell_1.cu", (), None, (), defaults.of_cells())
    cell.symbol("table")[:] = 1
    cell.f[1, 4](cell.symbol("table"))
    with observed(Observer()):
        cell.f[1, 4](cell.symbol("table"))
    cell.f[1, 4](cell.symbol("table"))
    assert cell.symbol("table").get().tolist() == [4, 4, 4, 4]


def test_constants_of_a_program_stay_when_the_mode_changes():
    source = (
        "__device__ const int odd[] = {1, 3, 5, 7};\n__global__ void f(int *y) { y[threadIdx.x] = odd[threadIdx.x]; }"
    )
    program, y = cudakern.compile(source), np.zeros(4, np.int32)
    for _ in range(2):
        program.f[1, 4](y)
        assert not cudakern.check(program.f[1, 4], y)
    assert y.tolist() == [1, 3, 5, 7]


def test_what_measures_a_kernel_of_a_cell_uses_the_plain_set(cells):
    profile = cudakern.profile(cells.sum[4, 256], *arguments(1024), warmup=1)
    assert profile.kernel_ns
    assert modes(cells) == {"checked", "plain"}
    plain = own.compiled(SUM, "cell_1.cu", (), None, ())
    assert cudakern.kernel_resources(cells.sum) == cudakern.kernel_resources(plain.sum)


def test_cells_inside_other_checks(cells):
    found = cudakern.check(cells.sum[4, 256], *arguments())
    assert kinds(found) == {"race", "bounds"}
    with cudakern.checking(), raises("race|orders"):
        cells.sum[1, 64](*arguments())
    n = 2 * defaults.SMALL
    with cudakern.checking(), raises("race|orders"):  # of any size
        cells.sum[n // 256, 256](*arguments(n))


def test_a_cell_runs_unchecked_where_another_tool_watches(cells):
    checker.begin()
    try:
        cells.sum[1, 64](*arguments())
    finally:
        checker.end()


# --- CUDAKERN_CHECK --------------------------------------------------------------------------------------------------
OF_PROCESS = f"""
import threading
import numpy as np
import cudakern
program = cudakern.compile('''{ADD_ONE}{SUM}''')
def shown(call, *arguments):
    try:
        print(call(*arguments))
    except (cudakern.CudaError, ValueError) as error:
        print(error)
"""


def of_process(code, value):
    return subprocesses.run(subprocesses.joined(OF_PROCESS, code), CUDAKERN_CHECK=value, CUDAKERN_BACKEND="emulator")


def test_a_process_checks_every_launch():
    printed = of_process(
        """
        x, y = cudakern.zeros(1000, "float32"), cudakern.empty(1000, "float32")
        shown(program.add_one[4, 256], y, x, 1000)  # reads what is not written
        shown(program.add_one[4, 256], x, y, 1000)
        shown(program.add_one[4, 256], y, x, 1000)
        shown(program.add_one[400, 256], x, y, 100_000)  # large
        thread = threading.Thread(target=shown, args=(program.sum[1, 64], x, y))
        thread.start()
        thread.join()
        shown(cudakern.sum_of_squares, np.arange(4))
        shown(lambda: cudakern.sum_of_squares(np.arange(4), variant="atomic"))
        shown(lambda: cudakern.profile(program.sum[1, 64], x, y).clock)
        shown(lambda: cudakern.check(program.sum[1, 64], x, y)[0].kind)
        with cudakern.checking():
            shown(program.sum[1, 64], x, y)
        print(sorted(mode for _, mode in program._built))
        """,
        "1",
    ).splitlines()
    assert "reads x[0], which has not been written" in printed[0]
    assert printed[1:3] == ["None", "None"]
    assert "x has 1,000 floats" in printed[3]
    printed = [line for line in printed[4:] if not line.startswith(("Further", " "))]
    assert "y[0]" in printed[0]
    assert printed[1:5] == ["14", "14", "emulated", "race"]
    assert "y[0]" in printed[5]
    assert printed[6:] == ["['checked', 'plain']"]


@pytest.mark.parametrize("value", ["", "0", " 0 "])
def test_a_process_without_checks(value):
    code = """
        shown(program.sum[1, 64], np.zeros(64, "f4"), np.zeros(1, "f4"))
        from cudakern.insight import defaults
        print(defaults.of_cells() is None, [mode for _, mode in program._built])
        """
    is_off = value.strip() == "0"
    assert of_process(code, value) == f"None\n{is_off} ['plain']\n"


def test_a_malformed_value_is_an_error_of_the_first_use():
    printed = subprocesses.run(
        """
        import cudakern
        from cudakern.insight import defaults
        for use in (
            lambda: cudakern.compile("__global__ void f() {}"),
            lambda: cudakern.sum_of_squares([1], variant="atomic"),
            defaults.of_cells,
        ):
            try:
                use()
            except ValueError as error:
                print(error)
        print(cudakern.check(cudakern.sum_of_squares, [1], variant="atomic").launches)  # asked for
        """,
        CUDAKERN_CHECK="yes",
        CUDAKERN_BACKEND="emulator",
    )
    must = "CUDAKERN_CHECK must be 1 (check all launches on the emulator) or 0 (check none), not 'yes'"
    assert printed.splitlines() == [must, must, must, "1"]


def test_launches_on_a_gpu_run_there(monkeypatch):
    """With CUDAKERN_CHECK=1, they are not checked, which one warning says."""

    class Elsewhere:
        native = None

        def execute(self):
            launched.append(threading.current_thread())

    launched = []
    by = defaults._OfProcess()
    assert by.observes(cudakern.backend().native)
    assert not by.observes(None)
    with pytest.warns(RuntimeWarning, match="CUDAKERN_BACKEND=emulator"):
        by.kernel(Elsewhere())
    with warnings.catch_warnings(action="error"):
        by.kernel(Elsewhere())
    assert len(launched) == 2


def test_the_package_sets_of_a_check_are_checked():
    """Otherwise the tests above, which forbid them, would show nothing."""
    with cudakern.checking():
        cudakern.sum_of_squares(np.arange(4), variant="atomic")
    assert any(key[1:] == ("sum_of_squares", "atomic", "checked") for key in sets._loaded)


# --- notes ------------------------------------------------------------------------------------------------------------
LEAVES = """
__global__ void reversed(const float *x, float *y, int n) {
    __shared__ float part[64];
    int i = threadIdx.x;
    if (i >= n) return;
    part[i] = x[i];
    __syncthreads();
    y[i] = part[n - 1 - i];
}
"""


def test_a_thread_that_ends_before_a_barrier_is_a_note(emulator):
    x, y = np.arange(40, dtype="f4"), np.zeros(40, "f4")
    launch = cudakern.compile(LEAVES).reversed[1, 64]
    assert not cudakern.check(launch, x, y, 40)
    (note,) = cudakern.check(launch, x, y, 40, notes=True)
    assert (note.kind, note.line) == ("ended", 7)
    assert "thread 40 has ended" in note.message
    np.testing.assert_array_equal(y, x[::-1])


UNWRITTEN = """
__global__ void twice(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
__global__ void add(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];
}
"""


def test_elements_of_numpy_results_that_no_thread_wrote_are_a_note():
    program, x, y = cudakern.compile(UNWRITTEN), np.arange(100, dtype="f4"), np.full(100, -1, "f4")
    assert not cudakern.check(program.twice[3, 32], x, y, 100)
    (note,) = cudakern.check(program.twice[3, 32], x, y, 100, notes=True)
    assert (note.kind, note.launch) == ("unwritten", 1)
    assert note.message == "4 elements of y got no value in the launch, the first is y[96]"
    np.testing.assert_array_equal(y, np.r_[2 * x[:96], [-1] * 4])
    assert not cudakern.check(program.add[3, 32], x, y, 100, notes=True)  # what it reads is no mere result
    np.testing.assert_array_equal(y, np.r_[3 * x[:96], [-1] * 4])
    assert not cudakern.check(program.twice[3, 32], y, y, 96, notes=True)


# --- several findings -------------------------------------------------------------------------------------------------
def test_launches_count_from_one_in_each_check(program):
    def launches():
        program.sum[1, 1](*arguments())
        program.sum[1, 64](*arguments())
        program.sum[4, 256](*arguments())

    for _ in range(2):
        found = cudakern.check(launches)
        assert sorted((one.kind, one.launch) for one in found) == [("bounds", 3), ("race", 2)]
        assert found.launches == 3


def test_findings_add_up(program):
    race, bounds = (cudakern.check(program.sum[grid, 64], *arguments(64)) for grid in (1, 2))
    both = race + bounds
    assert isinstance(both, type(race))
    assert [*both] == [*race, *bounds]
    assert str(both).startswith(f"sum[1, 64], sum[2, 64]: {len(race) + len(bounds)} findings in 2 launches")
    assert isinstance(both[:1], type(race))


def test_a_barrier_that_not_all_reach_has_both_lines_and_the_thread():
    source = """__global__ void f(int *y) {
    if (threadIdx.x < 8) {
        __syncthreads();
        y[0] = 1;
    } else
        __syncthreads();
}"""
    (finding,) = cudakern.check(cudakern.compile(source).f[2, 32], np.zeros(1, "i4"))
    assert (finding.kind, finding.lines, finding.place.thread) == ("barrier", (3, 6), (8, 0, 0))
    assert "thread 8 (block 0, thread 8) reached __syncthreads(), while 8 of 32 threads wait at" in finding.message
    assert finding.message.endswith("in line 3")


# --- progress ---------------------------------------------------------------------------------------------------------
class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_first_check_shows_a_line_while_it_compiles(own_cache, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    program = cudakern.compile(SUM)
    cudakern.check(program.sum[1, 1], *arguments())
    text = sys.stderr.getvalue()
    assert "Compiling kernels.cu so that it reports its accesses ..." in text
    cudakern.check(program.sum[1, 1], *arguments())
    cudakern.check(cudakern.compile(SUM).sum[1, 1], *arguments())
    assert sys.stderr.getvalue() == text


def test_a_first_check_of_the_package_shows_a_line_too(own_cache, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(sets, "_loaded", {})
    cudakern.check(cudakern.saxpy, 2, np.ones(4), np.ones(4), variant="naive")
    assert "Compiling saxpy, naive so that it reports its accesses ..." in sys.stderr.getvalue()


def test_a_notebook_shows_the_line_and_then_nothing(own_cache, monkeypatch):
    class Output:
        def update(self, data, raw):
            texts.append(data["text/plain"])

    def display(data, raw, display_id):
        texts.append(data["text/plain"])
        return Output()

    texts = []
    monkeypatch.setattr("cudakern._display._notebook_display", lambda: display)
    cudakern.check(cudakern.compile(SUM).sum[1, 1], *arguments())
    assert texts == ["Compiling kernels.cu so that it reports its accesses ...", ""]


def test_a_line_inside_another_one_is_not_shown(own_cache, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with _display.progress_line(None) as announce:
        announce("the whole")
        cudakern.check(cudakern.compile(SUM).sum[1, 1], *arguments())
    assert "the whole" in sys.stderr.getvalue()
    assert "Compiling" not in sys.stderr.getvalue()


def test_no_line_where_nobody_looks(own_cache, capfd):
    cudakern.check(cudakern.compile(SUM).sum[1, 1], *arguments())
    assert capfd.readouterr() == ("", "")


def test_views_that_overlap():
    """Each pointer has the array that was passed for it, also where another one contains its beginning."""
    program = cudakern.compile("__global__ void f(int *x, int *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 1; }")

    def launch(end):
        a = cudakern.zeros(128, "i4")
        program.f[1, 128](a[:64], a[1:end], 127)

    assert not cudakern.check(launch, 128)
    (found,) = cudakern.check(launch, 100)
    assert "y[99]; y has 99 ints" in found.message


def test_a_race_of_blocks_names_the_fences_that_an_atomic_operation_needs(emulator):
    source = """
__global__ void sums(float *part, int *count, float *total) {
    if (threadIdx.x) return;
    part[blockIdx.x] = blockIdx.x;
    if (atomicAdd(count, 1) < gridDim.x - 1) return;
    for (int i = 0; i < gridDim.x; ++i) total[0] += part[i];
}"""
    part, total, count = np.zeros(4, "f4"), np.zeros(1, "f4"), np.zeros(1, "i4")
    found = cudakern.check(cudakern.compile(source).sums[4, 32], part, count, total)
    assert {one.kind for one in found} == {"race"}
    assert "__threadfence() must come before it" in found[0].advice


WAITS = """
__global__ void wait(volatile int *flag, int *y) {
    if (blockIdx.x == 1) *flag = 1;
    while (*flag == 0) {}
    y[blockIdx.x] = 1;
}
__global__ void draw(int *ticket, int *y) {
    if (blockIdx.x == 1) atomicExch(ticket, 1);
    while (atomicAdd(ticket, 0) == 0) {}
    y[blockIdx.x] = 1;
}
"""


@pytest.mark.parametrize("kernel", ["wait", "draw"])
def test_a_wait_for_a_block_that_has_not_begun_ends(kernel):
    program, flag, y = cudakern.compile(WAITS), np.zeros(1, np.int32), np.zeros(2, np.int32)
    found = cudakern.check(program[kernel][2, 1], flag, y)
    assert [one.kind for one in found] == ["error"]
    assert "waits for ever" in found[0].message
    assert program.source.splitlines()[found[0].line - 1].lstrip().startswith("while")
    assert not cudakern.check(lambda: program[kernel](2, 1, flag * 0, y, cooperative=True))


def test_the_same_mistake_in_several_launches_is_one_finding():
    program = cudakern.compile("__global__ void d(int *y) { y[0] += 1; }")

    def launches():
        for _ in range(5):
            program.d[1, 64](np.zeros(1, "i4"))

    (five,), (one,) = cudakern.check(launches), cudakern.check(program.d[1, 64], np.zeros(1, "i4"))
    assert five.count == 5 * one.count
    assert five.message == one.message


def test_a_finding_says_that_the_launch_ended():
    """A page that nobody may access follows an array of 4,096 bytes."""
    program = cudakern.compile("__global__ void d(int *y) { y[blockIdx.x * blockDim.x + threadIdx.x] = 1; }")
    (found,) = cudakern.check(program.d[5, 256], np.zeros(1024, "i4"))
    assert found.advice.endswith("The launch ended here: check again when this is mended.")
    (found,) = cudakern.check(program.d[5, 256], np.zeros(1279, "i4"))
    assert "ended" not in found.advice


def test_a_wild_write_leaves_the_process_alone():
    """A variable of the interpreter's, far from all arrays: on a GPU, the write ends the kernel."""
    wild = cudakern.compile("__global__ void wild(int *x, long long i) { x[i] = 7; }").wild
    of_python = ctypes.c_int.in_dll(ctypes.pythonapi, "Py_HashRandomizationFlag")
    before = of_python.value
    with cudakern.use_backend("emulator"):
        x = cudakern.zeros(10, "i4")
        distance = ctypes.addressof(of_python) - np.from_dlpack(x).ctypes.data
        (found,) = cudakern.check(wild[1, 1], x, distance // 4)
    after, of_python.value = of_python.value, before
    assert found.kind == "bounds"
    assert found.advice.endswith("The launch ended here: check again when this is mended.")
    assert after == before


def test_volatile_variables_between_lanes_need_syncwarp():
    source = """__global__ void sums(float *y) {
    volatile __shared__ float s[64];
    s[threadIdx.x] = threadIdx.x;
    s[threadIdx.x] += s[threadIdx.x + 16];
    y[threadIdx.x] = s[threadIdx.x];
}"""
    found = cudakern.check(cudakern.compile(source).sums[1, 32], np.zeros(32, "f4"))
    assert any("__syncwarp(), write, __syncwarp(), or use shuffles" in one.advice for one in found)
