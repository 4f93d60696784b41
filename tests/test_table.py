"""The variant table: variants are consistent, and none lies about its kernels, parameters, types or traits."""

import inspect
import pathlib
import re

import numpy as np
import pytest

import cudakern
from cases import (
    BACKENDS,
    as_called,
    inputs_for,
    label,
    largest_shape,
    main_type,
    native,
    outputs_for,
    settings,
    small_shape,
    variants,
)
from cuda_api import ROOT
from cudakern.arrays.dtypes import NAMES
from cudakern.calls import numpy_variants
from cudakern.operations.registry import registry

OPERATIONS = tuple(registry())
VARIANTS = [(operation, variant) for operation in OPERATIONS for variant in cudakern.variants(operation)]
KERNEL_VARIANTS = [(operation, variant) for operation, variant in VARIANTS if not variant.on_host]
RUNS = [(operation, name, variant) for operation in OPERATIONS for name, variant in variants(operation, host=False)]

every = pytest.mark.parametrize("operation, variant", VARIANTS, ids=label)
every_kernel = pytest.mark.parametrize("operation, variant", KERNEL_VARIANTS, ids=label)
every_run = pytest.mark.parametrize("operation, name, variant", RUNS, ids=label)


def arrays(variant, dtype, shape=None):
    """Inputs and outputs for a direct call of the C module."""
    inputs = inputs_for(variant.operation, dtype, shape or small_shape(variant.operation))
    return inputs, outputs_for(variant, inputs)


def shapes_for(operation, n):
    """The inputs' shapes for n=, without the arrays: lengths of a small call that follow n are replaced."""
    small = inputs_for(operation, "float32", registry()[operation].square(7))
    return tuple(tuple(n if length == 7 else length for length in x.shape) for x in small)


def execute(operation, name, variant, dtype, values=None, measure=False):
    inputs, outputs = arrays(variant, dtype)
    values = variant.values({}) if values is None else values
    return native(name).execute(operation, variant.name, values, inputs, outputs, 0, measure, 0)


def test_every_operation_is_in_the_table():
    folders = {path.parent.name for path in (ROOT / "csrc" / "kernels").glob("*/*.cu")}
    assert folders == {operation["name"] for operation in native("emulator").operations()}
    assert {"sum_of_squares", "matmul"} <= set(OPERATIONS) <= folders


def test_both_modules_have_the_same_table():
    tables = [native(name).operations() for name in BACKENDS]
    assert all(table == tables[0] for table in tables)


@pytest.mark.parametrize(
    "operation, names",
    [
        (
            "sum_of_squares",
            [
                "single_thread",
                "chunked",
                "chunked_global",
                "coalesced",
                "multi_block",
                "shared_serial",
                "tree_interleaved",
                "tree_sequential",
                "tree_unrolled",
                "warp_shuffle",
                "vectorized",
                "atomic",
                "cooperative",
                "numpy",
            ],
        ),
        (
            "matmul",
            ["naive", "kahan", "shared_row", "pitched", "tiled", "tiled_padded", "naive_2d", "tiled_plain", "numpy"],
        ),
    ],
)
def test_the_ladders_of_the_documents(operation, names):
    table = [variant.name for variant in cudakern.variants(operation)]
    assert set(names) <= set(table)
    steps = [
        name
        for name in table
        if name in names
        and name
        not in (
            "chunked_global",
            "naive_2d",
            "tiled_plain",
            "atomic",
            "cooperative",
            "numpy",
            "vectorized",
            "warp_shuffle",
        )
    ]
    assert steps == [name for name in names if name in steps]  # the order of the documents


@pytest.mark.parametrize("operation", OPERATIONS)
def test_numpys_variant_comes_first(operation):
    first, *kernels = cudakern.variants(operation)
    assert (first.name, first.backends, first.kernels, first.parameters) == ("numpy", ("host",), (), ())
    assert first.deterministic
    assert first.summary
    assert first.lesson
    assert all(accumulator == result for _, accumulator, result in first.signatures)
    assert {dtype for variant in kernels for dtype in variant.types} - {"bfloat16"} <= set(first.types)


