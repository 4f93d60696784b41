"""Compiled programs on disk, which processes share.

    KEY.json               the paths on which the program of that key depends, as its last compile found them
    NAME.so, NAME.cubin    a program, whose NAME is a hash of its key and of the contents of all of these paths

A key is a hash of what is known before compiling: source, options, compiler. So a program is found if all that its
compiler read is as it was. A file is written under another name first, and ends with a hash of its content, so that no
process uses half a file. Folder and files belong to the user, and nobody else can write them: a program runs as its
user.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .. import _driver
from ..arrays.memory_limit import read_bytes
from .dependencies import Reachable

CACHE, LIMIT = "CUDAKERN_CACHE", "CUDAKERN_CACHE_LIMIT"
_FORMAT = 1  #: of the files; another number makes those of other versions of this module unknown
_WORK = "compiling-"  #: the prefix of the folders in which compilers work
_SUFFIXES = (".json", ".so", ".cubin", ".o", ".txt")
_ABANDONED = 3600  #: seconds: no compiler works for longer, unless its process was killed
_SEAL = 65  #: bytes at a file's end: a line's end and the hash
#: Nanoseconds. A file that was changed so shortly before may have changed again without another time: file systems
#: count time in steps, and some have a clock of their own.
_RECENT = 2_000_000_000


class _File(NamedTuple):
    """What is known of a file."""

    digest: str  #: of its content; "" if it is no file that can be read
    stamp: tuple[int, ...]  #: when its inode changed, and what else differs if its content does

    def before(self, moment: int) -> bool:
        """Whether the file surely has not changed since that time."""
        return bool(self.stamp) and self.stamp[0] < moment - _RECENT


Files = dict[str, _File]
#: What a compile gives: the program, and the files that the compiler read; None if that is not known.
Built = tuple[bytes, "Iterable[str] | None"]
MayRead = Callable[[], Reachable]
Build = Callable[[Path, Reachable], Built]


def program(key: str, suffix: str, may_read: MayRead, build: Build) -> tuple[Path, bytes]:
    """The program of that key: its file, and its content. If there is none, ``build`` makes it in a folder that it is
    given with what it ``may_read``. OSError with the whole message if there is no room."""
    limit = read_bytes(os.environ.get(LIMIT, "256M"), LIMIT)
    folder = _folder()
    if found := _found(folder, key, suffix):
        return found
    try:
        made = _made(folder, key, suffix, may_read, build)
    except OSError as error:
        if os.environ.get(CACHE) or folder == _temporary():
            advice = f"Make room there (and in {tempfile.gettempdir()}), or name another folder in {CACHE}"
            message = f"the compiled program cannot be written to {folder}: {error.strerror}. {advice}"
            raise OSError(message) from None
        return program(key, suffix, may_read, build)  # in the temporary folder, which is used from now on
    _prune(folder, limit, {made[0], folder / f"{key}.json"})
    return made


def key(*parts: Any) -> str:
    """A name for all that."""
    return hashlib.sha256(json.dumps([_FORMAT, *parts]).encode()).hexdigest()[:40]


# --- programs and what they depend on --------------------------------------------------------------------------------
def _found(folder: Path, of: str, suffix: str) -> tuple[Path, bytes] | None:
    record = folder / f"{of}.json"
    if (text := _read(record)) is None:
        return None
    moment, rows = json.loads(text)
    known = {path: _File(digest, tuple(stamp)) for path, digest, stamp in rows}
    now = time.time_ns()
    files = _files(known, known, moment)
    path = folder / f"{_name(of, files)}{suffix}"
    if (content := _read(path)) is None:
        return None
    if files != known:  # other times, the same contents
        with contextlib.suppress(OSError), tempfile.TemporaryDirectory(dir=folder, prefix=_WORK) as work:
            _write(record, _record(now, files), Path(work))
    return path, content


def _made(folder: Path, of: str, suffix: str, may_read: MayRead, build: Build) -> tuple[Path, bytes]:
    with tempfile.TemporaryDirectory(dir=folder, prefix=_WORK) as work:
        start = time.time_ns()
        reachable = may_read()
        before = _files(reachable.paths, {}, 0)
        content, read = build(Path(work), reachable)
        now = time.time_ns()  # before the files are read
        files = _files(dict.fromkeys([*before, *(read or ())]), before, start)
        # A file that changed meanwhile may differ from what the compiler read.
        same = [file.before(start) or before.get(path) == file for path, file in files.items()]
        if read is None or not all(same) or not all(files[path].digest for path in read):
            path = folder / f"{os.urandom(20).hex()}{suffix}"  # which nobody will look for
        else:
            path = folder / f"{_name(of, files)}{suffix}"
            _write(folder / f"{of}.json", _record(now, files), Path(work))
        _write(path, content, Path(work))
    return path, content


def _record(moment: int, files: Files) -> bytes:
    return json.dumps([moment, [[path, *file] for path, file in files.items()]], separators=(",", ":")).encode()


def _name(of: str, files: Files) -> str:
    return key(of, sorted((path, file.digest) for path, file in files.items()))


def _files(paths: Iterable[str], known: Mapping[str, _File], moment: int) -> Files:
    """These files as they are; ``known`` is what was known at that moment, which spares reading those unchanged."""
    files = {}
    for path in paths:
        files[path] = _File("", ())
        with contextlib.suppress(OSError, ValueError):  # there is none, it cannot be read, or its name is none
            if stamp := _stamp(path):
                file = known.get(path, files[path])
                if file.stamp != stamp or not file.before(moment):
                    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:32]
                    file = _File(digest, _stamp(path))  # which is later than the content
                files[path] = file
    return files


def _stamp(path: str) -> tuple[int, ...]:
    """What is another if the file's content is; () if it is no ordinary file."""
    status = os.stat(path)
    ordinary = stat.S_ISREG(status.st_mode)
    return (status.st_ctime_ns, status.st_mtime_ns, status.st_size, status.st_ino) if ordinary else ()


