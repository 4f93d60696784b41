"""Processes: forks, multiprocessing, Ctrl-C, and the end of the interpreter with arrays, streams and kernels alive."""

import pickle
import signal
import subprocess
import textwrap
import threading

import numpy as np
import pytest

import cudakern as ck
import subprocesses
from cases import BACKENDS, HAS_BFLOAT16

# Long enough on the emulator that nobody sees its end: some minutes.
LONG = """
import numpy as np, cudakern as ck
from cases import native
big = ck.asarray(np.ones((4000, 4000), "float32"))
small = ck.asarray(np.arange(9.0).reshape(3, 3))
def start(stream=None):
    return ck.matmul(big, big, variant="kahan", stream=stream)
"""
EMULATED = {"CUDAKERN_BACKEND": "emulator"}


def quiet(code, limit=100, **settings):
    """Runs the code; it must end by itself, in time, well, and say nothing."""
    # Newer Pythons warn of any fork() in a process with threads; what such a child may do is what is tested.
    process = subprocesses.start(code, **{"PYTHONWARNINGS": "ignore::DeprecationWarning"} | settings)
    try:
        output, errors = process.communicate(timeout=limit)
    except Exception:
        process.kill()
        output, errors = process.communicate()
        raise AssertionError(f"still running after {limit} s: {output} {errors}") from None
    assert (process.returncode, output, errors) == (0, "", "")


def squares(n):
    """What a worker process does: arrays of its own."""
    with ck.use_backend("emulator"):
        x = ck.asarray(np.arange(n))
        return int(ck.sum_of_squares(x)), (x.reshape(1, -1) @ x.reshape(-1, 1)).get().tolist()


# --- fork ------------------------------------------------------------------------------------------------------------
IN_A_FORK = """
import os, signal, sys, traceback
import numpy as np, cudakern as ck
from cases import native
from subprocesses import in_child
"""


def forking(code, **settings):
    quiet(IN_A_FORK + textwrap.dedent(code), **settings)


def test_fork_handlers_that_let_other_threads_run():
    """Python's handlers of a fork may give up its lock between ours and the fork. A thread that then frees an array
    waits without Python's lock."""
    quiet(
        """
    import os, threading, time
    os.register_at_fork(before=lambda: time.sleep(0.01))  # it runs after ours, which is registered later
    import cudakern as ck
    done = threading.Event()

    def work():
        while not done.is_set():
            ck.zeros(10)

    with ck.use_backend("emulator"):
        ck.zeros(10)
    other = threading.Thread(target=work)
    other.start()
    for turn in range(30):
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
    done.set()
    other.join()
    """,
        limit=60,
        **EMULATED,
    )


@pytest.mark.parametrize("name", BACKENDS)
def test_arrays_in_a_child_of_a_fork(name):
    """The parent's are refused in words, whatever one does with them; letting them go is no fault. The parent's stay
    as they are."""
    forking(
        """
        import gc
        a = np.arange(12.0).reshape(3, 4)
        x, stream, event = ck.asarray(a), ck.Stream(), ck.Event()
        y = x[:, 1:]
        ck.synchronize()

        def refused(call):
            try:
                call()
            except ck.CudaError as error:
                assert "fork" in str(error), error
            else:
                raise AssertionError("a child used its parent's array")

        def child():
            global x, y, stream, event
            for call in (x.get, y.get, lambda: x.fill(1), lambda: x.set(a), x.copy, lambda: x @ x.T,
                         lambda: ck.sum_of_squares(y), lambda: float(x[0, 0]), lambda: x.astype("int8"),
                         lambda: repr(x), lambda: ck.matmul(x, x.T, out=ck.zeros((3, 3)))):
                refused(call)
            assert x.shape == (3, 4) and y.strides == (32, 8)
            if x.backend == "emulator":
                assert np.array_equal(np.from_dlpack(x), a)
                stream.synchronize()
                event.synchronize()
                assert stream.done and event.done
            del x, y, stream, event
            gc.collect()

        in_child(child)
        in_child(child)
        assert np.array_equal(x.get(), a)
        assert np.array_equal((x @ x.T).get(), a @ a.T)
        stream.record(event)
        event.synchronize()
        """,
        CUDAKERN_BACKEND=name,
    )