def test_words_of_numpys_variants_are_of_operations():
    assert set(numpy_variants.WORDS) <= set(OPERATIONS)


def test_traits_of_the_documents_steps():
    """The documents' sums read the clock; their products compensate from the second step on, the slides' do not."""
    sums = {variant.name for variant in cudakern.variants("sum_of_squares") if variant.reads_clock}
    assert sums >= {
        *("single_thread", "chunked", "chunked_global", "coalesced", "multi_block", "shared_serial"),
        *("tree_interleaved", "tree_sequential", "tree_unrolled"),
    }
    assert not sums & {"warp_shuffle", "vectorized", "cooperative", "atomic"}
    products = {variant.name for variant in cudakern.variants("matmul") if variant.compensated}
    assert products >= {"kahan", "shared_row", "pitched", "tiled", "tiled_padded"}
    assert not products & {"naive", "tiled_plain"}
    assert not cudakern.variants("sum_of_squares")["atomic"].deterministic_for("float32")
    assert cudakern.variants("sum_of_squares")["atomic"].deterministic_for("int32")


def test_only_int8_sums_need_an_out():
    """No call without out= gives another type than the operation's first kernel does."""
    needs = [(op, v.name, kind, v.out_type(kind)) for op, v in VARIANTS for kind in v.types if v.out_type(kind)]
    assert needs == [("matmul", "wgmma_int8", "int8", "int32")]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_steps_form_a_ladder(operation):
    """Each variant comes after one that stands above it, and names are used once."""
    seen = []
    for variant in cudakern.variants(operation):
        assert variant.after is None or variant.after in seen, variant.name
        assert variant.name not in seen
        assert re.fullmatch(r"[a-z][a-z0-9_]*", variant.name)
        seen.append(variant.name)


@every
def test_variants_say_what_they_are(operation, variant):
    assert variant.summary
    assert variant.lesson
    assert variant.origin, "the last column names the source of the idea: a document, a paper, or the project"
    assert "\n" not in variant.summary
    assert len(variant.summary) <= 100
    assert variant.types == tuple(dict.fromkeys(variant.types))
    assert variant.backends
    assert set(variant.backends) <= {"cuda", "emulator", "host"}
    assert variant.sum_order in ("sequential", "tree", "compensated", "none")
    assert variant.compensated == (variant.sum_order == "compensated")
    assert variant.finish in ("host", "kernel")


@every_kernel
def test_types_of_the_documents_input(operation, variant):
    """Those steps that come from the source documents take the documents' types, and what `verify` and ladders take
    unasked; others may be for one type only, as tensor cores are."""
    documents = {"sum_of_squares": {"int32", "int64", "float32", "float64"}, "matmul": {"float32", "float64"}}
    if re.match(r"[A-Z]\d", variant.origin):
        assert {registry()[operation].default_dtype} | documents.get(operation, set()) <= set(variant.types)


@every_kernel
def test_a_variants_file_is_a_page(operation, variant):
    """At most 250 lines, which source() shows first; its head names the kernel's file if that is another one."""
    text = cudakern.source(operation, variant.name)
    assert str(text.path).endswith(variant.source)
    own = text.path.read_text()
    assert text.startswith(own)
    assert len(own.splitlines()) <= 250
    has_kernel = re.search(rf"__global__[^;{{]*\b{variant.kernels[0]}\(", own)
    assert has_kernel or "kernel" in own.split("#ifndef")[0]


@every_kernel
def test_variants_that_read_the_clock_do(operation, variant):
    """The trait, the source and the figures say the same."""
    text = re.sub(r"//.*", "", cudakern.source(operation, variant.name))
    assert variant.reads_clock == ("clock" in text.lower())


@every_run
def test_clocks_are_there_for_the_variants_that_read_them(operation, name, variant):
    report = execute(operation, name, variant, main_type(variant), measure=True)
    assert bool(report["clocks"]) == variant.reads_clock
    for cycle_start, cycle_end, ns_start, ns_end in report["clocks"]:
        assert cycle_start <= cycle_end
        assert ns_start <= ns_end
    if variant.reads_clock:
        assert len(report["clocks"]) == int(np.prod(report["grid"]))


