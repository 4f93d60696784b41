// Acquires and releases the bindings of a call, and lists the kinds of bindings.
#include "bindings.h"

static const struct {
    ck_acquire *acquire;
    ck_release *release;
} KINDS[CK_BINDING_KINDS] = {
    [CK_BIND_SYMBOL] = {ck_symbol_acquire, ck_symbol_release},
    [CK_BIND_TEXTURE] = {ck_texture_acquire, ck_texture_release},
    [CK_BIND_TENSOR_MAP] = {ck_tensor_map_acquire, NULL}, // nothing to release
};

int ck_bindings_acquire(ck_runtime *runtime, ck_device *device, const ck_plan *plan, const ck_view *views,
                        ck_context *context, ck_held held[CK_MAX_BINDINGS], ck_error *error) {
    for (int i = 0; i < CK_MAX_BINDINGS; i++) held[i].resource = NULL;
    for (int i = 0; i < CK_MAX_BINDINGS && plan->bindings[i].kind != CK_NO_BINDING; i++) {
        const ck_binding *binding = &plan->bindings[i];
        held[i] = (ck_held){runtime, device, binding, &views[binding->view], context->stream, NULL};
        CK_TRY(KINDS[binding->kind].acquire(&held[i], &context->bound[i], error));
    }
    return CK_OK;
}

int ck_bindings_release(ck_held held[CK_MAX_BINDINGS], ck_error *error) {
    int status = CK_OK;
    for (int i = CK_MAX_BINDINGS; i-- > 0;) {
        if (held[i].resource == NULL) continue;
        const int released = KINDS[held[i].binding->kind].release(&held[i], error);
        if (status == CK_OK) status = released;
        held[i].resource = NULL;
    }
    return status;
}
