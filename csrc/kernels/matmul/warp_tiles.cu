// The launches of "warp_tiles". The table is in matmul.cu.
#include "warp_tiles.cuh"

#include "launches.cuh"

namespace matmul {

run_warp_tiles_if_of run_warp_tiles_if;

CK_RUN(warp_tiles) {
    return with_directions(call, plan, [&](auto a_along_k, auto b_along_k) {
        constexpr bool A = decltype(a_along_k)::value, B = decltype(b_along_k)::value;
        return launch(plan->block[0] == warp_tiles_large::THREADS ? warp_tiles<warp_tiles_large, A, B>
                                                                  : warp_tiles<warp_tiles_small, A, B>,
                      "warp_tiles", first_operands<float, false>(call), call, plan, context, error, nullptr, 0);
    });
}

int run_warp_tiles_if(const operand_stack<float, false> &stack, int64_t products, bool a_along_k, bool b_along_k,
                      const int *choice, int wanted, const ck_context *context, ck_error *error) {
    using size = warp_tiles_large;
    const auto kernel = a_along_k ? (b_along_k ? warp_tiles<size, true, true> : warp_tiles<size, true, false>)
                                  : (b_along_k ? warp_tiles<size, false, true> : warp_tiles<size, false, false>);
    const int64_t tiles = product(divide_up(stack.first.m, size::ROWS), divide_up(stack.first.n, size::COLUMNS));
    const dim3 grid(static_cast<unsigned>(tiles), 1, static_cast<unsigned>(products));
    return ck_launch_early(0, context, error, "warp_tiles", kernel, grid, dim3(size::THREADS), size::SHARED_BYTES,
                           stack, choice, wanted);
}

} // namespace matmul
