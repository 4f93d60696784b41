"""compile's cache on disk: when a program is compiled again, whom it trusts, and damage, kills and full disks."""

import errno
import os
import pathlib
import stat
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import cudakern
from cudakern.own import cache, compilers, dependencies
from own_kernels import ADD_ONE, by_nvrtc, floats

on_the_emulator = pytest.mark.parametrize("backend", ["emulator"], indirect=True)
GET = "__global__ void get(int *x) { x[0] = VALUE; }\n"


@pytest.fixture(autouse=True)
def _on(backend):
    """Each test runs on each backend that works here."""


@pytest.fixture
def builds(own_cache, monkeypatch):
    """A list with an item for each program that was compiled."""
    made, count = cache._made, []
    monkeypatch.setattr(cache, "_made", lambda *all: count.append(all) or made(*all))
    return count


def get(*arguments, **keywords):
    x = np.zeros(1, np.int32)
    cudakern.compile(*arguments, **keywords).get[1, 1](x)
    return int(x[0])


def add_one(text=ADD_ONE):
    x = floats()
    before = x.copy()
    cudakern.compile(text).add_one[4, 256](x, x, 1000)
    np.testing.assert_array_equal(x, before + 1)


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#define VALUE {value}\n")


def replace(path, content):
    """Other content under that name; who has mapped the file keeps it as it was."""
    other = path.with_suffix(".other")
    other.touch(mode=0o600)
    other.write_bytes(content)
    other.replace(path)


def programs(folder):
    return sorted((*folder.glob("*.so"), *folder.glob("*.cubin")))


def test_a_program_is_compiled_once(builds, own_cache):
    for flags, expected in (((), 1), ((), 1), (("-DX",), 2), ((), 2)):
        cudakern.compile(ADD_ONE, flags=flags)
        assert len(builds) == expected
    assert len(programs(own_cache)) == 2
    assert not list(own_cache.glob("compiling-*"))


# --- what a program depends on ---------------------------------------------------------------------------------------
INCLUDES = {
    "beside": ('#include "value.h"', []),
    "above": ('#include "../src/value.h"', []),
    "absolute": ('#include "{}/value.h"', []),
    "by a flag": ("#include <value.h>", ["-I{}"]),
    "by two words": ("", ["-include", "{}/value.h"]),
    "by a header": ('#include "other.h"', ["-I{}"]),
    "by a macro": ("#include H", ["-I{}"]),
    "by a macro of a flag": ("#include G", ['-DG="value.h"', "-I{}"]),
}


@pytest.mark.parametrize("way", INCLUDES)
def test_headers_that_change(builds, tmp_path, way):
    include, flags = INCLUDES[way]
    folder = tmp_path / "src"
    file, header = folder / "main.cu", (folder if way in ("beside", "above") else tmp_path / "a b$c#d") / "value.h"
    for value in (1, 2, 3):
        write(header, value)
        (header.parent / "other.h").write_text("#include <value.h>\n")
        folder.mkdir(exist_ok=True)
        file.write_text(f'#define H "value.h"\n{include.format(header.parent)}\n{GET}')
        assert get(file, flags=[flag.format(header.parent) for flag in flags]) == value
    assert len(builds) == 3


@on_the_emulator
def test_headers_of_the_environment(builds, tmp_path, monkeypatch):
    for folder, value in (("a", 1), ("a", 2), ("b", 3)):
        monkeypatch.setenv("CPLUS_INCLUDE_PATH", str(tmp_path / folder))
        write(tmp_path / folder / "value.h", value)
        assert get("#include <value.h>\n" + GET) == value
    assert len(builds) == 3


def test_the_same_headers_are_the_same_program(builds, tmp_path):
    """A header that is what it was before, although its time is another, and whatever came between."""
    (tmp_path / "main.cu").write_text('#include "value.h"\n' + GET)
    for value, expected in ((1, 1), (1, 1), (2, 2), (1, 2)):
        write(tmp_path / "value.h", value)
        assert get(tmp_path / "main.cu") == value
        assert len(builds) == expected