@every_run
def test_finish_tells_who_adds_the_partial_sums(operation, name, variant):
    report = execute(operation, name, variant, main_type(variant), measure=True)
    assert (report["partials"] > 0) == (variant.finish == "host")


@every_run
def test_cooperative_variants_fit_the_device(operation, name, variant):
    text = re.sub(r"//.*", "", cudakern.source(operation, variant.name))
    assert variant.cooperative == bool(re.search(r"\bthis_grid\b|\bgrid_group\b", text))
    if variant.cooperative:
        execute(operation, name, variant, main_type(variant))
        assert native(name).device_properties(0)["cooperative"]


SOURCES = (ROOT / "csrc" / "kernels").resolve()
#: What asks CUDA for more, by its nature: the launch, which resolves a kernel's handle and finds symbols, and the list
#: of single kernels, which does the same.
NOT_A_RUN = ("launch.cuh", "set.cuh")
OF_ALL = "what several operations include"


def with_included(path, found):
    """That file and what it includes of our kernels' folder, each once."""
    if path in found or SOURCES not in path.parents or path.name in NOT_A_RUN:
        return found
    found.append(path)
    for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.M):
        places = [(folder / name).resolve() for folder in (path.parent, SOURCES)]
        with_included(next((place for place in places if place.is_file()), pathlib.Path(name)), found)
    return found


def calls_of_cuda(text):
    """Functions of CUDA's runtime that are called, also with template arguments: its types are followed by no "("."""
    return set(re.findall(r"\bcuda[A-Z]\w*(?=\s*(?:<[^;{}()]*>\s*)?\()", re.sub(r"//.*", "", text)))


@pytest.mark.parametrize("operation", [*OPERATIONS, OF_ALL])
def test_runs_only_launch(operation):
    """No copy, no clearing, no allocation, no waiting: the one question to CUDA is how many blocks fit."""
    folder = SOURCES if operation == OF_ALL else SOURCES / operation
    roots = [path for path in sorted(folder.iterdir()) if path.suffix in (".cu", ".cuh", ".h")]
    assert any(path.suffix == ".cu" for path in roots)
    files = []
    for path in roots:
        with_included(path, files)
    if operation != OF_ALL:
        assert {"table.h", "variant.h"} <= {path.name for path in files}  # else includes are not followed
    calls = {(path.name, call) for path in files for call in calls_of_cuda(path.read_text())}
    assert {call for _, call in calls} <= {"cudaOccupancyMaxActiveBlocksPerMultiprocessor"}, calls


def test_calls_of_cuda_are_found():
    text = "cudaMalloc<float>(&x, 4); cudaError_t code = cudaFree (x); // cudaMemcpy(x)\ncudaStream_t stream;"
    assert calls_of_cuda(text) == {"cudaMalloc", "cudaFree"}


def given(values, dtype):
    """A host array as the C module takes it; bfloat16 as the upper halves of float32, which NumPy has everywhere."""
    if dtype == "bfloat16":
        return np.asarray(np.asarray(values, "float32").view(np.uint32) >> 16, np.uint16), dtype
    return np.asarray(values, dtype)


def got(array):
    """What a C module wrote, as an ordinary array."""
    if isinstance(array, tuple):
        return (array[0].astype(np.uint32) << 16).view(np.float32)
    return array


@every_run
def test_types_that_are_not_listed_are_refused_by_the_c_module(operation, name, variant):
    shapes = [x.shape for x in inputs_for(operation, main_type(variant), small_shape(operation))]
    (result,) = outputs_for(variant, inputs_for(operation, main_type(variant), small_shape(operation)))
    for dtype in set(NAMES) - set(variant.types):
        inputs = tuple(given(np.zeros(shape), dtype) for shape in shapes)
        with pytest.raises(TypeError, match=f"does not support {dtype}"):
            native(name).execute(
                operation,
                variant.name,
                variant.values({}),
                inputs,
                (given(np.zeros(result.shape), dtype),),
                0,
                False,
                0,
            )


EVERY_TYPE = [(operation, name, variant, dtype) for operation, name, variant in RUNS for dtype in variant.types]


