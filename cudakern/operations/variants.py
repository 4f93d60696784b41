"""Operations by name or by function, and the list of all variants."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeAlias, overload

from .. import _display
from .._errors import unknown
from ..calls import table
from ..calls.table import Variants
from .registry import names, operation, registry

#: An operation: its name ("matmul") or its function (cudakern.matmul).
NameOrFunction: TypeAlias = str | Callable[..., Any]


def operation_name(op: NameOrFunction) -> str:
    """The operation's name; TypeError unless ``op`` is a name or an operation's function."""
    if isinstance(op, str):
        return op
    for name, what in registry().items():
        if what.call is op:
            return name
    if isinstance(op, ModuleType):
        actual = f"the module {op.__name__}"
    elif hasattr(op, "__name__"):
        actual = f"{op.__module__}.{op.__name__}"
    else:
        actual = f"an object of type {type(op).__name__}"
    raise TypeError(f"an operation is a name or a function, such as 'matmul' or cudakern.matmul, not {actual}")


class AllVariants(_display.Shown, dict[str, Variants]):
    """The variants of every operation, by the operation's name; displays as one table."""

    def __missing__(self, op: NameOrFunction) -> Variants:
        name = operation_name(op)
        if name not in self:
            raise KeyError(unknown("operation", name, self))
        return self[name]

    def table(self) -> _display.Table:
        """One row per variant."""
        rows = []
        for name, variants in self.items():
            for i, variant in enumerate(variants):
                types, backends = variant.types_of(variants.types), ", ".join(variant.backends)
                rows.append([name if i == 0 else "", variant.name, variant.summary, types, backends])
        title = f"{len(self)} operations, {len(rows)} variants"
        note = "variants(operation) also shows parameters, all types and compute capabilities."
        return _display.Table(title, ["operation", "variant", "what it shows", "types", "backends"], rows, note)

    def to_dict(self) -> dict[str, Any]:
        return {name: variants.to_dict() for name, variants in self.items()}


@overload
def variants(op: NameOrFunction) -> Variants: ...
@overload
def variants(op: None = None) -> AllVariants: ...
def variants(op: NameOrFunction | None = None) -> Variants | AllVariants:
    """The variants of the operation ``op`` ("matmul" or ``cudakern.matmul``), by default those of all operations.

    The result is a tuple of :class:`Variant` in the order of the ladder, which can also be indexed by name and displays
    as a table; for all operations, a mapping from their names to such tuples. TypeError or ValueError if ``op`` is not
    an operation. A variant's ``origin`` ("T5, step 5") names a document and a position in it; docs/sources.md explains
    the letters.

    Examples
    --------
    >>> import cudakern
    >>> variants = cudakern.variants("matmul")
    >>> variants["kahan"].types
    ('float32', 'float64')
    >>> "bfloat16" in variants["tiled"].types
    True
    """
    if op is not None:
        name = operation_name(op)
        return table.variants(name if name in table.operations() else operation(name).name)
    return AllVariants({name: table.variants(name) for name in (*names(), *table.operations())})
