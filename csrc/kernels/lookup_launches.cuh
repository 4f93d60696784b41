// The plans, the launches and the table of the look-ups in tables of several axes. lookup_2d.cu and lookup_3d.cu include
// it, each with its own namespace LOOKUP, COORDINATES and LENGTHS of its axes, and words. Views: the table, a coordinate
// array an axis (the first axis' first), and the result, which is as they are.
#include "grid.cuh"
#include "launch.cuh"
#include "table.h"
#include "types.cuh"

namespace LOOKUP {
namespace {

enum { MODE, FILTER, THREADS };                 // parameters
constexpr int64_t LONGEST[] = {LOOKUP_LONGEST}; // that every chip's textures have, an axis each
constexpr int AXES = ck_length_of(LONGEST);

int64_t points(const ck_call *call) {
    return elements_of(call->views[1]);
}

int plan_global_memory(const ck_call *call, ck_plan *plan, ck_error *error) {
    const ck_view &table = call->views[0];
    if (table.ndim != AXES || elements_of(table) < 1)
        return ck_fail(error, CK_BAD_VALUE, "a table of %d axes and %lld elements: it needs %d, none empty",
                       table.ndim, static_cast<long long>(elements_of(table)), AXES);
    for (int i = 2; i < call->view_count; ++i)
        if (elements_of(call->views[i]) != points(call))
            return ck_fail(error, CK_BAD_VALUE, "array %d has %lld elements, and array 1 has %lld", i,
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
                           "axis %d of the table has %lld elements: a texture has up to %lld there. "
                           "variant=\"global_memory\" takes any table",
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

// Of the table's largest: three roundings a step between two values, and two steps less one an axis.
double depth_software(const ck_call *) {
    return 4.0 * AXES;
}

// Of the table's largest. A weight is rounded to 256ths at every split: once for one axis, 2 + 2 times for two (the
// coordinates, and the split of both columns), 3 + 2 + 4 times for three; each moves at most a 512th from one element
// to another. And the roundings of the coordinate, which is counted in elements and, where the table repeats, divided
// by their number, and then has 21 bits after the point: 16 units an element, and some for the division.
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
    PARAMETERS(WORDS(mode, "what is outside of the table", "clamp", "wrap", "mirror", "border"),                     \
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
