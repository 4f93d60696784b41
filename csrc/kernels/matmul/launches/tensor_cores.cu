// The launches of "tensor_cores". The table is in matmul.cu.
#include "../ladder/20_tensor_cores.cuh"

#include "common.cuh"

namespace matmul {

CK_RUN(tensor_cores) {
    const bool large = plan->block[0] == tensor_cores_large::THREADS;
    return with_type<CK_FLOAT16, CK_BFLOAT16>(call, error, [&](auto element) {
        using T = decltype(element);
        return with_directions(call, plan, [&](auto a_along_k, auto b_along_k) {
            constexpr bool A = decltype(a_along_k)::value, B = decltype(b_along_k)::value;
            return launch(large ? tensor_cores<T, tensor_cores_large, A, B>
                                : tensor_cores<T, tensor_cores_small, A, B>,
                          "tensor_cores", operands_of_lines<T>(call), call, plan, context, error);
        });
    });
}

} // namespace matmul
