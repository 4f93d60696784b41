"""Writes the tables, pages and picture of the documentation from docs/results/, so that every figure has a file.

    tables.py           rewrites the text between <!-- table:NAME --> and <!-- /table --> in README.md and docs/*.md,
                        draws docs/ladder.svg, and writes docs/ladders.md, docs/experiments.md, docs/overhead.md, and
                        cudakern/measure/recorded.json, which the package shows on machines without a GPU
    tables.py --check   changes nothing; fails if one of these files does not match the results, and warns of results
                        that were measured with kernels other than those in csrc/kernels
    tables.py --release like no option; then fails if there are such results

Tables of such results get a notice the next time that they are written. --check does not require the notice, because
changing a kernel must not require the GPU of the measurement. Before a release, .ci/release does.

NAME is an operation (its ladder on a GPU, or on the emulator if there is no other), an operation and a chip
(matmul_emulator: docs/results/ladder_matmul_emulator.json), or a function's (bench: bench_table)."""

import inspect
import json
import math
import os
import re
import statistics
import subprocess
import sys

import cudakern
import matmul_tables
import records
from cudakern import variants
from cudakern._backend import emulator
from cudakern._display import duration, figure
from cudakern.lab._experiment import EXPERIMENTS as LAB
from cudakern.lab._experiment import TEXTS
from cudakern.measure.recorded import sizes
from cudakern.measure.steps import ratio
from cudakern.operations.registry import registry
from pictures import (
    AUTO,
    LADDER,
    MATMUL,
    OPERATIONS,
    PICTURE,
    RATES,
    RESULTS,
    ROOT,
    draw_climb,
    drawn_from,
    limit_rate,
    measured,
    rate,
)
from records import BENCH, NOTICE, REQUESTS, changes, dated, error, markdown, notice

COUNTERS = ROOT / "docs/results/counters.md"
OPERATIONS_PAGE, RECORDED = ROOT / "docs/operations.md", ROOT / "cudakern/measure/recorded.json"
EXPERIMENTS, LADDERS, OVERHEAD = (ROOT / f"docs/{name}.md" for name in ("experiments", "ladders", "overhead"))
LADDERS_ROW = re.compile(r"^(\| `(\w+)\([^|]*\|[^|]*\| )`[^|]*\|$", re.M)  # in a table of operations
MARKED = re.compile(r"(<!-- table:(\w+) -->\n).*?(<!-- /table -->)", re.S)


def is_gpus(path):
    return not path.stem.endswith("_emulator")


def records_of(op):
    """The files of an operation's ladders, GPUs first (not those of another operation with the same prefix)."""
    named = [path for path in RESULTS.glob(f"ladder_{op}_*.json") if path.stem.rpartition("_")[0] == f"ladder_{op}"]
    return sorted(named, key=lambda path: (is_gpus(path), path.name), reverse=True)


def find(name):
    """A ladder and its file: for the chip in the name, or else the newest chip's; the emulator's comes last."""
    exact = RESULTS / f"ladder_{name}.json"
    files = [exact] if exact.exists() else records_of(name)
    if not files:
        sys.exit(f"tables: a page has a table {name}, but docs/results/ has no ladder_{name}*.json")
    return records.read(files[0]), files[0]


