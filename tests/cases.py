"""Cases from the variant table, references in more precision than what is tested, and how far a result may be off."""

import contextlib
import dataclasses
import importlib
import importlib.util
import io
import json
import math
import random

import numpy as np

import cuda_api
import cudakern
from cudakern._backend import Backend
from cudakern._cli import main
from cudakern.arrays.dtypes import numpy_dtype
from cudakern.lab import _experiment
from cudakern.lab._experiment import measure
from cudakern.operations.registry import registry

ORDERS = ("fixed", "reversed", "seed:1", "seed:2", "seed:3")


def native(name):
    """The C module of a backend."""
    return importlib.import_module(f"cudakern._{name}")


@contextlib.contextmanager
def emulated_chip(name):
    """The emulator as another chip."""
    cudakern.emulator.configure(chip=name)
    try:
        yield
    finally:
        cudakern.emulator.configure(chip="H200")


def _usable(name):
    try:
        return native(name).why_not() == ""
    except ImportError:
        return False


BACKENDS = tuple(name for name in ("emulator", "cuda") if _usable(name))
SIDES = tuple(name for name in BACKENDS if name == "emulator" or cuda_api.can_build_for_gpu())


def variants(operation, host=True):
    """(backend, variant) for every variant on every backend that it lists; NumPy's variant once."""
    for variant in cudakern.variants(operation):
        if variant.on_host:
            if host:
                yield BACKENDS[0], variant
            continue
        for name in BACKENDS:
            if name in variant.backends and not variant.why_not(_device(name)):
                yield name, variant


def _device(name):
    with cudakern.use_backend(name):
        return cudakern.backend()


MAIN_TYPES = ("int32", "int64", "float32", "float64")  # some variants have more
HAS_BFLOAT16 = importlib.util.find_spec("ml_dtypes") is not None  # NumPy itself has no such type


def small_shape(operation):
    """A ragged shape, some hundred numbers long or more."""
    return next(shape for shape in registry()[operation].ragged if math.prod(shape) > 100)


def largest_shape(operation):
    """The largest of the shapes that `verify` tries."""
    return max(registry()[operation].ragged, key=math.prod)


def main_type(variant):
    """float32 where the variant takes it."""
    return "float32" if "float32" in variant.types else variant.types[0]


def other_type(variant):
    """A type of floats that is not main_type's."""
    return "float32" if main_type(variant) == "float64" else "float64"


def result_type(variant):
    """The type of the result for inputs of main_type's."""
    return variant.signature(main_type(variant))[2]


def needs_no_out(variant):
    """False for a variant that is refused without an out= of its result's type."""
    return variant.on_host or not variant.out_type(main_type(variant))


def inputs_for(operation, dtype, shape, seed=0):
    return registry()[operation].make(shape, numpy_dtype(dtype), seed)


def outputs_for(variant, inputs):
    """Arrays for a variant's results for these inputs, as the C module takes them; for a type that the variant does
    not list, of that type."""
    dtype = inputs[0].dtype.name
    output = variant.signature(dtype)[2] if dtype in variant.types else dtype
    # (Of a type that the variant lists: a reference need not know others.)
    known = inputs if dtype in variant.types else [np.ones(x.shape, main_type(variant)) for x in inputs]
    results = registry()[variant.operation].reference(*known)
    return tuple(
        np.zeros(np.shape(x), numpy_dtype(output)) for x in (results if isinstance(results, tuple) else (results,))
    )


def variant_types(operation, host=True, types=MAIN_TYPES):
    """(backend, variant, dtype) for every variant, backend and type (types=None: all that NumPy arrays can have)."""
    return [
        (name, variant, dtype)
        for name, variant in variants(operation, host)
        for dtype in variant.types
        if (dtype in types if types is not None else dtype != "bfloat16" or HAS_BFLOAT16)
    ]


def label(value):
    """A variant's name, or whatever pytest would show: for ids."""
    if isinstance(value, tuple):
        return "x".join(map(str, value)) or "none"
    if isinstance(value, dict):
        return ",".join(f"{k}={v}" for k, v in value.items()) or "default"
    return getattr(value, "name", None) or str(value)


def settings(variant, seed=0):
    """Parameters to try: every choice and both ends of each range, one parameter at a time, then random ones."""
    draw = random.Random(f"{variant.name}{seed}")
    found = [{}]
    values = {p.name: list(p.choices) or _range(p, draw) for p in variant.parameters}
    for name, several in values.items():
        found += [{name: value} for value in several]
    if len(values) > 1:
        found += [{name: draw.choice(several) for name, several in values.items()} for _ in range(4)]
    return found


def as_called(variant, values):
    """Parameters as a caller gives them: words, where the choices have words."""
    words = {p.name: p.words for p in variant.parameters}
    return {name: words[name][value] if words[name] else value for name, value in values.items()}


def _range(parameter, draw):
    """Both ends of a range (of a long one only its beginning: each block costs the emulator time), and some between."""
    step = max(parameter.step, 1)
    last = parameter.high if parameter.high <= 1024 else parameter.low + 200
    count = (last - parameter.low) // step + 1
    picked = {0, count - 1, min(1, count - 1), *(draw.randrange(count) for _ in range(4))}
    return [parameter.low + step * i for i in sorted(picked)]


def numbers(shape, dtype, seed=0, signed=True):
    """Random numbers: floats in [-1, 1) or [0, 1), integers over their whole range, so that sums wrap."""
    draw = np.random.default_rng(seed)
    kind = numpy_dtype(dtype)
    if kind.kind == "b":
        return draw.random(shape) < 0.5
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        return draw.integers(limits.min, limits.max, shape, dtype=kind, endpoint=True)
    low, width = (-1, 2) if signed else (0, 1)
    real = draw.random(shape) * width + low
    return (real + 1j * (draw.random(shape) * width + low) if kind.kind == "c" else real).astype(kind)


