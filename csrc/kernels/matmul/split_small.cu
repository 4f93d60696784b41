// The launches of "split_small". The table is in matmul.cu.
#include "split_small.cuh"

#include "launches.cuh"

namespace matmul {

namespace {

// Whether the kernel for whole tiles can be used: see WHOLE in split_small.cuh.
bool all_whole(const ck_call *call, const operands<float, false> &first, const stack_axes &axes,
               const directions &along_k) {
    using size = split_small_size;
    const stack_axis &outer = axes.axis[0]; // zeros, if there is none
    const auto aligned = [](const void *data, int64_t pitch, int64_t to_next_product, int64_t elements) {
        return reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(elements * 4) == 0 &&
               pitch % elements == 0 && to_next_product % elements == 0;
    };
    return axes.count <= 1 && first.k > 0 && first.m % size::SIDE == 0 && first.n % size::SIDE == 0 &&
           first.k % size::STEP == 0 && first.n / size::SIDE <= call->limits->max_grid[1] &&
           aligned(first.a.data, along_k.a ? first.a.row_stride : first.a.column_stride, outer.a, 4) &&
           aligned(first.b.data, along_k.b ? first.b.column_stride : first.b.row_stride, outer.b, 4) &&
           aligned(first.c.data, first.c.row_stride, outer.c, 2) && first.c.column_stride == 1;
}

} // namespace

CK_RUN(split_small) {
    if (empty(call)) return CK_OK;
    using size = split_small_size;
    const auto first = first_operands<float, false>(call);
    const directions along_k = directions_of(call, plan);
    const stack_axes axes = axes_of<float>(call);
    const bool whole = all_whole(call, first, axes, along_k);
    // A row of the grid for each column of tiles, if it can have so many.
    const unsigned down = static_cast<unsigned>(divide_up(first.m, size::SIDE)),
                   across = static_cast<unsigned>(divide_up(first.n, size::SIDE));
    const bool in_rows = across <= call->limits->max_grid[1];
    return with_directions(along_k, [&](auto a_along_k, auto b_along_k) {
        constexpr bool A = decltype(a_along_k)::value, B = decltype(b_along_k)::value;
        return in_parts(first, axes, plan->grid[2], [&](const operand_stack<float, false> &stack, int64_t count) {
            const unsigned products = static_cast<unsigned>(count);
            return ck_launch(context, error, "split_small",
                             whole ? split_small<A, B, true> : split_small<A, B, false>,
                             in_rows ? dim3(down, across, products) : dim3(down * across, 1, products),
                             dim3(size::THREADS), 0, stack);
        });
    });
}

} // namespace matmul