def ladder_table(name):
    record, path = find(name)
    ladder = record["ladder"]
    unit, emulated = RATES[ladder["operation"]], ladder["backend"]["emulated"]
    mark = " (emulated)" if emulated else ""
    clocked = any(step["profile"]["blocks_ns"] is not None for step in measured(ladder))
    summaries = {variant.name: variant.summary for variant in variants(ladder["operation"])}  # today's words
    rows = []
    for step in measured(ladder):
        host = " (NumPy, CPU)" if step["profile"]["clock"] == "host" else ""
        rows.append(
            [
                f"`{step['variant']}`",
                summaries.get(step["variant"], ""),
                duration(step["profile"]["kernel_ns"]) + host,
                *([duration(step["profile"]["blocks_ns"])] if clocked else []),
                figure(rate(step, unit)),
                "-" if host else ratio(step["speedup"]),
                error(step["error"]["max"] if step["error"] else None),
            ]
        )
    where = (
        f"the emulator on {record.get('cores')} cores, whose times do not predict a GPU's"
        if emulated
        else (f"{record['chip']}, driver {record['driver']}, nvcc {record['nvcc']}")
    )
    blocks = [f"all blocks{mark}"] if clocked else []
    heads = ["variant", "what it shows", f"kernel time{mark}", *blocks, f"{unit}{mark}", "speed-up", "largest error"]
    gap = (
        "Kernel time is the time between two events around the launch, queued behind a kernel that waits. All blocks "
        "is the time from the first block's start to the last block's end by the device's global timer, for variants "
        "that read it. The difference is launch latency.\n\n"
    )
    stuck = (
        "A sum in float32 stops growing when the next element is smaller than half of its last digit: hence the large "
        "errors of long sums.\n\n"
        if "scan" in ladder["operation"]
        else ""
    )
    cancels = (
        "Errors are relative to the values of the look-up table, since results may be close to 0.\n\n"
        if registry()[ladder["operation"]].cancels
        else ""
    )
    return markdown(
        heads,
        rows,
        f"{cancels}{stuck}{gap if clocked and not emulated else ''}"
        f"{sizes(ladder['shapes'])} {ladder['dtype']}; {where}; "
        f"{dated(record)}. From `{path.relative_to(ROOT)}`.{notice(path)}",
    )


def speed_table():
    """README's: products on the device, one of NumPy arrays, and a sum, next to a library or the chip's limit."""
    paths = [RESULTS / name for name in (MATMUL, "gpu_host.json", BENCH)]
    product, host, sums = (records.read(path) for path in paths)
    rates, times = [], []
    for n in (4096, 8192):
        square = {"m": n, "n": n, "k": n, "dtype": "float32"}
        timed = [row for row in product["rows"] if square.items() <= row.items()]
        (auto,) = (row for row in timed if row["who"] == AUTO)
        rates.append(f"{auto['rate']:.0f}")
        times.append(f"{min(row['kernel_ns'] for row in timed if not row['variant']) / auto['kernel_ns']:.1f}")
    arrays = {row["who"]: row["kernel_ns"] for row in host["calls"] if row["op"] == "matmul" and row["n"] == n}
    ours, cupy = arrays[AUTO], arrays["cupy: a @ b"]
    total = [row for row in sums["large"] if (row["op"], row["who"]) == ("sum_of_squares", AUTO)][-1]
    rows = [
        [
            f"matrix product, n = 4,096 and {n:,}",
            f"{' and '.join(rates)} TFLOP/s",
            f"{' and '.join(times)} times cuBLAS's rate",
        ],
        [
            f"from NumPy to NumPy, n = {n:,}",
            duration(ours),
            f"{cupy / ours:.1f} times as fast as CuPy",
        ],
        [
            f"sum of squares, n = {total['n']:,}",
            f"{4 * total['n'] / total['kernel_ns']:,.0f} GB/s",
            f"{total['of_limit']:.1%} of a loop that only reads",
        ],
    ]
    dates = " and ".join(sorted({record["date"][:10] for record in (product, host, sums)}))
    source = f"Measured on {dates}.{notice(paths[0]) or notice(paths[2])}"
    return markdown(["float32", product["chip"], ""], rows, source)


def first_ladder_table():
    """README's: a part of what `cudakern ladder` prints without a GPU."""
    settings = os.environ | {"CUDAKERN_BACKEND": "emulator", "COLUMNS": "100"}
    command = [sys.executable, "-m", "cudakern", "ladder", "sum_of_squares"]
    text = subprocess.run(command, env=settings, check=True, capture_output=True, text=True).stdout
    head, rule, rows = re.split(r"^(\u2500+\n)", text, maxsplit=1, flags=re.M)
    shown = re.findall(r"^(?:numpy|single_thread|multi_block|vectorized) .*\n(?: .*\n)*", rows, re.M)
    return f"```\n{head[head.index('sum_of_squares:') :]}{rule}{''.join(shown)}```\n"


