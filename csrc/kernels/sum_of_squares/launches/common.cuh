// What the launches of this folder share: the types that a kernel is compiled for, and SUM, which defines the run
// function of a variant.
#ifndef CK_SUM_OF_SQUARES_LAUNCHES_COMMON_CUH
#define CK_SUM_OF_SQUARES_LAUNCHES_COMMON_CUH

#include "../../grid.cuh"
#include "../../launch.cuh"
#include "../../types.cuh"

namespace sum_of_squares {

// How T accumulates; for integers see square.cuh.
template <typename T> using sum_of = accumulator<T, unsigned long long>;

template <typename Visit> int with_main_type(const ck_call *call, ck_error *error, Visit visit) {
    return with_type<CK_INT32, CK_INT64, CK_FLOAT32, CK_FLOAT64>(call, error, visit);
}

// For variants that take every type.
template <typename Visit> int with_every_type(const ck_call *call, ck_error *error, Visit visit) {
    return with_type<CK_INTEGERS, CK_FLOAT16, CK_BFLOAT16, CK_FLOAT32, CK_FLOAT64>(call, error, visit);
}

// Kernels that store their sums in `sums` (the partial sums, or the output) have the same arguments.
#define SUM(variant, with, sums, ...)                                                                                \
    RUN(variant, with, (variant<T, sum_of<T>>), input<T>(call, 0), length(call), static_cast<sum_of<T> *>(sums),     \
        ##__VA_ARGS__)

} // namespace sum_of_squares

#endif
