// add_fields: adds to the four fields of n structs in place, once per round. The launches and the table.
//
// Views: the initial values, the values to add, and the sums; each has n rows of 4 words.
#include "array_of_structs.cuh"
#include "aligned_structs.cuh"
#include "struct_of_arrays.cuh"

#include "../launch.cuh"
#include "../table.h"
#include "../types.cuh"

namespace add_fields {
namespace {

int64_t structs(const ck_call *call) {
    return elements_of(call->views[0]) / 4;
}

int plan_array_of_structs(const ck_call *call, ck_plan *plan, ck_error *error) {
    for (int i = 0; i < call->view_count; ++i)
        if (call->views[i].ndim != 2 || call->views[i].shape[1] != 4)
            return ck_fail(error, CK_BAD_VALUE, "array %d must have shape (n, 4): one row per struct", i);
    CK_TRY(check_same_elements(call, error));
    const int64_t threads = call->parameters[0];
    return plan_row(call, plan, error, divide_up(structs(call), threads), threads);
}
constexpr auto plan_aligned_structs = plan_array_of_structs;

int plan_struct_of_arrays(const ck_call *call, ck_plan *plan, ck_error *error) {
    CK_TRY(plan_array_of_structs(call, plan, error));
    for (int i = 0; i < call->view_count; ++i) plan->layout[i].contiguous = 0; // any strides
    return CK_OK;
}

#define STRUCTS                                                                                                      \
    input<T>(call, 0), input<T>(call, 1), output<T>(call), structs(call), static_cast<int>(call->parameters[1])
RUN(array_of_structs, with_only<four_fields>, array_of_structs, STRUCTS)
RUN(aligned_structs, with_only<four_fields>, aligned_structs, STRUCTS)

template <typename T> fields<T> fields_of(const ck_view &view) {
    const int64_t word = sizeof(uint32_t);
    return {static_cast<T *>(view.data), view.strides[0] / word, view.strides[1] / word};
}

RUN(struct_of_arrays, with_only<uint32_t>, struct_of_arrays, fields_of<const T>(call->views[0]),
    fields_of<const T>(call->views[1]), fields_of<T>(call->views[2]), structs(call),
    static_cast<int>(call->parameters[1]))

void work(const ck_call *call, ck_work *work) {
    work->flops = 4 * static_cast<double>(structs(call));
    work->bytes = 3 * 16 * static_cast<double>(structs(call));
}

#define CK_FOLDER         "add_fields/"
#define KINDS             TYPES(SAME(INT32))
#define PARAMETERS_OF_ALL PARAMETERS(ANY_THREADS, RANGE(rounds, "additions", 1, 1, 1000))

const ck_variant variants[] = {
    VARIANT(array_of_structs, FIRST, AT_LEAST(60), KINDS, NONE, CK_DETERMINISTIC, PARAMETERS_OF_ALL, exact,
            KERNELS("array_of_structs"), "Array of structs, one access per field",
            "Lanes 16 bytes apart touch four times as many sectors", "M"),
    VARIANT(aligned_structs, AFTER(array_of_structs), AT_LEAST(60), KINDS, NONE, CK_DETERMINISTIC, PARAMETERS_OF_ALL,
            exact, KERNELS("aligned_structs"), "Array of 16-byte aligned structs, one access per struct",
            "An aligned struct of 16 bytes is loaded by one instruction", "M, T6"),
    VARIANT(struct_of_arrays, AFTER(aligned_structs), AT_LEAST(60), KINDS, NONE, CK_DETERMINISTIC, PARAMETERS_OF_ALL,
            exact, KERNELS("struct_of_arrays"), "Struct of arrays: one array per field",
            "Neighboring threads should read neighboring words", "M"),
};

} // namespace
} // namespace add_fields

CK_OPERATION(add_fields, "Add to each of the four fields of an array of structs", 2, 1)