def bench_table():
    """Times by operation and number of elements, next to the fastest other library's."""
    path = RESULTS / BENCH
    record = records.read(path)
    timed = [row for row in [*record["rows"], *record["large"]] if row["op"] != "matmul"]
    lengths, others, lines = sorted({row["n"] for row in timed}), {}, {}
    for row in timed:
        key = row["op"], row["dtype"], row["n"]
        if row["variant"]:
            lines.setdefault((row["op"], row["dtype"], row["who"].partition(": ")[2]), {})[row["n"]] = row
        elif ": " in row["who"]:  # not the loop or copy that is a limit
            others[key] = min(row["kernel_ns"], others.get(key, math.inf))
    rows = []
    for (op, dtype, name), cells in lines.items():
        if len(cells) < len(lines[op, dtype, "auto"]):
            continue  # a variant that was not timed for all lengths
        texts = [
            f"{duration(cells[n]['kernel_ns'])} ({others[op, dtype, n] / cells[n]['kernel_ns']:.2f})"
            if n in cells
            else ""
            for n in lengths
        ]
        rows.append([f"`{op}`" + ("" if name == "auto" else f", `{name}`"), dtype, *texts])
    shares = ", ".join(
        f"`{row['op']}` of {row['n']:,} {row['of_limit']:.1%}"
        for row in record["large"]
        if row["variant"] and row["of_limit"] is not None
    )
    what = (
        "In parentheses: how many times as fast as the fastest call of PyTorch and CuPy. Without a variant's name: "
        f"`auto`. Share of the rate of a loop that only reads, or of a copy: {shares}. "
        "[How this is timed](results/README.md#how-the-comparison-with-pytorch-and-cupy-is-timed)."
    )
    source = f"{what} {record['chip']}, {dated(record)}. From `{path.relative_to(ROOT)}`.{notice(path)}"
    return markdown(["operation", "type", *(f"{n:,}" for n in lengths)], rows, source)


def calls_table():
    path = RESULTS / "gpu_calls.json"
    record = records.read(path)
    rows = []
    for op, n in dict.fromkeys((row["op"], row["n"]) for row in record["calls"]):
        by_who = {row["who"]: row for row in record["calls"] if (row["op"], row["n"]) == (op, n)}
        side = f"{n} x {n}" if op == "matmul" else f"{n:,}"
        for what, key in (("the call", "issue_us"), ("call and value", "value_us")):
            if by_who["cudakern"][key] is not None:
                figures = [f"{by_who[who][key]:.1f}" if who in by_who else "-" for who in ("cudakern", "torch", "cupy")]
                rows.append([f"`{op}`, {side} float32: {what}, us", *figures])
    how = "[How this is timed](results/README.md#how-calls-and-copies-are-timed)."
    source = f"{how} {record['chip']}, {dated(record)}. "
    return markdown(["device arrays", "cudakern", "PyTorch", "CuPy"], rows, f"{source}From `{path.relative_to(ROOT)}`.")


def read(step):
    """The record of a step of .ci/record on a GPU, and what its table says of it."""
    path = RESULTS / f"gpu_{step}.json"
    record = records.read(path)
    how = "[How this is timed](results/README.md#how-calls-and-copies-are-timed)."
    return record, f"{how} {record['chip']}, {dated(record)}. From `{path.relative_to(ROOT)}`."


def host_copies_table():
    """Copies of ordinary and page-locked memory."""
    record, source = read("host")
    whos = ("cudakern", "torch", "cupy")
    rows = [
        [
            f"{row['direction']}, {row['memory']} memory",
            str(row["processors"]),
            *(f"{row[who]:.1f}" if who in row else "-" for who in whos),
        ]
        for row in record["copies"]
    ]
    return markdown(["1 GiB, GB/s", "processors", "cudakern", "PyTorch", "CuPy"], rows, source)


