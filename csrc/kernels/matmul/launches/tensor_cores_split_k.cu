// The launches of "tensor_cores_split_k". The table is in matmul.cu.
#include "../ladder/21_tensor_cores_split_k.cuh"

#include "groups.cuh"

namespace matmul {

CK_RUN(tensor_cores_split_k) {
    return with_halves(call, plan, error, [&](auto element, auto a_along_k, auto b_along_k) {
        using T = decltype(element);
        constexpr bool A = decltype(a_along_k)::value, B = decltype(b_along_k)::value;
        return launch_parts<tensor_cores_small>(tensor_cores_split_k<T, A, B>, "tensor_cores_split_k",
                                                operands_of_lines<T>(call), call, plan, context, error);
    });
}

} // namespace matmul
