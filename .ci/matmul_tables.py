"""The tables of docs/ on matrix products, for tables.py."""

import math

import records
from cudakern import variants
from cudakern._display import duration, figure
from pictures import AUTO, LADDER, MATMUL, PRODUCT, RESULTS, ROOT, measured
from records import dated, error, markdown, notice


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


def matmul_small_table():
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


def matmul_request_table():
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


def matmul_errors_table():
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
    source = f"{what} {record['chip']}, {dated(record)}. From `{path.relative_to(ROOT)}` (`.ci/record accuracy`)."
    return markdown(heads, rows, source + notice(path))


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
    return markdown(["m x n x k", *types], rows, f"{what} From `{path.relative_to(ROOT)}` (`.ci/record crossover`).")


STALLS = ("long_scoreboard", "short_scoreboard", "mio_throttle", "math_throttle", "barrier")
SQUARE = (1, 4096, 4096, 4096)
SAME_TIME = 0.05  #: a call that took another time under Nsight Compute, by a larger part, was another kernel's
#: Where a variant is not meant for large squares: what it is measured with, as (products, m, n, k).
MEANT_FOR = {
    "small_tiles": (1, 64, 64, 64),
    "few_rows": (1, 4, 4096, 4096),
    "tensor_cores_split_k": (1, 64, 64, 262144),
    "wgmma_split_k": (1, 64, 64, 262144),
    "wgmma_groups": (1, 512, 512, 65536),
    "split_inside": (1, 64, 4096, 4096),
    "split_small": (256, 128, 128, 128),
}


def matmul_steps_table():
    """Every step of matmul: its rate, next to the step before and the library, and Nsight Compute's counters."""
    paths = [RESULTS / name for name in (MATMUL, LADDER, "gpu_ncu.json")]
    record, ladder, profiled = (records.read(path) for path in paths)
    timed = {}  # (TFLOP/s, multiple of the library's rate) of a variant and a shape
    for row in [*record["on_request"], *record["rows"], *record["small"]]:
        if row["variant"] and row.get("dtype") != "bfloat16":
            shape = (row.get("products", 1), row["m"], row["n"], row["k"])
            rate = 2 * math.prod(shape) / row["kernel_ns"] / 1e3
            timed.setdefault((row["variant"], shape), (rate, row["ratio"]))
    library = max(row["rate"] for row in record["rows"] if PRODUCT.items() <= row.items() and not row["variant"])
    for step in measured(ladder["ladder"]):
        rate = step["profile"]["gflop_per_s"] / 1e3
        timed.setdefault((step["variant"], SQUARE), (rate, rate / library))
    counts = {row["variant"]: row for row in reversed(profiled["rows"])}  # of the first type that was profiled
    rows = []
    for variant in variants("matmul"):
        shape = MEANT_FOR.get(variant.name, SQUARE)
        if variant.on_host or variant.name == "fastest" or (variant.name, shape) not in timed:
            continue
        dtype = next(name for name in ("float32", "float16", "float64", "int8") if name in variant.types)
        number, *lengths = shape
        product = f"{number} of " * (number > 1) + " x ".join(f"{n:,}" for n in lengths)
        rate, times = timed[variant.name, shape]
        before, counters = timed.get((variant.after, shape)), [""] * 6
        if shape == SQUARE and variant.name in counts:
            ns = 2 * math.prod(SQUARE) / rate / 1e3
            if abs(float(counts[variant.name]["all_ns"]) / ns - 1) <= SAME_TIME:
                counters = _counters(counts[variant.name])
        rows.append(
            [
                f"`{variant.name}`",
                dtype,
                "" if shape == SQUARE else product,
                figure(rate),
                f"{rate / before[0]:.2f}" if before else "-",
                f"{times:.2f}",
                *counters,
            ]
        )
    heads = ["variant", "type", "m x n x k", "TFLOP/s", "/ step before", "/ library", "instructions", "issue slots, %"]
    heads += ["tensor cores, %", "L2, GB", "wavefronts", "largest stall"]
    what = (
        "m x n x k is 4,096 x 4,096 x 4,096 where nothing else is given. / step before: multiple of the rate of the "
        "variant that it comes after (-: there is none, or not with this product). / library: of the faster of PyTorch "
        "and CuPy, which call cuBLAS, for the same product and type. Instructions, and wavefronts of shared memory, "
        "are per 32 multiply-adds. The counters, from gpu_ncu.json, are left out where a call took another time then, "
        f"by more than {SAME_TIME:.0%}."
    )
    files = ", ".join(f"`{path.relative_to(ROOT)}` ({dated(records.read(path))})" for path in paths)
    notices = "".join(dict.fromkeys(map(notice, paths)))
    return markdown(heads, rows, f"{what} {record['chip']}. From {files}.{notices}")


def _counters(row):
    """Cells of one variant's counters, at SQUARE."""
    counts = {name: float(value) for name, value in row.items() if name not in ("dtype", "variant", "kernel")}
    largest = max(STALLS, key=lambda name: counts[f"stall_{name}"])
    each = math.prod(SQUARE) / 32
    return [
        figure(counts["instructions"] / each),
        *(f"{counts[f'{name}_percent']:.0f}" for name in ("issue", "tensor")),
        figure(counts["l2_read_sectors"] * 32 / 1e9),
        figure(counts["shared_wavefronts"] / each),
        f"{largest.replace('_', ' ')} {counts[f'stall_{largest}']:.1f}",
    ]