def host_calls_table():
    """Calls from NumPy arrays to NumPy arrays: each library's fastest."""
    record, source = read("host")
    groups = {}
    for row in record["calls"]:
        times = groups.setdefault((row["op"], row["n"]), {})
        who = row["who"].partition(":")[0]
        times[who] = min(row["kernel_ns"], times.get(who, math.inf))
    whos = ("cudakern", "torch", "cupy", "numpy")
    rows = [
        [
            f"`{op}` float32",
            f"{n:,} x {n:,}" if op == "matmul" else f"{n:,}",
            *(duration(times[who]) if who in times else "-" for who in whos),
            f"{min(ns for who, ns in times.items() if who != 'cudakern') / times['cudakern']:.1f}",
        ]
        for (op, n), times in groups.items()
    ]
    heads = ["operation", "arrays", "cudakern", "PyTorch", "CuPy", "NumPy", "best other / cudakern"]
    return markdown(heads, rows, f"{source} {record['processors']} processors.")


def clock_table():
    """How much the times of two runs of a ladder differ."""
    record, source = read("clock")
    rows = []
    for op, n in dict.fromkeys((row["op"], row["n"]) for row in record["rows"]):
        of = [row for row in record["rows"] if (row["op"], row["n"]) == (op, n)]
        worst = max(of, key=lambda row: row["difference"])
        times = " and ".join(duration(ns) for ns in worst["kernel_ns"])
        median = f"{statistics.median(row['difference'] for row in of):.2%}"
        worst_of = f"{worst['difference']:.2%} (`{worst['variant']}`: {times})"
        rows.append([f"`{op}`", f"{n:,}", str(len(of)), median, worst_of])
    heads = ["operation", "n", "variants", "median difference", "largest difference"]
    what = ", ".join(f"{what}: {difference:.1%}" for what, difference in record["largest"].items())
    return markdown(heads, rows, f"The largest difference of steps {what}. {source.partition('. ')[2]}")


def wrongs_table():
    """What compute-sanitizer and cudakern.check find of the wrong kernels of tests/wrong, by kind."""
    path = RESULTS / "gpu_wrongs.json"
    if not path.exists():
        return "Not measured yet: `.ci/record wrongs` does so on a GPU.\n"
    record = records.read(path)
    rows = [[f"`{kind}`" if kind != "all" else "all", *map(str, of.values())] for kind, of in record["totals"].items()]
    others = ["compute-sanitizer finds", "with the line", "false alarms"]
    ours = ["`ck.check` finds", "with the line", "false alarms"]
    refused = len(record["not_compiled"])
    what = (
        "compute-sanitizer finds a mistake if one of its four tools reports anything before the kernel ends or hangs; "
        f"a false alarm is a report on the right twin. NVRTC does not compile {refused} of the kernels, so that the "
        f"tools have no verdict on them. {record['chip']}, compute-sanitizer {record['sanitizer']}"
    )
    source = f"{what}; {dated(record)}. From `{path.relative_to(ROOT)}`."
    return markdown(["kind", "cases", *others, *ours], rows, source)


def checking_table():
    """What a check costs: time and memory beside the plain call."""
    path = RESULTS / "emulator_checking.json"
    if not path.exists():
        return "Not measured yet: `.ci/record checking` does so.\n"
    record = records.read(path)
    rows = []
    for row in record["rows"]:
        ms = (f"{row[which]['0.5'] / 1e6:.3g}" for which in ("plain_ns", "checked_ns"))
        low, median, high = (f"{row['ratio'][quantile]:.1f}" for quantile in ("0.1", "0.5", "0.9"))
        traced = [f"{row['traced_ratio']['0.5']:.1f}"] if "traced_ratio" in row else []
        rows.append([row["call"], *ms, median, f"{low} to {high}", f"{row['shadow']:.1f}", *traced])
    heads = ["call", "ms", "ms, checked", "times as long", "10% to 90%", "bytes per byte"]
    heads += ["traced, times as long"] if "traced_ratio" in record["rows"][0] else []
    source = (
        "Medians, on one worker of the emulator. Bytes per byte: the checker's memory, for each byte of the pages of "
        f"memory that the kernels access. {record['cpu']}; {dated(record)}. From `{path.relative_to(ROOT)}`."
    )
    return markdown(heads, rows, source)


