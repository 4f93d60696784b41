// intrinsics: the functions of both variants, in the order of the values of the parameter `function`.
//
// evaluated() computes a function `repeats` times and returns the last result, which equals the first. x would change
// if a result were ever equal to `never`; but `never` is NaN, which equals nothing. The compiler cannot know that, so
// it must keep the repetitions.
#ifndef CK_INTRINSICS_FUNCTIONS_CUH
#define CK_INTRINSICS_FUNCTIONS_CUH

#include <stdint.h>

#include <cuda_runtime.h>

namespace intrinsics {

enum function_word {
    DIVIDE,
    EXP,
    EXP10,
    LOG,
    LOG2,
    LOG10,
    SIN,
    COS,
    TAN,
    POWER,
    RECIPROCAL_ROOT,
    MULTIPLY24,
    FUNCTIONS
};

template <typename Function>
__device__ __forceinline__ float evaluated(Function f, float x, float y, int64_t repeats, float never) {
    float result = f(x, y);
    for (int64_t i = 1; i < repeats; ++i) {
        if (result == never) x += 1;
        result = f(x, y);
    }
    return result;
}

} // namespace intrinsics

#endif
