"""The Python face of the two C modules, ``_cuda`` and ``_emulator``: one source, compiled twice.

This is a description for type checkers and readers; the code is in csrc/python/.
"""

from __future__ import annotations

from typing import Any, Protocol

#: The version of this face; csrc/python/module.c has the same number, as INTERFACE_VERSION.
INTERFACE = 1


class Native(Protocol):
    """What a C module offers. Arrays come as buffers: native byte order, aligned, innermost axis contiguous."""

    __file__: str
    interface_version: int

    def operations(self) -> tuple[dict[str, Any], ...]:
        """The variant table: an entry an operation, with its rows in the order of the ladder."""

    def execute(
        self,
        operation: str,
        variant: str,
        parameters: tuple[int, ...],
        inputs: tuple[Any, ...],
        outputs: tuple[Any, ...],
        device: int,
        measure: bool,
    ) -> dict[str, Any] | None:
        """Runs one variant: host memory in, host memory out. With ``measure`` it returns times and sizes."""

    def error_depth(
        self,
        operation: str,
        variant: str,
        parameters: tuple[int, ...],
        dtypes: tuple[str, ...],
        shapes: tuple[tuple[int, ...], ...],
    ) -> float:
        """f(n) of the row's error bound: roundings on the longest path to a result."""

    def work(self, operation: str, shapes: tuple[tuple[int, ...], ...], dtype: str) -> tuple[float, float]:
        """(FLOPs, least bytes moved) of the operation, whichever variant computes it."""

    def device_count(self) -> int: ...
    def why_not(self) -> str: ...
    def device_properties(self, device: int) -> dict[str, Any]: ...
    def current_device(self) -> int: ...
    def choose_device(self) -> int: ...
    def configure(self, key: str, value: str) -> None: ...
    def trim(self, device: int) -> None: ...
    def pool_used(self, device: int) -> int: ...
    def backend_name(self) -> str: ...
    def emulated(self) -> bool: ...