def with_operations(text):
    """The page with the current public operations and variants in its tables of operations."""
    rows = list(LADDERS_ROW.finditer(text))
    listed = {match[2] for match in rows}
    new = [what for name, what in registry().items() if name in cudakern.__all__ and name not in listed]
    lines = "".join(
        f"\n| `{what.name}({required(what.call)})` | {inspect.getdoc(what.call).splitlines()[0].rstrip('.')} | `` |"
        for what in new
    )
    return LADDERS_ROW.sub(ladders_row, text[: rows[-1].end()] + lines + text[rows[-1].end() :])


def required(function):
    """The names of a function's required arguments."""
    parameters = inspect.signature(function).parameters.values()
    return ", ".join(p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD)


def ladders_row(match):
    """A line of a table of operations, with the current variants."""
    names = [
        f"`{v.name}`" + ("" if "emulator" in v.backends else " (on a GPU)") for v in variants(match[2]) if not v.on_host
    ]
    return f"{match[1]}{', '.join(names)} |"


def table(name):
    """A function of that name makes it, or else it is a ladder."""
    functions = vars(matmul_tables) | globals()
    return functions[f"{name}_table"]() if f"{name}_table" in functions else ladder_table(name)


def recorded():
    """cudakern/measure/recorded.json: a GPU's ladders and its compiler's figures, for machines without them."""
    ladders = {}
    for op in RATES:
        path = next((path for path in records_of(op) if is_gpus(path)), None)
        if path is None or op not in cudakern.__all__:
            continue
        record = records.read(path)
        ladder, steps = record["ladder"], measured(record["ladder"])
        times = {step["variant"]: (step["profile"]["kernel_ns"], rate(step, RATES[op])) for step in steps}
        ladders[f"{op} {ladder['dtype']}"] = recorded_ladder(
            path, ladder["shapes"], ladder["dtype"], float(steps[0]["profile"]["bytes"]), times, limit_rate(ladder)
        )
    path, n = RESULTS / MATMUL, 4096  # the ladders' chip; also has types and variants that the ladder lacks
    for row in records.read(path)["rows"]:
        if row["variant"] and (row["m"], row["n"], row["k"], row["kind"]) == (n, n, n, "even"):
            shapes, dtype = [[n, n]] * 2, row["dtype"]
            least = emulator().work("matmul", tuple(map(tuple, shapes)), dtype)[1]
            ladder = ladders.setdefault(f"matmul {dtype}", recorded_ladder(path, shapes, dtype, least, {}, None))
            ladder["steps"].setdefault(row["variant"], recorded_step(row["kernel_ns"], row["rate"] * 1e3))
    for ladder in ladders.values():
        kernels = [step for name, step in ladder["steps"].items() if name != "numpy"]
        for step in kernels:
            step["speedup"] = float(f"{kernels[0]['kernel_ns'] / step['kernel_ns']:.6g}")
    kernels = records.read(RESULTS / "gpu_kernels.json")
    data = {
        "ladders": ladders,
        "counters": recorded_counters(),
        "kernels": {name: kernels[name] for name in ("nvcc", "capability", "columns", "rows")},
    }
    parts = [f"{json.dumps(part)}: {{\n{lines(entries)}\n}}" for part, entries in data.items()]
    return "{" + ",\n".join(parts) + "}\n"


