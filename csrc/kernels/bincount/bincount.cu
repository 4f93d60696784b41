// bincount: counts how often each number occurs. The launches and the table of the ladder; each kernel is in a file
// of its own.
//
// Begin with global_atomics.cuh and follow the table. Views: x, with nonnegative numbers, contiguous, and the counts,
// one per bin. The caller determines the number of bins: see "extent".
#include "global_atomics.cuh"
#include "shared_atomics.cuh"
#include "warp_aggregated.cuh"

#include "../launch.cuh"
#include "../table.h"
#include "../types.cuh"

namespace bincount {
namespace {

enum { MOST_HELD = 48 * 1024 / sizeof(unsigned) }; // bins that fit in the shared memory of every chip without opt-in

int64_t bins_of(const ck_call *call) {
    return elements_of(call->views[1]);
}

int plan_for(const ck_call *call, ck_plan *plan, ck_error *error) {
    const int64_t threads = call->parameters[0];
    for (int i = 0; i < call->view_count; ++i)
        if (call->views[i].ndim != 1)
            return ck_fail(error, CK_BAD_VALUE, "array %d has %d axes, but numbers and counts must have one axis", i,
                           call->views[i].ndim);
    CK_TRY(plan_row(call, plan, error, blocks_for_chip(call, length(call), threads), threads));
    plan->clear_outputs = 1;
    return CK_OK;
}
constexpr auto plan_global_atomics = plan_for, plan_warp_aggregated = plan_for;

int plan_shared_atomics(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_for(call, plan, error));
    plan->shared_bytes = static_cast<size_t>(smaller(bins_of(call), MOST_HELD)) * sizeof(unsigned);
    return CK_OK;
}

// Nonnegative numbers are the same as signed and as unsigned integers. A negative number would become huge, without a
// bin.
#define NUMBERS_AND_BINS input<T>(call, 0), length(call), output<count>(call), static_cast<uint64_t>(bins_of(call))
RUN(global_atomics, with_integer_type, global_atomics<T>, NUMBERS_AND_BINS)
RUN(shared_atomics, with_integer_type, shared_atomics<T>, NUMBERS_AND_BINS,
    static_cast<unsigned>(plan->shared_bytes / sizeof(unsigned)))
RUN(warp_aggregated, with_integer_type, warp_aggregated<T>, NUMBERS_AND_BINS)

void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(length(call));
    work->flops = n;
    work->bytes = n * static_cast<double>(ck_dtype_size(call->types.input));
    if (call->view_count > 1) // the number of bins is known only from the output
        work->bytes += static_cast<double>(bins_of(call)) * static_cast<double>(ck_dtype_size(call->types.output));
}

#define CK_FOLDER "bincount/"
#define NUMBER_TYPES                                                                                                 \
    TYPES(I32_I64_I64, I64_I64_I64, WIDENED(BOOL, INT64), WIDENED(INT8, INT64), WIDENED(UINT8, INT64),               \
          WIDENED(INT16, INT64), WIDENED(UINT16, INT64), WIDENED(UINT32, INT64), WIDENED(UINT64, INT64))

const ck_variant variants[] = {
    VARIANT(global_atomics, FIRST, AT_LEAST(60), NUMBER_TYPES, NONE, CK_DETERMINISTIC, PARAMETERS(ANY_THREADS), exact,
            KERNELS("global_atomics"), "One atomic addition in global memory per element",
            "Atomic additions to one address are serialized; for integers the order does not change the sum",
            "P11, atomics"),
    VARIANT(shared_atomics, AFTER(global_atomics), AT_LEAST(60), NUMBER_TYPES, NONE, CK_DETERMINISTIC,
            PARAMETERS(ANY_THREADS), exact, KERNELS("shared_atomics"),
            "Each block counts in shared memory, then adds its counts",
            "Private counters per block reduce contention", "P11, atomics in shared memory"),
    VARIANT(warp_aggregated, AFTER(shared_atomics), AT_LEAST(70), NUMBER_TYPES, NONE, CK_DETERMINISTIC,
            PARAMETERS(WHOLE_WARPS), exact, KERNELS("warp_aggregated"),
            "One atomic addition per warp and bin: less contention, but slower than counting in shared memory",
            "Lanes of a warp can combine their updates before they go to memory", "P11, warp aggregation"),
};

} // namespace
} // namespace bincount

CK_OPERATION(bincount, "Count how often each integer occurs", 1, 1)
