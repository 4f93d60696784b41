// interp: linear interpolation in a table of points (xp[i], fp[i]). The launches and the table of the ladder; each
// kernel is in a file of its own.
//
// Begin with global_memory.cuh and follow the table. Views: x of any shape, xp and fp of equal length, left and right
// (one element each), and the result, with the shape of x.
#include "global_memory.cuh"
#include "shared.cuh"
#include "constant.cuh"
#include "texture.cuh"

#include "../launch.cuh"
#include "../table.h"
#include "../types.cuh"

namespace interp {
namespace {

enum { X, XP, FP, LEFT, RIGHT, RESULT };
enum { TEXTURE_ROW = 131072 }; // the length that every chip supports

int64_t points(const ck_call *call) {
    return elements_of(call->views[X]);
}
int64_t places(const ck_call *call) {
    return elements_of(call->views[XP]);
}

int plan_points(const ck_call *call, ck_plan *plan, ck_error *error) {
    const ck_view *views = call->views;
    if (places(call) < 1 || elements_of(views[FP]) != places(call) || elements_of(views[LEFT]) != 1 ||
        elements_of(views[RIGHT]) != 1 || elements_of(views[RESULT]) != points(call))
        return ck_fail(
            error, CK_BAD_VALUE,
            "%lld points, %lld results, and a table of %lld positions and %lld values: there must be one result "
            "per point and one value per position, at least one; left and right must be single numbers",
            static_cast<long long>(points(call)), static_cast<long long>(elements_of(views[RESULT])),
            static_cast<long long>(places(call)), static_cast<long long>(elements_of(views[FP])));
    const int64_t threads = call->parameters[0];
    return plan_row(call, plan, error, blocks_for_chip(call, points(call), threads), threads);
}

int plan_global_memory(const ck_call *call, ck_plan *plan, ck_error *error) {
    return plan_points(call, plan, error);
}

int plan_shared(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_points(call, plan, error));
    const auto most = static_cast<int64_t>(call->limits->shared_per_block_optin);
    const auto item = static_cast<int64_t>(ck_dtype_size(call->types.input));
    if (places(call) > most / (2 * item))
        return ck_fail(
            error, CK_BAD_VALUE,
            "a table of %lld points needs %lld bytes of shared memory, but a block has at most %lld bytes, enough "
            "for %lld points of this type. Use variant=\"global_memory\", which accepts any length",
            static_cast<long long>(places(call)), static_cast<long long>(product(places(call), 2 * item)),
            static_cast<long long>(most), static_cast<long long>(most / (2 * item)));
    plan->shared_bytes = static_cast<size_t>(2 * item * places(call));
    return CK_OK;
}

int plan_constant(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_points(call, plan, error));
    const auto most = static_cast<int64_t>(CONSTANT_BYTES / ck_dtype_size(call->types.input));
    if (places(call) > most)
        return ck_fail(error, CK_BAD_VALUE,
                       "the table has %lld points, but constant memory holds at most %lld points of this type. "
                       "Use variant=\"global_memory\", which accepts any length",
                       static_cast<long long>(places(call)), static_cast<long long>(most));
    plan->bindings[0] = ck_bind_symbol(CK_SYMBOL(constant_points), XP);
    plan->bindings[1] = ck_bind_symbol(CK_SYMBOL(constant_values), FP);
    return CK_OK;
}

int plan_texture(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_points(call, plan, error));
    if (places(call) > TEXTURE_ROW)
        return ck_fail(error, CK_BAD_VALUE,
                       "the table has %lld points, but a texture holds at most %d. "
                       "Use variant=\"global_memory\", which accepts any length",
                       static_cast<long long>(places(call)), TEXTURE_ROW);
    plan->bindings[0] =
        ck_bind_texture({cudaAddressModeClamp, cudaFilterModeLinear, 0, 0, cudaReadModeElementType}, FP);
    return CK_OK;
}

#define TABLE input<T>(call, XP), input<T>(call, FP)
#define ENDS  input<T>(call, LEFT), input<T>(call, RIGHT), output<T>(call), points(call), places(call)
RUN(global_memory, with_float_type, global_memory<T>, input<T>(call, X), TABLE, ENDS)
RUN(shared, with_float_type, shared<T>, input<T>(call, X), TABLE, ENDS)
RUN(constant, with_float_type, constant<T>, input<T>(call, X), ENDS)
RUN(texture, with_only<float>, texture, context->bound[0].texture, input<T>(call, X), input<T>(call, XP), ENDS)

// The roundings of the slope, of the distance from the start of the cell, of the product and of the sum.
double depth_line(const ck_call *) {
    return 8;
}

// Relative to the size of the values: 1/256 for the weight, 1/1024 for tables whose spacing deviates by that part of
// a step, and the roundings of the position, which is counted in cells.
double depth_texture(const ck_call *call) {
    return (1 << 16) + (1 << 14) + 8.0 * static_cast<double>(places(call)) + 8;
}

void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(points(call)), item = static_cast<double>(ck_dtype_size(call->types.input));
    work->flops = 6 * n;
    work->bytes = (2 * n + 2 * static_cast<double>(places(call)) + 2) * item;
}

#define CK_FOLDER "interp/"
#define F32_F64   WIDENED(FLOAT32, FLOAT64)

const ck_variant variants[] = {
    VARIANT(global_memory, FIRST, AT_LEAST(60), TYPES(F32_F32_F32, F64_F64_F64), NONE, CK_DETERMINISTIC,
            PARAMETERS(ANY_THREADS), depth_line, KERNELS("global_memory"), "Binary search in global memory",
            "Caches serve the points that many threads read; the others are slow", "M, T6"),
    VARIANT(shared, AFTER(global_memory), AT_LEAST(60), TYPES(F32_F32_F32, F64_F64_F64), NONE, CK_DETERMINISTIC,
            PARAMETERS(ANY_THREADS), depth_line, KERNELS("shared"),
            "The table copied to shared memory: a small gain, because the L1 cache already holds it",
            "Data that a whole block searches can be kept in shared memory", "M"),
    VARIANT(constant, AFTER(global_memory), AT_LEAST(60), TYPES(F32_F32_F32, F64_F64_F64), NONE, CK_DETERMINISTIC,
            PARAMETERS(ANY_THREADS), depth_line, KERNELS("constant"),
            "The table in constant memory: slow, because the lanes of a warp read different words",
            "Constant memory is for words that all lanes read at once; in a search they soon differ", "M"),
    VARIANT(texture, AFTER(global_memory), AT_LEAST(60), TYPES(F32_F32_F32), NONE, CK_DETERMINISTIC,
            PARAMETERS(ANY_THREADS), depth_texture, KERNELS("texture"),
            "The texture unit's linear filter, for evenly spaced points",
            "One texture read interpolates, with weights of 8 bits", "T6, M"),
};

} // namespace
} // namespace interp

CK_OPERATION(interp, "Linear interpolation in a table of points", 5, 1)
