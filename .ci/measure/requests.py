"""What the variants of every operation ask of the memory system: cudakern.trace on the emulator, on the input that a
ladder has by default without a GPU."""

import numpy as np

import cudakern as ck
from cudakern.arrays.dtypes import numpy_dtype
from cudakern.insight.variants import checkable, trace_variant
from cudakern.operations.registry import names, operation, registry
from measure import OPS, TINY
from records import digest

#: Other types than the usual one, and smaller inputs, for variants in which few threads work for long.
MORE_TYPES = {"matmul": ("float16", "float64", "int8")}
SHAPES = {"sort": (1 << 13,)}


def requests():
    ladders, rows = {}, []
    for op in OPS or names():
        what = operation(op)
        shape = SHAPES.get(op, what.shape_on.get("emulator", what.default_shape))
        shape = min(what.ragged) if TINY else shape
        for dtype in (what.default_dtype, *MORE_TYPES.get(op, ())):
            inputs = what.make(shape, numpy_dtype(dtype), 0)
            variants = [variant for variant in checkable(op) if dtype in variant.types]
            for variant in variants:
                metrics = ck.trace(what.call_of(variant, inputs), sample=0).metrics
                sums = {name: value for name, value in metrics.items() if name.endswith(".sum")}
                rows.append({"operation": op, "dtype": dtype, "variant": variant.name} | sums)
                print(op, dtype, variant.name, flush=True)
            if variants:
                least = ck.profile(what.call, *inputs, variant=variants[0].name, repeat=1, warmup=0).bytes
                shapes = [getattr(x, "shape", ()) for x in inputs if x is not None]
                ladders[f"{op} {dtype}"] = {"shapes": shapes, "bytes": least}
    digests = {op: digest(op, ours=False) for op in OPS or names()}
    return {"digests": digests, "ladders": ladders, "rows": rows, "summary": f"{len(rows)} variants"}


def traced():
    import cache_patterns
    import counter_patterns

    program = ck.compile(counter_patterns.SOURCE, name="patterns")
    x = ck.asarray(np.zeros(counter_patterns.ELEMENTS, "f4"))
    y, names = ck.zeros(counter_patterns.ELEMENTS, "f4"), counter_patterns.METRICS
    of_kernels = {
        one: ck.trace(program[one], *counter_patterns.shape(one), x, y, counter_patterns.ROUNDS)
        for one in counter_patterns.BODIES
    }
    of_variants = {op: {one.name: trace_variant(op, one.name) for one in checkable(op)} for op in registry()}
    return {
        "metrics": names,
        "kernels": {kernel: [one.metrics[name] for name in names] for kernel, one in of_kernels.items()},
        "rows": {
            op: {variant: [one.metrics[name] for name in names] for variant, one in variants.items()}
            for op, variants in of_variants.items()
        },
        "code_metrics": counter_patterns.OF_VARIANTS,
        "code": {
            op: {variant: [one.metrics[name] for name in counter_patterns.OF_VARIANTS] for variant, one in some.items()}
            for op, some in of_variants.items()
        },
        "more_metrics": counter_patterns.MORE_OF_VARIANTS,
        "more": {
            op: {
                variant: [one.metrics[name] for name in counter_patterns.MORE_OF_VARIANTS]
                for variant, one in some.items()
            }
            for op, some in of_variants.items()
        },
        "caches": cache_patterns.model(),
        "summary": f"{len(of_kernels)} kernels, {sum(map(len, of_variants.values()))} variants",
    }
