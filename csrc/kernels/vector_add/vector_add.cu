// vector_add: x[i] + y[i]. The launches and the table of the ladder; each kernel is in a file of its own.
//
// Begin with naive.cuh and follow the table. Views: x, y and the result, of equal shape and contiguous.
#include "naive.cuh"
#include "grid_stride.cuh"
#include "vectorized.cuh"

#include "../launch.cuh"
#include "../table.h"
#include "../types.cuh"

namespace vector_add {
namespace {

int plan_blocks(const ck_call *call, ck_plan *plan, ck_error *error, int64_t blocks) {
    CK_TRY(check_same_elements(call, error));
    return plan_row(call, plan, error, blocks, call->parameters[0]);
}

int plan_naive(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_blocks(call, plan, error, divide_up(length(call), call->parameters[0]));
}

int plan_grid_stride(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_blocks(call, plan, error, blocks_for_chip(call, length(call), call->parameters[0]));
}

int plan_vectorized(const ck_call *call, ck_plan *plan, ck_error *error) {
    const auto width = static_cast<int64_t>(WIDEST_ACCESS / ck_dtype_size(call->types.input));
    return plan_blocks(call, plan, error, divide_up(divide_up(length(call), width), call->parameters[0]));
}

#define ARRAYS input<T>(call, 0), input<T>(call, 1), output<T>(call), length(call)
RUN(naive, with_any_type, naive<T>, ARRAYS)
RUN(grid_stride, with_any_type, grid_stride<T>, ARRAYS)
RUN(vectorized, with_any_type, vectorized<T>, ARRAYS)

void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(length(call));
    work->flops = n;
    work->bytes = 3 * n * static_cast<double>(ck_dtype_size(call->types.input));
}

#define CK_FOLDER "vector_add/"

const ck_variant variants[] = {
    VARIANT(naive, FIRST, AT_LEAST(60), TYPES(ALL_TYPES), NONE, CK_DETERMINISTIC, PARAMETERS(ANY_THREADS),
            roundings<1>, KERNELS("naive"), "One thread per element",
            "The grid has more threads than elements, hence if (i < n)", "P4 to P6"),
    VARIANT(
        grid_stride, AFTER(naive), AT_LEAST(60), TYPES(ALL_TYPES), NONE, CK_DETERMINISTIC, PARAMETERS(ANY_THREADS),
        roundings<1>, KERNELS("grid_stride"), "A grid-stride loop: the grid fits the chip, not the data",
        "One launch configuration fits every length, and blocks are started only once", "CUDA's programming guide"),
    VARIANT(vectorized, AFTER(grid_stride), AT_LEAST(60), TYPES(ALL_TYPES), NONE, CK_DETERMINISTIC,
            PARAMETERS(ANY_THREADS), roundings<1>, KERNELS("vectorized"), "16 bytes per load and store",
            "Wide accesses need fewer instructions for the same bytes", "T6, P11"),
};

} // namespace
} // namespace vector_add

CK_OPERATION(vector_add, "x + y, element by element", 2, 1)
