// The launches of "wgmma_multicast" with tiles of 192 columns: a unit of its own, for parallel builds.
#include "wgmma_persistent_run.cuh"

namespace matmul {

RUN_PERSISTENT(wgmma_multicast, 192, PAIR)

} // namespace matmul
