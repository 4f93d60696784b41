"""Variants beside PyTorch, CuPy and NumPy, by cudakern.bench, which says how it measures (TIMING).

ratio: the time of the fastest other library / ours, so that above 1 we are faster."""

import functools
import math
from statistics import geometric_mean

import numpy as np

import cudakern as ck
import records
from cudakern.measure.bench import taken_by_auto
from cudakern.measure.peers import library_calls
from cudakern.measure.rounds import TIMING, quantiles, timed
from cudakern.operations.registry import operation
from matrices import operands
from measure import OPS, TINY

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
#: m, n and k for each type. Results of the last three are divided evenly by few sizes of tiles ("uneven").
SHAPES = {}
SHAPES["float32"] = SHAPES["float16"] = SHAPES["bfloat16"] = SHAPES["float64"] = [
    *((n, n, n) for n in (512, 1000, 1024, 2048, 4096, 8192, 16384)),
    *((4095, 4097, 4093), (1023, 1025, 999), (4096, 14336, 4096)),
    *((m, 4096, 4096) for m in (16, 32, 64, 128)),
    *((8192, 8192, 512), (512, 512, 65536), (64, 64, 262144)),
    *((1536, 1536, 1536), (2432, 1024, 2496), (3000, 3000, 3000)),
]
#: Types that are also measured with ten shapes of random lengths, at least so long.
RANDOM = {"float32": 512, "float16": 64, "bfloat16": 64, "float64": 64}
#: From which step on all variants are measured for 4,096; and those that are for other shapes, too.
FIRST = {"float32": "tiled_plain", "float64": "tensor_cores_double"}
FEW = {"float32": ("split_fp16", "split_bf16")}
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
WIDE = "lognormal 6"
SIX = [*((1, n, n, n) for n in (4096, 5000, 8192, 16384)), (1, 4096, 14336, 4096), (1, 4096, 4096, 1024)]
#: Types and m, k, n of products of NumPy arrays: squares; a vector by a matrix, few rows, few columns of the sum.
HOST_TYPES = ("float16", "float32", "float64", "int32", "int64")
HOST_SHAPES = [(n, n, n) for n in (16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)]
HOST_SHAPES += [(m, n, n) for m in (1, 16) for n in (256, 1024, 4096)]
HOST_SHAPES += [(n, 16, n) for n in (256, 1024, 4096)] + [(64, n, n) for n in (1024, 4096)]


def run(op, shapes, dtype="float32", **how):
    """cudakern.bench, without the display; small where TINY says so."""
    if TINY:
        shapes = [tuple(min(n, 48) for n in x) if op == "matmul" else min(x, 4096) for x in shapes[:2]]
        how |= {"rounds": 1, "emulated": ck.backend().emulated}
    return ck.bench(op, shapes, dtype, progress=False, **how)


def rows_of(result, **more):
    """The lines of a benchmark that ran, as rows of a record."""
    for line in result.lines:
        size = "x".join(map(str, line.shape))
        if line.kernel_ns is None:
            print(f"{result.operation} {size} {result.dtype}: {line.who}: {line.note}", flush=True)
            continue
        lengths = dict(zip("mnk" if len(line.shape) > 1 else "n", line.shape, strict=True))
        figures = {name: getattr(line, name) for name in ("error", "ratio", "share", "rate")}
        row = {**more, **lengths, "dtype": result.dtype, "who": line.who, "variant": line.variant}
        yield row | times_of(line.quantiles) | figures | {"seed": result.seed}
        ratio = f", {line.ratio:.2f} of the best other" if line.ratio else ""
        print(f"{result.operation} {size} {result.dtype} {line.who}: {line.kernel_ns / 1e3:.1f} us{ratio}", flush=True)


def times_of(at):
    """The median and two quantiles, as a record has them."""
    return {"kernel_ns": at["0.5"], "q10": at["0.1"], "q90": at["0.9"]}


def record_of(rows, limits, ops):
    digests = {op: records.digest(op, ours=False) for op in ops}
    return {"timing": TIMING, "limits": limits, "rows": rows, "digests": digests}


def bench():
    rows, limits = [], {}
    for op, cases in CASES.items():
        for lengths, dtype, names in cases if not OPS or op in OPS else ():
            shapes = [(n, n, n) for n in lengths] if op == "matmul" else lengths
            result = run(op, shapes, dtype, variants=None if names is None else [*names, "auto"])
            rows += rows_of(result, op=op)
            limits[f"{op} {dtype}"] = result.limits and result.limits._asdict()
    large = [row for n in LARGE for row in of_large(min(n, 4096) if TINY else n)]
    return record_of(rows, limits, dict.fromkeys(row["op"] for row in rows)) | {"large": large}


def matmul():
    rows, limits, draw = [], {}, np.random.default_rng()
    for dtype, shapes in SHAPES.items():
        names = [v.name for v in ck.variants("matmul") if dtype in v.types and v.name != "fastest"]  # (that is auto)
        names = names[names.index(FIRST.get(dtype, "tensor_cores")) :]
        kinds = {shape: "odd" if any(n % 2 for n in shape) else "even" for shape in shapes}
        if least := RANDOM.get(dtype):
            kinds |= dict.fromkeys(shapes[-3:], "uneven")
            for _ in range(10):
                lengths = np.exp(draw.uniform(math.log(least), math.log(8192), 3)).round()
                kinds[tuple(map(int, lengths))] = "random"
        for shape, kind in list(kinds.items())[:: 8 if TINY else 1]:
            some = names if shape == (4096, 4096, 4096) else FEW.get(dtype, ())
            result = run("matmul", [shape], dtype, variants=[*some, "auto"])
            rows += rows_of(result, kind=kind)
        limits[f"matmul {dtype}"] = result.limits and result.limits._asdict()
    small, six = of_auto(SMALL[:2] if TINY else SMALL), of_auto(SIX[:1] if TINY else SIX, WIDE)
    more = {"means": means(rows), "small": list(small), "six": list(six), "on_request": list(on_request())}
    summary = ", ".join(f"{x['dtype']} {x['kind']} {x['ratio']:.3f}" for x in more["means"])
    return record_of(rows, limits, ["matmul"]) | more | {"summary": f"{len(rows)} rows, auto: {summary}"}


