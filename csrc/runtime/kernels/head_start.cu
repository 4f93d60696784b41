#include "head_start.h"
#include "../../kernels/launch.cuh"

namespace timing {

__global__ void head_start() {}

} // namespace timing

extern "C" int ck_head_start(const ck_context *context, ck_error *error) {
    return ck_launch(context, error, "head_start", timing::head_start, dim3(1), dim3(1), 0);
}