def recorded_counters():
    """What the variants ask of memory: a list of the metrics per variant, without those that are 0 for all."""
    record = records.read(RESULTS / REQUESTS)
    keys = ("operation", "dtype", "variant")
    # Those of memory ("..._mem_global_op_ld...") that a ladder shows.
    columns = [name for name in record["rows"][0] if "_op_" in name and any(row[name] for row in record["rows"])]
    ladders = {name: ladder | {"steps": {}} for name, ladder in record["ladders"].items()}
    for row in record["rows"]:
        op, dtype, variant = (row[key] for key in keys)
        ladders[f"{op} {dtype}"]["steps"][variant] = [row[name] for name in columns]
    return {"columns": columns, "rows": ladders}


def recorded_ladder(path, shapes, dtype, least, times, limit):
    record = records.read(path)
    return {
        "shapes": shapes,
        "dtype": dtype,
        **{name: record[name] for name in ("chip", "commit")},
        "date": record["date"][:10],
        "bytes": least,
        "changed": bool(changes(path)),
        "limit": {"what": limit[0], "rate": float(f"{limit[1]:.6g}")} if limit else None,
        "steps": {name: recorded_step(*figures) for name, figures in times.items()},
    }


def recorded_step(kernel_ns, rate):
    return {"kernel_ns": float(f"{kernel_ns:.6g}"), "rate": float(f"{rate:.6g}"), "speedup": None}


def lines(entries):
    return ",\n".join(
        f"{json.dumps(key)}: {{\n{lines(value)}\n}}" if key == "rows" else f"{json.dumps(key)}: {json.dumps(value)}"
        for key, value in entries.items()
    )


def experiments():
    """docs/experiments.md: each experiment, what was measured on an H200, and the claim that it tests."""
    path = RESULTS / "gpu_lab.json"
    record = records.read(path)
    lines = [
        "# Experiments on an H200",
        "",
        f"The experiments of `cudakern.lab`, run on one {record['chip']} (driver {record['driver']}, CUDA compiler "
        f"{record['nvcc']}). Each tests a claim from the literature; [sources.md](sources.md) explains the letters "
        f"that stand for the sources. [{path.name}](results/{path.name}) has all figures. `.ci/tables.py` writes this "
        "page from the texts in `cudakern/lab/texts.toml`, which describe the run of commit "
        f"{TEXTS['commit']}; do not edit it.{notice(path)}",
    ]
    for name, experiment in sorted(LAB.items()):
        source, _, claim = experiment.claim.partition(": ")
        lines += ["", f"## {name}", "", (inspect.getdoc(experiment.function) or "").partition("\n")[0], ""]
        lines += [f"- **On an H200:** {experiment.on_an_h200}", f"- **Claim tested ({source}):** {claim}."]
    return "\n".join(lines) + "\n"


def ladders():
    """docs/ladders.md: all ladders on a GPU."""
    there = [op for op in RATES if any(is_gpus(path) for path in records_of(op))]
    lines = [
        "# Ladders on a GPU",
        "",
        "The output of `cudakern ladder OP --all` on a GPU. `.ci/tables.py` writes this page from "
        "[results/](results/README.md); do not edit it. [matmul.md](matmul.md) explains the steps of `matmul`.",
    ]
    for op in sorted(there, key=lambda op: op not in OPERATIONS):
        lines += ["", f"## {op}", "", ladder_table(op).rstrip()]
    return "\n".join(lines) + "\n"


def overhead():
    """docs/overhead.md: the cost of a call besides the launch, on a GPU and on the emulator."""
    lines = [
        "# Overhead of Python and the runtime per call",
        "",
        "Microseconds per call on small device arrays, for every operation: native (the C module's function), `auto`, "
        "and the variant that `auto` chooses, by name. `.ci/tables.py` writes this page from "
        "[results/](results/README.md#how-the-overhead-of-python-is-timed); do not edit it.",
    ]
    for path in sorted(RESULTS.glob("*_overhead.json"), reverse=True):
        record = records.read(path)
        heads = ["operation", "variant", "native", "`auto`", "named", "new result", "named / `auto`", "`auto` / native"]
        rows = []
        for row in record["calls"]:
            out = "" if row["out"] else " (no `out=`)"
            figures = [row["native"], row["auto"], row["named"], row.get("new result")]
            ratios = [row["named"] / row["auto"], row["auto"] / row["native"]]
            cells = ["-" if value is None else f"{value:.2f}" for value in (*figures, *ratios)]
            rows.append([f"{row['call']}{out}", f"`{row['variant']}`", *cells])
        middle = {key: statistics.median(row[key] for row in record["calls"]) for key in ("launch", "launch and event")}
        lines += [
            "",
            f"## {record['chip']}",
            "",
            f"A launch alone takes {middle['launch']:.2f} us, and {middle['launch and event']:.2f} us with an event "
            "recorded after it (medians over all operations; both are measured again for each operation).",
            "",
            markdown(heads, rows, f"{dated(record)}. From `{path.relative_to(ROOT)}`.").rstrip(),
        ]
    return "\n".join(lines) + "\n"


