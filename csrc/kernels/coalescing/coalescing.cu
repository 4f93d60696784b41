// coalescing: x[offset::stride], optionally with one idle lane in each warp. The launch and the table.
//
// Views: x, with one axis; the result, ceil((n - offset) / stride) elements.
#include "elementwise.cuh"

#include "../grid.cuh"
#include "../launch.cuh"
#include "../result_length.h"
#include "../table.h"
#include "../types.cuh"

namespace coalescing {
namespace {

int64_t picked(int64_t n, int64_t offset, int64_t stride) {
    return n > offset ? divide_up(n - offset, stride) : 0;
}

int plan_elementwise(const ck_call *call, ck_plan *plan, ck_error *error) {
    const int64_t count = picked(elements_of(call->views[0]), call->parameters[1], call->parameters[2]);
    CK_TRY(check_result_length(call, count, error));
    return plan_row(call, plan, error, divide_up(count, call->parameters[0]), call->parameters[0]);
}

// Elements are only copied, so only their size matters.
template <typename Visit> int with_any_word(const ck_call *call, ck_error *error, Visit visit) {
    return ck_dtype_size(call->types.input) == 16 ? visit(complex<double>{}) : with_word(call, error, visit);
}
RUN(elementwise, with_any_word, elementwise<T>, input<T>(call, 0), output<T>(call), elements_of(call->views[1]),
    call->parameters[1], call->parameters[2], static_cast<int>(call->parameters[3]))

void work(const ck_call *call, ck_work *work) {
    work->flops = 0;
    work->bytes =
        2 * static_cast<double>(elements_of(call->views[0])) * static_cast<double>(ck_dtype_size(call->types.input));
}

#define CK_FOLDER "coalescing/"
#define SIZES     TYPES(SAME(UINT8), SAME(INT16), SAME(INT32), F32_F32_F32, F64_F64_F64, SAME(COMPLEX128))

const ck_variant variants[] = {
    VARIANT(elementwise, FIRST, AT_LEAST(60), SIZES, NONE, CK_DETERMINISTIC,
            PARAMETERS(ANY_THREADS, RANGE(offset, "elements before the first", 0, 0, 1024),
                       RANGE(stride, "elements between neighboring threads", 1, 1, 1024),
                       RANGE(idle, "idle lane of each warp, 32: no lane", 32, 0, 32)),
            exact, KERNELS("elementwise"), "One thread per element, with an offset or a stride",
            "Memory moves sectors of 32 bytes; a warp should use all of each sector", "T6, P11, M"),
};

} // namespace
} // namespace coalescing

CK_OPERATION(coalescing, "Copy a slice: x[offset::stride]", 1, 1)