def test_a_header_whose_time_and_size_are_put_back(builds, tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "_RECENT", 0)
    header = tmp_path / "value.h"
    (tmp_path / "main.cu").write_text('#include "value.h"\n' + GET)
    for value in (1, 2):
        write(header, value)
        os.utime(header, (1e9, 1e9))
        time.sleep(0.02)  # more than a step of the file system's clock
        assert get(tmp_path / "main.cu") == value
        assert get(tmp_path / "main.cu") == value
    assert len(builds) == 2


def test_a_header_that_comes_before_another(builds, tmp_path):
    flags = [f"-I{tmp_path / 'first'}", f"-I{tmp_path / 'second'}"]
    text = "#if __has_include(<more.h>)\n#include <more.h>\n#else\n#include <value.h>\n#endif\n" + GET
    # The folder that comes first does not exist yet.
    for path, value in (("second/value.h", 1), ("first/value.h", 2), ("second/more.h", 3)):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        write(tmp_path / path, value)
        assert get(text, flags=flags) == value
        assert get(text, flags=flags) == value
    assert len(builds) == 3


@on_the_emulator
def test_a_header_that_changes_during_the_compile(builds, tmp_path, monkeypatch):
    (tmp_path / "main.cu").write_text('#include "value.h"\n' + GET)
    write(tmp_path / "value.h", 1)
    listed = dependencies.listed
    monkeypatch.setattr(dependencies, "listed", lambda *rule: write(tmp_path / "value.h", 2) or listed(*rule))
    assert get(tmp_path / "main.cu") == 1  # what the compiler read
    monkeypatch.undo()
    monkeypatch.setenv(cache.CACHE, str(tmp_path / "cache"))
    assert get(tmp_path / "main.cu") == 2


@on_the_emulator
def test_a_compiler_that_changes(builds, tmp_path, monkeypatch):
    compiler = tmp_path / "compiler"
    monkeypatch.setenv("CXX", f"env {compiler}")
    compilers.compiler.cache_clear()
    for value in (1, 2):
        compiler.write_text(f'#!/bin/sh\nexec g++ -DVALUE={value} {" " * value} "$@"\n')
        compiler.chmod(0o755)
        assert get(GET) == value
    monkeypatch.undo()
    compilers.compiler.cache_clear()


@on_the_emulator
@pytest.mark.parametrize("way", [*INCLUDES, "in the working directory"])
def test_headers_that_nvrtc_reads(builds, tmp_path, monkeypatch, way):
    """It lists none: NVRTC's programs depend on what the text includes, and are not kept if a macro names a file."""
    include, flags = INCLUDES.get(way, ('#include "here.h"', []))
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "src"
    folder.mkdir()
    header = folder / "value.h" if include != '#include "here.h"' else tmp_path / "here.h"
    (folder / "other.h").write_text("#include <value.h>\n")
    text = f'#define H "value.h"\n{include.format(folder)}\n{GET}'
    images = []
    for value in (1234567, 1234567, 7654321):
        write(header, value)
        images += [by_nvrtc(text, flags=[flag.format(folder) for flag in flags], folder=folder).image]
        assert value.to_bytes(4, "little") in images[-1]
    assert len(builds) == (3 if "macro" in way else 2)
    assert images[0] == images[1] != images[2]


@on_the_emulator
def test_headers_that_nvrtc_does_not_read_yet(builds, tmp_path):
    flags = [f"-I{tmp_path / 'first'}", f"--include-path={tmp_path / 'second'}"]
    (tmp_path / "first").mkdir()
    for path, value in (("second/value.h", 1234567), ("first/value.h", 7654321)):
        write(tmp_path / path, value)
        for _ in range(2):
            assert value.to_bytes(4, "little") in by_nvrtc("#include <value.h>\n" + GET, flags=flags).image
    assert len(builds) == 2


