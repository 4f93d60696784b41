// lookup_3d: a table of three axes, read between its elements. The launches and the table of the ladder; a kernel is
// in a file of its own.
//
// Begin with ../lookup.cuh, then global_memory.cuh, and follow the table. Views: the table (planes, rows, columns),
// z, y, x (the coordinates), and the result in their shape, without gaps.
#include "global_memory.cuh"
#include "texture.cuh"

#include "../launch.cuh"
#include "../lookup_plan.h"
#include "../types.cuh"

namespace lookup_3d {
namespace {

int plan_global_memory(const ck_call *call, ck_plan *plan, ck_error *error) {
    return lookup::plan(call, plan, error, "lookup_3d", 3);
}

int plan_texture(const ck_call *call, ck_plan *plan, ck_error *error) {
    static const int64_t most[] = {16384, 16384, 16384};
    return lookup::plan_texture(call, plan, error, "lookup_3d", 3, most);
}

#define IN(T, view) static_cast<const T *>(call->views[view].data)
#define OUT(T)      static_cast<T *>(call->views[4].data)
#define SIZES       lookup::points(call), call->views[0].shape[0], call->views[0].shape[1], call->views[0].shape[2]
#define MODE        static_cast<int>(call->parameters[lookup::MODE])
#define FILTER      static_cast<int>(call->parameters[lookup::FILTER])

template <typename T>
int launch_global_memory(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {
    return ck_launch(context, error, "global_memory", global_memory<T>, ck_dim3(plan->grid), ck_dim3(plan->block), 0,
                     IN(T, 0), IN(T, 1), IN(T, 2), IN(T, 3), OUT(T), SIZES, MODE, FILTER);
}

int run_global_memory(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {
    if (call->types.input == CK_FLOAT32) return launch_global_memory<float>(call, plan, context, error);
    if (call->types.input == CK_FLOAT64) return launch_global_memory<double>(call, plan, context, error);
    return no_kernel_for(call->types.input, "lookup_3d", error);
}

int run_texture(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {
    return ck_launch(context, error, "texture", texture, ck_dim3(plan->grid), ck_dim3(plan->block), 0,
                     context->bound[0].texture, IN(float, 1), IN(float, 2), IN(float, 3), OUT(float), SIZES, MODE);
}

#define CK_FOLDER "lookup_3d/"

const ck_variant variants[] = {
    HOST_VARIANT(numpy, TYPES(F32_F32_F32, F64_F64_F64), NONE, CK_DETERMINISTIC, lookup::depth_software, "lookup.cuh",
                 "NumPy, an array operation a step", "Each of the elements is gathered into an array", "M"),
    VARIANT(global_memory, FIRST, AT_LEAST(60), TYPES(F32_F32_F32, F64_F64_F64), NONE, CK_DETERMINISTIC,
            LOOKUP_PARAMETERS, lookup::depth_software, KERNELS("global_memory"),
            "Three axes: trilinear, in full precision", "8 loads and the lines between them, for each value",
            "M, T6"),
    VARIANT(texture, AFTER(global_memory), AT_LEAST(60), TYPES(F32_F32_F32), NONE, CK_DETERMINISTIC,
            LOOKUP_PARAMETERS, lookup::depth_texture, KERNELS("texture"), "The hardware's filter and edges",
            "One read a value, near in both axes; 8 bits of weight", "M"),
};

} // namespace
} // namespace lookup_3d

CK_OPERATION(lookup_3d, "A table of three axes, read between its elements", 4, 1, lookup_3d::variants, lookup::work,
             NULL, NULL)
