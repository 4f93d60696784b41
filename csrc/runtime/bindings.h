// Inside the runtime: inputs that a kernel does not find through a pointer (plan.bindings), for the time of its launches.
//
//   acquire each  -->  run() launches with context.bound  -->  release each, also where acquiring or launching failed
//
// A kind of binding is a file with these two functions, a line in KINDS of bindings.c, and its fields in
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
    void *resource;      // what acquire took; NULL: nothing
} ck_held;

// Fills `bound`, and `resource` as soon as there is something to release. Nothing waits for the device here, but for
// what a kind's file says.
typedef int ck_acquire(ck_held *held, ck_bound *bound, ck_error *error);
// What was acquired may be used by other calls again, in the stream's order.
typedef int ck_release(ck_held *held, ck_error *error);

ck_acquire ck_symbol_acquire, ck_texture_acquire;
ck_release ck_symbol_release, ck_texture_release;

// Of all bindings of a plan. The second is to be called whenever the first was; it goes on after a failure.
int ck_bindings_acquire(ck_runtime *runtime, ck_device *device, const ck_plan *plan, const ck_view *views,
                        ck_context *context, ck_held held[CK_MAX_BINDINGS], ck_error *error);
int ck_bindings_release(ck_held held[CK_MAX_BINDINGS], ck_error *error);

// --- symbols.c, textures.c ---------------------------------------------------------------------------------------
// What they keep from call to call.
void ck_symbols_free(ck_runtime *runtime); // the runtime ends
void ck_textures_trim(ck_device *device);  // gives back all that no call holds; waits
int ck_textures_create(ck_device *device, ck_error *error);
void ck_textures_destroy(ck_device *device);

#endif