def test_new_arrays_in_a_child_of_a_fork():
    forking(
        """
        def compute():
            a = np.arange(30).reshape(5, 6)
            stream = ck.Stream()
            for s in (None, stream, 2):
                x = ck.asarray(a, stream=s)
                assert np.array_equal(ck.matmul(x, x.T, stream=s).get(), a @ a.T)
                assert int(ck.sum_of_squares(x, stream=s)) == (a * a).sum()
            ck.synchronize()

        kept = ck.asarray(np.arange(5))
        compute()
        used = native("emulator").pool_used(0)
        for _ in range(3):
            in_child(compute)
            in_child(lambda: in_child(compute))  # and in its child
            compute()
        assert kept.get().tolist() == [0, 1, 2, 3, 4]
        assert native("emulator").pool_used(0) == used
        """,
        **EMULATED,
    )


@pytest.mark.forks
@pytest.mark.parametrize("backend_threads", [1, 3])
def test_a_fork_while_kernels_run(backend_threads):
    """In other threads, and in streams that nobody waits for: the child has none of it, the parent all."""
    forking(
        """
        import threading
        a = np.ones((60, 60))
        x = ck.asarray(a)
        stop, wrong, rounds = [], [], []

        def busy():
            with ck.use_backend("emulator"):
                while not stop:
                    y = x @ x
                    if not (y.get() == 60).all():
                        wrong.append(1)
                    rounds.append(1)

        def child():
            y = ck.asarray(a)
            assert ((y @ y).get() == 60).all()
            assert int(ck.sum_of_squares(np.arange(1000), variant="multi_block")) == 332833500

        threads = [threading.Thread(target=busy) for _ in range(2)]
        [thread.start() for thread in threads]
        for _ in range(8):
            z = ck.matmul(x, x, variant="kahan")
            in_child(child)
            assert (z.get() == 60).all()
        stop.append(1)
        [thread.join() for thread in threads]
        assert rounds and not wrong
        """,
        CUDAKERN_EMULATOR_WORKERS=str(backend_threads),
        **EMULATED,
    )


def test_the_end_of_a_child_by_exit():
    """Not by os._exit: the interpreter of the child takes down what it has of its parent's."""
    quiet(
        """
        import os
        import numpy as np, cudakern as ck
        x, stream, pinned = ck.asarray(np.ones((50, 50))), ck.Stream(), ck.empty_pinned(100)
        y = ck.matmul(x, x, stream=stream)
        cycle = [x, y]
        cycle.append(cycle)
        child = os.fork()
        if child:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            assert (y.get() == 50).all()
        """,
        **EMULATED,
    )


@pytest.mark.parametrize("method", ["fork", "spawn", pytest.param("forkserver", marks=pytest.mark.full)])
def test_multiprocessing(method):
    """After the parent has used the library."""
    subprocesses.run(
        f"""
        import multiprocessing, warnings
        import numpy as np, cudakern as ck
        import test_processes
        warnings.simplefilter("ignore", DeprecationWarning)  # later Pythons warn of forks beside threads
        x = ck.asarray(np.arange(100))
        with multiprocessing.get_context({method!r}).Pool(2) as pool:
            found = pool.map_async(test_processes.squares, [5, 1000, 5, 777]).get(timeout=100)
            try:
                pool.apply_async(len, (x,)).get(timeout=100)
                raise AssertionError("a device array was pickled")
            except TypeError as error:
                assert ".get()" in str(error), error
            assert pool.apply_async(len, (x.get(),)).get(timeout=100) == 100
        for n, (total, product) in zip([5, 1000, 5, 777], found):
            assert total == sum(i * i for i in range(n)) and product == [[total]], (n, total)
        assert x.get().tolist() == list(range(100))
        """,
        **EMULATED,
    )


