"""printf in kernels: formats compared with Python, return values, when text appears; how Python captures it."""

import ctypes
import itertools
import os
import threading

import numpy as np
import pytest

import cuda_api
import cudakern
import subprocesses
from cudakern import lab
from cudakern.operations.experiments import hello

TEXT = "some text"


@pytest.fixture
def library(side):
    made = cuda_api.load(side, "print")
    with cudakern.use_backend(side):
        yield made


@pytest.mark.parametrize(
    "i, u, l, w, d",
    [
        (42, 42, 42, 42, 3.14159265),
        (-7, 2**32 - 1, -(2**62), 2**64 - 1, -1e-5),
        (-(2**31), 0, -(2**63), 0, 1.7976931348623157e308),
        (2**31 - 1, 8, 2**63 - 1, 2**63, 5e-324),
    ],
)
def test_formats_are_those_of_c(library, i, u, l, w, d):  # noqa: E741
    text = library.buffer(np.frombuffer(TEXT.encode() + b"\0", np.uint8))
    wide = (ctypes.c_longlong(l), ctypes.c_ulonglong(w), ctypes.c_double(d))
    with lab.printed() as out:
        library.launch("run_formats", i, ctypes.c_uint(u), *wide, text)
    short = ctypes.c_short(i).value
    expected = [
        "a|%d|%i|%5d|%-5d|%05d|%+d|% d|%.3d" % ((i,) * 8),  # noqa: UP031
        "b|%u|%x|%X|%o|" % ((u,) * 4) + (f"{u:#x}|0{u:o}" if u else "0|0") + f"|{u:8d}",  # noqa: UP031
        f"c|{l}|{w}|{w:x}|{l}|{short}",
        "d|%f|%.2f|%8.3f|%-10.1f|%+f|%e|%E|%g|%G|%.0f" % ((d,) * 10),
        f"e|x|{TEXT}|{TEXT:>10}|ab    |%",
        f"f|{i:7d}|{d:.2f}",
    ]
    assert out.lines[:6] == expected
    assert float.fromhex(out.lines[6].partition("|")[2]) == d


def test_pointers_and_what_is_no_number(library):
    buffer = library.buffer(np.zeros(4))
    with lab.printed() as out:
        library.launch("run_pointers", buffer)
    assert int(out.text, 16) == buffer.address.value
    with lab.printed() as out:
        library.launch("run_special", ctypes.c_double(np.inf), ctypes.c_double(np.nan))
    assert [word.lstrip("-+") for word in out.text.split()] == ["inf", "inf", "nan"]
    assert out.text.split()[1] == "-inf"


def test_results_count_arguments(library):
    results = library.buffer(np.zeros(4, np.int32))
    with lab.printed() as out:
        library.launch("run_results", None, results)
    assert results.get().tolist() == [0, 1, 3, -1]
    assert out.lines == ["no arguments", "1", "1 2 three"]


def test_as_many_arguments_as_there_may_be(library):
    with lab.printed() as out:
        library.launch("run_many", -5)
    assert out.text == " ".join(map(str, range(-5, 27))) + "\n"


def test_each_thread_prints_each_line_once(library):
    with lab.printed() as out:
        library.launch("run_who", 9, 3, grid=(3, 2, 2), block=(5, 3, 2))
    got = sorted(tuple(map(int, line.split())) for line in out.lines)
    axes = (range(9, 10), range(3), range(3), range(2), range(2), range(5), range(3), range(2))
    assert got == sorted(itertools.product(*axes))
    rounds = [int(line.split()[1]) for line in out.lines if line.endswith(" 2 1 1 4 2 1")]
    assert rounds == [0, 1, 2]  # a thread's own lines keep their order


def test_branches_and_barriers(library):
    with lab.printed() as out:
        library.launch("run_branches", block=8)
    assert sorted(out.lines[:8]) == sorted(f"{'odd' if i % 2 else 'even'} {i}" for i in range(8))
    assert out.lines[8:] == ["after"]


