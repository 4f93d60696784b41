// The launches of "split_small". The table is in matmul.cu.
#include "split_small.cuh"

#include "launches.cuh"

namespace matmul {

namespace {

// Whether all tiles are whole, and all lines are aligned, in all products of the stack.
bool all_whole(const ck_call *call, const operands<float, false> &first, const directions &along_k) {
    using size = split_small_size;
    const auto aligned = [](const void *data, int64_t pitch, int64_t elements) {
        return reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(elements * 4) == 0 && pitch % elements == 0;
    };
    bool whole = first.m % size::SIDE == 0 && first.n % size::SIDE == 0 && first.k % size::STEP == 0 &&
                 aligned(first.a.data, along_k.a ? first.a.row_stride : first.a.column_stride, 4) &&
                 aligned(first.b.data, along_k.b ? first.b.column_stride : first.b.row_stride, 4) &&
                 aligned(first.c.data, first.c.row_stride, 2) && first.c.column_stride == 1;
    const stack_axes axes = axes_of<float>(call);
    for (int i = 0; i < axes.count; ++i)
        whole = whole && axes.axis[i].a % 4 == 0 && axes.axis[i].b % 4 == 0 && axes.axis[i].c % 2 == 0;
    return whole;
}

} // namespace

CK_RUN(split_small) {
    const auto first = first_operands<float, false>(call);
    const directions along_k = directions_of(call, plan);
    const bool whole = all_whole(call, first, along_k);
    return with_directions(along_k, [&](auto a_along_k, auto b_along_k) {
        constexpr bool A = decltype(a_along_k)::value, B = decltype(b_along_k)::value;
        return launch(whole ? split_small<A, B, true> : split_small<A, B, false>, "split_small", first, call, plan,
                      context, error);
    });
}

} // namespace matmul
