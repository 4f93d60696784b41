// The launches of "tensor_cores_double". The table is in matmul.cu.
#include "../plans/split_k.cuh"

#include "groups.cuh"

namespace matmul {

// Whether the lines of both operands begin at multiples of 16 bytes, in all products of a stack.
static bool lines_begin_with_pairs(const ck_call *call, const directions &along_k) {
    uint64_t all = 0;
    for (const int i : {0, 1}) {
        const ck_view &view = call->views[i];
        const bool rows_are_lines = i == 0 ? along_k.a : !along_k.b;
        const int across = rows_are_lines ? 2 : 1; // the axis from line to line
        all |= reinterpret_cast<uintptr_t>(view.data);
        for (int axis = 1; axis <= view.ndim; ++axis)
            if ((axis > 2 || axis == across) && length(view, axis) > 1)
                all |= static_cast<uint64_t>(stride(view, axis));
    }
    return all % 16 == 0;
}

template <typename Size>
static int run_size(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {
    const bool transposed = few_columns_of_doubles(call);
    const directions as_given = directions_of(call, plan);
    const directions along_k = transposed ? directions{as_given.b, as_given.a} : as_given;
    const bool pairs = lines_begin_with_pairs(call, as_given);
    return with_directions(along_k, [&](auto a_along_k, auto b_along_k) {
        constexpr bool A = decltype(a_along_k)::value, B = decltype(b_along_k)::value;
        return launch_parts<Size>(
            pairs ? tensor_cores_double<Size, A, B, true> : tensor_cores_double<Size, A, B, false>,
            "tensor_cores_double", operands_of_lines<double>(call), call, plan, context, error, transposed, nullptr);
    });
}

CK_RUN(tensor_cores_double) {
    return plan->shared_bytes == tensor_cores_double_square::SHARED_BYTES
               ? run_size<tensor_cores_double_square>(call, plan, context, error)
               : run_size<tensor_cores_double_flat>(call, plan, context, error);
}

run_tensor_cores_double_unless_of run_tensor_cores_double_unless;

int run_tensor_cores_double_unless(const ck_call *call, const operand_stack<double, false> &stack,
                                   const directions &along_k, const residue_findings *unless,
                                   const ck_context *context, ck_error *error) {
    using size = tensor_cores_double_square;
    const int64_t tiles = product(divide_up(stack.first.m, size::ROWS), divide_up(stack.first.n, size::COLUMNS));
    const bool pairs = lines_begin_with_pairs(call, along_k);
    return with_directions(along_k, [&](auto a_along_k, auto b_along_k) {
        constexpr bool A = decltype(a_along_k)::value, B = decltype(b_along_k)::value;
        const auto kernel = pairs ? tensor_cores_double<size, A, B, true> : tensor_cores_double<size, A, B, false>;
        return ck_launch(context, error, "tensor_cores_double", kernel, dim3(static_cast<unsigned>(tiles)),
                         dim3(size::THREADS), size::SHARED_BYTES, stack, partial_sums<double>{nullptr, 1, false},
                         unless);
    });
}

} // namespace matmul
