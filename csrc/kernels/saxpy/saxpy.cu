// saxpy: a * x[i] + y[i]. The launches and the table of the ladder; each kernel is in a file of its own.
//
// Begin with naive.cuh and follow the table. Views: a, one element; x, y and the result, of equal shape and
// contiguous.
#include "naive.cuh"
#include "grid_stride.cuh"
#include "vectorized.cuh"

#include "../launch.cuh"
#include "../table.h"
#include "../types.cuh"

namespace saxpy {
namespace {

int64_t elements(const ck_call *call) {
    return elements_of(call->views[1]);
}

int plan_blocks(const ck_call *call, ck_plan *plan, ck_error *error, int64_t blocks) {
    if (elements_of(call->views[0]) != 1)
        return ck_fail(error, CK_BAD_VALUE, "array 0 is the factor and must have one element, not %lld",
                       static_cast<long long>(elements_of(call->views[0])));
    for (int i = 2; i < call->view_count; ++i)
        if (elements_of(call->views[i]) != elements(call))
            return ck_fail(error, CK_BAD_VALUE, "array %d has %lld elements, but array 1 has %lld", i,
                           static_cast<long long>(elements_of(call->views[i])),
                           static_cast<long long>(elements(call)));
    return plan_row(call, plan, error, blocks, call->parameters[0]);
}

int plan_naive(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_blocks(call, plan, error, divide_up(elements(call), call->parameters[0]));
}

int plan_grid_stride(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_blocks(call, plan, error, blocks_for_chip(call, elements(call), call->parameters[0]));
}

int plan_vectorized(const ck_call *call, ck_plan *plan, ck_error *error) {
    const auto width = static_cast<int64_t>(WIDEST_ACCESS / ck_dtype_size(call->types.input));
    return plan_blocks(call, plan, error, divide_up(divide_up(elements(call), width), call->parameters[0]));
}

#define ARRAYS input<T>(call, 0), input<T>(call, 1), input<T>(call, 2), output<T>(call), elements(call)
RUN(naive, with_any_type, naive<T>, ARRAYS)
RUN(grid_stride, with_any_type, grid_stride<T>, ARRAYS)
RUN(vectorized, with_any_type, vectorized<T>, ARRAYS)

// The rounding of the product. The rounding of the sum is that of the result.
double depth(const ck_call *) {
    return 1;
}

void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(elements(call));
    const int input = call->types.input;
    // A complex product takes four real products and two additions, and the sum takes two more additions.
    work->flops = (input == CK_COMPLEX64 || input == CK_COMPLEX128 ? 8 : 2) * n;
    work->bytes = (3 * n + 1) * static_cast<double>(ck_dtype_size(input));
}

#define CK_FOLDER "saxpy/"

const ck_variant variants[] = {
    VARIANT(naive, FIRST, AT_LEAST(60), TYPES(ALL_TYPES), NONE, CK_DETERMINISTIC, PARAMETERS(ANY_THREADS), depth,
            KERNELS("naive"), "One thread per element",
            "The loop over i becomes threads, and the loop body becomes the kernel", "P2"),
    VARIANT(grid_stride, AFTER(naive), AT_LEAST(60), TYPES(ALL_TYPES), NONE, CK_DETERMINISTIC,
            PARAMETERS(ANY_THREADS), depth, KERNELS("grid_stride"),
            "A grid-stride loop: the grid fits the chip, not the data",
            "Values that are the same for every element are loaded once per thread", "CUDA's programming guide"),
    VARIANT(vectorized, AFTER(grid_stride), AT_LEAST(60), TYPES(ALL_TYPES), NONE, CK_DETERMINISTIC,
            PARAMETERS(ANY_THREADS), depth, KERNELS("vectorized"), "16 bytes per load and store",
            "Wide accesses need fewer instructions for the same bytes", "T6, P11"),
};

} // namespace
} // namespace saxpy

CK_OPERATION(saxpy, "a * x + y, element by element", 3, 1)
