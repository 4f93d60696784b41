// lookup_2d: a table of two axes, read between its elements. The launches and the table of the ladder; a kernel is in
// a file of its own.
//
// Begin with ../lookup.cuh, then global_memory.cuh, and follow the table. Views: the table (rows, columns), y, x (the
// coordinates), and the result in their shape, without gaps.
#include "global_memory.cuh"
#include "texture.cuh"

#include "../launch.cuh"
#include "../lookup_plan.h"
#include "../types.cuh"

namespace lookup_2d {
namespace {

int plan_global_memory(const ck_call *call, ck_plan *plan, ck_error *error) {
    return lookup::plan(call, plan, error, "lookup_2d", 2);
}

int plan_texture(const ck_call *call, ck_plan *plan, ck_error *error) {
    static const int64_t most[] = {65536, 131072};
    return lookup::plan_texture(call, plan, error, "lookup_2d", 2, most);
}

#define IN(T, view) static_cast<const T *>(call->views[view].data)
#define OUT(T)      static_cast<T *>(call->views[3].data)
#define SIZES       lookup::points(call), call->views[0].shape[0], call->views[0].shape[1]
#define MODE        static_cast<int>(call->parameters[lookup::MODE])
#define FILTER      static_cast<int>(call->parameters[lookup::FILTER])

template <typename T>
int launch_global_memory(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {
    return ck_launch(context, error, "global_memory", global_memory<T>, ck_dim3(plan->grid), ck_dim3(plan->block), 0,
                     IN(T, 0), IN(T, 1), IN(T, 2), OUT(T), SIZES, MODE, FILTER);
}

int run_global_memory(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {
    if (call->types.input == CK_FLOAT32) return launch_global_memory<float>(call, plan, context, error);
    if (call->types.input == CK_FLOAT64) return launch_global_memory<double>(call, plan, context, error);
    return no_kernel_for(call->types.input, "lookup_2d", error);
}

int run_texture(const ck_call *call, const ck_plan *plan, const ck_context *context, ck_error *error) {
    return ck_launch(context, error, "texture", texture, ck_dim3(plan->grid), ck_dim3(plan->block), 0,
                     context->bound[0].texture, IN(float, 1), IN(float, 2), OUT(float), SIZES, MODE);
}

#define CK_FOLDER "lookup_2d/"

const ck_variant variants[] = {
    HOST_VARIANT(numpy, TYPES(F32_F32_F32, F64_F64_F64), NONE, CK_DETERMINISTIC, lookup::depth_software, "lookup.cuh",
                 "NumPy, an array operation a step", "Each of the elements is gathered into an array", "M"),
    VARIANT(global_memory, FIRST, AT_LEAST(60), TYPES(F32_F32_F32, F64_F64_F64), NONE, CK_DETERMINISTIC,
            LOOKUP_PARAMETERS, lookup::depth_software, KERNELS("global_memory"),
            "Two axes: bilinear, in full precision", "4 loads and the lines between them, for each value", "M, T6"),
    VARIANT(texture, AFTER(global_memory), AT_LEAST(60), TYPES(F32_F32_F32), NONE, CK_DETERMINISTIC,
            LOOKUP_PARAMETERS, lookup::depth_texture, KERNELS("texture"), "The hardware's filter and edges",
            "One read a value, near in both axes; 8 bits of weight", "M, T6"),
};

} // namespace
} // namespace lookup_2d

CK_OPERATION(lookup_2d, "A table of two axes, read between its elements", 3, 1, lookup_2d::variants, lookup::work,
             NULL, NULL)
