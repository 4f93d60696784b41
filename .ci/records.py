"""What ties a record in docs/results/ to the code: the commit, and a digest of the sources that it measured."""

import hashlib
import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KERNELS, RUNTIME = ROOT / "csrc/kernels", ROOT / "csrc/runtime"
UNKNOWN = "unknown"
#: Comments and strings; of '"' and its like, the characters.
COMMENTS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def commit():
    """COMMIT from the environment, else git's; "unknown" where there is neither."""
    if os.environ.get("COMMIT"):
        return os.environ["COMMIT"]
    try:
        asked = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True, capture_output=True)
    except OSError:
        return UNKNOWN
    return asked.stdout.strip() or UNKNOWN


def sources(op):
    """The files that the speed of an operation's kernels depends on: its own, and all that they include."""
    return included([path for path in (KERNELS / op).rglob("*") if path.suffix in (".cu", ".cuh", ".h")])


def included(new):
    files = set()
    while new:
        path = new.pop()
        if path in files:
            continue
        files.add(path)
        if path.parent.name == "kernels" or KERNELS in path.parents:
            wanted = re.findall(r'^#include "([^"]+)"', path.read_text(), re.M)
            new += [there for there in ((path.parent / name).resolve() for name in wanted) if there.is_file()]
    return sorted(files)


def digest(op, ours=True):
    """SHA-256 of those files, and with ``ours`` of our own timing's, without comments, strings, spaces and the word
    inline: no edit of words asks for a new run. (The benchmark times from outside.)"""
    timing = [RUNTIME / "timing.c", *included([RUNTIME / "kernels/head_start.cu"])] if ours else []
    whole = hashlib.sha256()
    for path in sorted({*sources(op), *timing}):
        code = COMMENTS.sub(" ", path.read_text())
        code = re.sub(r"\binline\b", " ", code)  # of linkage, and of no kernel's code
        whole.update(f"{path.relative_to(ROOT)}\0{''.join(code.split())}\0".encode())
    return whole.hexdigest()


def not_kept(figures):
    """The promises of a benchmark's figures that do not hold, in words."""
    return [f"NOT KEPT: {promise}" for promise, kept in figures.get("promises", {}).items() if not kept]


def of_experiments():
    """The operations whose kernels the experiments of cudakern.lab run: those that its modules import."""
    imported = re.compile(r"^from \.\._operations[.\w]* import ([^\n(]+|\([^)]+)", re.M)
    lines = {line for path in (ROOT / "cudakern/lab").glob("*.py") for line in imported.findall(path.read_text())}
    names = {name for line in lines for name in re.findall(r"\w+", line)}
    return sorted(name for name in names if (KERNELS / name).is_dir())
