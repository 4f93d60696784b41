"""Our variants compared with PyTorch and CuPy by cudakern.bench, which says how it measures (TIMING).

bench_gpu.py FILE.json bench|matmul

bench: every operation of CASES, with uniform random numbers (matmul: normal ones); then arrays of LARGE elements, whose
results are not checked, beside a loop that only reads and a copy. matmul: the steps of matmul by shape and type, with
ten new shapes in each run, and geometric means over the shapes; then what auto takes for small products, and for data
whose range forces six products. ratio: the time of the fastest other library / ours, so that above 1 we are faster."""

import functools
import json
import math
import sys
from pathlib import Path
from statistics import geometric_mean

import numpy as np

import cudakern as ck
from cudakern._bench import bench, taken_by_auto
from cudakern._operations import operation
from cudakern._peers import library_calls
from cudakern._rounds import TIMING, quantiles, timed

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from matrices import operands

SIZES = [1 << power for power in (16, 18, 20, 22, 26)]  #: and 24, with more variants
LARGE = [1 << 28, 1 << 30]
#: (lengths, type, variants besides auto; None: all)
CASES = {
    "matmul": [([1000, 4096], "float32", ()), ([1024], "float32", None), ([1024], "float64", ())],
    "sum_of_squares": [
        ([1 << 20, 1 << 26], "int32", ()),
        ([1 << 24], "int32", None),
        (SIZES, "float32", ()),
        ([1 << 24], "float32", None),
        ([1 << 24], "float64", ()),
    ],
    "vector_add": [(SIZES, "float32", ()), ([1 << 24], "float32", None)],
    "saxpy": [(SIZES, "float32", ()), ([1 << 24], "float32", None)],
    "inclusive_scan": [(SIZES, "float32", ("lookback",)), ([1 << 24], "float32", ("blocks", "lookback"))],
    "sort": [([1 << 20, 1 << 26, 1 << 28], "int32", ("sample_sort",)), ([1 << 24], "float32", ("sample_sort",))],
}
#: m, n and k for each type.
SHAPES = {
    "float64": [(4096, 4096, 4096), (2048, 2048, 2048), (1024, 1024, 1024)],
}
SHAPES["float32"] = SHAPES["float16"] = SHAPES["bfloat16"] = [
    *((n, n, n) for n in (512, 1000, 1024, 2048, 4096, 8192, 16384)),
    *((4095, 4097, 4093), (1023, 1025, 999), (4096, 14336, 4096)),
    *((m, 4096, 4096) for m in (16, 32, 64, 128)),
    *((8192, 8192, 512), (512, 512, 65536), (64, 64, 262144)),
]
#: Results that few sizes of tiles divide evenly among the multiprocessors; for the types with all of the shapes above.
UNEVEN = [(1536, 1536, 1536), (2432, 1024, 2496), (3000, 3000, 3000)]
#: Small products of float32, and stacks of them: their number, m, n and k.
SMALL = [
    *((1, n, n, n) for n in (32, 64, 100, 128, 192, 256, 384, 512)),
    *((1, m, 4096, 4096) for m in (1, 4, 8)),
    *((1, 1, 14336, 4096), (1, 4096, 1, 4096)),
    *((products, n, n, n) for n in (32, 64, 128, 256) for products in (16, 64, 256)),
    *((products, n, n, n) for n in (65, 80, 100, 127, 129, 200) for products in (64, 256)),
    *((16, n, n, n) for n in (129, 255)),
    (64, 101, 99, 103),
]
#: Products of float32 with the data WIDE of tests/matrices.py, whose check auto makes, and which fails.
SIX = [
    *((1, n, n, n) for n in (4096, 5000, 8192, 16384)),
    *((1, 4096, 14336, 4096), (1, 4096, 4096, 1024)),
]
WIDE = "lognormal 6"
#: Types that are also measured with ten shapes of random lengths, at least so long.
RANDOM = {"float32": 512, "float16": 64, "bfloat16": 64}
#: The variants that are measured for other shapes than the first one, where not all.
FEW = {"float32": ("warp_tiles", "split_fp16", "split_bf16")}


def times_of(quantiles):
    """The median and two quantiles, as a record has them."""
    return {"kernel_ns": quantiles.get("0.5"), "q10": quantiles.get("0.1"), "q90": quantiles.get("0.9")}


