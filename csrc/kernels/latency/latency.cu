// latency: x[i] plus the result of a chain of 64 multiply-adds that starts with i. The launches and the table.
//
// Views: x and the result, of equal shape.
#include "late.cuh"
#include "early.cuh"
#include "several.cuh"

#include "../launch.cuh"
#include "../table.h"
#include "../types.cuh"

namespace latency {
namespace {

int plan_elements(const ck_call *call, ck_plan *plan, ck_error *error, int64_t elements) {
    CK_TRY(check_same_elements(call, error));
    const int64_t threads = call->parameters[0];
    const int64_t useful = divide_up(divide_up(length(call), elements), threads);
    return plan_row(call, plan, error, smaller(call->parameters[1], useful), threads);
}

int plan_late(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_elements(call, plan, error, 1);
}
constexpr auto plan_early = plan_late;

int plan_several(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_elements(call, plan, error, call->parameters[2]);
}

// The kernel for the value of the parameter `elements`.
#define SEVERAL                                                                                                      \
    (call->parameters[2] == 1   ? several<1>                                                                         \
     : call->parameters[2] == 2 ? several<2>                                                                         \
     : call->parameters[2] == 4 ? several<4>                                                                         \
                                : several<8>)
RUN(late, with_only<uint32_t>, late, input<T>(call, 0), output<T>(call), length(call), 0u)
RUN(early, with_only<uint32_t>, early, input<T>(call, 0), output<T>(call), length(call))
RUN(several, with_only<uint32_t>, SEVERAL, input<T>(call, 0), output<T>(call), length(call))

void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(length(call));
    work->flops = 2 * n * ROUNDS;
    work->bytes = 2 * n * sizeof(uint32_t);
}

#define CK_FOLDER "latency/"
#define GRID      ANY_THREADS, RANGE(blocks, "maximum number of blocks", 264, 1, 65535)

const ck_variant variants[] = {
    VARIANT(late, FIRST, AT_LEAST(60), TYPES(SAME(INT32)), NONE, CK_DETERMINISTIC, PARAMETERS(GRID), exact,
            KERNELS("late"), "Compute, then load, then use the loaded value",
            "The thread waits for the full latency of a load that is issued late", "M"),
    VARIANT(early, AFTER(late), AT_LEAST(60), TYPES(SAME(INT32)), NONE, CK_DETERMINISTIC, PARAMETERS(GRID), exact,
            KERNELS("early"), "Load, compute, then use the loaded value",
            "A load does not block: independent instructions run while it is in flight", "M"),
    VARIANT(several, AFTER(early), AT_LEAST(60), TYPES(SAME(INT32)), NONE, CK_DETERMINISTIC,
            PARAMETERS(GRID, CHOICE(elements, "elements in flight per thread", 4, 1, 2, 8)), exact,
            KERNELS("several"), "Several elements per thread at once", "The latencies of independent loads overlap",
            "M"),
};

} // namespace
} // namespace latency

CK_OPERATION(latency, "Each element plus the result of a chain of multiply-adds", 1, 1)
