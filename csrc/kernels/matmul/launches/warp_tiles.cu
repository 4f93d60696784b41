// The launches of "warp_tiles", "small_tiles" and "warp_tiles_split_k". The table is in matmul.cu.
#include "../ladder/17_small_tiles.cuh"
#include "../ladder/18_warp_tiles_split_k.cuh"

#include "groups.cuh"

namespace matmul {

run_warp_tiles_if_of run_warp_tiles_if;

CK_RUN(warp_tiles) {
    return with_directions(call, plan, [&](auto a_along_k, auto b_along_k) {
        constexpr bool A = decltype(a_along_k)::value, B = decltype(b_along_k)::value;
        return launch(plan->block[0] == warp_tiles_large::THREADS ? warp_tiles<warp_tiles_large, A, B>
                                                                  : warp_tiles<warp_tiles_small, A, B>,
                      "warp_tiles", first_operands<float, false>(call), call, plan, context, error, nullptr, 0u);
    });
}

int run_warp_tiles_if(const operand_stack<float, false> &stack, int64_t products, const directions &along_k,
                      const unsigned *findings, unsigned bit, const ck_context *context, ck_error *error) {
    using size = warp_tiles_large;
    const int64_t tiles = product(divide_up(stack.first.m, size::ROWS), divide_up(stack.first.n, size::COLUMNS));
    const dim3 grid(static_cast<unsigned>(tiles), 1, static_cast<unsigned>(products));
    return with_directions(along_k, [&](auto a_along_k, auto b_along_k) {
        const auto kernel = warp_tiles<size, decltype(a_along_k)::value, decltype(b_along_k)::value>;
        return ck_launch_early(0, context, error, "warp_tiles", kernel, grid, dim3(size::THREADS), size::SHARED_BYTES,
                               stack, findings, bit);
    });
}

CK_RUN(small_tiles) {
    return with_directions(call, plan, [&](auto a_along_k, auto b_along_k) {
        return launch(small_tiles<decltype(a_along_k)::value, decltype(b_along_k)::value>, "small_tiles",
                      first_operands<float, false>(call), call, plan, context, error);
    });
}

CK_RUN(warp_tiles_split_k) {
    return with_directions(call, plan, [&](auto a_along_k, auto b_along_k) {
        constexpr bool A = decltype(a_along_k)::value, B = decltype(b_along_k)::value;
        return launch_parts<warp_tiles_small>(warp_tiles_split_k<A, B>, "warp_tiles_split_k",
                                              first_operands<float, false>(call), call, plan, context, error);
    });
}

} // namespace matmul
