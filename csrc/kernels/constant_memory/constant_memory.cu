// constant_memory: combines each element with the numbers of a small table, which is stored in one of four kinds of
// memory. The launches and the table of the ladder; each kernel is in a file of its own.
//
// Begin with mix.cuh, then literal.cuh, and follow the table. Views: x (any shape), the table (4 numbers, or 1 to
// 1024), and the result, with the shape of x; all contiguous.
#include "literal.cuh"
#include "scalar.cuh"
#include "array.cuh"
#include "global.cuh"

#include "../launch.cuh"
#include "../table.h"
#include "../types.cuh"

namespace constant_memory {
namespace {

enum { INDEX, THREADS }; // parameters

int plan_table(const ck_call *call, ck_plan *plan, ck_error *error, int64_t least, int64_t most) {
    const int64_t n = length(call), numbers = elements_of(call->views[1]);
    if (elements_of(call->views[2]) != n)
        return ck_fail(error, CK_BAD_VALUE, "x has %lld elements, but the result has %lld", static_cast<long long>(n),
                       static_cast<long long>(elements_of(call->views[2])));
    if (numbers < least || numbers > most)
        return ck_fail(error, CK_BAD_VALUE,
                       "the table has %lld numbers, but this variant needs at least %lld and at most %lld",
                       static_cast<long long>(numbers), static_cast<long long>(least), static_cast<long long>(most));
    const int64_t threads = call->parameters[THREADS];
    return plan_row(call, plan, error, divide_up(n, threads), threads);
}

int plan_literal(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_table(call, plan, error, LITERALS, LITERALS);
}

int plan_scalar(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_table(call, plan, error, LITERALS, LITERALS));
    plan->bindings[0] = ck_bind_symbol(CK_SYMBOL(scalars), 1);
    return CK_OK;
}

int plan_array(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_table(call, plan, error, 1, LONGEST));
    plan->bindings[0] = ck_bind_symbol(CK_SYMBOL(numbers), 1);
    return CK_OK;
}

int plan_global(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_table(call, plan, error, 1, LONGEST);
}

// The kernel for the value of the parameter `index`.
#define CHOSEN(kernel) call->parameters[INDEX] == UNIFORM ? kernel<UNIFORM> : kernel<DIVERGENT>
#define X              input<T>(call, 0)
#define TABLE          input<T>(call, 1)
#define TABLE_WORDS    static_cast<int>(elements_of(call->views[1]))
RUN(literal, with_only<uint32_t>, CHOSEN(literal), X, output<T>(call), length(call))
RUN(scalar, with_only<uint32_t>, CHOSEN(scalar), X, output<T>(call), length(call))
RUN(array, with_only<uint32_t>, CHOSEN(array), X, output<T>(call), length(call), TABLE_WORDS)
RUN(global, with_only<uint32_t>, CHOSEN(global), X, TABLE, output<T>(call), length(call), TABLE_WORDS)

void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(length(call)), numbers = static_cast<double>(elements_of(call->views[1]));
    work->flops = 2.0 * ROUNDS * n;
    work->bytes = 4 * (2 * n + numbers);
}

#define CK_FOLDER "constant_memory/"
#define OWN       PARAMETERS(WORDS(index, "index of the first number", "uniform", "divergent"), ANY_THREADS)

const ck_variant variants[] = {
    VARIANT(literal, FIRST, AT_LEAST(60), TYPES(SAME(UINT32)), NONE, CK_DETERMINISTIC, OWN, roundings<1>,
            KERNELS("literal"), "The table as literals in the code",
            "Constants known at compile time belong in the instructions", "M, constant memory"),
    VARIANT(scalar, AFTER(literal), AT_LEAST(60), TYPES(SAME(UINT32)), NONE, CK_DETERMINISTIC, OWN, roundings<1>,
            KERNELS("scalar"), "The table as scalars in __constant__ memory",
            "As fast as a literal, and the host can change it between launches", "M, constant memory"),
    VARIANT(array, AFTER(scalar), AT_LEAST(60), TYPES(SAME(UINT32)), NONE, CK_DETERMINISTIC, OWN, roundings<1>,
            KERNELS("array"), "The table as an array in __constant__ memory",
            "Constant memory serves one address per access: fast if all lanes read the same word",
            "M, constant memory"),
    VARIANT(global, AFTER(array), AT_LEAST(60), TYPES(SAME(UINT32)), NONE, CK_DETERMINISTIC, OWN, roundings<1>,
            KERNELS("global"), "The table as an array in global memory",
            "Global memory is cached too, and lanes can read different words", "M, constant memory"),
};

} // namespace
} // namespace constant_memory

CK_OPERATION(constant_memory, "Combine each element with a small table, stored in one of four kinds of memory", 2, 1)
