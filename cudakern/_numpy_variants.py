"""NumPy's own way to compute each operation: the first line of its table, a variant that runs no kernel.

Its contract follows from the kernels': it takes their types, as far as NumPy has them, computes in the result's type,
and adds in the order of the ladder's first step, which is NumPy's order or a worse one. What follows from nothing is
here: the words, and the types that NumPy takes beside the kernels'. An operation that is not listed has `Words()`.
"""

from __future__ import annotations

from typing import NamedTuple


class Words(NamedTuple):
    """What the table says of NumPy's variant."""

    summary: str = "NumPy, on the host"
    lesson: str = "The reference that kernels are compared with"
    origin: str = "NumPy"
    more: str = ""  #: types: "float16", or "float32:float64" where the result has another


SCAN = Words(
    "NumPy's own cumulative sum, on the host",
    "For one processor the running sum is the best there is: n additions, each element touched once",
    "M, prefix sum on the CPU",
    "float16 complex64 complex128",
)
LOOKUP = Words("NumPy, an array operation a step", "Each of the elements is gathered into an array", "M")

WORDS = {
    "add_fields": Words("NumPy's addition, field by field, on the host", "A CPU's cache lines hold whole structs", "M"),
    "bank_conflicts": Words("The same sums on the host", "Banks are a matter of time, not of results", "T6, P11"),
    "bincount": Words("NumPy's own counting, on the host", "One processor needs no turns", "P11, atomics"),
    "coalescing": Words(
        "NumPy's slice, copied on the host", "A stride costs a CPU too: its caches move whole lines", "T6, P11, M"
    ),
    "constant_memory": Words(
        "NumPy, a number at a time", "Whole arrays go through the cache once for each number", "M"
    ),
    "divergence": Words("Both paths on the host, each for its elements", "A branch is a choice among elements", "P11"),
    "exclusive_scan": SCAN,
    "extent": Words("NumPy's own min and max, on the host", "Two questions, two readings", "what bincount needs"),
    "grayscale": Words(
        "NumPy's products and sums of whole channels, on the host",
        "Each step walks through memory once more: five passes where one would do",
        "P7",
    ),
    "hello": Words("NumPy, without a word", "The host needs no kernel to add", "P, Hello World"),
    "inclusive_scan": SCAN,
    "interp": Words(
        "NumPy's own interp, on the host", "NumPy computes in float64 whatever it is given", "M, T6", "float32:float64"
    ),
    "intrinsics": Words(
        "NumPy, in double, rounded once", "A reference is computed in more precision than what it judges", "T6"
    ),
    "latency": Words("The chains as one formula, on the host", "A CPU too starts loads early, by itself", "M"),
    "lookup_2d": LOOKUP,
    "lookup_3d": LOOKUP,
    "matmul": Words(
        "NumPy's own product, on the host",
        "A tuned library uses caches and vector units of the CPU as well",
        "the reference of T5",
    ),
    "moving_sum": Words(
        "A scaled copy of the whole array for each row of the window, by NumPy",
        "Whole arrays go through memory once for each row that counts",
        "NumPy",
    ),
    "packbits": Words("NumPy's own packing, on the host", "Bits are an eighth of bytes to move", "M, registers"),
    "rgba_to_float": Words("NumPy's division, on the host", "A type is converted, then divided", "T6"),
    "saxpy": Words(
        "NumPy's own product and sum, on the host",
        "Two passes over memory where one would do: the product goes there and comes back",
        "P2",
    ),
    "sort": Words(
        "NumPy's own sort, on the host",
        "For keys already in the computer's memory, the way to a GPU and back may cost more than the sort",
        "M, the reference of its sample sort (qsort)",
        "float64 bool int8 uint8 int16 uint16 int64 uint64 float16 complex64 complex128",
    ),
    "stencil_1d": Words(
        "NumPy's convolution with ones, on the host",
        "A stencil is a convolution; one whose weights are all 1 is the simplest",
        "P2",
    ),
    "sum_of_squares": Words(
        "NumPy's own dot product, on the host",
        "For data already in the computer's memory, the way to a GPU and back may cost more than the sum",
        "the reference of T3",
    ),
    "thread_map": Words("The same map by slices, on the host", "A grid over an array is a tiling", "P4 to P7"),
    "unpack_bytes": Words("NumPy's conversion, on the host", "A conversion is a matter of memory", "M"),
    "vec3": Words("Squares and their sums, on the host", "Where data lie matters to a CPU too", "T6"),
    "vector_add": Words(
        "NumPy's own addition, on the host",
        "A GPU adds faster, but the way there and back costs more than the addition",
        "P4 to P6",
    ),
}
