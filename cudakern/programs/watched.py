"""A whole program that is checked, or whose accesses are counted: `python -m cudakern.programs.watched`.

The program is a library, whose ``main`` this process calls with a tool subscribed to the emulator. When the program
ends, however it does, the tool's report is written.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import linecache
import os
import pickle
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..insight import checker
from ..insight.check import declared_in, one_per_place
from ..insight.checker import Place
from ..insight.counters import Trace
from ..insight.counts import Sources, counting, read, watch_program
from ..insight.declared import constants
from ..insight.errors import explained, is_explained, of_message
from ..insight.findings import Finding, Findings, Launched, finding, one_of_all_launches
from ..insight.launches import Resources
from ..insight.trace import lines_of_code
from ..own.cuda_source import contents

Report = Findings | Trace


def main(mode: str, program: str, report: str, found_code: str, *words: str) -> None:
    """Runs the program, and ends this process as it ends; if that is well, and something was found, by ``found_code``,
    unless that is 0."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends the program
    is_found = False
    begun = {"checked": _check, "traced": _trace}[mode](words[0])
    libc = ctypes.CDLL(None)

    def tell(status: int | None) -> None:
        nonlocal is_found
        libc.fflush(None)
        result = begun(status)
        is_found = isinstance(result, Findings) and bool(result)
        if report:
            Path(report).write_bytes(pickle.dumps(result))
        else:
            print(result, file=sys.stderr, flush=True)

    def at_signal(number: int) -> None:  # of the program's own, such as a failed assert
        libc.signal(number, None)  # which ends it when it comes again
        libc.signal(signal.SIGALRM, None)
        libc.alarm(30)  # the heap may be locked
        tell(None)

    ends = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)(lambda status, _data: tell(status))
    dies = ctypes.CFUNCTYPE(None, ctypes.c_int)(at_signal)
    last = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)(
        lambda status, _data: os._exit(int(found_code)) if int(found_code) and is_found and not status else None
    )
    libc.on_exit(last, None)  # comes after `ends`
    libc.on_exit(ends, None)
    if mode == "traced" and not report:
        watch_program(checker.library(), lambda line: print(f"cudakern: {line}", file=sys.stderr, flush=True))
    for number in (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE):
        libc.signal(number, dies)
    library = ctypes.CDLL(program, mode=os.RTLD_NOW | os.RTLD_GLOBAL)
    encoded = [os.fsencode(word) for word in words]
    argv = (ctypes.c_char_p * (len(encoded) + 1))(*encoded, None)
    libc.exit(library.main(len(encoded), argv))


def _check(name: str) -> Callable[[int | None], Report]:
    """The report of a program that ends with a status; None: by a signal."""
    checker.begin()

    def findings(status: int | None) -> Report:
        left = None if status is None else checker.not_awaited()  # (this waits for the kernels, which may fail)
        failures = checker.failures()
        new = _with_failures(one_per_place([*map(_finding, checker.found(0))]), failures)
        can_free = not any(one.kind == checker.OF_KERNEL for one in failures)
        if status is not None and can_free:
            new += _leaks()
        for access in checker.host_accesses():
            one = _of_host(access)
            if access.memory_kind == checker.SYMBOL and _has_two_sides(one.place.file):
                continue
            new += [one] * all((one.place, one.array) != (other.place, other.array) for other in new)  # `++n`: two
        if left and status == 0 and not failures:
            new.append(_not_awaited(*left))
        launches = checker.library().checker_last_launch()
        checker.end()
        return Findings(new, launches, name)

    return findings


def _finding(one: checker.Found) -> Finding:
    file = one.access.line.file.decode(errors="replace")
    lines = linecache.getlines(file)
    kernel = re.sub(r"<.*", "", one.kernel.decode(errors="replace")).split("::")[-1]
    works = _queued(one.kernel, one.call), _queued(one.other_kernel, one.other_call)
    return finding(one, declared_in("".join(lines), kernel) or (), lines, launches=works, is_program=True)


def _queued(kernel: bytes, call: checker.Line) -> Launched:
    return Launched(kernel.decode(errors="replace"), checker.of_host(call))


def _short(kernel: str) -> str:
    """Its name without namespaces, arguments and parameters."""
    return re.sub(r"[<(].*", "", kernel).split("::")[-1]