@pytest.mark.parametrize("operation, name, variant, dtype", EVERY_TYPE, ids=label)
def test_a_listed_type_is_computed_with_its_accumulator(operation, name, variant, dtype):
    """Small whole numbers: every partial sum is exact in the accumulator, and not in a narrower one."""
    output = variant.signature(dtype)[2]
    for shape in registry()[operation].ragged:
        inputs = [np.asarray(x) for x in inputs_for(operation, "int64", shape)]
        if dtype == "bool":
            inputs = [x > 7 for x in inputs]
        expected = np.asarray(registry()[operation].reference(*inputs))
        arrays = tuple(given(x, dtype) for x in inputs)
        result = given(np.zeros(expected.shape), output)
        native(name).execute(operation, variant.name, variant.values({}), arrays, (result,), 0, False, 0)
        with np.errstate(over="ignore"):
            wanted = got(given(rounded(expected, output), output))
        assert np.array_equal(got(result), wanted), shape


def rounded(x, dtype):
    """To bfloat16's digits, to nearest even, so that cutting float32 gives it; nothing for other types."""
    if dtype != "bfloat16":
        return x
    bits = np.asarray(x, np.float32).view(np.uint32)
    return (bits + 0x7FFF + (bits >> 16 & 1)).view(np.float32)


def test_arrays_on_the_device_have_a_kernel_of_every_type():
    products, sums = cudakern.variants("matmul"), cudakern.variants("sum_of_squares")
    real = {name for name in NAMES if not name.startswith("complex")}
    for name in ("naive", "tiled"):
        assert set(products[name].types) == set(NAMES)
        assert all(given == result for given, _, result in products[name].signatures)
    for name in ("coalesced", "vectorized"):
        assert set(sums[name].types) == real
    results = {given: result for given, _, result in sums["vectorized"].signatures}
    kinds = {kind: {results[t] for t in real if t.startswith(kind)} for kind in ("bool", "int", "uint")}
    assert kinds == {"bool": {"int64"}, "int": {"int64"}, "uint": {"uint64"}}
    assert [results[t] for t in ("float16", "bfloat16", "float32", "float64")] == ["float32"] * 3 + ["float64"]


def test_narrow_floats_are_summed_in_float32_or_more():
    for operation in ("matmul", "sum_of_squares"):
        for variant in cudakern.variants(operation):
            for dtype, accumulator, _ in variant.signatures:
                if dtype in ("float16", "bfloat16") and not variant.on_host:
                    assert accumulator == ("float64" if variant.name == "one_launch" else "float32")


@every_run
def test_outputs_of_another_type_or_shape_are_refused_by_the_c_module(operation, name, variant):
    inputs, (first, *others) = arrays(variant, main_type(variant))
    for wrong in (np.zeros(first.shape, "int8"), np.zeros((*first.shape, 3), first.dtype)):
        with pytest.raises((TypeError, ValueError)):
            native(name).execute(operation, variant.name, variant.values({}), inputs, (wrong, *others), 0, False, 0)
    frozen = first.copy()
    frozen.flags.writeable = False
    with pytest.raises((TypeError, ValueError, BufferError)):
        native(name).execute(operation, variant.name, variant.values({}), inputs, (frozen, *others), 0, False, 0)


@every_run
def test_parameters_are_checked_by_the_c_module(operation, name, variant):
    defaults = variant.values({})
    for at, parameter in enumerate(variant.parameters):
        if parameter.choices:
            wrong = {min(parameter.choices) - 1, max(parameter.choices) + 1}
        else:
            wrong = {parameter.low - 1, parameter.high + parameter.step}
            if parameter.step > 1:
                wrong.add(parameter.low + 1)
        for value in wrong | {-1, 2**40}:
            with pytest.raises(ValueError, match=parameter.name) as caught:
                execute(operation, name, variant, main_type(variant), (*defaults[:at], value, *defaults[at + 1 :]))
            assert str(value) in str(caught.value)
    with pytest.raises((ValueError, TypeError)):
        execute(operation, name, variant, main_type(variant), (*defaults, 1))


@every_run
def test_unknown_names_are_refused_by_the_c_module(operation, name, variant):
    inputs, outputs = arrays(variant, main_type(variant))
    for given in ((operation + "l", variant.name), (operation, variant.name + "l")):
        with pytest.raises(ValueError, match=f"{operation}l|{variant.name}l"):
            native(name).execute(*given, variant.values({}), inputs, outputs, 0, False, 0)


