// bank_conflicts: reads of shared memory by lanes whose words are `stride` words apart. The launches and the table.
//
// Views: x, treated as a single row and divided into tiles of 1024 elements; the result, 256 numbers per tile (see
// strided.cuh).
#include "strided.cuh"
#include "padded.cuh"

#include "../grid.cuh"
#include "../launch.cuh"
#include "../result_length.h"
#include "../table.h"
#include "../types.cuh"

namespace bank_conflicts {
namespace {

int64_t tiles(const ck_call *call) {
    return divide_up(elements_of(call->views[0]), TILE);
}

int plan_words(const ck_call *call, ck_plan *plan, ck_error *error, int64_t distance) {
    CK_TRY(plan_row(call, plan, error, tiles(call), THREADS));
    CK_TRY(check_result_length(call, product(tiles(call), THREADS), error));
    plan->shared_bytes = ((LANES - 1) * distance + 1) * sizeof(uint32_t);
    plan->clock_blocks = plan->grid[0];
    return CK_OK;
}

int plan_strided(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_words(call, plan, error, call->parameters[0]);
}

int plan_padded(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_words(call, plan, error, call->parameters[0] + 1);
}

#define ARGUMENTS                                                                                                    \
    input<T>(call, 0), output<T>(call), length(call), tiles(call), static_cast<int>(call->parameters[0]),            \
        context->clocks
RUN(strided, with_only<uint32_t>, strided, ARGUMENTS)
RUN(padded, with_only<uint32_t>, padded, ARGUMENTS)

void work(const ck_call *call, ck_work *work) {
    const double results = static_cast<double>(tiles(call)) * THREADS;
    work->flops = 2 * results * ROUNDS;
    work->bytes = (static_cast<double>(elements_of(call->views[0])) + results) * sizeof(uint32_t);
}

#define CK_FOLDER     "bank_conflicts/"
#define STRIDE(least) RANGE(stride, "words between neighboring lanes", 16, least, 32)

const ck_variant variants[] = {
    VARIANT(strided, FIRST, AT_LEAST(60), TYPES(SAME(INT32)), NONE, CK_DETERMINISTIC | CK_READS_CLOCK,
            PARAMETERS(STRIDE(0)), roundings<1>, KERNELS("strided"), "Lane i reads word i * stride",
            "Lanes that read different words of the same bank are served one after another", "T6, P11"),
    VARIANT(padded, AFTER(strided), AT_LEAST(60), TYPES(SAME(INT32)), NONE, CK_DETERMINISTIC | CK_READS_CLOCK,
            PARAMETERS(STRIDE(1)), roundings<1>, KERNELS("padded"), "One word of padding after every stride words",
            "An odd distance between lanes spreads 32 lanes over 32 banks", "T6, P11"),
};

} // namespace
} // namespace bank_conflicts

CK_OPERATION(bank_conflicts, "Repeated reads of shared memory with a stride between lanes", 1, 1)