#: The variable that gets the address of new memory.
_ALLOCATES = re.compile(
    r"\b(?:cudaMalloc|cudaHostAlloc|cuMem(?:Host)?Alloc)\w*\s*\(\s*(?:\(\s*\w+[\s*]*\)\s*)?&\s*([\w.>-]+)"
    r"|\b(?:cudaHostRegister|cuMemHostRegister)\s*\(\s*([\w.>-]+)"
)
#: The stream of a copy.
_IN_STREAM = re.compile(r"\bcudaMemcpy\w*Async\s*\([^;]*,\s*((?!cudaMemcpy\w)[\w.>-]+(?:\[\w+\])?)\s*\)\s*[;,)]")


def _has_two_sides(file: str) -> bool:
    """Whether a file asks for ``__CUDA_ARCH__``: as it is compiled once here, the host takes the device's side."""
    return any("__CUDA_ARCH__" in line for line in linecache.getlines(file))


def _of_host(access: checker.HostAccess) -> Finding:
    """The host touches memory of the device's, or memory of both for which it has not waited."""
    code = access.call or access.code
    lines = lines_of_code([code for code in (code, access.allocated) if code], checker.library())
    (file, line), allocated = lines[code], lines.get(access.allocated, ("", 0))
    text = linecache.getline(file, line)
    made = [match[1] or match[2] for match in _ALLOCATES.finditer(linecache.getline(*allocated))]
    names = made or list(contents("".join(linecache.getlines(file))).variables)
    names = [name for name in names if re.search(rf"\b{re.escape(name.split('::')[-1])}\b", text)]
    if len(names) > 1 and access.memory_kind == checker.SYMBOL:
        names = [name for name in names if _is_at(access.address, name)]
    name = names[0] if len(names) == 1 else ""
    element = re.search(rf"\b{re.escape(name)}\s*\[[^]]*\](?!\s*(?:\[|\.|->))", text) if name else None
    offset = access.address - access.begin
    is_element = element and made and access.bytes in (1, 2, 4, 8, 16)
    what = f"{name}[{offset // access.bytes}]" if is_element else name
    writes = bool(access.kind & checker.WRITES)
    verb = "writes" if writes else "reads" if access.kind else "touches"
    where = f" (allocated in {Path(allocated[0]).name}:{allocated[1]})" if allocated[1] else ""
    other = None
    if access.memory_kind not in (checker.OF_DEVICE, checker.SYMBOL):
        kernel = _short(access.kernel.decode(errors="replace"))
        other = checker.of_host(access.other if kernel else access.copy)
        did = f"{kernel or 'a copy'} {'writes' if access.other_kind & checker.WRITES else 'reads'}"
        of_file = "" if other.file == file else f" of {Path(other.file).name}"
        in_line = f" in line {other.line}{of_file}" if other.line else ""
        memory = "managed memory" if access.memory_kind == checker.MANAGED else "memory"
        message = f"the host {verb} {what or memory}, which {did}{in_line}, and has not waited for it"
        advice = "Call cudaDeviceSynchronize() after the launch, before the host uses the memory."
        if not kernel:
            stream = _IN_STREAM.search(linecache.getline(other.file, other.line))
            wait = f"cudaStreamSynchronize({stream[1] if stream else 'stream'})"
            advice = f"Wait for the copy first: {wait}, or cudaEventSynchronize of an event recorded after it."
    elif access.memory_kind == checker.SYMBOL:
        message = f"the host {verb} {what or 'a variable'}, which is a variable of the device: on a GPU, kernels never"
        message += " see what the host writes to it, and the host never what kernels do"
        symbol = name or "variable"
        copy = f"cudaMemcpy{'To' if writes else 'From'}Symbol({f'{symbol}, &h' if writes else f'&h, {symbol}'}, bytes)"
        advice = f"{'Write' if writes else 'Read'} it by {copy}, or declare it with __managed__."
    else:
        message = f"the host {verb} {f'{what}, which is ' if what else ''}device memory{where}. The program ends here"
        copy = "cudaMemcpy({}, bytes, cudaMemcpy{})"
        there, back = copy.format(f"{name or 'd'}, h", "HostToDevice"), copy.format(f"h, {name or 'd'}", "DeviceToHost")
        advice = (
            f"Write to an array of the host, and copy that: {there}" if writes else f"Copy it to the host first: {back}"
        )
        advice += ". Memory from cudaMallocManaged may be used by both."
    return Finding("host", "host", Place(file, line, (0, 0, 0), (0, 0, 0)), message, advice, array=name, other=other)


