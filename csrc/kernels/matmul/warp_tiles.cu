// The launches of "warp_tiles". The table is in matmul.cu.
#include "warp_tiles.cuh"

#include "launches.cuh"

namespace matmul {

CK_RUN(warp_tiles) {
    return with_directions(call, plan, [&](auto a_along_k, auto b_along_k) {
        constexpr bool A = decltype(a_along_k)::value, B = decltype(b_along_k)::value;
        return launch(plan->block[0] == warp_tiles_large::THREADS ? warp_tiles<warp_tiles_large, A, B>
                                                                  : warp_tiles<warp_tiles_small, A, B>,
                      "warp_tiles", first_operands<float, false>(call), call, plan, context, error);
    });
}

} // namespace matmul
