// Bindings of tensor maps: the description of an operand, as it lies on the device, for copies by TMA. A map is a
// value: it is made for each call, and there is nothing to release.
#include <string.h>

#include "bindings.h"
#include "operand.h"
#include "tensor_map.h"

int ck_tensor_map_acquire(ck_held *held, ck_bound *bound, ck_error *error) {
    const ck_view *view = held->view;
    const ck_tensor_map_plan *plan = &held->binding->of.tensor_map;
    memset(bound, 0, sizeof *bound);
    if (ck_view_is_empty(view)) return CK_OK; // the run launches nothing
    const int by_rows = ck_view_rows_have_pitch(view, 16);
    const int inner = by_rows ? view->ndim - 1 : view->ndim - 2, outer = by_rows ? view->ndim - 2 : view->ndim - 1;
    tensor_map_shape shape = {
        .element_bytes = (int)ck_dtype_size(view->dtype),
        .axes = 3,
        .lengths = {(uint64_t)view->shape[inner], (uint64_t)view->shape[outer]},
        .box = {(uint32_t)plan->inner, (uint32_t)(by_rows ? plan->outer_if_rows : plan->outer_if_columns), 1},
        .swizzle = plan->swizzle};
    int64_t matrices, stride;
    if (!ck_view_stack_axis(view, &matrices, &stride)) // (a layout that is boxed has none such)
        return ck_fail(error, CK_BAD_VALUE, "operand %d: the matrices of the stack are not evenly spaced in memory",
                       held->binding->view);
    shape.lengths[2] = (uint64_t)matrices;
    // The stride of an axis of length 1 has no meaning, but it is checked.
    shape.strides[1] = view->shape[outer] > 1 ? (uint64_t)view->strides[outer] : 16;
    shape.strides[2] = shape.lengths[2] > 1 ? (uint64_t)stride : 16;
    tensor_map map;
    CK_CUDA(error, (cudaError_t)tensor_map_make(&map, view->data, &shape));
    memcpy(bound->tensor_map, &map, sizeof map);
    return CK_OK;
}
