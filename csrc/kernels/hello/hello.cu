// hello: x[i] + i, and a greeting from each of the first `lines` threads. The launch and the table.
//
// One kernel: greeting.cuh. Views: x and the result, of one shape and without gaps.
#include "greeting.cuh"

#include "../launch.cuh"
#include "../table.h"

namespace hello {
namespace {

enum { THREADS, LINES }; // parameters

int64_t length(const ck_call *call) {
    return elements_of(call->views[0]);
}

int plan_greeting(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(check_same_elements(call, "hello", error));
    const int64_t threads = call->parameters[THREADS];
    return plan_row(call, plan, error, "hello", divide_up(length(call), threads), threads);
}

int run_greeting(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {
    return ck_launch(context, error, "greeting", greeting, ck_dim3(plan->grid), ck_dim3(plan->block), 0,
                     static_cast<const uint32_t *>(call->views[0].data), static_cast<uint32_t *>(call->views[1].data),
                     length(call), call->parameters[LINES]);
}

double depth(const ck_call *) {
    return 1;
}

void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(length(call));
    work->flops = n;
    work->bytes = 2 * 4 * n;
}

#define CK_FOLDER "hello/"

const ck_variant variants[] = {
    HOST_VARIANT(numpy, TYPES(SAME(INT32)), NONE, CK_DETERMINISTIC, depth, "hello/hello.cu", "NumPy, without a word",
                 "The host needs no kernel to add", "P, Hello World"),
    VARIANT(
        greeting, FIRST, AT_LEAST(60), TYPES(SAME(INT32)), NONE, CK_DETERMINISTIC,
        PARAMETERS(RANGE(threads, "threads per block", 4, 1, 1024), RANGE(lines, "greetings at most", 0, 0, 1 << 20)),
        depth, KERNELS("greeting"), "A thread an element, and a greeting from each",
        "Output of a kernel appears when the host synchronises", "P, Hello World"),
};

} // namespace
} // namespace hello

CK_OPERATION(hello, "Each thread's number, added to its element, and a greeting", 1, 1, hello::variants, hello::work,
             NULL, NULL)