# --- Ctrl-C ----------------------------------------------------------------------------------------------------------
WAITS = {
    "synchronize": "y = start(); wait = ck.synchronize",
    "device": "y = start(); wait = ck.devices()[0].synchronize",
    "stream": "s = ck.Stream(); y = start(s); wait = s.synchronize",
    "event": "s = ck.Stream(); y = start(s); wait = s.record().synchronize",
    "get": "y = start(); wait = y.get",
    "get of another stream's": "s = ck.Stream(); y = start(s); wait = y.get",
    "get of what follows": "s = ck.Stream(); y = start(s); z = y.copy(); wait = z[:2, :2].get",
    "get by the thread's own stream": "y = start(2); wait = lambda: y.get(stream=2)",
    "float": "y = start(); wait = lambda: float(y[0, 0])",
    "repr": "y = start(); wait = lambda: repr(y)",
    "set": "host = np.ones((4000, 4000), 'float32'); y = start(); wait = lambda: y.set(host)",
    "sum of host arrays behind it": "y = start(); wait = lambda: (ck.matmul(big.get(), big.get(), variant='kahan'))",
}


INTERRUPTED = (
    LONG
    + """
import gc, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs start with it ignored
(small @ small).get()
def interrupted(code):
    here = dict(globals())
    exec(code, here)
    try:
        print("started", flush=True)
        here["wait"]()
        print("waited", end=" ")
    except KeyboardInterrupt:
        print("interrupted", end=" ")
    ck.synchronize()  # whatever is left would take minutes
    print(float((small @ small)[2, 2]), end=" ")
kept = native("emulator").pool_used(0)
for line in sys.stdin:
    interrupted(line)
    gc.collect()
    ck.synchronize()
    print(native("emulator").pool_used(0) - kept, flush=True)
big = small = None
assert native("emulator").pool_used(0) == 0
"""
)


@pytest.fixture(scope="module")
def waiting():
    """A process that waits as it is asked to, a line at a time; it must end well, and say nothing of errors."""
    process = subprocesses.start(INTERRUPTED, stdin=subprocess.PIPE, **EMULATED)
    yield process
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors) == (0, "", "")


@pytest.mark.parametrize("how", WAITS)
def test_ctrl_c_ends_a_wait(how, waiting):
    """KeyboardInterrupt comes at once, the kernel ends with it, and the library goes on working."""
    print(WAITS[how], file=waiting.stdin, flush=True)
    assert waiting.stdout.readline().strip() == "started"
    subprocesses.interrupt(waiting)
    late = threading.Timer(60, waiting.kill)  # then the wait was not broken off
    late.start()
    assert waiting.stdout.readline().split() == ["interrupted", "111.0", "0"], waiting.poll()
    late.cancel()


def test_ctrl_c_leaves_the_work_of_other_threads():
    """The main thread breaks off its wait for the device; what another thread has enqueued there is done."""
    process = subprocesses.start(
        LONG
        + """
import signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)
a = np.arange(40000).reshape(200, 200) % 7
done = []

def other():
    with ck.use_backend("emulator"):
        x = ck.asarray(a)
        for stream in (None, ck.Stream(), 2):
            for _ in range(4):
                y = ck.matmul(x, x, variant="naive", stream=stream)
                done.append(np.array_equal(y.get(), a @ a))
            ck.synchronize()

thread = threading.Thread(target=other)
y = start(ck.Stream())
thread.start()
try:
    print("started", flush=True)
    ck.synchronize()
except KeyboardInterrupt:
    print("interrupted", flush=True)
thread.join()
print(len(done), all(done))
""",
        **EMULATED,
    )
    assert process.stdout.readline().strip() == "started"
    subprocesses.interrupt(process)
    output, errors = process.communicate(timeout=100)
    assert output.split() == ["interrupted", "12", "True"], errors


