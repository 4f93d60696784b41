"""ladder: all variants of an operation, or kernels of one's own, compared on one input."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _display
from .._backend import backend
from .._errors import CudaError
from ..arrays.array import DeviceArray
from ..arrays.dtypes import numpy_dtype
from ..calls import table
from ..calls.checks import integer
from ..calls.host import refuse_elsewhere
from ..operations.registry import Operation, operation, widened
from ..operations.variants import NameOrFunction, operation_name
from ..own.compile import Kernel, Launch
from . import recorded
from .kernel_ladder import kernel_ladder
from .profile import check_counts, measure
from .resources import launches_of
from .steps import Ladder, Step, errors_of, run_steps


def ladder(
    op: NameOrFunction | Sequence[Callable[..., Any]],
    *,
    n: int | None = None,
    shape: Sequence[int] | None = None,
    dtype: npt.DTypeLike | None = None,
    inputs: Sequence[Any] | None = None,
    variants: Sequence[str] | None = None,
    repeat: int | None = None,
    warmup: int | None = None,
    seed: int | None = None,
    progress: bool | None = None,
    reference: Callable[..., Any] | None = None,
    **parameters: Any,
) -> Ladder:
    """Run every variant of an operation, or kernels of your own, on one input and compare time, rate and error.

    Parameters
    ----------
    op : str or function, or list of launches
        An operation: "matmul" or ``cudakern.matmul``. Or kernels of your own, each with its grid and block:
        ``[program.naive[grid, block], program.tiled[grid, block]]``.
    n : int, optional
        The array's length, or the rows and columns of both matrices. Default: 1,048,576 or 1000 (on the emulator 256).
    shape : sequence of int, optional
        Instead of ``n``: the array's shape, or (m, k, n) for the product of an (m, k) and a (k, n) matrix.
    dtype, seed : optional
        Of the random input. Default: the operation's usual type, int32 (values 0 to 9) or float32 (0 to 1), and seed 0.
    inputs : list or tuple, optional
        Instead of random input: the operands of a call, in host memory, e.g. ``[a, x, y]``. For kernels of your own,
        all arguments, in their order: every array for a pointer that is not to const is a result. Each kernel gets
        copies of those.
    variants : sequence of str, optional
        The variants to run, in this order, also in one text: "tiled,naive". Default: all.
    repeat, warmup : int, optional
        As in :func:`profile`.
    progress : bool, optional
        Show which variant is running. Default: on a terminal and in a notebook.
    reference : function
        For kernels of your own: a function of the inputs that returns the expected results, one array, or a tuple if
        the kernels write several (None for one that does not matter). Its arrays of floats are in double precision.
    **parameters
        Parameters of variants, for those that have them (``threads=512``, ``lists=32``), and parameters that change the
        result, for all (``radius=10``, ``mode="wrap"``).

    Returns
    -------
    Ladder
        A sequence of steps that displays as a table. A step that did not run has a ``note``, no profile and no error.

    Raises
    ------
    TypeError, ValueError, ImportError
        An unknown operation or variant; an invalid size; a type, parameter or value that no variant supports; invalid
        inputs; bfloat16 without the package ml_dtypes.

    Examples
    --------
    >>> import cudakern
    >>> steps = cudakern.ladder("sum_of_squares", n=1000, variants=["coalesced", "numpy"])
    >>> [step.variant.name for step in steps], steps["coalesced"].error.max
    (['coalesced', 'numpy'], 0.0)
    """
    if isinstance(op, (Kernel, Launch)):
        op = [op]
    if isinstance(op, Sequence) and not isinstance(op, str):
        others = {"n": n, "shape": shape, "dtype": dtype, "variants": variants, "seed": seed, **parameters}
        return kernel_ladder(op, reference, inputs, repeat, warmup, progress, others)
    if reference is not None:
        raise TypeError("ladder: reference= is for kernels of your own; operations are compared with NumPy")
    op = operation_name(op)
    what = operation(op)
    check_counts(repeat, warmup)
    if variants is None:
        entries = list(table.variants(op))
    elif not isinstance(variants, Iterable):
        raise TypeError(f"ladder: variants= must be a list of names, not {variants!r}")
    else:
        entries = [table.find(op, name) for name in table.names_in(variants)]
    # NumPy's numbers as Python's, for display and JSON.
    plain = {name: x.item() if getattr(x, "ndim", None) == 0 else x for name, x in parameters.items()}
    _check_parameters(what, entries, plain)
    own = {name: value for name, value in plain.items() if name in what.own}
    here = backend().as_it_is()
    if inputs is None:
        operands = _random_operands(what, here.name, n, shape, dtype, integer("seed", 0 if seed is None else seed, 0))
    else:
        operands = _callers_operands(what, inputs, {"n": n, "shape": shape, "dtype": dtype, "seed": seed})
    kind = next((x for x in map(np.asarray, operands) if x.ndim), np.asarray(operands[0])).dtype
    record = recorded.instead_of_times(here, op, kind.name)
    if record is not None and repeat is None and warmup is None:  # emulated times are not shown
        repeat, warmup = 1, 0
    counters = recorded.counted(op, kind.name) if record is not None else None
    with _display.progress_line(progress) as announce:
        announce(f"{op} 0/{len(entries)}: reference, by NumPy")
        expected = _expected(what, operands, own)

        def step_of(variant: table.Variant) -> Step:
            if reason := variant.why_not(here):
                return Step(variant, note=f"not here: {reason}")
            values = {name: value for name, value in plain.items() if name in own or table.having(name, [variant])}
            profile, result = measure(what.call, operands, {"variant": variant.name, **values}, repeat, warmup)
            name = variant.name if variant.by_default(values) else ""
            times = record.steps.get(name) if record else None
            metrics = counters.steps.get(name, {}) if counters else {}
            return Step(variant, profile, errors_of(result, *expected), recorded=times, metrics=metrics)

        runs = [(variant, functools.partial(step_of, variant)) for variant in entries]
        steps = run_steps(runs, op, inputs is not None, announce)
    shapes = tuple(np.shape(x) for x in operands if x is not None)
    if record is not None:
        sized = operands
        if any(step.recorded for step in steps):
            sized = tuple(_resized(x, shape) for x, shape in zip(operands, record.shapes, strict=False))
        steps = tuple(replace(step, kernels=_kernels(what, step, sized, plain)) for step in steps)
    return Ladder(op, what.rate, shapes, kind.name, here, steps, record, plain, counters)


def _resized(x: Any, shape: tuple[int, ...]) -> Any:
    """An operand of that shape, of which only the launch matters: mostly pages that nothing has touched. Integers are
    kept, because the number of bins depends on them."""
    if np.shape(x) == shape:
        return x
    result = np.zeros(shape, np.asarray(x).dtype)
    if result.dtype.kind in "iu":
        result.reshape(-1)[: np.size(x)] = np.ravel(x)[: result.size]
    return result


def _kernels(what: Operation, step: Step, operands: tuple[Any, ...], plain: Mapping[str, Any]) -> tuple[Any, ...]:
    """The kernels that the step's call would launch with these operands; nothing runs."""
    variant = step.variant
    if step.profile is None or variant.on_host:
        return ()
    values = {name: value for name, value in plain.items() if name in what.own or table.having(name, [variant])}
    with contextlib.suppress(ValueError, MemoryError, CudaError):  # too large for these values or this machine
        return tuple(launches_of(functools.partial(what.call, *operands, variant=variant.name, **values)))
    return ()


