// moving_sum: a weighted sum over the newest rows of each column. The launches and the table; each kernel is in a
// file of its own.
//
// Begin with runtime_index.cuh and follow the table. Views: x and the result, of equal shape (rows, columns),
// contiguous.
#include "runtime_index.cuh"
#include "compile_time_index.cuh"
#include "spilled.cuh"
#include "shared_array.cuh"

#include "../launch.cuh"
#include "../table.h"
#include "../types.cuh"

namespace moving_sum {
namespace {

enum { WINDOW_AT = 0, THREADS_AT = 1 }; // indices of the parameters

int64_t rows_of(const ck_call *call) {
    return call->views[0].shape[0];
}
int64_t columns_of(const ck_call *call) {
    return call->views[0].shape[1];
}

int plan_pieces(const ck_call *call, ck_plan *plan, ck_error *error) {
    for (int i = 0; i < call->view_count; ++i)
        if (call->views[i].ndim != 2)
            return ck_fail(error, CK_BAD_VALUE, "array %d has %d axes, but must have two: rows and columns", i,
                           call->views[i].ndim);
    CK_TRY(check_same_elements(call, error));
    const int64_t threads = call->parameters[THREADS_AT], window = call->parameters[WINDOW_AT];
    const int64_t abreast = divide_up(columns_of(call), threads > 0 ? threads : 1);
    return plan_row(call, plan, error, product(abreast, divide_up(rows_of(call), 8 * window)), threads);
}

#define plan_runtime_index      plan_pieces
#define plan_compile_time_index plan_pieces
#define plan_spilled            plan_pieces

int plan_shared_array(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_pieces(call, plan, error));
    plan->shared_bytes =
        static_cast<size_t>(call->parameters[WINDOW_AT]) * plan->block[0] * ck_dtype_size(call->types.input);
    if (plan->shared_bytes > call->limits->shared_per_block_optin)
        return ck_fail(error, CK_BAD_VALUE,
                       "threads=%u and window=%d need %zu bytes of shared memory per block, but a block on this "
                       "device has only %zu bytes. Use fewer threads",
                       plan->block[0], static_cast<int>(call->parameters[WINDOW_AT]), plan->shared_bytes,
                       call->limits->shared_per_block_optin);
    return CK_OK;
}

// For an empty array nothing is launched, because the kernels divide by its lengths.
template <typename Visit> int with_some_rows(const ck_call *call, ck_error *error, Visit visit) {
    return length(call) == 0 ? static_cast<int>(CK_OK) : with_float_type(call, error, visit);
}

// The kernel for the value of the parameter `window`.
#define CHOSEN(kernel)                                                                                               \
    (call->parameters[WINDOW_AT] == 8    ? kernel<T, 8>                                                              \
     : call->parameters[WINDOW_AT] == 16 ? kernel<T, 16>                                                             \
                                         : kernel<T, 32>)
#define ARRAYS input<T>(call, 0), output<T>(call), rows_of(call), columns_of(call)
RUN(runtime_index, with_some_rows, CHOSEN(runtime_index), ARRAYS)
RUN(compile_time_index, with_some_rows, CHOSEN(compile_time_index), ARRAYS)
RUN(spilled, with_some_rows, CHOSEN(spilled), ARRAYS)
RUN(shared_array, with_some_rows, CHOSEN(shared_array), ARRAYS)

// One rounding per product and one per addition, if the compiler does not fuse them.
double depth(const ck_call *call) {
    return 2.0 * static_cast<double>(call->parameters[WINDOW_AT]);
}

void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(elements_of(call->views[0]));
    const int64_t window = call->parameters[WINDOW_AT]; // 0 if the question is not about a particular variant
    work->flops = 2 * n * static_cast<double>(window > 0 ? window : 32);
    work->bytes = 2 * n * static_cast<double>(ck_dtype_size(call->types.input));
}

#define CK_FOLDER   "moving_sum/"
#define WINDOW      CHOICE(window, "rows in the window", 32, 8, 16)
#define UP_TO(most) PARAMETERS(WINDOW, RANGE(threads, "threads per block", 256, 1, most))

const ck_variant variants[] = {
    VARIANT(runtime_index, FIRST, AT_LEAST(60), TYPES(F32_F32_F32, F64_F64_F64), NONE, CK_DETERMINISTIC, UP_TO(1024),
            depth, KERNELS("runtime_index"), "A ring buffer in a local array, indexed at run time",
            "Registers have no addresses: an array that is indexed at run time is in local memory",
            "P9, local memory and registers; M, list indices in an array"),
    VARIANT(compile_time_index, AFTER(runtime_index), AT_LEAST(60), TYPES(F32_F32_F32, F64_F64_F64), NONE,
            CK_DETERMINISTIC, UP_TO(512), depth, KERNELS("compile_time_index"),
            "The unrolled loop: every index is a constant",
            "An array is in registers if the compiler knows every index", "P9, local memory and registers"),
    VARIANT(spilled, AFTER(compile_time_index), AT_LEAST(60), TYPES(F32_F32_F32, F64_F64_F64), NONE, CK_DETERMINISTIC,
            UP_TO(1024), depth, KERNELS("spilled"), "The same, limited to 32 registers per thread",
            "Values that do not fit in the allowed registers are spilled to local memory", "P9, register spilling"),
    VARIANT(shared_array, AFTER(runtime_index), AT_LEAST(70), TYPES(F32_F32_F32, F64_F64_F64), NONE, CK_DETERMINISTIC,
            UP_TO(256), depth, KERNELS("shared_array"), "The ring buffer in shared memory",
            "Shared memory can hold an array that is indexed at run time", "P9, shared memory"),
};

} // namespace
} // namespace moving_sum

CK_OPERATION(moving_sum, "A weighted moving sum down each column", 1, 1)