def sum_reference(x):
    """(sum of squares, sum of magnitudes): modulo 2**64 for integers, in extended precision for floats."""
    x = np.asarray(x)
    if x.dtype.kind in "biu":
        wide = x.astype(np.uint64)  # modulo 2**64, negative numbers too
        with np.errstate(over="ignore"):
            return int(np.sum(wide * wide, dtype=np.uint64)), 0.0
    wide = x.astype(np.longdouble)
    total = np.sum(wide * wide, dtype=np.longdouble)
    return total, total


def product_reference(a, b, dtype=None):
    """(product, product of the magnitudes): as NumPy has it for integers and bool, which are exact, in that type; in
    double for float32 and narrower; in extended precision for float64. Complex likewise."""
    if a.dtype.kind in "biu":
        exact = np.matmul(a, b, dtype=dtype)
        return exact, np.zeros(np.shape(exact))
    wide = np.float64 if a.dtype.itemsize < (16 if a.dtype.kind == "c" else 8) else np.longdouble
    if a.dtype.kind == "c":
        wide = np.result_type(wide, np.complex64)
    first, second = a.astype(wide), b.astype(wide)
    return first @ second, np.abs(first) @ np.abs(second)


def relative_error(result, reference, magnitude):
    """The error relative to the sum of magnitudes, element by element; 0 where that sum is 0 and nothing is off."""
    result = np.asarray(result)
    wide = np.clongdouble if "c" in (result.dtype.kind, np.asarray(reference).dtype.kind) else np.longdouble
    error = np.abs(result.astype(wide) - reference)
    scale = np.where(np.asarray(magnitude) > 0, magnitude, 1)
    return np.asarray(error / scale, np.float64)


def smallest(dtype):
    """The smallest denormal: results near it have no relative precision left."""
    name = numpy_dtype(dtype).name
    return 2.0**-133 if name == "bfloat16" else float(np.finfo(name).smallest_subnormal)


def snapshot(*arrays):
    """The bytes of arrays, and of all that they are views of."""
    return [(x if x.base is None or not isinstance(x.base, np.ndarray) else x.base).tobytes() for x in arrays]


# --- one array in another type, lying as before ---------------------------------------------------------------------
def in_strides_of(x, values):
    """New memory in which `values` lie as the elements of x do: x's strides, counted in elements of their type."""
    steps = [stride // x.itemsize * values.itemsize for stride in x.strides] if x.size else [0] * x.ndim
    reach = [(n - 1) * step for n, step in zip(x.shape, steps, strict=True)] if x.size else [0]
    low, high = (sum(pick(r, 0) for r in reach) // values.itemsize for pick in (min, max))
    view = np.lib.stride_tricks.as_strided(np.zeros(high - low + 1, values.dtype)[-low:], x.shape, steps)
    view[...] = values
    return view


def in_type(x, dtype):
    """x in another type, with x's strides, counted in elements."""
    return in_strides_of(x, x.astype(numpy_dtype(dtype)))


# --- one array, told in many ways of memory -------------------------------------------------------------------------
def _misaligned(x):
    raw = np.zeros(x.nbytes + 1, np.uint8)
    view = raw[1:].view(x.dtype).reshape(x.shape)
    view[...] = x
    return view


def _read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


LAYOUTS = {
    "plain": lambda x: x,
    "fortran": np.asfortranarray,
    "transposed": lambda x: x.T,
    "backwards": lambda x: x[::-1],
    "every_third": lambda x: x[::3],
    "columns_backwards": lambda x: x[..., ::-2],
    "inner_part": lambda x: x[1:-1, 1:-1] if x.ndim == 2 else x[1:-1],
    "broadcast": lambda x: np.broadcast_to(x[:1], x.shape),
    "broadcast_columns": lambda x: np.broadcast_to(x[..., :1], x.shape),
    "misaligned": _misaligned,
    "swapped": lambda x: x.astype(x.dtype.newbyteorder("S")),
    "swapped_backwards": lambda x: x.astype(x.dtype.newbyteorder("S"))[::-1],
    "read_only": _read_only,
}


class _Chip(Backend):
    """The backend that answers, as one whose times count."""

    emulated = False


def times_count(module, monkeypatch):
    """An experiment's module takes the times of any backend for a GPU's."""

    def measured(*arguments):
        profile, result = measure(*arguments)
        return dataclasses.replace(profile, clock="host" if profile.variant.on_host else "gpu"), result

    here = cudakern.backend()
    chip = _Chip(here.name, here.device, here.why, here.native)
    for each in (module, _experiment):
        monkeypatch.setattr(each, "backend", lambda: chip, raising=False)
    monkeypatch.setattr(module, "measure", measured, raising=False)  # (not each takes its times that way)


def cli(*arguments, status=0):
    """Runs the command line in this process; returns what it printed, or its error messages if it should fail."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            result = main([*map(str, arguments)])
        except SystemExit as end:  # as the parser of options ends: --help, or an error
            result = end.code or 0
    assert result == status, f"exit {result}\n{output.getvalue()}\n{errors.getvalue()}"
    return (errors if status else output).getvalue()


def json_of(value):
    """Through JSON and back: what to_dict gives must be plain."""
    return json.loads(json.dumps(value))


def emulated_note(text):
    return "emulated" in text.lower()