def _check_parameters(what: Operation, variants: Sequence[table.Variant], values: Mapping[str, Any]) -> None:
    """TypeError or ValueError for a name that no variant has or a value that none accepts."""
    for name, value in values.items():
        there = table.having(name, table.variants(what.name))
        if not there:
            raise TypeError(no_parameter(what, name))
        having = there if name in what.own else table.having(name, variants)
        if not having:
            names, others = (", ".join(variant.name for variant in some) for some in (variants, there))
            raise TypeError(f"ladder: none of the variants ({names}) has a parameter {name}=; these have it: {others}")
        for variant in having:
            with contextlib.suppress(TypeError, ValueError):
                variant.values({name: value})
                break
        else:
            having[0].values({name: value})  # raises


def no_parameter(what: Operation, name: str) -> str:
    """The error message for a parameter that no variant has."""
    known = dict.fromkeys(p.name for variant in table.variants(what.name) for p in variant.parameters)
    takes = ", ".join(f"{other}=" for other in known) or "no parameters"
    operands = [p.name for p in _operands(what)]
    hint = f"; {name} is an input: inputs=[{', '.join(operands)}]" if name in operands else ""
    return f"ladder: the variants of {what.name} have no parameter {name!r}; they have {takes}{hint}"


def _operands(what: Operation) -> list[inspect.Parameter]:
    """The parameters of the operation's function that are inputs."""
    count = len(what.make(what.ragged[0], numpy_dtype(what.default_dtype), 0))
    return list(inspect.signature(what.call).parameters.values())[:count]