# --- the end of the interpreter --------------------------------------------------------------------------------------
ENDS = {
    "arrays in globals": "x = ck.asarray(np.arange(10)); y = x[::2]; z = ck.zeros(5)",
    "results nobody waited for": "x = small @ small; y = ck.sum_of_squares(x); z = y.copy()",
    "streams and events": "s = ck.Stream(); e = s.record(); x = ck.zeros(10, stream=s); s.wait(e)",
    "page-locked memory": "p = ck.empty_pinned(1000); x = ck.asarray(p); q = p[3:]",
    "reference cycles": """
class Holder: pass
h = Holder()
h.x, h.me, h.stream = small @ small, h, ck.Stream()
h.method = h.x.get
loop = [h, small.T]
loop.append(loop)
del h
""",
    "arrays in other modules": """
import sys, types
m = types.ModuleType("m")
m.x = small @ small
sys.modules["m"] = m
""",
    "arrays in a builtin module": "import builtins, sys; builtins.x = small @ small; sys.x = small.T",
    "an array for a NumPy view": """
on_host = ck.backend().name == "emulator"  # where device memory is NumPy's too
d = ck.from_dlpack(np.arange(5.0)) if on_host else ck.from_dlpack(small)
n = np.from_dlpack(small) if on_host else None
""",
    "capsules nobody took": "c = small.__dlpack__(); v = small.T.__dlpack__(max_version=(1, 0)); x = [c, small]",
    "a generator that holds one": """
def rows():
    x = ck.zeros((5, 5))
    try:
        for row in x:
            yield row
    finally:
        x.fill(1)
g = rows()
next(g)
""",
    "a finaliser that uses one": """
import weakref
class Owner: pass
o = Owner()
weakref.finalize(o, small.fill, 2)
""",
    "an exit function that uses one": "import atexit; atexit.register(lambda: (small @ small).get())",
    "a __del__ that uses one": """
class Late:
    def __init__(self): self.x, self.s = ck.zeros(9), ck.Stream()
    def __del__(self):
        self.x.fill(3, stream=self.s)
        self.s.synchronize()
late = Late()
""",
    "a __del__ that does everything": """
class Late:
    def __init__(self):
        self.x, self.host, self.ck = ck.asarray(np.ones((3, 3))), np.full((3, 3), 2.0), ck
        self.out = np.empty((3, 3))
    def __del__(self):
        x, ck = self.x, self.ck
        assert x.get(out=self.out).tolist() == [[1.0] * 3] * 3
        assert "DeviceArray" in repr(x) and "DeviceArray" in f"{x}"
        assert (x @ x).get().tolist() == [[3.0] * 3] * 3
        x @= x
        x.set(self.host)
        x[0] = [5, 6, 7]
        x[1:].set(4)
        assert float(ck.sum_of_squares(x)) == 25 + 36 + 49 + 6 * 16
        assert ck.asarray(self.host).astype("float32").T.copy().tolist() == [[2.0] * 3] * 3
        assert ck.asarray([1, 2], "int8").get().tolist() == [1, 2]
        assert ck.zeros(3, "float32").dtype.kind == "f"
        s = ck.Stream()
        ck.matmul(x, x, out=x, stream=s)
        s.synchronize()
        assert ck.matmul(self.host, self.host).tolist() == [[12.0] * 3] * 3
        assert repr(x.device)
late = Late()
""",
    "settings left open": """
w = ck.use_backend("emulator")
w.__enter__()
d = ck.device(0)
d.__enter__()
x = ck.zeros(3)
""",
    "a thread's arrays": """
import threading
def work():
    local = threading.local()
    local.x = ck.zeros(10)
    kept.append(local)
kept = []
t = threading.Thread(target=work); t.start(); t.join()
""",
    # The last, since it ends the process.
    "an exception on its way": """
import sys
def fail(x): raise SystemExit(0)
fail(ck.zeros(10))
""",
}


#: All of them in one process: each in a module of its own, so that names do not meet.
ENDS["all"] = f"""
import sys, types
for i, code in enumerate({list(ENDS.values())!r}):
    sys.modules[f"case_{{i}}"] = one = types.ModuleType(f"case_{{i}}")
    vars(one).update(np=np, ck=ck, small=small)
    exec(code, vars(one))
"""


@pytest.mark.parametrize(
    "name, what",
    [("emulator", "all")]
    + [pytest.param(name, what, marks=pytest.mark.full) for name in BACKENDS for what in ENDS if what != "all"],
)
def test_the_interpreter_ends_with(what, name):
    quiet(LONG.replace("4000", "40") + ENDS[what], CUDAKERN_BACKEND=name)


