// Internal to the runtime: inputs that a kernel does not access through a pointer (plan.bindings), during its
// launches.
//
//   acquire each  -->  run() launches with context.bound  -->  release each, even if acquiring or launching failed
//
// A kind of binding consists of a file with these two functions, a line in KINDS of bindings.c, and its fields in
// kernels/call.h.
#ifndef CK_BINDINGS_H
#define CK_BINDINGS_H

#include "state.h"

// One binding of a call.
typedef struct ck_held {
    ck_runtime *runtime;
    ck_device *device;
    const ck_binding *binding;
    const ck_view *view; // the input, on the device
    cudaStream_t stream; // of the launches
    void *resource;      // acquired by acquire; NULL: nothing to release
} ck_held;

// Sets `bound`, and sets `resource` as soon as there is something to release. Does not wait for the device, except as
// documented in the file of the kind.
typedef int ck_acquire(ck_held *held, ck_bound *bound, ck_error *error);
// After this, other calls may use the resource, in the order of the stream.
typedef int ck_release(ck_held *held, ck_error *error);

ck_acquire ck_symbol_acquire, ck_texture_acquire, ck_tensor_map_acquire;
ck_release ck_symbol_release, ck_texture_release;

// For all bindings of a plan. ck_bindings_release must be called after every call of ck_bindings_acquire, even a
// failed one. It continues after a failure.
int ck_bindings_acquire(ck_runtime *runtime, ck_device *device, const ck_plan *plan, const ck_view *views,
                        ck_context *context, ck_held held[CK_MAX_BINDINGS], ck_error *error);
int ck_bindings_release(ck_held held[CK_MAX_BINDINGS], ck_error *error);

// --- symbols.c, textures.c ---------------------------------------------------------------------------------------
// For the resources that these files keep between calls.
void ck_symbols_free(ck_runtime *runtime); // at the end of the runtime
void ck_textures_trim(ck_device *device);  // frees all textures that no call holds; waits
int ck_textures_create(ck_device *device, ck_error *error);
void ck_textures_destroy(ck_device *device);

#endif