def rows_of(result):
    """The lines of a benchmark that ran, as rows of a record."""
    for line in result.lines:
        sizes = dict(zip("mnk" if len(line.shape) > 1 else "n", line.shape, strict=True))
        figures = {"who": line.who, "variant": line.variant, **times_of(line.quantiles), "error": line.error}
        more = {"ratio": line.ratio, "share": line.share, "rate": line.rate}
        if line.kernel_ns is None:
            print(f"{result.operation} {line.shape} {result.dtype}: {line.who}: {line.note}", flush=True)
        else:
            yield {**sizes, "dtype": result.dtype, **figures, **more, "seed": result.seed}


def of_bench():
    for op, cases in CASES.items():
        for lengths, dtype, names in cases:
            for n in lengths:
                shape = (n, n, n) if op == "matmul" else n
                variants = None if names is None else [*names, "auto"]
                yield bench(op, [shape], dtype, variants=variants, progress=False), {"op": op}


def of_matmul():
    draw = np.random.default_rng()
    for dtype, shapes in SHAPES.items():
        extra = []
        if least := RANDOM.get(dtype):
            extra = [
                tuple(map(int, np.exp(draw.uniform(math.log(least), math.log(8192), 3)).round())) for _ in range(10)
            ]
        names = [v.name for v in ck.variants("matmul") if dtype in v.types and v.name != "fastest"]  # (that is auto)
        first = "tiled_plain" if dtype == "float32" else "tensor_cores_double" if dtype == "float64" else "tensor_cores"
        names = names[names.index(first) :]
        kinds = {shape: "odd" if any(n % 2 for n in shape) else "even" for shape in shapes}
        kinds |= dict.fromkeys(UNEVEN if extra else (), "uneven") | dict.fromkeys(extra, "random")
        for shape, kind in kinds.items():
            some = names if shape == (4096, 4096, 4096) else FEW.get(dtype, names)
            yield bench("matmul", [shape], dtype, variants=[*some, "auto"], progress=False), {"kind": kind}


def of_auto(shapes, data="normal"):
    """What auto takes for these products, or stacks of them, beside other libraries."""
    for products, *lengths in shapes:
        m, n, k = lengths
        a, b = operands(data, int(np.random.default_rng().integers(2**32)), products * m, products * n, k)
        stacks = (a.reshape(products, m, k), b.reshape(products, k, n))
        arrays = [ck.asarray(x if products > 1 else x[0]) for x in stacks]
        others, ours = library_calls("matmul", arrays)[0], functools.partial(ck.matmul, *arrays)
        samples = timed(others | {"cudakern: auto": ours}, 15)
        at = {who: quantiles(some) for who, some in samples.items()}
        times = {who: some["0.5"] for who, some in at.items()}
        variant = taken_by_auto(operation("matmul"), arrays)
        best = min((times[who] for who in others), default=math.nan)
        for who, ns in times.items():
            row = {"products": products, "m": m, "n": n, "k": k, "who": who, **times_of(at[who]), "ratio": best / ns}
            yield row | {"data": data, "variant": "" if who in others else variant}
        print(
            f"{products} x {m} x {n} x {k}, {data}: {variant} {ns / 1e3:.1f} us, {best / ns:.2f} of the best other",
            flush=True,
        )


def in_tf32(a, b):
    import torch

    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        return torch.from_dlpack(a) @ torch.from_dlpack(b)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = False


def of_int8(a, b):
    import torch

    return torch._int_mm(torch.from_dlpack(a), torch.from_dlpack(b))


#: Variants that only a call by name takes, beside the library's call for the same.
ON_REQUEST = (
    ("float32", "wgmma_tf32", {"torch: a @ b in tf32": in_tf32}),
    ("int8", "wgmma_int8", {"torch: _int_mm(a, b)": of_int8}),
)


def on_request():
    for dtype, variant, peers in ON_REQUEST:
        for n in (1024, 2048, 4096):
            result = bench("matmul", [(n, n, n)], dtype, variants=[variant], peers=peers, progress=False)
            yield from rows_of(result)


#: The limit of sums: eight loads of 16 bytes per thread and round, and nothing else.
READ = """
__global__ void __launch_bounds__(1024) read(const float *x, long long packs, unsigned *never) {
    const uint4 *from = reinterpret_cast<const uint4 *>(x);
    const long long step = (long long)gridDim.x * blockDim.x;
    unsigned bits = 0;
    for (long long p = (long long)blockIdx.x * blockDim.x + threadIdx.x; p < packs; p += 8 * step) {
        uint4 loaded[8];
        #pragma unroll
        for (int j = 0; j < 8; ++j) loaded[j] = p + j * step < packs ? from[p + j * step] : make_uint4(0, 0, 0, 0);
        #pragma unroll
        for (int j = 0; j < 8; ++j) bits ^= loaded[j].x ^ loaded[j].y ^ loaded[j].z ^ loaded[j].w;
    }
    if (bits == 0x12345678) *never = bits;
}
"""