RUNNING = {
    "a kernel": "x = start()",
    "kernels in streams": "s = [ck.Stream() for _ in range(3)]; x = [start(t) for t in s]; y = start(); z = start(2)",
    "a kernel and its array gone": "start(); big = None",
    "a kernel and what waits behind it": "s = ck.Stream(); x = start(); y = x.copy(stream=s); z = ck.sum_of_squares(y)",
    "a kernel into memory of NumPy's": """
out = np.zeros((4000, 4000), "float32")
d = ck.from_dlpack(out)
ck.matmul(big, big, out=d, variant="kahan")
del d
""",
    "a kernel that reads what NumPy sees": "n = np.from_dlpack(big); c = big.__dlpack__(); x = start()",
    "a kernel that writes what NumPy saw": """
d = ck.zeros((4000, 4000), "float32")
n = np.from_dlpack(d)
ck.matmul(big, big, out=d, variant="kahan")
del n, d
""",
    "a daemon thread that waits": """
import threading, time
def work():
    with ck.use_backend("emulator"):
        start().get()
threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
""",
    "a daemon thread in a call on host arrays": """
import threading, time
a = np.ones((4000, 4000), "float32")
def work():
    with ck.use_backend("emulator"):
        ck.matmul(a, a, variant="kahan")
threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
""",
    "daemon threads that launch and wait": """
import threading, time
def work():
    with ck.use_backend("emulator"):
        while True:
            x = ck.asarray(np.ones((20, 20)))
            assert ((x @ x).get() == 20).all()
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.5)
""",
}


IN_EACH_RUN = ("kernels in streams", "a kernel that writes what NumPy saw", "daemon threads that launch and wait")


@pytest.mark.parametrize(
    "what", [what if what in IN_EACH_RUN else pytest.param(what, marks=pytest.mark.full) for what in RUNNING]
)
def test_the_interpreter_ends_while_there_runs(what):
    """It does not wait for a kernel that nobody waits for."""
    quiet(LONG + RUNNING[what], limit=60, **EMULATED)


def test_threads_that_go_on_after_the_main_one():
    """Python waits for them; what they do then still works."""
    output = subprocesses.run(
        """
        import os, threading, time
        import numpy as np, cudakern as ck
        a = np.arange(16.0).reshape(4, 4)
        x = ck.asarray(a)

        def work():
            with ck.use_backend("emulator"):
                threading.main_thread().join()
                time.sleep(0.1)
                s = ck.Stream()
                right = np.array_equal(ck.matmul(x, x, stream=s).get(), a @ a)
                os.write(1, f"{right} {int(ck.sum_of_squares(ck.zeros(3)))}\\n".encode())

        for _ in range(2):
            threading.Thread(target=work).start()
        """,
        **EMULATED,
    )
    assert output.split() == ["True", "0"] * 2


def test_a_subinterpreter_is_refused_in_words():
    """Only the main one can have the library; it goes on there."""
    output = subprocesses.run("""
        import importlib.util, sys
        for name in ("_interpreters", "_xxsubinterpreters"):
            try:
                interpreters = __import__(name)
                break
            except ImportError:
                pass
        import numpy as np, cudakern
        from cases import native
        path = native("emulator").__file__
        code = f'''
        import importlib.machinery, importlib.util
        loader = importlib.machinery.ExtensionFileLoader("cudakern._emulator", {path!r})
        spec = importlib.util.spec_from_file_location("cudakern._emulator", {path!r}, loader=loader)
        try:
            module = importlib.util.module_from_spec(spec)
            loader.exec_module(module)
            print("loaded", flush=True)
        except ImportError as error:
            print("refused:", error, flush=True)
        '''
        import textwrap
        one = interpreters.create()
        failed = interpreters.run_string(one, textwrap.dedent(code))
        print(failed, flush=True)
        interpreters.destroy(one)
        with cudakern.use_backend("emulator"):
            print(int(cudakern.sum_of_squares(cudakern.asarray([1, 2]))))
    """)
    lines = output.splitlines()
    assert lines[0].startswith("refused:"), output
    assert "interpreter" in lines[0]
    assert lines[1:] == ["None", "5"]


@pytest.mark.parametrize(
    "module, use",
    [
        ("cudakern.measure.ladder", "ck.ladder"),
        ("importlib.metadata", "ck.__version__"),
        ("difflib", "ck.matmul(1, 1, variant='tild')"),
        ("rich.console", "repr(ck.variants('matmul'))"),
        pytest.param(
            "ml_dtypes",
            "ck.zeros(2, 'bfloat16').get()",
            marks=pytest.mark.skipif(not HAS_BFLOAT16, reason="ml_dtypes is not installed"),
        ),
    ],
)
def test_a_fork_during_a_late_import(module, use):
    """A fork waits for an import of ours that another thread began: the child can use it too. Meanwhile that thread can
    use the runtime."""
    quiet(
        f"""
import importlib.abc, os, signal, sys, threading
import cudakern as ck

def use():
    try:
        {use}
    except ValueError:
        pass

begun = threading.Event()
class Slow(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            begun.set()
            threading.Event().wait(0.3)
            ck.zeros(3)

sys.meta_path.insert(0, Slow())
thread = threading.Thread(target=use)
thread.start()
assert begun.wait(20)
child = os.fork()
if child == 0:
    signal.alarm(10)
    use()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
thread.join()
""",
        limit=30,
        **EMULATED,
    )