def counters():
    """docs/results/counters.md: where cudakern.trace and Nsight Compute agree, and each figure where they do not."""
    sys.path.insert(0, str(ROOT / "tests"))
    from cache_patterns import rates
    from counter_reasons import CODE, LOCAL, MEET, PATTERNS, VARIANTS, meeting

    ours = records.read(RESULTS / "emulator_traced.json")
    theirs = [records.read(RESULTS / f"gpu_{name}.json") for name in ("counters", "ladder_counters")]

    def flat(rows):
        return {f"{op} {name}": row for op, of in rows.items() for name, row in of.items()}

    measured = flat(theirs[1]["rows"])
    groups = {
        "Small kernels with simple patterns": (
            theirs[0]["metrics"], theirs[0]["kernels"], ours["metrics"], ours["kernels"]
        ),
        "Variants": (theirs[1]["metrics"], measured, ours["metrics"], flat(ours["rows"])),
        "Divergent branches and arithmetic of variants": (
            theirs[1]["metrics"], measured, ours["code_metrics"], flat(ours["code"])
        ),
        "Textures, local memory and TMA of variants": (
            theirs[1]["metrics"], measured, ours.get("more_metrics", ()), flat(ours.get("more", {}))
        ),
    }  # fmt: skip
    reasons = {name: [why] for name, why in PATTERNS.items()} | {" ".join(key): why for key, why in VARIANTS.items()}
    of_local = {" ".join(key): why for key, why in LOCAL.items()}

    def why(kernel, name, excess, of_kernel):
        if excess == meeting(name, of_kernel):
            return [MEET]
        return CODE.get(name) or (of_local if "_mem_local_" in name else reasons).get(kernel, ["not looked into yet"])

    totals, lines = [], []
    for group, (metrics, measured_rows, names, traced_rows) in groups.items():
        figures = [
            (kernel, name, mine, value)
            for kernel, row in measured_rows.items()
            if kernel in traced_rows
            for name, value in zip(metrics, row, strict=True)
            if name in names
            for mine in (traced_rows[kernel][names.index(name)],)
            if mine or value
        ]
        if not figures:
            continue
        rows = [
            [
                f"`{kernel}`",
                f"`{name}`",
                f"{mine:,.10g}",
                f"{value:,.10g}",
                "; ".join(why(kernel, name, value - mine, dict(zip(metrics, measured_rows[kernel], strict=True)))),
            ]
            for kernel, name, mine, value in figures
            if mine != value
        ]
        near = sum(abs(mine - value) <= max(mine, value) / 20 for *_, mine, value in figures)
        shares = (f"{some:,} ({some / len(figures):.1%})" for some in (len(figures) - len(rows), near))
        totals.append([group, f"{len(measured_rows.keys() & traced_rows.keys())}", f"{len(figures):,}", *shares])
        lines += ["", f"## {group}", "", markdown(["kernel", "figure", "trace", "Nsight", "why"], rows, "").rstrip()]
    if "caches" in theirs[0] and "caches" in ours:
        both = {
            key: [f"{rate:.1f}" for rate in pair] for key, pair in rates(theirs[0]["caches"], ours["caches"]).items()
        }
        rows = [[f"`{kernel}`", f"`{name}`", mine, value] for (kernel, name), (value, mine) in both.items()]
        text = "Hit rates of caches, by the [model](../counters.md#the-model-of-the-caches), and Nsight Compute's."
        heads = ["kernel", "figure", "trace", "Nsight"]
        lines += ["", "## Caches", "", text, "", markdown(heads, rows, "").rstrip()]
    heads = ["what", "kernels", "figures", "equal", "within 5%"]
    copies = "The kernels with which the package copies, converts and fills arrays are not traced"
    copies += ", and left out of" if "left_out" in theirs[1] else ", but in"
    first = [
        "# Counters: `cudakern.trace` beside Nsight Compute",
        "",
        f"Figures that both count, where one of them is not 0. Nsight Compute's are of one {theirs[0]['chip']} "
        f"({dated(theirs[0])}; variants: {dated(theirs[1])}), ours of {dated(ours)}. `.ci/tables.py` writes this page "
        "from the records beside it; do not edit it. [counters.md](../counters.md) explains the figures.",
        "",
        f"{copies} Nsight Compute's figures of variants.",
        "",
        markdown(heads, totals, "").rstrip(),
        "",
        "All figures that differ:",
    ]
    return "\n".join([*first, *lines]) + "\n"


