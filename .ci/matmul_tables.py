"""The tables of docs/ on matrix products, for tables.py."""

import records
from cudakern._display import duration, figure
from pictures import AUTO, MATMUL, RESULTS, ROOT
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


def matmul_counters_table():
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
        f"{size}. {record['chip']}, {dated(record)}. From `{path.relative_to(ROOT)}` (`.ci/record ncu`).{notice(path)}",
    )
