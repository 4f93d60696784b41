// intrinsics: the functions that both variants have, numbered as the words of the parameter `function`.
//
// evaluated() computes one of them `repeats` times and gives the last result, which is that of one time: x would change
// if a result ever were `never`, a NaN, which equals nothing. The compiler cannot know that, so it does the work.
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
