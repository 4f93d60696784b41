"""docs/ladder.svg, drawn from docs/results/ for tables.py."""

import hashlib
import re
from pathlib import Path

import records
from cudakern import variants
from cudakern.measure.plots import LIMIT
from cudakern.operations.registry import registry

ROOT = Path(__file__).resolve().parent.parent
RESULTS, PICTURE = ROOT / "docs/results", ROOT / "docs/ladder.svg"
MATMUL, LADDER, AUTO = records.MATMUL, "ladder_matmul_h200.json", "cudakern: auto"
PRODUCT = {"m": 4096, "n": 4096, "k": 4096, "dtype": "float32"}  # of docs/ladder.svg
OPERATIONS = {name: what.rate for name, what in registry().items() if what.headline}
RATES = {name: what.rate for name, what in registry().items()}
STEP, OTHER = "#4c78a8", "#9a9a9a"


def measured(ladder):
    """The steps that ran. NumPy's variant is timed by the host's clock and marked so."""
    return [step for step in ladder["steps"] if step["profile"]]


def rate(step, unit):
    return step["profile"]["gb_per_s" if unit == "GB/s" else "gflop_per_s"]


def limit_rate(ladder):
    """(the chip's limit for a ladder's operation, as text and as a rate); None if no step has it."""
    unit = RATES[ladder["operation"]]
    for step in measured(ladder):
        if step["profile"]["share"]:
            return step["profile"]["limit"], rate(step, unit) / step["profile"]["share"]
    return None


def plots():
    """matplotlib's pyplot, whose pictures are the same file whenever they show the same."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "cudakern"
    return pyplot


def save(drawing, path, digest):
    drawing.savefig(path, metadata={"Date": None, "Description": digest})
    plots().close(drawing)


def climb():
    """The rungs of matmul in float32, as (variant, TFLOP/s), and the record that has the library's rate: each variant
    that is at least 3 % faster than all before it in the table and does not cut its inputs. Rates are those beside the
    library's, and for variants that were not timed there, those of the ladder."""
    record, ladder = (records.read(RESULTS / name) for name in (MATMUL, LADDER))
    rates = {step["variant"]: rate(step, "GFLOP/s") / 1e3 for step in measured(ladder["ladder"])}
    for row in record["rows"]:
        if row["who"] == f"cudakern: {row['variant']}" and of_picture(row):
            rates[row["variant"]] = row["rate"]
    rungs = []
    for variant in variants("matmul"):
        value = 0 if variant.on_host or variant.cuts_inputs else rates.get(variant.name, 0)
        if value > (1.03 * rungs[-1][1] if rungs else 0):
            rungs.append((variant, value))
    return rungs, record


def of_picture(row):
    return PRODUCT.items() <= row.items()


def draw_climb(digest):
    """One bar per rung, the simplest at the bottom, and one for the library; the two limits as labeled lines."""
    rungs, record = climb()
    library = max(row["rate"] for row in record["rows"] if not row["variant"] and of_picture(row))
    bars = [(variant.name, value, re.split("[,:;]", variant.summary)[0], STEP) for variant, value in rungs]
    bars = sorted(
        [*bars, ("cuBLAS", library, "The library that PyTorch and CuPy call, in float32", OTHER)],
        key=lambda bar: bar[1],
    )
    cuda_cores = record["limits"]["matmul float32"]["arithmetic"] / 1e3
    tensor_cores = max(row["rate"] for row in record["rows"] if row["dtype"] == "float16") / 3
    drawing, axes = plots().subplots(figsize=(8.3, 4.8), layout="constrained", facecolor="white")
    drawing.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
    for y, (_, value, what, color) in enumerate(bars):
        axes.barh(y, value, 0.72, color=color)
        digits = 0 if value >= 9.95 else 1
        axes.text(value + 2, y, f"{value:.{digits}f}", va="center_baseline", fontweight="bold", color="#222222")
        ink = "white" if value > cuda_cores else "#444444"
        axes.text(cuda_cores + 4, y, what, va="center_baseline", fontsize=8.8, color=ink)
    axes.set_yticks(range(len(bars)), [name for name, *_ in bars], family="monospace")
    for limit, words, align in (
        (cuda_cores, f"limit of the CUDA cores in float32:\n{cuda_cores:.0f} TFLOP/s", "center"),
        (
            tensor_cores,
            f"limit of the tensor cores, with three float16 products for one:\n{tensor_cores:.0f} TFLOP/s",
            "right",
        ),
    ):
        axes.axvline(limit, color=LIMIT, linewidth=1.4, linestyle="--")
        axes.text(limit, len(bars) - 0.3, words, ha=align, va="bottom", fontsize=8.8, color=LIMIT)
    axes.set(xlim=(0, tensor_cores * 1.01), ylim=(-0.6, len(bars) - 0.4), xlabel="TFLOP/s")
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right"]].set_visible(False)
    size = " x ".join(f"{PRODUCT[axis]:,}" for axis in "mk")
    what = f"matmul, {size} {PRODUCT['dtype']}, {record['chip']}"
    drawing.suptitle(f"{what}: one kernel per bar, the simplest at the bottom", fontsize=11, x=0.01, ha="left")
    save(drawing, PICTURE, digest)


def drawn_from(paths):
    """The description of a picture: the records that it shows."""
    parts = [f"{path.name}:{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}" for path in paths]
    return "drawn from " + " ".join(parts)
