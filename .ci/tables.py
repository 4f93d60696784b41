"""README's tables and picture, written from docs/results/: no figure without its file.

    tables.py           rewrites what stands between <!-- table:NAME --> and <!-- /table --> in README.md, and
                        draws docs/ladder.svg
    tables.py --check   changes nothing; fails if one of them is not what the results say

NAME is an operation (its ladder on a GPU, on the emulator if there is no other), an operation and a chip
(matmul_emulator: docs/results/ladder_matmul_emulator.json), bench (against PyTorch and CuPy), or emulator_speed."""

import hashlib
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS, README, PICTURE = ROOT / "docs/results", ROOT / "README.md", ROOT / "docs/ladder.svg"
OPERATIONS = {"sum_of_squares": "GB/s", "matmul": "GFLOP/s"}
MARKED = re.compile(r"(<!-- table:(\w+) -->\n).*?(<!-- /table -->)", re.S)


def find(name):
    """The ladder's file: of the chip that the name gives, else the newest chip's, the emulator's last."""
    exact = RESULTS / f"ladder_{name}.json"
    found = (
        [exact]
        if exact.exists()
        else sorted(
            RESULTS.glob(f"ladder_{name}_*.json"),
            key=lambda path: ("emulator" not in path.name, path.name),
            reverse=True,
        )
    )
    if not found:
        sys.exit(f"tables: README asks for {name}, and docs/results/ has no ladder_{name}*.json")
    return json.loads(found[0].read_text()), found[0]


def figure(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def duration(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{figure(ns / size)} {unit}"
    return f"{figure(ns)} ns"


def markdown(heads, rows, source):
    lines = [
        "| " + " | ".join(heads) + " |",
        "|" + "|".join("---:" if i > 1 else "---" for i in range(len(heads))) + "|",
    ]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows), "", source, ""])


def measured(ladder):
    """Steps that ran in the same place: NumPy's row has the host's clock, and stands beside the emulator's only
    under its own name."""
    return [step for step in ladder["steps"] if step["profile"]]


def rate(step, unit):
    return step["profile"]["gb_per_s" if unit == "GB/s" else "gflop_per_s"]


def ladder_table(name):
    record, path = find(name)
    ladder = record["ladder"]
    unit, emulated = OPERATIONS[ladder["operation"]], ladder["backend"]["emulated"]
    mark = " (emulated)" if emulated else ""
    rows = []
    for step in measured(ladder):
        host = " (NumPy, CPU)" if step["profile"]["clock"] == "host" else ""
        error = step["error"]["max"] if step["error"] else None
        rows.append(
            [
                f"`{step['variant']}`",
                step["summary"],
                duration(step["profile"]["kernel_ns"]) + host,
                figure(rate(step, unit)),
                f"{figure(step['speedup'])}x" if step["speedup"] else "-",
                "-" if error is None else "exact" if error == 0 else f"{error:.1g}",
            ]
        )
    shapes = " by ".join(" x ".join(f"{n:,}" for n in shape) for shape in ladder["shapes"])
    where = (
        f"the emulator on {record.get('cores')} cores, whose times say nothing about a GPU"
        if emulated
        else (f"{record['chip']}, driver {record['driver']}, nvcc {record['nvcc']}")
    )
    heads = ["variant", "what it shows", f"kernel time{mark}", f"{unit}{mark}", "speed-up", "largest error"]
    return markdown(
        heads,
        rows,
        f"{shapes} {ladder['dtype']}; {where}; {record['date'][:10]}, "
        f"commit {record['commit'][:10]}. From `{path.relative_to(ROOT)}`.",
    )


