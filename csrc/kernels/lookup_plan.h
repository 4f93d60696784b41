// What the plans of lookup_2d and lookup_3d share. Views: the table, a coordinate array an axis (the first axis'
// first), and the result, which is as they are.
#ifndef CK_LOOKUP_PLAN_H
#define CK_LOOKUP_PLAN_H

#include "grid.cuh"
#include "table.h"

namespace lookup {

enum { MODE, FILTER, THREADS }; // parameters

inline int64_t points(const ck_call *call) {
    return elements_of(call->views[1]);
}

inline int plan(const ck_call *call, ck_plan *plan, ck_error *error, const char *operation, int axes) {
    const ck_view &table = call->views[0];
    if (table.ndim != axes || elements_of(table) < 1)
        return ck_fail(error, CK_BAD_VALUE, operation,
                       "a table of %d axes and %lld elements: it needs %d, none empty", table.ndim,
                       static_cast<long long>(elements_of(table)), axes);
    for (int i = 2; i < call->view_count; ++i)
        if (elements_of(call->views[i]) != points(call))
            return ck_fail(error, CK_BAD_VALUE, operation, "array %d has %lld elements, and array 1 has %lld", i,
                           static_cast<long long>(elements_of(call->views[i])), static_cast<long long>(points(call)));
    const int64_t threads = call->parameters[THREADS];
    return plan_row(call, plan, error, operation, blocks_for_chip(call, points(call), threads), threads);
}

// `most`: the longest that every chip has, an axis each.
inline int plan_texture(const ck_call *call, ck_plan *made, ck_error *error, const char *operation, int axes,
                        const int64_t *most) {
    static const cudaTextureAddressMode modes[] = {cudaAddressModeClamp, cudaAddressModeWrap, cudaAddressModeMirror,
                                                   cudaAddressModeBorder};
    CK_TRY(plan(call, made, error, operation, axes));
    const cudaTextureAddressMode mode = modes[call->parameters[MODE]];
    for (int i = 0; i < axes; ++i)
        if (call->views[0].shape[i] > most[i])
            return ck_fail(error, CK_BAD_VALUE, operation,
                           "axis %d of the table has %lld elements: a texture has up to %lld there. "
                           "variant=\"global_memory\" takes any table",
                           i, static_cast<long long>(call->views[0].shape[i]), static_cast<long long>(most[i]));
    made->bindings[0] =
        ck_bind_texture({mode, call->parameters[FILTER] == 0 ? cudaFilterModeLinear : cudaFilterModePoint,
                         mode == cudaAddressModeWrap || mode == cudaAddressModeMirror, 0, cudaReadModeElementType},
                        0);
    return CK_OK;
}

// Of the table's largest: three roundings a step between two values, and two steps less one an axis.
inline double depth_software(const ck_call *call) {
    return 4.0 * call->views[0].ndim;
}

// Of the table's largest. A weight is rounded to 256ths at every split: once for one axis, 2 + 2 times for two (the
// coordinates, and the split of both columns), 3 + 2 + 4 times for three; each moves at most a 512th from one element
// to another. And the roundings of the coordinate, which is counted in elements and, where the table repeats, divided
// by their number, and then has 21 bits after the point: 16 units an element, and some for the division.
inline double depth_texture(const ck_call *call) {
    const int axes = call->views[0].ndim;
    double depth = 8 + static_cast<double>(axes * axes << 16);
    for (int i = 0; i < axes; ++i) depth += 20.0 * static_cast<double>(call->views[0].shape[i]);
    return depth;
}

inline void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(points(call)), item = static_cast<double>(ck_dtype_size(call->types.input));
    const int axes = call->views[0].ndim;
    work->flops = 3.0 * ((1 << axes) - 1) * n;
    work->bytes = ((axes + 1) * n + static_cast<double>(elements_of(call->views[0]))) * item;
}

} // namespace lookup

#define LOOKUP_PARAMETERS                                                                                            \
    PARAMETERS(WORDS(mode, "what is outside of the table", "clamp", "wrap", "mirror", "border"),                     \
               WORDS(filter, "between two elements", "linear", "nearest"),                                           \
               RANGE(threads, "threads per block", 256, 1, 1024))

#endif
