"""Exercise of notebook 08: what a kernel costs."""

from typing import Any

from .exercise import Exercise, Hint, Launch, Target, Wrong, untouched, whole


def moments(x: Any, result: Any, n: int) -> None:
    result[0], result[1] = x[:n].sum(), (x[:n] ** 2).sum()


def sum_squared(x: Any, result: Any, n: int) -> None:
    result[0], result[1] = x[:n].sum(), x[:n].sum() ** 2


EXERCISES = (
    Exercise(
        "moments",
        """
__global__ void moments(const int *x, int *result, int n) {
    int sum = 0, squares = 0;
    for (int i = threadIdx.x; i < n; i += 32) sum += x[i];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    squares = sum * sum;
    if (threadIdx.x == 0) {
        result[0] = sum;
        result[1] = squares;
    }
}
""",
        """
__global__ void moments(const int *x, int *result, int n) {
    int sum = 0, squares = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
        int value = x[i];
        sum += value;
        squares += value * value;
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, offset);
        squares += __shfl_down_sync(0xffffffff, squares, offset);
    }
    if (threadIdx.x == 0) {
        result[0] = sum;
        result[1] = squares;
    }
}
""",
        moments,
        (Launch(1, 32, (whole(32, dtype="i4"), untouched(2, "i4"), 32)), Launch(1, 32, (whole(200, dtype="i4"), untouched(2, "i4"), 150))),
        (
            Hint("The square of the sum is not the sum of the squares: square each element.", like=sum_squared),
            Hint("The array is read twice. Add both sums in one pass.", "target"),
            Hint("One lane writes the results, after both sums have gone through the shuffles.", "race"),
            Hint("Both sums take the same way: over the elements of a lane, then over the lanes.", "result"),
        ),
        "The variance is squares / n - (sum / n)², so one pass is enough for it: what costs time is fetching the elements, not adding them.",
        (
            Wrong("        squares += __shfl_down_sync(0xffffffff, squares, offset);\n", "", "same way"),
            Wrong("        squares += value * value;\n", "    }\n    for (int i = threadIdx.x; i < n; i += 32) {\n        squares += x[i] * x[i];\n", "in one pass"),
            Wrong("squares += value * value", "squares += value", "same way"),
            Wrong("    if (threadIdx.x == 0) {\n        result[0] = sum;\n        result[1] = squares;\n    }", "    result[0] = sum;\n    result[1] = squares;", "One lane writes"),
        ),
        (Target("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 5, "requests to load from global memory"),),
    ),
)  # fmt: skip
