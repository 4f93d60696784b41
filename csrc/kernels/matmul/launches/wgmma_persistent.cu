// The launches of "wgmma_persistent" and "wgmma_multicast" for each width of tiles. The table is in matmul.cu.
#include "hopper.cuh"
#include "../ladder/25_wgmma_multicast.cuh"

namespace matmul {

#define RUN_PERSISTENT(run, kernel, size, cluster)                                                                   \
    CK_RUN(run) {                                                                                                    \
        if (empty(call)) return CK_OK;                                                                               \
        return with_halves(call, plan, error, [&](auto element, auto a_along_k, auto b_along_k) {                    \
            using T = decltype(element);                                                                             \
            using tiles = wgmma_persistent_##size;                                                                   \
            constexpr bool A = decltype(a_along_k)::value, B = decltype(b_along_k)::value;                           \
            box_operands<T> operands = box_operands_of<T>(call);                                                     \
            operands.store_boxes = plan->bindings[2].kind == CK_BIND_TENSOR_MAP;                                     \
            return ck_launch_cluster(cluster, context, error, #kernel, kernel<T, tiles, A, B>, ck_dim3(plan->grid),  \
                                     ck_dim3(plan->block), plan->shared_bytes, ck_bound_map(context->bound[0]),      \
                                     ck_bound_map(context->bound[1]), ck_bound_map(context->bound[2]), operands);    \
        });                                                                                                          \
    }

CK_UNIT(RUN_PERSISTENT(wgmma_persistent_64, wgmma_persistent, 64, 0))
CK_UNIT(RUN_PERSISTENT(wgmma_persistent_128, wgmma_persistent, 128, 0))
CK_UNIT(RUN_PERSISTENT(wgmma_persistent_192, wgmma_persistent, 192, 0))
CK_UNIT(RUN_PERSISTENT(wgmma_persistent_256, wgmma_persistent, 256, 0))
CK_UNIT(RUN_PERSISTENT(wgmma_multicast_64, wgmma_multicast, 64, PAIR))
CK_UNIT(RUN_PERSISTENT(wgmma_multicast_128, wgmma_multicast, 128, PAIR))
CK_UNIT(RUN_PERSISTENT(wgmma_multicast_192, wgmma_multicast, 192, PAIR))
CK_UNIT(RUN_PERSISTENT(wgmma_multicast_256, wgmma_multicast, 256, PAIR))

} // namespace matmul