def without_notices(text):
    text = text.replace('"changed": true', '"changed": false')
    return re.sub(re.escape(NOTICE).replace(r"\{\}", r"\w+"), "", text)


def outdated():
    """The records in docs/results/ that were measured with other or unknown kernels, and how to renew them."""
    paths = [*RESULTS.glob("ladder_*.json"), *(RESULTS / name for name in (BENCH, MATMUL, REQUESTS, "gpu_lab.json"))]
    old = [
        f"{path.name}: {why}; run .ci/record {'ladders' if 'ladder' in path.stem else path.stem.partition('_')[2]}"
        for path in sorted(paths)
        if (why := changes(path))
    ]
    if (commit := records.read(RESULTS / "gpu_lab.json")["commit"]) != TEXTS["commit"]:
        old.append(
            f"gpu_lab.json is of commit {commit}, but cudakern/lab/texts.toml describes {TEXTS['commit']}: compare the "
            "texts with the record, correct them, and set the commit"
        )
    return old


def main():
    check = sys.argv[1:] == ["--check"]
    digest = drawn_from([RESULTS / LADDER, RESULTS / MATMUL])
    pages = {
        EXPERIMENTS: experiments(),
        LADDERS: ladders(),
        OVERHEAD: overhead(),
        COUNTERS: counters(),
        RECORDED: recorded(),
    }
    texts = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    marked = [path for path in texts if MARKED.search(path.read_text()) and path not in pages]
    for path in marked:
        pages[path] = MARKED.sub(lambda match: f"{match[1]}{table(match[2])}{match[3]}", path.read_text())
    faults = [
        f"{path.relative_to(ROOT)} does not match docs/results/"
        for path, page in pages.items()
        if not path.exists() or without_notices(path.read_text()) != without_notices(page)
    ]
    if not PICTURE.exists() or digest not in PICTURE.read_text():
        faults.append(f"{PICTURE.relative_to(ROOT)} does not match docs/results/")
    if check:
        for one in outdated():
            print(f"warning: {one}")
        print("\n".join(faults) or f"tables: {len(pages)} files and the picture match docs/results/")
        sys.exit(f"tables: {len(faults)} files do not match: run .ci/tables.py" if faults else 0)
    for path, page in pages.items():
        path.write_text(page)
    OPERATIONS_PAGE.write_text(with_operations(OPERATIONS_PAGE.read_text()))
    draw_climb(digest)
    print("\n".join([f"tables: {len(pages)} files and a picture", *(old := outdated())]))
    if old and sys.argv[1:] == ["--release"]:
        sys.exit(f"tables: {len(old)} records are older than their kernels: measure them again")


if __name__ == "__main__":
    main()