# --- files that can be trusted ---------------------------------------------------------------------------------------
def _write(path: Path, content: bytes, work: Path) -> None:
    part = work / path.name
    part.touch(mode=0o600)
    part.write_bytes(content + b"\n" + hashlib.sha256(content).hexdigest().encode())
    part.replace(path)


def _read(path: Path) -> bytes | None:
    """What _write wrote there, whose time is then that of its last use; None if there is no such file, if it is
    damaged, or if another user may have written it."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            whole = b"" if _driver.distrusted(os.fstat(file.fileno())) else file.read()
        os.utime(path)
    except OSError:
        return None
    content = whole[:-_SEAL]
    return content if whole[-_SEAL:] == b"\n" + hashlib.sha256(content).hexdigest().encode() else None


# --- the folder ------------------------------------------------------------------------------------------------------
def _folder() -> Path:
    """The folder of compiled programs: $CUDAKERN_CACHE, else cudakern/ in the user's cache; a temporary one if that
    cannot be used."""
    named = os.environ.get(CACHE)
    if not named and _temporaries:  # it is used from then on
        return _temporary()
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(named or os.path.join(home, "cudakern"))
    distrusted = ""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = folder.resolve()
        if not (distrusted := _driver.distrusted(folder.stat())):
            with tempfile.TemporaryFile(dir=folder):
                return folder
        advice = "Make it yours alone (chown, chmod go-w), or name a folder of your own"
        why = f"{distrusted}, so another user could plant a program there, which would run as yours. {advice}"
    except OSError as error:
        why = f"cannot be written: {error.strerror}"
    if named:
        raise ValueError(f"{CACHE}={named!r} {why}")
    if distrusted:
        message = f"programs are compiled and not kept: {folder} {why} in {CACHE}"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return _temporary()


_temporaries: list[tempfile.TemporaryDirectory[str]] = []


def _temporary() -> Path:
    """This process's own folder, which is made when it is needed first, or when somebody has deleted it."""
    if not _temporaries or not os.path.isdir(_temporaries[-1].name):
        _temporaries.append(tempfile.TemporaryDirectory(prefix="cudakern-"))
    return Path(_temporaries[-1].name)


def _prune(folder: Path, limit: int, keep: set[Path]) -> None:
    """Deletes what killed processes left, and the files that were not used for longest, until the rest is within the
    limit."""
    files = []
    for path in folder.iterdir():
        with contextlib.suppress(OSError):  # another process deleted it
            status = path.lstat()
            if path.name.startswith(_WORK) and status.st_mtime < time.time() - _ABANDONED:
                shutil.rmtree(path)
            elif path.suffix in _SUFFIXES:
                files.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= limit:
            return
        if path not in keep:
            with contextlib.suppress(OSError):
                path.unlink()
            total -= size