def bench_table():
    path = RESULTS / "gpu_bench.json"
    record = json.loads(path.read_text())
    groups = {}
    for row in record["rows"]:
        if "kernel_ns" in row:
            groups.setdefault((row["op"], row["dtype"], row["n"]), []).append(row)
    rows = []
    for (op, dtype, n), found in groups.items():
        ours = [row for row in found if row["who"].startswith("cudakern: ") and row["who"] != "cudakern: auto"]
        theirs = [row for row in found if not row["who"].startswith("cudakern")]
        if not ours or not theirs:
            continue
        best, other = (min(side, key=lambda row: row["kernel_ns"]) for side in (ours, theirs))
        name = best["who"].removeprefix("cudakern: ")
        rows.append(
            [
                f"`{op}` {dtype}",
                f"{n:,}",
                f"`{name}` {duration(best['kernel_ns'])}",
                f"{best['error']:.1g}",
                f"{other['who']} {duration(other['kernel_ns'])}",
                f"{other['error']:.1g}",
                f"{other['kernel_ns'] / best['kernel_ns']:.2f}",
            ]
        )
    heads = ["operation", "n", "our fastest", "error", "the other", "error", "their time / ours"]
    return markdown(heads, rows, f"{record['chip']}, {record['date'][:10]}. From `{path.relative_to(ROOT)}`.")


def emulator_table():
    path = RESULTS / "emulator_speed.json"
    record = json.loads(path.read_text())
    rows = [
        ["plain C, three loops, one thread", "", duration(record["plain_c_s"] * 1e9), "1"],
        [
            "`tiled` on the emulator",
            f"{record['cores']} cores",
            duration(record["tiled_s"] * 1e9),
            f"{record['tiled_over_plain_c']:.1f}",
        ],
    ]
    return markdown(
        ["float32, n = 1000", "", "time", "to plain C"],
        rows,
        f"{record['over_numba_simulator']:,.0f} times the rate of Numba's simulator "
        f"({record['numba_simulator_mflop_per_s']} MFLOP/s). From `{path.relative_to(ROOT)}`.",
    )


def table(name):
    special = {"bench": bench_table, "emulator_speed": emulator_table}
    return special[name]() if name in special else ladder_table(name)


def draw(records, digest):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from cudakern._plots import bars

    matplotlib.rcParams["svg.hashsalt"] = "cudakern"  # the same picture gives the same file
    sides = [
        (record, [step for step in measured(record["ladder"]) if step["profile"]["clock"] != "host"])
        for record in records
    ]
    tallest = max(len(steps) for _, steps in sides)
    drawing, axes = pyplot.subplots(1, len(sides), figsize=(11, 1 + 0.33 * tallest), layout="constrained")
    for here, (record, steps) in zip(axes, sides, strict=True):
        op = record["ladder"]["operation"]
        rates = [rate(step, OPERATIONS[op]) for step in steps]
        color = "#4c78a8" if op == "matmul" else "#59a14f"
        bars(here, [step["variant"] for step in steps], rates, [figure(value) for value in rates], color)
        here.invert_yaxis()
        mark = ", emulated: not a GPU's speed" if record["ladder"]["backend"]["emulated"] else ""
        here.set_title(f"{op}, {OPERATIONS[op]}{mark}\n{record['chip']}", fontsize=10)
    drawing.savefig(PICTURE, metadata={"Date": None, "Description": digest})
    pyplot.close(drawing)


def main():
    check = sys.argv[1:] == ["--check"]
    text = README.read_text()
    names = [match[2] for match in MARKED.finditer(text)]
    if not names:
        sys.exit("tables: README.md has no <!-- table:NAME --> ... <!-- /table -->")
    fresh = MARKED.sub(lambda match: f"{match[1]}{table(match[2])}{match[3]}", text)
    found = [find(op) for op in OPERATIONS]
    digest = "drawn from " + " ".join(
        f"{path.name}:{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}" for _, path in found
    )
    faults = [] if fresh == text else ["README.md's tables are not those of docs/results/"]
    if not PICTURE.exists() or digest not in PICTURE.read_text():
        faults.append("docs/ladder.svg was not drawn from docs/results/")
    if check:
        print("\n".join(faults) or f"tables: {len(names)} tables and the picture fit docs/results/")
        sys.exit(f"run .ci/tables.py: {len(faults)} out of date" if faults else 0)
    README.write_text(fresh)
    draw([record for record, _ in found], digest)
    print(f"tables: {', '.join(names)}; {PICTURE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