@every_run
def test_a_parameter_changes_what_runs(operation, name, variant):
    """A parameter that nothing reads would be a lie: grid, block, shared memory or the kernels must follow it.

    Those that change the result are seen there."""
    for parameter in variant.parameters:
        if parameter.name in registry()[operation].own:
            continue
        seen = set()
        for given in settings(variant):
            if set(given) <= {parameter.name} and not (variant.cooperative and given.get("blocks", 1) > 8):
                inputs, outputs = arrays(variant, main_type(variant), largest_shape(operation))
                values = variant.values(as_called(variant, given))
                kernels = native(name).kernels(operation, variant.name, values, inputs, outputs, 0, ())
                seen.add(tuple(tuple(x[key] for key in ("symbol", "grid", "block", "dynamic_shared")) for x in kernels))
                if len(seen) > 1:
                    break
        assert len(seen) > 1, parameter.name


@every_kernel
def test_error_bounds_follow_the_order_of_summation(operation, variant):
    """Sequential sums grow with the length, trees with its logarithm and the share of a thread; compensated stay."""
    if variant.sum_order == "none":
        return

    def depth(n):
        shapes = shapes_for(operation, n)
        names = (main_type(variant),) * len(shapes)
        return native("emulator").error_depth(operation, variant.name, variant.values({}), names, shapes)

    few, many = depth(1000), depth(1_000_000)
    if variant.compensated:
        assert few == many == 2
    else:
        assert np.log2(1000) * 0.5 <= few <= 1010
        assert few < many <= 1_000_010
    if variant.sum_order == "tree":
        assert many < 1_000_000 / 8
    if "int32" in variant.types:
        assert variant.error_bound(*shapes_for(operation, 1000), dtype="int32") == 0


@pytest.mark.parametrize("operation", OPERATIONS)
def test_least_traffic_is_each_operand_once(operation):
    """The FLOPs are checked in the operation's own tests."""
    variant = next(variant for _, variant in variants(operation, host=False))
    inputs, outputs = arrays(variant, main_type(variant))
    flops, least = native("emulator").work(operation, tuple(x.shape for x in (*inputs, *outputs)), main_type(variant))
    assert flops >= 0
    assert least == sum(x.nbytes for x in (*inputs, *outputs))


@pytest.mark.parametrize("operation", [name for name in registry() if name in cudakern.__all__])
def test_docstrings_name_every_parameter_of_every_variant(operation):
    call = registry()[operation].call
    said = call.__doc__
    names = {parameter.name for variant in cudakern.variants(operation) for parameter in variant.parameters}
    assert [name for name in names - {*inspect.signature(call).parameters} if f"``{name}=" not in said] == []


@pytest.mark.parametrize("operation", OPERATIONS)
def test_public_functions_repeat_no_parameter(operation):
    """Parameters come from the variants: a signature that lists them would drift.

    Those that change the result are the function's own."""
    names = {p.name for variant in cudakern.variants(operation) for p in variant.parameters}
    names -= set(registry()[operation].own)
    assert not names & set(inspect.signature(registry()[operation].call).parameters)


@every_run
def test_results_do_not_depend_on_what_memory_held_before(operation, name, variant):
    """The same call after a different one of the same size: a workspace that nobody cleared would show."""
    results = []
    for seed in (0, 1, 0):
        inputs = inputs_for(operation, main_type(variant), small_shape(operation), seed)
        outputs = outputs_for(variant, inputs)
        native(name).execute(operation, variant.name, variant.values({}), inputs, outputs, 0, False, 0)
        results.append(outputs[0])
    if variant.deterministic_for(main_type(variant)):
        assert results[0].tobytes() == results[2].tobytes()
    assert np.allclose(results[0], results[2], rtol=1e-5)
    assert not np.array_equal(results[0], results[1])


def test_sources_are_installed_with_the_package():
    for operation, variant in KERNEL_VARIANTS:
        assert pathlib.Path(cudakern.source(operation, variant.name).path).is_file()
