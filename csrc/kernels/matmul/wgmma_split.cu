// The launches of "wgmma_split" with tiles of up to 128 columns: a unit of its own, for parallel builds.
#include "wgmma_split_run.cuh"

namespace matmul {

ck_run run_wgmma_split_256; // wgmma_split_256.cu

CK_RUN(wgmma_split) {
    if (empty(call)) return CK_OK;
    const int64_t width = wgmma_split_tiling_of(call).columns;
    return (width == 256   ? run_wgmma_split_256
            : width == 128 ? run_wgmma_split_of<wgmma_split_128>
                           : run_wgmma_split_of<wgmma_split_64>)(call, plan, context, error);
}

} // namespace matmul
