// divergence: two paths, and who takes which. The launch and the table. Views: x and the result, of one shape.
#include "branches.cuh"

#include "../launch.cuh"
#include "../table.h"

namespace divergence {
namespace {

int plan_branches(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(check_same_elements(call, "divergence", error));
    return plan_row(call, plan, error, "divergence", divide_up(elements_of(call->views[0]), THREADS), THREADS);
}

int run_branches(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {
    return ck_launch(context, error, "branches", branches, ck_dim3(plan->grid), ck_dim3(plan->block), 0,
                     static_cast<const uint32_t *>(call->views[0].data), static_cast<uint32_t *>(call->views[1].data),
                     elements_of(call->views[0]), static_cast<int>(call->parameters[0]));
}

double depth(const ck_call *) {
    return 0;
}

void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(elements_of(call->views[0]));
    work->flops = 2 * n * ROUNDS;
    work->bytes = 2 * n * sizeof(uint32_t);
}

#define CK_FOLDER "divergence/"

const ck_variant variants[] = {
    HOST_VARIANT(numpy, TYPES(SAME(INT32)), NONE, CK_DETERMINISTIC, depth, "divergence/divergence.cu",
                 "Both paths on the host, each for its elements", "A branch is a choice among elements", "P11"),
    VARIANT(branches, FIRST, AT_LEAST(60), TYPES(SAME(INT32)), NONE, CK_DETERMINISTIC,
            PARAMETERS(
                WORDS(branch, "who takes the second path", "first", "second", "thread", "lane", "odd_lane", "warp")),
            depth, KERNELS("branches"), "Two paths of one length, and who takes which",
            "A warp whose lanes disagree walks both paths", "P11"),
};

} // namespace
} // namespace divergence

CK_OPERATION(divergence, "One of two chains of multiplications, chosen by the thread's place", 1, 1,
             divergence::variants, divergence::work, NULL, NULL)