def _callers_operands(what: Operation, inputs: Sequence[Any], others: Mapping[str, Any]) -> tuple[Any, ...]:
    """The operands that the caller passed as ``inputs``, unchanged."""
    for name, value in others.items():
        if value is not None:
            raise ValueError(f"ladder: pass inputs= or {name}=, not both: {name}= is for random input")
    allowed = _operands(what)
    names = ", ".join(p.name for p in allowed)
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"ladder: inputs= must be a list [{names}], not {type(inputs).__name__}")
    least = sum(p.default is p.empty for p in allowed)
    if not least <= len(inputs) <= len(allowed):
        some = "" if least == len(allowed) else f" (the last {len(allowed) - least} can be omitted)"
        separate = f"; pass {', '.join(f'{name}=' for name in what.own)} separately" if what.own else ""
        raise TypeError(f"ladder: {what.name} takes inputs=[{names}]{some}{separate}; got {len(inputs)} inputs")
    if any(isinstance(x, DeviceArray) for x in inputs):
        raise TypeError("ladder: inputs= must be host arrays, because NumPy's variant uses them too: pass x.get()")
    for name, x in zip(names.split(", "), inputs, strict=False):
        refuse_elsewhere(x, name)
    return tuple(inputs)


def _expected(what: Operation, operands: tuple[Any, ...], own: Mapping[str, Any]) -> tuple[Any, Any]:
    """NumPy's result in double precision, and what errors are relative to, if that is not the result."""
    scalars = (int, float, complex, type(None))  # Python's numbers take the type of the arrays
    doubles = [x if isinstance(x, scalars) else widened((np.asarray(x),), np.float64)[0] for x in operands]
    wide = [x if x is None else np.asarray(x) for x in doubles]
    try:
        reference = what.call(*doubles, variant="numpy", **own)
    except (TypeError, ValueError):
        try:
            reference = what.reference(*wide, **own)  # NumPy's variant may support fewer types
        except Exception:
            what.call(*operands, variant="numpy", **own)  # its message is better
            raise
    return reference, what.magnitude(*wide, **own) if what.cancels else None


def _random_operands(what: Operation, where: str, n: Any, shape: Any, dtype: Any, seed: int) -> tuple[Any, ...]:
    if n is not None and shape is not None:
        raise ValueError("ladder: pass n= or shape=, not both")
    if n is not None:
        shape = what.square(integer("ladder: n", n, 0))
    default = what.shape_on.get(where, what.default_shape)
    sizes = what.sizes("ladder", default if shape is None else shape)
    kind = numpy_dtype(what.default_dtype if dtype is None else dtype)
    types = dict.fromkeys(t for variant in table.variants(what.name) if not variant.on_host for t in variant.types)
    if kind.name not in types:
        words = f"{', '.join(types)}, not {table.type_in_words(kind)}"
        raise TypeError(f"ladder: the variants of {what.name} support {words}")
    return what.make(sizes, kind, seed)
