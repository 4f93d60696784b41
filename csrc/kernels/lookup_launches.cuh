// The plans, the launches and the table for interpolation in tables of several axes. lookup_2d.cu and lookup_3d.cu
// include this file, each with its own definitions of the namespace LOOKUP, of COORDINATES and LENGTHS, and of the
// texts. Views: the table, one coordinate array per axis (in the order of the axes), and the result, with the shape
// of the coordinates.
#include "grid.cuh"
#include "launch.cuh"
#include "table.h"
#include "types.cuh"

namespace LOOKUP {
namespace {

enum { MODE, FILTER, THREADS };                 // parameters
constexpr int64_t LONGEST[] = {LOOKUP_LONGEST}; // per axis, the length that textures support on every chip
constexpr int AXES = ck_length_of(LONGEST);

int64_t points(const ck_call *call) {
    return elements_of(call->views[1]);
}

int plan_global_memory(const ck_call *call, ck_plan *plan, ck_error *error) {
    const ck_view &table = call->views[0];
    if (table.ndim != AXES || elements_of(table) < 1)
        return ck_fail(error, CK_BAD_VALUE, "the table has %d axes and %lld elements, but must have %d nonempty axes",
                       table.ndim, static_cast<long long>(elements_of(table)), AXES);
    for (int i = 2; i < call->view_count; ++i)
        if (elements_of(call->views[i]) != points(call))
            return ck_fail(error, CK_BAD_VALUE, "array %d has %lld elements, but array 1 has %lld", i,
                           static_cast<long long>(elements_of(call->views[i])), static_cast<long long>(points(call)));
    const int64_t threads = call->parameters[THREADS];
    return plan_row(call, plan, error, blocks_for_chip(call, points(call), threads), threads);
}

int plan_texture(const ck_call *call, ck_plan *plan, ck_error *error) {
    static const cudaTextureAddressMode modes[] = {cudaAddressModeClamp, cudaAddressModeWrap, cudaAddressModeMirror,
                                                   cudaAddressModeBorder};
    CK_TRY(plan_global_memory(call, plan, error));
    const cudaTextureAddressMode mode = modes[call->parameters[MODE]];
    for (int i = 0; i < AXES; ++i)
        if (call->views[0].shape[i] > LONGEST[i])
            return ck_fail(error, CK_BAD_VALUE,
                           "axis %d of the table has %lld elements, but a texture has at most %lld along this axis. "
                           "Use variant=\"global_memory\", which accepts any table",
                           i, static_cast<long long>(call->views[0].shape[i]), static_cast<long long>(LONGEST[i]));
    plan->bindings[0] =
        ck_bind_texture({mode, call->parameters[FILTER] == 0 ? cudaFilterModeLinear : cudaFilterModePoint,
                         mode == cudaAddressModeWrap || mode == cudaAddressModeMirror, 0, cudaReadModeElementType},
                        0);
    return CK_OK;
}

#define ARGUMENTS COORDINATES, output<T>(call), points(call), LENGTHS, static_cast<int>(call->parameters[MODE])
RUN(global_memory, with_float_type, global_memory<T>, input<T>(call, 0), ARGUMENTS,
    static_cast<int>(call->parameters[FILTER]))
RUN(texture, with_only<float>, texture, context->bound[0].texture, ARGUMENTS)

// Relative to the largest value of the table: three roundings per interpolation between two values, on a path of one
// interpolation per axis; rounded up.
double depth_software(const ck_call *) {
    return 4.0 * AXES;
}

// Relative to the largest value of the table. A weight is rounded to a multiple of 1/256 at every split: once for one
// axis, 2 + 2 times for two axes (the coordinates, and the split of both columns), 3 + 2 + 4 times for three axes.
// Each rounding moves at most 1/512 from one element to another. The coordinate is rounded too: it is counted in
// elements and, where the table repeats, divided by their number, which leaves 21 fractional bits: 16 units per
// element, and a few for the division.
double depth_texture(const ck_call *call) {
    double depth = 8 + static_cast<double>(AXES * AXES << 16);
    for (int i = 0; i < AXES; ++i) depth += 20.0 * static_cast<double>(call->views[0].shape[i]);
    return depth;
}

void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(points(call)), item = static_cast<double>(ck_dtype_size(call->types.input));
    work->flops = 3.0 * ((1 << AXES) - 1) * n;
    work->bytes = ((AXES + 1) * n + static_cast<double>(elements_of(call->views[0]))) * item;
}

#define LOOKUP_PARAMETERS                                                                                            \
    PARAMETERS(WORDS(mode, "values outside the table", "clamp", "wrap", "mirror", "border"),                         \
               WORDS(filter, "between two elements", "linear", "nearest"), ANY_THREADS)
#define CK_FOLDER LOOKUP_NAME "/"

const ck_variant variants[] = {
    VARIANT(global_memory, FIRST, AT_LEAST(60), TYPES(F32_F32_F32, F64_F64_F64), NONE, CK_DETERMINISTIC,
            LOOKUP_PARAMETERS, depth_software, KERNELS("global_memory"), SUMMARY, LESSON, "M, T6"),
    VARIANT(texture, AFTER(global_memory), AT_LEAST(60), TYPES(F32_F32_F32), NONE, CK_DETERMINISTIC,
            LOOKUP_PARAMETERS, depth_texture, KERNELS("texture"),
            "The texture unit interpolates and handles the edges",
            "One read per value, cached for neighbors along both axes; weights have 8 bits", TEXTURE_ORIGIN),
};

} // namespace
} // namespace LOOKUP