@pytest.mark.parametrize("how", ["stream", "device", "event", "copy"])
def test_text_appears_when_the_host_synchronizes(library, how, tmp_path):
    """And not before: it waits on the device."""
    stream, event = library.stream(cuda_api.BLOCKING), library.event()
    place = np.zeros(4)
    buffer = library.buffer(place)
    at = ctypes.c_void_p(place.ctypes.data)
    wait = {
        "stream": lambda: library.check("api_stream_synchronize", stream),
        "device": lambda: library.check("api_synchronize"),
        "event": lambda: library.check("api_event_synchronize", event),
        "copy": lambda: library.check("api_copy", at, buffer.address, ctypes.c_size_t(32), cuda_api.TO_HOST),
    }[how]
    with lab.printed() as out:
        library.start("run_who", 1, 1, block=2, stream=stream)
        library.check("api_event_record", event, stream)
        while library.code("api_stream_query", stream):
            pass
        before = os.fstat(1).st_size
        wait()
        cuda_flush(library)
        after = os.fstat(1).st_size
    assert before == 0
    assert after == len(out.text) > 0
    library.check("api_stream_destroy", stream)
    library.check("api_event_destroy", event)


def cuda_flush(library):
    cudakern.backend().native.flush_output()


def test_host_code_of_the_same_file_prints_as_c_does(library):
    with lab.printed() as out:
        assert library.raw.print_on_host(12345) == len("host 12345\n")
    assert out.lines == ["host 12345"]


@pytest.mark.parametrize("side", ["emulator"])
def test_of_too_much_text_the_last_mebibyte_is_kept(library):
    with lab.printed() as out:
        library.launch("run_who", 7, 70_000)
    last = "7 69999 0 0 0 0 0 0"
    assert out.lines[-1] == last
    assert 2**20 - 40 < len(out.text) <= 2**20
    rounds = [int(line.split()[1]) for line in out.lines]
    assert rounds == list(range(rounds[0], 70_000))


@pytest.mark.parametrize("side", ["emulator"])
def test_a_child_does_not_print_its_parents_text(library):
    with lab.printed() as out:
        library.start("run_who", 1, 1)
        while library.code("api_stream_query", None):
            pass
        child = os.fork()
        if child == 0:
            library.code("api_synchronize")
            os._exit(0)
        os.waitpid(child, 0)
    assert out.lines == ["1 0 0 0 0 0 0 0"]


# --- for Python ------------------------------------------------------------------------------------------------------
def greet(n=3):
    return hello(np.zeros(n, np.int32), variant="greeting", lines=n)


def test_printed_gives_what_was_printed_inside(backend, capfd):
    greet(1)
    with lab.printed() as out:
        greet(3)
        with pytest.raises(RuntimeError, match="after the end of the printed"):
            _ = out.text
    greet(2)
    assert sorted(out.lines) == [f"Hello from block 0, thread {i}" for i in range(3)]
    cudakern.backend().native.flush_output()
    assert len(capfd.readouterr().out.splitlines()) == 3  # what was outside went where it always goes


def test_what_is_not_waited_for_is_there_too(backend):
    x = cudakern.asarray(np.zeros(4, np.int32))
    with lab.printed() as out:
        hello(x, variant="greeting", lines=4)
    assert len(out.lines) == 4


def test_echo_writes_to_pythons_own_output(backend, capsys):
    with lab.printed(echo=True) as out:
        greet(2)
    assert capsys.readouterr().out == out.text != ""


def test_an_error_inside_leaves_the_output_as_it_was(backend, capfd):
    with pytest.raises(KeyError), lab.printed():
        raise KeyError
    os.write(1, b"still here\n")
    assert capfd.readouterr().out == "still here\n"
    with lab.printed() as out:
        greet(1)
    assert len(out.lines) == 1


