#include "head_start.h"
#include "launch.cuh"

namespace {

__global__ void head_start() {}

} // namespace

extern "C" int ck_head_start(const ck_context *context, ck_error *error) {
    return ck_launch(context, error, "head_start", head_start, dim3(1), dim3(1), 0);
}
