"""The pictures of the documentation, drawn from docs/results/ for tables.py: docs/ladder.svg and docs/timeline.svg."""

import hashlib
import itertools
from pathlib import Path

import records
from cudakern._display import figure
from cudakern._operations import registry
from cudakern._recorded import sizes

ROOT = Path(__file__).resolve().parent.parent
RESULTS, PICTURE, TIMELINE = ROOT / "docs/results", ROOT / "docs/ladder.svg", ROOT / "docs/timeline.svg"
MATMUL = "gpu_matmul.json"
OPERATIONS = {name: what.rate for name, what in registry().items() if what.headline}
RATES = {name: what.rate for name, what in registry().items()}
COLORS = ("#59a14f", "#4c78a8", "#f28e2b", "#b07aa1")


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


def draw(ladders, digest):
    from cudakern._plots import bars

    pyplot = plots()
    sides = [
        (record, [step for step in measured(record["ladder"]) if step["profile"]["clock"] != "host"])
        for record in ladders
    ]
    tallest = max(len(steps) for _, steps in sides)
    colors = dict(zip(OPERATIONS, itertools.cycle(COLORS), strict=False))
    drawing, axes = pyplot.subplots(1, len(sides), figsize=(11, 1.3 + 0.33 * tallest), layout="constrained")
    for here, (record, steps) in zip(axes, sides, strict=True):
        op = record["ladder"]["operation"]
        rates = [rate(step, OPERATIONS[op]) for step in steps]
        names, labels = [step["variant"] for step in steps], [figure(value) for value in rates]
        bars(here, names, rates, labels, colors[op], limit_rate(record["ladder"]))
        if op == "matmul":
            draw_library(here)
        here.invert_yaxis()
        here.set_title(f"{op}, {OPERATIONS[op]}, {sizes(record['ladder']['shapes'])}\n{record['chip']}", fontsize=10)
    save(drawing, PICTURE, digest)


def draw_library(axes):
    """Beside the chip's limit for float32: cuBLAS's rate in float32, and the rate of float16 on the tensor cores."""
    from cudakern._plots import LIMIT

    record = records.read(RESULTS / MATMUL)
    shape = {"m": 4096, "n": 4096, "k": 4096, "dtype": "float32"}
    library = max(row["rate"] for row in record["rows"] if not row["variant"] and shape.items() <= row.items()) * 1e3
    tensor_cores = record["limits"]["matmul float16"]["arithmetic"]
    for value, style in ((library, ":"), (tensor_cores, "-.")):
        axes.axvline(value, color=LIMIT, linewidth=1.2, linestyle=style)
    axes.set_xlim(right=tensor_cores * 1.4)
    axes.set_xlabel(
        f"{axes.get_xlabel()}\ndotted: cuBLAS in float32 ({library:,.0f})\n"
        f"dash-dotted: float16 on the tensor cores ({tensor_cores:,.0f})",
        fontsize=8,
        color=LIMIT,
    )
    for label in axes.texts:
        if label.get_ha() == "left":  # it is behind its bar, where a line may cross it
            label.set_bbox({"facecolor": "white", "linewidth": 0, "pad": 0.5})


#: The lanes of the timeline from top to bottom, threads first; and the colors of what they do.
LANES, BUSY = ("link to the device", "kernels", "link to the host"), {"fills": "#4c78a8", "empties": "#f28e2b"}


def draw_timeline(record, digest):
    pyplot = plots()
    threads = sorted({row["lane"] for row in record["rows"]} - set(LANES), key=lambda name: int(name.split()[1]))
    lanes = [*threads, *LANES]
    drawing, axes = pyplot.subplots(figsize=(11, 1.2 + 0.24 * len(lanes)), layout="constrained")
    for row in record["rows"]:
        spans = [(begin / 1e3, (end - begin) / 1e3) for begin, end in row["spans"]]
        color = BUSY.get(row["what"], "#59a14f" if row["lane"] == "kernels" else "#b07aa1")
        axes.broken_barh(spans, (lanes.index(row["lane"]) - 0.4, 0.8), facecolors=color)
    axes.set_yticks(range(len(lanes)), lanes, fontsize=8)
    axes.set(xlabel="ms", ylim=(len(lanes) - 0.5, -0.5))
    axes.set_xlim(left=0)
    axes.set_title(f"{record['what']}, {record['chip']}", fontsize=10)
    marks = [pyplot.Rectangle((0, 0), 1, 1, color=color) for color in BUSY.values()]
    axes.legend(marks, [f"{what} slots" for what in BUSY], fontsize=8, loc="lower left")
    save(drawing, TIMELINE, digest)


def drawn_from(paths):
    """The description of a picture: the records that it shows."""
    parts = [f"{path.name}:{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}" for path in paths]
    return "drawn from " + " ".join(parts)