def test_includes_are_found_however_they_are_written(tmp_path):
    write(tmp_path / "a.h", 1)
    (tmp_path / "loop").mkdir()
    (tmp_path / "loop" / "b.h").write_text('#include "../loop/b.h"\n#include <a.h>\n')
    for text in (
        '#include "a.h"', "#include <a.h>", '/* x */ # /* y\n */ include /* z */ "a.h"', '%:include "a.h"',
        '#inc\\\nlude "a.\\\nh"', "#if __has_include(<a.h>)", '#include_next "a.h"', '#include "loop/b.h"',
        '#include"a.h"',
    ):  # fmt: skip
        found = dependencies.reachable(text, [], [tmp_path])
        assert str(tmp_path / "a.h") in found.paths, text
        assert not found.computed
    for text in ("#include H", "# /* x */ include /* y */ H(a)", "%:include H", "#if __has_include(H)"):
        assert dependencies.reachable(text, [], []).computed, text
    for text in ("// we #include all\n", "int include;", "#includes", '#include "a" // H'):
        assert not dependencies.reachable(text, [], []).computed, text
    start = time.process_time()
    dependencies.reachable("/* * " * 20000 + "\n/**/" * 20000 + "#" * 50000, [], [])
    assert time.process_time() - start < 5


# --- trust -----------------------------------------------------------------------------------------------------------
OTHERS = {
    "writable by all": (0o1777, None, r"is writable by other users \(mode 1777\)"),
    "writable by a group": (0o770, None, r"is writable by other users \(mode 770\)"),
    "of another user": (0o755, 12345, r"belongs to user 12345, and this process runs as user \d+"),
}


def give(path, mode, owner):
    if owner is not None and os.geteuid() != 0:
        pytest.skip("only root gives files away")
    path.chmod(mode)
    if owner is not None:
        os.chown(path, owner, owner)


@pytest.mark.parametrize("how", OTHERS)
def test_a_folder_that_others_write(own_cache, monkeypatch, how):
    mode, owner, words = OTHERS[how]
    own_cache.mkdir()
    give(own_cache, mode, owner)
    link = own_cache.with_name("link")
    link.symlink_to(own_cache)
    for folder in (own_cache, link):
        monkeypatch.setenv(cache.CACHE, str(folder))
        with pytest.raises(ValueError, match=f"CUDAKERN_CACHE='.*' {words}, so another user could plant a program"):
            cudakern.compile(ADD_ONE)
    assert not list(own_cache.iterdir())


def test_a_default_folder_that_others_write(tmp_path, monkeypatch):
    monkeypatch.delenv(cache.CACHE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cache, "_temporaries", [])
    (tmp_path / "cudakern").mkdir()
    (tmp_path / "cudakern").chmod(0o777)
    with pytest.warns(RuntimeWarning, match="not kept: .*cudakern is writable by other users"):
        add_one()
    add_one()  # without another warning
    assert not list((tmp_path / "cudakern").iterdir())
    assert stat.S_IMODE(cache._temporary().stat().st_mode) == 0o700


@pytest.mark.parametrize("how", [*OTHERS, "a link"])
def test_files_of_others(builds, own_cache, how):
    add_one()
    for i, path in enumerate(own_cache.iterdir(), 2):
        if how == "a link":
            path.rename(own_cache.with_name(path.name))
            path.symlink_to(own_cache.with_name(path.name))
        else:
            give(path, *OTHERS[how][:2])
        add_one()
        assert len(builds) == i
    assert all(path.lstat().st_uid == os.geteuid() for path in own_cache.iterdir())


def test_nobody_else_can_write_what_is_kept(own_cache):
    umask = os.umask(0)
    try:
        add_one()
    finally:
        os.umask(umask)
    assert stat.S_IMODE(own_cache.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in own_cache.iterdir()} == {0o600}


# --- damage, kills and full disks ------------------------------------------------------------------------------------
DAMAGES = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "zeros": lambda content: bytes(len(content)),
    "a bit": lambda content: content[:100] + bytes([content[100] ^ 1]) + content[101:],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files(builds, own_cache, damage):
    add_one()
    files = list(own_cache.iterdir())
    assert len(files) == 2
    for i, path in enumerate(files, 2):
        replace(path, DAMAGES[damage](path.read_bytes()))
        add_one()
        assert len(builds) == i
        assert cache._read(path) is not None
    add_one()
    assert len(builds) == 3


