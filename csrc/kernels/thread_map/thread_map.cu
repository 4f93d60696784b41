// thread_map: each thread adds its number to its element. The launch and the table; the kernel is in a file of its
// own.
//
// Views: the array, with one to three axes; one number per thread, in an array whose shape is that of the grid
// followed by that of a block, slowest axis first; and the result, with the shape of the array. The shape of the
// numbers determines the grid and the block.
#include "coordinates.cuh"

#include "../grid.cuh"
#include "../launch.cuh"
#include "../result_length.h"
#include "../table.h"
#include "../types.cuh"

namespace thread_map {
namespace {

// CUDA's limits on the lengths of a block: x, y, z.
constexpr int64_t LONGEST_BLOCK[3] = {1024, 1024, 64};

// The length of axis `which` (x is 0) among the `count` axes from `first` on, slowest first; 1 for a missing axis.
int64_t along(const ck_view &view, int first, int count, int which) {
    return which < count ? view.shape[first + count - 1 - which] : 1;
}

int plan_coordinates(const ck_call *call, ck_plan *plan, ck_error *error) {
    *plan = ck_plan{};
    const ck_view &array = call->views[0], &numbers = call->views[1];
    const int axes = array.ndim;
    if (axes < 1 || axes > 3 || numbers.ndim != 2 * axes)
        return ck_fail(error, CK_BAD_VALUE,
                       "the array has %d axes and the numbers have %d, but the array must have 1 to 3 axes, and the "
                       "numbers twice as many, for the grid and the block",
                       axes, numbers.ndim);
    CK_TRY(check_result_length(call, elements_of(array), error));
    int64_t threads = 1;
    const bool none = elements_of(numbers) == 0;
    for (int i = 0; i < 3; ++i) {
        const int64_t blocks = none ? 1 : along(numbers, 0, axes, i),
                      length = none ? 1 : along(numbers, axes, axes, i);
        threads = product(threads, length);
        if (blocks > call->limits->max_grid[i] || length > LONGEST_BLOCK[i] ||
            threads > call->limits->max_threads_per_block)
            return ck_fail(
                error, CK_BAD_VALUE,
                "%lld blocks of %lld threads along %c: this device allows at most %lld blocks and %lld threads along "
                "this axis, and %d threads per block",
                static_cast<long long>(blocks), static_cast<long long>(length), "xyz"[i],
                static_cast<long long>(call->limits->max_grid[i]), static_cast<long long>(LONGEST_BLOCK[i]),
                call->limits->max_threads_per_block);
        plan->grid[i] = static_cast<unsigned>(blocks);
        plan->block[i] = static_cast<unsigned>(length);
    }
    for (int i = 0; i < call->view_count; ++i) plan->layout[i].contiguous = 1;
    plan->clear_outputs = 1;
    return CK_OK;
}

// If the grid is empty, a single thread is started; the array length 0 keeps it from accessing an element.
extent lengths_of(const ck_call *call) {
    const ck_view &array = call->views[0];
    const bool none = elements_of(call->views[1]) == 0;
    return {none ? 0 : along(array, 0, array.ndim, 0), along(array, 0, array.ndim, 1),
            along(array, 0, array.ndim, 2)};
}
template <typename Visit> int with_number_type(const ck_call *call, ck_error *error, Visit visit) {
    return with_unsigned_type<CK_INT32, CK_INT64>(call, error, visit);
}
RUN(coordinates, with_number_type, coordinates<T>, input<T>(call, 0), input<T>(call, 1), output<T>(call),
    lengths_of(call))

void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(elements_of(call->views[0]));
    const double threads = static_cast<double>(elements_of(call->views[1]));
    work->flops = n;
    work->bytes = (2 * n + threads) * static_cast<double>(ck_dtype_size(call->types.input));
}

#define CK_FOLDER "thread_map/"

const ck_variant variants[] = {
    VARIANT(coordinates, FIRST, AT_LEAST(60), TYPES(SAME(INT32), SAME(INT64)), NONE, CK_DETERMINISTIC, NO_PARAMETERS,
            roundings<1>, KERNELS("coordinates"), "Each thread adds its index to its element",
            "Index = blockIdx * blockDim + threadIdx, for each axis", "P4 to P7"),
};

} // namespace
} // namespace thread_map

CK_OPERATION(thread_map, "Each thread of a grid adds its index to its element", 2, 1)
