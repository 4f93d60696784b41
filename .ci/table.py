"""The parts of a table of the documentation: its lines, and what it says of the record that it is made from."""

import records
from pictures import MATMUL

BENCH = "gpu_bench.json"
NOTICE = " *Measured at commit {}; the kernels have changed since.*"


def error(value):
    return "-" if value is None else "exact" if value == 0 else f"{value:.1e}"


def markdown(heads, rows, source):
    lines = [
        "| " + " | ".join(heads) + " |",
        "|" + "|".join("---:" if i > 1 else "---" for i in range(len(heads))) + "|",
    ]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows), "", source, ""])


def dated(record):
    """The date and commit of a record."""
    return f"{record['date'][:10]}, commit {record['commit'][:10]}"


def changes(path):
    """Why a record in docs/results/ does not match the kernels in csrc/; "" if it does."""
    record = records.read(path)
    one = {record["ladder"]["operation"]: record.get("digest")} if "ladder" in record else {}
    digests = one or record.get("digests", {})
    if record["commit"] == records.UNKNOWN:
        return "the record has no commit"
    if not digests or None in digests.values():
        return "the record has no digest of its kernels"
    changed = [
        op for op, digest in digests.items() if digest != records.digest(op, ours=path.name not in (BENCH, MATMUL))
    ]
    return f"the kernels of {' and '.join(changed)} have changed since" if changed else ""


def notice(path):
    """The notice below a table whose record is older than its kernels, or ""."""
    return NOTICE.format(records.read(path)["commit"][:10]) if changes(path) else ""
