"""The tables of docs/ on matrix products, for tables.py."""

import collections
import math
import statistics

import cudakern
import records
from cudakern._display import duration, figure
from pictures import AUTO, MATMUL, RESULTS, ROOT
from table import dated, error, markdown, notice


def matmul_table():
    """What auto reaches by shape and type, next to the fastest library."""
    record, source = _read(
        "TFLOP/s of `auto`. In parentheses: how many times as fast as the faster of PyTorch and CuPy, which call "
        "cuBLAS. The means are geometric ones of these multiples, with the number of shapes. Errors are Frobenius "
        "norms, relative to float64, for normal random numbers; in parentheses, the library's. "
        "[How this is timed](results/README.md#how-the-comparison-with-pytorch-and-cupy-is-timed)."
    )
    rows, types = record["rows"], ("float32", "float16", "bfloat16", "float64")
    autos = {(row["dtype"], row["m"], row["n"], row["k"]): row for row in rows if row["who"] == AUTO}
    lines = []
    shapes = {key[1:] for key, row in autos.items() if row["kind"] != "random"}
    for shape in sorted(shapes, key=lambda shape: (len(set(shape)) > 1, shape)):
        own = [autos.get((dtype, *shape)) for dtype in types]
        cells = [f"{row['rate']:.1f} ({row['ratio']:.2f})" if row else "" for row in own]
        lines.append([" x ".join(f"{n:,}" for n in shape), *cells])
    means = {(mean["kind"], mean["dtype"]): mean for mean in record["means"] if mean["variant"] == "auto"}
    for kind in dict.fromkeys(kind for kind, _ in means):
        own = [means.get((kind, dtype)) for dtype in types]
        lines.append(
            [f"mean, {kind} shapes", *(f"{mean['ratio']:.2f} ({mean['shapes']})" if mean else "" for mean in own)]
        )
    errors = []
    for dtype in types:
        ours, other = (
            max(
                row["error"]
                for row in rows
                if row["dtype"] == dtype and (row["who"] == AUTO if own else not row["variant"])
            )
            for own in (True, False)
        )
        errors.append(f"{error(ours)} ({error(other)})")
    return markdown(["m x n x k", *types], [*lines, ["largest error", *errors]], source)


def small_table():
    """Small products of float32 and stacks of them."""
    record, source = _read(
        "The last column: how many times as fast as the faster of PyTorch and CuPy, whose time precedes it."
    )
    rows = []
    for row in record["small"]:
        if row["variant"]:
            lengths = " x ".join(f"{row[axis]:,}" for axis in "mnk")
            times = [f"{row['kernel_ns'] * x / 1e3:.1f}" for x in (1, row["ratio"])]
            rows.append([f"{row['products']:,}", lengths, f"`{row['variant']}`", *times, f"{row['ratio']:.2f}"])
    heads = ["products", "m x n x k", "`auto` takes", "us", "library, us", "times as fast"]
    return markdown(heads, rows, source)


def request_table():
    """Products that are computed only on request, compared with PyTorch."""
    record, source = _read("The errors are relative to float64.")
    asked, rows = record["on_request"], []
    for row in asked:
        if row["variant"]:
            (other,) = (x for x in asked if x is not row and (x["m"], x["dtype"]) == (row["m"], row["dtype"]))
            rates = (f"{line['rate']:.1f}" for line in (row, other))
            what = [f"`{row['variant']}`", other["who"].partition(": ")[2], f"{row['m']:,}", *rates]
            rows.append([*what, f"{row['rate'] / other['rate']:.2f}", error(row["error"]), error(other["error"])])
    heads = ["variant", "PyTorch's call", "m = n = k", "TFLOP/s", "PyTorch's", "times as fast", "error"]
    return markdown([*heads, "PyTorch's error"], rows, source)


def _read(what):
    """The record of matmul, and what is said below a table of it."""
    path = RESULTS / MATMUL
    record = records.read(path)
    return record, f"{what} {record['chip']}, {dated(record)}. From `{path.relative_to(ROOT)}`.{notice(path)}"


