"""The records in docs/results/: their files, and what ties them to the code, which is the commit and a digest of the
sources that were measured."""

import functools
import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KERNELS, RUNTIME = ROOT / "csrc/kernels", ROOT / "csrc/runtime"
UNKNOWN = "unknown"
BENCH, MATMUL, REQUESTS = "gpu_bench.json", "gpu_matmul.json", "emulator_requests.json"
NOTICE = " *Measured at commit {}; the kernels have changed since.*"
#: Comments and strings; of '"' and its like, the characters.
COMMENTS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


@functools.cache
def read(path):
    """A record, with its tables as lists of rows by name."""
    return json.loads(path.read_text(), object_hook=_rows)


def write(path, record):
    path.write_text(_text(_packed(record), "") + "\n")
    read.cache_clear()


def _rows(value):
    if set(value) != {"columns", "rows"}:
        return value
    return [dict(zip(value["columns"], row, strict=True)) for row in value["rows"]]


def _packed(value):
    """What a file has: nine digits, nothing of the device but its name, and the names of a table's columns once."""
    if isinstance(value, dict):
        return {str(name): _packed(part) for name, part in value.items() if name != "properties"}
    if isinstance(value, list | tuple):
        rows = [_packed(part) for part in value]
        names = list(rows[0]) if rows and isinstance(rows[0], dict) else []
        if len(rows) < 4 or not names or any(not isinstance(row, dict) or list(row) != names for row in rows):
            return rows
        return {"columns": names, "rows": [list(row.values()) for row in rows]}
    if hasattr(value, "item"):  # a number of NumPy
        value = value.item()
    if isinstance(value, float):
        value = value if value.is_integer() else float(f"{value:.9g}")
        return int(value) if value.is_integer() else value
    return value


def _text(value, indent):
    """JSON with a row of a table per line."""
    whole, inner = json.dumps(value, default=str), indent + " "
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if len(whole) < 120 or not any(isinstance(part, dict | list) for part in parts):
        return whole
    if isinstance(value, list):
        lines = [json.dumps(part, default=str) for part in value]
    else:
        lines = [f"{json.dumps(name)}: {_text(part, inner)}" for name, part in value.items()]
    return f"{whole[0]}\n{inner}" + f",\n{inner}".join(lines) + f"\n{indent}{whole[-1]}"


#: What a step's profile repeats of its ladder; and the cycles of every block.
NOT_KEPT = ("operation", "variant", "parameters", "backend", "device", "shapes", "dtype", "emulated", "cycles")


def of_ladder(ladder):
    """A ladder as its record has it; ``ladder``: what Ladder.to_dict() gives."""
    steps = [dict(step) for step in ladder["steps"]]
    for step in steps:
        del step["summary"], step["recorded"], step["metrics"]
        if step["profile"]:
            step["profile"] = {name: value for name, value in step["profile"].items() if name not in NOT_KEPT}
    return ladder | {"steps": steps}


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
    """SHA-256 of those files, and with ``ours`` of our own timing's, without comments, strings, spaces, "inline"
    and names of files: no edit of words and no move asks for a new run. (The benchmark times from outside.)"""
    timing = [RUNTIME / "timing.c", *included([RUNTIME / "kernels/head_start.cu"])] if ours else []
    texts = set()
    for path in {*sources(op), *timing}:
        code = re.sub(r"^#include .*|^#(?:ifndef|define) CK_\w+_C?U?H$", "", path.read_text(), flags=re.M)
        code = COMMENTS.sub(" ", code)
        code = re.sub(r"\binline\b", " ", code)  # of linkage, and of no kernel's code
        texts.add("".join(code.split()))
    return hashlib.sha256("\0".join(sorted(texts)).encode()).hexdigest()


def of_experiments():
    """The operations whose kernels the experiments of cudakern.lab run: those that its modules import."""
    imported = re.compile(r"^from \.\.operations[.\w]* import ([^\n(]+|\([^)]+)", re.M)
    lines = {line for path in (ROOT / "cudakern/lab").glob("*.py") for line in imported.findall(path.read_text())}
    names = {name for line in lines for name in re.findall(r"\w+", line)}
    return sorted(name for name in names if (KERNELS / name).is_dir())


# --- what a table says of its record ----------------------------------------------------------------------------------
def error(value):
    return "-" if value is None else "exact" if value == 0 else f"{value:.1e}"


def markdown(heads, rows, source):
    first, *others = (f"| {' | '.join(row)} |" for row in (heads, *rows))
    rule = "|".join("---:" if i > 1 else "---" for i in range(len(heads)))
    return "\n".join([first, f"|{rule}|", *others, "", source, ""])


def dated(record):
    """The date and commit of a record."""
    return f"{record['date'][:10]}, commit {record['commit'][:10]}"


def changes(path):
    """Why a record in docs/results/ does not match the kernels in csrc/; "" if it does."""
    record = read(path)
    one = {record["ladder"]["operation"]: record.get("digest")} if "ladder" in record else {}
    digests = one or record.get("digests", {})
    if record["commit"] == UNKNOWN:
        return "the record has no commit"
    if not digests or None in digests.values():
        return "the record has no digest of its kernels"
    ours = path.name not in (BENCH, MATMUL, REQUESTS)
    changed = [op for op, measured in digests.items() if measured != digest(op, ours)]
    return f"the kernels of {' and '.join(changed)} have changed since" if changed else ""


def notice(path):
    """The notice below a table whose record is older than its kernels, or ""."""
    return NOTICE.format(read(path)["commit"][:10]) if changes(path) else ""