def means(rows):
    """Geometric means of the ratios of auto, by type and kind of shape."""
    ratios = {}
    for row in rows:
        if row["ratio"] and row["who"] == "cudakern: auto":
            ratios.setdefault((row["dtype"], row["kind"]), []).append(row["ratio"])
    return [
        {"dtype": dtype, "kind": kind, "variant": "auto", "shapes": len(some), "ratio": geometric_mean(some)}
        for (dtype, kind), some in ratios.items()
    ]


def times(calls):
    """The quantiles of calls on the device."""
    return {who: quantiles(some) for who, some in timed(calls, 1 if TINY else 15).items()}


def others_of(op, arrays):
    return {} if ck.backend().emulated else library_calls(op, arrays)[0]


def of_auto(shapes, data="normal"):
    """What auto takes for these products, or stacks of them, beside other libraries."""
    for products, m, n, k in shapes:
        m, n, k = (min(x, 48) for x in (m, n, k)) if TINY else (m, n, k)
        a, b = operands(data, int(np.random.default_rng().integers(2**32)), products * m, products * n, k)
        stacks = (a.reshape(products, m, k), b.reshape(products, k, n))
        arrays = [ck.asarray(x if products > 1 else x[0]) for x in stacks]
        others = others_of("matmul", arrays)
        variant = taken_by_auto(operation("matmul"), arrays)
        at = times(others | {"cudakern: auto": functools.partial(ck.matmul, *arrays)})
        best = min((at[who]["0.5"] for who in others), default=math.nan)
        for who, some in at.items():
            row = {"products": products, "m": m, "n": n, "k": k, "who": who, **times_of(some)}
            yield row | {"ratio": best / some["0.5"], "data": data, "variant": "" if who in others else variant}
        print(f"{products} x {m} x {n} x {k}, {data}: {variant}, {row['kernel_ns'] / 1e3:.1f} us", flush=True)


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


def on_request():
    """Variants that only a call by name takes, beside the library's call for the same."""
    asked = [
        ("float32", "wgmma_tf32", "torch: a @ b in tf32", in_tf32),
        ("int8", "wgmma_int8", "torch: _int_mm(a, b)", of_int8),
    ]
    for dtype, variant, who, call in asked:
        shapes = [(n, n, n) for n in (1024, 2048, 4096, 8192)]
        yield from rows_of(run("matmul", shapes, dtype, variants=[variant], peers={who: call}))


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


def of_large(n):
    """Arrays that are large enough for the memory's rate, with what only reads or copies in the same rounds. (Their
    results are not checked.)"""
    read, never = ck.compile(READ).read, ck.zeros(1, "uint32")
    blocks = 2 * ck.backend().properties["multiprocessors"]
    x, y = ck.empty(n, "float32"), ck.empty(n, "float32")
    block = ck.asarray(np.random.default_rng().random(min(n, 1 << 26), np.float32))
    for start in range(0, n, len(block)):
        x[start : start + len(block)] = y[start : start + len(block)] = block
    reads = {
        "read, 512 threads": lambda: read[2 * blocks, 512](x, n // 4, never),
        "read, 1024 threads": lambda: read[blocks, 1024](x, n // 4, never),
    }
    beside = {"sum_of_squares": reads, "inclusive_scan": {"copy": x.copy}, "vector_add": {}, "saxpy": {}}
    inputs = {"vector_add": (x, y), "saxpy": (2.0, x, y)}
    for op, limits in beside.items():
        arrays = inputs.get(op, (x,))
        others = others_of(op, [ck.asarray(a) for a in arrays])
        at = times(others | {"cudakern: auto": functools.partial(getattr(ck, op), *arrays)} | limits)
        best, limit = (min((at[who]["0.5"] for who in some), default=None) for some in (others, limits))
        variant = ck.profile(op, *arrays, repeat=1, warmup=0).variant.name
        for who, some in at.items():
            ns = some["0.5"]
            row = {"op": op, "n": n, "dtype": "float32", "who": who, "variant": variant * (who == "cudakern: auto")}
            yield row | times_of(some) | {"ratio": best and best / ns, "of_limit": limit and limit / ns}
            print(f"{op} {n} {who}: {ns / 1e3:.1f} us", flush=True)


def crossover():
    """From this record comes the size below which auto leaves products of NumPy arrays to NumPy."""
    rows = []
    for dtype in HOST_TYPES:
        for m, k, n in HOST_SHAPES[:3] if TINY else HOST_SHAPES:
            # NumPy has no library for these types: it takes some nanoseconds for each product of two numbers.
            if dtype in ("float16", "int32", "int64") and m * k * n > 1e8:
                continue
            how = {"variants": ["fastest"], "peers": {"numpy": np.matmul}, "host": True, "rounds": 9}
            at = {line.who: line.kernel_ns / 1e3 for line in run("matmul", [(m, n, k)], dtype, **how).lines}
            rows.append(
                {"dtype": dtype, "m": m, "k": k, "n": n, "numpy_us": at["numpy"], "kernel_us": at["cudakern: fastest"]}
            )
            print(*rows[-1].values(), flush=True)
    return {
        "timing": "`cudakern.bench` with `host=True`: medians of 9 rounds.",
        "rows": rows,
        "summary": f"{len(rows)} rows",
    }
