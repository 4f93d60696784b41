// The launches of "tensor_cores_split_k". The table is in matmul.cu.
#include "../ladder/21_tensor_cores_split_k.cuh"

#include "groups.cuh"

namespace matmul {

CK_RUN(tensor_cores_split_k) {
    return with_halves(call, plan, error, [&](auto element, auto a_along_k, auto b_along_k) {
        using T = decltype(element);
        constexpr bool A = decltype(a_along_k)::value, B = decltype(b_along_k)::value;
        const auto launch = [&](auto size) {
            using Size = decltype(size);
            return launch_parts<Size>(tensor_cores_split_k<T, Size, A, B>, "tensor_cores_split_k",
                                      operands_of_lines<T>(call), call, plan, context, error);
        };
        return plan->shared_bytes == any_lines_large::SHARED_BYTES ? launch(any_lines_large{})
                                                                   : launch(any_lines_small{});
    });
}

} // namespace matmul
