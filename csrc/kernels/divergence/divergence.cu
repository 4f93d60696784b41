// divergence: two paths, and a choice of which threads take which. The launch and the table. Views: x and the result,
// of equal shape.
#include "branches.cuh"

#include "../launch.cuh"
#include "../table.h"
#include "../types.cuh"

namespace divergence {
namespace {

int plan_branches(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(check_same_elements(call, error));
    return plan_row(call, plan, error, divide_up(length(call), THREADS), THREADS);
}

RUN(branches, with_only<uint32_t>, branches, input<T>(call, 0), output<T>(call), length(call),
    static_cast<int>(call->parameters[0]))

void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(length(call));
    work->flops = 2 * n * ROUNDS;
    work->bytes = 2 * n * sizeof(uint32_t);
}

#define CK_FOLDER "divergence/"

const ck_variant variants[] = {
    VARIANT(branches, FIRST, AT_LEAST(60), TYPES(SAME(INT32)), NONE, CK_DETERMINISTIC,
            PARAMETERS(
                WORDS(branch, "threads on the second path", "first", "second", "thread", "lane", "odd_lane", "warp")),
            exact, KERNELS("branches"), "Two branches of equal length, and a choice of which threads take which",
            "A warp whose lanes disagree executes both branches", "P11"),
};

} // namespace
} // namespace divergence

CK_OPERATION(divergence, "A chain of multiplications, one of two chosen by the thread index", 1, 1)
