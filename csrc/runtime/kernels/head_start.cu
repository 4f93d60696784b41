#include "head_start.h"

#include "device_extras.cuh"

#include "../../kernels/launch.cuh"

namespace timing {

enum { HEAD_START_NS = 20000 };

__global__ void head_start() {
    const unsigned long long start = global_timer_ns();
    while (global_timer_ns() - start < HEAD_START_NS) {}
}

} // namespace timing

extern "C" int ck_head_start(const ck_context *context, ck_error *error) {
    return ck_launch(context, error, "head_start", timing::head_start, dim3(1), dim3(1), 0);
}