def test_what_a_killed_process_left(own_cache):
    for name in ("compiling-old", "compiling-new"):
        (own_cache / name).mkdir(parents=True)
        (own_cache / name / "kernels.cu").write_text("...")
    os.utime(own_cache / "compiling-old", (0, time.time() - 2 * cache._ABANDONED))
    add_one()
    assert [path.name for path in own_cache.glob("compiling-*")] == ["compiling-new"]


def test_the_limit(builds, own_cache, monkeypatch):
    for i in range(3):
        add_one(ADD_ONE + f"// {i}")
    assert len(programs(own_cache)) == 3
    monkeypatch.setenv(cache.LIMIT, "1K")
    add_one(ADD_ONE + "// 3")
    assert len(programs(own_cache)) == 1  # the newest stays, whatever the limit
    assert len(list(own_cache.iterdir())) == 2
    add_one(ADD_ONE + "// 3")
    assert len(builds) == 4
    monkeypatch.setenv(cache.LIMIT, "much")
    for _ in range(2):  # also of a program that is there
        with pytest.raises(ValueError, match="CUDAKERN_CACHE_LIMIT must be a whole number of bytes, .* not 'much'"):
            add_one(ADD_ONE + "// 3")


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("where", ["compiler", "source", "result"])
def test_a_full_disk(tmp_path, monkeypatch, where, named):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "cudakern"
    monkeypatch.delenv(cache.CACHE, raising=False)
    monkeypatch.setattr(cache, "_temporaries", [])
    if named:
        monkeypatch.setenv(cache.CACHE, str(folder))

    def full_for(function):
        def full(path, *arguments, **keywords):
            if str(folder) in f"{path} {keywords}":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return function(path, *arguments, **keywords)

        return full

    if where == "source":
        whole = full_for(lambda _, **keywords: folders(**keywords))
        folders = cache.tempfile.TemporaryDirectory
        monkeypatch.setattr(cache.tempfile, "TemporaryDirectory", lambda **keywords: whole("", **keywords))
    elif where == "result":
        monkeypatch.setattr(pathlib.Path, "replace", full_for(pathlib.Path.replace))
    elif cudakern.backend().emulated:
        (tmp_path / "g++").write_text(
            f'#!/bin/sh\ncase "$PWD" in {folder}*) echo "/usr/bin/ld: final link failed: No space left on device" >&2; '
            'exit 1;; esac\nexec g++ "$@"\n'
        )
        (tmp_path / "g++").chmod(0o755)
        monkeypatch.setenv("CXX", str(tmp_path / "g++"))
        compilers.compiler.cache_clear()
    else:
        pytest.skip("NVRTC writes no file")
    text = ADD_ONE + f"// {where} {named}"
    if named:
        message = "cannot be written to .*cudakern: No space left on device. Make room there"
        with pytest.raises(cudakern.CompileError, match=message):
            cudakern.compile(text)
    else:
        add_one(text)
        assert len(programs(cache._temporary())) == 1
    monkeypatch.undo()
    compilers.compiler.cache_clear()
    assert list(folder.iterdir()) == []


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(cache.CACHE, str(tmp_path / "file" / "cache"))
    with pytest.raises(ValueError, match=r"CUDAKERN_CACHE='.*' cannot be written: Not a directory"):
        cudakern.compile(ADD_ONE)
    monkeypatch.delenv(cache.CACHE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))  # a home that is read-only
    monkeypatch.setattr(cache, "_temporaries", [])
    add_one()
    cache._temporaries[0].cleanup()  # as a child of a fork may do at its end
    add_one(ADD_ONE + "// again")


def test_several_processes_and_threads_compile_the_same(own_cache):
    code = (
        "import cudakern, numpy as np\n"
        f"with cudakern.use_backend({cudakern.backend().name!r}):\n"
        f"    x = np.zeros(1000, np.float32); cudakern.compile({ADD_ONE!r}).add_one[4, 256](x, x, 1000)\n"
        "assert (x == 1).all()\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    processes = [subprocess.Popen([sys.executable, "-c", code], env=environment) for _ in range(3)]
    failures, name = [], cudakern.backend().name

    def compile_here():
        try:
            with cudakern.use_backend(name):
                add_one()
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=compile_here) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert failures == []
    assert len(programs(own_cache)) == 1
    assert len(list(own_cache.iterdir())) == 2
