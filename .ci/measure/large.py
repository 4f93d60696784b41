"""Errors of products of float32 beside the GPU's library and NumPy; and calls on arrays beyond a memory limit."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import cudakern as ck
import records
from cudakern.measure.bench import taken_by_auto
from cudakern.measure.rounds import host_clock, timed
from cudakern.operations.registry import operation
from matrices import KINDS, operands
from measure import TINY

THREADS = len(os.sched_getaffinity(0))
# accuracy: the size of products of each kind of data; the number and the size of products of random shapes
SIZE, SHAPES, MOST = (64, 4, 1 << 18) if TINY else (4096, 1000, 1 << 31)
ANY = [(1, 4096)] * 3  # of m, n and k
LARGE = [(512, 1536), (512, 1536), (512, 4096)]  # a third: large results and a long k, as split_fp16 has
# large: matrices of that many rows and columns
N, LIMIT = (700, "1M") if TINY else (65_536, "8G")


def on_device(**how):
    return lambda a, b: ck.matmul(ck.asarray(a), ck.asarray(b), **how).get()


def errors(a, b, ways):
    """{way: (Frobenius error, largest error of an element relative to |A||B|)} of products of host arrays, compared
    with PyTorch's product in float64."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    near = [torch.from_numpy(x).to("cpu" if ck.backend().emulated else "cuda") for x in (a, b)]
    wide = [x.double() for x in near]
    exact, magnitude = wide[0] @ wide[1], wide[0].abs() @ wide[1].abs()
    norm, result = float(exact.norm()), {}
    for way, multiply in ways.items():
        product = near[0] @ near[1] if way == "library" else torch.from_numpy(multiply(a, b)).to(exact.device)
        difference = (product.double() - exact).abs()
        largest = float(torch.where(difference == 0, difference, difference / magnitude).max())
        result[way] = (float(difference.norm()) / norm if norm else 0.0, largest)
    return result


def of_kinds(draw):
    for kind in KINDS:
        seed = int(draw.integers(2**32))
        ways = {"auto": on_device(), "strict": on_device(accuracy="strict"), "library": None, "numpy": np.matmul}
        for way, (frobenius, largest) in errors(*operands(kind, seed, SIZE, SIZE, SIZE), ways).items():
            yield {"kind": kind, "way": way, "frobenius": frobenius, "element": largest, "seed": seed}


def of_shapes(draw):
    """Lengths, kinds and accuracy are drawn anew in each run."""
    while True:
        m, n, k = (int(np.exp(draw.uniform(*np.log(of))).round()) for of in (LARGE if draw.random() < 1 / 3 else ANY))
        if m * n * k > MOST:
            continue
        kind, way, seed = str(draw.choice(KINDS)), str(draw.choice(["auto", "strict"])), int(draw.integers(2**32))
        k += kind == "pairs cancel" and k % 2
        a, b = operands(kind, seed, m, n, k)
        how, on = {} if way == "auto" else {"accuracy": way}, [ck.asarray(x) for x in (a, b)]
        found = errors(a, b, {way: on_device(**how), "library": None})
        ran = ck.profile(ck.matmul, *on, repeat=1, warmup=0, **how).variant.name if how else ""
        variant = ran or taken_by_auto(operation("matmul"), on)
        row = {"m": m, "n": n, "k": k, "kind": kind, "way": way, "seed": seed, "variant": variant}
        row["bound"] = ck.variants("matmul")[variant].error_bound(a.shape, b.shape, dtype=a.dtype)
        row |= {"frobenius": found[way][0], "element": found[way][1]}
        yield row | {"frobenius_library": found["library"][0], "element_library": found["library"][1]}


def accuracy():
    draw = np.random.default_rng()
    with np.errstate(all="ignore"):
        kinds = list(of_kinds(draw))
        shapes = [row for row, _ in zip(of_shapes(draw), range(SHAPES), strict=False)]
    beyond = [row for row in shapes if not row["element"] <= row["bound"]]
    figures = {"size": SIZE, "kinds": kinds, "shapes": shapes, "beyond_bound": beyond, "ok": not beyond}
    summary = f"{len(shapes)} shapes, {len(beyond)} beyond the bound"
    return figures | {"digests": {"matmul": records.digest("matmul")}, "summary": summary}


def normal(seed):
    """A matrix of normal numbers, by all processors."""
    x = np.empty((N, N), np.float32)

    def fill(row):
        np.random.default_rng((seed, row)).standard_normal(out=x[row : row + 256], dtype=np.float32)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(fill, range(0, N, 256)))
    return x


def large():
    """The rate of the link, too: such a call takes as long as its copies or as its kernels."""
    results, host = {}, np.ones(1 << (12 if TINY else 29), np.float32)
    device, a, b = ck.asarray(host), normal(1), normal(2)
    copies = {"to the device": lambda: device.set(host), "to the host": device.get}
    link = {way: host.nbytes / min(ns) for way, ns in timed(copies, 3, host_clock).items()}
    calls = {
        "sum_of_squares": lambda: results.update(sum_of_squares=ck.sum_of_squares(a.reshape(-1))),
        "matmul": lambda: results.update(matmul=ck.matmul(a, b)),
    }
    with ck.memory_limit(LIMIT) as limit:
        seconds = {op: min(ns) / 1e9 for op, ns in timed(calls, 1, host_clock).items()}
    with ThreadPoolExecutor(THREADS) as pool:
        exact = sum(pool.map(lambda part: float(np.square(part, dtype=np.float64).sum()), np.array_split(a, 64)))
    some, others = (np.unique(np.random.default_rng().integers(0, N, count)) for count in (64, 1024))
    left, right = a[some].astype(np.float64), b[:, others].astype(np.float64)
    error = np.abs(results["matmul"][np.ix_(some, others)] - left @ right) / (np.abs(left) @ np.abs(right))
    ulps = abs(float(results["sum_of_squares"]) - exact) / float(np.spacing(np.float32(exact)))
    bound = ck.variants("matmul")["fastest"].error_bound(a.shape, b.shape, dtype="float32")
    rows = [
        {"op": "sum_of_squares", "error": ulps, "bound": 2, "gb_per_s": a.nbytes / seconds["sum_of_squares"] / 1e9},
        {"op": "matmul", "error": error.max(), "bound": bound, "tflop_per_s": 2e-12 * N**3 / seconds["matmul"]},
    ]
    rows = [row | {"n": N, "seconds": seconds[row["op"]]} for row in rows]
    summary = ", ".join(f"{row['op']} of {N} x {N}: {row['seconds']:.2f} s" for row in rows)
    ok = all(row["error"] <= row["bound"] for row in rows)
    return {"limit": limit, "link_gb_per_s": link, "threads": THREADS, "rows": rows, "ok": ok, "summary": summary}