def test_a_failure_of_the_device_leaves_the_output_as_it_was(backend, fault, capfd):
    def fail():
        with lab.printed():
            greet(1)
            fault(backend, 1, 719)  # the wait at the end

    with pytest.raises(cudakern.CudaError, match="719"):
        fail()
    fault(backend, 0, 1)
    os.write(1, b"still here\n")
    assert capfd.readouterr().out == "still here\n"
    with lab.printed() as out:
        greet(2)
    assert len(out.lines) == 2


def test_one_block_inside_another_is_refused(backend):
    with lab.printed() as out, pytest.raises(RuntimeError, match="inside"), lab.printed():
        pass
    assert out.text == ""
    with lab.printed() as out:
        greet(1)
    assert len(out.lines) == 1


def test_threads_take_turns(backend):
    wrong = []

    def work(n):
        with cudakern.use_backend(backend):
            for _ in range(5):
                with lab.printed() as out:
                    greet(n)
                if len(out.lines) != n:
                    wrong.append(out.lines)

    threads = [threading.Thread(target=work, args=(n,)) for n in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_process_without_standard_output(backend):
    subprocesses.run(
        f"""
        import os
        os.close(1)
        import numpy as np, cudakern
        from cudakern import lab
        from cudakern.operations.experiments import hello
        with cudakern.use_backend({backend!r}), lab.printed() as out:
            hello(np.zeros(3, np.int32), variant="greeting", lines=3)
        assert len(out.lines) == 3, out.lines
        if {backend!r} == "emulator":  # (a GPU's driver opens files of its own, and takes the number)
            try:
                os.fstat(1)
            except OSError:
                pass
            else:
                raise AssertionError("descriptor 1 is open")
        """
    )


@pytest.mark.proves("lab.hello")
@pytest.mark.parametrize("blocks, threads", [(1, 1), (1, 4), (3, 33), (20, 5)])
def test_hello(backend, blocks, threads):
    result = lab.hello(blocks, threads)
    assert sorted((row["block"], row["thread"]) for row in result.rows) == [
        (b, t) for b in range(blocks) for t in range(threads)
    ]
    assert all(row["line"] == f"Hello from block {row['block']}, thread {row['thread']}" for row in result.rows)
    assert result.title == {
        (1, 1): "1 block of 1 thread",
        (1, 4): "1 block of 4 threads",
    }.get((blocks, threads), f"{blocks} blocks of {threads} threads")


def test_hello_has_a_picture(backend, tmp_path):
    result = lab.hello(3, 5)
    picture = result.plot(str(tmp_path / "picture.png"))
    assert (tmp_path / "picture.png").stat().st_size > 1000
    (points,) = picture.axes[0].collections
    assert points.get_offsets().tolist() == [[1 + i, row["thread"]] for i, row in enumerate(result.rows)]
    assert points.get_array().tolist() == result["block"]


def test_hello_shows_the_order_that_is_set(order):
    with cudakern.use_backend("emulator"):
        order("reversed")
        result = lab.hello(1, 4)
    assert [row["thread"] for row in result.rows] == [3, 2, 1, 0]


def test_hello_refuses(backend):
    for wrong in ((0, 4), (1, 0), (-1, 1), (16_385, 1), (17, 1024)):
        with pytest.raises(
            ValueError, match=r"^hello: (blocks|threads|blocks \* threads) must be (1 or|from 1 to 16384)"
        ):
            lab.hello(*wrong)
    with pytest.raises(ValueError, match="threads"):
        lab.hello(1, 1025)


def test_hello_hears_every_thread(backend, monkeypatch):
    from cudakern.lab import _printed as module

    monkeypatch.setattr(module, "greet", lambda x, **keywords: hello(x, **(keywords | {"lines": 3})))
    with pytest.raises(RuntimeError, match="4 threads ran, but 3 lines arrived"):
        lab.hello(1, 4)
    monkeypatch.setattr(module, "greet", lambda x, **keywords: hello(x, **keywords) + 1)
    with pytest.raises(RuntimeError, match="numbers"):
        lab.hello(1, 4)
