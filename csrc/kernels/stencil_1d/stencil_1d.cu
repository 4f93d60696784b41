// stencil_1d: the sum of the 2*radius + 1 elements around each one. The launches and the table of the ladder; each
// kernel is in a file of its own.
//
// Begin with global_memory.cuh and follow the table. Views: x, with one axis, and the result, of equal length;
// contiguous. Elements outside the array count as 0. Every variant adds from left to right, so all results have the
// same bits.
#include "global_memory.cuh"
#include "shared_halo.cuh"
#include "register_window.cuh"

#include "../launch.cuh"
#include "../table.h"
#include "../types.cuh"

namespace stencil_1d {
namespace {

enum { MAX_RADIUS = 1024, MAX_THREADS = 1024 };

int64_t radius(const ck_call *call) {
    return call->parameters[0];
}
int64_t threads(const ck_call *call) {
    return call->parameters[1];
}

int plan_blocks(const ck_call *call, ck_plan *plan, ck_error *error, int64_t results) {
    CK_TRY(check_same_elements(call, error));
    return plan_row(call, plan, error, divide_up(length(call), results), threads(call));
}

// The shared memory for a block's tile and its halos, in elements of number<T>. The largest tile fits on every
// device.
constexpr size_t WIDEST_NUMBER = sizeof(complex<double>);
static_assert((MAX_THREADS + 2 * MAX_RADIUS) * WIDEST_NUMBER <= CK_SHARED_WITHOUT_ASKING, "shared_halo");
static_assert((WINDOW_THREADS * WINDOW<complex<double>> + 2 * MAX_RADIUS) * WIDEST_NUMBER <= CK_SHARED_WITHOUT_ASKING,
              "register_window");

int plan_tile(const ck_call *call, ck_plan *plan, ck_error *error, int64_t results) {
    CK_TRY(plan_blocks(call, plan, error, results));
    return with_any_type(call, error, [&](auto element) {
        const auto bytes = (results + 2 * radius(call)) * static_cast<int64_t>(sizeof(number<decltype(element)>));
        plan->shared_bytes = static_cast<size_t>(divide_up(bytes, 16) * 16);
        return static_cast<int>(CK_OK);
    });
}

int plan_global_memory(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_blocks(call, plan, error, threads(call));
}

int plan_shared_halo(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_tile(call, plan, error, threads(call));
}

int plan_register_window(const ck_call *call, ck_plan *plan, ck_error *error) {
    int window = 0;
    CK_TRY(with_any_type(call, error, [&](auto element) {
        window = WINDOW<decltype(element)>;
        return static_cast<int>(CK_OK);
    }));
    return plan_tile(call, plan, error, threads(call) * window);
}

#define ARGUMENTS input<T>(call, 0), output<T>(call), length(call), static_cast<int>(radius(call))
RUN(global_memory, with_any_type, global_memory<T>, ARGUMENTS)
RUN(shared_halo, with_any_type, shared_halo<T>, ARGUMENTS)
RUN(register_window, with_any_type, register_window<T>, ARGUMENTS)

// Elements outside the array are 0, and adding them causes no rounding.
double depth(const ck_call *call) {
    return static_cast<double>(smaller(length(call), 2 * radius(call)));
}

void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(length(call));
    work->flops = 2 * static_cast<double>(radius(call)) * n;
    work->bytes = 2 * n * static_cast<double>(ck_dtype_size(call->types.input));
}

#define CK_FOLDER "stencil_1d/"
#define RADIUS    RANGE(radius, "elements to each side", 3, 0, MAX_RADIUS)
#define THREADS   RANGE(threads, "threads per block", 256, 1, MAX_THREADS)
#define FEWER     RANGE(threads, "threads per block", 128, 1, WINDOW_THREADS)

const ck_variant variants[] = {
    VARIANT(global_memory, FIRST, AT_LEAST(60), TYPES(ALL_TYPES), NONE, CK_DETERMINISTIC, PARAMETERS(RADIUS, THREADS),
            depth, KERNELS("global_memory"), "One thread per element, reading global memory",
            "Neighboring threads read the same words, so the cache serves most of the reads", "P2"),
    VARIANT(shared_halo, AFTER(global_memory), AT_LEAST(60), TYPES(ALL_TYPES), NONE, CK_DETERMINISTIC,
            PARAMETERS(RADIUS, THREADS), depth, KERNELS("shared_halo"),
            "Each block loads a tile and its halo into shared memory: slower, because the L1 cache does it too",
            "Fetch once what the threads of a block share, with the edges that belong to neighboring blocks",
            "P2; M on halos"),
    VARIANT(register_window, AFTER(shared_halo), AT_LEAST(60), TYPES(ALL_TYPES), NONE, CK_DETERMINISTIC,
            PARAMETERS(RADIUS, FEWER), depth, KERNELS("register_window"),
            "Several results per thread, with a sliding window in registers",
            "Values kept in registers need not be read again", "beyond the documents' code"),
};

} // namespace
} // namespace stencil_1d

CK_OPERATION(stencil_1d, "The sum of each element and its neighbors within a radius", 1, 1)
