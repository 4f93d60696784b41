// rgba_to_float: converts an image with four bytes per pixel to floats from 0 to 1. The launches and the table of the
// ladder; each kernel is in a file of its own.
//
// Begin with bytes.cuh and follow the table. Views: the image (rows, columns, 4) and the result, of equal shape and
// contiguous.
#include "bytes.cuh"
#include "packed.cuh"
#include "texture.cuh"

#include "../launch.cuh"
#include "../table.h"
#include "../types.cuh"

namespace rgba_to_float {
namespace {

enum { ROWS_MOST = 65536, COLUMNS_MOST = 131072 }; // the maximum size of a texture

int64_t pixels(const ck_call *call) {
    return elements_of(call->views[0]) / CHANNELS;
}

int plan_pixels(const ck_call *call, ck_plan *plan, ck_error *error) {
    const ck_view &image = call->views[0];
    if (image.ndim != 3 || image.shape[2] != CHANNELS)
        return ck_fail(error, CK_BAD_VALUE,
                       "the image has %d axes, the last of length %lld, but its shape must be (rows, columns, 4)",
                       image.ndim, static_cast<long long>(image.ndim > 0 ? image.shape[image.ndim - 1] : 0));
    CK_TRY(check_same_elements(call, error));
    const int64_t threads = call->parameters[0];
    return plan_row(call, plan, error, blocks_for_chip(call, pixels(call), threads), threads);
}

int plan_bytes(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_pixels(call, plan, error);
}
int plan_packed(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_pixels(call, plan, error);
}

int plan_texture(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_pixels(call, plan, error));
    const ck_view &image = call->views[0];
    if (image.shape[0] > ROWS_MOST || image.shape[1] > COLUMNS_MOST)
        return ck_fail(error, CK_BAD_VALUE,
                       "an image of %lld x %lld does not fit in a texture, which has at most %d rows and %d columns. "
                       "Use variant=\"packed\", which accepts any image",
                       static_cast<long long>(image.shape[0]), static_cast<long long>(image.shape[1]), ROWS_MOST,
                       COLUMNS_MOST);
    if (pixels(call) > 0)
        plan->bindings[0] =
            ck_bind_texture({cudaAddressModeClamp, cudaFilterModePoint, 0, CHANNELS, cudaReadModeNormalizedFloat}, 0);
    return CK_OK;
}

RUN(bytes, with_only<uint8_t>, bytes, input<T>(call, 0), output<float>(call), pixels(call))
RUN(packed, with_only<uint8_t>, packed, input<T>(call, 0), output<float>(call), pixels(call))
RUN(texture, with_only<float>, texture, context->bound[0].texture, output<T>(call), pixels(call),
    call->views[0].shape[1])

double depth(const ck_call *) {
    return 2; // the division
}
double depth_texture(const ck_call *) {
    return 1 << 7; // not documented; small compared with the step between two bytes
}

void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(elements_of(call->views[0]));
    work->flops = n;
    work->bytes = 5 * n;
}

#define CK_FOLDER "rgba_to_float/"
#define U8_F32    TYPES(WIDENED(UINT8, FLOAT32))

const ck_variant variants[] = {
    VARIANT(bytes, FIRST, AT_LEAST(60), U8_F32, NONE, CK_DETERMINISTIC, PARAMETERS(ANY_THREADS), depth,
            KERNELS("bytes"), "One byte per load", "Four requests for one word are three too many", "T6"),
    VARIANT(packed, AFTER(bytes), AT_LEAST(60), U8_F32, NONE, CK_DETERMINISTIC, PARAMETERS(ANY_THREADS), depth,
            KERNELS("packed"), "One pixel (uchar4) per load", "A vector type is loaded by one instruction", "T6"),
    VARIANT(texture, AFTER(packed), AT_LEAST(60), U8_F32, NONE, CK_DETERMINISTIC, PARAMETERS(ANY_THREADS),
            depth_texture, KERNELS("texture"), "The texture unit converts bytes to floats",
            "The conversion to four floats takes no instruction", "T6"),
};

} // namespace
} // namespace rgba_to_float

CK_OPERATION(rgba_to_float, "Convert an RGBA image of bytes to floats from 0 to 1", 1, 1)
