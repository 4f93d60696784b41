// moving_sum: a weighted sum over the newest rows of each column. The launches and the table; a kernel is in a file of
// its own.
//
// Begin with runtime_index.cuh and follow the table. Views: x and the result, of one shape (rows, columns), no gaps.
#include "runtime_index.cuh"
#include "compile_time_index.cuh"
#include "spilled.cuh"
#include "shared_array.cuh"

#include <type_traits>

#include "../launch.cuh"
#include "../table.h"

namespace moving_sum {
namespace {

enum { WINDOW_AT = 0, THREADS_AT = 1 }; // the parameters' places in a row

int64_t rows_of(const ck_call *call) {
    return call->views[0].shape[0];
}
int64_t columns_of(const ck_call *call) {
    return call->views[0].shape[1];
}

template <typename T> struct of_type { using type = T; };

// visit(of_type<T>{}, integral_constant<int, WINDOW>{}) for the call's type and window.
template <typename Visit> int with_type_and_window(const ck_call *call, ck_error *error, Visit visit) {
    const auto with_window = [&](auto type) {
        switch (call->parameters[WINDOW_AT]) {
        case 8: return visit(type, std::integral_constant<int, 8>{});
        case 16: return visit(type, std::integral_constant<int, 16>{});
        default: return visit(type, std::integral_constant<int, 32>{});
        }
    };
    switch (call->types.input) {
    case CK_FLOAT32: return with_window(of_type<float>{});
    case CK_FLOAT64: return with_window(of_type<double>{});
    }
    return ck_fail(error, CK_BAD_TYPE, "moving_sum", "no kernel for %s: a row lists a type that its run lacks",
                   ck_dtype_name(call->types.input));
}

int plan_pieces(const ck_call *call, ck_plan *plan, ck_error *error) {
    for (int i = 0; i < call->view_count; ++i)
        if (call->views[i].ndim != 2)
            return ck_fail(error, CK_BAD_VALUE, "moving_sum", "array %d has %d axes: rows and columns are two", i,
                           call->views[i].ndim);
    CK_TRY(check_same_elements(call, "moving_sum", error));
    const int64_t threads = call->parameters[THREADS_AT], window = call->parameters[WINDOW_AT];
    const int64_t abreast = divide_up(columns_of(call), threads > 0 ? threads : 1);
    return plan_row(call, plan, error, "moving_sum", product(abreast, divide_up(rows_of(call), 8 * window)), threads);
}

#define plan_runtime_index      plan_pieces
#define plan_compile_time_index plan_pieces
#define plan_spilled            plan_pieces

int plan_shared_array(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_pieces(call, plan, error));
    plan->shared_bytes =
        static_cast<size_t>(call->parameters[WINDOW_AT]) * plan->block[0] * ck_dtype_size(call->types.input);
    if (plan->shared_bytes > call->limits->shared_per_block_optin)
        return ck_fail(error, CK_BAD_VALUE, "moving_sum",
                       "threads=%u and window=%d need %zu bytes of shared memory a block, and this device has %zu: "
                       "take fewer threads",
                       plan->block[0], static_cast<int>(call->parameters[WINDOW_AT]), plan->shared_bytes,
                       call->limits->shared_per_block_optin);
    return CK_OK;
}

#define RUN(name)                                                                                                    \
    int run_##name(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {           \
        if (columns_of(call) == 0 || rows_of(call) == 0) return CK_OK;                                               \
        return with_type_and_window(call, error, [&](auto type, auto window) {                                       \
            using T = typename decltype(type)::type;                                                                 \
            return ck_launch(context, error, #name, name<T, decltype(window)::value>, ck_dim3(plan->grid),           \
                             ck_dim3(plan->block), plan->shared_bytes, static_cast<const T *>(call->views[0].data),  \
                             static_cast<T *>(call->views[1].data), rows_of(call), columns_of(call));                \
        });                                                                                                          \
    }

RUN(runtime_index)
RUN(compile_time_index)
RUN(spilled)
RUN(shared_array)

// A rounding a product and one a sum, where they are not one.
double depth(const ck_call *call) {
    return 2.0 * static_cast<double>(call->parameters[WINDOW_AT]);
}
double depth_numpy(const ck_call *) {
    return 2.0 * 32;
}

void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(elements_of(call->views[0]));
    const int64_t window = call->parameters[WINDOW_AT]; // 0 where no row is asked about
    work->flops = 2 * n * static_cast<double>(window > 0 ? window : 32);
    work->bytes = 2 * n * static_cast<double>(ck_dtype_size(call->types.input));
}

#define CK_FOLDER   "moving_sum/"
#define WINDOW      CHOICE(window, "rows that count", 32, 8, 16)
#define UP_TO(most) PARAMETERS(WINDOW, RANGE(threads, "threads per block", 256, 1, most))

const ck_variant variants[] = {
    HOST_VARIANT(numpy, TYPES(F32_F32_F32, F64_F64_F64), NONE, CK_DETERMINISTIC, depth_numpy,
                 "moving_sum/moving_sum.cu", "A scaled copy of the whole array for each row of the window, by NumPy",
                 "Whole arrays go through memory once for each row that counts", "NumPy"),
    VARIANT(runtime_index, FIRST, AT_LEAST(60), TYPES(F32_F32_F32, F64_F64_F64), NONE, CK_DETERMINISTIC, UP_TO(1024),
            depth, KERNELS("runtime_index"), "A ring in an array of the thread, indexed by the row",
            "Registers have no addresses: an array indexed at run time is in local memory",
            "P9, local memory and registers; M, lists' indices in an array"),
    VARIANT(compile_time_index, AFTER(runtime_index), AT_LEAST(60), TYPES(F32_F32_F32, F64_F64_F64), NONE,
            CK_DETERMINISTIC, UP_TO(512), depth, KERNELS("compile_time_index"),
            "The loop written out, every index a constant",
            "An array is in registers if the compiler knows each index", "P9, local memory and registers"),
    VARIANT(spilled, AFTER(compile_time_index), AT_LEAST(60), TYPES(F32_F32_F32, F64_F64_F64), NONE, CK_DETERMINISTIC,
            UP_TO(1024), depth, KERNELS("spilled"), "The same with 32 registers a thread",
            "What does not fit into the registers that are allowed is spilled", "P9, register spilling"),
    VARIANT(shared_array, AFTER(runtime_index), AT_LEAST(70), TYPES(F32_F32_F32, F64_F64_F64), NONE, CK_DETERMINISTIC,
            UP_TO(256), depth, KERNELS("shared_array"), "The ring in shared memory",
            "Where the index is not known beforehand, shared memory can hold the array", "P9, shared memory"),
};

} // namespace
} // namespace moving_sum

CK_OPERATION(moving_sum, "A weighted sum over the newest rows of each column: the newest counts most", 1, 1,
             moving_sum::variants, moving_sum::work, NULL, NULL)
