// intrinsics: a function of each element, in full precision and as CUDA's fast intrinsic. The launches and the table.
//
// Begin with full.cuh, then fast.cuh. Views: x, y (ignored by functions of one argument) and the result, of equal
// shape and contiguous.
#include "full.cuh"
#include "fast.cuh"

#include <limits>

#include "../launch.cuh"
#include "../table.h"
#include "../types.cuh"

namespace intrinsics {
namespace {

enum { FUNCTION, REPEATS, THREADS }; // parameters

int plan_full(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(check_same_elements(call, error));
    const int64_t threads = call->parameters[THREADS];
    return plan_row(call, plan, error, divide_up(length(call), threads), threads);
}
#define plan_fast plan_full

// In the order of the values of the parameter `function`.
#define CHOSEN(variant)                                                                                              \
    chosen_of(call->parameters[FUNCTION], variant<DIVIDE>, variant<EXP>, variant<EXP10>, variant<LOG>,               \
              variant<LOG2>, variant<LOG10>, variant<SIN>, variant<COS>, variant<TAN>, variant<POWER>,               \
              variant<RECIPROCAL_ROOT>, variant<MULTIPLY24>)
template <typename Kernel, typename... More> Kernel *chosen_of(int64_t which, Kernel *first, More *...more) {
    static_assert(sizeof...(more) + 1 == FUNCTIONS, "one kernel per function");
    Kernel *const kernels[] = {first, more...};
    return kernels[which];
}

#define ARGUMENTS                                                                                                    \
    input<T>(call, 0), input<T>(call, 1), output<T>(call), length(call), call->parameters[REPEATS],                  \
        std::numeric_limits<T>::quiet_NaN()
RUN(full, with_only<float>, CHOSEN(full), ARGUMENTS)
RUN(fast, with_only<float>, CHOSEN(fast), ARGUMENTS)

// In units in the last place, for arguments and results of the order of 1: the figures of CUDA's tables, rounded up.
// The experiment checks each function against its own bound.
double depth(const ck_call *) {
    return 16;
}

void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(length(call));
    work->flops = n;
    work->bytes = 3 * 4 * n;
}

#define CK_FOLDER "intrinsics/"
#define OWN                                                                                                          \
    PARAMETERS(WORDS(function, "function name", "divide", "exp", "exp10", "log", "log2", "log10", "sin", "cos",      \
                     "tan", "power", "reciprocal_root", "multiply24"),                                               \
               RANGE(repeats, "evaluations per element", 1, 1, 1 << 20), ANY_THREADS)

const ck_variant variants[] = {
    VARIANT(full, FIRST, AT_LEAST(60), TYPES(F32_F32_F32), NONE, CK_DETERMINISTIC, OWN, depth, KERNELS("full"),
            "The functions of the C library: sinf, expf, ...",
            "Accurate for every argument, at the price of tens of instructions", "T6"),
    VARIANT(fast, AFTER(full), AT_LEAST(60), TYPES(F32_F32_F32), NONE, CK_DETERMINISTIC, OWN, depth, KERNELS("fast"),
            "Fast intrinsics: __sinf, __expf, ...", "A few instructions, with an error that grows with the argument",
            "T6"),
};

} // namespace
} // namespace intrinsics

CK_OPERATION(intrinsics, "An elementary function of each element, by full-precision and fast instructions", 2, 1)
