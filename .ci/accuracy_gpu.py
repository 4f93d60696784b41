"""Products of float32 on a GPU: errors of `auto` beside those of the GPU's library (PyTorch) and of NumPy.

accuracy_gpu.py FILE.json

kinds: every kind of data of tests/matrices.py, m = n = k = SIZE. shapes: SHAPES products of lengths, kinds and accuracy
drawn anew in each run; a third of them have large results and a long k, as `split_fp16` has. The reference is
PyTorch's product in float64; errors are relative to it, by the Frobenius norm, or, for an element, relative to the
product of the magnitudes."""

import json
import sys
from pathlib import Path

import numpy as np
import torch

import cudakern as ck
from cudakern._bench import taken_by_auto
from cudakern._operations import operation

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from matrices import KINDS, operands

SIZE, SHAPES, MOST = 4096, 1000, 1 << 31
ANY = [(1, 4096)] * 3  # of m, n and k
LARGE = [(512, 1536), (512, 1536), (512, 4096)]


def compare(a, b, ways):
    """{way: (Frobenius error, largest error of an element)} of products of host arrays."""
    wide = [torch.from_numpy(x).cuda().double() for x in (a, b)]
    exact, magnitude = wide[0] @ wide[1], wide[0].abs() @ wide[1].abs()
    norm, errors = float(exact.norm()), {}
    for way, multiply in ways.items():
        difference = (torch.from_numpy(multiply(a, b)).cuda().double() - exact).abs()
        largest = float(torch.where(difference == 0, difference, difference / magnitude).max())
        errors[way] = (float(difference.norm()) / norm if norm else 0.0, largest)
    return errors


def on_device(**how):
    return lambda a, b: ck.matmul(ck.asarray(a), ck.asarray(b), **how).get()


WAYS = {
    "auto": on_device(),
    "strict": on_device(accuracy="strict"),
    "library": lambda a, b: (torch.from_numpy(a).cuda() @ torch.from_numpy(b).cuda()).cpu().numpy(),
}


def kinds(draw):
    for kind in KINDS:
        seed = int(draw.integers(2**32))
        ways = {**WAYS, "numpy": np.matmul}
        for way, (frobenius, largest) in compare(*operands(kind, seed, SIZE, SIZE, SIZE), ways).items():
            yield {"kind": kind, "way": way, "frobenius": frobenius, "element": largest, "seed": seed}


def shapes(draw):
    variants = ck.variants("matmul")
    while True:
        ranges = LARGE if draw.random() < 1 / 3 else ANY
        m, n, k = (int(np.exp(draw.uniform(*np.log(of))).round()) for of in ranges)
        if m * n * k > MOST:
            continue
        kind, seed = str(draw.choice(KINDS)), int(draw.integers(2**32))
        k += kind == "pairs cancel" and k % 2
        a, b = operands(kind, seed, m, n, k)
        way = str(draw.choice(["auto", "strict"]))
        errors = compare(a, b, {name: WAYS[name] for name in (way, "library")})
        row = {"m": m, "n": n, "k": k, "kind": kind, "way": way, "seed": seed}
        on = [ck.asarray(x) for x in (a, b)]
        if way == "auto":
            row["variant"] = taken_by_auto(operation("matmul"), on)
        else:
            row["variant"] = ck.profile(ck.matmul, *on, repeat=1, warmup=0, accuracy=way).variant.name
        row["bound"] = variants[row["variant"]].error_bound(a.shape, b.shape, dtype=a.dtype)
        row |= {"frobenius": errors[way][0], "element": errors[way][1]}
        yield row | {"frobenius_library": errors["library"][0], "element_library": errors["library"][1]}


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    draw, record = np.random.default_rng(), {"size": SIZE, "library": f"PyTorch {torch.__version__}, float32"}
    with np.errstate(all="ignore"):
        record["kinds"] = [print(*row.values(), flush=True) or row for row in kinds(draw)]
        record["shapes"] = [row for row, _ in zip(shapes(draw), range(SHAPES), strict=False)]
    record["beyond_bound"] = [row for row in record["shapes"] if not row["element"] <= row["bound"]]
    Path(sys.argv[1]).write_text(json.dumps(record))


main()