def _not_awaited(kernel: str, place: Place) -> Finding:
    """The program ends while a kernel may run."""
    name = _short(kernel)
    message = f"the program ends, and has not waited for {name}: on a GPU, it may end before the kernel has run"
    return Finding("host", name, place, message, "Call cudaDeviceSynchronize() after the launch, before main ends.")


class _Symbol(ctypes.Structure):
    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("at", ctypes.c_void_p),
    )


def _is_at(address: int, name: str) -> bool:
    """Whether a variable of the program's that has this name, "tools::counter", contains the address."""
    symbol = _Symbol()
    ctypes.CDLL(None).dladdr(ctypes.c_void_p(address), ctypes.byref(symbol))
    parts = "".join(f"{len(part)}{part}" for part in name.split("::"))
    return (symbol.name or b"").decode(errors="replace") in (name, f"_ZN{parts}E")


def _with_failures(found: list[Finding], failures: list[checker.Failure]) -> list[Finding]:
    """The findings of all launches, and those of errors that they do not explain."""
    ended = []  # where the launches have ended
    for one in failures:
        message = one.message.decode(errors="replace")
        is_late = "have changed" in message  # that is seen after the launch, or one of the next
        here = [other for other in found if is_late or other.launch == one.launch]
        if one.kind == checker.REFUSED:
            found.append(_refused(one, message))
        elif one.kind == checker.IGNORED:
            found.append(_ignored(one, message))
        elif one.kind == checker.OF_KERNEL and not is_explained(one.code, message, here):
            error = of_message(message, linecache.getlines, one.grid, one.block)
            found.append(dataclasses.replace(error, launch=one.launch))
            ended.append(error.where)
        elif one.kind == checker.OF_KERNEL and not is_late:
            ended.append(here[-1].where)
    merged = one_of_all_launches(sorted(found, key=lambda one: one.launch))
    later = sum(one.count for one in failures if one.kind == checker.NOT_RUN)
    return [explained(one, later * (one.where == ended[0])) if one.where in ended else one for one in merged]


def _refused(one: checker.Failure, message: str) -> Finding:
    kernel, _, what = message.removeprefix("kernel ").partition(": ")
    file, line = lines_of_code([one.call], checker.library())[one.call] if one.call else ("", 0)
    advice = "The launch was not run: cudaGetLastError() after it returns the error."
    place = Place(file, line, (0, 0, 0), (0, 0, 0))
    return Finding("error", kernel if what else "", place, what or message, advice, count=one.count, launch=one.launch)


def _ignored(one: checker.Failure, message: str) -> Finding:
    call, _, what = message.partition(" failed, and the program did not look: ")
    file, line = lines_of_code([one.call], checker.library())[one.call]
    place = Place(file, line, (0, 0, 0), (0, 0, 0))
    advice = f"The program goes on without it: test what {call.partition('(')[0]} returns."
    return Finding("failure", call, place, f"failed: {what}", advice)


def _leaks() -> list[Finding]:
    """What the program has allocated and not freed, by the line that allocates."""
    left: dict[tuple[str, int], list[int]] = {}
    allocated = checker.in_use()
    places = lines_of_code(sorted({code for code, _ in allocated}), checker.library())
    for code, size in allocated:
        left.setdefault(places.get(code, ("", 0)), []).append(size)
    return [_leak(file, line, sizes) for (file, line), sizes in sorted(left.items())]


def _leak(file: str, line: int, sizes: list[int]) -> Finding:
    times = f" in {len(sizes)} allocations" if len(sizes) > 1 else ""
    message = f"{sum(sizes):,} bytes{times} are never freed"
    advice = "Call cudaFree, or the function that belongs to the one that allocates."
    place = Place(file, line, (0, 0, 0), (0, 0, 0))
    return Finding("leak", "allocation", place, message, advice, count=len(sizes))


def _trace(name: str) -> Callable[[int | None], Report]:
    stack = contextlib.ExitStack()
    library: Any = stack.enter_context(counting(None))

    def counted(status: int | None) -> Report:
        if status is not None:
            library.emu_device_wait(None, None)  # a kernel that the program does not wait for is counted, too
        sources = Sources()
        counts = read(library, sources)
        files = {one.file for launch in counts for one in launch.instructions}
        sources.constants |= {name for file in files for name in constants("".join(linecache.getlines(file)))}
        counts = read(library, sources) if sources.constants else counts
        stack.close()
        return Trace(name, counts, sources, Resources())

    return counted


if __name__ == "__main__":
    main(*sys.argv[1:])
