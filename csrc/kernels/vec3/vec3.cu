// vec3: x * x + y * y + z * z of vectors of 12 bytes, in four memory layouts. The launches and the table.
//
// Views: (n, 3) floats, in the layout that the variant needs; n results.
#include "array_of_structs.cuh"
#include "aligned.cuh"
#include "struct_of_arrays.cuh"
#include "staged.cuh"

#include "../launch.cuh"
#include "../result_length.h"
#include "../table.h"
#include "../types.cuh"

namespace vec3 {
namespace {

int64_t vectors(const ck_call *call) {
    return call->views[0].ndim == 2 ? call->views[0].shape[0] : 0;
}

int plan_array_of_structs(const ck_call *call, ck_plan *plan, ck_error *error) {
    if (call->views[0].ndim != 2 || call->views[0].shape[1] != 3)
        return ck_fail(error, CK_BAD_VALUE, "the vectors must have shape (n, 3): two axes, the last one of length 3");
    CK_TRY(check_result_length(call, vectors(call), error));
    const int64_t threads = call->parameters[0];
    return plan_row(call, plan, error, divide_up(vectors(call), threads), threads);
}

int plan_aligned(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_array_of_structs(call, plan, error));
    plan->layout[0].column_multiple = 4; // 3 floats become 4
    return CK_OK;
}

int plan_struct_of_arrays(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_array_of_structs(call, plan, error));
    plan->layout[0].contiguous = 0; // any strides
    return CK_OK;
}

int plan_staged(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_array_of_structs(call, plan, error));
    plan->shared_bytes = 3 * sizeof(float) * plan->block[0];
    return CK_OK;
}

RUN(array_of_structs, with_only<vector3>, array_of_structs, input<T>(call, 0), output<float>(call), vectors(call))
RUN(aligned, with_only<float4>, aligned, input<T>(call, 0), output<float>(call), vectors(call))
// The stride of an axis in floats: axis 0 from vector to vector, axis 1 from component to component.
#define STRIDE(axis) call->views[0].strides[axis] / static_cast<int64_t>(sizeof(T))
RUN(struct_of_arrays, with_only<float>, struct_of_arrays, input<T>(call, 0), output<T>(call), vectors(call),
    STRIDE(0), STRIDE(1))
RUN(staged, with_only<float>, staged, input<T>(call, 0), output<T>(call), vectors(call))

// The longest path: the rounding of one product, then two additions.
double depth(const ck_call *) {
    return 3;
}

void work(const ck_call *call, ck_work *work) {
    const double n = static_cast<double>(vectors(call));
    work->flops = 5 * n;
    work->bytes = 16 * n;
}

#define CK_FOLDER "vec3/"

const ck_variant variants[] = {
    VARIANT(array_of_structs, FIRST, AT_LEAST(60), TYPES(F32_F32_F32), NONE, CK_DETERMINISTIC,
            PARAMETERS(ANY_THREADS), depth, KERNELS("array_of_structs"), "Array of 12-byte structs",
            "There is no 12-byte load: it takes three, each with lanes 12 bytes apart", "T6"),
    VARIANT(aligned, AFTER(array_of_structs), AT_LEAST(60), TYPES(F32_F32_F32), NONE, CK_DETERMINISTIC,
            PARAMETERS(ANY_THREADS), depth, KERNELS("aligned"), "Array of 16-byte structs, with 4 bytes of padding",
            "One load per vector, for a third more bytes", "T6"),
    VARIANT(struct_of_arrays, AFTER(aligned), AT_LEAST(60), TYPES(F32_F32_F32), NONE, CK_DETERMINISTIC,
            PARAMETERS(ANY_THREADS), depth, KERNELS("struct_of_arrays"),
            "Struct of arrays: all x, then all y, then all z", "Neighboring threads read neighboring floats", "T6"),
    VARIANT(staged, AFTER(struct_of_arrays), AT_LEAST(60), TYPES(F32_F32_F32), NONE, CK_DETERMINISTIC,
            PARAMETERS(ANY_THREADS), depth, KERNELS("staged"), "12-byte structs, staged in shared memory",
            "Shared memory has no bank conflicts at a stride of three words", "T6"),
};

} // namespace
} // namespace vec3

CK_OPERATION(vec3, "The squared length of each vector of three floats", 1, 1)
