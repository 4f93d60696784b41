"""NumPy's variant of each operation, the first entry of its table, which runs no kernel.

It takes the kernels' types except those that NumPy lacks, computes in the result's type, and has the error bound of the
ladder's first step. Here are its texts, and the types that it takes besides the kernels'; the default is `Words()`.
"""

from __future__ import annotations

from typing import NamedTuple


class Words(NamedTuple):
    """The texts of NumPy's variant in the table."""

    summary: str = "NumPy, on the host"
    lesson: str = "The reference that kernels are compared with"
    origin: str = "NumPy"
    more: str = ""  #: types: "float16", or "float32:float64" where the result has another
    sum_order: str = ""  #: if not that of the first kernel


SCAN = Words(
    "NumPy's own cumulative sum, on the host",
    "For one processor a running sum is optimal: n additions, and each element is read once",
    "M, prefix sum on the CPU",
    "float16 complex64 complex128",
)
LOOKUP = Words("NumPy, one array operation per step", "Each neighbor is first gathered into an array", "M")

WORDS = {
    "bincount": Words("NumPy's own counting, on the host", "A single thread needs no atomics", "P11, atomics"),
    "exclusive_scan": SCAN,
    "grayscale": Words(
        "NumPy's products and sums of whole channels, on the host", "Five passes through memory instead of one", "P7"
    ),
    "inclusive_scan": SCAN,
    "interp": Words("NumPy's own interp, on the host", "NumPy always computes in float64", "M, T6", "float32:float64"),
    "lookup_2d": LOOKUP,
    "lookup_3d": LOOKUP,
    "matmul": Words(
        "NumPy's own product, on the host",
        "A tuned library uses caches and vector units",
        "the reference of T5",
        "",
        "tree",
    ),
    "packbits": Words(
        "NumPy's own packing, on the host", "Packed flags take an eighth of the memory traffic", "M, registers"
    ),
    "saxpy": Words("NumPy's own product and sum, on the host", "Two passes through memory instead of one", "P2"),
    "sort": Words(
        "NumPy's own sort, on the host",
        "For keys in host memory, the transfer to a GPU and back may cost more than the sort",
        "M, the reference of its sample sort (qsort)",
        "float64 bool int8 uint8 int16 uint16 int64 uint64 float16 complex64 complex128",
    ),
    "stencil_1d": Words(
        "NumPy's convolution with ones, on the host", "A stencil is a convolution; the simplest has weights of 1", "P2"
    ),
    "sum_of_squares": Words(
        "NumPy's own dot product, on the host",
        "A transfer to a GPU may cost more than the sum",
        "the reference of T3",
        "",
        "tree",
    ),
    "vector_add": Words(
        "NumPy's own addition, on the host", "A GPU adds faster, but the transfers cost more", "P4 to P6"
    ),
}
