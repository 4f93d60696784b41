// The launches of "wgmma_split" with tiles of 256 columns: a unit of its own, for parallel builds.
#include "wgmma_split_run.cuh"

namespace matmul {

CK_RUN(wgmma_split_256) {
    return run_wgmma_split_of<wgmma_split_256>(call, plan, context, error);
}

} // namespace matmul