def goals_table():
    """What was to be reached in float32, and the multiples of the library's rate that `auto` reaches."""
    path = RESULTS / MATMUL
    record = records.read(path)
    rows = [row | {"products": 1} for row in record["rows"] if row["dtype"] == "float32"]
    large, small, six = (
        [row for row in part if row["who"] == "cudakern: auto"] for part in (rows, record["small"], record["six"])
    )
    squares = [row for row in large + small if row["products"] == 1 and row["m"] == row["n"] == row["k"]]
    lengths = [(row, sorted(row[axis] for axis in "mnk")) for row in large + small if row["products"] == 1]
    few = [row for row, (least, _, most) in lengths if least <= 128 and most >= 4096]
    stacks = [row for row in small if row["products"] > 1 and row["k"] >= 64]
    goals = [
        ("4,096 x 4,096 x 4,096", 3.5, [row for row in squares if row["n"] == 4096]),
        ("larger squares", 3.8, [row for row in squares if row["n"] > 4096]),
        ("data whose range forces six products", 2.0, six),
        ("few rows or columns (up to 128 beside 4,096 or more)", 1.2, few),
        ("squares of 64 to 512", 1.2, [row for row in squares if row in small and row["n"] >= 64]),
        ("stacks of 64 and more", 1.2, stacks),
        ("the lowest of all", 0.95, [min(large + small, key=lambda row: row["ratio"])]),
    ]
    lines = [
        [what, "; ".join(f"{shape_of(row)}: {reached(row['ratio'], goal)}" for row in some), f"{goal}"]
        for what, goal, some in goals
    ]
    means = []
    for words, kinds, goal in (
        ("even, odd and random shapes", ("even", "odd", "random"), 2.5),
        ("and uneven ones", ("even", "odd", "random", "uneven"), 2.5),
        ("the random ones alone, which have no goal of their own", ("random",), 0),
    ):
        ratios = [row["ratio"] for row in large if row["kind"] in kinds and min(row["m"], row["n"]) >= 512]
        means.append(f"{words} ({len(ratios)}): {reached(statistics.geometric_mean(ratios), goal)}")
    lines.insert(2, ["geometric mean over m and n of 512 or more", "; ".join(means), "2.5"])
    what = (
        "The time of the faster of PyTorch and CuPy (cuBLAS's SGEMM) / that of `auto`, everything included. "
        "Ratios are compared with the goals before they are rounded."
    )
    source = f"{what} {record['chip']}, {dated(record)}. From `{path.relative_to(ROOT)}`.{notice(path)}"
    return markdown(["products of float32", "reached (in bold: not)", "goal"], lines, source)


def shape_of(row):
    """A product or stack in words: "64 of 101 x 99 x 103", or its side alone if it is square."""
    lengths = [f"{row[axis]:,}" for axis in "mnk"]
    shape = lengths[0] if len(set(lengths)) == 1 else " x ".join(lengths)
    return shape if row.get("products", 1) == 1 else f"{row['products']} of {shape}"


def reached(ratio, goal):
    """The ratio in words, in bold if it is below the goal."""
    words = f"{ratio:.2f}"
    return words if ratio >= goal else f"**{words}**"


def errors_table():
    """Errors of products of float32 by kind of data: auto, strict, the GPU's library, NumPy."""
    path = RESULTS / "gpu_accuracy.json"
    record = records.read(path)
    rows = []
    for kind in dict.fromkeys(row["kind"] for row in record["kinds"]):
        of = {row["way"]: row for row in record["kinds"] if row["kind"] == kind}
        ratio = f"{of['auto']['frobenius'] / of['library']['frobenius']:.2f}"
        cells = [error(of[way]["frobenius"]) for way in ("library", "auto", "strict", "numpy")]
        rows.append([kind, cells[0], ratio, *cells[1:], *(error(of[way]["element"]) for way in ("library", "auto"))])
    heads = ["data", "cuBLAS", "`auto` / cuBLAS", "`auto`", "`strict`", "NumPy", "an element: cuBLAS", "`auto`"]
    # (Records without the variant that "strict" took compare it with the bound of another one.)
    shapes = [row for row in record["shapes"] if row["way"] == "auto" or "variant" in row]
    beyond = sum(not row["element"] <= row["bound"] for row in shapes)
    closest = max(row["element"] / row["bound"] for row in shapes)
    what = (
        f"m = n = k = {record['size']:,}. Errors relative to float64: the Frobenius norm, and the largest error of an "
        f"element relative to |A||B|. Of {len(shapes):,} products of random lengths and kinds of data, "
        f"{beyond or 'none'} exceeded the bound of the variant (the largest error was {closest:.2f} of it)."
    )
    source = (
        f"{what} {record['chip']}, {dated(record)}. From `{path.relative_to(ROOT)}` (`.ci/gpu accuracy`).{notice(path)}"
    )
    return markdown(heads, rows, source)


def choices_table():
    """What `auto` takes by type, and how its times compare with those of the fastest variants."""
    path = RESULTS / "gpu_tune.json"
    record = records.read(path)
    rows, cuts = [], {variant.name for variant in cudakern.variants("matmul") if variant.cuts_inputs}
    for dtype in dict.fromkeys(row["dtype"] for row in record["rows"]):
        own = [row for row in record["rows"] if row["dtype"] == dtype]
        ratios = [row["us"]["auto"] / min(us for who, us in row["us"].items() if who not in cuts) for row in own]
        worst = own[ratios.index(max(ratios))]
        at = " x ".join(f"{n:,}" for n in worst["shape"])
        taken = collections.Counter(row["auto"] for row in own).most_common()
        names = ", ".join(f"`{name}` {count}" for name, count in taken)
        mean = statistics.geometric_mean(ratios)
        rows.append([dtype, f"{len(own)}", names, f"{mean:.2f}", f"{max(ratios):.2f} ({at})"])
    what = (
        "The times of `auto` / those of the fastest variant (itself included, but not `wgmma_tf32`, which cuts inputs)."
    )
    source = f"{what} {record['chip']}, {dated(record)}. From `{path.relative_to(ROOT)}` (`.ci/gpu tune`)."
    return markdown(["type", "products", "`auto` takes", "mean", "at most"], rows, source + notice(path))


