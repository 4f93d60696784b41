// hello: x[i] + i, and a greeting from each of the first `lines` threads. The launch and the table.
//
// One kernel: greeting.cuh. Views: x and the result, of equal shape and contiguous.
#include "greeting.cuh"

#include "../launch.cuh"
#include "../table.h"
#include "../types.cuh"

namespace hello {
namespace {

enum { THREADS, LINES }; // parameters

int plan_greeting(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(check_same_elements(call, error));
    const int64_t threads = call->parameters[THREADS];
    return plan_row(call, plan, error, divide_up(length(call), threads), threads);
}

RUN(greeting, with_only<uint32_t>, greeting, input<T>(call, 0), output<T>(call), length(call),
    call->parameters[LINES])

void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(length(call));
    work->flops = n;
    work->bytes = 2 * 4 * n;
}

#define CK_FOLDER "hello/"

const ck_variant variants[] = {
    VARIANT(greeting, FIRST, AT_LEAST(60), TYPES(SAME(INT32)), NONE, CK_DETERMINISTIC,
            PARAMETERS(RANGE(threads, "threads per block", 4, 1, 1024),
                       RANGE(lines, "maximum number of lines", 0, 0, 1 << 20)),
            roundings<1>, KERNELS("greeting"), "One thread per element, and each prints a line",
            "Output of a kernel appears when the host synchronizes", "P, Hello World"),
};

} // namespace
} // namespace hello

CK_OPERATION(hello, "Each thread adds its index to its element and prints a line", 1, 1)
