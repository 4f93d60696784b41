"""PyTorch, CuPy and NumPy: the same work by their calls, on the same memory."""

from __future__ import annotations

import functools
import importlib
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

import cudakern

Calls = dict[str, Callable[[], Any]]


def _cupy_sum(cupy: Any, x: Any) -> Any:
    integers = x.dtype.kind == "i"
    wide, c = ("int64", "long long") if integers else (x.dtype.name, "double" if x.itemsize == 8 else "float")
    return _reduction(cupy, wide, c)(x, cupy.empty((), wide))


@functools.cache
def _reduction(cupy: Any, wide: str, c: str) -> Any:
    words = ("T x", "W y", f"({c})x * x", "a + b", "y = a", "0", f"sum_of_squares_{wide}")
    return cupy.ReductionKernel(*words, reduce_type=c)


LIBRARIES = ("torch", "cupy")
#: How a library takes an array from the host, and how it gives one back.
HOSTS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "torch": (lambda torch, x: torch.from_numpy(x).cuda(), lambda _, x: x.cpu().numpy()),
    "cupy": (lambda cupy, x: cupy.asarray(x), lambda cupy, x: cupy.asnumpy(x)),
    "numpy": (lambda _, x: x, lambda _, x: x),
}


def _by(libraries: Iterable[str], text: str, call: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """The same call of several libraries."""
    return {f"{name}: {text}": call for name in libraries}


#: Calls of other libraries, as functions of the module and the arrays. NumPy's are measured for arrays on the host.
PEERS: dict[str, dict[str, Callable[..., Any]]] = {
    "matmul": _by(HOSTS, "a @ b", lambda _, a, b: a @ b),
    "sum_of_squares": {
        "torch: (x * x).sum()": lambda _, x: (x * x).sum(),
        "torch: dot(x, x)": lambda torch, x: torch.dot(x, x),
        "cupy: fused reduction": _cupy_sum,
        "numpy: dot(x, x)": lambda numpy, x: numpy.dot(x, x),
    },
    "inclusive_scan": _by(HOSTS, "cumsum(x)", lambda library, x: library.cumsum(x, 0)),
    "sort": {
        "torch: sort(x)": lambda torch, x: torch.sort(x)[0],
        **_by(("cupy", "numpy"), "sort(x)", lambda library, x: library.sort(x)),
    },
    "vector_add": _by(HOSTS, "x + y", lambda _, x, y: x + y),
    "saxpy": {
        "torch: addcmul(y, a, x)": lambda torch, a, x, y: torch.addcmul(y, a, x),
        **_by(("cupy", "numpy"), "a * x + y", lambda _, a, x, y: a * x + y),
    },
}


def _in_short(reason: Exception) -> str:
    return " ".join(str(reason).split())[:200] or type(reason).__name__


def library_calls(op: str, arrays: Sequence[Any], host: bool = False) -> tuple[Calls, dict[str, str]]:
    """The calls of the other libraries that are installed, on the same memory; and why a library has none."""
    calls, notes = Calls(), dict[str, str]()
    for name in HOSTS if host else LIBRARIES:
        try:
            module = importlib.import_module(name)
            theirs = arrays if host else [module.from_dlpack(x) for x in arrays]
        except ModuleNotFoundError:
            continue
        except Exception as reason:  # it does not have the type, or cannot use the GPU
            notes[name] = _in_short(reason)
            continue
        own = (item for item in PEERS[op].items() if item[0].startswith(name))
        run = functools.partial(_copied, *HOSTS[name]) if host else operator.call
        calls |= {who: functools.partial(run, call, module, *theirs) for who, call in own}
    return calls, notes


def _copied(there: Callable[..., Any], back: Callable[..., Any], call: Callable[..., Any], module: Any, *x: Any) -> Any:
    """The result, on the host, of a library's call on arrays of the host."""
    return back(module, call(module, *(there(module, one) for one in x)))


def errors_of(calls: Calls, error: Callable[[Any], float]) -> tuple[dict[str, float], dict[str, str]]:
    """The errors of the calls' results, and why the other calls have none. This is their first warm-up."""
    errors, failed = dict[str, float](), dict[str, str]()
    for who, call in calls.items():
        try:
            result = call()
            on_host = isinstance(result, np.ndarray | np.generic)
            errors[who] = error(np.asarray(result) if on_host else cudakern.asarray(result).get())
        except Exception as reason:  # other libraries raise whatever they like; the other lines are still wanted
            failed[who] = _in_short(reason)
    return errors, failed