def random_errors_table():
    """Of the products of random lengths: how many have a larger error than the library's, and by how much at most."""
    path = RESULTS / "gpu_accuracy.json"
    record = records.read(path)
    heads, lines = ["data"], []
    for way in ("auto", "strict"):
        heads += [f"`{way}`: above cuBLAS", "at most", "if large"]
    for kind in dict.fromkeys(row["kind"] for row in record["kinds"]):
        line = [kind]
        for way in ("auto", "strict"):
            own = [(_times(row), row) for row in record["shapes"] if (row["kind"], row["way"]) == (kind, way)]
            most, where = max(own, key=lambda pair: pair[0])
            large = [ratio for ratio, row in own if min(row["m"], row["n"]) > 512 and row["k"] > 140]
            largest = f"{max(large):.2f} ({len(large)})" if large else "-"
            above = f"{sum(ratio > 1 for ratio, _ in own)} of {len(own)}"
            line += [above, f"{most:.1f}, {shape_of(where)}", largest]
        lines.append(line)
    autos = [row for row in record["shapes"] if row["way"] == "auto"]
    elements = [row for row in autos if row["element"] > 4 * 2**-22]
    most = "; ".join(
        f"{row['element'] * 2**22:.1f} * 2^-22 ({shape_of(row)}, {row['kind']}; cuBLAS: "
        f"{row['element_library'] * 2**22:.1f} * 2^-22)"
        for row in elements
    )
    what = (
        "Frobenius norms of the errors of products of random lengths (1 to 4,096; in about a third of them, C has 512 "
        "to 1,536 rows and columns) / those of PyTorch (cuBLAS's SGEMM). "
        "If large: at most, where C has more than 512 rows and columns and k is above 140 (and how many there are). "
        f"With `auto`, {sum(row['variant'] == 'split_fp16' for row in autos)} of {len(autos)} took `split_fp16`, and "
        f"{len(elements) or 'no'} had an element with an error above 4 * 2^-22 of |A||B|"
    )
    source = f"{what}{': ' + most if most else ''}. {record['chip']}, {dated(record)}. From `{path.relative_to(ROOT)}`."
    return markdown(heads, lines, source + notice(path))


def _times(row):
    """The error as a multiple of the library's."""
    ours, other = row["frobenius"], row["frobenius_library"]
    return ours / other if other else math.inf if ours else 1.0


def crossover_table():
    """Products of NumPy arrays by NumPy and by a kernel, copies included."""
    path = RESULTS / "gpu_crossover.json"
    record = records.read(path)
    shapes = dict.fromkeys((row["m"], row["k"], row["n"]) for row in record["rows"])
    types = dict.fromkeys(row["dtype"] for row in record["rows"])
    times = {(row["dtype"], row["m"], row["k"], row["n"]): row for row in record["rows"]}
    cells = {
        key: f"{duration(row['numpy_us'] * 1e3)} / {duration(row['kernel_us'] * 1e3)}" for key, row in times.items()
    }
    rows = [[" x ".join(map(str, (m, n, k))), *(cells.get((t, m, k, n), "-") for t in types)] for m, k, n in shapes]
    what = f"NumPy / kernel. {record['timing']} {record['chip']}, 16 processors, {dated(record)}."
    return markdown(["m x n x k", *types], rows, f"{what} From `{path.relative_to(ROOT)}` (`.ci/gpu crossover`).")


STALLS = ("long_scoreboard", "short_scoreboard", "mio_throttle", "math_throttle", "barrier")


def counters_table():
    """Nsight Compute's counters of the steps of matmul."""
    path = RESULTS / "gpu_ncu.json"
    record = records.read(path)
    rows = []
    for row in record["rows"]:
        counts = {name: float(value) for name, value in row.items() if name not in ("dtype", "variant", "kernel")}
        largest = max(STALLS, key=lambda name: counts[f"stall_{name}"])
        rows.append(
            [
                row["dtype"],
                f"`{row['variant']}`",
                duration(counts["ns"]),
                figure(counts["instructions"] / 1e9),
                *(f"{counts[f'{name}_percent']:.1f}" for name in ("issue", "fma", "tensor")),
                *(figure(count / 1e9) for count in (counts["l2_read_sectors"] * 32, counts["dram_read_bytes"])),
                figure(counts["shared_wavefronts"] / 1e9),
                f"{largest.replace('_', ' ')} {counts[f'stall_{largest}']:.1f}",
            ]
        )
    heads = ["type", "variant", "time", "instructions, 10^9", "issue slots, %", "FMA pipe, %", "tensor cores, %"]
    heads += ["read from L2, GB", "read from DRAM, GB", "shared memory, 10^9 wavefronts", "largest stall"]
    size = f"m = n = k = {record['size']:,}"
    return markdown(
        heads,
        rows,
        f"{size}. {record['chip']}, {dated(record)}. From `{path.relative_to(ROOT)}` (`.ci/gpu ncu`).{notice(path)}",
    )