@pytest.mark.parametrize("name", BACKENDS)
def test_first_calls_import_nothing(name):
    """An import hangs the child of a fork that another thread makes meanwhile."""
    quiet(f"""
import os, sys
os.environ["CUDAKERN_BACKEND"] = {name!r}
import numpy as np, cudakern as ck
imports = []
sys.addaudithook(lambda event, arguments: event == "import" and imports.append(arguments[0]))
x = np.ones((40, 40), "float32")
d = ck.asarray(x)
d[1:] = [2] * 40
d[0] = ck.matmul(d, d[0], stream=ck.Stream())
ck.synchronize()
for each in (x, d):
    for variant in ("auto", "tiled"):
        ck.matmul(each, each, out=ck.matmul(each, each, variant=variant), variant=variant)
    ck.sum_of_squares(each)
float(ck.sum_of_squares(d))
str(d.astype("complex64").T.copy()[::2].get())
with ck.memory_limit("1M"):
    ck.sum_of_squares(np.ones(1 << 19, "float32"), variant="vectorized")
assert imports == [], imports
""")


# --- surroundings ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("handler, status", [("", -signal.SIGTERM), ("lambda *_: sys.exit(7)", 7)])
def test_sigterm_during_a_kernel(handler, status):
    """It ends the process at once. If Python has a handler, the wait for the kernel ends, and the handler decides."""
    code = f"""
    import signal, sys
    if {handler!r}:
        signal.signal(signal.SIGTERM, {handler or None})
    """
    process = subprocesses.start(
        subprocesses.joined(code, LONG, "x = start()", "print('started', flush=True)", "ck.synchronize()"), **EMULATED
    )
    try:
        assert process.stdout.readline() == "started\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == status
    finally:
        process.kill()
        process.communicate()


def test_results_are_pickled_while_others_compute():
    """Profiles, ladders, experiments and tables of variants, in several threads beside kernels."""
    ladder = ck.ladder("sum_of_squares", n=1000, repeat=1)
    results = [ladder, ladder[1].profile, ck.variants("matmul"), ck.occupancy("matmul", "tiled")]
    texts = [repr(one) for one in results]
    x = ck.asarray(np.arange(10_000, dtype="float32"))
    faults = []

    def copies():
        for _ in range(5):
            faults.extend(
                t for one, t in zip(results, texts, strict=True) if repr(pickle.loads(pickle.dumps(one))) != t
            )

    def computes():
        for _ in range(50):
            faults.extend([] if float(ck.sum_of_squares(x)) == float(ck.sum_of_squares(x)) else ["sum"])

    threads = [threading.Thread(target=work) for work in (copies, copies, computes, computes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


USES = """
import cudakern as ck
assert ck.sum_of_squares([1.0, 2.0], variant="atomic") == 5
assert "H200" in repr(ck.ladder("sum_of_squares", n=100))
assert ck.kernel_resources("matmul", "tiled")
"""


def test_without_a_home_and_a_folder_for_temporary_files():
    """Calls write no files: a read-only or missing home, and a TMPDIR that cannot be used, do no harm."""
    quiet(USES, HOME="/nonexistent", TMPDIR="/proc/self/fdinfo", XDG_CACHE_HOME="/nonexistent", **EMULATED)


def test_on_a_full_disk():
    """As RLIMIT_FSIZE makes every one. What captures a kernel's output needs a temporary file, and says so."""
    full = """
    import resource, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    """
    printing = """
    try:
        ck.lab.hello(blocks=1, threads=1)
    except OSError as error:
        assert "temporary" in str(error), error
    else:
        raise AssertionError
    """
    quiet(subprocesses.joined(full, USES, printing), **EMULATED)
