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
    "add_fields": Words("NumPy's addition, field by field, on the host", "A CPU's cache lines hold whole structs", "M"),
    "bank_conflicts": Words("The same sums on the host", "Bank conflicts cost time, not correctness", "T6, P11"),
    "bincount": Words("NumPy's own counting, on the host", "A single thread needs no atomics", "P11, atomics"),
    "coalescing": Words(
        "NumPy's slice, copied", "Strides cost time on a CPU, too: its caches move lines", "T6, P11, M"
    ),
    "constant_memory": Words("NumPy, one number at a time", "The array passes through the cache once per number", "M"),
    "divergence": Words("Both paths on the host", "NumPy expresses a branch as a selection of elements", "P11"),
    "exclusive_scan": SCAN,
    "extent": Words("NumPy's own min and max", "min and max each read the whole array", "needed by bincount"),
    "grayscale": Words(
        "NumPy's products and sums of whole channels, on the host", "Five passes through memory instead of one", "P7"
    ),
    "hello": Words("NumPy, which prints nothing", "An addition on the host needs no kernel", "P, Hello World"),
    "inclusive_scan": SCAN,
    "interp": Words("NumPy's own interp, on the host", "NumPy always computes in float64", "M, T6", "float32:float64"),
    "intrinsics": Words("NumPy, in double, rounded once", "A reference needs more precision than the results", "T6"),
    "latency": Words("The chains as one formula, on the host", "A CPU also starts loads early, by itself", "M"),
    "lookup_2d": LOOKUP,
    "lookup_3d": LOOKUP,
    "matmul": Words(
        "NumPy's own product, on the host",
        "A tuned library uses caches and vector units",
        "the reference of T5",
        "",
        "tree",
    ),
    "moving_sum": Words(
        "A scaled copy of the whole array for each row of the window, by NumPy",
        "The whole array passes through memory once per row of the window",
        "NumPy",
    ),
    "packbits": Words(
        "NumPy's own packing, on the host", "Packed flags take an eighth of the memory traffic", "M, registers"
    ),
    "rgba_to_float": Words("NumPy's division, on the host", "Each element is converted, then divided", "T6"),
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
    "thread_map": Words("The same map by slices, on the host", "A grid over an array is a tiling", "P4 to P7"),
    "unpack_bytes": Words("NumPy's conversion, on the host", "A conversion is limited by memory bandwidth", "M"),
    "vec3": Words("Squares and their sums, on the host", "The layout of data matters to a CPU, too", "T6"),
    "vector_add": Words(
        "NumPy's own addition, on the host", "A GPU adds faster, but the transfers cost more", "P4 to P6"
    ),
}