def of_large():
    """Rows of arrays that are large enough for the memory's rate, with what only reads or copies in the same rounds."""
    read, never = ck.compile(READ).read, ck.zeros(1, "uint32")
    blocks = 2 * ck.backend().properties["multiprocessors"]
    block = ck.asarray(np.random.default_rng().random(1 << 26, np.float32))
    for n in LARGE:
        x, y = ck.empty(n, "float32"), ck.empty(n, "float32")
        for start in range(0, n, len(block)):
            x[start : start + len(block)] = block
            y[start : start + len(block)] = block
        beside = {
            "sum_of_squares": {
                "read, 512 threads": lambda x=x: read[2 * blocks, 512](x, len(x) // 4, never),
                "read, 1024 threads": lambda x=x: read[blocks, 1024](x, len(x) // 4, never),
            },
            "inclusive_scan": {"copy": x.copy},
        }
        inputs = {"sum_of_squares": (x,), "inclusive_scan": (x,), "vector_add": (x, y), "saxpy": (2.0, x, y)}
        for op, arrays in inputs.items():
            others = library_calls(op, [ck.asarray(a) for a in arrays])[0]
            ours = {"cudakern: auto": functools.partial(getattr(ck, op), *arrays)}
            times = {who: float(np.median(ns)) for who, ns in timed(others | ours | beside.get(op, {}), 15).items()}
            variant = ck.profile(op, *arrays, repeat=1, warmup=0).variant.name
            best = min(times[who] for who in others) if others else None
            limit = min((times[who] for who in beside.get(op, {})), default=None)
            for who, ns in times.items():
                row = {"op": op, "n": n, "dtype": "float32", "who": who, "variant": variant if who in ours else ""}
                row |= {"kernel_ns": ns, "error": None, "ratio": best and best / ns, "of_limit": limit and limit / ns}
                print(f"{op} {n} {who:28} {ns / 1e3:10.1f} us, {row['of_limit'] or 0:.4f} of the limit", flush=True)
                yield row


def means(rows):
    """Geometric means of the ratios by type, kind of shape and variant; "auto": of what it took; "best": of our fastest
    for each shape, among those that do not cut the inputs."""
    ratios, steps = {}, ck.variants("matmul")
    for row in rows:
        if row["ratio"] and row["variant"]:
            shape = tuple(row[name] for name in "mnk")
            name = "auto" if row["who"] == "cudakern: auto" else row["variant"]
            for group in [name] if steps[row["variant"]].cuts_inputs else ["best", name]:
                some = ratios.setdefault((row["dtype"], row["kind"], group), {})
                some[shape] = max(some.get(shape, 0), row["ratio"])
    return [
        {"dtype": dtype, "kind": kind, "variant": name, "shapes": len(some), "ratio": geometric_mean(some.values())}
        for (dtype, kind, name), some in ratios.items()
    ]


def main():
    path, step = sys.argv[1:]
    rows, limits, operations = [], {}, {}
    for result, more in {"bench": of_bench, "matmul": of_matmul}[step]():
        for row in rows_of(result):
            rows.append(row | more)
            size = "x".join(str(row[name]) for name in "mnk" if name in row)
            ratio = f"{row['ratio']:.2f} of the best other" if row["ratio"] else ""
            line = f"{row['kernel_ns'] / 1e3:12.1f} us {row['rate']:8.1f} {result.unit}  error {row['error']:.1e}"
            print(f"{result.operation} {size} {row['dtype']:8} {row['who']:32} {line}  {ratio}", flush=True)
        limits[f"{result.operation} {result.dtype}"] = result.limits and result.limits._asdict()
        record = {"backend": result.backend.to_dict(), "timing": TIMING, "limits": limits, "rows": rows}
        record["operations"] = list(operations := operations | {result.operation: None})
        if step == "matmul":
            record["means"] = means(rows)
        # After each: where the time is up, what was measured is kept.
        Path(path).write_text(json.dumps(record, default=str))
    if step == "bench":
        record["large"] = list(of_large())
        Path(path).write_text(json.dumps(record, default=str))
    if step == "matmul":
        record["small"] = list(of_auto(SMALL))
        record["six"] = list(of_auto(SIX, WIDE))
        record["on_request"] = list(on_request())
        Path(path).write_text(json.dumps(record, default=str))


if __name__ == "__main__":
    main()
